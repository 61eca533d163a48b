// What packs for pages are made of (docs/formats.md, "Run pack"): JSON that names arrays, and the
// arrays. No header (.h), since those are installed and have no nlohmann-json in them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <nlohmann/json.hpp>

#include "isotact/base/error.h"
#include "isotact/base/vec.h"
#include "isotact/geometry/mesh/mesh.h"
#include "isotact/queries/shape.h"
#include "isotact/scene/pack/replay_pack.h"

namespace isotact::detail {

static_assert(std::endian::native == std::endian::little, "arrays are written in place");

using PackJson = nlohmann::ordered_json;

inline PackJson to_pack(const Vec3& v) { return {v.x, v.y, v.z}; }

// Arrays, one behind the other, each aligned to 8 bytes.
class PackArrays {
 public:
  // The hint is that of the error for too many bytes.
  PackArrays(std::uint64_t most_bytes, Hint hint) : most_bytes_(most_bytes), hint_(hint) {}

  // ["f32", byte, count]: what the JSON has of an array. Count is of numbers. Throws Error where
  // there would be more bytes than allowed.
  template <typename T>
  PackJson add(const std::vector<T>& numbers) {
    return add_bytes(type_of<T>(), std::as_bytes(std::span(numbers)), numbers.size());
  }
  PackJson add(std::span<const Vec3f> rows) {
    return add_bytes("f32", std::as_bytes(rows), 3 * rows.size());
  }

  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  template <typename T>
  static const char* type_of() {
    if constexpr (std::is_same_v<T, float>) return "f32";
    if constexpr (std::is_same_v<T, double>) return "f64";
    if constexpr (std::is_same_v<T, std::int16_t>) return "i16";
    if constexpr (std::is_same_v<T, std::uint16_t>) return "u16";
    if constexpr (std::is_same_v<T, std::uint32_t>) return "u32";
    if constexpr (std::is_same_v<T, std::byte>) return "u8";
  }
  PackJson add_bytes(const char* type, std::span<const std::byte> bytes, std::size_t count);

  std::uint64_t most_bytes_;
  Hint hint_;
  std::vector<std::byte> bytes_;
};

std::vector<std::byte> join_pack(const PackJson& json, const std::vector<std::byte>& arrays);

// A shape of a pack: its surface, and what queries see of it.

// The pack has null for parts that the shape was not made of. A formula is sampled in a box about
// its mesh. `shape` may be null.
struct PackShapeSource {
  const std::string& name;
  const TriangleMesh& mesh;
  const Shape* shape = nullptr;
};
PackJson pack_shape(const PackShapeSource& source, const RunPackSettings& settings,
                    PackArrays& arrays);

// What a replay has in a pack but for shapes and rigid bodies.

PackJson pack_scene(const Scene& scene);
std::string to_hex(const Colour& colour);  // "#rrggbb"

// soft_bodies, frames, contacts, paths and log.
void pack_replay(const Replay& replay, const RunPackSettings& settings, PackArrays& arrays,
                 PackJson& json);

}  // namespace isotact::detail

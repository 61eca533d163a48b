#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/geometry/io/gltf.h"

namespace isotact {
namespace {

static_assert(std::endian::native == std::endian::little, "GLB is written in place");
static_assert(sizeof(Vec3f) == 12 && sizeof(Triangle) == 12);

constexpr std::uint64_t kMaxSize = std::numeric_limits<std::uint32_t>::max();

// Shortest text that reads back as the same float, as glTF 2.0 asks for min and max.
std::string numbers(const Vec3f& v) { return fmt::format("{},{},{}", v.x, v.y, v.z); }

Aabbf bounds_of_positions(const TriangleMesh& mesh) {
  Aabbf box;
  for (std::size_t i = 0; i < mesh.positions.size(); ++i) {
    if (!is_finite(mesh.positions[i]))
      throw Error(fmt::format("position {} is ({}); glTF can only hold finite positions", i,
                              numbers(mesh.positions[i])));
    extend(box, mesh.positions[i]);
  }
  return box;
}

std::string describe(const TriangleMesh& mesh) {
  constexpr std::string_view kAsset =
      R"({"asset":{"version":"2.0","generator":"Isotact"},"scene":0,)";
  if (mesh.positions.empty()) return std::string(kAsset) + R"("scenes":[{}]})";
  const std::size_t position_bytes = mesh.positions.size() * sizeof(Vec3f);
  const std::size_t index_bytes = mesh.triangles.size() * sizeof(Triangle);
  const Aabbf box = bounds_of_positions(mesh);
  std::string json(kAsset);
  json += R"("scenes":[{"nodes":[0]}],"nodes":[{"mesh":0}],"meshes":[{"primitives":[{)";
  json += R"("attributes":{"POSITION":0},)";
  json += mesh.triangles.empty() ? R"("mode":0}]}],)" : R"("indices":1,"mode":4}]}],)";
  json +=
      fmt::format(R"("accessors":[{{"bufferView":0,"componentType":5126,"count":{},"type":"VEC3",)"
                  R"("min":[{}],"max":[{}]}})",
                  mesh.positions.size(), numbers(box.lower), numbers(box.upper));
  if (!mesh.triangles.empty())
    json += fmt::format(R"(,{{"bufferView":1,"componentType":5125,"count":{},"type":"SCALAR"}})",
                        3 * mesh.triangles.size());
  json += fmt::format(
      R"(],"bufferViews":[{{"buffer":0,"byteOffset":0,"byteLength":{},"target":34962}})",
      position_bytes);
  if (!mesh.triangles.empty())
    json += fmt::format(R"(,{{"buffer":0,"byteOffset":{},"byteLength":{},"target":34963}})",
                        position_bytes, index_bytes);
  json += fmt::format(R"(],"buffers":[{{"byteLength":{}}}]}})", position_bytes + index_bytes);
  return json;
}

class Output {
 public:
  explicit Output(std::size_t size) { bytes_.reserve(size); }

  void u32(std::size_t value) {
    const auto narrow = static_cast<std::uint32_t>(value);
    append(&narrow, sizeof(narrow));
  }
  void append(const void* from, std::size_t size) {
    const auto* first = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), first, first + size);
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace

std::vector<std::byte> write_glb(const TriangleMesh& mesh) {
  assert(!find_flaw(mesh));
  std::string json = describe(mesh);
  json.resize((json.size() + 3) / 4 * 4, ' ');
  const std::uint64_t position_bytes = mesh.positions.size() * sizeof(Vec3f);
  const std::uint64_t index_bytes = mesh.triangles.size() * sizeof(Triangle);
  const std::uint64_t binary_bytes = position_bytes + index_bytes;  // a multiple of 4
  const std::uint64_t size = 20 + json.size() + (binary_bytes > 0 ? 8 + binary_bytes : 0);
  if (size > kMaxSize)
    throw Error(fmt::format("the mesh needs {} bytes as GLB; the format ends at 4 GiB", size));
  Output out(size);
  out.append("glTF", 4);
  out.u32(2);
  out.u32(size);
  out.u32(json.size());
  out.append("JSON", 4);
  out.append(json.data(), json.size());
  if (binary_bytes > 0) {
    out.u32(binary_bytes);
    out.append("BIN\0", 4);
    out.append(mesh.positions.data(), position_bytes);
    out.append(mesh.triangles.data(), index_bytes);
  }
  return out.take();
}

namespace {

// x^(1/5) for x in (0, 1], by Newton's method.
double fifth_root(double x) {
  double r = 1;
  for (int i = 0; i < 60; ++i) {
    const double r4 = r * r * r * r;
    r -= (r * r4 - x) / (5 * r4);
  }
  return r;
}

}  // namespace

double decode_srgb(double encoded) {
  if (encoded <= 0.04045) return std::max(encoded, 0.0) / 12.92;
  const double x = (std::min(encoded, 1.0) + 0.055) / 1.055;
  return x * x * fifth_root(x * x);  // x^2.4
}

}  // namespace isotact

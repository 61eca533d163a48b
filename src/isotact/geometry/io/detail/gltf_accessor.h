// Accessors (glTF 2.0, section 3.6.2) with every offset checked against the bytes behind them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "isotact/base/vec.h"
#include "isotact/geometry/io/detail/gltf_affine.h"
#include "isotact/geometry/io/detail/gltf_buffers.h"
#include "isotact/geometry/io/detail/gltf_document.h"

namespace isotact::detail {

enum class ComponentType : std::uint16_t {
  kInt8 = 5120,
  kUint8 = 5121,
  kInt16 = 5122,
  kUint16 = 5123,
  kUint32 = 5125,
  kFloat = 5126,
};

std::size_t size_of(ComponentType type);

struct StridedBytes {
  const std::byte* first = nullptr;  // null: all zeros
  std::size_t stride = 0;
};

// Elements that replace others; `indices` are increasing and below the accessor's count.
struct SparseElements {
  std::uint32_t count = 0;
  ComponentType index_type{};
  StridedBytes indices;
  StridedBytes values;
};

struct Accessor {
  ComponentType type{};
  bool is_vec3 = false;  // else one number an element
  bool normalized = false;
  std::uint32_t count = 0;
  StridedBytes elements;
  std::optional<SparseElements> sparse;
};

class GltfAccessors {
 public:
  GltfAccessors(const GltfDocument& document, GltfBuffers& buffers);

  // Each checks that the accessor fits its use; `reference` holds its number and is named in
  // errors.
  const Accessor& positions(JsonValue reference);  // three floats, or small integers as quantized
  const Accessor& indices(JsonValue reference);    // one unsigned integer

 private:
  struct View {
    std::span<const std::byte> bytes;
    std::size_t stride = 0;  // 0: packed
  };

  const Accessor& get(JsonValue reference);
  Accessor parse(JsonValue value);
  SparseElements parse_sparse(JsonValue value, const Accessor& accessor);
  const View& view(JsonValue reference);
  View parse_view(JsonValue value);
  StridedBytes elements(JsonValue owner, std::size_t element_size, std::uint64_t count,
                        bool may_stride);

  const GltfDocument& document_;
  GltfBuffers& buffers_;
  Memo<View> views_;
  Memo<Accessor> accessors_;
};

// Appends accessor.count transformed positions; returns how many of them are not finite.
std::uint64_t append_positions(const Accessor& accessor, const Affine& transform,
                               std::vector<Vec3f>& out);

// Replaces `out` by the accessor's numbers.
void read_indices(const Accessor& accessor, std::vector<std::uint32_t>& out);

}  // namespace isotact::detail

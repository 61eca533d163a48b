// The passes of the glTF reader. First the top level of a file: version, extensions, and its lists
// by number. An element is checked when something that is shown refers to it; the rest of the file
// is not read.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isotact/base/mat3.h"
#include "isotact/base/vec.h"
#include "isotact/geometry/io/detail/json.h"
#include "isotact/geometry/mesh/mesh.h"

namespace isotact::detail {

// One of the top-level arrays ("accessors"), with its elements by number.
class GltfList {
 public:
  GltfList(const JsonDocument& json, std::string_view key);  // a missing array is an empty list

  std::uint32_t size() const { return static_cast<std::uint32_t>(elements_.size()); }
  JsonValue at(std::uint32_t number) const { return json_->at(elements_[number]); }
  // The number that `reference` holds; Error where the list has no such element.
  std::uint32_t number_of(JsonValue reference) const;

 private:
  const JsonDocument* json_;
  std::string key_;
  std::vector<std::uint32_t> elements_;
};

// Throws where this is no glTF 2 or needs an extension that we cannot honour.
class GltfDocument {
 public:
  GltfDocument(std::string_view text, JsonSource source);

  const JsonDocument json;
  const GltfList buffers;
  const GltfList buffer_views;
  const GltfList accessors;
  const GltfList meshes;
  const GltfList nodes;
  const GltfList scenes;
};

// Results for elements of a list. Each is computed at most once, however often it is referred to.
template <typename T>
class Memo {
 public:
  explicit Memo(std::uint32_t size) : slots_(size, kNone) {}

  template <typename Make>
  const T& get(std::uint32_t number, const Make& make) {
    if (slots_[number] == kNone) {
      values_.push_back(make());
      slots_[number] = static_cast<std::uint32_t>(values_.size() - 1);
    }
    return values_[slots_[number]];
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> slots_;
  std::deque<T> values_;  // references stay valid
};

// Affine maps of glTF nodes, in double.

struct Affine {
  Mat3 linear = identity3();
  Vec3 offset{};

  friend constexpr bool operator==(const Affine&, const Affine&) = default;
};

constexpr Vec3 operator*(const Affine& a, const Vec3& p) { return a.linear * p + a.offset; }

constexpr Affine operator*(const Affine& a, const Affine& b) {
  return {a.linear * b.linear, a * b.offset};
}

// Whether the map turns outside in. Rows are scaled first, so that neither tiny nor huge models
// lose the sign to underflow or overflow.
inline bool is_mirror(const Affine& a) {
  Mat3 scaled = a.linear;
  for (Vec3& row : scaled.rows) {
    const double largest = std::max({std::abs(row.x), std::abs(row.y), std::abs(row.z)});
    if (largest > 0) row = row / largest;
  }
  return determinant(scaled) < 0;
}

// The node tree of a glTF file: which meshes it shows, and where.

struct MeshInstance {
  std::optional<JsonValue> node;  // nothing where the file has no nodes
  std::uint32_t mesh = 0;         // in GltfDocument::meshes
  Affine scene_from_mesh;
};

// The default scene; scene 0 where none is named; all roots where there is no scene. A node with
// two parents, a cycle and a scene that lists a child are errors.
class GltfScene {
 public:
  // `scale` applies to the whole scene. The document must outlive this.
  GltfScene(const GltfDocument& document, double scale);

  // In the order of the tree, parents first. Keeps no list: a file of nodes that show one mesh
  // would need many times its size for the transforms.
  void for_each_instance(const std::function<void(const MeshInstance&)>& visit) const;

  // Else every mesh is shown once, as it is.
  bool has_nodes() const { return document_.nodes.size() > 0; }

 private:
  const GltfDocument& document_;
  Affine world_;
  std::vector<std::uint32_t> roots_;
};

// The chunks of a GLB file (glTF 2.0, section 4.4).

struct GlbChunks {
  std::span<const std::byte> json;
  std::uint64_t json_begin = 0;                      // in the file
  std::optional<std::span<const std::byte>> binary;  // the first BIN chunk, where there is one
  std::vector<std::string> warnings;
};

// Whether the bytes start as a GLB does, with "glTF".
bool is_glb(std::span<const std::byte> bytes);

// Views into `bytes`. Chunks of unknown types are skipped, as the specification asks; lengths that
// reach past the file throw an Error with the byte.
GlbChunks split_glb(std::span<const std::byte> bytes, const std::string& file);

// The bytes behind the buffers of a glTF file: the GLB's chunk, data: URIs, files of the same
// folder.

struct BufferSource {
  std::filesystem::path file;  // whose folder holds the buffer files
  bool may_read_siblings = false;
  std::optional<std::span<const std::byte>> binary_chunk{};
};

// Loads buffers when they are first asked for; what get() returned lives as long as the store.
class GltfBuffers {
 public:
  GltfBuffers(const GltfDocument& document, BufferSource source);

  // Exactly the buffer's byteLength bytes.
  std::span<const std::byte> get(std::uint32_t buffer);
  // Read from other files so far.
  std::uint64_t sibling_bytes() const { return sibling_bytes_; }

 private:
  using Bytes = std::vector<std::byte>;

  std::span<const std::byte> load(std::uint32_t buffer);
  std::span<const std::byte> load_data_uri(JsonValue uri, std::string_view text);
  std::span<const std::byte> load_sibling(JsonValue uri, std::string_view text);

  const GltfDocument& document_;
  BufferSource source_;
  Memo<std::span<const std::byte>> loaded_;
  std::deque<Bytes> decoded_;
  std::map<std::filesystem::path, Bytes> siblings_;  // a file named by many buffers is read once
  std::uint64_t sibling_bytes_ = 0;
};

// Accessors (glTF 2.0, section 3.6.2) with every offset checked against the bytes behind them.

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
  bool is_vec3 = false;  // else one number per element
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

// The primitives of glTF meshes, and their triangles.

enum class PrimitiveMode : std::uint8_t {
  kPoints,
  kLines,
  kLineLoop,
  kLineStrip,
  kTriangles,
  kTriangleStrip,
  kTriangleFan,
};

struct Primitive {
  PrimitiveMode mode{};
  std::uint32_t index_value = 0;  // JSON value of "indices"; 0: there is none
  const Accessor* positions = nullptr;
  const Accessor* indices = nullptr;  // null: positions in their order
};

struct MeshPrimitives {
  std::vector<Primitive> primitives;
  std::uint64_t vertex_count = 0;
  std::uint64_t triangle_count = 0;  // at most; stitches of strips are dropped later
};

// Counts of what was left out, for one warning instead of perhaps millions.
struct GltfOmissions {
  std::uint64_t points_and_lines = 0;  // primitives whose vertices were kept without triangles
  std::uint64_t without_positions = 0;
  std::uint64_t incomplete = 0;  // primitives whose last vertices make no triangle
  std::uint64_t morphed = 0;
};

// Primitives without positions are left out. Errors as for every accessor that is used.
MeshPrimitives parse_mesh(JsonValue mesh, GltfAccessors& accessors, GltfOmissions& omissions);

// Appends the primitive's vertices, and its triangles turned so that outside stays outside.
// Returns how many positions are not finite. `scratch` only saves allocations.
std::uint64_t append_primitive(const Primitive& primitive, const Affine& transform,
                               const JsonDocument& json, std::vector<std::uint32_t>& scratch,
                               TriangleMesh& out);

}  // namespace isotact::detail

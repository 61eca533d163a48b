#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/geometry/io/detail/gltf_reader.h"

namespace isotact::detail {
namespace {

constexpr std::uint64_t kMax32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMax64 = std::numeric_limits<std::uint64_t>::max();

std::uint64_t unsigned_or(JsonValue object, std::string_view key, std::uint64_t otherwise) {
  const auto value = object.find(key);
  return value ? value->as_unsigned(0, kMax64) : otherwise;
}

ComponentType parse_component_type(JsonValue value) {
  const std::uint64_t code = value.as_unsigned(0, kMax32);
  if (code < 5120 || code > 5126 || code == 5124)
    value.fail(
        fmt::format("expected a component type (5120 to 5123, 5125 or 5126), found {}", code));
  return static_cast<ComponentType>(code);
}

bool is_index_type(ComponentType type) {
  return type == ComponentType::kUint8 || type == ComponentType::kUint16 ||
         type == ComponentType::kUint32;
}

// Loaders are types, so that the loops over elements are compiled once for each and hold no calls.
template <typename T>
struct LoadIndex {
  std::uint32_t operator()(const std::byte* from) const {
    T value{};
    std::memcpy(&value, from, sizeof(T));
    return value;
  }
};

template <typename Use>
void with_index_loader(ComponentType type, const Use& use) {
  switch (type) {
    case ComponentType::kUint8:
      return use(LoadIndex<std::uint8_t>{});
    case ComponentType::kUint16:
      return use(LoadIndex<std::uint16_t>{});
    default:
      return use(LoadIndex<std::uint32_t>{});
  }
}

// glTF 2.0, section 3.6.2.2 and KHR_mesh_quantization: normalized integers are fractions of their
// largest value, and the least negative one is cut off at -1.
template <typename T, bool kNormalized>
struct LoadVec3 {
  Vec3 operator()(const std::byte* from) const {
    std::array<T, 3> raw{};
    std::memcpy(raw.data(), from, sizeof(raw));
    Vec3 v{static_cast<double>(raw[0]), static_cast<double>(raw[1]), static_cast<double>(raw[2])};
    if constexpr (kNormalized)
      v = max(v / static_cast<double>(std::numeric_limits<T>::max()), Vec3{-1, -1, -1});
    return v;
  }
};

template <typename T, typename Use>
void with_integer_loader(bool normalized, const Use& use) {
  return normalized ? use(LoadVec3<T, true>{}) : use(LoadVec3<T, false>{});
}

template <typename Use>
void with_vec3_loader(const Accessor& accessor, const Use& use) {
  switch (accessor.type) {
    case ComponentType::kInt8:
      return with_integer_loader<std::int8_t>(accessor.normalized, use);
    case ComponentType::kUint8:
      return with_integer_loader<std::uint8_t>(accessor.normalized, use);
    case ComponentType::kInt16:
      return with_integer_loader<std::int16_t>(accessor.normalized, use);
    case ComponentType::kUint16:
      return with_integer_loader<std::uint16_t>(accessor.normalized, use);
    default:
      return use(LoadVec3<float, false>{});
  }
}

// Writes convert(element) for each element of the accessor to out[0], out[1], ...
template <typename Load, typename Convert, typename Out>
void load_elements(const Accessor& accessor, const Load& load, const Convert& convert,
                   std::span<Out> out) {
  const StridedBytes& elements = accessor.elements;
  if (elements.first == nullptr)
    std::fill(out.begin(), out.end(), convert({}));
  else
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = convert(load(elements.first + i * elements.stride));
  if (!accessor.sparse) return;
  const SparseElements& sparse = *accessor.sparse;
  with_index_loader(sparse.index_type, [&](const auto& load_at) {
    for (std::size_t i = 0; i < sparse.count; ++i)
      out[load_at(sparse.indices.first + i * sparse.indices.stride)] =
          convert(load(sparse.values.first + i * sparse.values.stride));
  });
}

void check_sparse_indices(JsonValue owner, const SparseElements& sparse, std::uint32_t count) {
  std::int64_t last = -1;
  with_index_loader(sparse.index_type, [&](const auto& load) {
    for (std::size_t i = 0; i < sparse.count; ++i) {
      const std::uint32_t index = load(sparse.indices.first + i * sparse.indices.stride);
      if (index >= count)
        owner.fail(
            fmt::format("element {} is {}, but the accessor has {} elements", i, index, count));
      if (index <= last)
        owner.fail(fmt::format("element {} is {} after {}; they must increase", i, index, last));
      last = index;
    }
  });
}

}  // namespace

std::size_t size_of(ComponentType type) {
  switch (type) {
    case ComponentType::kInt8:
    case ComponentType::kUint8:
      return 1;
    case ComponentType::kInt16:
    case ComponentType::kUint16:
      return 2;
    default:
      return 4;
  }
}

GltfAccessors::GltfAccessors(const GltfDocument& document, GltfBuffers& buffers)
    : document_(document),
      buffers_(buffers),
      views_(document.buffer_views.size()),
      accessors_(document.accessors.size()) {}

const Accessor& GltfAccessors::positions(JsonValue reference) {
  const Accessor& accessor = get(reference);
  if (!accessor.is_vec3) reference.fail("expected an accessor of type VEC3, found SCALAR");
  if (accessor.type == ComponentType::kUint32)
    reference.fail(
        "expected positions of component type 5126 (float), or 5120 to 5123 "
        "(KHR_mesh_quantization), found 5125");
  return accessor;
}

const Accessor& GltfAccessors::indices(JsonValue reference) {
  const Accessor& accessor = get(reference);
  if (accessor.is_vec3) reference.fail("expected an accessor of type SCALAR, found VEC3");
  if (!is_index_type(accessor.type))
    reference.fail(fmt::format("expected indices of component type 5121, 5123 or 5125, found {}",
                               static_cast<int>(accessor.type)));
  return accessor;
}

const Accessor& GltfAccessors::get(JsonValue reference) {
  const std::uint32_t number = document_.accessors.number_of(reference);
  return accessors_.get(number, [&] { return parse(document_.accessors.at(number)); });
}

Accessor GltfAccessors::parse(JsonValue value) {
  Accessor accessor;
  accessor.type = parse_component_type(value.get("componentType"));
  std::string storage;
  const JsonValue type = value.get("type");
  const std::string_view type_name = type.as_string(storage);
  accessor.is_vec3 = type_name == "VEC3";
  if (!accessor.is_vec3 && type_name != "SCALAR")
    type.fail(fmt::format("expected VEC3 (positions) or SCALAR (indices), found \"{}\"",
                          printable(type_name)));
  if (const auto normalized = value.find("normalized")) accessor.normalized = normalized->as_bool();
  accessor.count = static_cast<std::uint32_t>(value.get("count").as_unsigned(1, kMax32));
  const std::size_t size = size_of(accessor.type) * (accessor.is_vec3 ? 3 : 1);
  if (value.find("bufferView"))
    accessor.elements = elements(value, size, accessor.count, accessor.is_vec3);
  if (const auto sparse = value.find("sparse")) accessor.sparse = parse_sparse(*sparse, accessor);
  return accessor;
}

SparseElements GltfAccessors::parse_sparse(JsonValue value, const Accessor& accessor) {
  SparseElements sparse;
  sparse.count = static_cast<std::uint32_t>(value.get("count").as_unsigned(1, accessor.count));
  const JsonValue indices = value.get("indices");
  const JsonValue index_type = indices.get("componentType");
  sparse.index_type = parse_component_type(index_type);
  if (!is_index_type(sparse.index_type))
    index_type.fail(fmt::format("expected component type 5121, 5123 or 5125, found {}",
                                static_cast<int>(sparse.index_type)));
  sparse.indices = elements(indices, size_of(sparse.index_type), sparse.count, false);
  check_sparse_indices(indices, sparse, accessor.count);
  const std::size_t size = size_of(accessor.type) * (accessor.is_vec3 ? 3 : 1);
  sparse.values = elements(value.get("values"), size, sparse.count, false);
  return sparse;
}

const GltfAccessors::View& GltfAccessors::view(JsonValue reference) {
  const std::uint32_t number = document_.buffer_views.number_of(reference);
  return views_.get(number, [&] { return parse_view(document_.buffer_views.at(number)); });
}

GltfAccessors::View GltfAccessors::parse_view(JsonValue value) {
  const std::span<const std::byte> buffer =
      buffers_.get(document_.buffers.number_of(value.get("buffer")));
  const std::uint64_t offset = unsigned_or(value, "byteOffset", 0);
  const std::uint64_t length = value.get("byteLength").as_unsigned(1, kMax64);
  if (offset > buffer.size() || length > buffer.size() - offset)
    value.fail(fmt::format("{} bytes from byte {} do not fit in the buffer of {} bytes", length,
                           offset, buffer.size()));
  const auto stride = value.find("byteStride");
  return {buffer.subspan(offset, length), stride ? stride->as_unsigned(1, kMax32) : 0};
}

// `owner` has a bufferView and perhaps a byteOffset: an accessor, or a part of a sparse one.
StridedBytes GltfAccessors::elements(JsonValue owner, std::size_t element_size, std::uint64_t count,
                                     bool may_stride) {
  const JsonValue reference = owner.get("bufferView");
  const View& from = view(reference);
  const std::uint64_t stride = from.stride == 0 ? element_size : from.stride;
  if (stride < element_size || (!may_stride && stride != element_size))
    reference.fail(fmt::format("elements of {} bytes in a view with a byteStride of {}",
                               element_size, stride));
  const std::uint64_t offset = unsigned_or(owner, "byteOffset", 0);
  // Both factors are below 2^32, and the last element's size is small.
  const std::uint64_t needed = stride * (count - 1) + element_size;
  if (offset > from.bytes.size() || needed > from.bytes.size() - offset)
    owner.fail(fmt::format("{} elements need {} bytes from byte {} of a view of {} bytes", count,
                           needed, offset, from.bytes.size()));
  return {from.bytes.data() + offset, stride};
}

std::uint64_t append_positions(const Accessor& accessor, const Affine& transform,
                               std::vector<Vec3f>& out) {
  const std::size_t begin = out.size();
  out.resize(begin + accessor.count);
  const std::span<Vec3f> added = std::span(out).subspan(begin);
  with_vec3_loader(accessor, [&](const auto& load) {
    if (transform == Affine{})  // even -0 and NaN stay as they are
      load_elements(
          accessor, load, [](const Vec3& p) { return to_float(p); }, added);
    else
      load_elements(
          accessor, load, [&](const Vec3& p) { return to_float(transform * p); }, added);
  });
  const auto is_odd = [](const Vec3f& p) { return !is_finite(p); };
  return static_cast<std::uint64_t>(std::count_if(added.begin(), added.end(), is_odd));
}

void read_indices(const Accessor& accessor, std::vector<std::uint32_t>& out) {
  out.resize(accessor.count);
  with_index_loader(accessor.type, [&](const auto& load) {
    load_elements(
        accessor, load, [](std::uint32_t index) { return index; }, std::span(out));
  });
}

namespace {

bool has_triangles(PrimitiveMode mode) { return mode >= PrimitiveMode::kTriangles; }

std::uint32_t corner_count(const Primitive& primitive) {
  return primitive.indices != nullptr ? primitive.indices->count : primitive.positions->count;
}

std::uint64_t triangle_count(const Primitive& primitive) {
  const std::uint64_t corners = corner_count(primitive);
  if (!has_triangles(primitive.mode) || corners < 3) return 0;
  return primitive.mode == PrimitiveMode::kTriangles ? corners / 3 : corners - 2;
}

bool is_incomplete(const Primitive& primitive) {
  const std::uint32_t corners = corner_count(primitive);
  return has_triangles(primitive.mode) &&
         (corners < 3 || (primitive.mode == PrimitiveMode::kTriangles && corners % 3 != 0));
}

void refuse_draco(JsonValue primitive, JsonValue positions, const Accessor& accessor) {
  const auto extensions = primitive.find("extensions");
  if (extensions && extensions->find("KHR_draco_mesh_compression") &&
      accessor.elements.first == nullptr)
    positions.fail("is compressed by KHR_draco_mesh_compression, which cannot be read");
}

std::optional<Primitive> parse_primitive(JsonValue value, GltfAccessors& accessors,
                                         GltfOmissions& omissions) {
  Primitive primitive{.mode = PrimitiveMode::kTriangles};
  if (const auto mode = value.find("mode"))
    primitive.mode = static_cast<PrimitiveMode>(mode->as_unsigned(0, 6));
  const auto positions = value.get("attributes").find("POSITION");
  if (!positions) {
    ++omissions.without_positions;
    return std::nullopt;
  }
  primitive.positions = &accessors.positions(*positions);
  refuse_draco(value, *positions, *primitive.positions);
  if (!has_triangles(primitive.mode)) {
    ++omissions.points_and_lines;
    return primitive;
  }
  if (const auto indices = value.find("indices")) {
    primitive.indices = &accessors.indices(*indices);
    primitive.index_value = indices->index();
  }
  if (is_incomplete(primitive)) ++omissions.incomplete;
  if (value.find("targets")) ++omissions.morphed;
  return primitive;
}

// Indices that all name one of `vertex_count` vertices, or an Error.
void check_indices(std::span<const std::uint32_t> indices, const Primitive& primitive,
                   const JsonDocument& json) {
  const std::uint32_t vertex_count = primitive.positions->count;
  const std::uint32_t restart = size_of(primitive.indices->type) == 4   ? 0xffffffffU
                                : size_of(primitive.indices->type) == 2 ? 0xffffU
                                                                        : 0xffU;
  std::uint32_t largest = 0;
  for (const std::uint32_t index : indices) largest = std::max(largest, index);
  if (largest < vertex_count && largest != restart) return;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] == restart)
      json.at(primitive.index_value)
          .fail(fmt::format("element {} is {}, which restarts a primitive; glTF forbids it", i,
                            restart));
    if (indices[i] >= vertex_count)
      json.at(primitive.index_value)
          .fail(fmt::format("element {} is {}, but there are {} vertices", i, indices[i],
                            vertex_count));
  }
}

// Corners of triangle i, as places in the list of indices (glTF 2.0, section 3.7.2.1).
Triangle corners_of(PrimitiveMode mode, std::uint32_t i) {
  switch (mode) {
    case PrimitiveMode::kTriangleStrip:
      return i % 2 == 0 ? Triangle{i, i + 1, i + 2} : Triangle{i, i + 2, i + 1};
    case PrimitiveMode::kTriangleFan:
      return {i + 1, i + 2, 0};
    default:
      return {3 * i, 3 * i + 1, 3 * i + 2};
  }
}

}  // namespace

MeshPrimitives parse_mesh(JsonValue mesh, GltfAccessors& accessors, GltfOmissions& omissions) {
  MeshPrimitives result;
  for (const JsonValue value : mesh.get("primitives").items()) {
    const std::optional<Primitive> primitive = parse_primitive(value, accessors, omissions);
    if (!primitive) continue;
    result.primitives.push_back(*primitive);
    result.vertex_count += primitive->positions->count;
    result.triangle_count += triangle_count(*primitive);
  }
  return result;
}

std::uint64_t append_primitive(const Primitive& primitive, const Affine& transform,
                               const JsonDocument& json, std::vector<std::uint32_t>& scratch,
                               TriangleMesh& out) {
  const auto base = static_cast<std::uint32_t>(out.positions.size());
  const std::uint64_t odd = append_positions(*primitive.positions, transform, out.positions);
  const bool is_indexed = primitive.indices != nullptr;
  if (is_indexed) {
    read_indices(*primitive.indices, scratch);
    check_indices(scratch, primitive, json);
  }
  const auto vertex = [&](std::uint32_t corner) {
    return base + (is_indexed ? scratch[corner] : corner);
  };
  const bool flip = is_mirror(transform);
  const bool is_strip = primitive.mode == PrimitiveMode::kTriangleStrip;
  const auto count = static_cast<std::uint32_t>(triangle_count(primitive));
  for (std::uint32_t i = 0; i < count; ++i) {
    const Triangle corner = corners_of(primitive.mode, i);
    Triangle t{vertex(corner[0]), vertex(corner[1]), vertex(corner[2])};
    if (is_strip && (t[0] == t[1] || t[1] == t[2] || t[2] == t[0])) continue;
    if (flip) std::swap(t[1], t[2]);
    out.triangles.push_back(t);
  }
  return odd;
}

}  // namespace isotact::detail

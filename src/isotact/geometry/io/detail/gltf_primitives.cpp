#include "isotact/geometry/io/detail/gltf_primitives.h"

#include <limits>
#include <utility>

#include <fmt/format.h>

namespace isotact::detail {
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

#include "isotact/geometry/io/detail/mesh_builder.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include <fmt/format.h>

#include "isotact/geometry/mesh/triangulate.h"

namespace isotact::detail {
namespace {

void scale_positions(std::vector<Vec3f>& positions, double scale) {
  if (scale == 1) return;
  for (Vec3f& p : positions) p = to_float(to_double(p) * scale);
}

// Without branches, since nearly always all are: only an exponent of all ones carries into the top
// bit.
bool are_finite(std::span<const Vec3f> positions) {
  constexpr std::uint32_t kExponent = 0x7F800000U, kLowestOfExponent = 0x00800000U;
  const auto test = [](float c) {
    return (std::bit_cast<std::uint32_t>(c) & kExponent) + kLowestOfExponent;
  };
  std::uint32_t seen = 0;
  for (const Vec3f& p : positions) seen |= test(p.x) | test(p.y) | test(p.z);
  return seen >> 31U == 0;
}

void warn_about(const TriangleMesh& mesh, std::vector<std::string>& warnings) {
  if (!are_finite(mesh.positions)) {
    Oddity not_finite("vertices with coordinates that are not finite");
    for (std::size_t i = 0; i < mesh.positions.size(); ++i)
      if (!is_finite(mesh.positions[i])) not_finite.note(i + 1);  // as the errors count
    not_finite.report_to(warnings, "vertex");
  }
  if (mesh.triangles.empty()) warnings.emplace_back("the file has no triangles");
}

}  // namespace

void Oddity::report_to(std::vector<std::string>& warnings, std::string_view place) const {
  if (count_ > 0)
    warnings.push_back(fmt::format("{}: {} (the first: {} {})", text_, count_, place, first_));
}

TriangleMesh MeshBuilder::finish(double scale, const Monitor& monitor) {
  TriangleMesh mesh;
  mesh.positions = positions_.take();
  mesh.triangles = triangles_.take();
  assert(!find_flaw(mesh));
  scale_positions(mesh.positions, scale);
  cut_polygons(mesh, monitor);
  warn_about(mesh, warnings);
  return mesh;
}

void MeshBuilder::cut_polygons(TriangleMesh& mesh, const Monitor& monitor) {
  const std::vector<Polygon> polygons = polygons_.take();
  std::vector<std::uint32_t> corners;
  std::vector<Triangle> cut;
  for (std::size_t i = 0; i < polygons.size(); ++i) {
    if (i % 4096 == 0) monitor.check();
    const std::span fan =
        std::span(mesh.triangles).subspan(polygons[i].first_triangle, polygons[i].triangle_count);
    corners.assign({fan[0][0], fan[0][1]});
    for (const Triangle& triangle : fan) corners.push_back(triangle[2]);
    cut.clear();
    triangulate_polygon(mesh.positions, corners, cut);
    assert(cut.size() == fan.size());
    std::copy(cut.begin(), cut.end(), fan.begin());
  }
}

}  // namespace isotact::detail

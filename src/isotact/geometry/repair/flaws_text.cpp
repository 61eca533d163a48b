#include <string_view>

#include <fmt/format.h>

#include "isotact/geometry/repair/flaws.h"

namespace isotact {
namespace {

// "1 hole", "5 holes", "2 vertices"
std::string counted(std::size_t count, std::string_view noun) {
  if (count == 1) return fmt::format("1 {}", noun);
  if (noun == "vertex") return fmt::format("{} vertices", count);
  if (noun.ends_with("vertex"))
    return fmt::format("{} {}vertices", count, noun.substr(0, noun.size() - 6));
  return fmt::format("{} {}s", count, noun);
}

std::string_view verb(std::size_t count, std::string_view one, std::string_view many) {
  return count == 1 ? one : many;
}

void describe_surface(const MeshFlaws& f, std::vector<std::string>& lines) {
  if (f.boundary_edges.count > 0)
    lines.push_back(fmt::format("{} ({})", counted(f.boundary_loops.count, "hole"),
                                counted(f.boundary_edges.count, "boundary edge")));
  if (f.non_manifold_edges.count > 0)
    lines.push_back(fmt::format("{} with more than two triangles",
                                counted(f.non_manifold_edges.count, "edge")));
  if (f.bow_tie_vertices.count > 0)
    lines.push_back(fmt::format("{} where parts touch without sharing an edge",
                                counted(f.bow_tie_vertices.count, "vertex")));
  if (f.inconsistent_edges.count > 0)
    lines.push_back(fmt::format("{} whose two triangles disagree about the outside",
                                counted(f.inconsistent_edges.count, "edge")));
  if (f.inward)
    lines.emplace_back("the surface faces inward (its volume is negative)");
  else if (f.inward_shells > 0)
    lines.push_back(fmt::format("{} inward, as cavities do",
                                counted(f.inward_shells, "closed shell") +
                                    std::string(verb(f.inward_shells, " faces", " face"))));
}

void describe_triangles(const MeshFlaws& f, std::vector<std::string>& lines) {
  if (f.collapsed_triangles.count > 0)
    lines.push_back(fmt::format("{} with two corners in one place",
                                counted(f.collapsed_triangles.count, "triangle")));
  if (f.collinear_triangles.count > 0)
    lines.push_back(fmt::format("{} with the corners on one line",
                                counted(f.collinear_triangles.count, "triangle")));
  if (f.duplicate_triangles.count > 0)
    lines.push_back(
        fmt::format("{}{}", counted(f.duplicate_triangles.count, "duplicate triangle"),
                    f.opposite_duplicates == 0
                        ? std::string{}
                        : fmt::format(" ({} with the opposite winding)", f.opposite_duplicates)));
}

void describe_contacts(const SelfIntersections& s, std::vector<std::string>& lines) {
  const auto add = [&](std::size_t count, std::string_view what) {
    if (count > 0) lines.push_back(fmt::format("{} {}", counted(count, "pair"), what));
  };
  add(s.crossing, "of triangles that cross");
  add(s.overlapping, "of triangles that overlap in their plane");
  add(s.touching, "of triangles that touch beyond what they share");
  if (!s.complete)
    lines.emplace_back(
        "too many triangles in one place to test them all for self-intersection: there may be "
        "more");
}

}  // namespace

std::vector<std::string> describe(const MeshFlaws& f) {
  std::vector<std::string> lines;
  if (f.triangles == 0) lines.emplace_back("no triangles");
  if (f.non_finite_vertices.count > 0)
    lines.push_back(fmt::format("{} at NaN or infinity, used by {}",
                                counted(f.non_finite_vertices.count, "vertex"),
                                counted(f.non_finite_triangles, "triangle")));
  describe_surface(f, lines);
  if (f.self_intersections) describe_contacts(*f.self_intersections, lines);
  describe_triangles(f, lines);
  if (f.unreferenced_vertices.count > 0)
    lines.push_back(
        fmt::format("{} that no triangle uses", counted(f.unreferenced_vertices.count, "vertex")));
  return lines;
}

}  // namespace isotact

#include "isotact/scene/parse/detail/figures.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "isotact/base/error.h"
#include "isotact/base/trig.h"
#include "isotact/geometry/primitives/part_mesh.h"

namespace isotact {
namespace {

// Number of triangles of a closed surface with that many handles, by Euler's formula.
constexpr std::size_t triangles_of(std::size_t vertices, std::size_t handles) {
  return 2 * vertices + 4 * handles - 4;
}

TriangleMesh make_pawn() {
  // Base, waist, collar and head: height and radius.
  constexpr double kProfile[][2] = {{-0.245, 0.130}, {-0.22, 0.150}, {-0.19, 0.150}, {-0.17, 0.125},
                                    {-0.15, 0.105},  {-0.12, 0.085}, {-0.08, 0.070}, {-0.04, 0.060},
                                    {0.00, 0.055},   {0.03, 0.055},  {0.05, 0.085},  {0.065, 0.090},
                                    {0.08, 0.060},   {0.10, 0.075},  {0.13, 0.095},  {0.16, 0.100},
                                    {0.19, 0.090},   {0.22, 0.065},  {0.24, 0.035}};
  static_assert(std::size(kProfile) * 8 + 2 == 154);
  std::vector<PointRing> rings;
  for (const auto& [height, radius] : kProfile)
    rings.push_back(make_section(height, 0, radius, radius, 0, 8));
  PartMesh part;
  // Rotates the x axis to the y axis.
  part.place({.rotation = rotation_about({0, 0, 1}, kPi / 2)});
  part.add_loft(rings, {-0.25, 0, 0}, {0.25, 0, 0});
  return part.take();
}

TriangleMesh make_fish() {
  // From nose to tail: position, half height, half width.
  constexpr double kSections[][3] = {
      {-0.24, 0.025, 0.018}, {-0.20, 0.060, 0.035}, {-0.13, 0.100, 0.052}, {-0.04, 0.115, 0.056},
      {0.05, 0.095, 0.045},  {0.12, 0.060, 0.028},  {0.165, 0.030, 0.015}, {0.19, 0.045, 0.011},
      {0.22, 0.085, 0.009},  {0.24, 0.110, 0.006}};
  std::vector<PointRing> rings;
  for (const auto& [x, height, width] : kSections)
    rings.push_back(make_section(x, 0, height, width, 0, 8));
  PartMesh part;
  part.add_loft(rings, {-0.25, 0, 0}, {0.235, 0, 0});
  TriangleMesh mesh = part.take();
  refine_to(mesh, triangles_of(216, 0));
  return mesh;
}

// A ball with horns, given by the distance of its surface along a direction.
struct Horn {
  Vec3 direction{};
  double reach = 0;     // Beyond the ball.
  double slimness = 1;  // Larger values give thinner horns.
};
double reach_along(const Vec3& direction, std::span<const Horn> horns, double ball) {
  double reach = ball;
  for (const Horn& h : horns) {
    // The factor is one at the tip and falls with the angle. (No exp: its results differ between
    // machines.)
    const double off = h.slimness * (1 - dot(direction, normalized(h.direction)));
    reach += h.reach / ((1 + off) * (1 + off));
  }
  return reach;
}

TriangleMesh make_horned(std::span<const Horn> horns, double ball, std::size_t vertices) {
  const PlacePoint place = [&](const Vec3f& p) {
    const Vec3 direction = normalized(to_double(p));
    return to_float(direction * reach_along(direction, horns, ball));
  };
  TriangleMesh mesh;
  for (const Vec3f& p : {Vec3f{1, 0, 0}, Vec3f{-1, 0, 0}, Vec3f{0, 1, 0}, Vec3f{0, -1, 0},
                         Vec3f{0, 0, 1}, Vec3f{0, 0, -1}})
    mesh.positions.push_back(place(p));
  mesh.triangles = {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4},
                    {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
  refine_to(mesh, triangles_of(vertices, 0), place);
  return mesh;
}

TriangleMesh make_rabbit() {
  constexpr Horn kHorns[] = {{{0.33, 1, 0.2}, 0.16, 28},    {{-0.33, 1, 0.2}, 0.16, 28},
                             {{0, 0.45, 1}, 0.09, 9},       {{0, -0.35, -1}, 0.05, 20},
                             {{0.5, -1, 0.5}, 0.06, 12},    {{-0.5, -1, 0.5}, 0.06, 12},
                             {{0.7, -0.9, -0.4}, 0.06, 12}, {{-0.7, -0.9, -0.4}, 0.06, 12}};
  return make_horned(kHorns, 0.11, 453);
}

TriangleMesh make_human() {
  constexpr Horn kHorns[] = {{{0, 1, 0}, 0.13, 14},
                             {{1, 0.35, 0}, 0.17, 45},
                             {{-1, 0.35, 0}, 0.17, 45},
                             {{0.33, -1, 0}, 0.22, 45},
                             {{-0.33, -1, 0}, 0.22, 45}};
  return make_horned(kHorns, 0.065, 1250);
}

// A point on an eight in the xy plane. At the crossing, one branch passes in front of the other.
Vec3 eight_at(double turns) {
  const SinCos once = sin_cos(2 * kPi * turns), twice = sin_cos(4 * kPi * turns);
  return {0.22 * once.sin, 0.12 * twice.sin, 0.035 * once.cos};
}

TriangleMesh make_bike() {
  constexpr int kRings = 360, kAround = 10;
  std::vector<PointRing> rings;
  for (int i = 0; i < kRings; ++i) {
    const double turns = static_cast<double>(i) / kRings;
    const Vec3 at = eight_at(turns);
    const Vec3 along = normalized(eight_at(turns + 1e-4) - eight_at(turns - 1e-4));
    const Vec3 side = normalized(cross(along, {0, 0, 1})), up = cross(side, along);
    PointRing ring;
    for (int k = 0; k < kAround; ++k) {
      const SinCos a = sin_cos(2 * kPi * k / kAround);
      ring.push_back(at + (up * a.cos + side * a.sin) * 0.022);
    }
    rings.push_back(std::move(ring));
  }
  PartMesh part;
  part.add_loop(rings);
  TriangleMesh mesh = part.take();
  refine_to(mesh, triangles_of(9543, 1));
  return mesh;
}

}  // namespace

const std::vector<FigureInfo>& figure_catalogue() {
  static const std::vector<FigureInfo> all{
      {"pawn", 154}, {"fish", 216}, {"rabbit", 453}, {"human", 1250}, {"bike", 9543}};
  return all;
}

TriangleMesh make_figure(std::string_view name) {
  if (name == "pawn") return make_pawn();
  if (name == "fish") return make_fish();
  if (name == "rabbit") return make_rabbit();
  if (name == "human") return make_human();
  if (name == "bike") return make_bike();
  std::vector<std::string> names;
  for (const FigureInfo& info : figure_catalogue()) names.emplace_back(info.name);
  throw Error("unknown figure '" + printable(name) + "'" + suggest(name, names));
}

TriangleMesh make_sheet(double width, double depth, int cells_x, int cells_z) {
  TriangleMesh mesh;
  for (int j = 0; j <= cells_z; ++j)
    for (int i = 0; i <= cells_x; ++i)
      mesh.positions.push_back(to_float({width * (static_cast<double>(i) / cells_x - 0.5), 0,
                                         depth * (static_cast<double>(j) / cells_z - 0.5)}));
  const auto at = [&](int i, int j) { return static_cast<std::uint32_t>(j * (cells_x + 1) + i); };
  for (int j = 0; j < cells_z; ++j)
    for (int i = 0; i < cells_x; ++i) {
      const std::uint32_t a = at(i, j), b = at(i + 1, j), c = at(i + 1, j + 1), d = at(i, j + 1);
      if ((i + j) % 2 == 0) {
        mesh.triangles.push_back({a, c, b});
        mesh.triangles.push_back({a, d, c});
      } else {
        mesh.triangles.push_back({a, d, b});
        mesh.triangles.push_back({b, d, c});
      }
    }
  return mesh;
}

}  // namespace isotact

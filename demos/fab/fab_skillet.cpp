#include <algorithm>
#include <cmath>

#include "isotact/geometry/primitives/part_mesh.h"

#include "fab_shapes.h"

namespace isotact {
namespace {

// Through the corners, with each rounded: Chaikin's rule, a few times.
std::vector<LathePoint> round_off(std::vector<LathePoint> line, int times) {
  for (int i = 0; i < times; ++i) {
    std::vector<LathePoint> next{line.front()};
    for (std::size_t k = 0; k + 1 < line.size(); ++k) {
      const LathePoint a = line[k], b = line[k + 1];
      next.push_back({0.75 * a.x + 0.25 * b.x, 0.75 * a.radius + 0.25 * b.radius});
      next.push_back({0.25 * a.x + 0.75 * b.x, 0.25 * a.radius + 0.75 * b.radius});
    }
    next.push_back(line.back());
    line = std::move(next);
  }
  return line;
}

}  // namespace

TriangleMesh make_skillet() {
  PartMesh parts;
  // The pan about y: the lathe's axis turned up. Outside first, from the middle of the underside.
  parts.place({rotation_about({0, 0, 1}, kPi / 2), {}});
  const std::vector<LathePoint> pan = {
      {0, 0},         {0, 0.1},       {0.004, 0.108}, {0.045, 0.138}, {0.049, 0.142},
      {0.052, 0.138}, {0.048, 0.134}, {0.01, 0.106},  {0.005, 0.096}, {0.005, 0}};
  parts.add_lathe(round_off(pan, 3), 256, 0.0035);

  parts.place({});
  std::vector<PointRing> rings;
  constexpr int kRings = 84, kAround = 64;
  for (int i = 0; i <= kRings; ++i) {
    const double s = static_cast<double>(i) / kRings;
    const double x = std::lerp(0.124, 0.335, s);
    const double rise = 0.036 + 0.05 * s * (1.35 - 0.6 * s);
    const double end = 1 - std::max(0.0, s - 0.93) / 0.07;  // rounded at the end
    const double shrink = std::sqrt(std::max(1e-4, 1 - (1 - end) * (1 - end)));
    const double half_width = (0.011 + 0.006 * s * s) * shrink;
    rings.push_back(make_section(x, rise, 0.0055 * shrink, half_width, 0.3, kAround));
  }
  parts.add_loft(rings);
  TriangleMesh mesh = parts.take();
  refine_to(mesh, kSkilletTriangles);
  return mesh;
}

Pose compute_skillet_pose(double seconds) {
  const SinCos sway = sin_cos(1.1 * seconds), bob = sin_cos(1.7 * seconds);
  const Quat turn =
      rotation_about({0, 1, 0}, 0.5 + 0.25 * sway.sin) * rotation_about({0, 0, 1}, 0.12 * bob.sin);
  return {turn, {0.11 * sway.sin, 0.42 + 0.02 * bob.cos, 0.03 * bob.sin}};
}

}  // namespace isotact

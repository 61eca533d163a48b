#include "isotact/field/build/detail/evidence.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "isotact/base/random.h"
#include "isotact/geometry/winding.h"

namespace isotact::surface_detail {
namespace {

constexpr std::size_t kSamples = 2000;

// Points a little behind the surface, spread by area.
std::vector<Vec3f> sample_behind(const TriangleMesh& mesh) {
  std::vector<double> area_up_to;
  double area = 0;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const auto [a, b, c] = corners(mesh, i);
    area += length(cross(to_double(b) - to_double(a), to_double(c) - to_double(a)));
    area_up_to.push_back(area);
  }
  const double depth = 1e-5 * length(extent(to_double(bounds(mesh))));
  Random random(1);
  std::vector<Vec3f> points;
  for (std::size_t i = 0; i < kSamples; ++i) {
    const auto it = std::upper_bound(area_up_to.begin(), area_up_to.end(), random.uniform() * area);
    const auto t =
        std::min(static_cast<std::size_t>(it - area_up_to.begin()), mesh.triangles.size() - 1);
    double u = random.uniform(), v = random.uniform();
    if (u + v > 1) {
      u = 1 - u;
      v = 1 - v;
    }
    const auto [a, b, c] = corners(mesh, t);
    const Vec3 origin = to_double(a), ab = to_double(b) - origin, ac = to_double(c) - origin;
    points.push_back(to_float(origin + ab * u + ac * v - normalized(cross(ab, ac)) * depth));
  }
  return points;
}

}  // namespace

double find_backed_share(const TriangleMesh& mesh, Threads threads) {
  const WindingTree tree(mesh, {.threads = threads});
  const std::vector<Vec3f> points = sample_behind(mesh);
  std::vector<double> winding(points.size());
  find_winding_numbers(tree, points, winding, threads);
  constexpr double kTreeError = 0.01;  // behind a flat sheet, the number is a half
  const auto backed =
      std::count_if(winding.begin(), winding.end(), [](double w) { return w > 0.5 + kTreeError; });
  return static_cast<double>(backed) / static_cast<double>(points.size());
}

double find_wrong_share(const TriangleMesh& given, const TriangleMesh& closed, double distance,
                        Threads threads) {
  const WindingTree given_tree(given, {.threads = threads}),
      closed_tree(closed, {.threads = threads});
  const Aabb box = to_double(bounds(closed));
  Random random(2);
  std::vector<Vec3f> points;
  for (std::size_t i = 0; i < kSamples; ++i) {
    const Vec3f p = to_float(random.in_box(box.lower, box.upper));
    if (find_closest_point(closed_tree.bvh(), p).distance > distance) points.push_back(p);
  }
  if (points.empty()) return 0;
  std::vector<double> w(points.size()), n(points.size());
  find_winding_numbers(given_tree, points, w, threads);
  find_winding_numbers(closed_tree, points, n, threads);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < points.size(); ++i) wrong += (w[i] > 0.5) != (n[i] > 0.5) ? 1U : 0U;
  return static_cast<double>(wrong) / static_cast<double>(points.size());
}

}  // namespace isotact::surface_detail

// How far is it to the surface? Builds a hierarchy over a mesh and asks for closest points, one at
// a time and many at once.
#include <cstdio>
#include <vector>

#include "isotact/base/random.h"
#include "isotact/geometry/bvh/bvh.h"
#include "isotact/geometry/primitives/primitives.h"

int main() {
  using namespace isotact;
  const TriangleMesh torus = make_torus({.radius = 0.375, .tube_radius = 0.125});
  const Bvh bvh(torus);

  const ClosestPoint nearest = find_closest_point(bvh, {0, 0, 0});
  std::printf("from the centre: %.4f m to triangle %u (0.25 expected)\n",
              static_cast<double>(nearest.distance), nearest.triangle);

  Random random(1);
  std::vector<Vec3f> points(10'000);
  for (Vec3f& p : points) p = to_float(random.in_box({-1, -1, -1}, {1, 1, 1}));
  std::vector<ClosestPoint> results(points.size());
  find_closest_points(bvh, points, results);

  double sum = 0;
  for (const ClosestPoint& r : results) sum += static_cast<double>(r.distance);
  std::printf("mean distance of %zu points: %.4f m\n", points.size(),
              sum / static_cast<double>(points.size()));
  return nearest.distance > 0.24F && nearest.distance < 0.26F ? 0 : 1;
}

// Inside or outside, even where the mesh has a hole: generalised winding numbers beside the exact
// answer of the closed shape.
#include <cstdio>

#include "isotact/base/random.h"
#include "isotact/geometry/bvh/winding.h"
#include "isotact/geometry/primitives/primitives.h"

int main() {
  using namespace isotact;
  TriangleMesh ball = make_sphere({.radius = 0.5});
  // A hole: the triangles near the top are gone.
  std::erase_if(ball.triangles, [&](const Triangle& t) { return ball.positions[t[0]].y > 0.47F; });
  const WindingTree tree(ball);

  Random random(1);
  int wrong = 0;
  constexpr int kPoints = 10'000;
  for (int i = 0; i < kPoints; ++i) {
    const Vec3 p = random.in_box({-0.7, -0.7, -0.7}, {0.7, 0.7, 0.7});
    const bool inside = compute_winding_number(tree, to_float(p)) > 0.5;
    wrong += inside != (length(p) < 0.5) ? 1 : 0;
  }
  std::printf("%d of %d points differ from the closed ball, all near the hole or the facets\n",
              wrong, kPoints);
  return wrong < kPoints / 100 ? 0 : 1;
}

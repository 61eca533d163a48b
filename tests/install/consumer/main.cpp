// Crosses the library's boundary with every kind of public struct. Compiled with other CPU flags
// than the library: a struct whose layout depended on them would give wrong numbers here.
#include <cstdio>

#include "isotact/base/parallel.h"
#include "isotact/base/pose_text.h"
#include "isotact/geometry/bvh.h"
#include "isotact/geometry/mass_properties.h"
#include "isotact/geometry/primitives.h"

int main() {
  using namespace isotact;
  const TriangleMesh box = make_box({.size_x = 2, .size_y = 4, .size_z = 6});
  const Bvh bvh(box);
  const ClosestPoint nearest = find_closest_point(bvh, {3, 0, 0});
  const MassProperties mass = find_mass_properties(box);
  const Pose pose = parse_pose("xyz=1,2,3 wxyz=0,1,0,0");
  const Vec3 moved = transform_point(pose, {1, 1, 1});
  const int sum = parallel_reduce(
      1000, 10, Threads{2}, 0, [](std::size_t b, std::size_t e) { return int(e - b); },
      [](int a, int b) { return a + b; });
  std::printf("%g %g %g,%g,%g %d\n", double(nearest.distance), mass.volume, moved.x, moved.y,
              moved.z, sum);
}

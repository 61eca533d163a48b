// Crosses the library's boundary with every kind of public struct. Compiled with other CPU flags
// than the library: a struct whose layout depended on them would give wrong numbers here. An error
// thrown in the library is caught here, whichever kind of library it is.
#include <cstdio>

#include <isotact/geometry/bvh/bvh.h>
#include <isotact/isotact.h>

namespace {

bool is_thrown_across() {
  try {
    isotact::parse_pose("nonsense");
  } catch (const isotact::Error&) {
    return true;
  }
  return false;
}

}  // namespace

int main() {
  using namespace isotact;
  const TriangleMesh box = make_box({.size_x = 2, .size_y = 4, .size_z = 6});
  const Bvh bvh(box);
  const ClosestPoint nearest = find_closest_point(bvh, {3, 0, 0});
  const MassProperties mass = compute_mass_properties(box);
  const Pose pose = parse_pose("xyz=1,2,3 wxyz=0,1,0,0");
  const Vec3 moved = transform_point(pose, {1, 1, 1});
  const int sum = parallel_reduce(
      1000, 10, Threads{2}, 0, [](std::size_t b, std::size_t e) { return int(e - b); },
      [](int a, int b) { return a + b; });
  const Shape shape = Shape::from_mesh(box, {.field = {.resolution = 64}});
  const CollideResult touching = collide(shape, {}, shape, {{}, {1.5, 0, 0}});
  std::printf("%s %g %g %g,%g,%g %d %s %s\n", ISOTACT_VERSION_STRING, double(nearest.distance),
              mass.volume, moved.x, moved.y, moved.z, sum,
              touching.status == CollideStatus::kContact ? "contact" : "free",
              is_thrown_across() ? "caught" : "lost");
}

// Do two bodies touch, how far apart are they, and when do they first touch on a motion? With mesh
// files, with a ground that is a formula, and with assets that were built before.
#include <cstdio>

#include <isotact/isotact.h>

namespace {

using namespace isotact;

void answer(const char* name, const Shape& part, const Shape& other) {
  const Pose start{.translation = {0, 0.4, 0}}, end{.translation = {0, 0.001, 0}};
  const CollideResult contact = collide(part, end, other, {});
  const DistanceResult nearest = distance(part, start, other, {});
  const ContinuousResult first = continuous_collide(part, {start, end}, other, at_rest({}));
  std::printf("%s: %zu contacts at the end, %.3f m apart at the start, first contact at %.3f\n",
              name, contact.contacts.size(), nearest.distance, first.time_of_contact);
}

}  // namespace

int main() {
  // The files of this example.
  write_mesh("three_gear.stl", make_shape("gear"));
  write_mesh("three_bowl.stl", make_shape("bowl"));

  // Mesh files.
  const Shape gear = load_shape("three_gear.stl"), bowl = load_shape("three_bowl.stl");
  answer("meshes", gear, bowl);

  // A ground without a mesh: nothing is built for it.
  answer("ground", gear, Shape::from_analytic(PlaneField{}));

  // Built once, as by `isotact build`, and loaded at once.
  save_asset("three_gear.isotact", build_asset(read_mesh("three_gear.stl").mesh).asset);
  save_asset("three_bowl.isotact", build_asset(read_mesh("three_bowl.stl").mesh).asset);
  answer("assets", load_shape("three_gear.isotact"), load_shape("three_bowl.isotact"));
}

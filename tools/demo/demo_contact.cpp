// When a gear that flies through a bowl between two steps touches it first, and where.
#include <algorithm>

#include "isotact/base/trig.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/pointshell/asset_section.h"
#include "isotact/queries/collide.h"
#include "isotact/queries/continuous_collide.h"
#include "isotact/queries/shape.h"

#include "demo_story.h"

namespace isotact::tool {
namespace {

// Built, stored, and read again.
Shape make_asset(const std::string& name, const Story& story) {
  const TriangleMesh mesh = make_shape(name);
  const Shape cooked = Shape::from_mesh(
      mesh, {.field = {.resolution = kShortTour ? 32 : 128, .threads = story.threads}});
  Asset asset;
  asset.source.mesh_hash = hash_mesh(mesh);
  asset.field = cooked.field();
  set_point_sphere_tree(asset, *cooked.tree());
  const auto path = story.folder / (name + ".isotact");
  write_asset(path, asset);
  return Shape::from_asset(read_asset(path));
}

}  // namespace

void find_continuous_contact(Story& story) {
  constexpr double kStep = 1.0 / 60, kTravel = 2;  // seconds, metres
  const Stopwatch watch;
  const Shape gear = make_asset("gear", story), bowl = make_asset("bowl", story);
  const double build_seconds = watch.seconds();
  const Vec3 above{0.05, kTravel / 2, 0};
  const BodyMotion flight{.from = {rotation_about({0, 0, 1}, 0.4), above},
                          .to = {rotation_about({1, 0.2, 0.3}, 2.5), above - Vec3{0, kTravel, 0}}};
  const auto touches = [&](const Pose& pose) {
    return collide(gear, pose, bowl, {}).status == CollideStatus::kContact;
  };
  const bool at_steps = touches(flight.from) || touches(flight.to);
  const ContinuousRequest request{.threads = story.threads};
  ContinuousScratch scratch;
  const ContinuousResult& result =  // prepares
      continuous_collide(gear, flight, bowl, {}, request, scratch);
  double fastest = 1e9;
  for (int k = 0; k < 5; ++k) {
    const Stopwatch one;
    continuous_collide(gear, flight, bowl, {}, request, scratch);
    fastest = std::min(fastest, one.seconds());
  }
  const bool found = result.status == ContinuousStatus::kContact;
  const Vec3 place = result.contact.position;
  story.facts["continuous"] = {{"found", found},
                               {"found_at_steps", at_steps},
                               {"time_of_contact", found ? Json(result.time_of_contact) : Json()},
                               {"position", found ? to_list(place) : Json()},
                               {"blind_depth", result.blind_depth},
                               {"query_seconds", fastest}};
  story.tell(fmt::format(
      "Built assets of a gear and of a bowl ({} and {} points; {:.1f} s), and threw the gear "
      "through "
      "the bowl at {:.0f} m/s. Where steps of 1/60 s end they {}; between them they {}{} (found in "
      "{:.2f} ms; nothing deeper than {:.2f} mm is overlooked).",
      format_count(gear.tree()->point_count()), format_count(bowl.tree()->point_count()),
      build_seconds, kTravel / kStep, at_steps ? "touch" : "are apart",
      found ? "touch first" : "do not touch",
      found ? fmt::format(" after {:.3f} ms, at x {:.1f}, y {:.1f}, z {:.1f} mm",
                          result.time_of_contact * kStep * 1e3, place.x * 1e3, place.y * 1e3,
                          place.z * 1e3)
            : "",
      fastest * 1e3, result.blind_depth * 1e3));
}

}  // namespace isotact::tool

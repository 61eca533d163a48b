// FAB, section 3.1, "Test in a more complex environment": a fighter of 16,792 triangles over a city
// of 315,000, with an airship that moves, a tessellated flag, plants of a geometry shader and
// 59,000 particles that a compute shader moves. Nothing of that but the city is ever known to the
// CPU. What detection costs beside drawing.
#include <algorithm>
#include <optional>

#include "isotact/gpu/core/program.h"
#include "isotact/gpu/depth/mesh_drawable.h"
#include "isotact/queries/depth/depth_map.h"

#include "depth_report.h"
#include "depth_statistics.h"
#include "fab_shapes.h"
#include "painter.h"
#include "support/measure.h"
#include "things.h"

namespace isotact::bench {
namespace {

constexpr std::uint32_t kFlagId = 1001, kPlantsId = 1002, kFireworkId = 1003;
constexpr double kFramesASecond = 30;

struct City {
  FabScene scene = make_city();
  TriangleMesh fighter = make_fighter({.triangles = kFineFighterTriangles});
  CityPlaces places = find_city_places();
  demo::MeshThing houses{scene.elements};
  demo::MeshThing ship{fighter, {0.6F, 0.62F, 0.66F}};
  demo::FlagThing flag{places.flag_pole, places.flag_width, places.flag_height};
  demo::PlantsThing plants{places};
  demo::FireworkThing firework{places};

  void move_to(int frame) {
    const auto seconds = static_cast<float>(frame / kFramesASecond);
    houses.move(kAirshipId - 1, compute_airship_pose(frame));
    ship.move(0, compute_city_pose(frame));
    flag.seconds = plants.seconds = seconds;
    firework.update(seconds);
  }
};

struct Tally {
  std::size_t frames = 0, colliding = 0;
  std::size_t with_flag = 0, with_plants = 0, with_firework = 0, with_airship = 0;

  void add(const DepthResult& r) {
    ++frames;
    colliding += r.colliding ? 1U : 0U;
    for (const std::uint32_t id : r.ids) {
      with_flag += id == kFlagId ? 1U : 0U;
      with_plants += id == kPlantsId ? 1U : 0U;
      with_firework += id == kFireworkId ? 1U : 0U;
      with_airship += id == kAirshipId ? 1U : 0U;
    }
  }
};

}  // namespace

void bench_city(const Options& options, const GpuContext& gpu, Report& report) {
  const bool software = gpu.info().software;
  const bool small = options.quick || software;
  City city;
  const int width = small ? 320 : 1920, height = small ? 180 : 1080, side = small ? 128 : 512;
  demo::Painter painter(width, height, 1);
  demo::Thing* const drawn[] = {&city.houses, &city.ship, &city.flag, &city.plants, &city.firework};

  std::vector<MeshElement> elements;
  for (const FabElement& e : city.scene.elements)
    elements.push_back(make_mesh_element(e.mesh, e.world_from_element, e.id, e.closed));
  GpuMeshes houses(elements);
  const MeshElement ship[] = {make_mesh_element(city.fighter, {}, 0, true)};
  const GpuMeshes object(ship);
  const GpuMeshes* const meshes[] = {&houses};
  const auto within = [](GpuDrawable drawable, const Vec3& middle, const Vec3& half) {
    drawable.bounds = Aabb{middle - half, middle + half};
    return drawable;
  };
  const CityPlaces& p = city.places;
  const double flag = 1.5 * std::max(p.flag_width, p.flag_height), meadow = 0.5 * p.meadow_size + 3;
  const GpuDrawable drawables[] = {
      within(city.flag.drawable(kFlagId), p.flag_pole, {flag, flag, flag}),
      within(city.plants.drawable(kPlantsId), p.meadow, {meadow, 12, meadow}),
      within(city.firework.drawable(kFireworkId), p.firework,
             Vec3{1, 1, 1} * (2 * p.firework_radius))};
  const DepthView view = make_depth_view(to_double(bounds(city.fighter)), {1, 0, 0});
  const int frames = small ? 12 : kCityFrames, stride = kCityFrames / frames;
  const auto draw = [&](int frame) {
    city.move_to(frame);
    const Pose at = compute_city_pose(frame);
    const demo::Camera camera{.eye = transform_point(at, {-22, 7, 4}),
                              .target = transform_point(at, {12, 0, 0})};
    painter.draw(camera, {.shadow_center = at.translation, .shadow_radius = 60}, drawn);
  };
  Table table = report.table(
      {.id = "city",
       .paper = "FAB",
       .place = "Section 3.1",
       .title = "What detection adds to drawing a city",
       .columns = {{"what is found", Of::kKey},
                   {"frames", Of::kKey},
                   {"drawn", Of::kOurs, "ms", 3},
                   {"deviation", Of::kOurs, "ms", 3},
                   {"drawn and detected", Of::kOurs, "ms", 3},
                   {"deviation", Of::kOurs, "ms", 3},
                   {"more", Of::kOurs, "%", 1},
                   {"p", Of::kOurs},
                   {"frames with collision", Of::kOurs},
                   {"with the flag", Of::kOurs},
                   {"plants", Of::kOurs},
                   {"firework", Of::kOurs},
                   {"airship", Of::kOurs}},
       .note = fmt::format(
           "{} triangles with shadows, a tessellated flag, plants of a geometry shader, {} "
           "particles "
           "of a compute shader; a fighter of {} triangles; {} x {} pixels drawn, {} x {} for "
           "detection. FAB: 315,000 triangles, on a GT 1030.",
           count_triangles(city.scene), demo::kFireworkParticles, city.fighter.triangles.size(),
           width, height, side, side)});
  table.row({"FAB published", 600, 5.8, {}, 6.4, {}, 100 * (6.4 / 5.8 - 1), {}, {}, {}, {}, {}, {}},
            Of::kPaper);
  for (const bool find_inside : {false, true}) {
    GpuDepthDetector detector(gpu, {.width = side, .height = side, .find_inside = find_inside},
                              {.save_state = false});
    detector.draw_map(0, object, view);
    Tally tally;
    std::vector<DepthResult> reports;
    std::optional<GpuDepthTicket> ticket;
    // Reports are fetched a frame later: nobody waits for them.
    const auto fetch = [&] {
      if (!ticket) return;
      detector.fetch(*ticket, reports);
      tally.add(reports[0]);
      ticket.reset();
    };
    const auto detect = [&](int frame) {
      fetch();
      houses.set_pose(kAirshipId - 1, compute_airship_pose(frame));
      const GpuDepthQuery query[] = {{.slot = 0, .world_from_object = compute_city_pose(frame)}};
      ticket = detector.submit(query, {drawables, meshes});
    };
    std::vector<double> plain, both;
    for (int round = 0; round < (small ? 1 : 3); ++round) {
      plain.clear();
      both.clear();
      tally = {};
      for (int i = 0; i < frames; ++i)
        plain.push_back(1e3 * seconds_of([&] { draw(i * stride), finish_gpu(); }).wall);
      for (int i = 0; i < frames; ++i)
        both.push_back(
            1e3 * seconds_of([&] { draw(i * stride), detect(i * stride), finish_gpu(); }).wall);
      fetch();
    }
    const Sample a = describe_values(plain), b = describe_values(both);
    table.row(
        {find_inside ? "surfaces and insides" : "surfaces", tally.frames, a.mean, a.deviation,
         b.mean, b.deviation, 100 * (b.mean / a.mean - 1), find_p_value(a, b), tally.colliding,
         tally.with_flag, tally.with_plants, tally.with_firework, tally.with_airship},
        Of::kOurs);
    report.json["city"].push_back({{"find_inside", find_inside},
                                   {"drawn_ms", a.mean},
                                   {"both_ms", b.mean},
                                   {"frames", tally.frames},
                                   {"colliding", tally.colliding}});
    if (!small)
      report.check(tally.with_flag > 0 && tally.with_plants > 0 && tally.with_firework > 0 &&
                       tally.with_airship > 0,
                   "flag, plants, firework and airship are all met");
  }
}

}  // namespace isotact::bench

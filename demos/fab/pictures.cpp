// fab_pictures FOLDER: draws FAB's scenes, and the maps that detection works on, without a window.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <initializer_list>

#include "isotact/base/error.h"
#include "isotact/gpu/core/context.h"

#include "fab_shapes.h"
#include "fire.h"
#include "painter.h"
#include "picture_panels.h"
#include "things.h"

namespace isotact::demo {
namespace {

namespace fs = std::filesystem;

constexpr Vec3f kHull{0.62F, 0.62F, 0.60F}, kHit{0.9F, 0.06F, 0.03F};

Painting paint(Painter& painter, const Camera& camera, const Light& light,
               std::initializer_list<Thing*> things) {
  const std::vector<Thing*> list(things);
  return painter.paint(camera, light, list);
}

void save(const fs::path& folder, const char* name, tool::Picture picture, int step = 3) {
  coarsen(picture, step);
  tool::write_png(folder / name, picture);
  std::printf("%s\n", (folder / name).c_str());
}

// From above and behind, in the fighter's frame.
Camera follow(const Pose& world_from_ship, const Vec3& eye, const Vec3& target, double degrees) {
  Camera camera;
  camera.eye = transform_point(world_from_ship, eye);
  camera.target = transform_point(world_from_ship, target);
  camera.degrees = degrees;
  return camera;
}

// ---- Figure 1: object, box, maps ----------------------------------------------------------------

// Seen from the rear plane: where S_o is what is furthest away, and S_e what is nearest.
struct HeightMaps {
  int width = 236, height = 880;           // about as the box, whose first axis points up
  std::vector<float> object, environment;  // 0 to 1 of the box's depth; 2 where nothing is
};

HeightMaps draw_height_maps(const GpuContext& gpu, Thing& fighter, const TriangleMesh& mesh,
                            const Pose& world_from_ship, std::span<const GpuDrawable> around) {
  HeightMaps maps;
  const DepthView view = make_depth_view(to_double(bounds(mesh)), {1, 0, 0});
  GpuDepthDetector detector(
      gpu, {.method = DepthMethod::kTwoMaps, .width = maps.width, .height = maps.height});
  const GpuDrawable object = fighter.drawable(0, true);
  detector.draw_map(0, std::span(&object, 1), view);
  const double deep = 2 * view.half_size.z;
  const DepthMap map = detector.read_map(0);
  const std::size_t count =
      static_cast<std::size_t>(maps.width) * static_cast<std::size_t>(maps.height);
  for (std::size_t i = 0; i < count; ++i) {
    const DepthMap::Interval& solid = map.intervals[i];
    maps.object.push_back(
        solid.far < solid.near ? 2 : static_cast<float>(static_cast<double>(solid.far) / deep));
  }
  (void)detector.detect(world_from_ship, GpuDepthScene{around});
  for (const float depth : detector.read_environment(0))
    maps.environment.push_back(static_cast<double>(depth) < deep
                                   ? static_cast<float>(static_cast<double>(depth) / deep)
                                   : 2.0F);
  return maps;
}

tool::Picture show_map(const HeightMaps& maps, const std::vector<float>& heights) {
  return show_heights(maps.width, maps.height, [&](int column, int row) {
    return heights[static_cast<std::size_t>(row * maps.width + column)];
  });
}

// Where the environment is nearer to the rear plane than the object's front: red.
tool::Picture show_collisions(const HeightMaps& maps) {
  tool::Picture picture = show_map(maps, maps.object);
  for (int row = 0; row < maps.height; ++row)
    for (int column = 0; column < maps.width; ++column) {
      const auto at = static_cast<std::size_t>(row * maps.width + column);
      const float o = maps.object[at], e = maps.environment[at];
      tool::Rgb8& pixel =
          picture.pixels[static_cast<std::size_t>((maps.height - 1 - row) * maps.width + column)];
      if (o > 1 && e <= 1) pixel = {60, 90, 60};
      if (o <= 1 && e <= 1 && e < o) pixel = {220, 30, 20};
    }
  return picture;
}

void light_tunnel(Light& light) {
  light.sun = {0.9F, 0.86F, 0.78F};
  light.sky = {0.75F, 0.78F, 0.85F};
  light.ground = {0.22F, 0.21F, 0.20F};
  light.horizon = {0.10F, 0.11F, 0.14F};
  light.haze = 0.0035F;
}

void draw_fighter_sheet(const GpuContext& gpu, const fs::path& folder) {
  const TriangleMesh mesh = make_fighter();
  MeshThing fighter(mesh, kHull);
  FabScene tunnel = make_tunnel();
  MeshThing around(tunnel.elements);
  constexpr int kFrame = 113;
  const Pose pose = compute_tunnel_pose(kFrame);
  std::vector<GpuDrawable> drawables;
  for (std::size_t i = 0; i < tunnel.elements.size(); ++i)
    drawables.push_back(around.element_drawable(i, tunnel.elements[i].id));
  const HeightMaps maps = draw_height_maps(gpu, fighter, mesh, pose, drawables);

  const Aabb body = to_double(bounds(mesh));
  BoxThing box(extent(body) * 0.505, {0.8F, 0.02F, 0.02F});
  Light light;
  light.haze = 0.0004F;
  light.shadow_radius = 10;
  Painter large(440, 290), tall(440, 370);
  Sheet sheet(888, 668);
  const Camera camera{.eye = {12, 6, 10.5}, .target = {1.4, -0.4, 0}, .degrees = 40};
  sheet.place(develop(paint(large, camera, light, {&fighter})), 0, 0, "a. the object");
  box.world_from_box = {{}, center(body)};
  sheet.place(develop(paint(large, camera, light, {&fighter, &box})), 448, 0, "b. its box");
  fighter.move(0, pose);
  box.world_from_box = pose * Pose{{}, center(body)};
  light.shadow_radius = 0;
  light_tunnel(light);
  sheet.place(develop(paint(tall, follow(pose, {-13, 6, 4}, {4, 0, 0}, 50), light,
                            {&fighter, &around, &box})),
              0, 298, "c. in the tunnel");
  sheet.place(turn_left(shrink(show_map(maps, maps.object), 2)), 448, 298,
              "d. S_o: heights of the object");
  sheet.place(turn_left(shrink(show_map(maps, maps.environment), 2)), 448, 424,
              "e. S_e: heights around it");
  sheet.place(turn_left(shrink(show_collisions(maps), 2)), 448, 550, "f. S_e before S_o: red");
  save(folder, "fab_fighter.png", sheet.picture());
}

// Figure 4: wings that move. The map is drawn anew for each position.
void draw_wings(const GpuContext& gpu, const fs::path& folder) {
  Light light;
  light.haze = 0.0004F;
  light.shadow_radius = 10;
  Painter painter(290, 200);
  Sheet sheet(886, 286);
  int x = 0;
  for (const double degrees : {0.0, 13.0, 26.0}) {
    const TriangleMesh mesh = make_fighter({.wing_degrees = degrees});
    MeshThing fighter(mesh, kHull);
    const Camera camera{.eye = {14, 4, 7}, .target = {0, 0, 0}, .degrees = 40};
    const std::string caption = std::to_string(static_cast<int>(degrees)) + " degrees";
    sheet.place(develop(paint(painter, camera, light, {&fighter})), x, 0, caption);
    const HeightMaps maps = draw_height_maps(gpu, fighter, mesh, {}, {});
    sheet.place(turn_left(shrink(show_map(maps, maps.object), 3)), x, 208, "");
    x += 298;
  }
  save(folder, "fab_wings.png", sheet.picture());
}

// ---- the tunnel ---------------------------------------------------------------------------------

void draw_tunnel(const GpuContext& gpu, const fs::path& folder) {
  const TriangleMesh mesh = make_fighter();
  MeshThing fighter(mesh, kHull);
  const FabScene tunnel = make_tunnel();
  MeshThing around(tunnel.elements);
  std::vector<GpuDrawable> drawables;
  for (std::size_t i = 0; i < tunnel.elements.size(); ++i)
    drawables.push_back(around.element_drawable(i, tunnel.elements[i].id));
  GpuDepthDetector detector(gpu, {.width = 256, .height = 256});
  const GpuDrawable object = fighter.drawable(0, true);
  detector.draw_map(0, std::span(&object, 1), make_depth_view(to_double(bounds(mesh)), {1, 0, 0}));
  Painter painter(440, 290);
  Sheet sheet(888, 588);
  Light light;
  light_tunnel(light);
  int number = 0;
  for (const int frame : {64, 109, 212, 555}) {
    const Pose pose = compute_tunnel_pose(frame);
    fighter.move(0, {});
    const DepthResult report = detector.detect(pose, GpuDepthScene{drawables});
    for (std::size_t i = 0; i < around.elements(); ++i) around.tint(i, kHit, 0);
    for (const std::uint32_t id : report.ids) around.tint(id - 1, kHit, 0.75F);
    fighter.move(0, pose);
    std::string caption = "frame " + std::to_string(frame) + ":";
    for (const std::uint32_t id : report.ids)
      caption += " " + tunnel.elements[id - 1].name + " " + std::to_string(id);
    if (report.ids.empty()) caption += " nothing";
    const Painting view =
        paint(painter, follow(pose, {-15, 5.5, 4}, {6, 0, -0.5}, 58), light, {&fighter, &around});
    sheet.place(develop(view, 1.1), number % 2 * 448, number / 2 * 298, caption);
    ++number;
  }
  save(folder, "fab_tunnel.png", sheet.picture());
}

// ---- the city -----------------------------------------------------------------------------------

void draw_city(const fs::path& folder) {
  const FabScene city = make_city();
  MeshThing solid(city.elements);
  MeshThing fighter(make_fighter({.triangles = kFineFighterTriangles}), kHull);
  const CityPlaces places = find_city_places();
  FlagThing flag(places.flag_pole, places.flag_width, places.flag_height);
  PlantsThing plants(places);
  FireworkThing firework(places);
  const auto set_frame = [&](int frame) {
    const float seconds = static_cast<float>(frame) / 30;
    flag.seconds = plants.seconds = seconds;
    firework.update(seconds);
    solid.move(kAirshipId - 1, compute_airship_pose(frame));
    fighter.move(0, compute_city_pose(frame));
  };
  Light light;  // an evening
  light.to_sun = {-0.75, 0.42, 0.40};
  light.sun = {1.7F, 1.1F, 0.65F};
  light.sky = {0.26F, 0.31F, 0.46F};
  light.ground = {0.12F, 0.11F, 0.11F};
  light.zenith = {0.015F, 0.035F, 0.11F};
  light.horizon = {0.30F, 0.20F, 0.17F};
  light.haze = 0.0011F;
  const auto view = [&](Painter& painter, const Camera& camera, double shadows) {
    Light with = light;
    with.shadow_center = camera.target;
    with.shadow_radius = shadows;
    return develop(paint(painter, camera, with, {&solid, &fighter, &flag, &plants, &firework}),
                   1.25);
  };
  Painter large(760, 400), small(288, 200);
  set_frame(300);
  Sheet whole(760, 400);
  whole.place(view(large, {.eye = {-168, 44, 6}, .target = {40, 6, 0}, .degrees = 46}, 200), 0, 0,
              "315,000 triangles, flag, plants, firework");
  save(folder, "fab_city.png", whole.picture());
  Sheet sheet(880, 408);
  set_frame(135);
  sheet.place(view(small, follow(compute_city_pose(135), {-14, 6, 9}, {3, 0, 0}, 48), 60), 0, 0,
              "the fighter: 16,792 triangles");
  set_frame(312);
  sheet.place(view(small, follow(compute_city_pose(312), {-34, 6, 6}, {8, 2, 0}, 45), 80), 296, 0,
              "a moving obstacle");
  set_frame(168);
  const Vec3 pole = places.flag_pole;
  sheet.place(
      view(small, {.eye = pole + Vec3{-15, -1, 15}, .target = pole + Vec3{0, -4, 3}, .degrees = 45},
           40),
      592, 0, "flag: tessellation shaders");
  set_frame(100);
  sheet.place(view(small,
                   {.eye = places.meadow + Vec3{-15, 4.5, 15},
                    .target = places.meadow + Vec3{0, 2, 0},
                    .degrees = 50},
                   40),
              0, 208, "plants: lines of a geometry shader");
  set_frame(430);
  sheet.place(view(small, {.eye = {62, 9, 1}, .target = {112, 29, 2}, .degrees = 55}, 90), 296, 208,
              "firework: 59,000 points");
  set_frame(212);
  sheet.place(view(small, follow(compute_city_pose(212), {16, 5, -14}, {0, 0, 0}, 50), 60), 592,
              208, "a wing in a house");
  save(folder, "fab_city_details.png", sheet.picture(), 5);
}

// ---- the fire -----------------------------------------------------------------------------------

void draw_fire(const GpuContext& gpu, const fs::path& folder) {
  Fire fire(gpu, 580);
  Light light;
  light.to_sun = {0.4, 0.75, 0.6};
  light.sun = {0.9F, 0.9F, 0.95F};
  light.sky = {0.18F, 0.2F, 0.26F};
  light.ground = {0.55F, 0.22F, 0.08F};  // the fire's light from below
  light.zenith = light.horizon = {0.012F, 0.013F, 0.018F};
  light.haze = 0;
  Painter painter(290, 330);
  Sheet sheet(888, 636);
  const Camera camera{
      .eye = {0.35, 0.16, 1.15}, .target = {0.03, 0.3, 0}, .degrees = 38, .near = 0.05, .far = 10};
  int number = 0;
  for (int i = 1; i <= 380; ++i) {
    fire.step();
    if (i != 110 && i != 230 && i != 380) continue;
    sheet.place(develop(paint(painter, camera, light, {&fire.skillet(), &fire.flames()})),
                number * 299, 0, "after " + std::to_string(i) + " steps");
    ++number;
  }
  const ParticleMaps held = fire.maps().read();
  sheet.place(shrink(show_heights(held), 2), 0, 338, "heights, from below");
  sheet.place(shrink(show_normals(held), 2), 299, 338, "normals");
  Painter square(290, 290);
  const Camera above{
      .eye = {-0.55, 1.0, 0.75}, .target = {0.05, 0.4, 0}, .degrees = 42, .near = 0.05, .far = 10};
  sheet.place(develop(paint(square, above, light, {&fire.skillet(), &fire.flames()})), 598, 338,
              "from above");
  const ParticleCounts counts = fire.particles().read_counts();
  std::printf("fire: %u bounces, %u hidden, %u outside\n", counts.collisions, counts.hidden,
              counts.outside);
  save(folder, "fab_fire.png", sheet.picture(), 4);
}

void draw_all(const fs::path& folder, const std::string& only) {
  const GpuContext gpu = GpuContext::create();
  const auto wanted = [&](const char* name) { return only.empty() || only == name; };
  if (wanted("fighter")) draw_fighter_sheet(gpu, folder);
  if (wanted("wings")) draw_wings(gpu, folder);
  if (wanted("tunnel")) draw_tunnel(gpu, folder);
  if (wanted("city")) draw_city(folder);
  if (wanted("fire")) draw_fire(gpu, folder);
}

}  // namespace
}  // namespace isotact::demo

int main(int count, char** arguments) {
  if (count < 2) {
    std::puts("fab_pictures FOLDER [fighter|wings|tunnel|city|fire]");
    return 2;
  }
  try {
    isotact::demo::draw_all(arguments[1], count > 2 ? arguments[2] : "");
  } catch (const std::exception& e) {
    std::fprintf(stderr, "fab_pictures: %s\n", e.what());
    return 1;
  }
  return 0;
}

// Collisions with what only a graphics card knows: a fighter flies through a city (315,000
// triangles, an airship that moves), past a flag of tessellation shaders, plants that a geometry
// shader draws as lines, and a firework of points that a compute shader moves (FAB, section 3.1).
// All of them are handed over as callbacks that draw; nothing is read back but the answer. The
// things themselves, with their shaders, are in demos/fab.
#include <cstdio>
#include <cstdlib>
#include <string>

#include <isotact/gpu/core/context.h>
#include <isotact/gpu/depth/depth_detector.h>

#include "fab_shapes.h"
#include "things.h"

using namespace isotact;

int main(int count, char** arguments) {
  const int every = count > 1 ? std::atoi(arguments[1]) : 25;  // frames
  if (every < 1) return std::puts("10_draw_and_detect [EVERY]"), 2;
  std::string why;
  const std::optional<GpuContext> gpu = GpuContext::try_create(&why);
  if (!gpu) {
    std::printf("no GPU: %s\n", why.c_str());
    return 0;
  }

  // What is drawn, each with shaders of its own.
  const FabScene scene = make_city();
  const CityPlaces places = find_city_places();
  demo::MeshThing city(scene.elements);
  demo::FlagThing flag(places.flag_pole, places.flag_width, places.flag_height);
  demo::PlantsThing plants(places);
  demo::FireworkThing firework(places);
  const TriangleMesh mesh = make_fighter({.triangles = kFineFighterTriangles});
  demo::MeshThing fighter(mesh, {0.6F, 0.6F, 0.6F});

  // A drawable is a callback with an id. Any code that draws will do:
  //   [&](const DrawPass& pass) { program.use(pass); glBindVertexArray(...); glDraw...(...); }
  std::vector<GpuDrawable> around;
  std::vector<std::string> names = {""};
  for (std::size_t i = 0; i < scene.elements.size(); ++i) {
    around.push_back(city.element_drawable(i, scene.elements[i].id));
    names.push_back(scene.elements[i].name + " " + std::to_string(scene.elements[i].id));
  }
  const auto add = [&](demo::Thing& thing, const char* name) {
    around.push_back(thing.drawable(static_cast<std::uint32_t>(names.size())));
    names.emplace_back(name);
  };
  add(flag, "flag");
  add(plants, "plants");
  add(firework, "firework");

  // The fighter's own map is drawn once, from behind, as it does not bend.
  GpuDepthDetector detector(*gpu, {.width = 256, .height = 256, .max_contacts = 1});
  detector.draw_map(0, {fighter.drawable(0, true)},
                    make_depth_view(to_double(bounds(mesh)), {1, 0, 0}));

  int colliding = 0;
  for (int frame = 0; frame < kCityFrames; frame += every) {
    const float seconds = static_cast<float>(frame) / 30;
    flag.seconds = plants.seconds = seconds;
    firework.update(seconds);
    city.move(kAirshipId - 1, compute_airship_pose(frame));

    const DepthResult report = detector.detect(compute_city_pose(frame), GpuDepthScene{around});
    if (!report.colliding) continue;
    ++colliding;
    std::printf("frame %3d: %5u pixels, %.2f m deep:", frame, report.pixels, report.depth);
    for (const std::uint32_t id : report.ids) std::printf(" [%s]", names[id].c_str());
    std::printf("\n");
  }
  std::printf("%d of %d frames collide\n", colliding, (kCityFrames + every - 1) / every);
  return colliding > 0 ? 0 : 1;
}

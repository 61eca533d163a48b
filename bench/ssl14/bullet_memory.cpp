// Memory and time of many dense bodies that lie in a box.
#include <cmath>
#include <fstream>
#include <string>

#include "isotact/adapters/bullet/bullet.h"
#include "isotact/base/random.h"
#include "isotact/geometry/primitives/primitives.h"

#include "bullet_report.h"
#include "bullet_stage.h"
#include "support/measure.h"

namespace isotact::bench {
namespace {

// MB of memory that this process has in use; 0 where /proc tells nothing.
double resident_megabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::stod(line.substr(6)) / 1024;
  return 0;
}

OwnedShape make_dense(std::uint32_t points) {
  TriangleMesh mesh = make_shape("knot");
  const Vec3f side = extent(bounds(mesh));
  for (Vec3f& p : mesh.positions) p = p * (0.2F / std::max({side.x, side.y, side.z}));
  CookSettings settings;
  settings.shape.field.resolution = 64;
  settings.shape.points = points;
  return own("knot", cook_bullet_shape(mesh, settings));
}

}  // namespace

void bench_memory(const Options& options, Stock&, Report& report) {
  Table table = report.table({.id = "bullet-memory",
                              .title = "Dense bodies of 0.2 m, packed in a box, 60 Hz",
                              .columns = {{"bodies", Of::kKey},
                                          {"points each", Of::kKey},
                                          {"pairs", Of::kKey},
                                          {"memory of all pairs", Of::kOurs, "MB", 1},
                                          {"a step", Of::kOurs, "ms", 1}},
                              .note = "Memory: growth of the process during the steps."});
  const OwnedShape dense = make_dense(options.quick ? 12879 : 51516);
  const OwnedShape side = own("side", std::make_unique<btStaticPlaneShape>(btVector3(1, 0, 0), 0));
  for (const int count : {60, 600}) {
    if (options.quick && count > 60) continue;
    const auto across = static_cast<int>(std::round(std::cbrt(count / 2.0)));
    Stage stage({.step = 1.0 / 60});
    for (int i = 0; i < 4; ++i)
      stage.add(
          side,
          {.mass = 0,
           .pose = {rotation_about({0, 1, 0}, kPi / 2 * i),
                    rotate(rotation_about({0, 1, 0}, kPi / 2 * i), Vec3{-0.08 * across, 0, 0})}});
    Random random(1);
    for (int i = 0; i < count; ++i)
      stage.add(dense, {.pose = {random.rotation(),
                                 {0.15 * (i % across - (across - 1) / 2.0),
                                  0.12 + 0.13 * (i / across / across),
                                  0.15 * (i / across % across - (across - 1) / 2.0)}}});
    const double before = resident_megabytes();
    const int steps = options.quick ? 20 : count > 60 ? 30 : 120;
    int pairs = 0;
    const double seconds =
        seconds_of([&] {
          for (int s = 0; s < steps; ++s) {
            stage.step();
            pairs = std::max(pairs, stage.world().getPairCache()->getNumOverlappingPairs());
          }
        }).processor;
    const double used = resident_megabytes() - before;
    table.row({count, options.quick ? 12879 : 51516, pairs, used, 1e3 * seconds / steps});
    report.json["memory"]["rows"].push_back({{"bodies", count}, {"pairs", pairs}, {"mb", used}});
    if (count == 60)
      judge(report, "memory", used < 150,
            fmt::format("60 dense bodies use {:.1f} MB; wanted less than 150", used));
  }
}

}  // namespace isotact::bench

// SSL14's Figures 8 and 10: the bunny that falls on a plane, by ours and by Bullet's ways.
#include "isotact/geometry/primitives/primitives.h"

#include "bullet_fall.h"
#include "support/plot.h"

namespace isotact::bench {
namespace {

constexpr int kRotation = 0;

// The ground as a map of 306 x 305 x 282 voxels of 5 mm, its top at y = 0.
OwnedShape make_mapped_ground() {
  constexpr double kVoxel = 0.005;
  constexpr int kX = 306, kY = 305, kZ = 282, kPadding = 4;
  const Vec3 size = Vec3{kX - 2 * kPadding, kY - 2 * kPadding, kZ - 2 * kPadding} * kVoxel;
  TriangleMesh mesh = make_box({.size_x = size.x, .size_y = size.y, .size_z = size.z});
  for (Vec3f& p : mesh.positions) p.y -= static_cast<float>(size.y / 2);
  const Lattice lattice = voxmap_lattice(
      {{-size.x / 2, -size.y, -size.z / 2}, {size.x / 2, 0, size.z / 2}}, kVoxel, kPadding);
  return own("map",
             cook_bullet_shape(Shape::from_parts({.voxmap = build_voxmap(mesh, lattice).voxmap})));
}

struct Curve {
  std::string name{};
  std::vector<FallStep> steps{};
};

PlotLine line_of(const Curve& curve, double FallStep::*part) {
  PlotLine line{.name = curve.name};
  for (std::size_t i = 0; i < curve.steps.size(); ++i)
    line.points.push_back({static_cast<double>(i), curve.steps[i].*part});
  return line;
}

Plot plot_of(const std::vector<Curve>& curves, double FallStep::*part, std::string title,
             std::string unit) {
  Plot plot{.title = std::move(title), .x_name = "step", .y_name = std::move(unit), .is_log = true};
  for (const Curve& curve : curves) plot.lines.push_back(line_of(curve, part));
  return plot;
}

}  // namespace

void bench_figures(const Options& options, Stock& stock, Report& report) {
  Table table = report.table(
      {.id = "figures",
       .paper = "SSL14",
       .place = "Section 4.2.1",
       .title = "A bunny that falls on a plane, one rotation",
       .columns = {{"way", Of::kKey},
                   {"dispatch, about", Of::kPaper, "us"},
                   {"dispatch, mean", Of::kOurs, "us", 2},
                   {"speed in the end", Of::kOurs, "m/s"},
                   {"energy in the end", Of::kOurs, "J"}},
       .note = "Steps 200 to 600. Map: the ground as a map of 306 x 305 x 282 voxels of 5 mm. "
               "SSL14's numbers are those of its text: 0.71 ms, 137 times faster than GImpact, 339 "
               "times slower than one hull; some 30 and 100 us in Figure 10."});
  const Bunny& bunny = stock.bunny();
  const BrickField& field = stock.bunny_field();
  const PointSphereTree coarse = stock.bunny_points(799, 4), fine = stock.bunny_points(35596, 4);
  const OwnedShape ground = make_mapped_ground();
  struct Faller {
    OwnedShape shape;
    const OwnedShape* ground;
    double paper;
  };
  const BulletShapeSettings segmented{.patch_level = 3, .points_per_manifold = 1};
  const Faller fallers[] = {
      {make_ours("ours, 799 points", coarse, field), nullptr, 100},
      {make_ours("ours, 799 points, L = 4", coarse, field, segmented), nullptr, 100},
      {make_ours("ours, 35,596 points", fine, field), nullptr, 710},
      {make_ours("ours, 799 points, map", coarse, field), &ground, 100},
      {make_ours("ours, 35,596 points, map", fine, field), &ground, 710},
      {stock.gimpact(kGImpactMargin), nullptr, 97270},
      {stock.one_hull(), nullptr, 2.09},
      {stock.hulls_8(), nullptr, 30}};
  std::vector<Curve> curves;
  for (const Faller& c : fallers) {
    curves.push_back({c.shape.name, run_fall(bunny, c.shape, kRotation,
                                             {.mapped_ground = c.ground,
                                              .repeats = static_cast<std::size_t>(
                                                  c.shape.is_gimpact || options.quick ? 1 : 5)})});
    const FallStep& last = curves.back().steps.back();
    const FallTimes times = times_of({curves.back().steps});
    const bool is_ours = c.shape.name.starts_with("ours");
    table.row({c.shape.name, c.paper, times.mean, last.speed, last.kinetic_energy},
              is_ours ? Of::kOurs : Of::kPeer);
    report.json["figures"]["rows"].push_back({{"name", c.shape.name},
                                              {"mean_us", times.mean},
                                              {"end_speed", last.speed},
                                              {"end_joule", last.kinetic_energy}});
  }
  const std::vector<Plot> figure8{
      plot_of(curves, &FallStep::microseconds, "Figure 8: time of dispatch", "us"),
      plot_of(curves, &FallStep::speed, "Figure 8: speed", "m/s")};
  write_plot(options.plots, "bullet_figure8", figure8);
  report.figure({.id = "figure8",
                 .paper = "SSL14",
                 .place = "Figure 8",
                 .title = "Time and speed of a bunny that falls on a plane"},
                figure8);
  std::erase_if(curves, [](const Curve& c) {
    return c.name.find("35,596") != std::string::npos || c.name.starts_with("GImpact");
  });
  const std::vector<Plot> figure10{
      plot_of(curves, &FallStep::microseconds, "Figure 10: time of dispatch", "us"),
      plot_of(curves, &FallStep::kinetic_energy, "Figure 10: kinetic energy", "J")};
  write_plot(options.plots, "bullet_figure10", figure10);
  report.figure({.id = "figure10",
                 .paper = "SSL14",
                 .place = "Figure 10",
                 .title = "Time and kinetic energy of that bunny"},
                figure10);
}

}  // namespace isotact::bench

// What the parts of bench_dynamics share: options, bodies that fall, and the world of the paper's
// experiments.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "isotact/dynamics/rigid/world.h"
#include "isotact/geometry/mesh/mesh.h"

#include "support/data_folder.h"
#include "support/report.h"

namespace isotact::bench {

struct Options : RunOptions {
  std::filesystem::path output{};  // folder for pictures; empty: none are drawn
  int resolution() const { return quick || !has_data() ? 256 : 1024; }
};

// A body of water's density whose longest side is 20 cm.
struct DropBody {
  std::string name{};
  std::string how{};  // the shell, in words
  TriangleMesh mesh{};
  std::optional<Shape> shape{};  // with field and points
  BodyMass mass{};
  double area = 0;  // m^2

  const BrickField& field() const { return *shape->field(); }
  const PointSphereTree& tree() const { return *shape->tree(); }
  std::size_t point_count() const { return tree().point_count(); }
};

// Those of XB14's Table 4, or procedural stand-ins with as many points where there is no data.
enum class DropModel { kBunnySmall, kBunny, kBowl, kDragon };
DropBody make_drop_body(DropModel model, const Options& options);
// Procedural, for the stability experiment: the same with and without data.
DropBody make_blob_body(std::uint32_t points);
// The bunny (777 points) or the bowl, from data if there are any, as coarse as the blob.
DropBody make_small_drop_body(DropModel model);
DropBody make_box_body();  // 20 by 10 by 15 cm, on y = 0

// XB14's experiments: the mean (or last) force of a step acts in the next, no impacts are resolved
// apart, no run is stopped, one thread. The one place where that is said.
enum class ForceLaw { kOurs, kPaper };  // see the table in docs/dynamics.md
WorldSettings make_paper_world(double step, ContactRule contact, ForceLaw law);

// The parts, each a table.
void bench_table4(const Options& options, Report& report);
void bench_stability(const Options& options, Report& report);
void bench_choices(const Options& options, Report& report);
void bench_nut(const Options& options, Report& report);
void bench_patches(const Options& options, Report& report);
void bench_pile(const Options& options, Report& report);

}  // namespace isotact::bench

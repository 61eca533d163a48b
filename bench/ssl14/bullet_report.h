// What the parts of bench_bullet share: options, verdicts, and the bodies that fall.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "isotact/adapters/bullet/shape.h"
#include "isotact/geometry/mesh/mesh.h"

#include "bullet_peer.h"
#include "support/data_folder.h"
#include "support/report.h"

namespace isotact::bench {

struct Options : RunOptions {
  int count = 0;  // Throws. 0: chosen by --quick.
  int seed = 1;
  std::filesystem::path plots{};  // folder for figures; empty: none are written
};

// A bound on a time is said loudly, and kept; wrong answers are Report::check's matter.
void judge(Report& report, const std::string& part, bool is_met, const std::string& what);

// SSL14's bunny (4.2.2): 1 kg, and as large as its moments of inertia say. Bullet's frame: the
// origin in the centre of mass, the axes the principal ones.
struct Bunny {
  std::string name{};
  TriangleMesh closed{};  // for fields, FCL and drawing
  TriangleMesh scan{};    // as it is in the file, with holes: for GImpact; its vertices for ours
  TriangleMesh coarse{};  // of some 1,900 vertices: for HACD and one hull
  btVector3 inertia{};
};
inline constexpr double kBunnyMass = 1;  // kg

// Each made once, when first asked for.
class Stock {
 public:
  Stock() = default;

  const Bunny& bunny();
  const BrickField& bunny_field();          // 256 cells
  const PointSphereTree& bunny_vertices();  // 35,947: all of the scan
  PointSphereTree bunny_points(std::uint32_t count, int cluster_size);
  const OwnedShape& gimpact(double margin);  // of the scan
  const OwnedShape& hulls_12();              // HACD
  const OwnedShape& hulls_8();               // HACD, 100 vertices each at most
  const OwnedShape& one_hull();              // of 42 vertices at most

 private:
  std::optional<Bunny> bunny_;
  std::optional<BrickField> field_;
  std::optional<PointSphereTree> vertices_;
  std::optional<OwnedShape> gimpact_, thin_gimpact_, hulls_12_, hulls_8_, one_hull_;
};

// Ours, with points and field.
OwnedShape make_ours(std::string name, const PointSphereTree& tree, const BrickField& field,
                     const BulletShapeSettings& settings = {});

// The parts, each a table.
void bench_drop(const Options& options, Stock& stock, Report& report);
void bench_pair(const Options& options, Stock& stock, Report& report);
void bench_truth(const Options& options, Stock& stock, Report& report);
void bench_ball(const Options& options, Stock& stock, Report& report);
void bench_levels(const Options& options, Stock& stock, Report& report);
void bench_slow(const Options& options, Stock& stock, Report& report);
void bench_figures(const Options& options, Stock& stock, Report& report);
void bench_roll(const Options& options, Stock& stock, Report& report);
void bench_budget(const Options& options, Stock& stock, Report& report);
void bench_stack(const Options& options, Stock& stock, Report& report);
void bench_memory(const Options& options, Stock& stock, Report& report);
void bench_throws(const Options& options, Stock& stock, Report& report);

}  // namespace isotact::bench

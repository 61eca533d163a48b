// Answers of voxmap-pointshell against FCL on the exact triangles, and against all points.
#include <algorithm>
#include <cmath>
#include <limits>

#include "isotact/field/build/build_field.h"
#include "isotact/geometry/io/mesh_io.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/queries/collide.h"
#include "isotact/queries/distance.h"
#include "isotact/queries/shape.h"

#include "bullet_fall.h"
#include "bullet_poses.h"

namespace isotact::bench {
namespace {

struct Part {
  std::string name{};
  TriangleMesh mesh{};
  Shape shape;
};

double size_of(const TriangleMesh& mesh) { return length(to_double(extent(bounds(mesh)))); }

// To a longest side of 0.2 m, the middle of its box in the origin.
void place(TriangleMesh& mesh) {
  const Vec3f c = center(bounds(mesh)), e = extent(bounds(mesh));
  const float scale = 0.2F / std::max({e.x, e.y, e.z});
  for (Vec3f& p : mesh.positions) p = (p - c) * scale;
}

Part make_part(std::string name, TriangleMesh mesh, int cells) {
  place(mesh);
  Shape shape = Shape::from_mesh(mesh, {.field = {.resolution = cells}, .points = 20000});
  return {std::move(name), std::move(mesh), std::move(shape)};
}

std::vector<Part> make_parts(const Options& options, Stock& stock) {
  const int cells = options.quick ? 128 : 256;
  std::vector<Part> parts;
  parts.push_back(make_part(stock.bunny().name, stock.bunny().closed, cells));
  parts.push_back(make_part("gear", make_gear({}), cells));
  parts.push_back(make_part("knot", make_knot({}), cells));
  parts.push_back(make_part("bowl", make_bowl({}), cells));
  if (!has_data()) return parts;
  for (const char* file : {"03_mech/bullet_diff_arm.stl", "03_mech/factory_bolt_m16_tight.obj",
                           "02_classic/rocker-arm.obj"})
    parts.push_back(
        make_part(std::filesystem::path(file).stem().string(), read_data_mesh(file), cells));
  return parts;
}

// Brute force: the least distance of all points of both, and whether all of one are inside.
struct Linear {
  double distance = std::numeric_limits<double>::infinity();
  bool is_contained = false;
};

Linear find_linear(const Part& a, const Pose& b_from_a, const Part& b, double margin,
                   ShellScratch& state) {
  Linear result;
  const auto add_role = [&](const Part& shell, const Part& field, const Pose& pose) {
    const auto target = field.shape.shell_target(margin);
    const ShellResult answer = find_hits_linear(
        *shell.shape.tree(), *target, {.field_from_shell = pose}, {.margin = margin}, state);
    result.distance = std::min(result.distance, answer.distance);
    if (answer.hits.size() == shell.shape.tree()->point_count() && answer.distance < 0)
      result.is_contained = true;
  };
  add_role(a, b, b_from_a);
  add_role(b, a, inverse(b_from_a));
  return result;
}

struct Tally {
  std::size_t poses = 0, apart = 0, overlapping = 0, in_band = 0, contained = 0;
  std::size_t fcl_only = 0, ours_only = 0, other_depth = 0, far_distance = 0, distances = 0;
  double band = 0, most_off = 0;  // of distances, in bands
};

Tally compare(const Part& a, const Part& b, std::size_t count, std::uint64_t seed) {
  Tally tally;
  CollideScratch state;
  ShellScratch linear_state;
  const FclBodies fcl(a.mesh, b.mesh);
  const double cell =
      std::max(a.shape.field()->lattice().spacing, b.shape.field()->lattice().spacing);
  const double covering =
      std::max(a.shape.tree()->covering_radius(), b.shape.tree()->covering_radius());
  tally.band = cell + covering;
  const double margin = 2 * tally.band;
  const auto poses = make_near_poses(fcl, {.seed = seed,
                                           .count = count,
                                           .size = size_of(a.mesh) + size_of(b.mesh),
                                           .least = -4 * tally.band,
                                           .most = 8 * tally.band});
  for (const Pose& pose : poses) {
    ++tally.poses;
    // Points within the margin tell how far apart bodies are that do not overlap.
    const CollideResult& ours = collide(a.shape, pose, b.shape, {}, {.margin = margin}, state);
    const bool fcl_meets = fcl.count_contacts(pose, 1, false) > 0;
    const Linear linear = find_linear(a, pose, b, margin, linear_state);
    if (std::isfinite(linear.distance) != std::isfinite(ours.distance) ||
        (std::isfinite(linear.distance) && linear.distance != ours.distance))
      ++tally.other_depth;
    if (linear.is_contained) {
      ++tally.contained;
      continue;
    }
    const double d = ours.status == CollideStatus::kContact
                         ? ours.distance
                         : std::numeric_limits<double>::infinity();
    if (std::abs(d) <= tally.band) {
      ++tally.in_band;
    } else if (d < 0) {
      ++tally.overlapping;
      tally.ours_only += fcl_meets ? 0 : 1;
    } else {
      ++tally.apart;
      tally.fcl_only += fcl_meets ? 1 : 0;
    }
    // How far apart, by FCL: takes long, so that some are asked for.
    if (fcl_meets || tally.poses % 8 != 0) continue;
    const double exact = fcl.distance(pose);
    ++tally.distances;
    if (std::isfinite(d)) {
      const double off = std::abs(std::max(d, 0.0) - exact) / tally.band;
      tally.most_off = std::max(tally.most_off, off);
      tally.far_distance += off > 1 ? 1 : 0;
    } else {
      tally.far_distance += exact < margin - tally.band ? 1 : 0;
    }
  }
  return tally;
}

}  // namespace

void bench_truth(const Options& options, Stock& stock, Report& report) {
  Table table = report.table(
      {.id = "truth",
       .title = "Touching or not, ours against FCL",
       .columns = {{"pair", Of::kKey},
                   {"poses", Of::kKey},
                   {"band", Of::kKey, "mm", 3},
                   {"apart", Of::kOurs},
                   {"overlap", Of::kOurs},
                   {"in the band", Of::kOurs},
                   {"inside", Of::kOurs},
                   {"only FCL", Of::kPeer},
                   {"only ours", Of::kOurs},
                   {"other depth", Of::kOurs},
                   {"distance off at most", Of::kOurs, "bands", 2}},
       .note = "Band: one cell and the covering radius. Only FCL, only ours: disagreements outside "
               "of it. Other depth: poses where the least distance is not that of all points."});
  const auto parts = make_parts(options, stock);
  const std::size_t count = options.quick ? 60 : 400;
  Tally all;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t j = (i + 1) % parts.size();
    for (const std::size_t k : {i, j}) {
      const Tally t = compare(parts[i], parts[k], count, 10 * i + k);
      const std::string name = parts[i].name + ", " + parts[k].name;
      table.row({name, t.poses, t.band * 1e3, t.apart, t.overlapping, t.in_band, t.contained,
                 t.fcl_only, t.ours_only, t.other_depth, t.most_off});
      report.json["truth"]["rows"].push_back({{"name", name},
                                              {"poses", t.poses},
                                              {"in_band", t.in_band},
                                              {"only_fcl", t.fcl_only},
                                              {"only_ours", t.ours_only},
                                              {"other_depth", t.other_depth},
                                              {"far_distance", t.far_distance}});
      report.check(t.fcl_only + t.ours_only == 0, "outside of the band ours and FCL agree",
                   fmt::format("{}: {} times not", name, t.fcl_only + t.ours_only));
      report.check(t.other_depth == 0, "depths are those of all points",
                   fmt::format("{}: {} are not", name, t.other_depth));
      report.check(t.far_distance == 0, "distances are off by no more than the band",
                   fmt::format("{}: {} are", name, t.far_distance));
      all.poses += t.poses;
      all.in_band += t.in_band;
      all.apart += t.apart;
      all.overlapping += t.overlapping;
      all.distances += t.distances;
      all.fcl_only += t.fcl_only + t.ours_only;
    }
  }
  judge(
      report, "truth", all.fcl_only == 0,
      fmt::format("{} poses, {} of them in the band, {} distances: {} disagreements outside of it",
                  all.poses, all.in_band, all.distances, all.fcl_only));
}

}  // namespace isotact::bench

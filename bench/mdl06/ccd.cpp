// Whether answers about moving points are right, held against exact ones: crossings of segments
// against the triangles themselves, and vertex-face queries whose truth was found with rational
// numbers. Nothing is timed here.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/base/random.h"
#include "isotact/field/build/build_field.h"
#include "isotact/geometry/io/mesh_io.h"

#include "ccd_vertex_face.h"
#include "mdl06/exact_segment.h"
#include "support/data_folder.h"
#include "support/report.h"

namespace isotact::bench {
namespace {

struct Options : RunOptions {};

// Half of them anywhere in the box, half short, at the surface.
std::vector<Segment> make_segments(const TriangleMesh& mesh, const BrickField& field,
                                   std::size_t n) {
  Random random(2014);
  const Aabb box = field.bounds();
  std::vector<Segment> segments;
  segments.reserve(n);
  while (segments.size() < n) {
    if (segments.size() % 2 == 0) {
      const Vec3 from = random.in_box(box.lower, box.upper);
      segments.push_back({to_float(from), to_float(random.in_box(box.lower, box.upper))});
    } else {
      const auto count = static_cast<std::uint32_t>(mesh.triangles.size());
      const Vec3 at = to_double(mesh.positions[mesh.triangles[random.below(count)][0]]);
      const Vec3 from = at + random.in_unit_ball() * (4 * field.voxel_size());
      segments.push_back(
          {to_float(from), to_float(from + random.unit_vector() * (10 * field.voxel_size()))});
    }
  }
  return segments;
}

CrossingAccount compare(const Surface& surface, const BrickField& field,
                        const std::vector<Segment>& segments) {
  const ExactSegmentTracer exact(surface);
  const SegmentTracer tracer(field);
  SegmentResults results;
  tracer.trace(segments, results);
  return parallel_reduce(
      segments.size(), 1024, {}, CrossingAccount{},
      [&](std::size_t begin, std::size_t end) {
        CrossingAccount account;
        ExactCrossings crossings;
        for (std::size_t i = begin; i < end; ++i) {
          exact.trace(segments[i], crossings);
          const std::span<const SegmentInterval> intervals(
              results.intervals.data() + results.first[i], results.first[i + 1] - results.first[i]);
          account_for_differences(field, exact, segments[i], crossings, intervals, account);
        }
        return account;
      },
      [](CrossingAccount a, const CrossingAccount& b) { return a += b; });
}

struct CrossingRow {
  const char* file;
  int resolution;
  double cell, near_error;  // metres
  CrossingAccount account;

  bool is_right() const { return account.unexplained == 0 && account.adds_up(); }
  double mean_shift() const {  // cells
    const std::uint64_t n = std::max<std::uint64_t>(account.matched(), 1);
    return account.total_shift / cell / static_cast<double>(n);
  }
  std::uint64_t cut() const { return account.exact_cut + account.field_cut + account.cut; }
};

CrossingRow run_crossings(const char* folder, const char* file, int resolution, std::size_t n) {
  const TriangleMesh mesh = read_data_mesh(std::filesystem::path(folder) / file);
  const FieldSettings settings{.resolution = resolution};
  const Lattice lattice = plan_lattice(mesh, settings);
  const Surface surface = prepare_surface(mesh, {.voxel_size = lattice.spacing});
  const BrickField field = build_field(surface, lattice, settings).field;
  return {file, resolution, field.voxel_size(), static_cast<double>(field.header().near_error),
          compare(surface, field, make_segments(surface.mesh, field, n))};
}

void tell(const CrossingRow& r, Table& table, Report& report) {
  const CrossingAccount& a = r.account;
  table.row({r.file, r.resolution, a.exact_crossings, a.field_crossings, a.matched(),
             r.mean_shift(), a.largest_shift / r.cell, a.exact_grazes, a.field_grazes,
             a.lost_features, r.cut(), a.largest_distance / r.cell, r.near_error / r.cell,
             a.unexplained});
  report.check(r.is_right(), "the field's error explains every difference to the triangles",
               fmt::format("{} at {} cells: not {}", r.file, r.resolution, a.unexplained));
  report.json["crossings"].push_back({{"mesh", r.file},
                                      {"resolution", r.resolution},
                                      {"segments", a.segments},
                                      {"exact", a.exact_crossings},
                                      {"field", a.field_crossings},
                                      {"matched", a.matched()},
                                      {"mean_shift_cells", r.mean_shift()},
                                      {"largest_shift_cells", a.largest_shift / r.cell},
                                      {"exact_grazes", a.exact_grazes},
                                      {"field_grazes", a.field_grazes},
                                      {"lost_features", a.lost_features},
                                      {"cut", r.cut()},
                                      {"largest_distance_cells", a.largest_distance / r.cell},
                                      {"bound_cells", r.near_error / r.cell},
                                      {"unexplained", a.unexplained}});
}

void bench_crossings(const Options& options, Report& report) {
  const std::size_t n = options.quick ? 10'000 : 100'000;
  Table table = report.table(
      {.id = "crossings",
       .title = fmt::format("Crossings of {} segments: the field against its triangles", n),
       .columns = {{"mesh", Of::kKey},
                   {"cells", Of::kKey},
                   {"exact", Of::kPeer},
                   {"field", Of::kOurs},
                   {"matched", Of::kOurs},
                   {"mean shift", Of::kOurs, "cells", 4},
                   {"most shift", Of::kOurs, "cells", 2},
                   {"grazes, exact", Of::kPeer},
                   {"grazes, field", Of::kOurs},
                   {"lost", Of::kOurs},
                   {"cut by an end", Of::kOurs},
                   {"most |d|", Of::kOurs, "cells", 3},
                   {"bound", Of::kOurs, "cells", 3},
                   {"unexplained", Of::kOurs}},
       .note = "A shift is along the segment; |d| is the largest distance to the surface where the "
               "two disagree, the bound is the error stored in the field."});
  tell(run_crossings("01_stanford", "bunny_closed.obj", 256, n), table, report);
  tell(run_crossings("01_stanford", "bunny_closed.obj", 1024, n), table, report);
  tell(run_crossings("03_mech", "factory_bolt_m16_tight.obj", 256, n), table, report);
  tell(run_crossings("03_mech", "trimesh_featuretype.STL", 256, n), table, report);
}

constexpr const char* kPosings[] = {"resting", "translating", "deforming", "degenerate"};

struct QueryRow {
  int resolution = 0;
  const char* posing = nullptr;
  std::size_t queries = 0, truth = 0, found = 0, false_no = 0, false_yes = 0;
  std::size_t points = 0;     // vertex at rest against the triangle
  std::size_t touching = 0;   // a false "yes" where the two are nearer than 1e-6 triangle sizes
  std::size_t wrong = 0;      // a "yes" further off than errors allow, or a truth that we misread
  double furthest_cells = 0;  // of a false "yes"
  double allowed_cells = 0;   // there

  bool is_right() const { return false_no == 0 && wrong == 0; }
};

void add(const VertexFaceQuery& query, const VertexFaceResult& answer, QueryRow& row) {
  ++row.queries;
  row.truth += query.meets ? 1 : 0;
  row.found += answer.found ? 1 : 0;
  row.points += answer.is_point ? 1 : 0;
  row.false_no += query.meets && !answer.found ? 1 : 0;
  if (answer.found && !query.meets) {
    ++row.false_yes;
    row.touching += answer.closest <= 1e-6 ? 1 : 0;
    if (answer.closest / answer.cell >= row.furthest_cells) {
      row.furthest_cells = answer.closest / answer.cell;
      row.allowed_cells = answer.allowed / answer.cell;
    }
  }
  if ((answer.found && answer.closest > answer.allowed) ||
      (query.meets && answer.closest > answer.slack))
    ++row.wrong;
}

constexpr const char* kQuerySets[] = {"erleben-cube-cliff-edges", "erleben-spikes",
                                      "erleben-wedges", "unit-tests"};
struct QueryTrial {
  std::size_t queries = 0, rounded = 0;
  std::vector<QueryRow> rows;
};

// Triangles that are a line or a point, of which the files have none.
void add_degenerate(std::vector<VertexFaceQuery>& queries) {
  const Vec3 a{0, 0, 0}, b{1, 0, 0}, c{0.25, 0, 0}, by{0.5, 0.25, 0};
  const auto add = [&](const Vec3& p, const Vec3& q, const Vec3& v0, const Vec3& v1, bool meets) {
    queries.push_back({{v0, a, p, q}, {v1, a, p, q}, meets});
    queries.push_back({{v0, a, p, q}, {v1 + by, a + by, p + by, q + by}, meets});
  };
  add(b, c, {0.5, 1, 0}, {0.5, -1, 0}, true);  // through the line
  add(b, c, {1, 1, 0}, {1, -1, 0}, true);      // through its end
  add(b, c, {-1, 0, 0}, {0, 0, 0}, true);      // along it
  add(b, c, {0.5, 0, 0}, {0.5, 0, 0}, true);   // on it, without moving
  add(b, c, {0.5, 1, 0.125}, {0.5, -1, 0.125}, false);
  add(b, c, {2, 1, 0}, {2, 1, 0}, false);
  add(a, a, {1, 1, 1}, {-1, -1, -1}, true);  // through the point
  add(a, a, {0, 0, 0}, {0, 0, 0}, true);
  add(a, a, {1, 1, 1}, {-1, -1, -0.5}, false);
}

std::vector<VertexFaceQuery> read_queries(std::size_t& rounded) {
  if (!has_data()) return make_stand_in(400, false).queries;
  std::vector<VertexFaceQuery> queries;
  for (const char* set : kQuerySets)
    for (const char* file : {"data_0_0.csv", "data_0_1.csv"}) {
      const VertexFaceFile read =
          read_vertex_face(data_folder() / "08_ccd" / "queries" / set / "vertex-face" / file);
      queries.insert(queries.end(), read.queries.begin(), read.queries.end());
      rounded += read.rounded;
    }
  return queries;
}

QueryTrial run_vertex_face(bool quick) {
  constexpr int kPieces = 16;
  QueryTrial trial;
  std::vector<VertexFaceQuery> queries = read_queries(trial.rounded);
  trial.queries = queries.size();
  add_degenerate(queries);
  for (const int resolution : {32, 128, 256}) {
    if (quick && resolution > 32) break;
    std::vector<VertexFaceResult> answers(queries.size());
    parallel_for(queries.size(), 4, {}, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        answers[i] = answer_by_field(queries[i], resolution, kPieces);
    });
    for (std::size_t k = 0; k < std::size(kPosings); ++k) {
      QueryRow row{.resolution = resolution, .posing = kPosings[k]};
      for (std::size_t i = 0; i < queries.size(); ++i)
        if (static_cast<std::size_t>(answers[i].posing) == k) add(queries[i], answers[i], row);
      if (row.queries > 0) trial.rows.push_back(row);
    }
  }
  return trial;
}

void bench_vertex_face(const Options& options, Report& report) {
  const QueryTrial trial = run_vertex_face(options.quick);
  Table table =
      report.table({.id = "vertex-face",
                    .title = "Vertex-face queries with rational truth",
                    .columns = {{"cells", Of::kKey},
                                {"triangle", Of::kKey},
                                {"queries", Of::kKey},
                                {"at rest", Of::kKey},
                                {"truth", Of::kPeer},
                                {"found", Of::kOurs},
                                {"false no", Of::kOurs},
                                {"false yes", Of::kOurs},
                                {"of them touching", Of::kOurs},
                                {"furthest", Of::kOurs, "cells", 2},
                                {"allowed", Of::kOurs, "cells", 2}},
                    .note = fmt::format(
                        "{} queries read, {} coordinates had to be rounded; a few degenerate ones "
                        "added. Each is a point that moves through the shell field of its "
                        "triangle.",
                        trial.queries, trial.rounded)});
  for (const QueryRow& r : trial.rows) {
    table.row({r.resolution, r.posing, r.queries, r.points, r.truth, r.found, r.false_no,
               r.false_yes, r.touching, r.furthest_cells, r.allowed_cells});
    report.check(r.is_right(), "there is no false 'no', and errors explain every false 'yes'",
                 fmt::format("{} at {} cells", r.posing, r.resolution));
    report.json["vertex_face"].push_back({{"resolution", r.resolution},
                                          {"triangle", r.posing},
                                          {"queries", r.queries},
                                          {"at_rest", r.points},
                                          {"truth", r.truth},
                                          {"found", r.found},
                                          {"false_no", r.false_no},
                                          {"false_yes", r.false_yes},
                                          {"touching", r.touching},
                                          {"furthest_cells", r.furthest_cells},
                                          {"allowed_cells", r.allowed_cells}});
  }
}

struct Part {
  std::string_view name;
  void (*run)(const Options&, Report&);
};
constexpr Part kParts[] = {{"crossings", bench_crossings}, {"vertex-face", bench_vertex_face}};

void name_options(OptionReader& reader, Options&) {
  reader.quick("a tenth of the segments, one resolution");
  reader.only(names_of(kParts));
}

int run(const Options& options) {
  Report report("bench_ccd", options,
                {.peers = {"exact answers: the triangles themselves, and rational numbers"},
                 .how = "nothing is timed"});
  run_parts(kParts, options, report);
  return report.finish("Every difference is explained; there is no false 'no'.");
}

}  // namespace
}  // namespace isotact::bench

int main(int argc, char** argv) {
  using namespace isotact::bench;
  return run_program("bench_ccd", argc, argv, name_options, run);
}

// Whether answers about moving points are right, held against exact ones: crossings of segments
// against the triangles themselves, and vertex-face queries whose truth was found with rational
// numbers. Nothing is timed here.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/parallel.h"
#include "isotact/base/random.h"
#include "isotact/field/build/build_field.h"
#include "isotact/geometry/io/mesh_io.h"
#include "isotact/queries/exact_segment.h"

#include "ccd_vertex_face.h"
#include "data_folder.h"

namespace {

using namespace isotact;
using namespace isotact::bench;

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
  const TriangleMesh mesh = read_mesh(data_folder() / folder / file).mesh;
  const FieldSettings settings{.resolution = resolution};
  const Lattice lattice = plan_lattice(mesh, settings);
  const Surface surface = prepare_surface(mesh, {.voxel_size = lattice.spacing});
  const BrickField field = build_field(surface, lattice, settings).field;
  return {file, resolution, field.voxel_size(), static_cast<double>(field.header().near_error),
          compare(surface, field, make_segments(surface.mesh, field, n))};
}

std::vector<CrossingRow> run_all_crossings(std::size_t n) {
  return {run_crossings("01_stanford", "bunny_closed.obj", 256, n),
          run_crossings("01_stanford", "bunny_closed.obj", 1024, n),
          run_crossings("03_mech", "factory_bolt_m16_tight.obj", 256, n),
          run_crossings("03_mech", "trimesh_featuretype.STL", 256, n)};
}

void print(const std::vector<CrossingRow>& rows) {
  fmt::print(
      "Crossings of {} segments: the field against the triangles that it was built from.\n"
      "Lengths are cells. A shift is along the segment; |d| is the largest distance to the "
      "surface\n"
      "where the two disagree, the bound is the error stored in the field.\n\n",
      rows.front().account.segments);
  constexpr const char* kTitle =
      "  {:<26} {:>5} | {:>8} {:>8} {:>8} {:>7} {:>6} | {:>6} {:>6} {:>6} {:>6} | {:>6} {:>6}\n";
  fmt::print(fmt::runtime(kTitle), "", "", "", "", "", "mean", "most", "graze", "graze", "",
             "cut by", "", "");
  fmt::print(fmt::runtime(kTitle), "mesh", "cells", "exact", "field", "matched", "shift", "shift",
             "exact", "field", "lost", "an end", "|d|", "bound");
  for (const CrossingRow& r : rows) {
    const CrossingAccount& a = r.account;
    fmt::print(
        "  {:<26} {:>5} | {:>8} {:>8} {:>8} {:>7.4f} {:>6.2f} | {:>6} {:>6} {:>6} {:>6} | {:>6.3f} "
        "{:>6.3f}  {}\n",
        r.file, r.resolution, a.exact_crossings, a.field_crossings, a.matched(), r.mean_shift(),
        a.largest_shift / r.cell, a.exact_grazes, a.field_grazes, a.lost_features, r.cut(),
        a.largest_distance / r.cell, r.near_error / r.cell,
        r.is_right() ? "all explained" : fmt::format("{} UNEXPLAINED", a.unexplained));
  }
}

std::string to_json(const CrossingRow& r) {
  const CrossingAccount& a = r.account;
  return fmt::format(
      R"({{"mesh": "{}", "resolution": {}, "segments": {}, "exact": {}, "field": {}, )"
      R"("matched": {}, "mean_shift_cells": {:.4f}, "largest_shift_cells": {:.4f}, )"
      R"("exact_grazes": {}, "field_grazes": {}, "lost_features": {}, "cut": {}, )"
      R"("largest_distance_cells": {:.4f}, "bound_cells": {:.4f}, "unexplained": {}}})",
      r.file, r.resolution, a.segments, a.exact_crossings, a.field_crossings, a.matched(),
      r.mean_shift(), a.largest_shift / r.cell, a.exact_grazes, a.field_grazes, a.lost_features,
      r.cut(), a.largest_distance / r.cell, r.near_error / r.cell, a.unexplained);
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

void add(const VertexFaceQuery& query, const VertexFaceAnswer& answer, QueryRow& row) {
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
    std::vector<VertexFaceAnswer> answers(queries.size());
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

void print(const QueryTrial& trial) {
  fmt::print(
      "\nVertex-face queries (08_ccd): {} read, {} coordinates had to be rounded; a few degenerate "
      "ones added.\nEach is a point that moves through the shell field of its triangle.\n\n",
      trial.queries, trial.rounded);
  fmt::print("  {:>5}  {:<11} {:>7} {:>7} {:>5} {:>5} | {:>8} | {:>9} {:>8} {:>8} {:>8}\n", "cells",
             "triangle", "queries", "at rest", "truth", "found", "false no", "false yes",
             "touching", "furthest", "allowed");
  for (const QueryRow& r : trial.rows)
    fmt::print(
        "  {:>5}  {:<11} {:>7} {:>7} {:>5} {:>5} | {:>8} | {:>9} {:>8} {:>8.2f} {:>8.2f}{}\n",
        r.resolution, r.posing, r.queries, r.points, r.truth, r.found, r.false_no, r.false_yes,
        r.touching, r.furthest_cells, r.allowed_cells, r.is_right() ? "" : "  WRONG");
}

std::string to_json(const QueryRow& r) {
  return fmt::format(
      R"({{"resolution": {}, "triangle": "{}", "queries": {}, "at_rest": {}, "truth": {}, )"
      R"("found": {}, "false_no": {}, "false_yes": {}, "touching": {}, )"
      R"("furthest_cells": {:.3f}, "allowed_cells": {:.3f}}})",
      r.resolution, r.posing, r.queries, r.points, r.truth, r.found, r.false_no, r.false_yes,
      r.touching, r.furthest_cells, r.allowed_cells);
}

template <typename Row>
std::string to_json(const std::vector<Row>& rows) {
  std::string text;
  for (const Row& row : rows) text += (text.empty() ? "" : ", ") + to_json(row);
  return "[" + text + "]";
}

template <typename Row>
bool are_right(const std::vector<Row>& rows) {
  return std::all_of(rows.begin(), rows.end(), [](const Row& row) { return row.is_right(); });
}

}  // namespace

int main(int argc, char** argv) try {
  bool quick = false, as_json = false;
  for (int i = 1; i < argc; ++i) {
    quick = quick || std::strcmp(argv[i], "--quick") == 0;
    as_json = as_json || std::strcmp(argv[i], "--json") == 0;
  }
  const std::vector<CrossingRow> crossings = run_all_crossings(quick ? 10'000 : 100'000);
  if (!as_json) print(crossings);
  const QueryTrial trial = run_vertex_face(quick);
  if (!as_json) print(trial);
  if (!are_right(crossings))
    throw Error("wrong answer: a difference that the field's error does not explain");
  if (!are_right(trial.rows))
    throw Error("wrong answer: a false 'no', or a 'yes' that no error explains");
  if (as_json)
    fmt::print(R"({{"crossings": {}, "vertex_face": {}}})"
               "\n",
               to_json(crossings), to_json(trial.rows));
  else
    fmt::print("\nEvery difference is explained; there is no false 'no'.\n");
} catch (const std::exception& error) {
  fmt::print(stderr, "bench_ccd: {}\n", error.what());
  return 1;
}

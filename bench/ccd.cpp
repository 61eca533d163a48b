// Whether answers about moving points are right, held against exact ones: crossings of segments
// against the triangles themselves, and vertex-face queries whose truth was found with rational
// numbers. Nothing is timed here.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

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

bool run_crossings(const char* folder, const char* file, int resolution, std::size_t n) {
  const TriangleMesh mesh = read_mesh(data_folder() / folder / file).mesh;
  const FieldSettings settings{.resolution = resolution};
  const Lattice lattice = plan_lattice(mesh, settings);
  const Surface surface = prepare_surface(mesh, {.voxel_size = lattice.spacing});
  const BrickField field = build_field(surface, lattice, settings).field;
  const double cell = field.voxel_size();
  const CrossingAccount a = compare(surface, field, make_segments(surface.mesh, field, n));
  const bool right = a.unexplained == 0 && a.adds_up();
  fmt::print(
      "  {:<26} {:>5} | {:>8} {:>8} {:>8} {:>7.4f} {:>6.2f} | {:>6} {:>6} {:>6} {:>6} | "
      "{:>6.3f} {:>6.3f}  {}\n",
      file, resolution, a.exact_crossings, a.field_crossings, a.matched(),
      a.total_shift / cell / static_cast<double>(std::max<std::uint64_t>(a.shifted, 1)),
      a.largest_shift / cell, a.exact_grazes, a.field_grazes, a.lost_features,
      a.exact_cut + a.field_cut + a.cut, a.largest_distance / cell,
      static_cast<double>(field.header().near_error) / cell,
      right ? "all explained" : fmt::format("{} UNEXPLAINED", a.unexplained));
  return right;
}

bool run_all_crossings(std::size_t n) {
  fmt::print(
      "Crossings of {} segments: the field against the triangles it was built from.\n"
      "Lengths are cells. A shift is along the segment; '|d|' is the largest distance to the\n"
      "surface at which the two disagree, 'bound' the error stored in the field.\n\n",
      n);
  fmt::print(
      "  {:<26} {:>5} | {:>8} {:>8} {:>8} {:>7} {:>6} | {:>6} {:>6} {:>6} {:>6} | {:>6} "
      "{:>6}\n",
      "", "", "", "", "", "mean", "most", "graze", "graze", "", "cut by", "", "");
  fmt::print(
      "  {:<26} {:>5} | {:>8} {:>8} {:>8} {:>7} {:>6} | {:>6} {:>6} {:>6} {:>6} | {:>6} "
      "{:>6}\n",
      "mesh", "cells", "exact", "field", "matched", "shift", "shift", "exact", "field", "lost",
      "an end", "|d|", "bound");
  bool right = run_crossings("01_stanford", "bunny_closed.obj", 256, n);
  right = run_crossings("01_stanford", "bunny_closed.obj", 1024, n) && right;
  right = run_crossings("03_mech", "factory_bolt_m16_tight.obj", 256, n) && right;
  right = run_crossings("03_mech", "trimesh_featuretype.STL", 256, n) && right;
  return right;
}

struct Tally {
  std::size_t queries = 0, truth = 0, found = 0, false_no = 0, false_yes = 0;
  std::size_t wrong = 0;      // a "yes" further off than errors allow, or data that we misread
  double furthest_cells = 0;  // of a false "yes"
  double allowed_cells = 0;   // there
  std::size_t points = 0;     // vertex at rest against the triangle
};

void add(const VertexFaceQuery& query, const VertexFaceAnswer& answer, Tally& tally) {
  ++tally.queries;
  tally.truth += query.meets ? 1 : 0;
  tally.found += answer.found ? 1 : 0;
  tally.points += answer.is_point ? 1 : 0;
  tally.false_no += query.meets && !answer.found ? 1 : 0;
  if (answer.found && !query.meets) {
    ++tally.false_yes;
    if (answer.closest / answer.cell > tally.furthest_cells) {
      tally.furthest_cells = answer.closest / answer.cell;
      tally.allowed_cells = answer.allowed / answer.cell;
    }
  }
  const bool is_near = answer.closest <= answer.allowed;
  tally.wrong += (answer.found || query.meets) && !is_near ? 1 : 0;
}

constexpr const char* kQuerySets[] = {"erleben-cube-cliff-edges", "erleben-spikes",
                                      "erleben-wedges", "unit-tests"};
constexpr const char* kPosings[] = {"resting", "translating", "deforming, in pieces", "degenerate"};

std::vector<VertexFaceQuery> read_queries() {
  std::vector<VertexFaceQuery> queries;
  std::size_t rounded = 0;
  for (const char* set : kQuerySets)
    for (const char* file : {"data_0_0.csv", "data_0_1.csv"}) {
      const VertexFaceFile read =
          read_vertex_face(data_folder() / "08_ccd" / "queries" / set / "vertex-face" / file);
      queries.insert(queries.end(), read.queries.begin(), read.queries.end());
      rounded += read.rounded;
    }
  fmt::print(
      "\nVertex-face queries (08_ccd): {} read; coordinates that are no doubles: {}.\n"
      "Each is posed as a point that moves through the shell field of its triangle.\n\n",
      queries.size(), rounded);
  return queries;
}

bool run_vertex_face(bool quick) {
  const std::vector<VertexFaceQuery> queries = read_queries();
  constexpr int kPieces = 16;
  fmt::print("  {:>5}  {:<21} {:>7} {:>7} {:>5} {:>5} | {:>8} {:>9} | {:>8} {:>8}\n", "cells",
             "triangle", "queries", "at rest", "truth", "found", "false no", "false yes",
             "furthest", "allowed");
  bool right = true;
  for (const int resolution : {32, 128, 512}) {
    if (quick && resolution > 32) break;
    std::vector<VertexFaceAnswer> answers(queries.size());
    parallel_for(queries.size(), 4, {}, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        answers[i] = answer_by_field(queries[i], resolution, kPieces);
    });
    Tally tallies[std::size(kPosings)];
    for (std::size_t i = 0; i < queries.size(); ++i)
      add(queries[i], answers[i], tallies[static_cast<std::size_t>(answers[i].posing)]);
    for (std::size_t k = 0; k < std::size(kPosings); ++k) {
      const Tally& t = tallies[k];
      if (t.queries == 0) continue;
      fmt::print("  {:>5}  {:<21} {:>7} {:>7} {:>5} {:>5} | {:>8} {:>9} | {:>8.2f} {:>8.2f}\n",
                 resolution, kPosings[k], t.queries, t.points, t.truth, t.found, t.false_no,
                 t.false_yes, t.furthest_cells, t.allowed_cells);
      right = right && t.false_no == 0 && t.wrong == 0;
    }
  }
  return right;
}

}  // namespace

int main(int argc, char** argv) try {
  bool quick = false;
  for (int i = 1; i < argc; ++i) quick = quick || std::strcmp(argv[i], "--quick") == 0;
  const bool crossings = run_all_crossings(quick ? 10'000 : 100'000);
  const bool queries = run_vertex_face(quick);
  if (!crossings) throw Error("wrong answer: a difference that the field's error does not explain");
  if (!queries) throw Error("wrong answer: a false 'no', or a 'yes' that no error explains");
  fmt::print("\nEvery difference is explained; there is no false 'no'.\n");
} catch (const std::exception& error) {
  fmt::print(stderr, "bench_ccd: {}\n", error.what());
  return 1;
}

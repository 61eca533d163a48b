// The search for first contacts of meshes on queries whose truth was found with rational numbers
// (08_ccd in the data folder): a vertex and a triangle, or two edges, whose points all move
// straight. Such motions are not rigid. Time is cut into pieces, in each of which both features are
// rigid to within a slack; the slack is the margin of the search, so that no meeting may be missed.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "isotact/queries/deformable/continuous_features.h"
#include "isotact/queries/swept/mesh_motion.h"

#include "exact_report.h"
#include "mdl06/ccd_vertex_face.h"
#include "support/data_folder.h"

namespace isotact::bench {
namespace {

constexpr int kPieces = 16;
constexpr const char* kSets[] = {"erleben-cube-cliff-edges", "erleben-spikes", "erleben-wedges",
                                 "unit-tests"};
constexpr const char* kFeatureKinds[] = {"vertex-face", "edge-edge"};

using Points = std::array<Vec3, 4>;

// Points [first, first + count) at the middle of a piece, about the first of them, in floats; they
// go by their mean. The body moves straight, and `slack` is how far a corner may be from its place.
struct Feature {
  TriangleMesh mesh;
  BodyMotion motion;
  double slack = 0;
  bool is_rigid = true;  // without rounding
};

Feature make_feature(const VertexFaceQuery& q, std::size_t first, std::size_t count, double begin,
                     double end) {
  const auto at = [&](std::size_t i, double t) {
    return t == 0   ? q.at_t0[first + i]
           : t == 1 ? q.at_t1[first + i]
                    : lerp(q.at_t0[first + i], q.at_t1[first + i], t);
  };
  const double middle = 0.5 * (begin + end);
  Feature f;
  f.motion.from.translation = at(0, begin);
  f.motion.to.translation = at(0, end);
  double largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    // Of a corner from the first one: if it changes, the mesh has that of the middle.
    const Vec3 side = at(i, middle) - at(0, middle);
    const Vec3f corner = to_float(side);
    f.mesh.positions.push_back(corner);
    largest = std::max({largest, length(at(i, begin)), length(at(i, end))});
    for (const double t : {begin, end})
      f.slack = std::max(f.slack, length((at(i, t) - at(0, t)) - to_double(corner)));
  }
  f.is_rigid = f.slack == 0;
  // Sides between both ends lie on a line between those of the ends. Differences and places at
  // times between 0 and 1 are rounded.
  if (!f.is_rigid || begin != 0 || end != 1) f.slack += 0x1p-48 * largest;
  const auto n = static_cast<std::uint32_t>(count);
  f.mesh.triangles.push_back({0, n > 1 ? 1U : 0U, n > 2 ? 2U : 0U});
  return f;
}

struct Verdict {
  bool meets = false;
  bool is_rigid = false;  // the query was asked as it is
  double time = 1, margin = 0;
};

Verdict search_piece(const VertexFaceQuery& q, bool is_edges, double begin, double end) {
  const std::size_t split = is_edges ? 2 : 1;
  const Feature a = make_feature(q, 0, split, begin, end),
                b = make_feature(q, split, 4 - split, begin, end);
  const double margin = a.slack + b.slack;
  const MeshContactResult r = find_first_contact(
      Bvh(a.mesh), Bvh(b.mesh),
      {.shell = b.motion, .field = a.motion, .model = MotionModel::kStraight}, {.margin = margin});
  return {r.status == MeshMotionStatus::kContact, a.is_rigid && b.is_rigid,
          begin + (end - begin) * std::min(r.latest_time, 1.0), margin};
}

Verdict search_query(const VertexFaceQuery& q, bool is_edges) {
  const Verdict whole = search_piece(q, is_edges, 0, 1);
  if (whole.is_rigid) return whole;
  for (int k = 0; k < kPieces; ++k) {
    const Verdict piece = search_piece(q, is_edges, static_cast<double>(k) / kPieces,
                                       static_cast<double>(k + 1) / kPieces);
    if (piece.meets) return piece;
  }
  return {};
}

struct Score {
  std::size_t queries = 0, rigid = 0, meet = 0, found = 0, false_no = 0, false_yes = 0, far_yes = 0,
              rigid_false_yes = 0, features_false_no = 0;
};

void add(const VertexFaceQuery& q, bool is_edges, Score& score) {
  const Verdict v = search_query(q, is_edges);
  // The certified feature tests, which take the query as it is.
  const FeatureMotion motion{q.at_t0, q.at_t1};
  const auto meeting = [&](const MeetingSettings& settings) {
    return is_edges ? find_meeting_edge_edge(motion, settings)
                    : find_meeting_vertex_face(motion, settings);
  };
  double size = 0;
  for (const Points* points : {&q.at_t0, &q.at_t1})
    for (const Vec3& p : *points) size = std::max(size, length(p - q.at_t0[0]));
  ++score.queries;
  score.rigid += v.is_rigid ? 1U : 0U;
  score.meet += q.meets ? 1U : 0U;
  score.found += v.meets ? 1U : 0U;
  score.false_no += q.meets && !v.meets ? 1U : 0U;
  score.features_false_no += q.meets && meeting({}).status == MeetingStatus::kApart ? 1U : 0U;
  if (q.meets || !v.meets) return;
  ++score.false_yes;
  score.rigid_false_yes += v.is_rigid ? 1U : 0U;
  // The features come nearer than margin and slack, and what rounding hides: else it is wrong.
  const MeetingSettings near{.separation = 2.01 * v.margin + 1e-11 * size, .tolerance = 1e-12};
  score.far_yes += meeting(near).status == MeetingStatus::kApart ? 1U : 0U;
}

}  // namespace

void bench_motion_queries(const Options& options, Report& report) {
  Table table = report.table(
      {.id = "exact-motion-queries",
       .title = "First contacts of meshes on queries with rational truth",
       .columns = {{"set", Of::kKey},
                   {"kind", Of::kKey},
                   {"queries", Of::kKey},
                   {"rigid", Of::kKey},
                   {"meet", Of::kPeer},
                   {"found"},
                   {"false no"},
                   {"false yes"},
                   {"of them rigid"},
                   {"too far"},
                   {"features, false no"}},
       .note = fmt::format("Features that deform are cut into {} pieces of time, with their "
                           "deformation as a margin: it explains each false yes.",
                           kPieces)});
  for (const char* set : kSets)
    for (const bool is_edges : {false, true}) {
      const char* kind = kFeatureKinds[is_edges ? 1 : 0];
      Score score;
      for (const char* name : {"data_0_0.csv", "data_0_1.csv"}) {
        VertexFaceFile file =
            has_data() ? read_vertex_face(data_folder() / "08_ccd" / "queries" / set / kind / name)
                       : make_stand_in(400, is_edges);
        if (options.quick && file.queries.size() > 40) file.queries.resize(40);
        for (const VertexFaceQuery& q : file.queries) add(q, is_edges, score);
      }
      const std::string where = fmt::format("{} {}", set, kind);
      report.check(score.false_no == 0 && score.features_false_no == 0,
                   "no meeting of the exact queries is missed", where);
      report.check(score.far_yes == 0, "where a yes is wrong, features are within the margin",
                   where);
      table.row({set, kind, score.queries, score.rigid, score.meet, score.found, score.false_no,
                 score.false_yes, score.rigid_false_yes, score.far_yes, score.features_false_no});
      report.json["motion_queries"].push_back({{"set", set},
                                               {"kind", kind},
                                               {"queries", score.queries},
                                               {"rigid", score.rigid},
                                               {"meet", score.meet},
                                               {"found", score.found},
                                               {"false_no", score.false_no},
                                               {"false_yes", score.false_yes},
                                               {"too_far", score.far_yes}});
    }
}

}  // namespace isotact::bench

// Narrow phase: two bodies that bend, their trees fitted and searched in every step, triangles that
// meet found exactly. Beside FCL's hierarchies, refitted and searched for the same pairs.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "isotact/geometry/io/mesh_io.h"
#include "isotact/geometry/primitives.h"
#include "isotact/geometry/self_intersection.h"
#include "isotact/queries/deformable/object_tree.h"

#include "data_folder.h"
#include "deformable_report.h"
#include "measure.h"
#include "narrow_fcl.h"

namespace isotact::bench {
namespace {

// A body and its way: waves run through it. Positions are doubles that floats hold exactly, so that
// the exact test of floats applies.
class WavingBody {
 public:
  WavingBody(const TriangleMesh& mesh, const Vec3& at, double wave, double phase)
      : triangles(mesh.triangles), at_(at), wave_(wave), phase_(phase) {
    for (const Vec3f& p : mesh.positions) rest_.push_back(to_double(p));
    Aabb box;
    for (const Vec3& p : rest_) extend(box, p);
    size_ = length(extent(box));
    middle_ = center(box);
    move(0);
    rest = positions;
  }

  void move(double time) {
    positions.clear();
    for (const Vec3& p : rest_) {
      const Vec3 q = (p - middle_) / size_;
      const Vec3 way{std::sin(9 * q.y + phase_ + 5 * time), std::sin(8 * q.z + phase_ + 4 * time),
                     std::sin(7 * q.x + phase_ + 6 * time)};
      positions.push_back(to_double(to_float(p - middle_ + at_ + way * (wave_ * size_))));
    }
  }

  double size() const { return size_; }

  std::vector<Vec3> positions, rest;
  std::vector<Triangle> triangles;

 private:
  std::vector<Vec3> rest_;
  Vec3 at_{}, middle_{};
  double wave_ = 0, phase_ = 0, size_ = 0;
};

struct NarrowScene {
  std::string name;
  WavingBody a, b;

  // b beside a, `way` of a's size away.
  NarrowScene(std::string its_name, const TriangleMesh& mesh, const Vec3& way, double wave)
      : name(std::move(its_name)), a(mesh, {}, wave, 0), b(mesh, way * a.size(), wave, 1) {}
};

std::vector<NarrowScene> make_scenes(const Options& options, Report& report) {
  const int few = options.quick ? 3 : 1;
  const TriangleMesh ball = make_sphere({.frequency = 59 / few});
  const TriangleMesh knot = make_knot({.segments = 1100 / few, .tube_segments = 32});
  std::vector<NarrowScene> scenes;
  scenes.emplace_back("balls, touching", ball, Vec3{0.55, 0.1, 0.05}, 0.01);
  scenes.emplace_back("balls, deep in each other", ball, Vec3{0.25, 0.1, 0.05}, 0.01);
  scenes.emplace_back("knots, touching", knot, Vec3{0.03, 0.24, 0.05}, 0.01);
  scenes.emplace_back("knots, tangled", knot, Vec3{0.2, 0.05, 0.05}, 0.01);
  const auto bunny = [&]() -> std::filesystem::path {
    try {
      return data_folder() / "01_stanford/bunny_full_35947.ply";
    } catch (const Error&) {
      return {};
    }
  }();
  if (std::filesystem::exists(bunny)) {
    const TriangleMesh mesh = read_mesh(bunny).mesh;
    scenes.emplace_back("bunnies, touching", mesh, Vec3{0.4, 0.1, 0.05}, 0.01);
    scenes.emplace_back("bunnies, apart", mesh, Vec3{1, 0, 0}, 0.01);
  } else {
    report.print("  (no bunnies: set ISOTACT_DATA)\n");
  }
  return scenes;
}

// Our whole narrow phase of a step.
struct OurNarrow {
  ObjectTree a, b;
  std::vector<TrianglePair> candidates{}, meeting{};
  TreeWork work{};

  OurNarrow(const NarrowScene& scene, const ObjectTreeSettings& settings)
      : a(scene.a.rest, scene.a.triangles, settings),
        b(scene.b.rest, scene.b.triangles, settings) {}

  void find_candidates(const NarrowScene& scene) {
    a.set_positions(scene.a.positions);
    b.set_positions(scene.b.positions);
    candidates.clear();
    work = find_triangle_pairs(a, b, {}, candidates);
  }
  void test(const NarrowScene& scene) {
    const auto corners = [](const WavingBody& body, std::uint32_t triangle) {
      const Triangle& t = body.triangles[triangle];
      return TriangleCorners{to_float(body.positions[t[0]]), to_float(body.positions[t[1]]),
                             to_float(body.positions[t[2]])};
    };
    meeting.clear();
    for (const TrianglePair& pair : candidates)
      if (find_contact_triangle_triangle(corners(scene.a, pair.a), corners(scene.b, pair.b)) !=
          TriangleContact::kNone)
        meeting.push_back(pair);
  }
};

constexpr std::size_t kFclKinds = 6;

void run_scene(NarrowScene& scene, const Options& options, Report& report) {
  OurNarrow ours(scene, {});
  std::vector<FclKind> fcl =
      make_fcl_benders({scene.a.rest, scene.a.triangles}, {scene.b.rest, scene.b.triangles});
  std::vector<double> search, exact;
  std::vector<std::vector<double>> theirs(fcl.size());
  std::size_t differing = 0;
  const int steps = options.quick ? 3 : 15;
  for (int step = 0; step < steps; ++step) {
    scene.a.move(0.05 * step);
    scene.b.move(0.05 * step);
    search.push_back(seconds_of([&] { ours.find_candidates(scene); }).processor);
    exact.push_back(seconds_of([&] { ours.test(scene); }).processor);
    std::vector<TrianglePair> meeting = ours.meeting;
    std::sort(meeting.begin(), meeting.end());
    for (std::size_t k = 0; k < fcl.size(); ++k) {
      if (step >= 5 && k > 0 && quantile(theirs[k], 0.5) > 2 * quantile(theirs[0], 0.5)) continue;
      fcl[k].benders->take(scene.a.positions, scene.b.positions);
      theirs[k].push_back(seconds_of([&] { fcl[k].benders->step(); }).processor);
      const std::vector<TrianglePair> pairs = fcl[k].benders->pairs();
      std::vector<TrianglePair> only_one;
      std::set_symmetric_difference(pairs.begin(), pairs.end(), meeting.begin(), meeting.end(),
                                    std::back_inserter(only_one));
      differing += only_one.size();
      report.check(only_one.empty(), fmt::format("{}, FCL's {}: {} pairs differ of {}", scene.name,
                                                 fcl[k].name, only_one.size(), meeting.size()));
    }
  }
  const double s = quantile(search, 0.5), e = quantile(exact, 0.5);
  std::string row;
  double best = 1e9;
  for (std::size_t k = 0; k < fcl.size(); ++k) {
    const double t = quantile(theirs[k], 0.5);
    best = std::min(best, t);
    row += fmt::format(" {:>7.1f}", 1e3 * t);
  }
  report.print("  {:<26} {:>6} {:>8} {:>6} {:>8.2f} {:>7.2f} {} {:>6.1f}\n", scene.name,
               scene.a.triangles.size(), ours.candidates.size(), ours.meeting.size(), 1e3 * s,
               1e3 * e, row, best / (s + e));
  report.print("     tests {} fitted {} read {}\n", ours.work.node_tests, ours.work.nodes_fitted,
               ours.work.vertices_read);
}

}  // namespace

void bench_narrow(const Options& options, Report& report) {
  report.print("\nNarrow phase\n");
  for (NarrowScene& scene : make_scenes(options, report)) run_scene(scene, options, report);
}

}  // namespace isotact::bench

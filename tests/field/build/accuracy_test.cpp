// Fields of a stated accuracy and range: the proved bounds, tried on thousands of points of many
// shapes, the plan, and the accuracy that cannot be reached.
#include <regex>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/hash.h"
#include "isotact/field/build/build_field.h"
#include "isotact/field/build/edit_field.h"
#include "isotact/field/models/exact_field.h"
#include "isotact/geometry/primitives/primitives.h"

#include "field/field_points.h"
#include "field/models/joined.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

TriangleMesh changed(TriangleMesh mesh, float scale, const Vec3f& by) {
  for (Vec3f& p : mesh.positions) p = p * scale + by;
  return mesh;
}

// Tetrahedra smaller than a cell, far apart: between them the distance has creases everywhere, and
// nodes see no more of it than they must.
TriangleMesh make_dust(int pieces, float size, std::uint64_t seed) {
  Random random(seed);
  TriangleMesh dust;
  for (int i = 0; i < pieces; ++i) {
    const auto first = static_cast<std::uint32_t>(dust.positions.size());
    const Vec3f at = to_float(random.in_unit_ball() * 0.5);
    for (const Vec3f& c : {Vec3f{0, 0, 0}, Vec3f{1, 0, 0}, Vec3f{0, 1, 0}, Vec3f{0, 0, 1}})
      dust.positions.push_back(at + c * size);
    for (const Triangle& t :
         {Triangle{0, 2, 1}, Triangle{0, 1, 3}, Triangle{0, 3, 2}, Triangle{1, 2, 3}})
      dust.triangles.push_back({first + t[0], first + t[1], first + t[2]});
  }
  return dust;
}

TriangleMesh make_soup(std::uint64_t seed) {
  Random random(seed);
  TriangleMesh soup;
  for (std::uint32_t i = 0; i < 40; ++i) {
    const Vec3 middle = random.in_unit_ball() * 0.5;
    for (int k = 0; k < 3; ++k)
      soup.positions.push_back(to_float(middle + random.in_unit_ball() * 0.1));
    soup.triangles.push_back({3 * i, 3 * i + 1, 3 * i + 2});
  }
  return soup;
}

TriangleMesh make_torn_sphere() {
  TriangleMesh mesh = make_sphere({.radius = 0.5, .frequency = 12});
  std::erase_if(mesh.triangles, [&](const Triangle& t) {
    return mesh.positions[t[0]].y > 0.42F || mesh.positions[t[1]].x < -0.46F;
  });
  return mesh;
}

struct AccuracyCase {
  const char* name;
  TriangleMesh mesh;
  double accuracy, range;  // metres
  KeepThin keep_thin = KeepThin::kReport;
};

std::vector<AccuracyCase> make_cases() {
  const TriangleMesh plate = make_box({.size_x = 1, .size_y = 1, .size_z = 0.002});
  const TriangleMesh ball = make_sphere({.radius = 0.5, .frequency = 16});
  std::vector<AccuracyCase> cases = {
      {"box", make_box({.size_x = 1, .size_y = 0.6, .size_z = 0.3}), 0.01, 0.2},
      {"gear", make_shape("gear", {}), 0.008, 0.1},
      {"thin plates", joined(plate, plate, {0.1F, 0.2F, 0.3F}), 0.01, 0.25},
      {"dust", make_dust(12, 0.003F, 3), 0.01, 0.3},
      {"soup", make_soup(4), 0.01, 0.15},
      {"torn", make_torn_sphere(), 0.01, 0.2},
      {"far from the origin", changed(ball, 1, {900, -400, 70}), 0.01, 0.3},
      {"tiny", changed(make_shape("bolt", {}), 1e-5F, {}), 1e-7, 1e-6},
      {"near alone", make_shape("knot", {}), 0.006, 0},
      {"grown", plate, 0.01, 0.12, KeepThin::kOffset},
  };
  cases.push_back({"ball, wide", ball, 0.006, 0.6});
  cases.push_back({"overlapping", joined(ball, ball, {0.4F, 0.1F, 0}), 0.01, 0.3});
  cases.push_back(
      {"dust in a cube", joined(make_dust(40, 0.001F, 5), turned(make_box({}))), 0.012, 0.1});
  if (kSlowBuild) return {cases[0], cases[3], cases[10], cases[12]};
  return cases;
}

TEST(Accuracy, ProvedBoundsHold) {
  std::size_t beyond_band = 0, without_brick = 0, tried = 0;
  double worst = 0;  // share of the bound
  for (const AccuracyCase& c : make_cases()) {
    SCOPED_TRACE(c.name);
    const FieldSettings settings{
        .accuracy = c.accuracy, .range = c.range, .keep_thin = c.keep_thin};
    const FieldResult built = build_field(c.mesh, settings);
    const FieldReport& report = built.report;
    EXPECT_EQ(find_flaw_in_brick_field(built.field.buffer()), std::nullopt);
    EXPECT_LE(report.near_error, c.accuracy);
    EXPECT_GT(report.near_error, 0.98 * c.accuracy);
    EXPECT_GE(report.near_reach, c.range);
    EXPECT_GT(report.measured.points, 1000U);
    EXPECT_LE(report.measured.max, report.near_error);
    EXPECT_LE(report.measured.p99, report.measured.max);
    const ExactField exact(*built.surface);
    const double growth = report.thin.offset, h = built.field.voxel_size();
    Random random(31);
    for (std::size_t i = 0; i < unless_slow(8000U, 3000U); ++i) {
      Vec3 p = random_surface_point(c.mesh, random) +
               random.unit_vector() * random.uniform(0, report.near_reach);
      if (i % 4 == 0) {  // middles and sides of coarse cells, where errors are largest
        const Lattice coarse = built.field.coarse_lattice();
        const Index3 at = locate(coarse, p).cell;
        p = node_position(coarse, at[0], at[1], at[2]);
        for (std::size_t axis = 0; axis < 3; ++axis) p[axis] += 4 * h * (1 + random.below(2));
      }
      p = rounded(p);
      const double d = exact.value(p) - growth;
      if (!(std::abs(d) < report.near_reach)) continue;
      const double off = std::abs(built.field.value(p) - d);
      EXPECT_LE(off, report.near_error * (1 + 1e-6)) << p.x << " " << p.y << " " << p.z;
      worst = std::max(worst, off / report.near_error);
      ++tried;
      if (std::abs(d) < static_cast<double>(built.field.header().band)) continue;
      ++beyond_band;
      const Index3 cell = locate(built.field.coarse_lattice(), p).cell;
      without_brick += built.field.brick_at(cell) == BrickField::kNoBrick ? 1U : 0U;
    }
  }
  EXPECT_GT(tried, unless_slow(40000U, 800U));
  EXPECT_GT(beyond_band, tried / 3);
  EXPECT_GT(without_brick, beyond_band / 250);
  EXPECT_GT(worst, 0.7);  // dust comes close to the bound
}

// Cells whose interpolant is proved need no bricks, so a range costs less than a band.
TEST(Accuracy, ARangeIsCheaperThanABand) {
  const TriangleMesh ball = make_sphere({.radius = 0.5, .frequency = 12});
  const int finer = unless_slow(2, 1);  // Coarse fields have bricks nearly everywhere.
  const double h = 0.016 / finer;
  const FieldResult ranged = build_field(ball, {.voxel_size = h, .range = 1});
  const FieldResult banded = build_field(
      ball, {.voxel_size = h, .padding = 2 + 62.5 * finer, .band = 62.5 * finer, .tolerance = 1});
  EXPECT_GE(ranged.report.near_reach, 1);
  EXPECT_LT((kSlowBuild ? 1 : 3) * ranged.report.bricks, banded.report.bricks);
  const FieldResult again = build_field(ball, {.voxel_size = h, .range = 1, .threads = {3}});
  EXPECT_EQ(hash_bytes(ranged.field.buffer()), hash_bytes(again.field.buffer()));
}

TEST(Accuracy, PlansAreNearTheTruth) {
  for (const char* shape : {"gear", "box", "bolt", "knot"})
    for (const double range : {0.0, 0.1}) {
      SCOPED_TRACE(std::string(shape) + (range > 0 ? ", with a range" : ""));
      const TriangleMesh mesh = make_shape(shape, {});
      const FieldSettings settings{.accuracy = unless_slow(0.003, 0.008), .range = range};
      const FieldPlan plan = plan_field(mesh, settings);
      const FieldResult built = build_field(mesh, settings);
      EXPECT_EQ(plan.lattice, built.report.lattice);
      EXPECT_GE(plan.near_error, built.report.near_error);
      EXPECT_LE(plan.near_error, settings.accuracy);
      EXPECT_EQ(plan.near_reach, std::max(range, 4 * plan.lattice.spacing));
      EXPECT_GT(plan.bytes, built.report.bytes / 2);
      EXPECT_LT(plan.bytes, built.report.bytes * 2);
      EXPECT_GT(plan.memory, plan.bytes);
      EXPECT_GT(plan.seconds, 0);
    }
}

double find_reachable(const TriangleMesh& mesh, const FieldSettings& settings) {
  try {
    build_field(mesh, settings);
  } catch (const Error& error) {
    std::smatch match;
    const std::string text = error.what();
    EXPECT_TRUE(std::regex_search(text, match, std::regex("([0-9.e-]+) m can be reached"))) << text;
    if (!match.empty()) return std::stod(match[1]);
  }
  ADD_FAILURE() << "was built";
  return 1;
}

TEST(Accuracy, SaysWhatCanBeReached) {
  const TriangleMesh torus = make_torus({.segments = 48, .tube_segments = 24});
  for (const double range : {0.0, 0.05})
    for (const double accuracy : {0.0012, 1e-4, 3e-5}) {  // too large by a little, and by far
      FieldSettings settings{.accuracy = accuracy, .range = range, .max_memory = 8'000'000};
      const double reachable = find_reachable(torus, settings);
      EXPECT_GT(reachable, accuracy);
      settings.accuracy = reachable;
      EXPECT_LE(build_field(torus, settings).report.near_error, reachable);
      settings.accuracy = reachable / 3;  // and not much less
      EXPECT_THROW(build_field(torus, settings), Error);
    }
  EXPECT_THROW(build_field(torus, {.accuracy = 0.01, .max_memory = 100'000}), Error);
  // By the rounding of coordinates, and by the number of cells.
  const TriangleMesh ball = make_sphere({.radius = 0.5, .frequency = 4});
  const TriangleMesh distant = changed(ball, 1, {1e4F, 0, 0});
  const double reachable = find_reachable(distant, {.accuracy = 1e-5});
  EXPECT_NO_THROW(plan_field(distant, {.accuracy = reachable}));
  EXPECT_LT(reachable, 1e-3);
  EXPECT_NO_THROW(plan_field(ball, {.accuracy = find_reachable(ball, {.accuracy = 1e-6})}));
}

TEST(Accuracy, RefusesSettingsThatContradictIt) {
  const TriangleMesh ball = make_sphere({});
  EXPECT_THROW(build_field(ball, {.resolution = 64, .accuracy = 0.01}), Error);
  EXPECT_THROW(build_field(ball, {.voxel_size = 0.1, .accuracy = 0.01}), Error);
  EXPECT_THROW(build_field(ball, {.accuracy = 0.0}), Error);
  EXPECT_THROW(build_field(ball, {.accuracy = -1.0}), Error);
  EXPECT_THROW(build_field(ball, {.accuracy = std::nan("")}), Error);
  EXPECT_THROW(build_field(ball, {.accuracy = 0.1, .range = -1}), Error);
  EXPECT_THROW(build_field(ball, {.accuracy = 0.1, .range = HUGE_VAL}), Error);
  EXPECT_THROW(build_field(ball, {.accuracy = 1e-3, .range = 1e3}), Error);
  EXPECT_THROW(EditableField(ball, {.resolution = 32, .range = 1}), Error);
}

// Growing cells of a given number makes room for a range.
TEST(Accuracy, RangesFitIntoAResolution) {
  const FieldResult built = build_field(make_shape("gear", {}), {.resolution = 96, .range = 0.2});
  const Lattice& l = built.report.lattice;
  EXPECT_LE(std::max({l.cells[0], l.cells[1], l.cells[2]}), 96);
  const Aabb box = bounds(l), body = to_double(bounds(make_shape("gear", {})));
  for (std::size_t axis = 0; axis < 3; ++axis) EXPECT_LE(box.lower[axis] + 0.2, body.lower[axis]);
}

struct BoundTrial {
  double gap = 0;       // upper - lower, cells
  double distance = 0;  // cells
};

// On and off the surface, in the box and outside of it. Distances of the reference are exact but
// for the rounding of points to floats.
std::vector<BoundTrial> try_bounds(const FieldResult& built, const TriangleMesh& mesh,
                                   std::size_t points) {
  const ExactField exact(*built.surface);
  const double growth = built.report.thin.offset, h = built.field.voxel_size();
  const Aabb box = built.field.bounds();
  const double size = length(extent(box));
  Random random(41);
  std::vector<Vec3> places;
  for (std::size_t i = 0; i < points; ++i) {
    const Vec3 on = random_surface_point(mesh, random);
    const Vec3 away = random.unit_vector();
    const double u = random.uniform();
    const Vec3 p = i % 5 == 0   ? on
                   : i % 5 == 1 ? on + away * (h * u)
                   : i % 5 == 2 ? on + away * (20 * h * u)
                   : i % 5 == 3 ? random_in_box(box, random)
                                : on + away * (size * u);
    places.push_back(rounded(p));
  }
  std::vector<Interval> bounds(points), again(points);
  sample_bounds(built.field, places, bounds);
  sample_bounds(built.field, places, again, {1});
  EXPECT_EQ(bounds, again);
  std::vector<BoundTrial> trials;
  for (std::size_t i = 0; i < points; ++i) {
    const Vec3& p = places[i];
    const double d = exact.value(p) - growth, slack = 1e-6 * h + 0x1p-22 * length(p);
    const Interval simple = built.field.distance_bounds(p);
    EXPECT_LE(bounds[i].lower, d + slack) << p.x << " " << p.y << " " << p.z;
    EXPECT_GE(bounds[i].upper, d - slack) << p.x << " " << p.y << " " << p.z;
    EXPECT_LE(simple.lower, bounds[i].lower);
    EXPECT_GE(simple.upper, bounds[i].upper);
    trials.push_back({(bounds[i].upper - bounds[i].lower) / h, std::abs(d) / h});
  }
  return trials;
}

TEST(SampleBounds, EncloseTheDistance) {
  std::size_t tried = 0, far = 0;
  for (const AccuracyCase& c : make_cases()) {
    SCOPED_TRACE(c.name);
    const std::size_t points = unless_slow(3000U, 200U);
    for (const FieldSettings& settings :
         {FieldSettings{.accuracy = c.accuracy, .range = c.range, .keep_thin = c.keep_thin},
          FieldSettings{.resolution = 96, .keep_thin = c.keep_thin}})
      for (const BoundTrial& trial : try_bounds(build_field(c.mesh, settings), c.mesh, points)) {
        ++tried;
        far += trial.distance > 16 ? 1U : 0U;
      }
  }
  EXPECT_GT(tried, unless_slow(60000U, 1000U));
  EXPECT_GT(far, tried / 10);
}

// Half of a box is sparse, with nodes that are interpolated.
TEST(SampleBounds, EncloseTheDistanceFarAway) {
  const TriangleMesh nut = make_shape("nut", {});
  for (const SignMethod sign : {SignMethod::kAuto, SignMethod::kUnsigned}) {
    const FieldResult built =
        build_field(nut, {.resolution = unless_slow(400, 200), .padding = 80, .sign = sign});
    try_bounds(built, nut, unless_slow(4000U, 300U));
  }
}

TEST(SampleBounds, AreTightOnSmoothShapes) {
  const TriangleMesh ball = make_sphere({.radius = 0.5, .frequency = 32});
  std::vector<double> near, far;
  for (const BoundTrial& t :
       try_bounds(build_field(ball, {.resolution = 96}), ball, unless_slow(8000U, 1000U))) {
    if (t.distance < 4) near.push_back(t.gap);
    if (t.distance > 4 && t.distance < 20) far.push_back(t.gap);
  }
  ASSERT_GT(near.size(), 100U);
  ASSERT_GT(far.size(), 100U);
  EXPECT_LT(quantile(near, 0.5), 0.8);
  EXPECT_LT(quantile(far, 0.5), 1.0);
}

}  // namespace
}  // namespace isotact

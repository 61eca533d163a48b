// The independent check of depth, which the benchmark of scenes uses, on cases with known answers;
// and by it, how deep bodies of a small scene get.
#include <cmath>

#include <gtest/gtest.h>

#include "isotact/geometry/primitives/primitives.h"
#include "isotact/scene/run/run.h"

#include "support/exact_depth.h"
#include "support/small_meshes.h"

namespace isotact {
namespace {

using exact_depth::Body;
using exact_depth::find_depths;
using exact_depth::Solid;

Body body_of(const TriangleMesh& mesh, bool moves = true) {
  return {std::make_shared<Solid>(mesh), moves};
}

TEST(ExactDepth, OfBoxesIsTheOverlapOfTheirFaces) {
  const Body box = body_of(test::make_box({-0.5F, -0.5F, -0.5F}, {0.5F, 0.5F, 0.5F}));
  const std::vector<Body> pair{box, box};
  // The upper box is turned, so that its corners and the middles of its edges are inside.
  const Quat turned{std::cos(0.2), 0, std::sin(0.2), 0};
  for (const double overlap : {0.001, 0.01, 0.1}) {
    const std::vector<Pose> poses{{}, {turned, {0.05, 1 - overlap, 0.02}}};
    const auto deep = find_depths(pair, poses);
    ASSERT_EQ(deep.size(), 1U);
    EXPECT_NEAR(deep[0].depth, overlap, 1e-6);
    EXPECT_NEAR(deep[0].size, std::sqrt(3.0), 1e-6);
    // A corner of the upper box, or the middle of an edge of the lower one.
    EXPECT_LT(std::abs(deep[0].place.y - 0.5 + overlap / 2), 0.51 * overlap);
  }
  EXPECT_TRUE(find_depths(pair, std::vector<Pose>{{}, {turned, {0, 1.0001, 0}}}).empty());
  // Neither bodies that both stand still nor pairs that may overlap count.
  const std::vector<Pose> overlapping{{}, {{}, {0.1, 0.9, 0.1}}};
  EXPECT_EQ(find_depths(pair, overlapping).size(), 1U);
  EXPECT_TRUE(find_depths(pair, overlapping, {{0, 1}}).empty());
  const Body fixed = body_of(make_box({}), false);
  EXPECT_TRUE(find_depths(std::vector<Body>{fixed, fixed}, overlapping).empty());
}

TEST(ExactDepth, TakesFormulasAndMeshesThatFaceInwards) {
  const TriangleMesh cube = test::make_box({-0.5F, -0.5F, -0.5F}, {0.5F, 0.5F, 0.5F});
  const Body plane{std::make_shared<Solid>(AnalyticSolid(PlaneField{}), TriangleMesh{}), false};
  const std::vector<Pose> poses{{}, {{}, {7, 0.47, 0}}};
  for (const Body& body : {body_of(cube), body_of(test::flipped(cube))}) {
    const auto deep = find_depths(std::vector<Body>{plane, body}, poses);
    ASSERT_EQ(deep.size(), 1U);
    EXPECT_NEAR(deep[0].depth, 0.03, 1e-6);
    EXPECT_NEAR(deep[0].size, std::sqrt(3.0), 1e-6);
  }
  const Body ball{std::make_shared<Solid>(AnalyticSolid(SphereField{.radius = 0.2}),
                                          make_sphere({.radius = 0.2})),
                  true};
  const auto deep =
      find_depths(std::vector<Body>{plane, ball}, std::vector<Pose>{{}, {{}, {0, 0.19, 0}}});
  ASSERT_EQ(deep.size(), 1U);
  EXPECT_NEAR(deep[0].depth, 0.01, 1e-4);  // The lowest vertex is not quite the lowest point.
}

// A funnel has no inside: what is beyond it, as seen from the body's middle, is deep.
TEST(ExactDepth, OfSheetsIsWhatIsBeyond) {
  TriangleMesh square;
  square.positions = {{-2, 0, -2}, {2, 0, -2}, {2, 0, 2}, {-2, 0, 2}};
  square.triangles = {{0, 1, 2}, {0, 2, 3}};
  const Body sheet{std::make_shared<Solid>(Solid::sheet(square)), false};
  const Body cube = body_of(test::make_box({-0.5F, -0.5F, -0.5F}, {0.5F, 0.5F, 0.5F}));
  for (const double side : {1.0, -1.0}) {
    // Boxes of sheets are flat: a corner within one is beyond by what the tilt gives.
    const std::vector<Pose> poses{{}, {{}, {0.1, side * 0.49, 0.2}}};
    const auto deep = find_depths(std::vector<Body>{sheet, cube}, poses);
    ASSERT_EQ(deep.size(), 1U);
    EXPECT_NEAR(deep[0].depth, 0.01, 1e-6);
  }
}

// Formulas have no cells: what is found is what the contacts allow. Two boxes on each other, and one
// that falls onto an edge. (At steps of 10 ms bodies of a few centimetres get deeper than this: the
// benchmark counts them.)
TEST(ExactDepth, BodiesOfASceneStayOutOfEachOther) {
  const char* text = R"({
    "isotact_scene": 1,
    "run": {"seconds": 0.3, "frames_per_second": 200},
    "materials": {"m": {"restitution": 0}},
    "bodies": [
      {"name": "ground", "kind": "static", "shape": {"field": "plane"}, "material": "m"},
      {"name": "low", "shape": {"field": "box", "size": [2, 1, 2]}, "material": "m",
       "position": [0, 0.501, 0]},
      {"name": "high", "shape": {"field": "box", "size": [2, 1, 2]}, "material": "m",
       "position": [0.2, 1.503, 0]},
      {"name": "leaning", "shape": {"field": "box", "size": [1, 1, 1]}, "material": "m",
       "position": [4, 0.75, 0], "rotation": {"axis": [1, 0, 0], "degrees": 30}}
    ]})";
  for (const auto& [step, allowed] : {std::pair{0.01, 0.005}, {0.001, 0.001}}) {
    Scene scene = parse_scene(text, "small.json");
    scene.world.step = step;
    SceneRun run(scene);
    ASSERT_TRUE(run.go(step_count(scene)));
    std::vector<Body> bodies;
    for (std::size_t k = 0; k < scene.bodies.size(); ++k) {
      const AnalyticSolid solid =
          std::visit([](const auto& f) { return AnalyticSolid(f); },
                     std::get<SceneField>(scene.shapes[*scene.bodies[k].shape].source));
      bodies.push_back({std::make_shared<Solid>(
                            solid, k == 0 ? TriangleMesh{}
                                          : run.replay().meshes[*scene.bodies[k].shape]),
                        k > 0});
    }
    std::size_t touching = 0;
    for (const ReplayFrame& frame : run.replay().frames)
      for (const auto& pair : find_depths(bodies, frame.poses)) {
        ++touching;
        EXPECT_LE(pair.depth, allowed * pair.size)
            << step << " s: " << run.body_name(pair.a) << ", " << run.body_name(pair.b) << " at "
            << frame.time;
      }
    EXPECT_GT(touching, 50U);  // They rest on each other, and are a little inside.
    EXPECT_NEAR(run.world().body(2).state.center.y, 1.5, 0.01);
  }
}

}  // namespace
}  // namespace isotact

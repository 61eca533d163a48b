#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/scene/parse/scene.h"

#include "scene/run/small_scenes.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

// A scene of one ball, with more members of the scene and of the ball.
std::string scene_with(const std::string& of_scene, const std::string& of_body = "",
                       const std::string& shape = R"({"make": "sphere"})") {
  return R"({"isotact_scene": 1, "bodies": [{"name": "ground", "kind": "static"}, )"
         R"({"name": "ball", "shape": )" +
         shape + (of_body.empty() ? "" : ", " + of_body) + "}]" +
         (of_scene.empty() ? "" : ", " + of_scene) + "}";
}

std::string message_of(const std::string& text) {
  try {
    parse_scene(text, "folder/scene.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(SceneParse, JointsHaveFriction) {
  const Scene s = parse_scene(
      scene_with(
          R"("joints": [{"kind": "ball", "a": "ball", "b": "ground", "place": [0, 0, 0], "friction": 0.4},
                        {"kind": "ball", "a": "ball", "b": "ground", "place": [0, 1, 0]}])"),
      "x");
  ASSERT_EQ(s.joints.size(), 2U);
  EXPECT_EQ(s.joints[0].friction, 0.4);
  EXPECT_EQ(s.joints[1].friction, 0);
}

TEST(SceneParse, ReadsEverySection) {
  const Scene s = parse_scene(kSmallScene, "folder/small.json");
  EXPECT_EQ(s.name, "small");
  EXPECT_EQ(s.about, "a test\nof all sections\n");
  EXPECT_EQ(s.world.step, 0.002);
  EXPECT_EQ(step_count(s), 200U);
  EXPECT_EQ(s.frames_per_second, 50);
  ASSERT_TRUE(s.view.box);
  ASSERT_EQ(s.materials.size(), 1U);
  EXPECT_EQ(s.materials[0].surface.restitution, 0.1);
  EXPECT_EQ(s.materials[0].colour, (Colour{0xa0, 0x70, 0x40}));
  ASSERT_EQ(s.bodies.size(), 7U);  // two cubes
  EXPECT_EQ(s.bodies[2].name, "cube 1");
  EXPECT_NEAR(s.bodies[3].pose.translation.y, 0.4, 0.02);
  EXPECT_EQ(s.bodies[3].density, 700);
  EXPECT_NEAR(s.bodies[2].pose.rotation.y, std::sin(10 * kPi / 180), 1e-12);
  EXPECT_EQ(s.bodies[4].mass, 2);
  EXPECT_TRUE(s.bodies[4].fast);
  EXPECT_EQ(s.bodies[5].kind, BodyKind::kKinematic);
  EXPECT_FALSE(s.bodies[1].shape);
  EXPECT_EQ(s.shapes.size(), 3U);
  ASSERT_EQ(s.joints.size(), 1U);
  EXPECT_EQ(s.joints[0].b, 6U);
  ASSERT_EQ(s.scripts.size(), 3U);
  EXPECT_EQ(std::get<PoseScript>(s.scripts[0]).keys.size(), 2U);
  EXPECT_EQ(std::get<LoadScript>(s.scripts[1]).load.force.z, 3);
  EXPECT_EQ(std::get<MotorScript>(s.scripts[2]).joint, 0U);
}

TEST(SceneParse, CountsSteps) {
  Scene s = parse_scene(scene_with(R"("run": {"seconds": 0.3}, "world": {"step": 0.1})"), "x");
  EXPECT_EQ(step_count(s), 3U);  // 0.3 / 0.1 is a little less
  s.world.step = 0.2;
  EXPECT_EQ(step_count(s), 2U);
}

TEST(SceneParse, QuaternionsAreLabelled) {
  const auto rotation = [](const std::string& text) {
    return parse_scene(scene_with("", R"("rotation": )" + text), "x").bodies[1].pose.rotation;
  };
  EXPECT_EQ(rotation(R"({"wxyz": [0.6, 0.8, 0, 0]})").x, 0.8);
  EXPECT_EQ(rotation(R"({"xyzw": [0.8, 0, 0, 0.6]})").x, 0.8);
  EXPECT_NEAR(rotation(R"({"axis": [2, 0, 0], "degrees": 90})").x, std::sqrt(0.5), 1e-12);
}

TEST(SceneParse, FilesLieBesideTheScene) {
  const Scene s = parse_scene(
      scene_with("", "", R"({"mesh": "parts/nut.stl", "unit": "mm", "resolution": 100})"),
      "folder/scene.json");
  const auto& file = std::get<MeshFile>(s.shapes[0].source);
  EXPECT_EQ(file.path, std::filesystem::path("folder/parts/nut.stl"));
  EXPECT_EQ(file.unit, "mm");
}

TEST(SceneParse, MeshesHaveASizeAScaleAndASign) {
  const auto shape = [](const std::string& keys) {
    return parse_scene(scene_with("", "", R"({"mesh": "nut.stl", )" + keys + "}"), "x").shapes[0];
  };
  EXPECT_EQ(std::get<MeshFile>(shape(R"("size": 0.2)").source).size, 0.2);
  EXPECT_EQ(std::get<MeshFile>(shape(R"("scale": 3)").source).scale, 3);
  EXPECT_EQ(std::get<MeshFile>(shape(R"("unit": "mm")").source).scale, 1);
  EXPECT_EQ(shape(R"("sign": "unsigned")").sign, SignMethod::kUnsigned);
  EXPECT_EQ(shape(R"("unit": "m")").sign, SignMethod::kAuto);
}

TEST(SceneParse, DataHasAStandIn) {
  const Scene s = parse_scene(
      scene_with("", "", R"({"data": "a/statue.obj", "size": 2, "else": {"make": "torus"}})"), "x");
  const auto& data = std::get<DataFile>(s.shapes[0].source);
  EXPECT_EQ(data.path, "a/statue.obj");
  EXPECT_EQ(data.stand_in.name, "torus");
  EXPECT_EQ(data.stand_in.size, 2);  // as large as what it stands in for
}

// A block with a hole, and a tip on its corner.
TEST(SceneParse, FormulasCombine) {
  const Scene s = parse_scene(scene_with("", "", R"({"field": "union", "parts": [
      {"field": "difference", "parts": [
        {"field": "box", "size": [0.4, 0.2, 0.4]},
        {"field": "cylinder", "radius": 0.1, "height": 1, "position": [0.05, 0, 0]},
        {"field": "plane", "offset": -0.05}]},
      {"field": "cone", "radius": 0.05, "height": 0.2, "position": [0.15, 0.1, 0.15],
       "rotation": {"axis": [0, 0, 1], "degrees": 90}}]})"),
                              "x");
  const auto& solid = std::get<AnalyticSolid>(std::get<SceneField>(s.shapes[0].source));
  EXPECT_TRUE(solid.is_bounded());
  EXPECT_LT(solid.value({-0.15, 0, 0}), 0);
  EXPECT_GT(solid.value({0.05, 0, 0}), 0.09);    // the hole
  EXPECT_GT(solid.value({-0.15, -0.08, 0}), 0);  // cut off by the plane
  EXPECT_LT(solid.value({0.07, 0.1, 0.15}), 0);  // the cone's apex points along -x
  EXPECT_GT(solid.value({0.07, 0.13, 0.15}), 0);
  const Scene cone =
      parse_scene(scene_with("", "", R"({"field": "cone", "radius": 0.1, "height": 0.3})"), "x");
  EXPECT_EQ(std::get<ConeField>(std::get<SceneField>(cone.shapes[0].source)).height, 0.3);
}

struct Wrong {
  std::string text, message;  // a part of it
};

TEST(SceneParse, EveryErrorNamesItsPlace) {
  const std::vector<Wrong> all = {
      {"", "not JSON"},
      {"[]", "expected an object, found an array of 0"},
      {"{", "line 1"},
      {"{}", "needs 'isotact_scene'"},
      {R"({"isotact_scene": 2})", "isotact_scene: expected a whole number from 1 to 1, found 2"},
      {R"({"isotact_scene": 1})", "needs 'bodies'"},
      {R"({"isotact_scene": 1, "bodies": []})", "bodies: a scene needs a body"},
      {R"({"isotact_scene": 1, "isotact_scene": 1})", "'isotact_scene' twice"},
      {scene_with(R"("wold": {})"), "wold: is not known here; did you mean world?"},
      {scene_with(R"("world": {"step": 0})"), "world.step: expected a number from 1e-09 to 1"},
      {scene_with(R"("world": {"step": "small"})"),
       R"(world.step: expected a number, found "small")"},
      {scene_with(R"("world": {"gravity": [0, 1]})"),
       "world.gravity: expected an array of 3 numbers, found an array of 2"},
      {scene_with(R"("world": {"gravity": [0, 1, null]})"),
       "world.gravity[2]: expected a number, found null"},
      {scene_with(R"("world": {"contact": "discreet"})"), "did you mean discrete?"},
      {scene_with(R"("world": {"step": 1e999})"), "not JSON"},
      {scene_with(R"("world": {"narrow_phase": "gpu"})"),
       "world.narrow_phase: is for the engine \"bullet\""},
      {scene_with(R"("world": {"engine": "bullet", "narrow_phase": "cpu"})"),
       "world.narrow_phase: \"cpu\" is not known here"},
      {scene_with(R"("run": {"steps": 1, "seconds": 1})"), "run: has both steps and seconds"},
      {scene_with(R"("run": {"steps": 1.5})"), "run.steps: expected a whole number"},
      {scene_with(R"("run": {"seconds": 1e6, "frames_per_second": 1000})"), "a replay may have"},
      {scene_with(R"("view": {"box": [[0, 0, 0], [0, 1, 1]]})"), "view.box: the second corner"},
      {scene_with(R"("materials": {"ice": {"friction": -1}})"),
       "materials.ice.friction: expected a number from 0 to 100, found -1"},
      {scene_with("", R"("material": "ice")"), "bodies[1].material: there is no material"},
      {scene_with(R"("materials": {"ice": {}, "oil": {}})", R"("material": "icy")"),
       "did you mean ice?"},
      {scene_with("", "", R"({"make": "sphere", "size": "big"})"),
       R"(bodies[1].shape.size: expected a number above 0, found "big")"},
      {scene_with("", "", R"({"make": "spere"})"),
       "bodies[1].shape.make: \"spere\" is not known here; did you mean sphere?"},
      {scene_with("", "", R"({"make": "gear", "with": {"teeth": 2}})"),
       "bodies[1].shape.with.teeth: expected a whole number from"},
      {scene_with("", "", R"({"make": "gear", "with": {"tooth": 9}})"), "did you mean teeth?"},
      {scene_with("", "", R"({"make": "gear", "mesh": "a.obj"})"), "has both make and mesh"},
      {scene_with("", "", R"({})"),
       "bodies[1].shape: needs one of: make, mesh, data, asset, field"},
      {scene_with("", "", R"({"data": "a.obj"})"), "bodies[1].shape: needs 'else'"},
      {scene_with("", "", R"({"data": "a.obj", "else": {"mesh": "b.obj"}})"),
       "bodies[1].shape.else.mesh: is not known here"},
      {scene_with("", "", R"({"make": "box", "resolution": 4})"),
       "shape.resolution: expected a whole number from 16"},
      {scene_with("", "", R"({"make": "box", "points": 10, "spacing": 1})"),
       "has both points and spacing"},
      {scene_with("", "", R"({"field": "terrain", "spacing": 1, "heights": [[0, 1], [0, 1]]})"),
       "bodies[1].shape: a terrain has no end"},
      {scene_with("", "", R"({"field": "terrain", "heights": [[0, 1], [0, 1]]})"),
       "bodies[1].shape: needs 'spacing'"},
      {scene_with("", "", R"({"field": "terrain", "spacing": 1, "heights": [[0, 1]]})"),
       "shape.heights: expected two rows of heights"},
      {scene_with("", "", R"({"field": "terrain", "spacing": 1, "heights": [[0, 1], [0]]})"),
       "shape.heights[1]: expected two heights"},
      {scene_with("", "", R"({"field": "terrain", "spacing": 1, "heights": [[0, 1], [0, 1, 2]]})"),
       "shape.heights[1]: has 3 heights, and the first row 2"},
      {scene_with("", "", R"({"field": "terrain", "spacing": 1, "heights": [[0, 1], [0, 1e9]]})"),
       "shape.heights[1][1]: expected a number from"},
      {scene_with("", "", R"({"field": "plane"})"), "bodies[1].shape: a plane has no end"},
      {scene_with("", "", R"({"field": "torus", "radius": 1, "tube_radius": 2})"),
       "bodies[1].shape: "},
      {scene_with("", "", R"({"field": "union", "parts": [{"field": "sphere", "radius": 1}]})"),
       "bodies[1].shape.parts: expected two formulas"},
      {scene_with("", "", R"({"field": "union", "parts": [{"field": "plane"},
        {"field": "sphere", "radius": 1}]})"),
       "bodies[1].shape: has no end, and only a plane or a terrain may: intersect it with a box"},
      {scene_with("", "", R"({"field": "intersection", "parts": [{"field": "sphere", "radius": 1},
        {"field": "sphere", "radius": 1, "position": [3, 0, 0]}]})"),
       "bodies[1].shape: is empty"},
      {scene_with("", "", R"({"field": "union", "parts": [{"field": "sphere", "radius": 1},
        {"field": "sphere", "radius": 1, "place": [3, 0, 0]}]})"),
       "bodies[1].shape.parts[1].place: is not known here"},
      {scene_with("", "", R"({"field": "sphere", "radius": 1, "position": [3, 0, 0]})"),
       "bodies[1].shape.position: is not known here"},
      {scene_with("", "", R"({"mesh": "a.obj", "unit": "ft"})"), "shape.unit"},
      {scene_with("", "", R"({"mesh": "a.obj", "size": 0})"), "shape.size"},
      {scene_with("", "", R"({"mesh": "a.obj", "scale": -1})"), "shape.scale"},
      {scene_with("", "", R"({"mesh": "a.obj", "scale": 2, "size": 1})"), "scale"},
      {scene_with("", "", R"({"mesh": "a.obj", "sign": "inside"})"), "shape.sign"},
      {scene_with("", "", R"("cube")"), "bodies[1].shape: there is no shape"},
      {scene_with("", "", "7"), "bodies[1].shape: expected a shape's name or an object, found 7"},
      {scene_with("", R"("name2": 1)"), "bodies[1].name2: is not known here; did you mean name?"},
      {scene_with("", R"("kind": "static", "mass": 1)"), "bodies[1].mass: is for dynamic bodies"},
      {scene_with("", R"("mass": 1, "density": 1)"), "has both density and mass"},
      {scene_with("", R"("mass": 0)"), "bodies[1].mass: expected a number above 0"},
      {scene_with("", R"("position": [1e7, 0, 0])"),
       "bodies[1].position[0]: expected a number from"},
      {scene_with("", R"("rotation": [1, 0, 0, 0])"), "bodies[1].rotation: expected an object"},
      {scene_with("", R"("rotation": {"wxyz": [1, 1, 0, 0]})"),
       "expected a unit quaternion, found one of length 1.41421"},
      {scene_with("", R"("rotation": {"axis": [0, 0, 0], "degrees": 1})"),
       "rotation.axis: expected a direction"},
      {scene_with("", R"("repeat": {"count": [1000, 1000, 1000], "spacing": [1, 1, 1]})"),
       "repeat: makes 1000000000 bodies"},
      {scene_with("", R"("colour": "red")"), "bodies[1].colour: expected a colour like"},
      {R"({"isotact_scene": 1, "bodies": [{"name": "a", "kind": "static"}, {"name": "a", "kind": "static"}]})",
       "bodies[1].name: there is another with the name 'a'"},
      {R"({"isotact_scene": 1, "bodies": [{"name": "a"}]})",
       "bodies[0]: a body that moves freely needs a shape"},
      {scene_with(R"("joints": [{"kind": "ball", "a": "ball", "b": "grond", "place": [0, 0, 0]}])"),
       "joints[0].b: \"grond\" is not known here; did you mean ground?"},
      {scene_with(R"("joints": [{"kind": "ball", "a": "ball", "b": "ball", "place": [0, 0, 0]}])"),
       "joints[0].b: is the same body as 'a'"},
      {scene_with(
           R"("joints": [{"kind": "ball", "a": "ball", "b": "ground", "place": [0, 0, 0], "limits": {}}])"),
       "joints[0].limits: is for hinges and sliders"},
      {scene_with(
           R"("joints": [{"kind": "hinge", "a": "ball", "b": "ground", "place": [0, 0, 0]}])"),
       "joints[0]: needs 'axis'"},
      {scene_with(
           R"("joints": [{"kind": "hinge", "a": "ball", "b": "ground", "place": [0, 0, 0], "axis": [0, 1, 0], "limits": {"lower": 1, "upper": 0}}])"),
       "joints[0].limits: lower is above upper"},
      {scene_with(
           R"("joints": [{"kind": "ball", "a": "ball", "b": "ground", "place": [0, 0, 0], "friction": -1}])"),
       "joints[0].friction: expected a number from 0"},
      {scene_with(
           R"("joints": [{"kind": "fixed", "a": "ball", "b": "ground", "place": [0, 0, 0], "friction": 1}])"),
       "joints[0].friction: is not for a fixed joint"},
      {scene_with(R"("scripts": [{"body": "ball", "velocity": [1, 0, 0]}])"),
       "scripts[0].body: is dynamic; only kinematic"},
      {scene_with(R"("scripts": [{"body": "ground", "force": [1, 0, 0]}])"),
       "scripts[0].body: is not dynamic"},
      {scene_with(R"("scripts": [{"body": "ball"}])"), "scripts[0]: needs 'keys'"},
      {scene_with(R"("scripts": [{"joint": "hinge", "keys": []}])"),
       "scripts[0].joint: there is no joint with a name"},
  };
  for (const Wrong& wrong : all) {
    const std::string message = message_of(wrong.text);
    EXPECT_NE(message.find(wrong.message), std::string::npos)
        << wrong.text << "\n  says: " << message << "\n  and not: " << wrong.message;
    EXPECT_EQ(message.rfind("folder/scene.json", 0), 0U) << message;
    EXPECT_LT(message.size(), 1000U);
  }
}

TEST(SceneParse, HostileSizesAreRefusedSoon) {
  EXPECT_NE(message_of(std::string(100000, '[')).find("nested deeper"), std::string::npos);
  std::string deep = R"({"a":)";
  for (int i = 0; i < 10; ++i) deep += deep;
  EXPECT_NE(message_of(deep).find("nested deeper"), std::string::npos);
  EXPECT_NE(message_of(std::string(kMostSceneBytes + 1, ' ')).find("are allowed"),
            std::string::npos);
  std::string many = "[0";
  for (int i = 0; i < 600000; ++i) many += ",0";
  EXPECT_NE(message_of(many + "]").find("values"), std::string::npos);
  std::string bodies = R"({"isotact_scene": 1, "bodies": [0)";
  for (int i = 0; i < 20000; ++i) bodies += ",0";
  EXPECT_NE(message_of(bodies + "]}").find("bodies: has 20001 entries"), std::string::npos);
  EXPECT_NE(message_of(scene_with("", R"("name": ")" + std::string(1000, 'x') + '"')).size(), 0U);
  EXPECT_NE(message_of("{\"\xff\xfe\": 1}").size(), 0U);
  EXPECT_NE(message_of(std::string("{\"a\0\": 1}", 9)).size(), 0U);
}

// Whatever a scene is changed to, it is read or refused with an Error, and both happen.
TEST(SceneParse, MutatedScenes) {
  Random random(4);
  const std::string whole = kSmallScene;
  const std::vector<std::string> pieces = {"{",
                                           "}",
                                           "[",
                                           "]",
                                           "\"",
                                           ",",
                                           ":",
                                           "-1",
                                           "0",
                                           "1e300",
                                           "null",
                                           "true",
                                           "{}",
                                           "\"a\"",
                                           "0.5",
                                           "[1,2,3]",
                                           "99999999999999999999"};
  int read = 0, refused = 0;
  const int rounds = unless_slow(4000, 400);
  for (int round = 0; round < rounds; ++round) {
    std::string text = whole;
    const auto edits = 1 + random.below(2);
    for (std::uint32_t k = 0; k < edits; ++k) {
      const std::size_t at = random.below(static_cast<std::uint32_t>(text.size()));
      switch (random.below(5)) {
        case 0:
          text.erase(at, 1 + random.below(8));
          break;
        case 1:
          text.insert(at, pieces[random.below(static_cast<std::uint32_t>(pieces.size()))]);
          break;
        case 2:
          text[at] = static_cast<char>(random.below(256));
          break;
        case 3: {  // a number elsewhere
          const std::size_t digit = text.find_first_of("0123456789", at);
          if (digit != std::string::npos) text[digit] = static_cast<char>('0' + random.below(10));
          break;
        }
        default: {  // a word for another
          const std::size_t quote = text.find('"', at);
          if (quote != std::string::npos) text.insert(quote + 1, "x");
        }
      }
    }
    try {
      const Scene scene = parse_scene(text, "x.json");
      ASSERT_LE(scene.bodies.size(), kMostSceneBodies);
      for (const SceneBody& body : scene.bodies) {
        ASSERT_TRUE(is_finite(body.pose.translation));
        ASSERT_NEAR(length_sq(body.pose.rotation), 1, 1e-9);
        ASSERT_TRUE(!body.shape || *body.shape < scene.shapes.size());
      }
      ++read;
    } catch (const Error& error) {
      ASSERT_LT(std::string(error.what()).size(), 2000U);
      ++refused;
    }
  }
  EXPECT_GT(read, rounds / 20);
  EXPECT_GT(refused, rounds / 4);
}

}  // namespace
}  // namespace isotact

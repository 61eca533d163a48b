// Every scene that comes with the library is read, says what it is about, and runs.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "isotact/dynamics/haptics/tool_path.h"
#include "isotact/scene/run/run.h"

#include "support/slow_build.h"

namespace isotact {
namespace {

std::vector<std::filesystem::path> shipped_scenes() {
  std::vector<std::filesystem::path> all;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(ISOTACT_SOURCE_FOLDER) / "scenes"))
    if (entry.path().extension() == ".json") all.push_back(entry.path());
  std::sort(all.begin(), all.end());
  return all;
}

// Shapes as coarse as can be: here it counts that they load, not how they roll.
void make_coarse(Scene& scene) {
  for (SceneShape& shape : scene.shapes) {
    shape.voxel_size.reset();
    shape.spacing.reset();
    shape.resolution = 16;
    if (shape.points != 0U) shape.points = 60;
    auto* made = std::get_if<MadeShape>(&shape.source);
    if (auto* data = std::get_if<DataFile>(&shape.source)) made = &data->stand_in;
    if (made != nullptr && made->name == "blob") made->parameters["triangles"] = 4000;
  }
}

TEST(ShippedScenes, AllAreReadAndRun) {
  const auto scenes = shipped_scenes();
  EXPECT_GE(scenes.size(), 10U);
  for (const auto& path : scenes) {
    SCOPED_TRACE(path.string());
    Scene scene = read_scene(path);
    EXPECT_GT(scene.about.size(), 100U);  // step and stiffness are explained
    EXPECT_GE(step_count(scene), 100U);
    make_coarse(scene);
    // Under sanitizers those whose shapes are soon made.
    if (kSlowBuild && path.stem() != "chain" && path.stem() != "drop_bowl") continue;
    SceneRun run(scene);
    run.go(3);
    EXPECT_EQ(run.world().report().number, 3U);
    EXPECT_GE(run.replay().frames.size(), 2U);
  }
}

// Hands that a haptics loop plays: their steps are small enough to be followed.
TEST(ShippedScenes, RecordedHandsAreRead) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(ISOTACT_SOURCE_FOLDER) / "scenes" / "haptics")) {
    SCOPED_TRACE(entry.path().string());
    const ToolPath path = read_tool_path(entry.path());
    EXPECT_GE(path.duration(), 3);
    for (std::size_t i = 1; i < path.keys.size(); ++i)
      ASSERT_LT(length(path.keys[i].pose.translation - path.keys[i - 1].pose.translation), 0.01);
    ++count;
  }
  EXPECT_EQ(count, 2);
}

TEST(ShippedScenes, TheOneInTheDocsRuns) {
  std::ifstream in(std::filesystem::path(ISOTACT_SOURCE_FOLDER) / "docs" / "scenes.md");
  std::string text((std::istreambuf_iterator<char>(in)), {});
  const std::size_t begin = text.find("```json\n") + 8, end = text.find("```", begin);
  ASSERT_LT(end, text.size());
  Scene scene = parse_scene(text.substr(begin, end - begin), "docs/scenes.md");
  make_coarse(scene);
  SceneRun run(scene);
  EXPECT_TRUE(run.go(3));
}

}  // namespace
}  // namespace isotact

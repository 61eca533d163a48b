#include "isotact/dynamics/haptics/tool_path.h"

#include <fstream>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"

#include "support/scratch_folder.h"

namespace isotact {
namespace {

constexpr const char* kHeader = "time,x,y,z,qw,qx,qy,qz\n";

ToolPath make_path(Random& random, int keys) {
  ToolPath path;
  double time = random.uniform(-1, 1);
  for (int i = 0; i < keys; ++i, time += random.uniform(1e-3, 1))
    path.keys.push_back(
        {time,
         {rotation_about(random.unit_vector(), random.uniform(0, 3)), random.in_unit_ball()}});
  return path;
}

TEST(ToolPath, IsReadAsItWasWritten) {
  Random random(1);
  for (int i = 0; i < 100; ++i) {
    const ToolPath path = make_path(random, 1 + static_cast<int>(random.below(20)));
    const ToolPath again = parse_tool_path(format_tool_path(path));
    ASSERT_EQ(again.keys.size(), path.keys.size());
    for (std::size_t k = 0; k < path.keys.size(); ++k) {
      EXPECT_EQ(again.keys[k].time, path.keys[k].time);
      EXPECT_EQ(again.keys[k].pose.translation, path.keys[k].pose.translation);
      const Quat &a = again.keys[k].pose.rotation, &b = path.keys[k].pose.rotation;
      EXPECT_NEAR(a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z, 1, 1e-12);
    }
  }
}

TEST(ToolPath, GoesThroughItsKeysAndStaysBeyondThem) {
  Random random(2);
  const ToolPath path = make_path(random, 10);
  const auto expect_at = [](const Pose& a, const Pose& b) {
    EXPECT_NEAR(length(a.translation - b.translation), 0, 1e-12);
    EXPECT_NEAR(length(rotate(a.rotation, {1, 2, 3}) - rotate(b.rotation, {1, 2, 3})), 0, 1e-9);
  };
  for (const PathKey& key : path.keys) expect_at(pose_at(path, key.time), key.pose);
  expect_at(pose_at(path, path.start() - 5), path.keys.front().pose);
  expect_at(pose_at(path, path.start() + path.duration() + 5), path.keys.back().pose);
  const PathKey &a = path.keys[3], &b = path.keys[4];
  const Pose middle = pose_at(path, 0.5 * (a.time + b.time));
  EXPECT_NEAR(length(middle.translation - 0.5 * (a.pose.translation + b.pose.translation)), 0,
              1e-12);
  EXPECT_NEAR(length_sq(middle.rotation), 1, 1e-12);
}

TEST(ToolPath, TakesCommentsEmptyLinesAndOtherLineEnds) {
  const std::string text = "# of a hand\r\n\r\n" + std::string("time,x,y,z,qw,qx,qy,qz\r\n") +
                           "0, 1, 2, 3, 1, 0, 0, 0\r\n# \n1,1,2,3,0,1,0,0";
  EXPECT_EQ(parse_tool_path(text).keys.size(), 2U);
}

std::string problem_of(const std::string& text) {
  try {
    parse_tool_path(text, "hand.csv");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ToolPath, SaysWhatIsWrong) {
  const std::string head = kHeader;
  for (const auto& [rows, word] : std::vector<std::pair<std::string, std::string>>{
           {"", "has no poses"},
           {"0,0,0,0,1,0,0\n", "hand.csv:2"},
           {"0,0,0,0,1,0,0,0,0\n", "8 numbers"},
           {"0,0,0,0,1,0,0,0,\n", "8 numbers"},
           {"0,0,zero,0,1,0,0,0\n", "'zero'"},
           {"0,0,,0,1,0,0,0\n", "''"},
           {"nan,0,0,0,1,0,0,0\n", "finite"},
           {"0,inf,0,0,1,0,0,0\n", "finite"},
           {"0,1e300,0,0,1,0,0,0\n", "beyond"},
           {"1e300,0,0,0,1,0,0,0\n", "beyond"},
           {"0,0,0,0,2,0,0,0\n", "quaternion"},
           {"0,0,0,0,0,0,0,0\n", "quaternion"},
           {"0,0,0,0,1e200,0,0,0\n", "quaternion"},
           {"1,0,0,0,1,0,0,0\n1,0,0,0,1,0,0,0\n", "hand.csv:3"}})
    EXPECT_NE(problem_of(head + rows).find(word), std::string::npos)
        << rows << " -> " << problem_of(head + rows);
  EXPECT_NE(problem_of("t,x,y,z\n0,0,0,0\n").find("header"), std::string::npos);
  EXPECT_NE(problem_of("").find("no poses"), std::string::npos);
  EXPECT_THROW(read_tool_path("no/such/file.csv"), Error);
}

// Whatever comes: a path or an Error.
TEST(ToolPath, SurvivesNoise) {
  Random random(3);
  const std::string good = format_tool_path(make_path(random, 5));
  int read = 0, refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text = good;
    for (std::uint32_t k = 0; k <= random.below(4); ++k) {
      const auto at =
          static_cast<std::size_t>(random.below(static_cast<std::uint32_t>(text.size())));
      if (random.below(2) == 0)
        text[at] = static_cast<char>(random.below(256));
      else
        text.erase(at, static_cast<std::size_t>(random.below(30)));
    }
    try {
      const ToolPath path = parse_tool_path(text);
      for (std::size_t k = 1; k < path.keys.size(); ++k)
        ASSERT_GT(path.keys[k].time, path.keys[k - 1].time);
      pose_at(path, random.uniform(-2, 5));
      ++read;
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(read, 100);
  EXPECT_GT(refused, 100);
}

TEST(ToolPath, ComesFromAFile) {
  const ScratchFolder folder;
  const auto file = folder.path() / "hand.csv";
  std::ofstream(file) << kHeader << "0,0,1,0,1,0,0,0\n";
  EXPECT_EQ(read_tool_path(file).keys.front().pose.translation.y, 1);
}

}  // namespace
}  // namespace isotact

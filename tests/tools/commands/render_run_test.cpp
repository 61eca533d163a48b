// Pictures of scenes and of runs that were kept: isotact render, and simulate --animate.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/tool_test.h"

namespace isotact {
namespace {

constexpr const char* kFall = R"({
  "isotact_scene": 1,
  "world": {"step": 0.002},
  "run": {"steps": 60, "frames_per_second": 50},
  "view": {"box": [[-0.4, 0, -0.4], [0.4, 0.4, 0.4]]},
  "bodies": [
    {"name": "ground", "kind": "static", "shape": {"field": "plane"}},
    {"name": "stone", "position": [0, 0.12, 0], "colour": "#c03030",
     "shape": {"make": "box", "size": 0.2, "resolution": 16, "points": 100}}
  ],
  "soft_bodies": [{"name": "jelly", "shape": {"make": "box", "with": {"segments": 2}, "size": 0.1},
                   "mass": 0.2, "position": [0.25, 0.2, 0], "colour": "#30c030"}]
})";

class RunPictures : public ToolTest {
 protected:
  void SetUp() override { write("fall.json", kFall); }
  std::string text_of(const std::string& name) {
    std::ifstream in(folder_.path() / name, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  std::string draw(const std::string& file, const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"render",  file, "-o",       "picture.png",
                                       "--width", "60", "--height", "40"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    run_json(arguments);
    return text_of("picture.png");
  }
  bool has_pages() {
    return run_json({"doctor"})["viewer"].get<std::string>().find("built in") == 0;
  }
};

TEST_F(RunPictures, ScenesAreDrawnAtTheirTimes) {
  const std::string start = draw("fall.json", {"--time", "0"}), end = draw("fall.json", {});
  EXPECT_NE(start, end);
  EXPECT_EQ(draw("fall.json", {"--time", "0.12"}), end);
  EXPECT_NE(draw("fall.json", {"--no-contacts"}), end);
}

// Poses in a page are rounded by less than a pixel shows; most pictures are equal.
TEST_F(RunPictures, PagesAreDrawnAsTheirScenesAre) {
  if (!has_pages()) GTEST_SKIP() << "pages of runs are not built in";
  run_json({"simulate", "fall.json", "-o", "fall.html"});
  const std::string start = draw("fall.html", {"--time", "0"});
  EXPECT_EQ(start.size() / 64, draw("fall.json", {"--time", "0"}).size() / 64);
  const std::string end = draw("fall.html", {});
  EXPECT_NE(start, end);
  EXPECT_EQ(draw("fall.html", {"--time", "0.12"}), end);
  EXPECT_NE(draw("fall.html", {"--yaw", "90"}), end);
  const ProgramRun late = run({"render", "fall.html", "-o", "late.png", "--time", "3"});
  EXPECT_EQ(late.exit_code, 1);
  EXPECT_NE(late.err.find("the run ends at 0.12 s"), std::string::npos) << late.err;
}

TEST_F(RunPictures, BrokenPagesAreToldInWords) {
  const auto expect = [&](const std::string& page, const char* what) {
    write("broken.html", page);
    const ProgramRun r = run({"render", "broken.html", "-o", "broken.png"});
    EXPECT_EQ(r.exit_code, 1);
    EXPECT_NE(r.err.find(what), std::string::npos) << r.err;
    EXPECT_NE(r.err.find("broken.html"), std::string::npos) << r.err;
  };
  const std::string head =
      "<!doctype html><meta name=\"generator\" content=\"Isotact run viewer\">";
  const std::string begin = head + "<script id=\"run-pack\">", end = "</script>";
  expect("<!doctype html><title>other</title>", "expected a page that 'isotact simulate");
  expect(head, "there is no run in this page");
  expect(begin + "H4sI", "cut short");
  expect(begin + "H4s" + end, "cut short");
  expect(begin + "H4sI" + end, "cut short");
  expect(begin + "ISOTACT-RUN-PACK" + end, "is broken at character 7");
  expect(begin + "AAAAAAAA" + end, "cannot be unpacked");
  expect(begin + "H4sIAAAAAAAAAwMAAAAAAAAAAAA=" + end, "does not begin as one of this version");
  if (!has_pages()) return;
  run_json({"simulate", "fall.json", "-o", "fall.html", "--steps", "3"});
  const std::string page = text_of("fall.html");
  const std::size_t pack = page.find("id=\"run-pack\">");
  expect(page.substr(0, pack + 4000), "cut short");
  std::string cut = page;
  cut.erase(pack + 4014, 400);
  expect(cut, "the run in this page");
}

TEST_F(RunPictures, OptionsGoWithWhatTheyAreFor) {
  for (const auto& more : std::vector<std::vector<std::string>>{
           {"--iso", "0"}, {"--no-ground"}, {"fall.json"}, {"--unit", "mm"}, {"--time", "-1"}}) {
    std::vector<std::string> arguments{"render", "fall.json", "-o", "p.png"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(run(arguments).exit_code, 2) << more[0];
  }
  run_json({"simulate", "fall.json", "--steps", "5", "-o", "fall.glb"});
  const ProgramRun glb = run({"render", "fall.glb", "-o", "p.png", "--time", "0.01"});
  EXPECT_EQ(glb.exit_code, 2);
  EXPECT_NE(glb.err.find("of a run as .glb the beginning is drawn"), std::string::npos) << glb.err;
  EXPECT_EQ(run({"simulate", "fall.json", "--no-contacts"}).exit_code, 2);
}

TEST_F(RunPictures, AnimationsAreGifOrPng) {
  const auto animate = [&](const std::string& name) {
    return run({"simulate", "fall.json", "--animate", name, "--width", "48", "--every", "2"});
  };
  ASSERT_EQ(animate("fall.gif").exit_code, 0);
  EXPECT_EQ(text_of("fall.gif").substr(0, 6), "GIF89a");
  EXPECT_EQ(text_of("fall.gif").back(), ';');
  ASSERT_EQ(animate("fall.PNG").exit_code, 0);
  EXPECT_NE(text_of("fall.PNG").find("acTL"), std::string::npos);
  for (const char* other : {"fall.webp", "fall", "-"}) {
    const ProgramRun r = animate(other);
    EXPECT_EQ(r.exit_code, 2);
    EXPECT_NE(r.err.find("animations are written as .gif or .png"), std::string::npos) << r.err;
  }
}

}  // namespace
}  // namespace isotact

// isotact simulate as a user drives it.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/tool_test.h"

namespace isotact {
namespace {

constexpr const char* kDrop = R"({
  "isotact_scene": 1,
  "world": {"step": 0.002},
  "run": {"steps": 60, "frames_per_second": 50},
  "materials": {"soft": {"stiffness": 1e6}},
  "bodies": [
    {"name": "ground", "kind": "static", "shape": {"field": "plane"}, "material": "soft"},
    {"name": "stone", "position": [0, 0.11, 0], "material": "soft",
     "shape": {"make": "box", "size": 0.2, "resolution": 16, "points": 100}},
    {"name": "part", "position": [0.3, 0.1, 0], "shape": {"mesh": "part.obj", "resolution": 16, "points": 60}}
  ]
})";

class SimulateVerb : public ToolTest {
 protected:
  void SetUp() override {
    write("drop.json", kDrop);
    ASSERT_EQ(run({"make", "sphere", "-o", "part.obj", "--size", "0.1", "--set", "frequency=3"})
                  .exit_code,
              0);
  }
  std::string text_of(const std::string& name) {
    std::ifstream in(folder_.path() / name, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  std::size_t count_files(const std::string& folder) {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path() / folder))
      count += entry.path().extension() == ".png" ? 1U : 0U;
    return count;
  }
};

TEST_F(SimulateVerb, WritesReplayLogAndPictures) {
  const Json j =
      run_json({"simulate", "drop.json", "-o", "drop.glb", "--log", "drop.csv", "--frames",
                "frames", "--animate", "drop.png", "--every", "3", "--width", "60"});
  EXPECT_EQ(j["steps"], 60);
  EXPECT_NEAR(j["time"].get<double>(), 0.12, 1e-12);
  EXPECT_EQ(j["hash"].get<std::string>().size(), 16U);
  EXPECT_TRUE(j["trouble"].is_null());
  EXPECT_GT(j["contacts_at_end"].get<int>(), 0);
  EXPECT_GT(j["deepest_penetration"].get<double>(), 0);
  for (const char* key : {"kinetic", "potential", "springs", "total"})
    EXPECT_TRUE(j["energy"][key].is_number()) << key;
  EXPECT_GE(j["seconds"].get<double>(), 0);
  EXPECT_EQ(j["frames"], 7);
  EXPECT_EQ(text_of("drop.glb").substr(0, 4), "glTF");
  const std::string csv = text_of("drop.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 61);
  EXPECT_EQ(count_files("frames"), 3U);
  const std::string picture = text_of("drop.png");
  EXPECT_EQ(picture.substr(1, 3), "PNG");
  EXPECT_NE(picture.find("acTL"), std::string::npos);
  EXPECT_NE(picture.find("fdAT"), std::string::npos);
  const ProgramRun text =
      run({"simulate", "drop.json", "--steps", "3", "-o", "a.glb", "--save", "a.snapshot"});
  for (const char* file : {"wrote     a.glb\n", "wrote     a.snapshot\n"})
    EXPECT_NE(text.out.find(file), std::string::npos) << text.out;
  // A reader of meshes shows where it begins.
  EXPECT_EQ(run_json({"info", "drop.glb"})["components"], 3);
}

TEST_F(SimulateVerb, GoesOnAfterABreak) {
  const Json whole = run_json({"simulate", "drop.json"});
  const Json half = run_json({"simulate", "drop.json", "--steps", "25", "--save", "half.snapshot"});
  EXPECT_EQ(half["steps"], 25);
  EXPECT_NE(half["hash"], whole["hash"]);
  const Json rest =
      run_json({"simulate", "drop.json", "--resume", "half.snapshot", "--threads", "2"});
  EXPECT_EQ(rest["steps"], 60);
  EXPECT_EQ(rest["steps_done"], 35);
  EXPECT_EQ(rest["hash"], whole["hash"]);
  const ProgramRun other =
      run({"simulate", "drop.json", "--resume", "half.snapshot", "--dt", "0.001"});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_NE(other.err.find("half.snapshot"), std::string::npos) << other.err;
}

TEST_F(SimulateVerb, TakesAssets) {
  ASSERT_EQ(run({"build", "part.obj", "-o", "part.isotact", "--resolution", "16", "--points", "60"})
                .exit_code,
            0);
  std::string text = kDrop;
  const std::string mesh = R"({"mesh": "part.obj", "resolution": 16, "points": 60})";
  text.replace(text.find(mesh), mesh.size(), R"({"asset": "part.isotact"})");
  write("asset.json", text);
  const Json j = run_json({"simulate", "asset.json", "-o", "asset.glb"});
  EXPECT_TRUE(j["trouble"].is_null());
  EXPECT_EQ(run_json({"info", "asset.glb"})["components"], 3);
}

// The mesh has a longest side of 0.1 m.
TEST_F(SimulateVerb, MeshesTakeASizeOrAScale) {
  const auto width = [&](const std::string& keys) {
    write("sized.json", R"({"isotact_scene": 1, "run": {"steps": 1}, "bodies": [{"name": "part",
      "shape": {"mesh": "part.obj", "resolution": 16, "points": 60)" + keys + "}}]}");
    run_json({"simulate", "sized.json", "-o", "sized.glb"});
    const Json bounds = run_json({"info", "sized.glb"})["bounds"];
    return bounds["max"][0].get<double>() - bounds["min"][0].get<double>();
  };
  const double own = width("");
  EXPECT_NEAR(own, 0.1, 0.01);
  EXPECT_NEAR(width(R"(, "scale": 3)"), 3 * own, 1e-6);
  EXPECT_NEAR(width(R"(, "unit": "mm", "scale": 3)"), 0.003 * own, 1e-6);
  EXPECT_NEAR(width(R"(, "unit": "cm", "size": 0.5)"), 0.5, 0.02);
  ASSERT_EQ(run({"build", "part.obj", "-o", "part.isotact", "--resolution", "16"}).exit_code, 0);
  write("asset.json", R"({"isotact_scene": 1, "bodies": [{"name": "part",
      "shape": {"mesh": "part.isotact", "scale": 2}}]})");
  const ProgramRun asset = run({"simulate", "asset.json"});
  EXPECT_EQ(asset.exit_code, 1);
  EXPECT_NE(asset.err.find("is an asset"), std::string::npos) << asset.err;
}

TEST_F(SimulateVerb, TakesAnotherStep) {
  const Json j =
      run_json({"simulate", "drop.json", "--dt", "0.001", "--steps", "10", "-o", "log.csv"});
  EXPECT_NEAR(j["time"].get<double>(), 0.01, 1e-12);
  EXPECT_EQ(text_of("log.csv").substr(0, 10), "step,time,");
}

TEST_F(SimulateVerb, StopsInTroubleAndKeepsWhatThereIs) {
  std::string text = kDrop;
  text.replace(text.find("1e6"), 3, "1e13");
  text.replace(text.find("\"step\": 0.002"), 13,
               "\"step\": 0.01, \"impacts\": \"off\", \"solve\": \"explicit\"");
  write("hard.json", text);
  const ProgramRun r =
      run({"simulate", "hard.json", "-o", "hard.glb", "--log", "hard.csv", "--json"});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_NE(r.err.find("body 'stone'"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("time step"), std::string::npos) << r.err;
  const Json j = parse_output(r.out);
  EXPECT_EQ(j["trouble"]["body"], "stone");
  EXPECT_GT(j["trouble"]["time"].get<double>(), 0);
  EXPECT_EQ(text_of("hard.glb").substr(0, 4), "glTF");
  EXPECT_GT(text_of("hard.csv").size(), 150U);
}

// The last rows are the last state, which the replay has as well; names with commas are quoted.
TEST_F(SimulateVerb, WritesPosesAndVelocities) {
  std::string text = kDrop;
  text.replace(text.find("\"stone\""), 7, "\"a, \\\"stone\\\"\"");
  write("named.json", text);
  run_json({"simulate", "named.json", "--steps", "4", "--poses", "run.csv", "--save", "run.snapshot"});
  std::istringstream csv(text_of("run.csv"));
  std::string line, last;
  std::getline(csv, line);
  EXPECT_EQ(line, "step,body,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz");
  int rows = 0;
  while (std::getline(csv, line)) {
    if (rows == 1) {
      EXPECT_EQ(line, "0,\"a, \"\"stone\"\"\",0,0.11,0,1,0,0,0,0,0,0,0,0,0");
    }
    if (rows == 13) last = line;
    ++rows;
  }
  EXPECT_EQ(rows, 5 * 3);
  EXPECT_EQ(last.substr(0, 4), "4,\"a");
  run_json({"simulate", "named.json", "--steps", "4", "--poses", "run.npy"});
  const std::string npy = text_of("run.npy");
  ASSERT_GT(npy.size(), 128U);
  EXPECT_EQ(npy.substr(1, 5), "NUMPY");
  EXPECT_NE(npy.find("'descr': '<f8'"), std::string::npos);
  EXPECT_NE(npy.find("'shape': (15, 15)"), std::string::npos);
  const std::size_t data = npy.size() - 15 * 15 * sizeof(double);
  EXPECT_EQ(data % 64, 0U);
  double row[15];
  std::memcpy(row, npy.data() + data + 13 * sizeof row, sizeof row);
  EXPECT_EQ(row[0], 4);
  EXPECT_EQ(row[1], 1);
  EXPECT_LT(row[10], -0.01);  // it falls
  // Every number of the text is read back as the same double.
  std::istringstream numbers(last.substr(last.find("\",") + 2));
  for (int c = 2; c < 15; ++c) {
    std::string field;
    std::getline(numbers, field, ',');
    EXPECT_EQ(std::stod(field), row[c]) << c;
  }
  // The rest of a run begins with the state that was saved.
  run_json({"simulate", "named.json", "--resume", "run.snapshot", "--steps", "1", "--poses", "rest.csv"});
  EXPECT_NE(text_of("rest.csv").find("\n" + last + "\n"), std::string::npos);
  EXPECT_EQ(run({"simulate", "drop.json", "--poses", "run.txt"}).exit_code, 2);
  EXPECT_EQ(run({"simulate", "drop.json", "--poses", "none/run.csv"}).exit_code, 1);
}

// A run of minutes, ended after some steps as by Ctrl-C: what it wrote is whole, and it goes on from
// the snapshot.
TEST_F(SimulateVerb, WritesWhatThereIsWhenInterrupted) {
  for (const char* signal : {"INT", "TERM"}) {
    // It waits until the program catches the signal.
    const std::string script =
        std::string(ISOTACT_TOOL) +
        " simulate drop.json --steps 100000000 --fps 1 -o long.glb --json --save long.snapshot"
        " --log long.csv --poses long.npy > out.json 2> err.txt & pid=$!; i=0;"
        " while [ $((0x$(sed -n 's/^SigCgt:[^0-9a-f]*//p' /proc/$pid/status) & 2)) = 0 ]; do"
        "   sleep 0.05; i=$((i+1)); [ $i -lt 1200 ] || break; done;"
        " sleep 0.2; kill -" +
        std::string(signal) + " $pid; wait $pid";
    const ProgramRun r = run_program("/bin/sh", {"-c", script}, folder_.path().string());
    EXPECT_EQ(r.exit_code, 130) << text_of("err.txt");
    EXPECT_NE(text_of("err.txt").find("interrupted"), std::string::npos) << text_of("err.txt");
    const Json j = parse_output(text_of("out.json"));
    EXPECT_TRUE(j["interrupted"].get<bool>());
    EXPECT_TRUE(j["trouble"].is_null());
    const auto steps = j["steps"].get<std::size_t>();
    EXPECT_GT(steps, 0U);
    EXPECT_EQ(text_of("long.glb").substr(0, 4), "glTF");
    const std::string csv = text_of("long.csv");
    EXPECT_EQ(static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')), steps + 1);
    EXPECT_NE(text_of("long.npy").find("'shape': (" + std::to_string(3 * (steps + 1))),
              std::string::npos);
    const Json more =
        run_json({"simulate", "drop.json", "--resume", "long.snapshot", "--steps", "2"});
    EXPECT_EQ(more["steps"], steps + 2);
    EXPECT_FALSE(more["interrupted"].get<bool>());
  }
}

TEST_F(SimulateVerb, SaysWhatIsWrong) {
  EXPECT_EQ(run({"simulate"}).exit_code, 2);
  EXPECT_EQ(run({"simulate", "none.json"}).exit_code, 1);
  EXPECT_EQ(run({"simulate", "drop.json", "-o", "drop.obj"}).exit_code, 2);
  EXPECT_EQ(run({"simulate", "drop.json", "-o", "drop.json"}).exit_code, 2);
  EXPECT_EQ(run({"simulate", "drop.json", "--every", "2"}).exit_code, 2);
  EXPECT_EQ(run({"simulate", "drop.json", "--dt", "0"}).exit_code, 2);
  write("bad.json",
        R"({"isotact_scene": 1, "bodies": [{"name": "a", "shape": {"make": "box", "size": -1}}]})");
  const ProgramRun bad = run({"simulate", "bad.json"});
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_NE(bad.err.find("bad.json: bodies[0].shape.size: expected a number above 0"),
            std::string::npos)
      << bad.err;
  std::filesystem::remove(folder_.path() / "part.obj");
  const ProgramRun lost = run({"simulate", "drop.json"});
  EXPECT_EQ(lost.exit_code, 1);
  EXPECT_NE(lost.err.find("body 'part'"), std::string::npos) << lost.err;
}

// tests/viewer looks at pages in a browser; this is what is left where there is none.
TEST_F(SimulateVerb, WritesAPageOrSaysWhatElseToWrite) {
  const std::string viewer = run_json({"doctor"})["viewer"];
  const ProgramRun r = run({"simulate", "drop.json", "-o", "drop.html", "--steps", "5"});
  if (viewer.find("built in") != 0) {
    EXPECT_EQ(r.exit_code, 2);
    EXPECT_NE(r.err.find(".glb"), std::string::npos) << r.err;
    return;
  }
  EXPECT_EQ(r.exit_code, 0) << r.err;
  const std::string page = text_of("drop.html");
  EXPECT_EQ(page.substr(0, 15), "<!doctype html>");
  const std::size_t pack = page.find("id=\"run-pack\">H4sI");  // gzip
  EXPECT_NE(pack, std::string::npos);
  EXPECT_EQ(page.find("ISOTACT-RUN-PACK</script>"), std::string::npos);
  EXPECT_NE(page.find("</script>", pack), std::string::npos);
}

TEST_F(SimulateVerb, ViewRefusesWhatItCannotShow) {
  write("other.html", "<!doctype html><title>other</title>");
  const ProgramRun other = run({"view", "other.html"});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_NE(other.err.find("expected a page that 'isotact simulate"), std::string::npos)
      << other.err;
  EXPECT_EQ(run({"view", "none.html"}).exit_code, 1);
  // Without pages no scene can be shown, whatever it is: wrong usage.
  const Json doctor = parse_output(run({"doctor", "--json"}).out);
  const bool has_pages = doctor["viewer"].get<std::string>().find("built in") == 0;
  EXPECT_EQ(run({"view", "none.json"}).exit_code, has_pages ? 1 : 2);
  EXPECT_EQ(run({"view"}).exit_code, 2);
  EXPECT_EQ(run({"view", "other.html", "--port", "70000"}).exit_code, 2);
}

// Only the words are looked at where there is no Bullet.
TEST_F(SimulateVerb, NarrowPhasesAreOfBullet) {
  EXPECT_NE(run({"simulate", "drop.json", "--narrow-phase", "idf"}).exit_code, 0);
  EXPECT_NE(run({"simulate", "drop.json", "--narrow-phase", "cuda"}).exit_code, 0);
  const Json doctor = parse_output(run({"doctor", "--json"}).out);
  if (doctor["bullet"].get<std::string>().find("built in") != 0) GTEST_SKIP() << "no Bullet";
  const auto idf =
      run({"simulate", "drop.json", "--engine", "bullet", "--narrow-phase", "idf", "--json"});
  ASSERT_EQ(idf.exit_code, 0) << idf.err;
  const Json j = parse_output(idf.out);
  EXPECT_EQ(j["narrow_phase"], "idf");
  EXPECT_GT(j["contacts_at_end"].get<int>(), 0);
  const std::string small = std::string(ISOTACT_SOURCE_FOLDER) + "/scenes/kgm/pipe_small.json";
  const Json pipe = run_json({"simulate", small, "--narrow-phase", "idf", "--steps", "4"});
  EXPECT_EQ(pipe["bodies"], 43);
}

}  // namespace
}  // namespace isotact

// Bad input and wrong usage, seen from outside: one line on stderr, the right exit code, nothing on
// stdout, and never a crash.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "isotact/base/random.h"

#include "support/run_program.h"
#include "support/scratch_folder.h"

namespace isotact {
namespace {

class BadInput : public testing::Test {
 protected:
  void expect_failure(const std::vector<std::string>& arguments, int exit_code,
                      const std::string& part_of_message) {
    const ProgramRun r = run_program(ISOTACT_TOOL, arguments, folder_.path().string());
    EXPECT_EQ(r.exit_code, exit_code) << r.err;
    EXPECT_EQ(r.out, "");
    EXPECT_EQ(r.err.rfind("isotact: error: ", 0), 0U) << r.err;
    EXPECT_NE(r.err.find(part_of_message), std::string::npos) << r.err;
  }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_.path() / name, std::ios::binary) << text;
  }

  ScratchFolder folder_;
};

TEST_F(BadInput, WrongUsageExitsWithTwo) {
  expect_failure({}, 2, "A subcommand is required");
  expect_failure({"fly"}, 2, "fly");
  expect_failure({"info"}, 2, "FILE");
  expect_failure({"info", "a.obj", "--no-such-option"}, 2, "--no-such-option");
  expect_failure({"info", "a.obj", "--thredas", "1"}, 2, "did you mean --threads?");
  expect_failure({"info", "a.obj", "--unit", "furlong"}, 2, "furlong");
  expect_failure({"info", "a.obj", "--threads", "-1"}, 2, "--threads");
  expect_failure({"info", "a.obj", "--threads", "many"}, 2, "--threads");
  expect_failure({"make", "box"}, 2, "-o");
  expect_failure({"make"}, 2, "SHAPE");
  expect_failure({"make", "box", "-o", "b.obj", "--set", "size_x"}, 2, "NAME=NUMBER");
  expect_failure({"make", "box", "-o", "b.obj", "--size", "0"}, 2, "--size");
  expect_failure({"completion", "fish"}, 2, "fish");
}

TEST_F(BadInput, FilesThatAreNotThereOrNotFiles) {
  expect_failure({"info", "missing.obj"}, 1, "missing.obj: cannot open: No such file");
  expect_failure({"info", "."}, 1, "is a directory");
  expect_failure({"convert", "missing.obj", "out.stl"}, 1, "missing.obj");
  if (geteuid() != 0) {  // root may read anything
    write("secret.obj", "v 0 0 0\n");
    chmod((folder_.path() / "secret.obj").c_str(), 0);
    expect_failure({"info", "secret.obj"}, 1, "Permission denied");
  }
}

TEST_F(BadInput, OutputThatCannotBeWritten) {
  expect_failure({"make", "box", "-o", "no/such/folder/b.obj"}, 1, "no/such/folder/b.obj");
  expect_failure({"make", "box", "-o", "b.xyz"}, 2, "b.xyz");
  expect_failure({"make", "box", "-o", "/dev/full.obj/x.obj"}, 1, "/dev/full.obj");
  // The PNG library once deleted the device that it could not write to.
  write("t.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  std::filesystem::create_directory(folder_.path() / "full");
  expect_failure({"render", "t.obj", "-o", "t.jpg"}, 2, ".png");
  expect_failure({"render", "t.obj", "-o", "full", "--width", "8", "--height", "8"}, 1, "full");
  EXPECT_TRUE(std::filesystem::is_directory(folder_.path() / "full"));
}

TEST_F(BadInput, ShapesAndParametersThatDoNotExist) {
  expect_failure({"make", "tours", "-o", "t.obj"}, 2, "torus");
  expect_failure({"make", "box", "-o", "b.obj", "--set", "sise_x=1"}, 2, "size_x");
  expect_failure({"make", "torus", "-o", "b.obj", "--set", "tube_radius=9"}, 2, "tube_radius");
  expect_failure({"make", "sphere", "-o", "b.obj", "--set", "radius=nan"}, 2, "radius");
  expect_failure({"make", "sphere", "-o", "b.obj", "--set", "frequency=1e9"}, 2, "frequency");
}

TEST_F(BadInput, FilesThatAreNotMeshes) {
  write("empty.obj", "");
  expect_failure({"info", "empty.obj"}, 1, "empty.obj");
  write("page.obj", "<!DOCTYPE html><html></html>");
  expect_failure({"info", "page.obj"}, 1, "page.obj");
  Random random(7);
  std::string noise(5000, ' ');
  for (char& c : noise) c = static_cast<char>(random.below(256));
  for (const char* name : {"noise.obj", "noise.stl", "noise.ply", "noise.off", "noise.glb"}) {
    write(name, noise);
    expect_failure({"info", name}, 1, name);
  }
}

TEST_F(BadInput, ErrorsSayWhere) {
  write("index.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n");
  expect_failure({"info", "index.obj"}, 1, "index.obj:4");
  write("count.ply",
        "ply\nformat binary_little_endian 1.0\nelement vertex 4000000000\nproperty float x\n"
        "property float y\nproperty float z\nend_header\n");
  expect_failure({"info", "count.ply"}, 1, "count.ply");
}

}  // namespace
}  // namespace isotact

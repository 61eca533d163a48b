// isotact sample as a user drives it.
#include <cmath>
#include <cstring>
#include <fstream>

#include "support/field_verbs.h"

namespace isotact {
namespace {

using SampleVerb = FieldVerbs;

TEST_F(SampleVerb, ReadsAndWritesEveryFormatAlike) {
  build_torus();
  const std::vector<float> points{0, 0, 0, 0.375F, 0, 0, 0.5F, 0.25F, -0.125F};
  std::ofstream raw(file("p.f32"), std::ios::binary);
  raw.write(reinterpret_cast<const char*>(points.data()), 36);
  raw.close();
  std::ofstream(file("p.csv")) << "x, y, z\n0,0,0\n# a remark\n+0.375 0 0\n\n0.5;0.25;-0.125\r\n";
  const std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 3), }\n";
  std::ofstream npy(file("p.npy"), std::ios::binary);
  npy << "\x93NUMPY" << '\x02' << '\0' << static_cast<char>(header.size()) << '\0' << '\0' << '\0'
      << header;
  for (const float p : points) {
    const double d = static_cast<double>(p);
    npy.write(reinterpret_cast<const char*>(&d), sizeof d);
  }
  npy.close();
  const Json report = run_json({"sample", "torus.isotact", "p.f32", "-o", "a.f32"});
  EXPECT_EQ(report["queries"], 3);
  EXPECT_TRUE(report.contains("seconds"));
  run_json({"sample", "torus.isotact", "p.csv", "-o", "b.f32"});
  run_json({"sample", "torus.isotact", "p.npy", "-o", "c.f32"});
  const std::string expected = bytes_of("a.f32");
  ASSERT_EQ(expected.size(), 12U);
  EXPECT_EQ(bytes_of("b.f32"), expected);
  EXPECT_EQ(bytes_of("c.f32"), expected);
  float first = 0;
  std::memcpy(&first, expected.data(), sizeof first);
  EXPECT_NEAR(first, 0.25, 0.01);
  run_json({"sample", "torus.isotact", "p.csv", "-o", "d.npy", "--gradient"});
  const std::string written = bytes_of("d.npy");
  EXPECT_NE(written.find("'shape': (3, 4)"), std::string::npos);
  EXPECT_EQ(written.size() % 64, 48U);  // a header of a multiple of 64, and 48 bytes
  run_json({"sample", "torus.isotact", "p.csv", "-o", "d.csv", "--gradient"});
  const std::string text = bytes_of("d.csv");
  EXPECT_EQ(text.substr(0, 11), "d,gx,gy,gz\n");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
  // Through pipes.
  const ProgramRun piped =
      run_program("/bin/bash", {"-c", "cat p.npy | " ISOTACT_TOOL " sample torus.isotact - -o -"},
                  folder_.path().string());
  EXPECT_EQ(piped.out, expected) << piped.err;
}

TEST_F(SampleVerb, SaysWhatIsWrongWithPoints) {
  build_torus({"--resolution", "24"});
  const auto expect_bad = [&](const std::string& name, const std::string& content,
                              const std::string& message) {
    std::ofstream(file(name), std::ios::binary) << content;
    expect_failure({"sample", "torus.isotact", name, "-o", "out.csv"}, 1, message);
  };
  expect_bad("a.csv", "0,0,0\n0,zero,0\n", "a.csv:2");
  expect_bad("b.csv", "x,y,z\n0,0\n", "b.csv:2");
  expect_bad("c.csv", "0,0,0,0\n", "c.csv:1");
  expect_bad("d.csv", "0,0,nan\n", "d.csv:1");
  expect_bad("e.csv", "0,0,1e99\n", "e.csv:1");
  expect_bad("f.csv", "0,0,1x\n", "f.csv:1");
  expect_bad("g.csv", "0,0,0,\n", "g.csv:1");
  expect_bad("a.f32", "12345", "5 bytes");
  expect_bad("b.f32", std::string(8, '\0') + "\xff\xff\xff\xff", "byte 8");
  const auto npy = [](const std::string& header) {
    return "\x93NUMPY" + std::string("\x01\x00", 2) + static_cast<char>(header.size()) +
           std::string(1, '\0') + header;
  };
  expect_bad("a.npy", "not numpy", "is no .npy");
  expect_bad("b.npy", npy("{'descr': '<i4', 'fortran_order': False, 'shape': (0, 3), }"), "'<i4'");
  expect_bad("d.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (9, 2), }"), "(9, 2)");
  expect_bad("e.npy",
             npy("{'descr': '<f4', 'fortran_order': False, 'shape': (6148914691236517206, 3), }"),
             "promises");
  expect_bad("f.npy", npy("{}").substr(0, 11), "header");
  expect_bad("g.npy", npy("{}"), "descr");
  expect_failure({"sample", "torus.obj", "a.csv", "-o", "out.csv"}, 1, "torus.obj");
}

TEST_F(SampleVerb, ReadsRemarksBehindNumbers) {
  build_torus();
  std::ofstream(file("p.csv")) << "x,y,z # metres\n0,0,0 # the middle\n# none\n0.375 0 0#ring\n";
  EXPECT_EQ(run_json({"sample", "torus.isotact", "p.csv", "-o", "d.csv"})["queries"], 2);
}

TEST_F(SampleVerb, ReadsNpyInEitherOrderAndRefusesOddShapes) {
  build_torus();
  const auto write_npy = [&](const std::string& shape, const std::string& type,
                             const std::string& order, auto... numbers) {
    std::string header =
        "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
    header.resize(117, ' ');
    header += '\n';
    std::ofstream out(file("p.npy"), std::ios::binary);
    out << "\x93NUMPY" << '\1' << '\0' << static_cast<char>(header.size()) << '\0' << header;
    (out.write(reinterpret_cast<const char*>(&numbers), sizeof numbers), ...);
  };
  const auto distances = [&] {
    run_json({"sample", "torus.isotact", "p.npy", "-o", "d.csv"});
    return bytes_of("d.csv");
  };
  write_npy("(2, 3)", "<f4", "False", 0.375F, 0.0F, 0.0F, 0.0F, 0.5F, 0.25F);
  const std::string expected = distances();
  write_npy("(2,3,)", "<f8", "False", 0.375, 0.0, 0.0, 0.0, 0.5, 0.25);
  EXPECT_EQ(distances(), expected);
  write_npy("(2, 3)", "<f8", "True", 0.375, 0.0, 0.0, 0.5, 0.0, 0.25);
  EXPECT_EQ(distances(), expected);
  write_npy("(2, 3)", "<f4", "True", 0.375F, 0.0F, 0.0F, 0.5F, 0.0F, 0.25F);
  EXPECT_EQ(distances(), expected);
  for (const char* shape : {"(-1, 3)", "(3,)", "()", "(1, -3)", "(1, 3", "(1 3)", "(1, 3, 1)",
                            "(99999999999999999999999, 3)", "(1x, 3)", "1, 3)", "(,1,3)"}) {
    write_npy(shape, "<f4", "False", 0.0F, 0.0F, 0.0F);
    expect_failure({"sample", "torus.isotact", "p.npy", "-o", "d.csv"}, 1, "has the shape");
  }
  write_npy("(6148914691236517206, 3)", "<f4", "True", 0.0F, 0.0F, 0.0F);
  expect_failure({"sample", "torus.isotact", "p.npy", "-o", "d.csv"}, 1, "its header promises");
  write_npy("(1, 3)", "<i4", "False", 0, 0, 0);
  expect_failure({"sample", "torus.isotact", "p.npy", "-o", "d.csv"}, 1, "'<f4' and '<f8'");
  write_npy("(1, 3)", "<f4", "Maybe", 0.0F, 0.0F, 0.0F);
  expect_failure({"sample", "torus.isotact", "p.npy", "-o", "d.csv"}, 1, "neither True nor False");
}

}  // namespace
}  // namespace isotact

// isotact certify as a user drives it.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "support/tool_test.h"

namespace isotact {
namespace {

class CertifyVerb : public ToolTest {
 protected:
  void SetUp() override {
    ToolTest::SetUp();
    ASSERT_EQ(run({"make", "box", "-o", "box.obj"}).exit_code, 0);
  }
  Json certify(std::vector<std::string> arguments, int exit_code = 0) {
    arguments.insert(arguments.begin(), "certify");
    arguments.emplace_back("--json");
    const ProgramRun r = run(arguments);
    EXPECT_EQ(r.exit_code, exit_code) << r.err;
    return parse_output(r.out);
  }
  bool exists(const std::string& file) const {
    return std::filesystem::exists(folder_.path() / file);
  }
  std::string read(const std::string& file) const {
    std::ifstream in(folder_.path() / file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  const std::vector<std::string> passes_{"box.obj",     "box.obj",     "--pose-a", "xyz=-3,1.1,0",
                                         "--to-pose-a", "xyz=3,1.1,0", "-o",       "free.proof"};
};

TEST_F(CertifyVerb, WritesProofsThatCheck) {
  const Json written = certify(passes_);
  EXPECT_EQ(written["status"], "free");
  EXPECT_EQ(written["certifies"], "free");
  EXPECT_EQ(written["holds"], true);
  EXPECT_NEAR(written["clearance"].get<double>(), 0.09, 1e-5);
  EXPECT_NEAR(written["distance"].get<double>(), 0.1, 1e-6);
  EXPECT_EQ(written["output"], "free.proof");
  const Json checked = certify({"--check", "free.proof"});
  for (const char* key :
       {"status", "clearance", "hash_a", "hash_b", "proof_cells", "proof_intervals", "rounding",
        "bytes", "closed_a", "closed_b", "mesh_a", "mesh_b"})
    EXPECT_EQ(checked[key], written[key]) << key;
  EXPECT_EQ(checked["input"], "free.proof");
  EXPECT_NE(run({"certify", "--check", "free.proof"}).out.find("holds"), std::string::npos);
  // The same triangles in other files.
  ASSERT_EQ(run({"convert", "box.obj", "box.stl"}).exit_code, 0);
  ASSERT_EQ(run({"build", "box.obj", "-o", "box.isotact", "--resolution", "16"}).exit_code, 0);
  EXPECT_EQ(certify({"--check", "free.proof", "box.stl", "box.isotact"})["holds"], true);
  const Json contact = certify({"box.obj", "box.obj", "--pose-a", "xyz=0,3,0", "--to-pose-a",
                                "xyz=0,0,0", "-o", "contact.proof"});
  EXPECT_EQ(contact["status"], "contact");
  EXPECT_NEAR(contact["time_of_contact"].get<double>(), 2.0 / 3, 1e-6);
  EXPECT_LT(contact["free_until"], contact["time_of_contact"]);
  EXPECT_EQ(certify({"--check", "contact.proof"})["holds"], true);
  // Other motions, in the frame of B.
  for (const char* motion : {"straight", "screw", "polynomial"}) {
    EXPECT_EQ(certify({"box.obj", "box.obj", "--pose-a", "xyz=0,3,0", "--to-pose-a",
                       "xyz=0,2,0 axis=1,2,3,80", "--motion", motion, "-o", "m.proof"})["motion"],
              motion);
    EXPECT_EQ(certify({"--check", "m.proof"})["holds"], true);
  }
}

// With tolerances that are large enough, anything is a contact.
TEST_F(CertifyVerb, ChecksAcceptSmallTolerancesOnly) {
  certify(passes_);
  std::string text = read("free.proof");
  const std::size_t claim = text.find("claim free");
  ASSERT_NE(claim, std::string::npos);
  text.replace(claim, text.find('\n', claim) - claim, "claim contact 0.5 0.5 1e-06 1000 0 0");
  write("loose.proof", text);
  const Json loose = certify({"--check", "loose.proof"}, 1);
  EXPECT_EQ(loose["holds"], false);
  EXPECT_NE(loose["why_not"].get<std::string>().find("tolerance"), std::string::npos);
  certify({"--check", "loose.proof", "--distance-tolerance", "1cm"}, 1);
  const std::vector<std::string> meets{"box.obj",          "box.obj",   "--pose-a", "xyz=0,3,0",
                                       "--to-pose-a",      "xyz=0,0,0", "-o",       "rough.proof",
                                       "--time-tolerance", "0.001"};
  EXPECT_EQ(certify(meets)["holds"], true);
  EXPECT_EQ(certify({"--check", "rough.proof"}, 1)["holds"], false);
  EXPECT_EQ(certify({"--check", "rough.proof", "--time-tolerance", "0.001"})["holds"], true);
}

TEST_F(CertifyVerb, RefusesWhatIsNotProved) {
  certify(passes_);
  ASSERT_EQ(run({"make", "box", "-o", "large.obj", "--size", "1.3"}).exit_code, 0);
  EXPECT_EQ(certify({"--check", "free.proof", "box.obj", "large.obj"}, 1)["holds"], false);
  // In other units it is another mesh.
  EXPECT_EQ(certify({"--check", "free.proof", "--unit", "mm"}, 1)["holds"], false);
  std::string text = read("free.proof");
  const std::size_t claim = text.find("claim free 0.0");
  ASSERT_NE(claim, std::string::npos);
  text.replace(claim, 14, "claim free 0.1");
  write("false.proof", text);
  const Json j = certify({"--check", "false.proof"}, 1);
  EXPECT_EQ(j["holds"], false);
  EXPECT_NE(j["why_not"].get<std::string>().find("not proved"), std::string::npos);
  EXPECT_NE(run({"certify", "--check", "false.proof"}).err.find("does not hold"),
            std::string::npos);
  // Nothing is written if nothing is proved.
  std::vector<std::string> wide = passes_;
  wide.back() = "wide.proof";
  wide.insert(wide.end(), {"--clearance", "0.2"});
  const Json closer = certify(wide, 1);
  EXPECT_EQ(closer["status"], "closer");
  EXPECT_TRUE(closer["certifies"].is_null());
  EXPECT_FALSE(exists("wide.proof"));
  wide.back() = "0.01";
  wide.insert(wide.end(), {"--to-pose-b", "axis=0,1,0,20", "--max-intervals", "1"});
  EXPECT_EQ(certify(wide, 1)["status"], "gave_up");
}

TEST_F(CertifyVerb, TellsSwappedMeshes) {
  ASSERT_EQ(run({"make", "box", "-o", "large.obj", "--size", "1.3"}).exit_code, 0);
  certify({"large.obj", "box.obj", "--pose-a", "xyz=0,3,0", "-o", "pair.proof"});
  const Json swapped = certify({"--check", "pair.proof", "box.obj", "large.obj"}, 1);
  EXPECT_NE(swapped["why_not"].get<std::string>().find("swapped: give large.obj first"),
            std::string::npos);
  EXPECT_TRUE(swapped["closed_a"].is_null());
  const ProgramRun text = run({"certify", "--check", "pair.proof", "box.obj", "large.obj"});
  EXPECT_EQ(text.out.find("open"), std::string::npos) << text.out;
  EXPECT_EQ(text.out.find("0 intervals"), std::string::npos) << text.out;
  const ProgramRun solid = run({"certify", "box", "plane", "-o", "x.proof"});
  EXPECT_EQ(solid.exit_code, 2);
  EXPECT_NE(solid.err.find("no triangles to certify"), std::string::npos) << solid.err;
}

TEST_F(CertifyVerb, WrongUsageIsTold) {
  certify(passes_);
  const auto code = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "certify");
    return run(words).exit_code;
  };
  EXPECT_EQ(code({}), 2);
  EXPECT_EQ(code({"box.obj", "box.obj"}), 2);
  EXPECT_EQ(code({"box.obj", "box.obj", "-o", "-"}), 2);
  EXPECT_EQ(code({"box.obj", "box.obj", "-o", "box.obj"}), 2);
  EXPECT_EQ(code({"box.obj", "box.obj", "-o", "x", "--degree", "2"}), 2);
  EXPECT_EQ(code({"box.obj", "box.obj", "-o", "x", "--motion", "screw", "--pivot-a", "1,0,0"}), 2);
  EXPECT_EQ(code({"box.obj", "box.obj", "-o", "x", "--clearance", "1", "--share", "0.5"}), 2);
  EXPECT_EQ(code({"--check", "free.proof", "--clearance", "1"}), 2);
  EXPECT_EQ(code({"--check", "free.proof", "--pose-a", "xyz=1,0,0"}), 2);
  EXPECT_EQ(code({"--check", "box.obj"}), 1);
  EXPECT_EQ(code({"--check", "none.proof"}), 1);
  EXPECT_EQ(code({"box.obj", "none.obj", "-o", "x"}), 1);
}

}  // namespace
}  // namespace isotact

// Assets with right checksums that were made to do harm, and pipes without an end: one line on
// stderr or a plain answer, in little memory.
#include <cstring>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "isotact/field/io/asset.h"
#include "isotact/geometry/primitives/primitives.h"

#include "support/slow_build.h"
#include "support/tool_test.h"

namespace isotact {
namespace {

class HostileAsset : public testing::Test {
 protected:
  // In 2 GB of address space: what takes more dies. Sanitizers need more than that for themselves.
  ProgramRun run(const std::string& arguments) {
    std::string command = "exec '" ISOTACT_TOOL "' " + arguments;
    if (!kSlowBuild) command = "ulimit -v 2000000; " + command;
    return run_program("/bin/sh", {"-c", command}, folder_.path().string());
  }
  void expect_failure(const std::string& arguments, int exit_code,
                      const std::string& part_of_message) {
    const ProgramRun r = run(arguments);
    EXPECT_EQ(r.exit_code, exit_code) << r.err;
    EXPECT_EQ(r.err.rfind("isotact: error: ", 0), 0U) << r.err;
    EXPECT_NE(r.err.find(part_of_message), std::string::npos) << r.err;
  }
  void write_source(const SourceInfo& source) {
    Asset asset;
    asset.source = source;
    write_asset(folder_.path() / "a.isotact", asset);
  }

  ScratchFolder folder_;
};

TEST_F(HostileAsset, PointshellsThatAreNoneAreRefused) {
  Asset asset;
  std::vector<std::byte> rubbish(4096, std::byte{0xff});
  std::memcpy(rubbish.data(), "ISOSHELL", 8);
  asset.raw.push_back({SectionKind::kPointshell, copy_to_flat_buffer(rubbish)});
  write_asset(folder_.path() / "a.isotact", asset);
  expect_failure("info a.isotact", 1, "pointshell: version");
  expect_failure("render a.isotact -o p.png --shell 1", 1, "pointshell: version");
}

TEST_F(HostileAsset, DeepTextsAreShownCutShort) {
  const std::string deep(400000, '[');
  write_source({.settings = deep, .sign_report = deep});
  const ProgramRun table = run("info a.isotact"), json = run("info a.isotact --json");
  EXPECT_EQ(table.exit_code, 0) << table.err;
  ASSERT_EQ(json.exit_code, 0) << json.err;
  const Json facts = parse_output(json.out);
  EXPECT_EQ(facts["settings"].get<std::string>(), std::string(1000, '[') + "...");
  EXPECT_TRUE(facts["sign_method"].is_null());
  // Whole letters: the thousandth byte is the middle of one.
  write_source({.settings = "x" + std::string(998, 'y') + "\u20ac" + std::string(50, 'z'),
                .sign_report = ""});
  const ProgramRun cut = run("info a.isotact --json");
  ASSERT_EQ(cut.exit_code, 0) << cut.err;
  EXPECT_EQ(parse_output(cut.out)["settings"].get<std::string>(),
            "x" + std::string(998, 'y') + "...");
}

TEST_F(HostileAsset, ReportsMayLackKeysAndHaveOthers) {
  for (const char* report : {R"({"method":"winding"})", R"({"method":3,"reason":[]})", "[1]",
                             R"({"method":"winding","reason":{"a":1},"holes":"x"})", "words"}) {
    write_source({.settings = "{}", .sign_report = report});
    const ProgramRun r = run("info a.isotact");
    EXPECT_EQ(r.exit_code, 0) << report << r.err;
  }
  write_source({.settings = "{}", .sign_report = R"({"method":"winding"})"});
  EXPECT_NE(run("info a.isotact").out.find("winding\n"), std::string::npos);
}

// Some 400 bytes that stand for 16 TB of voxels.
TEST_F(HostileAsset, LayersStayPackedWhereNobodyNeedsThem) {
  const Lattice lattice{.origin = {-1, -1, -1}, .spacing = 0.5, .cells = {4, 4, 4}};
  std::vector<std::byte> code =
      compress_layers(build_voxmap(make_sphere({.radius = 0.5}), lattice).voxmap);
  VoxmapHeader header;
  std::memcpy(&header, code.data(), sizeof header);
  for (std::int32_t& n : header.cells) n = kMaxVoxmapCells;
  code.resize(sizeof header);
  for (std::uint64_t n = std::uint64_t{1} << 42U; n > 0; n >>= 7U)
    code.push_back(static_cast<std::byte>(n >= 128 ? n | 128U : n));
  header.total_bytes = code.size();
  std::memcpy(code.data(), &header, sizeof header);
  const std::vector<AssetSection> sections = {{SectionKind::kVoxmap, code}};
  write_sections(folder_.path() / "a.isotact", sections);
  const ProgramRun r = run("info a.isotact");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_NE(r.out.find("voxmap"), std::string::npos);
  std::ofstream(folder_.path() / "p.csv") << "0,0,0\n";
  expect_failure("sample a.isotact p.csv -o d.csv", 1, "holds no field");
}

TEST_F(HostileAsset, EndlessPipesAreRefusedByTheirStart) {
  std::ofstream(folder_.path() / "p.csv") << "0,0,0\n";
  expect_failure("sample /dev/zero p.csv -o d.csv", 1, "is no asset file");
  expect_failure("slice /dev/zero -o d.png", 1, "is no asset file");
  expect_failure("info /dev/zero", 1, "/dev/zero");
}

}  // namespace
}  // namespace isotact

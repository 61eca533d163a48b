// Runs the shell lines of the README, so that they stay true.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "support/run_program.h"
#include "support/scratch_folder.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

std::string shell_block_of_readme() {
  std::ifstream readme(std::filesystem::path(ISOTACT_SOURCE_FOLDER) / "README.md");
  std::string line, block;
  bool inside = false;
  while (std::getline(readme, line)) {
    if (line == "```sh")
      inside = true;
    else if (line == "```")
      inside = false;
    else if (inside)
      block += line + "\n";
  }
  return block;
}

void replace_once(std::string& text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
}

TEST(Readme, ShellLinesRun) {
  std::string block = shell_block_of_readme();
  ASSERT_NE(block.find("isotact "), std::string::npos);
  if (kSlowBuild) {
    ASSERT_NO_FATAL_FAILURE(
        replace_once(block, "-o gear.isotact", "-o gear.isotact --resolution 64"));
    ASSERT_NO_FATAL_FAILURE(
        replace_once(block, "--width 600 --height 400", "--width 150 --height 100"));
  }
  const ScratchFolder folder;
  const auto tool_folder = std::filesystem::path(ISOTACT_TOOL).parent_path();
  std::ofstream(folder.path() / "lines.sh")
      << "set -e\nPATH=\"" << tool_folder.string() << ":$PATH\"\n"
      << block;
  const ProgramRun r = run_program("/bin/bash", {"lines.sh"}, folder.path().string());
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "gear.png"));
}

}  // namespace
}  // namespace isotact

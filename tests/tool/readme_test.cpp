// Runs the shell lines of the README, so that they stay true.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "support/run_program.h"
#include "support/scratch_folder.h"

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

TEST(Readme, ShellLinesRun) {
  const std::string block = shell_block_of_readme();
  ASSERT_NE(block.find("isotact "), std::string::npos);
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

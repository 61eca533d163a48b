// Runs a program and keeps what it said.
#pragma once

#include <string>
#include <vector>

namespace isotact {

struct ProgramRun {
  int exit_code = -1;  // 128 + signal where it was killed
  std::string out;
  std::string err;
};

// `program` by path; stdin is empty; `folder` is where it runs.
ProgramRun run_program(const std::string& program, const std::vector<std::string>& arguments,
                       const std::string& folder = ".");

}  // namespace isotact

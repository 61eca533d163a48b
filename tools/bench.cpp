// isotact bench: runs the benchmark programs that stand beside this one. They link the peers that
// they measure against; the tool itself links none.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <sstream>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "isotact/base/error.h"

#include "command.h"

namespace isotact::tool {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "bench_";

struct BenchOptions {
  CommonOptions common;
  std::vector<std::string> names;
  std::string pass;
  bool list = false;
};

std::vector<std::string> split_words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

// The folder of the running program.
fs::path own_folder() { return fs::read_symlink("/proc/self/exe").parent_path(); }

std::vector<std::string> available() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(own_folder())) {
    const std::string file = entry.path().filename().string();
    if (file.rfind(kPrefix, 0) == 0 && access(entry.path().c_str(), X_OK) == 0)
      names.push_back(file.substr(std::string(kPrefix).size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Runs one program. With `captured`, its stdout goes there instead of to ours.
int run_program(const fs::path& program, const std::vector<std::string>& arguments,
                std::string* captured) {
  int pipe_ends[2] = {-1, -1};
  if (captured != nullptr && pipe(pipe_ends) != 0) throw Error("cannot make a pipe");
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) throw Error("cannot start another process");
  if (child == 0) {
    if (captured != nullptr) {
      dup2(pipe_ends[1], STDOUT_FILENO);
      close(pipe_ends[0]);
      close(pipe_ends[1]);
    }
    std::string path = program.string();
    std::vector<std::string> words = arguments;
    std::vector<char*> argv{path.data()};
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    execv(path.c_str(), argv.data());
    _exit(127);
  }
  if (captured != nullptr) {
    close(pipe_ends[1]);
    char buffer[4096];
    for (ssize_t n = 0; (n = read(pipe_ends[0], buffer, sizeof buffer)) > 0;)
      captured->append(buffer, static_cast<std::size_t>(n));
    close(pipe_ends[0]);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

void run_bench(const BenchOptions& options) {
  const std::vector<std::string> known = available();
  if (options.list) {
    if (options.common.json)
      print_json({{"benchmarks", known}});
    else
      for (const std::string& name : known) fmt::print("{}\n", name);
    return;
  }
  if (known.empty())
    throw Error("no benchmark was built beside this program; 'make bench' builds and runs them");
  for (const std::string& name : options.names)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw UsageError(
          fmt::format("benchmark '{}' is not here; there are: {}", name, fmt::join(known, " ")));
  Json all;
  std::vector<std::string> failed;
  for (const std::string& name : options.names.empty() ? known : options.names) {
    const fs::path program = own_folder() / (kPrefix + name);
    std::string output;
    if (!options.common.json) fmt::print("== {}\n", name);
    std::vector<std::string> arguments = split_words(options.pass);
    if (options.common.json) arguments.emplace_back("--json");
    if (run_program(program, arguments, options.common.json ? &output : nullptr) != 0)
      failed.push_back(name);
    else if (options.common.json)
      all[name] = Json::parse(output);
  }
  if (options.common.json) print_json(all);
  if (!failed.empty()) throw Error(fmt::format("failed: {}", fmt::join(failed, " ")));
}

}  // namespace

void add_bench(CommandLine& line) {
  auto options = std::make_shared<BenchOptions>();
  Command command = line.add_command("bench", "Run benchmarks beside their peers");
  command.set_examples(
      "Meshes come from the folder that ISOTACT_DATA names (default: ../shared/data).\n"
      "Examples:\n"
      "  isotact bench --list\n"
      "  ISOTACT_DATA=~/meshes isotact bench mesh_io --json\n"
      "  isotact bench dynamics --pass '--only nut --quick'");
  command.add_texts({.names = "NAME", .help = "Benchmarks to run (default: all)"}, options->names);
  command.add_text({.names = "--pass", .help = "Options for the benchmarks themselves, in quotes"},
                   options->pass);
  command.add_flag("--list", options->list, "List the benchmarks that were built");
  add_common_options(command, options->common);
  command.on_run([options] { run_bench(*options); });
}

}  // namespace isotact::tool

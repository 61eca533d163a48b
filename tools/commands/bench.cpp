// isotact bench: runs the benchmark programs that stand beside this one, and writes their report.
// They link the peers that they measure against; the tool itself links none.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <sstream>

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "isotact/base/error.h"

#include "command.h"
#include "page/bench_page.h"
#include "support/catalog.h"

namespace isotact::tool {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "bench_";

struct BenchOptions {
  CommonOptions common;
  std::vector<std::string> names;
  std::string pass, report;
  std::vector<std::string> from;
  bool list = false;

  // Tables are for a terminal: a report and JSON are made of what programs say with --json.
  bool wants_json() const { return common.json || !report.empty(); }
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

bool is_among(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_in_catalog(std::string_view name) {
  return std::any_of(std::begin(bench::kPrograms), std::end(bench::kPrograms),
                     [&](const bench::BenchProgram& known) { return known.name == name; });
}

struct BenchExit {
  int code = 0;        // 128 and more: a signal ended it
  std::string out{};   // its stdout
  std::string last{};  // the last of its stderr, which has been passed on
};

[[noreturn]] void become(const fs::path& program, const std::vector<std::string>& arguments) {
  std::string path = program.string();
  std::vector<std::string> words = arguments;
  std::vector<char*> argv{path.data()};
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(path.c_str(), argv.data());
  _exit(127);
}

// Both streams at once: a program that fills one must not wait for the other to be read.
void collect(int out, int err, BenchExit& result) {
  constexpr std::size_t kKept = 2000;
  pollfd ends[2] = {{.fd = out, .events = POLLIN, .revents = 0},
                    {.fd = err, .events = POLLIN, .revents = 0}};
  char buffer[4096];
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    if (poll(ends, 2, -1) < 0) {
      if (errno == EINTR) continue;
      break;
    }
    for (pollfd& end : ends) {
      if (end.fd < 0 || end.revents == 0) continue;
      const ssize_t n = read(end.fd, buffer, sizeof buffer);
      if (n <= 0) {
        end.fd = -1;
        continue;
      }
      const std::string_view text(buffer, static_cast<std::size_t>(n));
      if (&end == &ends[0]) {
        result.out += text;
        continue;
      }
      std::fwrite(text.data(), 1, text.size(), stderr);
      result.last += text;
      if (result.last.size() > kKept) result.last.erase(0, result.last.size() - kKept);
    }
  }
}

// Runs one program, its stdout as ours, or taken where `captured`.
BenchExit run_program(const fs::path& program, const std::vector<std::string>& arguments,
                      bool captured) {
  int out[2] = {-1, -1}, err[2] = {-1, -1};
  if (captured && (pipe(out) != 0 || pipe(err) != 0)) throw Error("cannot make a pipe");
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) throw Error("cannot start another process");
  if (child == 0) {
    if (captured) {
      dup2(out[1], STDOUT_FILENO);
      dup2(err[1], STDERR_FILENO);
      for (const int end : {out[0], out[1], err[0], err[1]}) close(end);
    }
    become(program, arguments);
  }
  BenchExit result;
  if (captured) {
    close(out[1]);
    close(err[1]);
    collect(out[0], err[0], result);
    close(out[0]);
    close(err[0]);
  }
  int status = 0;
  waitpid(child, &status, 0);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

// The last lines of stderr, as they may stand in JSON: other bytes than ASCII become '?'.
std::string describe_failure(const BenchExit& ended) {
  std::string text = ended.code > 128 ? fmt::format("ended by signal {}", ended.code - 128)
                                      : fmt::format("ended with exit code {}", ended.code);
  std::string last = ended.last;
  last.erase(last.find_last_not_of(" \n") + 1);
  if (!last.empty()) text += ": " + last;
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80U; }, '?');
  return text;
}

Json no_result(const std::string& why) { return {{"report", nullptr}, {"error", why}}; }

// What a program says with --json; if that cannot be read, why.
Json to_result(const BenchExit& ended) {
  Json parsed = Json::parse(ended.out, nullptr, false);
  if (!parsed.is_object())
    return no_result(ended.code != 0 ? describe_failure(ended) : "it printed no JSON object");
  for (const char* key : {"report", "error"})
    if (!parsed.contains(key)) parsed[key] = nullptr;
  return parsed;
}

// Names to run, in order. With a report, those that were not built may be named: the page says so.
std::vector<std::string> chosen_names(const BenchOptions& options,
                                      const std::vector<std::string>& known) {
  for (const std::string& name : options.names)
    if (!is_among(known, name) && (options.report.empty() || !is_in_catalog(name)))
      throw UsageError(
          fmt::format("benchmark '{}' is not here; there are: {}", name, fmt::join(known, " ")));
  if (!options.names.empty()) return options.names;
  std::vector<std::string> names = known;
  if (!options.report.empty())
    for (const bench::BenchProgram& program : bench::kPrograms)
      if (!is_among(known, program.name)) names.emplace_back(program.name);
  return names;
}

struct BenchOutcome {
  Json all = Json::object();
  std::vector<std::string> failed;
};

BenchOutcome run_all(const BenchOptions& options, const std::vector<std::string>& known) {
  BenchOutcome outcome;
  for (const std::string& name : chosen_names(options, known)) {
    if (!is_among(known, name)) {
      outcome.all[name] =
          no_result("it was not built: a peer or a module that it needs was not found");
      if (!options.names.empty()) outcome.failed.push_back(name);
      continue;
    }
    fmt::print(options.wants_json() ? stderr : stdout, "== {}\n", name);
    std::vector<std::string> arguments = split_words(options.pass);
    if (options.wants_json()) arguments.emplace_back("--json");
    const BenchExit ended =
        run_program(own_folder() / (kPrefix + name), arguments, options.wants_json());
    if (options.wants_json()) outcome.all[name] = to_result(ended);
    const bool is_read = !options.wants_json() || outcome.all[name]["error"].is_null();
    if (ended.code != 0 || !is_read) outcome.failed.push_back(name);
  }
  return outcome;
}

void report_bench(const BenchOptions& options, const std::vector<BenchRun>& runs) {
  write_bench_page(options.report, runs, !options.names.empty());
  if (options.common.json) return;
  const BenchTally tally = count_results(runs);
  fmt::print("{}: results of {} of {} programs, {} of {} checks held\n", options.report,
             tally.programs - tally.failed_programs, tally.programs,
             tally.checks - tally.failed_checks, tally.checks);
}

// A page of saved results: nothing is run.
void report_saved(const BenchOptions& options) {
  if (options.report.empty()) throw UsageError("--from needs --report: it says what to write");
  refuse_given({"--json", "--pass", "--list"}, "--from takes saved results and runs nothing");
  std::vector<BenchRun> runs;
  for (const std::string& file : options.from) {
    refuse_same_file(file, options.report);
    runs.push_back(read_bench_run(file));
    if (!options.names.empty())
      std::erase_if(runs.back().programs, [&](const ProgramResult& program) {
        return !is_among(options.names, program.name);
      });
  }
  report_bench(options, runs);
}

void run_bench(const BenchOptions& options) {
  if (!options.report.empty()) check_extension(options.report, ".html .md");
  if (!options.from.empty()) return report_saved(options);
  const std::vector<std::string> known = available();
  if (options.list) {
    refuse_given({"NAME", "--pass", "--report"}, "--list runs nothing");
    if (options.common.json)
      print_json({{"benchmarks", known}}, "bench_list");
    else
      for (const std::string& name : known) fmt::print("{}\n", name);
    return;
  }
  if (known.empty())
    throw Error("no benchmark was built beside this program; 'make bench' builds and runs them");
  const BenchOutcome outcome = run_all(options, known);
  if (!options.report.empty()) {
    BenchRun run{.source = "this run"};
    for (const auto& [name, object] : outcome.all.items())
      run.programs.push_back(read_program_result(name, object, "bench_" + name));
    report_bench(options, {run});
  }
  if (options.common.json) print_json({{"programs", outcome.all}});
  if (!outcome.failed.empty())
    throw Error(fmt::format("failed: {}", fmt::join(outcome.failed, " ")));
}

}  // namespace

void add_bench(CommandLine& line) {
  auto options = std::make_shared<BenchOptions>();
  Command command =
      line.add_command("bench", "Run the benchmark programs that stand beside the tool");
  command.set_examples(
      "Meshes come from the folder that ISOTACT_DATA names (default: ../shared/data).\n"
      "Examples:\n"
      "  isotact bench --list\n"
      "  ISOTACT_DATA=~/meshes isotact bench mesh_io --json\n"
      "  isotact bench dynamics --pass '--only nut --quick'\n"
      "  isotact bench --report report.html\n"
      "  isotact bench --report both.html --from here.json --from gpu_host.json");
  command.add_texts(
      {.names = "NAME", .help = "Benchmarks to run, as --list names them (default: all)"},
      options->names);
  command.add_text({.names = "--pass",
                    .help = "Options for the benchmark programs, in quotes",
                    .value_name = "OPTIONS"},
                   options->pass);
  command.add_text({.names = "--report",
                    .help = "Page with all results to write (.html or .md)",
                    .value_name = "FILE"},
                   options->report);
  command.add_texts(
      {.names = "--from",
       .help = "With --report: take results that 'bench --json' wrote and run nothing; "
               "one file per machine, may be repeated",
       .value_name = "JSON"},
      options->from);
  command.add_flag("--list", options->list, "List the benchmarks that were built, and run none");
  add_common_options(command, options->common);
  command.on_run([options] { run_bench(*options); });
}

}  // namespace isotact::tool

// What the subcommands share: their options in common, what they print, how they fail.
// Contract (docs/tool.md): results on stdout, as a short table or one JSON object; progress and
// errors on stderr; exit 0 done, 1 failed or bad input, 2 wrong usage.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/base/progress.h"

namespace isotact::tool {

using Json = nlohmann::ordered_json;

// Options that every subcommand has.
struct CommonOptions {
  bool json = false;
  int threads = 0;

  Threads thread_setting() const { return {threads}; }
};

void add_common_options(CLI::App& command, CommonOptions& options);

// Set by Ctrl-C; long operations stop at it.
CancelToken& interrupt_token();

// A line of a table: "vertices     34839".
using Facts = std::vector<std::pair<std::string, std::string>>;
void print_facts(const Facts& facts);

void print_json(const Json& object);

// "warning: ..." on stderr, one line each.
void print_warnings(const std::vector<std::string>& warnings);

// 34839 as "34,839".
std::string format_count(std::uint64_t count);

// One file a subcommand; each adds itself with a callback that does the work.
void add_make(CLI::App& app);
void add_info(CLI::App& app);
void add_convert(CLI::App& app);
void add_render(CLI::App& app);
void add_bench(CLI::App& app);
void add_demo(CLI::App& app);
void add_doctor(CLI::App& app);
void add_completion(CLI::App& app);

}  // namespace isotact::tool

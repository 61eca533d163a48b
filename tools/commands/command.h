// What the subcommands share: their options in common, what they print, how they fail.
// Contract (docs/tool.md): results on stdout, as a short table or one JSON object; progress and
// errors on stderr; exit 0 done, 1 failed or bad input, 2 wrong usage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "isotact/base/parallel.h"
#include "isotact/base/vec.h"

#include "options.h"

namespace isotact::tool {

using Json = nlohmann::ordered_json;

// [x, y, z].
inline Json to_list(const Vec3& v) { return {v.x, v.y, v.z}; }

// The value of a number that was not given.
inline constexpr double kNotSaid = std::numeric_limits<double>::quiet_NaN();

// Options that every subcommand has.
struct CommonOptions {
  bool json = false;
  int threads = 0;

  Threads thread_setting() const { return {threads}; }
};

void add_common_options(Command& command, CommonOptions& options);

// A line of a table: "vertices     34839".
using Facts = std::vector<std::pair<std::string, std::string>>;
void print_facts(const Facts& facts);

void print_json(const Json& object);

// "isotact: warning: FILE: ..." on stderr, one line each.
void print_warnings(const std::string& file, const std::vector<std::string>& warnings);

// Wrong usage where the output would replace a file that is read.
void refuse_same_file(const std::string& input, const std::string& output);

// For results of one file, where an output named "-" means stdout: nothing else may be printed
// there, so with --json that is wrong usage.
bool is_stdout(const std::string& output, const CommonOptions& options);
void write_stdout(std::span<const std::byte> bytes);

// Wrong usage where a unit is given and no mesh is read.
void refuse_unit(const std::string& unit, const std::string& why);

// ".vdb" of "Cloud.VDB".
std::string lower_extension(const std::string& file);

// 34839 as "34,839".
std::string format_count(std::uint64_t count);
// "1 point", "34,839 points".
std::string format_count(std::uint64_t count, const std::string& thing);

// Wrong usage unless the name's extension is one of those that can be written, ".obj .stl".
void check_extension(const std::string& output, const std::string& writable);
inline constexpr const char* kWritableMeshes = ".obj .stl .ply .glb";

// One file a subcommand; each adds itself with a callback that does the work.
void add_make(CommandLine& line);
void add_info(CommandLine& line);
void add_build(CommandLine& line);
void add_sample(CommandLine& line);
void add_segments(CommandLine& line);
void add_collide(CommandLine& line);
void add_simulate(CommandLine& line);
void add_slice(CommandLine& line);
void add_convert(CommandLine& line);
void add_render(CommandLine& line);
void add_view(CommandLine& line);
void add_bench(CommandLine& line);
void add_demo(CommandLine& line);
void add_doctor(CommandLine& line);
void add_completion(CommandLine& line);

}  // namespace isotact::tool

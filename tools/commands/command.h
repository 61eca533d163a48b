// Common parts of the subcommands: shared options, output, failures. The contract (docs/tool.md):
// results go to stdout, as a short table or one JSON object; progress and errors go to stderr. The
// exit code is 0 for success, 1 for failure or bad input, 2 for wrong usage, 3 for an answer that
// --fail-on asked for.
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

// Returns [x, y, z].
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

// Lines of a table: "vertices     34839".
using Facts = std::vector<std::pair<std::string, std::string>>;
void print_facts(const Facts& facts);

// "0 mm" in place of "-0 mm", "-0.0" as "0.0".
std::string without_negative_zeros(std::string text);

// One JSON object on stdout, completed by its schema (report/schema.h): that of the running verb,
// or another file of docs/schema.
void print_json(const Json& object, const std::string& schema = running_command());

// "isotact: warning: FILE: ..." on stderr, one line each, in words of the tool (report/hints.h).
void print_warnings(const std::string& file, const std::vector<std::string>& warnings);

// Throws UsageError if the output would replace an input file.
void refuse_same_file(const std::string& input, const std::string& output);

// For results of one file, for which an output named "-" means stdout. Nothing else may be printed
// there, so with --json this is wrong usage.
bool is_stdout(const std::string& output, const CommonOptions& options);
void write_stdout(std::span<const std::byte> bytes);

// Throws UsageError if a unit is given and no mesh is read.
void refuse_unit(const std::string& unit, const std::string& why);

// Returns ".vdb" for "Cloud.VDB".
std::string lower_extension(const std::string& file);

// Returns "34,839" for 34839.
std::string format_count(std::uint64_t count);
// Returns "1 point", "34,839 points".
std::string format_count(std::uint64_t count, const std::string& thing);

// Throws UsageError unless the extension of the name is one of the writable ones, such as ".obj
// .stl".
void check_extension(const std::string& output, const std::string& writable);
inline constexpr const char* kWritableMeshes = ".obj .stl .ply .glb";

// One file per subcommand. Each adds itself with a callback that does the work.
void add_make(CommandLine& line);
void add_info(CommandLine& line);
void add_build(CommandLine& line);
void add_edit(CommandLine& line);
void add_sample(CommandLine& line);
void add_segments(CommandLine& line);
void add_collide(CommandLine& line);
void add_distance(CommandLine& line);
void add_certify(CommandLine& line);
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

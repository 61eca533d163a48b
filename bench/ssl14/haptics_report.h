// What the parts of bench_haptics share: options, cases, and runs of a haptics loop.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "isotact/dynamics/haptics/tool_path.h"
#include "isotact/dynamics/haptics/virtual_coupling.h"
#include "isotact/queries/points/shell_contact.h"
#include "isotact/queries/shape.h"

#include "support/report.h"

namespace isotact::bench {

// --only names cases.
struct Options : RunOptions {
  bool fast = false;                   // as fast as it goes, not paced
  double budget = 500;                 // microseconds a query
  std::filesystem::path make_paths{};  // folder: write the recorded paths there, and end
};

// Hands as they move, generated: a peg that is brought to a hole a little askew and worked in, and
// a tool's tip that goes to and fro over a part of 20 cm. The files of scenes/haptics.
ToolPath make_peg_path();
ToolPath make_glide_path();

// The tool is A, and moves; the part is B, and stays where it is.
struct HapticsCase {
  std::string name{}, what{};
  Shape tool, part;
  BodyMass mass{};  // the tool's
  ToolPath path{};
  Roles roles = Roles::kBoth;
  ShellForceSettings force{};
  CouplingSettings coupling{.max_force = 15, .max_torque = 0.5};
  bool is_rigid = false;  // the tool is where the device is: nothing stops it
  bool must_hold = true;  // the limit of a millisecond
};
std::vector<HapticsCase> make_cases(const Options& options, Report& report);

struct LoopSettings {
  bool paced = true;
  double budget = 0;  // microseconds; 0: none
};

struct LoopStep {
  double wall = 0, processor = 0;  // microseconds of the query
  Pose tool{};                     // where it was asked
  std::uint64_t touching = 0;
  double distance = 0, lower_bound = 0;  // metres
  Vec3 force{}, torque{};                // N, N m
  double again = 0;  // microseconds of the query, less what it lost to other work: see ask_again
  bool complete = true;
  std::uint64_t nodes = 0;  // looked at
};
// One query and one step of the coupling each millisecond of the path.
std::vector<LoopStep> run_loop(const HapticsCase& c, const LoopSettings& settings);

// Other work takes a processor away, or shares its caches, and neither clock can tell all of that.
// So the slowest steps are asked again at the same poses, each a few times after something else
// has been through the caches; the least is `again`. That of the other steps is their own time.
void ask_again(const HapticsCase& c, const LoopSettings& settings, std::vector<LoopStep>& steps);

// Some steps against testing every point: the same answer where it was complete, and no point
// below the bound where it was not.
void check_steps(const HapticsCase& c, const std::vector<LoopStep>& steps, Report& report);

}  // namespace isotact::bench

// Pointshells on the command line: options of build, and their report.
#pragma once

#include <string>

#include "isotact/asset/build_asset.h"
#include "isotact/pointshell/asset_section.h"

#include "commands/command.h"

namespace isotact::tool {

struct ShellOptions {
  std::string points;  // a number, "vertices" or "none"; empty: not said
  double spacing = 0;  // metres; 0: not said
  std::string method = "repulsion";
  std::string normals = "mesh";
  std::string spheres = "points";
  int cluster_size = PointSettings{}.cluster_size;
  double sharp_degrees = PointSettings{}.sharp_degrees;
};

void add_shell_options(Command& command, ShellOptions& options);

// Throws UsageError for options that contradict each other.
PointSettings point_settings(const ShellOptions& options);

Json describe_tree(const PointSphereTree& tree);
// Formats a report with "points" and "point_tree": as one line, or with one line per level.
std::string format_points(const Json& report);
void add_point_facts(Facts& facts, const Json& report);

}  // namespace isotact::tool

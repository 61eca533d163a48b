// Pointshells on the command line: what build takes for one, and what is said about it.
#pragma once

#include <optional>
#include <string>

#include "isotact/field/build/build_field.h"
#include "isotact/pointshell/asset_section.h"

#include "command.h"

namespace isotact::tool {

struct ShellOptions {
  std::string points;  // a number, or "vertices"; empty: not said
  double spacing = 0;  // metres; 0: not said
  std::string method = "repulsion";
  std::string normals = "mesh";
  std::string spheres = "points";
  int cluster_size = PointSphereTreeSettings{}.cluster_size;
  double sharp_degrees = ShellSettings{}.sharp_degrees;

  bool is_asked_for() const { return !points.empty() || spacing > 0; }
};

void add_shell_options(Command& command, ShellOptions& options);

// Throws UsageError for options that contradict each other.
void check_usage(const ShellOptions& options);

// Everything that the tree depends on beside the mesh: for keys of the cache.
std::string describe(const ShellOptions& options);

// Of the surface that the field was built of. Limits, threads and monitor are the field's. The
// field is needed for normals from it.
PointSphereTree build_shell_tree(const Surface& surface, const std::optional<BrickField>& field,
                                 const ShellOptions& options, const FieldSettings& settings);

Json describe_tree(const PointSphereTree& tree);
// From a report with "points" and "point_tree": in a line; and with a line for each level.
std::string format_points(const Json& report);
void add_point_facts(Facts& facts, const Json& report);

}  // namespace isotact::tool

#include "mesh_input.h"

#include "isotact/geometry/units.h"

namespace isotact::tool {

void add_mesh_input(CLI::App& command, MeshInputOptions& options, const std::string& help) {
  command.add_option("FILE", options.file, help)->required()->type_name("");
  command.add_option("--unit", options.unit, "Unit of the file's numbers (default: m)")
      ->check(CLI::IsMember({"m", "cm", "mm", "in"}))
      ->type_name("m|cm|mm|in");
}

LoadedMesh read_input(const MeshInputOptions& options) {
  ProgressBar bar;
  const double scale = options.unit.empty() ? 1.0 : metres_per_unit(options.unit);
  LoadedMesh loaded =
      read_mesh(options.file, {.scale = scale, .monitor = bar.monitor(&interrupt_token())});
  if (options.unit.empty())
    if (auto odd = find_implausible_size(bounds(loaded.mesh))) loaded.warnings.push_back(*odd);
  return loaded;
}

}  // namespace isotact::tool

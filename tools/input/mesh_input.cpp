#include "mesh_input.h"

#include "isotact/base/progress.h"
#include "isotact/geometry/units.h"

namespace isotact::tool {

void add_mesh_input(Command& command, MeshInputOptions& options, const std::string& help) {
  command.add_text({.names = "FILE", .help = help, .required = true}, options.file);
  add_unit(command, options.unit);
}

void add_unit(Command& command, std::string& unit) {
  command.add_text({.names = "--unit",
                    .help = "Unit of the file's numbers (default: m)",
                    .value_name = "m|cm|mm|in",
                    .choices = {"m", "cm", "mm", "in"}},
                   unit);
}

LoadedMesh read_input(const MeshInputOptions& options) {
  ProgressBar bar;
  const double scale = options.unit.empty() ? 1.0 : metres_per_unit(options.unit);
  LoadedMesh loaded = read_mesh(options.file, {.scale = scale, .monitor = bar.monitor()});
  if (options.unit.empty())
    if (auto odd = find_implausible_size(bounds(loaded.mesh))) loaded.warnings.push_back(*odd);
  return loaded;
}

}  // namespace isotact::tool

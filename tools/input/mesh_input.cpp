#include "mesh_input.h"

#include "isotact/asset/load_shape.h"
#include "isotact/base/progress.h"

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
  return load_mesh(options.file, options.unit, bar.monitor());
}

}  // namespace isotact::tool

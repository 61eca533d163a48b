// isotact convert: one mesh format into another, mended on the way if asked.
#include <fmt/format.h>

#include "command.h"
#include "isotact/geometry/repair.h"
#include "mesh_input.h"

namespace isotact::tool {
namespace {

struct ConvertOptions {
  CommonOptions common;
  MeshInputOptions input;
  std::string output;
  double weld = -1;  // negative: no
  bool clean = false;
  bool orient = false;
};

}  // namespace

void add_convert(CLI::App& app) {
  auto options = std::make_shared<ConvertOptions>();
  CLI::App& command = *app.add_subcommand("convert", "Convert a mesh to another format");
  command.footer(
      "Examples:\n"
      "  isotact convert part.stl part.glb --unit mm --weld 0\n"
      "  isotact convert scan.ply scan.obj --clean --orient");
  add_mesh_input(command, options->input, "Mesh to read: OBJ, STL, PLY, OFF, glTF, GLB");
  command.add_option("OUT", options->output, "Mesh to write: .obj .stl .ply .glb")
      ->required()
      ->type_name("");
  command.add_option("--weld", options->weld,
                     "Merge vertices that lie within this distance in metres; 0: equal ones")
      ->check(CLI::NonNegativeNumber)
      ->type_name("DISTANCE");
  command.add_flag("--clean", options->clean,
                   "Drop degenerate and duplicate triangles and unused vertices");
  command.add_flag("--orient", options->orient,
                   "Make each component consistent, and closed ones face outwards");
  add_common_options(command, options->common);
  (void)command;
}

}  // namespace isotact::tool

// isotact make: procedural shapes as mesh files.
#include <fmt/format.h>

#include <map>

#include "command.h"
#include "isotact/base/error.h"
#include "isotact/geometry/io/mesh_io.h"
#include "isotact/geometry/primitives.h"

namespace isotact::tool {
namespace {

struct MakeOptions {
  CommonOptions common;
  std::string shape;
  std::string output;
  std::vector<std::string> settings;  // name=value
  double size = 0;                    // 0: as the shape comes
  bool list = false;
};

std::map<std::string, double> parse_settings(const std::vector<std::string>& settings) {
  std::map<std::string, double> values;
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    double value = 0;
    if (equals == std::string::npos || equals == 0 ||
        !CLI::detail::lexical_cast(setting.substr(equals + 1), value))
      throw CLI::ValidationError("--set", fmt::format("'{}' is not NAME=NUMBER", setting));
    if (!values.emplace(setting.substr(0, equals), value).second)
      throw CLI::ValidationError("--set",
                                 fmt::format("'{}' is set twice", setting.substr(0, equals)));
  }
  return values;
}

void scale_to(TriangleMesh& mesh, double size) {
  const Vec3f e = extent(bounds(mesh));
  const auto factor = static_cast<float>(size / std::max({e.x, e.y, e.z}));
  for (Vec3f& p : mesh.positions) p *= factor;
}

void print_catalogue() {
  for (const ShapeInfo& shape : shape_catalogue()) {
    fmt::print("{:<12} {}\n", shape.name, shape.help);
    for (const ShapeParameter& p : shape.parameters)
      fmt::print("    {:<18} {:<10g} {}\n", p.name, p.value, p.help);
  }
}

Json catalogue_as_json() {
  Json shapes = Json::array();
  for (const ShapeInfo& shape : shape_catalogue()) {
    Json parameters = Json::array();
    for (const ShapeParameter& p : shape.parameters)
      parameters.push_back({{"name", p.name},
                            {"default", p.value},
                            {"min", p.minimum},
                            {"max", p.maximum},
                            {"help", p.help}});
    shapes.push_back({{"name", shape.name}, {"help", shape.help}, {"parameters", parameters}});
  }
  return {{"shapes", shapes}};
}

void run_make(const MakeOptions& options) {
  if (options.list) {
    if (options.common.json)
      print_json(catalogue_as_json());
    else
      print_catalogue();
    return;
  }
  if (options.shape.empty()) throw CLI::RequiredError("SHAPE (or --list)");
  if (options.output.empty()) throw CLI::RequiredError("-o MESH");
  TriangleMesh mesh = make_shape(options.shape, parse_settings(options.settings));
  if (options.size > 0) scale_to(mesh, options.size);
  write_mesh(options.output, mesh);
  if (options.common.json) {
    print_json({{"shape", options.shape},
                {"output", options.output},
                {"vertices", mesh.positions.size()},
                {"triangles", mesh.triangles.size()}});
  } else {
    fmt::print("{}: {}, {} vertices, {} triangles\n", options.output, options.shape,
               format_count(mesh.positions.size()), format_count(mesh.triangles.size()));
  }
}

}  // namespace

void add_make(CLI::App& app) {
  auto options = std::make_shared<MakeOptions>();
  CLI::App& command = *app.add_subcommand("make", "Make a procedural shape");
  command.footer(
      "Examples:\n"
      "  isotact make --list\n"
      "  isotact make gear -o gear.obj --set teeth=24 --set bore_radius=0.01\n"
      "  isotact make blob -o blob.glb --size 0.2");
  command.add_option("SHAPE", options->shape, "One of the names that --list shows")->type_name("");
  command.add_option("-o,--output", options->output, "Mesh to write: .obj .stl .ply .glb")
      ->type_name("MESH");
  command.add_option("--size", options->size, "Scale so that the largest extent is S metres")
      ->check(CLI::Range(1e-6, 1e6))
      ->type_name("S");
  command.add_option("--set", options->settings, "Set a parameter of the shape; may be repeated")
      ->type_name("NAME=NUMBER")
      ->allow_extra_args(false);
  command.add_flag("--list", options->list, "List the shapes and their parameters");
  add_common_options(command, options->common);
  command.callback([options] { run_make(*options); });
}

}  // namespace isotact::tool

// isotact make: procedural shapes as mesh files.
#include <algorithm>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/geometry/io/mesh_io.h"
#include "isotact/geometry/primitives/primitives.h"

#include "command.h"

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

UsageError not_a_setting(const std::string& text) {
  return UsageError(fmt::format("--set: '{}' is not NAME=NUMBER", text));
}

std::map<std::string, double> parse_settings(const std::vector<std::string>& settings) {
  std::map<std::string, double> values;
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    const char* const end = setting.data() + setting.size();
    double value = 0;
    if (equals == std::string::npos || equals == 0) throw not_a_setting(setting);
    const auto [stop, error] = std::from_chars(setting.data() + equals + 1, end, value);
    if (error != std::errc{} || stop != end) throw not_a_setting(setting);
    const std::string name = setting.substr(0, equals);
    if (!values.emplace(name, value).second)
      throw UsageError(fmt::format("--set: '{}' is set twice", name));
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
      fmt::print("    {:<22} {:<8g} {} ({:g} to {:g})\n", p.name, p.value, p.help, p.minimum,
                 p.maximum);
  }
}

Json catalogue_as_json() {
  Json shapes = Json::array();
  for (const ShapeInfo& shape : shape_catalogue()) {
    Json parameters = Json::array();
    for (const ShapeParameter& p : shape.parameters)
      parameters.push_back({{"name", p.name},
                            {"default", p.value},
                            {"lowest", p.minimum},
                            {"highest", p.maximum},
                            {"whole", p.whole},
                            {"help", p.help}});
    shapes.push_back({{"name", shape.name}, {"help", shape.help}, {"parameters", parameters}});
  }
  return {{"shapes", shapes}};
}

// Whatever is wrong with a shape was said on the command line.
TriangleMesh make_as_asked(const MakeOptions& options) {
  const std::map<std::string, double> parameters = parse_settings(options.settings);
  try {
    return make_shape(options.shape, parameters);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

void run_make(const MakeOptions& options) {
  if (options.list) {
    refuse_given({"SHAPE", "--output", "--size", "--set"}, "--list makes nothing");
    if (options.common.json)
      print_json(catalogue_as_json(), "make_list");
    else
      print_catalogue();
    return;
  }
  if (options.shape.empty()) throw UsageError("SHAPE is required (or --list)");
  if (options.output.empty()) throw UsageError("-o MESH is required");
  check_extension(options.output, kWritableMeshes);
  TriangleMesh mesh = make_as_asked(options);
  if (options.size > 0) scale_to(mesh, options.size);
  write_mesh(options.output, mesh);
  if (options.common.json) {
    print_json({{"shape", options.shape},
                {"output", options.output},
                {"vertices", mesh.positions.size()},
                {"triangles", mesh.triangles.size()}});
  } else {
    fmt::print("{}: {}, {} vertices, {} triangles\n", without_control_codes(options.output),
               options.shape, format_count(mesh.positions.size()),
               format_count(mesh.triangles.size()));
  }
}

}  // namespace

void add_make(CommandLine& line) {
  auto options = std::make_shared<MakeOptions>();
  Command command = line.add_command("make", "Make a procedural shape");
  command.set_examples(
      "Examples:\n"
      "  isotact make --list\n"
      "  isotact make gear -o gear.obj --set teeth=24 --set bore_radius=0.01\n"
      "  isotact make blob -o blob.glb --size 0.2");
  command.add_text({.names = "SHAPE", .help = "Name of the shape; --list shows all"},
                   options->shape);
  command.add_text(
      {.names = "-o,--output", .help = "Mesh to write: .obj .stl .ply .glb", .value_name = "MESH"},
      options->output);
  command.add_length({.names = "--size",
                      .help = "Scale the shape until its largest extent is S metres",
                      .value_name = "S"},
                     options->size, {1e-6, 1e6});
  command.add_texts({.names = "--set",
                     .help = "Set a parameter of the shape, as --list shows them; may be repeated",
                     .value_name = "NAME=NUMBER"},
                    options->settings);
  command.add_flag("--list", options->list,
                   "List the shapes with their parameters, defaults and ranges");
  add_common_options(command, options->common);
  command.on_run([options] { run_make(*options); });
}

}  // namespace isotact::tool

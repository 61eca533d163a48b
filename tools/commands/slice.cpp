// isotact slice: a cut through an asset's field as a picture.
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "isotact/base/error.h"

#include "command.h"
#include "input/field_file.h"
#include "input/mesh_input.h"
#include "picture/picture_output.h"
#include "picture/slice_picture.h"

namespace isotact::tool {
namespace {

struct SliceOptions {
  CommonOptions common;
  std::string asset, output, mesh, unit;
  std::string axis = "z";
  double at = kNotSaid, at_metres = kNotSaid;
  int width = SliceSettings{}.width;
};

void run_slice(const SliceOptions& options) {
  check_picture_name(options.output, options.common);
  if (options.mesh.empty())
    refuse_unit(options.unit, "is for the mesh of --mesh; fields are in metres");
  if (!std::isnan(options.at) && !std::isnan(options.at_metres))
    throw UsageError("--at and --at-metres exclude each other");
  const AssetField source = load_field(options.asset);
  const AnyField& field = source.field;
  LoadedMesh loaded;
  if (!options.mesh.empty()) {
    loaded = read_input({options.mesh, options.unit});
    print_warnings(options.mesh, loaded.warnings);
  }
  SliceSettings settings{.axis = static_cast<std::size_t>(options.axis[0] - 'x'),
                         .box = field.bounds(),
                         .width = options.width,
                         .outline = options.mesh.empty() ? nullptr : &loaded.mesh,
                         .threads = options.common.thread_setting()};
  const double lower = settings.box.lower[settings.axis], upper = settings.box.upper[settings.axis];
  if (!std::isnan(options.at_metres) && !(lower <= options.at_metres && options.at_metres <= upper))
    throw Error({.file = options.asset},
                fmt::format("--at-metres {:.6g} is outside of the field's box, which reaches from "
                            "{:.6g} to {:.6g} m along {}",
                            options.at_metres, lower, upper, options.axis));
  const double fraction = std::isnan(options.at) ? 0.5 : options.at;
  settings.at =
      std::isnan(options.at_metres) ? lower + (upper - lower) * fraction : options.at_metres;
  const auto start = std::chrono::steady_clock::now();
  const SlicePicture slice = draw_slice([&](const Vec3& p) { return field.value(p); }, settings);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  write_picture(options.output, slice.picture);
  if (options.common.json)
    print_json({{"output", options.output},
                {"width", slice.picture.width},
                {"height", slice.picture.height},
                {"axis", options.axis},
                {"at", (settings.at - lower) / (upper - lower)},
                {"at_metres", settings.at},
                {"min_value", slice.lowest},
                {"max_value", slice.highest},
                {"isoline_spacing", slice.isoline_spacing},
                {"outline_segments", options.mesh.empty() ? Json() : Json(slice.outline_segments)},
                {"warnings", loaded.warnings},
                {"seconds", seconds}});
  else
    print_picture(options.output, slice.picture, seconds);
}

}  // namespace

void add_slice(CommandLine& line) {
  auto options = std::make_shared<SliceOptions>();
  Command command = line.add_command("slice", "Draw a cut through a field, with isolines");
  command.set_examples(
      "Examples:\n"
      "  isotact slice bunny.isotact -o cut.png\n"
      "  isotact slice gear.isotact --axis y --at 0.5 --mesh gear.obj -o gear.png");
  command.add_text({.names = "ASSET",
                    .help = "Asset with a field, or a field: .vdb .nvdb .sdf",
                    .required = true},
                   options->asset);
  command.add_text(
      {.names = "-o,--output", .help = "Picture to write", .value_name = "PNG", .required = true},
      options->output);
  command.add_text({.names = "--axis",
                    .help = "The axis that the cut is perpendicular to (default: z)",
                    .value_name = "x|y|z",
                    .choices = {"x", "y", "z"}},
                   options->axis);
  command.add_number({.names = "--at",
                      .help = "Position of the cut, as a share of the box, 0 to 1 (default: 0.5)",
                      .value_name = "SHARE"},
                     options->at, {0, 1});
  command.add_length(
      {.names = "--at-metres", .help = "Position of the cut in metres", .value_name = "METRES"},
      options->at_metres, {-1e12, 1e12});
  command.add_text({.names = "--mesh",
                    .help = "Draw the exact cross-section of this mesh over the cut",
                    .value_name = "FILE"},
                   options->mesh);
  add_unit(command, options->unit);
  command.add_whole({.names = "--width",
                     .help = "Width of the picture in pixels, 200 to 16384 (default: 1200)",
                     .value_name = "N"},
                    options->width, {200, 16384});
  add_common_options(command, options->common);
  command.on_run([options] { run_slice(*options); });
}

}  // namespace isotact::tool

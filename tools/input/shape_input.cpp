#include "shape_input.h"

#include <algorithm>

#include "isotact/base/progress.h"

#include "field_file.h"

namespace isotact::tool {
namespace {

LoadSettings load_settings(const ShapeInputOptions& options, LoadReport& report) {
  LoadSettings settings{.unit = options.unit,
                        .resolution = options.resolution,
                        .margin = options.margin,
                        .threads = options.threads,
                        .report = &report};
  for (const SignMethod sign :
       {SignMethod::kPseudonormal, SignMethod::kWinding, SignMethod::kUnsigned})
    if (options.sign == name(sign)) settings.sign = sign;
  for (const KeepThin keep :
       {KeepThin::kIgnore, KeepThin::kReport, KeepThin::kRefine, KeepThin::kOffset})
    if (options.keep_thin == name(keep)) settings.keep_thin = keep;
  if (options.points > 0) settings.points = options.points;
  if (!options.needs_points) settings.points = 0;
  return settings;
}

// What a page draws smoothly.
TriangleMesh surface_of(const Shape& shape, TriangleMesh mesh, Threads threads) {
  constexpr std::size_t kMostDrawn = 250'000;
  constexpr int kSurfaceCells = 112;  // along the longest side
  const bool can_be_drawn = !mesh.triangles.empty() && mesh.triangles.size() <= kMostDrawn &&
                            std::all_of(mesh.positions.begin(), mesh.positions.end(),
                                        [](const Vec3f& p) { return is_finite(p); });
  return can_be_drawn ? std::move(mesh) : extract_look(shape, kSurfaceCells, threads);
}

}  // namespace

LoadedBody load_body(const std::string& file, const ShapeInputOptions& options) {
  LoadReport report;
  LoadSettings settings = load_settings(options, report);
  const auto load = [&] {
    ProgressBar bar;
    settings.monitor = bar.monitor();
    if (is_asset(file) || !is_field_file(file)) return load_shape(file, settings);
    Shape shape = cook_shape(load_field(file), std::nullopt, settings);
    report.warnings = describe_limits(shape, options.margin);
    return shape;
  };
  LoadedBody body{.shape = load()};
  body.warnings = std::move(report.warnings);
  if (options.keep_surface && body.shape.parts().flat_mesh)
    report.mesh = body.shape.parts().flat_mesh->mesh();
  if (options.keep_surface)
    body.surface = surface_of(body.shape, std::move(report.mesh), options.threads);
  print_warnings(file, body.warnings);
  return body;
}

}  // namespace isotact::tool

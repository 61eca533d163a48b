#include "shape_input.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/progress.h"

#include "field_file.h"
#include "mesh_input.h"

namespace isotact::tool {
namespace {

LoadSettings load_settings(const ShapeInputOptions& options, LoadReport& report) {
  LoadSettings settings{.unit = options.unit,
                        .resolution = options.resolution,
                        .margin = options.margin,
                        .on_demand = !options.builds_field,
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
  return can_be_drawn ? std::move(mesh) : extract_display_mesh(shape, kSurfaceCells, threads);
}

// "0.1,0.2": as many numbers as the solid has sizes, all positive.
std::vector<double> parse_sizes(const std::string& word, const std::string& spelling,
                                std::string_view list, std::size_t count) {
  std::vector<double> sizes;
  for (bool more = true; more;) {
    double value = 0;
    const auto [end, code] = std::from_chars(list.data(), list.data() + list.size(), value);
    if (code != std::errc{} || !(value > 0) || !std::isfinite(value)) break;
    sizes.push_back(value);
    list.remove_prefix(static_cast<std::size_t>(end - list.data()));
    if (list.empty() && sizes.size() == count) return sizes;
    more = list.starts_with(',');
    if (more) list.remove_prefix(1);
  }
  throw UsageError(
      fmt::format("'{}': expected {}, with positive numbers in metres", printable(word), spelling));
}

// A solid that there is none of, rather than a file that is missing.
void refuse_unknown_word(const std::string& file) {
  std::error_code missing;
  const bool is_word = file.find('/') == std::string::npos &&
                       (file.find(':') != std::string::npos || file.find('.') == std::string::npos);
  if (is_word && !std::filesystem::exists(file, missing))
    throw Error({.file = file},
                "no such file; a simple solid? box:X,Y,Z, sphere:R, capsule:R,L, cylinder:R,H, "
                "cone:R,H, torus:R,T or plane");
}

}  // namespace

std::optional<AnalyticSolid> parse_solid(const std::string& word) {
  const std::size_t colon = word.find(':');
  const std::string name = word.substr(0, colon);
  // The sizes without any: those of the shapes that `make` knows.
  const auto sizes = [&](const char* spelling, std::vector<double> usual) {
    if (colon == std::string::npos) return usual;
    return parse_sizes(word, spelling, std::string_view(word).substr(colon + 1), usual.size());
  };
  if (name == "plane") {
    if (colon != std::string::npos)
      throw UsageError("plane has no sizes: its pose moves it (y = 0, solid below)");
    return PlaneField{};
  }
  if (name == "sphere") return SphereField{.radius = sizes("sphere:R", {0.5})[0]};
  if (name == "box") {
    const auto s = sizes("box:X,Y,Z (its sides)", {1, 1, 1});
    return BoxField{.half_size = Vec3{s[0], s[1], s[2]} * 0.5};
  }
  if (name == "capsule") {
    const auto s = sizes("capsule:R,L (radius, length of the straight part)", {0.25, 0.5});
    return CapsuleField{.a = {0, -s[1] / 2, 0}, .b = {0, s[1] / 2, 0}, .radius = s[0]};
  }
  if (name == "cylinder") {
    const auto s = sizes("cylinder:R,H (radius, height)", {0.5, 1});
    return CylinderField{.radius = s[0], .height = s[1]};
  }
  if (name == "cone") {
    const auto s = sizes("cone:R,H (radius, height)", {0.5, 1});
    return ConeField{.radius = s[0], .height = s[1]};
  }
  if (name == "torus") {
    const auto s = sizes("torus:R,T (radius of the ring, of the tube)", {0.375, 0.125});
    const TorusField torus{.radius = s[0], .tube_radius = s[1]};
    if (const auto flaw = find_flaw(torus))
      throw UsageError(fmt::format("'{}': {}", printable(word), *flaw));
    return torus;
  }
  return std::nullopt;
}

void refuse_unused_settings(const std::string& a, const std::string& b, const std::string& unit) {
  const auto has_no_mesh = [](const std::string& body) {
    return parse_solid(body).has_value() || is_field_file(body);
  };
  if (!has_no_mesh(a) || !has_no_mesh(b)) return;
  refuse_unit(unit, "no mesh is read, and fields are in metres");
  if (!parse_solid(a) && !parse_solid(b))
    refuse_given({"--resolution", "--sign", "--keep-thin"},
                 "no mesh is read, and assets have their fields");
}

LoadedBody load_body(const std::string& file, const ShapeInputOptions& options) {
  if (const auto solid = parse_solid(file)) {
    ShapeSettings made{.field = {.resolution = options.resolution, .threads = options.threads},
                       .points = options.points};
    LoadedBody body{.shape = Shape::from_analytic(*solid, made)};
    if (options.keep_surface && body.shape.is_bounded()) body.surface = body.shape.surface();
    return body;
  }
  refuse_unknown_word(file);
  LoadReport report;
  LoadSettings settings = load_settings(options, report);
  if (is_field_file(file)) {
    // They are of the other body's mesh, unless they are given.
    settings.unit.clear();
    if (options.resolution == ShapeInputOptions{}.resolution) settings.resolution.reset();
  }
  const auto load = [&] {
    ProgressBar bar;
    settings.monitor = bar.monitor();
    if (is_asset(file) || !is_field_file(file)) return load_shape(file, settings);
    Shape shape = cook_shape(load_field(file), settings);
    report.warnings = describe_limits(shape, options.margin);
    return shape;
  };
  LoadedBody body{.shape = load()};
  body.warnings = std::move(report.warnings);
  // They are about the field of the asset, and its mesh is used.
  if (!options.builds_field && body.shape.parts().flat_mesh) body.warnings.clear();
  if (options.keep_surface && body.shape.parts().flat_mesh)
    report.mesh = body.shape.parts().flat_mesh->mesh();
  if (options.keep_surface)
    body.surface = surface_of(body.shape, std::move(report.mesh), options.threads);
  print_warnings(file, body.warnings);
  return body;
}

}  // namespace isotact::tool

#include "asset_input.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/field/build/asset_report.h"

namespace isotact::tool {

Asset read_asset_input(const std::string& file) {
  Asset asset = read_asset(file, {.unpack_layers = false});
  print_warnings(file, asset.notes);
  return asset;
}

FieldSurfaceResult extract_surface_input(const AssetField& field,
                                         const FieldSurfaceSettings& settings,
                                         const std::string& file, const std::string& options) {
  try {
    return extract_field_surface(field, settings, file);
  } catch (const Cancelled&) {
    throw;
  } catch (const Error& error) {
    throw Error(fmt::format("{} ({})", error.what(), options));
  }
}

Json parse_text(std::string_view text) {
  if (!is_modest_json(text)) return nullptr;
  Json parsed = Json::parse(text, nullptr, false);
  return parsed.is_discarded() ? Json(nullptr) : parsed;
}

Json sign_report_of(const Asset& asset) {
  const Json report = parse_text(asset.source.sign_report);
  return report.is_object() ? report : Json(nullptr);
}

Json describe_mesh(const FlatMesh& mesh) {
  return {{"vertices", mesh.header().vertex_count},
          {"triangles", mesh.header().triangle_count},
          {"components", mesh.header().part_count},
          {"bytes", mesh.header().total_bytes}};
}

std::string format_mesh(const Json& j) {
  return fmt::format("{} vertices, {}", format_count(j["vertices"].get<std::uint64_t>()),
                     format_count(j["triangles"].get<std::uint64_t>(), "triangle"));
}

void add_brick_facts(Json& j, const BrickField& field) {
  const BrickFieldHeader& h = field.header();
  const bool sparse = h.sparse_from > 0;
  const Interval values = field.range(field.bounds());
  j["bricks"] = h.brick_count;
  j["near_error"] = h.near_error;
  j["near_band"] = std::max(h.band, h.range);
  j["far_error"] = h.far_error;
  j["sparse_error"] = sparse ? Json(h.sparse_error) : Json(nullptr);
  j["sparse_from"] = sparse ? Json(sparse_error_from(h)) : Json(nullptr);
  j["largest_value"] = std::max(std::abs(values.lower), std::abs(values.upper));
}

std::string format_errors(const Json& j) {
  std::string text = fmt::format(
      "at most {:.3g} m up to {:.3g} m from the surface, {:.3g} m elsewhere",
      j["near_error"].get<double>(), j["near_band"].get<double>(), j["far_error"].get<double>());
  if (j["sparse_from"].is_number() && j["sparse_from"] <= j["largest_value"])
    text += fmt::format(", {:.3g} m from {:.3g} m on", j["sparse_error"].get<double>(),
                        j["sparse_from"].get<double>());
  return text;
}

}  // namespace isotact::tool

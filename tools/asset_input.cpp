#include "asset_input.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/file.h"

namespace isotact::tool {

bool is_asset(const std::string& file) {
  try {
    std::array<std::byte, 8> start{};
    FileStream stream(file);
    return stream.size() > 0 && stream.read(start) == start.size() &&
           std::memcmp(start.data(), "ISOTACT\x1a", start.size()) == 0;
  } catch (const Error&) {
    return false;
  }
}

Asset read_asset_input(const std::string& file) {
  Asset asset = read_asset(file, {.unpack_layers = false});
  print_warnings(file, asset.notes);
  return asset;
}

AssetField field_of(const Asset& asset) {
  if (asset.field)
    return {.field = AnyField(*asset.field),
            .lattice = asset.field->lattice(),
            .kind = "brick",
            .brick = asset.field};
  if (asset.dense)
    return {.field = AnyField(*asset.dense), .lattice = asset.dense->lattice(), .kind = "dense"};
  if (asset.first_order)
    return {.field = AnyField(*asset.first_order),
            .lattice = asset.first_order->lattice(),
            .kind = "first-order"};
  throw Error({.file = asset.file_name}, "holds no field; build it with --field brick");
}

TriangleMesh extract(const AssetField& field, const IsosurfaceSettings& settings) {
  if (field.brick) return extract_surface(*field.brick, settings);
  Lattice lattice = field.lattice;
  lattice.spacing *= settings.stride;
  for (std::int32_t& n : lattice.cells) n = (n + settings.stride - 1) / settings.stride;
  return extract_surface(field.field, lattice, settings);
}

std::vector<std::string> warn_of_box(const AssetField& field, const TriangleMesh& surface,
                                     double iso) {
  const Aabb box = field.field.bounds(), seen = to_double(bounds(surface));
  if (contains(box, seen.lower) && contains(box, seen.upper)) return {};
  return {fmt::format(
      "the surface at {:.6g} m leaves the field's box, {}; build with --padding {} "
      "to have it inside",
      iso, field.brick ? "where distances are lower bounds and it bulges" : "and is cut off there",
      std::ceil(std::max(iso, 0.0) / field.lattice.spacing) + 2)};
}

int resolution_of(const Lattice& lattice) {
  return *std::max_element(lattice.cells.begin(), lattice.cells.end());
}

Json parse_text(std::string_view text) {
  constexpr std::size_t kMostBytes = 1U << 20U;
  constexpr int kDeepest = 32;
  if (text.size() > kMostBytes) return nullptr;
  // Brackets in strings count too: what has so many of them is not ours.
  int depth = 0;
  for (const char c : text) {
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > kDeepest) return nullptr;
  }
  Json parsed = Json::parse(text, nullptr, false);
  return parsed.is_discarded() ? Json(nullptr) : parsed;
}

Json sign_report_of(const Asset& asset) {
  const Json report = parse_text(asset.source.sign_report);
  return report.is_object() ? report : Json(nullptr);
}

std::string format_errors(const Json& j) {
  std::string text = fmt::format("at most {:.3g} m near the surface, {:.3g} m elsewhere",
                                 j["near_error"].get<double>(), j["far_error"].get<double>());
  if (const double from = j["sparse_from"].get<double>(); from > 0)
    text += fmt::format(", {:.3g} m from {:.3g} m on", j["sparse_error"].get<double>(), from);
  return text;
}

}  // namespace isotact::tool

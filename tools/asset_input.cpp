#include "asset_input.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/file.h"

namespace isotact::tool {
namespace {

constexpr int kMostStride = 1024;

}  // namespace

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

StrideChoice choose_stride(const AssetField& field, const StrideWish& wish,
                           const std::string& file) {
  StrideChoice choice{.stride = wish.wanted > 0 ? wish.wanted : wish.least};
  if (!field.brick) return choice;  // others end with their box
  const auto estimate = [&](int stride) {
    return estimate_triangles(*field.brick, wish.iso, stride);
  };
  const auto most_allowed = static_cast<double>(IsosurfaceSettings{}.max_triangles);
  // What surfaces inside of the box may have is fine outside of it, too.
  const Vec3 side = extent(field.field.bounds()) / (field.lattice.spacing * choice.stride);
  const double own = 12 * (side.x * side.y + side.y * side.z + side.z * side.x);
  const double most = wish.wanted > 0 ? most_allowed : std::max(own, wish.most_triangles);
  int enough = choice.stride;
  while (enough <= kMostStride && estimate(enough) > most) enough += (enough + 7) / 8;
  const double most_away = 1e6 * field.lattice.spacing * std::min(enough, kMostStride);
  if (enough > kMostStride || wish.iso > most_away)
    throw Error({.file = file},
                fmt::format("the surface at {:.6g} m would have about {:.2g} triangles with the "
                            "largest stride, {}: choose a smaller --iso",
                            wish.iso, estimate(kMostStride), kMostStride));
  if (enough == choice.stride) return choice;
  if (wish.wanted > 0)
    throw Error({.file = file},
                fmt::format("the surface at {:.6g} m would have about {:.2g} triangles with a "
                            "stride of {}, more than {}: choose --stride {} or more",
                            wish.iso, estimate(wish.wanted), wish.wanted, most_allowed, enough));
  choice.notes.push_back(
      fmt::format("the surface at {:.6g} m would have about {:.2g} triangles; it is made with a "
                  "stride of {}. Choose another by --stride",
                  wish.iso, estimate(choice.stride), enough));
  choice.stride = enough;
  return choice;
}

TriangleMesh extract_or_fail(const AssetField& field, const IsosurfaceSettings& settings,
                             const std::string& file) {
  TriangleMesh mesh;
  try {
    mesh = extract(field, settings);
  } catch (const Error& e) {
    throw Error({.file = file}, e.what());
  }
  if (!mesh.triangles.empty()) return mesh;
  // Too coarse a stride passes between the nodes of small bodies.
  const double step = settings.stride * field.lattice.spacing;
  const Interval values = field.field.range(field.field.bounds());
  if (settings.stride > 1 && values.lower <= settings.iso && settings.iso <= values.upper)
    throw Error({.file = file},
                fmt::format("no surface at {:.6g} m shows with a stride of {}, which looks every "
                            "{:.3g} m only: choose a smaller --stride",
                            settings.iso, settings.stride, step));
  throw Error({.file = file}, fmt::format("its field has no surface at {:.6g} m", settings.iso));
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

void add_brick_facts(Json& j, const BrickField& field) {
  const BrickFieldHeader& h = field.header();
  const bool sparse = h.sparse_from > 0;
  const Interval values = field.range(field.bounds());
  j["bricks"] = h.brick_count;
  j["near_error"] = h.near_error;
  j["far_error"] = h.far_error;
  j["sparse_error"] = sparse ? Json(h.sparse_error) : Json(nullptr);
  j["sparse_from"] = sparse ? Json(sparse_error_from(h)) : Json(nullptr);
  j["largest_value"] = std::max(std::abs(values.lower), std::abs(values.upper));
}

std::string format_errors(const Json& j) {
  std::string text = fmt::format("at most {:.3g} m near the surface, {:.3g} m elsewhere",
                                 j["near_error"].get<double>(), j["far_error"].get<double>());
  if (j["sparse_from"].is_number() && j["sparse_from"] <= j["largest_value"])
    text += fmt::format(", {:.3g} m from {:.3g} m on", j["sparse_error"].get<double>(),
                        j["sparse_from"].get<double>());
  return text;
}

}  // namespace isotact::tool

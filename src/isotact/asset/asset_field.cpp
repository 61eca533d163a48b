#include "isotact/asset/asset_field.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/field/extract/isosurface.h"

namespace isotact {
namespace {

constexpr int kMostStride = 1024;

[[noreturn]] void fail(const std::string& file, const std::string& message) {
  if (file.empty()) throw Error(message);
  throw Error({.file = file}, message);
}

// The stride to extract with, and a note if it is not the one that the settings ask for.
int choose_stride(const AssetField& field, const FieldSurfaceSettings& settings,
                  const std::string& file, std::vector<std::string>& notes) {
  const int wanted = settings.stride > 0 ? settings.stride : settings.least_stride;
  if (!field.brick) return wanted;  // others end with their box
  const auto estimate = [&](int stride) {
    return estimate_triangles(*field.brick, settings.level, stride);
  };
  const auto most_allowed = static_cast<double>(IsosurfaceSettings{}.max_triangles);
  // As many triangles as a surface inside of the box may have are fine outside of it.
  const Vec3 side = extent(field.field.bounds()) / (field.lattice.spacing * wanted);
  const double own = 12 * (side.x * side.y + side.y * side.z + side.z * side.x);
  const double most = settings.stride > 0 ? most_allowed : std::max(own, settings.most_triangles);
  int enough = wanted;
  while (enough <= kMostStride && estimate(enough) > most) enough += (enough + 7) / 8;
  const double most_away = 1e6 * field.lattice.spacing * std::min(enough, kMostStride);
  if (enough > kMostStride || settings.level > most_away)
    fail(file, fmt::format("the surface at {:.6g} m would have about {:.2g} triangles with the "
                           "largest stride, {}: choose a smaller level",
                           settings.level, estimate(kMostStride), kMostStride));
  if (enough == wanted) return wanted;
  if (settings.stride > 0)
    fail(file, fmt::format("the surface at {:.6g} m would have about {:.2g} triangles with a "
                           "stride of {}, more than {}: choose a stride of {} or more",
                           settings.level, estimate(wanted), wanted, most_allowed, enough));
  notes.push_back(
      fmt::format("the surface at {:.6g} m would have about {:.2g} triangles; it is made with a "
                  "stride of {}",
                  settings.level, estimate(wanted), enough));
  return enough;
}

TriangleMesh extract(const AssetField& field, const IsosurfaceSettings& settings) {
  if (field.brick) return extract_surface(*field.brick, settings);
  Lattice lattice = field.lattice;
  lattice.spacing *= settings.stride;
  for (std::int32_t& n : lattice.cells) n = (n + settings.stride - 1) / settings.stride;
  return extract_surface(field.field, lattice, settings);
}

void warn_of_box(const AssetField& field, double level, FieldSurfaceResult& result) {
  const Aabb box = field.field.bounds(), seen = to_double(bounds(result.mesh));
  if (contains(box, seen.lower) && contains(box, seen.upper)) return;
  result.warnings.push_back(fmt::format(
      "the surface at {:.6g} m leaves the field's box, {}; build with a padding of {} cells to "
      "have it inside",
      level,
      field.brick ? "where distances are lower bounds and it bulges" : "and is cut off there",
      std::ceil(std::max(level, 0.0) / field.lattice.spacing) + 2));
}

}  // namespace

AssetField field_of(const Asset& asset) {
  if (asset.field) {
    AssetField field{.field = AnyField(*asset.field),
                     .lattice = asset.field->lattice(),
                     .kind = "brick",
                     .brick = asset.field};
    if (auto index = find_segment_index(asset, Check::kHeader))
      field.index = std::make_shared<const SegmentIndex>(std::move(*index));
    return field;
  }
  if (asset.dense)
    return {.field = AnyField(*asset.dense), .lattice = asset.dense->lattice(), .kind = "dense"};
  if (asset.first_order)
    return {.field = AnyField(*asset.first_order),
            .lattice = asset.first_order->lattice(),
            .kind = "first-order"};
  fail(asset.file_name, "holds no field; build the asset again, with a brick field");
}

bool has_field(const Asset& asset) { return asset.field || asset.dense || asset.first_order; }

int resolution_of(const Lattice& lattice) {
  return *std::max_element(lattice.cells.begin(), lattice.cells.end());
}

FieldSurfaceResult extract_field_surface(const AssetField& field,
                                         const FieldSurfaceSettings& settings,
                                         const std::string& file) {
  FieldSurfaceResult result;
  result.stride = choose_stride(field, settings, file, result.notes);
  try {
    result.mesh = extract(field, {.level = settings.level,
                                  .stride = result.stride,
                                  .threads = settings.threads,
                                  .monitor = settings.monitor});
  } catch (const Cancelled&) {
    throw;
  } catch (const Error& error) {
    fail(file, error.what());
  }
  if (result.mesh.triangles.empty()) {
    // Too coarse a stride passes between the nodes of small bodies.
    const Interval values = field.field.range(field.field.bounds());
    if (result.stride > 1 && values.lower <= settings.level && settings.level <= values.upper)
      fail(file,
           fmt::format("no surface at {:.6g} m shows with a stride of {}, which samples every "
                       "{:.3g} m only: choose a smaller stride",
                       settings.level, result.stride, result.stride * field.lattice.spacing));
    fail(file, fmt::format("its field has no surface at {:.6g} m", settings.level));
  }
  warn_of_box(field, settings.level, result);
  return result;
}

}  // namespace isotact

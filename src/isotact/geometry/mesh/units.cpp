#include "isotact/geometry/mesh/units.h"

#include <algorithm>

#include <fmt/format.h>

#include "isotact/base/error.h"

namespace isotact {

double metres_per_unit(std::string_view unit) {
  if (unit == "m") return 1;
  if (unit == "cm") return 0.01;
  if (unit == "mm") return 0.001;
  if (unit == "in") return 0.0254;
  throw Error(fmt::format("unit '{}' is not known; it can be m, cm, mm or in", printable(unit)));
}

std::optional<std::string> find_implausible_size(const Aabbf& bounds) {
  if (is_empty(bounds)) return std::nullopt;
  const Vec3f size = extent(bounds);
  const float largest = std::max({size.x, size.y, size.z});
  if (largest > 10)
    return with_hint(
        fmt::format("the mesh is {:.4g} m across; its numbers may be millimetres", largest),
        Hint::kUnit);
  if (largest < 0.001F)
    return fmt::format("the mesh is {:.4g} m across; its numbers may have another unit", largest);
  return std::nullopt;
}

}  // namespace isotact

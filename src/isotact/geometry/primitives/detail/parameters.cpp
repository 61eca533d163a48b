#include "isotact/geometry/primitives/detail/parameters.h"

#include <fmt/format.h>

#include "isotact/base/error.h"

namespace isotact::detail {

std::string number_text(double value) { return fmt::format("{:.6g}", value); }

void throw_parameter(const char* shape, const char* parameter, double value,
                     const std::string& allowed) {
  throw Error(
      fmt::format("{}: {} is {}; it must be {}", shape, parameter, number_text(value), allowed));
}

void check_range(const char* shape, const char* parameter, double value, double minimum,
                 double maximum) {
  // Written so that NaN fails.
  if (!(value >= minimum && value <= maximum))
    throw_parameter(shape, parameter, value,
                    fmt::format("from {} to {}", number_text(minimum), number_text(maximum)));
}

void check_triangles(const char* shape, const char* parameter, double value, double triangles) {
  if (!(triangles <= kMaxShapeTriangles))
    throw Error(
        fmt::format("{}: {} is {}, which would take {:.3g} triangles; at most {:.3g} are "
                    "made",
                    shape, parameter, number_text(value), triangles, kMaxShapeTriangles));
}

}  // namespace isotact::detail

#include "picture/colours.h"

#include <algorithm>

#include "picture/text.h"

namespace isotact::tool {

Rgb8 ramp(const std::array<Rgb8, 3>& stops, double t) {
  t = std::clamp(t, 0.0, 1.0) * 2;
  return t < 1 ? blend(stops[0], stops[1], t) : blend(stops[1], stops[2], t - 1);
}

}  // namespace isotact::tool

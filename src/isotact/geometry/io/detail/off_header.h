// The keyword that OFF files begin with: [ST][C][N][4][n]OFF, the letters in any order.
#pragma once

#include <string_view>

namespace isotact::detail {

enum class OffVariant { kNone, kThreeDimensional, kOtherDimension };

OffVariant off_variant(std::string_view word);

}  // namespace isotact::detail

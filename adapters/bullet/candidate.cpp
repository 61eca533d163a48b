#include "candidate.h"

namespace isotact::bullet_detail {

Choice choose_contacts(std::span<const Candidate> all, std::span<const std::uint64_t> last_keys,
                       double slack, std::size_t most) {
  if (all.empty()) return {};
  std::size_t last[kMostChosen];
  std::size_t last_count = 0, deepest = 0;
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[i].distance < all[deepest].distance) deepest = i;
  for (const std::uint64_t key : last_keys)
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].key == key) {
        last[last_count++] = i;
        break;
      }
  for (const std::size_t i : std::span(last, last_count))
    if (all[i].distance <= all[deepest].distance + slack) {
      deepest = i;
      break;
    }
  return choose_spread(all.size(), deepest, all[deepest].normal, most,
                       [&](std::size_t i) { return all[i].on_0; },
                       {.in_plane = false, .last = std::span(last, last_count)});
}

}  // namespace isotact::bullet_detail

#include "isotact/base/suggest.h"

#include <algorithm>
#include <vector>

namespace isotact {
namespace {

// The least number of letters to add, drop or change (Levenshtein 1966).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string suggest(std::string_view wrong, std::span<const std::string> names) {
  std::string text;
  const std::string_view start = wrong.substr(0, 64);
  const auto nearest =
      std::min_element(names.begin(), names.end(), [&](const auto& a, const auto& b) {
        return edit_distance(start, a) < edit_distance(start, b);
      });
  if (nearest != names.end() && edit_distance(start, *nearest) <= 1 + nearest->size() / 3)
    text += "; did you mean " + *nearest + "?";
  text += text.empty() ? "; possible: " : " Possible: ";
  for (std::size_t i = 0; i < names.size(); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return text;
}

}  // namespace isotact

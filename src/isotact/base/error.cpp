#include "isotact/base/error.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace isotact {

std::string to_string(const FileSpot& spot) {
  std::string file = without_control_codes(spot.file);
  if (spot.line) return fmt::format("{}:{}", file, *spot.line);
  if (spot.byte) return fmt::format("{}: byte {}", file, *spot.byte);
  return file;
}

std::string without_control_codes(std::string_view raw) {
  std::string text;
  for (const char c : raw) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f)
      text += fmt::format("\\x{:02x}", byte);
    else
      text += c;
  }
  return text;
}

namespace {

struct Advice {
  Hint hint;
  std::string_view words;
};

constexpr Advice kAdvice[] = {
    {Hint::kUnit, "read it with a scale of metres_per_unit(\"mm\")"},
    {Hint::kThinParts, "set a smaller voxel_size, KeepThin::kRefine or KeepThin::kOffset"},
    {Hint::kOpenings, "SignMethod::kUnsigned keeps openings open, by a shell around the triangles"},
    {Hint::kInnerParts, "NestedRule::kEvenOdd makes cavities of inner parts"},
    {Hint::kFrameRate, "lower frames_per_second of the scene"},
    {Hint::kResolution, "lower the resolution of the shapes"},
    {Hint::kField, "make it by Shape::from_mesh, Shape::from_field or from an asset with a field"},
    {Hint::kTriangles,
     "make it by Shape::from_mesh or from an asset that keeps its mesh, or set Accuracy::kField"},
    {Hint::kBounds, "cut it, as in Shape::from_analytic(Intersection{solid, BoxField{}})"},
};
constexpr std::string_view kBeforeAdvice = "; ";

}  // namespace

std::string with_hint(std::string_view text, Hint hint) {
  std::string message(text);
  for (const Advice& advice : kAdvice)
    if (advice.hint == hint) message.append(kBeforeAdvice).append(advice.words);
  return message;
}

HintedText split_hint(std::string_view message) {
  for (const Advice& advice : kAdvice) {
    if (!message.ends_with(advice.words)) continue;
    const std::string_view start = message.substr(0, message.size() - advice.words.size());
    if (start.ends_with(kBeforeAdvice))
      return {std::string(start.substr(0, start.size() - kBeforeAdvice.size())), advice.hint};
  }
  return {std::string(message)};
}

Error::Error(const FileSpot& spot, std::string_view message)
    : std::runtime_error(spot.file.empty() ? std::string(message)
                                           : fmt::format("{}: {}", to_string(spot), message)) {}

std::string printable(std::string_view raw, std::size_t max_length) {
  std::string text;
  for (const char c : raw) {
    if (text.size() >= max_length) return text + "...";
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f)
      text += c;
    else
      text += fmt::format("\\x{:02x}", byte);
  }
  return text;
}

namespace {

// Returns the least number of letters to add, drop or change (Levenshtein 1966).
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

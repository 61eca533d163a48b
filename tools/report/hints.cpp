#include "report/hints.h"

#include "commands/options.h"

namespace isotact::tool {
namespace {

struct Hint {
  const char* setting;  // as messages of the library spell it
  const char* option;   // that a verb must have
  const char* words;    // what the user may write
};

constexpr Hint kHints[] = {
    {"voxel_size of", "--voxel-size", "--voxel-size S"},
    {"KeepThin::kRefine", "--keep-thin", "--keep-thin refine or offset"},
    {"Accuracy::kField", "--accuracy", "--accuracy field"},
    {"NestedRule::kEvenOdd", "--nested", "--nested even-odd"},
    {"SignMethod::kUnsigned", "--sign", "--sign unsigned"},
    {"metres_per_unit", "--unit", "--unit mm"},
    {"frames_per_second", "--fps", "--fps N"},
    {"resolution of the shapes", "--resolution", "--resolution N"},
};

}  // namespace

std::string with_hint(const std::string& message) {
  std::string options;
  for (const Hint& hint : kHints)
    if (message.find(hint.setting) != std::string::npos && running_command_has(hint.option))
      options += (options.empty() ? "" : ", ") + std::string(hint.words);
  // A message that was given its hint stays as it is.
  if (options.empty() || message.ends_with("(" + options + ")")) return message;
  return message + " (" + options + ")";
}

}  // namespace isotact::tool

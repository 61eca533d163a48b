#include "report/hints.h"

#include "isotact/base/error.h"

namespace isotact::tool {
namespace {

struct OptionHint {
  Hint hint;
  const char* option;  // that the verb must have; none: every verb
  const char* words;
};

constexpr OptionHint kOptionHints[] = {
    {Hint::kUnit, "--unit", "--unit mm"},
    {Hint::kThinParts, "--voxel-size", "--voxel-size S"},
    {Hint::kThinParts, "--keep-thin", "--keep-thin refine or offset"},
    {Hint::kOpenings, "--sign", "--sign unsigned"},
    {Hint::kInnerParts, "--nested", "--nested even-odd"},
    {Hint::kFrameRate, "--fps", "--fps N"},
    {Hint::kResolution, "--resolution", "--resolution N"},
    {Hint::kField, nullptr, "build its mesh with a field: isotact build MESH -o ASSET"},
    {Hint::kBounds, nullptr, "put a flat box, such as box:10,1,10, in place of a plane"},
    {Hint::kTriangles, "--accuracy", "--accuracy field, or an asset that keeps its mesh"},
};

}  // namespace

std::string in_words_of_tool(const std::string& message) {
  auto [text, hint] = split_hint(message);
  std::string options;
  for (const OptionHint& candidate : kOptionHints)
    if (candidate.hint == hint &&
        (candidate.option == nullptr || running_command_has(candidate.option)))
      options += (options.empty() ? "" : ", ") + std::string(candidate.words);
  return options.empty() ? text : text + " (" + options + ")";
}

void use_words_of_tool(Json& json) {
  const auto reword = [](Json& value) {
    if (value.is_string()) value = in_words_of_tool(value.get<std::string>());
  };
  if (json.is_array())
    for (Json& item : json) use_words_of_tool(item);
  if (!json.is_object()) return;
  for (auto& [key, value] : json.items()) {
    if (key == "error") reword(value);
    if (key == "warnings" && value.is_array())
      for (Json& warning : value) reword(warning);
    use_words_of_tool(value);
  }
}

}  // namespace isotact::tool

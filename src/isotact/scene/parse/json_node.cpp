#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "isotact/base/error.h"
#include "isotact/scene/parse/detail/scene_reader.h"

namespace isotact::detail {

using Json = nlohmann::json;

namespace {

constexpr int kMostDepth = 32;

const Json& json_of(const void* value) { return *static_cast<const Json*>(value); }

// Watches the library's parser, which would accept the last of equal keys and any depth of nesting.
class Watch {
 public:
  explicit Watch(std::size_t most_values) : most_values_(most_values) {}
  bool operator()(int depth, Json::parse_event_t event, Json& value) {
    if (depth > kMostDepth) throw Error(fmt::format("is nested deeper than {} levels", kMostDepth));
    if (++values_ > most_values_) throw Error(fmt::format("has more than {} values", most_values_));
    if (event == Json::parse_event_t::object_start) {
      if (keys_.size() <= static_cast<std::size_t>(depth)) keys_.resize(std::size_t(depth) + 1);
      keys_[std::size_t(depth)].clear();
    }
    if (event == Json::parse_event_t::key) {
      const auto& key = value.get_ref<const std::string&>();
      if (!keys_[std::size_t(depth) - 1].insert(key).second)
        throw Error(fmt::format("has the key '{}' twice in one object", printable(key)));
    }
    return true;
  }

 private:
  std::size_t most_values_, values_ = 0;
  std::vector<std::set<std::string>> keys_;  // Keys of the open objects.
};

// Returns "parse error at line 3, column 5: ..." of the library's message, without its number.
std::string shorten(const std::string& message) {
  const std::size_t end = message.find("] ");
  return printable(end == std::string::npos ? message : message.substr(end + 2), 300);
}

}  // namespace

struct JsonText::Tree {
  Json json;
};

JsonText::JsonText(std::string_view text, std::string file, std::size_t most_values)
    : file_(std::move(file)) {
  try {
    Watch watch(most_values);
    tree_ = std::make_unique<const Tree>(Tree{Json::parse(
        text.begin(), text.end(), [&](int depth, Json::parse_event_t event, Json& value) {
          return watch(depth, event, value);
        })});
  } catch (const Json::exception& error) {
    throw Error({.file = file_}, "not JSON: " + shorten(error.what()));
  } catch (const Error& error) {
    throw Error({.file = file_}, error.what());
  }
}
JsonText::~JsonText() = default;
JsonNode JsonText::root() const { return {&tree_->json, "", &file_}; }

bool JsonNode::is_null() const { return json_of(value_).is_null(); }
bool JsonNode::is_text() const { return json_of(value_).is_string(); }
bool JsonNode::is_object() const { return json_of(value_).is_object(); }
bool JsonNode::is_array() const { return json_of(value_).is_array(); }

void JsonNode::fail(std::string_view message) const {
  throw Error({.file = *file_},
              path_.empty() ? std::string(message) : fmt::format("{}: {}", path_, message));
}
void JsonNode::fail_expecting(std::string_view expected) const {
  fail(fmt::format("expected {}, found {}", expected, found()));
}

std::string JsonNode::found() const {
  const Json& j = json_of(value_);
  if (j.is_string()) return '"' + printable(j.get_ref<const std::string&>()) + '"';
  if (j.is_object()) return "an object";
  if (j.is_array()) return fmt::format("an array of {}", j.size());
  return printable(j.dump());
}

JsonNode JsonNode::member(const std::string& key, const void* value) const {
  const std::string shown = printable(key);
  return {value, path_.empty() ? shown : path_ + "." + shown, file_};
}

void JsonNode::expect_keys(const Names& keys) const {
  if (!is_object()) fail_expecting("an object");
  for (const auto& [key, value] : json_of(value_).items())
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      member(key, &value).fail("is not known here" + suggest(key, keys));
}

std::string JsonNode::choose_key(const Names& keys, bool needed) const {
  std::string chosen, list;
  for (const std::string& key : keys) {
    list += (list.empty() ? "" : ", ") + key;
    if (!json_of(value_).contains(key)) continue;
    if (!chosen.empty())
      fail(fmt::format("has both {} and {}; one of them is enough", chosen, key));
    chosen = key;
  }
  if (chosen.empty() && needed) fail("needs one of: " + list);
  return chosen;
}

std::optional<JsonNode> JsonNode::find(const std::string& key) const {
  if (!is_object()) fail_expecting("an object");
  const Json& j = json_of(value_);
  const auto at = j.find(key);
  if (at == j.end()) return std::nullopt;
  return member(key, &*at);
}
JsonNode JsonNode::get(const std::string& key) const {
  if (auto node = find(key)) return *node;
  fail("needs '" + key + "'");
}
std::vector<std::pair<std::string, JsonNode>> JsonNode::members() const {
  if (!is_object()) fail_expecting("an object");
  std::vector<std::pair<std::string, JsonNode>> all;
  for (const auto& [key, value] : json_of(value_).items())
    all.emplace_back(key, member(key, &value));
  return all;
}
std::vector<JsonNode> JsonNode::items(std::size_t most) const {
  if (!is_array()) fail_expecting("an array");
  const Json& j = json_of(value_);
  if (j.size() > most) fail(fmt::format("has {} entries; {} are allowed", j.size(), most));
  std::vector<JsonNode> all;
  for (std::size_t i = 0; i < j.size(); ++i)
    all.push_back({&j[i], fmt::format("{}[{}]", path_, i), file_});
  return all;
}

bool JsonNode::boolean() const {
  if (!json_of(value_).is_boolean()) fail_expecting("true or false");
  return json_of(value_).get<bool>();
}

double JsonNode::number(const NumberRange& range) const {
  const auto expected = [&]() -> std::string {
    if (range.above && std::isinf(range.upper))
      return fmt::format("a number above {}", range.lower);
    if (range.above)
      return fmt::format("a number above {} and up to {:g}", range.lower, range.upper);
    if (std::isinf(range.upper)) return fmt::format("a number from {:g} on", range.lower);
    return fmt::format("a number from {:g} to {:g}", range.lower, range.upper);
  };
  if (!json_of(value_).is_number()) {
    if (range.lower == 0 && range.above) fail_expecting("a number above 0");
    fail_expecting("a number");
  }
  const auto value = json_of(value_).get<double>();
  const bool fits =
      value <= range.upper && (range.above ? value > range.lower : value >= range.lower);
  if (!fits || !std::isfinite(value)) fail_expecting(expected());
  return value;
}

std::int64_t JsonNode::whole(std::int64_t lower, std::int64_t upper) const {
  const auto fail_here = [&] {
    fail_expecting(fmt::format("a whole number from {} to {}", lower, upper));
  };
  if (!json_of(value_).is_number()) fail_here();
  const auto value = json_of(value_).get<double>();
  // Compared in double: the limits are far below 2^53.
  if (!(value >= static_cast<double>(lower) && value <= static_cast<double>(upper)) ||
      value != std::floor(value))
    fail_here();
  return static_cast<std::int64_t>(value);
}

std::string JsonNode::text(std::size_t most) const {
  if (!is_text()) fail_expecting("a text in quotes");
  const auto& value = json_of(value_).get_ref<const std::string&>();
  if (value.size() > most)
    fail(fmt::format("is {} characters long; {} are allowed", value.size(), most));
  return value;
}
std::string JsonNode::name() const {
  std::string value = text(100);
  if (value.empty()) fail_expecting("a name of 1 to 100 characters");
  return value;
}
std::size_t JsonNode::choice(const Names& names) const {
  const std::string value = text(1000);
  const auto at = std::find(names.begin(), names.end(), value);
  if (at == names.end()) fail(found() + " is not known here" + suggest(value, names));
  return static_cast<std::size_t>(at - names.begin());
}

std::vector<double> JsonNode::numbers(std::size_t count, const NumberRange& range) const {
  if (!is_array() || json_of(value_).size() != count)
    fail_expecting(fmt::format("an array of {} numbers", count));
  std::vector<double> values;
  for (const JsonNode& item : items(count)) values.push_back(item.number(range));
  return values;
}
Vec3 JsonNode::vec(double limit) const {
  const std::vector<double> v = numbers(3, within(limit));
  return {v[0], v[1], v[2]};
}

}  // namespace isotact::detail

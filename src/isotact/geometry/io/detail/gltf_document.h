// The top level of a glTF file: version, extensions, and its lists by number. What lies inside an
// element is checked when something that is shown refers to it; the rest of the file is not read.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "isotact/geometry/io/detail/json.h"

namespace isotact::detail {

// One of the top-level arrays ("accessors"), with its elements by number.
class GltfList {
 public:
  GltfList(const JsonDocument& json, std::string_view key);  // a missing array is an empty list

  std::uint32_t size() const { return static_cast<std::uint32_t>(elements_.size()); }
  JsonValue at(std::uint32_t number) const { return json_->at(elements_[number]); }
  // The number that `reference` holds; Error where the list has no such element.
  std::uint32_t number_of(JsonValue reference) const;

 private:
  const JsonDocument* json_;
  std::string key_;
  std::vector<std::uint32_t> elements_;
};

// Throws where this is no glTF 2 or needs an extension that we cannot honour.
class GltfDocument {
 public:
  GltfDocument(std::string_view text, JsonSource source);

  const JsonDocument json;
  const GltfList buffers;
  const GltfList buffer_views;
  const GltfList accessors;
  const GltfList meshes;
  const GltfList nodes;
  const GltfList scenes;
};

// What was worked out for elements of a list, each at most once, however often it is referred to.
template <typename T>
class Memo {
 public:
  explicit Memo(std::uint32_t size) : slots_(size, kNone) {}

  template <typename Make>
  const T& get(std::uint32_t number, const Make& make) {
    if (slots_[number] == kNone) {
      values_.push_back(make());
      slots_[number] = static_cast<std::uint32_t>(values_.size() - 1);
    }
    return values_[slots_[number]];
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> slots_;
  std::deque<T> values_;  // references stay valid
};

}  // namespace isotact::detail

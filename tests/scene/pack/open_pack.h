// A reader of packs for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace isotact {

using Json = nlohmann::json;

// A pack as a page sees it, read by nothing of ours.
struct OpenPack {
  Json json;
  std::vector<std::byte> arrays;

  template <typename T>
  std::vector<T> get(const Json& view, const std::string& type) const {
    EXPECT_EQ(view[0], type);
    const auto at = view[1].get<std::size_t>(), count = view[2].get<std::size_t>();
    EXPECT_EQ(at % 8, 0U);
    std::vector<T> all(count);
    if (at + count * sizeof(T) > arrays.size())
      ADD_FAILURE() << "an array ends behind the pack";
    else if (count > 0)
      std::memcpy(all.data(), arrays.data() + at, count * sizeof(T));
    return all;
  }
  std::vector<float> floats(const Json& view) const { return get<float>(view, "f32"); }
  std::vector<double> doubles(const Json& view) const { return get<double>(view, "f64"); }
  std::vector<std::int16_t> shorts(const Json& view) const {
    return get<std::int16_t>(view, "i16");
  }
  std::vector<std::uint32_t> wholes(const Json& view) const {
    return get<std::uint32_t>(view, "u32");
  }
};

inline OpenPack open_pack(const std::vector<std::byte>& bytes) {
  EXPECT_EQ(std::memcmp(bytes.data(), "ISOPACK1", 8), 0);
  std::uint64_t size = 0;
  std::memcpy(&size, bytes.data() + 8, 8);
  EXPECT_EQ(size % 8, 0U);
  const auto* text = reinterpret_cast<const char*>(bytes.data()) + 16;
  return {Json::parse(text, text + size),
          {bytes.begin() + static_cast<std::ptrdiff_t>(16 + size), bytes.end()}};
}

}  // namespace isotact

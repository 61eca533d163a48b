#include "isotact/scene/detail/pack_arrays.inl"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "isotact/base/error.h"

namespace isotact::detail {

PackJson PackArrays::add_bytes(const char* type, std::span<const std::byte> bytes,
                               std::size_t count) {
  bytes_.resize((bytes_.size() + 7) / 8 * 8);
  PackJson view{type, bytes_.size(), count};
  if (bytes_.size() + bytes.size() > most_bytes_)
    throw Error(fmt::format("this is larger than the {} MB that a page can hold; {}",
                            most_bytes_ >> 20U, advice_));
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  return view;
}

std::vector<std::byte> join_pack(const PackJson& json, const std::vector<std::byte>& arrays) {
  constexpr char kMagic[8] = {'I', 'S', 'O', 'P', 'A', 'C', 'K', '1'};
  // Names from files may hold bytes that are not UTF-8.
  std::string text = json.dump(-1, ' ', false, PackJson::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::uint64_t size = text.size();
  std::vector<std::byte> pack(16 + text.size() + arrays.size());
  std::memcpy(pack.data(), kMagic, 8);
  std::memcpy(pack.data() + 8, &size, 8);
  std::memcpy(pack.data() + 16, text.data(), text.size());
  std::copy(arrays.begin(), arrays.end(),
            pack.begin() + static_cast<std::ptrdiff_t>(16 + text.size()));
  return pack;
}

}  // namespace isotact::detail

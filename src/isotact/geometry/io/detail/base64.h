// Base64 as data: URIs carry it (RFC 4648, section 4), strictly: padding needed, nothing else
// between the letters, unused bits zero.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace isotact::detail {

struct Base64Result {
  std::vector<std::byte> bytes;
  std::optional<std::size_t> flaw;  // the first character that does not belong there
};

Base64Result decode_base64(std::string_view text);

}  // namespace isotact::detail

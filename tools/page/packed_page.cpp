#include "packed_page.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>
#include <zlib.h>

#include "isotact/base/error.h"

namespace isotact::tool {
namespace {

// Of viewer/index.html.
constexpr std::string_view kMark = "<meta name=\"generator\" content=\"Isotact run viewer\"";
constexpr std::string_view kPackBegin = "id=\"run-pack\">", kPackEnd = "</script>";
constexpr std::size_t kMarkWithin = 4096;  // bytes from the start
constexpr int kGunzip = 15 + 16;           // the largest window, and a gzip header
// What write_run_pack may write, and room for its JSON.
constexpr std::size_t kMostUnpacked = std::size_t{600} << 20U;

[[noreturn]] void fail(const std::string& file, std::string_view why) {
  throw Error({.file = file}, fmt::format("the run in this page {}", why));
}

// Four characters are three bytes.
std::vector<unsigned char> decode_base64(std::string_view text, const std::string& file) {
  static const std::array<int, 256> values = [] {
    std::array<int, 256> table{};
    table.fill(-1);
    constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (std::size_t i = 0; i < kDigits.size(); ++i)
      table[static_cast<unsigned char>(kDigits[i])] = static_cast<int>(i);
    return table;
  }();
  if (text.size() % 4 != 0) fail(file, "has been cut short");
  std::vector<unsigned char> bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    // Only the last four may end in one or two signs that stand for nothing.
    std::size_t digits = 4;
    if (i + 4 == text.size())
      while (digits > 2 && text[i + digits - 1] == '=') --digits;
    std::uint32_t value = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const int digit = k < digits ? values[static_cast<unsigned char>(text[i + k])] : 0;
      if (digit < 0) fail(file, fmt::format("is broken at character {} of its base64", i + k));
      value = value << 6U | static_cast<std::uint32_t>(digit);
    }
    for (std::size_t k = 0; k + 1 < digits; ++k)
      bytes.push_back(static_cast<unsigned char>(value >> (16U - 8U * k)));
  }
  return bytes;
}

// Memory grows as bytes come out: none is taken on a file's word.
std::vector<std::byte> decompress(std::vector<unsigned char>& bytes, const std::string& file) {
  z_stream z{};
  if (inflateInit2(&z, kGunzip) != Z_OK) throw Error("zlib has no memory");
  std::vector<std::byte> out;
  constexpr std::size_t kLeast = 1U << 16U, kPiece = std::size_t{1} << 30U;
  int status = Z_OK;
  std::size_t taken = 0, made = 0;
  while (status == Z_OK) {
    if (z.avail_in == 0) {
      z.next_in = bytes.data() + taken;
      z.avail_in = static_cast<uInt>(std::min(kPiece, bytes.size() - taken));
      taken += z.avail_in;
    }
    if (made == out.size()) out.resize(std::min(std::max(kLeast, 2 * made), kMostUnpacked + 1));
    const std::size_t room = std::min(kPiece, out.size() - made);
    z.next_out = reinterpret_cast<Bytef*>(out.data() + made);
    z.avail_out = static_cast<uInt>(room);
    status = inflate(&z, Z_NO_FLUSH);
    made += room - z.avail_out;
    if (made > kMostUnpacked) break;
  }
  inflateEnd(&z);
  if (made > kMostUnpacked)
    fail(file, fmt::format("unpacks to more than {} MB", kMostUnpacked >> 20U));
  if (status == Z_BUF_ERROR) fail(file, "has been cut short");
  if (status != Z_STREAM_END) fail(file, "is broken: it cannot be unpacked");
  out.resize(made);
  return out;
}

}  // namespace

bool is_run_page(std::string_view page) {
  return page.substr(0, kMarkWithin).find(kMark) != std::string_view::npos;
}

std::vector<std::byte> find_run_pack(std::string_view page, const std::string& file) {
  const std::size_t begin = page.find(kPackBegin);
  if (begin == std::string_view::npos) throw Error({.file = file}, "there is no run in this page");
  const std::size_t end = page.find(kPackEnd, begin);
  if (end == std::string_view::npos) fail(file, "has been cut short");
  const std::size_t from = begin + kPackBegin.size();
  std::string_view text = page.substr(from, end - from);
  // Editors may put lines around it.
  constexpr std::string_view kBlanks = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  while (!text.empty() && kBlanks.find(text.back()) != std::string_view::npos)
    text.remove_suffix(1);
  std::vector<unsigned char> bytes = decode_base64(text, file);
  return decompress(bytes, file);
}

}  // namespace isotact::tool

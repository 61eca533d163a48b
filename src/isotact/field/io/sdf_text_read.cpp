// SDFGen's text, read word by word through a window, so that the text is never in memory as a
// whole.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/file.h"
#include "isotact/field/io/sdf_export.h"

namespace isotact {
namespace {

using ReadBytes = std::function<std::size_t(std::span<std::byte>)>;

class Words {
 public:
  Words(ReadBytes read, std::string_view name) : read_(std::move(read)), name_(name) {}

  // The next word, valid until the next call; empty at the end.
  std::string_view next() {
    for (;;) {
      while (begin_ < end_ && is_blank(window_[begin_])) {
        if (window_[begin_] == '\n') ++line_;
        ++begin_;
      }
      if (begin_ < end_) break;
      if (!refill()) return {};
    }
    std::size_t past = begin_;
    for (;;) {
      while (past < end_ && !is_blank(window_[past])) ++past;
      if (past - begin_ > kLongest) fail("a word is too long to be a number");
      if (past < end_) break;
      past -= begin_;
      const bool has_more = refill();
      past += begin_;
      if (!has_more) break;
    }
    const std::string_view word(window_.data() + begin_, past - begin_);
    begin_ = past;
    return word;
  }

  template <typename T>
  T number(std::string_view what) {
    std::string_view word = next();
    if (word.empty()) fail(fmt::format("the file ends where {} was expected", what));
    if (word.front() == '+') word.remove_prefix(1);
    T value{};
    const auto [past, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    // What is too small for its type counts as zero; what is too large is refused.
    if (error == std::errc::result_out_of_range && past == word.data() + word.size() &&
        std::is_floating_point_v<T> && is_below_one(word))
      return T{};
    if (error != std::errc{} || past != word.data() + word.size())
      fail(fmt::format("expected {}, found '{}'", what, printable(word)));
    if constexpr (std::is_floating_point_v<T>)
      if (!std::isfinite(value)) fail(fmt::format("{} is not finite", what));
    return value;
  }

  [[noreturn]] void fail(std::string_view message) const {
    throw Error({.file = std::string(name_), .line = line_}, message);
  }

 private:
  static constexpr std::size_t kLongest = 256;

  static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
  // Of a number out of range: whether because it is too small.
  static bool is_below_one(std::string_view word) {
    if (word.find_first_of("eE") != word.npos)
      return word.find("e-") != word.npos || word.find("E-") != word.npos;
    const std::size_t first = word.find_first_not_of('-');
    return first != word.npos && (word[first] == '0' || word[first] == '.');
  }

  // Moves what lies ahead to the start and reads on behind it; false at the end.
  bool refill() {
    std::memmove(window_.data(), window_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    const std::size_t n = read_(std::as_writable_bytes(std::span(window_).subspan(end_)));
    end_ += n;
    return n > 0;
  }

  ReadBytes read_;
  std::string_view name_;
  std::array<char, 65536> window_;
  std::size_t begin_ = 0, end_ = 0;
  std::uint64_t line_ = 1;
};

Lattice read_head(Words& words) {
  Lattice lattice;
  for (std::int32_t& cells : lattice.cells) {
    const auto nodes = words.number<std::int64_t>("the number of samples along an axis");
    if (nodes < 2 || nodes > std::numeric_limits<std::int32_t>::max())
      words.fail(fmt::format("{} samples along an axis; at least 2 are needed", nodes));
    cells = static_cast<std::int32_t>(nodes - 1);
  }
  for (std::size_t axis = 0; axis < 3; ++axis)
    lattice.origin[axis] = words.number<double>("a coordinate of the origin");
  lattice.spacing = words.number<double>("the spacing");
  if (!(lattice.spacing > 0)) words.fail("the spacing is not positive");
  return lattice;
}

LatticeSamples read_words(Words& words, std::uint64_t file_size) {
  LatticeSamples samples{.lattice = read_head(words), .values = {}};
  const Index3 nodes = node_counts(samples.lattice);
  // Three counts below 2^31 may overflow 64 bits; each value takes two bytes of the file or more.
  const double total = static_cast<double>(nodes[0]) * nodes[1] * nodes[2];
  if (total > 1e15) words.fail(fmt::format("{} samples are too many", total));
  const std::size_t expected = count(nodes);
  if (file_size > 0) {
    if (expected > file_size / 2 + 1)
      words.fail(fmt::format("{} values do not fit into a file of {} bytes", expected, file_size));
    samples.values.reserve(expected);
  }
  for (std::size_t i = 0; i < expected; ++i)
    samples.values.push_back(words.number<float>("a value"));
  if (!words.next().empty()) words.fail(fmt::format("more than {} values", expected));
  return samples;
}

}  // namespace

LatticeSamples read_sdf_text(const std::filesystem::path& path) {
  FileStream stream(path);
  const std::string name = path.string();
  Words words([&](std::span<std::byte> target) { return stream.read(target); }, name);
  return read_words(words, stream.size());
}

LatticeSamples read_sdf_text(std::span<const std::byte> bytes, std::string_view name) {
  const std::uint64_t size = bytes.size();
  Words words(
      [&](std::span<std::byte> target) {
        const std::size_t n = std::min(target.size(), bytes.size());
        std::copy_n(bytes.begin(), n, target.begin());
        bytes = bytes.subspan(n);
        return n;
      },
      name);
  return read_words(words, size);
}

}  // namespace isotact

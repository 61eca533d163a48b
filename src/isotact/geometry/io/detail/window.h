// A file, pipe or block of memory seen through a window of a quarter of a megabyte that only
// moves forward. All mesh readers work on it; their memory does not depend on the file's size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "isotact/base/file.h"
#include "isotact/base/progress.h"

namespace isotact::detail {

class Window {
 public:
  static constexpr std::size_t kUsualSize = std::size_t{1} << 18U;  // stays in a core's own cache
  // After ensure_token() more bytes than this are in the window, unless the file ends before. So a
  // blank and a word of this length, which is too long, differ from a blank and a shorter one.
  static constexpr std::size_t kMaxToken = 1024;
  static constexpr std::size_t kPadding = 8;  // zero bytes behind the end

  Window(const std::filesystem::path& path, const Monitor& monitor, std::size_t size = kUsualSize);
  Window(std::span<const std::byte> bytes, std::string_view name, const Monitor& monitor,
         std::size_t size = kUsualSize);

  const std::string& name() const { return name_; }
  const char* cursor() const { return cursor_; }
  // Past the last byte in the window; zero bytes stand here, so that scans need no other bound
  // and may read several bytes at a time.
  const char* end() const { return end_; }
  std::size_t available() const { return static_cast<std::size_t>(end_ - cursor_); }
  std::string_view text() const { return {cursor_, available()}; }
  void move_to(const char* cursor) { cursor_ = cursor; }

  // Whether everything up to the end of the file is in the window.
  bool is_last() const { return is_last_; }
  bool is_at_end() {
    if (cursor_ == end_ && !is_last_) refill();
    return cursor_ == end_;
  }
  void ensure_token() {
    while (available() <= kMaxToken && !is_last_) refill();
  }
  // Whether `count` bytes (at most kMaxToken) lie ahead.
  bool ensure(std::size_t count) {
    while (available() < count && !is_last_) refill();
    return available() >= count;
  }
  // Drops what lies before the cursor and reads on behind what lies ahead. Invalidates pointers;
  // reports progress; throws Cancelled.
  void refill();
  // Moves the cursor over bytes that need not be in the window; false where the file ends before.
  bool skip(std::uint64_t count);
  // Copies bytes that need not be in the window; false where the file ends before.
  bool copy_to(std::span<std::byte> target);
  // Everything from the cursor on, in one piece.
  std::vector<std::byte> take_rest();

  // The cursor's place in the file. Text: exact only in 8-bit encodings.
  std::uint64_t byte() const { return bytes_read_ - available(); }
  // The size of the file; nothing for pipes of more than a window.
  std::optional<std::uint64_t> file_size() const { return file_size_; }
  // From the cursor on; nothing for pipes.
  std::optional<std::uint64_t> remaining() const;

  // Steps over a byte order mark at the cursor and decodes UTF-16 from here on, characters beyond
  // ASCII becoming '?'. To be called before anything was read.
  void decode_text();
  // Whether the window holds characters instead of the file's bytes.
  bool is_decoded() const { return encoding_ != Encoding::kBytes; }

 private:
  enum class Encoding { kBytes, kUtf16Little, kUtf16Big };

  void start(std::size_t size);
  void set_end(std::size_t position);
  std::size_t read_source(std::span<std::byte> target);
  std::size_t decode_utf16(std::size_t begin, std::size_t count);

  std::string name_;
  std::string task_;
  Monitor monitor_;
  std::variant<std::span<const std::byte>, FileStream> source_;
  std::optional<std::uint64_t> file_size_;
  std::uint64_t bytes_read_ = 0;
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
  const char* cursor_ = nullptr;
  const char* end_ = nullptr;
  bool is_last_ = false;
  Encoding encoding_ = Encoding::kBytes;
  std::optional<char> half_unit_;  // the first byte of a UTF-16 unit whose second is still unread
};

}  // namespace isotact::detail

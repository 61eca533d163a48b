#include "isotact/geometry/io/detail/window.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace isotact::detail {

Window::Window(const std::filesystem::path& path, const Monitor& monitor, std::size_t size)
    : name_(path.string()), monitor_(monitor), source_(FileStream(path)) {
  if (const std::uint64_t bytes = std::get<FileStream>(source_).size(); bytes > 0)
    file_size_ = bytes;
  start(size);
}

Window::Window(std::span<const std::byte> bytes, std::string_view name, const Monitor& monitor,
               std::size_t size)
    : name_(name), monitor_(monitor), source_(bytes), file_size_(bytes.size()) {
  start(size);
}

void Window::start(std::size_t size) {
  assert(size >= 2 * kMaxToken);
  task_ = "reading " + name_;
  // A small file needs no more than its size and the byte whose absence tells the end.
  capacity_ = file_size_ ? std::clamp<std::size_t>(*file_size_ + 1, 2 * kMaxToken, size) : size;
  buffer_ = std::make_unique_for_overwrite<char[]>(capacity_ + kPadding);
  cursor_ = end_ = buffer_.get();
  refill();
  // A pipe that is all in the window has a size after all.
  if (is_last_ && bytes_read_ > 0) file_size_ = bytes_read_;
}

void Window::set_end(std::size_t position) {
  end_ = buffer_.get() + position;
  std::memset(buffer_.get() + position, 0, kPadding);
}

std::size_t Window::read_source(std::span<std::byte> target) {
  std::size_t count = 0;
  if (auto* memory = std::get_if<std::span<const std::byte>>(&source_)) {
    count = std::min(target.size(), memory->size());
    std::copy_n(memory->begin(), count, target.begin());
    *memory = memory->subspan(count);
  } else {
    count = std::get<FileStream>(source_).read(target);
  }
  bytes_read_ += count;
  is_last_ = count < target.size();
  monitor_.check();
  monitor_.report({.task = task_, .done = bytes_read_, .total = file_size_.value_or(0)});
  return count;
}

void Window::refill() {
  char* const buffer = buffer_.get();
  std::size_t kept = available();
  assert(kept < capacity_);
  std::memmove(buffer, cursor_, kept);
  if (half_unit_) buffer[kept] = *half_unit_;
  const std::size_t begin = kept + (half_unit_ ? 1U : 0U);
  half_unit_.reset();
  std::size_t count = begin - kept;
  count += read_source(std::as_writable_bytes(std::span(buffer + begin, capacity_ - begin)));
  if (encoding_ != Encoding::kBytes) count = decode_utf16(kept, count);
  cursor_ = buffer;
  set_end(kept + count);
}

bool Window::skip(std::uint64_t count) {
  while (count > available()) {
    count -= available();
    cursor_ = end_;
    if (is_at_end()) return count == 0;
  }
  cursor_ += count;
  return true;
}

bool Window::copy_to(std::span<std::byte> target) {
  while (!target.empty()) {
    if (is_at_end()) return false;
    const std::size_t count = std::min(target.size(), available());
    std::memcpy(target.data(), cursor_, count);
    cursor_ += count;
    target = target.subspan(count);
  }
  return true;
}

std::vector<std::byte> Window::take_rest() {
  std::vector<std::byte> rest;
  rest.reserve(remaining().value_or(0) + 1);
  while (!is_at_end()) {
    const auto bytes = std::as_bytes(std::span(cursor_, available()));
    rest.insert(rest.end(), bytes.begin(), bytes.end());
    cursor_ = end_;
  }
  return rest;
}

std::optional<std::uint64_t> Window::remaining() const {
  if (!file_size_) return std::nullopt;
  // A file that grew while it was read has more than was promised.
  return available() + (*file_size_ > bytes_read_ ? *file_size_ - bytes_read_ : 0);
}

void Window::decode_text() {
  const std::string_view start = text();
  if (start.starts_with("\xEF\xBB\xBF")) {
    cursor_ += 3;
  } else if (start.starts_with("\xFF\xFE") || start.starts_with("\xFE\xFF")) {
    encoding_ = start[0] == '\xFF' ? Encoding::kUtf16Little : Encoding::kUtf16Big;
    cursor_ += 2;
    const auto begin = static_cast<std::size_t>(cursor_ - buffer_.get());
    const std::size_t count = decode_utf16(begin, available());
    set_end(begin + count);
  }
}

std::size_t Window::decode_utf16(std::size_t begin, std::size_t count) {
  char* out = buffer_.get() + begin;
  const char* const first = out;
  for (std::size_t i = 0; i + 1 < count; i += 2) {
    const char low = first[encoding_ == Encoding::kUtf16Little ? i : i + 1];
    const char high = first[encoding_ == Encoding::kUtf16Little ? i + 1 : i];
    *out++ = high == 0 && static_cast<unsigned char>(low) < 0x80 ? low : '?';
  }
  if (count % 2 == 1 && !is_last_) half_unit_ = first[count - 1];
  return static_cast<std::size_t>(out - first);
}

}  // namespace isotact::detail

// Files as bytes. Every failure is an Error that names the file and the system's reason; a
// directory, a missing or an unreadable file each say so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace isotact {

// A copy of the whole file. Also reads pipes and devices; refuses more than max_bytes.
std::vector<std::byte> read_file(const std::filesystem::path& path,
                                 std::uint64_t max_bytes = std::uint64_t{1} << 40U);

// Writes to a temporary file beside path and renames it, so that a failed write leaves what was
// there before. A path that is not a regular file (/dev/stdout, a pipe) is written to directly.
void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_file(const std::filesystem::path& path, std::string_view text);

// The same for bytes that are made while they are written: produce(append) calls append for one
// piece after the other. Where it throws, what was there before stays. Pieces are not buffered.
using AppendBytes = std::function<void(std::span<const std::byte>)>;
void write_file_in_pieces(const std::filesystem::path& path,
                          const std::function<void(const AppendBytes&)>& produce);

// A file's bytes read piece by piece, so that a reader's memory does not depend on the file's size.
class FileStream {
 public:
  explicit FileStream(const std::filesystem::path& path);
  ~FileStream();
  FileStream(FileStream&&) noexcept;
  FileStream& operator=(FileStream&&) noexcept;

  // Fills the buffer, but for the end of the file; returns the bytes written.
  std::size_t read(std::span<std::byte> buffer);
  // The size when opened; 0 for pipes and devices.
  std::uint64_t size() const { return size_; }

 private:
  void close();

  std::filesystem::path path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

// A read-only map of a file. Hazard: if another process cuts the file short while it is mapped,
// reading the lost part kills this process (SIGBUS). Map only files that nobody rewrites in place.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&&) noexcept;
  MappedFile& operator=(MappedFile&&) noexcept;

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  void unmap();

  std::span<const std::byte> bytes_{};
};

}  // namespace isotact

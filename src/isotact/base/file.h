// Files as bytes. Every failure is an Error that names the file and the system's reason. A
// directory, a missing file and an unreadable file each have their own message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

// Returns a copy of the whole file. Also reads pipes and devices. Throws Error for more than
// max_bytes.
std::vector<std::byte> read_file(const std::filesystem::path& path,
                                 std::uint64_t max_bytes = std::uint64_t{1} << 40U);

// Writes to a temporary file beside path and renames it, so a failed write leaves the previous file
// unchanged. A path that is not a regular file (/dev/stdout, a pipe) is written to directly.
void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_file(const std::filesystem::path& path, std::string_view text);

// The same for bytes that are produced while they are written: produce(append) calls append for one
// piece after the other. If it throws, the previous file stays unchanged. Pieces are not buffered.
using AppendBytes = std::function<void(std::span<const std::byte>)>;
void write_file_in_pieces(const std::filesystem::path& path,
                          const std::function<void(const AppendBytes&)>& produce);

// Reads a file's bytes piece by piece, so a reader's memory does not depend on the file's size.
class FileStream {
 public:
  explicit FileStream(const std::filesystem::path& path);
  ~FileStream();
  FileStream(FileStream&&) noexcept;
  FileStream& operator=(FileStream&&) noexcept;

  // Fills the buffer unless the file ends first; returns the number of bytes written to it.
  std::size_t read(std::span<std::byte> buffer);
  // The size when the file was opened; 0 for pipes and devices.
  std::uint64_t size() const { return size_; }

 private:
  void close();

  std::filesystem::path path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

// A read-only map of a file. Hazard: if another process truncates the file while it is mapped,
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

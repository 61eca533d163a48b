#include "isotact/base/file.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "isotact/base/error.h"

namespace isotact {
namespace {

[[noreturn]] void throw_system(const std::filesystem::path& path, std::string_view doing,
                               int code) {
  throw Error({.file = path.string()},
              fmt::format("cannot {}: {}", doing, std::system_category().message(code)));
}

struct OpenFile {
  int descriptor;
  std::uint64_t size;
  bool is_regular;
};

OpenFile open_to_read(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw_system(path, "open", errno);
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) {
    const int code = errno;
    ::close(descriptor);
    throw_system(path, "examine", code);
  }
  if (S_ISDIR(status.st_mode)) {
    ::close(descriptor);
    throw Error({.file = path.string()}, "is a directory; a file was expected");
  }
  const bool is_regular = S_ISREG(status.st_mode);
  return {descriptor, is_regular ? static_cast<std::uint64_t>(status.st_size) : 0, is_regular};
}

void write_all(int descriptor, std::span<const std::byte> bytes,
               const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(descriptor, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_system(path, "write", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

using Produce = std::function<void(const AppendBytes&)>;

void write_to(const std::filesystem::path& path, int flags, const Produce& produce,
              const std::filesystem::path& name_in_errors) {
  const int descriptor = ::open(path.c_str(), flags | O_WRONLY | O_CLOEXEC, 0666);
  if (descriptor < 0) throw_system(name_in_errors, "create", errno);
  try {
    produce(
        [&](std::span<const std::byte> piece) { write_all(descriptor, piece, name_in_errors); });
  } catch (...) {
    ::close(descriptor);
    throw;
  }
  // The last errors of a full or remote disk arrive here.
  if (::close(descriptor) != 0) throw_system(name_in_errors, "write", errno);
}

// Returns the file that a write to `path` replaces. A link stays a link and its target is replaced,
// even if that does not exist yet.
std::filesystem::path end_of_links(std::filesystem::path path) {
  constexpr int kMostLinks = 40;  // As many as Linux follows.
  const std::filesystem::path first = path;
  std::error_code error;
  for (int i = 0; i < kMostLinks; ++i) {
    if (!std::filesystem::is_symlink(path, error)) return path;
    const std::filesystem::path next = std::filesystem::read_symlink(path, error);
    if (error) throw_system(first, "follow the link", error.value());
    path = next.is_absolute() ? next : path.parent_path() / next;
  }
  throw_system(first, "follow the link", ELOOP);
}

}  // namespace

std::vector<std::byte> read_file(const std::filesystem::path& path, std::uint64_t max_bytes) {
  FileStream stream(path);
  const auto too_big = [&] {
    return Error({.file = path.string()}, fmt::format("is larger than {} bytes", max_bytes));
  };
  if (stream.size() > max_bytes) throw too_big();
  constexpr std::size_t kStep = 1U << 16U;
  // One byte more than the size: the read that finds the end needs no growth.
  std::vector<std::byte> bytes(stream.size() > 0 ? stream.size() + 1 : kStep);
  std::size_t filled = 0;
  for (;;) {
    const std::size_t n = stream.read(std::span(bytes).subspan(filled));
    filled += n;
    if (filled > max_bytes) throw too_big();
    if (filled < bytes.size()) break;
    bytes.resize(bytes.size() * 2);
  }
  bytes.resize(filled);
  return bytes;
}

void write_file_in_pieces(const std::filesystem::path& path, const Produce& produce) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw Error({.file = path.string()}, "is a directory; cannot write a file there");
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored)) {
    write_to(path, 0, produce, path);
    return;
  }
  const std::filesystem::path target = end_of_links(path);
  struct stat before {};
  const bool replaces = ::stat(target.c_str(), &before) == 0;
  if (replaces && ::access(target.c_str(), W_OK) != 0) throw_system(path, "write", errno);
  // Unique in this process by the counter and among processes by the pid.
  static std::atomic<unsigned> counter{0};
  std::filesystem::path temporary = target;
  temporary += fmt::format(".{}.{}.part", ::getpid(), counter++);
  try {
    write_to(temporary, O_CREAT | O_TRUNC, produce, path);
    if (replaces && ::chmod(temporary.c_str(), before.st_mode & 07777U) != 0)
      throw_system(path, "keep the permissions", errno);
    if (::rename(temporary.c_str(), target.c_str()) != 0) throw_system(path, "replace", errno);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
}

void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  write_file_in_pieces(path, [&](const AppendBytes& append) { append(bytes); });
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  write_file(path, std::as_bytes(std::span(text)));
}

FileStream::FileStream(const std::filesystem::path& path) : path_(path) {
  const OpenFile file = open_to_read(path);
  descriptor_ = file.descriptor;
  size_ = file.size;
}

FileStream::~FileStream() { close(); }

FileStream::FileStream(FileStream&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_) {}

FileStream& FileStream::operator=(FileStream&& other) noexcept {
  close();
  path_ = std::move(other.path_);
  descriptor_ = std::exchange(other.descriptor_, -1);
  size_ = other.size_;
  return *this;
}

void FileStream::close() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

std::size_t FileStream::read(std::span<std::byte> buffer) {
  std::size_t filled = 0;
  while (filled < buffer.size()) {
    const ssize_t n = ::read(descriptor_, buffer.data() + filled, buffer.size() - filled);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_system(path_, "read", errno);
    if (n == 0) break;
    filled += static_cast<std::size_t>(n);
  }
  return filled;
}

MappedFile::MappedFile(const std::filesystem::path& path) {
  const OpenFile file = open_to_read(path);
  if (!file.is_regular) {
    ::close(file.descriptor);
    throw Error({.file = path.string()}, "cannot be mapped: it is not a regular file");
  }
  if (file.size == 0) {  // mmap refuses empty maps.
    ::close(file.descriptor);
    return;
  }
  void* start = ::mmap(nullptr, file.size, PROT_READ, MAP_PRIVATE, file.descriptor, 0);
  const int code = errno;
  ::close(file.descriptor);
  if (start == MAP_FAILED) throw_system(path, "map", code);
  bytes_ = {static_cast<const std::byte*>(start), file.size};
}

MappedFile::~MappedFile() { unmap(); }

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  unmap();
  bytes_ = std::exchange(other.bytes_, {});
  return *this;
}

void MappedFile::unmap() {
  const std::span<const std::byte> old = std::exchange(bytes_, {});
  if (!old.empty()) ::munmap(const_cast<std::byte*>(old.data()), old.size());
}

}  // namespace isotact

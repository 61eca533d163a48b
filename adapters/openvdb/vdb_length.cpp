#include "vdb_length.h"

#include <cstdint>
#include <fstream>

#include "isotact/base/error.h"

namespace isotact::detail {
namespace {

constexpr std::int64_t kMagic = 0x56444220;  // " BDV"
// From this version on, the header has the form that is read below.
constexpr std::uint32_t kFirstVersion = 222;

// Steps through a file, never beyond its end.
class Walk {
 public:
  explicit Walk(const std::filesystem::path& path)
      : stream_(path, std::ios::binary), size_(std::filesystem::file_size(path)) {}

  template <typename T>
  T take() {
    T value{};
    stream_.read(reinterpret_cast<char*>(&value), sizeof value);
    if (!stream_) fail();
    return value;
  }
  void skip(std::uint64_t bytes) {
    const auto here = static_cast<std::uint64_t>(stream_.tellg());
    if (bytes > size_ - here) fail();
    stream_.seekg(static_cast<std::streamoff>(bytes), std::ios::cur);
  }
  void skip_counted() { skip(take<std::uint32_t>()); }
  void go_to(std::int64_t place) {
    if (place < stream_.tellg() || static_cast<std::uint64_t>(place) > size_) fail();
    stream_.seekg(place);
  }

 private:
  [[noreturn]] static void fail() {
    throw Error("the file ends before what it promises: it was cut");
  }

  std::ifstream stream_;
  std::uint64_t size_;
};

// Name, type and value of each, all with their lengths before them.
void skip_metadata(Walk& walk) {
  for (auto left = walk.take<std::int32_t>(); left > 0; --left)
    for (int part = 0; part < 3; ++part) walk.skip_counted();
}

}  // namespace

void check_vdb_length(const std::filesystem::path& path) {
  if (!std::filesystem::is_regular_file(path)) return;  // OpenVDB reports it.
  Walk walk(path);
  if (walk.take<std::int64_t>() != kMagic) return;
  if (walk.take<std::uint32_t>() < kFirstVersion) return;
  walk.skip(2 * sizeof(std::uint32_t));  // The library's version.
  const bool has_offsets = walk.take<char>() != 0;
  walk.skip(36);  // The file's identity, as text.
  skip_metadata(walk);
  if (!has_offsets) return;
  for (auto left = walk.take<std::int32_t>(); left > 0; --left) {
    // Names of itself, its type, and its parent.
    for (int name = 0; name < 3; ++name) walk.skip_counted();
    for (int place = 0; place < 2; ++place)
      walk.take<std::int64_t>();  // Offsets of the grid and of its blocks.
    walk.go_to(walk.take<std::int64_t>());
  }
}

}  // namespace isotact::detail

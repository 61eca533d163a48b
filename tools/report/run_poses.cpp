#include "run_poses.h"

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/file.h"

#include "commands/command.h"

namespace isotact::tool {
namespace {

constexpr std::array<const char*, 15> kNames{"step", "body", "x",  "y",  "z",  "qw", "qx", "qy",
                                             "qz",   "vx",   "vy", "vz", "wx", "wy", "wz"};
constexpr std::size_t kColumns = kNames.size();
using Row = std::array<double, kColumns>;

// A name with a comma, a quote or a line break is quoted (RFC 4180).
std::string csv_field(std::string_view name) {
  if (name.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(name);
  std::string text = "\"";
  for (const char c : name) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + "\"";
}

void append_text(const AppendBytes& append, std::string_view text) {
  append(std::as_bytes(std::span(text)));
}

void append_csv(std::span<const Row> rows, const SceneRun& run, const AppendBytes& append) {
  fmt::memory_buffer text;
  const auto to = std::back_inserter(text);
  for (const Row& row : rows) {
    fmt::format_to(to, "{:.0f},{}", row[0],
                   csv_field(run.body_name(static_cast<std::size_t>(row[1]))));
    for (std::size_t c = 2; c < kColumns; ++c) fmt::format_to(to, ",{}", row[c]);
    text.push_back('\n');
  }
  append_text(append, {text.data(), text.size()});
}

// NumPy's format, version 1: the header is padded to a whole number of 64 bytes.
std::string npy_header(std::uint64_t rows) {
  static_assert(std::endian::native == std::endian::little);
  std::string header =
      fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}", rows, kColumns);
  constexpr std::size_t kBefore = 10, kBlock = 64;
  header.append(kBlock - (kBefore + header.size() + 1) % kBlock, ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 0xffU);
  bytes += static_cast<char>(header.size() >> 8U);
  return bytes + header;
}

}  // namespace

RunPoses::RunPoses(std::string file, const SceneRun& run)
    : file_(std::move(file)), waiting_(std::tmpfile()) {
  if (!waiting_)
    throw Error({.file = file_},
                fmt::format("no temporary file for its rows: {}", std::strerror(errno)));
  add(run);
}

void RunPoses::add(const SceneRun& run) {
  const World& world = run.world();
  for (BodyId id = 0; id < world.body_count(); ++id) {
    const Pose pose = world.pose(id);
    const Vec3 v = velocity(world.body(id)), w = angular_velocity(world.body(id));
    const Quat& q = pose.rotation;
    const Vec3& p = pose.translation;
    const Row row{static_cast<double>(run.report().number),
                  static_cast<double>(id),
                  p.x,
                  p.y,
                  p.z,
                  q.w,
                  q.x,
                  q.y,
                  q.z,
                  v.x,
                  v.y,
                  v.z,
                  w.x,
                  w.y,
                  w.z};
    if (std::fwrite(row.data(), sizeof row, 1, waiting_.get()) != 1)
      throw Error({.file = file_},
                  fmt::format("its rows cannot be kept: {}", std::strerror(errno)));
    ++rows_;
  }
}

void RunPoses::write(const SceneRun& run) {
  constexpr std::size_t kPiece = 1024;  // Rows.
  const bool npy = lower_extension(file_) == ".npy";
  std::rewind(waiting_.get());
  write_file_in_pieces(file_, [&](const AppendBytes& append) {
    append_text(append, npy ? npy_header(rows_) : fmt::format("{}\n", fmt::join(kNames, ",")));
    std::vector<Row> piece(kPiece);
    for (std::uint64_t done = 0; done < rows_;) {
      const std::size_t count = std::fread(piece.data(), sizeof(Row), kPiece, waiting_.get());
      if (count == 0)
        throw Error({.file = file_}, "its rows cannot be read again from the temporary file");
      const std::span<const Row> rows(piece.data(), count);
      if (npy)
        append(std::as_bytes(rows));
      else
        append_csv(rows, run, append);
      done += count;
    }
  });
}

}  // namespace isotact::tool

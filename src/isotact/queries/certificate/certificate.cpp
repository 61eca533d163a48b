// Certificates as text, and the hashes in them.
#include "isotact/queries/certificate/certificate.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/file.h"
#include "isotact/base/hash.h"

namespace isotact {
namespace {

constexpr std::string_view kFirstLine = "isotact-certificate 1";
constexpr std::size_t kMostCells = 4096;
constexpr std::size_t kMostName = 4096;  // bytes
constexpr std::uint64_t kSecondSeed = 0x9e3779b97f4a7c15ULL;

CertificateHash hash_both(std::span<const std::byte> bytes, std::uint64_t seed_1 = 0,
                          std::uint64_t seed_2 = kSecondSeed) {
  return {hash_bytes(bytes, seed_1), hash_bytes(bytes, seed_2)};
}

// ---- writing ------------------------------------------------------------------------------------

void add_mesh(std::string& text, char letter, const CertificateMesh& mesh) {
  fmt::format_to(std::back_inserter(text), "{}.mesh {} {:016x} {:016x} {}\n", letter,
                 mesh.triangle_count, mesh.hash[0], mesh.hash[1],
                 without_control_codes(std::string_view(mesh.file).substr(0, kMostName / 4)));
}

void add_body(std::string& text, char letter, const BodyMotion& motion) {
  for (const auto& [key, pose] : {std::pair{"from", &motion.from}, std::pair{"to", &motion.to}}) {
    const auto& [r, t] = *pose;
    fmt::format_to(std::back_inserter(text), "{}.{} {} {} {} {} {} {} {}\n", letter, key, t.x, t.y,
                   t.z, r.w, r.x, r.y, r.z);
  }
  fmt::format_to(std::back_inserter(text), "{}.pivot {} {} {}\n", letter, motion.pivot.x,
                 motion.pivot.y, motion.pivot.z);
}

void add_claim(std::string& text, const Certificate& c) {
  switch (c.claim) {
    case CertificateClaim::kFree:
      fmt::format_to(std::back_inserter(text), "claim free {}\n", c.clearance);
      break;
    case CertificateClaim::kContact:
      fmt::format_to(std::back_inserter(text), "claim contact {} {} {} {} {} {}\n", c.free_until,
                     c.contact_time, c.time_tolerance, c.distance_tolerance, c.triangle_a,
                     c.triangle_b);
      break;
    case CertificateClaim::kContained:
      fmt::format_to(std::back_inserter(text), "claim contained {} {}\n",
                     c.inner == Body::kA ? 'a' : 'b',
                     c.inner == Body::kA ? c.triangle_a : c.triangle_b);
      break;
  }
}

// ---- reading ------------------------------------------------------------------------------------

// One line after the other, each a key and values between single blanks.
class LineReader {
 public:
  LineReader(std::string_view text, std::string_view file) : rest_(text), file_(file) {}

  [[noreturn]] void fail(const std::string& message) const {
    throw Error(FileSpot{.file = std::string(file_), .line = line_}, message);
  }

  void next() {
    ++line_;
    if (rest_.empty()) fail("the certificate ends before its last line, 'end'");
    const std::size_t end = rest_.find('\n');
    words_ = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (words_.ends_with('\r')) words_.remove_suffix(1);
  }
  void next(std::string_view key) {
    next();
    if (word() != key) fail(fmt::format("expected a line '{} ...'", key));
  }

  bool is_at_end() const { return rest_.empty(); }
  std::size_t bytes_left() const { return rest_.size(); }
  std::string_view line() const { return words_; }

  std::string_view word() {
    const std::size_t end = words_.find(' ');
    const std::string_view found = words_.substr(0, end);
    words_.remove_prefix(end == std::string_view::npos ? words_.size() : end + 1);
    return found;
  }
  void end_line() const {
    if (!words_.empty()) fail(fmt::format("'{}' is too much", printable(words_)));
  }

  double number() {
    const std::string_view text = word();
    double value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
      fail(fmt::format("expected a finite number, found '{}'", printable(text)));
    return value;
  }
  std::uint64_t whole(std::uint64_t most, int base = 10) {
    const std::string_view text = word();
    std::uint64_t value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (code != std::errc{} || end != text.data() + text.size() || value > most)
      fail(fmt::format("expected a whole number up to {}, found '{}'", most, printable(text)));
    return value;
  }
  Vec3 vector() {
    const double x = number(), y = number(), z = number();
    return {x, y, z};
  }
  Body body() {
    const std::string_view text = word();
    if (text != "a" && text != "b")
      fail(fmt::format("expected a or b, found '{}'", printable(text)));
    return text == "a" ? Body::kA : Body::kB;
  }
  CertificateHash hash() {
    constexpr std::uint64_t kAny = ~std::uint64_t{0};
    const std::uint64_t first = whole(kAny, 16), second = whole(kAny, 16);
    return {first, second};
  }

 private:
  std::string_view rest_, words_{};
  std::string_view file_;
  std::uint64_t line_ = 0;
};

CertificateMesh read_mesh_line(LineReader& in, std::string_view key) {
  in.next(key);
  CertificateMesh mesh;
  mesh.triangle_count = in.whole(~std::uint64_t{0});
  mesh.hash = in.hash();
  if (in.line().size() > kMostName) in.fail("the file name is too long");
  mesh.file = without_control_codes(in.line());
  return mesh;
}

Pose read_pose_line(LineReader& in, std::string_view key) {
  in.next(key);
  Pose pose;
  pose.translation = in.vector();
  const double w = in.number();
  const Vec3 v = in.vector();
  pose.rotation = {w, v.x, v.y, v.z};
  in.end_line();
  return pose;
}

BodyMotion read_body(LineReader& in, const std::string& letter) {
  BodyMotion motion;
  motion.from = read_pose_line(in, letter + ".from");
  motion.to = read_pose_line(in, letter + ".to");
  in.next(letter + ".pivot");
  motion.pivot = in.vector();
  in.end_line();
  return motion;
}

void read_claim(LineReader& in, Certificate& c) {
  constexpr std::uint64_t kMostIndex = 0xfffffffeU;
  in.next("claim");
  const std::string_view kind = in.word();
  if (kind == name(CertificateClaim::kFree)) {
    c.claim = CertificateClaim::kFree;
    c.clearance = in.number();
  } else if (kind == name(CertificateClaim::kContact)) {
    c.claim = CertificateClaim::kContact;
    c.free_until = in.number();
    c.contact_time = in.number();
    c.time_tolerance = in.number();
    c.distance_tolerance = in.number();
    c.triangle_a = static_cast<std::uint32_t>(in.whole(kMostIndex));
    c.triangle_b = static_cast<std::uint32_t>(in.whole(kMostIndex));
  } else if (kind == name(CertificateClaim::kContained)) {
    c.claim = CertificateClaim::kContained;
    c.inner = in.body();
    (c.inner == Body::kA ? c.triangle_a : c.triangle_b) =
        static_cast<std::uint32_t>(in.whole(kMostIndex));
  } else {
    in.fail(fmt::format("'{}' is no claim: free, contact or contained", printable(kind)));
  }
  in.end_line();
}

CertificateCell read_cell(LineReader& in) {
  in.next("cell");
  CertificateCell cell;
  cell.box.lower = in.vector();
  cell.box.upper = in.vector();
  constexpr std::size_t kLeastBytes = 4;  // of an interval's line: "0 1\n"
  const std::uint64_t count = in.whole(in.bytes_left() / kLeastBytes + 1);
  in.end_line();
  cell.intervals.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    in.next();
    const double from = in.number(), to = in.number();
    in.end_line();
    cell.intervals.push_back({from, to});
  }
  return cell;
}

}  // namespace

std::string_view name(CertificateClaim claim) {
  switch (claim) {
    case CertificateClaim::kFree:
      return "free";
    case CertificateClaim::kContact:
      return "contact";
    case CertificateClaim::kContained:
      return "contained";
  }
  return "";
}

CertificateHash hash_triangles(const TriangleMesh& mesh) {
  // In blocks, each hash the seed of the next: no copy of the whole mesh.
  constexpr std::size_t kBlock = 4096;
  std::vector<float> block;
  block.reserve(9 * kBlock);
  CertificateHash hash{0, kSecondSeed};
  const auto take = [&] {
    hash = hash_both(std::as_bytes(std::span(block)), hash[0], hash[1]);
    block.clear();
  };
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const auto c = corners(mesh, i);
    if (!is_finite(c[0]) || !is_finite(c[1]) || !is_finite(c[2])) continue;
    for (const Vec3f& p : c)  // adding +0 turns -0 into +0
      block.insert(block.end(), {p.x + 0.0F, p.y + 0.0F, p.z + 0.0F});
    if (block.size() == 9 * kBlock) take();
  }
  take();
  return hash;
}

CertificateHash hash_motion(const CertificateMotion& motion) {
  std::vector<double> numbers{static_cast<double>(motion.model),
                              static_cast<double>(motion.degree)};
  for (const BodyMotion* body : {&motion.a, &motion.b}) {
    for (const Pose* pose : {&body->from, &body->to}) {
      const auto& [r, t] = *pose;
      numbers.insert(numbers.end(), {t.x, t.y, t.z, r.w, r.x, r.y, r.z});
    }
    numbers.insert(numbers.end(), {body->pivot.x, body->pivot.y, body->pivot.z});
  }
  for (double& number : numbers) number += 0.0;
  return hash_both(std::as_bytes(std::span(numbers)));
}

std::string encode_certificate(const Certificate& c) {
  std::string text(kFirstLine);
  text += '\n';
  add_mesh(text, 'a', c.a);
  add_mesh(text, 'b', c.b);
  add_body(text, 'a', c.motion.a);
  add_body(text, 'b', c.motion.b);
  fmt::format_to(std::back_inserter(text), "motion {} {} {:016x} {:016x}\n", name(c.motion.model),
                 c.motion.degree, c.motion_hash[0], c.motion_hash[1]);
  add_claim(text, c);
  fmt::format_to(std::back_inserter(text), "divided {} {}\n", c.divided == Body::kA ? 'a' : 'b',
                 c.cells.size());
  for (const CertificateCell& cell : c.cells) {
    const auto& [l, u] = cell.box;
    fmt::format_to(std::back_inserter(text), "cell {} {} {} {} {} {} {}\n", l.x, l.y, l.z, u.x, u.y,
                   u.z, cell.intervals.size());
    for (const CertificateInterval& t : cell.intervals)
      fmt::format_to(std::back_inserter(text), "{} {}\n", t.from, t.to);
  }
  return text + "end\n";
}

Certificate decode_certificate(std::string_view text, std::string_view file_name) {
  LineReader in(text, file_name);
  if (text.size() > kMostCertificateBytes)
    in.fail(fmt::format("has {} bytes; a certificate has at most {}", text.size(),
                        kMostCertificateBytes));
  if (!text.starts_with("isotact-certificate "))
    throw Error(FileSpot{.file = std::string(file_name)},
                "is no certificate of isotact: it does not start with 'isotact-certificate'");
  in.next();
  if (in.line() != kFirstLine)
    in.fail(fmt::format("'{}' is a certificate of a version that this program does not know",
                        printable(in.line())));
  Certificate c;
  c.a = read_mesh_line(in, "a.mesh");
  c.b = read_mesh_line(in, "b.mesh");
  c.motion.a = read_body(in, "a");
  c.motion.b = read_body(in, "b");
  in.next("motion");
  const std::string_view model_name = in.word();
  const auto model = find_motion_model(model_name);
  if (!model) in.fail(fmt::format("'{}' is no model of motion", printable(model_name)));
  c.motion.model = *model;
  c.motion.degree = static_cast<int>(in.whole(8));
  c.motion_hash = in.hash();
  in.end_line();
  read_claim(in, c);
  in.next("divided");
  c.divided = in.body();
  const std::uint64_t cells = in.whole(kMostCells);
  in.end_line();
  for (std::uint64_t i = 0; i < cells; ++i) c.cells.push_back(read_cell(in));
  in.next();
  if (in.line() != "end" || !in.is_at_end()) in.fail("expected the last line, 'end'");
  return c;
}

Certificate read_certificate(const std::filesystem::path& path) {
  const std::vector<std::byte> bytes = read_file(path, kMostCertificateBytes);
  return decode_certificate({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                            path.string());
}

void write_certificate(const std::filesystem::path& path, const Certificate& certificate) {
  write_file(path, std::string_view(encode_certificate(certificate)));
}

}  // namespace isotact

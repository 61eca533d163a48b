#include "isotact/field/io/detail/small_sections.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "isotact/base/error.h"

namespace isotact::detail {
namespace {

struct SourceHead {
  std::uint64_t mesh_hash;
  std::uint32_t settings_size;     // bytes of text that follow this head
  std::uint32_t sign_report_size;  // and of the text behind it, to the end of the section
};
static_assert(sizeof(SourceHead) == 16);

struct MassBytes {
  std::uint32_t status;  // 0 solid, 1 open, 2 no volume
  std::uint32_t inward;  // 0 or 1
  double volume;         // m^3
  double area;           // m^2
  double center[3];      // m
  double inertia[6];     // m^5, density 1, about the centre: xx yy zz xy xz yz
  double principal_moments[3];
  double mesh_from_principal[4];  // w x y z
};
static_assert(sizeof(MassBytes) == 152);

struct Letter {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  // 0: no UTF-8
};

// The letter at the front of a text that is not empty. Longer forms than needed, halves of
// surrogate pairs and codes beyond Unicode are no UTF-8 (RFC 3629).
Letter first_letter(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return std::uint32_t{static_cast<unsigned char>(text[i])};
  };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < bytes) return {};
  std::uint32_t code = first & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return {};
    code = code << 6U | (byte(i) & 0x3fU);
  }
  const std::uint32_t least = bytes == 4 ? 0x10000 : bytes == 3 ? 0x800 : 0x80;
  if (code < least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {};
  return {code, bytes};
}

void check_text(std::string_view text, std::string_view what) {
  for (std::string_view rest = text; !rest.empty();) {
    const auto [code, bytes] = first_letter(rest);
    if (bytes == 0)
      throw Error(
          fmt::format("source: {} is not UTF-8 at byte {}", what, text.size() - rest.size()));
    if ((code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7f && code < 0xa0))
      throw Error(fmt::format("source: {} has the control code 0x{:02x}", what, code));
    rest.remove_prefix(bytes);
  }
  if (text.size() > std::numeric_limits<std::uint32_t>::max())
    throw Error(fmt::format("source: {} is longer than 4 GiB", what));
}

void check_mass(const MassBytes& m) {
  const auto all_finite = [](std::span<const double> numbers) {
    return std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::isfinite(x); });
  };
  if (m.status > 2 || m.inward > 1) throw Error("mass properties: unknown status");
  if (!(m.volume >= 0 && m.area >= 0 && std::isfinite(m.volume) && std::isfinite(m.area)))
    throw Error("mass properties: volume or area is negative or not finite");
  if (!all_finite(m.center) || !all_finite(m.inertia) || !all_finite(m.principal_moments))
    throw Error("mass properties: centre or inertia is not finite");
  double length_sq = 0;
  for (const double x : m.mesh_from_principal) length_sq += x * x;
  if (!(std::abs(length_sq - 1) < 1e-6))
    throw Error("mass properties: the rotation of the principal axes is not a unit quaternion");
}

std::vector<std::byte> bytes_of(const void* start, std::size_t size) {
  const auto* bytes = static_cast<const std::byte*>(start);
  return {bytes, bytes + size};
}

}  // namespace

std::vector<std::byte> encode_source(const SourceInfo& source) {
  check_text(source.settings, "the settings");
  check_text(source.sign_report, "the sign report");
  const SourceHead head{source.mesh_hash, static_cast<std::uint32_t>(source.settings.size()),
                        static_cast<std::uint32_t>(source.sign_report.size())};
  std::vector<std::byte> bytes = bytes_of(&head, sizeof head);
  for (const std::string& text : {source.settings, source.sign_report}) {
    const auto letters = std::as_bytes(std::span(text));
    bytes.insert(bytes.end(), letters.begin(), letters.end());
  }
  return bytes;
}

SourceInfo decode_source(std::span<const std::byte> bytes) {
  SourceHead head;
  if (bytes.size() < sizeof head) throw Error("source: is too short");
  std::memcpy(&head, bytes.data(), sizeof head);
  const std::size_t expected =
      sizeof head + std::size_t{head.settings_size} + head.sign_report_size;
  if (bytes.size() != expected)
    throw Error(fmt::format("source: {} bytes, expected {}", bytes.size(), expected));
  const auto* letters = reinterpret_cast<const char*>(bytes.data()) + sizeof head;
  SourceInfo source{
      .mesh_hash = head.mesh_hash,
      .settings = std::string(letters, head.settings_size),
      .sign_report = std::string(letters + head.settings_size, head.sign_report_size)};
  check_text(source.settings, "the settings");
  check_text(source.sign_report, "the sign report");
  return source;
}

std::vector<std::byte> encode_mass(const MassProperties& given) {
  const MassProperties p = with_density(given, 1);
  const auto& r = p.inertia.rows;
  const Quat& q = p.mesh_from_principal;
  const MassBytes m{
      .status = static_cast<std::uint32_t>(p.status),
      .inward = p.inward ? 1U : 0U,
      .volume = p.volume,
      .area = p.area,
      .center = {p.center.x, p.center.y, p.center.z},
      .inertia = {r[0].x, r[1].y, r[2].z, r[0].y, r[0].z, r[1].z},
      .principal_moments = {p.principal_moments.x, p.principal_moments.y, p.principal_moments.z},
      .mesh_from_principal = {q.w, q.x, q.y, q.z}};
  check_mass(m);
  return bytes_of(&m, sizeof m);
}

MassProperties decode_mass(std::span<const std::byte> bytes) {
  MassBytes m;
  if (bytes.size() != sizeof m)
    throw Error(fmt::format("mass properties: {} bytes, expected {}", bytes.size(), sizeof m));
  std::memcpy(&m, bytes.data(), sizeof m);
  check_mass(m);
  const double* i = m.inertia;
  const double* q = m.mesh_from_principal;
  return {
      .status = static_cast<MassStatus>(m.status),
      .inward = m.inward == 1,
      .volume = m.volume,
      .area = m.area,
      .mass = m.volume,
      .density = 1,
      .center = {m.center[0], m.center[1], m.center[2]},
      .inertia = {{Vec3{i[0], i[3], i[4]}, Vec3{i[3], i[1], i[5]}, Vec3{i[4], i[5], i[2]}}},
      .principal_moments = {m.principal_moments[0], m.principal_moments[1], m.principal_moments[2]},
      .mesh_from_principal = {q[0], q[1], q[2], q[3]},
      .warnings = {}};
}

namespace {

constexpr char kMagic[8] = {'I', 'S', 'O', 'D', 'E', 'N', 'S', 'E'};

void check_header(const DenseGridHeader& h, std::size_t size) {
  const auto require = [](bool holds, const char* what) {
    if (!holds) throw Error(fmt::format("dense grid: {}", what));
  };
  require(std::memcmp(h.magic, kMagic, sizeof kMagic) == 0, "the magic is not ISODENSE");
  require(h.version == 1, "the version is not 1");
  require(h.holds_body <= 1, "holds_body is neither 0 nor 1");
  require(h.total_bytes == size, "total_bytes is not the section's size");
  require(h.sample_offset == sizeof(DenseGridHeader), "sample_offset is not 128");
  require(h.unused0 == 0 && std::all_of(std::begin(h.unused), std::end(h.unused),
                                        [](std::uint8_t b) { return b == 0; }),
          "unused bytes are not zero");
  require(std::isfinite(h.spacing) && h.spacing > 0, "the spacing is not positive");
  require(h.error[0] <= h.error[1], "the error's ends are not in order");
  // Counts of nodes are compared as doubles: a hostile product would not fit 64 bits.
  double samples = 1;
  for (const std::int32_t n : h.cells) {
    require(n > 0, "a side has no cells");
    samples *= static_cast<double>(n) + 1;
  }
  require(samples * sizeof(float) + sizeof(DenseGridHeader) == static_cast<double>(size),
          "the section's size is not that of its nodes");
}

}  // namespace

std::vector<std::byte> encode_dense_grid(const DenseGrid& grid) {
  const DenseGridParts& parts = grid.parts();
  DenseGridHeader h{};
  std::memcpy(h.magic, kMagic, sizeof kMagic);
  h.version = 1;
  h.holds_body = parts.holds_body ? 1 : 0;
  const Lattice& l = parts.lattice;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    h.origin[axis] = l.origin[axis];
    h.cells[axis] = l.cells[axis];
  }
  h.spacing = l.spacing;
  h.error[0] = parts.sample_error.lower;
  h.error[1] = parts.sample_error.upper;
  const std::span samples = std::as_bytes(grid.samples());
  h.sample_offset = sizeof h;
  h.total_bytes = sizeof h + samples.size();
  std::vector<std::byte> bytes(h.total_bytes);
  std::memcpy(bytes.data(), &h, sizeof h);
  std::memcpy(bytes.data() + sizeof h, samples.data(), samples.size());
  return bytes;
}

DenseGrid decode_dense_grid(std::span<const std::byte> bytes) {
  DenseGridHeader h{};
  if (bytes.size() < sizeof h) throw Error("dense grid: ends in its header");
  std::memcpy(&h, bytes.data(), sizeof h);
  check_header(h, bytes.size());
  DenseGridParts parts{.lattice = {.origin = {h.origin[0], h.origin[1], h.origin[2]},
                                   .spacing = h.spacing,
                                   .cells = {h.cells[0], h.cells[1], h.cells[2]}},
                       .samples = std::vector<float>((bytes.size() - sizeof h) / sizeof(float)),
                       .sample_error = {h.error[0], h.error[1]},
                       .holds_body = h.holds_body == 1};
  std::memcpy(parts.samples.data(), bytes.data() + sizeof h, bytes.size() - sizeof h);
  return DenseGrid(std::move(parts));
}

}  // namespace isotact::detail

#include "isotact/field/voxmap/voxmap.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/field/flat_buffer.h"
#include "isotact/field/voxmap/detail/voxmap_layers.h"

namespace isotact {

namespace detail {

std::size_t bytes_a_voxel(VoxmapEncoding encoding) {
  return encoding == VoxmapEncoding::kLayers   ? sizeof(std::int16_t)
         : encoding == VoxmapEncoding::kScaled ? sizeof(std::int32_t)
                                               : sizeof(SupportVoxel);
}

double power_of_ten(int exponent) {
  assert(std::abs(exponent) <= kMaxVoxmapPrecision);
  double power = 1;  // whole numbers to 10^12 are exact
  for (int n = 0; n < std::abs(exponent); ++n) power *= 10;
  return exponent < 0 ? 1 / power : power;
}

std::optional<std::string> find_flaw_in_voxmap_lattice(const Lattice& lattice) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (lattice.cells[axis] < 1 || lattice.cells[axis] > kMaxVoxmapCells)
      return fmt::format("{} voxels along axis {}; 1 to {} are possible", lattice.cells[axis], axis,
                         kMaxVoxmapCells);
  if (!(lattice.spacing >= 1e-30 && lattice.spacing <= 1e30))
    return fmt::format("the voxel size is {}; it must be positive and finite", lattice.spacing);
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (!(std::fabs(lattice.origin[axis]) <= 1e9 * lattice.spacing))
      return fmt::format("origin {} is too far away for voxels of {}", lattice.origin[axis],
                         lattice.spacing);
  return std::nullopt;
}

std::optional<std::string> find_flaw_in_counts(std::span<const std::int16_t> layers,
                                               const VoxmapHeader& header) {
  const LayerCounts counts = count_layers(layers);
  if (counts.surface == 0) return "there is no surface voxel";
  if (counts.surface != header.surface_voxels || counts.inner != header.inner_voxels ||
      counts.outer != header.outer_voxels)
    return "the numbers of surface, inner and outer voxels are not those of the header";
  if (counts.deepest != header.deepest_layer || counts.furthest != header.furthest_layer)
    return "the outermost layers are not those of the header";
  return std::nullopt;
}

std::optional<std::string> find_flaw_in_layers(std::span<const std::int16_t> layers,
                                               const Index3& cells) {
  std::vector<std::uint8_t> surface(layers.size());
  for (std::size_t n = 0; n < layers.size(); ++n) surface[n] = layers[n] == 0 ? 1 : 0;
  std::vector<std::int16_t> expected(layers.size());
  compute_chessboard_distances(surface, cells, expected, Threads{1});
  Runs runs = fill_outside(surface, cells, Threads{1});
  decide_enclosed(runs, cells, expected, [&](std::size_t place) { return layers[place] > 0; });
  apply_signs(runs, cells, expected, Threads{1});
  for (std::size_t n = 0; n < layers.size(); ++n)
    if (layers[n] != expected[n])
      return fmt::format("voxel {} has layer {}, the surface voxels make it {}", n, layers[n],
                         expected[n]);
  return std::nullopt;
}

}  // namespace detail

namespace {

Lattice lattice_of(const VoxmapHeader& header) {
  return {.origin = {header.origin[0], header.origin[1], header.origin[2]},
          .spacing = header.voxel_size,
          .cells = {header.cells[0], header.cells[1], header.cells[2]}};
}

std::optional<std::string> find_flaw_in_support(std::span<const SupportVoxel> support,
                                                std::vector<std::int16_t>& layers) {
  for (std::size_t n = 0; n < support.size(); ++n) {
    const SupportVoxel& voxel = support[n];
    const Vec3f gradient{voxel.gradient[0], voxel.gradient[1], voxel.gradient[2]};
    if (!std::isfinite(voxel.penetration) || !(length_sq(gradient) <= 1.001F))
      return fmt::format("voxel {}: penetration {}, gradient of length {}", n, voxel.penetration,
                         length(gradient));
    if (std::abs(static_cast<std::int64_t>(voxel.layer)) > kMaxVoxmapCells ||
        voxel.penetration * voxel.layer < 0)
      return fmt::format("voxel {}: penetration {} in layer {}", n, voxel.penetration, voxel.layer);
    layers[n] = static_cast<std::int16_t>(voxel.layer);
  }
  return std::nullopt;
}

std::optional<std::string> find_flaw_in_contents(std::span<const std::byte> buffer,
                                                 const VoxmapHeader& header) {
  const Index3 cells{header.cells[0], header.cells[1], header.cells[2]};
  const std::size_t voxels = count(cells);
  const std::byte* const data = buffer.data() + header.data_offset;
  const auto encoding = static_cast<VoxmapEncoding>(header.encoding);
  if (!std::all_of(data + voxels * detail::bytes_a_voxel(encoding), buffer.data() + buffer.size(),
                   [](std::byte b) { return b == std::byte{0}; }))
    return "padding behind the voxels is not zero";
  std::vector<std::int16_t> layers;
  std::span<const std::int16_t> values;
  switch (encoding) {
    case VoxmapEncoding::kScaled: {
      const auto* const scaled = reinterpret_cast<const std::int32_t*>(data);
      if (std::any_of(scaled, scaled + voxels,
                      [](std::int32_t v) { return v == std::numeric_limits<std::int32_t>::min(); }))
        return "a voxel is -2^31, which no penetration becomes";
      return std::nullopt;
    }
    case VoxmapEncoding::kSupport:
      layers.resize(voxels);
      if (auto flaw =
              find_flaw_in_support({reinterpret_cast<const SupportVoxel*>(data), voxels}, layers))
        return flaw;
      values = layers;
      break;
    case VoxmapEncoding::kLayers:
      values = {reinterpret_cast<const std::int16_t*>(data), voxels};
      break;
  }
  if (auto flaw = detail::find_flaw_in_counts(values, header)) return flaw;
  return detail::find_flaw_in_layers(values, cells);
}

// Room for the rounding of a closest point to float32, at the coordinates of the box.
double rounding_in(const Lattice& lattice) {
  const Aabb box = bounds(lattice);
  double reach = 0;
  for (std::size_t axis = 0; axis < 3; ++axis)
    reach = std::max({reach, std::fabs(box.lower[axis]), std::fabs(box.upper[axis])});
  return 0x1p-21 * reach;
}

}  // namespace

std::optional<std::string> find_flaw_in_voxmap(std::span<const std::byte> buffer, bool deep) {
  if (buffer.size() < sizeof(VoxmapHeader))
    return fmt::format("{} bytes are too few for a header", buffer.size());
  if (!is_aligned(buffer.data())) return "the buffer is not aligned to 64 bytes";
  VoxmapHeader header{};
  std::memcpy(&header, buffer.data(), sizeof(header));
  if (std::memcmp(header.magic, "ISOVOXEL", 8) != 0) return "the magic is not ISOVOXEL";
  if (header.version != 1) return fmt::format("version {}, not 1", header.version);
  if (header.encoding > 2) return fmt::format("encoding {} is unknown", header.encoding);
  if (header.closest_method > 1)
    return fmt::format("closest-point method {} is unknown", header.closest_method);
  if (header.precision < -kMaxVoxmapPrecision || header.precision > kMaxVoxmapPrecision)
    return fmt::format("precision {}; it must be from -{} to {}", header.precision,
                       kMaxVoxmapPrecision, kMaxVoxmapPrecision);
  if ((header.encoding == 0 && header.closest_method != 0) ||
      (header.encoding != 1 && header.precision != 0))
    return "precision or closest-point method are set for an encoding that has none";
  const Lattice lattice = lattice_of(header);
  if (auto flaw = detail::find_flaw_in_voxmap_lattice(lattice)) return flaw;
  const std::uint64_t voxels = count(lattice.cells);
  const std::uint64_t needed = round_up_to_alignment(
      sizeof(header) +
      voxels * detail::bytes_a_voxel(static_cast<VoxmapEncoding>(header.encoding)));
  if (header.total_bytes != needed || buffer.size() != needed ||
      header.data_offset != sizeof(header))
    return fmt::format("{} bytes, header says {}, the lattice needs {}", buffer.size(),
                       header.total_bytes, needed);
  if (header.surface_voxels > voxels || header.inner_voxels > voxels ||
      header.outer_voxels > voxels ||
      header.surface_voxels + header.inner_voxels + header.outer_voxels != voxels)
    return "the numbers of surface, inner and outer voxels do not add up";
  if (header.deepest_layer < 0 || header.deepest_layer > kMaxVoxmapCells ||
      header.furthest_layer < 0 || header.furthest_layer > kMaxVoxmapCells)
    return fmt::format("outermost layers {} and {}", header.deepest_layer, header.furthest_layer);
  if (header.unused0 != 0 || !std::all_of(std::begin(header.unused), std::end(header.unused),
                                          [](std::uint8_t b) { return b == 0; }))
    return "unused bytes of the header are not zero";
  return deep ? find_flaw_in_contents(buffer, header) : std::nullopt;
}

Voxmap Voxmap::from_buffer(std::span<const std::byte> buffer, std::shared_ptr<const void> owner) {
  if (const auto flaw = find_flaw_in_voxmap(buffer)) throw Error("voxelmap: " + *flaw);
  return adopt(buffer, std::move(owner));
}

Voxmap Voxmap::adopt(std::span<const std::byte> buffer, std::shared_ptr<const void> owner) {
  Voxmap map;
  map.buffer_ = buffer;
  map.owner_ = std::move(owner);
  const VoxmapHeader& header = map.header();
  map.lattice_ = lattice_of(header);
  const std::size_t voxels = count(map.lattice_.cells);
  const std::byte* const data = buffer.data() + header.data_offset;
  switch (map.encoding()) {
    case VoxmapEncoding::kLayers:
      map.layers_ = {reinterpret_cast<const std::int16_t*>(data), voxels};
      break;
    case VoxmapEncoding::kScaled:
      map.scaled_ = {reinterpret_cast<const std::int32_t*>(data), voxels};
      map.scale_ = detail::power_of_ten(header.precision);
      break;
    case VoxmapEncoding::kSupport:
      map.support_ = {reinterpret_cast<const SupportVoxel*>(data), voxels};
      break;
  }
  return map;
}

Vec3 Voxmap::voxel_center(const Index3& voxel) const {
  return {lattice_.origin.x + lattice_.spacing * (voxel[0] + 0.5),
          lattice_.origin.y + lattice_.spacing * (voxel[1] + 0.5),
          lattice_.origin.z + lattice_.spacing * (voxel[2] + 0.5)};
}

Index3 Voxmap::voxel_at(const Vec3& point) const { return locate(lattice_, point).cell; }

bool Voxmap::is_solid(const Index3& voxel) const {
  if (encoding() == VoxmapEncoding::kScaled) return scaled_[place(voxel)] >= 0;
  return layer_value(voxel) >= 0;
}

int Voxmap::layer_value(const Index3& voxel) const {
  assert(encoding() != VoxmapEncoding::kScaled);
  return encoding() == VoxmapEncoding::kLayers ? layers_[place(voxel)]
                                               : support_[place(voxel)].layer;
}

double Voxmap::penetration_of_voxel(const Index3& voxel) const {
  switch (encoding()) {
    case VoxmapEncoding::kLayers:
      return layers_[place(voxel)] * lattice_.spacing;
    case VoxmapEncoding::kScaled:
      return scaled_[place(voxel)] / scale_;
    case VoxmapEncoding::kSupport:
      break;
  }
  return support_[place(voxel)].penetration;
}

double Voxmap::penetration(const Vec3& point, const Vec3& inward_normal) const {
  const Vec3 on_box = clamp_to(bounds(lattice_), point);
  const Index3 voxel = voxel_at(on_box);
  const double value =
      dot(inward_normal, voxel_center(voxel) - on_box) + penetration_of_voxel(voxel);
  const double gap = length(point - on_box);
  return gap > 0 ? -extend_outside(-value, gap) : value;
}

Vec3 Voxmap::closest_point_of_voxel(const Index3& voxel) const {
  assert(encoding() == VoxmapEncoding::kSupport);
  const SupportVoxel& v = support_[place(voxel)];
  return voxel_center(voxel) -
         to_double(Vec3f{v.gradient[0], v.gradient[1], v.gradient[2]}) * v.penetration;
}

double Voxmap::interpolated_penetration(const Vec3& point) const {
  assert(encoding() == VoxmapEncoding::kSupport);
  const Vec3 on_box = clamp_to(bounds(lattice_), point);
  const Index3 voxel = voxel_at(on_box);
  const SupportVoxel& v = support_[place(voxel)];
  const Vec3 gradient = to_double(Vec3f{v.gradient[0], v.gradient[1], v.gradient[2]});
  const double value = dot(gradient, on_box - voxel_center(voxel)) + v.penetration;
  const double gap = length(point - on_box);
  return gap > 0 ? -extend_outside(-value, gap) : value;
}

// The surface meets no closed voxel that is nearer than n along all axes, so it stays n - 1/2 away
// from the centre along one of them; and it meets one that is n away, all of which lies within
// n + 1/2 along each.
Interval layer_distance_bounds(int layer_value, double voxel_size) {
  const double n = std::abs(layer_value);
  const double upper = (n + 0.5) * std::sqrt(3.0) * voxel_size * (1 + 1e-8);
  if (layer_value == 0) return {-upper, upper};
  const double lower = (n - 0.5) * voxel_size * (1 - 1e-8);
  return layer_value > 0 ? Interval{-upper, -lower} : Interval{lower, upper};
}

Interval Voxmap::distance_bounds_of_voxel(const Index3& voxel) const {
  assert(encoding() != VoxmapEncoding::kScaled);
  const Interval by_layer = layer_distance_bounds(layer_value(voxel), lattice_.spacing);
  if (encoding() == VoxmapEncoding::kLayers) return by_layer;
  const double slack = rounding_in(lattice_), distance = -support_[place(voxel)].penetration;
  const auto method = static_cast<ClosestPointMethod>(header().closest_method);
  if (method == ClosestPointMethod::kExact || layer_value(voxel) == 0)
    return {distance - slack, distance + slack};
  // A walk ends at some point of the surface: the nearest one is no further away.
  return distance > 0 ? Interval{std::min(by_layer.lower, distance) - slack, distance + slack}
                      : Interval{distance - slack, std::max(by_layer.upper, distance) + slack};
}

Lattice voxmap_lattice(const Aabb& box, double voxel_size, int padding) {
  assert(voxel_size > 0 && padding >= 0 && !is_empty(box));
  Lattice lattice{.origin = {}, .spacing = voxel_size, .cells = {}};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double cells = std::ceil(extent(box)[axis] / voxel_size) + 2.0 * padding;
    if (!(cells <= kMaxVoxmapCells))
      throw Error(fmt::format("voxelmap: {} voxels along axis {}; at most {} are possible", cells,
                              axis, kMaxVoxmapCells));
    lattice.cells[axis] = std::max(static_cast<std::int32_t>(cells), 1);
    lattice.origin[axis] = center(box)[axis] - 0.5 * voxel_size * lattice.cells[axis];
  }
  return lattice;
}

namespace {

// A voxel's centre as a node of the lattice of centres.
void sample_support_node(const void* opaque, const Vec3& node, const Index3&,
                         detail::NodeSample& result) {
  const Voxmap& map = *static_cast<const Voxmap*>(opaque);
  const Index3 voxel = map.voxel_at(node);
  const SupportVoxel& v =
      map.support()[flat_index(map.lattice().cells, voxel[0], voxel[1], voxel[2])];
  result.sample = {-v.penetration, -to_double(Vec3f{v.gradient[0], v.gradient[1], v.gradient[2]})};
  result.bounds = map.distance_bounds_of_voxel(voxel);
}

// Then the surface stays a whole voxel away from the grid's faces, and half a voxel from the box of
// the centres.
bool is_border_outside(const Voxmap& map) {
  const Index3 n = map.lattice().cells;
  for (std::int32_t k = 0; k < n[2]; ++k)
    for (std::int32_t j = 0; j < n[1]; ++j)
      for (std::int32_t i = 0; i < n[0]; ++i) {
        const bool inner = i > 0 && i + 1 < n[0] && j > 0 && j + 1 < n[1] && k > 0 && k + 1 < n[2];
        if (!inner && map.is_solid({i, j, k})) return false;
      }
  return true;
}

}  // namespace

FirstOrderField to_first_order_field(const Voxmap& support, FirstOrderSettings settings) {
  if (support.encoding() != VoxmapEncoding::kSupport)
    throw Error("voxelmap: only a support map can become a field");
  Lattice centres = support.lattice();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (centres.cells[axis] < 2)
      throw Error("voxelmap: a field needs at least two voxels along each axis");
    --centres.cells[axis];
    centres.origin[axis] += 0.5 * centres.spacing;
  }
  settings.holds_body = is_border_outside(support);
  return detail::sample_first_order(&support, sample_support_node, centres, settings);
}

}  // namespace isotact

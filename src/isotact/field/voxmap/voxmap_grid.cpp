#include <algorithm>
#include <cmath>
#include <limits>

#include "isotact/base/error.h"
#include "isotact/field/voxmap/voxmap.h"

namespace isotact {
namespace {

constexpr double kVoxelHalfDiagonal = 0.8660254037844387;  // of a cube of side 1
constexpr float kNone = 1e12F;  // the square of more voxels than there are

// Turns squares of distances along other axes into those with this axis: of each place the least
// value[i] + (place - i)^2. The lower envelope of parabolas, after Felzenszwalb and Huttenlocher.
class RowEnvelope {
 public:
  explicit RowEnvelope(std::size_t most) : value_(most), vertex_(most), from_(most + 1) {}

  void apply(float* row, std::size_t count, std::size_t stride) {
    for (std::size_t i = 0; i < count; ++i) value_[i] = row[i * stride];
    std::size_t last = 0;
    vertex_[0] = 0;
    from_[0] = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 1; i < count; ++i) {
      double at = meet(vertex_[last], i);
      while (at <= from_[last]) at = meet(vertex_[--last], i);
      vertex_[++last] = i;
      from_[last] = at;
    }
    std::size_t now = 0;
    for (std::size_t i = 0; i < count; ++i) {
      while (now < last && from_[now + 1] < static_cast<double>(i)) ++now;
      const auto offset = static_cast<double>(i) - static_cast<double>(vertex_[now]);
      row[i * stride] = static_cast<float>(value(vertex_[now]) + offset * offset);
    }
  }

 private:
  double value(std::size_t i) const { return static_cast<double>(value_[i]); }
  // The place at which the parabolas of two places, a before b, cross.
  double meet(std::size_t a, std::size_t b) const {
    const auto x = static_cast<double>(a), y = static_cast<double>(b);
    return ((value(b) + y * y) - (value(a) + x * x)) / (2 * (y - x));
  }

  std::vector<float> value_;
  std::vector<std::size_t> vertex_;
  std::vector<double> from_;
};

void sweep(std::vector<float>& squares, const Index3& n, std::size_t axis, Threads threads) {
  const std::size_t strides[3] = {1, static_cast<std::size_t>(n[0]),
                                  static_cast<std::size_t>(n[0]) * static_cast<std::size_t>(n[1])};
  const std::size_t u = axis == 0 ? 1 : 0, v = axis == 2 ? 1 : 2;
  parallel_for(static_cast<std::size_t>(n[v]), 1, threads, [&](std::size_t begin, std::size_t end) {
    RowEnvelope envelope(static_cast<std::size_t>(n[axis]));
    for (std::size_t k = begin; k < end; ++k)
      for (std::size_t j = 0; j < static_cast<std::size_t>(n[u]); ++j)
        envelope.apply(squares.data() + k * strides[v] + j * strides[u],
                       static_cast<std::size_t>(n[axis]), strides[axis]);
  });
}

// The lattice whose nodes are the centres of the voxels, and of `around` more on each side.
Lattice centers_of(const Lattice& voxels, std::int32_t around) {
  const double before = (0.5 - around) * voxels.spacing;
  Lattice lattice{.origin = voxels.origin + Vec3{before, before, before},
                  .spacing = voxels.spacing};
  for (std::size_t axis = 0; axis < 3; ++axis)
    lattice.cells[axis] = voxels.cells[axis] - 1 + 2 * around;
  return lattice;
}

template <typename Value>
void for_each_node(const Lattice& lattice, Value&& value) {
  const Index3 n = node_counts(lattice);
  for (std::int32_t k = 0; k < n[2]; ++k)
    for (std::int32_t j = 0; j < n[1]; ++j)
      for (std::int32_t i = 0; i < n[0]; ++i) value(flat_index(n, i, j, k), Index3{i, j, k});
}

DenseGridParts grid_of_layers(const Voxmap& map, Threads threads) {
  const double s = map.voxel_size();
  DenseGridParts parts{
      .lattice = centers_of(map.lattice(), 1),
      .sample_error = {(0.5 - kVoxelHalfDiagonal) * s, (0.5 + kVoxelHalfDiagonal) * s},
      .holds_body = true};
  const Index3 n = node_counts(parts.lattice), voxels = map.lattice().cells;
  const auto layer_at = [&](const Index3& node) {
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (node[axis] == 0 || node[axis] > voxels[axis]) return -1;
    return map.layer_value({node[0] - 1, node[1] - 1, node[2] - 1});
  };
  parts.samples.resize(count(n));
  for_each_node(parts.lattice, [&](std::size_t at, const Index3& node) {
    parts.samples[at] = layer_at(node) == 0 ? 0 : kNone;
  });
  for (std::size_t axis = 0; axis < 3; ++axis) sweep(parts.samples, n, axis, threads);
  for_each_node(parts.lattice, [&](std::size_t at, const Index3& node) {
    const double away = s * std::sqrt(static_cast<double>(parts.samples[at]));
    parts.samples[at] = static_cast<float>((layer_at(node) > 0 ? -away : away) - s / 2);
  });
  return parts;
}

DenseGridParts grid_of_values(const Voxmap& map) {
  const VoxmapHeader& h = map.header();
  DenseGridParts parts{.lattice = centers_of(map.lattice(), 0), .holds_body = true};
  const Index3 n = node_counts(parts.lattice);
  if (std::min({n[0], n[1], n[2]}) < 2)
    throw Error("a voxelmap of one voxel along an axis has no field");
  parts.samples.resize(count(n));
  for_each_node(parts.lattice, [&](std::size_t at, const Index3& node) {
    parts.samples[at] = static_cast<float>(map.distance_of_voxel(node));
    bool on_rim = false;
    for (std::size_t axis = 0; axis < 3; ++axis)
      on_rim = on_rim || node[axis] == 0 || node[axis] == n[axis] - 1;
    if (on_rim && parts.samples[at] < 0) parts.holds_body = false;
  });
  double lost = map.encoding() == VoxmapEncoding::kScaled ? 1.01 : 0;
  for (int p = h.precision; p > 0; --p) lost /= 10;
  for (int p = h.precision; p < 0; ++p) lost *= 10;
  lost += 1e-6 * length(extent(bounds(map.lattice())));  // floats
  if (h.closest_method != static_cast<std::uint32_t>(ClosestPointMethod::kExact))
    lost = std::numeric_limits<double>::infinity();
  parts.sample_error = {-lost, lost};
  return parts;
}

}  // namespace

DenseGrid to_dense_grid(const Voxmap& voxmap, Threads threads) {
  const bool layers = voxmap.encoding() == VoxmapEncoding::kLayers;
  return DenseGrid(layers ? grid_of_layers(voxmap, threads) : grid_of_values(voxmap), threads);
}

}  // namespace isotact

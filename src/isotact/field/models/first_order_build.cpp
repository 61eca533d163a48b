// Sampling, the bounds of the whole, and the validator that computes them again.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "isotact/base/detail/shared_progress.h"
#include "isotact/base/error.h"
#include "isotact/base/machine.h"
#include "isotact/field/models/detail/first_order_layout.h"

namespace isotact {

namespace detail {

namespace {

constexpr std::int32_t kNodeCells = 4;  // spanned by a node of level 1

struct BlockBounds {
  double gradient_sq = 0;
  double hull_min = std::numeric_limits<double>::infinity();  // of cells at the box's faces
};

FloatRange round_outwards(const Interval& range) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  auto lower = static_cast<float>(range.lower);
  auto upper = static_cast<float>(range.upper);
  if (static_cast<double>(lower) > range.lower) lower = std::nextafter(lower, -kInfinity);
  if (static_cast<double>(upper) < range.upper) upper = std::nextafter(upper, kInfinity);
  return {lower, upper};
}

FloatRange summarise_block(const TexelView& texels, const Index3& cells, const Index3& block,
                           BlockBounds& bounds) {
  Interval range{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  Index3 first{}, end{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    first[axis] = block[axis] * kNodeCells;
    end[axis] = std::min(first[axis] + kNodeCells, cells[axis]);
  }
  const auto on_hull = [&](std::size_t axis, std::int32_t i) {
    return i == 0 || i == cells[axis] - 1;
  };
  for (std::int32_t k = first[2]; k < end[2]; ++k)
    for (std::int32_t j = first[1]; j < end[1]; ++j)
      for (std::int32_t i = first[0]; i < end[0]; ++i) {
        const ControlNet net = compute_control_net(texels.cell({i, j, k}));
        const Interval of_cell = compute_range(net);
        range = unite(range, of_cell);
        bounds.gradient_sq = std::max(bounds.gradient_sq, compute_gradient_bound_sq(net));
        if (on_hull(0, i) || on_hull(1, j) || on_hull(2, k))
          bounds.hull_min = std::min(bounds.hull_min, of_cell.lower);
      }
  return round_outwards(range);
}

// Each node of a level from up to eight of the one below.
void gather_level(std::vector<FloatRange>& tree, std::size_t below, const Index3& below_dims,
                  std::size_t here, const Index3& dims) {
  for (std::size_t n = here; n < here + count(dims); ++n)
    tree[n] = {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()};
  for (std::int32_t k = 0; k < below_dims[2]; ++k)
    for (std::int32_t j = 0; j < below_dims[1]; ++j)
      for (std::int32_t i = 0; i < below_dims[0]; ++i) {
        const FloatRange& child = tree[below + flat_index(below_dims, i, j, k)];
        FloatRange& parent = tree[here + flat_index(dims, i >> 1, j >> 1, k >> 1)];
        parent = {std::min(parent[0], child[0]), std::max(parent[1], child[1])};
      }
}

}  // namespace

// The Lipschitz bound. In the box the field is continuous and of bounded gradient in each cell.
// Outside, with gap d to the box and value v > 0 at its nearest point, the gradient is
// (away + v g) / sqrt(d^2 + v^2) with |away| = d and g, square to away, the gradient along the box:
// at most the larger of 1 and |g|. Where v <= 0 it is away / d + g: at most sqrt(1 + |g|^2).
FirstOrderResult summarise(const TexelView& texels, const Index3& cells, Threads threads) {
  const FirstOrderLayout layout = compute_first_order_layout(cells, FirstOrderStorage::kFloat32);
  FirstOrderResult summary;
  summary.tree.resize(layout.tree_nodes);
  const Index3 dims = first_order_tree_dims(cells, 1);
  const auto row_length = static_cast<std::size_t>(dims[0]);
  const std::size_t rows = count(dims) / row_length;
  const auto summarise_rows = [&](std::size_t begin, std::size_t end) {
    BlockBounds bounds;
    for (std::size_t n = begin * row_length; n < end * row_length; ++n) {
      const std::size_t row = n / row_length;
      const Index3 block{static_cast<std::int32_t>(n % row_length),
                         static_cast<std::int32_t>(row % static_cast<std::size_t>(dims[1])),
                         static_cast<std::int32_t>(row / static_cast<std::size_t>(dims[1]))};
      summary.tree[n] = summarise_block(texels, cells, block, bounds);
    }
    return bounds;
  };
  const BlockBounds bounds = parallel_reduce(
      rows, 4, threads, BlockBounds{}, summarise_rows, [](BlockBounds a, BlockBounds b) {
        return BlockBounds{std::max(a.gradient_sq, b.gradient_sq),
                           std::min(a.hull_min, b.hull_min)};
      });

  std::size_t below = 0;
  for (unsigned level = 2; level <= layout.level_count; ++level) {
    const Index3 below_dims = first_order_tree_dims(cells, level - 1);
    gather_level(summary.tree, below, below_dims, below + count(below_dims),
                 first_order_tree_dims(cells, level));
    below += count(below_dims);
  }
  const double outside =
      bounds.hull_min > 0 ? std::max(bounds.gradient_sq, 1.0) : bounds.gradient_sq + 1;
  summary.lipschitz = std::sqrt(outside) * (1 + 1e-12);
  return summary;
}

namespace {

std::optional<std::string> find_flaw_in_lattice(const Lattice& lattice) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (lattice.cells[axis] < 1 || lattice.cells[axis] > kMaxFirstOrderCells)
      return fmt::format("{} cells along axis {}; 1 to {} are possible", lattice.cells[axis], axis,
                         kMaxFirstOrderCells);
  if (!(lattice.spacing >= 1e-30 && lattice.spacing <= 1e30))
    return fmt::format("the spacing is {}; it must be positive and finite", lattice.spacing);
  // Nodes must be distinct numbers, with room for places between them.
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (!(std::fabs(lattice.origin[axis]) <= 1e9 * lattice.spacing))
      return fmt::format("origin {} is too far away for a spacing of {}", lattice.origin[axis],
                         lattice.spacing);
  return std::nullopt;
}

struct SampleErrors {
  double near = 0, far = 0;  // metres
};

// Rounds one node's sample to its texel and returns the components as stored.
std::array<float, 4> store_texel(const std::array<double, 4>& exact, FirstOrderStorage storage,
                                 std::byte* texels, std::size_t node) {
  std::array<float, 4> stored{};
  if (storage == FirstOrderStorage::kHalf) {
    auto* const out = reinterpret_cast<std::uint16_t*>(texels) + 4 * node;
    for (std::size_t c = 0; c < 4; ++c) {
      out[c] = half_from_double(exact[c]);
      stored[c] = float_from_half(out[c]);
    }
  } else {
    auto* const out = reinterpret_cast<float*>(texels) + 4 * node;
    for (std::size_t c = 0; c < 4; ++c) stored[c] = out[c] = static_cast<float>(exact[c]);
  }
  return stored;
}

bool all_finite(const std::array<float, 4>& texel) {
  return std::all_of(texel.begin(), texel.end(), [](float c) { return std::isfinite(c); });
}

void sample_node(const void* field, NodeSampler sampler, const Lattice& lattice,
                 const FirstOrderSettings& settings, const Index3& at, std::byte* texels,
                 SampleErrors& errors) {
  const Vec3 node = node_position(lattice, at[0], at[1], at[2]);
  NodeSample result;
  sampler(field, node, at, result);
  const Vec3 half = result.sample.gradient * 0.5;
  const std::array<double, 4> exact{half.x, half.y, half.z,
                                    result.sample.distance / lattice.spacing};
  const std::array<float, 4> stored = store_texel(
      exact, settings.storage, texels, flat_index(node_counts(lattice), at[0], at[1], at[2]));
  if (!all_finite(stored))
    throw Error(fmt::format(
        "first-order field: the sample at ({}, {}, {}) does not fit: distance {} m ({} cells), "
        "gradient ({}, {}, {}); {} holds up to {} cells",
        node.x, node.y, node.z, result.sample.distance, exact[3], 2 * half.x, 2 * half.y,
        2 * half.z, settings.storage == FirstOrderStorage::kHalf ? "binary16" : "float32",
        settings.storage == FirstOrderStorage::kHalf ? kHalfMax : 3.4e38));
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (settings.holds_body && result.bounds.upper < 0 &&
        (at[axis] == 0 || at[axis] == lattice.cells[axis]))
      throw Error(
          fmt::format("first-order field: the body reaches out of the lattice's box at "
                      "({}, {}, {}); enlarge the box, or set holds_body to false",
                      node.x, node.y, node.z));
  const double kept = static_cast<double>(stored[3]) * lattice.spacing;
  const double error = std::max(kept - result.bounds.lower, result.bounds.upper - kept);
  double& slot = std::fabs(stored[3]) <= kFirstOrderNear ? errors.near : errors.far;
  if (!(error <= slot)) slot = error;
}

SampleErrors sample_nodes(const void* field, NodeSampler sampler, const Lattice& lattice,
                          const FirstOrderSettings& settings, std::byte* texels) {
  const Index3 nodes = node_counts(lattice);
  const auto rows = static_cast<std::size_t>(nodes[1]) * static_cast<std::size_t>(nodes[2]);
  SharedProgress progress(settings.monitor, "sampling values and gradients", rows);
  const auto sample_rows = [&](std::size_t begin, std::size_t end) {
    SampleErrors errors;
    for (std::size_t row = begin; row < end; ++row)
      for (std::int32_t i = 0; i < nodes[0]; ++i) {
        const auto ny = static_cast<std::size_t>(nodes[1]);
        sample_node(field, sampler, lattice, settings,
                    {i, static_cast<std::int32_t>(row % ny), static_cast<std::int32_t>(row / ny)},
                    texels, errors);
      }
    progress.advance(end - begin);
    return errors;
  };
  return parallel_reduce(
      rows, 8, settings.threads, SampleErrors{}, sample_rows, [](SampleErrors a, SampleErrors b) {
        return SampleErrors{a.near >= b.near ? a.near : b.near, a.far >= b.far ? a.far : b.far};
      });
}

TexelView view_of(const std::byte* texels, FirstOrderStorage storage, const Index3& cells) {
  return {
      .texels = texels, .storage = storage, .nodes = {cells[0] + 1, cells[1] + 1, cells[2] + 1}};
}

}  // namespace

FirstOrderField sample_first_order(const void* field, NodeSampler sampler, const Lattice& lattice,
                                   const FirstOrderSettings& settings) {
  settings.monitor.check();
  if (const auto flaw = find_flaw_in_lattice(lattice)) throw Error("first-order field: " + *flaw);
  const FirstOrderLayout layout = compute_first_order_layout(lattice.cells, settings.storage);
  check_memory(first_order_build_bytes(lattice, settings.storage), settings.max_memory,
               "the first-order field");

  FlatRoom buffer = make_zeroed_room(layout.total_bytes);
  std::byte* const texels = buffer.bytes.data() + layout.texel_offset;
  const SampleErrors errors = sample_nodes(field, sampler, lattice, settings, texels);
  const FirstOrderResult summary =
      summarise(view_of(texels, settings.storage, lattice.cells), lattice.cells, settings.threads);

  FirstOrderHeader header{};
  std::memcpy(header.magic, "ISOFIRST", 8);
  header.version = 1;
  header.storage = static_cast<std::uint32_t>(settings.storage);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    header.origin[axis] = lattice.origin[axis];
    header.cells[axis] = lattice.cells[axis];
  }
  header.spacing = lattice.spacing;
  header.holds_body = settings.holds_body ? 1 : 0;
  header.lipschitz = summary.lipschitz;
  header.near_error = errors.near * (1 + 1e-12);
  header.far_error = errors.far * (1 + 1e-12);
  header.level_count = layout.level_count;
  header.total_bytes = layout.total_bytes;
  header.texel_offset = layout.texel_offset;
  header.tree_offset = layout.tree_offset;
  std::memcpy(buffer.bytes.data(), &header, sizeof(header));
  std::memcpy(buffer.bytes.data() + layout.tree_offset, summary.tree.data(),
              summary.tree.size() * sizeof(FloatRange));
  return FirstOrderField::adopt(buffer.bytes, std::move(buffer.owner));
}

}  // namespace detail

double first_order_build_bytes(const Lattice& lattice, FirstOrderStorage storage) {
  const detail::FirstOrderLayout layout =
      detail::compute_first_order_layout(lattice.cells, storage);
  // The tree is held twice for a moment.
  return static_cast<double>(layout.total_bytes + layout.tree_nodes * sizeof(detail::FloatRange));
}

namespace {

std::optional<std::string> find_flaw_in_contents(std::span<const std::byte> buffer,
                                                 const FirstOrderHeader& header,
                                                 const detail::FirstOrderLayout& layout) {
  const Index3 cells{header.cells[0], header.cells[1], header.cells[2]};
  const auto storage = static_cast<FirstOrderStorage>(header.storage);
  const detail::TexelView texels =
      detail::view_of(buffer.data() + layout.texel_offset, storage, cells);
  for (std::size_t node = 0; node < count(texels.nodes); ++node)
    if (!detail::all_finite(texels.at(node))) return fmt::format("node {} is not finite", node);
  const detail::FirstOrderResult summary = detail::summarise(texels, cells, Threads{1});
  if (header.lipschitz != summary.lipschitz)
    return fmt::format("the Lipschitz bound is {}, the texels' is {}", header.lipschitz,
                       summary.lipschitz);
  if (std::memcmp(buffer.data() + layout.tree_offset, summary.tree.data(),
                  summary.tree.size() * sizeof(detail::FloatRange)) != 0)
    return "the tree of ranges is not that of the texels";
  const auto is_zero = [](std::byte b) { return b == std::byte{0}; };
  const std::size_t node_bytes = storage == FirstOrderStorage::kHalf ? 8 : 16;
  const std::size_t texel_end = layout.texel_offset + count(texels.nodes) * node_bytes;
  const std::size_t tree_end = layout.tree_offset + layout.tree_nodes * sizeof(detail::FloatRange);
  if (!std::all_of(buffer.data() + texel_end, buffer.data() + layout.tree_offset, is_zero) ||
      !std::all_of(buffer.data() + tree_end, buffer.data() + buffer.size(), is_zero))
    return "padding between the parts is not zero";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> find_flaw_in_first_order_field(std::span<const std::byte> buffer,
                                                          bool deep) {
  if (buffer.size() < sizeof(FirstOrderHeader))
    return fmt::format("{} bytes are too few for a header", buffer.size());
  if (!is_aligned(buffer.data())) return "the buffer is not aligned to 64 bytes";
  FirstOrderHeader header{};
  std::memcpy(&header, buffer.data(), sizeof(header));
  if (std::memcmp(header.magic, "ISOFIRST", 8) != 0) return "the magic is not ISOFIRST";
  if (header.version != 1) return fmt::format("version {}, not 1", header.version);
  if (header.storage > 1) return fmt::format("storage {} is unknown", header.storage);
  if (header.holds_body > 1) return fmt::format("holds_body is {}", header.holds_body);
  const Lattice lattice{.origin = {header.origin[0], header.origin[1], header.origin[2]},
                        .spacing = header.spacing,
                        .cells = {header.cells[0], header.cells[1], header.cells[2]}};
  if (auto flaw = detail::find_flaw_in_lattice(lattice)) return flaw;
  const auto layout = detail::compute_first_order_layout(
      lattice.cells, static_cast<FirstOrderStorage>(header.storage));
  if (header.total_bytes != layout.total_bytes || buffer.size() != layout.total_bytes)
    return fmt::format("{} bytes, header says {}, the lattice needs {}", buffer.size(),
                       header.total_bytes, layout.total_bytes);
  if (header.texel_offset != layout.texel_offset || header.tree_offset != layout.tree_offset ||
      header.level_count != layout.level_count)
    return "the parts do not lie where the lattice puts them";
  if (!(std::isfinite(header.lipschitz) && header.lipschitz >= 1))
    return fmt::format("the Lipschitz bound is {}", header.lipschitz);
  if (!(header.near_error >= 0 && header.far_error >= 0))
    return fmt::format("errors are {} and {}", header.near_error, header.far_error);
  const auto* const unused = header.unused;
  if (header.unused0 != 0 ||
      !std::all_of(unused, unused + sizeof(header.unused), [](std::uint8_t b) { return b == 0; }))
    return "unused bytes of the header are not zero";
  return deep ? find_flaw_in_contents(buffer, header, layout) : std::nullopt;
}

}  // namespace isotact

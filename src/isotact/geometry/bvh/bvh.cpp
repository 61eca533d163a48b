// Building: top down, splits chosen by the binned surface area heuristic (Wald, On fast
// Construction of SAH-based Bounding Volume Hierarchies, 2007), binary splits gathered eight to a
// node.

#include "isotact/geometry/bvh/bvh.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <mutex>

#include "isotact/base/detail/lanes.h"
#include "isotact/base/hash.h"
#include "isotact/geometry/bvh/detail/orient_nodes.h"

namespace isotact {
namespace {

using detail::BvhNode;
using detail::kBlockBit;
using detail::kBlockWidth;
using detail::kNodeWidth;
using detail::TriangleBlock;
using F4 = detail::Lanes<float, 4>;

constexpr int kMaxBins = 16;
constexpr std::size_t kBottomSize = 32;
constexpr std::size_t kSubtreeShare = 128;  // subtrees this many times smaller than the whole ...
constexpr std::size_t kMinSubtree = 512;    // ... or with fewer triangles than this are one task

// A box in two registers; the fourth lane is not looked at.
struct WideBox {
  F4 lower = std::numeric_limits<float>::infinity();
  F4 upper = -std::numeric_limits<float>::infinity();

  void extend(F4 l, F4 u) {
    lower = detail::lesser(l, lower);
    upper = detail::greater(u, upper);
  }
  void extend(const WideBox& other) { extend(other.lower, other.upper); }
  // Half the surface, in double: the sides of huge boxes overflow in float.
  double area() const {
    const double x = double{upper.v[0]} - double{lower.v[0]};
    const double y = double{upper.v[1]} - double{lower.v[1]};
    const double z = double{upper.v[2]} - double{lower.v[2]};
    return x * y + y * z + z * x;
  }
};

// One triangle while it is sorted. 32 bytes, so that both registers load at once. Its number is in
// the fourth lanes, as the fractions of two floats between 1 and 2: as an integer it would be a
// denormal number there, and sums of those take Intel's processors a hundred times as long.
struct alignas(16) Item {
  float lower[3];
  std::uint32_t low_bits;
  float upper[3];
  std::uint32_t high_bits;

  static constexpr std::uint32_t kOne = 0x3f800000, kFraction = 0x7fffff;
  void set_triangle(std::uint32_t number) {
    low_bits = kOne | (number & kFraction);
    high_bits = kOne | number >> 23U;
  }
  std::uint32_t triangle() const { return (low_bits & kFraction) | (high_bits & kFraction) << 23U; }

  F4 lower_lanes() const { return detail::load<F4>(lower); }
  F4 upper_lanes() const { return detail::load<F4>(upper); }
  F4 center() const { return lower_lanes() * 0.5F + upper_lanes() * 0.5F; }
};

// A run of items that become one child.
struct Range {
  std::size_t begin = 0, end = 0;
  int depth = 0;  // binary splits above
  WideBox box;
  WideBox centers;

  std::size_t size() const { return end - begin; }
};

struct Subtree {
  std::vector<BvhNode> nodes;
  std::vector<TriangleBlock> blocks;
};

std::size_t blocks_for(std::size_t triangles) {
  return (triangles + kBlockWidth - 1) / kBlockWidth;
}

// How centres map to bins along the three axes.
struct Binning {
  F4 origin;
  F4 scale;
  F4 last;
  int bins;

  explicit Binning(const Range& range)
      : origin(range.centers.lower),
        last(0.0F),
        bins(range.size() >= 64   ? kMaxBins
             : range.size() >= 16 ? 8
                                  : 4) {
    last = F4(static_cast<float>(bins - 1));
    for (int axis = 0; axis < 4; ++axis) {
      // A side that is too short or too long to divide by gets one bin.
      const float side = range.centers.upper.v[axis] - range.centers.lower.v[axis];
      const bool usable = axis < 3 && side > 1e-30F && side < 1e37F;
      scale.v[axis] = usable ? static_cast<float>(bins) * 0.999999F / side : 0.0F;
    }
  }
  std::array<int, 3> operator()(F4 center) const {
    const F4 place = detail::lesser((center - origin) * scale, last);
    return {static_cast<int>(place.v[0]), static_cast<int>(place.v[1]),
            static_cast<int>(place.v[2])};
  }
};

struct Split {
  int axis = -1;  // none found
  int bin = 0;    // the first bin on the right
};

class Builder {
 public:
  Builder(const TriangleMesh& mesh, const BvhSettings& settings)
      : mesh_(mesh), settings_(settings) {}

  // Items of all finite triangles, in their order.
  void gather() {
    constexpr std::size_t kGrain = 4096;
    const std::size_t count = mesh_.triangles.size();
    std::vector<std::size_t> starts((count + kGrain - 1) / kGrain + 1, 0);
    parallel_for(count, kGrain, settings_.threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        starts[begin / kGrain + 1] += is_finite(corners(mesh_, i)) ? 1U : 0U;
    });
    for (std::size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
    items_.resize(starts.back());
    parallel_for(count, kGrain, settings_.threads, [&](std::size_t begin, std::size_t end) {
      std::size_t at = starts[begin / kGrain];
      for (std::size_t i = begin; i < end; ++i)
        if (const auto c = corners(mesh_, i); is_finite(c)) items_[at++] = make_item(c, i);
    });
  }

  std::size_t item_count() const { return items_.size(); }

  void build(std::vector<BvhNode>& nodes, std::vector<TriangleBlock>& blocks) {
    Range root{.begin = 0, .end = items_.size(), .depth = 0, .box = {}, .centers = {}};
    for (const Item& item : items_) {
      root.box.extend(item.lower_lanes(), item.upper_lanes());
      const F4 center = item.center();
      root.centers.extend(center, center);
    }
    subtree_size_ = std::max(kMinSubtree, items_.size() / kSubtreeShare);
    build_top(root, nodes);
    std::vector<Subtree> subtrees(tasks_.size());
    parallel_for(tasks_.size(), 1, settings_.threads, [&](std::size_t i, std::size_t) {
      settings_.monitor.check();
      if (tasks_[i].size() > kBlockWidth)
        build_below(tasks_[i], subtrees[i]);
      else
        subtrees[i].blocks.push_back(make_block(tasks_[i]));
      report(tasks_[i].size());
    });
    join(subtrees, nodes, blocks);
  }

 private:
  static bool is_finite(const std::array<Vec3f, 3>& c) {
    return isotact::is_finite(c[0]) && isotact::is_finite(c[1]) && isotact::is_finite(c[2]);
  }

  static Item make_item(const std::array<Vec3f, 3>& c, std::size_t triangle) {
    const Vec3f lower = min(min(c[0], c[1]), c[2]), upper = max(max(c[0], c[1]), c[2]);
    Item item{{lower.x, lower.y, lower.z}, 0, {upper.x, upper.y, upper.z}, 0};
    item.set_triangle(static_cast<std::uint32_t>(triangle));
    return item;
  }

  // The nodes above the subtrees that are built side by side. Their children carry the number of a
  // task for now; join() puts the node or block there.
  std::uint32_t build_top(const Range& range, std::vector<BvhNode>& nodes) {
    settings_.monitor.check();
    const auto index = static_cast<std::uint32_t>(nodes.size());
    std::array<Range, kNodeWidth> children;
    const int count = split_into_children(range, children);
    nodes.push_back(make_node(children, count));
    for (int i = 0; i < count; ++i) {
      const Range& child = children[static_cast<std::size_t>(i)];
      std::uint32_t place = kBlockBit | static_cast<std::uint32_t>(tasks_.size());
      if (child.size() > subtree_size_)
        place = build_top(child, nodes);
      else
        tasks_.push_back(child);
      nodes[index].child[i] = place;
    }
    return index;
  }

  std::uint32_t build_below(const Range& range, Subtree& out) {
    const auto index = static_cast<std::uint32_t>(out.nodes.size());
    std::array<Range, kNodeWidth> children;
    const int count = split_into_children(range, children);
    out.nodes.push_back(make_node(children, count));
    for (int i = 0; i < count; ++i) {
      const Range& child = children[static_cast<std::size_t>(i)];
      std::uint32_t place = kBlockBit | static_cast<std::uint32_t>(out.blocks.size());
      if (child.size() > kBlockWidth)
        place = build_below(child, out);
      else
        out.blocks.push_back(make_block(child));
      out.nodes[index].child[i] = place;
    }
    return index;
  }

  // Splits the child with the largest surface until there are eight or all are small enough: to fit
  // into blocks, or, higher up, into the blocks of one node, since nodes with few children are
  // searched at the cost of full ones.
  int split_into_children(const Range& range, std::array<Range, kNodeWidth>& children) {
    children[0] = range;
    int count = 1;
    const std::size_t small = range.size() > kBottomSize ? kBottomSize : kBlockWidth;
    while (count < kNodeWidth) {
      Range* largest = nullptr;
      for (Range* child = children.data(); child != children.data() + count; ++child)
        if (child->size() > small &&
            (largest == nullptr || child->box.area() > largest->box.area()))
          largest = child;
      if (largest == nullptr) break;
      split(*largest, children[static_cast<std::size_t>(count++)]);
    }
    return count;
  }

  // Leaves the left part in `range` and puts the right one into `right`. Never leaves one empty.
  void split(Range& range, Range& right) {
    const Binning binning(range);
    const Split best = range.depth < detail::kMaxAreaDepth ? find_split(range, binning) : Split{};
    std::size_t middle = range.begin + range.size() / 2;
    if (best.axis >= 0) {
      const auto axis = static_cast<std::size_t>(best.axis);
      const auto* first_right =
          std::partition(items_.data() + range.begin, items_.data() + range.end,
                         [&](const Item& item) { return binning(item.center())[axis] < best.bin; });
      middle = static_cast<std::size_t>(first_right - items_.data());
    }
    const int depth = range.depth + 1;
    right = make_range(middle, range.end, depth);
    range = make_range(range.begin, middle, depth);
  }

  Range make_range(std::size_t begin, std::size_t end, int depth) const {
    Range range{.begin = begin, .end = end, .depth = depth, .box = {}, .centers = {}};
    for (std::size_t i = begin; i < end; ++i) {
      range.box.extend(items_[i].lower_lanes(), items_[i].upper_lanes());
      const F4 center = items_[i].center();
      range.centers.extend(center, center);
    }
    return range;
  }

  // The split with the least expected cost: surface times blocks, summed over both sides.
  Split find_split(const Range& range, const Binning& binning) const {
    std::array<std::array<WideBox, kMaxBins>, 3> boxes;
    std::array<std::array<std::size_t, kMaxBins>, 3> counts{};
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const std::array<int, 3> bin = binning(items_[i].center());
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const auto b = static_cast<std::size_t>(bin[axis]);
        boxes[axis][b].extend(items_[i].lower_lanes(), items_[i].upper_lanes());
        ++counts[axis][b];
      }
    }
    Split best;
    double best_cost = std::numeric_limits<double>::infinity();
    const auto bins = static_cast<std::size_t>(binning.bins);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      std::array<double, kMaxBins> right_cost{};
      WideBox right;
      std::size_t right_count = 0;
      for (std::size_t b = bins - 1; b > 0; --b) {
        right.extend(boxes[axis][b]);
        right_count += counts[axis][b];
        right_cost[b] = cost(right, right_count);
      }
      WideBox left;
      std::size_t left_count = 0;
      for (std::size_t b = 1; b < bins; ++b) {
        left.extend(boxes[axis][b - 1]);
        left_count += counts[axis][b - 1];
        if (left_count == 0 || left_count == range.size()) continue;
        const double total = cost(left, left_count) + right_cost[b];
        if (total < best_cost) {
          best_cost = total;
          best = {static_cast<int>(axis), static_cast<int>(b)};
        }
      }
    }
    return best;
  }

  static double cost(const WideBox& box, std::size_t count) {
    return count == 0 ? 0 : box.area() * static_cast<double>(blocks_for(count));
  }

  static BvhNode make_node(const std::array<Range, kNodeWidth>& children, int count) {
    BvhNode node{};
    node.child_count = static_cast<std::uint32_t>(count);
    for (int i = 0; i < kNodeWidth; ++i) {
      const WideBox box = i < count ? children[static_cast<std::size_t>(i)].box : WideBox{};
      for (int axis = 0; axis < 3; ++axis) {
        node.lower[axis][i] = box.lower.v[axis];
        node.upper[axis][i] = box.upper.v[axis];
      }
    }
    return node;
  }

  // Triangles lie in the order of their index, so that lanes do not depend on how items were moved.
  TriangleBlock make_block(const Range& range) const {
    TriangleBlock block;
    std::array<std::uint32_t, kBlockWidth> triangles;
    triangles.fill(kNoTriangle);
    for (std::size_t i = range.begin; i < range.end; ++i)
      triangles[i - range.begin] = items_[i].triangle();
    std::sort(triangles.begin(), triangles.end());
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    for (std::size_t lane = 0; lane < kBlockWidth; ++lane) {
      block.triangle[lane] = triangles[lane];
      std::array<Vec3f, 3> c{Vec3f{nan, nan, nan}, Vec3f{nan, nan, nan}, Vec3f{nan, nan, nan}};
      if (triangles[lane] != kNoTriangle) c = corners(mesh_, triangles[lane]);
      for (std::size_t k = 0; k < 3; ++k)
        for (std::size_t axis = 0; axis < 3; ++axis) block.corner[k][axis][lane] = c[k][axis];
    }
    return block;
  }

  // Lays the subtrees one after the other behind the top nodes.
  void join(const std::vector<Subtree>& subtrees, std::vector<BvhNode>& nodes,
            std::vector<TriangleBlock>& blocks) const {
    std::vector<std::uint32_t> roots;
    std::size_t node_count = nodes.size(), block_count = 0;
    std::vector<std::size_t> first_node, first_block;
    for (const Subtree& subtree : subtrees) {
      first_node.push_back(node_count);
      first_block.push_back(block_count);
      roots.push_back(static_cast<std::uint32_t>(
          subtree.nodes.empty() ? kBlockBit | static_cast<std::uint32_t>(block_count)
                                : node_count));
      node_count += subtree.nodes.size();
      block_count += subtree.blocks.size();
    }
    for (BvhNode& node : nodes)
      for (std::uint32_t i = 0; i < node.child_count; ++i)
        if ((node.child[i] & kBlockBit) != 0) node.child[i] = roots[node.child[i] & ~kBlockBit];
    nodes.resize(node_count);
    blocks.resize(block_count);
    parallel_for(subtrees.size(), 1, settings_.threads, [&](std::size_t s, std::size_t) {
      std::copy(subtrees[s].blocks.begin(), subtrees[s].blocks.end(),
                blocks.begin() + static_cast<std::ptrdiff_t>(first_block[s]));
      std::size_t at = first_node[s];
      for (BvhNode node : subtrees[s].nodes) {
        for (std::uint32_t i = 0; i < node.child_count; ++i)
          node.child[i] += static_cast<std::uint32_t>(
              (node.child[i] & kBlockBit) != 0 ? first_block[s] : first_node[s]);
        nodes[at++] = node;
      }
    });
    for (std::size_t n = nodes.size(); n-- > 0;) {  // children lie behind their parents
      nodes[n].begin_block = ~kBlockBit;
      for (std::uint32_t i = 0; i < nodes[n].child_count; ++i) {
        const std::uint32_t child = nodes[n].child[i], block = child & ~kBlockBit;
        const bool is_block = (child & kBlockBit) != 0;
        nodes[n].begin_block =
            std::min(nodes[n].begin_block, is_block ? block : nodes[child].begin_block);
        nodes[n].end_block =
            std::max(nodes[n].end_block, is_block ? block + 1 : nodes[child].end_block);
      }
    }
  }

  void report(std::size_t placed) {
    if (!settings_.monitor.on_progress) return;
    const std::scoped_lock lock(report_mutex_);
    placed_ += placed;
    settings_.monitor.report(
        {.task = "building the hierarchy", .done = placed_, .total = items_.size()});
  }

  const TriangleMesh& mesh_;
  const BvhSettings& settings_;
  std::vector<Item> items_;
  std::size_t subtree_size_ = 0;
  std::vector<Range> tasks_;
  std::mutex report_mutex_;
  std::size_t placed_ = 0;
};

}  // namespace

Bvh::Bvh(const TriangleMesh& mesh, const BvhSettings& settings) {
  assert(mesh.triangles.size() < kBlockBit);
  settings.monitor.check();
  Builder builder(mesh, settings);
  builder.gather();
  triangle_count_ = builder.item_count();
  left_out_count_ = mesh.triangles.size() - triangle_count_;
  if (triangle_count_ == 0) return;
  struct Owned {
    std::vector<BvhNode> nodes;
    std::vector<detail::OrientedNode> oriented_nodes;
    std::vector<TriangleBlock> blocks;
  };
  auto owned = std::make_shared<Owned>();
  builder.build(owned->nodes, owned->blocks);
  owned->oriented_nodes = detail::orient_nodes(owned->nodes, owned->blocks, settings.threads);
  adopt({owned->nodes, owned->oriented_nodes, owned->blocks}, owned);
}

Bvh Bvh::from_arrays(const BvhArrays& arrays, std::shared_ptr<const void> owner) {
  Bvh bvh;
  for (const TriangleBlock& block : arrays.blocks)
    bvh.triangle_count_ +=
        static_cast<std::size_t>(kBlockWidth - std::count(std::begin(block.triangle),
                                                          std::end(block.triangle), kNoTriangle));
  bvh.adopt(arrays, std::move(owner));
  return bvh;
}

void Bvh::adopt(const BvhArrays& arrays, std::shared_ptr<const void> owner) {
  arrays_ = arrays;
  owner_ = std::move(owner);
  if (arrays_.nodes.empty()) return;
  const BvhNode& root = arrays_.nodes[0];
  for (std::uint32_t i = 0; i < root.child_count; ++i)
    extend(bounds_, {{root.lower[0][i], root.lower[1][i], root.lower[2][i]},
                     {root.upper[0][i], root.upper[1][i], root.upper[2][i]}});
}

std::uint64_t Bvh::content_hash() const {
  return hash_range(arrays_.oriented_nodes, hash_range(arrays_.nodes, hash_range(arrays_.blocks)));
}

}  // namespace isotact

// Marching cubes over blocks. Two passes: the first finds which lattice edges each block's surface
// cuts, the second writes vertices and triangles to places that are known by then, so that threads
// need no order.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/field/extract/detail/cube_table.h"
#include "isotact/field/extract/isosurface.h"

namespace isotact::detail {
namespace {

constexpr double kOffNode = 1.0 / 128;  // of an edge

// Lattice edges belong to the block of their lower node: 3 x 8^3 of them. Edge (axis, i, j, k) is
// bit i + 8 j of word 8 axis + k.
struct MarchBlock {
  Index3 at{};
  std::array<std::uint64_t, 24> cut{};
  std::array<std::uint16_t, 24> before{};            // bits of the words before each
  std::size_t first_vertex = 0, first_triangle = 0;  // counts before the sums are made

  std::uint32_t rank(std::size_t word, std::uint32_t bit) const {
    const int below = std::popcount(cut[word] & ((std::uint64_t{1} << bit) - 1));
    return before[word] + static_cast<std::uint32_t>(below);
  }
};

bool is_before(const Index3& a, const Index3& b) {
  return std::array{a[2], a[1], a[0]} < std::array{b[2], b[1], b[0]};
}

std::int32_t floor_div(std::int32_t a, std::int32_t b) {
  return a >= 0 ? a / b : -((-a + b - 1) / b);
}

struct Samples {
  std::array<float, kMarchSamples> value;

  static std::size_t place(int i, int j, int k) {
    return static_cast<std::size_t>((k * kMarchNodes + j) * kMarchNodes + i);
  }
  double at(int i, int j, int k) const { return static_cast<double>(value[place(i, j, k)]); }
};

// Which nodes of a block lie below the value: bit i of row (j, k).
class InnerNodes {
 public:
  InnerNodes(const Samples& samples, double level) {
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      std::uint32_t bits = 0;
      for (std::size_t i = 0; i < kMarchNodes; ++i)
        bits |= (static_cast<double>(samples.value[row * kMarchNodes + i]) < level ? 1U : 0U) << i;
      rows_[row] = bits;
    }
  }

  // Calls visit(i, inner) for the cells of a row that the surface cuts; bit c of `inner` is corner
  // c.
  template <typename Visit>
  void for_cut_cells(int j, int k, const Visit& visit) const {
    const auto row = [&](int dj, int dk) {
      return rows_[static_cast<std::size_t>((k + dk) * kMarchNodes + j + dj)];
    };
    const std::uint32_t a = row(0, 0), b = row(1, 0), c = row(0, 1), d = row(1, 1);
    constexpr std::uint32_t kAll = (1U << kMarchNodes) - 1;
    if ((a | b | c | d) == 0 || (a & b & c & d) == kAll) return;
    for (int i = 0; i < kMarchCells; ++i) {
      const std::uint32_t inner =
          (a >> i & 3U) | (b >> i & 3U) << 2U | (c >> i & 3U) << 4U | (d >> i & 3U) << 6U;
      if (inner != 0 && inner != 255) visit(i, inner);
    }
  }

 private:
  std::array<std::uint32_t, std::size_t{kMarchNodes} * kMarchNodes> rows_;
};

class March {
 public:
  March(const MarchSource& source, const IsosurfaceSettings& settings)
      : source_(source), settings_(settings), iso_(settings.level) {}

  TriangleMesh run() {
    settings_.monitor.report({.task = "finding the surface"});
    find_blocks();
    for_blocks([&](MarchBlock& block) { mark(block); });
    sum_counts();
    settings_.monitor.report({.task = "cutting cells"});
    for_blocks([&](MarchBlock& block) { write(block); });
    return std::move(mesh_);
  }

 private:
  // Descends from one box of blocks, cut in halves, to the blocks that may hold the value.
  void find_blocks() {
    struct Span {
      Index3 first, last;
    };
    Span all{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      // One layer of cells around the nodes, where what is cut off gets its cap.
      all.first[axis] = floor_div(source_.first_node[axis] - 1, kMarchCells);
      all.last[axis] = floor_div(source_.last_node[axis], kMarchCells);
    }
    std::vector<Span> open{all};
    while (!open.empty()) {
      const Span span = open.back();
      open.pop_back();
      if (!may_hold(span.first, span.last)) continue;
      std::size_t longest = 0;
      for (std::size_t axis = 1; axis < 3; ++axis)
        if (span.last[axis] - span.first[axis] > span.last[longest] - span.first[longest])
          longest = axis;
      if (span.first[longest] == span.last[longest]) {
        add_block(span.first);
        continue;
      }
      const std::int32_t half = floor_div(span.first[longest] + span.last[longest], 2);
      Span lower = span, upper = span;
      lower.last[longest] = half;
      upper.first[longest] = half + 1;
      open.push_back(upper);
      open.push_back(lower);
    }
    std::sort(blocks_.begin(), blocks_.end(),
              [](const MarchBlock& a, const MarchBlock& b) { return is_before(a.at, b.at); });
  }

  void add_block(const Index3& at) {
    // A block that holds surface has some 100 triangles.
    if (blocks_.size() > settings_.max_triangles / 16 + 1000) refuse();
    if (blocks_.size() % 4096 == 0) settings_.monitor.check();
    blocks_.push_back({.at = at});
  }

  [[noreturn]] void refuse() const {
    throw Error(
        fmt::format("the surface at {:.6g} m would have more than {} triangles; extract it in "
                    "coarser steps, or allow more",
                    iso_, settings_.max_triangles));
  }

  bool reaches_beyond(const Index3& first, const Index3& last) const {
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (first[axis] * kMarchCells < source_.first_node[axis] ||
          last[axis] * kMarchCells + kMarchCells > source_.last_node[axis])
        return true;
    return false;
  }

  // Rounding may put a value a hair outside of its range.
  bool may_hold(const Index3& first, const Index3& last) const {
    const Interval range = source_.range(source_, first, last);
    const double slack = 1e-6 * (source_.spacing + std::abs(iso_));
    return range.lower - slack < iso_ &&
           (range.upper + slack >= iso_ || reaches_beyond(first, last));
  }

  void load(const MarchBlock& block, Samples& samples) const {
    source_.fill(source_, block.at, samples.value);
    if (!reaches_beyond(block.at, block.at)) return;
    const auto is_beyond = [&](std::size_t axis, int local) {
      const std::int32_t node = block.at[axis] * kMarchCells + local;
      return node < source_.first_node[axis] || node > source_.last_node[axis];
    };
    for (int k = 0; k < kMarchNodes; ++k)
      for (int j = 0; j < kMarchNodes; ++j)
        for (int i = 0; i < kMarchNodes; ++i)
          if (is_beyond(0, i) || is_beyond(1, j) || is_beyond(2, k))
            samples.value[Samples::place(i, j, k)] = std::numeric_limits<float>::infinity();
  }

  void mark(MarchBlock& block) const {
    Samples s;
    load(block, s);
    const InnerNodes nodes(s, iso_);
    std::size_t triangles = 0;
    for (int k = 0; k < kMarchCells; ++k)
      for (int j = 0; j < kMarchCells; ++j)
        nodes.for_cut_cells(j, k, [&](int i, std::uint32_t inner) {
          triangles += cube_cases()[inner].triangle_count;
          const auto bit = std::uint64_t{1} << static_cast<std::uint32_t>(i + 8 * j);
          const auto layer = static_cast<std::size_t>(k);
          const bool here = (inner & 1U) != 0;
          for (std::size_t axis = 0; axis < 3; ++axis)
            if (here != ((inner >> (1U << axis) & 1U) != 0)) block.cut[8 * axis + layer] |= bit;
        });
    std::size_t vertices = 0;
    for (std::size_t word = 0; word < block.cut.size(); ++word) {
      block.before[word] = static_cast<std::uint16_t>(vertices);
      vertices += static_cast<std::size_t>(std::popcount(block.cut[word]));
    }
    block.first_vertex = vertices;
    block.first_triangle = triangles;
  }

  void sum_counts() {
    std::size_t vertices = 0, triangles = 0;
    std::erase_if(blocks_, [](const MarchBlock& b) { return b.first_triangle == 0; });
    for (MarchBlock& block : blocks_) {
      vertices += std::exchange(block.first_vertex, vertices);
      triangles += std::exchange(block.first_triangle, triangles);
    }
    if (triangles > settings_.max_triangles || vertices >= 0xffffffffU) refuse();
    mesh_.positions.resize(vertices);
    mesh_.triangles.resize(triangles);
  }

  // The block and its seven upper neighbours, by the bits of x, y and z.
  using Neighbours = std::array<const MarchBlock*, 8>;
  Neighbours find_neighbours(const MarchBlock& block) const {
    Neighbours found{};
    for (std::uint32_t n = 0; n < 8; ++n) {
      const Index3 at{block.at[0] + static_cast<std::int32_t>(n & 1U),
                      block.at[1] + static_cast<std::int32_t>(n >> 1U & 1U),
                      block.at[2] + static_cast<std::int32_t>(n >> 2U)};
      const auto place =
          std::lower_bound(blocks_.begin(), blocks_.end(), at,
                           [](const MarchBlock& b, const Index3& i) { return is_before(b.at, i); });
      if (place != blocks_.end() && place->at == at) found[n] = &*place;
    }
    return found;
  }

  // The number of the vertex on edge e of a cell.
  static std::uint32_t vertex_of(const Neighbours& neighbours, int i, int j, int k,
                                 std::uint32_t e) {
    const CubeEdge edge = cube_edge(e);
    const int x = i + (edge.lower & 1), y = j + (edge.lower >> 1 & 1), z = k + (edge.lower >> 2);
    const MarchBlock& owner =
        *neighbours[static_cast<std::size_t>((x >> 3) | (y >> 3) << 1 | (z >> 3) << 2)];
    const auto word = static_cast<std::size_t>(8 * edge.axis + (z & 7));
    return static_cast<std::uint32_t>(owner.first_vertex) +
           owner.rank(word, static_cast<std::uint32_t>((x & 7) + 8 * (y & 7)));
  }

  void write(const MarchBlock& block) {
    Samples s;
    load(block, s);
    write_vertices(block, s);
    const Neighbours neighbours = find_neighbours(block);
    const InnerNodes nodes(s, iso_);
    std::size_t next = block.first_triangle;
    for (int k = 0; k < kMarchCells; ++k)
      for (int j = 0; j < kMarchCells; ++j)
        nodes.for_cut_cells(j, k, [&](int i, std::uint32_t inner) {
          const CubeCase& cut = cube_cases()[inner];
          std::array<std::uint32_t, 12> vertex{};
          for (std::uint32_t edges = cut.edges; edges != 0; edges &= edges - 1) {
            const auto e = static_cast<std::uint32_t>(std::countr_zero(edges));
            vertex[e] = vertex_of(neighbours, i, j, k, e);
          }
          for (std::size_t t = 0; t < cut.triangle_count; ++t) {
            const auto& corners = cut.triangles[t];
            mesh_.triangles[next++] = {vertex[corners[0]], vertex[corners[1]], vertex[corners[2]]};
          }
        });
  }

  void write_vertices(const MarchBlock& block, const Samples& s) {
    std::size_t next = block.first_vertex;
    for (std::size_t word = 0; word < block.cut.size(); ++word)
      for (std::uint64_t bits = block.cut[word]; bits != 0; bits &= bits - 1) {
        const int bit = std::countr_zero(bits);
        const std::size_t axis = word / 8;
        const std::array<int, 3> node{bit & 7, bit >> 3, static_cast<int>(word & 7)};
        std::array<int, 3> end = node;
        ++end[axis];
        const double a = s.at(node[0], node[1], node[2]), b = s.at(end[0], end[1], end[2]);
        Vec3 p = march_node(
            source_, {block.at[0] * kMarchCells + node[0], block.at[1] * kMarchCells + node[1],
                      block.at[2] * kMarchCells + node[2]});
        p[axis] += source_.spacing * fraction(a, b);
        mesh_.positions[next++] = to_float(p);
      }
  }

  // Caps lie at the last nodes: the other end of their edges is infinite.
  double fraction(double a, double b) const {
    if (std::isinf(a)) return 1 - kOffNode;
    if (std::isinf(b)) return kOffNode;
    return std::clamp((iso_ - a) / (b - a), kOffNode, 1 - kOffNode);
  }

  template <typename Work>
  void for_blocks(const Work& work) {
    parallel_for(blocks_.size(), 64, settings_.threads, [&](std::size_t begin, std::size_t end) {
      if (settings_.monitor.cancel != nullptr) settings_.monitor.check();
      for (std::size_t i = begin; i < end; ++i) work(blocks_[i]);
    });
  }

  const MarchSource& source_;
  const IsosurfaceSettings& settings_;
  double iso_;
  std::vector<MarchBlock> blocks_;
  TriangleMesh mesh_;
};

}  // namespace

TriangleMesh march(const MarchSource& source, const IsosurfaceSettings& settings) {
  if (!std::isfinite(settings.level)) throw Error("extract_surface: the value must be finite");
  constexpr std::int32_t kFurthestNode = 1 << 28;  // numbers around it still fit 32 bits
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (source.last_node[axis] <= source.first_node[axis] || !(source.spacing > 0))
      throw Error("extract_surface: the lattice has no cells");
    if (source.first_node[axis] < -kFurthestNode || source.last_node[axis] > kFurthestNode)
      throw Error("extract_surface: the lattice has too many cells");
  }
  return March(source, settings).run();
}

}  // namespace isotact::detail

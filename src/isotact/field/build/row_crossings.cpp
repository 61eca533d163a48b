#include "isotact/field/build/detail/row_crossings.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

#include "isotact/base/detail/lanes.h"
#include "isotact/field/models/brick_field.h"
#include "isotact/field/surface/detail/cell_frame.h"

namespace isotact::detail {
namespace {

constexpr std::int64_t kCell = 4096;  // units of a snapped coordinate

// Snapped, in the plane across the lines; both even.
struct Corner {
  std::int64_t y, z;
};
std::int64_t snap(double cells) {
  return 2 * static_cast<std::int64_t>(std::floor(cells * (kCell / 2) + 0.5));
}
constexpr double kLineShift = 1.0 / kCell;
constexpr std::int64_t line_at(std::int32_t row) { return row * kCell + 1; }

constexpr std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

// First layer of lines above a snapped z.
constexpr std::int32_t first_line_above(std::int64_t z) {
  return static_cast<std::int32_t>(floor_divide(z - 1, kCell) + 1);
}

// How many lines j = 0, 1, ... of layer z lie at or below an edge that crosses the layer. Computed
// from the lower end on, so that both triangles of the edge get the same number.
std::int32_t lines_below(Corner a, Corner b, std::int64_t z) {
  if (a.z > b.z) std::swap(a, b);
  const std::int64_t rise = b.z - a.z;
  // y of the crossing is a.y + (z - a.z)(b.y - a.y) / rise; line j is at j kCell + 1.
  const std::int64_t scaled = (a.y - 1) * rise + (z - a.z) * (b.y - a.y);
  return static_cast<std::int32_t>(floor_divide(scaled, rise * kCell) + 1);
}

struct Entry {
  std::uint32_t line;
  LineCrossing crossing;
};

// A triangle with its plane as x over (y, z).
class TriangleLines {
 public:
  TriangleLines(const Lattice& lattice, const TriangleMesh& mesh, std::uint32_t triangle) {
    const auto c = corners(mesh, triangle);
    for (std::size_t i = 0; i < 3; ++i) {
      p_[i] = to_cells(lattice, c[i]);
      s_[i] = {snap(p_[i].y), snap(p_[i].z)};
    }
  }

  std::int32_t first_layer() const {
    return first_line_above(std::min({s_[0].z, s_[1].z, s_[2].z}));
  }
  std::int32_t end_layer() const { return first_line_above(std::max({s_[0].z, s_[1].z, s_[2].z})); }

  // Calls visit(j, crossing) for the lines of layer k that meet the triangle.
  template <typename Visit>
  void visit_layer(std::int32_t k, Visit&& visit) const {
    const std::int64_t z = line_at(k);
    std::int32_t up = 0, down = 0;
    Vec3 at_up{}, at_down{};  // where the layer cuts the two edges
    bool crosses = false;
    for (std::size_t i = 0; i < 3; ++i) {
      const Corner& a = s_[i];
      const Corner& b = s_[(i + 1) % 3];
      if ((a.z < z) == (b.z < z)) continue;
      crosses = true;
      (a.z < b.z ? up : down) = lines_below(a, b, z);
      (a.z < b.z ? at_up : at_down) = cut(p_[i], p_[(i + 1) % 3], k);
    }
    if (!crosses) return;
    // Seen from positive x, a triangle that faces us runs counter-clockwise, and its upward edge is
    // on the right: passing it along x leads out of the body.
    const std::int32_t delta = up > down ? -1 : 1;
    // Along the chord between the two, and never beyond it: where triangle and line are nearly
    // parallel, a plane's x would be anywhere.
    const double across = at_up.y - at_down.y;
    for (std::int32_t j = std::min(up, down); j < std::max(up, down); ++j) {
      const double part =
          across != 0 ? (static_cast<double>(j) + kLineShift - at_down.y) / across : 0.5;
      const double x = at_down.x + (at_up.x - at_down.x) * std::clamp(part, 0.0, 1.0);
      visit(j, LineCrossing{static_cast<float>(x), delta});
    }
  }

 private:
  static Vec3 cut(const Vec3& a, const Vec3& b, std::int32_t k) {
    const double rise = b.z - a.z;
    const double part = rise != 0 ? (static_cast<double>(k) + kLineShift - a.z) / rise : 0.5;
    return lerp(a, b, std::clamp(part, 0.0, 1.0));
  }

  Vec3 p_[3];
  Corner s_[3];
};

// Triangles of each slab, in ascending order.
struct SlabLists {
  std::vector<std::uint32_t> first, triangles;
};
SlabLists sort_into_slabs(const TriangleMesh& mesh, const Lattice& lattice, std::size_t slabs) {
  const std::size_t n = mesh.triangles.size();
  std::vector<std::int32_t> begin(n), end(n);
  SlabLists lists;
  lists.first.assign(slabs + 1, 0);
  for (std::size_t t = 0; t < n; ++t) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (const std::uint32_t v : mesh.triangles[t]) {
      const double z =
          (static_cast<double>(mesh.positions[v].z) - lattice.origin.z) / lattice.spacing;
      low = std::min(low, z), high = std::max(high, z);
    }
    const std::int32_t layer = first_line_above(snap(low)), past = first_line_above(snap(high));
    begin[t] = layer / RowCrossings::kSlabRows;
    end[t] = layer == past ? begin[t] : (past - 1) / RowCrossings::kSlabRows + 1;
    for (std::int32_t s = begin[t]; s < end[t]; ++s) ++lists.first[static_cast<std::size_t>(s) + 1];
  }
  for (std::size_t s = 0; s < slabs; ++s) lists.first[s + 1] += lists.first[s];
  lists.triangles.resize(lists.first[slabs]);
  std::vector<std::uint32_t> place(lists.first.begin(), lists.first.end() - 1);
  for (std::size_t t = 0; t < n; ++t)
    for (std::int32_t s = begin[t]; s < end[t]; ++s)
      lists.triangles[place[static_cast<std::size_t>(s)]++] = static_cast<std::uint32_t>(t);
  return lists;
}

std::span<const std::uint32_t> triangles_of(const SlabLists& lists, std::size_t slab) {
  return std::span(lists.triangles)
      .subspan(lists.first[slab], lists.first[slab + 1] - lists.first[slab]);
}

void sort_by_x(std::span<LineCrossing> line) {
  if (line.size() < 2) return;
  std::sort(line.begin(), line.end(), [](const LineCrossing& a, const LineCrossing& b) {
    return a.x != b.x ? a.x < b.x : a.delta < b.delta;
  });
}

void measure(std::span<const LineCrossing> line, CrossingSlab& slab) {
  std::int32_t winding = 0;
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    winding += line[i].delta;
    const double length = static_cast<double>(line[i + 1].x) - static_cast<double>(line[i].x);
    if (winding > 0) slab.inside += length;
    if (winding > 1) slab.overlap += length;
  }
}

// All crossings of some triangles with the lines of a slab.
std::vector<Entry> find_entries(const TriangleMesh& mesh, const Lattice& lattice,
                                std::span<const std::uint32_t> triangles, std::int32_t slab,
                                std::int32_t rows) {
  const std::int32_t first_layer = slab * RowCrossings::kSlabRows;
  std::vector<Entry> entries;
  for (const std::uint32_t t : triangles) {
    const TriangleLines lines(lattice, mesh, t);
    const std::int32_t begin = std::max(lines.first_layer(), first_layer);
    const std::int32_t end = std::min(lines.end_layer(), first_layer + RowCrossings::kSlabRows);
    for (std::int32_t k = begin; k < end; ++k)
      lines.visit_layer(k, [&](std::int32_t j, const LineCrossing& crossing) {
        assert(j >= 0 && j < rows);
        entries.push_back({static_cast<std::uint32_t>((k - first_layer) * rows + j), crossing});
      });
  }
  return entries;
}

CrossingSlab sort_into_lines(std::span<const Entry> entries, std::int32_t rows) {
  CrossingSlab result;
  const std::size_t lines = static_cast<std::size_t>(RowCrossings::kSlabRows * rows);
  result.first.assign(lines + 1, 0);
  for (const Entry& e : entries) ++result.first[e.line + 1];
  for (std::size_t l = 0; l < lines; ++l) result.first[l + 1] += result.first[l];
  result.crossings.resize(entries.size());
  std::vector<std::uint32_t> place(result.first.begin(), result.first.end() - 1);
  for (const Entry& e : entries) result.crossings[place[e.line]++] = e.crossing;
  for (std::size_t l = 0; l < lines; ++l) {
    const auto line =
        std::span(result.crossings).subspan(result.first[l], result.first[l + 1] - result.first[l]);
    sort_by_x(line);
    measure(line, result);
  }
  return result;
}

// A slab's crossings without those of some entries, each of which takes one like it away.
std::vector<Entry> take_out(const CrossingSlab& slab, std::span<const Entry> removed) {
  std::vector<std::uint8_t> gone(slab.crossings.size(), 0);
  for (const Entry& e : removed)
    for (std::uint32_t i = slab.first[e.line]; i < slab.first[e.line + 1]; ++i)
      if (gone[i] == 0 && slab.crossings[i].x == e.crossing.x &&
          slab.crossings[i].delta == e.crossing.delta) {
        gone[i] = 1;
        break;
      }
  std::vector<Entry> left;
  left.reserve(slab.crossings.size());
  for (std::uint32_t line = 0; line + 1 < slab.first.size(); ++line)
    for (std::uint32_t i = slab.first[line]; i < slab.first[line + 1]; ++i)
      if (gone[i] == 0) left.push_back({line, slab.crossings[i]});
  return left;
}

}  // namespace

RowCrossings::RowCrossings(const Surface& surface, const Lattice& lattice, Threads threads,
                           const Monitor& monitor)
    : rows_(lattice.cells[1] + 1), nested_(surface.nested) {
  const std::size_t slabs = static_cast<std::size_t>(lattice.cells[2] / kSlabRows + 1);
  slabs_.resize(slabs);
  const SlabLists lists = sort_into_slabs(surface.mesh, lattice, slabs);
  parallel_for(slabs, 1, threads, [&](std::size_t begin, std::size_t end) {
    monitor.check();
    for (std::size_t s = begin; s < end; ++s)
      slabs_[s] = sort_into_lines(find_entries(surface.mesh, lattice, triangles_of(lists, s),
                                               static_cast<std::int32_t>(s), rows_),
                                  rows_);
  });
}

void RowCrossings::replace(const TriangleMesh& removed, const TriangleMesh& added,
                           const Lattice& lattice) {
  const SlabLists old_lists = sort_into_slabs(removed, lattice, slabs_.size());
  const SlabLists new_lists = sort_into_slabs(added, lattice, slabs_.size());
  for (std::size_t s = 0; s < slabs_.size(); ++s) {
    const auto old_triangles = triangles_of(old_lists, s),
               new_triangles = triangles_of(new_lists, s);
    if (old_triangles.empty() && new_triangles.empty()) continue;
    const auto slab = static_cast<std::int32_t>(s);
    std::vector<Entry> entries =
        take_out(slabs_[s], find_entries(removed, lattice, old_triangles, slab, rows_));
    const std::vector<Entry> more = find_entries(added, lattice, new_triangles, slab, rows_);
    entries.insert(entries.end(), more.begin(), more.end());
    slabs_[s] = sort_into_lines(entries, rows_);
  }
}

double RowCrossings::inside_cells() const {
  double sum = 0;
  for (const CrossingSlab& slab : slabs_) sum += slab.inside;
  return sum;
}

double RowCrossings::overlap_cells() const {
  double sum = 0;
  for (const CrossingSlab& slab : slabs_) sum += slab.overlap;
  return sum;
}

std::uint32_t RowCrossings::inside_bits(std::int32_t first, std::int32_t stride, std::int32_t nodes,
                                        std::int32_t j, std::int32_t k) const {
  std::uint32_t bits = 0;
  std::int32_t winding = 0;
  std::int32_t done = 0;  // nodes whose bit is decided
  for (const LineCrossing& c : row(j, k)) {
    while (done < nodes && static_cast<float>(first + done * stride) <= c.x)
      bits |= (is_inside(winding) ? 1U : 0U) << static_cast<unsigned>(done++);
    if (done == nodes) return bits;
    winding += c.delta;
  }
  if (is_inside(winding))  // only where a line ends inside: never on a closed surface
    for (; done < nodes; ++done) bits |= 1U << static_cast<unsigned>(done);
  return bits;
}

namespace {

// Where all nodes are further than half a cell from a closed surface, it passes between no two of
// them, and one line tells the sign of all.
bool has_one_sign(std::span<const float> distance) {
  using Floats = Lanes<float, 4>;
  Floats a(HUGE_VALF), b(HUGE_VALF);
  for (std::size_t i = 0; i < distance.size(); i += 8) {
    a = lesser(load<Floats>(distance.data() + i), a);
    b = lesser(load<Floats>(distance.data() + i + 4), b);
  }
  float least[4];
  store(lesser(a, b), least);
  return std::min({least[0], least[1], least[2], least[3]}) > 0.51F;
}

}  // namespace

void sign_coarse(std::span<float> coarse, const Lattice& lattice, const RowCrossings& rows,
                 Threads threads) {
  const Index3 nodes = node_counts(lattice);
  parallel_for(static_cast<std::size_t>(nodes[2]), 1, threads,
               [&](std::size_t begin, std::size_t end) {
                 for (std::int32_t z = static_cast<std::int32_t>(begin);
                      z < static_cast<std::int32_t>(end); ++z)
                   for (std::int32_t y = 0; y < nodes[1]; ++y)
                     for (std::int32_t x = 0; x < nodes[0]; x += 32) {
                       const std::int32_t n = std::min(32, nodes[0] - x);
                       std::uint32_t bits = rows.inside_bits(x * kBrickCells, kBrickCells, n,
                                                             y * kBrickCells, z * kBrickCells);
                       for (; bits != 0; bits &= bits - 1) {
                         float& value = coarse[flat_index(nodes, x + std::countr_zero(bits), y, z)];
                         value = -value;
                       }
                     }
               });
}

bool is_coarse_node_inside(const Index3& node, const RowCrossings& rows) {
  return rows.inside_bits(node[0] * kBrickCells, kBrickCells, 1, node[1] * kBrickCells,
                          node[2] * kBrickCells) != 0;
}

void sign_brick(std::span<float> distance, const Index3& cell, const RowCrossings& rows) {
  if (has_one_sign(distance)) {
    const bool inside = rows.inside_bits(cell[0] * kBrickCells, 1, 1, cell[1] * kBrickCells,
                                         cell[2] * kBrickCells) != 0;
    if (inside)
      for (float& d : distance) d = -d;
    return;
  }
  const float first = static_cast<float>(cell[0] * kBrickCells);
  for (std::int32_t z = 0; z < kBrickCells; ++z)
    for (std::int32_t y = 0; y < kBrickCells; ++y) {
      const std::int32_t j = cell[1] * kBrickCells + y, k = cell[2] * kBrickCells + z;
      const std::span<const LineCrossing> row = rows.row(j, k);
      float* at = distance.data() + (z * kBrickCells + y) * kBrickCells;
      // Most lines do not cross the surface between the first and the last node of a brick.
      std::int32_t winding = 0;
      std::size_t next = 0;
      for (; next < row.size() && row[next].x < first; ++next) winding += row[next].delta;
      if (next == row.size() || row[next].x >= first + (kBrickCells - 1)) {
        if (rows.is_inside(winding))
          for (std::int32_t x = 0; x < kBrickCells; ++x) at[x] = -at[x];
        continue;
      }
      std::uint32_t bits = rows.inside_bits(cell[0] * kBrickCells, 1, kBrickCells, j, k);
      for (; bits != 0; bits &= bits - 1) {
        float& value = at[std::countr_zero(bits)];
        value = -value;
      }
    }
}

}  // namespace isotact::detail

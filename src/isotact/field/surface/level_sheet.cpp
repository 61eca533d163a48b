#include "isotact/field/surface/detail/level_sheet.h"

#include <algorithm>
#include <cmath>

namespace isotact::surface_detail {
namespace {

// Keys hold 21 bits an axis; a few stay free for neighbours.
constexpr std::int32_t kMiddle = 1 << 20;
constexpr std::int32_t kMostIndex = kMiddle - 4;

Index3 shifted(Index3 index, std::size_t axis, std::int32_t by) {
  index[axis] += by;
  return index;
}

Vec3 position(const Index3& node, const SheetSettings& s) {
  return s.origin + Vec3{s.spacing * node[0], s.spacing * node[1], s.spacing * node[2]};
}

// Where the way from phase a to phase b, the short way round, crosses w = 1/2; t is the part of
// the way. Both are given as -exp(2 pi i w), which is 1 there.
struct Crossing {
  int direction = 0;  // +1 where w falls, -1 where it rises, 0 where it does not cross
  double t = 0;
};
Crossing find_crossing(const Complex& a, const Complex& b) {
  if ((a.im > 0) == (b.im > 0)) return {};
  const double t = a.im / (a.im - b.im);
  if (!(a.re + t * (b.re - a.re) > 0)) return {};
  return {a.im > 0 ? 1 : -1, t};
}

// The angle from a to b, the short way round.
double angle_between(const Complex& a, const Complex& b) {
  const Complex turn = b * conjugate(a);
  return angle_of(turn.im, turn.re);
}

std::size_t corner_index(std::size_t axis, std::size_t u, std::size_t v, std::size_t along) {
  return along << axis | u << (axis + 1) % 3 | v << (axis + 2) % 3;
}

class Tracer {
 public:
  Tracer(const WindingPhase& phase, const SheetSettings& settings)
      : phase_(phase), settings_(settings) {}

  LevelSheet run(const std::vector<Vec3>& seeds) {
    for (const Vec3& seed : seeds) add_with_neighbours(cell_of(seed, settings_));
    std::size_t done = 0;
    while (done < sheet_.cells.size()) {
      settings_.monitor.check();
      if (sheet_.cells.size() > settings_.max_cells || out_of_range_) return std::move(sheet_);
      const std::size_t end = sheet_.cells.size();
      compute_phases(done, end);
      for (; done < end; ++done) visit(done);
    }
    place_vertices();
    make_quads();
    sheet_.complete = true;
    return std::move(sheet_);
  }

 private:
  void add(const Index3& index) {
    for (const std::int32_t i : index) out_of_range_ |= i <= -kMostIndex || i >= kMostIndex;
    if (cell_at_.emplace(key_of(index), static_cast<std::uint32_t>(sheet_.cells.size())).second)
      sheet_.cells.push_back({.index = index});
  }

  void add_with_neighbours(const Index3& c) {
    for (const int dz : {-1, 0, 1})
      for (const int dy : {-1, 0, 1})
        for (const int dx : {-1, 0, 1}) add({c[0] + dx, c[1] + dy, c[2] + dz});
  }

  static Index3 corner(const Index3& cell, std::size_t i) {
    return {cell[0] + static_cast<std::int32_t>(i & 1U),
            cell[1] + static_cast<std::int32_t>(i >> 1U & 1U),
            cell[2] + static_cast<std::int32_t>(i >> 2U)};
  }

  void compute_phases(std::size_t begin, std::size_t end) {
    const std::size_t known = nodes_.size();
    for (std::size_t c = begin; c < end; ++c)
      for (std::size_t i = 0; i < 8; ++i) {
        const Index3 node = corner(sheet_.cells[c].index, i);
        if (node_at_.emplace(key_of(node), static_cast<std::uint32_t>(nodes_.size())).second)
          nodes_.push_back(node);
      }
    phases_.resize(nodes_.size());
    parallel_for(nodes_.size() - known, 64, settings_.threads,
                 [&](std::size_t first, std::size_t last) {
                   for (std::size_t i = known + first; i < known + last; ++i)
                     phases_[i] = phase_from_level(position(nodes_[i], settings_));
                 });
  }

  Complex phase_from_level(const Vec3& point) const {
    const Complex z = phase_.at(point);
    return {-z.re, -z.im};
  }

  std::array<Complex, 8> corner_phases(const SheetCell& cell) const {
    std::array<Complex, 8> phases;
    for (std::size_t i = 0; i < 8; ++i)
      phases[i] = phases_[node_at_.at(key_of(corner(cell.index, i)))];
    return phases;
  }

  // Finds how the surface crosses the cell's edges, and goes on to the cells around those.
  void visit(std::size_t c) {
    const std::array<Complex, 8> phases = corner_phases(sheet_.cells[c]);
    for (std::size_t d = 0; d < 3; ++d)
      for (std::size_t uv = 0; uv < 4; ++uv) {
        const std::size_t u = uv & 1U, v = uv >> 1U;
        const Crossing crossing =
            find_crossing(phases[corner_index(d, u, v, 0)], phases[corner_index(d, u, v, 1)]);
        SheetCell& cell = sheet_.cells[c];
        cell.crossings[4 * d + uv] = static_cast<std::int8_t>(crossing.direction);
        if (crossing.direction == 0) continue;
        cell.crossed = true;
        const Index3 here = cell.index;
        const Index3 beside = shifted(here, (d + 1) % 3, u != 0 ? 1 : -1);
        add(beside);
        add(shifted(here, (d + 2) % 3, v != 0 ? 1 : -1));
        add(shifted(beside, (d + 2) % 3, v != 0 ? 1 : -1));
      }
    sheet_.cells[c].pierced = is_pierced(sheet_.cells[c]);
  }

  static bool is_pierced(const SheetCell& cell) {
    const auto at = [&](std::size_t d, std::size_t u, std::size_t v) {
      return int{cell.crossings[4 * d + u + 2 * v]};
    };
    for (std::size_t n = 0; n < 3; ++n)
      for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        // Once around the face: along p, along q, back along p, back along q. Seen from an edge
        // along p, the next axes are q and n; from one along q, they are n and p.
        const std::size_t p = (n + 1) % 3, q = (n + 2) % 3;
        if (at(p, 0, side) + at(q, side, 1) - at(p, 1, side) - at(q, side, 0) != 0) return true;
      }
    return false;
  }

  void place_vertices() {
    parallel_for(sheet_.cells.size(), 32, settings_.threads,
                 [&](std::size_t begin, std::size_t end) {
                   for (std::size_t c = begin; c < end; ++c) {
                     SheetCell& cell = sheet_.cells[c];
                     if (cell.crossed) cell.vertex = find_vertex(cell);
                   }
                 });
  }

  // The mean of the crossings, moved onto the surface by Newton's method with the cell's mean
  // gradient. It stays near the cell.
  Vec3 find_vertex(const SheetCell& cell) const {
    const std::array<Complex, 8> phases = corner_phases(cell);
    Vec3 sum{}, gradient{};
    double count = 0;
    for (std::size_t d = 0; d < 3; ++d)
      for (std::size_t uv = 0; uv < 4; ++uv) {
        const std::size_t from = corner_index(d, uv & 1U, uv >> 1U, 0);
        const Complex &a = phases[from], &b = phases[from | std::size_t{1} << d];
        gradient[d] += angle_between(a, b) / (4 * settings_.spacing);
        if (cell.crossings[4 * d + uv] == 0) continue;
        Vec3 p = position(corner(cell.index, from), settings_);
        p[d] += settings_.spacing * find_crossing(a, b).t;
        sum += p;
        count += 1;
      }
    const Vec3 mean = sum / count;
    if (cell.pierced) return mean;
    Vec3 p = mean;
    // A step from within a tenth of a cell ends within a hundredth.
    constexpr int kSteps = 3;
    for (int i = 0; i < kSteps; ++i) {
      const Complex z = phase_from_level(p);
      const Vec3 step = gradient * (angle_of(z.im, z.re) / std::max(length_sq(gradient), 1e-300));
      p -= step;
      if (length_sq(step) < 0.01 * settings_.spacing * settings_.spacing) break;
    }
    const bool near = length_sq(p - mean) < settings_.spacing * settings_.spacing;
    return near ? p : mean;
  }

  // One for each crossed edge, from the cell of which it is a lowest edge.
  void make_quads() {
    for (std::uint32_t c = 0; c < sheet_.cells.size(); ++c)
      for (std::size_t d = 0; d < 3; ++d) {
        const auto direction = sheet_.cells[c].crossings[4 * d];
        if (direction == 0) continue;
        const Index3 here = sheet_.cells[c].index;
        const std::size_t u = (d + 1) % 3, v = (d + 2) % 3;
        const auto at = [&](const Index3& index) { return cell_at_.at(key_of(index)); };
        std::array<std::uint32_t, 4> quad{at(shifted(shifted(here, u, -1), v, -1)),
                                          at(shifted(here, v, -1)), c, at(shifted(here, u, -1))};
        if (direction < 0) std::swap(quad[1], quad[3]);
        sheet_.quads.push_back(quad);
      }
  }

  const WindingPhase& phase_;
  const SheetSettings& settings_;
  LevelSheet sheet_;
  std::unordered_map<std::uint64_t, std::uint32_t> cell_at_, node_at_;
  std::vector<Index3> nodes_;
  std::vector<Complex> phases_;  // of the nodes, as -exp(2 pi i w)
  bool out_of_range_ = false;
};

}  // namespace

Index3 cell_of(const Vec3& point, const SheetSettings& s) {
  const Vec3 p = (point - s.origin) / s.spacing;
  const auto index = [](double x) {
    return static_cast<std::int32_t>(std::clamp(std::floor(x), -1.0 * kMiddle, 1.0 * kMiddle));
  };
  return {index(p.x), index(p.y), index(p.z)};
}

std::uint64_t key_of(const Index3& index) {
  const auto part = [](std::int32_t i) { return static_cast<std::uint64_t>(i + kMiddle); };
  return part(index[0]) | part(index[1]) << 21U | part(index[2]) << 42U;
}

LevelSheet trace_level_sheet(const WindingPhase& phase, const std::vector<Vec3>& seeds,
                             const SheetSettings& settings) {
  return Tracer(phase, settings).run(seeds);
}

}  // namespace isotact::surface_detail

// Outside the box a field is sqrt(g^2 + v^2), with the distance g to the box and the value v at the
// nearest point of it, or g + v if v is negative (field.h). Between planes of the rim's lattice, v
// is at most quadratic along a segment and g^2 is quadratic, so that
//   g^2 + v^2 <= margin^2 (v >= 0),   g^2 <= (margin - v)^2 (v < 0 and margin - v >= 0)
// compares polynomials of degree four.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "isotact/queries/segments/detail/segment_search.h"

namespace isotact::detail {
namespace {

using Quartic = std::array<double, 5>;    // Bernstein coefficients.
using Quadratic = std::array<double, 3>;  // Bernstein coefficients.

constexpr int kDepth = 40;  // Halvings: times are floats.

// Returns the product of two polynomials of degree two.
Quartic square(const Quadratic& v) {
  return {v[0] * v[0], v[0] * v[1], (v[0] * v[2] + 2 * v[1] * v[1]) / 3, v[1] * v[2], v[2] * v[2]};
}
Quartic raise(const Quadratic& g) {
  return {g[0], (g[0] + g[1]) / 2, (g[0] + 4 * g[1] + g[2]) / 6, (g[1] + g[2]) / 2, g[2]};
}

// Returns both halves.
std::array<Quartic, 2> halve(const Quartic& p) {
  Quartic low{}, high = p;
  for (std::size_t i = 0; i < 5; ++i) {
    low[i] = high[0];
    for (std::size_t k = 0; k + 1 < 5 - i; ++k) high[k] = (high[k] + high[k + 1]) / 2;
  }
  // high[k] now has the last of each row, from the bottom of the triangle up.
  return {low, high};
}

class Outside {
 public:
  Outside(const Rim& rim, const Segment& segment, double margin, IntervalSink& sink)
      : rim_(rim), iso_(margin), sink_(sink) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      from_[axis] = (static_cast<double>(segment.from[axis]) - rim.lattice.origin[axis]) /
                    rim.lattice.spacing;
      by_[axis] =
          (static_cast<double>(segment.to[axis]) - static_cast<double>(segment.from[axis])) /
          rim.lattice.spacing;
    }
  }

  void walk(double begin, double end) {
    // Everything further away than this is outside.
    const double reach = (iso_ - std::min(rim_.least, 0.0)) / rim_.lattice.spacing;
    double first = begin, last = end;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double lower = -reach, upper = static_cast<double>(rim_.lattice.cells[axis]) + reach;
      if (by_[axis] == 0) {
        if (from_[axis] < lower || from_[axis] > upper) last = first - 1;
        continue;
      }
      const double a = (lower - from_[axis]) / by_[axis], b = (upper - from_[axis]) / by_[axis];
      first = std::max(first, std::min(a, b));
      last = std::min(last, std::max(a, b));
    }
    if (first > begin || !(first < last)) sink_.set_side(begin, false);
    if (!(first < last)) return;
    walk_planes(first, last);
    if (last < end) sink_.set_side(last, false);
  }

 private:
  double at(std::size_t axis, double t) const { return from_[axis] + t * by_[axis]; }

  // Walks from plane to plane of the rim.
  void walk_planes(double first, double last) {
    double t = first;
    while (t < last && !sink_.is_done()) {
      double next = last;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        if (by_[axis] == 0) continue;
        const double x = at(axis, t), top = static_cast<double>(rim_.lattice.cells[axis]);
        double plane = by_[axis] > 0 ? std::floor(x) + 1 : std::ceil(x) - 1;
        if (by_[axis] > 0 && x < 0) plane = 0;
        if (by_[axis] < 0 && x > top) plane = top;
        if (plane < 0 || plane > top) continue;
        next = std::min(next, std::max((plane - from_[axis]) / by_[axis], t));
      }
      // Rounding may not pass a plane: step over it.
      if (!(next > t)) next = std::min(last, t + std::max(std::abs(t), 1.0) * 1e-13);
      walk_piece(t, next, 0);
      t = next;
    }
  }

  // Returns the value on the box by weights along each axis at times a, b, c: its polar form.
  double value(const std::array<double, 3>& times, const Index3& cell) const {
    double w[3];
    for (std::size_t axis = 0; axis < 3; ++axis)
      w[axis] = std::clamp(at(axis, times[axis]) - cell[axis], 0.0, 1.0);
    const Index3 n = node_counts(rim_.lattice);
    double sum = 0;
    for (std::int32_t i = 0; i < 8; ++i) {
      const double weight = ((i & 1) != 0 ? w[0] : 1 - w[0]) * ((i & 2) != 0 ? w[1] : 1 - w[1]) *
                            ((i & 4) != 0 ? w[2] : 1 - w[2]);
      if (weight != 0)
        sum += weight * static_cast<double>(rim_.values[flat_index(
                            n, cell[0] + (i & 1), cell[1] + (i >> 1 & 1), cell[2] + (i >> 2))]);
    }
    return sum;
  }

  void walk_piece(double a, double b, int depth) {  // NOLINT(misc-no-recursion)
    const double middle = (a + b) / 2;
    Index3 cell;
    std::array<bool, 3> moves{};  // The nearest point of the box moves along this axis.
    Quadratic gap_sq{0, 0, 0};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double x = at(axis, middle), top = static_cast<double>(rim_.lattice.cells[axis]);
      cell[axis] = static_cast<std::int32_t>(std::clamp(std::floor(x), 0.0, top - 1));
      moves[axis] = x >= 0 && x <= top;
      if (moves[axis]) continue;
      const double side = x < 0 ? 0 : top, p = at(axis, a) - side, q = at(axis, b) - side;
      gap_sq[0] += p * p;
      gap_sq[1] += p * q;
      gap_sq[2] += q * q;
    }
    // Along the moving axes (at most two outside the box), one time each.
    const auto at_times = [&](double p, double q) {
      std::array<double, 3> times{p, p, p};
      bool first = true;
      for (std::size_t axis = 0; axis < 3; ++axis)
        if (moves[axis]) {
          times[axis] = first ? p : q;
          first = false;
        }
      return value(times, cell);
    };
    const double h = rim_.lattice.spacing;
    const Quadratic v{at_times(a, a), (at_times(a, b) + at_times(b, a)) / 2, at_times(b, b)};
    for (double& g : gap_sq) g *= h * h;
    const bool above = v[0] >= 0 && v[1] >= 0 && v[2] >= 0;
    const bool below = v[0] <= 0 && v[1] <= 0 && v[2] <= 0;
    if (!above && !below && depth < kDepth) {
      walk_piece(a, middle, depth + 1);
      walk_piece(middle, b, depth + 1);
      return;
    }
    Quartic p = raise(gap_sq);
    if (above) {
      if (iso_ < 0) {
        sink_.set_side(a, false);
        return;
      }
      const Quartic v_sq = square(v);
      for (std::size_t i = 0; i < 5; ++i) p[i] += v_sq[i] - iso_ * iso_;
    } else {
      const Quadratic room{iso_ - v[0], iso_ - v[1], iso_ - v[2]};
      if (room[0] < 0 || room[1] < 0 || room[2] < 0) {
        if (room[0] < 0 && room[1] < 0 && room[2] < 0) {
          sink_.set_side(a, false);
          return;
        }
        if (depth < kDepth) {
          walk_piece(a, middle, depth + 1);
          walk_piece(middle, b, depth + 1);
        }
        return;
      }
      const Quartic room_sq = square(room);
      for (std::size_t i = 0; i < 5; ++i) p[i] -= room_sq[i];
    }
    find_roots(p, a, b, 0);
  }

  void find_roots(const Quartic& p, double a, double b, int depth) {  // NOLINT(misc-no-recursion)
    const auto inside = std::count_if(p.begin(), p.end(), [](double x) { return x <= 0; });
    if (inside == 0 || inside == 5) {
      sink_.set_side(a, inside == 5);
      return;
    }
    if (depth == kDepth) {
      sink_.set_side(a, p[0] <= 0);
      sink_.set_side(b, p[4] <= 0);
      return;
    }
    const auto halves = halve(p);
    find_roots(halves[0], a, (a + b) / 2, depth + 1);
    find_roots(halves[1], (a + b) / 2, b, depth + 1);
  }

  const Rim& rim_;
  double iso_;
  IntervalSink& sink_;
  double from_[3]{}, by_[3]{};
};

}  // namespace

Rim find_rim(const Lattice& lattice, std::span<const float> values) {
  Rim rim{.lattice = lattice, .values = values};
  const Index3 n = node_counts(lattice);
  float least = HUGE_VALF;
  for (std::int32_t z = 0; z < n[2]; ++z)
    for (std::int32_t y = 0; y < n[1]; ++y) {
      const bool side = z == 0 || y == 0 || z + 1 == n[2] || y + 1 == n[1];
      for (std::int32_t x = 0; x < n[0]; x += side ? 1 : n[0] - 1)
        least = std::min(least, values[flat_index(n, x, y, z)]);
    }
  rim.least = static_cast<double>(least);
  return rim;
}

void walk_outside(const Rim& rim, const Segment& segment, double begin, double end, double margin,
                  IntervalSink& sink) {
  // sqrt(g^2 + v^2) >= v, and g + v >= v.
  if (rim.least > margin || !(begin < end)) {
    sink.set_side(begin, false);
    return;
  }
  Outside(rim, segment, margin, sink).walk(begin, end);
}

}  // namespace isotact::detail

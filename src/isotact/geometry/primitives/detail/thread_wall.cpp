#include "isotact/geometry/primitives/detail/thread_wall.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace isotact::detail {
namespace {

// A vertex of a column: its height in units, and its line along the thread (unused at the ends).
struct Knot {
  std::uint32_t vertex;
  std::int64_t height;
};

// Heights of the lines along the thread at column 0, within one pitch, from the middle of a crest.
std::vector<std::int64_t> thread_lines(int columns, int flank_rows) {
  const std::int64_t n = columns, crest = n / 16, root = 3 * n / 8, flank = root - crest;
  std::vector<std::int64_t> lines;
  for (int i = 0; i <= flank_rows; ++i) lines.push_back(crest + flank * i / flank_rows);
  for (int i = flank_rows; i >= 0; --i) lines.push_back(n - crest - flank * i / flank_rows);
  return lines;
}

class ThreadColumns {
 public:
  ThreadColumns(SurfaceBuilder& builder, const ThreadWall& wall, const Ring& first,
                const Ring& last)
      : builder_(builder),
        wall_(wall),
        first_(first),
        last_(last),
        lines_(thread_lines(wall.columns, wall.flank_rows)),
        turn_(full_turn(wall.columns)) {}

  std::vector<Knot> column(int k) {
    const auto index = static_cast<std::size_t>(k);
    const std::int64_t n = wall_.columns;
    std::vector<Knot> knots{{first_[index], wall_.first}};
    std::int64_t turn = (wall_.first - k) / n - 2;
    for (;; ++turn)
      for (const std::int64_t line : lines_) {
        const std::int64_t height = k + turn * n + line;
        if (height <= wall_.first) continue;
        if (height >= wall_.last) {
          knots.push_back({last_[index], wall_.last});
          return knots;
        }
        const double y = static_cast<double>(height) * wall_.pitch / static_cast<double>(n);
        double pitches = static_cast<double>(line) / static_cast<double>(n);
        if (pitches > 0.5) pitches -= 1;
        knots.push_back(
            {builder_.add(around_y(wall_.radius(pitches, y), turn_[index], y)), height});
      }
  }

  // Every line is one unit higher in the right column; at the ends a line begins or ends in the
  // ring's vertex.
  void join(const std::vector<Knot>& left, const std::vector<Knot>& right) {
    std::size_t i = 0, j = 0;
    while (i + 1 < left.size() || j + 1 < right.size()) {
      const bool left_done = i + 1 == left.size(), right_done = j + 1 == right.size();
      const std::int64_t from = left_done ? wall_.last : left[i + 1].height;
      const std::int64_t to = right_done ? wall_.last : right[j + 1].height;
      const bool level =
          !left_done && !right_done && (from + 1 == to || (from == wall_.last && to == wall_.last));
      if (level) {
        quad(left[i].vertex, right[j].vertex, right[j + 1].vertex, left[i + 1].vertex);
        ++i, ++j;
      } else if (!right_done && (left_done || to < from + 1)) {
        triangle(left[i].vertex, right[j].vertex, right[j + 1].vertex);
        ++j;
      } else {
        triangle(left[i].vertex, right[j].vertex, left[i + 1].vertex);
        ++i;
      }
    }
  }

 private:
  void triangle(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    if (wall_.outside)
      builder_.triangle(a, b, c);
    else
      builder_.triangle(a, c, b);
  }
  void quad(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
    if (wall_.outside)
      builder_.quad(a, b, c, d);
    else
      builder_.quad(a, d, c, b);
  }

  SurfaceBuilder& builder_;
  const ThreadWall& wall_;
  const Ring &first_, &last_;
  std::vector<std::int64_t> lines_;
  std::vector<SinCos> turn_;
};

}  // namespace

double thread_depth(double pitches) {
  constexpr double kCrest = 1.0 / 16, kRoot = 3.0 / 8;
  const double flank = std::clamp(std::abs(pitches), kCrest, kRoot) - kCrest;
  return -flank * std::sqrt(3.0);
}

void add_thread_wall(SurfaceBuilder& builder, const ThreadWall& wall, const Ring& first,
                     const Ring& last) {
  assert(wall.columns % 16 == 0 && wall.flank_rows <= 5 * wall.columns / 16);
  ThreadColumns columns(builder, wall, first, last);
  const std::vector<Knot> start = columns.column(0);
  std::vector<Knot> left = start;
  for (int k = 1; k < wall.columns; ++k) {
    std::vector<Knot> right = columns.column(k);
    columns.join(left, right);
    left = std::move(right);
  }
  // Around the seam the lines go on one pitch higher: column 0 is column n, whose heights are the
  // same, since the lines repeat every pitch.
  columns.join(left, start);
}

}  // namespace isotact::detail

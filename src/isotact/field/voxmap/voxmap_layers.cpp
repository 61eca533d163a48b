// From triangles to layers: surface voxels, scan-line filling, chessboard distances (SSL14 section
// 2.1.1).
#include "isotact/field/voxmap/detail/voxmap_layers.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>

namespace isotact::detail {

namespace {

constexpr double kVoxelSlack = 1e-9;  // cells

struct IndexBox {
  Index3 lower{}, upper{};  // both are part of it
};

// Voxels of the box that meet the triangle, in cell coordinates, by halving the box: a large
// triangle costs time in proportion to the voxels that it meets, not to those of its box. Boxes of
// many voxels get twice the slack of a voxel, so that rounding never drops one.
void mark_triangle(const std::array<Vec3, 3>& triangle, const IndexBox& box, const Index3& cells,
                   std::span<std::uint8_t> surface) {
  Vec3 middle, half;
  std::size_t longest = 0;
  std::int32_t length = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::int32_t span = box.upper[axis] - box.lower[axis] + 1;
    middle[axis] = box.lower[axis] + 0.5 * span;
    half[axis] = 0.5 * span;
    if (span > length) {
      length = span;
      longest = axis;
    }
  }
  const double slack = length == 1 ? kVoxelSlack : 2 * kVoxelSlack;
  if (!overlaps_triangle_box(triangle, middle, half + Vec3{slack, slack, slack})) return;
  if (length == 1) {
    std::atomic_ref(surface[flat_index(cells, box.lower[0], box.lower[1], box.lower[2])])
        .store(1, std::memory_order_relaxed);
    return;
  }
  IndexBox lower = box, upper = box;
  lower.upper[longest] = box.lower[longest] + length / 2 - 1;
  upper.lower[longest] = box.lower[longest] + length / 2;
  mark_triangle(triangle, lower, cells, surface);
  mark_triangle(triangle, upper, cells, surface);
}

void mark_triangle(const std::array<Vec3f, 3>& corners, const Lattice& lattice,
                   std::span<std::uint8_t> surface) {
  std::array<Vec3, 3> triangle;
  Vec3 lower, upper;
  for (std::size_t c = 0; c < 3; ++c) {
    triangle[c] = (to_double(corners[c]) - lattice.origin) / lattice.spacing;
    lower = c == 0 ? triangle[c] : min(lower, triangle[c]);
    upper = c == 0 ? triangle[c] : max(upper, triangle[c]);
  }
  if (!is_finite(lower) || !is_finite(upper)) return;
  IndexBox box;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double last = lattice.cells[axis] - 1;
    const double first_touched = std::ceil(lower[axis] - 1 - kVoxelSlack);
    const double last_touched = std::floor(upper[axis] + kVoxelSlack);
    box.lower[axis] = static_cast<std::int32_t>(std::clamp(first_touched, 0.0, last));
    box.upper[axis] = static_cast<std::int32_t>(std::clamp(last_touched, 0.0, last));
  }
  mark_triangle(triangle, box, lattice.cells, surface);
}

std::size_t row_count(const Index3& cells) {
  return static_cast<std::size_t>(cells[1]) * static_cast<std::size_t>(cells[2]);
}

// Calls visit(begin, end) for every run of a row.
template <typename Visit>
void for_each_run(std::span<const std::uint8_t> row, Visit&& visit) {
  const auto n = static_cast<std::int32_t>(row.size());
  for (std::int32_t i = 0; i < n;) {
    if (row[static_cast<std::size_t>(i)] != 0) {
      ++i;
      continue;
    }
    const std::int32_t begin = i;
    while (i < n && row[static_cast<std::size_t>(i)] == 0) ++i;
    visit(begin, i);
  }
}

std::vector<std::size_t> count_runs_by_row(std::span<const std::uint8_t> surface,
                                           const Index3& cells, Threads threads) {
  const auto nx = static_cast<std::size_t>(cells[0]);
  std::vector<std::size_t> counts(row_count(cells) + 1, 0);
  parallel_for(row_count(cells), 256, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row)
      for_each_run(surface.subspan(row * nx, nx),
                   [&](std::int32_t, std::int32_t) { ++counts[row + 1]; });
  });
  for (std::size_t row = 1; row < counts.size(); ++row) counts[row] += counts[row - 1];
  return counts;
}

struct RunPlace {
  std::size_t row = 0, run = 0;
};

// Gives a side to the enclosed runs of a row that lie beside a run, and notes them.
void mark_row(Runs& all, std::size_t row, const Run& beside, Side side,
              std::vector<RunPlace>& marked) {
  const auto first = all.runs.begin() + static_cast<std::ptrdiff_t>(all.row_start[row]);
  const auto last = all.runs.begin() + static_cast<std::ptrdiff_t>(all.row_start[row + 1]);
  auto it = std::partition_point(first, last, [&](const Run& r) { return r.end <= beside.begin; });
  for (; it != last && it->begin < beside.end; ++it) {
    const auto run = static_cast<std::size_t>(it - all.runs.begin());
    if (all.sides[run] != Side::kEnclosed) continue;
    all.sides[run] = side;
    marked.push_back({row, run});
  }
}

// The same in the four rows around a run.
void mark_around(Runs& all, const Index3& cells, const RunPlace& place, Side side,
                 std::vector<RunPlace>& marked) {
  const auto ny = static_cast<std::size_t>(cells[1]), nz = static_cast<std::size_t>(cells[2]);
  const Run run = all.runs[place.run];
  const std::size_t y = place.row % ny, z = place.row / ny;
  if (y > 0) mark_row(all, place.row - 1, run, side, marked);
  if (y + 1 < ny) mark_row(all, place.row + 1, run, side, marked);
  if (z > 0) mark_row(all, place.row - ny, run, side, marked);
  if (z + 1 < nz) mark_row(all, place.row + ny, run, side, marked);
}

// One line of Meijster, Roerdink and Hesselink (2000), A General Algorithm for Computing Distance
// Transforms in Linear Time, for the chessboard metric: min over i of max(|x - i|, g(i)).
struct LineTransform {
  std::vector<std::int32_t> site, from;

  void run(std::span<std::int32_t> g, std::span<std::int32_t> result) {
    const auto n = static_cast<std::int32_t>(g.size());
    site.resize(g.size());
    from.resize(g.size());
    const auto at = [](auto& v, std::int32_t i) -> auto& { return v[static_cast<std::size_t>(i)]; };
    const auto cost = [&](std::int32_t x, std::int32_t i) {
      return std::max(std::abs(x - i), at(g, i));
    };
    // The last x at which site i is no worse than site u > i.
    const auto separation = [&](std::int32_t i, std::int32_t u) {
      return at(g, i) <= at(g, u) ? std::max(i + at(g, u), (i + u) / 2)
                                  : std::min(u - at(g, i), (i + u) / 2);
    };
    std::int32_t top = 0;
    at(site, 0) = at(from, 0) = 0;
    for (std::int32_t u = 1; u < n; ++u) {
      while (top >= 0 && cost(at(from, top), at(site, top)) > cost(at(from, top), u)) --top;
      if (top < 0) {
        top = 0;
        at(site, 0) = u;
        continue;
      }
      const std::int32_t start = 1 + separation(at(site, top), u);
      if (start >= n) continue;
      ++top;
      at(site, top) = u;
      at(from, top) = start;
    }
    for (std::int32_t u = n - 1; u >= 0; --u) {
      at(result, u) = cost(u, at(site, top));
      if (u == at(from, top)) --top;
    }
  }
};

// Transforms `width` neighbouring columns whose elements are `stride` apart: reading them together
// uses each cache line once.
void transform_columns(std::int16_t* first, std::size_t stride, std::size_t length,
                       std::size_t width, LineTransform& transform,
                       std::vector<std::int32_t>& memory) {
  memory.resize((width + 1) * length);
  for (std::size_t n = 0; n < length; ++n)
    for (std::size_t c = 0; c < width; ++c) memory[c * length + n] = first[n * stride + c];
  const std::span<std::int32_t> all(memory);
  const std::span<std::int32_t> result = all.subspan(width * length, length);
  for (std::size_t c = 0; c < width; ++c) {
    const std::span<std::int32_t> column = all.subspan(c * length, length);
    transform.run(column, result);
    std::copy(result.begin(), result.end(), column.begin());
  }
  for (std::size_t n = 0; n < length; ++n)
    for (std::size_t c = 0; c < width; ++c)
      first[n * stride + c] =
          static_cast<std::int16_t>(std::min<std::int32_t>(memory[c * length + n], kNoLayer));
}

constexpr std::size_t kColumnsTogether = 32;

// Distances along each row to the nearest voxel of the mask in it.
void transform_row(std::span<const std::uint8_t> mask, std::span<std::int16_t> distances) {
  std::int32_t since = kNoLayer;
  for (std::size_t i = 0; i < mask.size(); ++i) {
    since = mask[i] != 0 ? 0 : std::min<std::int32_t>(since + 1, kNoLayer);
    distances[i] = static_cast<std::int16_t>(since);
  }
  since = kNoLayer;
  for (std::size_t i = mask.size(); i-- > 0;) {
    since = mask[i] != 0 ? 0 : std::min<std::int32_t>(since + 1, kNoLayer);
    distances[i] = static_cast<std::int16_t>(std::min<std::int32_t>(distances[i], since));
  }
}

}  // namespace

std::vector<std::uint8_t> find_surface_voxels(const TriangleMesh& mesh, const Lattice& lattice,
                                              Threads threads) {
  std::vector<std::uint8_t> surface(count(lattice.cells), 0);
  parallel_for(mesh.triangles.size(), 512, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t t = begin; t < end; ++t) mark_triangle(corners(mesh, t), lattice, surface);
  });
  return surface;
}

std::size_t count_runs(std::span<const std::uint8_t> surface, const Index3& cells,
                       Threads threads) {
  const auto nx = static_cast<std::size_t>(cells[0]);
  return parallel_reduce(
      row_count(cells), 256, threads, std::size_t{0},
      [&](std::size_t begin, std::size_t end) {
        std::size_t found = 0;
        for (std::size_t row = begin; row < end; ++row)
          for_each_run(surface.subspan(row * nx, nx), [&](std::int32_t, std::int32_t) { ++found; });
        return found;
      },
      [](std::size_t a, std::size_t b) { return a + b; });
}

Runs fill_outside(std::span<const std::uint8_t> surface, const Index3& cells, Threads threads) {
  const auto nx = static_cast<std::size_t>(cells[0]), ny = static_cast<std::size_t>(cells[1]);
  const auto nz = static_cast<std::size_t>(cells[2]);
  Runs all;
  all.row_start = count_runs_by_row(surface, cells, threads);
  all.runs.resize(all.row_start.back());
  all.sides.resize(all.runs.size(), Side::kEnclosed);
  parallel_for(row_count(cells), 256, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      std::size_t next = all.row_start[row];
      for_each_run(surface.subspan(row * nx, nx), [&](std::int32_t b, std::int32_t e) {
        all.runs[next++] = {b, e};
      });
    }
  });

  std::vector<RunPlace> open;
  for (std::size_t row = 0; row < row_count(cells); ++row) {
    const std::size_t y = row % ny, z = row / ny;
    const bool border_row = y == 0 || y == ny - 1 || z == 0 || z == nz - 1;
    for (std::size_t run = all.row_start[row]; run < all.row_start[row + 1]; ++run)
      if (border_row || all.runs[run].begin == 0 || all.runs[run].end == cells[0]) {
        all.sides[run] = Side::kOutside;
        open.push_back({row, run});
      }
  }
  while (!open.empty()) {
    const RunPlace place = open.back();
    open.pop_back();
    mark_around(all, cells, place, Side::kOutside, open);
  }
  return all;
}

void decide_enclosed(Runs& all, const Index3& cells, std::span<const std::int16_t> depths,
                     const std::function<bool(std::size_t place)>& is_inside) {
  const auto nx = static_cast<std::size_t>(cells[0]);
  std::vector<RunPlace> region;
  for (std::size_t row = 0; row < row_count(cells); ++row)
    for (std::size_t first = all.row_start[row]; first < all.row_start[row + 1]; ++first) {
      if (all.sides[first] != Side::kEnclosed) continue;
      region.assign(1, {row, first});
      all.sides[first] = Side::kInside;
      std::size_t deepest = row * nx + static_cast<std::size_t>(all.runs[first].begin);
      for (std::size_t n = 0; n < region.size(); ++n) {
        const RunPlace place = region[n];
        const Run& run = all.runs[place.run];
        for (std::int32_t i = run.begin; i < run.end; ++i) {
          const std::size_t voxel = place.row * nx + static_cast<std::size_t>(i);
          if (std::abs(depths[voxel]) > std::abs(depths[deepest])) deepest = voxel;
        }
        mark_around(all, cells, place, Side::kInside, region);
      }
      if (is_inside(deepest)) continue;
      for (const RunPlace& place : region) all.sides[place.run] = Side::kOutside;
    }
}

void compute_chessboard_distances(std::span<const std::uint8_t> mask, const Index3& cells,
                                  std::span<std::int16_t> distances, Threads threads) {
  const auto nx = static_cast<std::size_t>(cells[0]), ny = static_cast<std::size_t>(cells[1]);
  const auto nz = static_cast<std::size_t>(cells[2]);
  parallel_for(row_count(cells), 256, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row)
      transform_row(mask.subspan(row * nx, nx), distances.subspan(row * nx, nx));
  });
  // Columns along y of every slice, then columns along z of every plane.
  const auto transform_planes = [&](std::size_t planes, std::size_t plane_stride,
                                    std::size_t stride, std::size_t length) {
    parallel_for(planes, 1, threads, [&](std::size_t begin, std::size_t end) {
      LineTransform transform;
      std::vector<std::int32_t> memory;
      for (std::size_t plane = begin; plane < end; ++plane)
        for (std::size_t x = 0; x < nx; x += kColumnsTogether)
          transform_columns(distances.data() + plane * plane_stride + x, stride, length,
                            std::min(kColumnsTogether, nx - x), transform, memory);
    });
  };
  transform_planes(nz, nx * ny, nx, ny);
  transform_planes(ny, nx, nx * ny, nz);
}

void apply_signs(const Runs& runs, const Index3& cells, std::span<std::int16_t> layers,
                 Threads threads) {
  const auto nx = static_cast<std::size_t>(cells[0]);
  parallel_for(row_count(cells), 256, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row)
      for (std::size_t run = runs.row_start[row]; run < runs.row_start[row + 1]; ++run) {
        if (runs.sides[run] != Side::kOutside) continue;
        for (std::int32_t i = runs.runs[run].begin; i < runs.runs[run].end; ++i) {
          std::int16_t& v = layers[row * nx + static_cast<std::size_t>(i)];
          v = static_cast<std::int16_t>(-v);
        }
      }
  });
}

LayerCounts count_layers(std::span<const std::int16_t> layers) {
  LayerCounts counts;
  for (const std::int16_t v : layers) {
    if (v == 0) ++counts.surface;
    if (v > 0) ++counts.inner;
    if (v < 0) ++counts.outer;
    counts.deepest = std::max<int>(counts.deepest, v);
    counts.furthest = std::max<int>(counts.furthest, -v);
  }
  return counts;
}

}  // namespace isotact::detail

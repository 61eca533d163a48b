#include <algorithm>
#include <cstring>
#include <numeric>

#include "isotact/base/disjoint_sets.h"
#include "isotact/field/build/detail/edit_bricks.h"
#include "isotact/geometry/bvh/bvh_visit.h"

namespace isotact::detail {
namespace {

constexpr std::size_t kMostPieces = 32;

using Corners = std::array<Vec3f, 3>;

bool are_alike(const Corners& a, const Corners& b) { return a == b; }

// A total order of finite triangles.
bool is_before(const Corners& a, const Corners& b) {
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (a[i][axis] != b[i][axis]) return a[i][axis] < b[i][axis];
  return false;
}

void add_triangle(TriangleMesh& mesh, const Corners& corners) {
  const auto first = static_cast<std::uint32_t>(mesh.positions.size());
  mesh.positions.insert(mesh.positions.end(), corners.begin(), corners.end());
  mesh.triangles.push_back({first, first + 1, first + 2});
}

// By corners, then by number, so that likes are paired in one way.
void sort_by_corners(const TriangleMesh& mesh, std::vector<std::uint32_t>& triangles) {
  std::sort(triangles.begin(), triangles.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Corners p = corners(mesh, a), q = corners(mesh, b);
    return is_before(p, q) || (!is_before(q, p) && a < b);
  });
}

}  // namespace

SurfaceChange compute_change(const TriangleMesh& before, const TriangleMesh& after) {
  SurfaceChange change;
  change.before.assign(after.triangles.size(), kNoTriangle);
  std::vector<std::uint32_t> old_left, new_left;
  // An edit keeps the order of what it leaves.
  std::uint32_t next = 0;
  for (std::uint32_t i = 0; i < before.triangles.size(); ++i) {
    if (next < after.triangles.size() && are_alike(corners(before, i), corners(after, next)))
      change.before[next++] = i;
    else
      old_left.push_back(i);
  }
  for (; next < after.triangles.size(); ++next) new_left.push_back(next);
  // Membranes follow what was added: pair what is left, wherever it is.
  sort_by_corners(before, old_left);
  sort_by_corners(after, new_left);
  std::size_t n = 0;
  for (const std::uint32_t i : old_left) {
    const Corners mine = corners(before, i);
    while (n < new_left.size() && is_before(corners(after, new_left[n]), mine)) ++n;
    if (n < new_left.size() && are_alike(corners(after, new_left[n]), mine))
      change.before[new_left[n++]] = i;
    else
      change.removed.push_back(i);
  }
  std::sort(change.removed.begin(), change.removed.end());
  for (const std::uint32_t i : change.removed)
    add_triangle(change.removed_mesh, corners(before, i));
  for (std::uint32_t i = 0; i < after.triangles.size(); ++i)
    if (change.before[i] == kNoTriangle) add_triangle(change.added_mesh, corners(after, i));
  return change;
}

std::vector<Aabb> find_pieces(const SurfaceChange& change) {
  std::vector<Vec3f> positions = change.removed_mesh.positions;
  positions.insert(positions.end(), change.added_mesh.positions.begin(),
                   change.added_mesh.positions.end());
  DisjointSets sets(positions.size() / 3);  // of triangles
  std::vector<std::uint32_t> order(positions.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto less = [&](std::uint32_t a, std::uint32_t b) {
    const Vec3f &p = positions[a], &q = positions[b];
    return p.x != q.x ? p.x < q.x : p.y != q.y ? p.y < q.y : p.z < q.z;
  };
  std::sort(order.begin(), order.end(), less);
  for (std::size_t i = 1; i < order.size(); ++i)
    if (positions[order[i]] == positions[order[i - 1]]) sets.join(order[i] / 3, order[i - 1] / 3);
  std::vector<std::uint32_t> piece(sets.size(), kNoTriangle);
  std::vector<Aabb> boxes;
  for (std::uint32_t p = 0; p < positions.size(); ++p) {
    std::uint32_t& number = piece[sets.find(p / 3)];
    if (number == kNoTriangle) {
      number = static_cast<std::uint32_t>(std::min(boxes.size(), kMostPieces - 1));
      if (boxes.size() < kMostPieces) boxes.emplace_back();
    }
    extend(boxes[number], to_double(positions[p]));
  }
  return boxes;
}

EditTriangles::EditTriangles(const TriangleMesh& mesh, const Lattice& lattice, Threads threads)
    : threads_(threads),
      bvh_(mesh, {.threads = threads}),
      distances_(std::make_unique<DistancePass>(mesh, bvh_, lattice, threads)),
      frame_of_(mesh.triangles.size()),
      hidden_(mesh.triangles.size(), 0),
      first_of_(mesh.triangles.size()) {
  const auto blocks = bvh_.blocks();
  for (std::uint32_t i = 0; i < blocks.size() * kBlockWidth; ++i)
    if (const std::uint32_t t = blocks[i / kBlockWidth].triangle[i % kBlockWidth]; t != kNoTriangle)
      frame_of_[t] = i;
  std::iota(first_of_.begin(), first_of_.end(), 0U);
}

void EditTriangles::apply(const TriangleMesh& after, const SurfaceChange& change) {
  for (const std::uint32_t t : change.removed) {
    const std::uint32_t first = first_of_[t];
    if (first == kNoTriangle) continue;
    distances_->hide(frame_of_[first]);
    hidden_[first] = 1;
    ++hidden_count_;
  }
  std::vector<std::uint32_t> first_of(after.triangles.size(), kNoTriangle);
  added_ = {};
  for (std::uint32_t t = 0; t < after.triangles.size(); ++t) {
    if (change.before[t] != kNoTriangle) first_of[t] = first_of_[change.before[t]];
    if (first_of[t] == kNoTriangle) add_triangle(added_, corners(after, t));
  }
  first_of_ = std::move(first_of);
  added_bvh_ = Bvh(added_, {.threads = threads_});
  distances_->set_added(added_, added_bvh_);
}

bool EditTriangles::is_worn() const {
  return 4 * (hidden_count_ + added_.triangles.size()) > hidden_.size() + 256;
}

TriangleMesh EditTriangles::gather(std::span<const Aabb> boxes, double reach) const {
  TriangleMesh found;
  for (const Aabb& box : boxes) {
    const Vec3 margin = Vec3{1, 1, 1} * reach;
    // Rounding to float cannot matter to a caller who adds a thousandth of what he needs.
    const Aabbf wide{to_float(box.lower - margin), to_float(box.upper + margin)};
    visit_blocks_in_box(bvh_, wide, 0, [&](std::uint32_t index) {
      const TriangleBlock& block = bvh_.blocks()[index];
      for (std::size_t lane = 0; lane < kBlockWidth; ++lane) {
        const std::uint32_t t = block.triangle[lane];
        if (t == kNoTriangle || hidden_[t] != 0 || !overlaps(lane_bounds(block, lane), wide))
          continue;
        Corners c;
        for (std::size_t i = 0; i < 3; ++i)
          c[i] = {block.corner[i][0][lane], block.corner[i][1][lane], block.corner[i][2][lane]};
        add_triangle(found, c);
      }
      return true;
    });
  }
  for (std::size_t t = 0; t < added_.triangles.size(); ++t) add_triangle(found, corners(added_, t));
  return found;
}

}  // namespace isotact::detail

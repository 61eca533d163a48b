#include "isotact/queries/points/shell_query.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>

#include "isotact/queries/points/detail/shell_search.h"

namespace isotact {
namespace detail {

struct ShellStateAccess {
  using Anchor = ShellAnchor;

  static ShellBuffers buffers(ShellScratch& s) {
    return {{s.front_[0].data(), s.front_[1].data()}, s.points_.data(), s.distances_.data()};
  }
  static std::vector<ShellHit>& hits(ShellScratch& s) { return s.hits_; }
  static std::vector<std::uint32_t>& points(ShellScratch& s) { return s.points_; }
  static std::vector<float>& distances(ShellScratch& s) { return s.distances_; }
  static std::vector<std::uint32_t>& front(ShellScratch& s, unsigned i) { return s.front_[i]; }
  static std::vector<float>& values(ShellScratch& s, unsigned i) { return s.values_[i]; }
  static ShellPairScratch& memory(ShellScratch& s) { return s.memory_; }
  static std::optional<Anchor>& anchor(ShellPairScratch& m) { return m.anchor_; }
  static ShellPlacement& last(ShellPairScratch& m) { return m.last_; }
  static std::vector<std::uint32_t>& clusters(ShellPairScratch& m) { return m.clusters_; }
  static std::size_t& cluster_count(ShellPairScratch& m) { return m.cluster_count_; }
};

namespace {

using Access = ShellStateAccess;
using Clock = std::chrono::steady_clock;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

// Converts candidates to hits, in place: those at most the margin away.
ShellResult collect(const PointSphereTree& tree, const ShellSearch& search,
                    const ShellPlacement& placement, double margin, const ShellCounts& counts,
                    ShellScratch& scratch) {
  const std::span<const std::uint32_t> points(Access::points(scratch).data(), counts.points);
  float* distances = Access::distances(scratch).data();
  if (!search.has_distances()) search.measure(points, distances);
  const float* areas = tree.areas().data();
  const auto area_scale = static_cast<float>(placement.shell_scale * placement.shell_scale);
  const auto most = static_cast<float>(margin);
  ShellHit* hits = Access::hits(scratch).data();
  std::uint32_t count = 0, deepest = kNoHit;
  float least = std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!(distances[i] <= most)) continue;
    if (distances[i] < least) least = distances[i], deepest = count;
    hits[count++] = {points[i], distances[i], areas[points[i]] * area_scale};
  }
  ShellResult result;
  result.level = tree.level_count();
  result.hits = {hits, count};
  result.deepest = deepest;
  result.lower_bound = margin;
  if (count > 0) {
    result.distance = static_cast<double>(least);
    result.lower_bound = result.distance;
    result.nearest_point = hits[deepest].point;
  }
  result.work = {counts.spheres_seen, counts.points_seen};
  return result;
}

// A query that may stop before the last points. On each level it keeps nodes that may contain hits,
// with the distances of their representatives, so that there is a result at any time.
class LimitedSearch {
 public:
  LimitedSearch(const PointSphereTree& tree, const ShellSearch& search,
                const ShellPlacement& placement, const ShellRequest& request, ShellScratch& scratch)
      : tree_(tree),
        search_(search),
        placement_(placement),
        request_(request),
        state_(scratch),
        margin_(static_cast<float>(request.margin)) {
    if (request.max_microseconds > 0)
      deadline_ = Clock::now() + std::chrono::nanoseconds(static_cast<std::int64_t>(
                                     std::min(request.max_microseconds, 1e9) * 1000));
    last_level_ =
        request.level < 0 ? tree.level_count() : std::min(request.level, tree.level_count());
  }

  ShellResult run() {
    const ShellView& view = search_.view();
    work_.spheres = 1;
    if ((search_.test_group(view.levels[0].groups[0]) & 1U) == 0) {
      level_ = last_level_;
      return finish(0, 0, 0);
    }
    Access::front(state_, 0)[0] = 0;
    measure_front(0, 0, 0, 1);
    std::uint32_t count = 1;
    for (level_ = 0; level_ < last_level_; ++level_, in_ ^= 1U) {
      const bool last = level_ + 1 == view.level_count;
      std::uint32_t next = 0, i = 0;
      for (; i < count; ++i) {
        if (is_spent(count - i + next) || has_any()) return finish(i, count, last ? 0 : next);
        const ShellNode& node = view.levels[level_].nodes[Access::front(state_, in_)[i]];
        if (Access::values(state_, in_)[i] <= margin_) --open_hits_;
        if (last)
          test_points(node);
        else
          next = open(node, next);
      }
      if (last) {
        level_ = tree_.level_count();
        return finish(0, 0, 0);
      }
      count = next;
    }
    return finish(0, count, 0);
  }

 private:
  bool is_spent(std::uint32_t open_nodes) {
    if (request_.max_nodes > 0 && work_.spheres + work_.points >= request_.max_nodes) {
      status_ = ShellStatus::kOutOfWork;
      return true;
    }
    if (request_.max_microseconds > 0 && Clock::now() + time_to_finish(open_nodes) >= deadline_) {
      status_ = ShellStatus::kOutOfTime;
      return true;
    }
    return false;
  }

  bool has_any() const { return request_.any && (hit_count_ > 0 || open_hits_ > 0); }

  // Each open node is still to be written, and the caller has work per hit.
  std::chrono::nanoseconds time_to_finish(std::uint32_t open_nodes) const {
    constexpr double kNanosecondsAnOpenNode = 8;  // With cold caches.
    const double hits = static_cast<double>(hit_count_) + static_cast<double>(open_hits_);
    return std::chrono::nanoseconds(static_cast<std::int64_t>(kNanosecondsAnOpenNode * open_nodes +
                                                              request_.nanoseconds_a_hit * hits));
  }

  // Measures the representatives of nodes first to last of a front.
  void measure_front(int level, unsigned which, std::uint32_t first, std::uint32_t last) {
    const ShellNode* nodes = search_.view().levels[level].nodes;
    std::uint32_t points[16];
    const std::uint32_t* front = Access::front(state_, which).data();
    for (std::uint32_t at = first; at < last; at += 16) {
      const std::uint32_t n = std::min<std::uint32_t>(16, last - at);
      for (std::uint32_t i = 0; i < n; ++i) points[i] = nodes[front[at + i]].representative;
      float* values = Access::values(state_, which).data() + at;
      search_.measure({points, n}, values);
      for (std::uint32_t i = 0; i < n; ++i) open_hits_ += values[i] <= margin_ ? 1 : 0;
    }
    work_.points += last - first;
  }

  std::uint32_t open(const ShellNode& node, std::uint32_t next) {
    const SphereGroup* groups = search_.view().levels[level_ + 1].groups;
    std::uint32_t* to = Access::front(state_, in_ ^ 1U).data();
    const std::uint32_t before = next;
    for (std::uint32_t k = 0; k < node.child_count; k += 8) {
      const std::uint32_t child = node.first_child + k;
      unsigned bits = search_.test_group(groups[child / 8]) >> child % 8;
      for (; bits != 0; bits &= bits - 1) {
        const auto lane = static_cast<std::uint32_t>(__builtin_ctz(bits));
        if (k + lane < node.child_count) to[next++] = child + lane;
      }
    }
    work_.spheres += node.child_count;
    measure_front(level_ + 1, in_ ^ 1U, before, next);
    return next;
  }

  void add(std::uint32_t point, float distance, float area) {
    ShellHit* hits = Access::hits(state_).data();
    if (distance < least_) least_ = distance, nearest_ = point;
    if (!(distance <= margin_)) return;
    if (deepest_ == kNoHit || distance < hits[deepest_].distance) deepest_ = hit_count_;
    const auto scale = static_cast<float>(placement_.shell_scale * placement_.shell_scale);
    hits[hit_count_++] = {point, distance, area * scale};
  }

  void test_points(const ShellNode& node) {
    std::uint32_t points[kMaxChildren];
    float distances[kMaxChildren];
    for (std::uint32_t i = 0; i < node.point_count; ++i) points[i] = node.first_point + i;
    search_.measure({points, node.point_count}, distances);
    for (std::uint32_t i = 0; i < node.point_count; ++i)
      add(points[i], distances[i], tree_.areas()[points[i]]);
    work_.points += node.point_count;
  }

  // Nodes first to last of the current front, and the `next` first ones of the one below, represent
  // their points. Those below come first: they are children of nodes before `first`.
  ShellResult finish(std::uint32_t first, std::uint32_t last, std::uint32_t next) {
    const ShellView& view = search_.view();
    double lower = request_.margin;
    const auto represent = [&](int level, unsigned which, std::uint32_t begin, std::uint32_t end) {
      for (std::uint32_t i = begin; i < end; ++i) {
        const ShellNode& node = view.levels[level].nodes[Access::front(state_, which)[i]];
        const float value = Access::values(state_, which)[i];
        lower = std::min(lower, search_.compute_least(value, node.reach));
        add(node.representative, value, node.area);
      }
    };
    if (next > 0) represent(level_ + 1, in_ ^ 1U, 0, next);
    represent(level_, in_, first, last);
    ShellResult result;
    result.status = status_;
    result.level = level_;
    result.hits = {Access::hits(state_).data(), hit_count_};
    result.deepest = deepest_;
    result.work = work_;
    result.lower_bound = lower;
    if (deepest_ != kNoHit) {
      result.distance = static_cast<double>(least_);
      result.nearest_point = nearest_;
      result.lower_bound = std::min(lower, result.distance);
    }
    return result;
  }

  const PointSphereTree& tree_;
  const ShellSearch& search_;
  const ShellPlacement& placement_;
  const ShellRequest& request_;
  ShellScratch& state_;
  float margin_;
  Clock::time_point deadline_{};
  int last_level_ = 0, level_ = 0;
  unsigned in_ = 0;
  ShellStatus status_ = ShellStatus::kComplete;
  ShellWork work_{};
  std::uint32_t hit_count_ = 0, deepest_ = kNoHit, nearest_ = kNoHit;
  std::uint32_t open_hits_ = 0;  // Nodes of the fronts whose representatives are hits.
  float least_ = std::numeric_limits<float>::infinity();
};

// The result of Mode::kAny if the point that touched last does so again.
std::optional<ShellResult> find_again(const PointSphereTree& tree, const ShellSearch& search,
                                      const ShellPlacement& placement, const ShellRequest& request,
                                      ShellScratch& scratch) {
  if (request.likely >= tree.point_count()) return {};
  float distance = 0;
  search.measure({&request.likely, 1}, &distance);
  if (!(distance <= static_cast<float>(request.margin))) return {};
  const double scale = placement.shell_scale * placement.shell_scale;
  ShellHit& hit = Access::hits(scratch).front();
  hit = {request.likely, distance, tree.areas()[request.likely] * static_cast<float>(scale)};
  ShellResult result;
  result.hits = {&hit, 1};
  result.deepest = 0;
  result.nearest_point = request.likely;
  result.distance = static_cast<double>(distance);
  result.work.points = 1;
  return result;
}

// Finds the nearest point of a shell that is apart, level by level. A node is skipped if no point
// below can be nearer than the nearest known one.
void find_nearest_point(const ShellSearch& search, ShellScratch& scratch, ShellResult& result) {
  const ShellView& view = search.view();
  float best = std::numeric_limits<float>::infinity();
  std::uint32_t point = kNoHit;
  const auto take = [&](std::span<const std::uint32_t> points, float* distances) {
    search.measure(points, distances);
    for (std::size_t i = 0; i < points.size(); ++i)
      if (distances[i] < best || (distances[i] == best && points[i] < point))
        best = distances[i], point = points[i];
    result.work.points += points.size();
  };
  unsigned in = 0;
  Access::front(scratch, 0)[0] = 0;
  std::uint32_t first = view.levels[0].nodes[0].representative;
  take({&first, 1}, Access::values(scratch, 0).data());
  std::uint32_t count = 1;
  for (int level = 0; level < view.level_count; ++level, in ^= 1U) {
    const ShellNode* nodes = view.levels[level].nodes;
    const bool last = level + 1 == view.level_count;
    std::uint32_t next = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      const ShellNode& node = nodes[Access::front(scratch, in)[i]];
      if (search.compute_least(Access::values(scratch, in)[i], node.reach) >
          static_cast<double>(best))
        continue;
      std::uint32_t points[kMaxChildren];
      float distances[kMaxChildren];
      for (std::uint32_t k = 0; k < node.child_count; ++k) {
        const std::uint32_t child = node.first_child + k;
        points[k] = last ? child : view.levels[level + 1].nodes[child].representative;
      }
      take({points, node.child_count}, distances);
      if (last) continue;
      for (std::uint32_t k = 0; k < node.child_count; ++k) {
        Access::front(scratch, in ^ 1U)[next] = node.first_child + k;
        Access::values(scratch, in ^ 1U)[next++] = distances[k];
      }
    }
    count = next;
  }
  result.distance = static_cast<double>(best);
  result.nearest_point = point;
  result.lower_bound = result.distance;
}

// Returns a bound of the motion of any point of the tree between the two placements, metres: the
// motion of its centre, and the rotation and growth of the rest about it.
double compute_motion(const PointSphereTree& tree, const ShellPlacement& a,
                      const ShellPlacement& b) {
  const Spheref ball = tree.bounding_sphere();
  const Vec3 center = to_double(ball.center);
  const Mat3 ra = to_matrix(a.field_from_shell.rotation),
             rb = to_matrix(b.field_from_shell.rotation);
  double square = 0;
  for (std::size_t i = 0; i < 3; ++i)
    square += length_sq(ra.rows[i] * a.shell_scale - rb.rows[i] * b.shell_scale);
  const Vec3 offset = transform_point(a.field_from_shell, center * a.shell_scale) -
                      transform_point(b.field_from_shell, center * b.shell_scale);
  return length(offset) + std::sqrt(square) * static_cast<double>(ball.radius);
}

// A list of clusters near the surface is valid while no point has moved further than its
// enlargement. The list is enlarged by the motion of some steps, and made anew when that is used
// up. A shell that moves by more than the width of its clusters gains nothing and is searched from
// the root.
ShellCounts search_coherently(const PointSphereTree& tree, const ShellTarget& target,
                              const ShellSearch& search, const ShellPlacement& placement,
                              double margin, ShellPairScratch& memory, ShellScratch& scratch) {
  constexpr double kSteps = 6, kLeast = 0.02, kMost = 0.3;  // In radii of clusters.
  const ShellBuffers buffers = Access::buffers(scratch);
  std::optional<Access::Anchor>& anchor = Access::anchor(memory);
  const bool known = anchor && anchor->margin == margin &&
                     anchor->tree.buffer().data() == tree.buffer().data() &&
                     ShellTargetAccess::is_same(*anchor->target, target) &&
                     anchor->placement.field_scale == placement.field_scale;
  if (known && compute_motion(tree, anchor->placement, placement) * (1 + 1e-9) <= anchor->reach) {
    Access::last(memory) = placement;
    return search.search_clusters({Access::clusters(memory).data(), Access::cluster_count(memory)},
                                  buffers);
  }
  const ShellLevelEntry& leaves = tree.header().levels[tree.level_count() - 1];
  const double radius = static_cast<double>(leaves.mean_radius) * placement.shell_scale;
  const double step = known ? compute_motion(tree, Access::last(memory), placement) : kInfinite;
  Access::last(memory) = placement;
  if (!known) {
    anchor.emplace();
    anchor->tree = tree;
    anchor->target = target;
    anchor->margin = margin;
    anchor->reach = -1;
    anchor->placement = placement;
  }
  if (!(step * 2 <= kMost * radius)) {
    anchor->reach = -1;
    return search.search(buffers);
  }
  anchor->reach = std::clamp(kSteps * step, kLeast * radius, kMost * radius);
  anchor->placement = placement;
  const ShellCounts found = search.find_clusters(anchor->reach, buffers);
  std::vector<std::uint32_t>& clusters = Access::clusters(memory);
  if (clusters.size() < found.points + kPushRoom) clusters.resize(found.points + kPushRoom);
  std::copy_n(buffers.front[0], found.points, clusters.data());
  Access::cluster_count(memory) = found.points;
  ShellCounts counts = search.search_clusters({clusters.data(), found.points}, buffers);
  counts.spheres_seen = found.spheres_seen;
  return counts;
}

}  // namespace
}  // namespace detail

using detail::ShellSearch;

void ShellScratch::reserve(const PointSphereTree& tree) {
  std::size_t places = 0;
  for (int level = 0; level < tree.level_count(); ++level)
    places = std::max<std::size_t>(places, tree.header().levels[level].place_count);
  places += detail::kPushRoom;
  const std::size_t points = std::size_t{tree.point_count()} + detail::kPushRoom;
  const auto grow = [](auto& vector, std::size_t size) {
    if (vector.size() < size) vector.resize(size);
  };
  for (unsigned i = 0; i < 2; ++i) grow(front_[i], places), grow(values_[i], places);
  if (coherent_) grow(detail::ShellStateAccess::clusters(memory_), places);
  grow(points_, points);
  grow(distances_, points);
  grow(hits_, points);
}

namespace {

// `memory`: of the pair, or null.
ShellResult search_shell(const PointSphereTree& tree, const ShellTarget& target,
                         const ShellPlacement& placement, const ShellRequest& request,
                         ShellPairScratch* memory, ShellScratch& scratch) {
  assert(request.margin <= target.max_margin() * placement.field_scale * (1 + 1e-12));
  scratch.reserve(tree);
  const ShellSearch search(tree, target, placement, request.margin);
  const bool all = request.level < 0 || request.level >= tree.level_count();
  const bool limited = !all || request.any || request.max_nodes > 0 || request.max_microseconds > 0;
  ShellResult result;
  if (request.any)
    if (const auto again = detail::find_again(tree, search, placement, request, scratch))
      return *again;
  if (limited) {
    result = detail::LimitedSearch(tree, search, placement, request, scratch).run();
  } else {
    const bool coherent = memory != nullptr && target.kind() != TargetKind::kAnyField;
    const detail::ShellCounts counts =
        coherent ? detail::search_coherently(tree, target, search, placement, request.margin,
                                             *memory, scratch)
                 : search.search(detail::ShellStateAccess::buffers(scratch));
    result = detail::collect(tree, search, placement, request.margin, counts, scratch);
  }
  // If a level or a budget left possible hits, the nearest point is not searched.
  if (request.want_distance && result.hits.empty() && result.status == ShellStatus::kComplete &&
      result.lower_bound >= request.margin)
    detail::find_nearest_point(search, scratch, result);
  return result;
}

}  // namespace

ShellResult find_hits(const PointSphereTree& tree, const ShellTarget& target,
                      const ShellPlacement& placement, const ShellRequest& request,
                      ShellScratch& scratch) {
  ShellPairScratch* memory =
      scratch.coherent() ? &detail::ShellStateAccess::memory(scratch) : nullptr;
  return search_shell(tree, target, placement, request, memory, scratch);
}

ShellResult find_hits(const PointSphereTree& tree, const ShellTarget& target,
                      const ShellPlacement& placement, const ShellRequest& request,
                      ShellPairScratch& memory, ShellScratch& scratch) {
  return search_shell(tree, target, placement, request, &memory, scratch);
}

ShellResult find_hits_linear(const PointSphereTree& tree, const ShellTarget& target,
                             const ShellPlacement& placement, const ShellRequest& request,
                             ShellScratch& scratch) {
  scratch.reserve(tree);
  const ShellSearch search(tree, target, placement, request.margin);
  const detail::ShellCounts counts =
      search.search_linear(detail::ShellStateAccess::buffers(scratch));
  ShellResult result = detail::collect(tree, search, placement, request.margin, counts, scratch);
  if (!request.want_distance || !result.hits.empty()) return result;
  std::vector<float> distances(tree.point_count());
  std::vector<std::uint32_t> points(tree.point_count());
  for (std::uint32_t i = 0; i < tree.point_count(); ++i) points[i] = i;
  search.measure(points, distances.data());
  const auto nearest = std::min_element(distances.begin(), distances.end());
  result.distance = static_cast<double>(*nearest);
  result.nearest_point = static_cast<std::uint32_t>(nearest - distances.begin());
  result.lower_bound = result.distance;
  return result;
}

Vec3 place_of(const PointSphereTree& tree, const ShellPlacement& placement, std::uint32_t point) {
  return transform_point(placement.field_from_shell,
                         to_double(tree.point(point)) * placement.shell_scale);
}

Vec3 direction_at(const PointSphereTree& tree, const ShellTarget& target,
                  const ShellPlacement& placement, std::uint32_t point) {
  const Vec3 normal = rotate(placement.field_from_shell.rotation, to_double(tree.normals()[point]));
  const Vec3 place = place_of(tree, placement, point) / placement.field_scale;
  return target.sample(place, normal).gradient;
}

}  // namespace isotact

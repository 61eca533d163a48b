#include "isotact/queries/detail/swept_front.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace isotact::detail {
namespace {

// Rounding. Traces round places to floats of metres and of cells, a few parts in 1e7 of the largest
// coordinate, and compute values from corners that differ by no more than slope and cell allow.
constexpr double kPlaceRounding = 1e-6;  // of the largest coordinate
constexpr double kTraceRounding = 1e-3;  // cells
constexpr double kValueRounding = 1e-6;  // of a value
constexpr double kRoomRounding = 1e-5;   // of a room: kernels square floats
constexpr double kShiftRounding = 1e-6;  // of what the terms of a shift add up to
constexpr double kMostStretch = 1 + 1e-6;
constexpr float kNoRoom = -1;

constexpr double kMostMove = 0.1;     // of the shell's radius
constexpr double kMostMoveCells = 2;  // or this
constexpr double kSplitSteps = 4;     // a node that would sleep for less gives way
constexpr std::uint32_t kMostLooks = 256;
constexpr std::size_t kFewPlaces = 256;
constexpr std::uint64_t kLookCost = 16;  // against moving one place's reference

AffineMap difference(const AffineMap& a, const AffineMap& b) {
  return {a.linear + b.linear * -1.0, a.offset - b.offset};
}

// No place as far from the origin as that is moved further.
double bound_shift(const AffineMap& map, double furthest) {
  double norm_sq = 0;
  for (const Vec3& row : map.linear.rows) norm_sq += length_sq(row);
  return std::sqrt(norm_sq) * furthest + length(map.offset);
}

Shift to_shift(const AffineMap& map, double furthest, double rounding) {
  Shift shift{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (std::size_t k = 0; k < 3; ++k)
      shift.linear[axis][k] = static_cast<float>(map.linear.rows[axis][k]);
    shift.offset[axis] = static_cast<float>(map.offset[axis]);
  }
  shift.error = static_cast<float>(kShiftRounding * bound_shift(map, furthest) + rounding);
  return shift;
}

bool is_same(const AffineMap& a, const AffineMap& b) {
  return a.linear == b.linear && a.offset == b.offset;
}

FrontBlock empty_block() {
  FrontBlock block{};
  std::fill(std::begin(block.room), std::end(block.room), std::numeric_limits<float>::infinity());
  return block;
}

Vec3 place_of(const FrontBlock& block, std::size_t lane) {
  return to_double(Vec3f{block.x[lane], block.y[lane], block.z[lane]});
}

}  // namespace

bool SweptFront::can_follow(const ShellPath& path, const PointSphereTree& tree, double cell) {
  if (path.piece_count() > kMostMemoryPieces || path.stretch > kMostStretch) return false;
  const Sphere ball = ball_of(tree);
  const double most = std::max(kMostMove * ball.radius, kMostMoveCells * cell);
  for (std::size_t k = 0; k + 1 < path.maps.size(); ++k) {
    AffineMap by = difference(path.maps[k], path.maps.back());
    by.offset = by * ball.center;
    if (!(bound_shift(by, ball.radius) <= most)) return false;
  }
  return true;
}

void SweptFront::begin(const PointSphereTree& tree) {
  tree_ = tree;
  levels_.clear();
  for (int level = 0; level < tree.level_count(); ++level) levels_.push_back(tree.level(level));
  const Sphere ball = ball_of(tree);
  furthest_ = length(ball.center) + ball.radius;
  is_new_ = true;
}

std::span<const FrontPoint> SweptFront::look(const ShellPath& path, const RoomProbe& probe,
                                             SweptCounts& counts) {
  start_motion(path, probe);
  const bool anew = is_new_ || ++looks_ >= kMostLooks ||
                    place_count() > 2 * places_at_start_ + kFewPlaces || !wake_up();
  if (anew) begin_at_root();
  settle_nodes(counts);
  settle_points(counts);
  if (anew) places_at_start_ = place_count();
  if (wasted_ * kLookCost > place_count()) move_reference();
  return found_;
}

void SweptFront::start_motion(const ShellPath& path, const RoomProbe& probe) {
  probe_ = &probe;
  per_value_ = (1 - kValueRounding) / probe.lipschitz();
  double largest = probe.furthest + furthest_;
  for (const AffineMap& map : path.maps) largest = std::max(largest, bound_shift(map, furthest_));
  margin_ = kTraceRounding * probe.cell + kPlaceRounding * (largest + probe.furthest);
  rounding_ = 1e-14 * largest;
  // Who sleeps has room where the last motion ended.
  const std::size_t first = is_same(path.maps.front(), end_) ? 1 : 0;
  shifts_.clear();
  for (std::size_t k = first; k < path.maps.size(); ++k)
    shifts_.push_back(to_shift(difference(path.maps[k], reference_), furthest_, rounding_));
  end_ = path.maps.back();
  from_reference_ = difference(end_, reference_);
  shift_error_ = kShiftRounding * bound_shift(from_reference_, furthest_);
  back_.clear();
  for (std::size_t k = 0; k + 1 < path.maps.size(); ++k)
    back_.push_back(difference(path.maps[k], end_));
}

void SweptFront::begin_at_root() {
  is_new_ = false;
  looks_ = 0;
  wasted_ = 0;
  nodes_.clear();
  node_blocks_.clear();
  leaves_.clear();
  leaf_blocks_.clear();
  order_.clear();
  reference_ = end_;
  from_reference_ = {Mat3{}, {}};
  shift_error_ = 0;
  awake_.clear();
  splitting_.assign(1, Node{0, 0});
}

bool SweptFront::wake_up() {
  static const FindAwake find_awake = choose_find_awake(simd_level());
  awake_.resize(std::max(node_blocks_.size(), leaf_blocks_.size()));
  std::uint64_t count = find_awake(leaf_blocks_.data(), leaf_blocks_.size(), shifts_.data(),
                                   shifts_.size(), awake_.data());
  for (std::size_t i = 0; i < leaves_.size(); ++i) leaves_[i].awake = awake_[i];
  awake_.resize(node_blocks_.size());
  count += find_awake(node_blocks_.data(), node_blocks_.size(), shifts_.data(), shifts_.size(),
                      awake_.data());
  return count * 2 <= place_count() || place_count() < kFewPlaces;
}

SweptFront::Finding SweptFront::find_room(const Vec3& place, double radius, double steps) {
  const double value = probe_->value(end_ * place), above = value - probe_->iso;
  const double size = std::abs(above) - kValueRounding * (std::abs(value) + std::abs(probe_->iso));
  const double room = size * per_value_ - radius * kMostStretch - margin_;
  double moved_sq = 0;
  for (const AffineMap& map : back_) moved_sq = std::max(moved_sq, length_sq(map * place));
  const double moved = std::sqrt(moved_sq) * (1 + 1e-9) + rounding_;
  const double away = length(from_reference_ * place) + rounding_;
  const double left = (room - away) * (1 - kRoomRounding);
  if (room > 2 * moved && left <= away + moved) ++wasted_;
  // It is for the next motion, too, which begins where this one ends.
  const bool has_room = left > away * (1 + kRoomRounding) + shift_error_;
  return {has_room ? static_cast<float>(left) : kNoRoom, above <= 0, room > steps * moved};
}

void SweptFront::settle_nodes(SweptCounts& counts) {
  // From the last on: what takes the place of one that goes has been looked at.
  for (std::size_t i = awake_.size(); i-- > 0;) {
    for (unsigned left = awake_[i]; left != 0;) {
      const auto lane = static_cast<unsigned>(std::bit_width(left) - 1);
      left &= ~(1U << lane);
      const std::size_t at = i * 8 + lane;
      const Node node = nodes_[at];
      const Vec3 place = place_of(node_blocks_[i], lane);
      const auto radius = static_cast<double>(sphere(levels_[node.level], node.place).radius);
      ++counts.spheres;
      const Finding found = find_room(place, radius, kSplitSteps);
      if (found.is_clear && !found.inside) {
        node_blocks_[i].room[lane] = found.room;
        continue;
      }
      splitting_.push_back(node);
      const std::size_t last = nodes_.size() - 1;
      FrontBlock &from = node_blocks_[last / 8], &to = node_blocks_[i];
      nodes_[at] = nodes_[last];
      to.x[lane] = from.x[last % 8];
      to.y[lane] = from.y[last % 8];
      to.z[lane] = from.z[last % 8];
      to.room[lane] = from.room[last % 8];
      from.room[last % 8] = std::numeric_limits<float>::infinity();
      nodes_.pop_back();
      if (nodes_.size() % 8 == 0) node_blocks_.pop_back();
    }
  }
  while (!splitting_.empty()) {
    const Node node = splitting_.back();
    splitting_.pop_back();
    settle(node, counts);
  }
}

// Its children take its place; a child for which that will not do gives way in turn.
void SweptFront::settle(const Node& node, SweptCounts& counts) {
  const ShellNode& parent = levels_[node.level].nodes[node.place];
  if (node.level + 1 == levels_.size()) {
    open_leaf(parent);
    return;
  }
  const ShellLevel& below = levels_[node.level + 1];
  for (std::uint32_t k = 0; k < parent.child_count; ++k) {
    const Node child{node.level + 1, parent.first_child + k};
    const Spheref ball = sphere(below, child.place);
    ++counts.spheres;
    const Finding found =
        find_room(to_double(ball.center), static_cast<double>(ball.radius), kSplitSteps);
    if (found.is_clear && !found.inside)
      add_node(child, found.room);
    else
      splitting_.push_back(child);
  }
}

void SweptFront::add_node(const Node& node, float room) {
  const std::size_t lane = nodes_.size() % 8;
  if (lane == 0) node_blocks_.push_back(empty_block());
  const Vec3f center = sphere(levels_[node.level], node.place).center;
  FrontBlock& block = node_blocks_.back();
  block.x[lane] = center.x;
  block.y[lane] = center.y;
  block.z[lane] = center.z;
  block.room[lane] = room;
  nodes_.push_back(node);
}

void SweptFront::open_leaf(const ShellNode& cluster) {
  for (std::uint32_t first = 0; first < cluster.child_count; first += 8) {
    const std::uint32_t n = std::min(cluster.child_count - first, 8U);
    const std::uint32_t point = cluster.first_child + first;
    FrontBlock block = empty_block();
    for (std::uint32_t k = 0; k < n; ++k) {
      const Vec3f p = tree_.point(point + k);
      block.x[k] = p.x;
      block.y[k] = p.y;
      block.z[k] = p.z;
      block.room[k] = kNoRoom;
    }
    order_.push_back(static_cast<std::uint32_t>(leaves_.size()));
    leaves_.push_back(
        {point, static_cast<std::uint8_t>(n), 0, static_cast<std::uint8_t>((1U << n) - 1)});
    leaf_blocks_.push_back(block);
  }
}

void SweptFront::settle_points(SweptCounts& counts) {
  found_.clear();
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    return leaves_[a].first_point < leaves_[b].first_point;
  };
  // New ones are at the end.
  if (!std::is_sorted(order_.begin(), order_.end(), before))
    std::sort(order_.begin(), order_.end(), before);
  for (const std::uint32_t slot : order_)
    if ((leaves_[slot].awake | leaves_[slot].inside) != 0) settle_leaf(slot, counts);
}

void SweptFront::settle_leaf(std::uint32_t slot, SweptCounts& counts) {
  Leaf& leaf = leaves_[slot];
  FrontBlock& block = leaf_blocks_[slot];
  for (unsigned left = leaf.awake | leaf.inside; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const unsigned bit = 1U << lane;
    bool inside = (leaf.inside & bit) != 0, is_clear = true;
    if ((leaf.awake & bit) != 0) {
      ++counts.points;
      const Finding found = find_room(place_of(block, lane), 0, 1);
      block.room[lane] = found.room;
      inside = found.inside;
      is_clear = found.is_clear;
      leaf.inside = static_cast<std::uint8_t>((leaf.inside & ~bit) | (inside ? bit : 0));
    }
    if (inside || !is_clear) found_.push_back({leaf.first_point + lane, is_clear});
  }
  leaf.awake = 0;
}

// Of a room c around R p, what is left around M_n p.
void SweptFront::move_reference() {
  const Shift shift = to_shift(from_reference_, furthest_, rounding_);
  const auto cut = [&](FrontBlock& block) {
    for (std::size_t lane = 0; lane < 8; ++lane) {
      float by_sq = 0;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const float by = shift.linear[axis][0] * block.x[lane] +
                         shift.linear[axis][1] * block.y[lane] +
                         shift.linear[axis][2] * block.z[lane] + shift.offset[axis];
        by_sq += by * by;
      }
      const float left = block.room[lane] * static_cast<float>(1 - kShiftRounding) -
                         std::sqrt(by_sq) * static_cast<float>(1 + kRoomRounding) - shift.error;
      block.room[lane] = std::max(left, kNoRoom);
    }
  };
  for (FrontBlock& block : node_blocks_) cut(block);
  for (FrontBlock& block : leaf_blocks_) cut(block);
  reference_ = end_;
  from_reference_ = {Mat3{}, {}};
  wasted_ = 0;
}

std::uint64_t SweptFront::memory_bytes() const {
  return nodes_.capacity() * sizeof(Node) + leaves_.capacity() * sizeof(Leaf) +
         (node_blocks_.capacity() + leaf_blocks_.capacity()) * sizeof(FrontBlock) +
         order_.capacity() * sizeof(std::uint32_t) + found_.capacity() * sizeof(FrontPoint);
}

}  // namespace isotact::detail

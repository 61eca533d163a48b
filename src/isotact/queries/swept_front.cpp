#include "isotact/queries/detail/swept_front.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

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

constexpr double kMostMove = 0.1;        // of the shell's radius
constexpr double kMostMoveCells = 2;     // or this
constexpr double kSplitSteps = 1.5;      // a node that would sleep for less gives way
constexpr double kCloseSteps = 6;        // a cluster that will sleep for more is a node again
constexpr int kCloseAwake = 3;           // points, for which one look may do
constexpr std::uint32_t kLooksNear = 4;  // so often is a point that is traced measured, too
constexpr std::uint32_t kMostLooks = 256;
constexpr std::size_t kFewPlaces = 256;
constexpr std::uint64_t kLookCost = 64;  // against moving one place's reference

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

void SweptFront::measure() {
  values_.resize(places_.size());
  if (places_.empty()) return;
  if (probe_->bricks != nullptr) {
    sample_field(*probe_->bricks, places_, values_, {}, {1});
    return;
  }
  for (std::size_t i = 0; i < places_.size(); ++i)
    values_[i] = static_cast<float>(probe_->value(to_double(places_[i])));
}

SweptFront::Finding SweptFront::judge(const Vec3& place, double radius, float measured,
                                      double steps) {
  const double value = static_cast<double>(measured), above = value - probe_->iso;
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

SweptFront::Finding SweptFront::judge(const Node& node, float measured, double steps) {
  const Spheref ball = sphere(levels_[node.level], node.place);
  return judge(to_double(ball.center), static_cast<double>(ball.radius), measured, steps);
}

void SweptFront::settle_nodes(SweptCounts& counts) {
  // From the last on: what takes the place of one that goes has been looked at.
  waking_.clear();
  places_.clear();
  for (std::size_t i = awake_.size(); i-- > 0;)
    for (unsigned left = awake_[i]; left != 0;) {
      const auto lane = static_cast<unsigned>(std::bit_width(left) - 1);
      left &= ~(1U << lane);
      waking_.push_back(static_cast<std::uint32_t>(i * 8 + lane));
      add_place(place_of(node_blocks_[i], lane));
    }
  measure();
  counts.spheres += waking_.size();
  for (std::size_t i = 0; i < waking_.size(); ++i) {
    const std::uint32_t at = waking_[i];
    const Finding found = judge(nodes_[at], values_[i], kSplitSteps);
    if (found.is_clear && !found.inside) {
      node_blocks_[at / 8].room[at % 8] = found.room;
    } else {
      splitting_.push_back(nodes_[at]);
      remove_node(at);
    }
  }
  while (!splitting_.empty()) split(counts);
}

// Children take the places of nodes; those for which that will not do give way in turn.
void SweptFront::split(SweptCounts& counts) {
  children_.clear();
  places_.clear();
  for (const Node& node : splitting_) {
    if (node.level + 1 == levels_.size()) {
      open_leaf(node.place);
      continue;
    }
    const ShellNode& parent = levels_[node.level].nodes[node.place];
    for (std::uint32_t k = 0; k < parent.child_count; ++k) {
      children_.push_back({node.level + 1, parent.first_child + k});
      add_place(to_double(sphere(levels_[node.level + 1], parent.first_child + k).center));
    }
  }
  splitting_.clear();
  measure();
  counts.spheres += children_.size();
  for (std::size_t i = 0; i < children_.size(); ++i) {
    const Finding found = judge(children_[i], values_[i], kSplitSteps);
    if (found.is_clear && !found.inside)
      add_node(children_[i], found.room);
    else
      splitting_.push_back(children_[i]);
  }
}

void SweptFront::remove_node(std::size_t at) {
  const std::size_t last = nodes_.size() - 1;
  FrontBlock &from = node_blocks_[last / 8], &to = node_blocks_[at / 8];
  nodes_[at] = nodes_[last];
  to.x[at % 8] = from.x[last % 8];
  to.y[at % 8] = from.y[last % 8];
  to.z[at % 8] = from.z[last % 8];
  to.room[at % 8] = from.room[last % 8];
  from.room[last % 8] = std::numeric_limits<float>::infinity();
  nodes_.pop_back();
  if (nodes_.size() % 8 == 0) node_blocks_.pop_back();
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

void SweptFront::open_leaf(std::uint32_t place) {
  const ShellNode& cluster = levels_.back().nodes[place];
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
    leaves_.push_back({.first_point = point,
                       .cluster = place,
                       .inside = 0,
                       .awake = static_cast<std::uint8_t>((1U << n) - 1),
                       .near = 0,
                       .is_new = true});
    leaf_blocks_.push_back(block);
  }
}

void SweptFront::settle_points(SweptCounts& counts) {
  close_leaves(counts);
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    return leaves_[a].first_point < leaves_[b].first_point;
  };
  // New ones are at the end.
  if (!std::is_sorted(order_.begin(), order_.end(), before))
    std::sort(order_.begin(), order_.end(), before);
  looking_.clear();
  places_.clear();
  for (const std::uint32_t slot : order_)
    if ((leaves_[slot].awake | leaves_[slot].inside) != 0) list_points(slot);
  measure();
  counts.points += values_.size();
  std::size_t next = 0;
  found_.clear();
  for (const Looking& l : looking_) {
    Leaf& leaf = leaves_[l.slot];
    const std::uint32_t point = leaf.first_point + l.lane;
    if (!l.is_measured) {
      found_.push_back({point, l.inside});
      continue;
    }
    FrontBlock& block = leaf_blocks_[l.slot];
    const Finding found = judge(place_of(block, l.lane), 0, values_[next++], 1);
    const unsigned bit = 1U << l.lane;
    block.room[l.lane] = found.room;
    leaf.inside = static_cast<std::uint8_t>((leaf.inside & ~bit) | (found.inside ? bit : 0));
    leaf.near = static_cast<std::uint8_t>((leaf.near & ~bit) | (found.is_clear ? 0 : bit));
    if (found.inside || !found.is_clear) found_.push_back({point, found.is_clear});
  }
}

// What is to be done about points of a leaf.
void SweptFront::list_points(std::uint32_t slot) {
  Leaf& leaf = leaves_[slot];
  const bool all = (looks_ + slot) % kLooksNear == 0;
  for (unsigned left = leaf.awake | leaf.inside; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const unsigned bit = 1U << lane;
    const bool awake = (leaf.awake & bit) != 0;
    const bool measured = awake && (all || (leaf.near & bit) == 0);
    looking_.push_back({slot, static_cast<std::uint8_t>(lane), measured, !awake});
    if (measured) add_place(place_of(leaf_blocks_[slot], lane));
  }
  leaf.awake = 0;
  leaf.is_new = false;
}

// Where several points of a cluster are awake, one look may tell that all of them are far away by
// now: then it is a node again.
void SweptFront::close_leaves(SweptCounts& counts) {
  waking_.clear();
  places_.clear();
  for (std::uint32_t slot = 0; slot < leaves_.size(); ++slot) {
    const Leaf& leaf = leaves_[slot];
    if (leaf.is_new || leaf.inside != 0 || std::popcount(leaf.awake) < kCloseAwake ||
        (leaf.awake & leaf.near) != 0 || levels_.back().nodes[leaf.cluster].child_count > 8)
      continue;
    waking_.push_back(slot);
    add_place(to_double(sphere(levels_.back(), leaf.cluster).center));
  }
  measure();
  counts.spheres += waking_.size();
  bool has_closed = false;
  const auto level = static_cast<std::uint32_t>(levels_.size() - 1);
  for (std::size_t i = waking_.size(); i-- > 0;) {
    const Node node{level, leaves_[waking_[i]].cluster};
    const Finding found = judge(node, values_[i], kCloseSteps);
    if (!found.is_clear || found.inside) continue;
    add_node(node, found.room);
    leaves_[waking_[i]] = leaves_.back();
    leaf_blocks_[waking_[i]] = leaf_blocks_.back();
    leaves_.pop_back();
    leaf_blocks_.pop_back();
    has_closed = true;
  }
  if (!has_closed) return;
  order_.resize(leaves_.size());
  std::iota(order_.begin(), order_.end(), 0U);
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

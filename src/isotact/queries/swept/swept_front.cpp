#include "isotact/queries/swept/detail/swept_front.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "isotact/field/models/analytic.h"
#include "isotact/queries/swept/detail/front_kernel.h"

namespace isotact::detail {
namespace {

// Rounding. Traces round positions to floats of metres and of cells, a few parts in 1e7 of the
// largest coordinate. They compute values from corners that differ by no more than slope and cell
// allow.
constexpr double kPlaceRounding = 1e-6;  // Relative to the largest coordinate.
constexpr double kTraceRounding = 1e-3;  // Cells.
constexpr double kValueRounding = 1e-6;  // Relative to a value.
constexpr double kRoomRounding = 1e-5;   // Relative to a free distance: kernels square floats.
constexpr double kShiftRounding = 1e-6;  // Relative to the sum of the terms of a shift.
constexpr double kMostStretch = 1 + 1e-6;

constexpr double kMostMove = 0.1;        // Fraction of the shell's radius.
constexpr double kMostMoveCells = 2;     // Or this.
constexpr double kSplitSteps = 1.5;      // A node that would sleep for less is replaced.
constexpr double kCloseSteps = 6;        // A cluster that will sleep for more is a node again.
constexpr int kCloseAwake = 3;           // Points for which one test may suffice.
constexpr std::uint32_t kLooksNear = 4;  // A traced point is also measured this often.
constexpr double kFarMoves = 8;          // With a larger free distance, common bounds suffice.
constexpr std::uint32_t kClosed = 0xffffffffU;  // Instead of a cluster.
constexpr std::uint32_t kMostLooks = 256;       // Then it begins anew.
constexpr std::size_t kFewPlaces = 256;         // Positions that may all wake up, or be added.
constexpr std::uint64_t kLookCost = 64;         // Relative to moving the reference of one position.

AffineMap difference(const AffineMap& a, const AffineMap& b) {
  return {a.linear + b.linear * -1.0, a.offset - b.offset};
}

// Returns a bound of the motion of positions at most that far from the origin.
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

FrontNodes empty_nodes() {
  FrontNodes nodes{};
  std::fill(std::begin(nodes.room), std::end(nodes.room), std::numeric_limits<float>::infinity());
  return nodes;
}

ShellPoints points_of(const PointSphereTree& tree) {
  return {tree.x().data(), tree.y().data(), tree.z().data()};
}

const FrontKernels& kernels() {
  static const FrontKernels& chosen = choose_front_kernels(simd_level());
  return chosen;
}

// Returns a bound of the motion of any position of a ball.
double bound_shift(const AffineMap& map, const Sphere& ball) {
  return bound_shift({map.linear, map * ball.center}, ball.radius);
}

}  // namespace

bool can_follow(const ShellPath& path, const PointSphereTree& tree, double cell) {
  if (path.piece_count() > kMostMemoryPieces || path.stretch > kMostStretch) return false;
  const Sphere ball = ball_of(tree);
  const double most = std::max(kMostMove * ball.radius, kMostMoveCells * cell);
  for (std::size_t k = 0; k + 1 < path.maps.size(); ++k)
    if (!(bound_shift(difference(path.maps[k], path.maps.back()), ball) <= most)) return false;
  return true;
}

double compute_free_move(const SweptFront& front, const PointSphereTree& tree) {
  if (front.is_new || front.quiet_room <= 0) return 0;
  const double room = static_cast<double>(front.quiet_room) * (1 - kRoomRounding);
  return std::max(room - bound_shift(difference(front.end, front.reference), ball_of(tree)), 0.0);
}

std::span<const FrontPoint> FrontLook::look(SweptFront& front, const PointSphereTree& tree,
                                            const ShellPath& path, const RoomProbe& probe,
                                            SweptWork& counts) {
  front_ = &front;
  tree_ = &tree;
  probe_ = &probe;
  ball_ = ball_of(tree);
  found_.clear();
  if (is_quiet(path)) {
    front.end = path.maps.back();
    return found_;
  }
  // Until everything is known again: an exception in between leaves no valid state.
  const bool was_new = std::exchange(front.is_new, true);
  start_motion(path);
  const bool anew = was_new || ++front.looks >= kMostLooks ||
                    front.place_count() > 2 * front.places_at_start + kFewPlaces || !wake_up();
  if (anew) begin_at_root();
  settle_nodes(counts);
  settle_points(counts);
  if (anew) front.places_at_start = front.place_count();
  if (front.wasted * kLookCost > front.place_count()) move_reference();
  front.is_new = false;
  return found_;
}

bool FrontLook::is_quiet(const ShellPath& path) const {
  if (front_->quiet_room <= 0) return false;
  const double room = static_cast<double>(front_->quiet_room) * (1 - kRoomRounding);
  for (const AffineMap& map : path.maps)
    if (!(bound_shift(difference(map, front_->reference), ball_) < room)) return false;
  return true;
}

void FrontLook::start_motion(const ShellPath& path) {
  splitting_.clear();
  levels_.clear();
  for (int level = 0; level < tree_->level_count(); ++level) levels_.push_back(tree_->level(level));
  furthest_ = length(ball_.center) + ball_.radius;
  box_ = probe_->any != nullptr ? all_of_space() : bounds(probe_->lattice);
  steepest_ = probe_->bricks != nullptr ? probe_->bricks->lipschitz()
              : probe_->grid != nullptr ? probe_->grid->lipschitz()
                                        : probe_->any->lipschitz();
  double largest = furthest_;
  if (probe_->any == nullptr)
    largest += length(max(max(box_.lower, box_.upper), max(-box_.lower, -box_.upper)));
  for (const AffineMap& map : path.maps) largest = std::max(largest, bound_shift(map, furthest_));
  margin_ = kTraceRounding * probe_->cell + kPlaceRounding * 2 * largest;
  rounding_ = 1e-14 * largest;
  // Sleeping positions have a free distance at the end of the last motion.
  const std::size_t first = is_same(path.maps.front(), front_->end) ? 1 : 0;
  shifts_.clear();
  for (std::size_t k = first; k < path.maps.size(); ++k)
    shifts_.push_back(to_shift(difference(path.maps[k], front_->reference), furthest_, rounding_));
  front_->end = path.maps.back();
  from_reference_ = difference(front_->end, front_->reference);
  shift_error_ = kShiftRounding * bound_shift(from_reference_, furthest_);
  back_.clear();
  for (std::size_t k = 0; k + 1 < path.maps.size(); ++k)
    back_.push_back(difference(path.maps[k], front_->end));
  most_moved_ = most_away_ = rounding_;
  for (const AffineMap& map : back_)
    most_moved_ = std::max(most_moved_, bound_shift(map, ball_) + rounding_);
  most_away_ = bound_shift(from_reference_, ball_) + rounding_;
}

void FrontLook::begin_at_root() {
  SweptFront& f = *front_;
  f.looks = 0;
  f.wasted = 0;
  f.quiet_room = kNoRoom;
  f.nodes.clear();
  f.node_blocks.clear();
  f.leaves.clear();
  f.reference = f.end;
  from_reference_ = {Mat3{}, {}};
  shift_error_ = 0;
  most_away_ = rounding_;
  awake_.clear();
  splitting_.assign(1, Node{0, 0});
}

bool FrontLook::wake_up() {
  SweptFront& f = *front_;
  const FrontShifts shifts{shifts_.data(), shifts_.size()};
  awake_.resize(f.node_blocks.size());
  const Waking nodes =
      kernels().wake_nodes(f.node_blocks.data(), f.node_blocks.size(), shifts, awake_.data());
  const Waking leaves =
      kernels().wake_leaves(f.leaves.data(), f.leaves.size(), points_of(*tree_), shifts);
  const std::uint64_t awake = nodes.awake + leaves.awake;
  const bool inside = std::any_of(f.leaves.begin(), f.leaves.end(),
                                  [](const FrontLeaf& leaf) { return leaf.inside != 0; });
  f.quiet_room = awake > 0 || inside ? kNoRoom : std::min(nodes.least_room, leaves.least_room);
  return awake * 2 <= f.place_count() || f.place_count() < kFewPlaces;
}

void FrontLook::clear_places() {
  balls_.clear();
  places_.clear();
  gaps_.clear();
}

void FrontLook::add_place(const Vec3f& place, float radius) {
  balls_.push_back({place, radius});
  const Vec3 at = front_->end * to_double(place);
  const Vec3 in_box = max(box_.lower, min(box_.upper, at));
  const double gap_sq = length_sq(at - in_box);
  places_.push_back(to_float(in_box));
  gaps_.push_back(gap_sq > 0 ? static_cast<float>(std::sqrt(gap_sq)) : 0.0F);
}

void FrontLook::measure() {
  values_.resize(places_.size());
  if (places_.empty()) return;
  if (probe_->bricks != nullptr) {
    sample_field(*probe_->bricks, places_, values_, {}, {1});
  } else {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const Vec3 place = to_double(places_[i]);
      values_[i] = static_cast<float>(probe_->grid != nullptr ? probe_->grid->value(place)
                                                              : probe_->any->value(place));
    }
  }
  for (std::size_t i = 0; i < places_.size(); ++i)
    if (gaps_[i] > 0)
      values_[i] = static_cast<float>(
          extend_outside(static_cast<double>(values_[i]), static_cast<double>(gaps_[i])));
}

// Returns a lower bound of the distance from a position to the other side of the isosurface.
double FrontLook::compute_reach_around(std::size_t i) const {
  const double value = static_cast<double>(values_[i]), above = value - probe_->margin;
  const double size =
      std::abs(above) - kValueRounding * (std::abs(value) + std::abs(probe_->margin));
  if (probe_->any != nullptr) return size / steepest_;
  const double side = probe_->cell * kFreeBlockCells, gap = static_cast<double>(gaps_[i]);
  const FreeSpace& space = *probe_->space;
  Index3 block{};
  double inner = 0.5;  // Blocks, to the nearest side of its own.
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double at = (static_cast<double>(places_[i][axis]) - probe_->lattice.origin[axis]) / side;
    block[axis] = std::clamp(static_cast<std::int32_t>(at), 0, space.blocks[axis] - 1);
    const double in = at - block[axis];
    inner = std::min(inner, std::min(in, 1 - in));
  }
  const Steepness::Slopes slopes = probe_->slopes->find(block);
  const auto here = static_cast<double>(slopes.here), around = static_cast<double>(slopes.around);
  inner = gap > 0 ? 0 : std::max(inner, 0.0) * side;
  // In three parts: first in the block, then around it, then anywhere.
  double room = size / here;
  if (room > inner) room = inner + (size - inner * here) / around;
  if (room > side) room = side + (size - inner * here - (side - inner) * around) / steepest_;
  if (above <= 0) return room;
  const double free =
      0.25 * space.quarters[flat_index(space.blocks, block[0], block[1], block[2])] * side;
  return std::max(room, std::sqrt(gap * gap + free * free) - space.reach * side);
}

FrontLook::Finding FrontLook::judge(std::size_t i, double steps) {
  const double room =
      compute_reach_around(i) - static_cast<double>(balls_[i].radius) * kMostStretch - margin_;
  const bool inside = static_cast<double>(values_[i]) <= probe_->margin;
  // Positions far away need no exact distance.
  double moved = most_moved_, away = most_away_;
  if (room < kFarMoves * std::max(moved, away)) {
    const Vec3 place = to_double(balls_[i].center);
    double moved_sq = 0;
    for (const AffineMap& map : back_) moved_sq = std::max(moved_sq, length_sq(map * place));
    moved = std::sqrt(moved_sq) * (1 + 1e-9) + rounding_;
    away = length(from_reference_ * place) + rounding_;
  }
  const double left = (room - away) * (1 - kRoomRounding);
  if (room > 2 * moved && left <= away + moved) ++front_->wasted;
  // It also serves the next motion, which begins at the end of this one.
  const bool has_room = left > away * (1 + kRoomRounding) + shift_error_;
  return {has_room ? static_cast<float>(left) : kNoRoom, inside, room > steps * moved};
}

void FrontLook::add_place(const Node& node) {
  const Spheref ball = sphere(levels_[node.level], node.place);
  add_place(ball.center, ball.radius);
}

void FrontLook::settle_nodes(SweptWork& counts) {
  SweptFront& f = *front_;
  // From the last on: an entry that replaces a removed one has been tested.
  waking_.clear();
  clear_places();
  for (std::size_t i = awake_.size(); i-- > 0;)
    for (unsigned left = awake_[i]; left != 0;) {
      const auto lane = static_cast<unsigned>(std::bit_width(left) - 1);
      left &= ~(1U << lane);
      waking_.push_back(static_cast<std::uint32_t>(i * 8 + lane));
      add_place(f.nodes[waking_.back()]);
    }
  measure();
  counts.spheres += waking_.size();
  for (std::size_t i = 0; i < waking_.size(); ++i) {
    const std::uint32_t at = waking_[i];
    const Finding found = judge(i, kSplitSteps);
    if (found.is_clear && !found.inside) {
      f.node_blocks[at / 8].room[at % 8] = found.room;
    } else {
      splitting_.push_back(f.nodes[at]);
      remove_node(at);
    }
  }
  while (!splitting_.empty()) split(counts);
}

// Children replace nodes; insufficient ones are replaced in turn.
void FrontLook::split(SweptWork& counts) {
  children_.clear();
  clear_places();
  for (const Node& node : splitting_) {
    if (node.level + 1 == levels_.size()) {
      open_leaf(node.place);
      continue;
    }
    const ShellNode& parent = levels_[node.level].nodes[node.place];
    for (std::uint32_t k = 0; k < parent.child_count; ++k) {
      children_.push_back({node.level + 1, parent.first_child + k});
      add_place(children_.back());
    }
  }
  splitting_.clear();
  measure();
  counts.spheres += children_.size();
  for (std::size_t i = 0; i < children_.size(); ++i) {
    const Finding found = judge(i, kSplitSteps);
    if (found.is_clear && !found.inside)
      add_node(children_[i], balls_[i].center, found.room);
    else
      splitting_.push_back(children_[i]);
  }
}

void FrontLook::add_node(const Node& node, const Vec3f& center, float room) {
  SweptFront& f = *front_;
  const std::size_t lane = f.nodes.size() % 8;
  if (lane == 0) f.node_blocks.push_back(empty_nodes());
  FrontNodes& block = f.node_blocks.back();
  block.x[lane] = center.x;
  block.y[lane] = center.y;
  block.z[lane] = center.z;
  block.room[lane] = room;
  f.nodes.push_back(node);
}

void FrontLook::remove_node(std::size_t at) {
  SweptFront& f = *front_;
  const std::size_t last = f.nodes.size() - 1;
  FrontNodes &from = f.node_blocks[last / 8], &to = f.node_blocks[at / 8];
  f.nodes[at] = f.nodes[last];
  to.x[at % 8] = from.x[last % 8];
  to.y[at % 8] = from.y[last % 8];
  to.z[at % 8] = from.z[last % 8];
  to.room[at % 8] = from.room[last % 8];
  from.room[last % 8] = std::numeric_limits<float>::infinity();
  f.nodes.pop_back();
  if (f.nodes.size() % 8 == 0) f.node_blocks.pop_back();
}

void FrontLook::open_leaf(std::uint32_t cluster) {
  const ShellNode& node = levels_.back().nodes[cluster];
  for (std::uint32_t first = 0; first < node.child_count; first += 8) {
    const std::uint32_t n = std::min(node.child_count - first, 8U);
    FrontLeaf leaf{.room = {},
                   .first_point = node.first_child + first,
                   .cluster = cluster,
                   .inside = 0,
                   .awake = static_cast<std::uint8_t>((1U << n) - 1),
                   .near = 0,
                   .is_new = 1};
    std::fill_n(leaf.room, n, kNoRoom);
    std::fill(leaf.room + n, leaf.room + 8, std::numeric_limits<float>::infinity());
    front_->leaves.push_back(leaf);
  }
}

// If several points of a cluster are awake, one test may show that all of them are now far away:
// then it is a node again.
void FrontLook::close_leaves(SweptWork& counts) {
  SweptFront& f = *front_;
  const ShellLevel& last = levels_.back();
  waking_.clear();
  clear_places();
  const auto level = static_cast<std::uint32_t>(levels_.size() - 1);
  for (std::uint32_t i = 0; i < f.leaves.size(); ++i) {
    const FrontLeaf& leaf = f.leaves[i];
    if (std::popcount(leaf.awake) < kCloseAwake || leaf.is_new != 0 || leaf.inside != 0 ||
        (leaf.awake & leaf.near) != 0 || last.nodes[leaf.cluster].child_count > 8)
      continue;
    waking_.push_back(i);
    add_place(Node{level, leaf.cluster});
  }
  if (waking_.empty()) return;
  measure();
  counts.spheres += waking_.size();
  for (std::size_t i = 0; i < waking_.size(); ++i) {
    FrontLeaf& leaf = f.leaves[waking_[i]];
    const Finding found = judge(i, kCloseSteps);
    if (!found.is_clear || found.inside) continue;
    add_node({level, leaf.cluster}, balls_[i].center, found.room);
    leaf.cluster = kClosed;
  }
  std::erase_if(f.leaves, [](const FrontLeaf& leaf) { return leaf.cluster == kClosed; });
}

void FrontLook::settle_points(SweptWork& counts) {
  SweptFront& f = *front_;
  close_leaves(counts);
  const auto before = [](const FrontLeaf& a, const FrontLeaf& b) {
    return a.first_point < b.first_point;
  };
  // New ones are at the end.
  if (!f.leaves.empty() && f.leaves.back().is_new != 0)
    std::sort(f.leaves.begin(), f.leaves.end(), before);
  looking_.clear();
  clear_places();
  for (std::uint32_t i = 0; i < f.leaves.size(); ++i)
    if ((f.leaves[i].awake | f.leaves[i].inside) != 0) list_points(i);
  measure();
  counts.points += values_.size();
  std::size_t next = 0;
  for (const Looking& l : looking_) {
    FrontLeaf& leaf = f.leaves[l.leaf];
    const std::uint32_t point = leaf.first_point + l.lane;
    if (!l.is_measured) {
      found_.push_back({point, l.inside});
      continue;
    }
    const Finding found = judge(next++, 1);
    const unsigned bit = 1U << l.lane;
    leaf.room[l.lane] = found.room;
    leaf.inside = static_cast<std::uint8_t>((leaf.inside & ~bit) | (found.inside ? bit : 0));
    leaf.near = static_cast<std::uint8_t>((leaf.near & ~bit) | (found.is_clear ? 0 : bit));
    if (found.inside || !found.is_clear) found_.push_back({point, found.is_clear});
  }
}

// Lists the work for points of a leaf.
void FrontLook::list_points(std::uint32_t i) {
  FrontLeaf& leaf = front_->leaves[i];
  const bool all = (front_->looks + i) % kLooksNear == 0;
  for (unsigned left = leaf.awake | leaf.inside; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const unsigned bit = 1U << lane;
    const bool awake = (leaf.awake & bit) != 0;
    const bool measured = awake && (all || (leaf.near & bit) == 0);
    looking_.push_back({i, static_cast<std::uint8_t>(lane), measured, !awake});
    // A sleeping position must have a free distance at the end of this motion: see start_motion.
    if (awake) leaf.room[lane] = kNoRoom;
    if (measured) add_place(tree_->point(leaf.first_point + lane), 0);
  }
  leaf.awake = 0;
  leaf.is_new = 0;
}

// Keeps the part around M_n p of a free distance c around R p.
void FrontLook::move_reference() {
  SweptFront& f = *front_;
  const Shift shift = to_shift(from_reference_, furthest_, rounding_);
  kernels().cut_nodes(f.node_blocks.data(), f.node_blocks.size(), shift);
  kernels().cut_leaves(f.leaves.data(), f.leaves.size(), points_of(*tree_), shift);
  f.reference = f.end;
  f.quiet_room = kNoRoom;
  f.wasted = 0;
}

const FrontKernels kBaselineFrontKernels = FrontKernel<Lanes<float, 4>>::kAll;

const FrontKernels& choose_front_kernels([[maybe_unused]] SimdLevel level) {
#if defined(ISOTACT_HAS_AVX2_KERNELS)
  if (level == SimdLevel::kAvx2) return kAvx2FrontKernels;
#endif
  return kBaselineFrontKernels;
}

}  // namespace isotact::detail

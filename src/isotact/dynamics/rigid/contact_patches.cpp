#include "isotact/dynamics/rigid/detail/contact_patches.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "isotact/base/detail/thread_scratch.h"
#include "isotact/dynamics/rigid/detail/point_force.h"
#include "isotact/dynamics/rigid/detail/spatial_sums.h"

namespace isotact::detail {
namespace {

constexpr std::size_t kLeastPatch = 8;  // Points of a patch.
constexpr double kNoPatch = std::numeric_limits<double>::infinity();
constexpr double kPatchTurn = 0.1;   // Largest change of the gradient within a patch.
constexpr double kLeastPart = 0.25;  // Grains: shorter parts of a path are not cut off.
constexpr double kMostParts = 64;    // Of a path.
// Mean of max(p, 0) if p goes from a to b at a constant rate.
double positive_mean(double a, double b) {
  if (a >= 0 && b >= 0) return 0.5 * (a + b);
  if (a <= 0 && b <= 0) return 0;
  const double high = std::max(a, b), low = std::min(a, b);
  return 0.5 * high * high / (high - low);
}

template <typename F>
class PatchIntegral {
 public:
  PatchIntegral(const F& field, const RoleInput& in, const ForceSettings& settings,
                PatchScratch& scratch)
      : field_(field), in_(in), s_(settings), m_(settings.material), t_(scratch) {
    field_rests_ = in.field.motion.from == in.field.motion.to;
    shell_turn_ = to_matrix(compute_pose(in.shell.motion, 0.5).rotation);
    const int pieces = in.path.piece_count();
    t_.world.clear();
    for (int k = 0; k <= pieces; ++k)
      t_.world.push_back(to_affine(compute_pose(in.field.motion, static_cast<double>(k) / pieces)));
    if (m_.stick_stiffness > 0) stick_ = m_.stick_stiffness;
    if (m_.stick_damping > 0) stick_damping_ = m_.stick_damping;
    grain_ = 0.5 * in.tree.header().spacing;
    if constexpr (std::is_same_v<F, BrickField>) grain_ = field.lattice().spacing;
    rim_reach_ = kRimReach * grain_;
  }

  std::optional<RoleImpulse> integrate(std::vector<PointStick>& sticks) {
    list_parts();
    list_patches();
    take_samples();
    judge_patches();
    t_.sticks.clear();
    std::size_t old = 0;
    for (std::size_t k = 0; k < in_.hits.size(); ++k) {
      const std::uint32_t point = in_.hits[k].point;
      while (old < sticks.size() && sticks[old].point < point) ++old;
      const bool known = old < sticks.size() && sticks[old].point == point;
      add_point(k, known ? sticks[old] : PointStick{});
    }
    finish_deepest();
    if (crossed_) return {};
    sticks.assign(t_.sticks.begin(), t_.sticks.end());
    finish();
    return result_;
  }

 private:
  // ---- positions and velocities ----

  Vec3 point(std::size_t hit) const { return to_double(in_.tree.point(in_.hits[hit].point)); }
  Vec3 place(std::size_t hit, double time) const {
    if (in_.path.piece_count() == 1) return lerp(t_.hits[hit].start, t_.hits[hit].end, time);
    return place_on(in_.path, point(hit), time);
  }

  AffineMap world_at(double time) const {
    if (field_rests_) return t_.world[0];
    const int pieces = in_.path.piece_count();
    const auto k = static_cast<std::size_t>(std::min(static_cast<int>(time * pieces), pieces - 1));
    const double u = time * pieces - static_cast<double>(k);
    const AffineMap &a = t_.world[k], &b = t_.world[k + 1];
    return {a.linear * (1 - u) + b.linear * u, lerp(a.offset, b.offset, u)};
  }
  // Velocity of the shell's body past the field's, world frame.
  Vec3 slip(const Vec3& at, double time) const {
    const auto velocity = [&](const BodyStep& b) {
      return b.velocity + cross(b.angular_velocity, at - lerp(b.center_from, b.center_to, time));
    };
    return velocity(in_.shell) - velocity(in_.field);
  }

  // ---- parts and patches ----

  void list_parts() {
    t_.hits.clear();
    t_.parts.clear();
    for (std::size_t k = 0; k < in_.hits.size(); ++k) {
      const SweptHit& hit = in_.hits[k];
      const Vec3 p = point(k);
      t_.hits.push_back({.start = in_.path.maps.front() * p,
                         .end = in_.path.maps.back() * p,
                         .first_part = static_cast<std::uint32_t>(t_.parts.size())});
      for (std::uint32_t i = 0; i < hit.interval_count; ++i) {
        const SegmentInterval& inside = in_.intervals[hit.first_interval + i];
        const auto from = static_cast<double>(inside.enter), to = static_cast<double>(inside.exit);
        if (to > from) add_parts(k, from, to);
      }
      HitPoint& h = t_.hits.back();
      h.end_part = static_cast<std::uint32_t>(t_.parts.size());
      h.can_share = h.end_part == h.first_part + 1 && in_.path.piece_count() == 1;
    }
  }

  void add_parts(std::size_t hit, double from, double to) {
    const int pieces = in_.path.piece_count();
    for (int k = static_cast<int>(from * pieces); k < pieces; ++k) {
      const double begin = std::max(from, static_cast<double>(k) / pieces);
      const double end = std::min(to, static_cast<double>(k + 1) / pieces);
      if (!(end > begin)) break;
      const Vec3 a = place(hit, begin), b = place(hit, end);
      list_cuts(a, b);
      double last = begin;
      for (const double cut : t_.cuts) {
        const double next = begin + (end - begin) * cut;
        if (next > last) t_.parts.push_back({last, next});
        last = next;
      }
      if (end > last) t_.parts.push_back({last, end});
    }
  }
  // Fractions of a straight path at which it is cut, in ascending order.
  void list_cuts(const Vec3& from, const Vec3& to) {
    t_.cuts.clear();
    const double grains = length(to - from) / grain_;
    if (!(grains >= 2 * kLeastPart)) return;
    if constexpr (std::is_same_v<F, BrickField>) {
      if (grains <= 0.5 * kMostParts) {
        list_cell_cuts(from, to, grains);
        return;
      }
    }
    const double parts = std::min(std::ceil(grains), kMostParts);
    for (double i = 1; i < parts; ++i) t_.cuts.push_back(i / parts);
  }
  void list_cell_cuts(const Vec3& from, const Vec3& to, double cells) {
    if constexpr (std::is_same_v<F, BrickField>) {
      const Lattice& lattice = field_.lattice();
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const double a = (from[axis] - lattice.origin[axis]) / grain_;
        const double b = (to[axis] - lattice.origin[axis]) / grain_;
        if (a == b) continue;
        const double high = std::floor(std::max(a, b));
        for (double plane = std::ceil(std::min(a, b)); plane <= high; ++plane)
          t_.cuts.push_back(std::clamp((plane - a) / (b - a), 0.0, 1.0));
      }
    }
    std::sort(t_.cuts.begin(), t_.cuts.end());
    double last = 0;
    const double least = kLeastPart / cells;
    std::erase_if(t_.cuts, [&](double cut) {
      if (cut - last < least || 1 - cut < least) return true;
      last = cut;
      return false;
    });
  }

  std::uint32_t add_sample(std::size_t hit, double time) {
    t_.places.push_back({place(hit, time), time});
    return static_cast<std::uint32_t>(t_.places.size() - 1);
  }
  void sample_parts(std::size_t hit) {
    for (std::uint32_t i = t_.hits[hit].first_part; i < t_.hits[hit].end_part; ++i)
      if (t_.parts[i].sample == kNone)
        t_.parts[i].sample = add_sample(hit, 0.5 * (t_.parts[i].from + t_.parts[i].to));
  }

  void sample_points(const Patch& patch) {
    for (std::size_t k = patch.first; k < patch.end; ++k) sample_parts(k);
  }

  // The hits of a node of the tree are neighbours in the order of points. The first patches are
  // the nodes above the clusters.
  void list_patches() {
    t_.patches.clear();
    t_.places.clear();
    t_.samples.clear();
    const int last = in_.tree.level_count() - 1;
    divide({0, in_.hits.size()}, std::max(last - 1, 0));
  }
  // Adds the parts of a range of hits that belong to one node of a level each.
  void divide(const Patch& whole, int level) {
    for (std::size_t first = whole.first; first < whole.end;) {
      const std::uint32_t end_point = find_node_end(in_.hits[first].point, level);
      std::size_t end = first;
      bool can_share = true;
      for (; end < whole.end && in_.hits[end].point < end_point; ++end)
        can_share = can_share && t_.hits[end].can_share;
      add_patch({first, end, level}, can_share);
      first = end;
    }
  }
  // Returns the end of the points of the node of a level that has this one.
  std::uint32_t find_node_end(std::uint32_t point, int level) const {
    std::uint32_t at = 0;
    for (int k = 0; k < level; ++k) {
      const ShellNode& node = in_.tree.level(k).nodes[at];
      const std::span<const ShellNode> next = in_.tree.level(k + 1).nodes;
      at = node.first_child;
      while (point >= next[at].first_point + next[at].point_count) ++at;
    }
    const ShellNode& node = in_.tree.level(level).nodes[at];
    return node.first_point + node.point_count;
  }
  // Chooses its probes: the point nearest to the middle, and points far from it and each other.
  void add_patch(Patch patch, bool can_share) {
    const bool is_last = patch.level + 1 == in_.tree.level_count();
    const bool is_large = patch.end - patch.first >= kLeastPatch;
    if (!is_large || (!can_share && is_last)) return sample_points(patch);
    if (!can_share) return divide(patch, patch.level + 1);
    Vec3 center{};
    for (std::size_t k = patch.first; k < patch.end; ++k) center += t_.hits[k].start;
    center = center / static_cast<double>(patch.end - patch.first);
    std::size_t next = patch.first;
    for (std::size_t k = patch.first; k < patch.end; ++k) {
      t_.hits[k].gap_sq = std::numeric_limits<double>::infinity();
      if (length_sq(t_.hits[k].start - center) < length_sq(t_.hits[next].start - center)) next = k;
    }
    for (std::size_t& probe : patch.probes) {
      probe = next;
      sample_parts(next);
      for (std::size_t k = patch.first; k < patch.end; ++k) {
        double& gap = t_.hits[k].gap_sq;
        gap = std::min(gap, length_sq(t_.hits[k].start - t_.hits[probe].start));
        if (gap > t_.hits[next].gap_sq) next = k;
      }
    }
    t_.patches.push_back(patch);
  }

  void take_samples() {
    const std::size_t old = t_.samples.size();
    if (old == t_.places.size()) return;
    t_.batch.clear();
    for (std::size_t i = old; i < t_.places.size(); ++i) t_.batch.push_back(t_.places[i].place);
    t_.samples.resize(t_.places.size());
    const std::span<FieldSample> fresh = std::span(t_.samples).subspan(old);
    if constexpr (std::is_same_v<F, BrickField>)
      field_.sample(t_.batch, fresh);
    else
      for (std::size_t i = 0; i < fresh.size(); ++i) fresh[i] = field_.sample(t_.batch[i]);
    result_.samples += fresh.size();
  }

  // Gives the points of good patches the nearest of the probes. Others are divided.
  void judge_patches() {
    double mean = 0;
    for (const FieldSample& s : t_.samples) mean += std::max(-s.distance, 0.0);
    mean /= static_cast<double>(std::max<std::size_t>(t_.samples.size(), 1));
    for (take_samples(); !t_.patches.empty(); take_samples()) {
      std::swap(t_.patches, t_.judged);
      t_.patches.clear();
      for (const Patch& patch : t_.judged) {
        const double off = compute_miss(patch, mean);
        if (off <= s_.patch_tolerance)
          share_probes(patch, off * mean);
        else if (patch.level + 1 < in_.tree.level_count())
          divide(patch, patch.level + 1);
        else
          sample_points(patch);
      }
    }
  }
  // By how much the middle of a patch misses the depths at its other probes, relative to them.
  double compute_miss(const Patch& patch, double mean) const {
    const std::uint32_t middle = sample_of(patch.probes[0]);
    const FieldSample& a = t_.samples[middle];
    double most = 0;
    for (const std::size_t probe : patch.probes) {
      const FieldSample& b = t_.samples[sample_of(probe)];
      const Vec3 between = t_.places[sample_of(probe)].place - t_.places[middle].place;
      if (length_sq(a.gradient - b.gradient) > kPatchTurn * kPatchTurn) return kNoPatch;
      const double off = std::abs(a.distance + dot(a.gradient, between) - b.distance);
      most = std::max(most, off / std::max(-0.5 * (a.distance + b.distance), mean));
    }
    return most;
  }
  void share_probes(const Patch& patch, double off) {
    for (std::size_t k = patch.first; k < patch.end; ++k) {
      if (sample_of(k) != kNone) continue;
      double least = std::numeric_limits<double>::infinity();
      for (const std::size_t probe : patch.probes) {
        const double gap = length_sq(t_.hits[k].start - t_.hits[probe].start);
        if (gap >= least) continue;
        least = gap;
        t_.parts[t_.hits[k].first_part].sample = sample_of(probe);
      }
      result_.error += 0.25 * off * m_.stiffness * in_.step * area_of(k);
    }
  }
  std::uint32_t sample_of(std::size_t hit) const {
    return t_.parts[t_.hits[hit].first_part].sample;
  }
  double area_of(std::size_t hit) const {
    return static_cast<double>(in_.tree.areas()[in_.hits[hit].point]);
  }

  // ---- a point ----

  // Depths at the ends and in the middle of a part, by the expansion about its sample. A point
  // enters and leaves at depth 0.
  struct PartDepth {
    Vec3 place{};  // Field frame, in the middle of the part.
    double from = 0, middle = 0, to = 0;
    double off = 0;  // Metres: by how much the expansion misses depth 0.
  };
  PartDepth compute_depth(std::size_t hit, const PathPart& part) const {
    const SamplePlace& about = t_.places[part.sample];
    const FieldSample& sample = t_.samples[part.sample];
    const Vec3 a = place(hit, part.from), b = place(hit, part.to);
    PartDepth d{.place = (a + b) * 0.5};
    d.middle = -sample.distance - dot(sample.gradient, d.place - about.place);
    const double half = 0.5 * dot(sample.gradient, b - a);
    d.from = d.middle + half;
    d.to = d.middle - half;
    return d;
  }
  void bind_ends(bool enters, bool leaves, PartDepth& d) const {
    if (enters) d.off = std::abs(std::exchange(d.from, 0.0));
    if (leaves) d.off = std::max(d.off, std::abs(std::exchange(d.to, 0.0)));
  }
  // Mean pressure in a part: Simpson's rule, or two straight halves if the damper would pull.
  double compute_pressure(const PartDepth& d, double damper) const {
    const double from = m_.stiffness * d.from + damper, to = m_.stiffness * d.to + damper;
    const double middle = m_.stiffness * d.middle + damper;
    if (from >= 0 && middle >= 0 && to >= 0) return (from + 4 * middle + to) / 6;
    return 0.5 * (positive_mean(from, middle) + positive_mean(middle, to));
  }

  Vec3 own_normal(std::size_t hit) const {
    return shell_turn_ * to_double(in_.tree.normals()[in_.hits[hit].point]);
  }

  // A point's step.
  struct Passage {
    Vec3 place{}, normal{};  // World frame, in the middle.
    Mat3 world_from_field{};
    double middle = 0, time = 0;        // Fractions of the step.
    double normal_force = 0, area = 0;  // N, m^2
    double growth = 0;                  // m/s, of depth at the end
    double end_depth = 0;
  };

  void add_point(std::size_t hit, const PointStick& stick) {
    const HitPoint& h = t_.hits[hit];
    if (h.first_part == h.end_part) return;
    look_for_crossing(h, stick.side);
    Passage p;
    // The growth of an interval is that from its first part to its last.
    for (std::uint32_t first = h.first_part; first < h.end_part;) {
      std::uint32_t end = first + 1;
      while (end < h.end_part && t_.parts[end].from == t_.parts[end - 1].to) ++end;
      add_interval(hit, first, end, p);
      first = end;
    }
    ++result_.points;
    note_normal(p);
    finish_point(hit, p, stick.drag);
  }
  // No gradient of an interval is opposite to that of its entry.
  void look_for_crossing(const HitPoint& h, Vec3 side) {
    for (std::uint32_t i = h.first_part; i < h.end_part; ++i) {
      const Vec3& gradient = t_.samples[t_.parts[i].sample].gradient;
      const bool enters = i == h.first_part ? t_.parts[i].from > 0 || length_sq(side) == 0
                                            : t_.parts[i].from > t_.parts[i - 1].to;
      if (enters) side = gradient;
      crossed_ = crossed_ || dot(gradient, side) < 0;
    }
  }

  void add_interval(std::size_t hit, std::uint32_t first, std::uint32_t end, Passage& p) {
    const double from = t_.parts[first].from, to = t_.parts[end - 1].to;
    PartDepth start = compute_depth(hit, t_.parts[first]);
    PartDepth last = end == first + 1 ? start : compute_depth(hit, t_.parts[end - 1]);
    bind_ends(from > 0, end == first + 1 && to < 1, start);
    bind_ends(end == first + 1 && from > 0, to < 1, last);
    p.growth = (last.to - start.from) / ((to - from) * in_.step);
    const double damper = m_.damping * p.growth;
    p.area = 0;
    Vec3 force{}, moment{};
    double normal_force = 0;
    for (std::uint32_t i = first; i < end; ++i) {
      const PathPart& part = t_.parts[i];
      const PartDepth d = i == first ? start : i + 1 == end ? last : compute_depth(hit, part);
      set_middle(hit, part, d.place, p);
      const double width = part.to - part.from;
      const double pressure = width * compute_pressure(d, damper);
      note_error(d, width * p.area);
      const Vec3 push = p.normal * (pressure * p.area);
      normal_force += pressure * p.area;
      force += push;
      moment += cross(p.place - in_.reference, push);
    }
    // Friction and derivatives are those of the middle.
    if (end - first > 1) {
      const double middle = 0.5 * (from + to);
      std::uint32_t i = first;
      while (t_.parts[i].to < middle) ++i;
      set_middle(hit, {middle, middle, t_.parts[i].sample}, place(hit, middle), p);
    }
    p.time += to - from;
    p.normal_force += normal_force;
    p.end_depth = to < 1 ? 0 : std::max(last.to, 0.0);
    if (to < 1) p.growth = 0;
    force_ += force;
    moment_ += moment;
    if (p.end_depth > result_.depth) {
      result_.depth = p.end_depth;
      deepest_ = hit;
    }
  }

  void set_middle(std::size_t hit, const PathPart& part, const Vec3& at, Passage& p) const {
    p.middle = 0.5 * (part.from + part.to);
    const AffineMap world = world_at(p.middle);
    p.world_from_field = world.linear;
    p.place = world * at;
    const Vec3 own = own_normal(hit);
    p.normal = world.linear * compute_direction(field_, at, t_.samples[part.sample].gradient,
                                                transpose(world.linear) * own, rim_reach_);
    if (length_sq(p.normal) == 0) p.normal = -own;
    p.area = area_of(hit);
    if (s_.areas == AreaRule::kProjected) p.area *= compute_area_share(own, p.normal);
  }

  // Simpson's rule takes up most of what an expansion misses at an end.
  void note_error(const PartDepth& d, double weight) {
    result_.error += d.off / 6 * m_.stiffness * weight * in_.step;
  }

  // The deepest point has a sample of its own at the end.
  void finish_deepest() {
    if (!(result_.depth > 0)) return;
    const AffineMap world = world_at(1);
    const Vec3 at = place(deepest_, 1);
    const FieldSample sample = field_.sample(at);
    ++result_.samples;
    const PathPart& last = t_.parts[t_.hits[deepest_].end_part - 1];
    crossed_ = crossed_ || dot(sample.gradient, t_.samples[last.sample].gradient) < 0;
    result_.depth = std::max(-sample.distance, 0.0);
    result_.place = world * at;
    const Vec3 own = own_normal(deepest_);
    result_.normal = world.linear * compute_direction(field_, at, sample.gradient,
                                                      transpose(world.linear) * own, rim_reach_);
    if (length_sq(result_.normal) == 0) result_.normal = -own;
  }

  void note_normal(const Passage& p) {
    const double weight = p.area * p.time * in_.step;
    const Vec3 arm = p.place - in_.reference;
    const Wrench along = wrench_of(p.normal, arm);
    normal_.add(along, weight);
    const Vec3 moves = slip(p.place, p.middle);
    const double across = dot(moves, p.normal), speed = length_sq(moves);
    const double head_on = speed > 0 ? std::min(4 * across * across / speed, 1.0) : 0;
    const double trend = weight * p.growth;
    weights_ += weight;
    trend_ += trend;
    head_on_ += trend * head_on;
    normal_force_ += p.normal_force;
    along_ += along * weight;
    along_trend_ += along * trend;
    along_head_on_ += along * (trend * head_on);
  }

  // Friction, and the state at the end. The tangential spring of a point is dragged along while it
  // touches. If it would pull harder than Coulomb's law allows, the point slips (Cundall and Strack
  // 1979).
  void finish_point(std::size_t hit, const Passage& p, Vec3 drag) {
    bool sticks = false;
    if (m_.friction > 0 && p.area > 0) {
      const double limit = m_.friction * p.normal_force / (p.area * p.time);  // Pressure.
      const Vec3 slid = along_surface(slip(p.place, p.middle), p.normal);
      Vec3 world_drag = along_surface(p.world_from_field * drag, p.normal);
      world_drag += slid * (p.time * in_.step);
      Vec3 pull = -(world_drag * stick_ + slid * stick_damping_);
      const double size = length(pull);
      sticks = size <= limit;
      if (!sticks) {
        pull *= limit / size;
        const double longest = limit / stick_, drawn = length(world_drag);
        if (drawn > longest) world_drag *= longest / drawn;
      }
      note_friction(p, slid, limit, sticks);
      const Vec3 force = pull * (p.area * p.time);
      force_ += force;
      moment_ += cross(p.place - in_.reference, force);
      drag = transpose(p.world_from_field) * world_drag;
    }
    if (p.end_depth <= 0) return;
    result_.sticking += sticks ? 1U : 0U;
    result_.area += p.area;
    result_.energy += 0.5 * m_.stiffness * p.area * p.end_depth * p.end_depth;
    if (m_.friction > 0) result_.energy += 0.5 * stick_ * p.area * length_sq(drag);
    const Vec3 at = place(hit, 1);
    if (p.end_depth > in_.deep) result_.deep.push_back({world_at(1) * at, p.normal, p.end_depth});
    const Vec3 side = transpose(p.world_from_field) * p.normal;
    t_.sticks.push_back({in_.hits[hit].point, drag, side, dot(side, at) + p.end_depth});
  }

  void note_friction(const Passage& p, const Vec3& slid, double limit, bool sticks) {
    const double most = stick_ * in_.step + stick_damping_;
    const double speed = length(slid);
    if (!sticks && !(speed > 0)) return;
    const double size = p.area * p.time * in_.step * (sticks ? 1.0 : std::min(limit / speed, most));
    const Vec3 arm = p.place - in_.reference;
    (sticks ? stick_all_ : slide_all_).add(arm, size);
    (sticks ? stick_along_ : slide_along_).add(wrench_of(p.normal, arm), size);
  }

  // ---- sums ----

  void finish() {
    const double h = in_.step, spring = m_.stiffness * h;
    result_.impulse = force_ * h;
    result_.angular_impulse = (moment_ + cross(in_.reference, force_)) * h;
    const double stick = stick_ * h, stick_damper = stick_damping_;
    ContactResponse& r = result_.response;
    r.spring = normal_.matrix(spring);
    r.damper = normal_.matrix(m_.damping);
    r.stick = stick_all_.matrix(stick);
    r.stick += stick_along_.matrix(-stick);
    r.damper += stick_all_.matrix(stick_damper);
    r.damper += stick_along_.matrix(-stick_damper);
    r.slide = slide_all_.matrix(1);
    r.slide += slide_along_.matrix(-1);
    r.trend = along_trend_ * spring;
    r.head_on = along_head_on_ * spring;
    r.stiffness = weights_ * spring;
    r.normal = normal_force_ * h;
    r.normal_trend = trend_ * spring;
    r.normal_head_on = head_on_ * spring;
    r.normal_spring = along_ * spring;
    r.normal_damper = along_ * m_.damping;
  }

  const F& field_;
  const RoleInput& in_;
  const ForceSettings& s_;
  const ContactMaterial& m_;
  PatchScratch& t_;
  double stick_ = m_.stiffness, stick_damping_ = m_.damping;
  double grain_ = 0;  // Metres: a cell, or half a spacing of points.
  double rim_reach_ = 0;
  bool field_rests_ = false;
  Mat3 shell_turn_{};  // Rotation of the shell in the middle of the step.
  RoleImpulse result_{};
  std::size_t deepest_ = 0;  // Hit.
  bool crossed_ = false;     // A point is behind the middle of a wall.
  Vec3 force_{}, moment_{};  // N and, about the reference, N m: means over the step.
  AlongSum normal_{}, stick_along_{}, slide_along_{};
  AllSum stick_all_{}, slide_all_{};
  double weights_ = 0, trend_ = 0, head_on_ = 0, normal_force_ = 0;
  Wrench along_{}, along_trend_{}, along_head_on_{};
};

}  // namespace

template <typename F>
std::optional<RoleImpulse> compute_patch_impulse(const F& field, const RoleInput& input,
                                                 const ForceSettings& settings,
                                                 std::vector<PointStick>& sticks) {
  const ThreadScratch<PatchScratch> scratch;
  return PatchIntegral<F>(field, input, settings, *scratch).integrate(sticks);
}
template std::optional<RoleImpulse> compute_patch_impulse(const BrickField&, const RoleInput&,
                                                          const ForceSettings&,
                                                          std::vector<PointStick>&);
template std::optional<RoleImpulse> compute_patch_impulse(const AnyField&, const RoleInput&,
                                                          const ForceSettings&,
                                                          std::vector<PointStick>&);

}  // namespace isotact::detail

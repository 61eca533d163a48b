#include "isotact/dynamics/rigid/contact_force.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <utility>

#include "isotact/dynamics/rigid/detail/contact_patches.h"
#include "isotact/dynamics/rigid/detail/point_force.h"
#include "isotact/dynamics/rigid/detail/spatial_sums.h"

namespace isotact {

using detail::along_surface;
using detail::compute_direction;
using detail::EntrySide;
using detail::kRimReach;
using detail::Moment;
using detail::Rate;

namespace {

constexpr double kMostCuts = 8;  // of an interval, by planes between cells, an axis

template <typename F>
class Role {
 public:
  Role(const F& field, const RoleInput& in, const ForceSettings& settings)
      : field_(field), in_(in), s_(settings) {
    const int pieces = in.path.piece_count();
    for (int k = 0; k <= pieces; ++k)
      world_.push_back(to_affine(compute_pose(in.field.motion, static_cast<double>(k) / pieces)));
    field_rests_ = in.field.motion.from == in.field.motion.to;
    rim_reach_ = 0.5 * kRimReach * in.tree.header().spacing;
    if constexpr (std::is_same_v<F, BrickField>) rim_reach_ = kRimReach * field.lattice().spacing;
  }

  RoleImpulse integrate(std::vector<PointStick>& sticks) {
    std::size_t old = 0;
    for (const SweptHit& hit : in_.hits) {
      while (old < sticks.size() && sticks[old].point < hit.point) ++old;
      const bool known = old < sticks.size() && sticks[old].point == hit.point;
      add_point(hit, known ? sticks[old] : PointStick{});
    }
    sticks.swap(next_);
    return result_;
  }

  // At the end of the step, as if it were all along.
  RoleImpulse take_end(std::vector<PointStick>& sticks) {
    std::size_t old = 0;
    for (std::uint32_t point = 0; point < in_.tree.point_count(); ++point) {
      while (old < sticks.size() && sticks[old].point < point) ++old;
      const bool known = old < sticks.size() && sticks[old].point == point;
      side_ = known ? side_of(sticks[old]) : EntrySide{};
      const Moment end = look(point, 1);
      if (end.depth <= 0) continue;
      area_share_ = compute_share(point, end);
      ++result_.points;
      // Of that moment, too: by the velocity.
      const double growth = -dot(slip(end), end.normal);
      const Rate whole = rate(point, end, growth);
      add(whole);
      finish_point(point, {end, end, whole.normal, 1, growth, 1, 1},
                   known ? sticks[old].drag : Vec3{});
    }
    sticks.swap(next_);
    return result_;
  }

 private:
  // m^2 that the point represents in this contact.
  double area(std::uint32_t point) const {
    const double whole = s_.weights == PointWeight::kArea
                             ? static_cast<double>(in_.tree.areas()[point])
                             : in_.tree.header().surface_area / in_.tree.point_count();
    return whole * area_share_;
  }
  double compute_share(std::uint32_t point, const Moment& m) const {
    if (s_.areas == AreaRule::kWhole || s_.direction == ForceDirection::kPoint) return 1;
    const Quat turn = compute_pose(in_.shell.motion, m.time).rotation;
    return compute_area_share(rotate(turn, to_double(in_.tree.normals()[point])), m.normal);
  }

  AffineMap world_at(double time) const {
    if (field_rests_) return world_[0];
    const double at = time * in_.path.piece_count();
    const auto k =
        static_cast<std::size_t>(std::min(static_cast<int>(at), in_.path.piece_count() - 1));
    const double u = at - static_cast<double>(k);
    const AffineMap &a = world_[k], &b = world_[k + 1];
    return {a.linear * (1 - u) + b.linear * u, lerp(a.offset, b.offset, u)};
  }

  Moment look(std::uint32_t point, double time) {
    ++result_.samples;
    const Vec3 x = place_on(in_.path, to_double(in_.tree.point(point)), time);
    return make_moment(point, time, x, field_.sample(x));
  }

  Moment make_moment(std::uint32_t point, double time, const Vec3& x,
                     const FieldSample& sample) const {
    Moment m;
    m.time = time;
    m.depth = -sample.distance;
    if (m.depth <= 0) return m;
    m.world_from_field =
        s_.handles == HandleRule::kPath ? world_at(time) : to_affine(euler_pose(in_.field, time));
    m.place = s_.handles == HandleRule::kPath
                  ? m.world_from_field * x
                  : transform_point(euler_pose(in_.shell, time), to_double(in_.tree.point(point)));
    m.crossed = dot(sample.gradient, side_.normal) < 0;
    if (m.crossed) m.depth = std::max(m.depth, side_.plane - dot(side_.normal, x));
    const Vec3 along = m.crossed ? side_.normal : direction_at(point, time, x, sample.gradient);
    m.normal = normalized(m.world_from_field.linear * along);
    if (s_.true_slope && !m.crossed) m.slope = length(sample.gradient);
    if (s_.direction == ForceDirection::kPoint || length_sq(m.normal) == 0) {
      const Quat turn = (s_.handles == HandleRule::kPath ? compute_pose(in_.shell.motion, time)
                                                         : euler_pose(in_.shell, time))
                            .rotation;
      const Vec3 own = -rotate(turn, to_double(in_.tree.normals()[point]));
      if (length_sq(own) > 0) m.normal = own;
    }
    return m;
  }

  // Springs with a potential follow the gradient everywhere.
  Vec3 direction_at(std::uint32_t point, double time, const Vec3& x, const Vec3& gradient) const {
    if (!has_sides()) return gradient;
    const Quat turn = compute_pose(in_.shell.motion, time).rotation;
    const Vec3 own = rotate(turn, to_double(in_.tree.normals()[point]));
    return compute_direction(field_, x, gradient, transpose(world_at(time).linear) * own,
                             rim_reach_);
  }

  // A body at a time of the step, by an Euler step under the mean force (XB14, section 4).
  Pose euler_pose(const BodyStep& body, double time) const {
    const Vec3 v = lerp(body.velocity_from, body.velocity, time);
    const Vec3 w = lerp(body.angular_velocity_from, body.angular_velocity, time);
    const double angle = length(w) * time * in_.step;
    const Quat turn = angle > 0 ? rotation_about(normalized(w), angle) : Quat{};
    const Quat rotation = normalized(turn * body.motion.from.rotation);
    const Vec3 center = body.center_from + v * (time * in_.step);
    return {rotation, center - rotate(rotation, body.motion.pivot)};
  }

  // Velocity of the shell's body past the field's, world.
  Vec3 slip(const Moment& m) const {
    return velocity(in_.shell, m.place, m.time) - velocity(in_.field, m.place, m.time);
  }

  static Vec3 velocity(const BodyStep& body, const Vec3& place, double time) {
    const Vec3 center = lerp(body.center_from, body.center_to, time);
    return body.velocity + cross(body.angular_velocity, place - center);
  }

  // Spring and damper. `growth` of the depth: m/s.
  Rate rate(std::uint32_t point, const Moment& m, double growth) const {
    if (m.depth <= 0) return {};
    const ContactMaterial& c = s_.material;
    double pressure = c.stiffness * m.depth;
    Vec3 along = m.normal * pressure;
    double lost = 0;
    if (s_.damping == DampingRule::kNormal) {
      // A damper that pulled would glue bodies together.
      pressure = std::max(pressure + c.damping * growth, 0.0);
      lost = (pressure - c.stiffness * m.depth) * growth;
      pressure *= m.slope;
      along = m.normal * pressure;
    } else {
      if (s_.damping == DampingRule::kFull) along -= slip(m) * c.damping;
      lost = c.damping * length_sq(slip(m));
    }
    const Vec3 force = along * area(point);
    const double pushes = pressure > 0 ? 1 : 0;
    return {force,  cross(m.place, force), pressure * area(point),
            pushes, pushes * m.time,       lost * area(point)};
  }

  // ---- integrals over the intervals of a point ----

  struct Node {
    double time = 0, weight = 0;  // both of the step
  };
  // Three nodes of Gauss, from cell to cell: within one, depth is a polynomial along the way, of
  // which they miss nothing.
  struct Part {
    std::size_t first = 0;
    double from = 0, to = 0;
  };
  static constexpr double kAside = 0.774596669241483377;  // of half a part

  void add_node(std::uint32_t point, double time, double weight) {
    nodes_.push_back({time, weight});
    places_.push_back(place_on(in_.path, to_double(in_.tree.point(point)), time));
  }
  void add_part(std::uint32_t point, double from, double to) {
    parts_.push_back({nodes_.size(), from, to});
    const double middle = (from + to) * 0.5, aside = (to - from) * 0.5 * kAside;
    add_node(point, middle - aside, (to - from) * (5.0 / 18));
    add_node(point, middle, (to - from) * (8.0 / 18));
    add_node(point, middle + aside, (to - from) * (5.0 / 18));
  }
  void add_nodes(std::uint32_t point, double from, double to) {
    if (s_.quadrature == Quadrature::kMidpoint) {
      const double width = (to - from) / s_.midpoints;
      for (int i = 0; i < s_.midpoints; ++i) add_node(point, from + (i + 0.5) * width, width);
      return;
    }
    find_cuts(point, from, to);
    for (const double cut : cuts_) {
      if (cut > from) add_part(point, from, cut);
      from = std::max(from, cut);
    }
  }

  // Where the way of a point is cut, up to the end of the interval, in order.
  void find_cuts(std::uint32_t number, double from, double to) {
    cuts_.clear();
    const int pieces = in_.path.piece_count();
    const Vec3 point = to_double(in_.tree.point(number));
    for (int k = 0; k < pieces; ++k) {
      const double begin = std::max(from, static_cast<double>(k) / pieces);
      const double end = std::min(to, static_cast<double>(k + 1) / pieces);
      if (!(end > begin)) continue;
      const std::size_t first = cuts_.size();
      add_cell_cuts(place_on(in_.path, point, begin), place_on(in_.path, point, end));
      for (std::size_t i = first; i < cuts_.size(); ++i)
        cuts_[i] = begin + (end - begin) * cuts_[i];
      cuts_.push_back(end);
    }
    std::sort(cuts_.begin(), cuts_.end());
  }
  void add_cell_cuts(const Vec3& from, const Vec3& to) {
    if constexpr (std::is_same_v<F, BrickField>) {
      const Lattice& lattice = field_.lattice();
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const double a = (from[axis] - lattice.origin[axis]) / lattice.spacing;
        const double b = (to[axis] - lattice.origin[axis]) / lattice.spacing;
        const double low = std::ceil(std::min(a, b)), high = std::floor(std::max(a, b));
        if (!(high - low < kMostCuts)) continue;  // so many that halving does as well
        for (double plane = low; plane <= high; ++plane)
          if (a != b) cuts_.push_back(std::clamp((plane - a) / (b - a), 0.0, 1.0));
      }
    }
  }

  // The paper's direction has no side, and springs with sides have no potential.
  bool has_sides() const { return s_.direction == ForceDirection::kField && !s_.true_slope; }
  EntrySide side_of(const PointStick& stick) const {
    return has_sides() ? EntrySide{stick.side, stick.plane} : EntrySide{};
  }
  EntrySide make_side(const Vec3& gradient, const Vec3& x, double depth) const {
    if (!has_sides() || !(depth > 0)) return {};
    const Vec3 normal = normalized(gradient);
    return {normal, dot(normal, x) + depth};
  }
  // The side of each interval, and that of the end.
  void choose_sides(const PointStick& stick) {
    side_ = {};
    for (Span& s : spans_) {
      const FieldSample& first = samples_[s.first_node];
      s.side = s.from > 0 || length_sq(stick.side) == 0
                   ? make_side(first.gradient, places_[s.first_node], -first.distance)
                   : side_of(stick);
      side_ = s.to < 1 ? EntrySide{} : s.side;
    }
  }

  void look_at_nodes(std::uint32_t point, const PointStick& stick) {
    samples_.resize(places_.size());
    result_.samples += places_.size();
    if constexpr (std::is_same_v<F, BrickField>)
      field_.sample(places_, samples_);
    else
      for (std::size_t i = 0; i < places_.size(); ++i) samples_[i] = field_.sample(places_[i]);
    moments_.resize(places_.size());
    choose_sides(stick);
    const std::size_t end = places_.size() - 1;
    moments_[end] = make_moment(point, nodes_[end].time, places_[end], samples_[end]);
    for (const Span& s : spans_) {
      side_ = s.side;
      for (std::size_t i = s.first_node; i <= s.last_node; ++i)
        moments_[i] = make_moment(point, nodes_[i].time, places_[i], samples_[i]);
    }
  }

  // The mean over a part. Where the middle alone is wrong by a share e of it, three nodes are by
  // something like e^3. Halves are as good as they get at a depth of 3.
  struct Three {
    Rate low{}, middle{}, high{};
  };
  Rate sum_part(std::uint32_t point, const Three& r, const Part& part, double growth, int depth) {
    Rate mean = r.low * (5.0 / 18);
    mean += r.middle * (8.0 / 18);
    mean += r.high * (5.0 / 18);
    const double size = length(mean.force), width = part.to - part.from;
    const double off = size > 0 ? length(mean.force - r.middle.force) / size : 0;
    const double error = std::min(off * off * off, off);
    if (error <= s_.tolerance || depth == 3) {
      result_.error += error * size * width * in_.step;
      return mean * width;
    }
    const double middle = (part.from + part.to) * 0.5;
    const auto sum_half = [&](double from, double to) {
      const auto at = [&](double time) { return rate(point, look(point, time), growth); };
      const double center = (from + to) * 0.5, aside = (to - from) * 0.5 * kAside;
      return sum_part(point, {at(center - aside), at(center), at(center + aside)}, {0, from, to},
                      growth, depth + 1);
    };
    Rate both = sum_half(part.from, middle);
    both += sum_half(middle, part.to);
    return both;
  }

  // An interval: its nodes and parts.
  struct Span {
    double from = 0, to = 0;
    std::size_t first_node = 0, last_node = 0, first_part = 0, end_part = 0;
    EntrySide side{};
  };

  // By what depth grows in it, from its first node to its last: m/s.
  double compute_growth(const Span& s) const {
    const double time = nodes_[s.last_node].time - nodes_[s.first_node].time;
    if (!(time > 0)) return 0;
    return (moments_[s.last_node].depth - moments_[s.first_node].depth) / (time * in_.step);
  }

  Rate integrate(std::uint32_t point, const Span& s, double growth) {
    const auto at = [&](std::size_t i) { return rate(point, moments_[i], growth); };
    Rate sum{};
    if (s_.quadrature == Quadrature::kMidpoint)
      for (std::size_t i = s.first_node; i <= s.last_node; ++i) sum += at(i) * nodes_[i].weight;
    else
      for (std::size_t k = s.first_part; k < s.end_part; ++k) {
        const std::size_t i = parts_[k].first;
        sum += sum_part(point, {at(i), at(i + 1), at(i + 2)}, parts_[k], growth, 0);
      }
    return sum;
  }

  // The time of a crossing, to rounding: searches end at floats, or at a thousandth of a cell.
  double refine(std::uint32_t number, double time, double inwards) const {
    if (time <= 0 || time >= 1) return time;
    constexpr double kNear = 1e-3;
    const Vec3 point = to_double(in_.tree.point(number));
    const auto depth = [&](double t) { return -field_.value(place_on(in_.path, point, t)); };
    double before = std::clamp(time + inwards * 0.1 * kNear, 0.0, 1.0), now = time;
    double at_before = depth(before);
    for (int i = 0; i < 4; ++i) {
      const double at_now = depth(now), slope = (at_now - at_before) / (now - before);
      if (at_now == 0 || !(std::abs(slope) > 0)) break;
      before = std::exchange(now, now - at_now / slope);
      at_before = at_now;
      if (!(std::abs(now - time) < kNear) || now == before) break;
    }
    return std::abs(now - time) < kNear ? std::clamp(now, 0.0, 1.0) : time;
  }

  void gather(const SweptHit& hit, const PointStick& stick) {
    nodes_.clear();
    places_.clear();
    parts_.clear();
    spans_.clear();
    for (std::uint32_t k = 0; k < hit.interval_count; ++k) {
      const SegmentInterval& in = in_.intervals[hit.first_interval + k];
      Span s{static_cast<double>(in.enter),
             static_cast<double>(in.exit),
             nodes_.size(),
             0,
             parts_.size(),
             0,
             {}};
      if (s_.refine_crossings) {
        s.from = refine(hit.point, s.from, 1);
        s.to = refine(hit.point, s.to, -1);
      }
      if (!(s.to > s.from)) continue;
      add_nodes(hit.point, s.from, s.to);
      s.last_node = nodes_.size() - 1;
      s.end_part = parts_.size();
      spans_.push_back(s);
    }
    add_node(hit.point, 1, 0);
    look_at_nodes(hit.point, stick);
  }

  void add_point(const SweptHit& hit, const PointStick& stick) {
    gather(hit, stick);
    for (const Span& s : spans_) {
      const Moment& now = moments_[(s.first_node + s.last_node) / 2];
      if (now.depth > 0) area_share_ = compute_share(hit.point, now);
    }
    Rate whole{};
    double time = 0, growth = 0;
    Moment middle{};
    for (const Span& s : spans_) {
      side_ = s.side;
      growth = compute_growth(s);
      whole += integrate(hit.point, s, growth);
      time += s.to - s.from;
      if (s.to < 1) growth = 0;  // it has left
      const Moment& now = moments_[(s.first_node + s.last_node) / 2];
      if (now.depth > 0) middle = now;
    }
    if (time <= 0 || middle.depth <= 0) return;
    ++result_.points;
    add(whole);
    finish_point(hit.point,
                 {middle, moments_.back(), whole.normal, time, growth, whole.pushes, whole.late},
                 stick.drag);
  }

  void add(const Rate& share) {
    result_.impulse += share.force * in_.step;
    result_.angular_impulse += share.moment * in_.step;
    result_.lost += share.lost * in_.step;
  }

  // XB14 (10), over all of the step.
  void damp_whole_step(std::uint32_t number) {
    const Vec3 point = to_double(in_.tree.point(number));
    for (int i = 0; i < s_.midpoints; ++i) {
      Moment m;
      m.time = (i + 0.5) / s_.midpoints;
      m.place = world_at(m.time) * place_on(in_.path, point, m.time);
      const Vec3 force = slip(m) * (-s_.material.damping * area(number));
      add(Rate{force, cross(m.place, force)} * (1.0 / s_.midpoints));
    }
  }

  // What a step of a point came to.
  struct Passage {
    Moment middle{}, end{};
    double normal_force = 0, time = 0;  // N, share of the step
    double growth = 0;                  // m/s, of depth at the end
    double pushes = 0, late = 0;        // see Rate
  };

  // Friction, and what is noted of the end. The tangential spring of a point is dragged along while
  // it touches; where it would pull harder than Coulomb allows, the point slips, and the spring
  // gives way (Cundall and Strack 1979).
  void finish_point(std::uint32_t point, const Passage& passage, Vec3 drag) {
    const auto& [middle, end, normal_force, time, growth, pushes, late] = passage;
    const ContactMaterial& c = s_.material;
    const double weight = area(point) * time * in_.step;
    note_normal(passage, weight);
    const double stiffness = c.stick_stiffness > 0 ? c.stick_stiffness : c.stiffness;
    const double damping = c.stick_damping > 0 ? c.stick_damping : c.damping;
    bool sticks = false;
    if (c.friction > 0 && area(point) > 0) {
      const Mat3 field_from_world = transpose(middle.world_from_field.linear);
      Vec3 world_drag = middle.world_from_field.linear * drag;
      const double most = c.friction * normal_force / (area(point) * time);  // pressure
      const Vec3 slid = along_surface(slip(middle), middle.normal);
      world_drag = along_surface(world_drag, middle.normal) + slid * (time * in_.step);
      const Vec3 felt = world_drag - slid * ((1 - s_.drag_share) * time * in_.step);
      Vec3 pull = -(felt * stiffness + slid * damping);
      const double size = length(pull);
      sticks = size <= most;
      if (!sticks) {
        pull *= most / size;
        const double longest = most / stiffness;
        if (length(world_drag) > longest) world_drag *= longest / length(world_drag);
      }
      note_friction(middle, weight, slid, most, stiffness * in_.step, damping, sticks);
      const Vec3 force = pull * (area(point) * time);
      add({force, cross(middle.place, force)});
      result_.lost -= dot(force, slid) * in_.step;
      const double kept = end.depth > 0 ? length_sq(world_drag) : 0;
      result_.lost += 0.5 * stiffness * area(point) * (length_sq(drag) - kept);
      drag = field_from_world * world_drag;
    }
    if (end.depth <= 0) return;
    result_.sticking += sticks ? 1U : 0U;
    result_.area += area(point);
    result_.energy += 0.5 * c.stiffness * area(point) * end.depth * end.depth;
    if (end.depth > result_.depth) {
      result_.depth = end.depth;
      result_.place = end.place;
      result_.normal = end.normal;
    }
    if (end.depth > in_.deep) result_.deep.push_back({end.place, end.normal, end.depth});
    if (c.friction > 0) result_.energy += 0.5 * stiffness * area(point) * length_sq(drag);
    const EntrySide side = end.crossed ? side_ : compute_side(end);
    next_.push_back({point, c.friction > 0 ? drag : Vec3{}, side.normal, side.plane});
  }
  EntrySide compute_side(const Moment& end) const {
    const Mat3 field_from_world = transpose(end.world_from_field.linear);
    const Vec3 x = field_from_world * (end.place - end.world_from_field.offset);
    return make_side(field_from_world * end.normal, x, end.depth);
  }

  void note_normal(const Passage& p, double weight) {
    const ContactMaterial& c = s_.material;
    const Moment& m = p.middle;
    const Vec3 arm = m.place - in_.reference;
    const double spring = weight * c.stiffness * in_.step, damper = weight * c.damping;
    const Wrench along = wrench_of(m.normal, arm);
    ContactResponse& r = result_.response;
    r.spring += resist_along(m.normal, arm, spring);
    const Vec3 moves = slip(m);
    const double across = dot(moves, m.normal), speed = length_sq(moves);
    const double head_on = speed > 0 ? std::min(4 * across * across / speed, 1.0) : 0;
    const double trend = spring * p.growth;
    r.trend += along * trend;
    r.head_on += along * (trend * head_on);
    r.stiffness += spring;
    if (s_.damping == DampingRule::kNormal)
      r.damper += resist_along(m.normal, arm, damper);
    else
      r.damper += resist_all(arm, damper);
    // A path begins where it does: only its end moves. What came in and is inside then has taken up
    // the whole of a change by dampers, whenever that was.
    const double path_spring = spring * m.slope * m.slope * p.late / p.time;
    const double path_damper = damper * (p.end.depth > 0 && p.growth > 0 ? 1 : p.pushes) / p.time;
    r.path += resist_along(m.normal, arm, path_spring);
    r.path += s_.damping == DampingRule::kNormal ? resist_along(m.normal, arm, path_damper)
                                                 : resist_all(arm, path_damper);
    r.normal_path += along * (path_spring + path_damper);
    r.normal += p.normal_force * in_.step;
    r.normal_trend += trend;
    r.normal_head_on += trend * head_on;
    r.normal_spring += along * spring;
    r.normal_damper += along * damper;
  }

  void note_friction(const Moment& m, double weight, const Vec3& slid, double most, double spring,
                     double damper, bool sticks) {
    const Vec3 arm = m.place - in_.reference;
    const auto resist_along_surface = [&](double size) {
      SpatialMatrix r = resist_all(arm, weight * size);
      return r += resist_along(m.normal, arm, -weight * size);
    };
    ContactResponse& r = result_.response;
    if (sticks) {
      r.stick += resist_along_surface(spring);
      r.damper += resist_along_surface(damper);
      r.path += resist_along_surface(spring * s_.drag_share + damper);
    } else if (length_sq(slid) > 0) {
      r.slide += resist_along_surface(std::min(most / length(slid), spring + damper));
    }
  }

  const F& field_;
  const RoleInput& in_;
  const ForceSettings& s_;
  // Of one point.
  std::vector<Node> nodes_;
  std::vector<Vec3> places_;
  std::vector<FieldSample> samples_;
  std::vector<Moment> moments_;
  std::vector<Part> parts_;
  std::vector<Span> spans_;
  std::vector<double> cuts_;
  EntrySide side_{};       // For the next moments.
  double area_share_ = 1;  // see compute_area_share
  bool field_rests_ = false;
  double rim_reach_ = 0;
  std::vector<AffineMap> world_;  // from field, at the ends of pieces
  RoleImpulse result_;
  std::vector<PointStick> next_;
};

}  // namespace

RoleImpulse compute_role_impulse(const BrickField& field, const RoleInput& input,
                                 const ForceSettings& settings, std::vector<PointStick>& sticks) {
  if (detail::can_use_patches(settings))
    if (auto result = detail::compute_patch_impulse(field, input, settings, sticks)) return *result;
  return Role<BrickField>(field, input, settings).integrate(sticks);
}
RoleImpulse compute_role_impulse(const AnyField& field, const RoleInput& input,
                                 const ForceSettings& settings, std::vector<PointStick>& sticks) {
  if (detail::can_use_patches(settings))
    if (auto result = detail::compute_patch_impulse(field, input, settings, sticks)) return *result;
  return Role<AnyField>(field, input, settings).integrate(sticks);
}
RoleImpulse compute_discrete_impulse(const BrickField& field, const RoleInput& input,
                                     const ForceSettings& settings,
                                     std::vector<PointStick>& sticks) {
  return Role<BrickField>(field, input, settings).take_end(sticks);
}
RoleImpulse compute_discrete_impulse(const AnyField& field, const RoleInput& input,
                                     const ForceSettings& settings,
                                     std::vector<PointStick>& sticks) {
  return Role<AnyField>(field, input, settings).take_end(sticks);
}

}  // namespace isotact

// Contacts of bodies whose triangles touch. Samples lead to them: each is moved to the witness of
// the other surface. From the deepest one, a climb leads to a place that is deepest nearby. Let x
// be a point inside of the other body, and q the nearest point of its surface. Near x, the other
// body is about the half-space behind the plane through q across q - x; around a convex surface it
// is inside of that. The deepest point of a triangle behind some such planes is the solution of a
// matrix game (exact_depth.cpp). It is measured, and gives another plane. On an edge or a corner,
// the climb goes on with the neighbour that is deepest behind the same planes. Each step is deeper
// than the last one, so nothing is lost where the other surface is not convex.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <variant>

#include "isotact/geometry/bvh/bvh_visit.h"
#include "isotact/queries/contact/deepest_walk.h"
#include "isotact/queries/detail/exact_depth.h"
#include "isotact/queries/detail/exact_depth_parts.h"
#include "isotact/queries/detail/exact_distance.h"

namespace isotact::detail {
namespace {

// ---- the other surface --------------------------------------------------------------------------

// How a point lies to a surface, in the frame of that surface's body.
struct Witness {
  double depth = 0;  // metres, negative outside
  Vec3 out{};        // unit, out of the body
  Vec3 on{};         // the nearest point of the surface
  std::uint32_t triangle = kNoTriangle;
};

// Metres: coordinates of both bodies in the frame of one are rounded by less.
double rounding_of(const ExactSide& a, const ExactSide& b) {
  return 0x1p-21 * (a.body.size + b.body.size +
                    length(a.world_from_body.translation - b.world_from_body.translation));
}

class OtherSurface {
 public:
  OtherSurface(const ExactSide& other, double rounding)
      : other_(other), rounding_(rounding), decided_(rounding), likely_error_(rounding) {
    if (!has_sided_field(other.shape)) return;
    field_ = &other.shape.brick_field();
    decided_ += static_cast<double>(field_->header().near_error);
    likely_error_ = 0.25 * decided_;
  }

  // `like`: the point is about so deep, the direction out is about so, and the triangle may be the
  // nearest.
  Witness measure(const Vec3& x, const Witness& like) const {
    if (other_.shape.solid()) return measure_solid(x, like);
    const Bvh& triangles = other_.body.triangles;
    const double reach =
        like.triangle == kNoTriangle
            ? std::abs(like.depth) + likely_error_
            : length(find_near_point(x, corners_of(other_.body, like.triangle)) - x) + rounding_;
    std::uint32_t found = find_near_triangle(triangles, to_float(x), to_reach(reach), -1);
    if (found == kNoTriangle)
      found = find_near_triangle(triangles, to_float(x), to_reach(kInfinity), -1);
    if (found == kNoTriangle) return like;  // all triangles are infinite
    const Corners t = corners_of(other_.body, found);
    Witness w{.on = find_near_point(x, t), .triangle = found};
    const Vec3 away = x - w.on;
    const double distance = length(away);
    const bool is_outside = !(distance > 0) || !has_inside(x, away, t);
    w.depth = is_outside ? -distance : distance;
    w.out = distance > rounding_ ? away * ((is_outside ? 1 : -1) / distance)
                                 : compute_front(w.on, t, like.out);
    return w;
  }

  // Null unless its values are signed distances.
  const BrickField* field() const { return field_; }
  double likely_error() const { return likely_error_; }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  // The normal of a triangle on the side that is outside, next to a point of it. A needle has none.
  Vec3 compute_front(const Vec3& on, const Corners& t, const Vec3& like) const {
    const Vec3 across = unit_normal_of(t);
    if (length_sq(across) == 0) return like;
    const double step = 16 * rounding_;
    return has_inside(on + across * step, across * step, t) ? -across : across;
  }

  // Values of plain fields are off by near_error (bound_by_value).
  bool has_inside(const Vec3& x, const Vec3& off_face, const Corners& face) const {
    if (field_ != nullptr)
      if (const double value = field_->value(x); std::abs(value) > decided_) return value < 0;
    return is_inside_near(other_.shape, x, off_face, unit_normal_of(face));
  }

  static float to_reach(double reach) { return static_cast<float>(reach * (1 + 0x1p-20)); }

  Witness measure_solid(const Vec3& x, const Witness& like) const {
    const FieldSample found = other_.shape.solid()->sample(x);
    const Vec3 out = length_sq(found.gradient) > 0.25 ? normalized(found.gradient) : like.out;
    return {.depth = -found.distance, .out = out, .on = x - out * found.distance};
  }

  const ExactSide& other_;
  double rounding_;
  const BrickField* field_ = nullptr;  // whose sign is that of the body, ...
  double decided_;                     // ... unless its value is nearer to zero; metres
  double likely_error_;                // metres, of most values
};

// ---- the climb ----------------------------------------------------------------------------------

// A point of one surface, in the frame of the other body.
struct Place {
  Vec3 x{};
  Witness other{};
};

// It works in the frame of its own body.
class Climb {
 public:
  Climb(const ExactSide& own, const ExactSide& other, const OtherSurface& surface, double rounding)
      : own_(own),
        surface_(surface),
        rounding_(rounding),
        is_formula_(other.shape.solid().has_value()),
        other_from_own_(inverse(other.world_from_body) * own.world_from_body) {}

  Place run(const Place& start) {
    best_ = start;
    is_patient_ = is_formula_ || !(start.other.depth > 0);
    at_ = transform_point(inverse(other_from_own_), start.x);
    const std::uint32_t triangle = find_near_triangle(own_.body.triangles, to_float(at_),
                                                      static_cast<float>(4 * rounding_), -1);
    if (triangle == kNoTriangle) return start;  // on what closes a hole: no part of the triangles
    add_plane(plane_of(best_), at_);
    Corners t = corners_of(own_.body, triangle);
    do {
      climb(t);
    } while (!is_within_ && tests_ < most_tests() && find_neighbour(t));
    return best_;
  }

 private:
  // The half-space about which the other body is: points are `offset` less their product deep.
  struct Plane {
    Vec3 out{};
    double offset = 0;

    double depth(const Vec3& x) const { return offset - dot(out, x); }
  };

  // Formulas take little time.
  int most_tests() const { return is_formula_ ? 40 : 24; }

  double enough() const {
    return best_.other.depth + rounding_ +
           (is_formula_ ? 1e-6 : 1e-3) * std::abs(best_.other.depth);
  }

  Plane plane_of(const Place& at) const {
    const Witness& w = at.other;
    return {rotate(conjugate(other_from_own_.rotation), w.out),
            dot(w.out, w.on - other_from_own_.translation)};
  }

  // The plane that says the least about a new place is given up.
  void add_plane(const Plane& plane, const Vec3& x) {
    int given_up = plane_count_;
    if (plane_count_ < kMostColumns) {
      ++plane_count_;
    } else {
      given_up = 0;
      for (int i = 1; i < kMostColumns; ++i)
        if (planes_[i].depth(x) > planes_[given_up].depth(x)) given_up = i;
    }
    planes_[given_up] = plane;
  }

  GameResult solve(const Corners& t, double least) const {
    Game game{};
    game.columns = plane_count_;
    for (int i = 0; i < game.columns; ++i)
      for (std::size_t k = 0; k < 3; ++k) game.value[k][i] = planes_[i].depth(t[k]);
    return GameSolver(game).solve(least);
  }

  void climb(const Corners& t) {
    double reach = std::numeric_limits<double>::infinity();  // metres, of the next step
    // A neighbour may be deeper than all of a small triangle.
    const int last_test = std::min(most_tests(), tests_ + (is_formula_ ? most_tests() : 3));
    while (tests_ < last_test) {
      const GameResult found = solve(t, enough());
      if (!(found.bound > enough())) return;
      Vec3 x = t[0] * found.weight[0] + t[1] * found.weight[1] + t[2] * found.weight[2];
      // Planes far from the deepest place say little about it: after a step in vain, a shorter one.
      const Vec3 step = x - at_;
      const double size = length(step);
      const bool is_cut = size > reach;
      if (is_cut) x = at_ + step * (reach / size);
      const double before = best_.other.depth;
      if (!visit(x)) return;
      if (best_.other.depth > before) {
        constexpr double kEdge = 1e-6;
        is_within_ =
            !is_cut && std::min({found.weight[0], found.weight[1], found.weight[2]}) > kEdge;
        reach *= 2;
      } else {
        reach = 0.25 * std::min(size, reach);
      }
    }
  }

  // False if the planes no longer lead to anything deeper.
  bool visit(const Vec3& x) {
    ++tests_;
    const Vec3 in_other = transform_point(other_from_own_, x);
    const Place at{in_other, surface_.measure(in_other, best_.other)};
    const Plane plane = plane_of(at);
    const bool improves = at.other.depth > best_.other.depth;
    // Of a surface that is not convex here, the plane may cut off what is deepest so far.
    if (!improves && plane.depth(at_) < best_.other.depth - rounding_) return false;
    // Rough surfaces are never seen to be done: after some steps in vain, no more are made.
    constexpr int kMostInVain = 3;
    in_vain_ = at.other.depth > enough() ? 0 : in_vain_ + 1;
    if (!is_patient_ && in_vain_ == kMostInVain) tests_ = most_tests();
    if (improves) {
      best_ = at;
      at_ = x;
    }
    add_plane(plane, x);
    return true;
  }

  // Replaces the triangle by one at the deepest place that leads on. False if there is none.
  bool find_neighbour(Corners& t) {
    const Vec3f x = to_float(at_);
    const auto pad = static_cast<float>(rounding_);
    const Aabbf box{{x.x - pad, x.y - pad, x.z - pad}, {x.x + pad, x.y + pad, x.z + pad}};
    double most = enough();
    std::uint32_t next = kNoTriangle;
    visit_blocks_in_box(own_.body.triangles, box, 0, [&](std::uint32_t index) {
      const TriangleBlock& block = own_.body.triangles.blocks()[index];
      for (std::size_t lane = 0; lane < kBlockWidth && block.triangle[lane] != kNoTriangle;
           ++lane) {
        Corners candidate;
        for (std::size_t k = 0; k < 3; ++k)
          candidate[k] = {double{block.corner[k][0][lane]}, double{block.corner[k][1][lane]},
                          double{block.corner[k][2][lane]}};
        const GameResult found = solve(candidate, most);
        if (!(found.bound > most) || length(find_near_point(at_, candidate) - at_) > 2 * rounding_)
          continue;
        most = found.bound;
        next = block.triangle[lane];
        t = candidate;
      }
      return true;
    });
    // Nothing was found on it since the last time.
    if (next == kNoTriangle || (next == last_ && best_.other.depth <= last_depth_)) return false;
    last_ = next;
    last_depth_ = best_.other.depth;
    return true;
  }

  const ExactSide& own_;
  const OtherSurface& surface_;
  double rounding_;
  bool is_formula_, is_patient_ = true;
  Pose other_from_own_;
  Place best_{};
  Vec3 at_{};  // the same place in its own frame
  Plane planes_[kMostColumns]{};
  int plane_count_ = 0, tests_ = 0, in_vain_ = 0;
  bool is_within_ = false;  // the best place is on no edge of its triangle
  std::uint32_t last_ = kNoTriangle;
  double last_depth_ = -std::numeric_limits<double>::infinity();
};

// A sphere, capsule or torus has no triangles of its own. Its point that is furthest against the
// other's direction out is the deepest if the other surface is flat there. Else it may be a better
// start for a walk along its formula.
Place walk_on_solid(const ExactSide& own, const ExactSide& other, const OtherSurface& surface,
                    const Place& start) {
  const Pose other_from_own = inverse(other.world_from_body) * own.world_from_body;
  const Pose own_from_other = inverse(other_from_own);
  Place best = start;
  constexpr int kMostSupports = 4;
  for (int i = 0; i < kMostSupports; ++i) {
    const Vec3 against = rotate(own_from_other.rotation, -best.other.out);
    const Vec3 furthest =
        find_highest(own.body.triangles, against, to_double(corners(*own.body.mesh, 0)[0]));
    const Vec3 x = transform_point(other_from_own, furthest + against * own.body.radius);
    const Place next{x, surface.measure(x, best.other)};
    if (!(next.other.depth > best.other.depth)) break;
    best = next;
  }
  Witness last = best.other;
  const auto own_at = [&](const Vec3& x) {
    FieldSample here = own.shape.solid()->sample(transform_point(own_from_other, x));
    here.gradient = transform_vector(other_from_own, here.gradient);
    return here;
  };
  const auto other_at = [&](const Vec3& x) {
    last = surface.measure(x, last);
    return FieldSample{-last.depth, last.out};
  };
  const double size = 0.5 * own.body.size;
  const auto found = walk_to_deepest(
      own_at, other_at, best.x,
      {.steps = 12, .radius = size, .spacing = size, .facing = 0.3, .flat = 1e-9, .enough = 1e-7});
  if (!found || !(-found->other.distance > best.other.depth)) return best;
  return {found->place, surface.measure(found->place, last)};
}

// Where the surface is deepest near a place.
Place find_deepest_near(const ExactSide& own, const ExactSide& other, const OtherSurface& surface,
                        const Place& start) {
  if (own.body.radius > 0) return walk_on_solid(own, other, surface, start);
  return Climb(own, other, surface, rounding_of(own, other)).run(start);
}

// Fields lead most of the path in a tenth of the time that triangles take: from a sample to a place
// on the triangles of its own body, if that is deeper.
Place walk_by_fields(const ExactSide& own, const ExactSide& other, const OtherSurface& of_own,
                     const OtherSurface& of_other, const Place& sample) {
  if (of_own.field() == nullptr || of_other.field() == nullptr) return sample;
  const Pose other_from_own = inverse(other.world_from_body) * own.world_from_body;
  const Quat own_from_other = conjugate(other_from_own.rotation);
  const auto other_at = [&](const Vec3& x) {
    FieldSample there = of_other.field()->sample(transform_point(other_from_own, x));
    there.gradient = rotate(own_from_other, there.gradient);
    return there;
  };
  const auto found = walk_to_deepest(
      [&](const Vec3& x) { return of_own.field()->sample(x); }, other_at,
      to_double(to_float(transform_point(inverse(other_from_own), sample.x))),
      {.radius = 0.25 * own.body.size, .spacing = own.shape.points().covering_radius()});
  if (!found || !(-found->other.distance > sample.other.depth)) return sample;
  const std::uint32_t triangle =
      find_near_triangle(own.body.triangles, to_float(found->place),
                         static_cast<float>(4 * of_own.likely_error()), -1);
  if (triangle == kNoTriangle) return sample;
  const Vec3 x = find_near_point(found->place, corners_of(own.body, triangle));
  return {transform_point(other_from_own, x),
          {.depth = -found->other.distance,
           .out = normalized(rotate(other_from_own.rotation, found->other.gradient))}};
}

// ---- contacts -----------------------------------------------------------------------------------

Contact make_contact(const ExactSide& other, const Place& at, const Contact& from) {
  const Vec3 inside = transform_point(other.world_from_body, at.x),
             surface = transform_point(other.world_from_body, at.other.on),
             out = transform_vector(other.world_from_body, at.other.out);
  const bool of_a = from.sampled_by == Body::kA;
  return {.position = (inside + surface) * 0.5,
          .point_on_a = of_a ? inside : surface,
          .point_on_b = of_a ? surface : inside,
          .normal = of_a ? out : -out,
          .depth = at.other.depth,
          .sampled_by = from.sampled_by,
          .point = from.point};
}

// Two bodies in contact.
class ContactSurfaces {
 public:
  ContactSurfaces(const ExactSide& a, const ExactSide& b, double margin)
      : a_(a),
        b_(b),
        margin_(margin),
        rounding_(rounding_of(a, b)),
        of_a_(a, rounding_),
        of_b_(b, rounding_) {}

  // Moves a contact to the witness of the other surface. False if there is none: the sample is
  // outside.
  bool settle(Contact& c) const {
    const Sides s = sides_of(c);
    if (!has_inside(s.other.shape)) return true;
    const auto [x, like] = sample_of(c);
    const Place found{x, s.surface.measure(x, like)};
    // An open mesh ends in mid-air, where its field goes on.
    constexpr double kSameCells = 2;
    if (!is_closed(s.other.shape) &&
        std::abs(found.other.depth - c.depth) > kSameCells * s.other.shape.cell())
      return true;
    if (found.other.depth < -margin_ - rounding_) return false;
    c = make_contact(s.other, found, c);
    return true;
  }

  // Moves the deepest contact along its own surface to where that is deepest nearby. False as
  // settle says it.
  bool climb(Contact& c) const {
    const Sides s = sides_of(c);
    if (!is_closed(s.other.shape)) return settle(c);
    const Place sample = sample_of(c);
    Place start = walk_by_fields(s.own, s.other, s.own_surface, s.surface, sample);
    start.other = s.surface.measure(start.x, start.other);
    if (start.other.depth < sample.other.depth && !(start.x == sample.x)) {
      const Place measured{sample.x, s.surface.measure(sample.x, sample.other)};
      if (measured.other.depth > start.other.depth) start = measured;
    }
    const Place deepest = find_deepest_near(s.own, s.other, s.surface, start);
    if (deepest.other.depth < -margin_ - rounding_) return false;
    c = make_contact(s.other, deepest, c);
    return true;
  }

 private:
  struct Sides {
    const ExactSide &own, &other;
    const OtherSurface &own_surface, &surface;  // of both
  };
  Sides sides_of(const Contact& c) const {
    return c.sampled_by == Body::kA ? Sides{a_, b_, of_a_, of_b_} : Sides{b_, a_, of_b_, of_a_};
  }

  // The sample itself in the frame of the other body, so that it does not matter which body is A.
  Place sample_of(const Contact& c) const {
    const Sides s = sides_of(c);
    const Pose other_from_own = inverse(s.other.world_from_body) * s.own.world_from_body;
    const Vec3 x = transform_point(other_from_own, to_double(s.own.shape.points().point(c.point)));
    const Vec3 out = rotate(conjugate(s.other.world_from_body.rotation),
                            c.sampled_by == Body::kA ? c.normal : -c.normal);
    return {x, {.depth = c.depth, .out = out}};
  }

  const ExactSide &a_, &b_;
  double margin_, rounding_;
  OtherSurface of_a_, of_b_;
};

}  // namespace

void settle_contacts(const Shape& shape_a, const Pose& world_from_a, const Shape& shape_b,
                     const Pose& world_from_b, double margin, std::vector<Contact>& contacts,
                     std::vector<std::uint32_t>& first_contact) {
  const ExactSide a{shape_a, exact_body(shape_a), world_from_a};
  const ExactSide b{shape_b, exact_body(shape_b), world_from_b};
  const ContactSurfaces surfaces(a, b, margin);
  std::size_t groups = 0;
  std::uint32_t kept = 0;
  // The deepest is the first of its group. Should it be dropped, the others are as they are.
  std::uint32_t deepest = 0;
  for (std::size_t g = 0; g + 1 < first_contact.size(); ++g)
    if (contacts[first_contact[g]].depth > contacts[deepest].depth) deepest = first_contact[g];
  for (std::size_t g = 0; g + 1 < first_contact.size(); ++g) {
    const std::uint32_t begin = kept;
    for (std::uint32_t i = first_contact[g]; i < first_contact[g + 1]; ++i) {
      Contact c = contacts[i];
      if (!(i == deepest ? surfaces.climb(c) : surfaces.settle(c))) continue;
      std::uint32_t k = kept++;  // its place in the order of depths
      for (; k > begin && c.depth > contacts[k - 1].depth; --k) contacts[k] = contacts[k - 1];
      contacts[k] = c;
    }
    if (kept > begin) first_contact[groups++] = begin;
  }
  contacts.resize(kept);
  first_contact.resize(groups + 1);
  first_contact[groups] = kept;
}

Contact guess_contact(const Shape& shape_a, const Pose& world_from_a, const Shape& shape_b,
                      const Pose& world_from_b, const Contact& touch) {
  const ExactSide a{shape_a, exact_body(shape_a), world_from_a};
  const ExactSide b{shape_b, exact_body(shape_b), world_from_b};
  const auto has_triangles = [](const ExactBody& body) {
    return !body.half_space && body.radius == 0;
  };
  if (touch.depth < 0 || !has_triangles(a.body) || !has_triangles(b.body)) return touch;
  // Of bodies that just touch, the direction out of such a point is that of rounding.
  const double rounding = 1e-6 * (a.body.size + b.body.size);
  Contact best = touch;
  const auto climb_from = [&](Body sampled_by, const Place& start) {
    const bool of_a = sampled_by == Body::kA;
    const ExactSide &own = of_a ? a : b, &other = of_a ? b : a;
    const OtherSurface surface(other, rounding_of(own, other));
    const Place deepest = find_deepest_near(own, other, surface, start);
    if (deepest.other.depth > std::max(best.depth, rounding))
      best = make_contact(other, deepest, {.sampled_by = sampled_by});
  };
  // No sample is inside: the overlap is small, and around the place where triangles touch.
  for (const Body sampled_by : {Body::kA, Body::kB}) {
    const bool of_a = sampled_by == Body::kA;
    const ExactSide& other = of_a ? b : a;
    if (!is_closed(other.shape)) continue;
    const Vec3 x =
        transform_point(inverse(other.world_from_body), of_a ? touch.point_on_a : touch.point_on_b);
    const FieldSample there = other.shape.any_field().sample(x);
    climb_from(
        sampled_by,
        {x, {.out = length_sq(there.gradient) > 0 ? normalized(there.gradient) : Vec3{}, .on = x}});
  }
  if (best.depth > rounding) return best;
  for (const Body sampled_by : {Body::kA, Body::kB}) {
    const bool of_a = sampled_by == Body::kA;
    const ExactSide &own = of_a ? a : b, &other = of_a ? b : a;
    if (!is_closed(other.shape)) continue;
    const Deepest found = guess_deepest(own, other);
    if (found.depth > 0)
      climb_from(sampled_by, {found.point,
                              {.depth = found.depth,
                               .out = (found.nearest - found.point) * (1 / found.depth),
                               .on = found.nearest}});
  }
  return best;
}

}  // namespace isotact::detail

#include "contact_mover.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace isotact::bullet_detail {
namespace {

constexpr double kAlike = 0.9;  // Cosine: directions that belong to one surface.
// Rounder than about three balls around the body: flatter parts need contacts that hold them.
constexpr double kRound = 0.15;
constexpr double kOff = 0.25;  // Of the rise: how far a point of the part may be off.

FieldSample with_unit_gradient(FieldSample s) {
  const double l = length_sq(s.gradient);
  s.gradient = l > 0.5 ? s.gradient / std::sqrt(l) : Vec3{};
  return s;
}

// The last patches at samples: bodies at rest touch with the same ones in each step. The result
// does not depend on what it holds.
struct KeptPatch {
  std::uint64_t serial = 0;
  std::uint32_t point = kNoHit;
  SmoothPatch patch{};
};
KeptPatch& kept_patch(const SmoothSurface& surface, std::uint32_t point) {
  constexpr std::size_t kCount = 64;
  thread_local std::array<KeptPatch, kCount> all;
  return all[(surface.serial() * 17 + point) % kCount];
}

}  // namespace

LocalSurface::LocalSurface(const BulletBody& body, const Vec3& place, SurfaceUse use,
                           std::uint32_t point)
    : body_(&body), radius_(body.ball.radius) {
  if (body.shape.solid()) {
    kind_ = Kind::kFormula;
    return;
  }
  if (!body.field) return;
  if (use == SurfaceUse::kRoundOrField) kind_ = Kind::kField;
  const SmoothSurface* smooth = body.smooth();
  if (smooth == nullptr) return;
  using Known = SmoothSurface::Known;
  // Only samples of the body's own tree have a memory.
  const std::uint32_t sample = body.tree ? point : kNoHit;
  Known known = smooth->known(sample);
  if (known == Known::kNothing) {
    KeptPatch& kept = kept_patch(*smooth, sample);
    const bool has_memory = sample != kNoHit;
    if (has_memory && kept.serial == smooth->serial() && kept.point == sample) {
      patch_ = kept.patch;
    } else {
      patch_ = fit(*smooth, place);
      if (!patch_)
        known = Known::kHasNone;
      else if (patch_->is_flat)
        known = Known::kIsFlat;
      else if (has_memory)
        kept = {smooth->serial(), sample, *patch_};
      if (known != Known::kNothing) smooth->keep(sample, known);
    }
  }
  if (known == Known::kHasNone) return;
  // The triangles of flat parts are more exact than the field.
  if (known == Known::kIsFlat && use != SurfaceUse::kRoundOrFlat) {
    kind_ = Kind::kNone;
    return;
  }
  kind_ = Kind::kPatch;
  radius_ = std::min(1 / patch_->most_curvature(), 100 * radius_);
}

std::optional<SmoothPatch> LocalSurface::fit(const SmoothSurface& smooth, const Vec3& place) const {
  const BulletBody::Surface& surface = body_->surface();
  const ClosestPoint nearest = find_closest_point(surface.bvh, to_float(place));
  if (nearest.triangle == kNoTriangle) return std::nullopt;
  auto patch = smooth.fit(*surface.mesh, nearest.triangle, place);
  if (!patch) return std::nullopt;
  const FieldSample fitted = patch->sample(place), stored = body_->field->sample(place);
  // Not the surface of which the field is: a hole was closed, or a part turned over.
  if (std::abs(fitted.distance - stored.distance) > 0.5 * body_->cell ||
      !(dot(fitted.gradient, stored.gradient) > kAlike))
    return std::nullopt;
  return patch;
}

bool LocalSurface::is_below(const Vec3& place) const {
  if (kind_ != Kind::kPatch) return true;
  const ClosestPoint nearest = find_closest_point(body_->surface().bvh, to_float(place));
  // A patch is above its triangles, by less than their bend.
  const auto apart = static_cast<double>(nearest.distance);
  return apart < 1e-3 * body_->cell ||
         std::abs(dot(place - to_double(nearest.point), patch_->sample(place).gradient)) >
             kAlike * apart;
}

FieldSample LocalSurface::sample(const Vec3& point) const {
  if (kind_ == Kind::kFormula) return with_unit_gradient(body_->shape.solid()->sample(point));
  if (kind_ == Kind::kPatch) return patch_->sample(point);
  return with_unit_gradient(body_->field->sample(point));
}

void ContactMover::begin() {
  is_first_ = true;
  first_.reset();
  first_surface_.reset();
}

// Where our surface is deepest, it looks against the other's direction. A few steps of the secant
// method lead there along the surface. The sample stays if the surface is an edge.
std::optional<ContactMover::SurfacePlace> ContactMover::find_place(const ShellHit& hit,
                                                                   bool is_first) const {
  constexpr double kFacing = 0.9, kMostSpacings = 2;
  // Fields are rough: less slope than that is noise on their flat parts, and at the end.
  constexpr double kFlat = 0.02, kEnough = 1e-3, kSmoothEnough = 1e-9;
  constexpr int kSteps = 4, kSmoothSteps = 8;
  const BulletBody& body = ours_.body();
  const Vec3 start = to_double(ours_.tree->point(hit.point));
  const Quat to_target = placement_.field_from_shell.rotation;
  const auto in_target = [&](const Vec3& p) {
    return transform_point(placement_.field_from_shell, p * ours_.scale);
  };
  // The first contact of a body that turns may use the field.
  LocalSurface own(body, start,
                   is_turning_ && is_first ? SurfaceUse::kRoundOrField : SurfaceUse::kRound,
                   hit.point);
  if (!own.exists()) return std::nullopt;
  std::optional<LocalSurface> others;
  if (other_.body != nullptr && own.is_smooth())
    others.emplace(*other_.body, in_target(start) / other_.scale, SurfaceUse::kRoundOrFlat);
  const auto other_at = [&](const Vec3& p) {
    const Vec3 at = in_target(p) / other_.scale;
    return others && others->exists() ? others->sample(at)
                                      : with_unit_gradient(other_.target->sample(at, {}));
  };
  const auto slope_at = [&](const Vec3& p, const Vec3& normal) {
    const Vec3 n = rotate(conjugate(to_target), other_at(p).gradient);
    return -(n - normal * dot(n, normal));
  };
  const bool is_smooth = own.is_smooth();
  const double spacing = ours_.tree->covering_radius();
  Vec3 at = start;
  // A patch is most exact in its middle: for a body that turns, the second round fits it there.
  for (int round = 0; round < (is_smooth && is_turning_ ? 2 : 1); ++round) {
    if (round > 0) {
      own = LocalSurface(body, at, SurfaceUse::kRound);
      if (!own.is_smooth()) return std::nullopt;
    }
    FieldSample of_own = own.sample(at);
    Vec3 normal = of_own.gradient;
    if (!(length_sq(normal) > 0)) return std::nullopt;
    if (is_smooth) at -= normal * of_own.distance;
    const Vec3 other_out = rotate(conjugate(to_target), other_at(at).gradient);
    if (!(dot(other_out, normal) < -kFacing)) return std::nullopt;
    Vec3 slope = slope_at(at, normal);
    if (!is_smooth && length(slope) < kFlat) return std::nullopt;
    double radius = own.radius();
    const int steps = is_smooth && is_turning_ ? kSmoothSteps : kSteps;
    for (int i = 0; i < steps && length(slope) > (is_smooth ? kSmoothEnough : kEnough); ++i) {
      const Vec3 step = slope * std::min(radius, 2 * spacing / length(slope));
      Vec3 next = at + step;
      of_own = own.sample(next);
      normal = of_own.gradient;
      if (!(length_sq(normal) > 0)) break;
      next -= normal * of_own.distance;
      const Vec3 next_slope = slope_at(next, normal);
      // The slope falls along the step as on a circle of this radius.
      const double fell = dot(slope - next_slope, step);
      if (!(fell > 0)) break;
      radius = std::min(length_sq(step) / fell, 100 * body.ball.radius);
      at = next;
      slope = next_slope;
    }
    if (length(at - start) > kMostSpacings * spacing) return std::nullopt;
  }
  if (others && !others->is_below(in_target(at) / other_.scale)) return std::nullopt;
  const FieldSample found = other_at(at);
  const double distance = found.distance * other_.scale;
  if (!(length_sq(found.gradient) > 0)) return std::nullopt;
  if (!is_smooth && !(distance < static_cast<double>(hit.distance))) return std::nullopt;
  return SurfacePlace{at, in_target(at), found.gradient, distance, is_smooth};
}

bool ContactMover::is_on_same_round_part(const ShellHit& hit) const {
  if (!first_ || !first_->is_smooth) return false;
  const Vec3 place = to_double(ours_.tree->point(hit.point));
  const double apart_sq = length_sq(place - first_->place);
  const double rise = (static_cast<double>(hit.distance) - first_->distance) / ours_.scale;
  return rise > kRound * apart_sq / ours_.body().ball.radius &&
         std::abs(first_surface_->sample(place).distance) < kOff * rise;
}

bool RoundPart::explains(const Vec3& world_place, double its_distance) const {
  constexpr double kSame = 1e-6;  // Of the size: both roles found one contact.
  const Vec3 p = transform_point(inverse(world_from_shape), world_place) / scale;
  const double apart_sq = length_sq(p - place) * scale * scale;
  // The distance that it has from the part: that of the field is less exact.
  const double true_distance = surface.sample(p).distance * scale - margin;
  return true_distance - distance > kRound * apart_sq / size - kSame * size &&
         std::abs(true_distance - its_distance) < rough + kSame * size;
}

void drop_repeated(std::vector<RoundPart>& round_parts, std::vector<Candidate>& candidates) {
  for (std::size_t r = 0; r < round_parts.size(); ++r) {
    const RoundPart& part = round_parts[r];
    const Finder others = part.is_of_0 ? Finder::kPointsOf1 : Finder::kPointsOf0;
    std::erase_if(candidates, [&](const Candidate& c) {
      if (c.key >> 60U != static_cast<std::uint64_t>(others) ||
          !part.explains(part.is_of_0 ? c.on_1 : c.on_0, c.distance))
        return false;
      std::erase_if(round_parts, [&](const RoundPart& p) { return &p > &part && p.key == c.key; });
      return true;
    });
  }
}

bool ContactMover::move(const ShellHit& hit, Candidate& c) {
  const bool is_first = std::exchange(is_first_, false);
  if (!is_first && is_on_same_round_part(hit)) return false;
  if (!is_first && (!first_ || !first_->is_smooth)) return true;
  const auto found = find_place(hit, is_first);
  if (!found) return true;
  if (is_first) {
    first_ = found;
    if (found->is_smooth) {
      first_surface_.emplace(ours_.body(), found->place, SurfaceUse::kRound);
      round_parts_.push_back({.key = c.key,
                              .is_of_0 = ours_.is_0,
                              .surface = *first_surface_,
                              .world_from_shape = ours_.world_from_shape,
                              .scale = ours_.scale,
                              .place = found->place,
                              .margin = ours_.margin,
                              .distance = found->distance - ours_.margin - other_.margin,
                              .size = ours_.body().ball.radius * ours_.scale,
                              .rough = 0.5 * ours_.body().cell * ours_.scale});
    }
  }
  const Vec3 out = transform_vector(other_.world_from_target, found->out);
  const Vec3 place = transform_point(other_.world_from_target, found->on_other);
  const Vec3 on_ours = place - out * ours_.margin;
  const Vec3 on_other = place - out * (found->distance - other_.margin);
  c.on_0 = ours_.is_0 ? on_ours : on_other;
  c.on_1 = ours_.is_0 ? on_other : on_ours;
  c.normal = ours_.is_0 ? out : -out;
  c.distance = found->distance - ours_.margin - other_.margin;
  return true;
}

}  // namespace isotact::bullet_detail

// A translation that separates two bodies that overlap. Along a direction, the shadows of the
// bodies tell how far is enough. From there, A comes back by exact distances until it nearly
// touches. The normal there is the next direction.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "isotact/queries/detail/exact_depth.h"
#include "isotact/queries/detail/exact_distance.h"

namespace isotact::detail {
namespace {

class SeparationSearch {
 public:
  SeparationSearch(const Side& a, const Side& b) : a_(a), b_(b) {
    // Far more than distances are rounded by.
    const auto share = [](const Side& side) {
      return 1e-7 * side.body.size + 0x1p-40 * length(side.world_from_body.translation);
    };
    clearance_ = share(a) + share(b);
  }

  std::optional<Vec3> find(const Vec3& guess) {
    for (const Vec3& direction : directions(guess)) {
      Vec3 along = direction;
      // A few normals, as long as they get better.
      for (int turn = 0; turn < 6 && length_sq(along) > 0; ++turn) {
        const double before = shortest_;
        const Vec3 normal = come_back(along);
        if (!(shortest_ < before)) break;
        along = normal;
      }
    }
    if (!std::isfinite(shortest_)) return std::nullopt;
    return best_;
  }

 private:
  // The guess, the line of centres, and the axes of both boxes.
  std::array<Vec3, 14> directions(const Vec3& guess) const {
    std::array<Vec3, 14> all{};
    const auto unit = [](const Vec3& v) { return length_sq(v) > 0 ? normalized(v) : Vec3{}; };
    all[0] = unit(guess);
    if (a_.body.half_space || b_.body.half_space) return all;
    const auto middle = [](const Side& side) {
      return transform_point(side.world_from_body, center(to_double(side.body.triangles.bounds())));
    };
    all[1] = unit(middle(a_) - middle(b_));
    for (std::size_t i = 0; i < 3; ++i)
      for (const auto& [side, first] : {std::pair{&a_, 2}, std::pair{&b_, 8}}) {
        Vec3 axis{};
        axis[i] = 1;
        axis = rotate(side->world_from_body.rotation, axis);
        all[static_cast<std::size_t>(first) + 2 * i] = axis;
        all[static_cast<std::size_t>(first) + 2 * i + 1] = -axis;
      }
    return all;
  }

  // The least and the greatest of direction . x over a body.
  static std::pair<double, double> find_shadow(const Side& side, const Vec3& direction) {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    const Vec3 d = rotate(inverse(side.world_from_body).rotation, direction);
    std::pair<double, double> shadow{kInf, -kInf};
    if (side.body.half_space) {
      const PlaneField& plane = *side.body.half_space;
      if (dot(d, plane.normal) > 1 - 1e-12) shadow = {-kInf, plane.offset};
      if (dot(d, plane.normal) < -1 + 1e-12) shadow = {-plane.offset, kInf};
    } else {
      for (const TriangleBlock& block : side.body.triangles.blocks())
        for (int lane = 0; lane < kBlockWidth && block.triangle[lane] != kNoTriangle; ++lane)
          for (const auto& corner : block.corner) {
            const double along = d.x * double{corner[0][lane]} + d.y * double{corner[1][lane]} +
                                 d.z * double{corner[2][lane]};
            shadow = {std::min(shadow.first, along), std::max(shadow.second, along)};
          }
    }
    const double offset = dot(direction, side.world_from_body.translation);
    return {shadow.first - side.body.radius + offset, shadow.second + side.body.radius + offset};
  }

  DistanceResult measure(const Vec3& moved) const {
    Pose pose = a_.world_from_body;
    pose.translation += moved;
    return compute_exact_distance(a_.shape, pose, b_.shape, b_.world_from_body,
                                  {.want_depth = false});
  }
  static bool is_free(const DistanceResult& r) {
    return r.exact && r.status == DistanceStatus::kDone && !r.touching && !r.contained &&
           r.lower_bound > 0;
  }

  // The normal at the last distance, from B to A; nothing if there is none, or a shorter way is
  // known.
  Vec3 come_back(const Vec3& along) {
    double length = find_shadow(b_, along).second - find_shadow(a_, along).first + clearance_;
    if (!std::isfinite(length)) return {};
    length = std::max(length, clearance_);
    DistanceResult r = measure(along * length);
    for (int growth = 0; growth < 40 && !is_free(r); ++growth) {
      length += clearance_ * std::ldexp(1.0, growth);
      r = measure(along * length);
    }
    if (!is_free(r)) return {};
    // Steps by the distance are safe, but many if bodies slide past each other. Longer ones are
    // tried: what counts is that the bodies are apart where they end.
    constexpr int kMostSteps = 60;
    double stride = 1;
    for (int step = 0; step < kMostSteps; ++step) {
      const double back = std::min(stride * (r.lower_bound - 0.5 * clearance_), length);
      if (back < clearance_) break;
      const DistanceResult next = measure(along * (length - back));
      if (is_free(next)) {
        length -= back;
        r = next;
        stride *= 2;
      } else if (stride > 1) {
        stride = std::max(1.0, stride / 4);
      } else {
        break;  // by rounding
      }
    }
    if (length < shortest_) {
      shortest_ = length;
      best_ = along * length;
    }
    return r.contact.normal;
  }

  const Side &a_, &b_;
  double clearance_ = 0;
  double shortest_ = std::numeric_limits<double>::infinity();
  Vec3 best_{};
};

}  // namespace

std::optional<Vec3> find_separation(const Side& a, const Side& b, const Vec3& guess) {
  return SeparationSearch(a, b).find(guess);
}

}  // namespace isotact::detail

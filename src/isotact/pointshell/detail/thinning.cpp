#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "isotact/base/aabb.h"
#include "isotact/pointshell/detail/shell_passes.h"

namespace isotact::detail {
namespace {

constexpr std::uint32_t kNone = 0xffffffffU;

// Points that were taken, by cells as wide as the distance. Cells that share a key only cost time.
class Taken {
 public:
  Taken(std::span<const Vec3f> points, double min_distance)
      : points_(points), next_(points.size(), kNone), cell_(min_distance) {
    Aabbf box;
    for (const Vec3f& p : points) extend(box, p);
    lower_ = to_double(box.lower);
    // If the box has more cells per axis than whole numbers should count, wider cells do as well.
    const Vec3f size = extent(box);
    const double longest = static_cast<double>(std::max({size.x, size.y, size.z}));
    cell_ = std::max(cell_, longest * 0x1p-20);
    first_.reserve(points.size() / 2);
  }

  void take(std::uint32_t i) {
    const auto [at, is_new] = first_.try_emplace(key_of(cell_of(points_[i]), {0, 0, 0}), i);
    if (is_new) return;
    next_[i] = at->second;
    at->second = i;
  }

  bool has_near(const Vec3f& p, double distance) const {
    const auto cell = cell_of(p);
    for (std::int64_t z = -1; z <= 1; ++z)
      for (std::int64_t y = -1; y <= 1; ++y)
        for (std::int64_t x = -1; x <= 1; ++x) {
          const auto at = first_.find(key_of(cell, {x, y, z}));
          if (at == first_.end()) continue;
          for (std::uint32_t i = at->second; i != kNone; i = next_[i])
            if (length_sq(to_double(points_[i]) - to_double(p)) < distance * distance) return true;
        }
    return false;
  }

 private:
  using Cell = std::array<std::int64_t, 3>;
  Cell cell_of(const Vec3f& p) const {
    const Vec3 d = (to_double(p) - lower_) / cell_;
    return {static_cast<std::int64_t>(d.x), static_cast<std::int64_t>(d.y),
            static_cast<std::int64_t>(d.z)};
  }
  static std::uint64_t key_of(const Cell& c, const Cell& step) {
    std::uint64_t key = 0;
    for (std::size_t k = 0; k < 3; ++k)
      key = key << 21U | (static_cast<std::uint64_t>(c[k] + step[k] + 1) & 0x1fffffU);
    return key;
  }

  std::span<const Vec3f> points_;
  std::vector<std::uint32_t> next_;
  std::unordered_map<std::uint64_t, std::uint32_t> first_;
  double cell_;
  Vec3 lower_;
};

}  // namespace

std::vector<std::uint32_t> thin(std::span<const Vec3f> points, double min_distance,
                                std::size_t keep) {
  Taken taken(points, min_distance);
  std::vector<std::uint32_t> stay;
  for (std::uint32_t i = 0; i < points.size(); ++i) {
    if (i >= keep && taken.has_near(points[i], min_distance)) continue;
    taken.take(i);
    stay.push_back(i);
  }
  return stay;
}

}  // namespace isotact::detail

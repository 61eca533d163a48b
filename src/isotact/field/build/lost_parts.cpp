#include <algorithm>
#include <cmath>
#include <optional>

#include "isotact/base/disjoint_sets.h"
#include "isotact/field/build/detail/surface_looks.h"
#include "isotact/field/lattice.h"

namespace isotact::detail {
namespace {

// Cells a thickness: a wall of 1.055 cells is never lost, see thin_features.h. On the axis of a rod
// of radius r the same argument has two directions across, of variance 1/4 each, so that a rod
// stays if r > sqrt(1/2) + 0.055 cells; a ball if r > sqrt(3/4) + 0.055. Less, for what curvature
// takes.
constexpr double kKeepWall = 0.8, kKeepRod = 0.55;
// What is lost asks for smaller cells, however thick it seems: its normals may be those of slivers.
constexpr double kFiner = 0.7;
// And as thicknesses after growing, in cells.
constexpr double kSafeWall = 1.2, kSafeRod = 1.6, kMostGrowth = 0.95;
// Of a part that tapers, this share of its lost area may be thinner than what is called its
// thickness: tips have none at all at their end, however small the cells.
constexpr double kThinnerOfWall = 0.1, kThinnerOfRod = 0.5;

struct Boxed {
  Index3 box{};
  std::uint32_t point = 0;
};

struct Group {
  std::vector<const LostPoint*> lost, bare;
};

// Points in boxes, sorted, and joined to those in the same and in neighbouring boxes.
class Grouping {
 public:
  Grouping(std::span<const LostPoint> lost, double near)
      : lost_(lost), origin_(lost[0].position), near_(near) {
    boxed_.reserve(lost.size());
    for (std::size_t i = 0; i < lost.size(); ++i)
      boxed_.push_back({box_of(lost[i]), static_cast<std::uint32_t>(i)});
    std::stable_sort(boxed_.begin(), boxed_.end(),
                     [](const Boxed& a, const Boxed& b) { return a.box < b.box; });
    sets_ = DisjointSets(boxed_.size());
  }

  std::vector<Group> run(std::span<const LostPoint> bare) {
    for (std::uint32_t i = 0; i < boxed_.size(); ++i) {
      if (i > 0 && boxed_[i].box == boxed_[i - 1].box)
        sets_.join(i, i - 1);
      else
        for (std::int32_t n = 0; n < 13; ++n)  // the other 13 find this one
          if (const auto other = find_in(neighbour(boxed_[i].box, n))) sets_.join(i, *other);
    }
    std::vector<Group> groups;
    std::vector<std::uint32_t> number(boxed_.size(), 0);
    for (std::uint32_t i = 0; i < boxed_.size(); ++i) {
      const std::uint32_t root = sets_.find(i);  // the lowest of its group, hence met first
      if (root == i) {
        number[i] = static_cast<std::uint32_t>(groups.size());
        groups.emplace_back();
      }
      groups[number[root]].lost.push_back(&lost_[boxed_[i].point]);
    }
    for (const LostPoint& point : bare)
      if (const auto at = find_near(box_of(point)))
        groups[number[sets_.find(*at)]].bare.push_back(&point);
    return groups;
  }

 private:
  Index3 box_of(const LostPoint& point) const {
    const Vec3 p = (point.position - origin_) / near_;
    const auto at = [](double x) { return static_cast<std::int32_t>(std::floor(x)); };
    return {at(p.x), at(p.y), at(p.z)};
  }

  static Index3 neighbour(Index3 box, std::int32_t n) {
    box[0] += n / 9 - 1, box[1] += n / 3 % 3 - 1, box[2] += n % 3 - 1;
    return box;
  }

  std::optional<std::uint32_t> find_in(const Index3& box) const {
    const auto at = std::lower_bound(boxed_.begin(), boxed_.end(), box,
                                     [](const Boxed& a, const Index3& b) { return a.box < b; });
    if (at == boxed_.end() || at->box != box) return {};
    return static_cast<std::uint32_t>(at - boxed_.begin());
  }

  std::optional<std::uint32_t> find_near(const Index3& box) const {
    if (const auto at = find_in(box)) return at;
    for (std::int32_t n = 0; n < 27; ++n)
      if (const auto at = find_in(neighbour(box, n))) return at;
    return {};
  }

  std::span<const LostPoint> lost_;
  Vec3 origin_;
  double near_;
  std::vector<Boxed> boxed_;
  DisjointSets sets_{0};
};

// Between the two that are furthest apart, or nearly: the one furthest from any, and the one
// furthest from that. Never too large.
double compute_extent(const Group& group) {
  const auto furthest = [&](const Vec3& from) {
    std::pair<double, Vec3> best{0, from};
    for (const LostPoint* point : group.lost)
      if (const double d = length_sq(point->position - from); d > best.first)
        best = {d, point->position};
    return best;
  };
  double extent = std::sqrt(furthest(furthest(group.lost[0]->position).second).first);
  // What is missing reaches from a point to the nearest solid.
  for (const LostPoint* point : group.lost) extent = std::max(extent, point->gap);
  return extent;
}

// The first of the points, which come by thickness, that thinner ones of no more than `area`
// precede.
const LostPoint* find_thinner(std::span<const LostPoint* const> points, double area) {
  double thinner = 0;
  std::size_t at = 0;
  while (at + 1 < points.size() && thinner + points[at]->area <= area)
    thinner += points[at++]->area;
  return points[at];
}

LostPart sum_up(Group group, double voxel_size) {
  LostPart part;
  ThinPlace& place = part.place;
  place.extent = compute_extent(group);
  place.samples = group.lost.size();
  double lost = 0, walls = 0;
  for (const LostPoint* point : group.lost) {
    lost += point->area;
    if (point->is_wall) walls += point->area;
  }
  place.is_wall = walls > 0.5 * lost;
  place.area = lost;
  for (const LostPoint* point : group.bare) place.area += point->area;
  std::stable_sort(group.lost.begin(), group.lost.end(),
                   [](const auto* a, const auto* b) { return a->thickness < b->thickness; });
  const LostPoint& thin =
      *find_thinner(group.lost, (place.is_wall ? kThinnerOfWall : kThinnerOfRod) * lost);
  place.position = thin.position;
  place.thickness = thin.thickness;
  part.typical_thickness = find_thinner(group.lost, 0.5 * lost)->thickness;
  part.voxel_size_to_keep =
      std::min((place.is_wall ? kKeepWall : kKeepRod) * place.thickness, kFiner * voxel_size);
  const double safe = (place.is_wall ? kSafeWall : kSafeRod) * voxel_size;
  part.growth_to_keep =
      std::clamp(0.5 * (safe - kKeepWall * place.thickness), 0.0, kMostGrowth * voxel_size);
  return part;
}

}  // namespace

std::vector<LostPart> gather_lost_parts(std::span<const LostPoint> lost,
                                        std::span<const LostPoint> bare, double near,
                                        double voxel_size) {
  std::vector<LostPart> parts;
  if (lost.empty()) return parts;
  for (Group& group : Grouping(lost, near).run(bare))
    parts.push_back(sum_up(std::move(group), voxel_size));
  std::stable_sort(parts.begin(), parts.end(), [](const LostPart& a, const LostPart& b) {
    return a.place.area > b.place.area;
  });
  return parts;
}

}  // namespace isotact::detail

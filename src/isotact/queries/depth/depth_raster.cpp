#include "isotact/queries/depth/detail/depth_raster.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/parallel.h"

namespace isotact::detail {
namespace {

constexpr double kFurthestStep = 0x1p52;

std::size_t corners_of(DepthPrimitive primitive) {
  return primitive == DepthPrimitive::kTriangles ? 3 : primitive == DepthPrimitive::kLines ? 2 : 1;
}

// A position where it is drawn.
struct PlacedVertex {
  Vec3 in_view{};
  RasterPoint at{};
  bool is_good = false;  // else whoever uses it has to say what is wrong with it
};

// Takes positions of one element to the picture.
struct ToPicture {
  const DepthElement* element;
  Pose view_from_element;
  const RasterTask* task;
  const char* whose;
  std::size_t number;

  Vec3 to_view(std::size_t slot) const {
    const std::uint32_t index = element->indices[slot];
    if (index >= element->positions.size())
      throw Error(fmt::format("{}, element {}: index {} at place {}, but it has {} positions",
                              whose, number, index, slot, element->positions.size()));
    const Vec3 p = transform_point(view_from_element, element->positions[index]);
    if (!is_finite(p))
      throw Error(fmt::format("{}, element {}: position {} (or the pose) is not finite", whose,
                              number, index));
    return p;
  }

  Vec3 to_steps(const Vec3& p) const {
    const Vec3& half = task->view.half_size;
    return {(p.x / half.x + 1) * (task->width * double{kRasterHalf}),
            (p.y / half.y + 1) * (task->height * double{kRasterHalf}), 0};
  }
  static bool is_within(const Vec3& steps) {
    return std::abs(steps.x) <= kFurthestStep && std::abs(steps.y) <= kFurthestStep;
  }
  RasterPoint snap(const Vec3& steps, double z) const {
    return {static_cast<std::int64_t>(std::nearbyint(steps.x)),
            static_cast<std::int64_t>(std::nearbyint(steps.y)), z + task->view.half_size.z};
  }

  RasterPoint to_picture(const Vec3& p) const {
    const Vec3 steps = to_steps(p);
    if (!is_within(steps))
      throw Error(
          fmt::format("{}, element {}: it reaches more than 2^36 pixels beyond the box; "
                      "cut it, or take larger pixels",
                      whose, number));
    return snap(steps, p.z);
  }

  // All positions once, since most are used by several primitives. None where an element uses few
  // of many.
  std::vector<PlacedVertex> place_all() const {
    if (element->positions.size() > element->indices.size()) return {};
    std::vector<PlacedVertex> placed(element->positions.size());
    parallel_for(placed.size(), 4096, task->threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const Vec3 p = transform_point(view_from_element, element->positions[i]);
        if (!is_finite(p)) continue;
        const Vec3 steps = to_steps(p);
        if (!is_within(steps)) continue;
        placed[i] = {p, snap(steps, p.z), true};
      }
    });
    return placed;
  }

  RasterPrimitive make(std::size_t first, std::size_t count,
                       std::span<const PlacedVertex> placed) const {
    RasterPrimitive made{.element = static_cast<std::uint32_t>(number), .kind = element->primitive};
    std::array<Vec3, 3> corners{};
    for (std::size_t k = 0; k < count; ++k) {
      const std::uint32_t index = element->indices[first + k];
      if (index < placed.size() && placed[index].is_good) {
        corners[k] = placed[index].in_view;
        made.at[k] = placed[index].at;
      } else {
        corners[k] = to_view(first + k);
        made.at[k] = to_picture(corners[k]);
      }
    }
    for (std::size_t k = count; k < 3; ++k) {
      corners[k] = corners[count - 1];
      made.at[k] = made.at[count - 1];
    }
    if (count < 3) return made;
    made.normal = normalized(cross(corners[1] - corners[0], corners[2] - corners[0]));
    const auto& [a, b, c] = made.at;
    const RasterWide area =
        RasterWide{b.x - a.x} * (c.y - a.y) - RasterWide{b.y - a.y} * (c.x - a.x);
    // The view direction is +z: a normal towards -z faces it.
    made.facing = static_cast<std::int8_t>(area < 0 ? 1 : area > 0 ? -1 : 0);
    return made;
  }
};

bool shows(const RasterPrimitive& primitive, const RasterTask& task) {
  const RasterBounds box = compute_bounds(primitive);
  return box.x_high >= -1 && box.y_high >= -1 && box.x_low <= task.width * kRasterSteps + 1 &&
         box.y_low <= task.height * kRasterSteps + 1 && box.z_low <= task.z_last &&
         box.z_high >= task.z_first &&
         (primitive.facing != 0 || task.conservative ||
          primitive.kind != DepthPrimitive::kTriangles);
}

void sort_into_strips(RasterScene& scene, const RasterTask& task) {
  const auto strips =
      static_cast<std::size_t>((task.height + kRasterStripRows - 1) / kRasterStripRows);
  struct Strips {
    std::int32_t first, last;  // first > last: none
  };
  std::vector<Strips> of(scene.primitives.size());
  parallel_for(of.size(), 4096, task.threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const RasterBounds box = compute_bounds(scene.primitives[i]);
      const PixelRange rows = compute_pixels(box.y_low - 1, box.y_high + 1, 0, task.height);
      of[i] = rows.first <= rows.last
                  ? Strips{rows.first / kRasterStripRows, rows.last / kRasterStripRows}
                  : Strips{0, -1};
    }
  });
  std::vector<std::size_t> next(strips + 1);
  for (const Strips& s : of)
    for (std::int32_t k = s.first; k <= s.last; ++k) ++next[static_cast<std::size_t>(k) + 1];
  for (std::size_t s = 0; s < strips; ++s) next[s + 1] += next[s];
  if (next.back() > std::numeric_limits<std::uint32_t>::max())
    throw Error("more than 2^32 primitives by rows of the picture: draw them in parts");
  scene.strip_starts.assign(next.begin(), next.end());
  scene.strip_items.resize(next.back());
  for (std::size_t i = 0; i < of.size(); ++i)
    for (std::int32_t k = of[i].first; k <= of[i].last; ++k)
      scene.strip_items[next[static_cast<std::size_t>(k)]++] = static_cast<std::uint32_t>(i);
}

// Adds the primitives of an element that show, in their order.
void add_primitives(const ToPicture& to_picture, std::size_t corners, RasterScene& scene) {
  const std::size_t grain = 2048, count = to_picture.element->indices.size() / corners;
  const std::vector<PlacedVertex> placed = to_picture.place_all();
  const std::size_t before = scene.primitives.size();
  scene.primitives.resize(before + count);
  const auto all = scene.primitives.begin() + static_cast<std::ptrdiff_t>(before);
  std::vector<std::size_t> shown((count + grain - 1) / grain);
  parallel_for(count, grain, to_picture.task->threads, [&](std::size_t begin, std::size_t end) {
    auto to = all + static_cast<std::ptrdiff_t>(begin);
    for (std::size_t i = begin; i < end; ++i) {
      const RasterPrimitive made = to_picture.make(i * corners, corners, placed);
      if (!shows(made, *to_picture.task)) continue;
      *to++ = made;
      ++shown[begin / grain];
    }
  });
  auto end = all;
  for (std::size_t part = 0; part < shown.size(); ++part) {
    const auto from = all + static_cast<std::ptrdiff_t>(part * grain);
    const auto last = from + static_cast<std::ptrdiff_t>(shown[part]);
    end = end == from ? last : std::move(from, last, end);
  }
  scene.primitives.erase(end, scene.primitives.end());
}

}  // namespace

RasterScene make_raster_scene(std::span<const DepthElement> elements, const RasterTask& task,
                              const char* whose) {
  RasterScene scene;
  for (std::size_t number = 0; number < elements.size(); ++number) {
    const DepthElement& element = elements[number];
    const std::size_t corners = corners_of(element.primitive);
    if (element.indices.size() % corners != 0)
      throw Error(fmt::format("{}, element {}: {} indices, which {} does not divide", whose, number,
                              element.indices.size(), corners));
    const ToPicture to_picture{&element, task.view_from_list * element.world_from_element, &task,
                               whose, number};
    add_primitives(to_picture, corners, scene);
  }
  if (scene.primitives.size() > std::numeric_limits<std::uint32_t>::max())
    throw Error("more than 2^32 primitives: draw them in parts");
  sort_into_strips(scene, task);
  return scene;
}

void narrow_to_square(const RasterPrimitive& line, Fragment& fragment) {
  const RasterPoint &a = line.at[0], &b = line.at[1];
  double t0 = 0, t1 = 1;
  const auto cut = [&](std::int64_t from, std::int64_t to, std::int32_t pixel) {
    const double low = static_cast<double>(std::int64_t{pixel} * kRasterSteps - 1 - from);
    const double high = static_cast<double>(std::int64_t{pixel + 1} * kRasterSteps + 1 - from);
    const auto change = static_cast<double>(to - from);
    if (change == 0) return;
    const double first = (change > 0 ? low : high) / change,
                 last = (change > 0 ? high : low) / change;
    t0 = std::max(t0, first - 0x1p-48 * (1 + std::abs(first)));
    t1 = std::min(t1, last + 0x1p-48 * (1 + std::abs(last)));
  };
  cut(a.x, b.x, fragment.column);
  cut(a.y, b.y, fragment.row);
  // Only by rounding, in a corner: the whole line's depths are a bound.
  if (t0 > t1) return;
  const double z0 = a.z + (b.z - a.z) * t0, z1 = a.z + (b.z - a.z) * t1;
  const double room = 0x1p-46 * (std::abs(a.z) + std::abs(b.z));
  fragment.low = std::max(fragment.low, std::min(z0, z1) - room);
  fragment.high = std::min(fragment.high, std::max(z0, z1) + room);
  fragment.z = (fragment.low + fragment.high) / 2;
}

}  // namespace isotact::detail

#include "isotact/queries/depth/depth_map.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/parallel.h"
#include "isotact/queries/depth/detail/depth_raster.h"

namespace isotact {
namespace {

using SolidInterval = DepthMap::Interval;

// A surface of the object in a pixel.
struct DepthCrossing {
  std::int32_t pixel = 0;  // Pixel of the strip.
  double z = 0, low = 0, high = 0;
  std::int8_t sign = 0;  // +1 into the object, -1 out of it, 0 neither.
};

struct DepthSpan {
  double near, far;
};

struct StripCounts {
  std::uint32_t covered = 0, overfull = 0, open = 0;
};

// The solid has a nonzero sum of crossings. Surfaces with the wrong orientation, and pairs that
// rounding has swapped, bound the same solid by that rule.
bool join_crossings(std::span<DepthCrossing> crossings, std::vector<DepthSpan>& spans) {
  std::sort(crossings.begin(), crossings.end(), [](const DepthCrossing& a, const DepthCrossing& b) {
    return a.z != b.z ? a.z < b.z : a.sign > b.sign;  // Touching parts are one.
  });
  int winding = 0;
  double start = 0;
  for (const DepthCrossing& crossing : crossings) {
    const int before = winding;
    winding += crossing.sign;
    if (before == 0) start = crossing.z;
    if (winding == 0 && (before != 0 || crossing.sign == 0)) spans.push_back({start, crossing.z});
  }
  if (winding == 0) return true;
  spans.assign({{crossings.front().z, crossings.back().z}});
  return false;
}

// The same for the whole of the pixel's square. All surfaces over it lie within their fragments'
// depths. Between those, at depths without any surface over the square, the object is solid
// everywhere or nowhere: the ray through the centre decides.
bool join_bands(std::span<DepthCrossing> bands, std::vector<DepthSpan>& spans) {
  std::sort(bands.begin(), bands.end(), [](const DepthCrossing& a, const DepthCrossing& b) {
    return a.low != b.low ? a.low < b.low : a.high != b.high ? a.high < b.high : a.sign > b.sign;
  });
  int winding = 0;
  for (const DepthCrossing& band : bands) {
    if (!spans.empty() && (winding != 0 || band.low <= spans.back().far)) {
      spans.back().far = std::max(spans.back().far, band.high);
    } else {
      spans.push_back({band.low, band.high});
    }
    winding += band.sign;
  }
  if (winding == 0) return true;
  spans.front().far = spans.back().far;
  for (const DepthSpan& span : spans) spans.front().far = std::max(spans.front().far, span.far);
  spans.resize(1);
  return false;
}

// Writes spans in ascending order as at most `layers` intervals within the box.
class PixelWriter {
 public:
  PixelWriter(DepthMap& map, bool conservative)
      : map_(&map),
        conservative_(conservative),
        last_(std::nextafter(static_cast<float>(2 * map.view.half_size.z),
                             std::numeric_limits<float>::infinity())),
        stride_(static_cast<std::size_t>(map.width) * static_cast<std::size_t>(map.height)) {}

  void write(std::size_t pixel, std::span<const DepthSpan> spans, StripCounts& counts) {
    std::size_t layer = 0;
    bool any = false, overfull = false;
    for (const DepthSpan& span : spans) {
      SolidInterval next = round(span);
      if (next.near > last_ || next.far < 0) continue;
      next = {std::max(next.near, 0.0F), std::min(next.far, last_)};
      SolidInterval& current = map_->intervals[layer * stride_ + pixel];
      if (!any) {
        current = next;
        any = true;
      } else if (next.near <= current.far) {
        current.far = std::max(current.far, next.far);
      } else if (layer + 1 < static_cast<std::size_t>(map_->layers)) {
        ++layer;
        map_->intervals[layer * stride_ + pixel] = next;
      } else {
        current.far = next.far;
        overfull = true;
      }
    }
    counts.covered += any ? 1U : 0U;
    counts.overfull += overfull ? 1U : 0U;
  }

 private:
  // Bounds are rounded outwards.
  SolidInterval round(const DepthSpan& span) const {
    constexpr float kFar = std::numeric_limits<float>::infinity();
    SolidInterval out{static_cast<float>(span.near), static_cast<float>(span.far)};
    if (conservative_ && double{out.near} > span.near) out.near = std::nextafter(out.near, -kFar);
    if (conservative_ && double{out.far} < span.far) out.far = std::nextafter(out.far, kFar);
    return out;
  }

  DepthMap* map_;
  bool conservative_;
  float last_;
  std::size_t stride_;
};

// FAB's boundaries: the furthest surface that faces away from the view, and with two sides the
// nearest one that faces it. Surfaces of elements that are not closed have no back.
void find_boundaries(std::span<const DepthCrossing> crossings, bool two_sided,
                     std::vector<DepthSpan>& spans) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  DepthSpan span{kNone, -kNone};
  for (const DepthCrossing& crossing : crossings) {
    if (crossing.sign <= 0) span.far = std::max(span.far, crossing.high);
    if (crossing.sign >= 0) span.near = std::min(span.near, crossing.low);
  }
  if (!two_sided) span.near = std::min(0.0, span.far);
  if (span.near <= span.far) spans.push_back(span);
}

// Keeps the order of equals.
void sort_by_pixel(std::vector<DepthCrossing>& crossings, std::size_t pixels) {
  std::vector<std::size_t> next(pixels + 1);
  for (const DepthCrossing& c : crossings) ++next[static_cast<std::size_t>(c.pixel) + 1];
  for (std::size_t i = 0; i < pixels; ++i) next[i + 1] += next[i];
  std::vector<DepthCrossing> sorted(crossings.size());
  for (const DepthCrossing& c : crossings) sorted[next[static_cast<std::size_t>(c.pixel)]++] = c;
  crossings = std::move(sorted);
}

StripCounts draw_strip(const detail::RasterScene& scene, std::size_t strip,
                       std::span<const DepthElement> object, const DepthSettings& settings,
                       DepthMap& map) {
  const auto first = static_cast<std::int32_t>(strip) * detail::kRasterStripRows;
  const detail::RasterRows rows{map.width, first,
                                std::min(first + detail::kRasterStripRows, map.height)};
  const bool solid = settings.method == DepthMethod::kIntervals;
  std::vector<DepthCrossing> crossings;
  for (std::uint32_t i = scene.strip_starts[strip]; i < scene.strip_starts[strip + 1]; ++i) {
    const detail::RasterPrimitive& primitive = scene.primitives[scene.strip_items[i]];
    const bool sided = solid || object[primitive.element].closed;
    detail::draw_primitive(primitive, rows, settings.conservative, [&](const detail::Fragment& f) {
      const bool counts = sided && (f.holds_middle || !solid);
      crossings.push_back({(f.row - first) * map.width + f.column, f.z, f.low, f.high,
                           static_cast<std::int8_t>(counts ? primitive.facing : 0)});
    });
  }
  sort_by_pixel(crossings, static_cast<std::size_t>(map.width) *
                               static_cast<std::size_t>(rows.end - rows.first));
  StripCounts counts;
  std::vector<DepthSpan> spans;
  PixelWriter writer(map, settings.conservative);
  for (std::size_t begin = 0, end = 0; begin < crossings.size(); begin = end) {
    while (end < crossings.size() && crossings[end].pixel == crossings[begin].pixel) ++end;
    const std::span<DepthCrossing> of_pixel(crossings.data() + begin, end - begin);
    spans.clear();
    if (!solid) {
      find_boundaries(of_pixel, settings.two_sided, spans);
    } else if (!(settings.conservative ? join_bands : join_crossings)(of_pixel, spans)) {
      ++counts.open;
    }
    writer.write(static_cast<std::size_t>(first) * static_cast<std::size_t>(map.width) +
                     static_cast<std::size_t>(of_pixel.front().pixel),
                 spans, counts);
  }
  return counts;
}

}  // namespace

void check_depth_view(const DepthView& view) {
  const Vec3& half = view.half_size;
  if (!is_finite(half) || !(half.x > 0 && half.y > 0 && half.z > 0))
    throw Error(fmt::format("the view's box must have sizes above zero, not half of {} x {} x {} m",
                            half.x, half.y, half.z));
  const double turn = length_sq(view.object_from_view.rotation);
  if (!is_finite(view.object_from_view.translation) || !(std::abs(turn - 1) < 1e-6))
    throw Error("the view's pose must be finite, with a unit quaternion");
}

DepthView make_depth_view(const Aabb& body, const Vec3& direction) {
  if (is_empty(body) || !is_finite(body.lower) || !is_finite(body.upper))
    throw Error("a view needs a box that is finite and not empty");
  // Without overflow, also for tiny and huge ones.
  const double size =
      std::max({std::abs(direction.x), std::abs(direction.y), std::abs(direction.z)});
  if (!is_finite(direction) || size == 0) throw Error("a view's direction must not be zero");
  const Vec3 z = normalized(direction / size);
  std::size_t least = 0;
  for (std::size_t axis = 1; axis < 3; ++axis)
    if (std::abs(z[axis]) < std::abs(z[least])) least = axis;
  Vec3 x{};
  x[least] = 1;
  x = normalized(x - z * z[least]);
  const Vec3 y = cross(z, x);
  DepthView view{.object_from_view = {to_quat(transpose(Mat3{{x, y, z}})), center(body)}};
  const Vec3 half = extent(body) * 0.5;
  double largest = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const Vec3& along = axis == 0 ? x : axis == 1 ? y : z;
    view.half_size[axis] =
        std::abs(along.x) * half.x + std::abs(along.y) * half.y + std::abs(along.z) * half.z;
    largest = std::max(largest, view.half_size[axis]);
  }
  if (largest == 0) largest = 1;  // A point.
  for (std::size_t axis = 0; axis < 3; ++axis)
    view.half_size[axis] += 0.01 * std::max(view.half_size[axis], 0.1 * largest);
  return view;
}

void check_depth_settings(const DepthSettings& settings) {
  const auto check_side = [](const char* name, std::int32_t size) {
    if (size < 1 || size > kMostDepthPixels)
      throw Error(fmt::format("{} must be 1 to {} pixels, not {}", name, kMostDepthPixels, size));
  };
  check_side("width", settings.width);
  check_side("height", settings.height);
  if (settings.layers < 1 || settings.layers > kMostDepthLayers)
    throw Error(fmt::format("layers must be 1 to {}, not {}", kMostDepthLayers, settings.layers));
  if (settings.max_contacts > kMostDepthContacts)
    throw Error(fmt::format("max_contacts must be at most {}, not {}", kMostDepthContacts,
                            settings.max_contacts));
  if (settings.method > DepthMethod::kIntervals)
    throw Error(fmt::format("no method has the number {}", static_cast<int>(settings.method)));
}

DepthMesh make_depth_mesh(const TriangleMesh& mesh) {
  DepthMesh made;
  made.positions.reserve(mesh.positions.size());
  for (const Vec3f& p : mesh.positions) made.positions.push_back(to_double(p));
  made.indices.reserve(3 * mesh.triangles.size());
  for (const Triangle& t : mesh.triangles)
    made.indices.insert(made.indices.end(), t.begin(), t.end());
  return made;
}

DepthElement make_depth_element(const DepthMesh& mesh, const Pose& world_from_mesh,
                                std::uint32_t id, bool closed) {
  return {.positions = mesh.positions,
          .indices = mesh.indices,
          .world_from_element = world_from_mesh,
          .id = id,
          .closed = closed};
}

DepthMap draw_depth_map(std::span<const DepthElement> object, const DepthView& view,
                        const DepthSettings& settings) {
  check_depth_settings(settings);
  check_depth_view(view);
  DepthMap map{.view = view,
               .width = settings.width,
               .height = settings.height,
               .layers = settings.method == DepthMethod::kIntervals ? settings.layers : 1,
               .intervals = {}};
  constexpr double kAll = std::numeric_limits<double>::infinity();
  const detail::RasterScene scene =
      detail::make_raster_scene(object,
                                {.view_from_list = inverse(view.object_from_view),
                                 .view = view,
                                 .width = map.width,
                                 .height = map.height,
                                 .conservative = settings.conservative,
                                 .z_first = -kAll,
                                 .z_last = kAll,
                                 .threads = settings.threads},
                                "object");
  map.intervals.resize(static_cast<std::size_t>(map.width) * static_cast<std::size_t>(map.height) *
                       static_cast<std::size_t>(map.layers));
  const std::size_t strips = scene.strip_starts.size() - 1;
  const StripCounts counts = parallel_reduce(
      strips, 1, settings.threads, StripCounts{},
      [&](std::size_t strip, std::size_t) {
        return draw_strip(scene, strip, object, settings, map);
      },
      [](StripCounts a, const StripCounts& b) {
        return StripCounts{a.covered + b.covered, a.overfull + b.overfull, a.open + b.open};
      });
  map.covered = counts.covered;
  map.overfull = counts.overfull;
  map.open = counts.open;
  return map;
}

double compute_depth_miss(const DepthView& view, const DepthSettings& settings) {
  check_depth_settings(settings);
  check_depth_view(view);
  if (settings.conservative) return 0;
  const double x = view.half_size.x / settings.width, y = view.half_size.y / settings.height;
  return std::sqrt(x * x + y * y) * (1 + 0x1p-14);  // Corners are snapped: at most one step.
}

}  // namespace isotact

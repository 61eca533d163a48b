#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/parallel.h"
#include "isotact/queries/depth/depth_map.h"
#include "isotact/queries/depth/detail/depth_raster.h"

namespace isotact {
namespace {

using detail::Fragment;
using detail::RasterPrimitive;

constexpr std::int32_t kTilesASide = 8;
constexpr double kNowhere = std::numeric_limits<double>::infinity();

// A fragment of the environment in the object.
struct DepthHit {
  double depth = -1;  // Order of hits.
  std::int32_t column = 0, row = 0;
  double z = 0;
  DepthMap::Interval interval{};
  std::uint32_t primitive = 0;
};
// The deeper one; equal ones by rows, then by columns, then in drawing order.
bool beats(const DepthHit& a, const DepthHit& b) {
  if (a.depth != b.depth) return a.depth > b.depth;
  if (a.row != b.row) return a.row < b.row;
  return a.column < b.column;
}

struct StripHits {
  std::uint32_t pixels = 0;
  std::int32_t first_column = kMostDepthPixels, last_column = -1, first_row = -1, last_row = -1;
  DepthHit deepest{};
  std::vector<std::uint32_t> elements;  // Ascending.
  std::vector<std::uint32_t> around;    // Elements that contain parts of the object.
  std::array<DepthHit, std::size_t{kTilesASide} * kTilesASide> tiles{};
  // The first pixel that lies within an element, and its interval.
  std::optional<DepthHit> within{};
};

// Distance along the ray from z to the end of the object's part, on the side on which the
// environment is solid. It is converted to a distance from the surface's plane (depth_map.h).
struct DepthExit {
  double along = 0;  // Signed, along the view's axis.
  double depth = 0;
  Vec3 normal{};  // View frame.
};

class StripDetector {
 public:
  StripDetector(const DepthMap& map, const DepthSettings& settings,
                std::span<const DepthElement> environment, const detail::RasterScene& scene,
                std::size_t strip)
      : map_(map),
        settings_(settings),
        environment_(environment),
        scene_(scene),
        strip_(strip),
        first_row_(static_cast<std::int32_t>(strip) * detail::kRasterStripRows),
        rows_{map.width, first_row_, std::min(first_row_ + detail::kRasterStripRows, map.height)},
        stride_(static_cast<std::size_t>(map.width) * static_cast<std::size_t>(map.height)),
        hit_pixels_(static_cast<std::size_t>(map.width) *
                    static_cast<std::size_t>(rows_.end - rows_.first)) {}

  StripHits run() {
    switch (settings_.method) {
      case DepthMethod::kTwoMaps:
        compare_maps();
        break;
      case DepthMethod::kFragments:
        test_fragments();
        break;
      case DepthMethod::kIntervals:
        test_intervals();
        break;
    }
    for (std::size_t i = 0; i < hit_pixels_.size(); ++i) {
      if (hit_pixels_[i] == 0) continue;
      const auto row =
          first_row_ + static_cast<std::int32_t>(i / static_cast<std::size_t>(map_.width));
      const auto column = static_cast<std::int32_t>(i % static_cast<std::size_t>(map_.width));
      if (hits_.pixels++ == 0) hits_.first_row = row;
      hits_.last_row = row;
      hits_.first_column = std::min(hits_.first_column, column);
      hits_.last_column = std::max(hits_.last_column, column);
    }
    std::sort(hits_.elements.begin(), hits_.elements.end());
    hits_.elements.erase(std::unique(hits_.elements.begin(), hits_.elements.end()),
                         hits_.elements.end());
    return std::move(hits_);
  }

 private:
  template <typename Visit>
  void for_each_fragment(Visit&& visit) {
    for (std::uint32_t i = scene_.strip_starts[strip_]; i < scene_.strip_starts[strip_ + 1]; ++i) {
      const std::uint32_t number = scene_.strip_items[i];
      const RasterPrimitive& primitive = scene_.primitives[number];
      detail::draw_primitive(primitive, rows_, settings_.conservative,
                             [&](const Fragment& fragment) { visit(fragment, primitive, number); });
    }
  }

  std::size_t in_strip(const Fragment& f) const {
    return static_cast<std::size_t>(f.row - first_row_) * static_cast<std::size_t>(map_.width) +
           static_cast<std::size_t>(f.column);
  }
  const DepthMap::Interval& interval_at(const Fragment& f, int layer) const {
    return map_.intervals[static_cast<std::size_t>(layer) * stride_ +
                          static_cast<std::size_t>(f.row) * static_cast<std::size_t>(map_.width) +
                          static_cast<std::size_t>(f.column)];
  }

  // FAB draws the environment as usual: closed elements show only surfaces that face the view, and
  // nothing outside the box.
  bool is_drawn(const Fragment& f, const RasterPrimitive& primitive) const {
    const bool culled = environment_[primitive.element].closed && primitive.facing < 0;
    return !culled && f.high >= 0 && f.low <= 2 * map_.view.half_size.z;
  }

  void compare_maps() {
    struct Seen {
      Fragment fragment{};
      std::uint32_t primitive = 0;
    };
    std::vector<Seen> seen(hit_pixels_.size(), Seen{{.low = kNowhere}, 0});
    for_each_fragment(
        [&](const Fragment& f, const RasterPrimitive& primitive, std::uint32_t number) {
          Seen& nearest = seen[in_strip(f)];
          if (is_drawn(f, primitive) && f.low < nearest.fragment.low) nearest = {f, number};
        });
    for (const Seen& nearest : seen)
      if (nearest.fragment.low < kNowhere)
        test(nearest.fragment, scene_.primitives[nearest.primitive], nearest.primitive);
  }

  void test_fragments() {
    for_each_fragment(
        [&](const Fragment& f, const RasterPrimitive& primitive, std::uint32_t number) {
          if (is_drawn(f, primitive)) test(f, primitive, number);
        });
  }

  void test_intervals() {
    const std::size_t layers = static_cast<std::size_t>(map_.layers);
    if (settings_.find_inside) windings_.resize(hit_pixels_.size() * layers);
    for_each_fragment(
        [&](const Fragment& f, const RasterPrimitive& primitive, std::uint32_t number) {
          test(f, primitive, number);
          if (!settings_.find_inside || !f.holds_middle) return;
          if (primitive.element != open_element_) close_element();
          open_element_ = primitive.element;
          if (environment_[primitive.element].closed) count_winding(f, primitive);
        });
    if (settings_.find_inside) close_element();
  }

  // Counts the winding of the element at the start of the object's parts.
  void count_winding(const Fragment& f, const RasterPrimitive& primitive) {
    for (int layer = 0; layer < map_.layers; ++layer) {
      const DepthMap::Interval& interval = interval_at(f, layer);
      if (interval.near > interval.far) return;
      if (f.z >= double{interval.near}) continue;
      std::int32_t& winding = windings_[in_strip(f) * static_cast<std::size_t>(map_.layers) +
                                        static_cast<std::size_t>(layer)];
      if (winding == 0) counted_.push_back(f);
      winding += primitive.facing;
    }
  }
  void close_element() {
    for (const Fragment& f : counted_)
      for (int layer = 0; layer < map_.layers; ++layer) {
        std::int32_t& winding = windings_[in_strip(f) * static_cast<std::size_t>(map_.layers) +
                                          static_cast<std::size_t>(layer)];
        // Below zero: a hollow oriented inwards, with the object outside its solid.
        if (winding > 0) {
          if (hits_.around.empty() || hits_.around.back() != open_element_)
            hits_.around.push_back(open_element_);
          const DepthMap::Interval& interval = interval_at(f, layer);
          const DepthHit within{.depth = 0,
                                .column = f.column,
                                .row = f.row,
                                .z = (double{interval.near} + double{interval.far}) / 2,
                                .interval = interval,
                                .primitive = open_element_};
          if (!hits_.within || beats(within, *hits_.within)) hits_.within = within;
        }
        winding = 0;
      }
    counted_.clear();
  }

  bool one_sided() const {
    return settings_.method != DepthMethod::kIntervals && !settings_.two_sided;
  }

  void test(const Fragment& f, const RasterPrimitive& primitive, std::uint32_t number) {
    for (int layer = 0; layer < map_.layers; ++layer) {
      const DepthMap::Interval& interval = interval_at(f, layer);
      if (interval.near > interval.far) return;
      const double near = interval.near, far = interval.far;
      if (!(f.low <= far && f.high >= near)) continue;
      const double low = std::max(f.low, near), high = std::min(f.high, far);
      const double innermost = one_sided() ? low : std::clamp((near + far) / 2, low, high);
      DepthHit hit{
          .depth = one_sided() ? far - innermost : std::min(innermost - near, far - innermost),
          .column = f.column,
          .row = f.row,
          .z = innermost,
          .interval = interval,
          .primitive = number};
      if (beats(hit, hits_.deepest)) hits_.deepest = hit;
      hit_pixels_[in_strip(f)] = 1;
      if (hits_.elements.empty() || hits_.elements.back() != primitive.element)
        hits_.elements.push_back(primitive.element);
      if (settings_.max_contacts == 0) continue;
      hit.z = std::clamp(f.z, near, far);
      hit.depth = find_exit(hit, primitive).depth;
      DepthHit& deepest =
          hits_.tiles[static_cast<std::size_t>(f.row * kTilesASide / map_.height) * kTilesASide +
                      static_cast<std::size_t>(f.column * kTilesASide / map_.width)];
      if (beats(hit, deepest)) deepest = hit;
    }
  }

 public:
  DepthExit find_exit(const DepthHit& hit, const RasterPrimitive& primitive) const {
    const double back = double{hit.interval.near} - hit.z, on = double{hit.interval.far} - hit.z;
    if (primitive.kind != DepthPrimitive::kTriangles) {
      const double along = one_sided() || on <= -back ? on : back;
      return {along, std::abs(along), {0, 0, along >= 0 ? -1.0 : 1.0}};
    }
    Vec3 normal = primitive.normal;
    if (one_sided() && normal.z > 0) normal = -normal;  // An open surface, seen from its back.
    const double along = normal.z <= 0 ? on : back;
    return {along, std::abs(along * normal.z), normal};
  }

 private:
  const DepthMap& map_;
  const DepthSettings& settings_;
  std::span<const DepthElement> environment_;
  const detail::RasterScene& scene_;
  std::size_t strip_;
  std::int32_t first_row_;
  detail::RasterRows rows_;
  std::size_t stride_;
  std::vector<std::uint8_t> hit_pixels_;
  std::vector<std::int32_t> windings_;  // [pixel of the strip][layer], of open_element_.
  std::vector<Fragment> counted_;       // Those that may not be zero.
  std::uint32_t open_element_ = std::numeric_limits<std::uint32_t>::max();
  StripHits hits_;
};

void check_map(const DepthMap& map, const DepthSettings& settings) {
  check_depth_settings(settings);
  check_depth_view(map.view);
  const int layers = settings.method == DepthMethod::kIntervals ? settings.layers : 1;
  if (map.width != settings.width || map.height != settings.height || map.layers != layers)
    throw Error(fmt::format("the map has {} x {} pixels and {} layers, the settings {} x {} and {}",
                            map.width, map.height, map.layers, settings.width, settings.height,
                            layers));
  if (map.intervals.size() != static_cast<std::size_t>(map.width) *
                                  static_cast<std::size_t>(map.height) *
                                  static_cast<std::size_t>(map.layers))
    throw Error("the map does not hold an interval a pixel and layer");
}

Vec3 to_view(const DepthMap& map, const DepthHit& hit) {
  return {((2 * hit.column + 1) / double(map.width) - 1) * map.view.half_size.x,
          ((2 * hit.row + 1) / double(map.height) - 1) * map.view.half_size.y,
          hit.z - map.view.half_size.z};
}

void add_strip(const StripHits& strip, StripHits& sum) {
  if (strip.pixels > 0) {
    if (sum.pixels == 0) sum.first_row = strip.first_row;
    sum.last_row = strip.last_row;
    sum.first_column = std::min(sum.first_column, strip.first_column);
    sum.last_column = std::max(sum.last_column, strip.last_column);
    sum.pixels += strip.pixels;
  }
  if (beats(strip.deepest, sum.deepest)) sum.deepest = strip.deepest;
  if (strip.within && !sum.within) sum.within = strip.within;
  for (std::size_t i = 0; i < sum.tiles.size(); ++i)
    if (beats(strip.tiles[i], sum.tiles[i])) sum.tiles[i] = strip.tiles[i];
  sum.elements.insert(sum.elements.end(), strip.elements.begin(), strip.elements.end());
  sum.around.insert(sum.around.end(), strip.around.begin(), strip.around.end());
}

}  // namespace

DepthResult detect_by_depth(const DepthMap& map, const Pose& world_from_object,
                            std::span<const DepthElement> environment,
                            const DepthSettings& settings) {
  check_map(map, settings);
  const Pose world_from_view = world_from_object * map.view.object_from_view;
  const bool find_inside = settings.method == DepthMethod::kIntervals && settings.find_inside;
  const detail::RasterScene scene =
      detail::make_raster_scene(environment,
                                {.view_from_list = inverse(world_from_view),
                                 .view = map.view,
                                 .width = map.width,
                                 .height = map.height,
                                 .conservative = settings.conservative,
                                 .z_first = find_inside ? -kNowhere : -1e-6 * map.view.half_size.z,
                                 .z_last = (2 + 1e-6) * map.view.half_size.z,
                                 .threads = settings.threads},
                                "environment");
  std::vector<StripHits> strips(scene.strip_starts.size() - 1);
  parallel_for(strips.size(), 1, settings.threads, [&](std::size_t strip, std::size_t) {
    if (scene.strip_starts[strip] != scene.strip_starts[strip + 1])
      strips[strip] = StripDetector(map, settings, environment, scene, strip).run();
  });
  StripHits sum;
  for (const StripHits& strip : strips) add_strip(strip, sum);

  DepthResult report{.colliding = sum.pixels > 0 || sum.within.has_value(),
                     .inside = sum.pixels == 0 && sum.within.has_value(),
                     .pixels = sum.pixels,
                     .ids = {},
                     .contacts = {}};
  for (const std::uint32_t element : report.inside ? sum.around : sum.elements)
    report.ids.push_back(environment[element].id);
  std::sort(report.ids.begin(), report.ids.end());
  report.ids.erase(std::unique(report.ids.begin(), report.ids.end()), report.ids.end());
  if (report.inside) {
    report.deepest = transform_point(world_from_view, to_view(map, *sum.within));
    report.deepest_id = environment[sum.within->primitive].id;
  }
  if (sum.pixels == 0) return report;
  report.first_pixel[0] = sum.first_column;
  report.first_pixel[1] = sum.first_row;
  report.last_pixel[0] = sum.last_column;
  report.last_pixel[1] = sum.last_row;
  report.depth = sum.deepest.depth;
  report.deepest = transform_point(world_from_view, to_view(map, sum.deepest));
  report.deepest_id = environment[scene.primitives[sum.deepest.primitive].element].id;

  std::vector<DepthHit> hits;
  for (const DepthHit& hit : sum.tiles)
    if (hit.depth >= 0) hits.push_back(hit);
  std::sort(hits.begin(), hits.end(), beats);
  hits.resize(std::min<std::size_t>(hits.size(), settings.max_contacts));
  const StripDetector detector(map, settings, environment, scene, 0);
  for (const DepthHit& hit : hits) {
    const RasterPrimitive& primitive = scene.primitives[hit.primitive];
    const DepthExit out = detector.find_exit(hit, primitive);
    const Vec3 on_a = to_view(map, hit) + Vec3{0, 0, out.along};
    Contact contact{.point_on_a = transform_point(world_from_view, on_a),
                    .normal = transform_vector(world_from_view, out.normal),
                    .depth = out.depth,
                    .sampled_by = Body::kB,
                    .point = environment[primitive.element].id};
    contact.point_on_b = contact.point_on_a + contact.normal * contact.depth;
    contact.position = (contact.point_on_a + contact.point_on_b) * 0.5;
    report.contacts.push_back(contact);
  }
  return report;
}

}  // namespace isotact

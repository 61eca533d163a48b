#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

#include "isotact/geometry/bvh/bvh.h"
#include "isotact/geometry/bvh/detail/bvh_query.h"
#include "isotact/geometry/bvh/detail/closest_kernel.h"
#include "isotact/geometry/bvh/detail/ray_kernel.h"
#include "isotact/geometry/bvh/detail/winding_kernel.h"

namespace isotact {
namespace {

using detail::BvhKernels;
using detail::ClosestFound;
using detail::ClosestSearch;

ClosestFound nothing_within(float max_distance) {
  const double reach = max_distance;
  return {.distance_sq = reach * reach, .triangle = kNoTriangle, .block = 0, .lane = 0};
}

std::array<Vec3f, 3> corners_of(const detail::TriangleBlock& block, std::uint32_t lane) {
  const auto corner = [&](int k) {
    return Vec3f{block.corner[k][0][lane], block.corner[k][1][lane], block.corner[k][2][lane]};
  };
  return {corner(0), corner(1), corner(2)};
}

ClosestSearch make_search(const Bvh& bvh, const Vec3f& point) {
  const Vec3 size = extent(to_double(bvh.bounds()));
  return {.nodes = bvh.oriented_nodes().data(),
          .blocks = bvh.blocks().data(),
          .point = {point.x, point.y, point.z},
          .margin = std::max({size.x, size.y, size.z}) * detail::kClosestMargin};
}

ClosestPoint to_result(const Bvh& bvh, const Vec3f& point, const ClosestFound& found) {
  if (found.triangle == kNoTriangle) return {};
  const auto [a, b, c] = corners_of(bvh.blocks()[found.block], found.lane);
  const TrianglePoint nearest = find_closest_point_on_triangle(point, a, b, c);
  return {.triangle = found.triangle,
          .feature = nearest.feature,
          .point = to_float(nearest.point),
          .distance = static_cast<float>(std::sqrt(nearest.distance_sq))};
}

// Interleaves the low ten bits of three numbers.
std::uint32_t morton_code(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  const auto spread = [](std::uint32_t v) {
    v = (v | (v << 16U)) & 0x030000ffU;
    v = (v | (v << 8U)) & 0x0300f00fU;
    v = (v | (v << 4U)) & 0x030c30c3U;
    return (v | (v << 2U)) & 0x09249249U;
  };
  return spread(x) | (spread(y) << 1U) | (spread(z) << 2U);
}

// The order in which to visit the points: along a Morton curve through their bounds.
std::vector<std::uint64_t> order_along_curve(std::span<const Vec3f> points, Threads threads) {
  Aabbf box;
  for (const Vec3f& p : points)
    if (is_finite(p)) extend(box, p);
  const Vec3 lower = to_double(box.lower), size = to_double(box.upper) - lower;
  const auto cell = [](double offset, double side) {
    return side > 0 ? static_cast<std::uint32_t>(offset / side * 1023) : 0U;
  };
  std::vector<std::uint64_t> order(points.size());
  parallel_for(points.size(), 4096, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      std::uint64_t code = 0;
      if (is_finite(points[i])) {
        const Vec3 offset = to_double(points[i]) - lower;
        code = morton_code(cell(offset.x, size.x), cell(offset.y, size.y), cell(offset.z, size.z));
      }
      order[i] = (code << 32U) | i;
    }
  });
  std::sort(order.begin(), order.end());
  return order;
}

// Visits the points in the given order. What was nearest to one point is near to the next: its
// distance is the first bound. Being the distance of a triangle, it does not change the answer.
void find_in_order(const Bvh& bvh, std::span<const Vec3f> points,
                   std::span<const std::uint64_t> order, std::span<ClosestPoint> results,
                   float max_distance, const BvhKernels& kernels) {
  ClosestFound last = nothing_within(max_distance);
  for (const std::uint64_t code : order) {
    const auto i = static_cast<std::size_t>(code & 0xffffffffU);
    const Vec3f& point = points[i];
    if (!detail::is_searchable(point, max_distance)) {
      results[i] = {};
      continue;
    }
    ClosestFound best = nothing_within(max_distance);
    if (last.triangle != kNoTriangle) {
      const auto [a, b, c] = corners_of(bvh.blocks()[last.block], last.lane);
      last.distance_sq = find_closest_point_on_triangle(point, a, b, c).distance_sq;
      if (last.distance_sq <= best.distance_sq) best = last;
    }
    kernels.find_closest(make_search(bvh, point), best);
    if (best.triangle != kNoTriangle) last = best;
    results[i] = to_result(bvh, point, best);
  }
}

}  // namespace

bool detail::is_searchable(const Vec3f& point, float max_distance) {
  return is_finite(point) && max_distance >= 0;
}

const detail::BvhKernels& detail::kernels_for(SimdLevel level) {
#if defined(ISOTACT_HAS_AVX2_KERNELS)
  if (level == SimdLevel::kAvx2) return kAvx2Kernels;
#endif
  static_cast<void>(level);
  return kBaselineKernels;
}

ClosestPoint detail::find_closest_point(const Bvh& bvh, const Vec3f& point, float max_distance,
                                        SimdLevel level) {
  if (bvh.nodes().empty() || !is_searchable(point, max_distance)) return {};
  ClosestFound best = nothing_within(max_distance);
  kernels_for(level).find_closest(make_search(bvh, point), best);
  return to_result(bvh, point, best);
}

std::uint32_t detail::find_near_triangle(const Bvh& bvh, const Vec3f& point, float max_distance,
                                         double enough) {
  if (bvh.nodes().empty() || !is_searchable(point, max_distance)) return kNoTriangle;
  ClosestFound best = nothing_within(max_distance);
  ClosestSearch search = make_search(bvh, point);
  if (enough >= 0) search.stop_sq = enough * enough;
  kernels_for(simd_level()).find_closest(search, best);
  return best.triangle;
}

ClosestPoint find_closest_point(const Bvh& bvh, const Vec3f& point, float max_distance) {
  return detail::find_closest_point(bvh, point, max_distance, simd_level());
}

void find_closest_points(const Bvh& bvh, std::span<const Vec3f> points,
                         std::span<ClosestPoint> results, Threads threads, float max_distance) {
  assert(points.size() == results.size());
  if (bvh.nodes().empty()) {
    std::fill(results.begin(), results.end(), ClosestPoint{});
    return;
  }
  constexpr std::size_t kPortion = std::size_t{1} << 20U;  // bounds the memory of the order
  const BvhKernels& kernels = detail::kernels_for(simd_level());
  for (std::size_t first = 0; first < points.size(); first += kPortion) {
    const std::size_t count = std::min(kPortion, points.size() - first);
    const auto some_points = points.subspan(first, count);
    const auto some_results = results.subspan(first, count);
    const std::vector<std::uint64_t> order = order_along_curve(some_points, threads);
    parallel_for(count, 512, threads, [&](std::size_t begin, std::size_t end) {
      find_in_order(bvh, some_points, std::span(order).subspan(begin, end - begin), some_results,
                    max_distance, kernels);
    });
  }
}

}  // namespace isotact

namespace isotact::detail {

using BaselineClosest = ClosestKernel<Lanes<float, 4>, Lanes<double, 2>>;
using BaselineRay = RayKernel<Lanes<float, 4>, Lanes<double, 2>>;

const BvhKernels kBaselineKernels{&BaselineClosest::find, &BaselineRay::find_first,
                                  &BaselineRay::find_any, &BaselineRay::find_all};

double (*const kBaselineWinding)(const WindingSearch&) = &WindingKernel<Lanes<double, 2>>::find;

}  // namespace isotact::detail

#include <algorithm>
#include <cmath>

#include "isotact/geometry/bvh/bvh.h"
#include "isotact/geometry/bvh/detail/bvh_query.h"
#include "isotact/geometry/bvh/detail/ray_kernel.h"

namespace isotact {
namespace {

using detail::RayFound;
using detail::RaySearch;

constexpr RayFound kNoHit{
    .t = std::numeric_limits<double>::infinity(), .triangle = kNoTriangle, .v = 0, .w = 0};

double longest_component(const Vec3f& v) {
  return std::max({std::abs(v.x), std::abs(v.y), std::abs(v.z)});
}

bool prepare(const Bvh& bvh, const Ray& ray, RaySearch& search) {
  if (bvh.nodes().empty() || !detail::prepare(ray, bvh.bounds(), search)) return false;
  search.nodes = bvh.nodes().data();
  search.blocks = bvh.blocks().data();
  return true;
}

}  // namespace

bool detail::prepare(const Ray& ray, const Aabbf& bounds, RaySearch& search) {
  const double longest = longest_component(ray.direction);
  if (!is_finite(ray.origin) || !is_finite(ray.direction) || longest == 0) return false;
  const Vec3 d = to_double(ray.direction);
  const std::size_t kz = std::abs(d.x) == longest ? 0 : std::abs(d.y) == longest ? 1 : 2;
  const std::size_t kx = (kz + 1) % 3, ky = (kz + 2) % 3;
  const Vec3 o = to_double(ray.origin);
  search.sheared = {.kx = static_cast<int>(kx),
                    .ky = static_cast<int>(ky),
                    .kz = static_cast<int>(kz),
                    .origin = {o[kx], o[ky], o[kz]},
                    .shear_x = d[kx] / d[kz],
                    .shear_y = d[ky] / d[kz],
                    .sign = d[kz] < 0 ? -1.0 : 1.0};
  double reach = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double component = std::max(std::abs(d[axis]) / longest, 1e-20);
    search.backwards[axis] = d[axis] < 0;
    search.inverse[axis] = static_cast<float>((d[axis] < 0 ? -1 : 1) / component);
    search.origin[axis] = ray.origin[axis];
    reach = std::max({reach, std::abs(double{bounds.lower[axis]} - o[axis]),
                      std::abs(double{bounds.upper[axis]} - o[axis])});
  }
  const auto padding = static_cast<float>(reach * kRayPadding);
  for (std::size_t axis = 0; axis < 3; ++axis)
    search.padding[axis] = search.backwards[axis] ? -padding : padding;
  search.t_min = double{ray.t_min} * longest;
  search.t_max = double{ray.t_max} * longest;
  search.unit = longest;
  return true;
}

RayHit detail::to_hit(const Ray& ray, const RayFound& found) {
  if (found.triangle == kNoTriangle) return {};
  return {.triangle = found.triangle,
          .t = static_cast<float>(found.t / longest_component(ray.direction)),
          .u = static_cast<float>(found.v),
          .v = static_cast<float>(found.w)};
}

void detail::HitBuffer::add(const RayHit& hit) {
  ++found_;
  const auto before = [](const RayHit& a, const RayHit& b) {
    return a.t < b.t || (a.t == b.t && a.triangle < b.triangle);
  };
  if (kept_ == buffer_.size()) {
    if (kept_ == 0 || !before(hit, buffer_[kept_ - 1])) return;
    --kept_;
  }
  std::size_t at = kept_++;
  for (; at > 0 && before(hit, buffer_[at - 1]); --at) buffer_[at] = buffer_[at - 1];
  buffer_[at] = hit;
}

AllHits detail::HitBuffer::result() const {
  return {.status = found_ == kept_ ? AllHitsStatus::kComplete : AllHitsStatus::kBufferTooSmall,
          .found = found_,
          .hits = buffer_.first(kept_)};
}

RayHit detail::find_first_hit(const Bvh& bvh, const Ray& ray, SimdLevel level) {
  RaySearch search;
  if (!isotact::prepare(bvh, ray, search)) return {};
  RayFound best = kNoHit;
  kernels_for(level).find_first(search, best);
  return to_hit(ray, best);
}

bool detail::is_occluded(const Bvh& bvh, const Ray& ray, SimdLevel level) {
  RaySearch search;
  return isotact::prepare(bvh, ray, search) && kernels_for(level).find_any(search);
}

AllHits detail::find_all_hits(const Bvh& bvh, const Ray& ray, std::span<RayHit> buffer,
                              SimdLevel level) {
  HitBuffer hits(buffer);
  RaySearch search;
  if (!isotact::prepare(bvh, ray, search)) return hits.result();
  struct Context {
    const Ray& ray;
    HitBuffer& hits;
  } context{ray, hits};
  const auto visit = [](void* opaque, const RayFound& found) {
    const Context& c = *static_cast<const Context*>(opaque);
    c.hits.add(to_hit(c.ray, found));
  };
  kernels_for(level).find_all(search, visit, &context);
  return hits.result();
}

RayHit find_first_hit(const Bvh& bvh, const Ray& ray) {
  return detail::find_first_hit(bvh, ray, simd_level());
}

bool is_occluded(const Bvh& bvh, const Ray& ray) {
  return detail::is_occluded(bvh, ray, simd_level());
}

AllHits find_all_hits(const Bvh& bvh, const Ray& ray, std::span<RayHit> buffer) {
  return detail::find_all_hits(bvh, ray, buffer, simd_level());
}

}  // namespace isotact

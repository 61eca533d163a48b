#include "isotact/field/extract/trace_ray.h"

#include <gtest/gtest.h>

#include "isotact/base/random.h"
#include "isotact/field/build/build_field.h"
#include "isotact/field/extract/isosurface.h"
#include "isotact/geometry/bvh/bvh.h"
#include "isotact/geometry/primitives/primitives.h"

namespace isotact {
namespace {

Vec3 random_point(Random& random, double reach) {
  return {random.uniform(-reach, reach), random.uniform(-reach, reach),
          random.uniform(-reach, reach)};
}

// The oracle: so many small steps that nothing thicker than a fiftieth of a cell is passed.
double first_crossing(const BrickField& field, const FieldRay& ray, double level) {
  const double step = 0.02 * field.voxel_size();
  const bool starts_inside = field.value(ray.origin) < level;
  for (double t = 0; t < ray.t_max; t += step)
    if ((field.value(ray.origin + ray.direction * t) < level) != starts_inside) return t;
  return ray.t_max;
}

TEST(TraceRay, FindsWhatSmallStepsFind) {
  const BrickField field = build_field(make_shape("gear", {}), {.resolution = 48}).field;
  const double h = field.voxel_size();
  const double size = length(extent(field.bounds()));
  Random random(11);
  int hits = 0, rays = 0, inside = 0;
  for (const double level : {0.0, -1.5 * h, 3 * h}) {
    const TraceSettings settings{
        .level = level, .shortest_step = 0.05 * h, .box = compute_surface_box(field, level)};
    for (int i = 0; i < 200; ++i, ++rays) {
      const Vec3 from = center(field.bounds()) + random_point(random, 0.5 * size);
      const Vec3 to = center(field.bounds()) + random_point(random, 0.25 * size);
      const FieldRay ray{.origin = from, .direction = normalized(to - from), .t_max = size};
      const TraceHit hit = trace_ray(field, ray, settings);
      ASSERT_NE(hit.status, TraceStatus::kGaveUp);
      const double oracle = first_crossing(field, ray, level);
      if (hit.status == TraceStatus::kHit) {
        ++hits;
        if (!hit.entering) ++inside;
        EXPECT_NEAR(field.value(from + ray.direction * hit.t), level, 1e-6 * h);
        EXPECT_LE(hit.t, oracle + 0.06 * h);
        EXPECT_GE(hit.t, oracle - 0.06 * h);
      } else {
        EXPECT_EQ(oracle, ray.t_max);
      }
      if (field.value(from) > level) {
        EXPECT_EQ(is_blocked(field, ray, settings), hit.status == TraceStatus::kHit);
      }
    }
  }
  EXPECT_GT(hits, rays / 4);
  EXPECT_LT(hits, rays * 9 / 10);
  EXPECT_GT(inside, 10);
}

TEST(TraceRay, AgreesWithTheIsosurfaceOutsideOfTheBoxToo) {
  const BrickField field = build_field(make_sphere({}), {.resolution = 32}).field;
  const double level = 1.5, h = field.voxel_size();
  const TriangleMesh mesh = extract_surface(field, {.level = level});
  const Bvh bvh(mesh);
  const TraceSettings settings{
      .level = level, .shortest_step = 0.05 * h, .box = compute_surface_box(field, level)};
  Random random(5);
  int hits = 0;
  for (int i = 0; i < 500; ++i) {
    const Vec3 from = normalized(random_point(random, 1)) * 5.0;
    const Vec3 direction = normalized(random_point(random, 2.0) - from);
    const TraceHit hit = trace_ray(field, {.origin = from, .direction = direction}, settings);
    const RayHit other = find_first_hit(bvh, {to_float(from), to_float(direction), 0, 1e9F});
    if (hit.status != TraceStatus::kHit || other.triangle == kNoTriangle) continue;
    ++hits;
    // Glancing rays part ways.
    const Vec3 n = field.sample(from + direction * hit.t).gradient;
    const double slant = -dot(direction, normalized(n));
    if (slant > 0.3) {
      EXPECT_NEAR(hit.t, static_cast<double>(other.t), 0.5 * h);
    }
  }
  EXPECT_GT(hits, 200);
}

TEST(TraceRay, MissesTheBoxAndHonoursTheEnds) {
  const BrickField field = build_field(make_sphere({}), {.resolution = 24}).field;
  const TraceSettings settings{.shortest_step = 0.001, .box = compute_surface_box(field, 0)};
  EXPECT_EQ(trace_ray(field, {.origin = {0, 9, 0}, .direction = {1, 0, 0}}, settings).steps, 0);
  EXPECT_EQ(trace_ray(field, {.origin = {0, 9, 0}, .direction = {0, 1, 0}}, settings).status,
            TraceStatus::kMiss);
  const FieldRay down{.origin = {0, 9, 0}, .direction = {0, -1, 0}};
  const TraceHit hit = trace_ray(field, down, settings);
  ASSERT_EQ(hit.status, TraceStatus::kHit);
  // Given up is not free.
  TraceSettings few = settings;
  few.max_steps = 2;
  const FieldRay beside{.origin = {0.9, 9, 0.9}, .direction = {0, -1, 0}};
  EXPECT_FALSE(is_blocked(field, beside, settings));
  EXPECT_EQ(trace_ray(field, beside, few).status, TraceStatus::kGaveUp);
  EXPECT_TRUE(is_blocked(field, beside, few));
  FieldRay shorter = down, later = down;
  shorter.t_max = hit.t - 0.01;
  EXPECT_EQ(trace_ray(field, shorter, settings).status, TraceStatus::kMiss);
  later.t_min = 9;  // the centre
  EXPECT_FALSE(trace_ray(field, later, settings).entering);
}

}  // namespace
}  // namespace isotact

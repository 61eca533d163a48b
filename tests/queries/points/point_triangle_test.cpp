// A point that moves through a single triangle, against the shell field of that triangle: at
// covering_margin no passage may be lost, however thin the triangle and however it is met.
#include <algorithm>
#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "isotact/base/random.h"
#include "isotact/field/build/build_field.h"
#include "isotact/geometry/mesh/triangle.h"
#include "isotact/queries/segments/segment.h"

namespace isotact {
namespace {

struct Corners {
  Vec3 a, b, c;
};

// Of any shape, from small to large and not near the origin alone; every third is a sliver.
Corners random_triangle(Random& random, int number) {
  const double size = std::ldexp(1.0, static_cast<int>(random.below(13)) - 6);
  Corners t{random.in_unit_ball(), random.in_unit_ball(), random.in_unit_ball()};
  if (number % 3 == 0) {
    const double thin = std::array{1e-2, 1e-4, 1e-7}[random.below(3)];
    t.c = lerp(t.a, t.b, random.uniform()) + random.in_unit_ball() * thin;
  }
  const Vec3 place = random.in_unit_ball() * (2 * size);
  const auto at = [&](const Vec3& p) { return to_double(to_float(place + p * size)); };
  return {at(t.a), at(t.b), at(t.c)};
}

// In the face, on an edge, at a corner.
Vec3 random_point_on(const Corners& t, Random& random) {
  double u = random.uniform(), v = random.uniform();
  if (u + v > 1) u = 1 - u, v = 1 - v;
  switch (random.below(4)) {
    case 0:
      v = 0;
      break;
    case 1:
      u = v = 0;
      break;
    default:
      break;
  }
  return t.a + (t.b - t.a) * u + (t.c - t.a) * v;
}

// Across, in the plane of the triangle, next to nothing long, or from far away.
Vec3 random_direction(const Corners& t, double size, Random& random) {
  switch (random.below(4)) {
    case 0:
      return (t.b - t.a) * random.uniform(-2, 2) + (t.c - t.a) * random.uniform(-2, 2);
    case 1:
      return random.unit_vector() * (size * 1e-9);
    case 2:
      return random.unit_vector() * (size * 30);
    default:
      return random.unit_vector() * size;
  }
}

double distance_at(const Corners& t, const Vec3& p) {
  return std::sqrt(
      find_closest_point_on_triangle(to_float(p), to_float(t.a), to_float(t.b), to_float(t.c))
          .distance_sq);
}

TEST(PointAgainstTriangle, NoPassageIsLost) {
  Random random(808);
  int passages = 0, misses = 0, lost_without = 0;
  for (int number = 0; number < 40; ++number) {
    const Corners t = random_triangle(random, number);
    const TriangleMesh mesh{{to_float(t.a), to_float(t.b), to_float(t.c)}, {{0, 1, 2}}};
    const BrickField field = build_field(mesh, {.resolution = number % 2 == 0 ? 24 : 72,
                                                .sign = SignMethod::kUnsigned,
                                                .keep_thin = KeepThin::kIgnore,
                                                .threads = {1}})
                                 .field;
    const double shell = static_cast<double>(field.header().shell_offset);
    const SegmentTracer plain(field, {.margin = -shell, .threads = {1}});
    const double size = std::max({length(t.b - t.a), length(t.c - t.a), length(t.c - t.b)});
    for (int i = 0; i < 80; ++i) {
      const Vec3 through = random_point_on(t, random), by = random_direction(t, size, random);
      const double when = random.below(5) == 0 ? 0 : random.uniform();
      const Vec3 beside = i % 4 == 3 ? random.unit_vector() * (size * random.uniform()) : Vec3{};
      const Segment s{to_float(through - by * when + beside),
                      to_float(through + by * (1 - when) + beside)};
      // Ends are rounded to floats, which moves the point that they were laid through.
      const double slack = 0x1p-22 * (length(to_double(s.from)) + length(to_double(s.to)));
      const SegmentTracer tracer(field, {.margin = covering_margin(field, slack), .threads = {1}});
      SegmentInterval found[8];
      const std::size_t n = tracer.trace(s, found);
      if (beside == Vec3{}) {
        ++passages;
        lost_without += plain.trace(s, found) == 0 ? 1 : 0;
        ASSERT_GT(n, 0U) << "triangle " << number << ", segment " << i;
        continue;
      }
      // A "yes" is no further off than the field's error allows.
      misses += n == 0 ? 1 : 0;
      const double reach =
          2 * static_cast<double>(field.header().near_error) + 4 * slack + 1e-5 * size;
      for (std::size_t k = 0; k < n; ++k) {
        const Vec3 from = to_double(s.from), to = to_double(s.to);
        EXPECT_LE(distance_at(t, lerp(from, to, static_cast<double>(found[k].enter))), reach);
        EXPECT_LE(distance_at(t, lerp(from, to, static_cast<double>(found[k].exit))), reach);
      }
    }
  }
  EXPECT_EQ(passages, 40 * 60);
  EXPECT_GT(lost_without, passages / 2);  // the field alone is not enough
  EXPECT_GT(misses, 40 * 20 / 4);
}

}  // namespace
}  // namespace isotact

#include "isotact/field/texels/field_texels.h"

#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/field/models/analytic.h"

namespace isotact {
namespace {

Lattice lattice_around(const Vec3& middle, double half, std::int32_t cells) {
  return {.origin = middle - Vec3{half, half, half},
          .spacing = 2 * half / cells,
          .cells = {cells, cells, cells}};
}

template <Field F>
FirstOrderField make_first_order(const F& field, const Lattice& lattice) {
  return sample_first_order(field, lattice, {.storage = FirstOrderStorage::kFloat32});
}

Aabb box_around(const Vec3& middle, double half) {
  return {middle - Vec3{half, half, half}, middle + Vec3{half, half, half}};
}

double angle_cosine(const Vec3f& a, const Vec3& b) {
  return dot(to_double(a), b) / (length(to_double(a)) * length(b));
}

struct Deviation {
  double value = 0, cosine = 1;
};

// The largest differences from the field itself, near its surface.
template <Field F>
Deviation compare_texels(const FieldTexels& texels, const F& field, const Aabb& where,
                         double band) {
  Random random(7);
  Deviation worst;
  int near = 0;
  for (int i = 0; i < 4000; ++i) {
    const Vec3f p = to_float(random.in_box(where.lower, where.upper));
    const FieldSample truth = field.sample(to_double(p));
    if (std::abs(truth.distance) > band) continue;
    ++near;
    const TexelSample found = sample(texels, p);
    worst.value =
        std::max(worst.value, std::abs(static_cast<double>(found.distance) - truth.distance));
    worst.cosine = std::min(worst.cosine, angle_cosine(found.direction, truth.gradient));
    EXPECT_NEAR(length(found.direction), 1.0F, 1e-6F);
  }
  EXPECT_GT(near, 300);
  return worst;
}

TEST(FieldTexels, FirstOrderIsCloseToTheShape) {
  const TorusField torus{};
  const Aabb box = box_around({}, 0.6);
  const FirstOrderField field = make_first_order(torus, lattice_around({}, 0.6, 48));
  const FieldTexels texels = make_first_order_texels(field, box);
  const double cell = texels.lattice.spacing;
  const Deviation first = compare_texels(texels, torus, box, 2 * cell);
  EXPECT_LT(first.value, 0.02 * cell);
  EXPECT_GT(first.cosine, 0.999);
  EXPECT_LT(texels.rounding, 0.03 * cell);
  EXPECT_GE(texels.near_error, first.value);

  const FieldTexels plain = make_zeroth_order_texels(field, box);
  const Deviation zeroth = compare_texels(plain, torus, box, 2 * cell);
  EXPECT_LT(zeroth.value, 0.2 * cell);
  EXPECT_GT(zeroth.value, 3 * first.value);  // why first order is worth its bytes
  EXPECT_GT(zeroth.cosine, 0.98);
}

// In float, of numbers as large as the box in cells.
TEST(FieldTexels, AgreesWithTheFieldItIsMadeOf) {
  const BoxField shape{.center = {10, -3, 2}, .half_size = {0.4, 0.3, 0.2}};
  Lattice lattice{.origin = {9.4, -3.5, 1.6}, .spacing = 0.03, .cells = {40, 33, 27}};
  const FirstOrderField field = make_first_order(shape, lattice);
  const FieldTexels texels = make_first_order_texels(field, box_around({10, -3, 2}, 0.5));
  const double step = static_cast<double>(texels.b_scale) / 32767 * lattice.spacing;
  Random random(3);
  int outside = 0;
  for (int i = 0; i < 4000; ++i) {
    const Vec3f p = to_float(random.in_box({9, -4, 1}, {11, -2, 3}));
    outside += contains(bounds(lattice), to_double(p)) ? 0 : 1;
    EXPECT_NEAR(static_cast<double>(sample(texels, p).distance), field.value(to_double(p)),
                step + 2e-6 * 10);
  }
  EXPECT_GT(outside, 1000);
  EXPECT_LT(outside, 3900);
}

TEST(FieldTexels, ChangesNoFasterThanItSays) {
  const BoxField shape{.half_size = {0.4, 0.3, 0.2}};
  const FirstOrderField field = make_first_order(shape, lattice_around({}, 0.6, 24));
  for (const FieldTexels& texels : {make_first_order_texels(field, box_around({}, 0.4)),
                                    make_zeroth_order_texels(field, box_around({}, 0.4))}) {
    Random random(11);
    double steepest = 0;
    for (int i = 0; i < 20000; ++i) {
      const Vec3 p = random.in_box({-1, -1, -1}, {1, 1, 1});
      const Vec3f a = to_float(p), b = to_float(p + random.unit_vector() * 0.01);
      const double rise = std::abs(static_cast<double>(sample(texels, a).distance) -
                                   static_cast<double>(sample(texels, b).distance));
      steepest = std::max(steepest, rise / length(to_double(a) - to_double(b)));
      EXPECT_LE(
          std::abs(static_cast<double>(sample(texels, a).distance) - shape.value(to_double(a))),
          // outside of the box values are lower bounds
          contains(bounds(texels.lattice), to_double(a)) ? texels.far_error : 1.0);
    }
    EXPECT_LE(steepest, texels.lipschitz * 1.001);
    EXPECT_GT(steepest, 1.05);
  }
}

TEST(FieldTexels, ABodyThatLeavesTheBoxHasNoErrorBound) {
  const FirstOrderField field =
      sample_first_order(PlaneField{}, lattice_around({}, 0.5, 8),
                         {.storage = FirstOrderStorage::kFloat32, .holds_body = false});
  const FieldTexels texels = make_first_order_texels(field, box_around({}, 0.5));
  EXPECT_TRUE(std::isinf(texels.far_error));
  EXPECT_NEAR(sample(texels, {0.1F, 0.2F, 0.3F}).distance, 0.2F, 1e-5F);
}

TEST(FieldTexels, ThreadsDoNotMatter) {
  const FirstOrderField field = make_first_order(TorusField{}, lattice_around({}, 0.6, 20));
  const FieldTexels one = make_first_order_texels(field, box_around({}, 0.5), Threads{1});
  const FieldTexels many = make_first_order_texels(field, box_around({}, 0.5), Threads{7});
  EXPECT_EQ(one.first, many.first);
  EXPECT_EQ(one.b_scale, many.b_scale);
  EXPECT_EQ(one.rounding, many.rounding);
}

TEST(FieldTexels, RefusesWhatDoesNotFit) {
  const FirstOrderField field = make_first_order(SphereField{}, lattice_around({}, 0.6, 8));
  EXPECT_THROW(make_first_order_texels(field, Aabb{}), Error);
  EXPECT_THROW(make_first_order_texels(field, all_of_space()), Error);
  EXPECT_THROW(make_first_order_texels(FirstOrderField{}, box_around({}, 1)), Error);
}

}  // namespace
}  // namespace isotact

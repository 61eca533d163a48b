#include "isotact/field/models/analytic_solid.h"

#include <gtest/gtest.h>

#include "isotact/base/error.h"

#include "field/field_checks.h"

namespace isotact {
namespace {

constexpr double kNoEnd = std::numeric_limits<double>::infinity();
const Pose kPose{.rotation = normalized(Quat{0.8, 0.1, -0.5, 0.3}),
                 .translation = {0.2, -0.3, 0.1}};

static_assert(Field<AnalyticSolid>);

std::vector<AnalyticSolid> all_solids() {
  const AnalyticSolid plate = Difference{BoxField{.half_size = {0.9, 0.2, 0.7}}, ConeField{}};
  return {
      PlaneField{.normal = {0.6, 0, -0.8}, .offset = 0.3},
      SphereField{},
      BoxField{.half_size = {0.3, 0.5, 0.2}},
      CapsuleField{},
      CylinderField{},
      ConeField{},
      TorusField{},
      TerrainField({.origin_x = -1,
                    .origin_z = -1,
                    .spacing = 1,
                    .cells_x = 2,
                    .cells_z = 2,
                    .heights = {0, 0.2F, 0.1F, -0.3F, 0.4F, 0, 0.1F, 0.2F, 0}}),
      plate,
      Union{plate, place(plate, kPose, 0.6)},
      Offset{Intersection{BoxField{}, place(BoxField{}, kPose)}, 0.15},
      Intersection{PlaneField{}, SphereField{.radius = 0.8}},
      place(Offset{Difference{TorusField{}, PlaneField{}}, -0.02}, kPose, 1.4),
  };
}

TEST(AnalyticSolid, KeepsTheContractOfFields) {
  for (const AnalyticSolid& solid : all_solids()) check_field(solid, {.range_is_exact = false});
}

// Also what offsets make of combinations: the level sets of the formula.
TEST(AnalyticSolid, BodyHoldsAllThatIsInside) {
  Random random(41);
  int inside = 0, outside_of_box = 0;
  for (const AnalyticSolid& solid : all_solids())
    for (int i = 0; i < 2000; ++i) {
      const Vec3 p = random.in_box({-2, -2, -2}, {2, 2, 2});
      if (!contains(solid.body(), p)) ++outside_of_box;
      if (solid.value(p) > 0) continue;
      ++inside;
      ASSERT_TRUE(contains(solid.body(), p));
    }
  EXPECT_GT(inside, 2000);
  EXPECT_GT(outside_of_box, 10000);
}

TEST(AnalyticSolid, KnowsBoxesByHand) {
  EXPECT_EQ(AnalyticSolid(SphereField{{1, 2, 3}, 0.5}).body(),
            (Aabb{{.5, 1.5, 2.5}, {1.5, 2.5, 3.5}}));
  EXPECT_EQ(AnalyticSolid(PlaneField{}).body(),
            (Aabb{{-kNoEnd, -kNoEnd, -kNoEnd}, {kNoEnd, 0, kNoEnd}}));
  const AnalyticSolid half = Intersection{PlaneField{}, SphereField{}};
  EXPECT_EQ(half.body(), (Aabb{{-0.5, -0.5, -0.5}, {0.5, 0, 0.5}}));
  const AnalyticSolid wall =
      place(PlaneField{}, {.rotation = {0, 0, 0, 1}, .translation = {0, 3, 0}});
  EXPECT_NEAR(wall.body().lower.y, 3, 1e-12);  // turned by half a turn about z
  EXPECT_EQ(wall.body().upper.y, kNoEnd);
}

TEST(AnalyticSolid, KnowsWhatHasAnEnd) {
  EXPECT_FALSE(AnalyticSolid(PlaneField{}).is_bounded());
  EXPECT_TRUE(AnalyticSolid(ConeField{}).is_bounded());
  EXPECT_FALSE(AnalyticSolid(Union{PlaneField{}, BoxField{}}).is_bounded());
  EXPECT_TRUE(AnalyticSolid(Difference{BoxField{}, PlaneField{}}).is_bounded());
  const AnalyticSolid nothing =
      Intersection{SphereField{}, SphereField{.center = {3, 0, 0}, .radius = 1}};
  EXPECT_TRUE(is_empty(nothing.body()));
  EXPECT_FALSE(nothing.is_bounded());
}

TEST(AnalyticSolid, KeepsTheFormula) {
  EXPECT_TRUE(std::holds_alternative<ConeField>(AnalyticSolid(ConeField{}).primitive()));
  const AnalyticSolid both = Union{BoxField{}, SphereField{}};
  EXPECT_TRUE(std::holds_alternative<std::monostate>(both.primitive()));
  EXPECT_EQ(AnalyticSolid(BoxField{.half_size = {3, 0.25, 1}}).detail(), 0.25);
  EXPECT_EQ(both.detail(), 0.5);
}

TEST(AnalyticSolid, TakesFieldsOfTheCaller) {
  const Aabb box{{-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5}};
  const AnalyticSolid own(AnyField{SphereField{}}, box, 0.5);
  EXPECT_EQ(own.body(), box);
  EXPECT_TRUE(own.is_bounded());
  EXPECT_FALSE(AnalyticSolid(Offset{own, 0.1}).is_bounded());  // nothing is known of its levels
  EXPECT_TRUE(AnalyticSolid(Offset{own, -0.1}).is_bounded());
  EXPECT_THROW(AnalyticSolid(AnyField{SphereField{}}, box, 0), Error);
}

TEST(AnalyticSolid, RefusesBadNumbers) {
  EXPECT_THROW(AnalyticSolid(SphereField{.radius = -1}), Error);
  EXPECT_THROW(AnalyticSolid(PlaneField{.normal = {1, 1, 0}}), Error);
  EXPECT_THROW(AnalyticSolid(Union{BoxField{}, ConeField{.height = 0}}), Error);
  EXPECT_THROW(AnalyticSolid(Offset{BoxField{}, kNoEnd}), Error);
  EXPECT_THROW(AnalyticSolid(Placed{BoxField{}, Pose{}, -1}), Error);
  try {
    const AnalyticSolid solid = SphereField{.radius = -1};
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "sphere: radius is -1, must be positive");
  }
}

}  // namespace
}  // namespace isotact

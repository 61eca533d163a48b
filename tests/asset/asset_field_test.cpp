#include "isotact/asset/asset_field.h"

#include <string>

#include <gtest/gtest.h>

#include "isotact/asset/build_asset.h"
#include "isotact/base/error.h"
#include "isotact/geometry/mesh/mass_properties.h"
#include "isotact/geometry/primitives/primitives.h"

namespace isotact {
namespace {

Asset ball(StoredField stored, bool first_order = false) {
  return build_asset(make_sphere({.radius = 0.1}), {.field = {.resolution = 32},
                                                    .stored_field = stored,
                                                    .first_order = first_order,
                                                    .points = {.method = PointMethod::kNone}})
      .asset;
}

std::string message_of(const AssetField& field, const FieldSurfaceSettings& settings) {
  try {
    extract_field_surface(field, settings, "ball.isotact");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(AssetField, TakesTheBestFieldThatThereIs) {
  EXPECT_EQ(field_of(ball(StoredField::kBrick, true)).kind, "brick");
  EXPECT_EQ(field_of(ball(StoredField::kDense, true)).kind, "dense");
  EXPECT_EQ(field_of(ball(StoredField::kNone, true)).kind, "first-order");
  const Asset none = ball(StoredField::kNone);
  EXPECT_FALSE(has_field(none));
  EXPECT_THROW(field_of(none), Error);
}

TEST(AssetField, AllKindsHaveTheSameSurface) {
  for (const Asset& asset :
       {ball(StoredField::kBrick), ball(StoredField::kDense), ball(StoredField::kNone, true)}) {
    const AssetField field = field_of(asset);
    EXPECT_EQ(resolution_of(field.lattice), 32);
    const FieldSurfaceResult surface = extract_field_surface(field, {});
    EXPECT_EQ(surface.stride, 1);
    EXPECT_TRUE(surface.warnings.empty());
    EXPECT_NEAR(compute_mass_properties(surface.mesh).volume, 4.19e-3, 1e-4) << field.kind;
  }
}

TEST(AssetField, SaysWhyThereIsNoSurface) {
  const Asset asset = ball(StoredField::kBrick);
  const AssetField field = field_of(asset);
  EXPECT_NE(message_of(field, {.level = -1}).find("ball.isotact: its field has no surface at -1 m"),
            std::string::npos);
  EXPECT_NE(message_of(field, {.stride = 1000}).find("choose a smaller stride"), std::string::npos);
  EXPECT_NE(message_of(field, {.level = 1e11}).find("choose a smaller level"), std::string::npos);
  EXPECT_NE(message_of(field, {.level = 500, .stride = 1}).find("choose a stride of"),
            std::string::npos);
}

TEST(AssetField, FarSurfacesAreMadeCoarsely) {
  const Asset asset = ball(StoredField::kBrick);
  const FieldSurfaceResult far =
      extract_field_surface(field_of(asset), {.level = 1, .most_triangles = 5000});
  EXPECT_GT(far.stride, 1);
  EXPECT_EQ(far.notes.size(), 1U);
  ASSERT_EQ(far.warnings.size(), 1U);
  EXPECT_NE(far.warnings[0].find("padding"), std::string::npos);
}

}  // namespace
}  // namespace isotact

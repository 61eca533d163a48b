#include "isotact/asset/load_shape.h"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "isotact/asset/build_asset.h"
#include "isotact/base/error.h"
#include "isotact/base/file.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/pointshell/asset_section.h"
#include "isotact/queries/collide.h"
#include "isotact/queries/distance.h"

#include "asset/asset_checks.h"
#include "support/scratch_folder.h"

namespace isotact {
namespace {

class LoadShape : public testing::Test {
 protected:
  std::filesystem::path file(const std::string& name) const { return folder_.path() / name; }
  std::filesystem::path save(const std::string& name, const AssetSettings& settings) const {
    save_asset(file(name), build_asset(small_torus(), settings).asset);
    return file(name);
  }
  // Every message names the file.
  void expect_error(const std::string& name, const std::string& part_of_message,
                    const LoadSettings& settings = {}) const {
    try {
      load_shape(file(name), settings);
      ADD_FAILURE() << "no error: " << part_of_message;
    } catch (const Error& error) {
      const std::string what = error.what();
      EXPECT_NE(what.find(name), std::string::npos) << what;
      EXPECT_NE(what.find(part_of_message), std::string::npos) << what;
      EXPECT_EQ(what.find("--"), std::string::npos) << what;
    }
  }

  ScratchFolder folder_;
  LoadReport report_;
};

void expect_same(const Shape& a, const Shape& b) {
  expect_same_bytes(a.field()->buffer(), b.field()->buffer());
  expect_same_bytes(a.tree()->buffer(), b.tree()->buffer());
}

TEST_F(LoadShape, TakesMeshesAndAssetsByContent) {
  write_mesh(file("torus.obj"), small_torus());
  save("torus.isotact", {.field = {.resolution = 40, .keep_thin = KeepThin::kOffset}});
  std::filesystem::rename(file("torus.isotact"), file("asset.obj"));
  const Shape mesh = load_shape(file("torus.obj"), {.resolution = 40, .report = &report_});
  EXPECT_EQ(report_.mesh.triangles.size(), small_torus().triangles.size());
  EXPECT_FALSE(report_.mass);
  const Shape asset = load_shape(file("asset.obj"), {.report = &report_});
  EXPECT_TRUE(report_.mesh.triangles.empty());
  EXPECT_TRUE(report_.mass);
  expect_same(mesh, asset);
  EXPECT_EQ(collide(mesh, {}, asset, {.translation = {0.1, 0.05, 0}}).status,
            CollideStatus::kContact);
}

TEST_F(LoadShape, NamesTheFileInErrors) {
  expect_error("missing.obj", "");
  write_file(file("rubbish.bin"), std::string("\x01\x02 rubbish"));
  expect_error("rubbish.bin", "");
  write_file(file("empty.obj"), "v 0 0 0\n");
  expect_error("empty.obj", "no triangles");
  write_file(file("point.obj"), "v 0 0 0\nv 0 0 0\nv 0 0 0\nf 1 2 3\n");
  expect_error("point.obj", "");
  save("torus.isotact", {.field = {.resolution = 32}});
  std::filesystem::resize_file(file("torus.isotact"), 1000);
  expect_error("torus.isotact", "cut or damaged");
  write_mesh(file("torus.obj"), small_torus());
  expect_error("torus.obj", "limit", {.resolution = 512, .max_memory = 1000});
  Asset hollow;
  save_asset(file("hollow.isotact"), hollow);
  expect_error("hollow.isotact", "build it again, with a field");
}

TEST_F(LoadShape, UnitsScaleMeshes) {
  write_mesh(file("torus.obj"), small_torus(1000));
  const Shape scaled = load_shape(file("torus.obj"), {.unit = "mm", .resolution = 32});
  write_mesh(file("metres.obj"), small_torus());
  const Shape metres = load_shape(file("metres.obj"), {.resolution = 32});
  EXPECT_NEAR(scaled.field()->voxel_size(), metres.field()->voxel_size(), 1e-6);
  load_shape(file("torus.obj"), {.resolution = 32, .report = &report_});
  ASSERT_EQ(report_.warnings.size(), 1U);
  EXPECT_NE(report_.warnings[0].find("millimetres"), std::string::npos);
  load_shape(file("torus.obj"), {.unit = "m", .resolution = 32, .report = &report_});
  EXPECT_TRUE(report_.warnings.empty());
  EXPECT_THROW(load_shape(file("torus.obj"), {.unit = "furlong"}), Error);
}

TEST_F(LoadShape, GivesPointsToWhatHasNone) {
  for (const StoredField stored : {StoredField::kBrick, StoredField::kDense}) {
    save("bare.isotact", {.field = {.resolution = 40},
                          .stored_field = stored,
                          .points = {.method = PointMethod::kNone}});
    const Shape shape = load_shape(file("bare.isotact"));
    ASSERT_TRUE(shape.can_have_field() && !shape.tree()) << name(stored);
    EXPECT_GT(shape.points().point_count(), 200U);
    EXPECT_EQ(collide(shape, {}, shape, {.translation = {0.1, 0.05, 0}}).status,
              CollideStatus::kContact);
    EXPECT_EQ(load_shape(file("bare.isotact"), {.points = 200}).points().point_count(), 200U);
  }
  write_mesh(file("torus.obj"), small_torus());
  EXPECT_FALSE(load_shape(file("torus.obj"), {.resolution = 32, .points = 0}).tree());
  EXPECT_EQ(load_shape(file("torus.obj"), {.resolution = 32, .points = 90}).tree()->point_count(),
            90U);
}

TEST_F(LoadShape, KeepsPointsThatAreThere) {
  save("torus.isotact", {.field = {.resolution = 32}, .points = {.count = 123}});
  const Shape shape = load_shape(file("torus.isotact"), {.points = 999, .report = &report_});
  EXPECT_EQ(shape.tree()->point_count(), 123U);
  ASSERT_EQ(report_.warnings.size(), 1U);
  EXPECT_NE(report_.warnings[0].find("points do nothing"), std::string::npos);
  // And the triangles, so that distances are exact.
  EXPECT_EQ(shape.surface().triangles.size(), small_torus().triangles.size());
  EXPECT_TRUE(distance(shape, {}, shape, {.translation = {0.5, 0, 0}}).exact);
}

TEST_F(LoadShape, TakesVoxelmapsAndPointsAlone) {
  for (const VoxmapEncoding encoding :
       {VoxmapEncoding::kLayers, VoxmapEncoding::kScaled, VoxmapEncoding::kSupport}) {
    save("map.isotact", {.field = {.resolution = 32},
                         .stored_field = StoredField::kNone,
                         .voxmap = VoxmapSettings{.encoding = encoding}});
    const Shape shape = load_shape(file("map.isotact"));
    EXPECT_TRUE(shape.voxmap() && shape.tree() && !shape.field());
    EXPECT_FALSE(extract_display_mesh(shape, 64).triangles.empty());
  }
  save("points.isotact", {.field = {.resolution = 32}, .stored_field = StoredField::kNone});
  const Shape points = load_shape(file("points.isotact"));
  EXPECT_TRUE(points.tree() && !points.field());
  EXPECT_TRUE(extract_display_mesh(points, 64).triangles.empty());
}

TEST_F(LoadShape, TakesAMeshAlone) {
  Asset asset = build_asset(small_torus(), {.field = {.resolution = 32}}).asset;
  Asset alone;
  alone.mesh = asset.mesh;
  save_asset(file("mesh.isotact"), alone);
  const Shape torus = load_shape(file("mesh.isotact"), {.resolution = 32, .report = &report_});
  EXPECT_TRUE(report_.warnings.empty());
  EXPECT_EQ(collide(torus, {}, torus, {}).status, CollideStatus::kContact);
  EXPECT_TRUE(distance(torus, {}, torus, {.translation = {0, 1, 0}}).exact);
  // The field that it lacks is built as it is asked for.
  const Shape built = Shape::from_mesh(
      small_torus(), {.field = {.resolution = 32, .keep_thin = KeepThin::kOffset}});
  EXPECT_EQ(torus.brick_field().voxel_size(), built.brick_field().voxel_size());
  EXPECT_EQ(
      load_shape(file("mesh.isotact"), {.resolution = 32, .points = 77}).points().point_count(),
      77U);
  EXPECT_THROW(load_shape(file("mesh.isotact"), {.max_memory = 1000}).brick_field(), Error);
}

// Both ways from an asset to a shape are one.
TEST_F(LoadShape, IsFromAsset) {
  const TriangleMesh plate = make_box({0.1, 0.0005, 0.1});
  const Asset asset = build_asset(plate, {.field = {.resolution = 32}}).asset;
  save_asset(file("plate.isotact"), asset);
  const Shape loaded = load_shape(file("plate.isotact")), made = Shape::from_asset(asset);
  EXPECT_FALSE(made.warnings().empty());
  EXPECT_EQ(loaded.warnings(), made.warnings());
  ASSERT_TRUE(loaded.parts().mass && made.parts().mass);
  EXPECT_EQ(loaded.mass().volume, made.mass().volume);
  EXPECT_TRUE(loaded.parts().flat_mesh && made.parts().flat_mesh);
  expect_same(loaded, made);
  try {
    Shape::from_asset(Asset{});
    ADD_FAILURE() << "nothing is a shape";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find("the asset: has neither a field, a mesh, "), 0U)
        << error.what();
  }
}

TEST_F(LoadShape, SettingsThatDoNothingAreWarnings) {
  save("torus.isotact", {.field = {.resolution = 32}});
  load_shape(file("torus.isotact"), {.unit = "mm",
                                     .resolution = 64,
                                     .voxel_size = 0.1,
                                     .sign = SignMethod::kWinding,
                                     .keep_thin = KeepThin::kReport,
                                     .spacing = 0.1,
                                     .report = &report_});
  EXPECT_EQ(report_.warnings.size(), 6U);
  write_mesh(file("torus.obj"), small_torus());
  EXPECT_THROW(load_shape(file("torus.obj"), {.cache = CacheSettings{}, .on_demand = true}), Error);
}

// As a program that only measures distances wants it.
TEST_F(LoadShape, BuildsOnDemand) {
  write_mesh(file("torus.obj"), small_torus());
  const Shape torus = load_shape(file("torus.obj"), {.resolution = 32, .on_demand = true});
  EXPECT_FALSE(torus.field() || torus.tree());
  EXPECT_TRUE(distance(torus, {}, torus, {.translation = {0, 1, 0}}).exact);
  expect_same_bytes(torus.brick_field().buffer(),
                    load_shape(file("torus.obj"), {.resolution = 32}).field()->buffer());
}

TEST_F(LoadShape, CoarseCellsAreAWarning) {
  const AssetResult built =
      build_asset(small_torus(), {.field = {.resolution = 16, .padding = 6.5}});
  ASSERT_FALSE(built.warnings.empty());
  EXPECT_NE(built.warnings.back().find("larger than a quarter of the body"), std::string::npos);
  save_asset(file("coarse.isotact"), built.asset);
  load_shape(file("coarse.isotact"), {.report = &report_});
  EXPECT_EQ(report_.warnings.back(), built.warnings.back());
}

// What is ignored is said, and shapes keep what was said.
TEST_F(LoadShape, ShapesKeepWarnings) {
  save("torus.isotact", {.field = {.resolution = 32}});
  EXPECT_TRUE(load_shape(file("torus.isotact")).warnings().empty());
  const Shape asset = load_shape(file("torus.isotact"), {.unit = "mm", .report = &report_});
  EXPECT_EQ(asset.warnings(), report_.warnings);
  ASSERT_EQ(asset.warnings().size(), 1U);
  EXPECT_NE(asset.warnings()[0].find("unit"), std::string::npos);
  TriangleMesh large = small_torus();
  for (Vec3f& p : large.positions) p = p * 1000.0F;
  write_mesh(file("large.obj"), large);
  const Shape mesh = load_shape(file("large.obj"), {.resolution = 32, .report = &report_});
  EXPECT_EQ(mesh.warnings(), report_.warnings);
  ASSERT_FALSE(mesh.warnings().empty());
  EXPECT_NE(mesh.warnings()[0].find("millimetres"), std::string::npos);
  EXPECT_EQ(collide(mesh, {}, asset, {}).status, CollideStatus::kFree);
}

TEST_F(LoadShape, MakesRoomForTheMargin) {
  write_mesh(file("torus.obj"), small_torus());
  const Shape usual = load_shape(file("torus.obj"), {.resolution = 40});
  const Shape wide =
      load_shape(file("torus.obj"), {.resolution = 40, .margin = 0.1, .report = &report_});
  EXPECT_TRUE(report_.warnings.empty());
  EXPECT_NEAR(wide.field()->voxel_size(), usual.field()->voxel_size(),
              0.1 * usual.field()->voxel_size());
  const Vec3 body = to_double(extent(bounds(small_torus()))), box = extent(wide.field()->bounds());
  for (std::size_t axis = 0; axis < 3; ++axis) EXPECT_GE(box[axis], body[axis] + 2 * 0.1);
  // An asset has the room that it has.
  save("torus.isotact", {.field = {.resolution = 40}});
  load_shape(file("torus.isotact"), {.margin = 0.1, .report = &report_});
  ASSERT_EQ(report_.warnings.size(), 1U);
  EXPECT_NE(report_.warnings[0].find("padding"), std::string::npos);
}

TEST_F(LoadShape, RepeatsTheWarningsOfTheBuild) {
  const TriangleMesh plate = make_box({0.1, 0.0005, 0.1});
  write_mesh(file("plate.obj"), plate);
  const AssetSettings settings{.field = {.resolution = 32}};
  save_asset(file("plate.isotact"), build_asset(plate, settings).asset);
  load_shape(file("plate.obj"),
             {.resolution = 32, .keep_thin = KeepThin::kReport, .report = &report_});
  const std::vector<std::string> of_mesh = report_.warnings;
  EXPECT_FALSE(of_mesh.empty());
  load_shape(file("plate.isotact"), {.report = &report_});
  EXPECT_EQ(report_.warnings, of_mesh);
}

TEST_F(LoadShape, FindsBuildsInTheCache) {
  write_mesh(file("torus.obj"), small_torus());
  const CacheSettings cache{.folder = file("cache")};
  const LoadSettings settings{.resolution = 32, .cache = cache, .report = &report_};
  const Shape first = load_shape(file("torus.obj"), settings);
  EXPECT_FALSE(report_.from_cache);
  const Shape second = load_shape(file("torus.obj"), settings);
  EXPECT_TRUE(report_.from_cache);
  EXPECT_FALSE(report_.mesh.triangles.empty());
  expect_same(first, second);
  expect_same(first, load_shape(file("torus.obj"), {.resolution = 32}));
  // The file has changed: its old build is of no use.
  write_mesh(file("torus.obj"), small_torus(1.1));
  const Shape third = load_shape(file("torus.obj"), settings);
  EXPECT_FALSE(report_.from_cache);
  expect_same(third, load_shape(file("torus.obj"), {.resolution = 32}));
  // Nor is a damaged entry.
  for (const auto& entry : std::filesystem::directory_iterator(file("cache")))
    std::filesystem::resize_file(entry.path(), 100);
  expect_same(third, load_shape(file("torus.obj"), settings));
  EXPECT_FALSE(report_.from_cache);
  EXPECT_FALSE(report_.warnings.empty());
}

TEST_F(LoadShape, TellsAssetsFromOtherFiles) {
  save("torus.isotact", {.field = {.resolution = 32}});
  write_mesh(file("torus.obj"), small_torus());
  write_file(file("short"), "ISO");
  EXPECT_TRUE(is_asset(file("torus.isotact")));
  EXPECT_FALSE(is_asset(file("torus.obj")));
  EXPECT_FALSE(is_asset(file("short")));
  EXPECT_FALSE(is_asset(file("missing")));
  try {
    load_mesh(file("torus.isotact"));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("is an asset"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace isotact

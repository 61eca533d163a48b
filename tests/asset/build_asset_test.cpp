#include "isotact/asset/build_asset.h"

#include <string>

#include <gtest/gtest.h>

#include "isotact/asset/asset_field.h"
#include "isotact/base/error.h"
#include "isotact/base/file.h"
#include "isotact/base/hash.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/pointshell/asset_section.h"
#include "isotact/queries/collide.h"
#include "isotact/queries/shape.h"

#include "asset/asset_checks.h"
#include "support/scratch_folder.h"

namespace isotact {
namespace {

// An open bowl: its sides are sheets without thickness.
TriangleMesh open_box() {
  TriangleMesh mesh = make_box({0.1, 0.1, 0.1});
  mesh.triangles.resize(mesh.triangles.size() - 2);
  return mesh;
}

void expect_error(const AssetSettings& settings, const std::string& part_of_message) {
  try {
    build_asset(small_torus(), settings);
    ADD_FAILURE() << "no error: " << part_of_message;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(part_of_message), std::string::npos) << error.what();
    EXPECT_EQ(std::string(error.what()).find("--"), std::string::npos) << error.what();
  }
}

TEST(BuildAsset, StoresAllThatCollideNeeds) {
  const AssetResult built = build_asset(small_torus(), {.field = {.resolution = 48}});
  ASSERT_TRUE(built.asset.field);
  ASSERT_TRUE(built.asset.mass);
  const auto points = find_point_sphere_tree(built.asset);
  ASSERT_TRUE(points);
  EXPECT_DOUBLE_EQ(points->header().spacing, 2 * built.asset.field->voxel_size());
  EXPECT_EQ(built.report.mass_from, "mesh");
  EXPECT_TRUE(built.report.field.sign.watertight);
  EXPECT_TRUE(built.warnings.empty());
  EXPECT_FALSE(built.from_cache);
  EXPECT_GT(built.seconds, 0);

  const Shape shape = Shape::from_asset(built.asset);
  EXPECT_EQ(collide(shape, {}, shape, {.translation = {0.1, 0.05, 0}}).status,
            CollideStatus::kContact);
  EXPECT_EQ(collide(shape, {}, shape, {.translation = {0.3, 0, 0}}).status, CollideStatus::kFree);
}

TEST(BuildAsset, GoesThroughAFile) {
  const ScratchFolder folder;
  const AssetResult built = build_asset(small_torus(), {.field = {.resolution = 32}});
  save_asset(folder.path() / "torus.isotact", built.asset);
  const Asset read = read_asset(folder.path() / "torus.isotact");
  expect_same_bytes(encode_asset(read), encode_asset(built.asset));
  const auto report = parse_report(read);
  ASSERT_TRUE(report);
  EXPECT_EQ(encode_report(*report), read.source.sign_report);
}

TEST(BuildAsset, IsTheShapeOfTheSameMesh) {
  const FieldSettings field{.resolution = 40, .keep_thin = KeepThin::kOffset};
  const Asset asset = build_asset(small_torus(), {.field = field}).asset;
  const Shape shape = Shape::from_mesh(small_torus(), {.field = field});
  expect_same_bytes(asset.field->buffer(), shape.field()->buffer());
  expect_same_bytes(find_point_sphere_tree(asset)->buffer(), shape.tree()->buffer());
}

TEST(BuildAsset, HasTheSameBytesForAnyNumberOfThreads) {
  AssetSettings settings{.field = {.resolution = 32, .threads = {.count = 1}},
                         .first_order = true,
                         .voxmap = VoxmapSettings{}};
  const auto one = encode_asset(build_asset(small_torus(), settings).asset);
  settings.field.threads = {.count = 3};
  expect_same_bytes(encode_asset(build_asset(small_torus(), settings).asset), one);
}

// As isotact build wrote them before its recipe came here. A change of these is a change of stored
// assets: meant, or a compiler that computes otherwise. Points have tests of their own.
TEST(BuildAsset, KeepsTheBytesOfStoredAssets) {
  const TriangleMesh gear = make_shape("gear", {});
  const auto hash_of = [&](const AssetSettings& settings) {
    return hash_bytes(encode_asset(build_asset(gear, settings).asset));
  };
  const PointSettings none{.method = PointMethod::kNone};
  EXPECT_EQ(hash_of({.field = {.resolution = 48}, .points = none, .mesh = false}),
            5233055142301819894U);
  EXPECT_EQ(hash_of({.field = {.resolution = 32},
                     .stored_field = StoredField::kDense,
                     .first_order = true,
                     .voxmap = VoxmapSettings{.encoding = VoxmapEncoding::kScaled, .precision = 5},
                     .points = none,
                     .mesh = false}),
            11987147701023704853U);
  EXPECT_EQ(hash_bytes(FlatMesh::build(gear).buffer()), 12059909625425879536U);
}

// Exact queries ask the mesh as it was given: without the membranes that close the field.
TEST(BuildAsset, KeepsTheMeshAsItWasGiven) {
  const TriangleMesh open = open_box();
  const AssetResult built = build_asset(open, {.field = {.resolution = 24}});
  EXPECT_EQ(built.report.field.sign.holes, 1U);
  ASSERT_TRUE(built.asset.mesh);
  EXPECT_EQ(built.asset.mesh->triangles().size(), open.triangles.size());
  EXPECT_EQ(Shape::from_asset(built.asset).surface().triangles.size(), open.triangles.size());
  const AssetResult without = build_asset(open, {.field = {.resolution = 24}, .mesh = false});
  EXPECT_FALSE(without.asset.mesh);
  EXPECT_EQ(without.report.mass_from, built.report.mass_from);
}

TEST(BuildAsset, StoresWhatIsAskedFor) {
  const AssetResult bare = build_asset(
      small_torus(),
      {.field = {.resolution = 32}, .points = {.method = PointMethod::kNone}, .mass = false});
  EXPECT_TRUE(bare.asset.field);
  EXPECT_TRUE(bare.asset.mesh);
  EXPECT_FALSE(bare.asset.mass);
  EXPECT_TRUE(bare.asset.raw.empty());

  const AssetResult counted =
      build_asset(small_torus(), {.field = {.resolution = 32},
                                  .stored_field = StoredField::kNone,
                                  .voxmap = VoxmapSettings{.encoding = VoxmapEncoding::kSupport},
                                  .points = {.count = 300, .cluster_size = 4}});
  EXPECT_FALSE(has_field(counted.asset));
  EXPECT_TRUE(counted.asset.voxmap);
  EXPECT_EQ(find_point_sphere_tree(counted.asset)->point_count(), 300U);
  EXPECT_EQ(find_point_sphere_tree(counted.asset)->header().cluster_size, 4U);

  const TriangleMesh mesh = small_torus();
  const AssetResult vertices = build_asset(
      mesh, {.field = {.resolution = 32}, .points = {.method = PointMethod::kVertices}});
  EXPECT_EQ(find_point_sphere_tree(vertices.asset)->point_count(), mesh.positions.size());

  const AssetResult voxels =
      build_asset(mesh, {.field = {.resolution = 32},
                         .points = {.method = PointMethod::kVoxels, .normals_from_field = true}});
  EXPECT_GT(find_point_sphere_tree(voxels.asset)->point_count(), 50U);
}

// They were built without a word, and from_asset or collide refused them.
TEST(BuildAsset, SaysWhatQueriesWillMiss) {
  const auto gaps_of = [](const AssetSettings& settings) {
    const AssetResult built = build_asset(small_torus(), settings);
    EXPECT_EQ(built.warnings, describe_gaps(built.asset));
    return built.warnings.empty() ? "" : built.warnings.at(0);
  };
  const FieldSettings coarse{.resolution = 24};
  const PointSettings none{.method = PointMethod::kNone};
  EXPECT_EQ(gaps_of({.field = coarse}), "");
  EXPECT_EQ(gaps_of({.field = coarse, .points = none}), "");
  EXPECT_EQ(gaps_of({.field = coarse,
                     .stored_field = StoredField::kNone,
                     .voxmap = VoxmapSettings{},
                     .points = none}),
            "");
  AssetSettings points{.field = coarse, .stored_field = StoredField::kNone};
  EXPECT_EQ(gaps_of(points), "");  // its mesh can make everything
  points.mesh = false;
  EXPECT_NE(gaps_of(points).find("needs a field of the other body"), std::string::npos);
  AssetSettings nothing{.field = coarse, .stored_field = StoredField::kNone, .points = none};
  EXPECT_EQ(gaps_of(nothing), "");
  const Shape of_mesh = Shape::from_asset(build_asset(small_torus(), nothing).asset);
  EXPECT_EQ(collide(of_mesh, {}, of_mesh, {}).status, CollideStatus::kContact);
  nothing.mesh = false;
  EXPECT_NE(gaps_of(nothing).find("collide needs one of them"), std::string::npos);
  EXPECT_THROW(Shape::from_asset(build_asset(small_torus(), nothing).asset), Error);
}

TEST(BuildAsset, SaysWhatItDidAboutAMesh) {
  const AssetResult open = build_asset(open_box(), {.field = {.resolution = 32}});
  EXPECT_EQ(open.report.field.sign.holes, 1U);
  EXPECT_EQ(open.report.mass_from, "field");
  EXPECT_NEAR(open.asset.mass->volume, 1e-3, 5e-5);

  const AssetResult sheet =
      build_asset(open_box(), {.field = {.resolution = 32, .sign = SignMethod::kUnsigned}});
  EXPECT_EQ(sheet.report.field.sign.method, SignMethod::kUnsigned);
  ASSERT_FALSE(sheet.warnings.empty());
  EXPECT_NE(sheet.warnings[0].find("points lie on the triangles"), std::string::npos);

  const AssetResult useless =
      build_asset(small_torus(), {.field = {.resolution = 32, .shell_offset = 1}});
  ASSERT_FALSE(useless.warnings.empty());
  EXPECT_NE(useless.warnings.back().find("shell offset has no effect"), std::string::npos);
}

TEST(BuildAsset, RefusesWhatContradictsItself) {
  expect_error({.field = {.keep_thin = KeepThin::kOffset}, .first_order = true}, "keep_thin");
  expect_error({.field = {.sign = SignMethod::kWinding, .shell_offset = 0.1}}, "shell_offset");
  expect_error({.points = {.count = 10, .spacing = 0.1}}, "not both");
  expect_error({.points = {.method = PointMethod::kVertices, .count = 10}}, "vertices");
  expect_error({.stored_field = StoredField::kDense, .points = {.normals_from_field = true}},
               "brick field");
  expect_error({.field = {.resolution = 1024, .max_memory = 1'000'000}, .first_order = true},
               "first order");
  expect_error({.field = {.resolution = 32}, .points = {.spacing = 1e-9}}, "points");
  EXPECT_THROW(build_asset({}, {}), Error);
  EXPECT_THROW(build_asset(open_box(), {.points = {.spacing = -1}}), Error);
}

TEST(BuildAsset, FindsItselfInTheCache) {
  const ScratchFolder folder;
  AssetSettings settings{.field = {.resolution = 32},
                         .cache = CacheSettings{.folder = folder.path()}};
  const AssetResult first = build_asset(open_box(), settings);
  const AssetResult second = build_asset(open_box(), settings);
  EXPECT_FALSE(first.from_cache);
  EXPECT_TRUE(second.from_cache);
  EXPECT_EQ(second.warnings, first.warnings);
  EXPECT_EQ(second.report.field.sign.reason, first.report.field.sign.reason);
  EXPECT_EQ(second.report.field.thin.samples, first.report.field.thin.samples);
  expect_same_bytes(encode_asset(second.asset), encode_asset(first.asset));
  settings.points.count = 100;
  EXPECT_FALSE(build_asset(open_box(), settings).from_cache);
  settings.field.sign = SignMethod::kUnsigned;  // with a warning about its points
  const AssetResult sheet = build_asset(open_box(), settings);
  ASSERT_FALSE(sheet.warnings.empty());
  EXPECT_EQ(build_asset(open_box(), settings).warnings, sheet.warnings);
  EXPECT_FALSE(build_asset(small_torus(), settings).from_cache);
}

TEST(BuildAsset, SettingsThatMatterChangeTheText) {
  const std::string usual = describe(AssetSettings{});
  EXPECT_EQ(describe(AssetSettings{.field = {.max_memory = 1000, .threads = {.count = 3}},
                                   .cache = CacheSettings{}}),
            usual);
  for (const AssetSettings& other :
       {AssetSettings{.field = {.resolution = 64}},
        AssetSettings{.stored_field = StoredField::kDense}, AssetSettings{.first_order = true},
        AssetSettings{.voxmap = VoxmapSettings{}},
        AssetSettings{.voxmap = VoxmapSettings{.encoding = VoxmapEncoding::kSupport}},
        AssetSettings{.points = {.method = PointMethod::kNone}},
        AssetSettings{.points = {.count = 5}}, AssetSettings{.points = {.spacing = 5}},
        AssetSettings{.points = {.normals_from_field = true}},
        AssetSettings{.points = {.sharp_degrees = 31}},
        AssetSettings{.points = {.cluster_size = 9}},
        AssetSettings{.points = {.spheres = SphereKind::kNested}}, AssetSettings{.mass = false}})
    EXPECT_NE(describe(other), usual) << describe(other);
}

}  // namespace
}  // namespace isotact

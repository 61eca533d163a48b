// `isotact edit` as a user drives it.
#include <algorithm>

#include "isotact/field/io/asset.h"
#include "isotact/geometry/io/mesh_io.h"
#include "isotact/geometry/primitives/part_mesh.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/pointshell/asset_section.h"
#include "isotact/queries/segments/segment_index.h"

#include "support/field_verbs.h"

namespace isotact {
namespace {

class EditVerb : public FieldVerbs {};

// A box, then with a bump on its top, then with another: what was not touched stays as it is.
TEST_F(EditVerb, FollowsVersions) {
  PartMesh part;
  part.add_mesh(make_box({.segments = 12}), {});
  TriangleMesh versions[3] = {PartMesh(part).take()};
  for (int i = 1; i < 3; ++i) {
    part.add_mesh(make_sphere({.radius = 0.08, .frequency = 6}),
                  {.translation = {-0.2 + 0.2 * i, 0.5, 0.1}});
    versions[i] = PartMesh(part).take();
  }
  for (int i = 0; i < 3; ++i) write_mesh(file("v" + std::to_string(i) + ".ply"), versions[i]);
  const std::vector<std::string> settings{"--resolution", "64", "--padding", "14"};
  const auto with = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), settings.begin(), settings.end());
    return arguments;
  };
  const Json j = run_json(
      with({"edit", "v0.ply", "v1.ply", "v2.ply", "-o", "part.isotact", "--segment-index"}));
  EXPECT_EQ(j["resolution"], 64);
  ASSERT_EQ(j["versions"].size(), 2U);
  for (int i = 0; i < 2; ++i) {
    const Json& v = j["versions"][static_cast<std::size_t>(i)];
    EXPECT_EQ(v["output"], "part-" + std::to_string(i + 1) + ".isotact");
    EXPECT_FALSE(v["full_rebuild"]);
    EXPECT_TRUE(v["reason"].is_null());
    EXPECT_EQ(v["removed_triangles"], 0);
    EXPECT_EQ(v["added_triangles"], make_sphere({.radius = 0.08, .frequency = 6}).triangles.size());
    EXPECT_GT(v["bricks_built"], 0);
    EXPECT_LT(v["bricks_built"], v["bricks"]);
    const Asset asset = read_asset(file(v["output"]));
    ASSERT_TRUE(asset.field && asset.mass && asset.mesh);
    EXPECT_EQ(asset.mesh->triangles().size(),
              versions[static_cast<std::size_t>(i) + 1].triangles.size());
    EXPECT_NEAR(asset.field->value({-0.2 + 0.2 * (i + 1), 0.62, 0.1}), 0.04, 0.01);
    // The index is that of the edited field, and the points are those of the edited mesh.
    const auto index = find_segment_index(asset);
    ASSERT_TRUE(index && belongs_to(*index, *asset.field));
    EXPECT_TRUE(
        std::ranges::equal(index->buffer.bytes, build_segment_index(*asset.field).buffer.bytes));
    const auto tree = find_point_sphere_tree(asset);
    ASSERT_TRUE(tree);
    float highest = 0;
    for (std::uint32_t k = 0; k < tree->point_count(); ++k)
      highest = std::max(highest, tree->point(k).y);
    EXPECT_NEAR(highest, 0.58, 0.005);
  }
  EXPECT_EQ(
      run_json(with({"edit", "v0.ply", "v1.ply", "-o", "one.isotact"}))["versions"][0]["output"],
      "one.isotact");
  run_json(with({"edit", "v0.ply", "v1.ply", "-o", "bare.isotact", "--no-points"}));
  const Asset bare = read_asset(file("bare.isotact"));
  EXPECT_TRUE(!find_point_sphere_tree(bare) && !find_segment_index(bare));
  expect_failure(with({"edit", "v0.ply", "-o", "x.isotact"}), 2, "a version of it at least");
  expect_failure(with({"edit", "v0.ply", "v1.ply", "-o", "v1.ply"}), 2, "v1.ply");
  write_mesh(file("large.ply"), make_sphere({.radius = 3}));
  expect_failure(with({"edit", "v0.ply", "large.ply", "-o", "x.isotact"}), 1,
                 "large.ply: the edit");
}

}  // namespace
}  // namespace isotact

#include "isotact/geometry/io/gltf.h"

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"

#include "geometry/io/gltf_asset.h"

namespace isotact {
namespace {

double signed_volume(const TriangleMesh& mesh) {
  double sum = 0;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const auto [a, b, c] = corners(mesh, i);
    sum += dot(to_double(a), cross(to_double(b), to_double(c))) / 6;
  }
  return sum;
}

const TriangleMesh kTetra{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                          {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}}};

// Vertices only, three floats each.
GltfAsset asset_of_floats(std::initializer_list<float> floats, const std::string& primitive_more) {
  const std::string bytes = std::to_string(4 * floats.size());
  return {.primitives = R"([{"attributes":{"POSITION":0})" + primitive_more + "}]",
          .accessors = R"([{"bufferView":0,"componentType":5126,"type":"VEC3","count":)" +
                       std::to_string(floats.size() / 3) + "}]",
          .views = R"([{"buffer":0,"byteLength":)" + bytes + "}]",
          .buffers = R"([{"byteLength":)" + bytes + "}]",
          .bytes = raw(floats)};
}

TEST(Gltf, ReadsGlbAndEmbeddedTextAlike) {
  const LoadedMesh glb = read_asset({});
  EXPECT_EQ(glb.format, MeshFormat::kGlb);
  EXPECT_EQ(glb.mesh, kTetra);
  EXPECT_TRUE(glb.warnings.empty());
  std::string data = base64(tetra_bytes());
  // Some writers escape the slash.
  for (std::size_t at = 0; (at = data.find('/', at)) != std::string::npos; at += 2)
    data.replace(at, 1, "\\/");
  const LoadedMesh text = read_text(
      json_of({.buffers = R"([{"byteLength":72,"uri":"data:application/octet-stream;base64,)" +
                          data + R"("}])"}));
  EXPECT_EQ(text.format, MeshFormat::kGltf);
  EXPECT_EQ(text.mesh, kTetra);
}

TEST(Gltf, TransformsApplyFromTheRootDown) {
  // A quarter turn about z, written as a quaternion that is not of unit length.
  const GltfAsset trs{
      .nodes = R"([{"children":[1],"translation":[10,0,0]},)"
               R"({"mesh":0,"rotation":[0,0,2,2],"scale":[2,3,4],"translation":[0,5,0]}])"};
  const std::vector<Vec3f> expected = {{10, 5, 0}, {10, 7, 0}, {7, 5, 0}, {10, 5, 4}};
  const LoadedMesh loaded = read_asset(trs);
  ASSERT_EQ(loaded.mesh.positions.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_LT(length(loaded.mesh.positions[i] - expected[i]), 1e-5F) << i;
  const GltfAsset matrix{.nodes =
                             R"([{"children":[1],"matrix":[1,0,0,0,0,1,0,0,0,0,1,0,10,0,0,1]},)"
                             R"({"mesh":0,"matrix":[0,2,0,0,-3,0,0,0,0,0,4,0,0,5,0,1]}])"};
  EXPECT_EQ(read_asset(matrix).mesh.positions, expected);
}

TEST(Gltf, OutsideStaysOutsideUnderMirrors) {
  const auto volume = [](const std::string& nodes) {
    return signed_volume(read_asset({.nodes = nodes}).mesh);
  };
  EXPECT_NEAR(volume(R"([{"mesh":0,"scale":[-1,1,1]}])"), 1.0 / 6, 1e-6);
  EXPECT_NEAR(volume(R"([{"mesh":0,"scale":[-1,-1,-1]}])"), 1.0 / 6, 1e-6);
  EXPECT_NEAR(volume(R"([{"mesh":0,"scale":[-1,1,-1]}])"), 1.0 / 6, 1e-6);
  EXPECT_NEAR(volume(R"([{"children":[1],"scale":[1,-2,1]},{"mesh":0,"scale":[1,1,-3]}])"), 1,
              1e-5);
  // The determinant of this one underflows in double.
  const TriangleMesh tiny =
      read_asset({.nodes = R"([{"mesh":0,"scale":[-1e-150,1e-150,1e-150]}])"}).mesh;
  EXPECT_EQ(tiny.triangles[0], (Triangle{0, 1, 2}));
}

TEST(Gltf, ScaleIsMetresPerUnit) {
  const LoadedMesh loaded = read_asset({}, {.scale = 0.5});
  EXPECT_EQ(loaded.mesh.positions[1], (Vec3f{0.5F, 0, 0}));
}

TEST(Gltf, ShowsTheDefaultSceneOrAllRoots) {
  const std::string nodes = R"([{"mesh":0},{"mesh":0,"translation":[5,0,0]},{"children":[1]}])";
  const auto first_x = [&](const std::string& scene_parts) {
    std::vector<float> xs;
    const LoadedMesh loaded = read_asset({.scene_parts = scene_parts, .nodes = nodes});
    for (std::size_t i = 0; i < loaded.mesh.positions.size(); i += 4)
      xs.push_back(loaded.mesh.positions[i].x);
    return xs;
  };
  EXPECT_EQ(first_x(R"("scene":1,"scenes":[{"nodes":[0]},{"nodes":[2]}],)"),
            (std::vector<float>{5}));
  EXPECT_EQ(first_x(R"("scenes":[{"nodes":[0]},{"nodes":[2]}],)"), (std::vector<float>{0}));
  EXPECT_EQ(first_x(R"("scenes":[{"nodes":[2,0]}],)"), (std::vector<float>{5, 0}));
  EXPECT_EQ(first_x(""), (std::vector<float>{0, 5}));
  EXPECT_EQ(first_x(R"("scenes":[{}],)"), std::vector<float>{});
  const LoadedMesh bare = read_asset({.scene_parts = "", .nodes = "[]"});
  EXPECT_EQ(bare.mesh, kTetra);
  EXPECT_EQ(bare.warnings.size(), 1U);
}

TEST(Gltf, AChainOfNodesMayBeLong) {
  constexpr int kDepth = 20000;
  std::string nodes = "[";
  for (int i = 1; i < kDepth; ++i)
    nodes += R"({"translation":[0.5,0,0],"children":[)" + std::to_string(i) + "]},";
  nodes += R"({"mesh":0}])";
  EXPECT_EQ(read_asset({.nodes = nodes}).mesh.positions[0], (Vec3f{0.5F * (kDepth - 1), 0, 0}));
}

TEST(Gltf, StripsAndFansBecomeTriangles) {
  const std::initializer_list<float> five = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 2, 0};
  const std::vector<Triangle> strip = {{0, 1, 2}, {1, 3, 2}, {2, 3, 4}};
  EXPECT_EQ(read_asset(asset_of_floats(five, R"(,"mode":5)")).mesh.triangles, strip);
  const std::vector<Triangle> fan = {{1, 2, 0}, {2, 3, 0}, {3, 4, 0}};
  EXPECT_EQ(read_asset(asset_of_floats(five, R"(,"mode":6)")).mesh.triangles, fan);
}

TEST(Gltf, StitchesOfStripsAreDropped) {
  const GltfAsset asset{
      .primitives = R"([{"attributes":{"POSITION":0},"indices":1,"mode":5}])",
      .accessors = R"([{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3"},)"
                   R"({"bufferView":1,"componentType":5121,"count":8,"type":"SCALAR"}])",
      .views = R"([{"buffer":0,"byteLength":48},{"buffer":0,"byteOffset":48,"byteLength":8}])",
      .buffers = R"([{"byteLength":56}])",
      .bytes = raw<float>({0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}) +
               raw<std::uint8_t>({0, 1, 2, 2, 1, 1, 3, 2})};
  EXPECT_EQ(read_asset(asset).mesh.triangles, (std::vector<Triangle>{{0, 1, 2}, {1, 2, 3}}));
}

TEST(Gltf, PointsAndLinesKeepVerticesWithoutTriangles) {
  for (const std::string mode : {"0", "1", "2", "3"}) {
    const LoadedMesh loaded =
        read_asset(asset_of_floats({0, 0, 0, 1, 0, 0, 2, 0, 0}, R"(,"mode":)" + mode));
    EXPECT_EQ(loaded.mesh.positions.size(), 3U);
    EXPECT_TRUE(loaded.mesh.triangles.empty());
    EXPECT_EQ(loaded.warnings.size(), 2U);  // and "no triangles"
  }
}

template <typename T>
GltfAsset asset_with_indices(int component_type) {
  return {.accessors = R"([{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3"},)"
                       R"({"bufferView":1,"componentType":)" +
                       std::to_string(component_type) + R"(,"count":12,"type":"SCALAR"}])",
          .views = R"([{"buffer":0,"byteLength":48},{"buffer":0,"byteOffset":48,"byteLength":)" +
                   std::to_string(12 * sizeof(T)) + "}]",
          .buffers = R"([{"byteLength":)" + std::to_string(48 + 12 * sizeof(T)) + "}]",
          .bytes = raw<float>({0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}) +
                   raw<T>({0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3})};
}

TEST(Gltf, IndicesMayHaveThreeWidths) {
  EXPECT_EQ(read_asset(asset_with_indices<std::uint8_t>(5121)).mesh, kTetra);
  EXPECT_EQ(read_asset(asset_with_indices<std::uint16_t>(5123)).mesh, kTetra);
  EXPECT_EQ(read_asset(asset_with_indices<std::uint32_t>(5125)).mesh, kTetra);
}

TEST(Gltf, SparseAccessorsReplaceElements) {
  // Positions: all zeros but 1 and 3. Indices: 0 1 2 1 2 3, of which element 2 becomes 0.
  const GltfAsset asset{
      .accessors = R"([{"componentType":5126,"count":4,"type":"VEC3","sparse":{"count":2,)"
                   R"("indices":{"bufferView":0,"componentType":5123},"values":{"bufferView":1}}},)"
                   R"({"bufferView":2,"componentType":5121,"count":6,"type":"SCALAR","sparse":{)"
                   R"("count":1,"indices":{"bufferView":2,"byteOffset":4,"componentType":5121},)"
                   R"("values":{"bufferView":2}}}])",
      .views = R"([{"buffer":0,"byteLength":4},{"buffer":0,"byteOffset":4,"byteLength":24},)"
               R"({"buffer":0,"byteOffset":28,"byteLength":6}])",
      .buffers = R"([{"byteLength":34}])",
      .bytes = raw<std::uint16_t>({1, 3}) + raw<float>({1, 2, 3, 4, 5, 6}) +
               raw<std::uint8_t>({0, 1, 2, 1, 2, 3})};
  const TriangleMesh mesh = read_asset(asset).mesh;
  EXPECT_EQ(mesh.positions, (std::vector<Vec3f>{{}, {1, 2, 3}, {}, {4, 5, 6}}));
  EXPECT_EQ(mesh.triangles, (std::vector<Triangle>{{0, 1, 0}, {1, 2, 3}}));
}

TEST(Gltf, AccessorsWithoutBytesAreZeros) {
  const LoadedMesh loaded =
      read_asset({.nodes = R"([{"mesh":0,"translation":[1,2,3]}])",
                  .primitives = R"([{"attributes":{"POSITION":0}}])",
                  .accessors = R"([{"componentType":5126,"count":3,"type":"VEC3"}])"});
  EXPECT_EQ(loaded.mesh.positions, (std::vector<Vec3f>{{1, 2, 3}, {1, 2, 3}, {1, 2, 3}}));
}

TEST(Gltf, InterleavedPositionsAreFollowedByTheirStride) {
  GltfAsset asset = asset_of_floats({9, 0, 0, 0, 9, 9, 1, 0, 0, 9, 9, 0, 1, 0, 9}, "");
  asset.accessors =
      R"([{"bufferView":0,"byteOffset":4,"componentType":5126,"count":3,"type":"VEC3"}])";
  asset.views = R"([{"buffer":0,"byteLength":60,"byteStride":20}])";
  EXPECT_EQ(read_asset(asset).mesh.positions,
            (std::vector<Vec3f>{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}));
}

template <typename T>
std::vector<Vec3f> read_quantized(int component_type, bool normalized) {
  constexpr T kMax = std::numeric_limits<T>::max();
  constexpr T kMin = std::numeric_limits<T>::min();
  const std::size_t size = 9 * sizeof(T);
  return read_asset({.primitives = R"([{"attributes":{"POSITION":0}}])",
                     .accessors = R"([{"bufferView":0,"count":3,"type":"VEC3","componentType":)" +
                                  std::to_string(component_type) + R"(,"normalized":)" +
                                  (normalized ? "true" : "false") + "}]",
                     .views = R"([{"buffer":0,"byteLength":)" + std::to_string(size) + "}]",
                     .buffers = R"([{"byteLength":)" + std::to_string(size) + "}]",
                     .more = R"(,"extensionsUsed":["KHR_mesh_quantization"],)"
                             R"("extensionsRequired":["KHR_mesh_quantization"])",
                     .bytes = raw<T>({0, kMax, kMin, 1, 2, 3, 0, 0, 1})})
      .mesh.positions;
}

TEST(Gltf, QuantizedPositions) {
  EXPECT_EQ(read_quantized<std::int8_t>(5120, false)[0], (Vec3f{0, 127, -128}));
  EXPECT_EQ(read_quantized<std::int8_t>(5120, true)[0], (Vec3f{0, 1, -1}));
  EXPECT_EQ(read_quantized<std::uint8_t>(5121, false)[0], (Vec3f{0, 255, 0}));
  EXPECT_EQ(read_quantized<std::uint8_t>(5121, true)[0], (Vec3f{0, 1, 0}));
  EXPECT_EQ(read_quantized<std::int16_t>(5122, false)[0], (Vec3f{0, 32767, -32768}));
  EXPECT_EQ(read_quantized<std::int16_t>(5122, true)[0], (Vec3f{0, 1, -1}));
  EXPECT_EQ(read_quantized<std::uint16_t>(5123, false)[0], (Vec3f{0, 65535, 0}));
  EXPECT_EQ(read_quantized<std::uint16_t>(5123, true)[1],
            (Vec3f{static_cast<float>(1 / 65535.0), static_cast<float>(2 / 65535.0),
                   static_cast<float>(3 / 65535.0)}));
}

TEST(Gltf, WarnsOfWhatItLeavesOut) {
  const auto warnings = [](const GltfAsset& asset) {
    std::string all;
    for (const std::string& warning : read_asset(asset).warnings) all += warning + "\n";
    return all;
  };
  EXPECT_NE(warnings({.nodes = R"([{"mesh":0,"skin":0}])"}).find("skins are ignored"),
            std::string::npos);
  EXPECT_NE(
      warnings({.primitives = R"([{"attributes":{"POSITION":0},"indices":1,"targets":[{}]}])"})
          .find("morph targets are ignored"),
      std::string::npos);
  EXPECT_NE(warnings({.nodes = R"([{"mesh":0,"extensions":{"EXT_mesh_gpu_instancing":{}}}])"})
                .find("EXT_mesh_gpu_instancing"),
            std::string::npos);
  EXPECT_NE(warnings({.primitives = R"([{"attributes":{}}])"}).find("no POSITION"),
            std::string::npos);
  EXPECT_NE(warnings({.primitives = R"([{"attributes":{"POSITION":0}}])"}).find("last triangle"),
            std::string::npos);
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float inf = std::numeric_limits<float>::infinity();
  EXPECT_NE(warnings(asset_of_floats({0, nan, 0, inf, 0, 0, 0, 0, 0}, ""))
                .find("not finite (positions: 2)"),
            std::string::npos);
}

// The top level is no node: nothing is looked up there for each mesh.
TEST(Gltf, WithoutNodesShowsEveryMeshAndTakesTheTopLevelForNoNode) {
  const LoadedMesh loaded =
      read_asset({.scene_parts = "",
                  .nodes = "[]",
                  .more = R"(,"skin":0,"skin":1,"extensions":{"EXT_mesh_gpu_instancing":{}})"});
  EXPECT_EQ(loaded.mesh.triangles.size(), 4U);
  EXPECT_EQ(loaded.warnings,
            (std::vector<std::string>{"the file has no nodes; all meshes are read as they are"}));
}

TEST(Gltf, StopsWhenCancelled) {
  CancelToken token;
  token.cancel();
  EXPECT_THROW(read_asset({}, {.monitor = {.cancel = &token}}), Cancelled);
}

TEST(Gltf, WrittenMeshesReadBackBitForBit) {
  Random random(7);
  TriangleMesh mesh;
  for (int i = 0; i < 1000; ++i)
    mesh.positions.push_back(
        to_float(Vec3{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1e30, 1e30)}));
  mesh.positions[3] = {-0.0F, std::numeric_limits<float>::denorm_min(),
                       std::numeric_limits<float>::max()};
  for (std::uint32_t i = 0; i + 2 < 1000; ++i) mesh.triangles.push_back({i, i + 1, i + 2});
  const LoadedMesh loaded = read_bytes(write_glb(mesh));
  EXPECT_EQ(loaded.mesh, mesh);
  EXPECT_TRUE(std::signbit(loaded.mesh.positions[3].x));
  EXPECT_TRUE(loaded.warnings.empty());
  EXPECT_EQ(write_glb(loaded.mesh), write_glb(mesh));
}

TEST(Gltf, MeshesWithoutTrianglesCanBeWritten) {
  EXPECT_EQ(read_bytes(write_glb({})).mesh, TriangleMesh{});
  const TriangleMesh points{{{1, 2, 3}, {4, 5, 6}}, {}};
  EXPECT_EQ(read_bytes(write_glb(points)).mesh, points);
}

TEST(Gltf, RefusesToWritePositionsThatAreNotFinite) {
  const TriangleMesh mesh{{{0, std::numeric_limits<float>::infinity(), 0}}, {}};
  EXPECT_EQ(error_of([&] { write_glb(mesh); }),
            "position 0 is (0,inf,0); glTF can only hold finite positions");
}

}  // namespace
}  // namespace isotact

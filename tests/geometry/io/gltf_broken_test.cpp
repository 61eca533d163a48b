// What is wrong in a glTF file is said with its place; nothing crashes the reader.
#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/geometry/io/gltf.h"

#include "geometry/io/gltf_asset.h"

namespace isotact {
namespace {

struct Broken {
  GltfAsset asset;
  std::string message;
};

void expect_messages(const std::vector<Broken>& cases) {
  for (const Broken& broken : cases) {
    const std::string message = error_of([&] { read_asset(broken.asset); });
    EXPECT_NE(message.find("test.glb: " + broken.message), std::string::npos)
        << "expected: " << broken.message << "\nfound: " << message;
  }
}

GltfAsset with_positions(const std::string& accessor) {
  return {.primitives = R"([{"attributes":{"POSITION":0}}])", .accessors = "[" + accessor + "]"};
}

GltfAsset with_sparse(const std::string& sparse) {
  return with_positions(
      R"({"bufferView":0,"componentType":5126,"count":4,"type":"VEC3","sparse":)" + sparse + "}");
}

TEST(GltfBroken, TopLevel) {
  expect_messages({
      {{.asset = "{}"}, "has no asset/version"},
      {{.asset = R"({"version":"1.0"})"}, "/asset/version: glTF version \"1.0\"; only 2.0"},
      {{.asset = R"({"version":2})"}, "/asset/version: expected a string, found a number"},
      {{.asset = R"({"version":"2.0","minVersion":"2.1"})"}, "/asset/minVersion: glTF version"},
      {{.nodes = "{}"}, "/nodes: expected an array, found an object"},
      {{.accessors = "7"}, "/accessors: expected an array, found a number"},
      {{.more = R"(,"extensionsRequired":["KHR_draco_mesh_compression"])"},
       "/extensionsRequired/0: the file requires KHR_draco_mesh_compression"},
      {{.more = R"(,"extensionsRequired":["KHR_materials_unlit","EXT_meshopt_compression"])"},
       "/extensionsRequired/1: the file requires EXT_meshopt_compression"},
      {{.more = R"(,"extensionsRequired":["EXT_mesh_gpu_instancing"])"},
       "/extensionsRequired/0: the file requires EXT_mesh_gpu_instancing"},
      {{.more = R"(,"nodes":[])"}, "has the key nodes twice"},
  });
  EXPECT_EQ(read_asset({.more = R"(,"extensionsRequired":["KHR_texture_transform"])"})
                .mesh.triangles.size(),
            4U);
}

TEST(GltfBroken, Nodes) {
  expect_messages({
      {{.nodes = R"([{"mesh":1}])"}, "/nodes/0/mesh: refers to meshes 1, but there are 1"},
      {{.nodes = R"([{"mesh":-1}])"}, "/nodes/0/mesh: expected a whole number from 0 to"},
      {{.nodes = R"([{"mesh":0,"scale":[1,2]}])"}, "/nodes/0/scale: expected 3 numbers, found 2"},
      {{.nodes = R"([{"mesh":0,"scale":[1,2,"3"]}])"}, "/nodes/0/scale/2: expected a number"},
      {{.nodes = R"([{"mesh":0,"rotation":[0,0,0,0]}])"}, "/nodes/0/rotation: expected a unit"},
      {{.nodes = R"([{"matrix":[1,0,0,1,0,1,0,0,0,0,1,0,0,0,0,1]}])"},
       "/nodes/0/matrix: expected a last row of 0 0 0 1, found 1 0 0 1"},
      {{.nodes = R"([{"matrix":[1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1],"scale":[1,1,1]}])"},
       "/nodes/0: has both a matrix and"},
      {{.nodes = R"([{"children":[0]}])"}, "/nodes/0: node 0 is its own ancestor"},
      {{.nodes = R"([{},{"children":[2]},{"children":[3]},{"children":[1]}])"},
       "/nodes/1: node 1 is its own"},
      {{.nodes = R"([{"children":[1,2]},{"children":[2]},{}])"},
       "/nodes/1/children/0: node 2 is already a child of node 0"},
      {{.nodes = R"([{"children":[1,1]},{}])"}, "/nodes/0/children/1: node 1 is already a child"},
      {{.scene_parts = R"("scenes":[{"nodes":[0,0]}],)"},
       "/scenes/0/nodes/1: node 0 is listed twice"},
      {{.scene_parts = R"("scenes":[{"nodes":[1]}],)", .nodes = R"([{"children":[1]},{}])"},
       "/scenes/0/nodes/0: node 1 is no root"},
      {{.scene_parts = R"("scene":3,"scenes":[{}],)"}, "/scene: refers to scenes 3"},
  });
}

TEST(GltfBroken, Primitives) {
  expect_messages({
      {{.primitives = R"([{"attributes":{"POSITION":9}}])"},
       "/meshes/0/primitives/0/attributes/POSITION: refers to accessors 9, but there are 2"},
      {{.primitives = R"([{"indices":1}])"}, "/meshes/0/primitives/0: has no attributes"},
      {{.primitives = R"([{"attributes":{"POSITION":0},"mode":7}])"},
       "/meshes/0/primitives/0/mode: expected a whole number from 0 to 6, found 7"},
      {{.primitives = R"([{"attributes":{"POSITION":1}}])"},
       "/meshes/0/primitives/0/attributes/POSITION: expected an accessor of type VEC3"},
      {{.primitives = R"([{"attributes":{"POSITION":0},"indices":0}])"},
       "/meshes/0/primitives/0/indices: expected an accessor of type SCALAR"},
      {{.bytes = raw<float>({0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}) +
                 raw<std::uint16_t>({0, 1, 2, 0, 1, 4, 0, 0, 0, 0, 0, 0})},
       "/meshes/0/primitives/0/indices: element 5 is 4, but there are 4 vertices"},
      {{.bytes = raw<float>({0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}) +
                 raw<std::uint16_t>({0, 1, 2, 0, 1, 65535, 0, 0, 0, 0, 0, 0})},
       "/meshes/0/primitives/0/indices: element 5 is 65535, which restarts"},
      {{.primitives =
            R"([{"attributes":{"POSITION":0},"extensions":{"KHR_draco_mesh_compression":{}}}])",
        .accessors = R"([{"componentType":5126,"count":4,"type":"VEC3"}])"},
       "/meshes/0/primitives/0/attributes/POSITION: is compressed by KHR_draco"},
  });
}

TEST(GltfBroken, Accessors) {
  expect_messages({
      {with_positions(R"({"bufferView":0,"componentType":5126,"count":5,"type":"VEC3"})"),
       "/accessors/0: 5 elements need 60 bytes from byte 0 of a view of 48 bytes"},
      {with_positions(
           R"({"bufferView":0,"byteOffset":8,"componentType":5126,"count":4,"type":"VEC3"})"),
       "/accessors/0: 4 elements need 48 bytes from byte 8 of a view of 48 bytes"},
      {with_positions(R"({"bufferView":0,"byteOffset":18446744073709551615,"componentType":5126,)"
                      R"("count":4,"type":"VEC3"})"),
       "/accessors/0: 4 elements need 48 bytes from byte 18446744073709551615"},
      {with_positions(R"({"bufferView":0,"componentType":5126,"count":4294967295,"type":"VEC3"})"),
       "/accessors/0: 4294967295 elements need 51539607540 bytes"},
      {with_positions(R"({"bufferView":0,"componentType":5126,"count":0,"type":"VEC3"})"),
       "/accessors/0/count: expected a whole number from 1 to 4294967295, found 0"},
      {with_positions(R"({"bufferView":0,"componentType":5124,"count":4,"type":"VEC3"})"),
       "/accessors/0/componentType: expected a component type"},
      {with_positions(R"({"bufferView":0,"componentType":5125,"count":4,"type":"VEC3"})"),
       "/meshes/0/primitives/0/attributes/POSITION: expected positions of component type 5126"},
      {with_positions(R"({"bufferView":0,"componentType":5126,"count":4,"type":"MAT3"})"),
       "/accessors/0/type: expected VEC3 (positions) or SCALAR (indices), found \"MAT3\""},
      {with_positions(R"({"bufferView":9,"componentType":5126,"count":4,"type":"VEC3"})"),
       "/accessors/0/bufferView: refers to bufferViews 9, but there are 2"},
      {{.views = R"([{"buffer":0,"byteLength":48,"byteStride":8},{"buffer":0,"byteLength":24}])"},
       "/accessors/0/bufferView: elements of 12 bytes in a view with a byteStride of 8"},
      {{.views = R"([{"buffer":0,"byteLength":48},{"buffer":0,"byteLength":24,"byteStride":4}])"},
       "/accessors/1/bufferView: elements of 2 bytes in a view with a byteStride of 4"},
      {with_sparse(R"({"count":5})"),
       "/accessors/0/sparse/count: expected a whole number from 1 to 4"},
      {with_sparse(R"({"count":1,"indices":{"bufferView":1,"componentType":5126}})"),
       "/accessors/0/sparse/indices/componentType: expected component type 5121"},
      {with_sparse(
           R"({"count":2,"indices":{"bufferView":1,"byteOffset":20,"componentType":5123}})"),
       "/accessors/0/sparse: has no values"},
      {with_sparse(
           R"({"count":3,"indices":{"bufferView":1,"componentType":5123},"values":{"bufferView":0}})"),
       "/accessors/0/sparse/indices: element 2 is 1 after 2; they must increase"},
      {with_sparse(
           R"({"count":1,"indices":{"bufferView":0,"byteOffset":15,"componentType":5121},"values":{"bufferView":0}})"),
       "/accessors/0/sparse/indices: element 0 is 63, but the accessor has 4 elements"},
      {with_sparse(
           R"({"count":2,"indices":{"bufferView":1,"componentType":5123},"values":{"bufferView":1,"byteOffset":1}})"),
       "/accessors/0/sparse/values: 2 elements need 24 bytes from byte 1 of a view of 24"},
  });
}

TEST(GltfBroken, ViewsAndBuffers) {
  expect_messages({
      {{.views = R"([{"buffer":0,"byteOffset":40,"byteLength":48}])"},
       "/bufferViews/0: 48 bytes from byte 40 do not fit in the buffer of 72 bytes"},
      {{.views = R"([{"buffer":0,"byteOffset":18446744073709551615,"byteLength":2}])"},
       "/bufferViews/0: 2 bytes from byte 18446744073709551615 do not fit"},
      {{.views = R"([{"buffer":1,"byteLength":48}])"},
       "/bufferViews/0/buffer: refers to buffers 1"},
      {{.views = R"([{"buffer":0}])"}, "/bufferViews/0: has no byteLength"},
      {{.buffers = R"([{"byteLength":80}])"},
       "/buffers/0/byteLength: promises 80 bytes, but there are 72"},
      {{.buffers = R"([{}])"}, "/buffers/0: has no byteLength"},
      {{.views = R"([{"buffer":1,"byteLength":48}])",
        .buffers = R"([{"byteLength":1},{"byteLength":72}])"},
       "/buffers/1: has no uri and is not the binary chunk of a GLB"},
      {{.buffers = R"([{"byteLength":1,"uri":"data:text/plain,abc"}])"},
       "/buffers/0/uri: expected \"data:"},
      {{.buffers = R"([{"byteLength":1,"uri":"data:;base64,AA=A"}])"},
       "/buffers/0/uri: not base64: character 2 of 4 in the data is wrong"},
      {{.buffers = R"([{"byteLength":1,"uri":"data:;base64,AB=="}])"},
       "/buffers/0/uri: not base64"},
      {{.buffers = R"([{"byteLength":1,"uri":"data:;base64,AAA"}])"},
       "/buffers/0/uri: not base64: character 3 of 3 in the data is missing"},
      {{.buffers = R"([{"byteLength":1,"uri":"data:;base64,A A="}])"},
       "/buffers/0/uri: not base64: character 1"},
      {{.buffers = R"([{"byteLength":9,"uri":"data:;base64,AAA="}])"},
       "/buffers/0/byteLength: promises 9 bytes, but there are 2"},
  });
}

TEST(GltfBroken, Container) {
  const Bytes good = glb_of(GltfAsset{});
  const auto patched = [&](std::size_t at, std::uint32_t value) {
    Bytes bytes = good;
    std::memcpy(bytes.data() + at, &value, sizeof(value));
    return error_of([&] { read_bytes(bytes); });
  };
  EXPECT_EQ(patched(4, 1), "test.glb: byte 4: GLB version 1; only version 2 can be read");
  EXPECT_NE(patched(8, 0xffffffff).find("byte 8: the header promises 4294967295 bytes"),
            std::string::npos);
  EXPECT_NE(patched(8, 19).find("byte 8: the header promises 19 bytes, too few"),
            std::string::npos);
  EXPECT_NE(patched(12, 0xfffffff0).find("byte 12: chunk 0 promises 4294967280 bytes, but only"),
            std::string::npos);
  EXPECT_NE(patched(16, 0x004E4942).find("byte 16: the first chunk has type 0x004e4942"),
            std::string::npos);
  EXPECT_NE(patched(20, 0x20202020).find("byte 24: not JSON"), std::string::npos);
  EXPECT_EQ(error_of([] { read_bytes({}); }), "test.glb: the file is empty; expected glTF");
}

TEST(GltfBroken, ChunksOfOtherTypesAndTrailingBytesAreIgnored) {
  Bytes bytes = glb_of(GltfAsset{}) + raw<std::uint32_t>({4, 0x41525458, 7});
  const auto size = static_cast<std::uint32_t>(bytes.size());
  std::memcpy(bytes.data() + 8, &size, sizeof(size));
  EXPECT_TRUE(read_bytes(bytes).warnings.empty());
  bytes.push_back({});
  EXPECT_EQ(read_bytes(bytes).warnings.size(), 1U);
}

TEST(GltfBroken, EveryTruncationIsAnError) {
  const Bytes good = glb_of(GltfAsset{});
  for (std::size_t size = 0; size < good.size(); ++size) {
    Bytes cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_THROW(read_bytes(cut), Error) << size;
    if (size < 12) continue;
    // The same with a header that knows.
    const auto length = static_cast<std::uint32_t>(size);
    std::memcpy(cut.data() + 8, &length, sizeof(length));
    EXPECT_THROW(read_bytes(cut), Error) << size;
  }
}

// Any one value of the JSON replaced by one of another type or size.
TEST(GltfBroken, EveryValueMayBeOfTheWrongType) {
  const GltfAsset asset{
      .nodes = R"([{"children":[1],"matrix":[1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1]},)"
               R"({"mesh":0,"rotation":[0,0,0,1],"scale":[1,1,1],"translation":[0,0,0]}])"};
  const std::string json = json_of(asset);
  int read_count = 0;
  int refused_count = 0;
  for (std::size_t at = 0; at < json.size(); ++at) {
    if (std::string_view(":[,").find(json[at]) == std::string_view::npos) continue;
    const std::size_t end = json.find_first_of(",]}", at + 1);
    for (const std::string other : {"null", "true", "-1", "1e30", "0.5", "4294967295", "\"x\"",
                                    "[]", "{}", "[[0]]", "99999999999999999999"}) {
      const std::string changed = json.substr(0, at + 1) + other + json.substr(end);
      try {
        const LoadedMesh loaded = read_bytes(glb_of(changed, asset.bytes));
        EXPECT_FALSE(find_flaw(loaded.mesh)) << changed;
        ++read_count;
      } catch (const Error& error) {
        EXPECT_TRUE(std::string_view(error.what()).starts_with("test.glb: ")) << error.what();
        ++refused_count;
      }
    }
  }
  EXPECT_GT(read_count, 50);
  EXPECT_GT(refused_count, 500);
}

TEST(GltfBroken, ExpansionFarBeyondTheFileIsRefused) {
  // One accessor of zeros that promises 36 GB.
  const GltfAsset zeros =
      with_positions(R"({"componentType":5126,"count":3000000000,"type":"VEC3"})");
  EXPECT_NE(error_of([&] { read_asset(zeros); }).find("the scene expands to more than 64 MiB"),
            std::string::npos);
  // A mesh of 100,000 vertices shown 100 times.
  std::string nodes = "[";
  std::string roots;
  for (int i = 0; i < 100; ++i) {
    nodes += R"({"mesh":0},)";
    roots += std::to_string(i) + ",";
  }
  nodes.back() = ']';
  roots.pop_back();
  GltfAsset many = with_positions(R"({"componentType":5126,"count":100000,"type":"VEC3"})");
  many.nodes = nodes;
  many.scene_parts = R"("scenes":[{"nodes":[)" + roots + "]}],";
  EXPECT_NE(error_of([&] { read_asset(many); }).find("the scene expands to more than 64 MiB"),
            std::string::npos);
}

}  // namespace
}  // namespace isotact

#include "isotact/gpu/core/texture.h"

#include <vector>

#include "isotact/base/error.h"
#include "isotact/gpu/core/program.h"

#include "gpu/gpu_fixture.h"

namespace isotact {
namespace {

using GpuTextureTest = GpuTest;

constexpr const char* kFetch = R"(layout(local_size_x = 1) in;
layout(binding = 0) uniform sampler3D source;
layout(std430, binding = 0) buffer Data { vec4 result[]; };
uniform vec3 place;
void main() { result[0] = textureLod(source, place, 0.0); }
)";

TEST_F(GpuTextureTest, FiltersSignedNormalisedIntegers) {
  const std::vector<std::int16_t> texels{32767, 0, -32767, 16384, -32767, 0, 32767, 0};
  GpuTexture3d texture(TexelFormat::kSnorm16x4, {2, 1, 1});
  texture.upload({0, 0, 0}, {2, 1, 1}, std::as_bytes(std::span(texels)));
  std::vector<std::int16_t> back(8);
  texture.read(std::as_writable_bytes(std::span(back)));
  EXPECT_EQ(back, texels);
  GpuBuffer result(16);
  result.bind(0);
  texture.bind(0);
  const GpuProgram program = GpuProgram::from_source("fetch.comp", kFetch);
  program.set("place", 0.5F, 0.5F, 0.5F);
  program.dispatch(1);
  float got[4];
  result.read(std::span<float>(got));
  EXPECT_NEAR(got[0], 0, 1e-4);
  EXPECT_NEAR(got[3], 0.25F, 1e-3);
  program.set("place", 0.375F, 0.5F, 0.5F);  // a quarter of the way
  program.dispatch(1);
  result.read(std::span<float>(got));
  EXPECT_NEAR(got[0], 0.5F, 4e-3);
}

TEST_F(GpuTextureTest, RefusesImpossibleSizes) {
  EXPECT_THROW(GpuTexture3d(TexelFormat::kFloat, {0, 1, 1}), Error);
  EXPECT_THROW(GpuTexture3d(TexelFormat::kFloat, {1 << 24, 1, 1}), Error);
  GpuTexture3d texture(TexelFormat::kFloat, {2, 2, 2});
  const std::byte few[4]{};
  EXPECT_THROW(texture.upload({0, 0, 0}, {2, 2, 2}, few), Error);
}

}  // namespace
}  // namespace isotact

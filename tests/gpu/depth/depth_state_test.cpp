// A context that is left as it was.
#include "isotact/gpu/core/gl_state.h"
#include "isotact/gpu/depth/mesh_drawable.h"

#include "drawn_scene.h"
#include "gpu/gpu_fixture.h"

namespace isotact {
namespace {

using GpuDepthStateTest = GpuTest;

// Every switch and binding that we touch, away from where it is by default.
struct OddState {
  GLuint buffers[3]{}, textures[4]{}, sampler = 0, framebuffer = 0, vertices = 0, pipeline = 0;
  GpuProgram program =
      GpuProgram::from_source("odd.comp", "layout(local_size_x=1) in;\nvoid main() {}\n");

  OddState() {
    glCreateBuffers(3, buffers);
    for (const GLuint b : buffers) glNamedBufferStorage(b, 65536, nullptr, 0);
    glCreateTextures(GL_TEXTURE_2D, 1, &textures[0]);
    glCreateTextures(GL_TEXTURE_2D_ARRAY, 1, &textures[1]);
    glCreateTextures(GL_TEXTURE_3D, 1, &textures[2]);
    glCreateTextures(GL_TEXTURE_CUBE_MAP, 1, &textures[3]);
    glCreateSamplers(1, &sampler);
    glCreateFramebuffers(1, &framebuffer);
    glCreateVertexArrays(1, &vertices);
    glCreateProgramPipelines(1, &pipeline);
  }
  ~OddState() {
    glDeleteBuffers(3, buffers);
    glDeleteTextures(4, textures);
    glDeleteSamplers(1, &sampler);
    glDeleteFramebuffers(1, &framebuffer);
    glDeleteVertexArrays(1, &vertices);
    glDeleteProgramPipelines(1, &pipeline);
  }

  void set_switches() const {
    for (const int s :
         {GL_DEPTH_TEST, GL_CULL_FACE, GL_STENCIL_TEST, GL_DEPTH_CLAMP, GL_PRIMITIVE_RESTART,
          GL_RASTERIZER_DISCARD, GL_COLOR_LOGIC_OP, GL_POLYGON_OFFSET_FILL, GL_SAMPLE_MASK,
          GL_PROGRAM_POINT_SIZE, GL_FRAMEBUFFER_SRGB, GL_CLIP_DISTANCE0, GL_CLIP_DISTANCE0 + 3})
      glEnable(static_cast<GLenum>(s));
    glDisable(GL_MULTISAMPLE);
    glDisable(GL_DITHER);
    glEnablei(GL_BLEND, 0);
    glEnablei(GL_SCISSOR_TEST, 0);
    glViewport(3, 4, 50, 60);
    glScissor(1, 2, 7, 9);
    glDepthRange(0.25, 0.5);
    glDepthFunc(GL_NOTEQUAL);
    glDepthMask(GL_FALSE);
    glCullFace(GL_FRONT_AND_BACK);
    glFrontFace(GL_CW);
    glClipControl(GL_UPPER_LEFT, GL_ZERO_TO_ONE);
    glColorMask(GL_TRUE, GL_FALSE, GL_TRUE, GL_FALSE);
    glPolygonMode(GL_FRONT_AND_BACK, GL_LINE);
    glPatchParameteri(GL_PATCH_VERTICES, 7);
    glProvokingVertex(GL_FIRST_VERTEX_CONVENTION);
    glPrimitiveRestartIndex(77);
    glPointSize(3);
    glStencilFuncSeparate(GL_FRONT, GL_LESS, 3, 0x0f);
    glStencilFuncSeparate(GL_BACK, GL_GREATER, 5, 0xf0);
    glStencilOpSeparate(GL_FRONT, GL_INVERT, GL_INCR, GL_DECR);
    glStencilMaskSeparate(GL_BACK, 0x3c);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glPixelStorei(GL_PACK_ROW_LENGTH, 33);
    glPixelStorei(GL_UNPACK_SKIP_ROWS, 2);
  }
  void set_bindings() const {
    for (GLuint i = 0; i < 16; ++i)
      glBindBufferRange(GL_SHADER_STORAGE_BUFFER, i, buffers[i % 3], 256 * i, 512);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 13, buffers[1]);
    for (GLuint i = 28; i < 32; ++i)
      glBindBufferRange(GL_UNIFORM_BUFFER, i, buffers[i % 3], 256, 1024);
    for (const int target : {GL_SHADER_STORAGE_BUFFER, GL_UNIFORM_BUFFER, GL_ARRAY_BUFFER,
                             GL_DRAW_INDIRECT_BUFFER, GL_DISPATCH_INDIRECT_BUFFER})
      glBindBuffer(static_cast<GLenum>(target), buffers[2]);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, buffers[0]);
    for (GLuint unit = 7; unit < 13; ++unit) {
      glActiveTexture(GL_TEXTURE0 + unit);
      glBindTexture(GL_TEXTURE_2D, textures[0]);
      glBindTexture(GL_TEXTURE_2D_ARRAY, textures[1]);
      glBindTexture(GL_TEXTURE_3D, textures[2]);
      glBindTexture(GL_TEXTURE_CUBE_MAP, textures[3]);
      glBindSampler(unit, sampler);
    }
    glActiveTexture(GL_TEXTURE5);
    glBindVertexArray(vertices);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, framebuffer);
    glUseProgram(program.name());
    glBindProgramPipeline(pipeline);
  }
};

TEST_F(GpuDepthStateTest, TheContextIsLeftAsItWas) {
  DrawnScene scene(4);
  const GpuContext own = GpuContext::adopt_current();
  glUseProgram(0);  // others leave one in use that is gone as soon as it is not
  const GpuState before = read_gpu_state();
  {
    const OddState odd;
    odd.set_switches();
    odd.set_bindings();
    const GpuState set = read_gpu_state();
    EXPECT_FALSE(set == before);
    for (const DepthMethod method :
         {DepthMethod::kIntervals, DepthMethod::kTwoMaps, DepthMethod::kFragments}) {
      const DepthSettings settings{.method = method,
                                   .width = kDrawnSize,
                                   .height = kDrawnSize,
                                   .two_sided = method == DepthMethod::kTwoMaps,
                                   .max_contacts = 3};
      GpuDepthDetector detector(own, settings,
                                {.slots = 2, .use_stencil = method == DepthMethod::kTwoMaps});
      EXPECT_TRUE(read_gpu_state() == set);
      detector.draw_map(1, {scene.object(2)}, scene.view);
      EXPECT_TRUE(read_gpu_state() == set);
      const DepthMap map = detector.read_map(1);
      EXPECT_TRUE(read_gpu_state() == set);
      const GpuDepthQuery query{1, {}};
      std::vector<DepthResult> reports;
      detector.fetch(detector.submit({&query, 1}, {scene.environment}), reports);
      EXPECT_TRUE(read_gpu_state() == set);
      if (method == DepthMethod::kTwoMaps) (void)detector.read_environment(0);
      (void)detector.submit_on_gpu({&query, 1}, {scene.environment});
      EXPECT_TRUE(read_gpu_state() == set);
      EXPECT_EQ(glGetError(), static_cast<GLenum>(GL_NO_ERROR));

      // And none of it has any influence.
      apply_gpu_state(before);
      GpuDepthDetector calm(own, settings, {.slots = 2});
      calm.draw_map(1, {scene.object(2)}, scene.view);
      const DepthMap expected = calm.read_map(1);
      EXPECT_EQ(map.covered, expected.covered) << static_cast<int>(method);
      EXPECT_GT(map.covered, 100U);
      EXPECT_TRUE(std::equal(
          map.intervals.begin(), map.intervals.end(), expected.intervals.begin(),
          [](const auto& a, const auto& b) { return a.near == b.near && a.far == b.far; }));
      std::vector<DepthResult> same;
      calm.fetch(calm.submit({&query, 1}, {scene.environment}), same);
      EXPECT_TRUE(is_same_report(reports[0], same[0]));
      odd.set_switches();
      odd.set_bindings();
    }
    apply_gpu_state(before);
  }
  EXPECT_TRUE(read_gpu_state() == before);
}

// The same with meshes of our own, by both rasterisers.
TEST_F(GpuDepthStateTest, MeshesLeaveTheContextAsItWas) {
  const TriangleMesh ball = make_sphere({.radius = 0.5, .frequency = 8});
  const DepthView view = make_depth_view({{-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5}}, {0, 0.3, 1});
  const GpuState before = read_gpu_state();
  const OddState odd;
  odd.set_switches();
  odd.set_bindings();
  const GpuState set = read_gpu_state();
  {
    const MeshElement element[] = {make_mesh_element(ball, {}, 3, true)};
    const GpuMeshes meshes(element);
    EXPECT_TRUE(read_gpu_state() == set);
    const GpuMeshes* const all[] = {&meshes};
    for (const auto& [raster, one_pass] :
         {std::pair(GpuRaster::kGraphics, false), std::pair(GpuRaster::kCompute, false),
          std::pair(GpuRaster::kCompute, true)}) {
      // Four pictures side by side: with clip distances.
      GpuDepthDetector detector(gpu(), {.width = kDrawnSize, .height = kDrawnSize},
                                {.slots = 4, .raster = raster, .one_pass = one_pass});
      detector.draw_map(0, meshes, view);
      EXPECT_TRUE(read_gpu_state() == set);
      EXPECT_TRUE(detector.detect({.translation = {0.4, 0.2, 0.5}}, {.meshes = all}).colliding);
      EXPECT_FALSE(detector.detect({.translation = {0.9, 0.2, 0.5}}, {.meshes = all}).colliding);
      EXPECT_TRUE(read_gpu_state() == set);
      EXPECT_EQ(glGetError(), static_cast<GLenum>(GL_NO_ERROR));
    }
  }
  apply_gpu_state(before);
}

}  // namespace
}  // namespace isotact

#include "isotact/gpu/core/gl_state.h"

#include <epoxy/gl.h>

namespace isotact {
namespace {

constexpr std::array<GLenum, GpuState::kEnables> kSwitches{
    GL_DEPTH_TEST, GL_CULL_FACE, GL_STENCIL_TEST, GL_DEPTH_CLAMP, GL_MULTISAMPLE,
    GL_PRIMITIVE_RESTART, GL_PRIMITIVE_RESTART_FIXED_INDEX, GL_RASTERIZER_DISCARD,
    GL_COLOR_LOGIC_OP, GL_POLYGON_OFFSET_FILL, GL_POLYGON_OFFSET_LINE, GL_POLYGON_OFFSET_POINT,
    GL_SAMPLE_ALPHA_TO_COVERAGE, GL_SAMPLE_ALPHA_TO_ONE, GL_SAMPLE_COVERAGE, GL_SAMPLE_MASK,
    GL_SAMPLE_SHADING, GL_PROGRAM_POINT_SIZE, GL_LINE_SMOOTH, GL_POLYGON_SMOOTH, GL_DITHER,
    GL_FRAMEBUFFER_SRGB, GL_CLIP_DISTANCE0, GL_CLIP_DISTANCE0 + 1, GL_CLIP_DISTANCE0 + 2,
    GL_CLIP_DISTANCE0 + 3, GL_CLIP_DISTANCE0 + 4, GL_CLIP_DISTANCE0 + 5, GL_CLIP_DISTANCE0 + 6,
    GL_CLIP_DISTANCE0 + 7, GL_TEXTURE_CUBE_MAP_SEAMLESS,
    // If the GPU has them:
    GL_CONSERVATIVE_RASTERIZATION_NV, GL_CONSERVATIVE_RASTERIZATION_INTEL,
    GL_REPRESENTATIVE_FRAGMENT_TEST_NV, GL_DEPTH_BOUNDS_TEST_EXT, GL_FRAGMENT_COVERAGE_TO_COLOR_NV};
constexpr std::size_t kFirstExtension = 31;

// A query for the switch of a missing extension is an error.
const std::array<bool, GpuState::kEnables>& find_switches() {
  static const std::array<bool, GpuState::kEnables> there = [] {
    std::array<bool, GpuState::kEnables> all{};
    all.fill(true);
    constexpr std::array<const char*, GpuState::kEnables - kFirstExtension> kNames{
        "GL_NV_conservative_raster", "GL_INTEL_conservative_rasterization",
        "GL_NV_representative_fragment_test", "GL_EXT_depth_bounds_test",
        "GL_NV_fragment_coverage_to_color"};
    for (std::size_t i = 0; i < kNames.size(); ++i)
      all[kFirstExtension + i] = epoxy_has_gl_extension(kNames[i]);
    return all;
  }();
  return there;
}

std::int32_t get(GLenum what) {
  GLint value = 0;
  glGetIntegerv(what, &value);
  return value;
}

GpuState::Range get_range(GLenum binding, GLenum start, GLenum size, GLuint index) {
  GpuState::Range r;
  GLint name = 0;
  GLint64 first = 0, bytes = 0;
  glGetIntegeri_v(binding, index, &name);
  if (name != 0) {
    glGetInteger64i_v(start, index, &first);
    glGetInteger64i_v(size, index, &bytes);
  }
  r.buffer = name, r.start = first, r.size = bytes;
  return r;
}

void put_range(GLenum target, GLuint index, const GpuState::Range& r) {
  const auto name = static_cast<GLuint>(r.buffer);
  if (r.size == 0)
    glBindBufferBase(target, index, name);
  else
    glBindBufferRange(target, index, name, static_cast<GLintptr>(r.start),
                      static_cast<GLsizeiptr>(r.size));
}

struct StencilNames {
  GLenum function, reference, value_mask, write_mask, fail, depth_fail, pass;
};
constexpr std::array<StencilNames, 2> kStencilNames{
    StencilNames{GL_STENCIL_FUNC, GL_STENCIL_REF, GL_STENCIL_VALUE_MASK, GL_STENCIL_WRITEMASK,
                 GL_STENCIL_FAIL, GL_STENCIL_PASS_DEPTH_FAIL, GL_STENCIL_PASS_DEPTH_PASS},
    StencilNames{GL_STENCIL_BACK_FUNC, GL_STENCIL_BACK_REF, GL_STENCIL_BACK_VALUE_MASK,
                 GL_STENCIL_BACK_WRITEMASK, GL_STENCIL_BACK_FAIL, GL_STENCIL_BACK_PASS_DEPTH_FAIL,
                 GL_STENCIL_BACK_PASS_DEPTH_PASS}};
constexpr std::array<GLenum, 2> kFaces{GL_FRONT, GL_BACK};

// Targets of a unit: binding texture 0 to it empties all of them.
struct TargetNames {
  GLenum target, binding;
};
constexpr std::array<TargetNames, GpuState::kTargets> kTargetNames{
    TargetNames{GL_TEXTURE_2D, GL_TEXTURE_BINDING_2D},
    {GL_TEXTURE_2D_ARRAY, GL_TEXTURE_BINDING_2D_ARRAY},
    {GL_TEXTURE_1D, GL_TEXTURE_BINDING_1D},
    {GL_TEXTURE_1D_ARRAY, GL_TEXTURE_BINDING_1D_ARRAY},
    {GL_TEXTURE_3D, GL_TEXTURE_BINDING_3D},
    {GL_TEXTURE_RECTANGLE, GL_TEXTURE_BINDING_RECTANGLE},
    {GL_TEXTURE_BUFFER, GL_TEXTURE_BINDING_BUFFER},
    {GL_TEXTURE_CUBE_MAP, GL_TEXTURE_BINDING_CUBE_MAP},
    {GL_TEXTURE_CUBE_MAP_ARRAY, GL_TEXTURE_BINDING_CUBE_MAP_ARRAY},
    {GL_TEXTURE_2D_MULTISAMPLE, GL_TEXTURE_BINDING_2D_MULTISAMPLE},
    {GL_TEXTURE_2D_MULTISAMPLE_ARRAY, GL_TEXTURE_BINDING_2D_MULTISAMPLE_ARRAY}};

constexpr std::array<GLenum, 8> kPack{GL_PACK_SWAP_BYTES,   GL_PACK_LSB_FIRST, GL_PACK_ROW_LENGTH,
                                      GL_PACK_IMAGE_HEIGHT, GL_PACK_SKIP_ROWS, GL_PACK_SKIP_PIXELS,
                                      GL_PACK_SKIP_IMAGES,  GL_PACK_ALIGNMENT};
constexpr std::array<GLenum, 8> kUnpack{
    GL_UNPACK_SWAP_BYTES, GL_UNPACK_LSB_FIRST,   GL_UNPACK_ROW_LENGTH,  GL_UNPACK_IMAGE_HEIGHT,
    GL_UNPACK_SKIP_ROWS,  GL_UNPACK_SKIP_PIXELS, GL_UNPACK_SKIP_IMAGES, GL_UNPACK_ALIGNMENT};

void put_switch(GLenum what, bool on) {
  if (on)
    glEnable(what);
  else
    glDisable(what);
}
void put_first(GLenum what, bool on) {
  if (on)
    glEnablei(what, 0);
  else
    glDisablei(what, 0);
}

void read_fixed(GpuState& s) {
  glGetFloati_v(GL_VIEWPORT, 0, s.viewport.data());
  glGetDoublei_v(GL_DEPTH_RANGE, 0, s.depth_range.data());
  glGetIntegeri_v(GL_SCISSOR_BOX, 0, s.scissor.data());
  for (std::size_t i = 0; i < kSwitches.size(); ++i)
    s.enables[i] = find_switches()[i] && glIsEnabled(kSwitches[i]) == GL_TRUE;
  s.blend = glIsEnabledi(GL_BLEND, 0) == GL_TRUE;
  s.scissor_test = glIsEnabledi(GL_SCISSOR_TEST, 0) == GL_TRUE;
  s.depth_function = get(GL_DEPTH_FUNC);
  s.depth_mask = get(GL_DEPTH_WRITEMASK) != 0;
  s.cull_face = get(GL_CULL_FACE_MODE);
  s.front_face = get(GL_FRONT_FACE);
  s.clip_origin = get(GL_CLIP_ORIGIN);
  s.clip_depth = get(GL_CLIP_DEPTH_MODE);
  std::array<GLboolean, 4> mask{};
  glGetBooleani_v(GL_COLOR_WRITEMASK, 0, mask.data());
  for (std::size_t i = 0; i < 4; ++i) s.color_mask[i] = mask[i] == GL_TRUE;
  // Some drivers return one number, others two equal ones.
  glGetIntegerv(GL_POLYGON_MODE, s.polygon_mode.data());
  s.polygon_mode[1] = s.polygon_mode[0];
  s.patch_vertices = get(GL_PATCH_VERTICES);
  s.provoking_vertex = get(GL_PROVOKING_VERTEX);
  s.restart_index = get(GL_PRIMITIVE_RESTART_INDEX);
  glGetFloatv(GL_POINT_SIZE, &s.point_size);
  glGetFloatv(GL_LINE_WIDTH, &s.line_width);
  for (std::size_t i = 0; i < 2; ++i) {
    const StencilNames& n = kStencilNames[i];
    s.stencil[i] = {get(n.function), get(n.reference),  get(n.value_mask), get(n.write_mask),
                    get(n.fail),     get(n.depth_fail), get(n.pass)};
  }
}

void apply_fixed(const GpuState& s) {
  glViewportIndexedfv(0, s.viewport.data());
  glDepthRangeIndexed(0, s.depth_range[0], s.depth_range[1]);
  glScissorIndexedv(0, s.scissor.data());
  for (std::size_t i = 0; i < kSwitches.size(); ++i)
    if (find_switches()[i]) put_switch(kSwitches[i], s.enables[i]);
  put_first(GL_BLEND, s.blend);
  put_first(GL_SCISSOR_TEST, s.scissor_test);
  glDepthFunc(static_cast<GLenum>(s.depth_function));
  glDepthMask(s.depth_mask ? GL_TRUE : GL_FALSE);
  glCullFace(static_cast<GLenum>(s.cull_face));
  glFrontFace(static_cast<GLenum>(s.front_face));
  glClipControl(static_cast<GLenum>(s.clip_origin), static_cast<GLenum>(s.clip_depth));
  const auto to_gl = [](bool b) { return static_cast<GLboolean>(b ? GL_TRUE : GL_FALSE); };
  glColorMaski(0, to_gl(s.color_mask[0]), to_gl(s.color_mask[1]), to_gl(s.color_mask[2]),
               to_gl(s.color_mask[3]));
  glPolygonMode(GL_FRONT_AND_BACK, static_cast<GLenum>(s.polygon_mode[0]));
  glPatchParameteri(GL_PATCH_VERTICES, s.patch_vertices);
  glProvokingVertex(static_cast<GLenum>(s.provoking_vertex));
  glPrimitiveRestartIndex(static_cast<GLuint>(s.restart_index));
  glPointSize(s.point_size);
  glLineWidth(s.line_width);
  for (std::size_t i = 0; i < 2; ++i) {
    const GpuState::Stencil& t = s.stencil[i];
    glStencilFuncSeparate(kFaces[i], static_cast<GLenum>(t.function), t.reference,
                          static_cast<GLuint>(t.value_mask));
    glStencilMaskSeparate(kFaces[i], static_cast<GLuint>(t.write_mask));
    glStencilOpSeparate(kFaces[i], static_cast<GLenum>(t.fail), static_cast<GLenum>(t.depth_fail),
                        static_cast<GLenum>(t.pass));
  }
}

void read_bindings(GpuState& s) {
  s.program = get(GL_CURRENT_PROGRAM);
  s.pipeline = get(GL_PROGRAM_PIPELINE_BINDING);
  s.vertex_array = get(GL_VERTEX_ARRAY_BINDING);
  s.draw_framebuffer = get(GL_DRAW_FRAMEBUFFER_BINDING);
  s.read_framebuffer = get(GL_READ_FRAMEBUFFER_BINDING);
  s.storage_buffer = get(GL_SHADER_STORAGE_BUFFER_BINDING);
  s.uniform_buffer = get(GL_UNIFORM_BUFFER_BINDING);
  s.array_buffer = get(GL_ARRAY_BUFFER_BINDING);
  s.draw_indirect = get(GL_DRAW_INDIRECT_BUFFER_BINDING);
  s.dispatch_indirect = get(GL_DISPATCH_INDIRECT_BUFFER_BINDING);
  s.pack_buffer = get(GL_PIXEL_PACK_BUFFER_BINDING);
  s.unpack_buffer = get(GL_PIXEL_UNPACK_BUFFER_BINDING);
  for (std::size_t i = 0; i < s.storage.size(); ++i)
    s.storage[i] = get_range(GL_SHADER_STORAGE_BUFFER_BINDING, GL_SHADER_STORAGE_BUFFER_START,
                             GL_SHADER_STORAGE_BUFFER_SIZE, static_cast<GLuint>(i));
  for (std::size_t i = 0; i < s.uniform.size(); ++i)
    s.uniform[i] =
        get_range(GL_UNIFORM_BUFFER_BINDING, GL_UNIFORM_BUFFER_START, GL_UNIFORM_BUFFER_SIZE,
                  static_cast<GLuint>(GpuState::kFirstUniformBinding) + static_cast<GLuint>(i));
  s.active_texture = get(GL_ACTIVE_TEXTURE);
  for (std::size_t i = 0; i < s.units.size(); ++i) {
    glActiveTexture(GL_TEXTURE0 + GpuState::kFirstUnit + static_cast<GLenum>(i));
    for (std::size_t t = 0; t < kTargetNames.size(); ++t)
      s.units[i].textures[t] = get(kTargetNames[t].binding);
    s.units[i].sampler = get(GL_SAMPLER_BINDING);
  }
  glActiveTexture(static_cast<GLenum>(s.active_texture));
}

void apply_bindings(const GpuState& s) {
  const auto name = [](std::int32_t n) { return static_cast<GLuint>(n); };
  glUseProgram(name(s.program));
  glBindProgramPipeline(name(s.pipeline));
  glBindVertexArray(name(s.vertex_array));
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, name(s.draw_framebuffer));
  glBindFramebuffer(GL_READ_FRAMEBUFFER, name(s.read_framebuffer));
  for (std::size_t i = 0; i < s.storage.size(); ++i)
    put_range(GL_SHADER_STORAGE_BUFFER, static_cast<GLuint>(i), s.storage[i]);
  for (std::size_t i = 0; i < s.uniform.size(); ++i)
    put_range(GL_UNIFORM_BUFFER,
              static_cast<GLuint>(GpuState::kFirstUniformBinding) + static_cast<GLuint>(i),
              s.uniform[i]);
  // Binding a range also binds the target itself: these come last.
  glBindBuffer(GL_SHADER_STORAGE_BUFFER, name(s.storage_buffer));
  glBindBuffer(GL_UNIFORM_BUFFER, name(s.uniform_buffer));
  glBindBuffer(GL_ARRAY_BUFFER, name(s.array_buffer));
  glBindBuffer(GL_DRAW_INDIRECT_BUFFER, name(s.draw_indirect));
  glBindBuffer(GL_DISPATCH_INDIRECT_BUFFER, name(s.dispatch_indirect));
  glBindBuffer(GL_PIXEL_PACK_BUFFER, name(s.pack_buffer));
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, name(s.unpack_buffer));
  for (std::size_t i = 0; i < s.units.size(); ++i) {
    const GLuint unit = static_cast<GLuint>(GpuState::kFirstUnit) + static_cast<GLuint>(i);
    glActiveTexture(GL_TEXTURE0 + unit);
    for (std::size_t t = 0; t < kTargetNames.size(); ++t)
      glBindTexture(kTargetNames[t].target, name(s.units[i].textures[t]));
    glBindSampler(unit, name(s.units[i].sampler));
  }
  glActiveTexture(static_cast<GLenum>(s.active_texture));
}

}  // namespace

GpuState read_gpu_state() {
  GpuState s;
  read_fixed(s);
  read_bindings(s);
  for (std::size_t i = 0; i < kPack.size(); ++i) s.pack[i] = get(kPack[i]);
  for (std::size_t i = 0; i < kUnpack.size(); ++i) s.unpack[i] = get(kUnpack[i]);
  return s;
}

void apply_gpu_state(const GpuState& state) {
  apply_fixed(state);
  apply_bindings(state);
  for (std::size_t i = 0; i < kPack.size(); ++i) glPixelStorei(kPack[i], state.pack[i]);
  for (std::size_t i = 0; i < kUnpack.size(); ++i) glPixelStorei(kUnpack[i], state.unpack[i]);
}

void clear_gpu_state() {
  GpuState s;
  s.depth_range = {0, 1};
  s.depth_function = GL_LESS;
  s.depth_mask = true;
  s.cull_face = GL_BACK;
  s.front_face = GL_CCW;
  s.clip_origin = GL_LOWER_LEFT;
  s.clip_depth = GL_NEGATIVE_ONE_TO_ONE;
  s.color_mask.fill(true);
  s.polygon_mode.fill(GL_FILL);
  s.patch_vertices = 3;
  s.provoking_vertex = GL_LAST_VERTEX_CONVENTION;
  s.point_size = s.line_width = 1;
  const GpuState::Stencil stencil{GL_ALWAYS, 0, -1, -1, GL_KEEP, GL_KEEP, GL_KEEP};
  s.stencil.fill(stencil);
  apply_fixed(s);
  glBindProgramPipeline(0);
  for (const auto* names : {&kPack, &kUnpack})
    for (const GLenum what : *names)
      glPixelStorei(what, what == GL_PACK_ALIGNMENT || what == GL_UNPACK_ALIGNMENT ? 4 : 0);
  glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
}

GpuStateGuard::GpuStateGuard(bool wanted) : wanted_(wanted) {
  if (wanted_) state_ = read_gpu_state();
}
GpuStateGuard::~GpuStateGuard() {
  if (wanted_) apply_gpu_state(state_);
}

}  // namespace isotact

#include "isotact/gpu/particles/particle_maps.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <utility>

#include <epoxy/gl.h>
#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/gpu/core/gl_state.h"
#include "isotact/gpu/depth/draw_program.h"

namespace isotact {
namespace {

// By the order of State::textures.
constexpr GLuint kMapUnits[] = {glsl::kParticleDepthUnit, glsl::kParticleNormalUnit,
                                glsl::kParticleIdUnit, glsl::kParticleDataUnit};

void check_settings(const ParticleMapSettings& settings) {
  if (settings.size < 1 || settings.size > kMostDepthPixels)
    throw Error(fmt::format("maps of {} pixels a side; it must be 1 to {}", settings.size,
                            kMostDepthPixels));
  if (settings.cull_back_faces && settings.layers > 1)
    throw Error("maps of several layers need the far sides of obstacles");
  if (settings.layers < 1 || settings.layers > kMostParticleLayers)
    throw Error(
        fmt::format("maps of {} layers; it must be 1 to {}", settings.layers, kMostParticleLayers));
}

ParticleFace make_face(const Vec3& origin, const Vec3& ahead, const Vec3& up) {
  ParticleFace face;
  face.origin = to_float(origin);
  face.z = to_float(ahead);
  face.y = to_float(up);
  face.x = to_float(cross(ahead, up));
  return face;
}

void check_place(const ParticleView& view) {
  if (!is_finite(view.center) || !is_finite(view.direction))
    throw Error("a view of particles needs a centre and a direction that are finite");
}

std::array<ParticleFace, 6> make_cube_faces(const ParticleView& view) {
  check_place(view);
  if (!(view.near > 0 && view.far > view.near && std::isfinite(view.far)))
    throw Error(fmt::format("a cube of maps from {} m to {} m; it must be 0 < near < far",
                            view.near, view.far));
  std::array<ParticleFace, 6> faces;
  for (std::size_t i = 0; i < 6; ++i) {
    Vec3 ahead{}, up{};
    ahead[i / 2] = i % 2 == 0 ? 1 : -1;
    up[(i / 2 + 1) % 3] = 1;
    faces[i] = make_face(view.center, ahead, up);
    faces[i].near = static_cast<float>(view.near);
    faces[i].far = static_cast<float>(view.far);
  }
  return faces;
}

ParticleFace make_box_face(const ParticleView& view) {
  check_place(view);
  const Vec3 ahead = normalized(view.direction);
  const Vec3 half = view.half_size;
  if (!(half.x > 0 && half.y > 0 && half.z > 0) || length_sq(ahead) == 0 || !is_finite(half))
    throw Error("a view of particles needs a direction and a box with three sizes above zero");
  const Vec3 aside = std::abs(ahead.y) < 0.9 ? Vec3{0, 1, 0} : Vec3{0, 0, -1};
  const Vec3 up = normalized(aside - ahead * dot(aside, ahead));
  ParticleFace face = make_face(view.center - ahead * half.z, ahead, up);
  face.half_x = static_cast<float>(half.x);
  face.half_y = static_cast<float>(half.y);
  face.far = static_cast<float>(2 * half.z);
  return face;
}

// GpuStateGuard covers the first of the pictures that are drawn at once; this class covers the
// others.
class OtherTargets {
 public:
  explicit OtherTargets(bool wanted) : wanted_(wanted) {
    for (GLuint i = 0; wanted_ && i < 2; ++i) {
      glGetBooleani_v(GL_COLOR_WRITEMASK, i + 1, masks_[i].data());
      blends_[i] = glIsEnabledi(GL_BLEND, i + 1);
    }
    for (GLuint i = 1; i <= 2; ++i) {
      glColorMaski(i, GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
      glDisablei(GL_BLEND, i);
    }
  }
  OtherTargets(const OtherTargets&) = delete;
  OtherTargets& operator=(const OtherTargets&) = delete;
  ~OtherTargets() {
    for (GLuint i = 0; wanted_ && i < 2; ++i) {
      const auto& m = masks_[i];
      glColorMaski(i + 1, m[0], m[1], m[2], m[3]);
      if (blends_[i] == GL_TRUE) glEnablei(GL_BLEND, i + 1);
    }
  }

 private:
  bool wanted_;
  std::array<std::array<GLboolean, 4>, 2> masks_{};
  std::array<GLboolean, 2> blends_{};
};

void set_culling(bool wanted) { wanted ? glEnable(GL_CULL_FACE) : glDisable(GL_CULL_FACE); }

std::array<float, 16> make_clip_from_world(const ParticleFace& face, bool cube) {
  const double near = static_cast<double>(face.near), far = static_cast<double>(face.far);
  const Vec3 x = to_double(face.x), y = to_double(face.y), z = to_double(face.z);
  const Vec3 origin = to_double(face.origin);
  // Rows of the clip matrix, each a plane: normal and offset.
  struct Row {
    Vec3 n;
    double d;
  };
  const auto through = [&](const Vec3& n, double scale, double offset) {
    return Row{n * scale, -dot(n, origin) * scale + offset};
  };
  const double depth = far - near;
  const double hx = static_cast<double>(face.half_x), hy = static_cast<double>(face.half_y);
  const std::array<Row, 4> rows =
      cube ? std::array<Row, 4>{through(x, 1, 0), through(y, 1, 0),
                                through(z, (far + near) / depth, -2 * far * near / depth),
                                through(z, 1, 0)}
           : std::array<Row, 4>{through(x, 1 / hx, 0), through(y, 1 / hy, 0),
                                through(z, 2 / depth, -(far + near) / depth), Row{{}, 1}};
  std::array<float, 16> columns{};
  for (std::size_t r = 0; r < 4; ++r) {
    for (std::size_t c = 0; c < 3; ++c) columns[c * 4 + r] = static_cast<float>(rows[r].n[c]);
    columns[12 + r] = static_cast<float>(rows[r].d);
  }
  return columns;
}

}  // namespace

struct GpuParticleMaps::State {
  explicit State(const ParticleMapSettings& s)
      : settings(s), fragment("particle_surface.frag", s.layers > 1 ? peel() : none()) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    glDeleteTextures(static_cast<GLsizei>(textures.size()), textures.data());
    glDeleteFramebuffers(static_cast<GLsizei>(framebuffers.size()), framebuffers.data());
    glDeleteBuffers(1, &map_buffer);
    glDeleteBuffers(1, &draw_buffer);
  }
  static std::vector<ShaderDefine> peel() { return {{"PEEL", "1"}}; }
  static std::vector<ShaderDefine> none() { return {}; }

  int slices() const { return (settings.cube ? 6 : 1) * settings.layers; }
  void make_textures();
  void make_framebuffers();
  void upload_map_block(const std::array<ParticleFace, 6>& faces);
  void upload_draw_blocks(std::span<const ParticleObstacle> obstacles);
  void bind_textures() const;
  void draw_slice(int face, int layer, std::span<const ParticleObstacle> obstacles);

  ParticleMapSettings settings;
  FragmentShader fragment;
  std::array<GLuint, 4> textures{};  // Depths, normals, ids, data; 0 if not requested.
  std::vector<GLuint> framebuffers;  // One per slice.
  GLuint map_buffer = 0, draw_buffer = 0;
  glsl::ParticleMapBlock map{};
  std::vector<std::byte> draw_bytes;  // As uploaded.
  std::size_t draw_stride = 256, draw_capacity = 0;
  std::uint64_t bytes = 0;
};

void GpuParticleMaps::State::make_textures() {
  const std::array<bool, 4> wanted = {true, settings.normals, settings.ids, settings.data};
  const std::array<GLenum, 4> formats = {GL_DEPTH_COMPONENT32F, GL_RGBA16F, GL_R32UI, GL_RGBA32F};
  const std::array<std::uint64_t, 4> sizes = {4, 8, 4, 16};
  while (glGetError() != GL_NO_ERROR) {
  }
  for (std::size_t i = 0; i < 4; ++i) {
    if (!wanted[i]) continue;
    glCreateTextures(GL_TEXTURE_2D_ARRAY, 1, &textures[i]);
    glTextureStorage3D(textures[i], 1, formats[i], settings.size, settings.size, slices());
    glTextureParameteri(textures[i], GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTextureParameteri(textures[i], GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    bytes += sizes[i] * static_cast<std::uint64_t>(settings.size) *
             static_cast<std::uint64_t>(settings.size) * static_cast<std::uint64_t>(slices());
  }
  if (glGetError() != GL_NO_ERROR)
    throw Error(fmt::format("the GPU has no memory for {} maps of {} pixels per side", slices(),
                            settings.size));
}

void GpuParticleMaps::State::make_framebuffers() {
  framebuffers.resize(static_cast<std::size_t>(slices()));
  glCreateFramebuffers(slices(), framebuffers.data());
  for (int slice = 0; slice < slices(); ++slice) {
    const GLuint name = framebuffers[static_cast<std::size_t>(slice)];
    glNamedFramebufferTextureLayer(name, GL_DEPTH_ATTACHMENT, textures[0], 0, slice);
    std::array<GLenum, 3> targets = {GL_NONE, GL_NONE, GL_NONE};
    for (std::uint32_t i = 0; i < 3; ++i) {
      if (textures[i + 1] == 0) continue;
      targets[i] = GL_COLOR_ATTACHMENT0 + i;
      glNamedFramebufferTextureLayer(name, targets[i], textures[i + 1], 0, slice);
    }
    glNamedFramebufferDrawBuffers(name, 3, targets.data());
    if (glCheckNamedFramebufferStatus(name, GL_DRAW_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
      throw Error("the GPU cannot draw into maps of particles");
  }
}

void GpuParticleMaps::State::upload_map_block(const std::array<ParticleFace, 6>& faces) {
  std::copy(faces.begin(), faces.end(), map.faces);
  map.size = settings.size, map.layers = settings.layers, map.is_cube = settings.cube ? 1 : 0;
  map.has_normals = settings.normals ? 1 : 0;
  map.has_ids = settings.ids ? 1 : 0;
  map.has_data = settings.data ? 1 : 0;
  glNamedBufferSubData(map_buffer, 0, sizeof map, &map);
}

// A record for each slice and obstacle; usually the same as last time.
void GpuParticleMaps::State::upload_draw_blocks(std::span<const ParticleObstacle> obstacles) {
  std::vector<std::byte> now(draw_stride * obstacles.size() * static_cast<std::size_t>(slices()));
  std::size_t at = 0;
  for (int slice = 0; slice < slices(); ++slice)
    for (const ParticleObstacle& o : obstacles) {
      const bool is_thin = o.drawable.primitive != DepthPrimitive::kTriangles;
      const glsl::ParticleDrawBlock block{.data = {o.data[0], o.data[1], o.data[2], o.data[3]},
                                          .face = slice / settings.layers,
                                          .layer = slice % settings.layers,
                                          .id = static_cast<std::int32_t>(o.drawable.id),
                                          .is_thin = is_thin ? 1 : 0};
      std::memcpy(now.data() + at, &block, sizeof block);
      at += draw_stride;
    }
  if (now == draw_bytes) return;
  if (now.size() > draw_capacity) {
    glDeleteBuffers(1, &draw_buffer);
    glCreateBuffers(1, &draw_buffer);
    draw_capacity = now.size() * 2;
    glNamedBufferStorage(draw_buffer, static_cast<GLsizeiptr>(draw_capacity), nullptr,
                         GL_DYNAMIC_STORAGE_BIT);
  }
  glNamedBufferSubData(draw_buffer, 0, static_cast<GLsizeiptr>(now.size()), now.data());
  draw_bytes = std::move(now);
}

void GpuParticleMaps::State::bind_textures() const {
  for (std::size_t i = 0; i < textures.size(); ++i) {
    glBindTextureUnit(kMapUnits[i], textures[i]);
    glBindSampler(kMapUnits[i], 0);
  }
}

void GpuParticleMaps::State::draw_slice(int face, int layer,
                                        std::span<const ParticleObstacle> obstacles) {
  const auto slice = static_cast<std::size_t>(face * settings.layers + layer);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, framebuffers[slice]);
  // Values of the others at empty pixels are never read.
  const float far = 1;
  glClearNamedFramebufferfv(framebuffers[slice], GL_DEPTH, 0, &far);
  if (layer > 0) glTextureBarrier();
  DrawPass pass;
  pass.clip_from_world =
      make_clip_from_world(map.faces[static_cast<std::size_t>(face)], settings.cube);
  pass.fragment = &fragment;
  for (std::size_t i = 0; i < obstacles.size(); ++i) {
    glBindBufferRange(GL_UNIFORM_BUFFER, glsl::kParticleDrawAt, draw_buffer,
                      static_cast<GLintptr>((slice * obstacles.size() + i) * draw_stride),
                      sizeof(glsl::ParticleDrawBlock));
    pass.element = static_cast<std::uint32_t>(i);
    set_culling(settings.cull_back_faces && obstacles[i].drawable.closed);
    obstacles[i].drawable.draw(pass);
  }
}

GpuParticleMaps::GpuParticleMaps(const GpuContext& gpu, const ParticleMapSettings& settings) {
  check_settings(settings);
  gpu.make_current();
  state_ = std::make_unique<State>(settings);
  state_->make_textures();
  state_->make_framebuffers();
  GLint alignment = 256;
  glGetIntegerv(GL_UNIFORM_BUFFER_OFFSET_ALIGNMENT, &alignment);
  const auto step = static_cast<std::size_t>(alignment);
  state_->draw_stride = (sizeof(glsl::ParticleDrawBlock) + step - 1) / step * step;
  glCreateBuffers(1, &state_->map_buffer);
  glNamedBufferStorage(state_->map_buffer, sizeof(glsl::ParticleMapBlock), nullptr,
                       GL_DYNAMIC_STORAGE_BIT);
}
GpuParticleMaps::GpuParticleMaps(GpuParticleMaps&&) noexcept = default;
GpuParticleMaps& GpuParticleMaps::operator=(GpuParticleMaps&&) noexcept = default;
GpuParticleMaps::~GpuParticleMaps() = default;

void GpuParticleMaps::draw(const ParticleView& view, std::span<const ParticleObstacle> obstacles) {
  State& s = *state_;
  const bool cube = s.settings.cube;
  const auto faces =
      cube ? make_cube_faces(view) : std::array<ParticleFace, 6>{make_box_face(view)};
  const GpuStateGuard guard(s.settings.save_state);
  clear_gpu_state();
  const OtherTargets others(s.settings.save_state);
  s.upload_map_block(faces);
  s.upload_draw_blocks(obstacles);
  glBindBufferBase(GL_UNIFORM_BUFFER, glsl::kParticleMapAt, s.map_buffer);
  s.bind_textures();
  const auto side = static_cast<float>(s.settings.size);
  glViewportIndexedf(0, 0, 0, side, side);  // The others are the caller's.
  glEnable(GL_DEPTH_TEST);
  glDepthFunc(GL_LESS);
  glCullFace(GL_BACK);
  glFrontFace(GL_CCW);
  for (int face = 0; face < (cube ? 6 : 1); ++face)
    for (int layer = 0; layer < s.settings.layers; ++layer) s.draw_slice(face, layer, obstacles);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);
}

void GpuParticleMaps::bind() const {
  glBindBufferBase(GL_UNIFORM_BUFFER, glsl::kParticleMapAt, state_->map_buffer);
  state_->bind_textures();
}

ParticleMaps GpuParticleMaps::read() const {
  const State& s = *state_;
  ParticleMaps maps;
  maps.size = s.settings.size;
  maps.faces = s.settings.cube ? 6 : 1;
  maps.layers = s.settings.layers;
  maps.cube = s.settings.cube;
  std::copy(std::begin(s.map.faces), std::end(s.map.faces), maps.face.begin());
  const GpuStateGuard guard(s.settings.save_state);
  clear_gpu_state();  // Also resets the packing of pixels.
  const std::size_t texels = static_cast<std::size_t>(s.settings.size) *
                             static_cast<std::size_t>(s.settings.size) *
                             static_cast<std::size_t>(s.slices());
  const auto get = [&](std::size_t i, GLenum format, GLenum type, auto& out) {
    if (s.textures[i] == 0) return;
    out.resize(texels);
    glGetTextureImage(s.textures[i], 0, format, type, static_cast<GLsizei>(texels * sizeof(out[0])),
                      out.data());
  };
  get(0, GL_DEPTH_COMPONENT, GL_FLOAT, maps.depths);
  get(1, GL_RGBA, GL_FLOAT, maps.normals);
  get(2, GL_RED_INTEGER, GL_UNSIGNED_INT, maps.ids);
  get(3, GL_RGBA, GL_FLOAT, maps.data);
  // At empty pixels the others have arbitrary values.
  for (std::size_t i = 0; i < texels; ++i) {
    if (maps.depths[i] < 1) continue;
    if (!maps.normals.empty()) maps.normals[i] = {};
    if (!maps.ids.empty()) maps.ids[i] = 0;
    if (!maps.data.empty()) maps.data[i] = {};
  }
  return maps;
}

const ParticleMapSettings& GpuParticleMaps::settings() const { return state_->settings; }
std::uint64_t GpuParticleMaps::memory_bytes() const { return state_->bytes; }

}  // namespace isotact

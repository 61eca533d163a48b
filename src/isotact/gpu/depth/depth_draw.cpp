// The passes of image-space detection: an object's map, and the environment against it.
#include <algorithm>
#include <cmath>

#include <epoxy/gl.h>

#include "isotact/gpu/depth/detail/depth_state.h"

namespace isotact {
namespace detail {

std::array<float, 16> make_clip_matrix(const DepthView& view, const Pose& view_from_frame) {
  const Mat3 turn = to_matrix(view_from_frame.rotation);
  const Vec3& t = view_from_frame.translation;
  std::array<float, 16> m{};
  for (std::size_t row = 0; row < 3; ++row) {
    const double scale = 1 / view.half_size[row];
    for (std::size_t column = 0; column < 3; ++column)
      m[4 * column + row] = static_cast<float>(turn.rows[row][column] * scale);
    m[12 + row] = static_cast<float>(t[row] * scale);
  }
  m[15] = 1;
  return m;
}

void set_conservative(bool on) {
  const GLenum what = epoxy_has_gl_extension("GL_NV_conservative_raster")
                          ? GL_CONSERVATIVE_RASTERIZATION_NV
                          : GL_CONSERVATIVE_RASTERIZATION_INTEL;
  if (on)
    glEnable(what);
  else
    glDisable(what);
}

}  // namespace detail

namespace {

constexpr GLbitfield kShaderBarriers =
    GL_SHADER_STORAGE_BARRIER_BIT | GL_COMMAND_BARRIER_BIT | GL_BUFFER_UPDATE_BARRIER_BIT;

void put_draw_switch(GLenum what, bool on) {
  if (on)
    glEnable(what);
  else
    glDisable(what);
}

std::uint32_t flags_of(const GpuDrawable& d) {
  return (d.closed ? detail::kPassClosed : 0U) |
         (d.primitive != DepthPrimitive::kTriangles ? detail::kPassThin : 0U);
}

// Boxes along the view's axes, with tolerances for rounding, for wide points and lines, and for
// conservative rasterisation.
bool misses_box(const Aabb& bounds, const std::array<float, 16>& clip_from_world,
                const glsl::ivec2& size) {
  const Vec3 middle = center(bounds), half = 0.5 * extent(bounds);
  const double pixels = 16.0 / std::min(size[0], size[1]);
  for (std::size_t row = 0; row < 3; ++row) {
    double at = static_cast<double>(clip_from_world[12 + row]);
    double reach = row < 2 ? pixels : 1e-4;
    for (std::size_t column = 0; column < 3; ++column) {
      const double m = static_cast<double>(clip_from_world[4 * column + row]);
      at += m * middle[column];
      reach += std::abs(m) * half[column] * (1 + 1e-5);
    }
    if (std::abs(at) > 1 + reach) return true;
  }
  return false;
}

// 0: none.
void set_culling(GLenum face) {
  put_draw_switch(GL_CULL_FACE, face != 0);
  if (face != 0) glCullFace(face);
}

}  // namespace

void GpuDepthDetector::State::begin_pass(const detail::PassState& pass) const {
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, pass.framebuffer);
  // The view direction is +z of a right-handed frame: outlines have the opposite orientation of
  // OpenGL's own views.
  glFrontFace(GL_CW);
  glEnablei(GL_SCISSOR_TEST, 0);
  put_draw_switch(GL_DEPTH_TEST, pass.depth_function != 0);
  if (pass.depth_function != 0) glDepthFunc(pass.depth_function);
  put_draw_switch(GL_DEPTH_CLAMP, pass.clamp);
  set_culling(0);
}

void GpuDepthDetector::State::set_tile(int tile) const {
  const int x = tile % tiles * settings.width, y = tile / tiles * settings.height;
  glViewportIndexedf(0, static_cast<float>(x), static_cast<float>(y),
                     static_cast<float>(settings.width), static_cast<float>(settings.height));
  // Points and wide lines reach beyond the viewport.
  glScissorIndexed(0, x, y, settings.width, settings.height);
}

void GpuDepthDetector::State::draw_object(std::span<const GpuDrawable> object,
                                          const DepthView& view, const detail::Upload& upload,
                                          const FragmentShader& fragment, std::uint32_t cull) {
  DrawPass pass{.clip_from_world = detail::make_clip_matrix(view, inverse(view.object_from_view)),
                .fragment = &fragment};
  for (std::size_t i = 0; i < object.size(); ++i) {
    upload.bind_pass(i + 1);
    // A surface that bounds no solid has no back.
    set_culling(object[i].closed ? cull : 0);
    pass.element = static_cast<std::uint32_t>(i);
    object[i].draw(pass);
  }
}

void GpuDepthDetector::State::draw_intervals(std::span<const GpuDrawable> object,
                                             const DepthView& view, const detail::Upload& upload) {
  const glsl::DepthNodesHead start{
      .count = 0, .room = static_cast<std::uint32_t>((nodes.size() - node_start()) / node_bytes())};
  glClearNamedBufferSubData(nodes.name(), GL_RG32UI, 0, sizeof start, GL_RG_INTEGER,
                            GL_UNSIGNED_INT, &start);
  detail::bind_buffers({{glsl::kDepthIntervalsAt, intervals.name()},
                        {glsl::kDepthMapsAt, notes.name()},
                        {glsl::kDepthHeadsAt, heads.name()},
                        {glsl::kDepthNodesAt, nodes.name()},
                        {glsl::kDepthTileBoundsAt, tile_bounds.name()}});
  begin_pass({.framebuffer = plain.name(), .clamp = true});
  set_tile(0);
  draw_object(object, view, upload, callers.gather, 0);
  if (settings.conservative) {
    detail::set_conservative(true);
    draw_object(object, view, upload, *callers.gather_whole, 0);
    detail::set_conservative(false);
  }
  glMemoryBarrier(kShaderBarriers);
}

void GpuDepthDetector::State::draw_heights(int slot, std::span<const GpuDrawable> object,
                                           const DepthView& view, const detail::Upload& upload) {
  const auto draw = [&](const detail::GlFramebuffer& picture, GLenum function, float start,
                        GLenum cull) {
    begin_pass({.framebuffer = picture.name(), .depth_function = function, .clamp = true});
    set_tile(slot);
    glClearNamedFramebufferfv(picture.name(), GL_DEPTH, 0, &start);
    draw_object(object, view, upload, callers.only, cull);
  };
  // FAB's two tricks: the reversed depth test, and the culling.
  draw(far_picture, GL_GREATER, 0, GL_FRONT);
  if (settings.two_sided) draw(near_picture, GL_LESS, 1, GL_BACK);
  glBindTextureUnit(glsl::kObjectFarUnit, object_far.name());
  glBindSampler(glsl::kObjectFarUnit, 0);
  glBindTextureUnit(glsl::kObjectNearUnit, object_near.name());
  glBindSampler(glsl::kObjectNearUnit, 0);
  detail::bind_buffers(
      {{glsl::kDepthMapsAt, notes.name()}, {glsl::kDepthTileBoundsAt, tile_bounds.name()}});
}

detail::DepthMapNote GpuDepthDetector::State::read_note(int slot) const {
  detail::DepthMapNote note;
  notes.read(std::span<detail::DepthMapNote>(&note, 1),
             static_cast<std::size_t>(slot) * sizeof note);
  return note;
}

void GpuDepthDetector::State::draw_map(int slot, std::span<const GpuDrawable> object,
                                       const DepthView& view, MapUpdate update) {
  slots[static_cast<std::size_t>(slot)] = {};
  for (;;) {
    detail::Upload& upload = map_upload;
    upload.reserve(detail::find_pass(object.size() + 1));
    upload.put(0, frame);
    detail::DepthPassBlock block{};
    block.slot = static_cast<std::uint32_t>(slot);
    block.slope[0] = static_cast<float>(view.half_size.z * settings.width / view.half_size.x);
    block.slope[1] = static_cast<float>(view.half_size.z * settings.height / view.half_size.y);
    block.metres = static_cast<float>(2 * view.half_size.z);
    upload.put(detail::find_pass(0), block);
    for (std::size_t i = 0; i < object.size(); ++i) {
      block.element = static_cast<std::uint32_t>(i);
      block.flags = flags_of(object[i]);
      upload.put(detail::find_pass(i + 1), block);
    }
    upload.send(detail::find_pass(object.size() + 1));
    upload.bind_frame();
    notes.clear_bytes(static_cast<std::size_t>(slot) * sizeof(detail::DepthMapNote),
                      sizeof(detail::DepthMapNote));
    if (by_intervals())
      draw_intervals(object, view, upload);
    else
      draw_heights(slot, object, view, upload);
    upload.bind_pass(0);
    resolve->dispatch(static_cast<std::uint32_t>(detail::count_tiles(settings.width)),
                      static_cast<std::uint32_t>(detail::count_tiles(settings.height)));
    if (update == MapUpdate::kQueue) break;
    const detail::DepthMapNote note = read_note(slot);
    if (note.lost == 0) break;
    const std::size_t surfaces = (nodes.size() - node_start()) / node_bytes() + note.lost;
    nodes = GpuBuffer(node_start() + (surfaces + surfaces / 4) * node_bytes());
  }
  slots[static_cast<std::size_t>(slot)] = {view, ++map_versions};
}

void GpuDepthDetector::State::bind_storage_and(std::uint32_t last_at,
                                               std::uint32_t last_name) const {
  detail::bind_buffers({{glsl::kDepthIntervalsAt, intervals.name()},
                        {glsl::kDepthMapsAt, notes.name()},
                        {glsl::kDepthMaskAt, hit_mask.name()},
                        {glsl::kDepthPartsAt, parts.name()},
                        {glsl::kDepthHitsAt, hits.name()},
                        {glsl::kDepthSumsAt, sums.name()},
                        {glsl::kDepthBitsAt, bits.name()},
                        {last_at, last_name}});
}

void GpuDepthDetector::State::bind_storage() const {
  bind_storage_and(glsl::kDepthWindingsAt, windings.name());
  if (by_intervals()) return;
  // In the order of their units.
  static_assert(glsl::kObjectNearUnit == glsl::kObjectFarUnit + 1 &&
                glsl::kEnvironmentDepthUnit == glsl::kObjectFarUnit + 2 &&
                glsl::kEnvironmentSurfaceUnit == glsl::kObjectFarUnit + 3);
  const GLuint textures[] = {object_far.name(), object_near.name(), environment_depth.name(),
                             environment_surface.name()};
  glBindTextures(glsl::kObjectFarUnit, 4, textures);
  glBindSamplers(glsl::kObjectFarUnit, 4, nullptr);
}

void GpuDepthDetector::State::mark_stencils(const detail::Flight& flight) {
  // Not into the texture that is read: the mask reads the object's.
  glEnable(GL_STENCIL_TEST);
  glStencilMask(0xff);
  glDepthMask(GL_FALSE);
  glDisable(GL_DEPTH_TEST);
  glColorMaski(0, GL_FALSE, GL_FALSE, GL_FALSE, GL_FALSE);
  glStencilFunc(GL_ALWAYS, 1, 0xff);
  glStencilOp(GL_REPLACE, GL_REPLACE, GL_REPLACE);
  glBindVertexArray(no_vertices.name());
  for (std::size_t q = 0; q < flight.queries.size(); ++q) {
    const std::uint64_t version = slots[static_cast<std::size_t>(flight.queries[q].slot)].version;
    if (stencils[q] == version) continue;
    stencils[q] = version;
    set_tile(static_cast<int>(q));
    const GLint nothing = 0;
    glClearNamedFramebufferiv(environment_picture.name(), GL_STENCIL, 0, &nothing);
    flight.upload.bind_pass(q);  // That of the first drawable.
    glUseProgram(mask->link(*mask_fragment));
    glDrawArrays(GL_TRIANGLES, 0, 3);
  }
  glColorMaski(0, GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
  glDepthMask(GL_TRUE);
  glEnable(GL_DEPTH_TEST);
  glStencilMask(0);
  glStencilFunc(GL_EQUAL, 1, 0xff);
  glStencilOp(GL_KEEP, GL_KEEP, GL_KEEP);
}

void GpuDepthDetector::State::draw_tested(const GpuDrawable& drawable, DrawPass& pass,
                                          bool look_inside) const {
  if (!settings.conservative) {
    drawable.draw(pass);
    return;
  }
  // Windings come from the pixels' centres, hits from all of their squares.
  pass.fragment = &callers.test;
  if (drawable.closed && look_inside) drawable.draw(pass);
  pass.fragment = &*callers.test_whole;
  detail::set_conservative(true);
  drawable.draw(pass);
  detail::set_conservative(false);
}

void GpuDepthDetector::State::draw_environment(const detail::Flight& flight,
                                               const GpuDepthScene& scene) {
  if (compute_raster && scene.drawables.empty()) {
    draw_meshes(flight);
    return;
  }
  const bool two_maps = settings.method == DepthMethod::kTwoMaps;
  const GLuint picture = two_maps ? environment_picture.name() : plain.name();
  begin_pass(
      {.framebuffer = picture, .depth_function = two_maps ? static_cast<GLenum>(GL_LESS) : 0U});
  if (two_maps) {
    const int used = static_cast<int>(flight.queries.size());
    glScissorIndexed(0, 0, 0, std::min(used, tiles) * settings.width,
                     (used + tiles - 1) / tiles * settings.height);
    const float furthest = 1;
    const std::uint32_t nobody[4] = {};
    glClearNamedFramebufferfv(picture, GL_DEPTH, 0, &furthest);
    glClearNamedFramebufferuiv(picture, GL_COLOR, 0, nobody);
    if (gpu_settings.use_stencil) mark_stencils(flight);
  }
  const bool look_inside = by_intervals() && settings.find_inside;
  DrawPass pass{.fragment = two_maps ? &callers.surface : &callers.test};
  std::size_t number = 0;
  for (std::size_t i = 0; i < scene.drawables.size(); ++i) {
    const GpuDrawable& drawable = scene.drawables[i];
    pass.element = static_cast<std::uint32_t>(i);
    // Closed elements are shown as FAB draws them. Intervals need all of their surfaces, including
    // those in front of the box.
    set_culling(drawable.closed && !by_intervals() ? GL_BACK : 0);
    put_draw_switch(GL_DEPTH_CLAMP, drawable.closed && look_inside);
    for (std::size_t q = 0; q < flight.queries.size(); ++q) {
      const Pose world_from_view =
          flight.queries[q].world_from_object * flight.views[q].object_from_view;
      pass.clip_from_world = detail::make_clip_matrix(flight.views[q], inverse(world_from_view));
      const std::size_t block = number++;
      // A closed one that misses the box does not contain it either.
      if (drawable.bounds && misses_box(*drawable.bounds, pass.clip_from_world, frame.size))
        continue;
      set_tile(static_cast<int>(q));
      flight.upload.bind_pass(block);
      draw_tested(drawable, pass, look_inside);
    }
  }
  draw_meshes(flight);
}

}  // namespace isotact

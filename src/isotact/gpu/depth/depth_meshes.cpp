// Our own meshes in image-space detection: culled in a compute shader, drawn by one indirect call.
#include <algorithm>
#include <array>
#include <cmath>

#include <epoxy/gl.h>

#include "isotact/gpu/core/detail/shader_text.h"
#include "isotact/gpu/depth/detail/depth_state.h"
#include "isotact/gpu/depth/detail/mesh_state.h"

namespace isotact {
namespace detail {
namespace {

// Largest number of primitives left by one culling; more queries are processed in batches.
constexpr std::uint64_t kMostVisible = std::uint64_t{1} << 23U;

using DrawCommands = std::array<DrawCommand, 3>;

// A batch's block, then its commands.
constexpr std::size_t kBatchBytes = 2 * kBlockAlign;

std::vector<ShaderDefine> make_cull_defines(const DepthSettings& settings) {
  std::vector<ShaderDefine> defines;
  if (settings.method != DepthMethod::kIntervals) defines.push_back({"MAPS", "1"});
  if (settings.method == DepthMethod::kTwoMaps) defines.push_back({"TWO_MAPS", "1"});
  return defines;
}

// Returns whether a closed element may contain a point of the query's box: not if its own box
// misses that. Then rays leave it as often as they enter it before they reach the box, and none of
// its surfaces needs to be counted. (Boxes along the view's axes, slightly too large.)
bool may_surround(const DrawnInstance& instance, const Aabb& bounds) {
  const Vec3 middle = center(bounds), half = 0.5 * extent(bounds);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const float* const row = &instance.clip_from_element[4 * axis];
    double at = static_cast<double>(row[3]), reach = 1e-4;
    for (std::size_t k = 0; k < 3; ++k) {
      at += static_cast<double>(row[k]) * middle[k];
      reach += std::abs(static_cast<double>(row[k])) * half[k] * (1 + 1e-5);
    }
    if (std::abs(at) > 1 + reach) return false;
  }
  return true;
}

}  // namespace

DrawnInstance make_instance(const GpuMeshes::State::Element& element, const DepthView& view,
                            const Pose& view_from_world) {
  const std::array<float, 16> columns = make_clip_matrix(view, view_from_world * element.pose);
  DrawnInstance instance{};
  for (std::size_t row = 0; row < 3; ++row)
    for (std::size_t column = 0; column < 4; ++column)
      instance.clip_from_element[4 * row + column] = columns[4 * column + row];
  instance.flags =
      (element.closed && element.surrounds && may_surround(instance, element.bounds) ? kPassClosed
                                                                                     : 0U) |
      (element.primitive != DepthPrimitive::kTriangles ? kPassThin : 0U);
  return instance;
}

MeshPrograms::MeshPrograms(const DepthSettings& settings, bool compute) {
  if (compute) {
    surfaces = {GpuProgram("depth_triangles.comp", {{"SURFACES", "1"}}),
                GpuProgram("depth_tiles.comp", {{"SURFACES", "1"}})};
    if (settings.find_inside)
      windings = {GpuProgram("depth_triangles.comp", {{"WINDINGS", "1"}}),
                  GpuProgram("depth_tiles.comp", {{"WINDINGS", "1"}})};
    return;
  }
  fragments.emplace(settings, true);
  cull = GpuProgram("depth_cull.comp", make_cull_defines(settings));
  for (std::size_t kind = 0; kind < draw.size(); ++kind)
    draw[kind] = std::make_unique<GpuDrawProgram>(
        DrawStages{.vertex = find_shader("depth_mesh.vert"),
                   .defines = {{"KIND", std::to_string(kind)},
                               {"CORNERS", std::to_string(kMeshCorners[kind]) + "u"}},
                   .name = "depth_mesh"});
}

}  // namespace detail

namespace {

void put_mesh_switch(GLenum what, bool on) {
  if (on)
    glEnable(what);
  else
    glDisable(what);
}

}  // namespace

void GpuDepthDetector::State::plan_meshes(detail::Flight& flight, const GpuDepthScene& scene,
                                          std::size_t& bytes) {
  flight.meshes.clear();
  if (flight.queries.empty()) return;
  for (const GpuMeshes* meshes_of_scene : scene.meshes) {
    const GpuMeshes::State& m = meshes_of_scene->state();
    detail::MeshPlan plan{.meshes = meshes_of_scene,
                          .first_element = static_cast<std::uint32_t>(flight.ids.size())};
    for (const GpuMeshes::State::Element& e : m.elements) flight.ids.push_back(e.id);
    if (m.cluster_count == 0) continue;
    if (!meshes) meshes = std::make_unique<detail::MeshPrograms>(settings, compute_raster);
    const std::uint64_t primitives = meshes_of_scene->primitives();
    plan.queries_at_once = static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(detail::kMostVisible / primitives, 1, flight.queries.size()));
    if (compute_raster) {
      plan.queries_at_once = static_cast<std::uint32_t>(flight.queries.size());
      meshes->visible.reserve(std::size_t{item_room} * sizeof(glsl::uvec4));
    } else {
      meshes->visible.reserve(plan.queries_at_once * primitives * sizeof(glsl::uvec2));
    }
    const std::size_t batches =
        (flight.queries.size() + plan.queries_at_once - 1) / plan.queries_at_once;
    plan.batches = bytes;
    plan.instances = plan.batches + batches * detail::kBatchBytes;
    bytes = detail::align_block(plan.instances + flight.queries.size() * m.elements.size() *
                                                     sizeof(detail::DrawnInstance));
    flight.meshes.push_back(plan);
  }
}

void GpuDepthDetector::State::put_meshes(detail::Flight& flight) const {
  for (const detail::MeshPlan& plan : flight.meshes) {
    const GpuMeshes::State& m = plan.meshes->state();
    std::size_t at = plan.instances;
    for (std::size_t q = 0; q < flight.queries.size(); ++q) {
      const Pose view_from_world =
          inverse(flight.queries[q].world_from_object * flight.views[q].object_from_view);
      for (std::size_t i = 0; i < m.elements.size(); ++i, at += sizeof(detail::DrawnInstance)) {
        detail::DrawnInstance instance =
            detail::make_instance(m.elements[i], flight.views[q], view_from_world);
        instance.number = plan.first_element + static_cast<std::uint32_t>(i);
        instance.query = static_cast<std::uint32_t>(q);
        flight.upload.put(at, instance);
      }
    }
    detail::MeshBatch batch{
        .elements = static_cast<std::uint32_t>(m.elements.size()),
        .first_query = 0,
        .atlas = {static_cast<float>(atlas_width), static_cast<float>(atlas_height)},
        .first_visible = {0, plan.queries_at_once * m.kinds[0],
                          plan.queries_at_once * (m.kinds[0] + m.kinds[1]), 0}};
    detail::DrawCommands commands{};
    if (compute_raster) {
      batch.first_visible[0] = item_room;
      commands[0].first = commands[1].first = 1;  // Dispatches of 0 x 1 x 1.
    }
    at = plan.batches;
    for (std::size_t q = 0; q < flight.queries.size();
         q += plan.queries_at_once, at += detail::kBatchBytes) {
      batch.first_query = static_cast<std::uint32_t>(q);
      flight.upload.put(at, batch);
      flight.upload.put(at + detail::kBlockAlign, commands);
    }
  }
}

void GpuDepthDetector::State::bind_batch(const detail::Flight& flight, const detail::MeshPlan& plan,
                                         std::size_t batch) const {
  const GpuMeshes::State& m = plan.meshes->state();
  const GLuint up = flight.upload.name();
  const auto size = [](const GpuBuffer& b) { return static_cast<GLsizeiptr>(b.size()); };
  std::array<GLuint, 6> names{};
  std::array<GLintptr, 6> offsets{};
  std::array<GLsizeiptr, 6> sizes{};
  const auto put = [&](std::size_t at, GLuint name, std::size_t offset, GLsizeiptr bytes) {
    names[at] = name, offsets[at] = static_cast<GLintptr>(offset), sizes[at] = bytes;
  };
  put(glsl::kDepthCornersAt, m.corners.name(), 0, size(m.corners));
  put(glsl::kDepthInstancesAt, up, plan.instances,
      static_cast<GLsizeiptr>(flight.queries.size() * m.elements.size() *
                              sizeof(detail::DrawnInstance)));
  put(glsl::kDepthVisibleAt, meshes->visible.name(), 0, size(meshes->visible));
  put(glsl::kDepthClustersAt, m.clusters.name(), 0, size(m.clusters));
  put(glsl::kDepthCommandsAt, up, batch + detail::kBlockAlign, sizeof(detail::DrawCommands));
  put(glsl::kDepthTilesAt, tile_bounds.name(), 0, size(tile_bounds));
  glBindBuffersRange(GL_SHADER_STORAGE_BUFFER, glsl::kDepthCornersAt, 6, names.data(),
                     offsets.data(), sizes.data());
  glBindBufferRange(GL_UNIFORM_BUFFER, glsl::kDepthBatchAt, up, static_cast<GLintptr>(batch),
                    sizeof(detail::MeshBatch));
}

void GpuDepthDetector::State::begin_meshes() const {
  glViewportIndexedf(0, 0, 0, static_cast<float>(atlas_width), static_cast<float>(atlas_height));
  glScissorIndexed(0, 0, 0, atlas_width, atlas_height);
  // Pictures side by side are separated by clip distances; one alone by the viewport.
  for (GLenum i = 0; i < 4; ++i) put_mesh_switch(GL_CLIP_DISTANCE0 + i, tiles > 1);
  glDisable(GL_CULL_FACE);
}

void GpuDepthDetector::State::draw_visible(const GpuMeshes& drawn, std::uint32_t commands_name,
                                           std::size_t commands) const {
  const GpuMeshes::State& m = drawn.state();
  const detail::DepthPrograms& with = *meshes->fragments;
  put_mesh_switch(GL_DEPTH_CLAMP, by_intervals() && settings.find_inside && m.any_closed);
  glBindVertexArray(no_vertices.name());
  glBindBuffer(GL_DRAW_INDIRECT_BUFFER, commands_name);
  constexpr std::array<GLenum, 3> kModes{GL_TRIANGLES, GL_LINES, GL_POINTS};
  for (std::size_t kind = 0; kind < kModes.size(); ++kind) {
    if (m.kinds[kind] == 0) continue;
    const auto draw = [&](const FragmentShader& fragment) {
      glUseProgram(meshes->draw[kind]->link(fragment));
      const std::size_t command = commands + kind * sizeof(detail::DrawCommand);
      // OpenGL takes offsets in a buffer as pointers.
      // NOLINTNEXTLINE(performance-no-int-to-ptr)
      glDrawArraysIndirect(kModes[kind], reinterpret_cast<const void*>(command));
    };
    if (!settings.conservative || m.any_closed)
      draw(settings.method == DepthMethod::kTwoMaps ? with.surface : with.test);
    if (!settings.conservative) continue;
    detail::set_conservative(true);
    draw(*with.test_whole);
    detail::set_conservative(false);
  }
}

void GpuDepthDetector::State::raster_meshes(const detail::Flight& flight,
                                            const detail::RasterPrograms& programs,
                                            std::size_t command) const {
  for (const detail::MeshPlan& plan : flight.meshes) {
    bind_batch(flight, plan, plan.batches);
    glUseProgram(programs.raster.name());
    glDispatchCompute(plan.meshes->state().cluster_count,
                      static_cast<GLuint>(flight.queries.size()), 1);
    glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT | GL_COMMAND_BARRIER_BIT);
    glUseProgram(programs.tiles.name());
    glBindBuffer(GL_DISPATCH_INDIRECT_BUFFER, flight.upload.name());
    glDispatchComputeIndirect(static_cast<GLintptr>(plan.batches + detail::kBlockAlign +
                                                    command * sizeof(detail::DrawCommand)));
    // The list is read before others are listed; and hits are known.
    glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
  }
}

void GpuDepthDetector::State::draw_meshes(const detail::Flight& flight) {
  if (flight.meshes.empty()) return;
  if (compute_raster) {
    raster_meshes(flight, meshes->surfaces, 0);
    const bool any_closed =
        std::any_of(flight.meshes.begin(), flight.meshes.end(),
                    [](const detail::MeshPlan& plan) { return plan.meshes->state().any_closed; });
    if (settings.find_inside && any_closed) raster_meshes(flight, meshes->windings, 1);
    return;
  }
  begin_meshes();
  const GLuint up = flight.upload.name();
  for (const detail::MeshPlan& plan : flight.meshes) {
    const std::size_t count = flight.queries.size();
    std::size_t batch = plan.batches;
    for (std::size_t q = 0; q < count; q += plan.queries_at_once, batch += detail::kBatchBytes) {
      // The current list is being drawn.
      if (q > 0 || &plan != flight.meshes.data()) glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
      bind_batch(flight, plan, batch);
      glUseProgram(meshes->cull.name());
      glDispatchCompute(plan.meshes->state().cluster_count,
                        static_cast<GLuint>(std::min<std::size_t>(plan.queries_at_once, count - q)),
                        1);
      glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT | GL_COMMAND_BARRIER_BIT);
      draw_visible(*plan.meshes, up, batch + detail::kBlockAlign);
    }
  }
  for (GLenum i = 0; i < 4; ++i) put_mesh_switch(GL_CLIP_DISTANCE0 + i, false);
}

}  // namespace isotact

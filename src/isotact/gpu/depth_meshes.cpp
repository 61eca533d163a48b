// Our own meshes in image-space detection: culled in a compute shader, drawn by one indirect call.
#include <algorithm>
#include <array>

#include <epoxy/gl.h>

#include "isotact/gpu/detail/depth_state.h"
#include "isotact/gpu/detail/mesh_state.h"
#include "isotact/gpu/detail/shader_text.h"

namespace isotact {
namespace detail {
namespace {

// Primitives that may be left of one culling; more queries are taken one batch after the other.
constexpr std::uint64_t kMostVisible = std::uint64_t{1} << 23U;

// shaders/depth_instances.glsl
struct MeshBatch {
  std::uint32_t elements = 0, first_query = 0;
  std::array<float, 2> atlas{};
  std::array<std::uint32_t, 4> first_visible{};
};
static_assert(sizeof(MeshBatch) == 32);

struct DrawCommand {
  std::uint32_t count = 0, instances = 1, first = 0, base = 0;
};
using DrawCommands = std::array<DrawCommand, 3>;

// A batch's block, then its commands.
constexpr std::size_t kBatchBytes = 2 * kBlockAlign;

std::vector<ShaderDefine> make_cull_defines(const DepthSettings& settings) {
  std::vector<ShaderDefine> defines;
  if (settings.method != DepthMethod::kIntervals) defines.push_back({"MAPS", "1"});
  if (settings.method == DepthMethod::kTwoMaps) defines.push_back({"TWO_MAPS", "1"});
  return defines;
}

}  // namespace

MeshPrograms::MeshPrograms(const DepthSettings& settings)
    : fragments(settings, true), cull("depth_cull.comp", make_cull_defines(settings)) {
  for (std::size_t kind = 0; kind < draw.size(); ++kind)
    draw[kind] = std::make_unique<GpuDrawProgram>(
        DrawStages{.vertex = find_shader("depth_mesh.vert"),
                   .defines = {{"KIND", std::to_string(kind)},
                               {"CORNERS", std::to_string(kMeshCorners[kind]) + "u"}},
                   .name = "depth_mesh"});
}

}  // namespace detail

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
    if (!meshes) meshes = std::make_unique<detail::MeshPrograms>(settings);
    const std::uint64_t primitives = meshes_of_scene->primitives();
    plan.queries_at_once = static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(detail::kMostVisible / primitives, 1, flight.queries.size()));
    meshes->visible.reserve(plan.queries_at_once * primitives * 8);
    const std::size_t batches =
        (flight.queries.size() + plan.queries_at_once - 1) / plan.queries_at_once;
    plan.batches = bytes;
    plan.instances = plan.batches + batches * detail::kBatchBytes;
    bytes = detail::align_block(plan.instances + flight.queries.size() * m.elements.size() *
                                                     sizeof(detail::MeshInstance));
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
      for (std::size_t i = 0; i < m.elements.size(); ++i, at += sizeof(detail::MeshInstance)) {
        const std::array<float, 16> columns =
            detail::make_clip_matrix(flight.views[q], view_from_world * m.elements[i].pose);
        detail::MeshInstance instance{};
        for (std::size_t row = 0; row < 3; ++row)
          for (std::size_t column = 0; column < 4; ++column)
            instance.clip_from_element[4 * row + column] = columns[4 * column + row];
        instance.number = plan.first_element + static_cast<std::uint32_t>(i);
        instance.flags =
            (m.elements[i].closed ? detail::kPassClosed : 0U) |
            (m.elements[i].primitive != DepthPrimitive::kTriangles ? detail::kPassThin : 0U);
        instance.query = static_cast<std::uint32_t>(q);
        flight.upload.put(at, instance);
      }
    }
    detail::MeshBatch batch;
    batch.elements = static_cast<std::uint32_t>(m.elements.size());
    batch.atlas = {static_cast<float>(atlas_width), static_cast<float>(atlas_height)};
    batch.first_visible = {0, plan.queries_at_once * m.kinds[0],
                           plan.queries_at_once * (m.kinds[0] + m.kinds[1]), 0};
    at = plan.batches;
    for (std::size_t q = 0; q < flight.queries.size();
         q += plan.queries_at_once, at += detail::kBatchBytes) {
      batch.first_query = static_cast<std::uint32_t>(q);
      flight.upload.put(at, batch);
      flight.upload.put(at + detail::kBlockAlign, detail::DrawCommands{});
    }
  }
}

void GpuDepthDetector::State::draw_meshes(const detail::Flight& flight) {
  const auto put_switch = [](GLenum what, bool on) {
    if (on)
      glEnable(what);
    else
      glDisable(what);
  };
  glViewportIndexedf(0, 0, 0, static_cast<float>(atlas_width), static_cast<float>(atlas_height));
  glScissorIndexed(0, 0, 0, atlas_width, atlas_height);
  // Pictures side by side are cut apart by distances; one alone by the viewport.
  for (GLenum i = 0; i < 4; ++i) put_switch(GL_CLIP_DISTANCE0 + i, tiles > 1);
  put_switch(GL_CULL_FACE, false);
  const bool two_maps = settings.method == DepthMethod::kTwoMaps;
  const FragmentShader& fragment = two_maps ? meshes->fragments.surface : meshes->fragments.test;
  const GLuint up = flight.upload.name();
  for (const detail::MeshPlan& plan : flight.meshes) {
    const GpuMeshes::State& m = plan.meshes->state();
    put_switch(GL_DEPTH_CLAMP, by_intervals() && settings.find_inside && m.any_closed);
    const std::size_t count = flight.queries.size();
    const std::array<GLuint, 6> names{m.corners.name(),  up, meshes->visible.name(),
                                      m.clusters.name(), up, tile_bounds.name()};
    const auto size = [](const GpuBuffer& b) { return static_cast<GLsizeiptr>(b.size()); };
    std::size_t at = plan.batches;
    for (std::size_t q = 0; q < count; q += plan.queries_at_once, at += detail::kBatchBytes) {
      const auto commands = static_cast<GLintptr>(at + detail::kBlockAlign);
      const std::array<GLintptr, 6> offsets{
          0, static_cast<GLintptr>(plan.instances), 0, 0, commands, 0};
      const std::array<GLsizeiptr, 6> sizes{
          size(m.corners),
          static_cast<GLsizeiptr>(count * m.elements.size() * sizeof(detail::MeshInstance)),
          size(meshes->visible),
          size(m.clusters),
          sizeof(detail::DrawCommands),
          size(tile_bounds)};
      glBindBuffersRange(GL_SHADER_STORAGE_BUFFER, 0, 6, names.data(), offsets.data(),
                         sizes.data());
      glBindBufferRange(GL_UNIFORM_BUFFER, 31, up, static_cast<GLintptr>(at),
                        sizeof(detail::MeshBatch));
      // What an earlier batch has listed is being drawn.
      glUseProgram(meshes->cull.name());
      glDispatchCompute(m.cluster_count,
                        static_cast<GLuint>(std::min<std::size_t>(plan.queries_at_once, count - q)),
                        1);
      glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT | GL_COMMAND_BARRIER_BIT);
      glBindVertexArray(no_vertices.name());
      glBindBuffer(GL_DRAW_INDIRECT_BUFFER, up);
      constexpr std::array<GLenum, 3> kModes{GL_TRIANGLES, GL_LINES, GL_POINTS};
      for (std::size_t kind = 0; kind < kModes.size(); ++kind) {
        if (m.kinds[kind] == 0) continue;
        const std::size_t command =
            static_cast<std::size_t>(commands) + kind * sizeof(detail::DrawCommand);
        const auto draw = [&](const FragmentShader& with) {
          glUseProgram(meshes->draw[kind]->link(with));
          glDrawArraysIndirect(kModes[kind], reinterpret_cast<const void*>(command));
        };
        if (!settings.conservative || m.any_closed) draw(fragment);
        if (!settings.conservative) continue;
        detail::set_conservative(true);
        draw(*meshes->fragments.test_whole);
        detail::set_conservative(false);
      }
      if (q + plan.queries_at_once < count) glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
    }
  }
  for (GLenum i = 0; i < 4; ++i) put_switch(GL_CLIP_DISTANCE0 + i, false);
}

}  // namespace isotact

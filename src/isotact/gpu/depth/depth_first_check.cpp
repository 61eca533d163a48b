// A first test on the CPU of queries with a waiting caller: the transfer to the GPU and back takes
// longer than a proof that nothing is near.
#include <algorithm>

#include "isotact/gpu/depth/detail/depth_state.h"
#include "isotact/gpu/depth/detail/mesh_state.h"

namespace isotact {

bool GpuDepthDetector::State::is_proved_free(std::span<const GpuDepthQuery> queries,
                                             const GpuDepthScene& scene) {
  check_queries(queries);
  if (!gpu_settings.first_check || !once || !can_run_once(scene)) return false;
  const GpuMeshes::State& m = scene.meshes.front()->state();
  for (const GpuDepthQuery& query : queries) {
    const auto slot = static_cast<std::size_t>(query.slot);
    list_covered(slot);
    if (!once->slots[slot].was_free || once->slots[slot].lost > 0) return false;
  }
  for (const GpuDepthQuery& query : queries)
    if (!is_proved_free(query, m)) return false;
  ++proved_free;
  return true;
}

void GpuDepthDetector::State::note_answers(std::span<const GpuDepthQuery> queries,
                                           std::span<const DepthResult> reports) {
  if (!once) return;
  for (const GpuDepthQuery& query : queries)
    once->slots[static_cast<std::size_t>(query.slot)].was_free = true;
  for (std::size_t i = 0; i < queries.size(); ++i)
    if (reports[i].colliding)
      once->slots[static_cast<std::size_t>(queries[i].slot)].was_free = false;
}

// If no surface touches the boxes of tiles, each closed element surrounds all of a connected part
// of them, or nothing of it.
bool GpuDepthDetector::State::is_proved_free(const GpuDepthQuery& query,
                                             const GpuMeshes::State& meshes_state) {
  const auto slot = static_cast<std::size_t>(query.slot);
  const DepthView& view = *slots[slot].view;
  const Pose world_from_view = query.world_from_object * view.object_from_view;
  const Pose view_from_world = inverse(world_from_view);
  const double radius = length(view.half_size);
  detail::TriangleSieve& sieve = once->sieve;
  sieve.begin(*once->slots[slot].solid, {settings.width, settings.height});
  bool any_closed = false;
  for (const GpuMeshes::State::Element& e : meshes_state.elements) {
    // An element that misses the box neither meets the object nor surrounds it. (Balls, slightly
    // too large.)
    const double reach = (radius + e.radius) * (1 + 1e-9);
    if (e.first_node == e.end_node ||
        length_sq(e.middle - world_from_view.translation) > reach * reach)
      continue;
    const detail::DrawnInstance instance = detail::make_instance(e, view, view_from_world);
    any_closed = any_closed || (instance.flags & detail::kPassClosed) != 0;
    if (!sieve.is_clear(meshes_state, e, instance.clip_from_element)) return false;
  }
  return !settings.find_inside || !any_closed || is_outside(query, meshes_state);
}

// Returns whether no part of an object that touches no surface is within closed elements.
bool GpuDepthDetector::State::is_outside(const GpuDepthQuery& query,
                                         const GpuMeshes::State& meshes_state) const {
  const auto slot = static_cast<std::size_t>(query.slot);
  const detail::SolidTiles& solid = *once->slots[slot].solid;
  if (solid.parts().size() > detail::kCheckParts) return false;
  const DepthView& view = *slots[slot].view;
  const Pose world_from_view = query.world_from_object * view.object_from_view;
  for (const Vec3f& part : solid.parts()) {
    const Vec3 in_view{(32.0 * double{part.x} / settings.width - 1) * view.half_size.x,
                       (32.0 * double{part.y} / settings.height - 1) * view.half_size.y,
                       (2 * double{part.z} - 1) * view.half_size.z};
    const Vec3 place = transform_point(world_from_view, in_view);
    int around = 0;
    for (const GpuMeshes::State::Element& e : meshes_state.elements) {
      if (!e.closed || !e.surrounds || length_sq(e.middle - place) > e.radius * e.radius * 1.001)
        continue;
      const auto winding =
          detail::compute_winding(meshes_state, e, transform_point(inverse(e.pose), place));
      if (!winding) return false;
      around += *winding;
    }
    if (around > 0) return false;
  }
  return true;
}

}  // namespace isotact

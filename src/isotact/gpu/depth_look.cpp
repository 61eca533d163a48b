// A first look at queries that somebody waits for. The way to the GPU and back takes as long as
// sifting tens of thousands of triangles on the CPU, of which a few are left; often none.
#include <algorithm>

#include "isotact/gpu/detail/depth_state.h"
#include "isotact/gpu/detail/mesh_state.h"
#include "isotact/gpu/detail/mesh_winding.h"

namespace isotact {
namespace {

// Nothing collides; what has memory keeps it.
void clear_report(DepthReport& report) {
  DepthReport empty;
  std::swap(empty.ids, report.ids);
  std::swap(empty.contacts, report.contacts);
  empty.ids.clear();
  empty.contacts.clear();
  report = std::move(empty);
}

}  // namespace

// Triangles of all elements that may show in the object go to the end of once->entries, and the
// tiles in which they may behind them. Where none is left, no surface touches the boxes of tiles:
// each closed element is around all of a connected part of them, or around nothing of it.
detail::Sifted GpuDepthDetector::State::sift_triangles(
    const GpuDepthQuery& query, const GpuMeshes::State& meshes_state,
    std::vector<detail::DrawnInstance>& instances) {
  const auto slot = static_cast<std::size_t>(query.slot);
  const DepthView& view = *slots[slot].view;
  const Pose world_from_view = query.world_from_object * view.object_from_view;
  const Pose view_from_world = inverse(world_from_view);
  const double radius = length(view.half_size);
  detail::TriangleSieve& sieve = once->sieve;
  sieve.begin(*once->slots[slot].solid, {settings.width, settings.height});
  detail::OnceQuery asked{.slot = static_cast<std::uint32_t>(slot),
                          .entries = static_cast<std::uint32_t>(once->entries.size())};
  constexpr std::size_t kMostInstances = std::size_t{1} << (32U - detail::kLookBits);
  const auto first_instance = static_cast<std::uint32_t>(instances.size());
  std::size_t bundles = 0;
  bool any_closed = false;
  for (std::size_t i = 0; i < meshes_state.elements.size(); ++i) {
    const GpuMeshes::State::Element& e = meshes_state.elements[i];
    const double reach = (radius + e.radius) * (1 + 1e-9);
    if (e.first_node == e.end_node ||
        length_sq(e.middle - world_from_view.translation) > reach * reach)
      continue;
    detail::DrawnInstance instance = detail::make_instance(e, view, view_from_world);
    any_closed = any_closed || (instance.flags & detail::kPassClosed) != 0;
    const std::size_t added = sieve.add(meshes_state, e, instance.clip_from_element);
    if (added == 0) continue;
    bundles += added;
    instance.flags &= ~detail::kPassClosed;  // of surfaces alone
    instance.number = static_cast<std::uint32_t>(i);
    instance.query = static_cast<std::uint32_t>(once->queries.size());
    instances.push_back(instance);
    if (bundles > detail::kLookBundles || instances.size() >= kMostInstances)
      return detail::Sifted::kLong;
  }
  sieve.finish();
  for (const detail::TriangleSieve::Found& found : sieve.found())
    once->entries.push_back(found.triangle | (first_instance + found.element)
                                                 << detail::kLookBits);
  asked.entry_count = static_cast<std::uint32_t>(once->entries.size()) - asked.entries;
  if (asked.entry_count == 0)
    return !settings.find_inside || !any_closed || is_outside(query, meshes_state)
               ? detail::Sifted::kFree
               : detail::Sifted::kLong;
  asked.groups = static_cast<std::uint32_t>(sieve.tiles().size());
  once->entries.insert(once->entries.end(), sieve.tiles().begin(), sieve.tiles().end());
  once->queries.push_back(asked);
  return detail::Sifted::kAsk;
}

// Whether no part of an object that touches no surface is within closed elements.
bool GpuDepthDetector::State::is_outside(const GpuDepthQuery& query,
                                         const GpuMeshes::State& meshes_state) const {
  const auto slot = static_cast<std::size_t>(query.slot);
  const detail::SolidTiles& solid = *once->slots[slot].solid;
  if (solid.parts().size() > detail::kLookParts) return false;
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
          detail::find_winding(meshes_state, e, transform_point(inverse(e.pose), place));
      if (!winding) return false;
      around += *winding;
    }
    if (around > 0) return false;
  }
  return true;
}

bool GpuDepthDetector::State::look_first(std::span<const GpuDepthQuery> queries,
                                         const GpuDepthScene& scene,
                                         std::vector<DepthReport>& reports) {
  check_queries(queries);
  if (!options.first_look || !once || queries.size() > detail::kOnceQueries ||
      !can_run_once(scene))
    return false;
  const GpuMeshes::State& m = scene.meshes.front()->state();
  if (m.corners_here.size() / 3 > std::size_t{1} << detail::kLookBits) return false;
  if (once->looks_left_out < once->leave_out) {
    ++once->looks_left_out;
    return false;
  }
  once->entries.clear();
  once->queries.clear();
  once->instances.clear();
  once->places.clear();
  for (std::size_t q = 0; q < queries.size(); ++q) {
    const auto slot = static_cast<std::size_t>(queries[q].slot);
    list_covered(slot);
    if (once->slots[slot].lost > 0 ||
        !detail::is_exact(*slots[slot].view, settings, m.longest))
      return false;
    const detail::Sifted sifted = sift_triangles(queries[q], m, once->instances);
    if (sifted == detail::Sifted::kLong) {
      // Twice as rare each time.
      once->leave_out = std::min(2 * once->leave_out + 1, 63U);
      once->looks_left_out = 0;
      return false;
    }
    if (sifted == detail::Sifted::kAsk) once->places.push_back(q);
  }
  once->leave_out = 0;
  reports.resize(queries.size());
  for (DepthReport& report : reports) clear_report(report);
  if (!once->places.empty() && !ask_look(queries, scene, reports)) return false;
  ++looks;
  if (once->places.empty()) ++looks_alone;
  return true;
}

// The GPU's part. False where it takes the long way: no surface shows in the object, but something
// closed is near.
bool GpuDepthDetector::State::ask_look(std::span<const GpuDepthQuery> queries,
                                       const GpuDepthScene& scene,
                                       std::vector<DepthReport>& reports) {
  const GpuStateGuard guard(options.save_state);
  if (options.save_state) clear_gpu_state();
  if (!once->look) {
    std::vector<ShaderDefine> defines = list_once_defines();
    defines.push_back({"LOOK", "1"});
    once->look.emplace("depth_once.comp", defines);
  }
  detail::Flight& flight = find_free_flight();
  flight.queries.clear();
  for (const std::size_t q : once->places) {
    flight.queries.push_back(queries[q]);
    flight.views.push_back(*slots[static_cast<std::size_t>(queries[q].slot)].view);
  }
  const GpuMeshes::State& m = scene.meshes.front()->state();
  for (const GpuMeshes::State::Element& e : m.elements) flight.ids.push_back(e.id);
  set_stride(flight);
  std::swap(flight.instances, once->instances);
  if (!put_once(flight)) return false;
  flight.meshes.assign(1, {.meshes = scene.meshes.front()});
  flight.once = flight.in_down = flight.is_pending = true;
  flight.serial = ++submissions;
  flight.down.reserve(flight.queries.size() * flight.stride * 4);
  run_once(flight, *once->look, flight.down.name());
  flight.wait();
  for (std::size_t i = 0; i < once->places.size(); ++i) {
    DepthReport& report = reports[once->places[i]];
    make_depth_report(flight, i, settings, report);
    if (report.pixels == 0 && settings.find_inside && m.any_closed) return false;
  }
  return true;
}

}  // namespace isotact

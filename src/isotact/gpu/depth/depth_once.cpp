// Detection in one dispatch, and waiting for it without the driver: for single poses the transfer
// to the GPU and back takes most of the time.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>

#include <epoxy/gl.h>

#include "isotact/gpu/depth/detail/depth_state.h"
#include "isotact/gpu/depth/detail/mesh_state.h"

namespace isotact {
namespace detail {

std::uint32_t find_record_check(const std::uint32_t* words, std::size_t count,
                                std::uint32_t serial) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t x =
        words[i] ^ (serial * 0x9e3779b9U + static_cast<std::uint32_t>(i) * 0x85ebca6bU);
    x = (x ^ (x >> 16U)) * 0x7feb352dU;
    x = (x ^ (x >> 15U)) * 0x846ca68bU;
    sum += x ^ (x >> 16U);
  }
  return sum;
}

namespace {

// Returns whether a box of an element may matter. `front`: at any distance in front of the query's
// box. Boxes along the view's axes, slightly too large, as in depth_cull_tests.glsl.
bool may_meet_box(const glsl::Rows3x4& rows, const ClusterNode& node, bool front) {
  const Vec3f& middle = node.middle;
  const Vec3f& half = node.half;
  // Without branches, which would be unpredictable.
  unsigned misses = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const float* const row = &rows[4 * axis];
    const float at = row[0] * middle.x + row[1] * middle.y + row[2] * middle.z + row[3];
    float reach = std::abs(row[0]) * half.x + std::abs(row[1]) * half.y + std::abs(row[2]) * half.z;
    reach += 1.2e-4F + 1e-5F * (std::abs(at) + reach);
    const unsigned counts = front && axis == 2 ? 0U : 1U;
    misses |= (at - reach > 1 ? 1U : 0U) | (at + reach < -1 ? counts : 0U);
  }
  return misses == 0;
}

// Returns whether edge functions of all triangles are exact in double precision; depth_in_one.comp.
// `longest` is the length of their longest edge.
bool is_exact(const DepthView& view, const DepthSettings& settings, double longest) {
  constexpr double kMostPixels = 8000;
  return longest * settings.width <= kMostPixels * 2 * view.half_size.x &&
         longest * settings.height <= kMostPixels * 2 * view.half_size.y;
}

}  // namespace
}  // namespace detail

bool GpuDepthDetector::State::can_run_once(const GpuDepthScene& scene) const {
  if (!gpu_settings.one_pass || !compute_raster || !scene.drawables.empty()) return false;
  if (frame.hit_room < frame.pixels * (settings.max_contacts > 0 ? 2U : 1U)) return false;
  if (scene.meshes.size() != 1) return false;
  const GpuMeshes::State& m = scene.meshes.front()->state();
  return m.kinds[1] == 0 && m.kinds[2] == 0 && m.cluster_count > 0 &&
         m.elements.size() <= glsl::kOnceElements;
}

void GpuDepthDetector::State::make_once() {
  const auto tile_count = static_cast<std::uint32_t>(detail::count_tiles(settings.width) *
                                                     detail::count_tiles(settings.height));
  std::vector<ShaderDefine> defines{{"LAYERS", std::to_string(settings.layers)},
                                    {"WIDTH", std::to_string(settings.width)},
                                    {"HEIGHT", std::to_string(settings.height)},
                                    {"TILES", std::to_string(tile_count) + "u"}};
  defines.push_back({"CONTACT_COUNT", std::to_string(settings.max_contacts) + "u"});
  if (settings.max_contacts > 0) defines.push_back({"CONTACTS", "1"});
  once = std::make_unique<detail::OncePass>();
  once->program = GpuProgram("depth_in_one.comp", defines);
  once->frame = GpuBuffer(std::span<const detail::DepthFrame>(&frame, 1));
  once->notes =
      GpuBuffer(static_cast<std::size_t>(gpu_settings.queries) * glsl::kOnceNoteWords * 4);
  once->notes.clear();
  once->slots.resize(slots.size());
  once->tiles_a_slot = tile_count;
  once->covered = GpuBuffer(slots.size() * tile_count * sizeof(detail::CoveredTile));
}

// Returns the tiles that contain a pixel in which windings are counted for each element;
// depth_frame.glsl.
std::vector<bool> GpuDepthDetector::State::find_probed_tiles(
    const detail::DepthMapNote& note) const {
  std::vector<bool> probed(once->tiles_a_slot);
  const auto width = static_cast<std::uint32_t>(settings.width);
  const auto height = static_cast<std::uint32_t>(settings.height);
  constexpr std::uint32_t kRegions = glsl::kProbeRegions, kMask = glsl::kProbeMask,
                          kTile = glsl::kDepthTile;
  const std::uint32_t part_x = (width + kRegions - 1) / kRegions;
  const std::uint32_t part_y = (height + kRegions - 1) / kRegions;
  for (std::uint32_t region = 0; region < glsl::kProbeCount; ++region) {
    if (note.probes[region] == 0) continue;
    const std::uint32_t local = kMask - (note.probes[region] & kMask);
    const std::uint32_t x = region % kRegions * part_x + local % part_x;
    const std::uint32_t y = region / kRegions * part_y + local / part_x;
    probed.at(std::size_t{y / kTile} * ((width + kTile - 1) / kTile) + x / kTile) = true;
  }
  return probed;
}

void GpuDepthDetector::State::list_covered(std::size_t slot) {
  detail::OnceSlot& listed = once->slots[slot];
  if (listed.version == slots[slot].version) return;
  struct Bounds {
    float near = 0, far = 0;
  };
  std::vector<Bounds> bounds(once->tiles_a_slot);
  tile_bounds.read(std::span<Bounds>(bounds), slot * bounds.size() * sizeof(Bounds));
  const detail::DepthMapNote note = read_note(static_cast<int>(slot));
  const std::vector<bool> probed = find_probed_tiles(note);
  std::vector<detail::CoveredTile> tiles_of_map;
  for (std::size_t i = 0; i < bounds.size(); ++i)
    if (bounds[i].near <= bounds[i].far)
      tiles_of_map.push_back(
          {static_cast<std::uint32_t>(i), bounds[i].near, bounds[i].far, probed[i] ? 1U : 0U});
  once->covered.upload(std::span<const detail::CoveredTile>(tiles_of_map),
                       slot * once->tiles_a_slot * sizeof(detail::CoveredTile));
  auto solid = std::make_shared<detail::SolidTiles>();
  solid->set(detail::count_tiles(settings.width), detail::count_tiles(settings.height),
             tiles_of_map);
  listed = {.version = slots[slot].version,
            .tiles = static_cast<std::uint32_t>(tiles_of_map.size()),
            .lost = note.lost,
            .solid = std::move(solid)};
}

// Lists the clusters of all elements that one query must test.
void GpuDepthDetector::State::list_clusters(const detail::Flight& flight, std::size_t query,
                                            const GpuMeshes::State& m,
                                            std::vector<detail::DrawnInstance>& instances) const {
  const DepthView& view = flight.views[query];
  const Pose world_from_view = flight.queries[query].world_from_object * view.object_from_view;
  const Pose view_from_world = inverse(world_from_view);
  const double radius = length(view.half_size);
  std::vector<std::uint32_t>& entries = once->entries;
  for (std::size_t i = 0; i < m.elements.size(); ++i) {
    const GpuMeshes::State::Element& e = m.elements[i];
    // An element that misses the box neither meets the object nor surrounds it. (Balls, slightly
    // too large.)
    const double reach = (radius + e.radius) * (1 + 1e-9);
    if (e.first_node == e.end_node ||
        length_sq(e.middle - world_from_view.translation) > reach * reach)
      continue;
    detail::DrawnInstance instance = detail::make_instance(e, view, view_from_world);
    if (!settings.find_inside) instance.flags &= ~detail::kPassClosed;
    const bool front = (instance.flags & detail::kPassClosed) != 0;
    const auto number = static_cast<std::uint32_t>(instances.size());
    const std::size_t before = entries.size();
    for (std::uint32_t n = e.first_node; n < e.end_node;) {
      const detail::ClusterNode& node = m.nodes[n];
      if (!detail::may_meet_box(instance.clip_from_element, node, front)) {
        n = node.end;
        continue;
      }
      if (node.cluster == detail::ClusterNode::kNoCluster) {
        ++n;
        continue;
      }
      entries.push_back(node.cluster | number << 16U);
      n = node.end;
    }
    if (entries.size() == before) continue;
    instance.number = static_cast<std::uint32_t>(i);
    instance.query = static_cast<std::uint32_t>(query);
    instances.push_back(instance);
  }
}

bool GpuDepthDetector::State::prepare_once(detail::Flight& flight, const GpuDepthScene& scene) {
  flight.once = false;
  if (flight.queries.empty() || flight.queries.size() > detail::kOnceQueries ||
      !can_run_once(scene))
    return false;
  if (!once) make_once();
  const GpuMeshes::State& m = scene.meshes.front()->state();
  std::vector<detail::DrawnInstance>& instances = flight.instances;
  instances.clear();
  once->entries.clear();
  once->queries.clear();
  for (std::size_t q = 0; q < flight.queries.size(); ++q) {
    if (!detail::is_exact(flight.views[q], settings, m.longest)) return false;
    const auto slot = static_cast<std::size_t>(flight.queries[q].slot);
    list_covered(slot);
    const std::size_t first = once->entries.size();
    list_clusters(flight, q, m, instances);
    const std::size_t count = once->entries.size() - first;
    if (count > detail::kOnceEntries || instances.size() > 0xffff) return false;
    // One group must write the report.
    once->queries.push_back({.slot = static_cast<std::uint32_t>(slot),
                             .entries = static_cast<std::uint32_t>(first),
                             .entry_count = static_cast<std::uint32_t>(count),
                             .groups = count == 0 ? 1 : std::max(1U, once->slots[slot].tiles)});
  }
  for (const GpuMeshes::State::Element& e : m.elements) flight.ids.push_back(e.id);
  set_stride(flight);
  if (!put_once(flight)) return false;
  flight.meshes.clear();
  flight.meshes.push_back({.meshes = scene.meshes.front()});
  flight.once = true;
  flight.number = flight.serial = ++submissions;
  ++once_submissions;
  return true;
}

bool GpuDepthDetector::State::put_once(detail::Flight& flight) {
  const std::size_t instances_at =
      sizeof(detail::OnceHead) + once->queries.size() * sizeof(detail::OnceQuery);
  const std::size_t entries_at =
      instances_at + flight.instances.size() * sizeof(detail::DrawnInstance);
  const std::size_t bytes = entries_at + once->entries.size() * 4;
  if (bytes > detail::kOnceBytes) return false;
  reserve_elements(static_cast<std::uint32_t>(flight.ids.size()));
  flight.upload.reserve(detail::kOnceBytes);
  // A driver reuses memory with its old content, such as the report of another detector.
  static std::atomic<std::uint32_t> stamps{0};
  flight.stamp = ++stamps;
  flight.upload.put(0, detail::OnceHead{.elements = static_cast<std::uint32_t>(flight.ids.size()),
                                        .element_words = flight.element_words,
                                        .stride = flight.stride,
                                        .serial = flight.stamp});
  for (detail::OnceQuery& query : once->queries)
    query.entries += static_cast<std::uint32_t>(entries_at / 4);
  flight.upload.put_all(sizeof(detail::OnceHead),
                        std::span<const detail::OnceQuery>(once->queries));
  flight.upload.put_all(instances_at, std::span<const detail::DrawnInstance>(flight.instances));
  flight.upload.put_all(entries_at, std::span<const std::uint32_t>(once->entries));
  flight.upload.send(bytes);
  return true;
}

void GpuDepthDetector::State::run_once(detail::Flight& flight, std::uint32_t results_name) {
  const GpuMeshes::State& m = flight.meshes.front().meshes->state();
  detail::bind_buffers({{glsl::kDepthCornersAt, m.corners.name()},
                        {glsl::kDepthLeavesAt, m.leaves.name()},
                        {glsl::kDepthCoveredAt, once->covered.name()},
                        {glsl::kDepthNotesAt, once->notes.name()}});
  bind_storage_and(glsl::kDepthResultsAt, results_name);
  static_assert(glsl::kDepthOnceAt == glsl::kDepthFrameAt + 1);
  const std::array<GLuint, 2> blocks{once->frame.name(), flight.upload.name()};
  glBindBuffersBase(GL_UNIFORM_BUFFER, glsl::kDepthFrameAt, 2, blocks.data());
  std::uint32_t groups = 0;
  for (const detail::OnceQuery& query : once->queries) groups = std::max(groups, query.groups);
  glUseProgram(once->program.name());
  // The last detection has reset everything.
  glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
  glDispatchCompute(groups, static_cast<GLuint>(once->queries.size()), 1);
  glFlush();
  flight.done.drop();
  if (!flight.in_down) flight.done.set();
}

namespace detail {

// The GPU may still be writing these words: only words that the check proves are used.
bool Flight::has_come() const {
  for (std::size_t q = 0; q < queries.size(); ++q) {
    const std::span<const std::uint32_t> words = down.view<std::uint32_t>(stride, q * stride * 4);
    const auto read = [&](std::size_t i) {
      // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): atomic_ref wants it; it only reads.
      return std::atomic_ref<std::uint32_t>(const_cast<std::uint32_t&>(words[i]))
          .load(std::memory_order_acquire);
    };
    if (read(stride - 2) != stamp) return false;
    if (read(stride - 1) != find_record_check(words.data(), record_words, stamp)) return false;
  }
  return true;
}

// Fences cost microseconds: one is set only if the result does not arrive soon.
bool Flight::is_ready() {
  if (!is_pending || (once && in_down && has_come())) return true;
  if (!done.is_set()) {
    glMemoryBarrier(GL_CLIENT_MAPPED_BUFFER_BARRIER_BIT);
    done.set();
  }
  return done.is_passed();
}

void Flight::wait() {
  if (!is_pending) return;
  if (once && in_down) {
    // Most results arrive within microseconds, long before the driver reports it.
    constexpr std::chrono::microseconds kBusy{300};
    const auto start = std::chrono::steady_clock::now();
    do {
      is_pending = !has_come();
    } while (is_pending && std::chrono::steady_clock::now() - start < kBusy);
  }
  if (is_pending && !is_ready()) done.wait();
  is_pending = false;
  done.drop();
}

}  // namespace detail
}  // namespace isotact

#include "isotact/gpu/depth/depth_detector.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <epoxy/gl.h>
#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/gpu/depth/detail/depth_state.h"
#include "isotact/gpu/depth/detail/mesh_state.h"

namespace isotact {
namespace {

void check_drawables(std::span<const GpuDrawable> drawables) {
  for (const GpuDrawable& drawable : drawables)
    if (!drawable.draw)
      throw Error(fmt::format("the drawable with id {} has nothing that draws it", drawable.id));
}

}  // namespace

void GpuDepthDetector::State::forget_hits() {
  glFinish();  // Earlier drawings write first.
  for (GpuBuffer* buffer : {&hit_mask, &parts, &bits, &sums, &windings}) buffer->clear();
}

GpuDepthDetector::GpuDepthDetector(const GpuContext& gpu, const DepthSettings& settings,
                                   const GpuDepthSettings& gpu_settings) {
  gpu.check_current();
  const GpuStateGuard guard(gpu_settings.save_state);
  if (gpu_settings.save_state) clear_gpu_state();
  state_ = std::make_unique<State>(gpu, settings, gpu_settings);
}
GpuDepthDetector::GpuDepthDetector(GpuDepthDetector&&) noexcept = default;
GpuDepthDetector& GpuDepthDetector::operator=(GpuDepthDetector&&) noexcept = default;
GpuDepthDetector::~GpuDepthDetector() = default;

const DepthSettings& GpuDepthDetector::settings() const { return state_->settings; }
GpuDepthDetector::Submissions GpuDepthDetector::submissions() const {
  return {state_->submissions, state_->once_submissions, state_->proved_free};
}

void GpuDepthDetector::draw_map(int slot, const GpuMeshes& object, const DepthView& view,
                                MapUpdate update) {
  const std::vector<GpuDrawable> drawables = object.drawables();
  draw_map(slot, std::span<const GpuDrawable>(drawables), view, update);
}

void GpuDepthDetector::draw_map(int slot, std::span<const GpuDrawable> object,
                                const DepthView& view, MapUpdate update) {
  state_->check_slot(slot);
  check_depth_view(view);
  check_drawables(object);
  const GpuStateGuard guard(state_->gpu_settings.save_state);
  if (state_->gpu_settings.save_state) clear_gpu_state();
  try {
    state_->draw_map(slot, object, view, update);
  } catch (...) {
    glFinish();  // Earlier drawings write first.
    if (state_->by_intervals()) state_->heads.clear();
    throw;
  }
}

void GpuDepthDetector::State::set_stride(detail::Flight& flight) const {
  flight.element_words = static_cast<std::uint32_t>((flight.ids.size() + 31) / 32);
  flight.record_words =
      glsl::kHeadWords + glsl::kContactWords * settings.max_contacts + flight.element_words;
  flight.stride = (flight.record_words + 2 + 3) / 4 * 4;
}

void GpuDepthDetector::State::check_queries(std::span<const GpuDepthQuery> queries) const {
  if (queries.size() > static_cast<std::size_t>(gpu_settings.queries))
    throw Error(fmt::format("{} queries at once: the detector was made for {}", queries.size(),
                            gpu_settings.queries));
  for (const GpuDepthQuery& query : queries) {
    check_slot(query.slot);
    const Pose& pose = query.world_from_object;
    if (!is_finite(pose.translation) || !(std::abs(length_sq(pose.rotation) - 1) < 1e-6))
      throw Error("the pose of a query is not a place and a rotation");
    if (!slots[static_cast<std::size_t>(query.slot)].view)
      throw Error(fmt::format("slot {} has no map yet: draw_map first", query.slot));
  }
}

detail::Flight& GpuDepthDetector::State::prepare(std::span<const GpuDepthQuery> queries,
                                                 const GpuDepthScene& scene) {
  check_queries(queries);
  check_drawables(scene.drawables);
  const auto free = std::find_if(flights.begin(), flights.end(),
                                 [](const auto& flight) { return flight->number == 0; });
  if (free == flights.end())
    throw Error(
        fmt::format("{} submissions have not been fetched: fetch or forget one, or raise "
                    "GpuDepthSettings::in_flight",
                    flights.size()));
  detail::Flight& flight = **free;
  flight.wait();  // For a forgotten one.
  flight.queries.assign(queries.begin(), queries.end());
  flight.views.clear();
  flight.ids.clear();
  for (const GpuDepthQuery& query : queries)
    flight.views.push_back(*slots[static_cast<std::size_t>(query.slot)].view);
  if (prepare_once(flight, scene)) return flight;
  flight.ids.clear();
  for (const GpuDrawable& drawable : scene.drawables) flight.ids.push_back(drawable.id);

  // At least one block, for the mask.
  const std::size_t passes = std::max<std::size_t>(1, scene.drawables.size()) * queries.size();
  std::size_t bytes = detail::find_pass(passes);
  plan_meshes(flight, scene, bytes);
  const auto elements = static_cast<std::uint32_t>(flight.ids.size());
  set_stride(flight);
  reserve_elements(elements);
  flight.upload.reserve(bytes);
  detail::DepthFrame head = frame;
  head.elements = elements;
  head.element_words = flight.element_words;
  head.result_stride = flight.stride;
  const bool draws_closed = std::any_of(scene.drawables.begin(), scene.drawables.end(),
                                        [](const GpuDrawable& d) { return d.closed; });
  if (!compute_raster || draws_closed) head.flags |= detail::kFrameCountedAlways;
  for (std::size_t q = 0; q < queries.size(); ++q)
    head.query_slots[q / 4][q % 4] = static_cast<std::uint32_t>(queries[q].slot);
  flight.upload.put(0, head);
  detail::DepthPassBlock block{};
  for (std::size_t pass = 0; pass < passes; ++pass) {
    const std::size_t i = pass / queries.size();
    block.query = static_cast<std::uint32_t>(pass % queries.size());
    block.element = static_cast<std::uint32_t>(i);
    block.slot = head.query_slots[block.query / 4][block.query % 4];
    block.flags = 0;
    if (i < scene.drawables.size()) {
      if (scene.drawables[i].closed) block.flags |= detail::kPassClosed;
      if (scene.drawables[i].primitive != DepthPrimitive::kTriangles)
        block.flags |= detail::kPassThin;
    }
    flight.upload.put(detail::find_pass(pass), block);
  }
  put_meshes(flight);
  flight.upload.send(bytes);
  flight.number = flight.serial = ++submissions;
  return flight;
}

void GpuDepthDetector::State::run(detail::Flight& flight, const GpuDepthScene& scene,
                                  std::uint32_t results_name) {
  flight.is_pending = true;
  if (flight.once) {
    run_once(flight, results_name);
    return;
  }
  if (once) glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);  // For its writes.
  flight.upload.bind_frame();
  bind_storage();
  const auto count = static_cast<std::uint32_t>(flight.queries.size());
  if (count > 0) {
    draw_environment(flight, scene);
    const auto groups = [](std::int32_t pixels, std::int32_t size) {
      return static_cast<std::uint32_t>((pixels + size - 1) / size);
    };
    if (compare) {
      glMemoryBarrier(GL_TEXTURE_FETCH_BARRIER_BIT | GL_FRAMEBUFFER_BARRIER_BIT);
      compare->dispatch(groups(settings.width, 8), groups(settings.height, 8), count);
    } else {
      glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
    }
    const bool any_closed = std::any_of(scene.drawables.begin(), scene.drawables.end(),
                                        [](const GpuDrawable& d) { return d.closed; }) ||
                            std::any_of(scene.meshes.begin(), scene.meshes.end(),
                                        [](const GpuMeshes* m) { return m->state().any_closed; });
    if (within && any_closed)
      within->dispatch(groups(settings.width, glsl::kDepthTile),
                       groups(settings.height, glsl::kDepthTile), count);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, glsl::kDepthResultsAt, results_name);
    finish->dispatch(count);
  }
  glMemoryBarrier(GL_CLIENT_MAPPED_BUFFER_BARRIER_BIT);
  flight.done.set();
  glFlush();
}

GpuDepthTicket GpuDepthDetector::submit(std::span<const GpuDepthQuery> queries,
                                        const GpuDepthScene& scene) {
  const GpuStateGuard guard(state_->gpu_settings.save_state);
  if (state_->gpu_settings.save_state) clear_gpu_state();
  detail::Flight& flight = state_->prepare(queries, scene);
  try {
    flight.down.reserve(std::max<std::size_t>(1, queries.size()) * flight.stride * 4);
    flight.in_down = true;
    state_->run(flight, scene, flight.down.name());
  } catch (...) {
    flight.number = 0;
    state_->forget_hits();
    throw;
  }
  return {flight.number};
}

GpuDepthResults GpuDepthDetector::submit_on_gpu(std::span<const GpuDepthQuery> queries,
                                                const GpuDepthScene& scene) {
  const GpuStateGuard guard(state_->gpu_settings.save_state);
  if (state_->gpu_settings.save_state) clear_gpu_state();
  detail::Flight& flight = state_->prepare(queries, scene);
  const std::uint32_t stride = flight.stride * 4;
  flight.in_down = false;
  try {
    state_->results.reserve(std::max<std::size_t>(1, queries.size()) * stride);
    state_->run(flight, scene, state_->results.name());
  } catch (...) {
    flight.number = 0;
    state_->forget_hits();
    throw;
  }
  flight.number = 0;  // Nothing to fetch.
  return {state_->results.name(), static_cast<std::uint32_t>(queries.size()), stride};
}

detail::Flight& GpuDepthDetector::State::find(GpuDepthTicket ticket) {
  for (const auto& flight : flights)
    if (flight->number == ticket.number && ticket.number != 0) return *flight;
  throw Error(fmt::format("there is no submission {}: was it fetched already?", ticket.number));
}

bool GpuDepthDetector::is_ready(GpuDepthTicket ticket) const {
  return state_->find(ticket).is_ready();
}

void GpuDepthDetector::fetch(GpuDepthTicket ticket, std::vector<DepthResult>& reports) {
  detail::Flight& flight = state_->find(ticket);
  flight.wait();
  flight.number = 0;
  if (flight.once && !flight.has_come())
    throw Error("the GPU has not written its report: try GpuDepthSettings::one_pass = false");
  reports.resize(flight.queries.size());
  for (std::size_t q = 0; q < reports.size(); ++q)
    make_depth_report(flight, q, state_->settings, reports[q]);
}

void GpuDepthDetector::forget(GpuDepthTicket ticket) { state_->find(ticket).number = 0; }

void GpuDepthDetector::detect(std::span<const GpuDepthQuery> queries, const GpuDepthScene& scene,
                              std::vector<DepthResult>& reports) {
  if (state_->is_proved_free(queries, scene)) {
    reports.assign(queries.size(), {});
    return;
  }
  fetch(submit(queries, scene), reports);
  state_->note_answers(queries, reports);
}

DepthResult GpuDepthDetector::detect(const Pose& world_from_object, const GpuDepthScene& scene) {
  const GpuDepthQuery query{0, world_from_object};
  std::vector<DepthResult> reports;
  detect({&query, 1}, scene, reports);
  return std::move(reports.front());
}

std::uint64_t GpuDepthDetector::memory_bytes() const {
  const State& s = *state_;
  std::uint64_t bytes = 0;
  for (const GpuBuffer* b :
       {&s.notes, &s.intervals, &s.tile_bounds, &s.heads, &s.nodes, &s.hit_mask, &s.parts, &s.hits,
        &s.sums, &s.bits, &s.windings, &s.results})
    bytes += b->size();
  if (s.once) bytes += s.once->frame.size() + s.once->notes.size() + s.once->covered.size();
  const auto texels =
      static_cast<std::uint64_t>(s.atlas_width) * static_cast<std::uint64_t>(s.atlas_height);
  bytes +=
      texels * ((s.object_far.name() != 0 ? 4U : 0U) + (s.object_near.name() != 0 ? 4U : 0U) +
                (s.environment_depth.name() != 0 ? (s.gpu_settings.use_stencil ? 8U : 4U) : 0U) +
                (s.environment_surface.name() != 0 ? 16U : 0U));
  return bytes;
}

namespace {

// A picture's part of an atlas.
std::vector<float> read_depths(const detail::GlTexture& atlas, int tile, int tiles, int width,
                               int height) {
  std::vector<float> depths(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  glGetTextureSubImage(atlas.name(), 0, tile % tiles * width, tile / tiles * height, 0, width,
                       height, 1, GL_DEPTH_COMPONENT, GL_FLOAT,
                       static_cast<GLsizei>(depths.size() * sizeof(float)), depths.data());
  return depths;
}

}  // namespace

DepthMap GpuDepthDetector::read_map(int slot) {
  State& s = *state_;
  s.check_slot(slot);
  const detail::SlotMap& drawn = s.slots[static_cast<std::size_t>(slot)];
  if (!drawn.view) throw Error(fmt::format("slot {} has no map yet: draw_map first", slot));
  const GpuStateGuard guard(s.gpu_settings.save_state);
  if (s.gpu_settings.save_state) clear_gpu_state();
  DepthMap map;
  map.view = *drawn.view;
  map.width = s.settings.width, map.height = s.settings.height, map.layers = s.frame.layers;
  const detail::DepthMapNote note = s.read_note(slot);
  map.covered = note.covered, map.overfull = note.overfull, map.open = note.open;
  const std::size_t count = s.frame.pixels * static_cast<std::size_t>(s.frame.layers);
  map.intervals.resize(count);
  const auto metres = static_cast<float>(2 * drawn.view->half_size.z);
  if (s.by_intervals()) {
    s.intervals.read(std::span<DepthMap::Interval>(map.intervals),
                     static_cast<std::size_t>(slot) * count * sizeof(DepthMap::Interval));
    for (DepthMap::Interval& i : map.intervals)
      i = i.near > i.far ? DepthMap::Interval{}
                         : DepthMap::Interval{i.near * metres, i.far * metres};
    return map;
  }
  const auto read = [&](const detail::GlTexture& atlas) {
    return read_depths(atlas, slot, s.tiles, map.width, map.height);
  };
  const std::vector<float> far = read(s.object_far);
  const std::vector<float> near =
      s.settings.two_sided ? read(s.object_near) : std::vector<float>(count);
  for (std::size_t i = 0; i < count; ++i)
    if (far[i] > 0 && near[i] <= far[i]) map.intervals[i] = {near[i] * metres, far[i] * metres};
  return map;
}

std::vector<float> GpuDepthDetector::read_environment(int query) {
  State& s = *state_;
  if (s.settings.method != DepthMethod::kTwoMaps)
    throw Error("only DepthMethod::kTwoMaps has a map of the environment");
  const detail::Flight* last = nullptr;
  for (const auto& flight : s.flights)
    if (!flight->views.empty() && (last == nullptr || flight->serial > last->serial))
      last = flight.get();
  if (last == nullptr || query < 0 || static_cast<std::size_t>(query) >= last->views.size())
    throw Error(fmt::format("the last submission had no query {}", query));
  const GpuStateGuard guard(s.gpu_settings.save_state);
  if (s.gpu_settings.save_state) clear_gpu_state();
  std::vector<float> depths =
      read_depths(s.environment_depth, query, s.tiles, s.settings.width, s.settings.height);
  const auto metres =
      static_cast<float>(2 * last->views[static_cast<std::size_t>(query)].half_size.z);
  for (float& d : depths) d = d < 1 ? d * metres : std::numeric_limits<float>::infinity();
  return depths;
}

}  // namespace isotact

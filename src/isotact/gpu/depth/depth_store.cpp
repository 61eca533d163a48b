#include <algorithm>
#include <bit>
#include <cassert>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>

#include <epoxy/gl.h>
#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/gpu/core/detail/shader_text.h"
#include "isotact/gpu/depth/detail/depth_state.h"

namespace isotact {
namespace detail {
namespace {

GLsync to_sync(void* sync) { return static_cast<GLsync>(sync); }

std::vector<ShaderDefine> make_defines(const DepthSettings& settings, bool from_vertex) {
  std::vector<ShaderDefine> defines;
  if (from_vertex) defines.push_back({"FROM_VERTEX", "1"});
  if (settings.conservative) defines.push_back({"CONSERVATIVE", "1"});
  return defines;
}

}  // namespace

void Fence::set() {
  drop();
  sync_ = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
}
bool Fence::is_passed() const {
  if (sync_ == nullptr) return true;
  const GLenum state = glClientWaitSync(to_sync(sync_), GL_SYNC_FLUSH_COMMANDS_BIT, 0);
  return state == GL_ALREADY_SIGNALED || state == GL_CONDITION_SATISFIED;
}
void Fence::wait() {
  if (sync_ == nullptr) return;
  // Drivers put a waiting thread to sleep, and wake it late. Most detections take less time.
  constexpr std::chrono::microseconds kBusy{300};
  const auto start = std::chrono::steady_clock::now();
  while (!is_passed() && std::chrono::steady_clock::now() - start < kBusy) {
  }
  constexpr GLuint64 kSecond = 1'000'000'000;
  while (glClientWaitSync(to_sync(sync_), GL_SYNC_FLUSH_COMMANDS_BIT, kSecond) ==
         GL_TIMEOUT_EXPIRED) {
  }
  drop();
}
void Fence::drop() {
  if (sync_ != nullptr) glDeleteSync(to_sync(sync_));
  sync_ = nullptr;
}

void bind_buffers(std::initializer_list<BoundBuffer> buffers) {
  std::array<GLuint, 16> names{};
  const std::uint32_t first = buffers.begin()->binding;
  std::uint32_t end = first;
  for (const BoundBuffer& b : buffers) {
    assert(b.binding >= first && b.binding - first < names.size());
    names[b.binding - first] = b.name;
    end = std::max(end, b.binding + 1);
  }
  glBindBuffersBase(GL_SHADER_STORAGE_BUFFER, first, static_cast<GLsizei>(end - first),
                    names.data());
}

Upload::~Upload() {
  if (name_ != 0) glDeleteBuffers(1, &name_);
}
void Upload::reserve(std::size_t bytes) {
  if (stage_.size() < bytes) stage_.resize(bytes + bytes / 2);
  if (bytes <= bytes_) return;
  if (name_ != 0) glDeleteBuffers(1, &name_);
  name_ = 0;
  bytes_ = 0;
  while (glGetError() != GL_NO_ERROR) {
  }
  glCreateBuffers(1, &name_);
  glNamedBufferStorage(name_, static_cast<GLsizeiptr>(stage_.size()), nullptr,
                       GL_DYNAMIC_STORAGE_BIT);
  if (glGetError() != GL_NO_ERROR)
    throw Error(fmt::format("the GPU has no memory for a buffer of {} bytes", stage_.size()));
  bytes_ = stage_.size();
}
void Upload::send(std::size_t bytes) const {
  glNamedBufferSubData(name_, 0, static_cast<GLsizeiptr>(bytes), stage_.data());
}
void Upload::bind_frame() const {
  glBindBufferRange(GL_UNIFORM_BUFFER, glsl::kDepthFrameAt, name_, 0, sizeof(DepthFrame));
}
void Upload::bind_pass(std::size_t pass) const {
  glBindBufferRange(GL_UNIFORM_BUFFER, glsl::kDepthPassAt, name_,
                    static_cast<GLintptr>(find_pass(pass)), sizeof(DepthPassBlock));
}

DepthPrograms::DepthPrograms(const DepthSettings& settings, bool from_vertex)
    : only("depth_only.frag", make_defines(settings, from_vertex)),
      gather("depth_gather.frag", make_defines(settings, from_vertex)),
      test(settings.method == DepthMethod::kIntervals ? "depth_intervals.frag"
                                                      : "depth_fragments.frag",
           make_defines(settings, from_vertex)),
      surface("depth_surface.frag", make_defines(settings, from_vertex)) {
  if (!settings.conservative) return;
  std::vector<ShaderDefine> defines = make_defines(settings, from_vertex);
  defines.push_back({"WHOLE", "1"});
  gather_whole.emplace("depth_gather.frag", defines);
  test_whole.emplace("depth_intervals.frag", defines);
}

}  // namespace detail

namespace {

void check_options(const GpuContext& gpu, const DepthSettings& settings,
                   const GpuDepthSettings& gpu_settings) {
  check_depth_settings(settings);
  if (gpu_settings.slots < 1 || gpu_settings.slots > kMostDepthSlots)
    throw Error(fmt::format("slots must be 1 to {}, not {}", kMostDepthSlots, gpu_settings.slots));
  if (gpu_settings.queries < 0 || gpu_settings.queries > kMostDepthSlots)
    throw Error(
        fmt::format("queries must be 0 to {}, not {}", kMostDepthSlots, gpu_settings.queries));
  if (gpu_settings.in_flight < 1 || gpu_settings.in_flight > 64)
    throw Error(fmt::format("in_flight must be 1 to 64, not {}", gpu_settings.in_flight));
  if (gpu_settings.use_stencil && settings.method != DepthMethod::kTwoMaps)
    throw Error("use_stencil is for DepthMethod::kTwoMaps");
  if (settings.conservative && settings.method != DepthMethod::kIntervals)
    throw Error("on a GPU, `conservative` is for DepthMethod::kIntervals");
  if (settings.conservative && !gpu.info().conservative_raster)
    throw Error(fmt::format(
        "{} has no conservative rasterisation (GL_NV_conservative_raster): without `conservative`, "
        "what is smaller than compute_depth_miss() may be missed",
        gpu.info().renderer));
  if (gpu.info().max_storage_bindings < GpuState::kStorageBindings)
    throw Error(fmt::format("{} has {} bindings of storage buffers, {} are needed",
                            gpu.info().renderer, gpu.info().max_storage_bindings,
                            GpuState::kStorageBindings));
}

bool can_raster(const DepthSettings& settings) {
  constexpr GLint kBlocks = 14;  // Blocks of depth_triangles.comp.
  GLint blocks = 0;
  glGetIntegerv(GL_MAX_COMPUTE_SHADER_STORAGE_BLOCKS, &blocks);
  return settings.method == DepthMethod::kIntervals && !settings.conservative && blocks >= kBlocks;
}

detail::DepthFrame make_frame(const DepthSettings& settings) {
  detail::DepthFrame f{};
  f.size[0] = settings.width, f.size[1] = settings.height;
  f.layers = settings.method == DepthMethod::kIntervals ? settings.layers : 1;
  const auto width = static_cast<std::uint32_t>(settings.width);
  const auto height = static_cast<std::uint32_t>(settings.height);
  f.pixels = width * height;
  f.row_words = (width + 31) / 32;
  f.mask_words = (f.row_words * height + 3) / 4 * 4;  // Read by fours.
  constexpr std::uint32_t kSide = glsl::kPartSide;
  f.part_size[0] = (width + kSide - 1) / kSide, f.part_size[1] = (height + kSide - 1) / kSide;
  f.pixel_bits = static_cast<std::uint32_t>(
      std::max(1, static_cast<int>(std::bit_width(f.part_size[0] * f.part_size[1] - 1))));
  f.max_contacts = settings.max_contacts;
  if (settings.conservative) f.flags |= detail::kFrameConservative;
  if (settings.method == DepthMethod::kIntervals) {
    if (settings.find_inside) f.flags |= detail::kFrameFindInside;
  } else {
    f.flags |= settings.two_sided ? detail::kFrameTwoSided : detail::kFrameOneSided;
  }
  return f;
}

}  // namespace

GpuDepthDetector::State::State(const GpuContext& gpu, const DepthSettings& wanted,
                               const GpuDepthSettings& wanted_gpu_settings)
    : settings((check_options(gpu, wanted, wanted_gpu_settings), wanted)),
      gpu_settings(wanted_gpu_settings),
      frame(make_frame(wanted)),
      callers(wanted, false) {
  if (gpu_settings.queries == 0) gpu_settings.queries = gpu_settings.slots;
  const int most = std::max(gpu_settings.slots, gpu_settings.queries);
  while (tiles * tiles < most) ++tiles;
  frame.tiles = tiles;
  atlas_width = tiles * settings.width;
  atlas_height = (most + tiles - 1) / tiles * settings.height;
  if (std::max(atlas_width, atlas_height) > gpu.info().max_picture)
    throw Error(fmt::format("{} maps of {} x {} pixels are more than fit ({} x {})", most,
                            settings.width, settings.height, gpu.info().max_picture,
                            gpu.info().max_picture));
  // Work-groups of one dispatch, each for a block of tiles.
  item_room = static_cast<std::uint32_t>(std::min<std::int64_t>(
      gpu.info().max_groups_x, gpu_settings.tiles > 0 ? gpu_settings.tiles : 1U << 18U));
  compute_raster = gpu_settings.raster != GpuRaster::kGraphics && can_raster(settings) &&
                   (gpu_settings.raster == GpuRaster::kCompute || !gpu.info().software);
  finish.emplace("depth_finish.comp");
  std::vector<ShaderDefine> defines;
  if (settings.conservative) defines.push_back({"CONSERVATIVE", "1"});
  if (!by_intervals()) defines.push_back({"MAPS", "1"});
  resolve.emplace("depth_resolve.comp", defines);
  if (settings.method == DepthMethod::kTwoMaps) compare.emplace("depth_compare.comp");
  if (by_intervals() && settings.find_inside) within.emplace("depth_within.comp");
  slots.resize(static_cast<std::size_t>(gpu_settings.slots));
  stencils.resize(static_cast<std::size_t>(gpu_settings.queries));
  for (int i = 0; i < gpu_settings.in_flight; ++i)
    flights.push_back(std::make_unique<detail::Flight>());
  make_buffers(static_cast<std::size_t>(gpu.info().max_storage_bytes));
  make_pictures();
}

void GpuDepthDetector::State::make_buffers(std::size_t max_storage_bytes) {
  const auto slot_count = static_cast<std::size_t>(gpu_settings.slots);
  const auto query_count = static_cast<std::size_t>(gpu_settings.queries);
  const std::size_t tile_count = static_cast<std::size_t>(detail::count_tiles(settings.width)) *
                                 static_cast<std::size_t>(detail::count_tiles(settings.height));
  // Kept hits are those that are deeper than all before in their part of the picture: one per pixel
  // for a surface that is drawn from its highest to its deepest point.
  constexpr std::size_t kMostHitBytes = std::size_t{1} << 28;
  const std::size_t hit_room = std::max<std::size_t>(
      256, std::min(frame.pixels * std::size_t{settings.max_contacts > 0 ? 2U : 1U},
                    kMostHitBytes / sizeof(glsl::DepthHit) / query_count));
  frame.hit_room = static_cast<std::uint32_t>(hit_room);
  const auto make = [&](GpuBuffer& buffer, std::size_t bytes) {
    // Shaders count pixels in 32 bits.
    if (bytes > max_storage_bytes || bytes / 4 > std::numeric_limits<std::uint32_t>::max())
      throw Error(fmt::format(
          "{} slots and {} queries of {} x {} pixels with {} layers need a buffer of {} bytes; the "
          "GPU takes {}: take fewer, or smaller maps",
          gpu_settings.slots, gpu_settings.queries, settings.width, settings.height, frame.layers,
          bytes, max_storage_bytes));
    buffer = GpuBuffer(bytes);
    buffer.clear();
  };
  make(notes, slot_count * sizeof(detail::DepthMapNote));
  make(tile_bounds, slot_count * tile_count * sizeof(glsl::vec2));
  make(intervals, by_intervals() ? slot_count * frame.pixels *
                                       static_cast<std::size_t>(frame.layers) * sizeof(glsl::vec2)
                                 : 16);
  make(hit_mask, query_count * frame.mask_words * 4);
  make(parts, query_count * glsl::kPartStride * 4);
  make(windings,
       within ? query_count * frame.pixels * static_cast<std::size_t>(frame.layers) * 4 : 16);
  hits = GpuBuffer(query_count * hit_room * sizeof(glsl::DepthHit));
  reserve_elements(32);
  if (!by_intervals()) return;
  make(heads, std::size_t{frame.pixels} * 4);
  const std::size_t surfaces =
      gpu_settings.surfaces > 0 ? gpu_settings.surfaces : std::size_t{frame.pixels} * 4;
  nodes = GpuBuffer(node_start() + surfaces * node_bytes());
}

void GpuDepthDetector::State::make_pictures() {
  plain = detail::GlFramebuffer(atlas_width, atlas_height);
  if (by_intervals()) return;
  const auto make = [&](GLenum format) {
    return detail::GlTexture(format, atlas_width, atlas_height);
  };
  object_far = make(GL_DEPTH_COMPONENT32F);
  far_picture = detail::GlFramebuffer(object_far, false, {});
  if (settings.two_sided) {
    object_near = make(GL_DEPTH_COMPONENT32F);
    near_picture = detail::GlFramebuffer(object_near, false, {});
  }
  if (settings.method != DepthMethod::kTwoMaps) return;
  environment_depth = make(gpu_settings.use_stencil ? GL_DEPTH32F_STENCIL8 : GL_DEPTH_COMPONENT32F);
  environment_surface = make(GL_RGBA32UI);
  environment_picture =
      detail::GlFramebuffer(environment_depth, gpu_settings.use_stencil, environment_surface);
  if (!gpu_settings.use_stencil) return;
  mask.emplace(
      DrawStages{.vertex = detail::find_shader("depth_mask_corners.vert"), .name = "depth_mask"});
  mask_fragment.emplace("depth_mask.frag");
}

void GpuDepthDetector::State::reserve_elements(std::uint32_t elements) {
  const std::size_t words = (elements + 31) / 32;
  const auto query_count = static_cast<std::size_t>(gpu_settings.queries);
  const auto grow = [](GpuBuffer& buffer, std::size_t bytes) {
    if (bytes <= buffer.size()) return;
    buffer.reserve(bytes);
    buffer.clear();
  };
  grow(bits, query_count * words * 4);
  grow(sums, query_count * elements * 4);
}

void GpuDepthDetector::State::check_slot(int slot) const {
  if (slot < 0 || slot >= gpu_settings.slots)
    throw Error(fmt::format("there is no slot {}: the detector has {}", slot, gpu_settings.slots));
}

}  // namespace isotact

// An OpenGL 4.5 core context without a window, or the caller's own. Everything else in this folder
// works in the context that is current on the calling thread.
//
//   const std::optional<GpuContext> gpu = GpuContext::try_create(&why);
//   if (!gpu) { use the CPU's side; `why` says what is missing }
//
// Made through EGL: on a device of its own (NVIDIA's driver, Mesa's), or on Mesa's surfaceless
// platform. Software Mesa (llvmpipe) counts as a GPU, is used where there is no other, and says so
// in GpuInfo::software.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace isotact {

struct GpuInfo {
  std::string vendor, renderer, version;
  bool software = false;
  bool bindless = false;               // ARB_bindless_texture
  bool conservative_raster = false;    // NV_conservative_raster or INTEL_conservative_rasterization
  std::int64_t max_texture_3d = 0;     // texels an axis
  std::int64_t max_storage_bytes = 0;  // of one storage buffer
  std::int64_t max_storage_bindings = 0;
  std::int64_t max_groups_x = 0;  // work-groups of a dispatch, along x
  std::int64_t max_group_size = 0;
  std::int64_t shared_bytes = 0;  // of a work-group
  std::int64_t max_picture = 0;   // pixels an axis that can be drawn
};

enum class GpuChoice : std::uint8_t {
  kAny,       // hardware where there is some, else software
  kHardware,  //
  kSoftware,  //
};

// Owns a context, or refers to the caller's. Moving keeps it; destroying it destroys what it owns,
// and everything that was made in it must be gone by then.
class GpuContext {
 public:
  // Makes a context and makes it current on this thread. The environment variable ISOTACT_GPU
  // (`hardware`, `software`, `none`) overrules kAny. Throws Error where there is none, with what
  // was tried.
  static GpuContext create(GpuChoice choice = GpuChoice::kAny);
  // The same, with the reason in `why` instead of an Error.
  static std::optional<GpuContext> try_create(std::string* why, GpuChoice choice = GpuChoice::kAny);
  // The context that is current on this thread, which stays the caller's. Throws Error where there
  // is none, or one older than OpenGL 4.5.
  static GpuContext adopt_current();

  GpuContext(GpuContext&&) noexcept;
  GpuContext& operator=(GpuContext&&) noexcept;
  ~GpuContext();

  // On this thread. A context may be current on one thread at a time: release() it there first.
  void make_current() const;
  void release() const;
  // Throws Error where it is not current on this thread. (Of the caller's own it is not known.)
  void check_current() const;

  const GpuInfo& info() const;

 private:
  struct State;
  explicit GpuContext(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// "NVIDIA H200 (NVIDIA Corporation, OpenGL 4.6), bindless textures, ..." in one line.
std::string describe(const GpuInfo& info);

}  // namespace isotact

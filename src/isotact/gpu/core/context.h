// An OpenGL 4.5 core context without a window, or the caller's own. Everything else in this folder
// works in the context that is current on the calling thread.
//
//   const std::optional<GpuContext> gpu = GpuContext::try_create(&why);
//   if (!gpu) { use the CPU implementation; `why` names the missing part }
//
// Contexts are made through EGL: on a device of its own (NVIDIA's driver, Mesa's), or on Mesa's
// surfaceless platform. Software Mesa (llvmpipe) counts as a GPU. It is used if there is no other,
// and sets GpuInfo::software.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

struct GpuInfo {
  std::string vendor, renderer, version;
  bool software = false;
  bool bindless = false;               // ARB_bindless_texture
  bool conservative_raster = false;    // NV_conservative_raster or INTEL_conservative_rasterization
  std::int64_t max_texture_3d = 0;     // Texels per axis.
  std::int64_t max_storage_bytes = 0;  // Per storage buffer.
  std::int64_t max_storage_bindings = 0;
  std::int64_t max_groups_x = 0;  // Work-groups per dispatch, along x.
  std::int64_t max_group_size = 0;
  std::int64_t shared_bytes = 0;  // Per work-group.
  std::int64_t max_picture = 0;   // Pixels per axis of a drawn picture.
};

enum class GpuChoice : std::uint8_t {
  kAny,  // Hardware if there is any, otherwise software.
  kHardware,
  kSoftware,
};

// Owns a context, or refers to the caller's. Moving keeps it. Its destructor destroys an owned
// context; everything that was made in it must be destroyed before.
class GpuContext {
 public:
  // Makes a context and makes it current on this thread. The environment variable ISOTACT_GPU
  // (`hardware`, `software`, `none`) overrides kAny. Throws Error with all attempts if there is
  // none.
  static GpuContext create(GpuChoice choice = GpuChoice::kAny);
  // The same, with the reason in `why` instead of an Error.
  static std::optional<GpuContext> try_create(std::string* why, GpuChoice choice = GpuChoice::kAny);
  // Returns the context that is current on this thread, which the caller still owns. Throws Error
  // if there is none, or if it is older than OpenGL 4.5.
  static GpuContext adopt_current();

  GpuContext(GpuContext&&) noexcept;
  GpuContext& operator=(GpuContext&&) noexcept;
  ~GpuContext();

  // On this thread. A context may be current on one thread at a time: call release() there first.
  void make_current() const;
  void release() const;
  // Throws Error if it is not current on this thread. (Not checked for the caller's own context.)
  void check_current() const;

  const GpuInfo& info() const;

 private:
  struct State;
  explicit GpuContext(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Returns one line: "NVIDIA H200 (NVIDIA Corporation, OpenGL 4.6), bindless textures, ...".
std::string describe(const GpuInfo& info);

// Time that the GPU works, by its own clock. Ownership as in buffer.h. Software Mesa defers work:
// measure wall time around finish_gpu() there.
class GpuTimer {
 public:
  GpuTimer();
  GpuTimer(const GpuTimer&) = delete;
  GpuTimer& operator=(const GpuTimer&) = delete;
  ~GpuTimer();

  void begin();
  void end();
  double milliseconds() const;  // From begin to end. Waits for the result.

 private:
  std::uint32_t queries_[2]{};
};

}  // namespace isotact

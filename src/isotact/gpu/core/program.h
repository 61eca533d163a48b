// Compute shaders. Their sources lie in shaders/ and are embedded when the library is built; there
// is nothing to find or to install at run time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "isotact/gpu/buffer.h"

namespace isotact {

struct ShaderDefine {
  std::string name, value;
};

// Ownership as in buffer.h.
class GpuProgram {
 public:
  GpuProgram() = default;  // nothing may be asked of it
  // `name` is a file of shaders/, such as "project.comp". Lines `#include "x.glsl"` are replaced by
  // that file, once each; a define BINDLESS asks for ARB_bindless_texture. Throws Error where it
  // does not compile or link, with the compiler's complaints in terms of files and lines.
  explicit GpuProgram(std::string_view name, const std::vector<ShaderDefine>& defines = {});
  // Of a source that is not embedded.
  static GpuProgram from_source(std::string_view name, std::string_view source,
                                const std::vector<ShaderDefine>& defines = {});
  GpuProgram(GpuProgram&& other) noexcept;
  GpuProgram& operator=(GpuProgram&& other) noexcept;
  ~GpuProgram();

  std::uint32_t name() const { return name_; }

  // Uniforms that the compiler dropped are ignored.
  void set(const char* uniform, float value) const;
  void set(const char* uniform, std::int32_t value) const;
  void set(const char* uniform, std::uint32_t value) const;
  void set(const char* uniform, float x, float y, float z) const;
  void set(const char* uniform, std::int32_t x, std::int32_t y, std::int32_t z) const;

  // Work-groups. What they write to storage buffers and images is seen by what is dispatched next.
  // Counts beyond 65535 along x are for the caller to avoid: see spread_groups.
  void dispatch(std::uint32_t x, std::uint32_t y = 1, std::uint32_t z = 1) const;
  // Three uint32 in a buffer.
  void dispatch_indirect(const GpuBuffer& groups, std::size_t offset = 0) const;

 private:
  std::uint32_t name_ = 0;
};

// Work-groups along x and y, so that x * y >= count and both are allowed everywhere (65535).
// Shaders find their number as gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x.
struct GroupGrid {
  std::uint32_t x = 0, y = 0;
};
GroupGrid spread_groups(std::uint64_t count);

// Waits until the GPU has done everything.
void finish_gpu();
// Makes it begin with what it has been told.
void flush_gpu();

}  // namespace isotact

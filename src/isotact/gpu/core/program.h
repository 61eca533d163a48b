// Compute shaders. Their sources are in shaders/, and the structs that they share with C++ in
// headers (docs/gpu.md). All are embedded when the library is built; nothing is searched or
// installed at run time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "isotact/export.h"
#include "isotact/gpu/core/buffer.h"

namespace ISOTACT_PUBLIC isotact {

struct ShaderDefine {
  std::string name, value;
};

// Ownership as in buffer.h.
class GpuProgram {
 public:
  GpuProgram() = default;  // Empty. No other member may be called.
  // `name` is a file of shaders/, such as "project.comp". Lines `#include "x.glsl"` are replaced by
  // that file or shared header, once each. A define BINDLESS requests ARB_bindless_texture. Throws
  // Error if it does not compile or link, with the compiler's messages in terms of files and lines.
  explicit GpuProgram(std::string_view name, const std::vector<ShaderDefine>& defines = {});
  // For a source that is not embedded.
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

  // Counts are work-groups. The next dispatch sees everything that they write to storage buffers
  // and images. Callers must avoid counts above 65535 along x: see spread_groups.
  void dispatch(std::uint32_t x, std::uint32_t y = 1, std::uint32_t z = 1) const;
  // Reads three uint32 from a buffer.
  void dispatch_indirect(const GpuBuffer& groups, std::size_t offset = 0) const;

 private:
  std::uint32_t name_ = 0;
};

// Returns the text that the GPU's compiler gets for a source, with its version and all includes,
// for callers that compile their own shaders. A source that begins with #version is returned
// unchanged. Throws Error if a file is missing.
std::string make_shader_text(std::string_view name, std::string_view source,
                             const std::vector<ShaderDefine>& defines = {});

// Work-groups along x and y, such that x * y >= count and both are allowed everywhere (65535).
// Shaders compute their number as gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x.
struct GroupGrid {
  std::uint32_t x = 0, y = 0;
};
GroupGrid spread_groups(std::uint64_t count);

// Waits until the GPU has finished all work.
void finish_gpu();
// Makes the GPU begin with the submitted work.
void flush_gpu();

}  // namespace isotact

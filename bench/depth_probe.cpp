// Temporary: where the way to the GPU and back spends its time.
#include <atomic>
#include <chrono>
#include <cstring>

#include <epoxy/gl.h>

#include "isotact/gpu/buffer.h"
#include "isotact/gpu/program.h"

#include "depth_report.h"
#include "depth_statistics.h"
#include "measure.h"

namespace isotact::bench {
namespace {

constexpr const char* kEmpty = R"(
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer Ask { uint asked[]; };
layout(std430, binding = 1) coherent buffer Notes { uint notes[]; };
layout(std430, binding = 2) coherent writeonly buffer Results { uint results[]; };
shared uint last;
void main() {
  uint serial = asked[gl_LocalInvocationIndex % 16u];
  barrier();
  if (gl_LocalInvocationIndex == 0u) last = gl_NumWorkGroups.x > 1u ? atomicAdd(notes[0], 1u) : 0u;
  barrier();
  if (last + 1u != gl_NumWorkGroups.x) return;
  if (gl_LocalInvocationIndex == 0u) notes[0] = 0u;
  if (gl_LocalInvocationIndex < 16u) results[gl_LocalInvocationIndex] = serial;
}
)";

double now_us() {
  return 1e-3 * static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

}  // namespace

void bench_probe(const Options&, const GpuContext&, Report& report) {
  const GpuProgram program = GpuProgram::from_source("probe.comp", kEmpty);
  GpuBuffer notes(std::size_t{256});
  notes.clear();
  constexpr GLbitfield kRead = GL_MAP_READ_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;
  constexpr GLbitfield kWrite = GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;
  GLuint names[3];
  glCreateBuffers(3, names);
  glNamedBufferStorage(names[0], 4096, nullptr, GL_DYNAMIC_STORAGE_BIT);
  glNamedBufferStorage(names[1], 4096, nullptr, kWrite);
  glNamedBufferStorage(names[2], 4096, nullptr, kRead | GL_CLIENT_STORAGE_BIT);
  auto* up = static_cast<std::uint32_t*>(glMapNamedBufferRange(names[1], 0, 4096, kWrite));
  auto* down = static_cast<std::uint32_t*>(glMapNamedBufferRange(names[2], 0, 4096, kRead));
  std::uint32_t serial = 0;
  report.print("  round trips: us (deviation); parts: upload, bind, dispatch, flush, wait\n");
  for (const int bytes : {64, 512, 3072})
    for (const bool mapped : {false, true})
      for (const int groups : {1, 512})
        for (const int wait : {0, 1, 2}) {
          if (bytes != 512 && (groups == 1 || wait > 0)) continue;
          std::vector<double> all;
          double parts[5] = {};
          std::size_t count = 0;
          for (int i = 0; i < 3000; ++i) {
            ++serial;
            std::uint32_t data[1024];
            for (std::uint32_t& d : data) d = serial;
            const double t0 = now_us();
            if (mapped)
              std::memcpy(up, data, static_cast<std::size_t>(bytes));
            else
              glNamedBufferSubData(names[0], 0, bytes, data);
            const double t1 = now_us();
            const GLuint bound[] = {mapped ? names[1] : names[0], notes.name(), names[2]};
            glBindBuffersBase(GL_SHADER_STORAGE_BUFFER, 0, 3, bound);
            glUseProgram(program.name());
            glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
            const double t2 = now_us();
            glDispatchCompute(static_cast<GLuint>(groups), 1, 1);
            const double t3 = now_us();
            GLsync sync = nullptr;
            if (wait == 1) {
              glMemoryBarrier(GL_CLIENT_MAPPED_BUFFER_BARRIER_BIT);
              sync = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
            }
            glFlush();
            if (wait == 2) sync = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
            const double t4 = now_us();
            if (wait == 1) {
              while (glClientWaitSync(sync, 0, 0) == GL_TIMEOUT_EXPIRED) {
              }
            } else {
              double tries = 0;
              while (std::atomic_ref<std::uint32_t>(down[15]).load(std::memory_order_acquire) !=
                     serial) {
                if (++tries < 2e6) continue;
                glFinish();
                if (down[15] != serial) report.print("  lost!\n");
                break;
              }
            }
            const double t5 = now_us();
            if (sync != nullptr) glDeleteSync(sync);
            if (i < 1000) continue;
            all.push_back(t5 - t0);
            const double t[] = {t1 - t0, t2 - t1, t3 - t2, t4 - t3, t5 - t4};
            for (int k = 0; k < 5; ++k) parts[k] += t[k];
            ++count;
          }
          const Sample s = describe_values(all);
          report.print("  {:>5} bytes {:<7} {:>4} groups {:<12} {:>6.1f} ({:>5.1f}) median {:.1f}:",
                       bytes, mapped ? "mapped" : "subdata", groups,
                       wait == 1   ? "fence"
                       : wait == 2 ? "poll, fence"
                                   : "poll",
                       s.mean, s.deviation, quantile(all, 0.5));
          for (const double p : parts) report.print(" {:.1f}", p / static_cast<double>(count));
          report.print("\n");
        }
  glFinish();
  glDeleteBuffers(3, names);
}

}  // namespace isotact::bench

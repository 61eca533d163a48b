// fab_fire_times [SIZE [PARTICLES]]: how long a step of the fire takes.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <vector>

#include "isotact/gpu/core/context.h"

#include "fire.h"

namespace isotact::demo {
namespace {

double find_median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

// Milliseconds by the GPU's clock, and by ours until it has finished.
void measure(const char* name, int times, const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  GpuTimer timer;
  std::vector<double> gpu, wall;
  for (int i = 0; i < times; ++i) {
    finish_gpu();
    const Clock::time_point start = Clock::now();
    timer.begin();
    work();
    timer.end();
    finish_gpu();
    wall.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    gpu.push_back(timer.milliseconds());
  }
  std::printf("%-28s %8.3f ms (GPU's clock) %8.3f ms (wall)\n", name, find_median(gpu),
              find_median(wall));
}

void run(int size, std::uint32_t particles) {
  const GpuContext gpu = GpuContext::create();
  std::printf("%s\n%u particles, %d triangles, maps of %d x %d with normals and ids\n",
              describe(gpu.info()).c_str(), particles, kSkilletTriangles, size, size);
  const int times = gpu.info().software ? 20 : 400;
  Fire fire(gpu, size, particles, false);
  for (int i = 0; i < 2 * times; ++i) fire.step();
  measure("maps", times, [&] { fire.draw_maps(); });
  measure("particles", times, [&] { fire.move_particles(); });
  measure("a step", times, [&] { fire.step(); });
  measure("a step and its counts", times, [&] {
    fire.step();
    (void)fire.particles().read_counts();
  });
  // Without a wait between them.
  using Clock = std::chrono::steady_clock;
  finish_gpu();
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < times; ++i) fire.step();
  finish_gpu();
  std::printf("%-28s %8.3f ms each\n", "steps in a row",
              std::chrono::duration<double, std::milli>(Clock::now() - start).count() / times);
}

}  // namespace
}  // namespace isotact::demo

int main(int count, char** arguments) {
  try {
    const int size = count > 1 ? std::atoi(arguments[1]) : 1024;
    const int particles = count > 2 ? std::atoi(arguments[2]) : 50'000;
    isotact::demo::run(size, static_cast<std::uint32_t>(std::max(particles, 1)));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "fab_fire_times: %s\n", e.what());
    return 1;
  }
  return 0;
}

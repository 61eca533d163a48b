// FAB, section 3.2: a fire of 50,000 particles under a skillet of 81,920 triangles that moves, with
// a height map and normals of 1024 x 1024 pixels, drawn again for each step.
#include <cmath>

#include "isotact/gpu/core/context.h"
#include "isotact/gpu/core/program.h"
#include "isotact/gpu/depth/mesh_drawable.h"
#include "isotact/gpu/particles/particle_maps.h"

#include "depth_report.h"
#include "fab_shapes.h"
#include "support/gpu_measure.h"

namespace isotact::bench {

void bench_fire(const Options& options, const GpuContext& gpu, Report& report) {
  const bool software = gpu.info().software;
  const int size = options.quick ? 256 : 1024;
  const std::uint32_t count = options.quick ? 5000 : 50000;
  const TriangleMesh skillet = make_skillet();
  const MeshElement elements[] = {make_mesh_element(skillet, {}, 1, true)};
  GpuMeshes meshes(elements);
  GpuParticleMaps maps(gpu, {.size = size, .save_state = false});
  GpuParticles particles(gpu, count);
  const ParticleObstacle obstacles[] = {{.drawable = meshes.drawable(0)}};
  const ParticleView view{
      .center = {0, 0.3, 0}, .direction = {0, 1, 0}, .half_size = {0.4, 0.4, 0.35}};
  const ParticleStep step{.seconds = 0.01F,
                          .gravity = {0, 1.5F, 0},
                          .drag = 0.8F,
                          .perturbation = 6,
                          .restitution = 0.2F,
                          .friction = 0.1F,
                          .surface_motion = 0.005F,
                          .source_radius = 0.06F,
                          .velocity = {0, 0.5F, 0},
                          .velocity_spread = {0.12F, 0.2F, 0.12F},
                          .least_life = 0.5F,
                          .most_life = 1.5F};
  double seconds = 0;
  GpuTimer timer;
  const auto advance = [&] {
    meshes.set_pose(0, compute_skillet_pose(seconds += 0.01));
    if (!software) timer.begin();
    const double wall = 1e3 * seconds_of([&] {
                                maps.draw(view, obstacles);
                                particles.step(maps, step);
                                finish_gpu();
                              }).wall;
    if (software) return wall;
    timer.end();
    return timer.milliseconds();
  };
  for (int i = 0; i < 150; ++i) advance();  // until it burns evenly
  particles.read_counts();
  const double milliseconds = steady_milliseconds(advance, software);
  std::vector<double> wall;
  for (int i = 0; i < (software ? 5 : 200); ++i)
    wall.push_back(1e3 * seconds_of([&] { advance(); }).wall);
  const ParticleCounts counts = particles.read_counts();
  Table table = report.table(
      {.id = "fire",
       .paper = "FAB",
       .place = "Section 3.2",
       .title = "Particles of a fire under a skillet: a step",
       .columns = {{"", Of::kKey},
                   {"particles", Of::kKey},
                   {"triangles", Of::kKey},
                   {"pixels a side", Of::kKey},
                   {fmt::format("by the {} clock", software ? "wall's" : "GPU's"), Of::kOurs, "ms"},
                   {"with waiting for it", Of::kOurs, "ms"},
                   {"bounces", Of::kOurs},
                   {"births", Of::kOurs},
                   {"steps hidden", Of::kOurs},
                   {"outside of the map", Of::kOurs}},
       .note = "Height and normals of the skillet are drawn for each step."});
  table.row({"FAB published, around", 50000, 81920, 1024, 2.0, {}, {}, {}, {}, {}}, Of::kPaper);
  table.row({"ours", count, skillet.triangles.size(), size, milliseconds, quantile(wall, 0.5),
             counts.collisions, counts.born, counts.hidden, counts.outside},
            Of::kOurs);
  report.json["fire"] = {{"particles", count},
                         {"pixels", size},
                         {"gpu_ms", milliseconds},
                         {"wall_ms", quantile(wall, 0.5)},
                         {"bounces", counts.collisions}};
  report.check(counts.collisions > 0, "particles meet the skillet");
  if (!software && !options.quick) report.aim(milliseconds < 0.5, "fire: less than 0.5 ms a step");

  // Nobody gets through: particles over the pan's bottom, within its rim, were born elsewhere.
  const Pose pan_from_world = inverse(compute_skillet_pose(seconds));
  std::size_t within = 0;
  for (const Particle& p : particles.read()) {
    const Vec3 q = transform_point(pan_from_world, to_double(p.position));
    if (q.y > 0.006 && q.y < 0.02 && std::hypot(q.x, q.z) < 0.09) ++within;
  }
  report.check(within * 1000 <= count, "fewer than one particle in 1,000 gets into the pan",
               fmt::format("{} of {}", within, count));
}

}  // namespace isotact::bench

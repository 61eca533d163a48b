#include "isotact/gpu/particles/particle_maps.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>

#include <epoxy/gl.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/gpu/core/gl_state.h"
#include "isotact/gpu/core/program.h"
#include "isotact/gpu/depth/mesh_drawable.h"

#include "gpu/gpu_fixture.h"

namespace isotact {
namespace {

// Draws a mesh by pulling its corners out of a storage buffer.
class PulledMesh {
 public:
  explicit PulledMesh(const TriangleMesh& mesh, const Vec3f& offset = {}) {
    std::vector<std::array<float, 4>> points;
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
      for (const Vec3f& p : corners(mesh, t))
        points.push_back({p.x + offset.x, p.y + offset.y, p.z + offset.z, 1});
    buffer_ = GpuBuffer(std::span<const std::array<float, 4>>(points));
    count_ = static_cast<GLsizei>(points.size());
    glCreateVertexArrays(1, &vertex_array_);
  }
  PulledMesh(const PulledMesh&) = delete;
  PulledMesh& operator=(const PulledMesh&) = delete;
  ~PulledMesh() { glDeleteVertexArrays(1, &vertex_array_); }

  ParticleObstacle obstacle(std::uint32_t id, const std::array<float, 4>& data = {}) {
    const auto draw = [this](const DrawPass& pass) {
      const GLuint program = program_.use(pass);
      glProgramUniform3f(program, 5, moved.x, moved.y, moved.z);
      buffer_.bind(0);
      glBindVertexArray(vertex_array_);
      glDrawArrays(GL_TRIANGLES, 0, count_);
    };
    return {.drawable = {.draw = draw, .id = id, .closed = true}, .data = data};
  }

  Vec3f moved{};

 private:
  static constexpr const char* kVertex = R"(
layout(std430, binding = 0) readonly buffer Points { vec4 points[]; };
layout(location = 5) uniform vec3 moved;
uniform mat4 clip_from_world;
void main() { gl_Position = clip_from_world * vec4(points[gl_VertexID].xyz + moved, 1); }
)";
  GpuDrawProgram program_{{.vertex = kVertex}};
  GpuBuffer buffer_;
  GLsizei count_ = 0;
  GLuint vertex_array_ = 0;
};

class ParticleMapTest : public GpuTest {
 protected:
  GpuParticleMaps maps(ParticleMapSettings settings) {
    if (settings.size == 1024) settings.size = 64;
    return {gpu(), settings};
  }
};

std::size_t texel(const ParticleMaps& maps, int slice, int row, int column) {
  const auto size = static_cast<std::size_t>(maps.size);
  return (static_cast<std::size_t>(slice) * size + static_cast<std::size_t>(row)) * size +
         static_cast<std::size_t>(column);
}

const ParticleView kUpwards{.center = {0, 1, 0}, .direction = {0, 1, 0}, .half_size = {1, 1, 1}};

TEST_F(ParticleMapTest, HoldsABallInOneDirection) {
  PulledMesh ball(make_sphere({.radius = 0.5, .frequency = 40}), {0, 1.2F, 0});
  GpuParticleMaps gpu_maps = maps({.data = true});
  gpu_maps.draw(kUpwards, std::vector{ball.obstacle(7, {1, 2, 3, 4})});
  const ParticleMaps m = gpu_maps.read();
  int covered = 0;
  for (int row = 0; row < 64; ++row)
    for (int column = 0; column < 64; ++column) {
      const ParticleFace& face = m.face[0];
      const double x = (2 * column + 1) / 64.0 - 1, y = (2 * row + 1) / 64.0 - 1;
      const double r = std::sqrt(x * x + y * y);
      const std::size_t at = texel(m, 0, row, column);
      if (std::abs(r - 0.5) < 0.01) continue;
      ASSERT_EQ(m.depths[at] < 1, r < 0.5) << row << " " << column;
      if (r > 0.5) {
        EXPECT_EQ(m.ids[at], 0U);
        continue;
      }
      ++covered;
      const double depth = 1.2 - std::sqrt(0.25 - r * r);
      EXPECT_NEAR(static_cast<double>(m.depths[at]) * 2, depth, r < 0.45 ? 2e-3 : 3e-2);
      EXPECT_EQ(m.ids[at], 7U);
      EXPECT_EQ(m.data[at], (std::array<float, 4>{1, 2, 3, 4}));
      const Vec3f n{m.normals[at][0], m.normals[at][1], m.normals[at][2]};
      const Vec3f outwards = face.x * static_cast<float>(2 * x) +
                             face.y * static_cast<float>(2 * y) -
                             face.z * static_cast<float>(2 * std::sqrt(0.25 - r * r));
      EXPECT_GT(dot(n, outwards), 0.995F) << r;
    }
  EXPECT_NEAR(covered, 0.25 * kPi / 4 * 64 * 64, 60);
}

TEST_F(ParticleMapTest, HoldsARoomInSixDirections) {
  TriangleMesh room = make_box({.size_x = 2, .size_y = 3, .size_z = 4});
  for (Triangle& t : room.triangles) std::swap(t[0], t[1]);  // seen from within
  PulledMesh drawn(room);
  GpuParticleMaps gpu_maps = maps({.size = 32, .cube = true});
  gpu_maps.draw({.center = {0.3, 0.4, 0.5}, .near = 0.05, .far = 8},
                std::vector{drawn.obstacle(3)});
  const ParticleMaps m = gpu_maps.read();
  const double walls[6] = {0.7, 1.3, 1.1, 1.9, 1.5, 2.5};
  for (int face = 0; face < 6; ++face) {
    const std::size_t at = texel(m, face, 16, 16);
    const double depth = static_cast<double>(m.depths[at]);
    EXPECT_NEAR(0.05 * 8 / (8 - depth * 7.95), walls[face], 1e-3) << face;
    const ParticleFace& f = m.face[static_cast<std::size_t>(face)];
    for (const int corner : {0, 16, 31}) {
      const auto& n = m.normals[texel(m, face, 16, corner)];
      const Vec3f normal{n[0], n[1], n[2]};
      EXPECT_NEAR(length(normal), 1, 2e-3);
      if (corner == 16) {
        EXPECT_LT(dot(normal, f.z), -0.999F) << face;
      }
    }
    EXPECT_EQ(m.ids[at], 3U);
  }
}

TEST_F(ParticleMapTest, PeelsLayers) {
  PulledMesh low(make_box({.size_x = 1.5, .size_y = 0.1, .size_z = 1.5}), {0, 0.5F, 0});
  PulledMesh high(make_box({.size_x = 1, .size_y = 0.2, .size_z = 1}), {0, 1.5F, 0});
  GpuParticleMaps gpu_maps = maps({.layers = 5});
  gpu_maps.draw(kUpwards, std::vector{high.obstacle(2), low.obstacle(1)});
  const ParticleMaps m = gpu_maps.read();
  const float expected[4] = {0.45F, 0.55F, 1.4F, 1.6F};
  for (int layer = 0; layer < 4; ++layer) {
    const std::size_t at = texel(m, layer, 33, 30);
    EXPECT_NEAR(m.depths[at] * 2, expected[layer], 1e-5F);
    EXPECT_EQ(m.ids[at], layer < 2 ? 1U : 2U);
    EXPECT_NEAR(m.normals[at][1], layer % 2 == 0 ? -1 : 1, 1e-3);
  }
  EXPECT_EQ(m.depths[texel(m, 4, 33, 30)], 1);
  EXPECT_EQ(m.depths[texel(m, 2, 33, 12)], 1);  // beside the upper one
  EXPECT_LT(m.depths[texel(m, 1, 33, 12)], 1);
}

TEST_F(ParticleMapTest, FarSidesOfClosedThingsDoNotMatter) {
  const TriangleMesh ball = make_sphere({.radius = 0.5, .frequency = 12});
  const TriangleMesh box = make_box({.size_x = 0.6, .size_y = 0.3, .size_z = 0.5});
  // By way of our own drawables.
  const std::vector<MeshElement> elements = {
      make_mesh_element(ball, {{}, {0.1, 1.2, 0}}, 4, true),
      make_mesh_element(box, {rotation_about({1, 2, 3}, 1), {-0.4, 0.7, 0.2}}, 5, true)};
  const GpuMeshes meshes(elements);
  std::vector<ParticleObstacle> obstacles;
  for (const GpuDrawable& drawable : meshes.drawables()) obstacles.push_back({drawable});
  ParticleMaps read[2];
  for (const bool cull : {false, true}) {
    GpuParticleMaps gpu_maps = maps({.cull_back_faces = cull});
    gpu_maps.draw(kUpwards, obstacles);
    read[cull ? 1 : 0] = gpu_maps.read();
  }
  EXPECT_EQ(read[0].depths, read[1].depths);
  EXPECT_EQ(read[0].ids, read[1].ids);
  EXPECT_EQ(read[0].normals, read[1].normals);
  EXPECT_GT(std::count(read[0].ids.begin(), read[0].ids.end(), 4U), 300);
  EXPECT_GT(std::count(read[0].ids.begin(), read[0].ids.end(), 5U), 100);
}

TEST_F(ParticleMapTest, LeavesTheStateAlone) {
  PulledMesh ball(make_sphere({.radius = 0.5, .frequency = 4}), {0, 1, 0});
  GpuParticleMaps gpu_maps = maps({.layers = 2});
  GpuParticles particles(gpu(), 100);
  glUseProgram(0);  // that of an earlier test, which may have been deleted
  glColorMaski(2, GL_FALSE, GL_TRUE, GL_FALSE, GL_TRUE);
  glEnablei(GL_BLEND, 1);
  glViewportIndexedf(1, 3, 4, 5, 6);
  const GpuState before = read_gpu_state();
  const auto draw = [&] { gpu_maps.draw(kUpwards, std::vector{ball.obstacle(1)}); };
  const auto step = [&] { particles.step(gpu_maps, {}); };
  const auto measure = [&] { (void)particles.compute_extent(); };
  const auto read = [&] { (void)gpu_maps.read(); };
  const std::vector<std::function<void()>> calls = {draw, step, measure, read};
  for (std::size_t i = 0; i < calls.size(); ++i) {
    calls[i]();
    EXPECT_TRUE(before == read_gpu_state()) << i;
  }
  std::array<GLboolean, 4> mask{};
  glGetBooleani_v(GL_COLOR_WRITEMASK, 2, mask.data());
  EXPECT_EQ(mask, (std::array<GLboolean, 4>{GL_FALSE, GL_TRUE, GL_FALSE, GL_TRUE}));
  EXPECT_TRUE(glIsEnabledi(GL_BLEND, 1));
  std::array<float, 4> viewport{};
  glGetFloati_v(GL_VIEWPORT, 1, viewport.data());
  EXPECT_EQ(viewport, (std::array<float, 4>{3, 4, 5, 6}));
  glColorMaski(2, GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
  glDisablei(GL_BLEND, 1);
}

Particle at_rest(const Vec3f& position, const Vec3f& velocity = {}) {
  return {.position = position, .velocity = velocity, .life = 1000};
}

TEST_F(ParticleMapTest, ABallBouncesOffASlope) {
  TriangleMesh plate = make_box({.size_x = 1, .size_y = 0.1, .size_z = 1});
  for (Vec3f& p : plate.positions) p.y += 1.5F + 0.5F * p.x;  // its normal: (0.5, -1, 0)
  PulledMesh drawn(plate);
  GpuParticleMaps gpu_maps = maps({});
  gpu_maps.draw(kUpwards, std::vector{drawn.obstacle(9)});
  const std::vector<Particle> start = {at_rest({0.1F, 0.5F, 0.05F}, {0, 1, 0})};
  GpuParticles particles(gpu(), start);
  for (int i = 0; i < 150; ++i)
    particles.step(gpu_maps, {.seconds = 0.01F, .gravity = {}, .restitution = 1, .friction = 0});
  const Particle end = particles.read()[0];
  EXPECT_EQ(end.hits, 1U);
  EXPECT_EQ(end.last_hit, 9U);
  const Vec3f n = normalized(Vec3f{0.5F, -1, 0});
  const Vec3f mirrored = Vec3f{0, 1, 0} - n * (2 * n.y);
  EXPECT_LT(length(end.velocity - mirrored), 0.01F);
}

// Each step of the GPU once more on the CPU, from the same particles.
TEST_F(ParticleMapTest, StepsAsTheCpuDoes) {
  PulledMesh ball(make_sphere({.radius = 0.5, .frequency = 12}), {0.1F, 1.3F, 0});
  PulledMesh box(make_box({.size_x = 0.6, .size_y = 0.3, .size_z = 0.5}), {-0.4F, 0.9F, 0.3F});
  for (const bool cube : {false, true}) {
    GpuParticleMaps gpu_maps = maps({.cube = cube, .layers = 2, .data = true});
    const ParticleView view =
        cube ? ParticleView{.center = {0, 0.4, 0}, .near = 0.02, .far = 5} : kUpwards;
    gpu_maps.draw(view, std::vector{ball.obstacle(1, {0, 0, 1, 0.2F}), box.obstacle(2)});
    const ParticleMaps m = gpu_maps.read();
    GpuParticles particles(gpu(), 1500);
    const ParticleStep step{.seconds = 0.02F,
                            .gravity = {0, 1, 0},
                            .drag = 0.1F,
                            .perturbation = 2,
                            .samples = 2,
                            .use_forces = true,
                            .source = {0, 0.4F, 0},
                            .source_radius = 0.1F,
                            .velocity = {0, 0.8F, 0},
                            .velocity_spread = {0.6F, 0.3F, 0.6F},
                            .least_life = 0.5F,
                            .most_life = 2};
    ParticleCounts sum, cpu_sum;
    std::size_t different = 0;
    for (int i = 0; i < 40; ++i) {
      std::vector<Particle> cpu = particles.read();
      step_particles(m, step, cpu, cpu_sum);
      particles.step(gpu_maps, step);
      const std::vector<Particle> now = particles.read();
      for (std::size_t k = 0; k < now.size(); ++k)
        different +=
            !(length(now[k].position - cpu[k].position) < 1e-4F && now[k].side == cpu[k].side &&
              length(now[k].velocity - cpu[k].velocity) < 1e-3F && now[k].seed == cpu[k].seed &&
              now[k].last_hit == cpu[k].last_hit);
      const ParticleCounts counts = particles.read_counts();
      sum.collisions += counts.collisions;
      sum.hidden += counts.hidden;
      sum.born += counts.born;
      sum.outside += counts.outside;
    }
    EXPECT_LE(different, 40U) << cube;  // of 60,000
    EXPECT_GT(sum.collisions, 1000U) << cube;
    EXPECT_NEAR(sum.collisions, cpu_sum.collisions, 20) << cube;
    EXPECT_NEAR(sum.hidden, cpu_sum.hidden, 20) << cube;
    EXPECT_NEAR(sum.outside, cpu_sum.outside, 20) << cube;
    EXPECT_EQ(sum.born, cpu_sum.born) << cube;
    EXPECT_GT(sum.born, 1500U);
  }
}

TEST_F(ParticleMapTest, NobodyLeavesARoom) {
  TriangleMesh room = make_box({.size_x = 2, .size_y = 2, .size_z = 2});
  for (Triangle& t : room.triangles) std::swap(t[0], t[1]);
  PulledMesh drawn(room);
  GpuParticleMaps gpu_maps = maps({.cube = true});
  GpuParticles particles(gpu(), 2000);
  const ParticleStep step{.seconds = 0.02F,
                          .gravity = {0, -2, 0},
                          .restitution = 0.8F,
                          .source_radius = 0.3F,
                          .velocity_spread = {2, 2, 2},
                          .least_life = 50,
                          .most_life = 60};
  Random random(1);
  for (int i = 0; i < 100; ++i) {
    const Vec3 center = random.in_box({-0.3, -0.3, -0.3}, {0.3, 0.3, 0.3});
    gpu_maps.draw({.center = center, .near = 0.1, .far = 3}, std::vector{drawn.obstacle(1)});
    particles.step(gpu_maps, step);
  }
  const ParticleCounts counts = particles.read_counts();
  EXPECT_GT(counts.collisions, 4000U);
  EXPECT_EQ(counts.outside, 0U);
  const auto [centroid, bounds] = particles.compute_extent();
  EXPECT_LT(bounds.upper.y, 1.04);
  EXPECT_GT(bounds.lower.y, -1.04);
  EXPECT_LT(std::abs(centroid.x), 0.1);
}

// Off one wall and into the next, in one step: particles as fast as that left by the room's edges.
TEST_F(ParticleMapTest, NobodyLeavesByACorner) {
  TriangleMesh room = make_box({.size_x = 2, .size_y = 2, .size_z = 2});
  for (Triangle& t : room.triangles) std::swap(t[0], t[1]);
  PulledMesh drawn(room);
  GpuParticleMaps gpu_maps = maps({.cube = true});
  gpu_maps.draw({.center = {0.1, 0.05, -0.1}, .near = 0.1, .far = 3},
                std::vector{drawn.obstacle(1)});
  const ParticleStep step{.seconds = 0.02F,
                          .gravity = {},
                          .restitution = 1,
                          .friction = 0,
                          .source_radius = 0.3F,
                          .velocity_spread = {10, 10, 10},
                          .least_life = 50,
                          .most_life = 60};
  GpuParticles particles(gpu(), 2000);
  std::vector<Particle> on_cpu = make_particles(2000);
  const ParticleMaps read = gpu_maps.read();
  ParticleCounts cpu_counts;
  for (int i = 0; i < 60; ++i) {
    particles.step(gpu_maps, step);
    step_particles(read, step, on_cpu, cpu_counts);
  }
  for (const ParticleCounts& counts : {particles.read_counts(), cpu_counts}) {
    EXPECT_GT(counts.collisions, 10'000U);
    EXPECT_EQ(counts.hidden, 0U);
    EXPECT_EQ(counts.outside, 0U);
  }
  for (const auto& all : {particles.read(), on_cpu})
    for (const Particle& p : all)
      EXPECT_LT(std::max({std::abs(p.position.x), std::abs(p.position.y), std::abs(p.position.z)}),
                1.05F);
}

TEST_F(ParticleMapTest, SurfacesThatMoveSweepParticlesAlong) {
  PulledMesh plate(make_box({.size_x = 2, .size_y = 0.2, .size_z = 2}), {0, 1.7F, 0});
  GpuParticleMaps gpu_maps = maps({});
  std::vector<Particle> start;
  for (int i = 0; i < 20; ++i)
    start.push_back(at_rest({0.08F * static_cast<float>(i) - 0.8F, 1, 0.3F}));
  GpuParticles particles(gpu(), start);
  for (int i = 0; i < 60; ++i) {
    plate.moved.y = -0.02F * static_cast<float>(i);
    gpu_maps.draw(kUpwards, std::vector{plate.obstacle(1)});
    particles.step(gpu_maps, {.gravity = {}, .restitution = 0, .surface_motion = 0.02F});
  }
  for (const Particle& p : particles.read()) {
    EXPECT_LT(p.position.y, 1.6 - 59 * 0.02 + 0.01);
    EXPECT_GT(p.hits, 10U);
  }
}

// FAB: valid for convex and star-convex zones. Behind a ball it is not.
TEST_F(ParticleMapTest, SaysHowManyAreHidden) {
  PulledMesh ball(make_sphere({.radius = 0.4, .frequency = 12}), {0, 0.8F, 0});
  const std::vector<Particle> start = {at_rest({0, 1.7F, 0}), at_rest({0.1F, 1.6F, 0}),
                                       at_rest({0.8F, 1.7F, 0}), at_rest({0, 0.1F, 0}),
                                       at_rest({0, 5, 0})};
  for (const int layers : {1, 3}) {
    GpuParticleMaps gpu_maps = maps({.layers = layers});
    gpu_maps.draw(kUpwards, std::vector{ball.obstacle(1)});
    GpuParticles particles(gpu(), start);
    particles.step(gpu_maps, {.gravity = {}});
    EXPECT_EQ(particles.read_counts(), (ParticleCounts{0, layers == 1 ? 2U : 0U, 1, 0}));
    EXPECT_EQ(particles.read_counts(), ParticleCounts{});
    EXPECT_EQ(particles.read()[0].side, layers == 1 ? 1U : 2U);
  }
}

// What came from behind bounces off the far side, where layers hold it.
TEST_F(ParticleMapTest, BouncesOffLayersBehind) {
  PulledMesh plate(make_box({.size_x = 1, .size_y = 0.2, .size_z = 1}), {0, 1, 0});
  GpuParticleMaps gpu_maps = maps({.layers = 2});
  gpu_maps.draw(kUpwards, std::vector{plate.obstacle(1)});
  const std::vector<Particle> start = {at_rest({0.1F, 1.5F, 0.1F}, {0, -1, 0})};
  GpuParticles particles(gpu(), start);
  for (int i = 0; i < 80; ++i)
    particles.step(gpu_maps, {.gravity = {}, .restitution = 0.5F, .friction = 0});
  const Particle end = particles.read()[0];
  EXPECT_EQ(end.hits, 1U);
  EXPECT_NEAR(end.velocity.y, 0.5F, 1e-3F);
}

TEST_F(ParticleMapTest, ForcesReachAsFarAsTheySay) {
  PulledMesh plate(make_box({.size_x = 2, .size_y = 0.2, .size_z = 2}), {0, 1.7F, 0});
  GpuParticleMaps gpu_maps = maps({.data = true});
  gpu_maps.draw(kUpwards, std::vector{plate.obstacle(1, {3, 0, 0, 0.4F})});
  const std::vector<Particle> start = {at_rest({0, 1.4F, 0}), at_rest({0, 1, 0})};
  GpuParticles particles(gpu(), start);
  particles.step(gpu_maps, {.seconds = 0.1F, .gravity = {}, .use_forces = true});
  EXPECT_NEAR(particles.read()[0].velocity.x, 3 * 0.1F * 0.5F, 1e-3F);
  EXPECT_EQ(particles.read()[1].velocity.x, 0);
}

TEST_F(ParticleMapTest, ServesShadersOfOthers) {
  PulledMesh plate(make_box({.size_x = 2, .size_y = 0.2, .size_z = 2}), {0, 1.7F, 0});
  GpuParticleMaps gpu_maps = maps({});
  gpu_maps.draw(kUpwards, std::vector{plate.obstacle(5)});
  const GpuProgram program = GpuProgram::from_source("mine.comp", R"(
layout(local_size_x = 1) in;
#include "particle_map.glsl"
layout(std430, binding = 0) buffer Out { float height; uint id; };
void main() {
  ParticlePlace place = find_particle_place(vec3(0.2, 0.3, 0.1));
  height = find_particle_surface(place, 0).point.y;
  id = find_particle_id(place, 0);
}
)");
  GpuBuffer out(8);
  out.bind(0);
  gpu_maps.bind();
  program.dispatch(1);
  struct {
    float height;
    std::uint32_t id;
  } got{};
  out.read(std::span(&got, 1));
  EXPECT_NEAR(got.height, 1.6F, 1e-5F);
  EXPECT_EQ(got.id, 5U);
}

TEST_F(ParticleMapTest, RefusesWhatMakesNoSense) {
  EXPECT_THROW((void)GpuParticleMaps(gpu(), {.size = 0}), Error);
  EXPECT_THROW((void)GpuParticleMaps(gpu(), {.layers = 9}), Error);
  EXPECT_THROW((void)GpuParticleMaps(gpu(), {.layers = 2, .cull_back_faces = true}), Error);
  EXPECT_THROW((void)GpuParticles(gpu(), 0), Error);
  GpuParticleMaps box = maps({}), cube = maps({.cube = true});
  EXPECT_THROW(box.draw({.direction = {0, 0, 0}}, {}), Error);
  EXPECT_THROW(box.draw({.half_size = {1, 0, 1}}, {}), Error);
  EXPECT_THROW(cube.draw({.near = 0}, {}), Error);
  const double nan = std::nan("");
  EXPECT_THROW(box.draw({.center = {0, nan, 0}}, {}), Error);
  EXPECT_THROW(box.draw({.direction = {nan, 0, 0}}, {}), Error);
  EXPECT_THROW(cube.draw({.center = {0, nan, 0}}, {}), Error);
  GpuParticles particles(gpu(), 10);
  EXPECT_THROW(particles.step(box, {.samples = 0}), Error);
  EXPECT_THROW(particles.step(box, {.restitution = 2}), Error);
}

}  // namespace
}  // namespace isotact

#include "deformable_crowd.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "isotact/base/random.h"
#include "isotact/scene/run/run.h"

namespace isotact::bench {
namespace {

constexpr double kWobble = 0.3;  // 1/s: they bend as they go

double side_of(const CrowdSettings& s) {
  return std::cbrt(s.space * static_cast<double>(s.bodies));
}

SoftWorldSettings world_of(const CrowdSettings& s) {
  const double half = side_of(s) / 2;
  return {.step = s.step,
          .gravity = {0, 0, 0},
          .cube = Aabb{{-half, -half, -half}, {half, half, half}},
          .contact = false,
          .energies = false,
          .threads = {1}};
}

// Scenes know them.
TriangleMesh make_figure(const std::string& name) {
  Scene scene;
  scene.soft_bodies.push_back({.name = name, .source = FigureShape{.name = name}});
  return SceneRun(scene, {.keep_frames = false, .keep_log = false}).soft()->body_settings(0).mesh;
}

}  // namespace

Crowd::Crowd(const CrowdSettings& s) : soft_(world_of(s)), side_(side_of(s)) {
  std::map<std::string, TriangleMesh> meshes;
  for (const std::string& name : s.figures) meshes.emplace(name, make_figure(name));
  Random random(s.seed);
  for (std::size_t i = 0; i < s.bodies; ++i) {
    const std::string& figure = s.figures[i % s.figures.size()];
    const TriangleMesh& mesh = meshes.at(figure);
    const Vec3f e = isotact::extent(isotact::bounds(mesh));
    extent_ = std::max(extent_, static_cast<double>(std::max({e.x, e.y, e.z})));
    const double reach = side_ / 2 - 0.4;  // wherever it is turned to
    SoftBodySettings body{
        .name = figure,
        .mesh = mesh,
        .pose = {.rotation = random.rotation()},
        .angular_velocity = random.in_unit_ball(),
        .mass = 0.3,
        .steering = Steering{
            .speed = s.speed, .period = 2, .seed = s.seed * 100003 + i, .wobble = kWobble}};
    body.pose.translation = random.in_box({-reach, -reach, -reach}, {reach, reach, reach});
    // So soft that a few parts of a step are enough, whatever the number of vertices. No limits of
    // strain: how many sweeps these take depends on how far bodies have bent.
    const double mass = body.mass / static_cast<double>(mesh.positions.size());
    body.material = {.stiffness = 0.02 * mass / (s.step * s.step),
                     .damping = 0.02 * mass / s.step,
                     .bending = 0.01 * mass / (s.step * s.step),
                     .max_strain = 0};
    soft_.add_body(body);
    vertices_ += mesh.positions.size();
  }
  trees_.resize(s.bodies);
}

ObjectTree& Crowd::tree(SoftId id, const ObjectTreeSettings& settings) {
  std::optional<ObjectTree>& tree = trees_[id];
  const std::span<const Vec3> positions = std::as_const(soft_).positions(id);
  if (!tree) tree.emplace(positions, soft_.body_settings(id).mesh.triangles, settings);
  tree->set_positions(positions);
  return *tree;
}

void put_boxes(Crowd& crowd, BroadPhase& phase) {
  for (SoftId id = 0; id < crowd.size(); ++id) {
    const Aabb& box = crowd.soft().bounds(id);
    phase.contains(id) ? phase.update(id, box) : void(phase.insert(box));
  }
}

void put_spheres(Crowd& crowd, BroadPhase& phase) {
  for (SoftId id = 0; id < crowd.size(); ++id) {
    const Sphere& sphere = crowd.soft().bounding_sphere(id);
    phase.contains(id) ? phase.update(id, sphere) : void(phase.insert(sphere));
  }
}

}  // namespace isotact::bench

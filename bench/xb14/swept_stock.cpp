#include <algorithm>
#include <cmath>

#include "isotact/base/random.h"
#include "isotact/field/build/build_field.h"
#include "isotact/geometry/io/mesh_io.h"

#include "support/data_folder.h"
#include "swept_report.h"
#include "vertex_shell.h"

namespace isotact::bench {
namespace {

std::shared_ptr<const Body> make_body(const char* file, int resolution) {
  Body body;
  body.mesh = read_data_mesh(file);
  body.field = build_field(body.mesh, {.resolution = resolution}).field;
  return std::make_shared<const Body>(std::move(body));
}

}  // namespace

std::shared_ptr<const Body> Stock::bunny() {
  if (!bunny_) bunny_ = make_body("01_stanford/bunny_closed.obj", options_.resolution());
  return bunny_;
}

const Shell& Stock::bunny_777() {
  if (!bunny_777_.body)
    bunny_777_ = {.name = "bunny",
                  .how = "repulsion",
                  .body = bunny(),
                  .tree = build_point_sphere_tree(sample_by_repulsion(
                      bunny()->mesh, {.common = {.sample_edges = false}, .count = 777})),
                  .paper_linear = 1.8,
                  .paper_tree = 0.7};
  return bunny_777_;
}

const Shell& Stock::bunny_35947() {
  if (!bunny_35947_.body) {
    const TriangleMesh mesh = read_data_mesh("01_stanford/bunny_full_35947.ply");
    PointShell shell = take_vertices(mesh);
    add_unused_vertices(mesh, shell);
    bunny_35947_ = {.name = "bunny",
                    .how = "vertices of the scan",
                    .body = bunny(),
                    .tree = build_point_sphere_tree(shell)};
  }
  return bunny_35947_;
}

const Shell& Stock::bunny_closed() {
  if (!bunny_closed_.body)
    bunny_closed_ = {.name = "bunny",
                     .how = "vertices, holes closed",
                     .body = bunny(),
                     .tree = build_point_sphere_tree(take_vertices(bunny()->mesh))};
  return bunny_closed_;
}

const Shell& Stock::bowl() {
  if (!bowl_.body) {
    const auto body = make_body("02_classic/bowl_blendertoolbox.obj", options_.resolution());
    bowl_ = {.name = "bowl",
             .how = "repulsion",
             .body = body,
             .tree = build_point_sphere_tree(sample_by_repulsion(
                 body->mesh, {.common = {.sample_edges = false}, .count = 2072})),
             .paper_linear = 3.4,
             .paper_tree = 0.3};
  }
  return bowl_;
}

const Shell& Stock::dragon() {
  if (!dragon_.body) {
    const auto body = make_body("01_stanford/dragon_vrip_binLE.ply", options_.resolution());
    dragon_ = {.name = "dragon",
               .how = "vertices",
               .body = body,
               .tree = build_point_sphere_tree(take_vertices(body->mesh)),
               .paper_linear = 761.2,
               .paper_tree = 9.9};
  }
  return dragon_;
}

std::vector<ShellMotion> make_random_pairs(const Shell& shell, std::size_t count) {
  Random random(2014);
  const Aabb box = shell.body->field.bounds();
  const Vec3 middle = center(box), half = extent(box) * 1.5;
  const auto make_pose = [&] {
    const Vec3 place = random.in_box(middle - half, middle + half);
    const Quat rotation = random.rotation();
    return Pose{rotation, place - rotate(rotation, shell.center())};
  };
  std::vector<ShellMotion> motions;
  for (std::size_t i = 0; i < count; ++i) {
    const Pose from = make_pose();
    motions.push_back({.shell = {from, make_pose(), shell.center()}});
  }
  return motions;
}

std::vector<ShellMotion> make_small_steps(const Shell& shell, std::size_t count) {
  Random random(2015);
  const Aabb box = shell.body->field.bounds();
  const Vec3 e = extent(box);
  const double size = std::max({e.x, e.y, e.z});
  const SweptTracer tracer(shell.body->field, {.mode = Mode::kFirst, .threads = {1}});
  SweptResults results;
  std::vector<ShellMotion> motions;
  while (motions.size() < count) {
    const Quat rotation = random.rotation();
    const auto pose_at = [&](const Quat& q, const Vec3& place) {
      return Pose{q, place - rotate(q, shell.center())};
    };
    const Vec3 start = center(box) + random.unit_vector() * (3 * size);
    const Vec3 goal = random.in_box(box.lower, box.upper);
    tracer.trace(shell.tree,
                 ShellMotion{.shell = {pose_at(rotation, start), pose_at(rotation, goal), {}}},
                 results);
    if (results.motions[0].point == kNoPoint) continue;
    const Vec3 contact = lerp(start, goal, static_cast<double>(results.motions[0].time));
    const Vec3 place = contact + normalized(goal - start) * (random.uniform(-0.0025, 0.005) * size);
    const Quat turned = normalized(rotation_about(random.unit_vector(), 0.05) * rotation);
    const Vec3 next = place + random.unit_vector() * (0.01 * size);
    motions.push_back({.shell = {pose_at(rotation, place), pose_at(turned, next), shell.center()}});
  }
  return motions;
}

std::vector<ShellMotion> with_model(std::vector<ShellMotion> motions, MotionModel model) {
  for (ShellMotion& motion : motions) motion.model = model;
  return motions;
}

}  // namespace isotact::bench

#include "scene_trial.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isotact/field/build/build_field.h"

namespace isotact::bench {
namespace {

using exact_depth::Solid;

// Whether more than a third of a surface is missing: a funnel, not a body with a hole. The area
// vectors of a closed surface add up to nothing.
bool is_open(const TriangleMesh& mesh) {
  Vec3 sum{};
  double area = 0;
  for (const Triangle& t : mesh.triangles) {
    const Vec3 a = to_double(mesh.positions[t[0]]);
    const Vec3 n =
        cross(to_double(mesh.positions[t[1]]) - a, to_double(mesh.positions[t[2]]) - a);
    sum += n;
    area += length(n);
  }
  return length(sum) > area / 3;
}

}  // namespace

CheckedScene make_checked(const SceneRun& run) {
  CheckedScene checked;
  const Scene& scene = run.scene();
  const Replay& replay = run.replay();
  std::vector<std::shared_ptr<const Solid>> of_shape(scene.shapes.size());
  checked.smallest = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < scene.bodies.size(); ++k) {
    const SceneBody& body = scene.bodies[k];
    exact_depth::Body b{.moves = body.kind == BodyKind::kDynamic};
    double error = 0;
    if (body.shape) {
      const SceneShape& shape = scene.shapes[*body.shape];
      std::shared_ptr<const Solid>& solid = of_shape[*body.shape];
      const TriangleMesh& mesh = replay.meshes[*body.shape];
      const auto* formula = std::get_if<SceneField>(&shape.source);
      if (!solid && formula != nullptr)
        solid = std::make_shared<Solid>(
            std::visit([](const auto& f) { return AnalyticSolid(f); }, *formula),
            replay.bodies[k].is_endless ? TriangleMesh{} : mesh);
      else if (!solid)
        solid = std::make_shared<Solid>(
            shape.sign == SignMethod::kUnsigned ? Solid::sheet(mesh) : Solid(mesh));
      b.solid = solid;
      checked.smallest = std::min(checked.smallest, solid->diagonal());
      const Shape& in_world = *run.world().body_settings(static_cast<BodyId>(k)).shape;
      if (formula == nullptr && in_world.field())
        error = static_cast<double>(in_world.field()->header().near_error);
    }
    checked.bodies.push_back(std::move(b));
    checked.field_errors.push_back(error);
  }
  for (const SceneJoint& joint : scene.joints)
    if (!joint.may_touch)
      checked.ignored.insert(std::minmax(static_cast<std::uint32_t>(joint.a),
                                         static_cast<std::uint32_t>(joint.b)));
  return checked;
}

CheckedScene refine_fields(Scene& scene, double share, double most_bytes) {
  Scene coarse = scene;
  coarse.engine = "isotact";
  coarse.narrow_phase = NarrowPhase::kPoints;
  const SceneRun run(coarse, {.threads = {1}, .keep_frames = false, .keep_log = false});
  CheckedScene checked = make_checked(run);
  for (std::size_t k = 0; k < scene.shapes.size(); ++k) {
    SceneShape& shape = scene.shapes[k];
    if (std::holds_alternative<SceneField>(shape.source) ||
        std::holds_alternative<AssetFile>(shape.source))
      continue;
    const auto body = std::find_if(scene.bodies.begin(), scene.bodies.end(),
                                   [&](const SceneBody& b) { return b.shape == k; });
    if (body == scene.bodies.end()) continue;
    const auto id = static_cast<BodyId>(body - scene.bodies.begin());
    const double own = run.world().body_settings(id).shape->cell();
    const TriangleMesh& mesh = run.replay().meshes[k];
    double accuracy = share * checked.smallest;
    FieldPlan plan = plan_field(mesh, {.accuracy = accuracy});
    while (static_cast<double>(plan.bytes) > most_bytes) {
      accuracy *= 1.2;
      plan = plan_field(mesh, {.accuracy = accuracy});
    }
    if (is_open(mesh)) shape.sign = SignMethod::kUnsigned;
    if (plan.lattice.spacing >= own) continue;
    shape.resolution.reset();
    shape.voxel_size = plan.lattice.spacing;
    if (!shape.points && !shape.spacing) shape.spacing = 2 * own;
  }
  return checked;
}

Deepest find_deepest(const CheckedScene& checked, const SceneRun& run) {
  Deepest deepest;
  deepest.beyond = -1;
  const auto& frames = run.replay().frames;
  for (std::size_t k = 1; k < frames.size(); ++k) {
    for (const exact_depth::PairDepth& pair :
         exact_depth::find_depths(checked.bodies, frames[k].poses, checked.ignored)) {
      const double error = std::max(checked.field_errors[pair.a], checked.field_errors[pair.b]);
      deepest.share = std::max(deepest.share, pair.depth / pair.size);
      const double beyond = (pair.depth - error) / pair.size;
      if (beyond <= deepest.beyond) continue;
      deepest.beyond = beyond;
      deepest.depth = pair.depth;
      deepest.time = frames[k].time;
      deepest.pair = fmt::format("'{}' and '{}'", run.body_name(pair.a), run.body_name(pair.b));
    }
  }
  deepest.beyond = std::max(deepest.beyond, 0.0);
  // Of the pair that has the worst: the largest error against the smallest body.
  for (const double error : checked.field_errors)
    deepest.error = std::max(deepest.error, error / checked.smallest);
  return deepest;
}

}  // namespace isotact::bench

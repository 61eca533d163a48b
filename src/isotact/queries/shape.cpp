#include "isotact/queries/shape.h"

#include <algorithm>
#include <mutex>

#include "isotact/base/error.h"
#include "isotact/field/build/bake.h"
#include "isotact/field/isosurface.h"
#include "isotact/pointshell/asset_section.h"

namespace isotact {
namespace {

constexpr std::size_t kMostTracers = 4;
constexpr double kSpacing = 2;  // cells

bool is_same(const SweptSettings& a, const SweptSettings& b) {
  return a.iso == b.iso && a.mode == b.mode && a.traversal == b.traversal &&
         a.path_tolerance == b.path_tolerance && a.threads.count == b.threads.count;
}

PointSphereTree sample(const TriangleMesh& mesh, double voxel_size, const ShapeSettings& settings) {
  const FieldSettings& f = settings.field;
  RepulsionShellSettings sampling{
      .common = {.max_memory = f.max_memory, .threads = f.threads, .monitor = f.monitor},
      .count = settings.points,
      .spacing = settings.spacing};
  if (settings.points == 0 && settings.spacing == 0) sampling.spacing = kSpacing * voxel_size;
  PointSphereTreeSettings tree = settings.tree;
  tree.threads = f.threads;
  return build_point_sphere_tree(sample_by_repulsion(mesh, sampling), tree);
}

}  // namespace

struct Shape::Tracers {
  struct Entry {
    SweptSettings settings{};
    std::shared_ptr<const SweptTracer> tracer;
  };
  std::mutex mutex;
  std::vector<Entry> entries;                               // the last used at the end
  std::vector<std::shared_ptr<const ShellTarget>> targets;  // so, too

  std::shared_ptr<const SweptTracer> find(const SweptSettings& settings) {
    const std::scoped_lock lock(mutex);
    for (auto at = entries.begin(); at != entries.end(); ++at) {
      if (!is_same(at->settings, settings)) continue;
      std::rotate(at, at + 1, entries.end());
      return entries.back().tracer;
    }
    return nullptr;
  }

  std::shared_ptr<const ShellTarget> find_target(double max_margin) {
    const std::scoped_lock lock(mutex);
    for (auto at = targets.begin(); at != targets.end(); ++at) {
      if ((*at)->max_margin() != max_margin) continue;
      std::rotate(at, at + 1, targets.end());
      return targets.back();
    }
    return nullptr;
  }
};

Shape::Shape(Data data) {
  if (!data.field && !data.tree && !data.voxmap)
    throw Error("a shape needs a field, a pointshell, or both");
  data.tracers = std::make_shared<Tracers>();
  data_ = std::make_shared<const Data>(std::move(data));
}

Shape Shape::from_mesh(const TriangleMesh& mesh, const ShapeSettings& settings) {
  const FieldSettings& f = settings.field;
  FieldResult built = build_field(mesh, f);
  // Points lie on the surface that the field is of: without what was left out as broken.
  const Surface surface = prepare_surface(mesh, {.sign = f.sign,
                                                 .nested = f.nested,
                                                 .voxel_size = built.field.voxel_size(),
                                                 .shell_offset = f.shell_offset,
                                                 .threads = f.threads,
                                                 .monitor = f.monitor});
  PointSphereTree tree = sample(surface.mesh, built.field.voxel_size(), settings);
  return Shape(
      Data{std::move(built.field), std::move(tree), {}, std::move(built.report.warnings), {}});
}

Shape Shape::from_field(const AnyField& field, const Aabb& box, double voxel_size,
                        const ShapeSettings& settings) {
  const FieldSettings& f = settings.field;
  BakeResult baked = bake_field(field, {.lattice = make_brick_lattice(box, voxel_size),
                                        .max_memory = f.max_memory,
                                        .threads = f.threads,
                                        .monitor = f.monitor});
  const TriangleMesh surface =
      extract_surface(baked.field, {.threads = f.threads, .monitor = f.monitor});
  PointSphereTree tree = sample(surface, voxel_size, settings);
  return Shape(Data{std::move(baked.field), std::move(tree), {}, std::move(baked.warnings), {}});
}

Shape Shape::from_asset(const Asset& asset) {
  Data data{asset.field, find_point_sphere_tree(asset), asset.voxmap, {}, {}};
  if (!data.field && !data.tree && !data.voxmap)
    throw Error({.file = asset.file_name},
                "has neither a brick field, a voxelmap nor a pointshell");
  return Shape(std::move(data));
}

Shape Shape::from_parts(std::optional<BrickField> field, std::optional<PointSphereTree> tree,
                        std::optional<Voxmap> voxmap) {
  return Shape(Data{std::move(field), std::move(tree), std::move(voxmap), {}, {}});
}

std::shared_ptr<const SweptTracer> Shape::swept_tracer(const SweptSettings& settings) const {
  Tracers& tracers = *data_->tracers;
  if (auto known = tracers.find(settings)) return known;
  // Not under the lock: loops over threads may take up work that asks for a tracer, too.
  auto made = std::make_shared<const SweptTracer>(*data_->field, settings);
  if (auto known = tracers.find(settings)) return known;
  const std::scoped_lock lock(tracers.mutex);
  if (tracers.entries.size() == kMostTracers) tracers.entries.erase(tracers.entries.begin());
  tracers.entries.push_back({settings, made});
  return made;
}

std::shared_ptr<const ShellTarget> Shape::shell_target(double max_margin) const {
  Tracers& tracers = *data_->tracers;
  if (auto known = tracers.find_target(max_margin)) return known;
  const TargetSettings settings{.max_margin = max_margin};
  auto made = data_->field ? std::make_shared<const ShellTarget>(*data_->field, settings)
                           : std::make_shared<const ShellTarget>(*data_->voxmap, settings);
  if (auto known = tracers.find_target(max_margin)) return known;
  const std::scoped_lock lock(tracers.mutex);
  if (tracers.targets.size() == kMostTracers) tracers.targets.erase(tracers.targets.begin());
  tracers.targets.push_back(made);
  return made;
}

}  // namespace isotact

// What a body is to the queries: a field (or a voxelmap), the points of its surface, or both.
// Cooked from a mesh or from a field on the spot, or taken from an asset that was built before.
//
//   const Shape gear = Shape::from_mesh(read_mesh("gear.obj").mesh);
//   const Shape bunny = Shape::from_asset(read_asset("bunny.isotact"));
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "isotact/field/build/build_field.h"
#include "isotact/field/io/asset.h"
#include "isotact/pointshell/point_sphere_tree.h"
#include "isotact/queries/shell_target.h"
#include "isotact/queries/swept.h"

namespace isotact {

struct ShapeSettings {
  FieldSettings field{};
  // Metres between points; 0: two cells of the field. Or else a number of points.
  double spacing = 0;
  std::uint32_t points = 0;
  PointSphereTreeSettings tree{};
};

// Immutable; copies share everything. Any number of threads may use it.
class Shape {
 public:
  // Builds both. Throws Error as build_field and sample_by_repulsion do.
  static Shape from_mesh(const TriangleMesh& mesh, const ShapeSettings& settings = {});
  // Bakes the field in a box that holds the body, with cells of that size, and samples its
  // isosurface. `field` of the settings does not count, but for threads, limits and the monitor.
  static Shape from_field(const AnyField& field, const Aabb& box, double voxel_size,
                          const ShapeSettings& settings = {});
  // What the asset has: its brick field, pointshell and voxelmap. Throws Error for an asset with
  // none. Shares the asset's memory.
  static Shape from_asset(const Asset& asset);
  static Shape from_parts(std::optional<BrickField> field, std::optional<PointSphereTree> tree,
                          std::optional<Voxmap> voxmap = {});

  const std::optional<BrickField>& field() const { return data_->field; }
  const std::optional<PointSphereTree>& tree() const { return data_->tree; }
  const std::optional<Voxmap>& voxmap() const { return data_->voxmap; }
  const std::vector<std::string>& warnings() const { return data_->warnings; }  // of building

  // Made when first asked for, which takes as long as its constructor, and kept: the last few of
  // different settings. The shape must have a field.
  std::shared_ptr<const SweptTracer> swept_tracer(const SweptSettings& settings) const;

  // For shell queries with margins up to max_margin: of the field, or else of the voxelmap. Made
  // when first asked for and kept: the last few. The shape must have one of them.
  std::shared_ptr<const ShellTarget> shell_target(double max_margin) const;

 private:
  struct Tracers;
  struct Data {
    std::optional<BrickField> field{};
    std::optional<PointSphereTree> tree{};
    std::optional<Voxmap> voxmap{};
    std::vector<std::string> warnings{};
    std::shared_ptr<Tracers> tracers{};
  };
  explicit Shape(Data data);

  std::shared_ptr<const Data> data_;
};

}  // namespace isotact

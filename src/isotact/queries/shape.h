// A body for all queries: collide, distance, continuous_collide, worlds, scenes and adapters.
//
//   const Shape gear = Shape::from_mesh(read_mesh("gear.obj").mesh);
//   const Shape bunny = Shape::from_asset(read_asset("bunny.isotact"));
//   const Shape ground = Shape::from_analytic(PlaneField{});
//
// A query may need points of the surface, a field, or what is prepared from them. Parts that the
// shape lacks are made when a query first needs them, once, whichever thread asks. This takes as
// long as building them takes. The function prepare() of the query's header makes them beforehand.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "isotact/export.h"
#include "isotact/field/build/asset_report.h"
#include "isotact/field/build/build_field.h"
#include "isotact/field/io/asset.h"
#include "isotact/field/models/analytic_solid.h"
#include "isotact/pointshell/point_sphere_tree.h"
#include "isotact/queries/points/shell_target.h"
#include "isotact/queries/swept/swept.h"

namespace ISOTACT_PUBLIC isotact {

struct ShapeSettings {
  // For from_mesh. Others use its resolution or voxel_size if an analytic shape needs a grid of its
  // own. They use its threads, memory limit and monitor for all that they make. Parts that are made
  // later do not report progress.
  FieldSettings field{};
  // Metres between points; 0: two cells of the field, for an analytic shape a fortieth of its
  // longest side or less. Or else a number of points.
  double spacing = 0;
  std::uint32_t points = 0;
  PointSphereTreeSettings tree{};
  // Metres, of analytic shapes: the resolution of paths and times of contact, see SweptTracer. 0: a
  // millimetre, or less for small shapes.
  double cell = 0;
};

// The parts that a shape may be made of. All of them must describe the same body, in one frame.
struct ShapeParts {
  std::optional<AnalyticSolid> solid{};
  std::optional<BrickField> field{};
  std::optional<DenseGrid> dense{};
  std::optional<FirstOrderField> first_order{};
  std::optional<Voxmap> voxmap{};
  std::optional<PointSphereTree> tree{};
  std::shared_ptr<const TriangleMesh> mesh{};  // the surface
  std::optional<FlatMesh> flat_mesh{};         // the same with its hierarchy, as assets keep it
  std::optional<MassProperties> mass{};        // of density 1
  // Index of `field` for segments and swept points; without it, one is built when first needed.
  std::shared_ptr<const SegmentIndex> segment_index{};
  // The rule for the sign when `field` was built of the mesh, if that is known. Else it
  // is taken to be as the settings have it.
  std::optional<SignRule> sign_rule{};
  // The surface that `field` is of. It is only needed if it is not the mesh as stored: components
  // were turned over or holes closed. Without it, exact queries prepare it from the mesh.
  std::shared_ptr<const Surface> prepared{};
  std::vector<std::string> warnings{};  // from building
};

// Immutable; copies share everything. Any number of threads may use it.
class Shape {
 public:
  // Builds a field and points, and keeps the mesh. A mesh whose triangles are lines has no points,
  // but exact distances. Throws Error as build_field and sample_by_repulsion do.
  static Shape from_mesh(const TriangleMesh& mesh, const ShapeSettings& settings = {});
  // Bakes the field in a box that holds the body, with cells of that size, and samples its
  // isosurface.
  static Shape from_field(const AnyField& field, const Aabb& box, double voxel_size,
                          const ShapeSettings& settings = {});
  // Cheap: nothing is baked or sampled before a query needs it. Shapes without end, such as a
  // ground, have no points. Throws Error for a solid whose box is empty, and for settings out of
  // range. Combinations that are empty for other reasons are found when points are first needed.
  static Shape from_analytic(const AnalyticSolid& solid, const ShapeSettings& settings = {});
  // Uses the sections that the asset has, and shares its memory. Exact queries use its mesh.
  // warnings() are those of reading it and of its build. The settings apply to parts that are made
  // later. Throws Error for an asset with neither a field, a mesh, a voxelmap nor a pointshell
  // (describe_gaps in asset/build_asset.h).
  static Shape from_asset(const Asset& asset, const ShapeSettings& settings = {});
  // From a mesh alone, field and points are made on first use, as from_mesh makes them; their
  // warnings are not kept. Throws Error for parts that are no body.
  static Shape from_parts(ShapeParts parts, const ShapeSettings& settings = {});
  static Shape from_parts(std::optional<BrickField> field, std::optional<PointSphereTree> tree,
                          std::optional<Voxmap> voxmap = {});

  // The parts that the shape was made of. They never change.
  const ShapeParts& parts() const;
  const std::optional<BrickField>& field() const { return parts().field; }
  const std::optional<PointSphereTree>& tree() const { return parts().tree; }
  const std::optional<Voxmap>& voxmap() const { return parts().voxmap; }
  const std::optional<AnalyticSolid>& solid() const { return parts().solid; }
  const std::vector<std::string>& warnings() const { return parts().warnings; }

  // Whether the body has an end. A shape without end is always analytic.
  bool is_bounded() const { return !solid() || solid()->is_bounded(); }
  // A box that holds the body, metres, in the shape's frame: infinite along axes without end. It is
  // tight to within a few cells of a grid.
  const Aabb& bounds() const;

  // Whether the parts below can be had. Shapes without end have no points; a pointshell alone has
  // no field.
  bool can_have_points() const;
  bool can_have_field() const;

  // Parts that are made when first asked for, if they were not given. All throw Error if they
  // cannot be made, with the call that would help.
  const PointSphereTree& points() const;
  // The formula of an analytic shape, else brick_field().
  const AnyField& any_field() const;
  // Metres: a cell of brick_field(), or ShapeSettings::cell of an analytic shape.
  double cell() const;
  // Baked if the shape is analytic, or made of a field or voxelmap of another kind. For shapes
  // with an end only.
  const BrickField& brick_field() const;
  // The mesh that the shape or its asset keeps, or the surface of the field or formula. For shapes
  // with an end only.
  const TriangleMesh& surface() const;
  // Mass properties for density 1. For an open mesh they are those of its field's surface.
  const MassProperties& mass() const;

  // One index of brick_field() for all modes and all margins within two cells of zero, or the one
  // that the shape was made of.
  const std::shared_ptr<const SegmentIndex>& segment_index() const;
  // Prepared for queries, when first asked for; the last few of different settings are kept.
  std::shared_ptr<const SweptTracer> swept_tracer(const SweptSettings& settings) const;
  // For shell queries with margins up to max_margin: of the formula, the field, or the voxelmap.
  std::shared_ptr<const ShellTarget> shell_target(double max_margin) const;

  // Whether both are copies of one shape.
  friend bool is_same(const Shape& a, const Shape& b) { return a.data_ == b.data_; }

 private:
  friend struct ShapeAccess;
  struct Data;
  explicit Shape(std::shared_ptr<const Data> data);

  std::shared_ptr<const Data> data_;
};

}  // namespace isotact

// Everything that most programs need, in one include. Six words carry it:
//
//   Shape               a body: made from a mesh, an asset, a field, or by a formula
//   collide             do two shapes touch, where and how deep?
//   distance            how far apart are two shapes?
//   continuous_collide  when do two moving shapes first touch?
//   World               rigid bodies that move and push each other
//   Field               a signed distance field: negative inside, its gradient points outwards
//
//   #include <isotact/isotact.h>
//
//   const isotact::Shape mug = isotact::load_shape("mug.obj");      // a mesh or an asset
//   const isotact::Shape ground = isotact::Shape::from_analytic(isotact::PlaneField{});
//   const isotact::CollideResult result = isotact::collide(mug, {}, ground, {});
//
// Each header below also works alone. The GPU (isotact/gpu/...) and the adapters to other libraries
// (isotact/adapters/...) have headers of their own.
#pragma once

#if __cplusplus < 202002L
#error "Isotact needs C++20: compile with -std=c++20"
#endif

#include "isotact/config.h"
#include "isotact/version.h"

// Vectors, poses, errors, progress, threads.
#include "isotact/base/aabb.h"
#include "isotact/base/error.h"
#include "isotact/base/mat3.h"
#include "isotact/base/parallel.h"
#include "isotact/base/pose.h"
#include "isotact/base/progress.h"
#include "isotact/base/vec.h"

// Meshes: from files, procedural ones, and their mass.
#include "isotact/geometry/io/mesh_io.h"
#include "isotact/geometry/mesh/mass_properties.h"
#include "isotact/geometry/mesh/mesh.h"
#include "isotact/geometry/primitives/primitives.h"

// Fields: of meshes, of formulas, and combined; asset files.
#include "isotact/field/any_field.h"
#include "isotact/field/build/build_field.h"
#include "isotact/field/extract/isosurface.h"
#include "isotact/field/field.h"
#include "isotact/field/io/asset.h"
#include "isotact/field/models/analytic.h"
#include "isotact/field/models/analytic_solid.h"
#include "isotact/field/models/brick_field.h"
#include "isotact/field/models/csg.h"
#include "isotact/field/models/dense_grid.h"

// Queries.
#include "isotact/queries/batch.h"
#include "isotact/queries/certificate/certificate.h"
#include "isotact/queries/certificate/certify.h"
#include "isotact/queries/collide.h"
#include "isotact/queries/contact/contact.h"
#include "isotact/queries/continuous_collide.h"
#include "isotact/queries/distance.h"
#include "isotact/queries/segments/segment.h"
#include "isotact/queries/shape.h"

// Assets: built once, kept in a file, loaded as shapes.
#include "isotact/asset/build_asset.h"
#include "isotact/asset/load_shape.h"

// Bodies that move, and scenes of them, if this build has these modules (docs/building.md).
#if ISOTACT_WITH_DYNAMICS
#include "isotact/dynamics/rigid/world.h"
#endif
#if ISOTACT_WITH_SCENE
#include "isotact/scene/parse/scene.h"
#include "isotact/scene/run/run.h"
#endif

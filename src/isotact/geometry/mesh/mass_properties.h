// Volume, centre and inertia of the solid that a mesh bounds, at uniform density.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "isotact/base/mat3.h"
#include "isotact/base/parallel.h"
#include "isotact/base/pose.h"
#include "isotact/export.h"
#include "isotact/geometry/mesh/mesh.h"

namespace ISOTACT_PUBLIC isotact {

// Integrals over the surface, exact except for rounding in double. Triangles with a non-finite
// corner are left out. If the surface is closed, `volume`, `first` and `second` are those of the
// solid and do not depend on the origin. If it is open, they are those of the cone from `origin`
// and mean little.
struct SurfaceIntegrals {
  Vec3 origin{};      // The centre of the bounds; the moments below are about it.
  double area = 0;    // m^2
  double volume = 0;  // Signed: negative if the surface faces inward.
  // Sum of the magnitudes of the terms of `volume`: its scale of rounding.
  double volume_size = 0;
  Vec3 first{};       // Integral of p.
  Mat3 second{};      // Integral of p p^T.
  Vec3 area_first{};  // Integral of p over the area.
  std::size_t left_out = 0;
};

// Returns the same bits for any number of threads. Cost: linear.
SurfaceIntegrals integrate_surface(const TriangleMesh& mesh, Threads threads = {});

struct MassSettings {
  double density = 1000;         // kg/m^3
  std::optional<double> mass{};  // kg; if given, density follows from it.
  Threads threads{};
};

enum class MassStatus {
  kSolid,  // Closed and oriented: everything below is valid.
  kOpen,   // Has a boundary or inconsistent orientations: an estimate that depends on its frame.
  // No solid: only area and center (of the area) are meaningful, inertia is zero.
  kNoVolume
};

struct MassProperties {
  MassStatus status = MassStatus::kNoVolume;
  // The surface faced inward: values are for the same solid with outward faces.
  bool inward = false;
  double volume = 0;  // Never negative.
  double area = 0;
  double mass = 0;
  double density = 0;
  Vec3 center{};             // Centre of mass, in the frame of the mesh.
  Mat3 inertia{};            // kg m^2, about the centre, along the axes of the mesh.
  Vec3 principal_moments{};  // Ascending.
  // Rotates the x, y, z axes onto the axes of those three moments.
  Quat mesh_from_principal{};
  std::vector<std::string> warnings;  // Reasons not to trust the values.
};

// Principal axes are right-handed. Each of the first two axes has two directions; the one whose
// largest component (the first of equals) is positive is chosen. If moments are equal, the axes are
// one of many choices, the same in every run. A diagonal tensor with ascending moments gives the
// identity.
struct PrincipalAxes {
  Vec3 moments{};              // Ascending.
  Quat mesh_from_principal{};  // Rotates the x, y, z axes onto the axes of those three moments.
};
PrincipalAxes compute_principal_axes(const Mat3& inertia);

// Throws Error for a density or mass that is not a positive finite number. Cost: O(n log n), for
// the test of whether the mesh is closed (equal positions count as one vertex).
MassProperties compute_mass_properties(const TriangleMesh& mesh, const MassSettings& settings = {});

// For a surface whose integrals are known; `closed` says whether each edge is traversed as often in
// one direction as in the other. Adds no warning about its arguments.
MassProperties compute_mass_properties(const SurfaceIntegrals& integrals, bool closed,
                                       const MassSettings& settings = {});

}  // namespace isotact

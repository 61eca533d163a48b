// Volume, centre and inertia of the solid that a mesh bounds, at uniform density.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "isotact/base/mat3.h"
#include "isotact/base/parallel.h"
#include "isotact/base/pose.h"
#include "isotact/geometry/mesh.h"

namespace isotact {

// Integrals over the surface, exact but for rounding in double. Triangles with a non-finite corner
// are left out. Where the surface is closed, `volume`, `first` and `second` are those of the solid
// and do not depend on where the origin lies; where it is open they are those of the cone from
// `origin` and mean little.
struct SurfaceIntegrals {
  Vec3 origin{};           // the centre of the bounds; the moments below are about it
  double area = 0;         // m^2
  double volume = 0;       // signed: negative where the surface faces inward
  double volume_size = 0;  // sum of the sizes of what volume is summed from: its scale of rounding
  Vec3 first{};            // integral of p
  Mat3 second{};           // integral of p p^T
  Vec3 area_first{};       // integral of p over the area
  std::size_t left_out = 0;
};

// The same bits for any number of threads. Cost: linear.
SurfaceIntegrals integrate_surface(const TriangleMesh& mesh, Threads threads = {});

struct MassSettings {
  double density = 1000;         // kg/m^3
  std::optional<double> mass{};  // kg; where given, density follows from it
  Threads threads{};
};

enum class MassStatus {
  kSolid,    // closed and oriented: everything below holds
  kOpen,     // has a boundary or disagreeing orientations: a guess that depends on its frame
  kNoVolume  // no solid: only area and center (of the area) mean something, inertia is zero
};

struct MassProperties {
  MassStatus status = MassStatus::kNoVolume;
  bool inward = false;  // the surface faced inward: values are for the same solid turned outward
  double volume = 0;    // never negative
  double area = 0;
  double mass = 0;
  double density = 0;
  Vec3 center{};                      // of mass, in the frame of the mesh
  Mat3 inertia{};                     // kg m^2, about the centre, along the axes of the mesh
  Vec3 principal_moments{};           // ascending
  Quat mesh_from_principal{};         // turns the x, y, z axes onto the axes of those three moments
  std::vector<std::string> warnings;  // in words: why not to trust it
};

// Principal axes are right-handed; of the two directions of the first two axes, that whose largest
// component (the first of equals) is positive. Where moments are equal the axes are one of many
// choices, the same in every run; a diagonal tensor with ascending moments gives the identity.
struct PrincipalAxes {
  Vec3 moments{};              // ascending
  Quat mesh_from_principal{};  // turns the x, y, z axes onto the axes of those three moments
};
PrincipalAxes find_principal_axes(const Mat3& inertia);

// Throws an Error for a density or mass that is not a positive finite number. Cost: O(n log n), for
// finding out whether the mesh is closed (positions that are equal count as one vertex).
MassProperties find_mass_properties(const TriangleMesh& mesh, const MassSettings& settings = {});

// For a surface whose integrals are at hand; `closed` says if each edge is run through as often one
// way as the other. Adds no warning about what it was told.
MassProperties find_mass_properties(const SurfaceIntegrals& integrals, bool closed,
                                    const MassSettings& settings = {});

}  // namespace isotact

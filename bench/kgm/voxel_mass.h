// Volume, centre and inertia of a body that is known by a field only. A voxel is part of it if the
// distance in the voxel's centre is not positive (KGM, section 5). The error is the volume of
// voxels that the surface cuts, which cancels in part: for smooth bodies some (h / size)^1.5. If
// there is a mesh, compute_mass_properties (geometry) is exact. It is for fields that come without
// one, such as CSG, level sets of other programs, and texels that were edited.
#pragma once

#include <cstdint>

#include "isotact/field/field.h"
#include "isotact/field/lattice.h"
#include "isotact/field/texels/field_texels.h"
#include "isotact/geometry/mesh/mass_properties.h"

namespace isotact {

namespace detail {
// Writes which voxels of the row along x at (j, k) are part of the body: bytes of 0 or 1.
using VoxelRow = void (*)(const void* field, const Lattice& lattice, std::int32_t j, std::int32_t k,
                          std::uint8_t* inside);
MassProperties compute_voxel_mass(const void* field, VoxelRow row, const Lattice& lattice,
                                  const MassSettings& settings);
}  // namespace detail

constexpr Vec3 voxel_center(const Lattice& l, std::int32_t i, std::int32_t j, std::int32_t k) {
  return {l.origin.x + l.spacing * (i + 0.5), l.origin.y + l.spacing * (j + 0.5),
          l.origin.z + l.spacing * (k + 0.5)};
}

// Voxels are the cells of the lattice, whose box should contain the body: a warning says if it
// reaches the outermost ones. Each counts as a cube of uniform density, with the inertia of its
// own. The status is kSolid, or kNoVolume if no centre is inside; area is 0, since it is not
// measured. Throws Error for a lattice without cells and for a mass or density that is not
// positive. The result has the same bits for any number of threads. Cost: a value of the field for
// each voxel.
template <Field F>
MassProperties compute_voxel_mass(const F& field, const Lattice& lattice,
                                  const MassSettings& settings = {}) {
  return detail::compute_voxel_mass(
      &field,
      [](const void* opaque, const Lattice& l, std::int32_t j, std::int32_t k,
         std::uint8_t* inside) {
        const F& f = *static_cast<const F*>(opaque);
        for (std::int32_t i = 0; i < l.cells[0]; ++i)
          inside[i] = f.value(voxel_center(l, i, j, k)) <= 0 ? 1 : 0;
      },
      lattice, settings);
}

// The same with the cells of the texels as voxels.
MassProperties compute_voxel_mass(const FieldTexels& texels, const MassSettings& settings = {});

}  // namespace isotact

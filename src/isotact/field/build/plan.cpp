#include "isotact/field/build/detail/plan.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/machine.h"
#include "isotact/field/models/detail/brick_layout.h"

namespace isotact::detail {
namespace {

constexpr int kDefaultResolution = 128;
// Cells. Faces of a box, or of two boxes side by side, would lie on planes of nodes if the padding
// were whole: then it is for rounding to say on which side the nodes of an edge or a corner are,
// and crumbs of surface stand alone there. So the mesh's box lies this much off the nodes, if it
// does not by itself.
constexpr double kOffNodes = 0.19, kOnNodes = 0.1;
constexpr int kMostCells = kMostResolution;
constexpr double kMostMetres = 1e17;  // squares of what is 10 times as far are still floats
static_assert(kMostCells == kMaxCoarse * kBrickCells);

void check(const FieldSettings& s) {
  if (s.resolution && s.voxel_size)
    throw Error("both resolution and voxel size are set: choose one");
  if (s.resolution && (*s.resolution < kLeastResolution || *s.resolution > kMostCells))
    throw Error(fmt::format("resolution {} is not between {} and {}", *s.resolution,
                            kLeastResolution, kMostCells));
  if (s.voxel_size && !(*s.voxel_size > 0 && std::isfinite(*s.voxel_size)))
    throw Error(fmt::format("voxel size {} is not a positive length", *s.voxel_size));
  if (!(s.padding >= 0 && s.padding <= kMostPadding))
    throw Error(fmt::format("padding {} is not between 0 and {} cells", s.padding, kMostPadding));
  if (!(s.band >= 4 && s.band <= 1000))
    throw Error(fmt::format("band {} is not between 4 and 1000 cells", s.band));
  if (!(s.tolerance >= 0 && s.tolerance <= 1))
    throw Error(fmt::format("tolerance {} is not between 0 and 1", s.tolerance));
  if (!(s.shell_offset >= 0 && std::isfinite(s.shell_offset)))
    throw Error(fmt::format("shell offset {} is not a length", s.shell_offset));
}

}  // namespace

Lattice make_lattice(const Aabb& box, const FieldSettings& settings) {
  check(settings);
  if (is_empty(box)) throw Error("the mesh has no triangles with finite corners");
  const Vec3 size = extent(box);
  const double longest = std::max({size.x, size.y, size.z});
  const double furthest =
      std::max({std::abs(box.lower.x), std::abs(box.upper.x), std::abs(box.lower.y),
                std::abs(box.upper.y), std::abs(box.lower.z), std::abs(box.upper.z)});
  if (!(furthest <= kMostMetres))
    throw Error(
        fmt::format("the mesh reaches {:.3g} m from the origin, and distances beyond {:.0g} m "
                    "cannot be measured: are its unit and all its corners right?",
                    furthest, kMostMetres));
  if (!(longest > 0)) throw Error("the mesh has no size: all its corners are at one point");
  const double growth = settings.keep_thin == KeepThin::kOffset ? 1 : 0;  // cells at most
  const double padding = std::max(settings.padding, settings.band + 2 + growth) + kOffNodes;
  double voxel;
  if (settings.voxel_size) {
    voxel = *settings.voxel_size;
  } else {
    const double cells = settings.resolution.value_or(kDefaultResolution) - 2 * padding;
    if (!(cells >= 1))
      throw Error(
          fmt::format("resolution {} leaves no cells for the mesh after {} cells of padding "
                      "on each side",
                      settings.resolution.value_or(kDefaultResolution), padding - kOffNodes));
    voxel = longest / cells;
  }
  Lattice lattice{.spacing = voxel};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double wanted = size[axis] / voxel + 2 * padding;
    if (!(wanted <= kMostCells))
      throw Error(
          fmt::format("a voxel size of {:.3g} m needs {:.3g} cells along an axis of {:.3g} m; "
                      "the most is {}",
                      voxel, wanted, size[axis], kMostCells));
    const double bricks = std::ceil(wanted / kBrickCells - 1e-9);
    lattice.cells[axis] = static_cast<std::int32_t>(bricks) * kBrickCells;
    const double before = 0.5 * (lattice.cells[axis] - size[axis] / voxel);  // the mesh's box
    const double shift = std::abs(before - std::round(before)) < kOnNodes ? kOffNodes : 0;
    lattice.origin[axis] =
        0.5 * (box.lower[axis] + box.upper[axis]) - (0.5 * lattice.cells[axis] + shift) * voxel;
  }
  // Positions in cells must stay far above the rounding of the mesh's own coordinates.
  if (furthest * 0x1p-24 > voxel)
    throw Error(
        fmt::format("cells of {:.3g} m are smaller than the rounding of coordinates {:.3g} m "
                    "from the origin: move the mesh closer to it",
                    voxel, furthest));
  return lattice;
}

Lattice make_room(const Lattice& lattice, const Aabb& mesh_bounds, const Surface& surface,
                  const FieldSettings& settings) {
  const Aabb needed = to_double(bounds(surface.mesh));
  const double shell = surface.report.shell_offset / lattice.spacing;
  const bool inside = contains(mesh_bounds, needed.lower) && contains(mesh_bounds, needed.upper);
  if (inside && shell == 0) return lattice;
  FieldSettings wider = settings;
  wider.resolution.reset();
  wider.voxel_size = lattice.spacing;
  wider.padding = std::max(settings.padding, settings.band + 2) + shell;
  if (!(wider.padding <= kMostPadding))
    throw Error(fmt::format("a shell offset of {:.3g} m is {:.3g} cells, more than {}",
                            surface.report.shell_offset, shell, kMostPadding));
  Aabb box = mesh_bounds;
  extend(box, needed);
  return make_lattice(box, wider);
}

void check_room(const Lattice& l, const Surface& surface, double band, double offset) {
  bool usable = l.spacing > 0 && std::isfinite(l.spacing) && is_finite(l.origin);
  for (const std::int32_t n : l.cells)
    usable = usable && n >= kBrickCells && n % kBrickCells == 0 && n <= kMostCells;
  if (!usable)
    throw Error(
        fmt::format("the lattice is not one for bricks: its cells must be multiples of {}, "
                    "at most {}, of a positive, finite size",
                    kBrickCells, kMostCells));
  const Aabb box = isotact::bounds(l), needed = to_double(isotact::bounds(surface.mesh));
  // Sides are rounded up to whole bricks around the middle, so rounding may take a little away.
  const double reach = (band + 2 - 1e-6) * l.spacing + offset;
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (!(needed.lower[axis] - reach >= box.lower[axis] &&
          needed.upper[axis] + reach <= box.upper[axis]))
      throw Error(
          fmt::format("the surface comes nearer than {:.3g} m to the sides of the field's "
                      "box: it needs {} cells of room around it, and that of its shell",
                      reach, band + 2));
}

double compute_sparse_distance(const Lattice& lattice, const FieldSettings& settings,
                               double offset_cells) {
  if (settings.tolerance == 0) return 0;
  const double distance = std::max({56.0, 8 / settings.tolerance, 4 / settings.tolerance + 31,
                                    2 * (settings.band + offset_cells) + 36});
  // Further than any two points of the box are apart there is nothing.
  const double most = 1.8 * std::max({lattice.cells[0], lattice.cells[1], lattice.cells[2]});
  return distance < most ? distance : 0;
}

std::uint64_t field_bytes(const Index3& coarse_cells, std::size_t bricks) {
  BrickFieldHeader h{};
  std::copy(coarse_cells.begin(), coarse_cells.end(), h.coarse_cells);
  h.brick_count = static_cast<std::uint32_t>(bricks);
  lay_out(h);
  return h.total_bytes;
}

void check_memory(std::uint64_t needed, const FieldSettings& settings, const char* what) {
  isotact::check_memory(static_cast<double>(needed), settings.max_memory, what);
}

}  // namespace isotact::detail

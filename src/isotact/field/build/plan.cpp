#include "isotact/field/build/detail/plan.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/machine.h"
#include "isotact/field/models/detail/brick_layout.h"
#include "isotact/geometry/mesh/triangle.h"

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
  if (s.accuracy && (s.resolution || s.voxel_size))
    throw Error("accuracy chooses the cells: set neither resolution nor voxel size beside it");
  if (s.accuracy && !(*s.accuracy > 0 && std::isfinite(*s.accuracy)))
    throw Error(fmt::format("accuracy {} is not a positive length", *s.accuracy));
  if (!(s.range >= 0 && std::isfinite(s.range)))
    throw Error(fmt::format("range {} is not a length", s.range));
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

// near_error in cells, but for the rounding of distances: see BrickAssembly. The last is the error
// of a sample whose sign comes from grid lines.
constexpr double kNearError = 0.86602540378443865 + 0.5 * 4 * kCellDiagonal / 127 + 0.002;

double near_error_cells(double widest) {
  return 1.0002 * (kNearError + 2 * (widest * 0x1p-19 + 0x1p-15));
}

// Rounded up to two digits, so that asking for it succeeds.
double rounded_up(double x) {
  const double unit = std::pow(10.0, std::floor(std::log10(x)) - 1);
  return std::ceil(x / unit - 1e-9) * unit;
}

double growth_cells(const FieldSettings& settings) {  // at most
  return settings.keep_thin == KeepThin::kOffset ? 1 : 0;
}

double padding_cells(const FieldSettings& settings, double voxel) {
  return std::max(settings.padding, reach_of(settings, voxel) + 2 + growth_cells(settings)) +
         kOffNodes;
}

// The side of the cells, metres.
double voxel_for_accuracy(double longest, double furthest, const FieldSettings& settings) {
  const auto widest = [&](double voxel) {
    return longest / voxel + 2 * padding_cells(settings, voxel) + kBrickCells;
  };
  // Smaller cells are more of them, whose lattice is wider and rounds more: this falls and ends.
  double voxel = *settings.accuracy / near_error_cells(0);
  for (int i = 0; i < 20; ++i) voxel = *settings.accuracy / near_error_cells(widest(voxel));
  voxel *= 1 - 1e-6;
  double least = furthest * 0x1p-24;
  const auto is_too_fine = [&](double v) { return !(v >= least) || widest(v) > kMostCells; };
  if (is_too_fine(voxel)) {
    least *= 1.001;
    double most = std::max(voxel, least);
    while (is_too_fine(most)) most *= 1.05;
    throw Error(fmt::format(
        "an accuracy of {:.3g} m needs cells of {:.3g} m, {}; {:.2g} m can be reached if "
        "memory allows",
        *settings.accuracy, voxel,
        voxel < least
            ? fmt::format("below the rounding of coordinates {:.3g} m from the origin", furthest)
            : fmt::format("{:.3g} along the longest side, and the most is {}", widest(voxel),
                          kMostCells),
        rounded_up(most * near_error_cells(kMostCells))));
  }
  return voxel;
}

}  // namespace

double reach_of(const FieldSettings& settings, double spacing) {
  return std::max(settings.band, settings.range / spacing);
}

double bound_near_error(const Lattice& l) {
  return near_error_cells(std::max({l.cells[0], l.cells[1], l.cells[2]})) * l.spacing;
}

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
  const double growth = growth_cells(settings);
  double voxel;
  if (settings.voxel_size) {
    voxel = *settings.voxel_size;
  } else if (settings.accuracy) {
    voxel = voxel_for_accuracy(longest, furthest, settings);
  } else {
    const int resolution = settings.resolution.value_or(kDefaultResolution);
    const auto side = [&](double length, double beside) {
      const double cells = resolution - 2 * beside;
      if (!(cells >= 1))
        throw Error(
            fmt::format("resolution {} leaves no cells for the mesh after {} cells of padding "
                        "on each side",
                        resolution, beside - kOffNodes));
      return length / cells;
    };
    FieldSettings without_range = settings;
    without_range.range = 0;
    voxel = side(longest, padding_cells(without_range, 1));
    if (settings.range > 0)
      voxel = std::max(voxel, side(longest + 2 * settings.range, 2 + growth + kOffNodes));
  }
  const double padding = padding_cells(settings, voxel);
  if (!(padding - kOffNodes <= kMostPadding))
    throw Error(fmt::format("a range of {:.3g} m is {:.3g} cells, and the most is {}",
                            settings.range, settings.range / voxel, kMostPadding - 3));
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
  wider.accuracy.reset();
  wider.voxel_size = lattice.spacing;
  wider.padding = std::max(settings.padding, reach_of(settings, lattice.spacing) + 2) + shell;
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
                      "box: it needs {} cells of space around it, and that of its shell",
                      reach, band + 2));
}

double compute_sparse_distance(const Lattice& lattice, const FieldSettings& settings,
                               double offset_cells) {
  if (settings.tolerance == 0) return 0;
  const double distance = std::max({56.0, 8 / settings.tolerance, 4 / settings.tolerance + 31,
                                    2 * (reach_of(settings, lattice.spacing) + offset_cells) + 36});
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

MeshSize compute_size(const TriangleMesh& mesh) {
  MeshSize size{.extent = extent(to_double(bounds(mesh))), .triangles = mesh.triangles.size()};
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto c = corners(mesh, t);
    size.area +=
        0.5 * length(cross(to_double(c[1]) - to_double(c[0]), to_double(c[2]) - to_double(c[0])));
  }
  return size;
}

// Per triangle: hierarchy, frame, lists of slabs; per line of nodes: crossings.
std::uint64_t working_bytes(const Lattice& l, std::size_t triangles) {
  const Index3 coarse{l.cells[0] / kBrickCells, l.cells[1] / kBrickCells, l.cells[2] / kBrickCells};
  return triangles * 320 + count(node_counts({.cells = coarse})) * sizeof(float) +
         static_cast<std::size_t>(l.cells[1]) * static_cast<std::size_t>(l.cells[2]) * 24;
}

// A brick is a cube of 8 cells; one that is turned at random is 12 cells wide, on average, along a
// normal. So a layer of `reach` cells on both sides of a plane meets (2 reach + 12) / 512 cubes per
// square cell. Around a convex body it is larger by its edges and corners (Steiner's formula).
// Where layers meet each other there are fewer.
FieldPlan estimate(const Lattice& lattice, const MeshSize& mesh, const FieldSettings& settings) {
  // Beyond this few cells are in doubt (mark_doubts), and a few more are creased.
  constexpr double kDoubtReach = 52, kCreased = 1.25, kPi = 3.14159265358979;
  constexpr double kSecondsPerBrick = 7e-6, kSecondsPerTriangle = 2e-6;
  const double seconds_per_node = settings.range > 0 ? 1e-6 : 0.1e-6;
  FieldPlan plan{.lattice = lattice, .near_error = bound_near_error(lattice)};
  const double h = lattice.spacing;
  plan.near_reach = std::max(settings.band * h, settings.range);
  Index3 coarse;
  for (std::size_t axis = 0; axis < 3; ++axis) coarse[axis] = lattice.cells[axis] / kBrickCells;
  const double reach =
      std::min(reach_of(settings, h), std::max(settings.band, kDoubtReach)) + kCellDiagonal;
  const double most = static_cast<double>(coarse[0]) * coarse[1] * coarse[2];
  const double layer = mesh.area / (h * h) * (2 * reach + 12);
  const double edges = (mesh.extent.x + mesh.extent.y + mesh.extent.z) / h * kPi * reach * reach;
  const double corners = 4 * kPi / 3 * reach * reach * reach;
  const double bricks = std::min({kCreased * (layer + edges + corners) / 512, most, 4e9});
  plan.bytes = field_bytes(coarse, static_cast<std::size_t>(bricks));
  const auto nodes = static_cast<double>(count(node_counts({.cells = coarse})));
  plan.memory = plan.bytes + working_bytes(lattice, mesh.triangles);
  plan.seconds = kSecondsPerBrick * bricks + seconds_per_node * nodes +
                 kSecondsPerTriangle * static_cast<double>(mesh.triangles);
  return plan;
}

void check_accuracy(double needed, double slack, const FieldPlan& plan, const MeshSize& mesh,
                    const FieldSettings& settings) {
  if (!settings.accuracy) return;
  const auto limit =
      static_cast<double>(settings.max_memory != 0 ? settings.max_memory : physical_memory());
  if (limit == 0 || needed <= slack * limit) return;
  // Larger cells on the same box, until they fit as the estimate knows it and with some slack.
  const double known = needed / static_cast<double>(plan.memory);
  const double margin = slack > 1 ? 2.2 : 1.25;  // the first is for what is estimated alone
  Lattice larger = plan.lattice;
  bool fits = false, is_small = false;
  while (!fits && !is_small) {
    larger.spacing *= 1.02;
    is_small = true;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double cells = plan.lattice.cells[axis] * plan.lattice.spacing / larger.spacing;
      larger.cells[axis] = static_cast<std::int32_t>(std::ceil(cells / kBrickCells)) * kBrickCells;
      is_small = is_small && cells <= kBrickCells;
    }
    const double memory = known * static_cast<double>(estimate(larger, mesh, settings).memory);
    fits = margin * memory <= limit;
  }
  throw Error(fmt::format(
      "an accuracy of {:.3g} m needs cells of {:.3g} m and about {:.1f} MB, more than the {:.1f} "
      "MB of the limit; {}",
      *settings.accuracy, plan.lattice.spacing, needed / 1e6, limit / 1e6,
      fits ? fmt::format("about {:.2g} m can be reached", rounded_up(bound_near_error(larger)))
           : "the mesh alone takes so much"));
}

void check_memory(std::uint64_t needed, const FieldSettings& settings, const char* what) {
  isotact::check_memory(static_cast<double>(needed), settings.max_memory, what);
}

}  // namespace isotact::detail

// From a mesh to a BrickField.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "isotact/field/brick_field.h"
#include "isotact/field/build/distance_device.h"
#include "isotact/field/build/surface.h"
#include "isotact/field/build/thin_features.h"

namespace isotact {

// What to do about walls thinner than a cell, which trilinear samples may not see.
enum class KeepThin : std::uint8_t {
  kIgnore,  // do not look for them
  kReport,  // look (a few milliseconds), and say in the report where they are
  // And where some vanish, build with smaller cells, as far as the memory limit allows. Films
  // (thin_features.h) ask for nothing, here and below.
  kRefine,
  // And where some vanish, grow the body by just enough, half a cell or so. All of it grows: the
  // field is the distance to the given surface less an offset, and its bounds are meant so.
  kOffset,
};
std::string_view name(KeepThin keep);  // "ignore", "report", "refine", "offset"

inline constexpr int kLeastResolution = 16;
inline constexpr int kMostResolution = 65536;
inline constexpr double kMostPadding = 10000;

struct FieldSettings {
  // Cells along the longest side of the mesh's padded box, from kLeastResolution to
  // kMostResolution. At most one of the two may be set; neither means 128.
  std::optional<int> resolution{};
  std::optional<double> voxel_size{};  // metres
  // Cells between the mesh and the box, from 0 to kMostPadding. Less than band + 2 counts as that,
  // so that the field is as good on the box's sides as inside.
  double padding = 6;
  SignMethod sign = SignMethod::kAuto;
  NestedRule nested = NestedRule::kWinding;
  double shell_offset = 0;  // metres, for unsigned; 0: one voxel
  // Nearer to the surface than this, in cells, all samples are exact and near_error holds; at least
  // 4.
  double band = 4;
  // Coarse cells further away get bricks too, where their interpolant is estimated to be off by
  // more than this part of the distance. 0 refines everything, 1 nothing.
  double tolerance = 0.15;
  KeepThin keep_thin = KeepThin::kReport;
  std::uint64_t max_memory = 0;  // bytes for the field and for building it; 0: what the machine has
  Threads threads{};
  Monitor monitor{};
  // Finds the distances instead of the processor, and must outlive the build. The field is then the
  // same but for rounding: corrections may differ by a step. Null: the processor.
  DistanceDevice* device = nullptr;
};

struct FieldReport {
  SignReport sign;
  Lattice lattice{};        // fine cells
  std::uint64_t bytes = 0;  // of the field
  std::size_t bricks = 0;
  std::size_t bricks_in_band = 0;
  // Metres. Bounds of |value - distance|: in the band, elsewhere, and where |value| is at least
  // sparse_from (0: nowhere).
  double near_error = 0, far_error = 0, sparse_error = 0, sparse_from = 0;
  ThinReport thin{};
  // Where the winding number is above 1, since parts overlap or lie in one another: cubic metres,
  // as lines a cell apart see it, and the share of all that the surface encloses. Less than 8 cells
  // or 1e-4 of the body count as none: folds and slivers.
  double overlap_volume = 0, overlap_share = 0;
  std::string device = "cpu";  // or the name of the one that found the distances
  double seconds = 0;
  std::vector<std::string> warnings;  // the sign's and those about overlap and thin walls, too
};

struct FieldResult {
  BrickField field;
  FieldReport report;
};

// Throws Error for settings that cannot be met, a mesh without usable triangles, and a memory limit
// that would not suffice (before allocating, with the figure that would). Throws Cancelled when the
// monitor says so. The same bytes for any number of threads. Where cells are to be refined without
// a memory limit, 4 GB are one; where those that would keep everything do not fit, the report says
// so, with what is lost all the same.
FieldResult build_field(const TriangleMesh& mesh, const FieldSettings& settings = {});

// The lattice that build_field begins with, without building anything: that of the same settings,
// before cells are refined for thin walls. Throws Error for settings that cannot be met.
Lattice plan_lattice(const TriangleMesh& mesh, const FieldSettings& settings = {});

// The second half: from a prepared surface, on a lattice of the caller's choice, whose cells must
// be a multiple of 8 along each axis, and whose box must reach at least band + 2 cells beyond the
// surface (and beyond its shell; 3 where it may grow to keep thin walls). The settings' resolution,
// voxel size and padding do not count, and cells are not refined to keep thin walls.
FieldResult build_field(const Surface& surface, const Lattice& lattice,
                        const FieldSettings& settings);

}  // namespace isotact

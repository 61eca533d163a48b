// Conversion of a mesh to a BrickField.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "isotact/export.h"
#include "isotact/field/build/distance_device.h"
#include "isotact/field/build/thin_features.h"
#include "isotact/field/models/brick_field.h"
#include "isotact/field/surface/surface.h"

namespace ISOTACT_PUBLIC isotact {

// Handling of walls thinner than a cell, which trilinear samples may miss.
enum class KeepThin : std::uint8_t {
  kIgnore,  // Does not search for them.
  kReport,  // Searches (a few milliseconds), and reports their positions.
  // Also builds with smaller cells if some vanish, as far as the memory limit allows. Films
  // (thin_features.h) have no effect, here and below.
  kRefine,
  // Also grows the body if some vanish, by just enough, about half a cell. All of it grows: the
  // field is the distance to the given surface less an offset, and its bounds refer to that.
  kOffset,
};
std::string_view name(KeepThin keep);  // "ignore", "report", "refine", "offset"

inline constexpr int kLeastResolution = 16;
inline constexpr int kMostResolution = 65536;
inline constexpr double kMostPadding = 10000;

struct FieldSettings {
  // Cells along the longest side of the mesh's padded box, from kLeastResolution to
  // kMostResolution. At most one of the three may be set; none means a resolution of 128.
  std::optional<int> resolution{};
  std::optional<double> voxel_size{};  // Metres.
  // Metres. Selects the largest voxel size whose near_error is at most this. So |value - distance|
  // is at most this wherever the distance is below `band` cells, and below `range`.
  std::optional<double> accuracy{};
  // Metres. near_error is valid up to this distance, too. Beyond the band a coarse cell keeps its
  // interpolant if a proof bounds the error of it; others get bricks. The box reaches so far.
  double range = 0;
  // Cells between the mesh and the box, from 0 to kMostPadding. Less than band + 2 counts as that,
  // so the field is as accurate on the box's sides as inside.
  double padding = 6;
  SignMethod sign = SignMethod::kAuto;
  NestedRule nested = NestedRule::kWinding;
  double shell_offset = 0;  // Metres, for unsigned; 0: one voxel.
  // Nearer to the surface than this, in cells, all samples are exact and near_error is valid; at
  // least 4.
  double band = 4;
  // Coarse cells further away also get bricks if the estimated error of their interpolant is more
  // than this fraction of the distance. 0 refines everything, 1 nothing.
  double tolerance = 0.15;
  KeepThin keep_thin = KeepThin::kReport;
  // Bytes for the field and for building it; 0: the memory of the machine.
  std::uint64_t max_memory = 0;
  Threads threads{};
  Monitor monitor{};
  // Computes the distances instead of the processor, and must outlive the build. The field is then
  // the same except for rounding: corrections may differ by a step. Null: the processor.
  DistanceDevice* device = nullptr;
};

struct FieldReport {
  SignReport sign;
  Lattice lattice{};        // Fine cells.
  std::uint64_t bytes = 0;  // Size of the field.
  std::size_t bricks = 0;
  std::size_t bricks_in_band = 0;
  // Metres. Bounds of |value - distance|: in the band, elsewhere, and for |value| of at least
  // sparse_from (0: nowhere).
  double near_error = 0, far_error = 0, sparse_error = 0, sparse_from = 0;
  double near_reach = 0;  // Metres: near_error is valid where the distance is below this.
  // Only of builds with `accuracy` or `range`: |value - distance| in metres at `points` random
  // points nearer than near_reach. Their seed is fixed, and half of them are within the band.
  struct Measured {
    std::size_t points = 0;
    double mean = 0, p99 = 0, max = 0;
  };
  Measured measured{};
  ThinReport thin{};
  // The region with a winding number above 1, since parts overlap or are nested. It is in cubic
  // metres, as sampled by lines a cell apart, and as a share of all that the surface encloses. Less
  // than 8 cells or 1e-4 of the body count as none: folds and slivers.
  double overlap_volume = 0, overlap_share = 0;
  std::string device = "cpu";  // Or the name of the device that computed the distances.
  double seconds = 0;
  // Includes those of the sign and those about overlap and thin walls.
  std::vector<std::string> warnings;
};

struct FieldResult {
  BrickField field;
  FieldReport report;
  // The surface that the field was built of: without broken parts, and with holes closed. Null if
  // the caller gave the surface.
  std::shared_ptr<const Surface> surface = nullptr;
};

// Throws Error for settings that cannot be met, a mesh without usable triangles, and a memory limit
// that would not suffice. That last message comes before allocating, with the figure that would
// suffice; with `accuracy` it has what can be reached within the limit. Throws Cancelled if the
// monitor's token was set. The result has the same bytes for any number of threads. If cells are
// refined without a memory limit, the limit is 4 GB. If the cells that would keep everything do not
// fit, the report says so, with the parts that are still lost.
FieldResult build_field(const TriangleMesh& mesh, const FieldSettings& settings = {});

// About what a build takes, without building anything.
struct FieldPlan {
  Lattice lattice{};         // That of plan_lattice.
  double near_error = 0;     // Metres: at least that of the field.
  double near_reach = 0;     // Metres: it is valid where the distance is below this.
  std::uint64_t bytes = 0;   // The field's size, within a factor of two: from the mesh's area.
  std::uint64_t memory = 0;  // While it is built, the field included.
  double seconds = 0;        // Processor time, one thread of 2023: a rough figure.
};
// Throws Error for settings that cannot be met. Cost: one pass over the triangles.
FieldPlan plan_field(const TriangleMesh& mesh, const FieldSettings& settings = {});

// Returns the lattice that build_field begins with, without building anything: that of the same
// settings, before cells are refined for thin walls. Throws Error for settings that cannot be met.
Lattice plan_lattice(const TriangleMesh& mesh, const FieldSettings& settings = {});

// The second half: from a prepared surface, on a lattice of the caller's choice. Its cells must be
// a multiple of 8 along each axis. Its box must reach at least band + 2 cells and `range` + 2 cells
// beyond the surface, and beyond its shell. It is 3 in place of 2 if the body may grow to keep thin
// walls. The settings' resolution, voxel size, accuracy and padding are ignored, and cells are not
// refined to keep thin walls.
FieldResult build_field(const Surface& surface, const Lattice& lattice,
                        const FieldSettings& settings);

// The settings of a build as text, for an asset's source section and for the cache's keys.

// Returns one line of JSON with every setting that changes the result, and none that does not
// (threads, memory, monitor). Equal settings give equal text; numbers are exact.
std::string describe(const FieldSettings& settings);

}  // namespace isotact

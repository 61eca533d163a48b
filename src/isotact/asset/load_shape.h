// A shape for queries from a file: a mesh, which is built on the spot, or an asset.
//
//   const Shape part = load_shape("part.stl", {.unit = "mm"});
//   const Shape gear = load_shape("gear.isotact");
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isotact/asset/asset_field.h"
#include "isotact/asset/cache.h"
#include "isotact/base/parallel.h"
#include "isotact/base/progress.h"
#include "isotact/export.h"
#include "isotact/field/build/build_field.h"
#include "isotact/geometry/io/mesh_io.h"
#include "isotact/geometry/mesh/mass_properties.h"
#include "isotact/queries/shape.h"

namespace ISOTACT_PUBLIC isotact {

// Further results of reading a file.
struct LoadReport {
  std::vector<std::string> warnings{};  // in words: of reading and of this build, or of the asset's
  TriangleMesh mesh{};                  // as it was read, in metres; empty for assets
  std::optional<MassProperties> mass{};  // of density 1, if the asset has them
  bool from_cache = false;
};

struct LoadSettings {
  // The next ones are for meshes. An asset was built with its own: each one that it leaves nothing
  // to do is a warning. (An asset of a mesh alone takes all but the unit.)
  std::string unit{};                  // "m", "cm", "mm" or "in"; empty: metres
  std::optional<int> resolution{};     // cells along the longest side; neither: 128
  std::optional<double> voxel_size{};  // metres
  SignMethod sign = SignMethod::kAuto;
  // A wall that the field loses is a contact that is missed: the body grows by a cell at most.
  KeepThin keep_thin = KeepThin::kOffset;
  // Metres: queries will ask for margins up to this. The field's box is made as large.
  double margin = 0;
  // Builds of meshes are found in the cache, or stored there (asset/cache.h).
  std::optional<CacheSettings> cache{};
  // Nothing is built of a mesh while loading: queries make what they need on first use, and keep no
  // warnings of it. Exact queries and depth maps need no field.
  bool on_demand = false;

  // Points of meshes, and of assets without, which get them on first use. Neither: two cells apart;
  // a count of 0: none are made while loading.
  std::optional<std::uint32_t> points{};
  double spacing = 0;  // metres

  std::uint64_t max_memory = 0;  // bytes; 0: what the machine has
  Threads threads{};
  Monitor monitor{};
  LoadReport* report = nullptr;  // filled if it is given
};

// Meshes and assets are distinguished by content: a mesh comes as Shape::from_mesh makes it, an
// asset as Shape::from_asset does. Throws Error with the file's name for a file that is neither and
// for a mesh that cannot be built. Also throws it for an asset with neither field, mesh, voxelmap
// nor points. Cost: of an asset, one pass over its bytes, which are all checked; of a mesh, that of
// Shape::from_mesh. Shape::warnings() says what reading and building had to say.
Shape load_shape(const std::filesystem::path& path, const LoadSettings& settings = {});

// The second half of load_shape: of a mesh in metres. `unit` does not count. The report gets
// warnings, in addition to those that it has.
Shape cook_shape(const TriangleMesh& mesh, const LoadSettings& settings = {});
// The same of a field from another program. Points are sampled on its surface on first use.
Shape cook_shape(const AssetField& field, const LoadSettings& settings = {});

// True for a file that begins as an asset does. False for a file that cannot be read: the reader of
// meshes says why.
bool is_asset(const std::filesystem::path& path);

// read_mesh in a unit as text (metres_per_unit). For an empty unit numbers are metres, and a size
// that is implausible for that is a warning.
LoadedMesh load_mesh(const std::filesystem::path& path, std::string_view unit = {},
                     const Monitor& monitor = {});

// Copied and checked in full, but for voxmap layers, which stay compressed: a small file may stand
// for gigabytes. If there is nothing else in the asset, they are unpacked.
Asset load_asset(const std::filesystem::path& path);

// In words: what a query with this margin should know about a shape's field.
std::vector<std::string> describe_limits(const Shape& shape, double margin);

// A coarse surface for pictures: of the shape's field, else of its voxelmap; empty if it has
// neither. About `cells` along the longest side.
TriangleMesh extract_display_mesh(const Shape& shape, int cells, Threads threads = {});

}  // namespace isotact

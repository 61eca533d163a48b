// The asset that `isotact build` makes of a mesh and that everything else works on. It exists in
// memory and as a file (`.isotact`; docs/formats.md specifies it to the byte).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isotact/export.h"
#include "isotact/field/flat_buffer.h"
#include "isotact/field/io/asset_file.h"
#include "isotact/field/io/flat_mesh.h"
#include "isotact/field/models/brick_field.h"
#include "isotact/field/models/dense_grid.h"
#include "isotact/field/models/first_order_field.h"
#include "isotact/field/voxmap/voxmap.h"
#include "isotact/geometry/mesh/mass_properties.h"
#include "isotact/geometry/mesh/mesh.h"

namespace ISOTACT_PUBLIC isotact {

// The source of an asset. Texts are UTF-8 without control codes other than new lines and tabs, so
// that they can be printed; reading or writing others throws Error.
struct SourceInfo {
  std::uint64_t mesh_hash = 0;  // hash_mesh of the source mesh; 0: not known.
  std::string settings;         // Settings of the build, as JSON.
  std::string sign_report;      // The method that found inside and outside, as JSON or in words.

  friend bool operator==(const SourceInfo&, const SourceInfo&) = default;
};

// Returns the hash of the positions and triangles, whatever file they came from.
std::uint64_t hash_mesh(const TriangleMesh& mesh);

// A section whose type is defined in a module above this one (the pointshell tree), or has no row
// in asset.cpp yet. Only its checksum was checked.
struct RawSection {
  SectionKind kind{};
  FlatBuffer buffer{};
};

struct Asset {
  SourceInfo source{};
  std::optional<MassProperties> mass{};  // At density 1: mass is the volume; no warnings.
  std::optional<BrickField> field{};
  std::optional<DenseGrid> dense{};
  std::optional<FirstOrderField> first_order{};
  std::optional<Voxmap> voxmap{};  // Layers are compressed in files.
  std::optional<FlatMesh> mesh{};  // The body's own triangles, for exact queries.
  std::vector<RawSection> raw{};

  // The file that it was read from; empty for an asset made in memory. It is not written.
  FlatBuffer file{};
  std::string file_name{};
  std::vector<std::string> notes{};  // Describe what was skipped while reading.
};

const RawSection* find_raw(const Asset& asset, SectionKind kind);

// Returns the properties of the same body at another density.
MassProperties with_density(const MassProperties& properties, double density);

struct AssetReadSettings {
  // false: everything is copied and checked: each checksum, then each section by its own validator.
  // true: the file is mapped. Brick and first-order fields then take a few hundred microseconds
  // whatever their size, and their pages are read when they are first touched. Dense grids and
  // voxmaps are still copied or checked as a whole. Checked are header, table, padding, the
  // sections of up to 64 KiB, and the parts of larger fields that keep queries inside of the buffer
  // (Check::kHeader). A mesh is checked in full by the first query that needs it. Not checked are
  // the checksums of large sections, and that the numbers of fields are finite and agree. A damaged
  // file may give wrong distances until verify_asset has passed it. Hazard: if another process
  // truncates the file while it is mapped, reading the lost part kills this process (SIGBUS). The
  // function write_asset replaces files and is safe; cp over a mapped file is not.
  bool map = false;
  // Compressed voxmap layers are the only section that takes more memory than its bytes in the
  // file. They also take time for each voxel, even if the file is mapped. A few hundred bytes may
  // stand for gigabytes. false leaves them compressed, in Asset::raw; they are written again
  // unchanged.
  bool unpack_layers = true;
  std::uint64_t max_unpacked_bytes = kMaxUnpackedLayers;  // A larger voxmap is an Error.
};

// Throws Error with file, byte and reason for anything that is not an intact asset of a supported
// version. Sections of unknown kinds are skipped with a note.
Asset read_asset(const std::filesystem::path& path, const AssetReadSettings& settings = {});
// Reads from memory; copies and checks in full, regardless of settings.map.
Asset decode_asset(std::span<const std::byte> bytes, std::string_view name,
                   const AssetReadSettings& settings = {});

// Performs the checks that read_asset left out for a mapped asset; also checks one that was made in
// memory. Throws Error. Cost: one pass over everything.
void verify_asset(const Asset& asset);

// The same asset gives the same bytes. Throws Error for texts that SourceInfo does not allow, and
// for mass properties that are not finite. Writing replaces the file in one step.
std::vector<std::byte> encode_asset(const Asset& asset);
void write_asset(const std::filesystem::path& path, const Asset& asset);
std::uint64_t encoded_size(const Asset& asset);  // Bytes.

}  // namespace isotact

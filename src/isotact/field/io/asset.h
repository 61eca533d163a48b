// What `isotact build` makes of a mesh and everything else works on, in memory and as a file
// (`.isotact`; docs/formats.md specifies it to the byte).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isotact/field/brick_field.h"
#include "isotact/field/dense_grid.h"
#include "isotact/field/first_order_field.h"
#include "isotact/field/flat_buffer.h"
#include "isotact/field/io/asset_file.h"
#include "isotact/field/voxmap.h"
#include "isotact/geometry/mass_properties.h"
#include "isotact/geometry/mesh.h"

namespace isotact {

// Where an asset came from. Texts are UTF-8 without control codes other than new lines and tabs, so
// that they can be printed; reading and writing others is an Error.
struct SourceInfo {
  std::uint64_t mesh_hash = 0;  // hash_mesh of what it was built from; 0: not known
  std::string settings;         // of the build, as JSON
  std::string sign_report;      // how inside and outside were told apart, as JSON or in words

  friend bool operator==(const SourceInfo&, const SourceInfo&) = default;
};

// Of the positions and triangles, whatever file they came from.
std::uint64_t hash_mesh(const TriangleMesh& mesh);

// A section whose type lives in a module above this one (the pointshell tree), or has no row in
// asset.cpp yet: only its checksum was checked.
struct RawSection {
  SectionKind kind{};
  FlatBuffer buffer{};
};

struct Asset {
  SourceInfo source{};
  std::optional<MassProperties> mass{};  // of density 1: mass is the volume; no warnings
  std::optional<BrickField> field{};
  std::optional<DenseGrid> dense{};
  std::optional<FirstOrderField> first_order{};
  std::optional<Voxmap> voxmap{};  // layers are compressed in files
  std::vector<RawSection> raw{};

  // Where it was read from; empty for what was made in memory. Not written.
  FlatBuffer file{};
  std::string file_name{};
  std::vector<std::string> notes{};  // in words: what was passed over while reading
};

const RawSection* find_raw(const Asset& asset, SectionKind kind);

// The same body of another density.
MassProperties with_density(const MassProperties& properties, double density);

struct AssetReadSettings {
  // false: everything is copied and checked: each checksum, then each section by its own validator.
  // true: the file is mapped. Brick and first-order fields then take a few hundred microseconds
  // whatever their size, and their pages are read when they are first touched; dense grids and
  // voxmaps are copied or checked as a whole all the same. Checked are header, table, padding, the
  // sections of up to 64 KiB, and of larger fields what keeps queries inside of the buffer
  // (Check::kHeader). Not checked are their checksums and that their numbers are finite and agree:
  // a damaged file may give wrong distances until verify_asset has passed it.
  // Hazard: if another process cuts the file short while it is mapped, reading the lost part kills
  // this process (SIGBUS). write_asset replaces files and is safe; cp over a mapped file is not.
  bool map = false;
  // Compressed voxmap layers are the one section that takes more memory than its bytes in the file,
  // and time for each voxel, also where the file is mapped: a few hundred bytes may stand for
  // gigabytes. false leaves them as they are, in Asset::raw; they are written again as they were.
  bool unpack_layers = true;
  std::uint64_t max_unpacked_bytes = kMaxUnpackedLayers;  // a larger voxmap is an Error
};

// Throws Error with file, byte and reason for whatever is not an intact asset of a version that we
// read. Sections of kinds that we do not know are passed over with a note.
Asset read_asset(const std::filesystem::path& path, const AssetReadSettings& settings = {});
// From memory; copied and checked in full, whatever settings.map says.
Asset decode_asset(std::span<const std::byte> bytes, std::string_view name,
                   const AssetReadSettings& settings = {});

// What read_asset left out for a mapped asset; also checks one that was made in memory. Throws
// Error. Cost: one pass over everything.
void verify_asset(const Asset& asset);

// The same asset gives the same bytes. Throws Error for texts that SourceInfo does not allow, and
// for mass properties that are not finite. Writing replaces the file in one step.
std::vector<std::byte> encode_asset(const Asset& asset);
void write_asset(const std::filesystem::path& path, const Asset& asset);
std::uint64_t encoded_size(const Asset& asset);  // bytes

}  // namespace isotact

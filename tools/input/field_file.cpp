#include "field_file.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/field/io/sdf_export.h"
#include "isotact/field/models/sparse_level_set.h"

#ifdef ISOTACT_HAS_OPENVDB
#include "vdb_plugin.h"
#endif

namespace isotact::tool {
namespace {

#ifdef ISOTACT_HAS_OPENVDB
void export_vdb(const std::string& file, const BrickField& field, bool nano) {
  const VdbPlugin& vdb = load_vdb_plugin();
  (nano ? vdb.write_nvdb : vdb.write_vdb)(file, to_level_set(field));
}

SparseLevelSet import_vdb(const std::string& file, bool nano) {
  const VdbPlugin& vdb = load_vdb_plugin();
  return (nano ? vdb.read_nvdb : vdb.read_vdb)(file);
}
#else
[[noreturn]] void lack_openvdb(const std::string& file) {
  throw Error({.file = file}, ".vdb and .nvdb files need OpenVDB, which is not built in");
}
void export_vdb(const std::string& file, const BrickField&, bool) { lack_openvdb(file); }
SparseLevelSet import_vdb(const std::string& file, bool) { lack_openvdb(file); }
#endif

bool is_mesh_name(const std::string& extension) {
  constexpr std::array kNames{".obj", ".stl", ".ply", ".off", ".gltf", ".glb"};
  return std::find(kNames.begin(), kNames.end(), extension) != kNames.end();
}

}  // namespace

bool is_field_file(const std::string& file) {
  const std::string extension = lower_extension(file);
  return extension == ".vdb" || extension == ".nvdb" || extension == ".sdf" || is_asset(file);
}

AssetField load_field(const std::string& file) {
  const std::string extension = lower_extension(file);
  if (extension == ".vdb" || extension == ".nvdb") {
    LevelSetField level_set(import_vdb(file, extension == ".nvdb"));
    const Lattice lattice = level_set.level_set().lattice;
    return {.field = AnyField(std::move(level_set)), .lattice = lattice, .kind = "level set"};
  }
  if (extension == ".sdf") {
    constexpr double kUnknown = std::numeric_limits<double>::infinity();
    LatticeSamples read = read_sdf_text(file);
    DenseGrid grid({.lattice = read.lattice,
                    .samples = std::move(read.values),
                    .sample_error = {-kUnknown, kUnknown}});
    return {.field = AnyField(grid), .lattice = grid.lattice(), .kind = "dense"};
  }
  if (is_mesh_name(extension) && !is_asset(file) && std::filesystem::is_regular_file(file))
    throw Error({.file = file},
                "is a mesh; make an asset of it first: isotact build MESH -o ASSET.isotact");
  return field_of(read_asset_input(file));
}

bool is_field_format(const std::string& file) {
  const std::string extension = lower_extension(file);
  return extension == ".sdf" || extension == ".vti" || extension == ".vdb" || extension == ".nvdb";
}

std::string field_formats() {
  std::string formats = ".sdf .vti";
#ifdef ISOTACT_HAS_OPENVDB
  formats += " .vdb";
#endif
#ifdef ISOTACT_HAS_NANOVDB
  formats += " .nvdb";
#endif
  return formats;
}

std::string openvdb_support() {
#if defined(ISOTACT_HAS_NANOVDB)
  std::string support = "built in";
#elif defined(ISOTACT_HAS_OPENVDB)
  std::string support = "built in, without NanoVDB";
#else
  std::string support = "not built in";
#endif
#ifdef ISOTACT_HAS_OPENVDB
  try {
    load_vdb_plugin();
  } catch (const Error& error) {
    support += fmt::format(", but {}", error.what());
  }
#endif
  return support;
}

void export_field(const std::string& file, const AssetField& field, Threads threads) {
  const std::string extension = lower_extension(file);
  if (extension == ".sdf")
    write_sdf_text(file, field.field, field.lattice, threads);
  else if (extension == ".vti")
    write_vti(file, field.field, field.lattice, threads);
  else if (!field.brick)
    throw Error({.file = file}, "level sets are made of brick fields only");
  else
    export_vdb(file, *field.brick, extension == ".nvdb");
}

}  // namespace isotact::tool

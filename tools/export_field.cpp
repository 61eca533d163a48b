#include "export_field.h"

#include <filesystem>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/field/io/sdf_export.h"
#include "isotact/field/sparse_level_set.h"

#ifdef ISOTACT_HAS_OPENVDB
#include "isotact/adapters/openvdb/vdb.h"
#endif

namespace isotact::tool {
namespace {

std::string lower_extension(const std::string& file) {
  std::string extension = std::filesystem::path(file).extension().string();
  for (char& c : extension)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return extension;
}

// Both throw Error where the library is missing.
void export_vdb(const std::string& file, const BrickField& field) {
#ifdef ISOTACT_HAS_OPENVDB
  write_vdb(file, to_level_set(field));
#else
  static_cast<void>(field);
  throw Error({.file = file}, ".vdb files need OpenVDB, which is not built in");
#endif
}

void export_nvdb(const std::string& file, const BrickField& field) {
#ifdef ISOTACT_HAS_OPENVDB
  write_nvdb(file, to_level_set(field));
#else
  static_cast<void>(field);
  throw Error({.file = file}, ".nvdb files need OpenVDB, which is not built in");
#endif
}

}  // namespace

bool is_field_format(const std::string& file) {
  const std::string extension = lower_extension(file);
  return extension == ".sdf" || extension == ".vti" || extension == ".vdb" || extension == ".nvdb";
}

std::string field_formats() {
  std::string formats = ".sdf .vti";
#ifdef ISOTACT_HAS_OPENVDB
  formats += " .vdb";
  if (has_nanovdb()) formats += " .nvdb";
#endif
  return formats;
}

std::string openvdb_support() {
#ifdef ISOTACT_HAS_OPENVDB
  return has_nanovdb() ? "built in" : "built in, without NanoVDB";
#else
  return "not built in";
#endif
}

void export_field(const std::string& file, const AssetField& field, Threads threads) {
  const std::string extension = lower_extension(file);
  if (extension == ".sdf")
    write_sdf_text(file, field.field, field.lattice, threads);
  else if (extension == ".vti")
    write_vti(file, field.field, field.lattice, threads);
  else if (!field.brick)
    throw Error({.file = file}, "level sets are made of brick fields only");
  else if (extension == ".vdb")
    export_vdb(file, *field.brick);
  else
    export_nvdb(file, *field.brick);
}

}  // namespace isotact::tool

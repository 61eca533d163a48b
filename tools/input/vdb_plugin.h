// OpenVDB, as a plug-in of the program. Its library takes some 35 ms to load, longer than most
// commands take to run. It is therefore loaded when a .vdb or .nvdb file asks for it.
#pragma once

#include <filesystem>

#include "isotact/field/models/sparse_level_set.h"

namespace isotact::tool {

struct VdbPlugin {
  void (*write_vdb)(const std::filesystem::path&, const SparseLevelSet&);
  void (*write_nvdb)(const std::filesystem::path&, const SparseLevelSet&);
  SparseLevelSet (*read_vdb)(const std::filesystem::path&);
  SparseLevelSet (*read_nvdb)(const std::filesystem::path&);
};

inline constexpr const char* kVdbPluginFile = "isotact_vdb.so";
inline constexpr const char* kVdbPluginEntry = "isotact_vdb_plugin";
using VdbPluginEntry = const VdbPlugin* (*)();

// Found beside the program, or in lib/isotact of where it was installed. Throws Error if it is not
// there or does not load. Loaded once.
const VdbPlugin& load_vdb_plugin();

}  // namespace isotact::tool

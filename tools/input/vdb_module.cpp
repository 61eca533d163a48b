// The plug-in's side of vdb_plugin.h.
#include "isotact/adapters/openvdb/vdb.h"

#include "input/vdb_plugin.h"

extern "C" __attribute__((visibility("default"))) const isotact::tool::VdbPlugin*
isotact_vdb_plugin() {
  static const isotact::tool::VdbPlugin plugin{
      .write_vdb = isotact::write_vdb,
      .write_nvdb = isotact::write_nvdb,
      .read_vdb = [](const std::filesystem::path& path) { return isotact::read_vdb(path); },
      .read_nvdb = [](const std::filesystem::path& path) { return isotact::read_nvdb(path); }};
  return &plugin;
}

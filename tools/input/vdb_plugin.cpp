#include "vdb_plugin.h"

#include <string>
#include <system_error>

#include <dlfcn.h>
#include <fmt/format.h>

#include "isotact/base/error.h"

namespace isotact::tool {
namespace {

namespace fs = std::filesystem;

const VdbPlugin* open_plugin(const fs::path& file) {
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw Error({.file = file.string()}, fmt::format("does not load: {}", dlerror()));
  void* const entry = dlsym(library, kVdbPluginEntry);
  if (entry == nullptr) throw Error({.file = file.string()}, "is not a plug-in of this program");
  return reinterpret_cast<VdbPluginEntry>(entry)();
}

const VdbPlugin* find_plugin() {
  std::error_code ignored;
  const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const fs::path& place : {folder, folder / ".." / ISOTACT_LIBRARY_FOLDER / "isotact"})
    if (const fs::path file = place / kVdbPluginFile; fs::exists(file, ignored))
      return open_plugin(file);
  throw Error(fmt::format("{}: not found beside the program; .vdb and .nvdb files need it",
                          kVdbPluginFile));
}

}  // namespace

const VdbPlugin& load_vdb_plugin() {
  static const VdbPlugin* const plugin = find_plugin();
  return *plugin;
}

}  // namespace isotact::tool

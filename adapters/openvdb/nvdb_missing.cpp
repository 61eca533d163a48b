#include "isotact/adapters/openvdb/vdb.h"
#include "isotact/base/error.h"

namespace isotact {
namespace {

constexpr const char* kMissing = "NanoVDB is not built in";

}  // namespace

bool has_nanovdb() { return false; }

void write_nvdb(const std::filesystem::path& path, const SparseLevelSet& /*level_set*/) {
  throw Error({.file = path.string()}, kMissing);
}

SparseLevelSet read_nvdb(const std::filesystem::path& path, const VdbReadSettings& /*settings*/) {
  throw Error({.file = path.string()}, kMissing);
}

}  // namespace isotact

// Where the meshes for measuring are. They are not part of the repository.
#pragma once

#include <cstdlib>
#include <filesystem>

#include "isotact/base/error.h"

namespace isotact::bench {

// The folder in ISOTACT_DATA, or ../shared/data beside the checkout. Throws Error where it is not.
inline std::filesystem::path data_folder() {
  const char* chosen = std::getenv("ISOTACT_DATA");
  std::filesystem::path folder = chosen != nullptr ? chosen : "../shared/data";
  if (!std::filesystem::is_directory(folder))
    throw Error({.file = folder.string()},
                "no such folder; set ISOTACT_DATA to the folder with the meshes for measuring");
  return folder;
}

}  // namespace isotact::bench

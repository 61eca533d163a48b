// The version of the library, for the preprocessor and for C++. CMake takes it from here.
//
// While the major version is 0, a new minor version may change calls and the binary interface.
#pragma once

#include "isotact/export.h"

#define ISOTACT_VERSION_MAJOR 0
#define ISOTACT_VERSION_MINOR 2
#define ISOTACT_VERSION_PATCH 0
#define ISOTACT_VERSION_STRING "0.2.0"

namespace ISOTACT_PUBLIC isotact {

inline constexpr int kVersionMajor = ISOTACT_VERSION_MAJOR;
inline constexpr int kVersionMinor = ISOTACT_VERSION_MINOR;
inline constexpr int kVersionPatch = ISOTACT_VERSION_PATCH;
inline constexpr char kVersionString[] = ISOTACT_VERSION_STRING;

}  // namespace isotact

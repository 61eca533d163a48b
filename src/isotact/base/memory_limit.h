// One rule for the memory that a build may use.
#pragma once

#include <cstdint>
#include <string_view>

#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

// Returns bytes, or 0 if the system does not report them.
std::uint64_t physical_memory();

// Throws Error, with the figure, if `needed` bytes are more than `limit`. A limit of 0 stands for
// the memory of the machine. `needed` is a double, because a hostile lattice may ask for 2^93
// bytes.
void check_memory(double needed, std::uint64_t limit, std::string_view what);

}  // namespace isotact

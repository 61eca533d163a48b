// One rule for how much memory a build may take.
#pragma once

#include <cstdint>
#include <string_view>

namespace isotact {

// Bytes; 0 where the system does not say.
std::uint64_t physical_memory();

// Throws Error, with the figure, where `needed` bytes are more than `limit`; a limit of 0 stands
// for what the machine has. A double, since a hostile lattice may ask for 2^93.
void check_memory(double needed, std::uint64_t limit, std::string_view what);

}  // namespace isotact

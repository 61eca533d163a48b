// How often this program has asked for memory: for tests of what must not. Link
// support/allocation_count.cpp, which replaces operator new. Sanitizers have their own: there it
// counts nothing.
#pragma once

#include <cstddef>

namespace isotact {

std::size_t allocation_count();

}  // namespace isotact

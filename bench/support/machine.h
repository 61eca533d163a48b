// The machine that a program runs on, in words.
#pragma once

#include <nlohmann/json.hpp>

namespace isotact::bench {

// Returns processor, threads, memory, system, compiler, date, and the current load.
nlohmann::ordered_json describe_machine();

}  // namespace isotact::bench

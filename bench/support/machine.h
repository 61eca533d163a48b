// The machine that a program runs on, in words.
#pragma once

#include <nlohmann/json.hpp>

namespace isotact::bench {

// Processor, threads, memory, system, compiler, date, and how busy it was when asked.
nlohmann::ordered_json describe_machine();

}  // namespace isotact::bench

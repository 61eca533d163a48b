// collide() for pages, compiled to WebAssembly: what cmake/IsotactWasm.cmake makes of viewer/query.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace isotact::tool {

struct QueryModule {
  std::span<const std::byte> bytes;  // empty: not built in
  std::string_view missing;          // why
};
QueryModule query_module();

// "built in (412 KB)", or why not.
std::string query_support();

}  // namespace isotact::tool

// collide() for pages, compiled to WebAssembly: the result of cmake/IsotactWasm.cmake for
// viewer/query.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace isotact::tool {

struct QueryModule {
  std::span<const std::byte> bytes;  // Empty: not built in.
  std::string_view missing;          // The reason.
};
QueryModule query_module();

// Returns "built in (412 KB)", or the reason why not.
std::string query_support();

}  // namespace isotact::tool

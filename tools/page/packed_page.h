// Finds the run inside a page that make_run_page made (run_page.h).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace isotact::tool {

// Returns whether it begins like such a page.
bool is_run_page(std::string_view page);

// Returns the run pack (read by scene/pack/replay_unpack.h). Throws Error for a page without one,
// for invalid base64 or gzip, for a truncated page, and for packs of more than 600 MB.
std::vector<std::byte> find_run_pack(std::string_view page, const std::string& file);

}  // namespace isotact::tool

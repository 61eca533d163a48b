// Finds the run inside of a page that make_run_page made (run_page.h).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace isotact::tool {

// Whether it begins as such a page does.
bool is_run_page(std::string_view page);

// The run pack (scene/replay_unpack.h reads it). Throws Error for a page without one, for what is
// no base64 or no gzip, for a page that was cut short, and for packs of more than 600 MB.
std::vector<std::byte> find_run_pack(std::string_view page, const std::string& file);

}  // namespace isotact::tool

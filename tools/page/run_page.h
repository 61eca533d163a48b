// The page that plays a run: viewer/, built into this program, with a run in it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace isotact {
class SceneRun;
}

namespace isotact::tool {

// "built in (629 KB without a run)", or why not.
std::string viewer_support();
bool has_viewer();
// Wrong usage where the page is not built in.
void require_viewer();

// A page with the pack in it: compressed, as base64 in an element that no browser runs. Names from
// the scene are in there only, so that nothing of it can become markup. Throws Error.
std::string make_run_page(std::span<const std::byte> pack);
std::string make_run_page(const SceneRun& run, int threads);
// Such a page plays as soon as it is opened, unless the visitor's system asks for less motion.
std::string play_when_opened(std::string page);

// A page of two bodies (scene/pair_pack.h). Only where a query is in it may it run WebAssembly.
std::string make_pair_page(std::span<const std::byte> pack, bool has_query);

// Reads a page that one of these made; throws Error for any other file.
std::string read_run_page(const std::filesystem::path& path);

}  // namespace isotact::tool

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

// Returns "built in (629 KB without a run)", or the reason why not.
std::string viewer_support();
bool has_viewer();
// Throws UsageError if the page is not built in.
void require_viewer();

// Returns a page with the pack in it: compressed, as base64 in an element that no browser runs.
// Names from the scene occur only there, so that no part of them can become markup. Throws Error.
std::string make_run_page(std::span<const std::byte> pack);
std::string make_run_page(const SceneRun& run, int threads);
// Returns a page that plays as soon as it is opened, unless the visitor's system requests less
// motion.
std::string play_when_opened(std::string page);

// Returns a page of two bodies (scene/pack/pair_pack.h). It may run WebAssembly only if it has a
// query.
std::string make_pair_page(std::span<const std::byte> pack, bool has_query);

// Reads a page that one of these made; throws Error for any other file.
std::string read_run_page(const std::filesystem::path& path);

}  // namespace isotact::tool

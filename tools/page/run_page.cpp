#include "run_page.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <zlib.h>

#include "isotact/base/error.h"
#include "isotact/base/file.h"
#include "isotact/scene/pack/replay_pack.h"

#include "commands/options.h"
#include "packed_page.h"
#include "viewer_page.h"

namespace isotact::tool {
namespace {

// Of viewer/index.html.
constexpr std::string_view kSlot = "ISOTACT-RUN-PACK</script>";
constexpr std::string_view kScripts = "script-src 'unsafe-inline'";
constexpr std::string_view kRoot = "<html lang=\"en\"", kPlay = " data-play";
constexpr int kGzip = 15 + 16;  // the largest window, and a gzip header

std::vector<unsigned char> compress(std::span<const std::byte> bytes) {
  z_stream z{};
  if (deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, kGzip, 9, Z_DEFAULT_STRATEGY) != Z_OK)
    throw Error("the run cannot be compressed: zlib has no memory");
  std::vector<unsigned char> out(deflateBound(&z, bytes.size()) + 64);
  z.next_out = out.data();
  std::size_t room = out.size();
  // zlib counts in 32 bits: piece by piece.
  constexpr std::size_t kPiece = std::size_t{1} << 30U;
  int status = Z_OK;
  for (std::size_t done = 0; status == Z_OK;) {
    const std::size_t piece = std::min(kPiece, bytes.size() - done);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): zlib 1.2's interface
    z.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data() + done));
    z.avail_in = static_cast<uInt>(piece);
    z.avail_out = static_cast<uInt>(std::min(room, kPiece));
    const uInt before = z.avail_out;
    done += piece;
    status = deflate(&z, done == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    done -= z.avail_in;
    room -= before - z.avail_out;
  }
  deflateEnd(&z);
  if (status != Z_STREAM_END) throw Error("the run cannot be compressed");
  out.resize(out.size() - room);
  return out;
}

void append_base64(std::span<const unsigned char> bytes, std::string& out) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = std::min<std::size_t>(3, bytes.size() - i);
    unsigned value = 0;
    for (std::size_t k = 0; k < 3; ++k) value = (value << 8U) | (k < left ? bytes[i + k] : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      out += k <= left ? kDigits[(value >> (18U - 6U * k)) & 63U] : '=';
  }
}

}  // namespace

std::string viewer_support() {
  const ViewerPage page = viewer_page();
  if (page.html.empty()) return fmt::format("not built in: {}", page.missing);
  return fmt::format("built in ({} KB without a run)", page.html.size() / 1000);
}

bool has_viewer() { return !viewer_page().html.empty(); }

void require_viewer() {
  const ViewerPage page = viewer_page();
  if (page.html.empty())
    throw UsageError(
        fmt::format("pages (.html) are not built into this program: {}; runs can be written as "
                    ".glb, which any glTF viewer plays",
                    page.missing));
}

std::string make_run_page(std::span<const std::byte> pack) {
  const std::string_view html = viewer_page().html;
  const std::size_t slot = html.find(kSlot);
  if (slot == std::string_view::npos) throw Error("the page of the viewer has no place for a run");
  const std::vector<unsigned char> small = compress(pack);
  std::string page;
  page.reserve(html.size() + small.size() / 3 * 4 + 8);
  page = html.substr(0, slot);
  append_base64(small, page);
  page += html.substr(slot + kSlot.find('<'));
  return page;
}

std::string make_run_page(const SceneRun& run, int threads) {
  return make_run_page(write_run_pack(run, {.threads = {threads}}));
}

std::string make_pair_page(std::span<const std::byte> pack, bool has_query) {
  std::string page = make_run_page(pack);
  if (!has_query) return page;
  const std::size_t policy = page.find(kScripts);
  if (policy == std::string::npos) throw Error("the page of the viewer has no policy for scripts");
  page.insert(policy + kScripts.size(), " 'wasm-unsafe-eval'");
  return page;
}

std::string play_when_opened(std::string page) {
  const std::size_t root = page.find(kRoot);
  if (root == std::string::npos) throw Error("the page of the viewer has no root to mark");
  page.insert(root + kRoot.size(), kPlay);
  return page;
}

std::string read_run_page(const std::filesystem::path& path) {
  const std::vector<std::byte> bytes = read_file(path, std::uint64_t{2} << 30U);
  std::string page(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!is_run_page(page))
    throw Error({.file = path.string()},
                "expected a page that 'isotact simulate -o RUN.html' or 'isotact collide --view' "
                "wrote, or a scene (.json)");
  return page;
}

}  // namespace isotact::tool

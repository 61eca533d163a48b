#include "isotact/asset/cache.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <limits>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/hash.h"
#include "isotact/version.h"

namespace isotact {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExtension = ".isotact";

fs::path entry_path(const fs::path& folder, const CacheKey& key) {
  return folder / (to_string(key) + std::string(kExtension));
}

// Only what we have named is ever counted or removed: the folder may be anybody's.
bool is_entry(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.size() == 32 + kExtension.size() && name.ends_with(kExtension) &&
         name.find_first_not_of("0123456789abcdef") == 32;
}

// What write_asset writes to before it renames it: KEY.isotact.PID.NUMBER.part. One that was not
// touched for an hour was left by a process that was killed.
bool is_orphan(const fs::directory_entry& entry) {
  const std::string name = entry.path().filename().string();
  const std::size_t front = 32 + kExtension.size();
  constexpr std::string_view kPart = ".part";
  if (name.size() <= front + kPart.size() || !name.ends_with(kPart)) return false;
  const std::string middle = name.substr(front, name.size() - front - kPart.size());
  if (!is_entry(name.substr(0, front)) || middle.find_first_not_of(".0123456789") != middle.npos)
    return false;
  std::error_code gone;
  const fs::file_time_type time = entry.last_write_time(gone);
  return !gone && fs::file_time_type::clock::now() - time > std::chrono::hours(1);
}

void remove_orphans(const fs::path& folder) {
  std::vector<fs::path> orphans;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (is_orphan(*at)) orphans.push_back(at->path());
  for (const fs::path& path : orphans) fs::remove(path, error);
}

struct Entry {
  fs::path path;
  fs::file_time_type time;
  std::uint64_t bytes;
};

// Oldest first. Others may remove files meanwhile: what cannot be seen is not there.
std::vector<Entry> list_entries(const fs::path& folder) {
  std::vector<Entry> entries;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (!is_entry(at->path())) continue;
    std::error_code gone;
    const fs::file_time_type time = at->last_write_time(gone);
    const std::uint64_t bytes = gone ? 0 : at->file_size(gone);
    if (!gone) entries.push_back({at->path(), time, bytes});
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.time != b.time ? a.time < b.time : a.path < b.path;
  });
  return entries;
}

std::size_t evict(const fs::path& folder, const fs::path& keep, std::uint64_t max_bytes) {
  remove_orphans(folder);
  const std::vector<Entry> entries = list_entries(folder);
  std::uint64_t total = 0;
  for (const Entry& entry : entries) total += entry.bytes;
  std::size_t evicted = 0;
  for (const Entry& entry : entries) {
    if (total <= max_bytes) break;
    if (entry.path == keep) continue;
    std::error_code error;
    if (!fs::remove(entry.path, error)) continue;
    total -= entry.bytes;
    ++evicted;
  }
  return evicted;
}

}  // namespace

std::string to_string(const CacheKey& key) {
  return fmt::format("{:016x}{:016x}", key.words[0], key.words[1]);
}

CacheKey make_cache_key(const TriangleMesh& mesh, std::string_view settings) {
  const std::string versions = fmt::format(
      "isotact {} build {} format {}.{} mesh {} {}\n", ISOTACT_VERSION_STRING, kBuildRevision,
      kAssetMajorVersion, kAssetMinorVersion, mesh.positions.size(), mesh.triangles.size());
  CacheKey key;
  for (std::size_t i = 0; i < key.words.size(); ++i) {
    std::uint64_t hash = hash_range(versions, i);
    hash = hash_range(settings, hash);
    hash = hash_range(mesh.positions, hash);
    key.words[i] = hash_range(mesh.triangles, hash);
  }
  return key;
}

std::optional<fs::path> choose_cache_folder(const CacheSettings& settings) {
  if (!settings.folder.empty()) return settings.folder;
  const auto variable = [](const char* name) { return std::getenv(name); };
  if (const char* const own = variable("ISOTACT_CACHE")) {
    if (*own == '\0') return std::nullopt;
    return fs::path(own);
  }
  // The XDG specification says that a relative path is to be ignored.
  if (const char* const xdg = variable("XDG_CACHE_HOME"); xdg != nullptr && *xdg == '/')
    return fs::path(xdg) / "isotact";
  if (const char* const home = variable("HOME"); home != nullptr && *home == '/')
    return fs::path(home) / ".cache" / "isotact";
  return std::nullopt;
}

CacheLookup find_in_cache(const CacheKey& key, const CacheSettings& settings) {
  const auto folder = choose_cache_folder(settings);
  if (!folder) return {};
  const fs::path path = entry_path(*folder, key);
  std::error_code error;
  if (!fs::exists(path, error)) return {};
  try {
    // What a build made may be found again whatever its size.
    constexpr auto kNoLimit = std::numeric_limits<std::uint64_t>::max();
    CacheLookup lookup{.asset = read_asset(path, {.max_unpacked_bytes = kNoLimit}), .note = {}};
    fs::last_write_time(path, fs::file_time_type::clock::now(), error);
    return lookup;
  } catch (const Error& problem) {
    fs::remove(path, error);
    return {.asset = {}, .note = fmt::format("a cached build was of no use: {}", problem.what())};
  } catch (const std::exception& problem) {  // memory is short: the entry may be good
    return {.asset = {}, .note = fmt::format("a cached build was not read: {}", problem.what())};
  }
}

CacheStore store_in_cache(const CacheKey& key, const Asset& asset, const CacheSettings& settings) {
  const auto folder = choose_cache_folder(settings);
  if (!folder) return {};
  try {
    std::error_code error;
    fs::create_directories(*folder, error);
    const fs::path path = entry_path(*folder, key);
    const std::uint64_t bytes = encoded_size(asset);
    if (bytes > settings.max_bytes)
      return {.note = fmt::format("the build of {} bytes is larger than the cache may be ({})",
                                  bytes, settings.max_bytes)};
    write_asset(path, asset);
    return {.stored = true, .evicted = evict(*folder, path, settings.max_bytes), .note = {}};
  } catch (const std::exception& problem) {
    return {.note = fmt::format("the build could not be cached: {}", problem.what())};
  }
}

}  // namespace isotact

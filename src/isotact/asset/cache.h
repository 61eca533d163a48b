// A cache of finished builds, so that the same mesh with the same settings is built once per
// machine.
//
// The folder is CacheSettings::folder, or the variable ISOTACT_CACHE, or isotact/ in
// XDG_CACHE_HOME, or ~/.cache/isotact. An empty ISOTACT_CACHE switches the cache off. Entries are
// asset files named by their key. They appear in one step, so many processes may share a folder. A
// damaged entry is treated as missing. A cache never fails a build: a note describes any failure.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "isotact/export.h"
#include "isotact/field/io/asset.h"
#include "isotact/geometry/mesh/mesh.h"

namespace ISOTACT_PUBLIC isotact {

// To be raised when the same mesh and settings come out as other bytes than before.
inline constexpr std::uint32_t kBuildRevision = 4;

struct CacheKey {
  std::array<std::uint64_t, 2> words{};

  friend bool operator==(const CacheKey&, const CacheKey&) = default;
};
std::string to_string(const CacheKey& key);  // 32 hexadecimal digits.

// Returns the key of the mesh's content, the settings as text, the asset format's version, the
// library's version and kBuildRevision. The text is that of describe; it must name everything else
// that goes into the asset.
CacheKey make_cache_key(const TriangleMesh& mesh, std::string_view settings);

struct CacheSettings {
  std::filesystem::path folder{};                     // Empty: the folder described above.
  std::uint64_t max_bytes = std::uint64_t{4} << 30U;  // Limit for all entries together.
};

// Returns nothing if the cache is switched off or no home is known.
std::optional<std::filesystem::path> choose_cache_folder(const CacheSettings& settings = {});

struct CacheLookup {
  std::optional<Asset> asset{};  // Fully checked.
  std::string note{};            // The reason why an existing entry was not used.
};
// A hit counts as use: it makes the entry the youngest one. A damaged entry is removed.
CacheLookup find_in_cache(const CacheKey& key, const CacheSettings& settings = {});

struct CacheStore {
  bool stored = false;
  std::size_t evicted = 0;  // Entries removed for the limit, oldest first.
  std::string note{};       // The reason why it was not stored.
};
CacheStore store_in_cache(const CacheKey& key, const Asset& asset,
                          const CacheSettings& settings = {});

}  // namespace isotact

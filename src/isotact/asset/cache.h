// A cache of finished builds, so that the same mesh with the same settings is built once a machine.
//
// The folder: CacheSettings::folder, or the variable ISOTACT_CACHE, or isotact/ in XDG_CACHE_HOME,
// or ~/.cache/isotact. An empty ISOTACT_CACHE switches the cache off. Entries are asset files named
// by their key; they appear in one step, so that many processes may share a folder, and a damaged
// one is as good as none. A cache never fails a build: what goes wrong is told in a note.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "isotact/field/io/asset.h"
#include "isotact/geometry/mesh.h"

namespace isotact {

// To be raised when the same mesh and settings come out as other bytes than before.
inline constexpr std::uint32_t kBuildRevision = 3;

struct CacheKey {
  std::array<std::uint64_t, 2> words{};

  friend bool operator==(const CacheKey&, const CacheKey&) = default;
};
std::string to_string(const CacheKey& key);  // 32 hexadecimal digits

// Of the mesh's content, the settings as text (see describe; whatever else goes into the asset must
// be told there too), the asset format's version, the library's version and kBuildRevision.
CacheKey make_cache_key(const TriangleMesh& mesh, std::string_view settings);

struct CacheSettings {
  std::filesystem::path folder{};                     // empty: as said above
  std::uint64_t max_bytes = std::uint64_t{4} << 30U;  // of all entries together
};

// Nothing where the cache is switched off or no home is known.
std::optional<std::filesystem::path> find_cache_folder(const CacheSettings& settings = {});

struct CacheLookup {
  std::optional<Asset> asset{};  // checked in full
  std::string note{};            // why an entry that is there was of no use
};
// A hit counts as use: it makes the entry the youngest one. A damaged entry is removed.
CacheLookup find_in_cache(const CacheKey& key, const CacheSettings& settings = {});

struct CacheStore {
  bool stored = false;
  std::size_t evicted = 0;  // entries removed for the limit, oldest first
  std::string note{};       // why it was not stored
};
CacheStore store_in_cache(const CacheKey& key, const Asset& asset,
                          const CacheSettings& settings = {});

}  // namespace isotact

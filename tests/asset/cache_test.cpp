#include "isotact/asset/cache.h"

#include <chrono>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "isotact/base/file.h"
#include "isotact/field/build/build_field.h"
#include "isotact/geometry/primitives/primitives.h"

#include "support/scratch_folder.h"

namespace isotact {
namespace {

namespace fs = std::filesystem;

const TriangleMesh kMesh = make_box({});

Asset asset_with(const std::string& settings) {
  Asset asset;
  asset.source.settings = settings;
  return asset;
}

CacheKey key_of(int i) { return make_cache_key(kMesh, std::to_string(i)); }

// Sets a variable of the environment for a test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* const old = std::getenv(name)) old_ = old;
    value != nullptr ? setenv(name, value, 1) : unsetenv(name);
  }
  ~Variable() { old_ ? setenv(name_, old_->c_str(), 1) : unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

TEST(Cache, KeysFollowContentAndSettings) {
  const CacheKey key = make_cache_key(kMesh, "a");
  EXPECT_EQ(key, make_cache_key(make_box({}), "a"));
  EXPECT_NE(key, make_cache_key(kMesh, "b"));
  TriangleMesh other = kMesh;
  other.positions[3].y += 1e-6F;
  EXPECT_NE(key, make_cache_key(other, "a"));
  other = kMesh;
  std::swap(other.triangles[0], other.triangles[1]);
  EXPECT_NE(key, make_cache_key(other, "a"));
  EXPECT_EQ(to_string(key).size(), 32U);
}

TEST(Cache, SettingsThatMatterChangeTheText) {
  const std::string usual = describe(FieldSettings{});
  EXPECT_EQ(usual,
            "{\"resolution\":128,\"padding\":6,\"sign\":\"auto\",\"nested\":\"winding\","
            "\"shell_offset\":0,\"band\":4,\"tolerance\":0.15,"
            "\"keep_thin\":\"report\"}");
  EXPECT_EQ(describe({.resolution = 128}), usual);
  EXPECT_EQ(describe({.max_memory = 1000, .threads = {.count = 3}}), usual);
  EXPECT_NE(describe({.resolution = 129}), usual);
  EXPECT_NE(describe({.voxel_size = 0.1}), usual);
  EXPECT_NE(describe({.padding = 7}), usual);
  EXPECT_NE(describe({.sign = SignMethod::kWinding}), usual);
  EXPECT_NE(describe({.nested = NestedRule::kEvenOdd}), usual);
  EXPECT_NE(describe({.shell_offset = 0.1}), usual);
  EXPECT_NE(describe({.band = 6}), usual);
  EXPECT_NE(describe({.tolerance = 0.1500000000000001}), usual);
  EXPECT_NE(describe({.keep_thin = KeepThin::kOffset}), usual);
}

TEST(Cache, FindsWhatWasStored) {
  const ScratchFolder scratch;
  const CacheSettings settings{.folder = scratch.path() / "not" / "yet" / "there"};
  EXPECT_FALSE(find_in_cache(key_of(1), settings).asset);
  EXPECT_TRUE(store_in_cache(key_of(1), asset_with("one"), settings).stored);
  EXPECT_TRUE(store_in_cache(key_of(2), asset_with("two"), settings).stored);
  EXPECT_EQ(find_in_cache(key_of(1), settings).asset->source.settings, "one");
  EXPECT_EQ(find_in_cache(key_of(2), settings).asset->source.settings, "two");
  EXPECT_FALSE(find_in_cache(key_of(3), settings).asset);
}

TEST(Cache, ADamagedEntryIsAsGoodAsNone) {
  const ScratchFolder scratch;
  const CacheSettings settings{.folder = scratch.path()};
  store_in_cache(key_of(1), asset_with("one"), settings);
  const fs::path entry = scratch.path() / (to_string(key_of(1)) + ".isotact");
  write_file(entry, "rubbish");
  const CacheLookup lookup = find_in_cache(key_of(1), settings);
  EXPECT_FALSE(lookup.asset);
  EXPECT_NE(lookup.note.find("a cached build was of no use"), std::string::npos);
  EXPECT_FALSE(fs::exists(entry));
  EXPECT_TRUE(store_in_cache(key_of(1), asset_with("one"), settings).stored);
  EXPECT_TRUE(find_in_cache(key_of(1), settings).asset);
}

TEST(Cache, ForgetsWhatWasUsedLongestAgo) {
  const ScratchFolder scratch;
  const std::uint64_t each = encoded_size(asset_with("x"));
  const CacheSettings settings{.folder = scratch.path(), .max_bytes = 3 * each};
  write_file(scratch.path() / "mine.isotact", std::string(100000, 'x'));
  const auto now = fs::file_time_type::clock::now();
  for (int i = 0; i < 3; ++i) {
    store_in_cache(key_of(i), asset_with("x"), settings);
    fs::last_write_time(scratch.path() / (to_string(key_of(i)) + ".isotact"),
                        now - std::chrono::hours(10 - i));
  }
  EXPECT_TRUE(find_in_cache(key_of(0), settings).asset);  // makes it the youngest
  const CacheStore store = store_in_cache(key_of(3), asset_with("x"), settings);
  EXPECT_TRUE(store.stored);
  EXPECT_EQ(store.evicted, 1U);
  EXPECT_TRUE(find_in_cache(key_of(0), settings).asset);
  EXPECT_FALSE(find_in_cache(key_of(1), settings).asset);
  EXPECT_TRUE(find_in_cache(key_of(2), settings).asset);
  EXPECT_TRUE(find_in_cache(key_of(3), settings).asset);
  EXPECT_TRUE(fs::exists(scratch.path() / "mine.isotact"));
}

TEST(Cache, RemovesWhatKilledProcessesLeft) {
  const ScratchFolder scratch;
  const std::string entry = to_string(key_of(1)) + ".isotact";
  const std::vector<std::string> names = {entry + ".12.0.part", entry + ".13.0.part",
                                          "mine.isotact.12.0.part", entry + ".mine.part"};
  for (const std::string& name : names) write_file(scratch.path() / name, "x");
  const auto now = fs::file_time_type::clock::now();
  for (const std::size_t old : {0U, 2U, 3U})
    fs::last_write_time(scratch.path() / names[old], now - std::chrono::hours(2));
  EXPECT_TRUE(store_in_cache(key_of(2), asset_with("x"), {.folder = scratch.path()}).stored);
  EXPECT_FALSE(fs::exists(scratch.path() / names[0]));
  for (const std::size_t kept : {1U, 2U, 3U}) EXPECT_TRUE(fs::exists(scratch.path() / names[kept]));
}

TEST(Cache, NeverFailsABuild) {
  const ScratchFolder scratch;
  write_file(scratch.path() / "file", "x");
  const CacheSettings blocked{.folder = scratch.path() / "file" / "below"};
  EXPECT_FALSE(find_in_cache(key_of(1), blocked).asset);
  const CacheStore store = store_in_cache(key_of(1), asset_with("x"), blocked);
  EXPECT_FALSE(store.stored);
  EXPECT_NE(store.note, "");
  const CacheSettings tiny{.folder = scratch.path(), .max_bytes = 10};
  EXPECT_FALSE(store_in_cache(key_of(1), asset_with("x"), tiny).stored);
}

TEST(Cache, FolderComesFromSettingsOrEnvironment) {
  const Variable home("HOME", "/home/someone"), none("XDG_CACHE_HOME", nullptr);
  {
    const Variable own("ISOTACT_CACHE", nullptr);
    EXPECT_EQ(choose_cache_folder(), "/home/someone/.cache/isotact");
    const Variable xdg("XDG_CACHE_HOME", "/xdg");
    EXPECT_EQ(choose_cache_folder(), "/xdg/isotact");
    const Variable relative("XDG_CACHE_HOME", "here");
    EXPECT_EQ(choose_cache_folder(), "/home/someone/.cache/isotact");
  }
  const Variable own("ISOTACT_CACHE", "/own");
  EXPECT_EQ(choose_cache_folder(), "/own");
  EXPECT_EQ(choose_cache_folder({.folder = "/set"}), "/set");
  const Variable off("ISOTACT_CACHE", "");
  EXPECT_FALSE(choose_cache_folder());
  EXPECT_FALSE(store_in_cache(key_of(1), asset_with("x")).stored);
}

}  // namespace
}  // namespace isotact

// Keeps folders small enough to read at a glance, and every file findable by its name alone.
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace isotact {
namespace {

namespace fs = std::filesystem;

struct Tree {
  const char* top;
  std::size_t most_files;  // in a folder, its CMakeLists.txt included
};

TEST(Folders, AreSmallEnoughToRead) {
  std::size_t folders = 0;
  for (const auto& [top, most_files] : {Tree{"src", 26}, Tree{"tools", 26}, Tree{"bench", 26},
                                        Tree{"adapters", 26}, Tree{"examples", 26}}) {
    std::map<std::string, std::size_t> counts;
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(ISOTACT_SOURCE_FOLDER) / top))
      if (entry.is_regular_file()) ++counts[entry.path().parent_path().string()];
    for (const auto& [folder, count] : counts)
      EXPECT_LE(count, most_files) << folder << " needs rooms of its own";
    folders += counts.size();
  }
  EXPECT_GT(folders, 30U);
}

// A header and its source are one: both in one module, the header perhaps in detail/. Shaders have
// names of their own.
TEST(Folders, NamesInTheLibraryAreFoundOnce) {
  const fs::path root = fs::path(ISOTACT_SOURCE_FOLDER) / "src" / "isotact";
  std::map<std::string, std::set<std::string>> modules;  // by base name
  std::map<std::string, std::set<std::string>> files;    // by file name
  std::map<std::string, std::set<std::string>> shaders;  // by base name
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const fs::path path = entry.path().lexically_relative(root);
    const std::string kind = path.extension().string();
    const bool is_shader = path.generic_string().find("/shaders/") != std::string::npos;
    if (is_shader) shaders[path.stem().string()].insert(path.generic_string());
    if (kind != ".h" && kind != ".cpp" && kind != ".inl") continue;
    modules[path.stem().string()].insert(path.has_parent_path() ? path.begin()->string() : "");
    files[path.filename().string()].insert(path.generic_string());
  }
  EXPECT_GT(files.size(), 300U);
  for (const auto& [stem, in] : modules)
    EXPECT_EQ(in.size(), 1U) << stem << " lies in " << *in.begin() << " and in " << *in.rbegin();
  EXPECT_GT(shaders.size(), 40U);
  for (const auto& [stem, paths] : shaders) {
    EXPECT_EQ(paths.size(), 1U) << *paths.begin() << " and " << *paths.rbegin();
    EXPECT_FALSE(modules.contains(stem)) << *paths.begin() << " has the name of a C++ file";
  }
  for (const auto& [name, paths] : files)
    EXPECT_EQ(paths.size(), 1U) << *paths.begin() << " and " << *paths.rbegin();
}

}  // namespace
}  // namespace isotact

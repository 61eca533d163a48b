// Keeps the modules free of include cycles and of each other's private rooms: reads every include
// line of src/isotact and holds it against ARCHITECTURE.md's table of who may see whom.
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace isotact {
namespace {

namespace fs = std::filesystem;

const std::map<std::string, std::set<std::string>> kMayInclude = {
    {"base", {}},
    {"geometry", {"base"}},
    {"field", {"base", "geometry"}},
    {"pointshell", {"base", "geometry", "field"}},
    {"queries", {"base", "geometry", "field", "pointshell"}},
    {"dynamics", {"base", "geometry", "field", "pointshell", "queries"}},
    {"gpu", {"base", "geometry", "field", "pointshell", "queries"}},
    {"scene", {"base", "geometry", "field", "pointshell", "queries", "dynamics", "gpu"}},
};

// Libraries whose types or cost must not reach a user's compiler through our headers.
const std::vector<std::string> kNotInHeaders = {
    "Eigen/", "tbb/",     "oneapi/",     "fmt/",     "nlohmann/", "xxhash.h", "CLI/",
    "glm/",   "btBullet", "LinearMath/", "openvdb/", "nanovdb/",  "epoxy/"};
const std::set<std::string> kConverters = {"convert_eigen.h", "convert_glm.h"};

struct IncludeLine {
  std::string target;
  bool quoted = false;
};

std::optional<IncludeLine> parse_include(const std::string& line) {
  std::size_t at = line.find_first_not_of(" \t");
  if (at == std::string::npos || line[at] != '#') return std::nullopt;
  at = line.find("include", at);
  if (at == std::string::npos) return std::nullopt;
  const std::size_t open = line.find_first_of("\"<", at);
  if (open == std::string::npos) return std::nullopt;
  const bool quoted = line[open] == '"';
  const std::size_t close = line.find(quoted ? '"' : '>', open + 1);
  return IncludeLine{line.substr(open + 1, close - open - 1), quoted};
}

// What is wrong with one include line of a file at `path` (relative to src/isotact), or nothing.
std::optional<std::string> find_fault(const fs::path& path, const IncludeLine& include) {
  const std::string module = path.begin()->string();
  if (kMayInclude.find(module) == kMayInclude.end())
    return "module '" + module + "' is not in the table";
  if (include.target.rfind("isotact/", 0) != 0) {
    if (include.quoted) return "quotes are for \"isotact/...\"; " + include.target + " is not";
    if (path.extension() != ".h" || kConverters.count(path.filename().string()) > 0)
      return std::nullopt;
    for (const std::string& library : kNotInHeaders)
      if (include.target.rfind(library, 0) == 0) return "header includes " + include.target;
    return std::nullopt;
  }
  const fs::path target = fs::path(include.target).lexically_relative("isotact");
  const std::string other = target.begin()->string();
  if (other == module) return std::nullopt;
  if (kMayInclude.at(module).count(other) == 0) return module + " may not include " + other;
  for (const fs::path& part : target)
    if (part == "detail") return "detail/ of " + other + " is private to it";
  return std::nullopt;
}

std::vector<fs::path> sources_under(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".h" || entry.path().extension() == ".cpp" ||
        entry.path().extension() == ".inl")
      files.push_back(entry.path());
  return files;
}

TEST(IncludeDirection, EveryIncludeGoesDownwards) {
  const fs::path root = fs::path(ISOTACT_SOURCE_FOLDER) / "src" / "isotact";
  int includes = 0;
  for (const fs::path& file : sources_under(root)) {
    std::ifstream stream(file);
    std::string line;
    for (int number = 1; std::getline(stream, line); ++number) {
      const auto include = parse_include(line);
      if (!include) continue;
      ++includes;
      const auto fault = find_fault(file.lexically_relative(root), *include);
      EXPECT_FALSE(fault) << file.string() << ":" << number << ": " << fault.value_or("");
    }
  }
  EXPECT_GT(includes, 50) << "the scan found hardly anything: is the folder right?";
}

TEST(IncludeDirection, HeadersAreGuarded) {
  const fs::path root = fs::path(ISOTACT_SOURCE_FOLDER) / "src" / "isotact";
  for (const fs::path& file : sources_under(root)) {
    if (file.extension() != ".h") continue;
    std::ifstream stream(file);
    const std::string text((std::istreambuf_iterator<char>(stream)), {});
    EXPECT_NE(text.find("#pragma once"), std::string::npos) << file;
  }
}

TEST(IncludeDirection, TheCheckItselfSeesFaults) {
  EXPECT_TRUE(find_fault("base/vec.h", {"isotact/geometry/mesh.h", true}));
  EXPECT_TRUE(find_fault("field/a.cpp", {"isotact/geometry/detail/x.h", true}));
  EXPECT_TRUE(find_fault("queries/a.cpp", {"isotact/gpu/context.h", true}));
  EXPECT_TRUE(find_fault("geometry/a.h", {"Eigen/Dense", false}));
  EXPECT_TRUE(find_fault("nowhere/a.h", {"vector", false}));
  EXPECT_FALSE(find_fault("geometry/a.cpp", {"Eigen/Dense", false}));
  EXPECT_FALSE(find_fault("geometry/a.cpp", {"isotact/geometry/detail/x.h", true}));
  EXPECT_FALSE(find_fault("scene/a.cpp", {"isotact/gpu/context.h", true}));
  EXPECT_EQ(parse_include("  # include <vector>  // why")->target, "vector");
  EXPECT_FALSE(parse_include("// include \"x\""));
}

}  // namespace
}  // namespace isotact

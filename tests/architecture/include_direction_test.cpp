// Keeps modules and rooms free of include cycles and of each other's private headers: reads every
// include line of src/isotact and compares it with ARCHITECTURE.md's table of who may see whom.
// A room is a folder below src/isotact; its detail/ belongs to it.
#include <algorithm>
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
    {"asset", {"base", "geometry", "field", "pointshell", "queries"}},
    {"dynamics", {"base", "geometry", "field", "pointshell", "queries", "asset"}},
    {"gpu", {"base", "geometry", "field", "pointshell", "queries"}},
    {"scene", {"base", "geometry", "field", "pointshell", "queries", "asset", "dynamics", "gpu"}},
};

// Libraries whose types or cost must not reach a user's compiler through our headers.
const std::vector<std::string> kNotInHeaders = {
    "Eigen/", "tbb/",     "oneapi/",     "fmt/",     "nlohmann/", "xxhash.h", "CLI/",
    "glm/",   "btBullet", "LinearMath/", "openvdb/", "nanovdb/",  "epoxy/"};
// Private headers that all modules may include: they are not installed, like all in detail/, and
// they are the same for every module.
const std::vector<std::string> kSharedDetail = {
    "base/detail/",
    "field/texels/detail/texel_kernel.h",  // kernels of queries read texels as field does
};
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

bool is_private(const fs::path& path) {
  return std::find(path.begin(), path.end(), "detail") != path.end();
}

// The folder of a file, relative to src/isotact, without detail/.
std::string room_of(const fs::path& path) {
  fs::path room;
  for (const fs::path& part : path.parent_path())
    if (part != "detail") room /= part;
  return room.generic_string();
}

// What is wrong with one include line of a file at `path` (relative to src/isotact), or nothing.
std::optional<std::string> find_fault(const fs::path& path, const IncludeLine& include) {
  const bool at_the_top = !path.has_parent_path();  // isotact.h sees every module but the GPU's
  const std::string module = at_the_top ? "" : path.begin()->string();
  if (include.target == "isotact/version.h" || include.target == "isotact/export.h")
    return std::nullopt;
  if (at_the_top && include.target == "isotact/config.h") return std::nullopt;  // made by CMake
  if (at_the_top && include.target.rfind("isotact/gpu/", 0) == 0)
    return "the GPU has headers of its own";
  if (!at_the_top && include.target == "isotact/isotact.h")
    return "isotact.h is for users of the library";
  if (!at_the_top && kMayInclude.find(module) == kMayInclude.end())
    return "module '" + module + "' is not in the table";
  const bool installed = path.extension() == ".h" && !is_private(path);
  if (include.target.rfind("isotact/", 0) != 0) {
    if (include.quoted) return "quotes are for \"isotact/...\"; " + include.target + " is not";
    if (path.extension() != ".h" || kConverters.count(path.filename().string()) > 0)
      return std::nullopt;
    for (const std::string& library : kNotInHeaders)
      if (include.target.rfind(library, 0) == 0) return "header includes " + include.target;
    if (installed && include.target.find("intrin") != std::string::npos)
      return "installed header includes " + include.target;
    return std::nullopt;
  }
  const fs::path target = fs::path(include.target).lexically_relative("isotact");
  const std::string other = target.begin()->string();
  if (installed && is_private(target))
    return "installed header includes " + target.generic_string() + ", which is not installed";
  if (other == module || at_the_top) return std::nullopt;
  if (kMayInclude.at(module).count(other) == 0) return module + " may not include " + other;
  if (!is_private(target)) return std::nullopt;
  for (const std::string& shared : kSharedDetail)
    if (target.generic_string().rfind(shared, 0) == 0) return std::nullopt;
  return "detail/ of " + other + " is private to it";
}

using Rooms =
    std::map<std::string, std::map<std::string, std::string>>;  // who sees whom, and where

// A cycle of rooms with an include line of each step, or nothing. Depth first: a room that is met
// while it is still open closes a cycle.
class CycleSearch {
 public:
  explicit CycleSearch(const Rooms& rooms) : rooms_(rooms) {
    for (const auto& [room, seen] : rooms_)
      if (cycle_.empty()) visit(room);
  }
  const std::string& cycle() const { return cycle_; }

 private:
  void visit(const std::string& room) {
    if (closed_.count(room) > 0 || !cycle_.empty()) return;
    const auto met = std::find(open_.begin(), open_.end(), room);
    if (met != open_.end()) {
      for (auto at = met; at != open_.end(); ++at) {
        const std::string& next = at + 1 == open_.end() ? room : *(at + 1);
        cycle_ += "\n  " + *at + " -> " + next + ": " + rooms_.at(*at).at(next);
      }
      return;
    }
    open_.push_back(room);
    if (const auto seen = rooms_.find(room); seen != rooms_.end())
      for (const auto& [next, line] : seen->second) visit(next);
    if (!cycle_.empty()) return;
    open_.pop_back();
    closed_.insert(room);
  }

  const Rooms& rooms_;
  std::vector<std::string> open_;
  std::set<std::string> closed_;
  std::string cycle_;
};

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

TEST(IncludeDirection, RoomsHaveNoCycles) {
  const fs::path root = fs::path(ISOTACT_SOURCE_FOLDER) / "src" / "isotact";
  Rooms rooms;
  for (const fs::path& file : sources_under(root)) {
    const fs::path path = file.lexically_relative(root);
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);) {
      const auto include = parse_include(line);
      if (!include || include->target.rfind("isotact/", 0) != 0) continue;
      const fs::path target = fs::path(include->target).lexically_relative("isotact");
      EXPECT_TRUE(fs::exists(root / target) || target == "config.h")
          << path << " includes " << target;
      // isotact.h sees all rooms, and all see export.h beside it: no room of its own.
      if (path.has_parent_path() && target.has_parent_path() && room_of(path) != room_of(target))
        rooms[room_of(path)].emplace(
            room_of(target), path.generic_string() + " includes " + target.generic_string());
    }
  }
  EXPECT_GT(rooms.size(), 20U);
  EXPECT_EQ(CycleSearch(rooms).cycle(), "");
}

// What a file includes, and what that includes.
void add_includes(const fs::path& root, const std::string& file, std::set<std::string>& found) {
  std::ifstream in(root / file);
  ASSERT_TRUE(in) << file;
  for (std::string line; std::getline(in, line);) {
    const auto include = parse_include(line);
    if (!include || !include->target.starts_with("isotact/")) continue;
    const std::string target = include->target.substr(8);
    if (found.insert(target).second) add_includes(root, target, found);
  }
}

// docs/certificates.md: the checker rests on nothing of the search.
TEST(IncludeDirection, TheCheckerOfCertificatesSeesNoSearch) {
  const fs::path root = fs::path(ISOTACT_SOURCE_FOLDER) / "src/isotact";
  std::set<std::string> found;
  for (const char* file :
       {"check_certificate.cpp", "certificate_proof.cpp", "certificate_path.cpp"})
    add_includes(root, std::string("queries/certificate/") + file, found);
  EXPECT_GT(found.size(), 8U);
  const std::set<std::string> of_queries{"queries/certificate/certificate.h",
                                         "queries/certificate/detail/certificate_proof.h",
                                         "queries/contact/contact.h", "queries/swept/motion.h"};
  for (const std::string& file : found)
    EXPECT_TRUE(file == "export.h" || file.starts_with("base/") || file == "geometry/mesh/mesh.h" ||
                of_queries.contains(file))
        << file;
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

// What an installed header declares must be seen outside of a shared library (isotact/export.h).
TEST(IncludeDirection, InstalledHeadersExportTheirNamespace) {
  const fs::path root = fs::path(ISOTACT_SOURCE_FOLDER) / "src" / "isotact";
  int exported = 0;
  for (const fs::path& file : sources_under(root)) {
    const bool installed = file.extension() == ".h" && !is_private(file.lexically_relative(root));
    std::ifstream stream(file);
    std::string line;
    for (int number = 1; std::getline(stream, line); ++number) {
      if (line.rfind("namespace ISOTACT_PUBLIC isotact {", 0) == 0) {
        ++exported;
        EXPECT_TRUE(installed) << file.string() << ":" << number << ": it is not installed";
      } else if (installed) {
        // Layouts that GLSL reads as well have plain structs only.
        EXPECT_TRUE(line.rfind("namespace isotact", 0) != 0 ||
                    line.rfind("namespace isotact::glsl {", 0) == 0)
            << file.string() << ":" << number << ": must be ISOTACT_PUBLIC";
      }
    }
  }
  EXPECT_GT(exported, 100);
}

TEST(IncludeDirection, TheCheckItselfSeesFaults) {
  EXPECT_TRUE(find_fault("base/vec.h", {"isotact/geometry/mesh/mesh.h", true}));
  EXPECT_TRUE(find_fault("field/a.cpp", {"isotact/geometry/detail/x.h", true}));
  EXPECT_TRUE(find_fault("queries/a.cpp", {"isotact/gpu/core/context.h", true}));
  EXPECT_TRUE(find_fault("queries/a.cpp", {"isotact/asset/cache.h", true}));
  EXPECT_TRUE(find_fault("geometry/a.h", {"Eigen/Dense", false}));
  EXPECT_TRUE(find_fault("nowhere/a.h", {"vector", false}));
  EXPECT_TRUE(find_fault("isotact.h", {"isotact/gpu/core/context.h", true}));
  EXPECT_TRUE(find_fault("queries/a.h", {"isotact/isotact.h", true}));
  EXPECT_TRUE(find_fault("queries/a.h", {"isotact/config.h", true}));
  EXPECT_FALSE(find_fault("isotact.h", {"isotact/config.h", true}));
  EXPECT_FALSE(find_fault("isotact.h", {"isotact/queries/collide.h", true}));
  EXPECT_FALSE(find_fault("field/a.cpp", {"isotact/version.h", true}));
  EXPECT_FALSE(find_fault("geometry/a.cpp", {"Eigen/Dense", false}));
  EXPECT_FALSE(find_fault("geometry/a.cpp", {"isotact/geometry/detail/x.h", true}));
  EXPECT_TRUE(find_fault("geometry/a.h", {"isotact/geometry/detail/x.h", true}));
  EXPECT_TRUE(find_fault("geometry/a.h", {"immintrin.h", false}));
  EXPECT_TRUE(find_fault("isotact.h", {"isotact/geometry/detail/x.h", true}));
  EXPECT_FALSE(find_fault("isotact.h", {"isotact/geometry/x.h", true}));
  EXPECT_FALSE(find_fault("geometry/a.cpp", {"isotact/base/detail/lanes.h", true}));
  EXPECT_FALSE(find_fault("base/detail/lanes.h", {"immintrin.h", false}));
  EXPECT_FALSE(find_fault("scene/a.cpp", {"isotact/gpu/core/context.h", true}));
  EXPECT_EQ(parse_include("  # include <vector>  // why")->target, "vector");
  EXPECT_FALSE(parse_include("// include \"x\""));
  EXPECT_EQ(room_of("field/build/detail/plan.h"), "field/build");
  EXPECT_EQ(room_of("base/vec.h"), "base");
  const Rooms round = {{"a", {{"b", "1"}}}, {"b", {{"c", "2"}, {"d", "3"}}}, {"d", {{"b", "4"}}}};
  EXPECT_EQ(CycleSearch(round).cycle(), "\n  b -> d: 3\n  d -> b: 4");
  const Rooms straight = {{"a", {{"b", "1"}, {"c", "2"}}}, {"b", {{"c", "3"}}}};
  EXPECT_EQ(CycleSearch(straight).cycle(), "");
}

}  // namespace
}  // namespace isotact

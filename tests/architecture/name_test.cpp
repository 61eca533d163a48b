// Two types of one name in one namespace, in two files that do not see each other, are one to the
// linker: whichever copy of an inline function it takes serves both. (It happened: a world of ours
// destroyed its pairs with the destructor of the Bullet plug-in's.)
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace isotact {
namespace {

namespace fs = std::filesystem;

using FilesByName = std::map<std::string, std::set<std::string>>;

// Types at the level of a named namespace, as our layout has them: a namespace opens and closes on
// lines of its own, and types begin at the start of a line.
void list_types(const fs::path& file, FilesByName& types) {
  static const std::regex opens(R"(^namespace ?(?:ISOTACT_PUBLIC )?([\w:]*) ?\{$)");
  static const std::regex type(
      R"(^(?:struct|class|enum class) (?:alignas\(\d+\) )?(\w+)(?: final)?(?: :[^;{]*)? \{.*)");
  std::ifstream in(file);
  std::vector<std::string> spaces;
  std::smatch match;
  for (std::string line; std::getline(in, line);) {
    if (std::regex_match(line, match, opens)) {
      spaces.push_back(match[1].str().empty() ? "nameless" : match[1].str());
    } else if (line.rfind("}  // namespace", 0) == 0 && !spaces.empty()) {
      spaces.pop_back();
    } else if (std::regex_match(line, match, type)) {
      std::string name;
      for (const std::string& space : spaces) name += space + "::";
      if (name.find("nameless") == std::string::npos) types[name + match[1].str()].insert(file);
    }
  }
}

TEST(Names, AreDefinedOnce) {
  FilesByName types;
  for (const char* folder : {"src", "adapters", "tools"})
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(ISOTACT_SOURCE_FOLDER) / folder))
      if (entry.path().extension() == ".h" || entry.path().extension() == ".cpp")
        list_types(entry.path(), types);
  EXPECT_GT(types.size(), 300U);
  for (const auto& [name, files] : types) {
    std::string list;
    for (const std::string& file : files) list += " " + file;
    EXPECT_EQ(files.size(), 1U) << name << " is defined in" << list;
  }
}

}  // namespace
}  // namespace isotact

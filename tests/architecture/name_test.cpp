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

// Calls visit(path from the project's folder) for each C++ file of a folder.
template <class Visit>
void visit_files(const char* folder, const Visit& visit) {
  const fs::path source = ISOTACT_SOURCE_FOLDER;
  for (const auto& entry : fs::recursive_directory_iterator(source / folder))
    if (entry.path().extension() == ".h" || entry.path().extension() == ".cpp")
      visit(entry.path().lexically_relative(source).generic_string());
}

std::ifstream open(const std::string& file) {
  return std::ifstream{fs::path(ISOTACT_SOURCE_FOLDER) / file};
}

// Types at the level of a named namespace, as our layout has them: a namespace opens and closes on
// lines of its own, and types begin at the start of a line.
void list_types(const std::string& file, FilesByName& types) {
  static const std::regex opens(R"(^namespace ?(?:ISOTACT_PUBLIC )?([\w:]*) ?\{$)");
  static const std::regex type(
      R"(^(?:struct|class|enum class) (?:alignas\(\d+\) )?(\w+)(?: final)?(?: :[^;{]*)? \{.*)");
  std::ifstream in = open(file);
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
    visit_files(folder, [&](const std::string& file) { list_types(file, types); });
  EXPECT_GT(types.size(), 300U);
  for (const auto& [name, files] : types) {
    std::string list;
    for (const std::string& file : files) list += " " + file;
    EXPECT_EQ(files.size(), 1U) << name << " is defined in" << list;
  }
}

// The vocabulary of CONTRIBUTING.md: what goes in is XxxSettings or XxxRequest, what comes out
// XxxResult, and memory between calls XxxScratch. Command lines have options.
bool is_banned(const std::string& type, const std::string& file) {
  for (const char* ending : {"Answer", "Summary", "Approach", "Memory"})
    if (type.ends_with(ending)) return true;
  return file.starts_with("src/") && type.ends_with("Options");
}

TEST(Names, EndInTheVocabulary) {
  EXPECT_TRUE(is_banned("PoseAnswer", "tools/a.h"));
  EXPECT_TRUE(is_banned("Memory", "src/a.h"));
  EXPECT_TRUE(is_banned("BuildOptions", "src/a.h"));
  EXPECT_FALSE(is_banned("BuildOptions", "tools/a.h"));
  EXPECT_FALSE(is_banned("MemoryLimit", "src/a.h"));

  static const std::regex type(
      R"(^ *(?:friend )?(?:struct|class|enum class|using) (?:alignas\(\d+\) )?(\w+)\b.*)");
  std::size_t count = 0;
  for (const char* folder : {"src", "adapters", "tools", "bench", "demos", "examples", "tests"})
    visit_files(folder, [&](const std::string& file) {
      std::ifstream in = open(file);
      std::smatch match;
      for (std::string line; std::getline(in, line);) {
        if (!std::regex_match(line, match, type)) continue;
        ++count;
        EXPECT_FALSE(is_banned(match[1], file)) << match[1] << " in " << file;
      }
    });
  EXPECT_GT(count, 2000U);
}

// Calls visit(name) for each word of a text that begins with find_ and is followed by a bracket.
template <class Visit>
void visit_searches(const std::string& line, const Visit& visit) {
  static const std::regex search(R"(\bfind_\w+(?=\s*[(<]))");
  const std::string code = line.substr(0, line.find("//"));
  for (std::sregex_iterator word(code.begin(), code.end(), search), end; word != end; ++word)
    visit(word->str());
}

// searches.txt lists them: whoever adds one decides that it is a search.
TEST(Names, FindIsForSearches) {
  std::set<std::string> seen;
  visit_searches("int n = find_depth(x) + find_room<3>(y);  // find_slope(",
                 [&](const auto& name) { seen.insert(name); });
  EXPECT_EQ(seen, (std::set<std::string>{"find_depth", "find_room"}));

  std::set<std::string> known{"find_if",           "find_if_not",      "find_first_of",
                              "find_first_not_of", "find_last_not_of", "find_last_of"};
  std::ifstream list = open("tests/architecture/searches.txt");
  for (std::string line; std::getline(list, line);)
    if (!line.starts_with("#")) known.insert(line);
  EXPECT_GT(known.size(), 200U);
  const fs::path source = ISOTACT_SOURCE_FOLDER;
  const std::set<std::string> kinds{".h", ".cpp", ".inl", ".comp", ".glsl", ".frag", ".vert"};
  for (const char* folder : {"src", "tools", "adapters"})
    for (const auto& entry : fs::recursive_directory_iterator(source / folder)) {
      if (!kinds.contains(entry.path().extension().string())) continue;
      const std::string file = entry.path().lexically_relative(source).generic_string();
      std::ifstream in = open(file);
      for (std::string line; std::getline(in, line);)
        visit_searches(line, [&](const std::string& name) {
          EXPECT_TRUE(known.contains(name))
              << name << " in " << file
              << ": a search? Then list it in searches.txt. Or else it is "
              << "compute_..., choose_... or a bare noun";
        });
    }
}

}  // namespace
}  // namespace isotact

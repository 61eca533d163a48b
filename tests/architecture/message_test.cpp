// Messages of the library name settings of the library. Options belong to the program that has
// them: a caller from C++ or Python has none, and not every verb of the tool has all.
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>

#include <gtest/gtest.h>

namespace isotact {
namespace {

namespace fs = std::filesystem;

// The first option that a line names in a string literal, or nothing.
std::string find_option(const std::string& line) {
  static const std::regex literal(R"re("((?:[^"\\]|\\.)*)")re");
  static const std::regex option(R"((?:^|[^\w-])(--[a-z][\w-]*))");
  const std::string code = line.substr(0, line.find("// "));
  for (std::sregex_iterator part(code.begin(), code.end(), literal), end; part != end; ++part) {
    const std::string text = (*part)[1].str();
    std::smatch match;
    if (std::regex_search(text, match, option)) return match[1].str();
  }
  return {};
}

TEST(Messages, OptionsInLiteralsAreSeen) {
  EXPECT_EQ(find_option(R"x(  throw Error("too thin; use --keep-thin refine");)x"), "--keep-thin");
  EXPECT_EQ(find_option(R"x(  warn("say so (--unit)");)x"), "--unit");
  EXPECT_EQ(find_option(R"x(  for (int i = n; i-- > 0;) say("a -- b");)x"), "");
  EXPECT_EQ(find_option(R"x(  run();  // as "isotact build --unit mm" does)x"), "");
}

TEST(Messages, LibraryNamesNoOptionsOfPrograms) {
  std::size_t lines = 0;
  for (const char* folder : {"src", "adapters"})
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(ISOTACT_SOURCE_FOLDER) / folder)) {
      if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp") continue;
      std::ifstream in(entry.path());
      int number = 0;
      for (std::string line; std::getline(in, line); ++lines) {
        ++number;
        EXPECT_EQ(find_option(line), "") << entry.path().string() << ":" << number;
      }
    }
  EXPECT_GT(lines, 40000U);
}

}  // namespace
}  // namespace isotact

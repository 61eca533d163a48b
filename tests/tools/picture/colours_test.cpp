// One table of colours: pictures, viewer, pages of pairs and docs/colours.md have the same.
#include "picture/colours.h"

#include <fstream>
#include <regex>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace isotact::tool {
namespace {

std::string text_of(const std::string& file) {
  std::ifstream in(std::string(ISOTACT_SOURCE_FOLDER "/") + file);
  std::ostringstream text;
  text << in.rdbuf();
  EXPECT_GT(text.str().size(), 100U) << file;
  return text.str();
}

std::string hex_of(const Rgb8& c) {
  char text[8];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", c[0], c[1], c[2]);
  return text;
}

TEST(Colours, TheViewerHasTheSame) {
  const std::string code = text_of("viewer/src/scene/colours.ts");
  const std::string table = code.substr(0, code.find("};"));
  std::size_t lines = 0;
  const std::regex entry(R"((\w+): '(#[0-9a-f]{6})')");
  for (std::sregex_iterator at(table.begin(), table.end(), entry), end; at != end; ++at) ++lines;
  EXPECT_EQ(lines, std::size(kColours));
  for (const NamedColour& known : kColours)
    EXPECT_NE(table.find(std::string("  ") + known.name + ": '" + hex_of(known.colour) + "',"),
              std::string::npos)
        << known.name;
}

TEST(Colours, ThePageOfDocumentationHasTheSame) {
  const std::string page = text_of("docs/colours.md");
  for (const NamedColour& known : kColours)
    EXPECT_NE(page.find(std::string("| `") + known.name + "` | `" + hex_of(known.colour) + "` | "),
              std::string::npos)
        << known.name;
}

TEST(Colours, PagesOfPairsHaveTheSameBodies) {
  const std::string code = text_of("src/isotact/scene/pack/pair_pack.cpp");
  const auto list = [](const Rgb8& c) {
    return std::to_string(c[0]) + ", " + std::to_string(c[1]) + ", " + std::to_string(c[2]);
  };
  EXPECT_NE(code.find("kColourOfA{" + list(kBodyA) + "}"), std::string::npos);
  EXPECT_NE(code.find("kColourOfB{" + list(kBodyB) + "}"), std::string::npos);
}

// Nothing else in the tool or in the viewer mixes its own red for contact.
TEST(Colours, TheStyleSheetMarksContactInRed) {
  EXPECT_NE(text_of("viewer/src/style.css").find("--touch: " + hex_of(kContact) + ";"),
            std::string::npos);
}

}  // namespace
}  // namespace isotact::tool

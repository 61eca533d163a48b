#include "isotact/base/error.h"

#include <gtest/gtest.h>

#include "isotact/base/machine.h"

namespace isotact {
namespace {

TEST(Error, MessageBeginsWithThePlace) {
  EXPECT_STREQ(Error({.file = "a.obj", .line = 12}, "bad").what(), "a.obj:12: bad");
  EXPECT_STREQ(Error({.file = "a.stl", .byte = 84}, "bad").what(), "a.stl: byte 84: bad");
  EXPECT_STREQ(Error({.file = "a.stl"}, "bad").what(), "a.stl: bad");
}

TEST(Error, FileNamesCannotCommandTheTerminal) {
  EXPECT_STREQ(Error({.file = "a\x1b[31m\xc3\xa9.obj"}, "bad").what(),
               "a\\x1b[31m\xc3\xa9.obj: bad");
}

TEST(Error, PrintableTamesTerminalEscapesAndLength) {
  EXPECT_EQ(printable("a\x1b[2Jb\n"), "a\\x1b[2Jb\\x0a");
  EXPECT_EQ(printable(std::string(1000, 'x')), std::string(40, 'x') + "...");
}

TEST(Error, HintsComeBackFromMessages) {
  for (int i = 0; i <= static_cast<int>(Hint::kBounds); ++i) {
    const auto hint = static_cast<Hint>(i);
    const std::string message = with_hint("the cause; of it", hint);
    EXPECT_EQ(message == "the cause; of it", hint == Hint::kNone);
    EXPECT_EQ(split_hint(message).text, "the cause; of it");
    EXPECT_EQ(split_hint(message).hint, hint);
    EXPECT_EQ(split_hint("A: " + message).hint, hint);
    EXPECT_EQ(Error("the cause", hint).hint(), hint);
    EXPECT_EQ(Error({.file = "a.obj"}, message).hint(), hint);
  }
  // A text that only mentions a setting has no hint.
  const std::string advice = with_hint("", Hint::kInnerParts).substr(2);
  for (const std::string& text : {advice, "first " + advice, "a; " + advice + "."}) {
    EXPECT_EQ(split_hint(text).hint, Hint::kNone) << text;
    EXPECT_EQ(split_hint(text).text, text);
  }
}

TEST(Cpu, ChosenLevelNeverExceedsTheProcessors) {
  EXPECT_LE(static_cast<int>(simd_level()), static_cast<int>(simd_level_of_cpu()));
  EXPECT_EQ(name(SimdLevel::kBaseline), "baseline");
}

}  // namespace
}  // namespace isotact

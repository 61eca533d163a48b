#include "isotact/geometry/io/detail/json.h"

#include <gtest/gtest.h>

#include "isotact/base/error.h"

#include "geometry/io/gltf_asset.h"

namespace isotact::detail {
namespace {

TEST(Json, FindsValuesByKeyAndOrder) {
  const JsonDocument json(R"( {"a":[1,{"b":true},"x"],"c":null,"ab":-2.5e1} )", {"f"});
  EXPECT_EQ(json.root().get("c").kind(), JsonKind::kNull);
  EXPECT_EQ(json.root().get("ab").as_double(), -25);
  EXPECT_FALSE(json.root().find("b"));
  std::vector<std::string> paths;
  for (const JsonValue item : json.root().get("a").items()) paths.push_back(item.path());
  EXPECT_EQ(paths, (std::vector<std::string>{"/a/0", "/a/1", "/a/2"}));
  const JsonValue deep = (*++json.root().get("a").items().begin()).get("b");
  EXPECT_TRUE(deep.as_bool());
  EXPECT_EQ(deep.path(), "/a/1/b");
}

TEST(Json, ResolvesEscapes) {
  const JsonDocument json(R"(["plain","\"\\\/\b\f\n\r\t","\u0041\u00e9\u20ac\ud83d\ude00!"])",
                          {"f"});
  std::vector<std::string> strings;
  std::string storage;
  for (const JsonValue item : json.root().items()) strings.emplace_back(item.as_string(storage));
  EXPECT_EQ(strings, (std::vector<std::string>{"plain", "\"\\/\b\f\n\r\t",
                                               "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80!"}));
}

TEST(Json, WholeNumbersMayBeWrittenAsFractions) {
  const JsonDocument json("[7,7.0,70e-1,0.7e1,-0]", {"f"});
  std::vector<std::uint64_t> numbers;
  for (const JsonValue item : json.root().items()) numbers.push_back(item.as_unsigned(0, 7));
  EXPECT_EQ(numbers, (std::vector<std::uint64_t>{7, 7, 7, 7, 0}));
}

TEST(Json, RefusesNumbersOutOfRange) {
  for (const std::string text : {"-1", "0.5", "8", "18446744073709551616", "1e300", "1e999"}) {
    const JsonDocument json(text, {"f"});
    EXPECT_NE(error_of([&] { json.root().as_unsigned(0, 7); }), "") << text;
  }
  const JsonDocument json("[1e999]", {"f"});
  EXPECT_EQ(error_of([&] { (*json.root().items().begin()).as_double(); }),
            "f: /0: 1e999 is out of the range of numbers");
}

TEST(Json, SaysKindAndPathOfWhatItDidNotExpect) {
  const JsonDocument json(R"({"a":[{"b":"text"}],"k":1,"k":2})", {"f"});
  const JsonValue b = (*json.root().get("a").items().begin()).get("b");
  EXPECT_EQ(error_of([&] { b.as_double(); }), "f: /a/0/b: expected a number, found a string");
  EXPECT_EQ(error_of([&] { b.items(); }), "f: /a/0/b: expected an array, found a string");
  EXPECT_EQ(error_of([&] { json.root().get("z"); }), "f: has no z");
  EXPECT_EQ(error_of([&] { json.root().find("k"); }), "f: has the key k twice");
}

TEST(Json, SaysWhereTheTextIsNoJson) {
  struct Case {
    std::string text;
    std::string message;
  };
  const std::string depth(JsonDocument::kMaxDepth + 1, '[');
  const std::vector<Case> cases = {
      {"", "f:1: column 1: not JSON: expected a value, found the end of the text"},
      {"{\n \"a\" 1}", "f:2: column 6: not JSON: expected ':' after a key, found '1'"},
      {"[1,]", "f:1: column 4: not JSON: expected a value, found ']'"},
      {"[1 2]", "f:1: column 4: not JSON: expected ',' or ']', found '2'"},
      {"{\"a\":1,}", "column 8: not JSON: expected a key in quotes, found '}'"},
      {"[,1]", "expected a value, found ','"},
      {"{]", "expected a key in quotes, found ']'"},
      {"[}", "expected a value, found '}'"},
      {"\"a", "expected '\"' at the string's end, found the end"},
      {"\"a\nb\"", "expected '\"' at the string's end, found '\\x0a'"},
      {"\"\\x\"", "after a backslash, found 'x'"},
      {"\"\\u12g4\"", "four hexadecimal digits after \\u, found 'g'"},
      {"\"\\", "after a backslash, found the end"},
      {"01", "expected the end of the text, found '1'"},
      {"-", "expected a value, found '-'"},
      {"1.", "expected a digit, found the end"},
      {"1e+", "expected a digit, found the end"},
      {"+1", "expected a value, found '+'"},
      {"nul", "expected a value, found 'n'"},
      {"{} {}", "expected the end of the text, found '{'"},
      {std::string("1\0", 2), "expected the end of the text, found '\\x00'"},
      {depth, "more than 128 deep"},
  };
  for (const Case& c : cases)
    EXPECT_NE(error_of([&] { JsonDocument(c.text, {"f"}); }).find(c.message), std::string::npos)
        << c.text << " gave " << error_of([&] { JsonDocument(c.text, {"f"}); });
  EXPECT_EQ(
      error_of([] { JsonDocument("[x", {.file = "f", .first_byte = 20, .has_lines = false}); }),
      "f: byte 21: not JSON: expected a value, found 'x'");
}

TEST(Json, MemoryIsASmallMultipleOfAHostileText) {
  constexpr std::size_t kSize = 1U << 20U;
  for (const std::string_view unit :
       {"0,", "[],", "{},", "\"\",", "\",,,,,,,,\",", "\"[[\\\"::\","}) {
    std::string text = "[";
    while (text.size() < kSize) text += unit;
    text.back() = ']';
    const JsonDocument json(text, {"f"});
    EXPECT_LE(json.memory_bytes(), 4 * text.size() + 1024) << unit;
  }
}

}  // namespace
}  // namespace isotact::detail

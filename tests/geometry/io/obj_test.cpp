#include <string>

#include <gtest/gtest.h>

#include "isotact/geometry/io/detail/readers.h"

#include "geometry/io/reading.h"

namespace isotact {
namespace {

using test::error_of;
using test::joined;
using test::read;
using test::tetrahedron;

const std::string kFour = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n";

std::string utf16(const std::string& text, bool is_big_endian) {
  std::string units = is_big_endian ? "\xFE\xFF" : "\xFF\xFE";
  for (const char c : text) {
    if (is_big_endian) units += '\0';
    units += c;
    if (!is_big_endian) units += '\0';
  }
  return units;
}

TEST(Obj, ReadsAbsoluteAndNegativeNumbers) {
  EXPECT_EQ(read(kFour + "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n", "a.obj").mesh, tetrahedron());
  EXPECT_EQ(read(kFour + "f -4 -2 -3\nf -4 -3 -1\nf -3 -2 -1\nf -2 -4 -1\n", "a.obj").mesh,
            tetrahedron());
}

TEST(Obj, NegativeNumbersCountBackFromTheFaceAndNotFromTheEnd) {
  const auto mesh = read("v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\nv 9 9 9\n", "a.obj").mesh;
  EXPECT_EQ(mesh.triangles, (std::vector<Triangle>{{0, 1, 2}}));
}

TEST(Obj, PassesOverEverythingButPositionsAndFaces) {
  const LoadedMesh loaded =
      read("# tetrahedron\nmtllib a b.mtl\no thing\ng one two\nusemtl C:\\\n" + kFour +
               "vt 0 0\nvn 0 0 1\ns 1\nf 1/1/1 3/1/1 2/1/1\nf 1//1 2//1 4//1\nl 1 2\np 1 2 3\n"
               "f 2/1 3/1 4/1 # the third\nf 3/ 1// 4/1/\n",
           "a.obj");
  EXPECT_EQ(loaded.mesh, tetrahedron());
  EXPECT_TRUE(loaded.warnings.empty()) << joined(loaded.warnings);
}

TEST(Obj, TakesPositionsWithWeightsAndColours) {
  const auto mesh = read("v 1 2 3 1\nv 4 5 6 0.1 0.2 0.3\nv 7 8 9 1 0.1 0.2 0.3\n", "a.obj").mesh;
  EXPECT_EQ(mesh.positions, (std::vector<Vec3f>{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}));
}

TEST(Obj, JoinsLinesAtBackslashesButNotInComments) {
  const auto mesh =
      read("v 0 \\\n 0 0\nv 1 0 0\\\n\nv 0 1 0\nvn 0 \\\n0 1\n# all: C:\\\nf 1 \\\r\n2 \\\r3\n",
           "a.obj")
          .mesh;
  EXPECT_EQ(mesh.positions.size(), 3U);
  EXPECT_EQ(mesh.triangles, (std::vector<Triangle>{{0, 1, 2}}));
}

TEST(Obj, ReadsMixedLineEndsAndEncodings) {
  const std::string text =
      "v 0 0 0\rv 1 0 0\r\nv 0 1 0\n\r\n\rv 0 0 1\nf 1 3 2\rf 1 2 4\r\nf 2 3 4\nf 3 1 4";
  EXPECT_EQ(read(text, "a.obj").mesh, tetrahedron());
  EXPECT_EQ(read("\xEF\xBB\xBF" + text, "a.obj").mesh, tetrahedron());
  EXPECT_EQ(read(utf16(text, false), "a.obj").mesh, tetrahedron());
  EXPECT_EQ(read(utf16(text, true), "a.obj").mesh, tetrahedron());
}

TEST(Obj, CountsLinesWhateverEndsThem) {
  EXPECT_EQ(error_of("v 0 0 0\rv 1 0 0\r\n\nv x 0 0\n", "a.obj"),
            "a.obj:4: expected a coordinate, found 'x'");
}

TEST(Obj, CutsPolygonsAndKeepsTheirOrder) {
  const auto mesh =
      read("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nf 1 2 5\nf 1 2 3 4\nf 3 4 5\n", "a.obj");
  ASSERT_EQ(mesh.mesh.triangles.size(), 4U);
  EXPECT_EQ(mesh.mesh.triangles.front(), (Triangle{0, 1, 4}));
  EXPECT_EQ(mesh.mesh.triangles.back(), (Triangle{2, 3, 4}));
}

TEST(Obj, FacesMayStandBeforeTheirVertices) {
  EXPECT_EQ(read("f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n" + kFour, "a.obj").mesh, tetrahedron());
  EXPECT_EQ(error_of("f 1 2 5\n" + kFour, "a.obj"),
            "a.obj:1: a face uses vertex 5, but the file has 4 vertices");
}

TEST(Obj, WarnsOfWhatItPassesOver) {
  const LoadedMesh loaded = read(kFour + "f 1 2\nf\nhello\nf 1 2 3\n", "a.obj");
  EXPECT_EQ(loaded.mesh.triangles.size(), 1U);
  EXPECT_EQ(joined(loaded.warnings),
            "passed over lines with unknown statements: 1 (the first: line 7)\n"
            "passed over faces with fewer than three corners: 2 (the first: line 5)\n");
  EXPECT_EQ(joined(read("# nothing\n", "a.obj").warnings), "the file has no triangles\n");
}

TEST(Obj, VerticesAloneAreEnoughToKnowIt) {
  EXPECT_EQ(read("hello\nv 1 2 3\n", "a.obj").mesh.positions.size(), 1U);
  EXPECT_EQ(error_of("v", "a.obj"), "a.obj:1: expected a coordinate, found the end of the file");
  EXPECT_EQ(error_of("v\n", "a.obj"), "a.obj:1: expected a coordinate, found the end of the line");
}

TEST(Obj, TakesNotFiniteNumbersWithAWarning) {
  const LoadedMesh loaded = read("v 0 0 0\nv nan -inf 0\nv 0 1 -1.#IND\nf 1 2 3\n", "a.obj");
  EXPECT_EQ(loaded.mesh.triangles.size(), 1U);
  EXPECT_EQ(joined(loaded.warnings),
            "vertices with coordinates that are not finite: 2 (the first: vertex 2)\n");
}

TEST(Obj, ReadsLinesOfMegabytes) {
  std::string text(3'000'000, '#');
  text += "\nv 0 0";
  text.append(2'000'000, ' ');
  text += "0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf";
  for (int i = 0; i < 300'000; ++i) text += " 1 2 3 4";
  const auto mesh = read(text, "a.obj").mesh;
  EXPECT_EQ(mesh.positions, tetrahedron().positions);
  EXPECT_EQ(mesh.triangles.size(), 1'200'000U - 2);
  EXPECT_FALSE(find_flaw(mesh));
}

// Wherever in the window a word begins, it is taken or refused by its length alone.
TEST(Obj, LongWordsDoNotDependOnTheWindow) {
  constexpr std::size_t kWindow = 2 * detail::Window::kMaxToken;
  for (const std::size_t length : {1022U, 1023U, 1024U, 1025U, 1100U}) {
    const std::string number = "1." + std::string(length - 2, '0');
    for (std::size_t size = kWindow - 1100; size < kWindow + 10; ++size) {
      const std::string text = "#" + std::string(size, 'x') + "\nv 0 0 " + number + "\n#" +
                               std::string(kWindow, 'y') + "\n";
      const auto read_narrow = [&] {
        return detail::read_mesh_as(MeshFormat::kObj, std::as_bytes(std::span(text)), "a.obj", {},
                                    kWindow)
            .mesh.positions;
      };
      if (length < detail::Window::kMaxToken)
        ASSERT_EQ(read_narrow(), (std::vector<Vec3f>{{0, 0, 1}})) << length << " " << size;
      else
        ASSERT_THROW(read_narrow(), Error) << length << " " << size;
    }
  }
}

TEST(Obj, RefusesBadNumbersAndCorners) {
  const auto after_four = [](const std::string& line) { return error_of(kFour + line, "a.obj"); };
  EXPECT_EQ(after_four("f 0 1 2\n"), "a.obj:5: a face uses vertex 0; vertices are numbered from 1");
  EXPECT_EQ(after_four("f 1 2 -5\n"),
            "a.obj:5: a face uses vertex -5, but only 4 vertices stand before it");
  EXPECT_EQ(
      after_four("f 1 2 99999999999999999999\n"),
      "a.obj:5: a face uses vertex 9223372036854775807; more than 4294967295 cannot be named");
  EXPECT_EQ(after_four("f 1 2 4294967297\n"),
            "a.obj:5: a face uses vertex 4294967297; more than 4294967295 cannot be named");
  EXPECT_EQ(after_four("f 1 2 3x\n"),
            "a.obj:5: expected a corner such as 1, 1/2, 1//3 or 1/2/3, found '3x'");
  EXPECT_EQ(after_four("f 1 2 x\n"), "a.obj:5: expected the number of a vertex, found 'x'");
  EXPECT_EQ(after_four("v 1 2\n"), "a.obj:5: expected a coordinate, found the end of the line");
  EXPECT_EQ(after_four("v 1 2"), "a.obj:5: expected a coordinate, found the end of the file");
  EXPECT_EQ(after_four("v 1 2 3e\n"), "a.obj:5: expected a coordinate, found '3e'");
  std::string long_number = "v 1 2 0.";
  long_number.append(2000, '1');
  EXPECT_EQ(after_four(long_number),
            "a.obj:5: expected a coordinate of less than 1024 characters, found more");
  EXPECT_EQ(error_of("hello\nworld\n", "a.obj"),
            "a.obj:1: expected an OBJ statement, found 'hello'");
}

}  // namespace
}  // namespace isotact

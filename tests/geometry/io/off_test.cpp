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

const std::string kBody = "0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 2 0 3\n";

TEST(Off, ReadsTheHeaderInItsVariants) {
  for (const std::string head : {"OFF\n4 4 6\n", "OFF 4 4 6\n", "OFF\n4 4\n", "COFF\n4 4 6\n",
                                 "NOFF\n4 4 6\n", "STCNOFF\n4 4 6\n", "NCOFF\n4 4 6\n",
                                 "# a\n\nOFF # b\n# c\n\n4 4 6 # d\n\n# e\n", "OFF\r\n4 4 6\r"}) {
    const LoadedMesh loaded = read(head + kBody, "a.off");
    EXPECT_EQ(loaded.mesh, tetrahedron()) << head;
    EXPECT_EQ(loaded.format, MeshFormat::kOff);
    EXPECT_TRUE(loaded.warnings.empty()) << head << joined(loaded.warnings);
  }
}

TEST(Off, ForgivesAMissingKeywordWhereTheNameSaysOff) {
  const LoadedMesh loaded = read("4 4 6\n" + kBody, "a.off");
  EXPECT_EQ(loaded.mesh, tetrahedron());
  EXPECT_EQ(joined(loaded.warnings), "the keyword OFF is missing\n");
  EXPECT_NE(error_of("4 4 6\n" + kBody, "a.txt").find("is not a mesh"), std::string::npos);
}

TEST(Off, AMissingKeywordMayBeNoticedAnywhereInTheWindow) {
  constexpr std::size_t kWindow = 2 * detail::Window::kMaxToken;
  const std::string tail = "#" + std::string(kWindow, 'y') + "\n";
  for (std::size_t size = kWindow - 1100; size < kWindow + 10; ++size) {
    const std::string text = "#" + std::string(size, 'x') + "\n 4 4 6\n" + tail + kBody;
    const LoadedMesh loaded = detail::read_mesh_as(MeshFormat::kOff, std::as_bytes(std::span(text)),
                                                   "a.off", {}, kWindow);
    ASSERT_EQ(loaded.mesh, tetrahedron()) << size;
  }
}

TEST(Off, PassesOverColoursAndNormals) {
  const auto mesh = read(
      "OFF\n4 2 0\n0 0 0 255 0 0\n1 0 0 0 0 1 0.5\n1 1 0 # c\n0 1 0\n4 0 1 2 3 0.1 0.2 0.3 1\n"
      "3 0 1 2 17\n",
      "a.off");
  EXPECT_EQ(mesh.mesh.positions.size(), 4U);
  EXPECT_EQ(mesh.mesh.triangles.size(), 3U);
}

TEST(Off, WarnsOfSmallFacesAndTails) {
  const LoadedMesh loaded =
      read("OFF\n3 3 0\n0 0 0\n1 0 0\n0 1 0\n2 0 1\n0\n3 0 1 2\nmore\n", "a.off");
  EXPECT_EQ(loaded.mesh.triangles.size(), 1U);
  EXPECT_EQ(joined(loaded.warnings),
            "what follows the last face was passed over (from line 9)\n"
            "passed over faces with fewer than three corners: 2 (the first: line 6)\n");
}

TEST(Off, RefusesWhatItCannotRead) {
  EXPECT_EQ(error_of("OFF BINARY\n\1\2", "a.off"),
            "a.off:1: binary OFF cannot be read; only OFF in text");
  EXPECT_EQ(error_of("4OFF\n1 0 0\n0 0 0 0\n", "a.off"),
            "a.off:1: '4OFF' has points that are not three-dimensional; only OFF with three "
            "coordinates can be read");
  EXPECT_NE(error_of("nOFF\n5\n", "a.off").find("not three-dimensional"), std::string::npos);
  EXPECT_EQ(error_of("OFFICE\n", "a.off"), "a.off:1: expected OFF, found 'OFFICE'");
}

TEST(Off, RefusesCountsAndIndicesThatLie) {
  EXPECT_EQ(error_of("OFF\n353535235358 6 0\n0 0 0\n", "a.off"),
            "a.off:2: the header promises 353535235358 vertices; at most 4294967295 can be read");
  EXPECT_EQ(error_of("OFF\n4000000000 6 0\n0 0 0\n", "a.off"),
            "a.off:4: the file ends after 1 of 4000000000 vertices");
  EXPECT_EQ(error_of("OFF\n-1 6 0\n", "a.off"), "a.off:2: the number of vertices is -1");
  EXPECT_EQ(error_of("OFF\n1 2 0\n0 0 0\n", "a.off"), "a.off:4: the file ends after 0 of 2 faces");
  EXPECT_EQ(error_of("OFF\n1 1 0\n0 0 0\n3 0 0 1\n", "a.off"),
            "a.off:4: a face uses vertex 1; the 1 vertices are numbered from 0");
  EXPECT_EQ(error_of("OFF\n1 1 0\n0 0 0\n3 0 0 -1\n", "a.off"),
            "a.off:4: a face uses vertex -1; the 1 vertices are numbered from 0");
  EXPECT_EQ(error_of("OFF\n1 1 0\n0 0 0\n3 0 0\n0\n", "a.off"),
            "a.off:4: a face of 3 corners ends after 2");
  EXPECT_EQ(error_of("OFF\n1 1 0\n0 0\n", "a.off"),
            "a.off:3: expected a coordinate, found the end of the line");
  EXPECT_EQ(error_of("OFF\n", "a.off"),
            "a.off:2: expected the number of vertices, found the end of the file");
}

}  // namespace
}  // namespace isotact

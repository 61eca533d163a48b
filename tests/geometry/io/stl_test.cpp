#include <string>

#include <gtest/gtest.h>

#include "isotact/geometry/io/mesh_io.h"

#include "geometry/io/reading.h"

namespace isotact {
namespace {

using test::error_of;
using test::joined;
using test::read;
using test::tetrahedron;

// What an STL of the mesh holds: three vertices a triangle.
TriangleMesh unwelded(const TriangleMesh& mesh) {
  TriangleMesh soup;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const auto first = static_cast<std::uint32_t>(3 * i);
    for (const Vec3f& corner : corners(mesh, i)) soup.positions.push_back(corner);
    soup.triangles.push_back({first, first + 1, first + 2});
  }
  return soup;
}

std::string with_header(std::string bytes, const std::string& header) {
  bytes.replace(0, 80, header + std::string(80 - header.size(), ' '));
  return bytes;
}

std::string with_count(std::string bytes, std::uint32_t count) {
  for (unsigned i = 0; i < 4; ++i) bytes[80 + i] = static_cast<char>((count >> (8 * i)) & 0xFFU);
  return bytes;
}

const std::string kFacet =
    "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n";

TEST(Stl, KeepsThreeVerticesATriangle) {
  for (const std::string& content : {encode_stl(tetrahedron()), encode_stl_text(tetrahedron())}) {
    const LoadedMesh loaded = read(content, "a.stl");
    EXPECT_EQ(loaded.mesh, unwelded(tetrahedron()));
    EXPECT_EQ(loaded.format, MeshFormat::kStl);
    EXPECT_TRUE(loaded.warnings.empty()) << joined(loaded.warnings);
  }
}

TEST(Stl, IsBinaryWhateverItsHeaderSays) {
  const std::string bytes = encode_stl(tetrahedron());
  for (const std::string header : {"solid", "solid part", "SOLID facet normal", "\xFF\xFE", "OFF",
                                   "v 1 2 3", "\x89PNG", "{\"asset\"", ""})
    EXPECT_EQ(read(with_header(bytes, header), "a.stl").mesh, unwelded(tetrahedron())) << header;
}

TEST(Stl, IsBinaryWithASolidHeaderAndAWrongSize) {
  std::string bytes = with_header(encode_stl(tetrahedron()), "solid part");
  bytes += "tail";
  const LoadedMesh loaded = read(bytes, "a.stl");
  EXPECT_EQ(loaded.mesh, unwelded(tetrahedron()));
  EXPECT_EQ(joined(loaded.warnings), "4 bytes after the last triangle were passed over\n");
}

TEST(Stl, IsBinaryWithBytesAtItsEndWhateverItsHeaderSays) {
  const std::string bytes = encode_stl(tetrahedron()) + "\r\n";
  for (const std::string header : {"g part", "o part", "v 1 2 3", "# part", "OFF", "ply", "Tool"})
    for (const char padding : {' ', '\0'}) {
      std::string file = bytes;
      file.replace(0, 80, header + std::string(80 - header.size(), padding));
      const LoadedMesh loaded = read(file, "a.stl");
      EXPECT_EQ(loaded.mesh, unwelded(tetrahedron())) << header;
      EXPECT_EQ(joined(loaded.warnings), "2 bytes after the last triangle were passed over\n");
    }
}

TEST(Stl, OtherFilesThatAreNamedAsStlAreReadAsWhatTheyAre) {
  EXPECT_EQ(read(encode_obj(tetrahedron()), "a.stl").format, MeshFormat::kObj);
  EXPECT_EQ(read(encode_ply(tetrahedron()), "a.stl").format, MeshFormat::kPly);
  std::string utf16 = "\xFF\xFE";
  for (const char c : encode_obj(tetrahedron())) utf16 += {c, '\0'};
  EXPECT_EQ(read(utf16, "a.stl").format, MeshFormat::kObj);
}

TEST(Stl, TakesTheCountFromTheSizeWhereTheHeaderHasNone) {
  for (const std::uint32_t count : {0U, 0xFFFFFFFFU}) {
    const LoadedMesh loaded = read(with_count(encode_stl(tetrahedron()), count), "a.stl");
    EXPECT_EQ(loaded.mesh, unwelded(tetrahedron()));
    EXPECT_EQ(loaded.warnings.size(), 1U);
  }
}

TEST(Stl, RefusesBinaryFilesThatPromiseTooMuch) {
  const std::string bytes = encode_stl(tetrahedron());
  EXPECT_EQ(error_of(with_count(bytes, 2'000'000'000), "a.stl"),
            "a.stl: byte 80: the header of a binary STL promises 2000000000 triangles of 50 bytes, "
            "but only 200 bytes follow");
  EXPECT_EQ(error_of(bytes.substr(0, 200), "a.stl"),
            "a.stl: byte 80: the header of a binary STL promises 4 triangles of 50 bytes, but only "
            "116 bytes follow");
  EXPECT_EQ(error_of(bytes.substr(0, 60), "a.stl"),
            "a.stl: byte 60: a binary STL has a header of 84 bytes; the file ends inside it");
}

TEST(Stl, ReadsTextInItsVariants) {
  const auto count = [](const std::string& text) {
    return read(text, "a.stl").mesh.triangles.size();
  };
  std::string upper = "solid a\n" + kFacet + "endsolid a\n";
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  EXPECT_EQ(count(upper), 1U);
  EXPECT_EQ(count("solid a b\n" + kFacet + kFacet + "endsolid a b\n"), 2U);
  EXPECT_EQ(count("solid a\n" + kFacet + "endsolid a\nsolid b\n" + kFacet + "endsolid b\n"), 2U);
  EXPECT_EQ(count("solid facet normal\nfacet\nouter loop vertex 0 0 0 vertex 1 0 0\nvertex 0 1 0 "
                  "endloop endfacet\nendsolid"),
            1U);
  EXPECT_EQ(count("solid a\nfacet normal nan -1.#IND 0\nouter loop\nvertex 0 0 0\nvertex 1 0 "
                  "0\nvertex 1 1 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid\n"),
            2U);
  EXPECT_EQ(count("solid a\nendsolid a\n"), 0U);
}

TEST(Stl, WarnsOfMissingLines) {
  EXPECT_EQ(joined(read(kFacet, "a.stl").warnings), "the line 'solid' is missing\n");
  EXPECT_EQ(joined(read("solid a\n" + kFacet, "a.stl").warnings),
            "the line 'endsolid' is missing\n");
}

TEST(Stl, TakesDecodedTextForNothingElse) {
  std::string utf16 = "\xFF\xFE";
  for (int i = 0; i < 100; ++i) utf16 += {'x', '\0'};
  EXPECT_EQ(error_of(utf16, "a.stl"),
            "a.stl:1: expected facet or endsolid, found "
            "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'");
}

TEST(Stl, RefusesBrokenText) {
  EXPECT_EQ(error_of("solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0\n", "a.stl"),
            "a.stl:4: expected a coordinate, found the end of the line");
  EXPECT_EQ(error_of("solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\n", "a.stl"),
            "a.stl:5: expected vertex or endloop, found the end of the file");
  EXPECT_EQ(error_of("solid a\nfacet normal 0 0 1\nouter ring\n", "a.stl"),
            "a.stl:3: expected loop, found 'ring'");
  EXPECT_EQ(error_of("solid a\nfacet normal 0 0 1\n", "a.stl"),
            "a.stl:3: expected 'outer loop', found the end of the file");
  EXPECT_EQ(error_of("solid a\ntriangle\n", "a.stl"),
            "a.stl:2: expected facet or endsolid, found 'triangle'");
}

}  // namespace
}  // namespace isotact

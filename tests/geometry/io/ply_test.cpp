#include <algorithm>
#include <cstring>
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

const std::string kRows = "0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 2 0 3\n";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

// A binary file written value by value.
class Bytes {
 public:
  explicit Bytes(bool is_big_endian) : is_big_endian_(is_big_endian) {}

  template <typename T>
  Bytes& add(T value) {
    std::string raw(sizeof(T), '\0');
    std::memcpy(raw.data(), &value, sizeof(T));
    if (is_big_endian_) std::reverse(raw.begin(), raw.end());
    bytes += raw;
    return *this;
  }
  Bytes& add_as(const std::string& type, double value) {
    if (type == "char" || type == "int8") return add(static_cast<std::int8_t>(value));
    if (type == "uchar" || type == "uint8") return add(static_cast<std::uint8_t>(value));
    if (type == "short" || type == "int16") return add(static_cast<std::int16_t>(value));
    if (type == "ushort" || type == "uint16") return add(static_cast<std::uint16_t>(value));
    if (type == "int" || type == "int32") return add(static_cast<std::int32_t>(value));
    if (type == "uint" || type == "uint32") return add(static_cast<std::uint32_t>(value));
    if (type == "float" || type == "float32") return add(static_cast<float>(value));
    return add(value);
  }

  std::string bytes;

 private:
  bool is_big_endian_;
};

struct Layout {
  std::string position = "float";
  std::string count = "uchar";
  std::string index = "int";
  bool has_extras = false;
};

std::string header_of(const Layout& layout, const std::string& format) {
  const std::string vertex_extra =
      layout.has_extras ? "property uchar red\nproperty list uchar short tags\n" : "";
  const std::string face_extra =
      layout.has_extras ? "property uchar flags\nproperty list int double texcoord\n" : "";
  return "ply\nformat " + format + " 1.0\ncomment c\nobj_info i\n" +
         (layout.has_extras ? "element before 2\nproperty list uchar int a\n" : "") +
         "element vertex 4\nproperty " + layout.position + " x\n" + vertex_extra + "property " +
         layout.position + " y\nproperty " + layout.position + " z\nelement face 4\n" + face_extra +
         "property list " + layout.count + " " + layout.index + " vertex_indices\n" +
         (layout.has_extras ? "element edge 1\nproperty int vertex1\n" : "") + "end_header\n";
}

std::string tetrahedron_in(const Layout& layout, bool is_big_endian) {
  Bytes data(is_big_endian);
  if (layout.has_extras) {
    data.add<std::uint8_t>(2).add<std::int32_t>(7).add<std::int32_t>(8);
    data.add<std::uint8_t>(0);
  }
  for (const Vec3f& p : tetrahedron().positions) {
    data.add_as(layout.position, static_cast<double>(p.x));
    if (layout.has_extras) data.add<std::uint8_t>(9).add<std::uint8_t>(1).add<std::int16_t>(-5);
    data.add_as(layout.position, static_cast<double>(p.y));
    data.add_as(layout.position, static_cast<double>(p.z));
  }
  for (const Triangle& t : tetrahedron().triangles) {
    if (layout.has_extras) data.add<std::uint8_t>(1).add<std::int32_t>(1).add<double>(0.5);
    data.add_as(layout.count, 3);
    for (const std::uint32_t index : t) data.add_as(layout.index, index);
  }
  if (layout.has_extras) data.add<std::int32_t>(3);
  return header_of(layout, is_big_endian ? "binary_big_endian" : "binary_little_endian") +
         data.bytes;
}

TEST(Ply, ReadsTextWithAnyLineEnd) {
  const std::string text = header_of({}, "ascii") + kRows;
  for (const std::string line_end : {"\n", "\r\n", "\r", "\n\n"}) {
    const LoadedMesh loaded = read(replaced(text, "\n", line_end), "a.ply");
    EXPECT_EQ(loaded.mesh, tetrahedron());
    EXPECT_EQ(loaded.format, MeshFormat::kPly);
    EXPECT_TRUE(loaded.warnings.empty()) << joined(loaded.warnings);
  }
  EXPECT_EQ(read("\n\n" + text, "a.ply").mesh, tetrahedron());
  EXPECT_EQ(read(replaced(text, "vertex_indices", "vertex_index"), "a.ply").mesh, tetrahedron());
}

TEST(Ply, ReadsEveryTypeInBothByteOrders) {
  const std::vector<std::string> types = {
      "char", "int8",  "uchar", "uint8",  "short", "int16",   "ushort", "uint16",
      "int",  "int32", "uint",  "uint32", "float", "float32", "double", "float64"};
  for (const std::string& type : types)
    for (const bool is_big_endian : {false, true})
      for (const bool has_extras : {false, true}) {
        const Layout positions{.position = type, .has_extras = has_extras};
        EXPECT_EQ(read(tetrahedron_in(positions, is_big_endian), "a.ply").mesh, tetrahedron());
        const Layout counts{.count = type, .has_extras = has_extras};
        EXPECT_EQ(read(tetrahedron_in(counts, is_big_endian), "a.ply").mesh, tetrahedron());
        const Layout indices{.index = type, .has_extras = has_extras};
        EXPECT_EQ(read(tetrahedron_in(indices, is_big_endian), "a.ply").mesh, tetrahedron());
      }
}

TEST(Ply, ReadsTextWithExtrasAnywhere) {
  const auto mesh = read(
      "ply\nformat ascii 1.0\nelement before 1\nproperty list int float a\nelement vertex 3\n"
      "property uchar red\nproperty double z\nproperty list uchar int n\nproperty double y\n"
      "property double x\nelement face 1\nproperty list uchar float t\n"
      "property list float double vertex_index\nproperty int m\nelement edge 1\n"
      "property int vertex1\nend_header\n2 0.5 0.25\n255 1 0 2 3\n255 4 2 8 9 5 6\n255 7 0 8 9\n"
      "1 0.5 3.0 0 1e0 2.0 9\n1\n",
      "a.ply");
  EXPECT_EQ(mesh.mesh.positions, (std::vector<Vec3f>{{3, 2, 1}, {6, 5, 4}, {9, 8, 7}}));
  EXPECT_EQ(mesh.mesh.triangles, (std::vector<Triangle>{{0, 1, 2}}));
}

TEST(Ply, ReadsFacesThatStandBeforeTheVertices) {
  const std::string head =
      " 1.0\nelement face 1\nproperty list uchar int vertex_indices\nelement vertex 3\n"
      "property float x\nproperty float y\nproperty float z\nend_header\n";
  const TriangleMesh expected{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}}};
  EXPECT_EQ(read("ply\nformat ascii" + head + "3 0 1 2\n0 0 0\n1 0 0\n0 1 0\n", "a.ply").mesh,
            expected);
}

TEST(Ply, DataMayBeginWithTheByteOfALineEnd) {
  // The first coordinate begins with the byte 0x0A; after CR LF or LF it is data, and after the CR
  // of a header whose lines end with CR alone, too.
  std::string binary = tetrahedron_in({}, false);
  const std::size_t header_size = binary.find("end_header\n") + 11;
  binary[header_size] = '\n';
  const std::string header = binary.substr(0, header_size);
  const TriangleMesh expected = read(binary, "a.ply").mesh;
  EXPECT_EQ(expected.triangles, tetrahedron().triangles);
  EXPECT_GT(expected.positions[0].x, 0);
  for (const std::string line_end : {"\r\n", "\r"})
    EXPECT_EQ(read(replaced(header, "\n", line_end) + binary.substr(header_size), "a.ply").mesh,
              expected);
  // Only the last line of the header ends with CR LF.
  EXPECT_EQ(
      read(header.substr(0, header.size() - 1) + "\r\n" + binary.substr(header_size), "a.ply").mesh,
      expected);
}

TEST(Ply, CutsStripsAtMinusOneAndTurnsEveryOtherTriangle) {
  const std::string head =
      "ply\nformat ascii 1.0\nelement vertex 6\nproperty float x\nproperty float y\nproperty float "
      "z\nelement tristrips 1\nproperty list int int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 "
      "0\n1 1 0\n0 2 0\n1 2 0\n";
  EXPECT_EQ(read(head + "6 0 1 2 3 4 5\n", "a.ply").mesh.triangles,
            (std::vector<Triangle>{{0, 1, 2}, {2, 1, 3}, {2, 3, 4}, {4, 3, 5}}));
  EXPECT_EQ(read(head + "9 0 1 2 3 -1 2 3 4 5\n", "a.ply").mesh.triangles,
            (std::vector<Triangle>{{0, 1, 2}, {2, 1, 3}, {2, 3, 4}, {4, 3, 5}}));
  EXPECT_EQ(read(head + "8 0 1 2 2 3 3 4 5\n", "a.ply").mesh.triangles,
            (std::vector<Triangle>{{0, 1, 2}, {4, 3, 5}}));
  EXPECT_EQ(error_of(head + "3 0 1 -2\n", "a.ply"),
            "a.ply:16: element tristrips uses vertex -2; the 6 vertices are numbered from 0");
}

// Each element of faces announces its triangles; those of the elements before it are there already.
TEST(Ply, JoinsSeveralElementsOfFacesAndStrips) {
  const std::string vertices =
      "element vertex 4\nproperty float x\nproperty float y\nproperty float z\n";
  const std::string list = "property list uchar int vertex_indices\n";
  Bytes positions(false);
  for (const Vec3f& p : {Vec3f{0, 0, 0}, Vec3f{1, 0, 0}, Vec3f{1, 1, 0}, Vec3f{0, 1, 0}})
    positions.add(p.x).add(p.y).add(p.z);
  const auto add_row = [](Bytes& rows, const std::vector<std::int32_t>& corners) {
    rows.add(static_cast<std::uint8_t>(corners.size()));
    for (const std::int32_t corner : corners) rows.add(corner);
  };
  const std::vector<Triangle> cut_quad =
      read("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n", "a.obj").mesh.triangles;
  for (const std::string first : {"tristrips", "face"}) {
    for (const std::size_t quads : {1U, 20U, 100U}) {
      Bytes rows(false);
      add_row(rows, {0, 1, 2});
      for (std::size_t i = 0; i < quads; ++i) add_row(rows, {0, 1, 2, 3});
      // Faces first, too: their positions are not there yet.
      const std::string faces = "element " + first + " 1\n" + list + "element face " +
                                std::to_string(quads) + "\n" + list;
      const std::string head = "ply\nformat binary_little_endian 1.0\n";
      const TriangleMesh mesh =
          read(head + vertices + faces + "end_header\n" + positions.bytes + rows.bytes, "a.ply")
              .mesh;
      std::vector<Triangle> expected = {{0, 1, 2}};
      for (std::size_t i = 0; i < quads; ++i)
        expected.insert(expected.end(), cut_quad.begin(), cut_quad.end());
      EXPECT_EQ(mesh.triangles, expected) << first << " " << quads;
      EXPECT_EQ(
          read(head + faces + vertices + "end_header\n" + rows.bytes + positions.bytes, "a.ply")
              .mesh,
          mesh);
    }
  }
}

TEST(Ply, AFirstElementOfFacesMayBeEmptierThanItSeems) {
  // The file is long enough for the triangles that the first element might have, but has none.
  std::string file =
      "ply\nformat binary_little_endian 1.0\nelement vertex 4\nproperty float x\nproperty float "
      "y\nproperty float z\nelement face 70\nproperty list uchar int vertex_indices\nelement face "
      "1\nproperty list uchar int vertex_indices\nend_header\n";
  file.append(4 * 12 + 70, '\0');
  file += std::string("\4\0\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0", 17);
  file.append(13 * 70, '\0');
  EXPECT_EQ(read(file, "a.ply").mesh.triangles.size(), 2U);
}

TEST(Ply, RefusesASecondElementOfVertices) {
  const std::string vertices =
      "element vertex 1\nproperty float x\nproperty float y\nproperty float z\n";
  EXPECT_EQ(error_of("ply\nformat ascii 1.0\n" + vertices + vertices + "end_header\n", "a.ply"),
            "a.ply:11: element vertex is declared twice");
}

TEST(Ply, BlanksMayFollowTheHeader) {
  const std::string binary = tetrahedron_in({}, false);
  for (const std::size_t blanks : {1U, 1500U, 5000U}) {
    const std::string file =
        replaced(binary, "end_header\n", "end_header" + std::string(blanks, ' ') + "\n");
    for (const std::size_t window : {2 * detail::Window::kMaxToken, detail::Window::kUsualSize})
      EXPECT_EQ(detail::read_mesh_as(MeshFormat::kPly, std::as_bytes(std::span(file)), "a.ply", {},
                                     window)
                    .mesh,
                tetrahedron())
          << blanks;
  }
}

TEST(Ply, WarnsOfSmallFacesAndLongRows) {
  const LoadedMesh loaded = read(
      replaced(replaced(header_of({}, "ascii") + kRows, "3 0 1 3", "2 0 1"), "1 0 0", "1 0 0 9"),
      "a.ply");
  EXPECT_EQ(loaded.mesh.triangles.size(), 3U);
  EXPECT_EQ(joined(loaded.warnings),
            "passed over values beyond those that the header declares, in rows: 1 (the first: line "
            "13)\npassed over faces with fewer than three corners: 1 (the first: line 17)\n");
}

TEST(Ply, RefusesHeadersThatMakeNoSense) {
  const auto error = [](const std::string& lines) { return error_of("ply\n" + lines, "a.ply"); };
  EXPECT_EQ(error("end_header\n"), "a.ply:2: the header has no line 'format'");
  EXPECT_EQ(error("format ascii 1.0\n"), "a.ply:3: the file ends before 'end_header'");
  EXPECT_NE(error("format middle_endian 1.0\n").find("found 'middle_endian'"), std::string::npos);
  EXPECT_EQ(error("property int a\n"), "a.ply:2: a property stands before the first element");
  EXPECT_EQ(error("element vertex -1\n"), "a.ply:2: element vertex has -1 rows");
  EXPECT_EQ(error("element vertex 1\nproperty half x\n"),
            "a.ply:3: expected a type such as float or uchar, found 'half'");
  EXPECT_EQ(error("element vertex 1\nproperty float\n"),
            "a.ply:3: expected the name of a property, found the end of the line");
  EXPECT_EQ(error("hello\n"), "a.ply:2: expected a line of a PLY header, found 'hello'");
  EXPECT_EQ(error("format ascii 1.0\nelement vertex 5000000000\nproperty float x\nend_header\n"),
            "a.ply:5: the header promises 5000000000 vertices; at most 4294967295 can be read");
  EXPECT_EQ(error("format ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n"),
            "a.ply:5: element vertex has no number 'y' among its properties");
  EXPECT_EQ(error("format ascii 1.0\nelement face 1\nproperty int x\nend_header\n"),
            "a.ply:5: element face has no list 'vertex_indices' among its properties");
  std::string many = "format ascii 1.0\nelement a 1\n";
  for (int i = 0; i < 10001; ++i) many += "property int a\n";
  EXPECT_NE(error(many).find("more than 10000 declarations"), std::string::npos);
}

TEST(Ply, RefusesTextRowsThatAreWrong) {
  const auto error = [](const std::string& from, const std::string& to) {
    return error_of(header_of({}, "ascii") + replaced(kRows, from, to), "a.ply");
  };
  EXPECT_EQ(error("1 0 0", "1 0"), "a.ply:13: a row of element vertex ends before its property z");
  EXPECT_EQ(error("1 0 0", "1 x 0"), "a.ply:13: expected a coordinate, found 'x'");
  EXPECT_EQ(error("3 0 1 3", "3 0 1"), "a.ply:17: a list of 3 values ends after 2");
  EXPECT_EQ(error("3 0 1 3", "-3 0 1 3"), "a.ply:17: the length of a list is -3");
  EXPECT_EQ(error("3 0 1 3", "3 0 1 4"),
            "a.ply:17: element face uses vertex 4; the 4 vertices are numbered from 0");
  EXPECT_EQ(error("3 2 0 3\n", ""), "a.ply:19: the file ends after 3 of 4 rows of element face");
}

TEST(Ply, RefusesBinaryRowsThatAreWrong) {
  for (const bool is_big_endian : {false, true}) {
    const std::string good = tetrahedron_in({}, is_big_endian);
    const std::size_t faces = good.size() - 4 * 13;
    std::string beyond = good;
    beyond[faces + (is_big_endian ? 4 : 1)] = 4;
    EXPECT_EQ(error_of(beyond, "a.ply"),
              "a.ply: byte " + std::to_string(faces + 5) +
                  ": row 0 of element face uses vertex 4; the 4 vertices are numbered from 0");
    EXPECT_NE(error_of(good.substr(0, good.size() - 1), "a.ply").find("the file ends inside"),
              std::string::npos);
    EXPECT_NE(error_of(good.substr(0, faces - 1), "a.ply").find("only 47 bytes are left"),
              std::string::npos);
    EXPECT_NE(error_of(replaced(good, "vertex 4", "vertex 4000000000"), "a.ply")
                  .find("promises 4000000000 rows of element vertex"),
              std::string::npos);
    const std::string signed_count = tetrahedron_in({.count = "char"}, is_big_endian);
    std::string negative = signed_count;
    negative[signed_count.size() - 13] = '\xFD';
    EXPECT_NE(error_of(negative, "a.ply").find("the length of a list is -3"), std::string::npos);
  }
}

TEST(Ply, AnElementWithoutPropertiesTakesNoTime) {
  for (const std::string format : {"ascii", "binary_little_endian"})
    EXPECT_TRUE(
        read("ply\nformat " + format + " 1.0\nelement nothing 999999999999999999\nend_header\n",
             "a.ply")
            .mesh.positions.empty());
}

}  // namespace
}  // namespace isotact

#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/geometry/io/mesh_io.h"

namespace isotact {
namespace {

template <typename T>
void append_number(std::string& text, T value) {
  std::array<char, 32> digits;
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  text.append(digits.data(), result.ptr);
}

void append_vector(std::string& text, const Vec3f& v) {
  append_number(text, v.x);
  text += ' ';
  append_number(text, v.y);
  text += ' ';
  append_number(text, v.z);
  text += '\n';
}

void append_little_endian(std::string& bytes, std::uint32_t value) {
  for (unsigned shift = 0; shift < 32; shift += 8)
    bytes += static_cast<char>(static_cast<unsigned char>(value >> shift));
}

void append_little_endian(std::string& bytes, const Vec3f& v) {
  append_little_endian(bytes, std::bit_cast<std::uint32_t>(v.x));
  append_little_endian(bytes, std::bit_cast<std::uint32_t>(v.y));
  append_little_endian(bytes, std::bit_cast<std::uint32_t>(v.z));
}

// Zero where the triangle has no direction, as STL asks.
Vec3f normal_of(const std::array<Vec3f, 3>& c) {
  const Vec3 a = to_double(c[0]);
  const Vec3f normal = to_float(normalized(cross(to_double(c[1]) - a, to_double(c[2]) - a)));
  return is_finite(normal) ? normal : Vec3f{};
}

std::string ply_header(const TriangleMesh& mesh, std::string_view format) {
  // Readers expect int; what it cannot hold is rare enough to ask more of them.
  const bool fits_int = mesh.positions.size() <= std::numeric_limits<std::int32_t>::max();
  return fmt::format(
      "ply\nformat {} 1.0\ncomment written by Isotact\nelement vertex {}\nproperty float "
      "x\nproperty float y\nproperty float z\nelement face {}\nproperty list uchar {} "
      "vertex_indices\nend_header\n",
      format, mesh.positions.size(), mesh.triangles.size(), fits_int ? "int" : "uint");
}

}  // namespace

std::string encode_obj(const TriangleMesh& mesh) {
  std::string text = "# written by Isotact\n";
  text.reserve(mesh.positions.size() * 40 + mesh.triangles.size() * 24);
  for (const Vec3f& p : mesh.positions) {
    text += "v ";
    append_vector(text, p);
  }
  for (const Triangle& triangle : mesh.triangles) {
    text += 'f';
    for (const std::uint32_t index : triangle) {
      text += ' ';
      append_number(text, std::uint64_t{index} + 1);
    }
    text += '\n';
  }
  return text;
}

std::string encode_stl(const TriangleMesh& mesh) {
  if (mesh.triangles.size() > std::numeric_limits<std::uint32_t>::max())
    throw Error(
        fmt::format("{} triangles are more than an STL file can count", mesh.triangles.size()));
  // The header must not begin with "solid", by which careless readers tell text.
  std::string bytes = "binary STL written by Isotact";
  bytes.resize(80, ' ');
  bytes.reserve(84 + mesh.triangles.size() * 50);
  append_little_endian(bytes, static_cast<std::uint32_t>(mesh.triangles.size()));
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const std::array<Vec3f, 3> c = corners(mesh, i);
    append_little_endian(bytes, normal_of(c));
    for (const Vec3f& corner : c) append_little_endian(bytes, corner);
    bytes.append(2, '\0');
  }
  return bytes;
}

std::string encode_stl_text(const TriangleMesh& mesh) {
  std::string text = "solid isotact\n";
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const std::array<Vec3f, 3> c = corners(mesh, i);
    text += "facet normal ";
    append_vector(text, normal_of(c));
    text += "outer loop\n";
    for (const Vec3f& corner : c) {
      text += "vertex ";
      append_vector(text, corner);
    }
    text += "endloop\nendfacet\n";
  }
  text += "endsolid isotact\n";
  return text;
}

std::string encode_ply(const TriangleMesh& mesh) {
  std::string bytes = ply_header(mesh, "binary_little_endian");
  bytes.reserve(bytes.size() + mesh.positions.size() * 12 + mesh.triangles.size() * 13);
  for (const Vec3f& p : mesh.positions) append_little_endian(bytes, p);
  for (const Triangle& triangle : mesh.triangles) {
    bytes += '\3';
    for (const std::uint32_t index : triangle) append_little_endian(bytes, index);
  }
  return bytes;
}

std::string encode_ply_text(const TriangleMesh& mesh) {
  std::string text = ply_header(mesh, "ascii");
  for (const Vec3f& p : mesh.positions) append_vector(text, p);
  for (const Triangle& triangle : mesh.triangles) {
    text += '3';
    for (const std::uint32_t index : triangle) {
      text += ' ';
      append_number(text, index);
    }
    text += '\n';
  }
  return text;
}

}  // namespace isotact

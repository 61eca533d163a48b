// What the header of a PLY file says: its elements and their properties, in the order of the data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "isotact/geometry/io/detail/text_input.h"

namespace isotact::detail {

enum class PlyType { kInt8, kUint8, kInt16, kUint16, kInt32, kUint32, kFloat32, kFloat64 };

constexpr std::size_t size_of(PlyType type) {
  switch (type) {
    case PlyType::kInt8:
    case PlyType::kUint8:
      return 1;
    case PlyType::kInt16:
    case PlyType::kUint16:
      return 2;
    case PlyType::kInt32:
    case PlyType::kUint32:
    case PlyType::kFloat32:
      return 4;
    case PlyType::kFloat64:
      break;
  }
  return 8;
}

constexpr bool is_integer(PlyType type) {
  return type != PlyType::kFloat32 && type != PlyType::kFloat64;
}

struct PlyProperty {
  std::string name;
  PlyType type{};
  std::optional<PlyType> count_type;  // of a list
};

struct PlyElement {
  enum class Role { kNone, kVertices, kFaces, kStrips };

  std::string name;
  std::uint64_t count = 0;
  std::vector<PlyProperty> properties;
  Role role = Role::kNone;
  // Where x, y and z are among the properties of vertices, or (the first) the list of the corners
  // among those of faces and strips.
  std::size_t wanted[3] = {};

  bool has_lists() const;
  // What a row takes in a binary file, lists being empty.
  std::uint64_t min_row_size() const;
};

enum class PlyEncoding { kText, kLittleEndian, kBigEndian };

struct PlyHeader {
  PlyEncoding encoding{};
  std::vector<PlyElement> elements;
  std::uint64_t vertex_count = 0;
};

// Reads up to the first byte of the data.
PlyHeader read_ply_header(TextInput& in);

}  // namespace isotact::detail

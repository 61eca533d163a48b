// The data of binary PLY files. Vertices of three floats and faces of one list, which is how nearly
// all large files are written, have loops of their own; everything else goes value by value.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/geometry/io/detail/ply.h"

namespace isotact::detail {
namespace {

template <typename T>
T load(const char* bytes, bool swaps_bytes) {
  std::array<char, sizeof(T)> raw;
  std::memcpy(raw.data(), bytes, sizeof(T));
  if (swaps_bytes) std::reverse(raw.begin(), raw.end());
  return std::bit_cast<T>(raw);
}

// A double holds every value of every type.
double load_as_double(PlyType type, const char* bytes, bool swaps_bytes) {
  switch (type) {
    case PlyType::kInt8:
      return load<std::int8_t>(bytes, swaps_bytes);
    case PlyType::kUint8:
      return load<std::uint8_t>(bytes, swaps_bytes);
    case PlyType::kInt16:
      return load<std::int16_t>(bytes, swaps_bytes);
    case PlyType::kUint16:
      return load<std::uint16_t>(bytes, swaps_bytes);
    case PlyType::kInt32:
      return load<std::int32_t>(bytes, swaps_bytes);
    case PlyType::kUint32:
      return load<std::uint32_t>(bytes, swaps_bytes);
    case PlyType::kFloat32:
      return static_cast<double>(load<float>(bytes, swaps_bytes));
    case PlyType::kFloat64:
      break;
  }
  return load<double>(bytes, swaps_bytes);
}

class PlyBinaryReader {
 public:
  PlyBinaryReader(Window& window, const PlyHeader& header, MeshBuilder& builder)
      : window_(window),
        header_(header),
        builder_(builder),
        swaps_bytes_((header.encoding == PlyEncoding::kBigEndian) !=
                     (std::endian::native == std::endian::big)) {}

  void read() {
    for (const PlyElement& element : header_.elements) {
      check_size(element);
      if (element.role == PlyElement::Role::kVertices)
        read_vertices(element);
      else if (!element.has_lists())
        skip(element, element.count * element.min_row_size());
      else
        read_lists(element);
    }
    small_faces_.report_to(builder_.warnings, "face");
  }

 private:
  [[noreturn]] void fail(std::string_view message) const {
    throw Error({.file = window_.name(), .byte = window_.byte()}, message);
  }
  [[noreturn]] void fail_at_end(const PlyElement& element) const {
    fail(fmt::format("the file ends inside the {} rows of element {}", element.count,
                     printable(element.name)));
  }

  // A count that the rest of the file cannot hold is refused before anything is allocated.
  void check_size(const PlyElement& element) const {
    const std::uint64_t row = element.min_row_size();
    const std::uint64_t most = window_.remaining().value_or(std::uint64_t{1} << 60U);
    if (row > 0 && element.count > most / row)
      fail(
          fmt::format("the header promises {} rows of element {} with at least {} bytes each, but "
                      "only {} bytes are left",
                      element.count, printable(element.name), row, most));
  }

  void skip(const PlyElement& element, std::uint64_t count) {
    if (!window_.skip(count)) fail_at_end(element);
  }

  double read_scalar(const PlyElement& element, PlyType type) {
    const std::size_t size = size_of(type);
    if (!window_.ensure(size)) fail_at_end(element);
    const double value = load_as_double(type, window_.cursor(), swaps_bytes_);
    window_.move_to(window_.cursor() + size);
    return value;
  }

  std::uint64_t read_list_length(const PlyElement& element, PlyType type) {
    const double length = read_scalar(element, type);
    if (!(length >= 0 && length <= 0x1p32) || length != std::trunc(length))
      fail(fmt::format("the length of a list is {}", length));
    return static_cast<std::uint64_t>(length);
  }

  void read_vertices(const PlyElement& element) {
    if (window_.remaining()) builder_.expect_positions(element.count);
    if (element.has_lists() || element.min_row_size() > Window::kMaxToken)
      read_odd_vertices(element);
    else
      read_vertex_rows(element);
  }

  void read_vertex_rows(const PlyElement& element) {
    const auto stride = static_cast<std::size_t>(element.min_row_size());
    std::array<std::size_t, 3> offsets{};
    std::array<PlyType, 3> types{};
    bool are_floats = true;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      for (std::size_t i = 0; i < element.wanted[axis]; ++i)
        offsets[axis] += size_of(element.properties[i].type);
      types[axis] = element.properties[element.wanted[axis]].type;
      are_floats = are_floats && types[axis] == PlyType::kFloat32;
    }
    std::array<Vec3f, 1024> block;
    for (std::uint64_t left = element.count; left > 0;) {
      if (!window_.ensure(stride)) fail_at_end(element);
      const char* p = window_.cursor();
      const std::size_t count =
          std::min({block.size(), window_.available() / stride, static_cast<std::size_t>(left)});
      if (are_floats && !swaps_bytes_) {
        for (std::size_t i = 0; i < count; ++i, p += stride)
          for (std::size_t axis = 0; axis < 3; ++axis)
            block[i][axis] = load<float>(p + offsets[axis], false);
      } else {
        for (std::size_t i = 0; i < count; ++i, p += stride)
          for (std::size_t axis = 0; axis < 3; ++axis)
            block[i][axis] =
                static_cast<float>(load_as_double(types[axis], p + offsets[axis], swaps_bytes_));
      }
      builder_.add_positions(std::span(block).first(count));
      window_.move_to(p);
      left -= count;
    }
  }

  void read_odd_vertices(const PlyElement& element) {
    for (std::uint64_t row = 0; row < element.count; ++row) {
      Vec3f position;
      for (std::size_t i = 0; i < element.properties.size(); ++i) {
        const PlyProperty& property = element.properties[i];
        if (property.count_type) {
          skip(element, read_list_length(element, *property.count_type) * size_of(property.type));
          continue;
        }
        const double value = read_scalar(element, property.type);
        for (std::size_t axis = 0; axis < 3; ++axis)
          if (element.wanted[axis] == i) position[axis] = static_cast<float>(value);
      }
      builder_.add_position(position);
    }
  }

  void read_lists(const PlyElement& element) {
    const bool is_wanted = element.role != PlyElement::Role::kNone;
    const PlyProperty& corners = element.properties[element.wanted[0]];
    if (element.role == PlyElement::Role::kFaces && window_.remaining()) {
      // Exactly as many triangles as faces, if all are triangles and the file can hold so many.
      const std::uint64_t row = element.min_row_size() + 3 * size_of(corners.type);
      if (element.count <= *window_.remaining() / row) builder_.expect_triangles(element.count);
    }
    PlyCorners sink(builder_, header_.vertex_count, element.role == PlyElement::Role::kStrips);
    const bool is_plain = element.role == PlyElement::Role::kFaces &&
                          element.properties.size() == 1 && size_of(*corners.count_type) == 1 &&
                          size_of(corners.type) == 4 && is_integer(corners.type);
    for (std::uint64_t row = 0; row < element.count; ++row) {
      if (is_plain)
        row += swaps_bytes_ ? read_plain_triangles<true>(element.count - row)
                            : read_plain_triangles<false>(element.count - row);
      if (row < element.count) read_row(element, row, is_wanted ? &sink : nullptr);
    }
  }

  // Takes as many triangles as stand in the window before anything else, without moving it.
  template <bool kSwapsBytes>
  std::uint64_t read_plain_triangles(std::uint64_t most) {
    constexpr std::size_t kRow = 1 + 3 * 4;
    std::array<Triangle, 1024> block;
    std::uint64_t total = 0;
    const char* p = window_.cursor();
    for (bool goes_on = true; goes_on;) {
      std::size_t count = 0;
      const std::size_t limit = std::min<std::uint64_t>(
          {block.size(), most - total, static_cast<std::size_t>(window_.end() - p) / kRow});
      for (; count < limit && *p == 3; ++count, p += kRow) {
        Triangle& t = block[count];
        for (std::size_t i = 0; i < 3; ++i) t[i] = load<std::uint32_t>(p + 1 + 4 * i, kSwapsBytes);
        // What is out of range, as negative numbers are here, is left for the slow way to report.
        if (std::max({t[0], t[1], t[2]}) >= header_.vertex_count) break;
      }
      builder_.add_triangles(std::span(block).first(count));
      total += count;
      goes_on = count == block.size();
    }
    window_.move_to(p);
    return total;
  }

  void read_row(const PlyElement& element, std::uint64_t row, PlyCorners* sink) {
    for (std::size_t i = 0; i < element.properties.size(); ++i) {
      const PlyProperty& property = element.properties[i];
      if (!property.count_type) {
        skip(element, size_of(property.type));
        continue;
      }
      const std::uint64_t length = read_list_length(element, *property.count_type);
      if (sink == nullptr || i != element.wanted[0]) {
        skip(element, length * size_of(property.type));
        continue;
      }
      sink->begin();
      for (std::uint64_t corner = 0; corner < length; ++corner)
        add_corner(element, row, read_scalar(element, property.type), *sink);
      if (!sink->end()) small_faces_.note(row);
    }
  }

  void add_corner(const PlyElement& element, std::uint64_t row, double index, PlyCorners& sink) {
    const bool is_whole = std::abs(index) <= 0x1p32 && index == std::trunc(index);
    if (!is_whole || !sink.add(static_cast<std::int64_t>(index)))
      fail(fmt::format("row {} of element {} uses vertex {}; the {} vertices are numbered from 0",
                       row, element.name, index, header_.vertex_count));
  }

  Window& window_;
  const PlyHeader& header_;
  MeshBuilder& builder_;
  bool swaps_bytes_;
  Oddity small_faces_{"passed over faces with fewer than three corners"};
};

}  // namespace

void read_ply_binary(Window& window, const PlyHeader& header, MeshBuilder& builder) {
  PlyBinaryReader(window, header, builder).read();
}

}  // namespace isotact::detail

// Tables of numbers as files: points as input (three columns), distances as output, segments (six).
// Formats are raw little-endian float32, NumPy's .npy, and .csv.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "isotact/base/vec.h"

namespace isotact::tool {

struct Table {
  std::size_t columns = 0;
  std::vector<float> values;  // Row by row.

  std::size_t rows() const { return columns == 0 ? 0 : values.size() / columns; }
};

// "-" is stdin. .npy and .csv are recognised by their name; .f32, .bin and .raw are raw. Everything
// else, and stdin, is recognised by content: .npy by its first bytes, .csv if the start is plain
// text, raw otherwise.
//   raw   float32, no header; the size must be a whole number of rows
//   .npy  versions 1 to 3, float32 or float64 (rounded to float32), either order, shape (n,
//         columns)
//   .csv  numbers separated by comma, semicolon, space or tab; a first line that does not begin
//         with a number is a header; empty lines and text after a # are ignored
// Throws Error, with the line or byte, for anything else and for numbers that are not finite.
// Memory: a few times the file's size, for any header.
Table read_table(const std::string& file, std::size_t columns);

// The same in double, with any of these numbers of columns: that of the first row counts. Throws
// Error for raw numbers, which have no columns.
struct NumberTable {
  std::size_t columns = 0;
  std::vector<double> values;      // Row by row.
  std::vector<std::string> names;  // Of the columns, lower case, if a .csv has a header.

  std::size_t rows() const { return columns == 0 ? 0 : values.size() / columns; }
};
NumberTable read_number_table(const std::string& file, std::span<const std::size_t> columns);

// The name selects the format: .npy (float32; shape (n,) for one column), .csv with the names as
// header, otherwise raw. "-" is raw on stdout.
void write_table(const std::string& file, std::span<const std::string> column_names,
                 std::span<const float> values);

// Returns three columns as points in the same memory.
std::span<const Vec3f> as_points(const Table& table);

}  // namespace isotact::tool

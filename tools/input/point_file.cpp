#include "point_file.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/file.h"

#include "commands/command.h"

namespace isotact::tool {
namespace {

static_assert(std::endian::native == std::endian::little);

enum class Format { kRaw, kNpy, kCsv };

constexpr std::string_view kNpyMagic = "\x93NUMPY";

std::optional<Format> format_by_name(const std::string& file) {
  const std::string extension = lower_extension(file);
  if (extension == ".npy") return Format::kNpy;
  if (extension == ".csv") return Format::kCsv;
  if (extension == ".f32" || extension == ".bin" || extension == ".raw") return Format::kRaw;
  return std::nullopt;
}

Format format_by_content(std::string_view bytes) {
  if (bytes.starts_with(kNpyMagic)) return Format::kNpy;
  const std::string_view start = bytes.substr(0, 4096);
  const bool is_text = std::all_of(start.begin(), start.end(), [](char c) {
    return (c >= ' ' && c <= '~') || c == '\n' || c == '\r' || c == '\t';
  });
  return is_text && !bytes.empty() ? Format::kCsv : Format::kRaw;
}

// Into numbers of type Value. With several possible numbers of columns, the first row decides.
template <typename Value>
class TableReader {
 public:
  TableReader(std::string_view bytes, std::string name, std::span<const std::size_t> columns)
      : bytes_(bytes),
        name_(std::move(name)),
        possible_(columns),
        columns_(columns.size() == 1 ? columns[0] : 0) {}

  std::size_t columns() const { return columns_; }
  const std::vector<std::string>& names() const { return names_; }
  std::vector<Value>& values() { return values_; }

  void read(Format format) {
    switch (format) {
      case Format::kNpy:
        return read_npy();
      case Format::kCsv:
        return read_csv();
      case Format::kRaw:
        return read_raw();
    }
  }

 private:
  void read_raw() {
    if (columns_ == 0) throw Error({.file = name_}, "has no columns: a table must be .csv or .npy");
    const std::size_t row = columns_ * sizeof(float);
    if (bytes_.size() % row != 0)
      throw Error({.file = name_}, fmt::format("{} bytes are no whole number of rows of {} float32",
                                               bytes_.size(), columns_));
    copy<float>(bytes_, 0);
  }

  void read_npy() {
    if (!bytes_.starts_with(kNpyMagic) || bytes_.size() < 10)
      throw Error({.file = name_, .byte = 0}, "is no .npy file");
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes_[i]); };
    const int version = byte(6);
    if (version < 1 || version > 3)
      throw Error({.file = name_, .byte = 6},
                  fmt::format(".npy version {} is not known; 1 to 3 are", version));
    const std::size_t prefix = version == 1 ? 10 : 12;
    if (bytes_.size() < prefix) throw Error({.file = name_}, "ends in its header");
    std::size_t length = byte(8) | static_cast<std::size_t>(byte(9)) << 8U;
    if (version > 1)
      length |= static_cast<std::size_t>(byte(10)) << 16U | static_cast<std::size_t>(byte(11))
                                                                << 24U;
    if (length > bytes_.size() - prefix) throw Error({.file = name_}, "ends in its header");
    read_npy_data(bytes_.substr(prefix, length), prefix + length);
  }

  void read_csv() {
    std::uint64_t line_number = 0;
    bool may_be_header = true;
    for (std::string_view rest = bytes_; !rest.empty();) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      std::string_view line = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      ++line_number;
      line = line.substr(0, line.find('#'));
      const std::size_t first = line.find_first_not_of(" \t\r");
      if (first == std::string_view::npos) continue;
      if (may_be_header && !begins_with_number(line.substr(first))) {
        may_be_header = false;
        read_names(line);
        continue;
      }
      may_be_header = false;
      read_line(line, line_number);
    }
  }

  void read_names(std::string_view line) {
    constexpr std::string_view kBetween = ",; \t\r\"";
    for (std::size_t at = line.find_first_not_of(kBetween); at != std::string_view::npos;
         at = line.find_first_not_of(kBetween)) {
      line.remove_prefix(at);
      const std::size_t end = std::min(line.find_first_of(kBetween), line.size());
      std::string name(line.substr(0, end));
      for (char& c : name)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
      names_.push_back(std::move(name));
      line.remove_prefix(end);
    }
  }

  [[noreturn]] void fail(std::uint64_t line, const std::string& message) const {
    throw Error({.file = name_, .line = line}, message);
  }

  static std::optional<double> parse(std::string_view& text) {
    std::string_view digits = text;
    if (digits.starts_with('+')) digits.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc::invalid_argument) return std::nullopt;
    if (error == std::errc::result_out_of_range) value = HUGE_VAL;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
  }

  static bool begins_with_number(std::string_view text) {
    const std::optional<double> value = parse(text);
    // "info" or "nanometres" begin like numbers.
    return value &&
           (text.empty() || std::string_view(",; \t\r").find(text[0]) != std::string_view::npos);
  }

  void read_line(std::string_view line, std::uint64_t number) {
    std::size_t count = 0;
    const auto skip = [&](std::string_view what) {
      line.remove_prefix(std::min(line.find_first_not_of(what), line.size()));
    };
    for (skip(" \t\r"); !line.empty(); ++count) {
      const std::string_view before = line;
      const std::optional<double> value = parse(line);
      if (!value) fail(number, fmt::format("'{}' is no number", printable(before, 20)));
      if (!line.empty() && std::string_view(",; \t\r").find(line[0]) == std::string_view::npos)
        fail(number, fmt::format("'{}' is no number", printable(before, 20)));
      if (count < columns_ || columns_ == 0)
        append(*value, [&] { return FileSpot{.file = name_, .line = number}; });
      skip(" \t\r");
      const bool separated = !line.empty() && (line[0] == ',' || line[0] == ';');
      if (separated) line.remove_prefix(1);
      skip(" \t\r");
      if (separated && line.empty()) fail(number, "ends with a separator");
    }
    if (columns_ == 0 && is_possible(count)) columns_ = count;
    if (count != columns_)
      fail(number, fmt::format("has {} numbers; {} were expected", count, expected_columns()));
  }

  bool is_possible(std::size_t columns) const {
    return std::find(possible_.begin(), possible_.end(), columns) != possible_.end();
  }
  std::string expected_columns() const {
    return columns_ > 0 ? fmt::format("{}", columns_)
                        : fmt::format("{}", fmt::join(possible_, " or "));
  }

  // spot_of_value() tells an error's place. It is not made for each of millions of numbers.
  template <typename Spot>
  void append(double value, const Spot& spot_of_value) {
    const auto rounded = static_cast<Value>(value);
    if (!std::isfinite(rounded))
      throw Error(spot_of_value(), fmt::format("{} is no finite {}", value,
                                               sizeof(Value) == 4 ? "float32" : "number"));
    values_.push_back(rounded);
  }

  template <typename T>
  void copy(std::string_view data, std::size_t offset) {
    values_.reserve(data.size() / sizeof(T));
    for (std::size_t i = 0; i + sizeof(T) <= data.size(); i += sizeof(T)) {
      T value;
      std::memcpy(&value, data.data() + i, sizeof(T));
      append(static_cast<double>(value),
             [&] { return FileSpot{.file = name_, .byte = offset + i}; });
    }
  }

  // What follows a key in the header, which is a Python dictionary as text.
  std::string_view entry(std::string_view header, std::string_view key) const {
    const std::size_t place = header.find(fmt::format("'{}':", key));
    if (place == std::string_view::npos)
      throw Error({.file = name_}, fmt::format("its header has no '{}'", key));
    std::string_view value = header.substr(place + key.size() + 3);
    value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
    return value;
  }

  void read_npy_data(std::string_view header, std::size_t offset) {
    const std::string_view type = entry(header, "descr");
    const bool is_double = type.starts_with("'<f8'");
    if (!is_double && !type.starts_with("'<f4'"))
      throw Error({.file = name_},
                  fmt::format("holds numbers of type {}; '<f4' and '<f8' can be read",
                              printable(type.substr(0, type.find(',')), 20)));
    const std::string_view order = entry(header, "fortran_order");
    const bool by_columns = order.starts_with("True");
    if (!by_columns && !order.starts_with("False"))
      throw Error({.file = name_}, fmt::format("its fortran_order '{}' is neither True nor False",
                                               printable(order.substr(0, order.find(',')), 20)));
    const std::size_t rows = read_shape(entry(header, "shape"));
    const std::string_view data = bytes_.substr(offset);
    const std::size_t row_size = columns_ * (is_double ? 8 : 4);
    if (data.size() % row_size != 0 || data.size() / row_size != rows)
      throw Error({.file = name_, .byte = offset},
                  fmt::format("its header promises {} rows of {} bytes; {} bytes follow", rows,
                              row_size, data.size()));
    is_double ? copy<double>(data, offset) : copy<float>(data, offset);
    if (by_columns) values_ = turn_columns(values_, rows);
  }

  // From column after column to row after row.
  std::vector<Value> turn_columns(const std::vector<Value>& values, std::size_t rows) const {
    std::vector<Value> turned(values.size());
    for (std::size_t column = 0; column < columns_; ++column)
      for (std::size_t row = 0; row < rows; ++row)
        turned[row * columns_ + column] = values[column * rows + row];
    return turned;
  }

  // "(12, 3)": whole numbers, with or without blanks, and perhaps a comma at the end.
  std::size_t read_shape(std::string_view text) {
    const std::string_view shape = text.substr(0, std::min(text.find(')'), text.size()) + 1);
    const auto fail_shape = [&] {
      throw Error({.file = name_}, fmt::format("has the shape {}; (n, {}) is expected",
                                               printable(shape, 30), expected_columns()));
    };
    std::string_view rest = shape;
    const auto skip_blanks = [&] {
      rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    };
    std::vector<std::size_t> sides;
    if (!rest.starts_with('(')) fail_shape();
    rest.remove_prefix(1);
    for (skip_blanks(); !rest.starts_with(')'); skip_blanks()) {
      std::size_t side = 0;
      const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), side);
      if (error != std::errc() || sides.size() == 2) fail_shape();
      sides.push_back(side);
      rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
      skip_blanks();
      if (rest.starts_with(','))
        rest.remove_prefix(1);
      else if (!rest.starts_with(')'))
        fail_shape();
    }
    if (sides.size() == 2 && columns_ == 0 && is_possible(sides[1])) columns_ = sides[1];
    if (sides.size() != 2 || sides[1] != columns_) fail_shape();
    return sides[0];
  }

  std::string_view bytes_;
  std::string name_;
  std::span<const std::size_t> possible_;
  std::size_t columns_;  // 0: not known yet
  std::vector<std::string> names_{};
  std::vector<Value> values_{};
};

template <typename Value, typename Take>
void read_with(const std::string& file, std::span<const std::size_t> columns, Take&& take) {
  const bool is_stdin = file == "-";
  const std::vector<std::byte> bytes = read_file(is_stdin ? "/dev/stdin" : file);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  TableReader<Value> reader(text, is_stdin ? "stdin" : file, columns);
  const std::optional<Format> format = is_stdin ? std::nullopt : format_by_name(file);
  reader.read(format.value_or(format_by_content(text)));
  take(reader);
}

std::string encode_npy(std::size_t columns, std::span<const float> values) {
  const std::size_t rows = values.size() / columns;
  std::string header = fmt::format(
      "{{'descr': '<f4', 'fortran_order': False, 'shape': {}, }}",
      columns == 1 ? fmt::format("({},)", rows) : fmt::format("({}, {})", rows, columns));
  // With the ten bytes before it a multiple of 64, ended by a new line.
  header.resize((header.size() + 1 + 10 + 63) / 64 * 64 - 10, ' ');
  header.back() = '\n';
  std::string bytes(kNpyMagic);
  bytes += {1, 0, static_cast<char>(header.size() & 255U), static_cast<char>(header.size() >> 8U)};
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  return bytes;
}

std::string encode_csv(std::span<const std::string> names, std::span<const float> values) {
  std::string text = fmt::format("{}\n", fmt::join(names, ","));
  for (std::size_t i = 0; i < values.size(); ++i)
    fmt::format_to(std::back_inserter(text), "{}{}", values[i],
                   (i + 1) % names.size() == 0 ? '\n' : ',');
  return text;
}

}  // namespace

Table read_table(const std::string& file, std::size_t columns) {
  Table table{.columns = columns, .values = {}};
  read_with<float>(file, {&columns, 1},
                   [&](auto& reader) { table.values = std::move(reader.values()); });
  return table;
}

NumberTable read_number_table(const std::string& file, std::span<const std::size_t> columns) {
  NumberTable table;
  read_with<double>(file, columns, [&](auto& reader) {
    table.columns = reader.columns();
    table.values = std::move(reader.values());
    table.names = reader.names();
  });
  return table;
}

void write_table(const std::string& file, std::span<const std::string> column_names,
                 std::span<const float> values) {
  assert(!column_names.empty() && values.size() % column_names.size() == 0);
  if (file == "-") {
    write_stdout(std::as_bytes(values));
    return;
  }
  switch (format_by_name(file).value_or(Format::kRaw)) {
    case Format::kNpy:
      write_file(file, encode_npy(column_names.size(), values));
      break;
    case Format::kCsv:
      write_file(file, encode_csv(column_names, values));
      break;
    case Format::kRaw:
      write_file(file, std::as_bytes(values));
      break;
  }
}

std::span<const Vec3f> as_points(const Table& table) {
  static_assert(sizeof(Vec3f) == 3 * sizeof(float));
  assert(table.columns == 3);
  return {reinterpret_cast<const Vec3f*>(table.values.data()), table.rows()};
}

}  // namespace isotact::tool

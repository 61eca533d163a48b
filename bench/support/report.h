// Output of a program of this folder: tables as they come, or one JSON object at the end. In
// addition to the program's own keys, that object has the key "report". It has tables, figures and
// checks in one form for all programs, from which `isotact bench --report` makes a page.
// docs/benchmarks.md describes it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "measure.h"
#include "options.h"
#include "plot.h"

namespace isotact::bench {

using Json = nlohmann::ordered_json;

// Origin of a column or row. Key: the subject of the row.
enum class Of : unsigned char { kKey, kPaper, kOurs, kPeer };

struct Column {
  std::string name{};
  Of of = Of::kOurs;
  std::string unit{};
  int decimals = -1;  // For numbers that are not counts. -1: three significant digits.
};

struct TableHead {
  std::string id{};  // Unique in a program.
  // Key and position of the repeated measurement: "XB14", "Table 2"; or empty.
  std::string paper{};
  std::string place{};
  std::string title{};
  std::vector<Column> columns{};
  std::string note{};  // Information for the reader.
};

struct FigureHead {
  std::string id{}, paper{}, place{}, title{}, note{};
};

// Nothing, a number, a count, or a text.
class Cell {
 public:
  Cell() = default;
  template <typename T>
  Cell(const T& value) {  // NOLINT(google-explicit-constructor): rows are lists of anything
    if constexpr (std::is_floating_point_v<T>)
      value_ = static_cast<double>(value);
    else if constexpr (std::is_integral_v<T>)
      value_ = static_cast<std::int64_t>(value);
    else
      value_ = std::string(value);
  }
  Json to_json() const;
  std::string to_text(const Column& column) const;
  bool is_text() const { return std::holds_alternative<std::string>(value_); }

 private:
  std::variant<std::monostate, double, std::int64_t, std::string> value_;
};

// Returns a number, or nothing if there is none.
inline Cell cell_if(bool there, double value) { return there ? Cell(value) : Cell(); }

class Report;

// Rows may come one by one, and each is printed at once. Lives no longer than its report.
class Table {
 public:
  // Needs as many cells as columns. `of` is given if the row as a whole is the paper's or a peer's.
  void row(const std::vector<Cell>& cells, Of of = Of::kKey);

 private:
  friend class Report;
  Table(Report& report, std::size_t part, std::size_t item, TableHead head);
  void print_head() const;

  Report* report_;
  std::size_t part_, item_;
  TableHead head_;
  std::vector<std::size_t> widths_;
};

// Peers and conditions of a measurement.
struct Setting {
  std::vector<std::string> peers{};  // With versions and flags.
  std::string gpu{};
  std::string how{};  // "one thread, processor time".
};

class Report {
 public:
  Report(std::string program, const RunOptions& options, Setting setting = {});

  // Only on a terminal: information that tables and notes do not have.
  template <typename... T>
  void print(fmt::format_string<T...> format, T&&... values) {
    if (options_.json) return;
    fmt::print(format, std::forward<T>(values)...);
    std::fflush(stdout);
  }

  // Begins a part, which --only names. Empty: the program as a whole.
  void begin_part(std::string_view name);
  void end_part(double seconds);
  // The part could not be measured. The reason is reported, and the program fails in the end.
  void give_up(const std::string& why);

  Table table(TableHead head);
  void figure(const FigureHead& head, const std::vector<Plot>& panels);
  void note(const std::string& text);
  // A wrong result makes the program fail, in the end: the other numbers are still of interest. The
  // claim is the correct behaviour, the same each time; the detail has the position and the amount.
  void check(bool holds, const std::string& claim, const std::string& detail = {});
  // A desired time or ratio. It is reported, and does not fail: machines are noisy.
  void aim(bool is_met, const std::string& what);

  // Ends a run: prints the JSON object, or `well` if there was no failure. Returns the exit code.
  int finish(const char* well);

  bool as_json() const { return options_.json; }
  const std::string& flags() const { return flags_; }  // Flags of the compiler, and SIMD.
  const std::vector<std::string>& failures() const { return failures_; }

  Json json;

 private:
  friend class Table;
  Json& item(std::size_t part, std::size_t number) { return parts_[part]["items"][number]; }
  std::size_t add_item(Json item);
  std::string command_of(std::string_view part) const;

  std::string program_, flags_;
  RunOptions options_;
  Json about_, parts_ = Json::array();
  std::vector<std::string> failures_;
  // The table that was printed last.
  std::pair<std::size_t, std::size_t> printed_{~std::size_t{0}, 0};
};

// Runs the chosen parts, each a struct with `name` and `run(options, context..., report)`. A part
// that throws does not keep the others from running.
template <typename Parts, typename Options, typename... Context>
void run_parts(const Parts& parts, const Options& options, Report& report, Context&... context) {
  for (const auto& part : parts) {
    if (!is_chosen(options.only, part.name)) continue;
    report.begin_part(part.name);
    const double seconds = seconds_of([&] {
                             try {
                               part.run(options, context..., report);
                             } catch (const std::exception& error) {
                               report.give_up(error.what());
                             }
                           }).wall;
    report.end_part(seconds);
  }
}

}  // namespace isotact::bench

// Results of benchmark programs, read from their JSON (docs/benchmarks.md): the input of a page.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "commands/command.h"

namespace isotact::tool {

struct ResultColumn {
  std::string name{}, of{}, unit{};  // `of` is "key", "paper", "ours" or "peer".
};
struct ResultCell {
  std::string text{};
  bool is_number = false;
  std::string link{};  // An anchor of the page.
};
struct ResultRow {
  std::string of{};  // "key" if the columns define it.
  std::vector<ResultCell> cells{};
};
struct ResultTable {
  std::string id{}, paper{}, place{}, title{}, note{};
  std::vector<ResultColumn> columns{};
  std::vector<ResultRow> rows{};
};

struct ResultLine {
  std::string name{};
  std::vector<double> x{}, y{};  // Equal lengths, all finite.
};
struct ResultPanel {
  std::string title{}, x_name{}, y_name{};
  bool log_x = false, log_y = false;
  std::vector<ResultLine> lines{};
};
struct ResultFigure {
  std::string id{}, paper{}, place{}, title{}, note{};
  std::vector<ResultPanel> panels{};
};

// A table, a figure, or a paragraph.
using ResultItem = std::variant<ResultTable, ResultFigure, std::string>;

struct ResultCheck {
  std::string claim{};
  std::uint64_t asked = 0;
  std::vector<std::string> failed{};  // Details.
};
struct ResultAim {
  std::string what{};
  bool is_met = false;
};
struct ResultPart {
  std::string name{}, command{}, error{};  // An error: it could not be measured.
  std::vector<ResultItem> items{};
  std::vector<ResultCheck> checks{};
  std::vector<ResultAim> aims{};
};

struct ProgramResult {
  std::string name{};
  std::string error{};  // If there is no result.
  bool is_quick = false;
  std::string options{}, date{};
  Facts machine{};  // The machine alone: the same for all programs of a run.
  Facts setting{};  // Flags, GPU, peers and method of measurement.
  std::vector<ResultPart> parts{};
};

struct BenchRun {
  std::string source{};  // "this run", or the file that it was read from.
  std::vector<ProgramResult> programs{};
};

// Reads the JSON object of one program. Throws Error, which names `where`, for anything else.
ProgramResult read_program_result(const std::string& name, const Json& object,
                                  const std::string& where);

// Reads a file that `isotact bench --json` or one program with --json wrote.
BenchRun read_bench_run(const std::string& file);

}  // namespace isotact::tool

// What benchmark programs report, read from their JSON (docs/benchmarks.md): the input of a page.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "command.h"

namespace isotact::tool {

struct ResultColumn {
  std::string name{}, of{}, unit{};  // of: "key", "paper", "ours" or "peer"
};
struct ResultCell {
  std::string text{};
  bool is_number = false;
  std::string link{};  // an anchor of the page
};
struct ResultRow {
  std::string of{};  // "key" where the columns say it
  std::vector<ResultCell> cells{};
};
struct ResultTable {
  std::string id{}, paper{}, place{}, title{}, note{};
  std::vector<ResultColumn> columns{};
  std::vector<ResultRow> rows{};
};

struct ResultLine {
  std::string name{};
  std::vector<double> x{}, y{};  // as many of both, all finite
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
  std::vector<std::string> failed{};  // details
};
struct ResultAim {
  std::string what{};
  bool is_met = false;
};
struct ResultPart {
  std::string name{}, command{}, error{};  // an error: it could not be measured
  std::vector<ResultItem> items{};
  std::vector<ResultCheck> checks{};
  std::vector<ResultAim> aims{};
};

struct ProgramResult {
  std::string name{};
  std::string error{};  // where there is no result
  bool is_quick = false;
  std::string options{}, date{};
  Facts machine{};  // of the machine alone: the same for all programs of a run
  Facts setting{};  // flags, GPU, peers and how it measures
  std::vector<ResultPart> parts{};
};

struct BenchRun {
  std::string source{};  // "this run", or the file it was read from
  std::vector<ProgramResult> programs{};
};

// Of one program's JSON object. Throws Error, which names `where`, for what is not such an object.
ProgramResult read_program_result(const std::string& name, const Json& object,
                                  const std::string& where);

// A file that `isotact bench --json` or one program with --json wrote.
BenchRun read_bench_run(const std::string& file);

}  // namespace isotact::tool

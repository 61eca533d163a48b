#include "bench_results.h"

#include <algorithm>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/file.h"

#include "support/format_number.h"

namespace isotact::tool {
namespace {

// Reads members of objects, and says where something is not as it should be.
class ResultReader {
 public:
  ResultReader(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) fail("is not an object");
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(fmt::format("{}: {}; expected what 'isotact bench --json' writes", where_, what));
  }
  bool has(const char* key) const { return object_.contains(key) && !object_[key].is_null(); }
  std::string text(const char* key) const {
    const auto place = object_.find(key);
    if (place == object_.end() || place->is_null()) return "";
    if (!place->is_string()) fail(fmt::format("\"{}\" is not a text", key));
    return place->get<std::string>();
  }
  bool flag(const char* key) const {
    const auto place = object_.find(key);
    return place != object_.end() && place->is_boolean() && place->get<bool>();
  }
  const Json& list(const char* key) const {
    static const Json none = Json::array();
    const auto place = object_.find(key);
    if (place == object_.end()) return none;
    if (!place->is_array()) fail(fmt::format("\"{}\" is not a list", key));
    return *place;
  }
  std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> result;
    for (const Json& entry : list(key)) {
      if (!entry.is_string()) fail(fmt::format("\"{}\" is not a list of texts", key));
      result.push_back(entry.get<std::string>());
    }
    return result;
  }
  double number(const char* key, double otherwise) const {
    const auto place = object_.find(key);
    return place != object_.end() && place->is_number() ? place->get<double>() : otherwise;
  }
  ResultReader member(const char* key) const {
    const auto place = object_.find(key);
    if (place == object_.end()) fail(fmt::format("there is no \"{}\"", key));
    return {*place, fmt::format("{}, \"{}\"", where_, key)};
  }
  const std::string& where() const { return where_; }

 private:
  const Json& object_;
  std::string where_;
};

ResultCell read_cell(const Json& value, int decimals) {
  if (value.is_string()) return {.text = value.get<std::string>()};
  if (value.is_number_integer())
    return {.text = bench::with_separators(value.dump()), .is_number = true};
  if (value.is_number())
    return {.text = bench::format_number(value.get<double>(), decimals), .is_number = true};
  if (value.is_boolean()) return {.text = value.get<bool>() ? "yes" : "no"};
  return {};
}

ResultTable read_table(const ResultReader& in) {
  ResultTable table{.id = in.text("id"),
                    .paper = in.text("paper"),
                    .place = in.text("place"),
                    .title = in.text("title"),
                    .note = in.text("note")};
  std::vector<int> decimals;
  for (const Json& entry : in.list("columns")) {
    const ResultReader column(entry, in.where() + ", a column");
    table.columns.push_back({column.text("name"), column.text("of"), column.text("unit")});
    decimals.push_back(static_cast<int>(std::clamp(column.number("decimals", -1), -1.0, 9.0)));
  }
  for (const Json& entry : in.list("rows")) {
    const ResultReader row(entry, fmt::format("{}, table \"{}\", a row", in.where(), table.id));
    const Json& values = row.list("cells");
    if (values.size() != table.columns.size())
      row.fail(fmt::format("it has {} cells, and there are {} columns", values.size(),
                           table.columns.size()));
    ResultRow result{.of = row.text("of")};
    for (std::size_t i = 0; i < values.size(); ++i)
      result.cells.push_back(read_cell(values[i], decimals[i]));
    table.rows.push_back(std::move(result));
  }
  return table;
}

ResultLine read_line(const ResultReader& in) {
  ResultLine line{.name = in.text("name")};
  const Json &x = in.list("x"), &y = in.list("y");
  if (x.size() != y.size()) in.fail("\"x\" and \"y\" are not of one length");
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!x[i].is_number() || !y[i].is_number()) continue;  // null: no number
    line.x.push_back(x[i].get<double>());
    line.y.push_back(y[i].get<double>());
  }
  return line;
}

ResultFigure read_figure(const ResultReader& in) {
  ResultFigure figure{.id = in.text("id"),
                      .paper = in.text("paper"),
                      .place = in.text("place"),
                      .title = in.text("title"),
                      .note = in.text("note")};
  for (const Json& entry : in.list("panels")) {
    const ResultReader panel(entry, fmt::format("{}, figure \"{}\"", in.where(), figure.id));
    ResultPanel result{.title = panel.text("title"),
                       .x_name = panel.text(panel.has("x") ? "x" : "x_name"),
                       .y_name = panel.text(panel.has("y") ? "y" : "y_name"),
                       .log_x = panel.flag("log_x"),
                       .log_y = panel.flag("log_y")};
    for (const Json& line : panel.list("lines"))
      result.lines.push_back(read_line({line, panel.where() + ", a line"}));
    figure.panels.push_back(std::move(result));
  }
  return figure;
}

ResultItem read_item(const ResultReader& in) {
  const std::string named = in.text("item");
  const std::string kind = named.empty() ? in.text("kind") : named;  // as older files have it
  if (kind == "table") return read_table(in);
  if (kind == "figure") return read_figure(in);
  if (kind == "text") return in.text("text");
  in.fail(fmt::format("\"{}\" is no kind of item", kind));
}

ResultPart read_part(const ResultReader& in) {
  ResultPart part{
      .name = in.text("name"), .command = in.text("command"), .error = in.text("error")};
  const std::string where =
      part.name.empty() ? in.where() : fmt::format("{} \"{}\"", in.where(), part.name);
  for (const Json& item : in.list("items")) part.items.push_back(read_item({item, where}));
  for (const Json& entry : in.list("checks")) {
    const ResultReader check(entry, where + ", a check");
    part.checks.push_back(
        {check.text("claim"),
         static_cast<std::uint64_t>(std::clamp(check.number("asked", 0), 0.0, 1e15)),
         check.texts("failed")});
  }
  for (const Json& entry : in.list("aims")) {
    const ResultReader aim(entry, where + ", an aim");
    part.aims.push_back({aim.text("what"), aim.flag("met")});
  }
  return part;
}

void add_fact(Facts& facts, const char* name, const std::string& value) {
  if (!value.empty()) facts.emplace_back(name, value);
}

void read_machine(const ResultReader& in, ProgramResult& result) {
  const ResultReader machine = in.member("machine");
  const double threads = machine.number("threads", 0);
  // Older files have gigabytes.
  const double memory = machine.number("memory_bytes", 1e9 * machine.number("memory_gb", 0)) / 1e9;
  add_fact(result.machine, "Processor", machine.text("processor"));
  if (threads > 0)
    add_fact(result.machine, "Threads",
             fmt::format("{:.0f} ({})", threads, machine.text("thread_backend")));
  if (memory > 0) add_fact(result.machine, "Memory", fmt::format("{:.1f} GB", memory));
  add_fact(result.machine, "System", machine.text("system"));
  add_fact(result.machine, "Compiler, flags, SIMD", in.text("flags"));
  add_fact(result.machine, "Isotact", machine.text("isotact"));
  result.date = machine.text("date");
  add_fact(result.setting, "GPU", in.text("gpu"));
  for (const std::string& peer : in.texts("peers")) add_fact(result.setting, "Peer", peer);
  add_fact(result.setting, "How", in.text("how"));
  add_fact(result.setting, "When",
           fmt::format("{}, load {:.1f} at the start", result.date, machine.number("load", 0)));
}

}  // namespace

ProgramResult read_program_result(const std::string& name, const Json& object,
                                  const std::string& where) {
  const ResultReader in(object, where);
  ProgramResult result{.name = name};
  if (!in.has("report")) {
    result.error = in.has("error") ? in.text("error") : "its JSON has no \"report\"";
    return result;
  }
  const ResultReader report = in.member("report");
  result.is_quick = report.flag("quick");
  result.options = report.text("options");
  read_machine(report, result);
  for (const Json& part : report.list("parts"))
    result.parts.push_back(read_part({part, where + ", part"}));
  return result;
}

BenchRun read_bench_run(const std::string& file) {
  const std::vector<std::byte> bytes = read_file(file);
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  const Json object = Json::parse(text, text + bytes.size(), nullptr, false);
  if (object.is_discarded()) throw Error({.file = file}, "is not JSON");
  if (!object.is_object() || object.empty())
    throw Error({.file = file}, "holds no results; expected what 'isotact bench --json' writes");
  BenchRun run{.source = file};
  if (object.contains("report") && object["report"].is_object()) {  // of one program
    const std::string name = ResultReader(object["report"], file).text("program");
    run.programs.push_back(
        read_program_result(name, object, fmt::format("{}, program \"{}\"", file, name)));
    return run;
  }
  // Results without a schema are of version 0.1: programs at the top, axes under other names.
  const bool is_old = !object.contains("schema");
  if (!is_old && !(object.contains("programs") && object["programs"].is_object()))
    throw Error({.file = file}, "has no \"programs\"; expected what 'isotact bench --json' writes");
  for (const auto& [name, entry] : (is_old ? object : object["programs"]).items())
    run.programs.push_back(
        read_program_result(name, entry, fmt::format("{}, program \"{}\"", file, name)));
  return run;
}

}  // namespace isotact::tool

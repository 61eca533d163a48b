#include "report.h"

#include <algorithm>
#include <cstdlib>

#include "isotact/base/error.h"
#include "isotact/base/machine.h"

#include "data_folder.h"
#include "format_number.h"
#include "machine.h"

namespace isotact::bench {
namespace {

const char* name_of(Of of) {
  switch (of) {
    case Of::kKey:
      return "key";
    case Of::kPaper:
      return "paper";
    case Of::kOurs:
      return "ours";
    case Of::kPeer:
      return "peer";
  }
  return "key";
}

// What a reader counts as one character.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

std::string padded(const std::string& text, std::size_t width, bool is_left) {
  const std::size_t gap = width - std::min(width, width_of(text));
  return is_left ? text + std::string(gap, ' ') : std::string(gap, ' ') + text;
}

// In lines of ten characters or a word, so that columns stay narrow.
std::vector<std::string> wrap(const std::string& text) {
  constexpr std::size_t kMostWidth = 10;
  std::vector<std::string> lines;
  std::string line, word;
  const auto end_word = [&] {
    if (word.empty()) return;
    if (!line.empty() && width_of(line) + 1 + width_of(word) > kMostWidth)
      lines.push_back(std::exchange(line, ""));
    line += (line.empty() ? "" : " ") + std::exchange(word, "");
  };
  for (const char c : text) {
    if (c == ' ')
      end_word();
    else
      word += c;
  }
  end_word();
  if (!line.empty()) lines.push_back(line);
  return lines;
}

// Above a column: whose it is, its name, its unit.
std::vector<std::string> lines_of(const Column& column) {
  std::vector<std::string> lines = wrap(column.name);
  if (column.of == Of::kPaper || column.of == Of::kPeer)
    lines.insert(lines.begin(), column.of == Of::kPaper ? "paper:" : "peer:");
  if (!column.unit.empty()) lines.push_back("[" + column.unit + "]");
  return lines;
}

Json to_json(const TableHead& head) {
  Json columns = Json::array();
  for (const Column& c : head.columns)
    columns.push_back(
        {{"name", c.name}, {"of", name_of(c.of)}, {"unit", c.unit}, {"decimals", c.decimals}});
  return {{"item", "table"},     {"id", head.id},        {"paper", head.paper},
          {"place", head.place}, {"title", head.title},  {"note", head.note},
          {"columns", columns},  {"rows", Json::array()}};
}

// More can not be seen in a figure.
double with_six_digits(double value) {
  return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr);
}

Json to_json(const Plot& panel) {
  constexpr std::size_t kColumns = 240;
  Json lines = Json::array();
  for (const PlotLine& line : panel.lines) {
    Json x = Json::array(), y = Json::array();
    for (const PlotPoint& p : panel.is_log_x ? line.points : thin_out(line.points, kColumns)) {
      x.push_back(with_six_digits(p.x));
      y.push_back(with_six_digits(p.y));
    }
    lines.push_back({{"name", line.name}, {"x", std::move(x)}, {"y", std::move(y)}});
  }
  return {{"title", panel.title},    {"x_name", panel.x_name}, {"y_name", panel.y_name},
          {"log_x", panel.is_log_x}, {"log_y", panel.is_log},  {"lines", std::move(lines)}};
}

}  // namespace

Json Cell::to_json() const {
  if (const auto* text = std::get_if<std::string>(&value_)) return *text;
  if (const auto* count = std::get_if<std::int64_t>(&value_)) return *count;
  if (const auto* number = std::get_if<double>(&value_))
    return std::isfinite(*number) ? Json(*number) : Json(fmt::format("{}", *number));
  return nullptr;
}

std::string Cell::to_text(const Column& column) const {
  if (const auto* text = std::get_if<std::string>(&value_)) return *text;
  if (const auto* count = std::get_if<std::int64_t>(&value_))
    return with_separators(fmt::format("{}", *count));
  if (const auto* number = std::get_if<double>(&value_))
    return format_number(*number, column.decimals);
  return "";
}

Table::Table(Report& report, std::size_t part, std::size_t item, TableHead head)
    : report_(&report), part_(part), item_(item), head_(std::move(head)) {
  for (const Column& column : head_.columns) {
    std::size_t width = 6;
    for (const std::string& line : lines_of(column)) width = std::max(width, width_of(line));
    widths_.push_back(width);
  }
}

void Table::print_head() const {
  const std::string paper =
      head_.paper.empty() ? "" : fmt::format("{}, {}: ", head_.paper, head_.place);
  report_->print("\n{}{}\n", paper, head_.title);
  if (!head_.note.empty()) report_->print("  {}\n", head_.note);
  std::size_t height = 0;
  for (const Column& column : head_.columns) height = std::max(height, lines_of(column).size());
  for (std::size_t i = 0; i < height; ++i) {
    std::string text;
    for (std::size_t k = 0; k < widths_.size(); ++k) {
      const std::vector<std::string> lines = lines_of(head_.columns[k]);
      const std::size_t above = height - lines.size();  // what is short stands at the bottom
      text += "  " + padded(i < above ? "" : lines[i - above], widths_[k],
                            head_.columns[k].of == Of::kKey);
    }
    report_->print("{}\n", text.substr(0, text.find_last_not_of(' ') + 1));
  }
}

void Table::row(const std::vector<Cell>& cells, Of of) {
  if (cells.size() != head_.columns.size())
    throw Error(fmt::format("table {}: a row of {} cells, and {} columns", head_.id, cells.size(),
                            head_.columns.size()));
  Json values = Json::array();
  std::string text;
  for (std::size_t k = 0; k < cells.size(); ++k) {
    values.push_back(cells[k].to_json());
    const std::string shown = cells[k].to_text(head_.columns[k]);
    // Rows come one by one: what is wider than all before makes room for those that follow.
    constexpr std::size_t kNameWidth = 16;
    const std::size_t least = k == 0 && cells[k].is_text() ? kNameWidth : 0;
    widths_[k] = std::max({widths_[k], width_of(shown), least});
    text += "  " + padded(shown, widths_[k], cells[k].is_text());
  }
  report_->item(part_, item_)["rows"].push_back({{"of", name_of(of)}, {"cells", values}});
  const std::pair place{part_, item_};
  if (std::exchange(report_->printed_, place) != place) print_head();
  report_->print("{}\n", text.substr(0, text.find_last_not_of(' ') + 1));
}

Report::Report(std::string program, const RunOptions& options, Setting setting)
    : program_(std::move(program)), options_(options) {
  if (setting.gpu.find("software") != std::string::npos)
    setting.how += fmt::format("{}the GPU is software, its times mean little",
                               setting.how.empty() ? "" : "; ");
  if (!has_data())
    setting.how +=
        fmt::format("{}data folder not found: procedural shapes", setting.how.empty() ? "" : "; ");
  flags_ = fmt::format("{}, SIMD kernels: {}", ISOTACT_BENCH_FLAGS, name(simd_level()));
  about_ = {{"schema", "isotact.bench_report/1"},
            {"machine", describe_machine()},
            {"flags", flags_},
            {"gpu", setting.gpu},
            {"peers", setting.peers},
            {"how", setting.how}};
  print("ours: {}\n", flags_);
  for (const std::string& peer : setting.peers) print("peer: {}\n", peer);
  if (!setting.gpu.empty()) print("GPU: {}\n", setting.gpu);
  if (!setting.how.empty()) print("{}\n", setting.how);
}

std::string Report::command_of(std::string_view part) const {
  std::string words = options_.words;
  if (part.empty())
    for (const std::string& name : options_.only)
      words += fmt::format("{}--only {}", words.empty() ? "" : " ", name);
  if (!part.empty()) words += fmt::format("{}--only {}", words.empty() ? "" : " ", part);
  const std::string name = program_.substr(program_.find('_') + 1);
  return "isotact bench " + name + (words.empty() ? "" : fmt::format(" --pass \"{}\"", words));
}

void Report::begin_part(std::string_view name) {
  parts_.push_back({{"name", name},
                    {"command", command_of(name)},
                    {"items", Json::array()},
                    {"checks", Json::array()},
                    {"aims", Json::array()},
                    {"seconds", nullptr},
                    {"error", nullptr}});
}

void Report::end_part(double seconds) {
  parts_.back()["seconds"] = seconds;
  print("  ({} took {:.0f} s)\n", parts_.back()["name"].get<std::string>(), seconds);
}

void Report::give_up(const std::string& why) {
  parts_.back()["error"] = why;
  failures_.push_back(why);
  fmt::print(stderr, "{}: error: {}\n", program_, why);
}

std::size_t Report::add_item(Json item) {
  if (parts_.empty()) begin_part("");
  parts_.back()["items"].push_back(std::move(item));
  return parts_.back()["items"].size() - 1;
}

Table Report::table(TableHead head) {
  const std::size_t number = add_item(to_json(head));
  return {*this, parts_.size() - 1, number, std::move(head)};
}

void Report::figure(const FigureHead& head, const std::vector<Plot>& panels) {
  Json drawn = Json::array();
  for (const Plot& panel : panels) drawn.push_back(to_json(panel));
  add_item({{"item", "figure"},
            {"id", head.id},
            {"paper", head.paper},
            {"place", head.place},
            {"title", head.title},
            {"note", head.note},
            {"panels", std::move(drawn)}});
}

void Report::note(const std::string& text) {
  add_item({{"item", "text"}, {"text", text}});
  print("  {}\n", text);
}

void Report::check(bool holds, const std::string& claim, const std::string& detail) {
  if (parts_.empty()) begin_part("");
  Json& checks = parts_.back()["checks"];
  auto place = std::find_if(checks.begin(), checks.end(),
                            [&](const Json& known) { return known["claim"] == claim; });
  if (place == checks.end()) {
    checks.push_back({{"claim", claim}, {"asked", 0}, {"failed", Json::array()}});
    place = checks.end() - 1;
  }
  (*place)["asked"] = (*place)["asked"].get<int>() + 1;
  if (holds) return;
  (*place)["failed"].push_back(detail);
  failures_.push_back(claim + (detail.empty() ? "" : ": " + detail));
  fmt::print(stderr, "{}: wrong: it does not hold that {}{}\n", program_, claim,
             detail.empty() ? "" : ": " + detail);
}

void Report::aim(bool is_met, const std::string& what) {
  if (parts_.empty()) begin_part("");
  parts_.back()["aims"].push_back({{"what", what}, {"met", is_met}});
  print("  {}: {}\n", is_met ? "met" : "NOT MET", what);
}

int Report::finish(const char* well) {
  const auto given_up = static_cast<std::size_t>(std::count_if(
      parts_.begin(), parts_.end(), [](const Json& part) { return part.contains("error"); }));
  json["failures"] = failures_;
  about_["program"] = program_.substr(program_.find('_') + 1);
  about_["options"] = options_.words;
  about_["quick"] = options_.quick;
  about_["parts"] = std::move(parts_);
  json["report"] = std::move(about_);
  if (options_.json) fmt::print("{}\n", json.dump(1));
  if (failures_.empty()) {
    print("\n{}\n", well);
    return 0;
  }
  fmt::print(stderr,
             "{}: error: {} wrong answers and {} parts that could not be measured, named above\n",
             program_, failures_.size() - given_up, given_up);
  return 1;
}

}  // namespace isotact::bench

// The page as Markdown, to be read as it is or by a viewer.
#include <algorithm>

#include <fmt/format.h>

#include "isotact/base/file.h"

#include "page.h"
#include "support/format_number.h"

namespace isotact::tool {
namespace {

// One line, in which nothing means anything to a viewer.
std::string escape_markdown(std::string_view text) {
  constexpr std::string_view kSpecial = "\\`*_{}[]<>#|~$";
  std::string result;
  for (const char c : text) {
    if (kSpecial.find(c) != std::string_view::npos) result += '\\';
    result += static_cast<unsigned char>(c) < 0x20U ? ' ' : c;
  }
  return result;
}

std::string in_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20U; }, ' ');
  return text;
}

// What is drawn, in numbers.
ResultTable describe_lines(const ResultPanel& panel) {
  ResultTable table{.title = panel.title,
                    .columns = {{.name = "line"},
                                {.name = "points"},
                                {.name = "from " + panel.x_name},
                                {.name = "to"},
                                {.name = "least " + panel.y_name},
                                {.name = "median"},
                                {.name = "most"}}};
  for (const ResultLine& line : panel.lines) {
    if (line.x.empty()) continue;
    std::vector<double> y = line.y;
    std::sort(y.begin(), y.end());
    const auto [from, to] = std::minmax_element(line.x.begin(), line.x.end());
    ResultRow row{.cells = {{.text = line.name}, {.text = std::to_string(y.size())}}};
    for (const double value : {*from, *to, y.front(), y[y.size() / 2], y.back()})
      row.cells.push_back({.text = bench::format_number(value, -1), .is_number = true});
    table.rows.push_back(std::move(row));
  }
  return table;
}

class MarkdownPage final : public Page {
 public:
  explicit MarkdownPage(const std::filesystem::path& file)
      : folder_(file.stem().string() + "_figures") {}

  void heading(int level, const std::string& text, const std::string& anchor) override {
    if (level > 1) text_ += fmt::format("<a id=\"{}\"></a>\n\n", escape_html(anchor));
    text_ += fmt::format("{} {}\n\n", std::string(static_cast<std::size_t>(level), '#'),
                         escape_markdown(text));
  }
  void text(const std::string& text) override { text_ += escape_markdown(text) + "\n\n"; }
  void warning(const std::string& text) override {
    text_ += fmt::format("> **Note:** {}\n\n", escape_markdown(text));
  }
  void command(const std::string& command) override {
    text_ += fmt::format("    $ {}\n\n", in_one_line(command));  // indented: nothing is special
  }
  void facts(const Facts& facts) override {
    for (const auto& [name, value] : facts)
      text_ += fmt::format("- {}: {}\n", escape_markdown(name), escape_markdown(value));
    if (!facts.empty()) text_ += "\n";
  }
  void marks(const std::vector<PageMark>& marks) override {
    for (const PageMark& mark : marks)
      text_ += fmt::format("- {} {}\n", mark.is_good ? "✓" : "**✗**", escape_markdown(mark.text));
    if (!marks.empty()) text_ += "\n";
  }
  void contents(const std::vector<std::pair<std::string, std::string>>& entries) override {
    for (const auto& [text, anchor] : entries)
      text_ += fmt::format("- [{}](#{})\n", escape_markdown(text), anchor);
    text_ += "\n";
  }
  void table(const ResultTable& table, const std::string& anchor) override;
  void figure(const ResultFigure& figure, const std::string& anchor) override {
    const std::string title = full_title(figure.paper, figure.place, figure.title);
    const std::string file = anchor + ".svg";
    figures_.emplace_back(file, draw_figure(figure, SvgUse::kFile));
    text_ +=
        fmt::format("<a id=\"{}\"></a>\n\n**{}**\n\n", escape_html(anchor), escape_markdown(title));
    if (!figure.note.empty()) text_ += escape_markdown(figure.note) + "\n\n";
    text_ += fmt::format("![{}](<{}/{}>)\n\n", escape_markdown(title), folder_, file);
    for (const ResultPanel& panel : figure.panels) table_of(describe_lines(panel));
  }
  void save(const std::filesystem::path& file) override {
    write_file(file, text_);
    if (figures_.empty()) return;
    const std::filesystem::path folder = file.parent_path() / folder_;
    std::filesystem::create_directories(folder);
    for (const auto& [name, svg] : figures_) write_file(folder / name, svg);
  }

 private:
  void table_of(const ResultTable& table);

  std::string text_, folder_;
  std::vector<std::pair<std::string, std::string>> figures_;
};

void MarkdownPage::table(const ResultTable& table, const std::string& anchor) {
  text_ += fmt::format("<a id=\"{}\"></a>\n\n", escape_html(anchor));
  table_of(table);
}

void MarkdownPage::table_of(const ResultTable& table) {
  if (!table.title.empty())
    text_ += fmt::format("**{}**\n\n",
                         escape_markdown(full_title(table.paper, table.place, table.title)));
  if (!table.note.empty()) text_ += escape_markdown(table.note) + "\n\n";
  std::string rule = "|";
  text_ += "|";
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const ResultColumn& column = table.columns[i];
    const bool is_said = column.of == "paper" || column.of == "peer";
    text_ += fmt::format(" {}{}{} |", is_said ? column.of + ": " : "", escape_markdown(column.name),
                         column.unit.empty() ? "" : ", " + escape_markdown(column.unit));
    const bool is_number = std::any_of(table.rows.begin(), table.rows.end(),
                                       [&](const auto& row) { return row.cells[i].is_number; });
    rule += is_number ? "---:|" : "---|";
  }
  text_ += "\n" + rule + "\n";
  for (const ResultRow& row : table.rows) {
    const bool is_paper = row.of == "paper";
    text_ += "|";
    for (const ResultCell& cell : row.cells) {
      std::string text = escape_markdown(cell.text);
      if (!cell.link.empty()) text = fmt::format("[{}](#{})", text, cell.link);
      text_ += " " + (is_paper && !text.empty() ? "*" + text + "*" : text) + " |";
    }
    text_ += "\n";
  }
  text_ += "\n";
}

}  // namespace

std::unique_ptr<Page> make_markdown_page(const std::filesystem::path& file) {
  return std::make_unique<MarkdownPage>(file);
}

}  // namespace isotact::tool

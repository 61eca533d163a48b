// The page as HTML: one file, no scripts, nothing from the network.
#include <algorithm>

#include <fmt/format.h>

#include "isotact/base/file.h"

#include "page.h"

namespace isotact::tool {
namespace {

// Light and dark by the reader's choice; wide tables scroll by themselves; prints on paper.
constexpr const char* kStyle = R"css(
:root{color-scheme:light dark;--ink:#1d2026;--soft:#5d6470;--paper:#fff;--line:#d9dde3;--head:#f3f5f8;
--ours:#0f7b54;--ours-bg:#eef8f3;--theirs:#a35200;--theirs-bg:#fdf4e9;--peer:#2a5fb4;--peer-bg:#eff4fc;
--good:#0f7b54;--bad:#b3261e;--warn-bg:#fff4d6;--link:#2257b0}
@media (prefers-color-scheme:dark){:root{--ink:#e5e8ee;--soft:#9aa3b2;--paper:#14161a;--line:#343a44;
--head:#1d2127;--ours:#5fd0a0;--ours-bg:#14261f;--theirs:#f0a95c;--theirs-bg:#2a2117;--peer:#8bb4f7;
--peer-bg:#182337;--good:#5fd0a0;--bad:#ff8a80;--warn-bg:#3a2f12;--link:#8bb4f7}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:76rem;padding:1.5rem 1.25rem 4rem;background:var(--paper);color:var(--ink);
font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
overflow-wrap:break-word}
h1{font-size:1.9rem;line-height:1.2;margin:.5rem 0 1rem}
h2{font-size:1.4rem;margin:3rem 0 .75rem;padding-top:.75rem;border-top:2px solid var(--line)}
h3{font-size:1.1rem;margin:2rem 0 .5rem}
h4{font-size:1rem;margin:1.5rem 0 .4rem;color:var(--soft)}
p{max-width:48rem;margin:.6rem 0}
a{color:var(--link)}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.85em}
pre{background:var(--head);border:1px solid var(--line);border-radius:.4rem;padding:.5rem .75rem;
margin:.5rem 0 1rem;overflow-x:auto}
pre::before{content:"$ ";color:var(--soft)}
nav ul{columns:16rem;padding-left:1.2rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;font-size:.9rem;margin:.5rem 0 1rem}
dt{color:var(--soft)}dd{margin:0;min-width:0}
.warning{background:var(--warn-bg);border-left:.3rem solid var(--theirs);padding:.6rem .9rem;
border-radius:.25rem;max-width:48rem}
.table,figure .wide{margin:.75rem 0 1.25rem;border:1px solid var(--line);border-radius:.4rem;overflow:hidden}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:.84rem;line-height:1.35;font-variant-numeric:tabular-nums;width:100%}
.caption{padding:.55rem .7rem;font-weight:600;font-size:.95rem;background:var(--head)}
.caption span{display:block;font-weight:400;font-size:.82rem;color:var(--soft);max-width:48rem}
th,td{padding:.32rem .6rem;border-top:1px solid var(--line);text-align:left;vertical-align:top}
thead th{vertical-align:bottom;background:var(--head);font-weight:600;max-width:9rem}
th small{display:block;font-weight:400;color:var(--soft)}
td:first-child{min-width:9rem}
td.n,th.n{text-align:right;white-space:nowrap}
td.n:first-child{min-width:0}
thead th.n{white-space:normal}
.who{display:block;font-size:.7rem;letter-spacing:.04em;text-transform:uppercase}
.ours .who{color:var(--ours)}.paper .who{color:var(--theirs)}.peer .who{color:var(--peer)}
td.ours,tr.ours td{background:var(--ours-bg)}
td.paper,tr.paper td{background:var(--theirs-bg)}
td.peer,tr.peer td{background:var(--peer-bg)}
ul.marks{list-style:none;padding:0;font-size:.9rem}
ul.marks li{padding-left:1.5rem;text-indent:-1.5rem;margin:.15rem 0}
ul.marks b{display:inline-block;width:1.5rem;text-indent:0}
.good b{color:var(--good)}.bad b{color:var(--bad)}.bad{font-weight:600}
figure{margin:1rem 0 1.5rem}
figure .wide{padding:.25rem;overflow-x:auto}
figure svg{display:block;width:100%;min-width:32rem;max-width:48rem;height:auto}
figcaption{font-weight:600;font-size:.95rem}
figcaption span{display:block;font-weight:400;font-size:.82rem;color:var(--soft)}
@media (max-width:40rem){body{padding:1rem .8rem 3rem;font-size:15px}h1{font-size:1.5rem}
dl{grid-template-columns:1fr}dd{margin-bottom:.4rem}}
@media print{:root{color-scheme:light}body{max-width:none;font-size:10pt}.table,.wide{overflow:visible;border:0}
table{font-size:7pt}tr,figure,pre{break-inside:avoid}h2,h3,h4,.caption{break-after:avoid}
thead{display:table-header-group}pre{white-space:pre-wrap}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
)css";

class HtmlPage final : public Page {
 public:
  void heading(int level, const std::string& text, const std::string& anchor) override {
    if (level == 1) title_ = text;
    body_ +=
        fmt::format("<h{0} id=\"{1}\">{2}</h{0}>\n", level, escape_html(anchor), escape_html(text));
  }
  void text(const std::string& text) override {
    body_ += fmt::format("<p>{}</p>\n", escape_html(text));
  }
  void warning(const std::string& text) override {
    body_ += fmt::format("<p class=\"warning\">{}</p>\n", escape_html(text));
  }
  void command(const std::string& command) override {
    body_ += fmt::format("<pre><code>{}</code></pre>\n", escape_html(command));
  }
  void facts(const Facts& facts) override {
    if (facts.empty()) return;
    body_ += "<dl>\n";
    for (const auto& [name, value] : facts)
      body_ += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_html(name), escape_html(value));
    body_ += "</dl>\n";
  }
  void marks(const std::vector<PageMark>& marks) override {
    if (marks.empty()) return;
    body_ += "<ul class=\"marks\">\n";
    for (const PageMark& mark : marks)
      body_ += fmt::format("<li class=\"{}\"><b>{}</b>{}</li>\n", mark.is_good ? "good" : "bad",
                           mark.is_good ? "✓" : "✗", escape_html(mark.text));
    body_ += "</ul>\n";
  }
  void contents(const std::vector<std::pair<std::string, std::string>>& entries) override {
    body_ += "<nav aria-label=\"Contents\"><ul>\n";
    for (const auto& [text, anchor] : entries)
      body_ +=
          fmt::format("<li><a href=\"#{}\">{}</a></li>\n", escape_html(anchor), escape_html(text));
    body_ += "</ul></nav>\n";
  }
  void table(const ResultTable& table, const std::string& anchor) override;
  void figure(const ResultFigure& figure, const std::string& anchor) override {
    body_ += fmt::format(
        "<figure id=\"{}\"><figcaption>{}{}</figcaption>\n<div class=\"wide\">{}</div></figure>\n",
        escape_html(anchor), escape_html(full_title(figure.paper, figure.place, figure.title)),
        note_of(figure.note), draw_figure(figure, SvgUse::kInline));
  }
  void save(const std::filesystem::path& file) override {
    const std::string page = fmt::format(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
        escape_html(title_), kStyle, body_);
    write_file(file, page);
  }

 private:
  static std::string note_of(const std::string& note) {
    return note.empty() ? "" : fmt::format("<span>{}</span>", escape_html(note));
  }
  // A class name that is ours, whatever the input says.
  static const char* class_of(const std::string& of) {
    for (const char* known : {"ours", "paper", "peer"})
      if (of == known) return known;
    return "key";
  }

  std::string title_, body_;
};

// Right-aligned where all that is there are numbers.
bool is_number_column(const ResultTable& table, std::size_t column) {
  bool some = false;
  for (const ResultRow& row : table.rows) {
    const ResultCell& cell = row.cells[column];
    if (!cell.is_number && !cell.text.empty()) return false;
    some = some || cell.is_number;
  }
  return some;
}

// Where rows say whose they are, columns need not.
bool has_owned_rows(const ResultTable& table) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [](const ResultRow& row) { return row.of != "key" && !row.of.empty(); });
}

void HtmlPage::table(const ResultTable& table, const std::string& anchor) {
  const std::string id = escape_html(anchor);
  body_ += fmt::format("<div class=\"table\" id=\"{}\">\n", id);
  // Outside of what scrolls.
  if (!table.title.empty())
    body_ += fmt::format("<div class=\"caption\" id=\"{}-title\">{}{}</div>\n", id,
                         escape_html(full_title(table.paper, table.place, table.title)),
                         note_of(table.note));
  body_ += fmt::format("<div class=\"wide\" tabindex=\"0\"><table{}>\n<thead><tr>",
                       table.title.empty() ? "" : fmt::format(" aria-labelledby=\"{}-title\"", id));
  const bool by_row = has_owned_rows(table);
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const ResultColumn& column = table.columns[i];
    const std::string of = by_row && column.of == "ours" ? "key" : class_of(column.of);
    body_ += fmt::format(
        "<th scope=\"col\" class=\"{}{}\">{}{}{}</th>", of, is_number_column(table, i) ? " n" : "",
        of == "key" ? "" : fmt::format("<span class=\"who\">{}</span>", of),
        escape_html(column.name),
        column.unit.empty() ? "" : fmt::format("<small>{}</small>", escape_html(column.unit)));
  }
  body_ += "</tr></thead>\n<tbody>\n";
  for (const ResultRow& row : table.rows) {
    body_ += fmt::format("<tr class=\"{}\">", class_of(row.of));
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const ResultCell& cell = row.cells[i];
      std::string text = escape_html(cell.text);
      if (!cell.link.empty())
        text = fmt::format("<a href=\"#{}\">{}</a>", escape_html(cell.link), text);
      const bool is_plain = by_row && table.columns[i].of == "ours";
      body_ += fmt::format("<td class=\"{}{}\">{}</td>",
                           is_plain ? "key" : class_of(table.columns[i].of),
                           cell.is_number ? " n" : "", text);
    }
    body_ += "</tr>\n";
  }
  body_ += "</tbody></table></div></div>\n";
}

}  // namespace

std::unique_ptr<Page> make_html_page() { return std::make_unique<HtmlPage>(); }

std::string escape_html(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += static_cast<unsigned char>(c) < 0x20U && c != '\n' ? ' ' : c;
    }
  }
  return result;
}

std::string make_anchor(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (is_letter || (c >= '0' && c <= '9') || c == '_')
      result += is_letter && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    else if (!result.empty() && result.back() != '-')
      result += '-';
  }
  return result.empty() ? "part" : result;
}

std::string full_title(const std::string& paper, const std::string& place,
                       const std::string& title) {
  return paper.empty() ? title : fmt::format("{}, {}: {}", paper, place, title);
}

}  // namespace isotact::tool

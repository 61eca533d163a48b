// A page of text, tables and figures, written as HTML or as Markdown with the same content. All
// texts are plain; the page escapes them.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/bench_results.h"

namespace isotact::tool {

struct PageMark {
  bool is_good = false;
  std::string text{};
};

class Page {
 public:
  virtual ~Page() = default;

  // Level 1 once, then 2 to 4. Anchors are letters, digits, '-' and '_' (make_anchor).
  virtual void heading(int level, const std::string& text, const std::string& anchor) = 0;
  virtual void text(const std::string& text) = 0;
  // A text that must not be overlooked.
  virtual void warning(const std::string& text) = 0;
  virtual void command(const std::string& command) = 0;
  virtual void facts(const Facts& facts) = 0;
  virtual void marks(const std::vector<PageMark>& marks) = 0;
  virtual void table(const ResultTable& table, const std::string& anchor) = 0;
  virtual void figure(const ResultFigure& figure, const std::string& anchor) = 0;
  // Adds links to headings of level 2 at this position, instead of a contents list.
  virtual void contents(const std::vector<std::pair<std::string, std::string>>& entries) = 0;

  // Writes the file, and the files beside it that it refers to.
  virtual void save(const std::filesystem::path& file) = 0;
};

std::unique_ptr<Page> make_html_page();
// Figures become .svg files in a folder beside the page, NAME_figures.
std::unique_ptr<Page> make_markdown_page(const std::filesystem::path& file);

// Returns "first-order" for "First order!".
std::string make_anchor(std::string_view text);

// Returns a figure as SVG. An inline figure takes its ink from the page around it; a file has its
// own background.
enum class SvgUse { kInline, kFile };
std::string draw_figure(const ResultFigure& figure, SvgUse use);

// Returns the text with &, <, >, " and ' as entities, and control characters as spaces.
std::string escape_html(std::string_view text);

// Returns "XB14, Table 2: title", or the title alone.
std::string full_title(const std::string& paper, const std::string& place,
                       const std::string& title);

}  // namespace isotact::tool

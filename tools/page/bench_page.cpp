#include "bench_page.h"

#include <algorithm>

#include <fmt/format.h>

#include "page.h"
#include "support/catalog.h"

namespace isotact::tool {
namespace {

// A program's result with the run it belongs to; runs have letters where there are several.
struct Placed {
  std::size_t run = 0;
  std::string letter{};
  const ProgramResult* program = nullptr;
};

std::string anchor_of(const Placed& placed, const std::string& part, const std::string& item) {
  std::string text = placed.letter.empty() ? "" : placed.letter + "-";
  text += placed.program->name;
  if (!part.empty()) text += "-" + part;
  if (!item.empty() && item != part) text += "-" + item;
  return make_anchor(text);
}

class BenchPage {
 public:
  BenchPage(Page& page, const std::vector<BenchRun>& runs, bool is_partial)
      : page_(page), runs_(runs), is_partial_(is_partial) {
    for (std::size_t r = 0; r < runs.size(); ++r)
      for (const ProgramResult& program : runs[r].programs)
        placed_.push_back(
            {r, runs.size() > 1 ? std::string(1, static_cast<char>('A' + r % 26)) : "", &program});
  }

  void write() {
    write_head();
    write_machines();
    write_papers();
    write_index();
    for (const std::string& name : program_names()) write_program(name);
  }

 private:
  std::vector<std::string> program_names() const;
  bool is_quick() const;
  bool is_all_quick() const;
  void write_head();
  void write_machines();
  void write_papers();
  void write_index();
  void write_program(const std::string& name);
  void write_result(const Placed& placed);
  void write_part(const Placed& placed, const ResultPart& part);
  std::vector<ResultCell> find_places(const bench::PaperItem& item) const;
  ResultCell explain_absence(const bench::PaperItem& item) const;

  Page& page_;
  const std::vector<BenchRun>& runs_;
  bool is_partial_;
  std::vector<Placed> placed_;
};

// In the order of the catalogue; those that it does not know behind.
std::vector<std::string> BenchPage::program_names() const {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  const auto is_here = [&](std::string_view name) {
    return std::any_of(placed_.begin(), placed_.end(),
                       [&](const Placed& p) { return p.program->name == name; });
  };
  for (const bench::BenchProgram& known : bench::kPrograms)
    if (is_here(known.name)) add(std::string(known.name));
  for (const Placed& placed : placed_) add(placed.program->name);
  return names;
}

bool BenchPage::is_quick() const {
  return std::any_of(placed_.begin(), placed_.end(),
                     [](const Placed& p) { return p.program->is_quick; });
}

// Of those that have results.
bool BenchPage::is_all_quick() const {
  return std::all_of(placed_.begin(), placed_.end(), [](const Placed& p) {
    return p.program->is_quick || !p.program->error.empty();
  });
}

void BenchPage::write_head() {
  const BenchTally tally = count_results(runs_);
  page_.heading(1, "Isotact, measured beside the papers and the peers", "top");
  page_.text(fmt::format(
      "{} of {} programs have results; {} of {} checks of answers held. Numbers of the papers are "
      "of their machines and their years, which are named below: they say what was published, and "
      "no ratio to ours is meant. Peers were measured in the same run, on the same input.",
      tally.programs - tally.failed_programs, tally.programs, tally.checks - tally.failed_checks,
      tally.checks));
  if (is_quick())
    page_.warning(
        fmt::format("{} ran with --quick: small inputs and few repeats. That shows that everything "
                    "works; the numbers are not those of a full run.",
                    is_all_quick() ? "All programs" : "Some programs"));
  if (is_partial_)
    page_.text("Only some programs were asked for; the others are not on this page.");
  std::vector<std::pair<std::string, std::string>> entries{
      {"Machines", "machines"}, {"Papers", "papers"}, {"Every table and figure", "index"}};
  for (const std::string& name : program_names())
    entries.emplace_back("bench " + name, make_anchor("program-" + name));
  page_.contents(entries);
}

void BenchPage::write_machines() {
  page_.heading(2, "Machines", "machines");
  for (std::size_t r = 0; r < runs_.size(); ++r) {
    const auto program = std::find_if(runs_[r].programs.begin(), runs_[r].programs.end(),
                                      [](const ProgramResult& p) { return !p.machine.empty(); });
    if (runs_.size() > 1)
      page_.heading(3, fmt::format("{}: {}", static_cast<char>('A' + r % 26), runs_[r].source),
                    fmt::format("machine-{}", r));
    if (program == runs_[r].programs.end()) {
      page_.text("No program of this run has a result.");
      continue;
    }
    Facts facts = program->machine;
    // Not all programs have a GPU: the first that has one says which.
    for (const ProgramResult& p : runs_[r].programs) {
      const auto gpu = std::find_if(p.setting.begin(), p.setting.end(),
                                    [](const auto& fact) { return fact.first == "GPU"; });
      if (gpu == p.setting.end()) continue;
      facts.push_back(*gpu);
      break;
    }
    page_.facts(facts);
  }
  page_.text(
      "Each section names its peers with their versions, and when it ran. Where a command is "
      "given, "
      "ISOTACT_DATA names the folder with the meshes, and the folder of the project is the current "
      "one.");
}

void BenchPage::write_papers() {
  page_.heading(2, "Papers", "papers");
  ResultTable table{.columns = {{.name = "key"},
                                {.name = "authors"},
                                {.name = "title"},
                                {.name = "year"},
                                {.name = "measured on"}}};
  for (const bench::Paper& paper : bench::kPapers) {
    ResultRow row;
    for (const std::string_view text :
         {paper.key, paper.authors, paper.title, paper.year, paper.machine})
      row.cells.push_back({.text = std::string(text)});
    table.rows.push_back(std::move(row));
  }
  page_.table(table, "papers-table");
}

std::vector<ResultCell> BenchPage::find_places(const bench::PaperItem& item) const {
  std::vector<ResultCell> places;
  const auto add = [&](const Placed& placed, const ResultPart& part, const auto& found) {
    if (found.paper != item.paper || found.place != item.place) return;
    places.push_back({.text = fmt::format("{}{}", placed.letter.empty() ? "" : placed.letter + ": ",
                                          found.title),
                      .link = anchor_of(placed, part.name, found.id)});
  };
  for (const Placed& placed : placed_)
    for (const ResultPart& part : placed.program->parts)
      for (const ResultItem& found : part.items) {
        if (const auto* table = std::get_if<ResultTable>(&found)) add(placed, part, *table);
        if (const auto* figure = std::get_if<ResultFigure>(&found)) add(placed, part, *figure);
      }
  return places;
}

// Its program has no result, or was not asked for it.
ResultCell BenchPage::explain_absence(const bench::PaperItem& item) const {
  if (item.is_picture) return {.text = "a picture"};
  for (const Placed& placed : placed_)
    if (!placed.program->error.empty() && item.program == placed.program->name)
      return {.text = "no result", .link = make_anchor("program-" + placed.program->name)};
  return {.text = "not in this report"};
}

// A table or figure of a paper has as many rows as there are tables and figures of ours for it.
void BenchPage::write_index() {
  page_.heading(2, "Every table and figure", "index");
  ResultTable table{.columns = {{.name = "paper"},
                                {.name = "place"},
                                {.name = "what it measures"},
                                {.name = "here"},
                                {.name = "made by"}}};
  for (const bench::PaperItem& item : bench::kPaperItems) {
    std::vector<ResultCell> places = find_places(item);
    if (places.empty()) places.push_back(explain_absence(item));
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto once = [&](std::string_view text) { return std::string(i == 0 ? text : ""); };
      table.rows.push_back({.cells = {{.text = once(item.paper)},
                                      {.text = once(item.place)},
                                      {.text = once(item.what)},
                                      places[i],
                                      {.text = once(item.command)}}});
    }
  }
  page_.table(table, "index-table");
  page_.text(
      "Figures of the papers that are not listed show methods and measure nothing. Tables below "
      "that "
      "name no paper are measurements of our own.");
}

void BenchPage::write_program(const std::string& name) {
  page_.heading(2, "bench " + name, make_anchor("program-" + name));
  for (const bench::BenchProgram& known : bench::kPrograms)
    if (known.name == name) page_.text(std::string(known.what) + ".");
  for (const Placed& placed : placed_)
    if (placed.program->name == name) write_result(placed);
}

void BenchPage::write_result(const Placed& placed) {
  const ProgramResult& program = *placed.program;
  if (!placed.letter.empty())
    page_.heading(3, fmt::format("Machine {}: {}", placed.letter, runs_[placed.run].source),
                  anchor_of(placed, "", ""));
  if (!program.error.empty()) {
    page_.warning("No result: " + program.error);
    return;
  }
  page_.facts(program.setting);
  if (program.is_quick && !is_all_quick()) page_.warning("With --quick: small inputs.");
  for (const ResultPart& part : program.parts) write_part(placed, part);
}

void BenchPage::write_part(const Placed& placed, const ResultPart& part) {
  if (!part.name.empty())
    page_.heading(placed.letter.empty() ? 3 : 4,
                  fmt::format("{}: {}", placed.program->name, part.name),
                  "part-" + anchor_of(placed, part.name, ""));
  page_.command(part.command);
  if (!part.error.empty()) page_.warning("Not measured: " + part.error);
  for (const ResultItem& item : part.items) {
    if (const auto* table = std::get_if<ResultTable>(&item))
      page_.table(*table, anchor_of(placed, part.name, table->id));
    else if (const auto* figure = std::get_if<ResultFigure>(&item))
      page_.figure(*figure, anchor_of(placed, part.name, figure->id));
    else
      page_.text(std::get<std::string>(item));
  }
  if (part.items.empty() && part.error.empty())
    page_.text("This part prints its numbers on a terminal only.");
  std::vector<PageMark> marks;
  for (const ResultCheck& check : part.checks) {
    const std::string times = check.asked == 1 ? "" : fmt::format(" ({} times)", check.asked);
    if (check.failed.empty())
      marks.push_back({true, fmt::format("Checked: {}{}", check.claim, times)});
    else
      marks.push_back(
          {false, fmt::format("WRONG, it does not hold that {}: {} of {} ({})", check.claim,
                              check.failed.size(), check.asked, check.failed.front())});
  }
  for (const ResultAim& aim : part.aims)
    marks.push_back(
        {aim.is_met, fmt::format("{}: {}", aim.is_met ? "Reached" : "Not reached", aim.what)});
  page_.marks(marks);
}

}  // namespace

BenchTally count_results(const std::vector<BenchRun>& runs) {
  BenchTally tally;
  for (const BenchRun& run : runs)
    for (const ProgramResult& program : run.programs) {
      bool is_whole = program.error.empty();
      for (const ResultPart& part : program.parts) {
        is_whole = is_whole && part.error.empty();
        for (const ResultCheck& check : part.checks) {
          tally.checks += check.asked;
          tally.failed_checks += check.failed.size();
        }
      }
      ++tally.programs;
      tally.failed_programs += is_whole ? 0U : 1U;
    }
  return tally;
}

void write_bench_page(const std::string& file, const std::vector<BenchRun>& runs, bool is_partial) {
  check_extension(file, ".html .md");
  const std::unique_ptr<Page> page =
      lower_extension(file) == ".md" ? make_markdown_page(file) : make_html_page();
  BenchPage(*page, runs, is_partial).write();
  page->save(file);
}

}  // namespace isotact::tool

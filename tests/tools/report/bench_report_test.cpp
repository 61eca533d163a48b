// Pages of benchmark results, made by a copy of the tool that has only pretended programs beside
// it.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/run_program.h"
#include "support/scratch_folder.h"

namespace isotact {
namespace {

namespace fs = std::filesystem;
using ReportJson = nlohmann::ordered_json;

// Texts that would be markup if they were not escaped.
constexpr const char* kHostile = "<script>alert('x')</script> & \"quoted\" | *star* [a](b)";

ReportJson make_table() {
  return {{"item", "table"},
          {"id", "table2"},
          {"paper", "XB14"},
          {"place", "Table 2"},
          {"title", kHostile},
          {"note", "a note < with & marks"},
          {"columns",
           {{{"name", "cells"}, {"of", "key"}, {"unit", ""}, {"decimals", -1}},
            {{"name", "uniform"}, {"of", "paper"}, {"unit", "s"}, {"decimals", 1}},
            {{"name", "fast"}, {"of", "ours"}, {"unit", "s"}, {"decimals", -1}},
            {{"name", "other"}, {"of", "\"><u>"}, {"unit", "<i>"}, {"decimals", 2}}}},
          {"rows",
           {{{"of", "key"}, {"cells", {12345, 274.3, 0.26, nullptr}}},
            {{"of", "paper"}, {"cells", {kHostile, 1.0, "-", 2.5}}}}}};
}

ReportJson make_figure() {
  return {{"item", "figure"},
          {"id", "plot"},
          {"paper", "XB14"},
          {"place", "Table 2"},
          {"title", "a <figure>"},
          {"note", ""},
          {"panels",
           {{{"title", kHostile},
             {"x_name", "cells"},
             {"y_name", "s"},
             {"log_x", true},
             {"log_y", true},
             {"lines",
              {{{"name", "<line>"}, {"x", {128, 256, 512}}, {"y", {1.0, 0.0, 100.0}}},
               {{"name", "empty"}, {"x", ReportJson::array()}, {"y", ReportJson::array()}}}}}}}};
}

ReportJson make_result(const std::string& program, const std::string& processor, bool is_quick) {
  const ReportJson part{
      {"name", "table2"},
      {"command", "isotact bench " + program + " --pass \"--only table2\""},
      {"items", {make_table(), make_figure(), {{"item", "text"}, {"text", "said <in> words"}}}},
      {"checks",
       {{{"claim", "two & two are four"}, {"asked", 7}, {"failed", ReportJson::array()}},
        {{"claim", "all is well"}, {"asked", 3}, {"failed", {"<here>"}}}}},
      {"aims", {{{"what", "a thousand times faster"}, {"met", false}}}}};
  return {{"report",
           {{"machine",
             {{"processor", processor},
              {"threads", 2},
              {"thread_backend", "none"},
              {"memory_bytes", 8000000000},
              {"system", "Some <system>"},
              {"isotact", "1"},
              {"date", "2026-01-02 03:04 UTC"},
              {"load", 0.5}}},
            {"flags", "-O3"},
            {"gpu", "Some GPU"},
            {"peers", {"Peer 1.2"}},
            {"how", "one thread"},
            {"program", program},
            {"options", is_quick ? "--quick" : ""},
            {"quick", is_quick},
            {"parts", {part}}}}};
}

class BenchReport : public testing::Test {
 protected:
  void SetUp() override { fs::copy_file(ISOTACT_TOOL, file("isotact")); }

  fs::path file(const std::string& name) { return folder_.path() / name; }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(file(name)) << text;
  }
  std::string read(const std::string& name) {
    std::ifstream stream(file(name));
    std::stringstream text;
    text << stream.rdbuf();
    return text.str();
  }
  // A program that prints what is in a file, and notes how it was called.
  void add_program(const std::string& name, const std::string& script) {
    write("bench_" + name,
          "#!/bin/sh\necho \"$@\" > \"$(dirname \"$0\")/" + name + ".called\"\n" + script + "\n");
    fs::permissions(file("bench_" + name), fs::perms::owner_all);
  }
  void add_program(const std::string& name, const ReportJson& result, int exit_code) {
    write(name + ".json", result.dump());
    add_program(name,
                "cat \"$(dirname \"$0\")/" + name + ".json\"\nexit " + std::to_string(exit_code));
  }
  ProgramRun run(const std::vector<std::string>& arguments) {
    return run_program(file("isotact").string(), arguments, folder_.path().string());
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
  static std::size_t count(const std::string& text, const std::string& part) {
    std::size_t n = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
      ++n;
    return n;
  }

  ScratchFolder folder_;
};

TEST_F(BenchReport, HtmlHasEverythingEscaped) {
  add_program("segments", make_result("segments", "A <processor>", false), 0);
  const ProgramRun r = run({"bench", "segments", "--report", "r.html", "--pass", "--only table2"});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_TRUE(has(r.out, "r.html: results of 1 of 1 programs, 9 of 10 checks held")) << r.out;
  EXPECT_EQ(read("segments.called"), "--only table2 --json\n");
  const std::string page = read("r.html");
  EXPECT_FALSE(has(page, "<script"));
  EXPECT_EQ(count(page, "http"), count(page, "http://www.w3.org/2000/svg"));
  EXPECT_FALSE(has(page, "<line>") || has(page, "<here>") || has(page, "<u>") ||
               has(page, "<processor>") || has(page, "<system>") || has(page, "<i>"));
  for (const char* part :
       {"&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &quot;quoted&quot;", "12,345",
        "274.3", "0.260", "XB14, Table 2: ", "A &lt;processor&gt;", "Some GPU", "Peer 1.2",
        "isotact bench segments --pass &quot;--only table2&quot;",
        "two &amp; two are four (7 times)", "does not hold that all is well: 1 of 3 (&lt;here&gt;)",
        "Not reached: a thousand times faster", "said &lt;in&gt; words", "<polyline",
        "prefers-color-scheme:dark", "@media print", "<meta name=\"viewport\"", "-O3"})
    EXPECT_TRUE(has(page, part)) << part;
  EXPECT_FALSE(has(page, "--quick"));
  // The index leads to the table and the figure, and says what is not there.
  EXPECT_TRUE(has(page, "<a href=\"#segments-table2\">"));
  EXPECT_TRUE(has(page, "id=\"segments-table2\""));
  EXPECT_TRUE(has(page, "id=\"segments-table2-plot\""));
  EXPECT_TRUE(has(page, "not in this report"));
  // Every link has its target, once.
  for (std::size_t at = page.find("href=\"#"); at != std::string::npos;
       at = page.find("href=\"#", at + 1)) {
    const std::string anchor = page.substr(at + 7, page.find('"', at + 7) - at - 7);
    EXPECT_EQ(count(page, "id=\"" + anchor + "\""), 1U) << anchor;
  }
  // What is opened is closed.
  for (const char* tag : {"table", "tr", "figure", "svg", "ul", "dl", "pre", "div", "h2", "p"})
    EXPECT_EQ(count(page, "<" + std::string(tag) + ">") + count(page, "<" + std::string(tag) + " "),
              count(page, "</" + std::string(tag) + ">"))
        << tag;
}

TEST_F(BenchReport, MarkdownHasTheSame) {
  add_program("segments", make_result("segments", "A processor", false), 0);
  const ProgramRun r = run({"bench", "segments", "--report", "r.md"});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  const std::string page = read("r.md");
  for (const char* part :
       {"| 12,345 | 274.3 | 0.260 |  |", "XB14, Table 2: ", "Some GPU", "two & two are four",
        "    $ isotact bench segments --pass \"--only table2\"", "said \\<in\\> words",
        "![XB14, Table 2: a \\<figure\\>](<r_figures/segments-table2-plot.svg>)",
        "\\<script\\>alert('x')\\</script\\>", "\\| \\*star\\* \\[a\\](b)"})
    EXPECT_TRUE(has(page, part)) << part;
  EXPECT_EQ(count(page, "<script"), count(page, "\\<script"));
  const std::string svg = read("r_figures/segments-table2-plot.svg");
  EXPECT_TRUE(has(svg, "<polyline"));
  EXPECT_TRUE(has(svg, "&lt;line&gt;"));
  // Rows of a table have as many bars.
  std::istringstream lines(page);
  std::size_t bars = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] != '|') {
      bars = 0;
      continue;
    }
    const std::size_t n = count(line, "|") - count(line, "\\|");
    if (bars != 0) {
      EXPECT_EQ(n, bars) << line;
    }
    bars = n;
  }
}

TEST_F(BenchReport, WhatFailsOrIsNotBuiltIsSaid) {
  add_program("segments", make_result("segments", "A processor", true), 0);
  add_program("swept", "echo 'bench_swept: error: no <mesh> here' >&2\nexit 1");
  add_program("dynamics", "kill -SEGV $$");
  add_program("idf", "echo 'no JSON at all'");
  add_program("fields", make_result("fields", "A processor", true), 1);
  const ProgramRun r = run({"bench", "--report", "r.html", "--pass", "--quick"});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_TRUE(has(r.err, "failed: dynamics fields idf swept")) << r.err;
  EXPECT_TRUE(has(r.err, "bench_swept: error: no <mesh> here"));  // passed on
  const std::string page = read("r.html");
  for (const char* part :
       {"No result: ended with exit code 1: bench_swept: error: no &lt;mesh&gt; here",
        "No result: ended by signal 11", "No result: it printed no JSON object",
        "No result: it was not built", "All programs ran with --quick", "id=\"program-bullet\""})
    EXPECT_TRUE(has(page, part)) << part;
  EXPECT_TRUE(has(page, "id=\"fields-table2\""));  // wrong answers do not hide the numbers
}

TEST_F(BenchReport, AProgramThatWasNotBuiltMayBeNamed) {
  add_program("segments", make_result("segments", "A processor", false), 0);
  EXPECT_EQ(run({"bench", "bullet", "--report", "r.html"}).exit_code, 1);
  EXPECT_TRUE(has(read("r.html"), "it was not built"));
  EXPECT_EQ(run({"bench", "bullet"}).exit_code, 2);
  EXPECT_EQ(run({"bench", "nonsense", "--report", "r.html"}).exit_code, 2);
}

TEST_F(BenchReport, SavedResultsOfSeveralMachines) {
  add_program("segments", make_result("segments", "First processor", false), 0);
  add_program("swept", "exit 3");
  const ProgramRun saved = run({"bench", "--json"});
  EXPECT_EQ(saved.exit_code, 1);
  write("first.json", saved.out);
  write("second.json", make_result("segments", "Second processor", true).dump());
  fs::remove(file("bench_segments"));  // nothing is run
  const ProgramRun r =
      run({"bench", "--report", "both.html", "--from", "first.json", "--from", "second.json"});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  const std::string page = read("both.html");
  for (const char* part :
       {"First processor", "Second processor", "A: first.json", "B: second.json",
        "Machine A: first.json", "Machine B: second.json", "id=\"a-segments-table2\"",
        "id=\"b-segments-table2\"", "href=\"#a-segments-table2\"",
        "href=\"#b-segments-table2-plot\"", "No result: ended with exit code 3"})
    EXPECT_TRUE(has(page, part)) << part;
  // Some of the programs only.
  ASSERT_EQ(run({"bench", "segments", "--report", "some.md", "--from", "first.json"}).exit_code, 0);
  EXPECT_FALSE(has(read("some.md"), "exit code 3"));
}

TEST_F(BenchReport, OlderFilesAreRead) {
  std::string text = make_result("segments", "one", false).dump();
  const auto page_of = [&] {
    write("results.json", text);
    const ProgramRun r = run({"bench", "--report", "r.md", "--from", "results.json"});
    EXPECT_EQ(r.exit_code, 0) << r.err;
    return read("r.md");
  };
  const std::string page = page_of();
  EXPECT_TRUE(has(page, "8.0 GB")) << page;
  const auto replace = [&](const std::string& from, const std::string& to) {
    ASSERT_TRUE(has(text, from)) << from;
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + 1))
      text.replace(at, from.size(), to);
  };
  replace("\"item\":", "\"kind\":");
  replace("\"memory_bytes\":8000000000", "\"memory_gb\":8.0");
  EXPECT_EQ(page_of(), page);
}

TEST_F(BenchReport, BadInputIsAnErrorThatSaysWhere) {
  const auto fails = [&](const std::string& text, const std::string& what) {
    write("bad.json", text);
    const ProgramRun r = run({"bench", "--report", "r.html", "--from", "bad.json"});
    EXPECT_EQ(r.exit_code, 1) << text;
    EXPECT_TRUE(has(r.err, "bad.json")) << r.err;
    EXPECT_TRUE(has(r.err, what)) << r.err;
  };
  fails("not json", "is not JSON");
  fails("", "is not JSON");
  fails("[]", "holds no results");
  fails("{}", "holds no results");
  fails("{\"segments\": 3}", "is not an object");
  fails("{\"segments\": {\"report\": {}}}", "there is no \"machine\"");
  ReportJson broken = make_result("segments", "x", false);
  broken["report"]["parts"][0]["items"][0]["rows"][0]["cells"] = {1, 2};
  fails(broken.dump(), "it has 2 cells, and there are 4 columns");
  broken = make_result("segments", "x", false);
  broken["report"]["parts"][0]["items"][1]["panels"][0]["lines"][0]["x"] = {1};
  fails(broken.dump(), "not of one length");
  broken = make_result("segments", "x", false);
  broken["report"]["parts"][0]["items"][2]["item"] = "song";
  fails(broken.dump(), "\"song\" is no kind of item");
  EXPECT_EQ(run({"bench", "--report", "r.html", "--from", "none.json"}).exit_code, 1);
}

TEST_F(BenchReport, WrongUsage) {
  add_program("segments", make_result("segments", "x", false), 0);
  EXPECT_EQ(run({"bench", "--report", "r.pdf"}).exit_code, 2);
  EXPECT_EQ(run({"bench", "--from", "segments.json"}).exit_code, 2);
  EXPECT_EQ(run({"bench", "--report", "r.html", "--from", "segments.json", "--json"}).exit_code, 2);
  EXPECT_EQ(
      run({"bench", "--report", "r.html", "--from", "segments.json", "--pass", "x"}).exit_code, 2);
  EXPECT_FALSE(fs::exists(file("segments.called")));
}

// A plain number, a huge one, and none at all: axes and cells stay readable.
TEST_F(BenchReport, OddNumbers) {
  ReportJson odd = make_result("segments", "x", false);
  ReportJson& items = odd["report"]["parts"][0]["items"];
  items[0]["rows"][0]["cells"] = {-1234567, 1e300, 0, "inf"};
  items[1]["panels"][0]["lines"][0] = {{"name", "one"}, {"x", {5}}, {"y", {5}}};
  items[1]["panels"].push_back({{"title", "nothing"}, {"lines", ReportJson::array()}});
  items[1]["panels"].push_back(
      {{"title", "flat"},
       {"lines", {{{"name", "f"}, {"x", {1, 2, nullptr}}, {"y", {1e300, 1e300, 3}}}}}});
  write("odd.json", odd.dump());
  ASSERT_EQ(run({"bench", "--report", "r.html", "--from", "odd.json"}).exit_code, 0);
  const std::string page = read("r.html");
  EXPECT_TRUE(has(page, "-1,234,567"));
  EXPECT_TRUE(has(page, ">inf<"));
  EXPECT_FALSE(has(page, "nan"));
}

}  // namespace
}  // namespace isotact

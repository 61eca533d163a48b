// The key "report" that benchmark programs print, checked by docs/schema/bench_report.json.
#include <limits>

#include <gtest/gtest.h>

#include "bench/support/report.h"
#include "support/json_schema.h"

namespace isotact {
namespace {

TEST(BenchSchema, ReportsOfProgramsFitTheirSchema) {
  bench::RunOptions options;
  options.json = true;
  bench::Report report("bench_pretended", options, {.peers = {"Peer 1.2"}, .how = "one thread"});
  report.begin_part("first");
  bench::Table table = report.table({.id = "table2",
                                     .paper = "XB14",
                                     .place = "Table 2",
                                     .title = "Times",
                                     .columns = {{.name = "cells", .of = bench::Of::kKey},
                                                 {.name = "ours", .unit = "s", .decimals = 2},
                                                 {.name = "peer", .of = bench::Of::kPeer}}});
  table.row({128, 0.25, "none"});
  table.row({256, std::numeric_limits<double>::infinity(), bench::Cell()}, bench::Of::kPaper);
  report.figure({.id = "plot", .title = "A figure"},
                {{.title = "panel",
                  .x_name = "cells",
                  .y_name = "s",
                  .lines = {{.name = "line", .points = {{1, 2}, {2, 3}}}}}});
  report.note("words");
  report.check(true, "all is well");
  report.aim(false, "a thousand times faster");
  report.end_part(0.5);
  report.begin_part("second");
  report.give_up("no data");
  EXPECT_EQ(report.finish("well"), 1);
  const nlohmann::json printed = nlohmann::json::parse(report.json.dump());
  const JsonSchemas schemas(ISOTACT_SOURCE_FOLDER "/docs/schema");
  EXPECT_EQ(schemas.find_flaws(printed["report"]), std::vector<std::string>());
  EXPECT_EQ(printed["report"]["parts"][1]["error"], "no data");
  EXPECT_TRUE(printed["report"]["parts"][0]["error"].is_null());
}

}  // namespace
}  // namespace isotact

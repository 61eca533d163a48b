#include "isotact/field/build/asset_report.h"

#include <limits>

#include <gtest/gtest.h>

namespace isotact {
namespace {

AssetReport some_report() {
  AssetReport report{.mass_from = "field"};
  FieldReport& f = report.field;
  f.sign = {.method = SignMethod::kUnsigned,
            .reason = "why \"not\"",
            .watertight = true,
            .holes = 3,
            .hole_edges = 14,
            .largest_hole = 0.1,
            .membrane_area = 1e-7,
            .membrane_share = 1.0 / 3,
            .cancelled_pairs = 2,
            .turned_components = 4,
            .consistent_components = 5,
            .dropped_triangles = 6,
            .shell_offset = 0.001,
            .warnings = {}};
  f.lattice.spacing = 0.01;
  f.overlap_volume = 1e9;
  f.overlap_share = 0.25;
  f.thin.samples = 100;
  f.thin.lost = 7;
  f.thin.memory_limited = true;
  f.thin.offset = 0.005;
  f.thin.places = {{.position = {1, 2.5, -3}, .thickness = 0.003, .is_wall = true, .samples = 9},
                   {.extent = 0.5, .is_film = true}};
  f.measured = {.points = 4000, .mean = 1e-5, .p99 = 1e-4, .max = 2e-4};
  f.device = "a GPU";
  f.warnings = {"one", "two\twith a tab"};
  return report;
}

Asset asset_with_report(const std::string& text) {
  Asset asset;
  asset.source.sign_report = text;
  return asset;
}

TEST(AssetReport, ComesBackFromItsText) {
  const AssetReport report = some_report();
  const std::string text = encode_report(report);
  const auto read = parse_report(asset_with_report(text));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->mass_from, "field");
  EXPECT_EQ(read->field.sign.method, SignMethod::kUnsigned);
  EXPECT_EQ(read->field.sign.reason, report.field.sign.reason);
  EXPECT_EQ(read->field.sign.membrane_share, report.field.sign.membrane_share);
  EXPECT_EQ(read->field.overlap_volume, 1e9);
  EXPECT_EQ(read->field.thin, report.field.thin);
  EXPECT_EQ(read->field.device, "a GPU");
  EXPECT_EQ(read->field.warnings, report.field.warnings);
}

TEST(AssetReport, NumbersThatAreNotFiniteAreLeftOut) {
  AssetReport report = some_report();
  report.field.sign.largest_hole = std::numeric_limits<double>::infinity();
  const auto read = parse_report(asset_with_report(encode_report(report)));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->field.sign.largest_hole, 0);
}

TEST(AssetReport, OtherTextsAreNone) {
  const std::string good = encode_report(some_report());
  for (const std::string& text :
       {std::string(), std::string("closed and oriented"), std::string("{}"), std::string("[1, 2]"),
        good.substr(0, good.size() / 2), std::string(2'000'000, ' '),
        std::string(1000, '[') + std::string(1000, ']')})
    EXPECT_FALSE(parse_report(asset_with_report(text))) << text.substr(0, 40);
  // A key of another type.
  std::string wrong = good;
  wrong.replace(wrong.find("\"holes\":3"), 9, "\"holes\":{}");
  EXPECT_FALSE(parse_report(asset_with_report(wrong)));
}

}  // namespace
}  // namespace isotact

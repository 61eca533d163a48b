// Loading an asset: copied and checked in full, beside mapped.
#include <filesystem>

#include <unistd.h>

#include "isotact/field/io/asset.h"

#include "fields_report.h"
#include "support/measure.h"

namespace isotact::bench {
namespace {

namespace fs = std::filesystem;

constexpr double kMaxRatio = 0.01;  // mapped over copied

// A folder of our own that goes with us.
class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_(fs::temp_directory_path() / fmt::format("isotact-bench-fields-{}", ::getpid())) {
    fs::create_directory(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

}  // namespace

void bench_loading(const Options& options, Stock& stock, Report& report) {
  const int resolution = options.quick ? 256 : 1024;
  const BrickField& field = stock.field(resolution).field;
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "bunny.isotact";
  Asset asset;
  asset.field = field;
  write_asset(file, asset);

  const std::vector<Vec3> points = points_near(stock.mesh(), 3 * field.voxel_size(), 1000, 4);
  double sum = 0, first_sum = 0;
  const std::vector<Seconds> medians = medians_of({
      {[&] { read_asset(file); }, 9},
      {[&] { read_asset(file, {.map = true}); }, 51},
      {[&] { sum += read_asset(file, {.map = true}).field->value(points[0]); }, 51},
      {[&] {
         const Asset mapped = read_asset(file, {.map = true});
         for (const Vec3& p : points) first_sum += mapped.field->value(p);
       },
       21},
  });
  const Asset mapped = read_asset(file, {.map = true}), copied = read_asset(file);
  for (const Vec3& p : points)
    report.check(
        mapped.field->value(p) == field.value(p) && copied.field->value(p) == field.value(p),
        "a loaded field has the same values, mapped or copied");
  verify_asset(mapped);

  const double copy = medians[0].wall, map = medians[1].wall;
  Table table =
      report.table({.id = "loading",
                    .title = fmt::format("Loading the bunny at {} cells, {:.1f} MB", resolution,
                                         1e-6 * static_cast<double>(encoded_size(asset))),
                    .columns = {{"how", Of::kKey}, {"time", Of::kOurs, "ms"}},
                    .note = "File in the system's cache, by the clock."});
  table.row({"copied and checked", 1e3 * copy});
  table.row({"mapped", 1e3 * map});
  table.row({"mapped, one value", 1e3 * medians[2].wall});
  table.row({"mapped, 1000 values near the surface, all over the file", 1e3 * medians[3].wall});
  report.aim(
      map / copy <= kMaxRatio,
      fmt::format("mapped in at most {} of the time of copied: {:.5f}", kMaxRatio, map / copy));
  report.json["loading"] = {{"resolution", resolution},
                            {"bytes", encoded_size(asset)},
                            {"mapped_over_copied", map / copy},
                            {"copied_seconds", copy},
                            {"mapped_seconds", map},
                            {"mapped_and_one_value_seconds", medians[2].wall},
                            {"mapped_and_1000_values_seconds", medians[3].wall}};
}

}  // namespace isotact::bench

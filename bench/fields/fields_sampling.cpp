// Values with gradients at a million points on one thread, beside OpenVDB and NanoVDB.
#include <algorithm>
#include <cmath>

#include "fields_report.h"
#include "support/measure.h"

namespace isotact::bench {
namespace {

constexpr std::size_t kPoints = 1000000;
constexpr std::size_t kJudged = 20000;
constexpr std::size_t kRuns = 5;
constexpr double kNear = 3;  // cells

struct Variant {
  std::string name;  // as in JSON
  std::string text;
  std::function<void()> work;
  double nanoseconds = 0;         // a point
  FieldErrors error{};            // cells
  double gradient_error_p50 = 0;  // length of the difference to the exact unit vector
};

struct Results {
  std::vector<float> values = std::vector<float>(kPoints);
  std::vector<Vec3f> gradients = std::vector<Vec3f>(kPoints);
};

void sample_one_by_one(const BrickField& field, std::span<const Vec3f> points, Results& results) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    const FieldSample sample = field.sample(to_double(points[i]));
    results.values[i] = static_cast<float>(sample.distance);
    results.gradients[i] = to_float(sample.gradient);
  }
}

// Runs each way once more and holds the first points against the truth.
void judge(const std::vector<Vec3>& points, const ExactField& exact, double cell,
           const Results& results, std::vector<Variant>& variants) {
  std::vector<FieldSample> truth;
  for (std::size_t i = 0; i < kJudged; ++i) truth.push_back(exact.sample(points[i]));
  for (Variant& variant : variants) {
    variant.work();
    std::vector<double> errors, gradient_errors;
    for (std::size_t i = 0; i < kJudged; ++i) {
      errors.push_back(std::abs(static_cast<double>(results.values[i]) - truth[i].distance) / cell);
      gradient_errors.push_back(length(to_double(results.gradients[i]) - truth[i].gradient));
    }
    variant.error = summarize(errors);
    variant.gradient_error_p50 = quantile(gradient_errors, 0.5);
  }
}

double fastest_peer(const std::vector<Variant>& variants) {
  // Of the two ways with BoxSampler.
  return std::min(variants[2].nanoseconds, variants[3].nanoseconds);
}

std::vector<Variant> measure(const BrickField& field, VdbLevelSet& peer, const ExactField& exact,
                             const std::vector<Vec3>& points, Report& report) {
  std::vector<Vec3f> floats;
  for (const Vec3& p : points) floats.push_back(to_float(p));
  Results results;
  const auto vdb = [&](VdbGradient variant) {
    peer.prepare(variant);
    return [&, variant] { peer.sample(variant, floats, results.values, results.gradients); };
  };
  std::vector<Variant> variants{
      {"batch", "ours, batch",
       [&] { sample_field(field, floats, results.values, results.gradients, Threads{1}); }},
      {"single", "ours, one by one", [&] { sample_one_by_one(field, floats, results); }},
      {"openvdb_box_sampler_nearest_voxel", "OpenVDB BoxSampler, ISGradient of the nearest voxel",
       vdb(VdbGradient::kNearestVoxel)},
      {"openvdb_box_sampler_seven", "OpenVDB BoxSampler, seven of them",
       vdb(VdbGradient::kSevenSamples)},
      {"openvdb_box_stencil", "OpenVDB BoxStencil", vdb(VdbGradient::kBoxStencil)}};
  if (has_nanovdb())
    variants.push_back({"nanovdb", "NanoVDB SampleFromVoxels", vdb(VdbGradient::kNanoVdb)});
  variants[0].work();
  const Results batch = results;
  variants[1].work();
  report.check(batch.values == results.values && batch.gradients == results.gradients,
               "the batch gives the bits of one call at a time");
  std::vector<Contender> contenders;
  for (const Variant& variant : variants) contenders.push_back({variant.work, kRuns});
  const std::vector<Seconds> medians = medians_of(contenders);
  for (std::size_t i = 0; i < variants.size(); ++i)
    variants[i].nanoseconds = 1e9 * medians[i].processor / static_cast<double>(kPoints);
  judge(points, exact, field.voxel_size(), results, variants);
  return variants;
}

void show(int resolution, bool near, const std::vector<Variant>& variants, Table& table,
          Report& report) {
  const double peer = fastest_peer(variants);
  Json json{{"resolution", resolution},
            {"points", near ? "near" : "uniform"},
            {"batch_faster_than_openvdb", peer / variants[0].nanoseconds},
            {"single_faster_than_openvdb", peer / variants[1].nanoseconds},
            {"ways", Json::array()}};
  for (const Variant& variant : variants) {
    table.row({resolution, near ? "within 3 cells of the surface" : "uniform in the box",
               variant.text, variant.nanoseconds, variant.nanoseconds / variants[0].nanoseconds,
               variant.error.p50, variant.error.p99, variant.gradient_error_p50},
              variant.name == "batch" || variant.name == "single" ? Of::kOurs : Of::kPeer);
    json["ways"].push_back({{"way", variant.name},
                            {"ns", variant.nanoseconds},
                            {"error_cells_p50", variant.error.p50},
                            {"error_cells_p99", variant.error.p99},
                            {"gradient_error_p50", variant.gradient_error_p50}});
  }
  report.json["sampling"].push_back(std::move(json));
}

}  // namespace

void bench_sampling(const Options& options, Stock& stock, Report& report) {
  Table table = report.table(
      {.id = "sampling",
       .title = fmt::format("Values with gradients at {} random points, one thread", kPoints),
       .columns = {{"cells", Of::kKey},
                   {"points", Of::kKey},
                   {"way", Of::kKey},
                   {"a point", Of::kOurs, "ns", 1},
                   {"over our batch", Of::kOurs, "times", 2},
                   {"error, p50", Of::kOurs, "cells", 4},
                   {"error, p99", Of::kOurs, "cells", 4},
                   {"error of the gradient, p50", Of::kOurs, "", 3}},
       .note = "Bunny, processor time. Beyond its band, both VDBs know no distance and return a "
               "constant."});
  for (const int resolution : options.quick ? std::vector<int>{256} : std::vector<int>{256, 1024}) {
    const BrickField& field = stock.field(resolution).field;
    VdbLevelSet& peer = stock.peer(resolution);
    for (const bool near : {true, false}) {
      const std::vector<Vec3> points =
          near ? points_near(stock.mesh(), kNear * field.voxel_size(), kPoints, 5)
               : points_in(field.bounds(), kPoints, 6);
      const std::vector<Variant> variants = measure(field, peer, stock.exact(), points, report);
      show(resolution, near, variants, table, report);
      if (near)
        report.check(variants[0].error.p99 < 0.1 && variants[1].error.p99 < 0.1,
                     "p99 of the error near the surface is below 0.1 cell",
                     fmt::format("at {} cells it is {:.3f}", resolution, variants[0].error.p99));
    }
  }
}

}  // namespace isotact::bench

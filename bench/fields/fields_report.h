// What the parts of bench_fields share: options, the bunny with its fields, and the truth to hold
// them against.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "isotact/field/build/build_field.h"
#include "isotact/field/models/exact_field.h"

#include "fields_peer.h"
#include "support/report.h"

namespace isotact::bench {

// --only names parts, and meshes of `building`.
struct Options : RunOptions {
  int threads = 1;
};

struct NamedMesh {
  std::string name;
  TriangleMesh mesh;
};
NamedMesh read_named(std::string_view name);  // "bunny", "bunny_raw" or "dragon"

// The bunny with its holes closed, with fields of both sides, each built once and kept.
class Stock {
 public:
  const TriangleMesh& mesh();
  const FieldResult& field(int resolution);
  VdbLevelSet& peer(int resolution);
  const ExactField& exact();

  void keep(int resolution, FieldResult field, VdbLevelSet peer);

 private:
  TriangleMesh mesh_;
  std::map<int, FieldResult> fields_;
  std::map<int, VdbLevelSet> peers_;
  std::unique_ptr<ExactField> exact_;
};

// Random points that floats hold exactly, since ExactField rounds to them.
// Near: a random point of the surface and up to `reach` away from it.
std::vector<Vec3> points_near(const TriangleMesh& mesh, double reach, std::size_t count,
                              std::uint64_t seed);
std::vector<Vec3> points_in(const Aabb& box, std::size_t count, std::uint64_t seed);

struct FieldErrors {
  double p50 = 0, p99 = 0, max = 0;
};
FieldErrors summarize(const std::vector<double>& errors);

// The parts, each a table.
void bench_building(const Options& options, Stock& stock, Report& report);
void bench_shapes(const Options& options, Stock& stock, Report& report);
void bench_table1(const Options& options, Stock& stock, Report& report);
void bench_loading(const Options& options, Stock& stock, Report& report);
void bench_sampling(const Options& options, Stock& stock, Report& report);
void bench_first_order(const Options& options, Stock& stock, Report& report);

}  // namespace isotact::bench

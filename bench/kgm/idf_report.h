// What the parts of bench_idf share: options, shapes as fields and meshes, crowds of bodies with
// the pairs whose boxes overlap.
#pragma once

#include <string>
#include <vector>

#include "isotact/geometry/mesh/mesh.h"
#include "isotact/gpu/core/context.h"
#include "isotact/gpu/intersection/intersection_query.h"
#include "isotact/queries/intersection/intersection_field.h"

#include "support/report.h"

namespace isotact::bench {

struct Options : RunOptions {};

struct Crowd {
  std::vector<TriangleMesh> meshes{};  // of the shapes; empty for formulas
  std::vector<IdfShape> shapes{};
  std::vector<IdfBody> bodies{};
  std::vector<IdfPair> pairs{};
  double margin = 0;
};

// Procedural shapes of at least so many triangles each, 2.4 metres across.
std::vector<TriangleMesh> make_stock(std::size_t least_triangles);

// Bodies at random in a box that is just large enough for about `pairs` pairs with common boxes.
Crowd make_crowd(std::vector<TriangleMesh> meshes, int cells, std::size_t bodies, std::size_t pairs,
                 std::uint64_t seed);

std::size_t count_colliding(const IdfResult& result);

// The parts, each a table.
void bench_kernels(const Options& options, Report& report);
void bench_cpu(const Options& options, Report& report);
void bench_truth(const Options& options, Report& report);
void bench_table1(const Options& options, Report& report);

}  // namespace isotact::bench

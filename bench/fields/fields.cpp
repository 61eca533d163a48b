// Fields beside OpenVDB and NanoVDB, and beside the tables of the papers: building, loading and
// sampling with gradient. Both sides run in this process, on the same meshes, voxel sizes, points
// and threads; runs are taken in turns and medians reported. Answers are held against exact
// distances: a wrong one makes the program fail.
#include <algorithm>
#include <memory>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/geometry/io/mesh_io.h"

#include "fields_report.h"
#include "support/data_folder.h"
#include "support/measure.h"

namespace isotact::bench {

NamedMesh read_named(std::string_view name) {
  const char* file = name == "bunny"       ? "bunny_closed.obj"
                     : name == "bunny_raw" ? "bunny_full_35947.ply"
                                           : "dragon_vrip_binLE.ply";
  return {std::string(name), read_data_mesh(std::filesystem::path("01_stanford") / file)};
}

const TriangleMesh& Stock::mesh() {
  if (mesh_.triangles.empty()) mesh_ = read_named("bunny").mesh;
  return mesh_;
}

const FieldResult& Stock::field(int resolution) {
  auto place = fields_.find(resolution);
  if (place == fields_.end())
    place = fields_.emplace(resolution, build_field(mesh(), {.resolution = resolution})).first;
  return place->second;
}

VdbLevelSet& Stock::peer(int resolution) {
  auto place = peers_.find(resolution);
  if (place == peers_.end()) {
    const double voxel_size = field(resolution).field.voxel_size();
    place = peers_.emplace(resolution, VdbLevelSet(VdbMesh(mesh()), voxel_size)).first;
  }
  return place->second;
}

const ExactField& Stock::exact() {
  if (!exact_) {
    // The bunny is closed: its surface does not depend on the voxel size.
    const double voxel_size = field(128).field.voxel_size();
    exact_ = std::make_unique<ExactField>(prepare_surface(mesh(), {.voxel_size = voxel_size}));
  }
  return *exact_;
}

void Stock::keep(int resolution, FieldResult field, VdbLevelSet peer) {
  fields_.insert_or_assign(resolution, std::move(field));
  peers_.insert_or_assign(resolution, std::move(peer));
}

std::vector<Vec3> points_near(const TriangleMesh& mesh, double reach, std::size_t count,
                              std::uint64_t seed) {
  const auto corner = [&](const Triangle& t, std::size_t i) {
    return to_double(mesh.positions[t[i]]);
  };
  std::vector<double> area_up_to;
  double area = 0;
  for (const Triangle& t : mesh.triangles) {
    area += length(cross(corner(t, 1) - corner(t, 0), corner(t, 2) - corner(t, 0)));
    area_up_to.push_back(area);
  }
  Random random(seed);
  std::vector<Vec3> points;
  for (std::size_t i = 0; i < count; ++i) {
    const auto place =
        std::upper_bound(area_up_to.begin(), area_up_to.end(), random.uniform(0, area));
    const auto number =
        std::min(static_cast<std::size_t>(place - area_up_to.begin()), mesh.triangles.size() - 1);
    const Triangle& t = mesh.triangles[number];
    double u = random.uniform(), v = random.uniform();
    if (u + v > 1) {
      u = 1 - u;
      v = 1 - v;
    }
    const Vec3 on_surface =
        corner(t, 0) + (corner(t, 1) - corner(t, 0)) * u + (corner(t, 2) - corner(t, 0)) * v;
    const Vec3 away = random.unit_vector() * random.uniform(0, reach);
    points.push_back(to_double(to_float(on_surface + away)));
  }
  return points;
}

std::vector<Vec3> points_in(const Aabb& box, std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<Vec3> points;
  for (std::size_t i = 0; i < count; ++i)
    points.push_back(to_double(to_float(random.in_box(box.lower, box.upper))));
  return points;
}

FieldErrors summarize(const std::vector<double>& errors) {
  return {quantile(errors, 0.5), quantile(errors, 0.99), quantile(errors, 1)};
}

namespace {

struct Part {
  std::string_view name;
  void (*run)(const Options&, Stock&, Report&);
};
constexpr Part kParts[] = {{"building", bench_building}, {"shapes", bench_shapes},
                           {"table1", bench_table1},     {"loading", bench_loading},
                           {"sampling", bench_sampling}, {"first-order", bench_first_order}};
constexpr std::string_view kMeshes[] = {"bunny", "bunny_raw", "dragon"};

void name_options(OptionReader& reader, Options& options) {
  reader.quick("resolutions 128 and 256 only, without the dragon, under a minute");
  reader.full("dense grids of 512 too");
  reader.number("--threads", options.threads, 1, 1024, "for building, both sides (1)");
  std::vector<std::string> names = names_of(kParts);
  names.insert(names.end(), std::begin(kMeshes), std::end(kMeshes));
  reader.only(names);
}

bool is_part(std::string_view name) {
  return std::any_of(std::begin(kParts), std::end(kParts),
                     [name](const Part& part) { return part.name == name; });
}

int run(const Options& options) {
  Report report(
      "bench_fields", options,
      {.peers = {describe_vdb()},
       .how = fmt::format("{} thread{}", options.threads,
                          options.threads == 1 ? ", processor time" : "s, by the clock")});
  report.json = {{"flags", report.flags()}, {"peer", describe_vdb()}, {"threads", options.threads}};
  Stock stock;
  // A mesh alone means building it.
  Options chosen = options;
  if (std::none_of(options.only.begin(), options.only.end(), is_part) && !options.only.empty())
    chosen.only.emplace_back("building");
  run_parts(kParts, chosen, report, stock);
  return report.finish("All answers were right.");
}

}  // namespace
}  // namespace isotact::bench

int main(int argc, char** argv) {
  using namespace isotact::bench;
  return run_program("bench_fields", argc, argv, name_options, run);
}

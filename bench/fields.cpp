// Fields beside OpenVDB and NanoVDB, and beside the tables of the papers: building, loading and
// sampling with gradient. Both sides run in this process, on the same meshes, voxel sizes, points
// and threads; runs are taken in turns and medians reported. Answers are held against exact
// distances: a wrong one makes the program fail.
#include <charconv>
#include <memory>

#include "isotact/base/cpu.h"
#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/geometry/io/mesh_io.h"

#include "data_folder.h"
#include "fields_report.h"
#include "measure.h"

namespace isotact::bench {

NamedMesh read_named(std::string_view name) {
  const char* file = name == "bunny"       ? "bunny_closed.obj"
                     : name == "bunny_raw" ? "bunny_full_35947.ply"
                                           : "dragon_vrip_binLE.ply";
  return {std::string(name), read_mesh(data_folder() / "01_stanford" / file).mesh};
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

ErrorSummary summarize(const std::vector<double>& errors) {
  return {quantile(errors, 0.5), quantile(errors, 0.99), quantile(errors, 1)};
}

namespace {

struct Part {
  std::string_view name;
  void (*run)(const Options&, Stock&, Report&);
};
constexpr Part kParts[] = {{"building", bench_building},
                           {"table1", bench_table1},
                           {"loading", bench_loading},
                           {"sampling", bench_sampling},
                           {"first-order", bench_first_order}};
constexpr std::string_view kMeshes[] = {"bunny", "bunny_raw", "dragon"};

constexpr const char* kUsage =
    "usage: bench_fields [--json] [--quick | --full] [--threads N] [--only NAME]...\n"
    "  --quick      resolutions 128 and 256 only, without the dragon, under a minute\n"
    "  --full       dense grids of 512 too\n"
    "  --threads N  for building, both sides (default: 1)\n"
    "  --only NAME  a part (building table1 loading sampling first-order) or, of building, a mesh\n"
    "               (bunny bunny_raw dragon); may be repeated\n";

template <typename Names>
bool is_among(const Names& names, std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool is_part(std::string_view name) {
  return std::any_of(std::begin(kParts), std::end(kParts),
                     [name](const Part& part) { return part.name == name; });
}

bool read_options(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const std::string_view next = i + 1 < argc ? argv[i + 1] : "";
    if (word == "--json") {
      options.json = true;
    } else if (word == "--quick") {
      options.quick = true;
    } else if (word == "--full") {
      options.full = true;
    } else if (word == "--threads") {
      const auto [end, error] =
          std::from_chars(next.data(), next.data() + next.size(), options.threads);
      if (error != std::errc{} || end != next.data() + next.size()) return false;
      if (options.threads < 1) return false;
      ++i;
    } else if (word == "--only") {
      if (!is_part(next) && !is_among(kMeshes, next)) return false;
      options.only.emplace_back(next);
      ++i;
    } else {
      return false;
    }
  }
  return !(options.quick && options.full);
}

int run(const Options& options) {
  Report report("bench_fields", options.json);
  const std::string ours = fmt::format("{}, SIMD kernels: {}, threads: {}", ISOTACT_BENCH_FLAGS,
                                       name(simd_level()), thread_backend());
  report.print("ours: {}\npeer: {}\n", ours, describe_vdb());
  report.json = {{"flags", ours}, {"peer", describe_vdb()}, {"threads", options.threads}};
  Stock stock;
  const bool chosen = std::any_of(options.only.begin(), options.only.end(), is_part);
  const bool meshes_only = !chosen && !options.only.empty();
  for (const Part& part : kParts) {
    if (chosen && !is_among(options.only, part.name)) continue;
    if (meshes_only && part.name != "building") continue;
    const double seconds = seconds_of([&] { part.run(options, stock, report); }).wall;
    report.print("  ({} took {:.0f} s)\n", part.name, seconds);
  }
  return report.finish("All answers were right.");
}

}  // namespace
}  // namespace isotact::bench

int main(int argc, char** argv) {
  using namespace isotact::bench;
  return run_program("bench_fields", kUsage, argc, argv, read_options, run);
}

// The Python package beside C++ and beside what Python users take today: the overhead of a call, a
// batch of points, and signed distances of points to meshes that are not clean (measure.py).
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <sys/wait.h>

#include "isotact/base/random.h"
#include "isotact/field/build/build_field.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/queries/collide.h"
#include "isotact/queries/shape.h"

#include "support/data_folder.h"
#include "support/measure.h"
#include "support/report.h"

namespace isotact::bench {
namespace {

struct Options : RunOptions {
  std::size_t points() const { return quick ? 20'000 : 1'000'000; }
};

// Of the raw bunny and dragon, and ten meshes with holes, crossings, folds and turned triangles.
constexpr const char* kMeshes[] = {
    "01_stanford/bunny_full_35947.ply",
    "01_stanford/dragon_vrip_res3.ply",
    "05_bad/cgal_elephant-with-holes.off",
    "05_bad/cgal_mech-holes-shark.off",
    "05_bad/cgal_spheres_intersecting.off",
    "05_bad/cgal_helmet.off",
    "05_bad/cgal_fold.off",
    "05_bad/cgal_wrongly_oriented_cube.off",
    "05_bad/cgal_open_cube.off",
    "05_bad/cgal_couplingdown.off",
    "05_bad/cgal_itemb.off",
    "05_bad/cgal_non_manifold.off",
};

std::vector<std::string> meshes(bool quick) {
  std::vector<std::string> all;
  if (!has_data()) return {"blob", "gear", "torus"};
  for (const char* mesh : kMeshes) {
    all.push_back(std::filesystem::absolute(data_folder() / mesh).string());
    if (quick && all.size() == 3) break;
  }
  return all;
}

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

Json ask_python(const Options& options) {
  std::string command =
      fmt::format("PYTHONPATH={} {} {} {}", quoted(ISOTACT_PYTHON_FOLDER), quoted(ISOTACT_PYTHON),
                  quoted(ISOTACT_PYTHON_SCRIPT), options.points());
  for (const std::string& mesh : meshes(options.quick)) command += " " + quoted(mesh);
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) throw Error("the interpreter could not be started");
  std::string text;
  std::array<char, 4096> piece;
  for (std::size_t n = 0; (n = std::fread(piece.data(), 1, piece.size(), pipe)) > 0;)
    text.append(piece.data(), n);
  const int status = ::pclose(pipe);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw Error("the script of the interpreter failed: its message is above");
  return Json::parse(text);
}

// Microseconds of the same call in C++, with its memory kept as the package does.
double call_in_cpp() {
  const Shape box = Shape::from_analytic(BoxField{});
  const Pose a, b{.translation = {5, 0, 0}};
  CollideScratch scratch;
  constexpr int kCalls = 100'000;
  double best = 1e9;
  for (int run = 0; run < 3; ++run) {
    const auto loop = [&] {
      for (int i = 0; i < kCalls; ++i) {
        const CollideResult copy = collide(box, a, box, b, {}, scratch);
        if (copy.status != CollideStatus::kFree) throw Error("wrong answer: the boxes are apart");
      }
    };
    best = std::min(best, seconds_of(loop).processor);
  }
  return 1e6 * best / kCalls;
}

double batch_in_cpp(std::size_t count) {
  const FieldResult built = build_field(make_blob({}), {.resolution = 256});
  Random random(5);
  std::vector<Vec3f> points(count);
  for (Vec3f& p : points)
    p = {static_cast<float>(random.uniform(-0.1, 0.2)),
         static_cast<float>(random.uniform(-0.1, 0.2)),
         static_cast<float>(random.uniform(-0.1, 0.2))};
  double best = 1e9;
  for (int run = 0; run < 7; ++run) {
    const auto sample = [&] {
      std::vector<float> values(count);  // Python's array is new each time, too.
      sample_field(built.field, points, values, {}, {1});
    };
    best = std::min(best, seconds_of(sample).processor);
  }
  return 1e9 * best / static_cast<double>(count);
}

void tell_costs(const Json& found, const Options& options, Report& report) {
  const std::size_t count = std::min<std::size_t>(10 * options.points(), 1'000'000);
  const double call = call_in_cpp(), batch = batch_in_cpp(count);
  const double python_call = found["overhead_us"], python_batch = found["batch_ns"];
  Table table =
      report.table({.id = "costs",
                    .title = "A call, and a batch of points in a field, one thread, processor time",
                    .columns = {{"", Of::kKey}, {"C++"}, {"Python"}, {"unit", Of::kKey}}});
  table.row({"collide, two boxes apart", call, python_call, "us"});
  table.row({fmt::format("{} values of a field", count), batch, python_batch, "ns per point"});
  report.aim(python_call - call <= 2, "a call takes at most 2 us more than in C++");
  report.aim(python_batch <= 1.05 * batch, "a batch takes at most 5 per cent more than in C++");
  report.json["call_us"] = {{"cpp", call}, {"python", python_call}};
  report.json["batch_ns"] = {{"cpp", batch}, {"python", python_batch}};
}

void tell_signs(const Json& found, Report& report) {
  Table table = report.table(
      {.id = "signs",
       .title = "Signed distances of points to meshes, all cores",
       .columns = {{"mesh", Of::kKey},
                   {"by", Of::kKey},
                   {"build", Of::kOurs, "s"},
                   {"per point", Of::kOurs, "ns"},
                   {"wrong signs"},
                   {"of"},
                   {"memory", Of::kOurs, "MB"}},
       .note =
           "Signs are compared with winding numbers summed over all triangles. Points are left out "
           "where an open surface leaves the number between two whole ones. python-fcl is in no "
           "package of Debian 12."});
  std::int64_t wrong = 0, checked = 0;
  for (const Json& row : found["rows"]) {
    const std::string by = row["by"], path = row["mesh"];
    const bool ours = by.starts_with("isotact");
    const bool exact = by == "isotact, exact";
    if (exact) {
      wrong += row["wrong_signs"].get<std::int64_t>();
      checked += row["checked"].get<std::int64_t>();
    }
    table.row({std::filesystem::path(path).filename().string(), by,
               row["build_seconds"].get<double>(), row["ns_per_point"].get<double>(),
               row["wrong_signs"].is_null() ? Cell() : Cell(row["wrong_signs"].get<std::int64_t>()),
               row["checked"].get<std::int64_t>(), row["megabytes"].get<double>()},
              ours ? Of::kOurs : Of::kPeer);
  }
  report.check(checked > 0, "signs were compared");
  report.check(wrong == 0, "no exact distance has a wrong sign",
               fmt::format("{} of {} have", wrong, checked));
  report.json["rows"] = found["rows"];
}

void name_options(OptionReader& reader, Options&) { reader.quick("20,000 points, three meshes"); }

int run(const Options& options) {
  Report report("bench_python", options,
                {.peers = {"Open3D and scipy's cKDTree, packaged, if they are installed"},
                 .how = "the best of three runs"});
  report.begin_part("");
  const Json found = ask_python(options);
  tell_costs(found, options, report);
  tell_signs(found, report);
  return report.finish("All answers were right.");
}

}  // namespace
}  // namespace isotact::bench

int main(int argc, char** argv) {
  using namespace isotact::bench;
  return run_program("bench_python", argc, argv, name_options, run);
}

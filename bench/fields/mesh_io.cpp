// Reading the dragon: OBJ beside tinyobjloader and assimp, binary PLY beside a plain read of the
// file, and the memory that our readers take. One thread, medians of processor time, runs taken in
// turns.
#include "isotact/geometry/io/mesh_io.h"

#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <assimp/Importer.hpp>
#include <assimp/scene.h>
#include <assimp/version.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <tiny_obj_loader.h>
#include <unistd.h>

#include "isotact/base/error.h"

#include "support/data_folder.h"
#include "support/report.h"

namespace isotact::bench {
namespace {

namespace fs = std::filesystem;

struct Options : RunOptions {
  std::size_t runs() const { return quick ? 3 : 9; }
};

struct Counts {
  std::size_t vertices = 0;
  std::size_t triangles = 0;
};

// Processor times of so many runs each.
std::vector<double> times_of(std::size_t runs, const std::vector<std::function<void()>>& works) {
  std::vector<Contender> contenders;
  for (const auto& work : works)
    contenders.push_back({.work = work, .max_runs = runs, .max_seconds = 1e9});
  std::vector<double> times;
  for (const Seconds& seconds : medians_of(contenders)) times.push_back(seconds.processor);
  return times;
}

void require(bool condition, std::string_view what) {
  if (!condition) throw Error(fmt::format("wrong answer: {}", what));
}

tinyobj::attrib_t read_with_tinyobj(const fs::path& path, Counts& counts) {
  tinyobj::attrib_t attributes;
  std::vector<tinyobj::shape_t> shapes;
  std::vector<tinyobj::material_t> materials;
  std::string warning, error;
  require(tinyobj::LoadObj(&attributes, &shapes, &materials, &warning, &error, path.c_str()),
          "tinyobjloader cannot read the file");
  counts = {attributes.vertices.size() / 3, 0};
  for (const auto& shape : shapes) counts.triangles += shape.mesh.num_face_vertices.size();
  return attributes;
}

std::size_t read_with_assimp(const fs::path& path) {
  Assimp::Importer importer;
  const aiScene* scene = importer.ReadFile(path.c_str(), 0);
  require(scene != nullptr, "assimp cannot read the file");
  std::size_t triangles = 0;
  for (unsigned i = 0; i < scene->mNumMeshes; ++i) triangles += scene->mMeshes[i]->mNumFaces;
  return triangles;
}

std::unique_ptr<char[]> read_plainly(const fs::path& path) {
  const std::size_t size = fs::file_size(path);
  auto bytes = std::make_unique_for_overwrite<char[]>(size);
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::size_t filled = 0;
  for (ssize_t n = 1; n > 0; filled += static_cast<std::size_t>(n))
    n = ::read(descriptor, bytes.get() + filled, size - filled);
  ::close(descriptor);
  require(filled == size, "the plain read was short");
  return bytes;
}

long peak_kib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// Runs work in a process of its own, so that this one's memory stays as it was, and returns its
// number.
double in_child(const std::function<double()>& work) {
  std::array<int, 2> pipe{};
  require(::pipe(pipe.data()) == 0, "no pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    bool is_written = false;
    try {
      const double number = work();
      is_written = ::write(pipe[1], &number, sizeof number) == sizeof number;
    } catch (const std::exception& error) {
      fmt::print(stderr, "bench_mesh_io: error: {}\n", error.what());
    }
    ::_exit(is_written ? 0 : 1);
  }
  ::close(pipe[1]);
  double number = 0;
  const bool is_read = ::read(pipe[0], &number, sizeof number) == sizeof number;
  ::close(pipe[0]);
  ::waitpid(child, nullptr, 0);
  require(is_read, "a child process failed");
  return number;
}

// What work adds to the peak memory of a fresh process, in bytes.
double peak_bytes(const std::function<void()>& work) {
  return in_child([&] {
    const long before = peak_kib();
    work();
    return static_cast<double>(peak_kib() - before) * 1024;
  });
}

void check_against_tinyobj(const TriangleMesh& mesh, const fs::path& obj) {
  Counts counts;
  const tinyobj::attrib_t attributes = read_with_tinyobj(obj, counts);
  require(counts.vertices == mesh.positions.size(), "vertices differ from tinyobjloader's");
  require(counts.triangles == mesh.triangles.size(), "triangles differ from tinyobjloader's");
  for (std::size_t i = 0; i < mesh.positions.size(); ++i)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      // tinyobjloader's numbers are not exactly rounded.
      const float ours = mesh.positions[i][axis], theirs = attributes.vertices[3 * i + axis];
      require(std::abs(ours - theirs) <= 2e-7F * std::abs(ours), "positions differ");
    }
}

struct Results {
  double obj_seconds, tinyobj_seconds, assimp_seconds;
  double ply_seconds, plain_seconds;
  double obj_memory, tinyobj_memory, assimp_memory, ply_memory;  // over the mesh's own
};

Results measure(const fs::path& ply, const fs::path& obj, std::size_t runs) {
  Results r{};
  Counts ignored;
  // First, while this process is small.
  r.obj_memory = peak_bytes([&] { read_mesh(obj); });
  r.tinyobj_memory = peak_bytes([&] { read_with_tinyobj(obj, ignored); });
  r.assimp_memory = peak_bytes([&] { read_with_assimp(obj); });
  r.ply_memory = peak_bytes([&] { read_mesh(ply); });
  const TriangleMesh mesh = read_mesh(ply).mesh;
  const auto mesh_bytes = static_cast<double>(mesh.positions.size() * sizeof(Vec3f) +
                                              mesh.triangles.size() * sizeof(Triangle));
  for (double* memory : {&r.obj_memory, &r.tinyobj_memory, &r.assimp_memory, &r.ply_memory})
    *memory /= mesh_bytes;
  require(mesh == read_mesh(obj).mesh, "the OBJ differs from the PLY");
  check_against_tinyobj(mesh, obj);
  require(read_with_assimp(obj) == mesh.triangles.size(), "triangles differ from assimp's");

  const std::vector<double> objs =
      times_of(runs, {[&] { read_mesh(obj); }, [&] { read_with_tinyobj(obj, ignored); },
                      [&] { read_with_assimp(obj); }});
  const std::vector<double> plys =
      times_of(5 * runs, {[&] { read_mesh(ply); }, [&] { read_plainly(ply); }});
  r.obj_seconds = objs[0];
  r.tinyobj_seconds = objs[1];
  r.assimp_seconds = objs[2];
  r.ply_seconds = plys[0];
  r.plain_seconds = plys[1];
  return r;
}

void tell(const Results& r, Report& report) {
  Table table =
      report.table({.id = "reading",
                    .title = "Reading the dragon: 437,645 vertices, 871,414 triangles",
                    .columns = {{"file", Of::kKey},
                                {"reader", Of::kKey},
                                {"time", Of::kOurs, "ms", 1},
                                {"over ours", Of::kOurs, "times", 2},
                                {"peak memory over the mesh", Of::kOurs, "times", 2}},
                    .note = "Medians, processor time. The mesh must be the same by all readers."});
  const auto row = [&](const char* file, const char* reader, double seconds, double ours,
                       const Cell& memory, Of of) {
    table.row({file, reader, 1e3 * seconds, seconds / ours, memory}, of);
  };
  row("OBJ", "ours", r.obj_seconds, r.obj_seconds, r.obj_memory, Of::kOurs);
  row("OBJ", "tinyobjloader", r.tinyobj_seconds, r.obj_seconds, r.tinyobj_memory, Of::kPeer);
  row("OBJ", "assimp", r.assimp_seconds, r.obj_seconds, r.assimp_memory, Of::kPeer);
  row("PLY", "ours", r.ply_seconds, r.ply_seconds, r.ply_memory, Of::kOurs);
  row("PLY", "a plain read of the bytes", r.plain_seconds, r.ply_seconds, {}, Of::kPeer);
  const double over_tinyobj = r.tinyobj_seconds / r.obj_seconds;
  const double over_assimp = r.assimp_seconds / r.obj_seconds;
  const double over_plain = r.ply_seconds / r.plain_seconds;
  report.aim(over_tinyobj >= 2, "OBJ at least twice as fast as tinyobjloader");
  report.aim(over_assimp >= 5, "OBJ at least five times as fast as assimp");
  report.aim(over_plain <= 4, "PLY in at most four times the time of a plain read");
  report.aim(r.obj_memory < 3, "OBJ in less than three times the memory of the mesh");
  report.json = {{"obj_faster_than_tinyobjloader", over_tinyobj},
                 {"obj_faster_than_assimp", over_assimp},
                 {"ply_over_plain_read", over_plain},
                 {"obj_memory_over_mesh", r.obj_memory},
                 {"tinyobjloader_memory_over_mesh", r.tinyobj_memory},
                 {"assimp_memory_over_mesh", r.assimp_memory},
                 {"ply_memory_over_mesh", r.ply_memory}};
}

// A file of our own that goes with us.
struct TemporaryFile {
  fs::path path;

  explicit TemporaryFile(const char* extension)
      : path(fs::temp_directory_path() / fmt::format("isotact-bench-{}{}", ::getpid(), extension)) {
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    std::error_code ignored;
    fs::remove(path, ignored);
  }
};

void name_options(OptionReader& reader, Options&) { reader.quick("a third of the runs"); }

int run(const Options& options) {
  // Before anything else is in memory: children are forks of this process.
  const TemporaryFile obj(".obj"), made_ply(".ply");
  const char* dragon = "01_stanford/dragon_vrip_binLE.ply";
  const fs::path ply = has_data() ? data_folder() / dragon : made_ply.path;
  in_child([&] {
    const TriangleMesh mesh = read_data_mesh(dragon);
    write_mesh(obj.path, mesh);
    if (!has_data()) write_mesh(made_ply.path, mesh);
    return 0.0;
  });
  const Results results = measure(ply, obj.path, options.runs());
  Report report("bench_mesh_io", options,
                {.peers = {fmt::format("assimp {}.{}.{}, packaged", aiGetVersionMajor(),
                                       aiGetVersionMinor(), aiGetVersionPatch()),
                           "tinyobjloader, packaged"},
                 .how = "one thread, processor time"});
  report.begin_part("");
  tell(results, report);
  report.check(true, "meshes and counts are those of the peers");
  return report.finish("All answers were right.");
}

}  // namespace
}  // namespace isotact::bench

int main(int argc, char** argv) {
  using namespace isotact::bench;
  return run_program("bench_mesh_io", argc, argv, name_options, run);
}

// Reading the dragon: OBJ beside tinyobjloader and assimp, binary PLY beside a plain read of the
// file, and the memory that our readers take. One thread, medians of processor time, runs taken in
// turns.
#include "isotact/geometry/io/mesh_io.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <assimp/Importer.hpp>
#include <assimp/scene.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <tiny_obj_loader.h>
#include <unistd.h>

#include "isotact/base/error.h"

#include "data_folder.h"

namespace {

using isotact::Error;
using isotact::TriangleMesh;
using isotact::Vec3f;
namespace fs = std::filesystem;

constexpr std::size_t kRuns = 9;
constexpr std::size_t kShortRuns = 51;

struct Counts {
  std::size_t vertices = 0;
  std::size_t triangles = 0;
};

// Of the processor, user and system: other work on the machine disturbs it less than the clock.
double seconds_of(const std::function<void()>& work) {
  const auto now = [] {
    timespec time{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double start = now();
  work();
  return now() - start;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

// Each contender once a round, so that a noisy moment does not hit one of them alone.
std::vector<double> medians_of(std::size_t runs,
                               const std::vector<std::function<void()>>& contenders) {
  std::vector<std::vector<double>> times(contenders.size());
  for (std::size_t run = 0; run < runs; ++run)
    for (std::size_t i = 0; i < contenders.size(); ++i)
      times[i].push_back(seconds_of(contenders[i]));
  std::vector<double> result;
  result.reserve(times.size());
  for (const auto& t : times) result.push_back(median(t));
  return result;
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

Results measure(const fs::path& ply, const fs::path& obj) {
  Results r{};
  Counts ignored;
  // First, while this process is small.
  r.obj_memory = peak_bytes([&] { isotact::read_mesh(obj); });
  r.tinyobj_memory = peak_bytes([&] { read_with_tinyobj(obj, ignored); });
  r.assimp_memory = peak_bytes([&] { read_with_assimp(obj); });
  r.ply_memory = peak_bytes([&] { isotact::read_mesh(ply); });
  const TriangleMesh mesh = isotact::read_mesh(ply).mesh;
  const auto mesh_bytes = static_cast<double>(mesh.positions.size() * sizeof(Vec3f) +
                                              mesh.triangles.size() * sizeof(isotact::Triangle));
  for (double* memory : {&r.obj_memory, &r.tinyobj_memory, &r.assimp_memory, &r.ply_memory})
    *memory /= mesh_bytes;
  require(mesh == isotact::read_mesh(obj).mesh, "the OBJ differs from the PLY");
  check_against_tinyobj(mesh, obj);
  require(read_with_assimp(obj) == mesh.triangles.size(), "triangles differ from assimp's");

  const std::vector<double> objs =
      medians_of(kRuns, {[&] { isotact::read_mesh(obj); }, [&] { read_with_tinyobj(obj, ignored); },
                         [&] { read_with_assimp(obj); }});
  const std::vector<double> plys =
      medians_of(kShortRuns, {[&] { isotact::read_mesh(ply); }, [&] { read_plainly(ply); }});
  r.obj_seconds = objs[0];
  r.tinyobj_seconds = objs[1];
  r.assimp_seconds = objs[2];
  r.ply_seconds = plys[0];
  r.plain_seconds = plys[1];
  return r;
}

void print(const Results& r, bool as_json) {
  const double over_tinyobj = r.tinyobj_seconds / r.obj_seconds;
  const double over_assimp = r.assimp_seconds / r.obj_seconds;
  const double over_plain = r.ply_seconds / r.plain_seconds;
  if (as_json) {
    fmt::print(
        "{{\"obj_faster_than_tinyobjloader\": {:.2f}, \"obj_faster_than_assimp\": {:.2f}, "
        "\"ply_over_plain_read\": {:.2f}, \"obj_memory_over_mesh\": {:.2f}, "
        "\"tinyobjloader_memory_over_mesh\": {:.2f}, \"assimp_memory_over_mesh\": {:.2f}, "
        "\"ply_memory_over_mesh\": {:.2f}, \"runs\": {}}}\n",
        over_tinyobj, over_assimp, over_plain, r.obj_memory, r.tinyobj_memory, r.assimp_memory,
        r.ply_memory, kRuns);
    return;
  }
  fmt::print("The dragon, 437645 vertices, 871414 triangles; medians of {} runs, processor time\n",
             kRuns);
  fmt::print("  OBJ   ours {:7.1f} ms\n", 1e3 * r.obj_seconds);
  fmt::print("        tinyobjloader {:7.1f} ms  {:5.2f} times ours (wanted: at least 2)\n",
             1e3 * r.tinyobj_seconds, over_tinyobj);
  fmt::print("        assimp        {:7.1f} ms  {:5.2f} times ours (wanted: at least 5)\n",
             1e3 * r.assimp_seconds, over_assimp);
  fmt::print(
      "        peak memory   {:5.2f} times the mesh (wanted: under 3); tinyobjloader {:.1f}, "
      "assimp "
      "{:.1f}\n",
      r.obj_memory, r.tinyobj_memory, r.assimp_memory);
  fmt::print("  PLY   ours {:7.1f} ms, plain read {:.1f} ms: {:.2f} times (wanted: at most 4)\n",
             1e3 * r.ply_seconds, 1e3 * r.plain_seconds, over_plain);
  fmt::print("        peak memory   {:5.2f} times the mesh\n", r.ply_memory);
}

}  // namespace

int main(int argc, char** argv) {
  const bool as_json = argc == 2 && std::strcmp(argv[1], "--json") == 0;
  if (argc > 1 && !as_json) {
    fmt::print(stderr, "usage: {} [--json]\n", argv[0]);
    return 2;
  }
  const fs::path obj = fs::temp_directory_path() / fmt::format("isotact-bench-{}.obj", ::getpid());
  try {
    const fs::path ply = isotact::bench::data_folder() / "01_stanford/dragon_vrip_binLE.ply";
    in_child([&] {
      isotact::write_mesh(obj, isotact::read_mesh(ply).mesh);
      return 0.0;
    });
    print(measure(ply, obj), as_json);
    fs::remove(obj);
  } catch (const std::exception& error) {
    std::error_code ignored;
    fs::remove(obj, ignored);
    fmt::print(stderr, "bench_mesh_io: error: {}\n", error.what());
    return 1;
  }
  return 0;
}

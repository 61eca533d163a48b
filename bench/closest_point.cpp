// Spatial search beside Embree 3, on the bunny and the dragon: closest points (one by one and in a
// batch), first hits of rays, and building. One thread, the same points and rays for all, medians
// of runs taken in turns. Answers are checked: ours against brute force, bit for bit, and Embree's
// distances against ours.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include <embree3/rtcore.h>
#include <fmt/format.h>

#include "isotact/base/cpu.h"
#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/geometry/brute_force.h"
#include "isotact/geometry/bvh.h"
#include "isotact/geometry/io/mesh_io.h"

#include "data_folder.h"

namespace {

using namespace isotact;
namespace fs = std::filesystem;

constexpr std::size_t kRuns = 7;
constexpr std::size_t kQueries = 20000;
constexpr std::size_t kChecked = 300;

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void require(bool condition, std::string_view what) {
  if (!condition) throw Error(fmt::format("wrong answer: {}", what));
}

// ---- Embree ---------------------------------------------------------------------------------

class EmbreeScene {
 public:
  explicit EmbreeScene(const TriangleMesh& mesh) : mesh_(mesh) {
    device_ = rtcNewDevice("threads=1");
    scene_ = rtcNewScene(device_);
    rtcSetSceneBuildQuality(scene_, RTC_BUILD_QUALITY_HIGH);
    RTCGeometry geometry = rtcNewGeometry(device_, RTC_GEOMETRY_TYPE_TRIANGLE);
    // Embree reads a little beyond the last position.
    positions_ = mesh.positions;
    positions_.emplace_back();
    rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3,
                               positions_.data(), 0, sizeof(Vec3f), mesh.positions.size());
    rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3,
                               mesh.triangles.data(), 0, sizeof(Triangle), mesh.triangles.size());
    rtcCommitGeometry(geometry);
    rtcAttachGeometryByID(scene_, geometry, 0);
    rtcReleaseGeometry(geometry);
    rtcCommitScene(scene_);
  }
  ~EmbreeScene() {
    rtcReleaseScene(scene_);
    rtcReleaseDevice(device_);
  }
  EmbreeScene(const EmbreeScene&) = delete;
  EmbreeScene& operator=(const EmbreeScene&) = delete;

  struct Closest {
    std::uint32_t triangle = kNoTriangle;
    float distance = 0;
  };

  Closest find_closest(const Vec3f& point) const {
    RTCPointQuery query{};
    query.x = point.x;
    query.y = point.y;
    query.z = point.z;
    query.radius = std::numeric_limits<float>::infinity();
    RTCPointQueryContext context;
    rtcInitPointQueryContext(&context);
    Search search{mesh_, {}};
    rtcPointQuery(scene_, &query, &context, &measure, &search);
    search.best.distance = query.radius;
    return search.best;
  }

  float find_first_hit(const Ray& ray) const {
    RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    RTCRayHit query{};
    query.ray = {ray.origin.x,
                 ray.origin.y,
                 ray.origin.z,
                 ray.t_min,
                 ray.direction.x,
                 ray.direction.y,
                 ray.direction.z,
                 0,
                 ray.t_max,
                 0xffffffffU,
                 0,
                 0};
    query.hit.geomID = RTC_INVALID_GEOMETRY_ID;
    rtcIntersect1(scene_, &context, &query);
    return query.ray.tfar;
  }

  std::string describe() const {
    const auto has = [this](RTCDeviceProperty property) {
      return rtcGetDeviceProperty(device_, property) != 0;
    };
    const bool wide = has(RTC_DEVICE_PROPERTY_NATIVE_RAY8_SUPPORTED);
    return fmt::format("Embree {}, {}, here with {} kernels",
                       rtcGetDeviceProperty(device_, RTC_DEVICE_PROPERTY_VERSION),
                       ISOTACT_BENCH_PEER_FLAGS, wide ? "AVX or wider" : "SSE");
  }

 private:
  struct Search {
    const TriangleMesh& mesh;
    Closest best;
  };

  // The closest point by the regions of the plane around the triangle (Ericson, Real-Time Collision
  // Detection, 5.1.5), in float, as users of Embree do.
  static Vec3f nearest_on(const Vec3f& p, const Vec3f& a, const Vec3f& b, const Vec3f& c) {
    const Vec3f ab = b - a, ac = c - a, ap = p - a;
    const float d1 = dot(ab, ap), d2 = dot(ac, ap);
    if (d1 <= 0 && d2 <= 0) return a;
    const Vec3f bp = p - b;
    const float d3 = dot(ab, bp), d4 = dot(ac, bp);
    if (d3 >= 0 && d4 <= d3) return b;
    const Vec3f cp = p - c;
    const float d5 = dot(ab, cp), d6 = dot(ac, cp);
    if (d6 >= 0 && d5 <= d6) return c;
    const float vc = d1 * d4 - d3 * d2;
    if (vc <= 0 && d1 >= 0 && d3 <= 0) return a + ab * (d1 / (d1 - d3));
    const float vb = d5 * d2 - d1 * d6;
    if (vb <= 0 && d2 >= 0 && d6 <= 0) return a + ac * (d2 / (d2 - d6));
    const float va = d3 * d6 - d5 * d4;
    if (va <= 0 && d4 >= d3 && d5 >= d6) return b + (c - b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6)));
    const float scale = 1 / (va + vb + vc);
    return a + ab * (vb * scale) + ac * (vc * scale);
  }

  static bool measure(RTCPointQueryFunctionArguments* arguments) {
    Search& search = *static_cast<Search*>(arguments->userPtr);
    RTCPointQuery& query = *arguments->query;
    const Vec3f p{query.x, query.y, query.z};
    const Triangle& t = search.mesh.triangles[arguments->primID];
    const auto& positions = search.mesh.positions;
    const float distance =
        length(p - nearest_on(p, positions[t[0]], positions[t[1]], positions[t[2]]));
    if (!(distance < query.radius)) return false;
    query.radius = distance;
    search.best.triangle = arguments->primID;
    return true;
  }

  const TriangleMesh& mesh_;
  std::vector<Vec3f> positions_;
  RTCDevice device_ = nullptr;
  RTCScene scene_ = nullptr;
};

// ---- the table ------------------------------------------------------------------------------

struct Row {
  std::string name;
  std::size_t triangles = 0;
  double single = 0, batch = 0, embree = 0;  // seconds a closest point
  double ray = 0, embree_ray = 0;            // seconds a first hit
  double build = 0, embree_build = 0;        // seconds
};

struct Workload {
  std::vector<Vec3f> points;
  std::vector<Ray> rays;
};

Workload make_workload(const Aabbf& bounds) {
  Random random(7);
  const Aabb box = to_double(bounds);
  const Vec3 pad = extent(box) * 0.05;
  Workload work;
  for (std::size_t i = 0; i < kQueries; ++i) {
    work.points.push_back(to_float(random.in_box(box.lower - pad, box.upper + pad)));
    work.rays.push_back({.origin = to_float(random.in_box(box.lower - pad, box.upper + pad)),
                         .direction = to_float(random.unit_vector())});
  }
  return work;
}

void check(const TriangleMesh& mesh, const Bvh& bvh, const EmbreeScene& embree,
           const Workload& work) {
  const auto size = static_cast<float>(length(extent(to_double(bvh.bounds()))));
  std::vector<ClosestPoint> batch(kQueries);
  find_closest_points(bvh, work.points, batch, Threads{1});
  for (std::size_t i = 0; i < kQueries; ++i) {
    const ClosestPoint ours = find_closest_point(bvh, work.points[i]);
    require(ours == batch[i], "the batch differs from the single query");
    const float theirs = embree.find_closest(work.points[i]).distance;
    require(std::abs(theirs - ours.distance) <= 2e-6F * size, "Embree's distance differs");
    if (i >= kChecked) continue;
    require(ours == brute_force::find_closest_point(mesh, work.points[i]),
            "closest point differs from brute force");
    require(find_first_hit(bvh, work.rays[i]) == brute_force::find_first_hit(mesh, work.rays[i]),
            "first hit differs from brute force");
  }
  std::size_t differing = 0;  // grazed silhouettes may be hit by one and missed by the other
  for (const Ray& ray : work.rays) {
    const float ours = find_first_hit(bvh, ray).t, theirs = embree.find_first_hit(ray);
    differing += ours == theirs || std::abs(ours - theirs) <= 1e-4F * size ? 0U : 1U;
  }
  require(differing <= kQueries / 1000, "Embree's first hits differ");
}

Row measure(const std::string& name, const TriangleMesh& mesh) {
  Row row{.name = name, .triangles = mesh.triangles.size()};
  std::vector<double> single, batch, embree_single, ray, embree_ray, build, embree_build;
  const int builds = 3;
  for (int i = 0; i < builds; ++i) {
    build.push_back(seconds_of([&] { const Bvh once(mesh, {.threads = {1}}); }));
    embree_build.push_back(seconds_of([&] { const EmbreeScene once(mesh); }));
  }
  const Bvh bvh(mesh);
  const EmbreeScene embree(mesh);
  const Workload work = make_workload(bvh.bounds());
  check(mesh, bvh, embree, work);

  std::vector<ClosestPoint> results(kQueries);
  float sum = 0;  // keeps the compiler from leaving out the work
  for (std::size_t run = 0; run < kRuns; ++run) {
    single.push_back(seconds_of([&] {
      for (std::size_t i = 0; i < kQueries; ++i)
        results[i] = find_closest_point(bvh, work.points[i]);
    }));
    embree_single.push_back(seconds_of([&] {
      for (const Vec3f& p : work.points) sum += embree.find_closest(p).distance;
    }));
    batch.push_back(
        seconds_of([&] { find_closest_points(bvh, work.points, results, Threads{1}); }));
    ray.push_back(seconds_of([&] {
      for (const Ray& r : work.rays) sum += find_first_hit(bvh, r).u;
    }));
    embree_ray.push_back(seconds_of([&] {
      for (const Ray& r : work.rays) sum += std::min(embree.find_first_hit(r), 1.0F);
    }));
  }
  require(std::isfinite(sum), "a distance is not finite");
  row.single = median(single) / kQueries;
  row.batch = median(batch) / kQueries;
  row.embree = median(embree_single) / kQueries;
  row.ray = median(ray) / kQueries;
  row.embree_ray = median(embree_ray) / kQueries;
  row.build = median(build);
  row.embree_build = median(embree_build);
  return row;
}

void print_json(const std::vector<Row>& rows) {
  fmt::print("{{\"queries\": {}, \"runs\": {}, \"simd\": \"{}\", \"meshes\": [", kQueries, kRuns,
             name(simd_level()));
  for (const Row& r : rows)
    fmt::print(
        "{}{{\"name\": \"{}\", \"triangles\": {}, \"single_us\": {:.3f}, \"batch_us\": {:.3f}, "
        "\"embree_us\": {:.3f}, \"single_faster_than_embree\": {:.2f}, "
        "\"batch_faster_than_embree\": {:.2f}, \"ray_us\": {:.3f}, \"embree_ray_us\": {:.3f}, "
        "\"ray_faster_than_embree\": {:.2f}, \"build_s\": {:.3f}, \"embree_build_s\": {:.3f}}}",
        &r == rows.data() ? "" : ", ", r.name, r.triangles, 1e6 * r.single, 1e6 * r.batch,
        1e6 * r.embree, r.embree / r.single, r.embree / r.batch, 1e6 * r.ray, 1e6 * r.embree_ray,
        r.embree_ray / r.ray, r.build, r.embree_build);
  fmt::print("]}}\n");
}

void print_table(const std::vector<Row>& rows) {
  for (const Row& r : rows) {
    fmt::print("{}, {} triangles\n", r.name, r.triangles);
    fmt::print("  closest point, single {:7.3f} us, Embree {:7.3f} us: {:5.2f} times faster\n",
               1e6 * r.single, 1e6 * r.embree, r.embree / r.single);
    fmt::print("  closest point, batch  {:7.3f} us                    {:5.2f} times faster\n",
               1e6 * r.batch, r.embree / r.batch);
    fmt::print("  first hit of a ray    {:7.3f} us, Embree {:7.3f} us: {:5.2f} times faster\n",
               1e6 * r.ray, 1e6 * r.embree_ray, r.embree_ray / r.ray);
    fmt::print("  build                 {:7.3f} s,  Embree {:7.3f} s\n", r.build, r.embree_build);
  }
}

int run(bool json) {
  const fs::path folder = bench::data_folder() / "01_stanford";
  std::vector<Row> rows;
  rows.push_back(measure("bunny", read_mesh(folder / "bunny_closed.obj").mesh));
  rows.push_back(measure("dragon", read_mesh(folder / "dragon_vrip_binLE.ply").mesh));
  if (json) {
    print_json(rows);
    return 0;
  }
  fmt::print("Random points in the padded box, one thread, medians of {} runs of {} queries\n",
             kRuns, kQueries);
  const TriangleMesh none;
  fmt::print("ours: {}, SIMD kernels: {}\npeer: {}\n", ISOTACT_BENCH_FLAGS, name(simd_level()),
             EmbreeScene(none).describe());
  print_table(rows);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 && std::string_view(argv[1]) == "--json");
  } catch (const Error& error) {
    std::fprintf(stderr, "bench_closest_point: error: %s\n", error.what());
    return 1;
  }
}

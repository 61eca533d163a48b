// Spatial search beside Embree 3, on the bunny and the dragon: closest points (one by one and in a
// batch), first hits of rays, and building. One thread, the same points and rays for all, medians
// of runs taken in turns. Answers are checked: ours against brute force, bit for bit, and Embree's
// distances against ours.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <embree3/rtcore.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/geometry/bvh/brute_force.h"
#include "isotact/geometry/bvh/bvh.h"
#include "isotact/geometry/io/mesh_io.h"

#include "support/data_folder.h"
#include "support/report.h"

namespace isotact::bench {
namespace {

constexpr std::size_t kQueries = 20000;
constexpr std::size_t kChecked = 300;

struct Options : RunOptions {
  std::size_t runs() const { return quick ? 3 : 7; }
};

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

Row measure(const std::string& name, const TriangleMesh& mesh, std::size_t runs) {
  Row row{.name = name, .triangles = mesh.triangles.size()};
  const std::vector<Seconds> builds =
      medians_of({{.work = [&] { const Bvh once(mesh, {.threads = {1}}); }, .max_runs = 3},
                  {.work = [&] { const EmbreeScene once(mesh); }, .max_runs = 3}});
  const Bvh bvh(mesh);
  const EmbreeScene embree(mesh);
  const Workload work = make_workload(bvh.bounds());
  check(mesh, bvh, embree, work);

  std::vector<ClosestPoint> results(kQueries);
  float sum = 0;  // keeps the compiler from leaving out the work
  const auto contender = [runs](std::function<void()> task) {
    return Contender{.work = std::move(task), .max_runs = runs, .max_seconds = 1e9};
  };
  const std::vector<Seconds> times = medians_of({
      contender([&] {
        for (std::size_t i = 0; i < kQueries; ++i)
          results[i] = find_closest_point(bvh, work.points[i]);
      }),
      contender([&] {
        for (const Vec3f& p : work.points) sum += embree.find_closest(p).distance;
      }),
      contender([&] { find_closest_points(bvh, work.points, results, Threads{1}); }),
      contender([&] {
        for (const Ray& r : work.rays) sum += find_first_hit(bvh, r).u;
      }),
      contender([&] {
        for (const Ray& r : work.rays) sum += std::min(embree.find_first_hit(r), 1.0F);
      }),
  });
  require(std::isfinite(sum), "a distance is not finite");
  row.single = times[0].wall / kQueries;
  row.embree = times[1].wall / kQueries;
  row.batch = times[2].wall / kQueries;
  row.ray = times[3].wall / kQueries;
  row.embree_ray = times[4].wall / kQueries;
  row.build = builds[0].wall;
  row.embree_build = builds[1].wall;
  return row;
}

void tell(const Row& r, Table& table, Report& report) {
  table.row({r.name, r.triangles, 1e6 * r.single, 1e6 * r.batch, 1e6 * r.embree,
             r.embree / r.single, r.embree / r.batch, 1e6 * r.ray, 1e6 * r.embree_ray,
             r.embree_ray / r.ray, r.build, r.embree_build});
  report.json["meshes"].push_back({{"name", r.name},
                                   {"triangles", r.triangles},
                                   {"single_us", 1e6 * r.single},
                                   {"batch_us", 1e6 * r.batch},
                                   {"embree_us", 1e6 * r.embree},
                                   {"single_faster_than_embree", r.embree / r.single},
                                   {"batch_faster_than_embree", r.embree / r.batch},
                                   {"ray_us", 1e6 * r.ray},
                                   {"embree_ray_us", 1e6 * r.embree_ray},
                                   {"ray_faster_than_embree", r.embree_ray / r.ray},
                                   {"build_s", r.build},
                                   {"embree_build_s", r.embree_build}});
}

void name_options(OptionReader& reader, Options&) { reader.quick("fewer runs, the bunny only"); }

int run(const Options& options) {
  const TriangleMesh none;
  Report report("bench_closest_point", options,
                {.peers = {EmbreeScene(none).describe()}, .how = "one thread, by the clock"});
  report.begin_part("");
  Table table =
      report.table({.id = "closest-point",
                    .title = fmt::format("{} random points and rays in the padded box", kQueries),
                    .columns = {{"mesh", Of::kKey},
                                {"triangles", Of::kKey},
                                {"closest point", Of::kOurs, "us", 3},
                                {"in a batch", Of::kOurs, "us", 3},
                                {"Embree", Of::kPeer, "us", 3},
                                {"faster", Of::kOurs, "times", 2},
                                {"batch faster", Of::kOurs, "times", 2},
                                {"first hit of a ray", Of::kOurs, "us", 3},
                                {"Embree", Of::kPeer, "us", 3},
                                {"faster", Of::kOurs, "times", 2},
                                {"building", Of::kOurs, "s", 3},
                                {"Embree", Of::kPeer, "s", 3}},
                    .note = fmt::format("Medians of {} runs.", options.runs())});
  tell(measure("bunny", read_data_mesh("01_stanford/bunny_closed.obj"), options.runs()), table,
       report);
  if (!options.quick)
    tell(measure("dragon", read_data_mesh("01_stanford/dragon_vrip_binLE.ply"), options.runs()),
         table, report);
  report.check(true, "ours are brute force's bit for bit, Embree's distances and hits are ours");
  return report.finish("All answers were right.");
}

}  // namespace
}  // namespace isotact::bench

int main(int argc, char** argv) {
  using namespace isotact::bench;
  return run_program("bench_closest_point", argc, argv, name_options, run);
}

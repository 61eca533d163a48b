#include "segments_peer.h"

#include <algorithm>

#include <embree3/rtcore.h>

namespace isotact::bench {
namespace {

struct Collector {
  RTCIntersectContext context;  // first: Embree hands back a pointer to it
  struct Hit {
    float time;
    unsigned triangle;
  };
  std::vector<Hit> hits;
};

void collect(const RTCFilterFunctionNArguments* arguments) {
  auto* collector = reinterpret_cast<Collector*>(arguments->context);
  const auto* ray = reinterpret_cast<const RTCRay*>(arguments->ray);
  const auto* hit = reinterpret_cast<const RTCHit*>(arguments->hit);
  collector->hits.push_back({ray->tfar, hit->primID});
  arguments->valid[0] = 0;  // go on
}

}  // namespace

std::string describe_embree() { return "Embree " RTC_VERSION_STRING ", packaged"; }

struct EmbreeSegments::Parts {
  std::vector<Vec3f> positions;
  std::vector<Triangle> triangles;
  RTCDevice device{};
  RTCScene scene{}, plain_scene{};  // With the filter that collects all hits, and without.
  Collector collector{};

  RTCScene make_scene(bool robust, RTCFilterFunctionN filter);
};

RTCScene EmbreeSegments::Parts::make_scene(bool robust, RTCFilterFunctionN filter) {
  RTCScene made = rtcNewScene(device);
  rtcSetSceneFlags(made, robust ? RTC_SCENE_FLAG_ROBUST : RTC_SCENE_FLAG_NONE);
  rtcSetSceneBuildQuality(made, RTC_BUILD_QUALITY_HIGH);
  RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
  rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3,
                             positions.data(), 0, sizeof(Vec3f), positions.size() - 1);
  rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, triangles.data(),
                             0, sizeof(Triangle), triangles.size());
  if (filter != nullptr) rtcSetGeometryIntersectFilterFunction(geometry, filter);
  rtcCommitGeometry(geometry);
  rtcAttachGeometryByID(made, geometry, 0);
  rtcReleaseGeometry(geometry);
  rtcCommitScene(made);
  return made;
}

EmbreeSegments::EmbreeSegments(const TriangleMesh& mesh, bool robust)
    : parts_(std::make_unique<Parts>()) {
  Parts& p = *parts_;
  p.positions = mesh.positions;
  p.positions.emplace_back();  // Embree reads a little beyond the last position
  p.triangles = mesh.triangles;
  p.device = rtcNewDevice("threads=1");
  p.scene = p.make_scene(robust, collect);
  p.plain_scene = p.make_scene(robust, nullptr);
}

EmbreeSegments::~EmbreeSegments() {
  rtcReleaseScene(parts_->scene);
  rtcReleaseScene(parts_->plain_scene);
  rtcReleaseDevice(parts_->device);
}

namespace {

RTCRay make_ray(const Segment& s) {
  RTCRay ray{};
  ray.org_x = s.from.x;
  ray.org_y = s.from.y;
  ray.org_z = s.from.z;
  ray.dir_x = s.to.x - s.from.x;
  ray.dir_y = s.to.y - s.from.y;
  ray.dir_z = s.to.z - s.from.z;
  ray.tfar = 1;
  ray.mask = 0xffffffffU;
  return ray;
}

}  // namespace

bool EmbreeSegments::find_first(const Segment& segment, float& time) const {
  RTCIntersectContext context;
  rtcInitIntersectContext(&context);
  RTCRayHit ray{.ray = make_ray(segment), .hit = {}};
  ray.hit.geomID = RTC_INVALID_GEOMETRY_ID;
  rtcIntersect1(parts_->plain_scene, &context, &ray);
  time = ray.ray.tfar;
  return ray.hit.geomID != RTC_INVALID_GEOMETRY_ID;
}

bool EmbreeSegments::has_any(const Segment& segment) const {
  RTCIntersectContext context;
  rtcInitIntersectContext(&context);
  RTCRay ray = make_ray(segment);
  rtcOccluded1(parts_->plain_scene, &context, &ray);
  return ray.tfar < 0;  // As Embree tells.
}

void EmbreeSegments::find_all(const Segment& segment, std::vector<float>& times) const {
  Collector& collector = parts_->collector;
  collector.hits.clear();
  rtcInitIntersectContext(&collector.context);
  RTCRayHit ray{.ray = make_ray(segment), .hit = {}};
  ray.hit.geomID = RTC_INVALID_GEOMETRY_ID;
  rtcIntersect1(parts_->scene, &collector.context, &ray);
  auto& hits = collector.hits;
  std::sort(hits.begin(), hits.end(), [](const Collector::Hit& a, const Collector::Hit& b) {
    return a.time != b.time ? a.time < b.time : a.triangle < b.triangle;
  });
  times.clear();
  for (std::size_t i = 0; i < hits.size(); ++i)
    if (i == 0 || hits[i].triangle != hits[i - 1].triangle) times.push_back(hits[i].time);
}

}  // namespace isotact::bench

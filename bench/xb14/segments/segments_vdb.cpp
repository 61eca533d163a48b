#include <openvdb/openvdb.h>
#include <openvdb/tools/MeshToVolume.h>
#include <openvdb/tools/RayIntersector.h>

#if ISOTACT_BENCH_NANOVDB
#include <nanovdb/util/HDDA.h>
#include <nanovdb/util/OpenToNanoVDB.h>
#include <nanovdb/util/Ray.h>
#endif

#include "segments_peer.h"

namespace isotact::bench {

std::string describe_segment_vdb() {
  return std::string("OpenVDB ") + OPENVDB_LIBRARY_VERSION_STRING +
         (ISOTACT_BENCH_NANOVDB ? " with NanoVDB" : "") +
         ", traversals compiled here with -O3 -march=native";
}

struct VdbSegments::Parts {
  openvdb::FloatGrid::Ptr grid;
#if ISOTACT_BENCH_NANOVDB
  nanovdb::GridHandle<nanovdb::HostBuffer> flat;
#endif
};

VdbSegments::VdbSegments(const TriangleMesh& mesh, double voxel_size)
    : parts_(std::make_unique<Parts>()) {
  openvdb::initialize();
  std::vector<openvdb::Vec3s> points;
  std::vector<openvdb::Vec3I> triangles;
  for (const Vec3f& p : mesh.positions) points.emplace_back(p.x, p.y, p.z);
  for (const Triangle& t : mesh.triangles) triangles.emplace_back(t[0], t[1], t[2]);
  const auto transform = openvdb::math::Transform::createLinearTransform(voxel_size);
  parts_->grid =
      openvdb::tools::meshToLevelSet<openvdb::FloatGrid>(*transform, points, triangles, 3);
#if ISOTACT_BENCH_NANOVDB
  parts_->flat = nanovdb::openToNanoVDB(*parts_->grid);
#endif
}

VdbSegments::~VdbSegments() = default;

bool VdbSegments::has_nanovdb() const { return ISOTACT_BENCH_NANOVDB != 0; }

std::size_t VdbSegments::count_by_nanovdb(std::span<const Segment> segments) const {
  std::size_t hits = 0;
#if ISOTACT_BENCH_NANOVDB
  const auto* grid = parts_->flat.grid<float>();
  auto accessor = grid->getAccessor();
  const float scale = static_cast<float>(1 / parts_->grid->voxelSize()[0]);
  for (const Segment& s : segments) {
    const Vec3f by = s.to - s.from;
    const float size = length(by);
    if (!(size > 0)) continue;
    const nanovdb::Ray<float> ray({s.from.x * scale, s.from.y * scale, s.from.z * scale},
                                  {by.x / size, by.y / size, by.z / size}, 0.0F, size * scale);
    nanovdb::Coord cell;
    float value = 0, time = 0;
    nanovdb::Ray<float> moving = ray;
    hits += nanovdb::ZeroCrossing(moving, accessor, cell, value, time) ? 1U : 0U;
  }
#else
  static_cast<void>(segments);
#endif
  return hits;
}

std::size_t VdbSegments::count_by_openvdb(std::span<const Segment> segments) const {
  const openvdb::tools::LevelSetRayIntersector<openvdb::FloatGrid> tracer(*parts_->grid);
  std::size_t hits = 0;
  for (const Segment& s : segments) {
    const openvdb::Vec3d from(s.from.x, s.from.y, s.from.z), to(s.to.x, s.to.y, s.to.z);
    openvdb::Vec3d by = to - from;
    const double size = by.length();
    if (!(size > 0)) continue;
    by /= size;
    const openvdb::math::Ray<double> ray(from, by, 1e-9, size);
    openvdb::Vec3d at;
    double time = 0;
    hits += tracer.intersectsWS(ray, at, time) ? 1U : 0U;
  }
  return hits;
}

}  // namespace isotact::bench

#include "fields_peer.h"

#include <cmath>
#include <utility>
#include <vector>

// So that its templates are compiled here, for this processor, in place of those of the package.
#include <openvdb/version.h>
#undef OPENVDB_USE_EXPLICIT_INSTANTIATION
#include <openvdb/math/Operators.h>
#include <openvdb/math/Stencils.h>
#include <openvdb/openvdb.h>
#include <openvdb/tools/Interpolation.h>
#include <openvdb/tools/MeshToVolume.h>
#include <tbb/global_control.h>
#if ISOTACT_BENCH_NANOVDB
#include <nanovdb/util/OpenToNanoVDB.h>
#include <nanovdb/util/SampleFromVoxels.h>
#endif

namespace isotact::bench {

struct ThreadLimit::Parts {
  tbb::global_control control;
};

ThreadLimit::ThreadLimit(int threads)
    : parts_(new Parts{tbb::global_control(tbb::global_control::max_allowed_parallelism,
                                           static_cast<std::size_t>(threads))}) {}
ThreadLimit::~ThreadLimit() = default;

struct VdbMesh::Parts {
  std::vector<openvdb::Vec3s> points;
  std::vector<openvdb::Vec3I> triangles;
};

VdbMesh::VdbMesh(const TriangleMesh& mesh) {
  auto parts = std::make_shared<Parts>();
  for (const Vec3f& p : mesh.positions) parts->points.emplace_back(p.x, p.y, p.z);
  for (const Triangle& t : mesh.triangles) parts->triangles.emplace_back(t[0], t[1], t[2]);
  parts_ = std::move(parts);
}

struct VdbLevelSet::Parts {
  openvdb::FloatGrid::Ptr grid;
  double voxel_size = 1;
#if ISOTACT_BENCH_NANOVDB
  nanovdb::GridHandle<nanovdb::HostBuffer> nano;
#endif
};

VdbLevelSet::VdbLevelSet(const VdbMesh& mesh, double voxel_size)
    : parts_(std::make_shared<Parts>()) {
  openvdb::initialize();
  const auto transform = openvdb::math::Transform::createLinearTransform(voxel_size);
  parts_->grid = openvdb::tools::meshToLevelSet<openvdb::FloatGrid>(
      *transform, mesh.parts_->points, mesh.parts_->triangles, static_cast<float>(kVdbHalfWidth));
  parts_->voxel_size = voxel_size;
}

std::uint64_t VdbLevelSet::memory_bytes() const { return parts_->grid->memUsage(); }

double VdbLevelSet::value(const Vec3& point) const {
  const openvdb::Vec3d at(point.x, point.y, point.z);
  return static_cast<double>(openvdb::tools::BoxSampler::sample(
      parts_->grid->tree(), parts_->grid->transform().worldToIndex(at)));
}

void VdbLevelSet::prepare([[maybe_unused]] VdbGradient gradient_source) {
#if ISOTACT_BENCH_NANOVDB
  if (gradient_source == VdbGradient::kNanoVdb && !parts_->nano)
    parts_->nano = nanovdb::openToNanoVDB(*parts_->grid);
#endif
}

namespace {

using Accessor = openvdb::FloatGrid::ConstAccessor;

openvdb::Vec3d index_point(double cells_per_metre, const Vec3f& p) {
  return {cells_per_metre * static_cast<double>(p.x), cells_per_metre * static_cast<double>(p.y),
          cells_per_metre * static_cast<double>(p.z)};
}

void sample_nearest_voxel(const openvdb::FloatGrid& grid, double cells_per_metre,
                          std::span<const Vec3f> points, std::span<float> values,
                          std::span<Vec3f> gradients) {
  const Accessor accessor = grid.getConstAccessor();
  const auto scale = static_cast<float>(cells_per_metre);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const openvdb::Vec3d at = index_point(cells_per_metre, points[i]);
    values[i] = openvdb::tools::BoxSampler::sample(accessor, at);
    const openvdb::Vec3s g = openvdb::math::ISGradient<openvdb::math::CD_2ND>::result(
        accessor, openvdb::Coord::round(at));
    gradients[i] = {scale * g.x(), scale * g.y(), scale * g.z()};
  }
}

void sample_seven(const openvdb::FloatGrid& grid, double cells_per_metre,
                  std::span<const Vec3f> points, std::span<float> values,
                  std::span<Vec3f> gradients) {
  const Accessor accessor = grid.getConstAccessor();
  const auto half_scale = static_cast<float>(0.5 * cells_per_metre);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const openvdb::Vec3d at = index_point(cells_per_metre, points[i]);
    const auto difference = [&](const openvdb::Vec3d& step) {
      return half_scale * (openvdb::tools::BoxSampler::sample(accessor, at + step) -
                           openvdb::tools::BoxSampler::sample(accessor, at - step));
    };
    values[i] = openvdb::tools::BoxSampler::sample(accessor, at);
    gradients[i] = {difference({1, 0, 0}), difference({0, 1, 0}), difference({0, 0, 1})};
  }
}

void sample_box_stencil(const openvdb::FloatGrid& grid, double cells_per_metre,
                        std::span<const Vec3f> points, std::span<float> values,
                        std::span<Vec3f> gradients) {
  openvdb::math::BoxStencil<openvdb::FloatGrid> stencil(grid);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const openvdb::Vec3d exact = index_point(cells_per_metre, points[i]);
    stencil.moveTo(exact);
    const openvdb::Vec3s at(exact);
    values[i] = stencil.interpolation(at);
    const openvdb::Vec3s g = stencil.gradient(at);
    gradients[i] = {g.x(), g.y(), g.z()};  // in the world's units already
  }
}

#if ISOTACT_BENCH_NANOVDB
void sample_nanovdb(const nanovdb::FloatGrid& grid, double cells_per_metre,
                    std::span<const Vec3f> points, std::span<float> values,
                    std::span<Vec3f> gradients) {
  const auto accessor = grid.getAccessor();
  const auto sampler = nanovdb::createSampler<1>(accessor);
  const auto scale = static_cast<float>(cells_per_metre);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const openvdb::Vec3d exact = index_point(cells_per_metre, points[i]);
    const nanovdb::Vec3d at(exact.x(), exact.y(), exact.z());
    values[i] = sampler(at);
    const auto g = sampler.gradient(at);
    gradients[i] = {scale * g[0], scale * g[1], scale * g[2]};
  }
}
#endif

}  // namespace

void VdbLevelSet::sample(VdbGradient gradient_source, std::span<const Vec3f> points,
                         std::span<float> values, std::span<Vec3f> gradients) const {
  const double cells_per_metre = 1 / parts_->voxel_size;
  switch (gradient_source) {
    case VdbGradient::kNearestVoxel:
      return sample_nearest_voxel(*parts_->grid, cells_per_metre, points, values, gradients);
    case VdbGradient::kSevenSamples:
      return sample_seven(*parts_->grid, cells_per_metre, points, values, gradients);
    case VdbGradient::kBoxStencil:
      return sample_box_stencil(*parts_->grid, cells_per_metre, points, values, gradients);
    case VdbGradient::kNanoVdb:
      break;
  }
#if ISOTACT_BENCH_NANOVDB
  sample_nanovdb(*parts_->nano.grid<float>(), cells_per_metre, points, values, gradients);
#endif
}

bool has_nanovdb() { return ISOTACT_BENCH_NANOVDB != 0; }

std::string describe_vdb() {
  return std::string("OpenVDB ") + OPENVDB_LIBRARY_VERSION_STRING +
         "; its converter and samplers compiled here: " + ISOTACT_BENCH_PEER_FLAGS;
}

}  // namespace isotact::bench

// OpenVDB and NanoVDB as peers of our fields. Their headers stay in fields_peer.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "isotact/base/vec.h"
#include "isotact/geometry/mesh/mesh.h"

namespace isotact::bench {

#pragma GCC visibility push(default)  // a library of its own

// While it lives, no loop over oneTBB's threads takes more than these, ours and the peer's alike.
class ThreadLimit {
 public:
  explicit ThreadLimit(int threads);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// A mesh in the arrays that OpenVDB takes, so that copying is not part of its time.
class VdbMesh {
 public:
  explicit VdbMesh(const TriangleMesh& mesh);

 private:
  friend class VdbLevelSet;
  struct Parts;
  std::shared_ptr<const Parts> parts_;
};

inline constexpr double kVdbHalfWidth = 3;  // voxels each side of the surface, OpenVDB's default

// How a user of OpenVDB gets a value with its gradient, through a cached accessor. Values are
// trilinear in all of them.
enum class VdbGradient : std::uint8_t {
  kNearestVoxel,  // BoxSampler; central differences at the nearest voxel (ISGradient, CD_2ND)
  kSevenSamples,  // BoxSampler at the point and one voxel away along the axes, both ways
  kBoxStencil,    // BoxStencil: value and gradient from the same eight voxels
  kNanoVdb,       // NanoVDB's SampleFromVoxels of order 1: the same, from a flat copy of the tree
};

// What tools::meshToLevelSet makes of a mesh; empty before. One thread may query it.
class VdbLevelSet {
 public:
  VdbLevelSet() = default;
  VdbLevelSet(const VdbMesh& mesh, double voxel_size);

  std::uint64_t memory_bytes() const;
  double value(const Vec3& point) const;  // BoxSampler, without a cache
  // Makes the flat copy first time that NanoVDB is asked: not in a measured run.
  void prepare(VdbGradient gradient_source);
  void sample(VdbGradient gradient_source, std::span<const Vec3f> points, std::span<float> values,
              std::span<Vec3f> gradients) const;

 private:
  struct Parts;
  std::shared_ptr<Parts> parts_;
};

bool has_nanovdb();
std::string describe_vdb();  // its version and how it was compiled

#pragma GCC visibility pop

}  // namespace isotact::bench

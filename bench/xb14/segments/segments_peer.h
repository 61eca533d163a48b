// Peers of segment queries. Their headers stay in segments_peer.cpp and segments_vdb.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "isotact/geometry/mesh/mesh.h"
#include "isotact/queries/segments/segment.h"

namespace isotact::bench {

std::string describe_embree();
// In a library of its own, which is compiled in another way.
__attribute__((visibility("default"))) std::string describe_segment_vdb();

// Embree 3 on the exact triangles.
class EmbreeSegments {
 public:
  // `robust`: watertight between triangles; somewhat slower.
  EmbreeSegments(const TriangleMesh& mesh, bool robust);
  ~EmbreeSegments();
  EmbreeSegments(const EmbreeSegments&) = delete;
  EmbreeSegments& operator=(const EmbreeSegments&) = delete;

  // Times of all crossings of a segment, sorted, a triangle once.
  void find_all(const Segment& segment, std::vector<float>& times) const;
  // The first crossing, and whether there is any, by the calls that end there. Without a filter.
  bool find_first(const Segment& segment, float& time) const;
  bool has_any(const Segment& segment) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// OpenVDB's level set of the mesh, half-width 3. First crossings only.
class __attribute__((visibility("default"))) VdbSegments {
 public:
  VdbSegments(const TriangleMesh& mesh, double voxel_size);
  ~VdbSegments();
  VdbSegments(const VdbSegments&) = delete;
  VdbSegments& operator=(const VdbSegments&) = delete;

  bool has_nanovdb() const;
  std::size_t count_by_nanovdb(std::span<const Segment> segments) const;  // HDDA, ZeroCrossing
  std::size_t count_by_openvdb(std::span<const Segment> segments) const;  // LevelSetRayIntersector

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace isotact::bench

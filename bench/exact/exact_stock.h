// Bodies, pairs and poses on which exact answers are measured.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "isotact/base/random.h"
#include "isotact/geometry/bvh/bvh.h"
#include "isotact/geometry/mesh/mesh.h"
#include "isotact/queries/shape.h"

#include "exact_fcl.h"

namespace isotact::bench {

struct BenchBody {
  BenchBody(std::string name_of_it, TriangleMesh triangles, int resolution);

  std::string name;
  TriangleMesh mesh;
  Bvh bvh;
  FclMeshModel fcl;
  Shape shape;
  double size = 0;  // Metres: the diagonal of the box.
  Vec3 middle{};
  bool balanced = false;  // Winding numbers are whole.
  // A corner of each part that is connected over welded vertices.
  std::vector<Vec3> corners_of_parts;
};
using BodyPtr = std::shared_ptr<const BenchBody>;
using BodyPair = std::pair<BodyPtr, BodyPtr>;

struct PairGroup {
  std::string name;
  std::vector<BodyPair> pairs;
};

// The pairs whose times are measured: robot links (detailed and coarse ones), bunnies, mechanical
// parts.
std::vector<PairGroup> make_timed_groups(bool quick);

// A bunny and its copy, with a field of so many cells.
PairGroup make_bunnies(int cells);

// 44 pairs: clean, open, dirty, mechanical, thin and nested.
std::vector<PairGroup> make_truth_groups(bool quick);

// The pose of B in A's frame, at a random orientation and direction, such that the triangles are
// `gap` apart, to a hundredth of it and 1e-6 of the size. Throws Error if B always passes by.
Pose place_at_gap(const BodyPair& pair, double gap, Random& random);

// The same, moved on until the triangles meet, and then by `depth`.
Pose place_overlapping(const BodyPair& pair, double depth, Random& random);

// The largest exact winding number of a corner of a part of one body in the other. Unclear: it is
// neither about 0 nor about 1, or not whole for these meshes.
struct Nesting {
  double most = 0;
  bool is_unclear = false;
};
Nesting find_nesting(const BenchBody& a, const BenchBody& b, const Pose& a_from_b);

inline double size_of(const BodyPair& pair) { return 0.5 * (pair.first->size + pair.second->size); }

}  // namespace isotact::bench

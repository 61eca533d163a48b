// FCL's bounding volume hierarchies of two bodies that bend.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "isotact/queries/deformable/object_tree.h"

namespace isotact::bench {

class FclBenders {
 public:
  virtual ~FclBenders() = default;
  // Where vertices are; not part of what is measured.
  virtual void take(std::span<const Vec3> a, std::span<const Vec3> b) = 0;
  // replaceSubModel, endReplaceModel with a refit from below, collide with all contacts.
  virtual void step() = 0;
  // Of the last step, sorted.
  virtual std::vector<TrianglePair> pairs() const = 0;
};

struct FclKind {
  std::string name;
  std::unique_ptr<FclBenders> benders;
};

// Bodies as they are at rest.
struct FclMesh {
  std::span<const Vec3> positions;
  std::span<const Triangle> triangles;
};

// One of each kind of volume that FCL has.
std::vector<FclKind> make_fcl_benders(const FclMesh& a, const FclMesh& b);

// What FCL's own test says of two triangles.
bool fcl_says_they_meet(const Vec3 (&a)[3], const Vec3 (&b)[3]);

}  // namespace isotact::bench

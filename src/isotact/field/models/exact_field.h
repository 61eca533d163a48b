// The signed distance to a prepared surface itself, by search: the reference for everything that is
// built from one. It is exact except for rounding, and costs microseconds per point.
#pragma once

#include <array>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "isotact/export.h"
#include "isotact/field/field.h"
#include "isotact/field/surface/surface.h"
#include "isotact/geometry/bvh/winding.h"

namespace ISOTACT_PUBLIC isotact {

// A model of Field. It is immutable: any number of threads may query it. The distance is that to
// the nearest triangle, membranes and triangles inside of other parts included; the sign is that of
// the surface's method.
//
// Points are rounded to float first, so the contract is exact at points that are floats. Elsewhere
// the value is that of the nearest such point, with an error of up to 2^-23 of the point's distance
// from the origin. It is piecewise constant at that scale, and |value(p) - value(q)| may be more
// than |p - q| by twice as much. The functions distance_bounds and range allow for it; code that
// relies on lipschitz() must add it.
class ExactField {
 public:
  // Needs a Surface as prepare_surface returns it. Cost: that of a WindingTree.
  explicit ExactField(const Surface& surface, Threads threads = {});

  double value(const Vec3& point) const;
  // The gradient is a unit vector, or zero without surface.
  FieldSample sample(const Vec3& point) const;
  // The same, if more is known: an upper bound of the distance to the surface (metres), and perhaps
  // the side on which the point lies. By winding numbers the side takes longer than the search, and
  // a search with such a bound takes four fifths of the time.
  struct Known {
    double most_distance;
    std::optional<bool> inside{};
  };
  FieldSample sample(const Vec3& point, const Known& known) const;
  Aabb bounds() const;  // All of space.
  static constexpr double lipschitz() { return 1; }
  Interval range(const Aabb& box) const;  // From the value at the middle: wide for large boxes.
  Interval distance_bounds(const Vec3& point) const;
  // `distance` is the value at the point.
  Interval distance_bounds(const Vec3& point, double distance) const;

  const WindingTree& tree() const { return tree_; }

 private:
  struct Nearest {
    std::uint32_t triangle = 0;
    TriangleFeature feature = TriangleFeature::kFace;
    Vec3 offset{};  // From the surface to the point.
    double distance = 0;
  };
  Nearest find_nearest(const Vec3f& point,
                       float most_distance = std::numeric_limits<float>::infinity()) const;
  FieldSample sample_by(const Vec3f& point, const Nearest& nearest,
                        std::optional<bool> inside) const;
  bool is_inside(const Vec3f& point, const Nearest& nearest) const;
  Vec3 face_normal(std::uint32_t triangle) const;
  const Vec3& pseudonormal(const Nearest& nearest) const;
  void compute_pseudonormals();

  TriangleMesh mesh_;
  WindingTree tree_;
  SignMethod method_;
  NestedRule nested_;
  double shell_offset_;
  // Used only by that method: faces, edges by 3 * triangle + number, and vertices. Vertices sum up
  // the faces around them, weighted by angle (Baerentzen and Aanaes 2005).
  std::vector<Vec3> face_normals_, edge_normals_, vertex_normals_;
};

// The same for many points; sizes must agree.
void compute_signed_distances(const ExactField& field, std::span<const Vec3> points,
                              std::span<double> results, Threads threads = {});

}  // namespace isotact

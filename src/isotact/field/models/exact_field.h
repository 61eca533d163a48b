// The signed distance to a prepared surface itself, by search: the oracle of everything that is
// built from one. Exact but for rounding; microseconds a point.
#pragma once

#include <array>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "isotact/field/build/surface.h"
#include "isotact/field/field.h"
#include "isotact/geometry/winding.h"

namespace isotact {

// A model of Field. Immutable: any number of threads may ask. The distance is that to the nearest
// triangle, membranes and triangles inside of other parts included; the sign is that of the
// surface's method.
//
// Points are rounded to float first, so the contract holds exactly at points that are floats.
// Elsewhere the value is that of the nearest such point, off by up to 2^-23 of the point's distance
// from the origin: it is piecewise constant at that scale, and |value(p) - value(q)| may be more
// than |p - q| by twice as much. distance_bounds and range make up for it; who rests on lipschitz()
// must add it.
class ExactField {
 public:
  // Needs a Surface as prepare_surface returns it. Cost: that of a WindingTree.
  explicit ExactField(const Surface& surface, Threads threads = {});

  double value(const Vec3& point) const;
  FieldSample sample(const Vec3& point) const;  // gradient: a unit vector, or zero without surface
  // The same, where more is known: that the surface is at most this far away (metres), and perhaps
  // on which side of it the point lies. By winding numbers the side takes longer than the search,
  // and a search that knows where to end takes four fifths of the time.
  struct Known {
    double most_distance;
    std::optional<bool> inside{};
  };
  FieldSample sample(const Vec3& point, const Known& known) const;
  Aabb bounds() const;  // all of space
  static constexpr double lipschitz() { return 1; }
  Interval range(const Aabb& box) const;  // by the value at the middle: wide for large boxes
  Interval distance_bounds(const Vec3& point) const;
  Interval distance_bounds(const Vec3& point, double distance) const;  // which is its value

  const WindingTree& tree() const { return tree_; }

 private:
  struct Nearest {
    std::uint32_t triangle = 0;
    TriangleFeature feature = TriangleFeature::kFace;
    Vec3 offset{};  // from the surface to the point
    double distance = 0;
  };
  Nearest find_nearest(const Vec3f& point,
                       float most_distance = std::numeric_limits<float>::infinity()) const;
  FieldSample sample_by(const Vec3f& point, const Nearest& nearest,
                        std::optional<bool> inside) const;
  bool is_inside(const Vec3f& point, const Nearest& nearest) const;
  Vec3 face_normal(std::uint32_t triangle) const;
  const Vec3& pseudonormal(const Nearest& nearest) const;
  void find_pseudonormals();

  TriangleMesh mesh_;
  WindingTree tree_;
  SignMethod method_;
  NestedRule nested_;
  double shell_offset_;
  // Only for that method: faces, edges by 3 * triangle + number, and vertices, which sum up the
  // faces around them, weighted by angle (Baerentzen and Aanaes 2005).
  std::vector<Vec3> face_normals_, edge_normals_, vertex_normals_;
};

// The same for many points; sizes must agree.
void find_signed_distances(const ExactField& field, std::span<const Vec3> points,
                           std::span<double> results, Threads threads = {});

}  // namespace isotact

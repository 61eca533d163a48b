// The data of a Shape: the parts that it was made of, and those that queries have asked for since.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include "isotact/base/made_once.h"
#include "isotact/geometry/bvh/winding.h"
#include "isotact/queries/depth/depth_map.h"
#include "isotact/queries/detail/exact_body.h"
#include "isotact/queries/intersection/intersection_field.h"
#include "isotact/queries/segments/segment_index.h"
#include "isotact/queries/shape.h"

namespace isotact {

namespace detail {

// The last few values of different keys, each made once. Values are made outside of the cache's own
// lock, under that of their entry.
template <typename Key, typename T>
class RecentlyMade {
 public:
  template <typename Make>
  std::shared_ptr<const T> get(const Key& key, Make&& make) const {
    const std::shared_ptr<Entry> entry = find(key);
    return entry->made.get([&] { return std::shared_ptr<const T>(make()); });
  }

 private:
  static constexpr std::size_t kMost = 4;
  struct Entry {
    explicit Entry(const Key& k) : key(k) {}
    Key key;
    MadeOnce<std::shared_ptr<const T>> made{};
  };

  std::shared_ptr<Entry> find(const Key& key) const {
    const std::scoped_lock lock(mutex_);
    for (auto at = entries_.begin(); at != entries_.end(); ++at) {
      if (!((*at)->key == key)) continue;
      std::rotate(at, at + 1, entries_.end());
      return entries_.back();
    }
    if (entries_.size() == kMost) entries_.erase(entries_.begin());
    return entries_.emplace_back(std::make_shared<Entry>(key));
  }

  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<Entry>> entries_{};  // the last used at the end
};

// All that a tracer depends on.
struct TracerKey {
  SweptSettings s{};
  friend bool operator==(const TracerKey& a, const TracerKey& b) {
    return a.s.margin == b.s.margin && a.s.mode == b.s.mode && a.s.traversal == b.s.traversal &&
           a.s.path_tolerance == b.s.path_tolerance && a.s.threads.count == b.s.threads.count;
  }
};

// All that a map depends on.
struct DepthMapKey {
  Vec3 direction{};
  DepthSettings s{};
  friend bool operator==(const DepthMapKey& a, const DepthMapKey& b) {
    return a.direction == b.direction && a.s.method == b.s.method && a.s.width == b.s.width &&
           a.s.height == b.s.height && a.s.layers == b.s.layers && a.s.two_sided == b.s.two_sided &&
           a.s.conservative == b.s.conservative;
  }
};

// The triangles whose winding number tells inside from outside. They are those of the surface that
// the field is of, or the stored ones, if they say the same.
struct BodySides {
  WindingTree winding{};
  NestedRule nested = NestedRule::kWinding;
  bool has_inside = true;  // else the field is that of a shell
  // Whether each stored triangle faces away from the inside that is behind it.
  bool faces_out = false;
};

struct DepthSurface {
  DepthMesh mesh{};
  bool closed = false;
};

}  // namespace detail

struct Shape::Data {
  Data(ShapeParts p, const ShapeSettings& s) : parts(std::move(p)), settings(s) {
    settings.field.monitor = {};
    settings.tree.monitor = {};
  }

  const ShapeParts parts;
  ShapeSettings settings;
  MadeOnce<BrickField> bricks{};
  MadeOnce<FieldResult> built{};  // of the mesh, if it is all that there is
  MadeOnce<AnyField> any{};
  MadeOnce<PointSphereTree> points{};
  MadeOnce<TriangleMesh> surface{};
  MadeOnce<MassProperties> mass{};
  MadeOnce<Aabb> bounds{};
  MadeOnce<std::shared_ptr<const SegmentIndex>> segment_index{};
  detail::RecentlyMade<detail::TracerKey, SweptTracer> tracers{};
  detail::RecentlyMade<double, ShellTarget> targets{};
  MadeOnce<IdfShape> intersection{};
  MadeOnce<detail::DepthSurface> depth_surface{};
  MadeOnce<DepthMap> depth_map{};
  detail::RecentlyMade<detail::DepthMapKey, DepthMap> directed_maps{};
  MadeOnce<detail::ExactBody> exact{};
  MadeOnce<detail::BodySides> sides{};
  MadeOnce<bool> balanced{};  // the triangles as stored
};

struct ShapeAccess {
  static const Shape::Data& data(const Shape& shape) { return *shape.data_; }
};

}  // namespace isotact

namespace isotact::detail {

// Makers of the parts that a shape lacks follow.

// Whether the points exist: with an asset, or made by an earlier query.
inline bool has_made_points(const Shape& shape) {
  return shape.parts().tree || ShapeAccess::data(shape).points.find() != nullptr;
}

// A field of any kind, or a voxelmap.
inline bool has_field(const ShapeParts& p) {
  return p.field || p.dense || p.first_order || p.voxmap;
}
inline bool has_mesh(const ShapeParts& p) {
  return p.flat_mesh || (p.mesh && !p.mesh->triangles.empty());
}

// Baked from the solid, or from the first field or voxelmap among the parts. The solid must have an
// end.
BrickField make_bricks(const ShapeParts& parts, const ShapeSettings& settings);

// For shapes with a mesh and no field: the field that from_mesh builds, and the surface that it is
// of.
FieldResult build_from_mesh(const Shape& shape, const ShapeSettings& settings);

// For shapes with an end and a field.
TriangleMesh make_surface(const Shape& shape, const ShapeSettings& settings);
PointSphereTree make_points(const Shape& shape, const ShapeSettings& settings);
MassProperties make_mass(const Shape& shape, const ShapeSettings& settings);

// Points of a mesh that belongs to a field with cells of that size.
PointSphereTree sample_mesh(const TriangleMesh& mesh, double voxel_size,
                            const ShapeSettings& settings, const Monitor& monitor);

}  // namespace isotact::detail

// Collision of one object with everything around it by drawing both into the same orthographic box:
// FAB ("Easy real-time collision detection"). This is the CPU's side, a small exact rasteriser, for
// meshes, lines and points; gpu/depth_detector.h does the same on the graphics pipeline, for all
// that can be drawn.
//
//   const DepthMesh ship = make_depth_mesh(mesh);
//   const DepthElement object[] = {make_depth_element(ship, {}, 0, true)};
//   const DepthView view = make_depth_view(to_double(bounds(mesh)), {0, 0, 1});
//   const DepthMap map = draw_depth_map(object, view, settings);         // once, if it is rigid
//   const DepthReport report = detect_by_depth(map, world_from_ship, environment, settings);
//
// Where FAB's text and we differ:
//   * FAB compares the environment's nearest surface with the object's furthest one, both seen from
//     a plane at the object's rear. So a thing behind the object that does not touch it counts as a
//     collision (the four wrong frames of its evaluation), and hides what is in front of it.
//     DepthMethod::kIntervals asks each fragment of the environment whether it lies within the
//     object, along its pixel's ray: neither can happen, and concave objects need no second view.
//   * An object that lies wholly within an element of the environment is found where that element
//     is closed (FAB, Figure 2 c, does not find it).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isotact/base/aabb.h"
#include "isotact/base/parallel.h"
#include "isotact/base/pose.h"
#include "isotact/geometry/mesh.h"
#include "isotact/queries/contact.h"

namespace isotact {

// An orthographic box, fixed to the object. Drawn is what lies in it, seen along the view's z axis
// from z = -half_size.z on; depths are metres from there. Pixel (i, j) of width x height has its
// middle at ((2 i + 1) / width - 1) half_size.x, and the same for y.
struct DepthView {
  Pose object_from_view{};
  Vec3 half_size{1, 1, 1};
};
// Along `direction` (the object's frame, any length), around a box and a hundredth more. Throws
// Error where the box is empty or the direction is zero.
DepthView make_depth_view(const Aabb& body, const Vec3& direction);
// Throws Error where sizes are not above zero, or the pose is not finite or no rotation.
void check_depth_view(const DepthView& view);

enum class DepthMethod : std::uint8_t {
  kTwoMaps,    // FAB: two height maps, compared
  kFragments,  // FAB's alternative: the fragments of the second drawing are held against the first
               // map
  kIntervals,  // ours
};

inline constexpr int kMostDepthLayers = 8;
inline constexpr int kMostDepthPixels = 4096;  // a side
inline constexpr std::uint32_t kMostDepthContacts = 64;

struct DepthSettings {
  DepthMethod method = DepthMethod::kIntervals;
  std::int32_t width = 512, height = 512;
  // kIntervals: how many separate parts of the object a pixel's ray may pass; what is between the
  // last two of more is taken as solid (DepthMap::overfull says in how many pixels).
  int layers = 4;
  // The other two: the object has a rear boundary, too (FAB, Figure 3 c). In these, closed elements
  // show the environment's surfaces that look at the view, and the object's far ones that look away
  // from it (its near ones that look at it); those of open elements have no back.
  bool two_sided = false;
  // No contact is missed, however thin (depths and coverage of pixels are bounds); places up to a
  // pixel away from the object count. On a GPU this needs conservative rasterisation.
  bool conservative = false;
  // Whether parts of the object that lie within closed elements collide where no surface of these
  // shows in them: the whole object may lie there, or a wall that it has passed through stands
  // along the view's axis. Asked in each pixel and part. kIntervals only.
  bool find_inside = true;
  // The deepest in each of 8 x 8 parts of the picture, at most so many, the deepest first.
  std::uint32_t max_contacts = 0;
  Threads threads{};  // of the CPU's side
};
// Throws Error where settings make no sense.
void check_depth_settings(const DepthSettings& settings);

// Of the object.
struct DepthMap {
  DepthView view{};
  std::int32_t width = 0, height = 0, layers = 0;
  // Where the object is solid: depths in metres, ascending; [layer][row][column]. Empty ones have
  // near > far.
  struct Interval {
    float near = 1, far = -1;
  };
  std::vector<Interval> intervals;
  std::uint32_t covered = 0;   // pixels
  std::uint32_t overfull = 0;  // pixels with more parts than layers
  std::uint32_t open = 0;  // pixels whose surfaces do not close: kIntervals takes from the first
                           // surface to the last there
};

enum class DepthPrimitive : std::uint8_t { kTriangles, kLines, kPoints };

// A part of the object or of the environment. What it refers to must outlive it.
struct DepthElement {
  std::span<const Vec3> positions;
  std::span<const std::uint32_t> indices;  // three, two or one each
  Pose world_from_element{};               // of the object's parts: object_from_element
  std::uint32_t id = 0;
  DepthPrimitive primitive = DepthPrimitive::kTriangles;
  bool closed = false;  // triangles that bound a solid, turned outwards
};

// A mesh as an element wants it.
struct DepthMesh {
  std::vector<Vec3> positions;
  std::vector<std::uint32_t> indices;
};
DepthMesh make_depth_mesh(const TriangleMesh& mesh);
// Triangles. `mesh` must outlive it.
DepthElement make_depth_element(const DepthMesh& mesh, const Pose& world_from_mesh,
                                std::uint32_t id, bool closed);

struct DepthReport {
  bool colliding = false;
  bool inside = false;       // colliding, but no surface shows in the object: within elements
  std::uint32_t pixels = 0;  // in which the environment meets the object
  // Of those, in pixels; [first, last].
  std::int32_t first_pixel[2] = {0, 0}, last_pixel[2] = {-1, -1};
  // The pixel in which something is furthest inside of the object along the view's axis: metres to
  // the nearer end of its part (kTwoMaps and kFragments with one side: to its far end).
  double depth = 0;
  Vec3 deepest{};                // there, in the world's frame
  std::uint32_t deepest_id = 0;  // of what
  // Of all elements that meet the object, ascending; where `inside`, of those around it. kTwoMaps:
  // of those that hide the others.
  std::vector<std::uint32_t> ids;
  // A is the object, B the environment; Contact::point is the element's id. A surface of the
  // environment crosses the object: the normal is the surface's, and the depth is how far the
  // object reaches behind it along the view's axis, turned into a distance from the surface's
  // plane. Lines and points: along the view's axis, the nearer way out.
  std::vector<Contact> contacts;
};

// Throws Error for settings without sense, indices out of range, and elements with positions that
// are not finite or more than 2^36 pixels away. The object is solid where its surfaces' windings do
// not add up to zero. Its lines and points have no thickness: kIntervals meets them only with
// `conservative`. Same result for any number of threads.
DepthMap draw_depth_map(std::span<const DepthElement> object, const DepthView& view,
                        const DepthSettings& settings);
DepthReport detect_by_depth(const DepthMap& map, const Pose& world_from_object,
                            std::span<const DepthElement> environment,
                            const DepthSettings& settings);

// What is not found is smaller than this, metres in the world: a common part of object and
// environment that holds a ball of this radius covers the middle of a pixel, so that kIntervals
// with find_inside finds it. Half a pixel's diagonal; 0 with `conservative`. Surfaces that are not
// closed hold no ball: of those the part that shows in the object must hold a disc of this radius,
// as the view sees it.
double find_depth_miss(const DepthView& view, const DepthSettings& settings);

}  // namespace isotact

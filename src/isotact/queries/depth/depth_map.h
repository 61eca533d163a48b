// Collision of one object with its surroundings by drawing both into the same orthographic box: FAB
// ("Easy real-time collision detection"). This is the CPU implementation, a small exact rasteriser
// for meshes, lines and points. gpu/depth/depth_detector.h does the same on the graphics pipeline,
// for everything that can be drawn.
//
//   const DepthMesh ship = make_depth_mesh(mesh);
//   const DepthElement object[] = {make_depth_element(ship, {}, 0, true)};
//   const DepthView view = make_depth_view(to_double(bounds(mesh)), {0, 0, 1});
//   const DepthMap map = draw_depth_map(object, view, settings);         // Once, if it is rigid.
//   const DepthResult report = detect_by_depth(map, world_from_ship, environment, settings);
//
// Differences from FAB's text:
//   * FAB compares the environment's nearest surface with the object's furthest one, both seen from
//     a plane at the object's rear. A thing behind the object that does not touch it therefore
//     counts as a collision (the four wrong frames of its evaluation). It also hides things in
//     front of it. DepthMethod::kIntervals tests for each fragment of the environment whether it
//     lies within the object, along its pixel's ray. Neither can happen, and concave objects need
//     no second view.
//   * An object that lies completely within a closed element of the environment is found (FAB,
//     Figure 2 c, does not find it).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isotact/base/aabb.h"
#include "isotact/base/parallel.h"
#include "isotact/base/pose.h"
#include "isotact/export.h"
#include "isotact/geometry/mesh/mesh.h"
#include "isotact/queries/contact/contact.h"

namespace ISOTACT_PUBLIC isotact {

// An orthographic box, fixed to the object. Everything inside the box is drawn, seen along the
// view's z axis from z = -half_size.z. Depths are metres from there. Pixel (i, j) of width x height
// has its centre at ((2 i + 1) / width - 1) half_size.x, and the same for y.
struct DepthView {
  Pose object_from_view{};
  Vec3 half_size{1, 1, 1};
};
// Returns a view along `direction` (object frame, any length) around a box, a hundredth larger.
// Throws Error if the box is empty or the direction is zero.
DepthView make_depth_view(const Aabb& body, const Vec3& direction);
// Throws Error if sizes are not positive, or if the pose is not finite or not a rotation.
void check_depth_view(const DepthView& view);

enum class DepthMethod : std::uint8_t {
  kTwoMaps,  // FAB: two height maps, compared.
  // FAB's alternative: fragments of the second drawing are compared with the first map.
  kFragments,
  kIntervals,  // Our method.
};

inline constexpr int kMostDepthLayers = 8;
inline constexpr int kMostDepthPixels = 4096;  // Per side.
inline constexpr std::uint32_t kMostDepthContacts = 64;

struct DepthSettings {
  DepthMethod method = DepthMethod::kIntervals;
  std::int32_t width = 512, height = 512;
  // kIntervals: largest number of separate parts of the object along a pixel's ray. If there are
  // more, the gap between the last two is treated as solid (DepthMap::overfull has the number of
  // such pixels).
  int layers = 4;
  // The other two: the object also has a rear boundary (FAB, Figure 3 c). Closed elements then show
  // the environment's surfaces that face the view. They also show the object's far surfaces that
  // face away from it (its near surfaces that face it). Surfaces of open elements have no back.
  bool two_sided = false;
  // No contact is missed, however thin (depths and coverage of pixels are bounds). Positions up to
  // a pixel away from the object count. On a GPU this needs conservative rasterisation.
  bool conservative = false;
  // Parts of the object within closed elements collide even if no surface of these elements shows
  // in them. The whole object may lie there, or a wall that it has passed through stands along the
  // view's axis. Tested for each pixel and part. kIntervals only.
  bool find_inside = true;
  // The deepest in each of 8 x 8 parts of the picture, at most so many, deepest first.
  std::uint32_t max_contacts = 0;
  Threads threads{};  // For the CPU.
};
// Throws Error for invalid settings.
void check_depth_settings(const DepthSettings& settings);

// Map of the object.
struct DepthMap {
  DepthView view{};
  std::int32_t width = 0, height = 0, layers = 0;
  // Solid intervals of the object: depths in metres, ascending; [layer][row][column]. Empty ones
  // have near > far.
  struct Interval {
    float near = 1, far = -1;
  };
  std::vector<Interval> intervals;
  std::uint32_t covered = 0;   // Pixels.
  std::uint32_t overfull = 0;  // Pixels with more parts than layers.
  // Pixels whose surfaces do not close. There, kIntervals takes the interval from the first surface
  // to the last.
  std::uint32_t open = 0;
};

enum class DepthPrimitive : std::uint8_t { kTriangles, kLines, kPoints };

// A part of the object or of the environment. The data that it refers to must outlive it.
struct DepthElement {
  std::span<const Vec3> positions;
  std::span<const std::uint32_t> indices;  // Three, two or one per primitive.
  Pose world_from_element{};               // For parts of the object: object_from_element.
  std::uint32_t id = 0;
  DepthPrimitive primitive = DepthPrimitive::kTriangles;
  bool closed = false;  // Triangles that bound a solid, oriented outwards.
};

// A mesh in the form that an element needs.
struct DepthMesh {
  std::vector<Vec3> positions;
  std::vector<std::uint32_t> indices;
};
DepthMesh make_depth_mesh(const TriangleMesh& mesh);
// Returns an element of triangles. `mesh` must outlive it.
DepthElement make_depth_element(const DepthMesh& mesh, const Pose& world_from_mesh,
                                std::uint32_t id, bool closed);

struct DepthResult {
  bool colliding = false;
  bool inside = false;  // Colliding, but no surface shows in the object: it is within elements.
  std::uint32_t pixels = 0;  // Pixels in which the environment meets the object.
  // Bounds of these pixels; [first, last].
  std::int32_t first_pixel[2] = {0, 0}, last_pixel[2] = {-1, -1};
  // The largest penetration over all pixels, along the view's axis: metres to the nearer end of the
  // object's part. With one side, kTwoMaps and kFragments have it to the far end.
  double depth = 0;
  Vec3 deepest{};                // Its position, world frame.
  std::uint32_t deepest_id = 0;  // Id of the element there.
  // Ids of all elements that meet the object, ascending. If `inside`: ids of the elements around
  // it. kTwoMaps: ids of those that hide the others.
  std::vector<std::uint32_t> ids;
  // A is the object, B the environment; Contact::point is the element's id. If a surface of the
  // environment crosses the object, the normal is that of the surface. The depth is the object's
  // extent behind it along the view's axis, converted to a distance from the surface's plane. For
  // lines and points, the normal is along the view's axis, towards the nearer end.
  std::vector<Contact> contacts;
};

// Throws Error for invalid settings, indices out of range, and elements with positions that are not
// finite or more than 2^36 pixels away. The object is solid at positions with a nonzero sum of
// surface windings. Its lines and points have no thickness: kIntervals meets them only with
// `conservative`. Returns the same result for any number of threads.
DepthMap draw_depth_map(std::span<const DepthElement> object, const DepthView& view,
                        const DepthSettings& settings);
DepthResult detect_by_depth(const DepthMap& map, const Pose& world_from_object,
                            std::span<const DepthElement> environment,
                            const DepthSettings& settings);

// A device that draws for collide(), such as a GPU. The CPU needs none.
class DepthBackend {
 public:
  virtual ~DepthBackend() = default;
  virtual DepthMap draw(std::span<const DepthElement> object, const DepthView& view,
                        const DepthSettings& settings) = 0;
  // Always of the map that was drawn last, with the same settings.
  virtual DepthResult detect(const DepthMap& map, const Pose& world_from_object,
                             std::span<const DepthElement> environment,
                             const DepthSettings& settings) = 0;
};

// Returns the size limit of missed contacts, in metres in the world. A common part of object and
// environment that contains a ball of this radius covers the centre of a pixel. So kIntervals with
// find_inside finds it. The limit is half a pixel's diagonal, and 0 with `conservative`. Surfaces
// that are not closed contain no ball. Their part that shows in the object must contain a disc of
// this radius, as seen by the view.
double compute_depth_miss(const DepthView& view, const DepthSettings& settings);

}  // namespace isotact

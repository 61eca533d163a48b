#include "simulate_picture.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isotact/geometry/io/gltf.h"

#include "picture/colours.h"
#include "picture/text.h"

namespace isotact::tool {
namespace {

constexpr double kSoftCrease = 70;  // degrees

Vec3 light_of(const Colour& colour) {
  const auto channel = [&](std::size_t i) { return decode_srgb(colour[i] / 255.0); };
  return {channel(0), channel(1), channel(2)};
}

// Where a level plane is that faces up: the picture's own ground stands for it.
bool is_ground(const Replay& replay, std::size_t k, const ReplayFrame& frame, double* height) {
  const ReplayBody& body = replay.bodies[k];
  if (!body.is_endless) return false;
  const auto c = corners(replay.meshes[*body.mesh], 0);
  const Pose& pose = frame.poses[k];
  const Vec3 normal =
      transform_vector(pose, normalized(cross(to_double(c[1] - c[0]), to_double(c[2] - c[0]))));
  if (normal.y < 1 - 1e-9) return false;
  if (height != nullptr) *height = transform_point(pose, to_double(c[0])).y;
  return true;
}

// In pixels, and metres along the camera's axis.
struct Spot {
  double x = 0, y = 0, depth = 0;
};
Spot project(const ReplayView& view, const Vec3& place) {
  const Camera& camera = view.camera;
  const Vec3 seen = place - camera.position;
  const double depth = -dot(seen, camera.back);
  return {(1 + dot(seen, camera.right) / (depth * camera.tan_x)) * view.settings.width / 2,
          (1 - dot(seen, camera.up) / (depth * camera.tan_y)) * view.settings.height / 2, depth};
}

// Whether something stands before it, further away from it than `gap` metres.
bool is_covered(const DeepPicture& deep, const Spot& spot, double gap) {
  const Picture& p = deep.picture;
  if (!(spot.x >= 0 && spot.x < p.width && spot.y >= 0 && spot.y < p.height)) return false;
  const auto at = static_cast<std::size_t>(spot.y) * static_cast<std::size_t>(p.width) +
                  static_cast<std::size_t>(spot.x);
  return static_cast<double>(deep.depths[at]) < spot.depth - gap;
}

// Dots with normals; pale where something stands before them.
void mark_contacts(DeepPicture& deep, const ReplayFrame& frame, const ReplayView& view) {
  constexpr double kPale = 0.3;
  Picture& picture = deep.picture;
  const double dot_width = std::max(2.0, picture.width / 240.0);
  const double size = length(extent(*view.settings.frame)), reach = 0.015 * size;
  const auto mark = [&](Picture& on, bool covered) {
    for (const ReplayContact& c : frame.contacts) {
      const Spot at = project(view, c.position), out = project(view, c.position + c.normal * reach);
      if (is_covered(deep, at, 0.03 * size) != covered) continue;
      draw_line(on, {at.x, at.y, out.x, out.y, dot_width / 3}, kNormal);
      draw_line(on, {at.x - 0.01, at.y, at.x + 0.01, at.y, dot_width}, kContact);
    }
  };
  Picture marked = picture;
  mark(marked, true);
  for (std::size_t i = 0; i < picture.pixels.size(); ++i)
    if (marked.pixels[i] != picture.pixels[i])
      picture.pixels[i] = blend(picture.pixels[i], marked.pixels[i], kPale);
  mark(picture, false);
}

Aabb box_of(const Replay& replay) {
  ReplayBox box(replay);
  for (const ReplayFrame& frame : replay.frames) box.add(frame);
  return box.box();
}

}  // namespace

ReplayBox::ReplayBox(const Replay& replay) : replay_(replay) {
  for (const TriangleMesh& mesh : replay.meshes) meshes_.push_back(bounds(mesh));
}

void ReplayBox::add(const ReplayFrame& frame) {
  for (std::size_t k = 0; k < replay_.bodies.size(); ++k) {
    const ReplayBody& body = replay_.bodies[k];
    if (!body.mesh || body.is_endless || is_empty(meshes_[*body.mesh])) continue;
    for (const Vec3& corner : corners_of(to_double(meshes_[*body.mesh])))
      extend(all_, transform_point(frame.poses[k], corner));
  }
  for (const std::vector<Vec3f>& body : frame.soft)
    for (const Vec3f& p : body) extend(all_, to_double(p));
}

Aabb ReplayBox::box() const { return is_empty(all_) ? Aabb{{-1, -1, -1}, {1, 1, 1}} : all_; }

ReplayView make_replay_view(const Replay& replay, const SceneView& view,
                            const RenderSettings& settings) {
  ReplayView made{.settings = settings};
  RenderSettings& s = made.settings;
  s.yaw_degrees = view.yaw_degrees;
  s.pitch_degrees = view.pitch_degrees;
  s.zoom = view.zoom;
  s.ground = false;
  s.frame = view.box ? *view.box : box_of(replay);
  for (std::size_t k = 0; k < replay.bodies.size(); ++k) {
    double height = 0;
    if (!is_ground(replay, k, replay.frames[0], &height)) continue;
    s.ground = true;
    s.ground_height = height;
  }
  RenderScene empty;
  empty.outline = corners_of(*s.frame);
  empty.bounds = *s.frame;
  made.camera = frame_scene(empty, s);
  return made;
}

Picture draw_frame(const Replay& replay, std::size_t number, const ReplayView& view) {
  const ReplayFrame& frame = replay.frames[number];
  std::vector<RenderItem> items;
  for (std::size_t k = 0; k < replay.bodies.size(); ++k) {
    const ReplayBody& body = replay.bodies[k];
    if (!body.mesh || is_ground(replay, k, frame, nullptr)) continue;
    items.push_back({.mesh = replay.meshes[*body.mesh],
                     .world_from_mesh = frame.poses[k],
                     .colour = light_of(body.colour)});
  }
  for (std::size_t k = 0; k < replay.soft_bodies.size(); ++k)
    items.push_back({.mesh = {frame.soft[k], replay.soft_bodies[k].triangles},
                     .colour = light_of(replay.soft_bodies[k].colour),
                     .crease_degrees = kSoftCrease});
  DeepPicture deep = render_deep(items, view.settings);
  if (view.contacts) mark_contacts(deep, frame, view);
  Picture& picture = deep.picture;
  const int scale = std::max(1, picture.width / 600), gap = 6 * scale;
  draw_text(picture, gap, gap, scale, fmt::format("{:.3f} s", frame.time), kText);
  return std::move(picture);
}

}  // namespace isotact::tool

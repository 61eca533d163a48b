// A scene of drawn meshes, and how reports about it are compared.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "isotact/base/random.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/gpu/depth/depth_detector.h"

#include "drawn_mesh.h"

namespace isotact {

inline constexpr std::int32_t kDrawnSize = 64;

inline bool is_same_report(const DepthResult& a, const DepthResult& b) {
  const auto same_contacts = [&] {
    return std::equal(a.contacts.begin(), a.contacts.end(), b.contacts.begin(), b.contacts.end(),
                      [](const Contact& c, const Contact& d) {
                        return c.position == d.position && c.normal == d.normal &&
                               c.depth == d.depth && c.point == d.point;
                      });
  };
  return a.colliding == b.colliding && a.inside == b.inside && a.pixels == b.pixels &&
         std::equal(a.first_pixel, a.first_pixel + 2, b.first_pixel) &&
         std::equal(a.last_pixel, a.last_pixel + 2, b.last_pixel) && a.depth == b.depth &&
         a.deepest == b.deepest && a.deepest_id == b.deepest_id && a.ids == b.ids &&
         same_contacts();
}

// A picture's place in the atlas shifts what rounding does: depths differ in their last bits, and
// pixels at edges may.
inline bool is_close_report(const DepthResult& a, const DepthResult& b) {
  const auto distance = a.pixels > b.pixels ? a.pixels - b.pixels : b.pixels - a.pixels;
  return a.colliding == b.colliding && a.inside == b.inside && distance <= 2 &&
         std::abs(a.depth - b.depth) < 1e-5 && a.ids == b.ids &&
         a.contacts.size() == b.contacts.size();
}

inline std::string describe_report(const DepthResult& r) {
  std::string t = "pixels " + std::to_string(r.pixels) + " inside " + std::to_string(r.inside) +
                  " depth " + std::to_string(r.depth) + " contacts " +
                  std::to_string(r.contacts.size()) + " deepest " + std::to_string(r.deepest_id) +
                  " " + std::to_string(r.first_pixel[0]) + ".." + std::to_string(r.last_pixel[0]) +
                  " ids";
  for (const std::uint32_t id : r.ids) t += " " + std::to_string(id);
  return t;
}

struct DrawnScene {
  TriangleMesh ball_mesh = make_sphere({.radius = 0.5, .frequency = 8});
  DrawnMesh ball{ball_mesh};
  DrawnMesh box{make_box({.size_x = 1, .size_y = 0.4, .size_z = 0.7})};
  DrawnMesh ring{
      make_torus({.radius = 0.5, .tube_radius = 0.2, .segments = 24, .tube_segments = 12})};
  DepthView view = make_depth_view({{-0.71, -0.71, -0.71}, {0.71, 0.71, 0.71}}, {0.2, 0.3, 1});
  std::vector<GpuDrawable> environment;

  explicit DrawnScene(int count) {
    Random random(3);
    for (int i = 0; i < count; ++i) {
      const auto next = [&] { return random.uniform(-1, 1); };
      const Pose pose{normalized(Quat{next(), next(), next(), next()}),
                      Vec3{next(), next(), next()} * 1.5};
      DrawnMesh& mesh = i % 3 == 0 ? ball : i % 3 == 1 ? box : ring;
      environment.push_back(mesh.drawable(static_cast<std::uint32_t>(100 - i), pose));
    }
  }
  GpuDrawable object(int i) { return (i % 3 == 0 ? ball : i % 3 == 1 ? box : ring).drawable(); }
};

}  // namespace isotact

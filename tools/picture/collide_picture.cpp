#include "collide_picture.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isotact/field/extract/isosurface.h"
#include "isotact/geometry/primitives/primitives.h"

#include "picture/colours.h"
#include "picture/render_scene.h"
#include "picture/text.h"

namespace isotact::tool {
namespace {

constexpr double kDots = 6000;  // about as many of a shell are drawn
constexpr int kPaths = 60;      // of points that touch

void add_ball(TriangleMesh& mesh, const TriangleMesh& ball, const Vec3& center, double radius) {
  const auto first = static_cast<std::uint32_t>(mesh.positions.size());
  for (const Vec3f& p : ball.positions)
    mesh.positions.push_back(to_float(center) + p * static_cast<float>(radius));
  for (const Triangle& t : ball.triangles)
    mesh.triangles.push_back({first + t[0], first + t[1], first + t[2]});
}

// A thin tube along a chain of places.
void add_path(TriangleMesh& mesh, const std::vector<Vec3>& places, double radius) {
  for (std::size_t i = 0; i + 1 < places.size(); ++i) {
    const Vec3 along = normalized(places[i + 1] - places[i]);
    const Vec3 other = std::abs(along.x) < 0.8 ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
    const Vec3 u = normalized(cross(along, other)), v = cross(along, u);
    const auto first = static_cast<std::uint32_t>(mesh.positions.size());
    constexpr std::uint32_t kSides = 5;
    for (std::uint32_t k = 0; k < kSides; ++k) {
      const SinCos turn = sin_cos(2 * kPi * k / kSides);
      const Vec3 out = (u * turn.cos + v * turn.sin) * radius;
      mesh.positions.push_back(to_float(places[i] + out));
      mesh.positions.push_back(to_float(places[i + 1] + out));
    }
    for (std::uint32_t k = 0; k < kSides; ++k) {
      const std::uint32_t a = first + 2 * k, b = first + 2 * ((k + 1) % kSides);
      mesh.triangles.push_back({a, b, a + 1});
      mesh.triangles.push_back({b, b + 1, a + 1});
    }
  }
}

class Drawing {
 public:
  explicit Drawing(const CollidePicture& what)
      : what_(what),
        tree_(what.a.points()),
        time_(std::isfinite(what.result.time_of_contact) ? what.result.time_of_contact : 1),
        stride_(std::max(1U, static_cast<std::uint32_t>(tree_.point_count() / kDots))),
        dot_(0.3 * std::sqrt(tree_.header().surface_area * stride_ / tree_.point_count())),
        ball_(make_sphere({.radius = 1, .frequency = 2})),
        touches_(tree_.point_count(), false) {
    for (const TouchingPoint& p : what.result.points)
      if (p.body == Body::kA) touches_[p.point] = true;
    // World from shell is world from field times the chain that was searched.
    motion_ = {.shell = what.motion_of_a,
               .field = what.motion_of_b,
               .model = what.request.model,
               .degree = what.request.degree};
    compute_shell_path(motion_, ball_of(tree_), dot_ * 0.1, path_);
  }

  std::vector<RenderItem> items() {
    std::vector<RenderItem> all;
    all.push_back(body(what_.b, compute_pose(what_.motion_of_b, time_), to_albedo(kBodyB)));
    if (time_ > 0) all.push_back(dots(0, 0.5, Which::kAll, to_albedo(kPath)));
    all.push_back(dots(time_, 1, Which::kFree, to_albedo(kBodyA)));
    all.push_back(dots(time_, 1.25, Which::kTouching, to_albedo(kContactShallow)));
    all.push_back(paths());
    if (what_.result.status == ContinuousStatus::kContact) {
      RenderItem contact{.colour = to_albedo(kContact)};
      add_ball(contact.mesh, ball_, what_.result.contact.position, 4 * dot_);
      all.push_back(std::move(contact));
    }
    std::erase_if(all, [](const RenderItem& item) { return item.mesh.triangles.empty(); });
    return all;
  }

 private:
  Vec3 place(std::uint32_t point, double time) const {
    return transform_point(compute_pose(what_.motion_of_b, time),
                           place_on(path_, to_double(tree_.point(point)), time));
  }

  static RenderItem body(const Shape& shape, const Pose& pose, const Vec3& colour) {
    RenderItem item{.world_from_mesh = pose, .colour = colour};
    const BrickField& field = shape.brick_field();
    item.field = RenderField{.field = AnyField{field}, .voxel_size = field.voxel_size()};
    const auto longest =
        std::max({field.lattice().cells[0], field.lattice().cells[1], field.lattice().cells[2]});
    item.mesh = extract_surface(field, {.stride = std::max(1, longest / 128)});
    return item;
  }

  enum class Which { kAll, kFree, kTouching };
  RenderItem dots(double time, double size, Which which, const Vec3& colour) const {
    RenderItem item{.colour = colour};
    for (std::uint32_t i = 0; i < tree_.point_count(); i += stride_)
      if (which == Which::kAll || touches_[i] == (which == Which::kTouching))
        add_ball(item.mesh, ball_, place(i, time), dot_ * size);
    return item;
  }

  RenderItem paths() const {
    RenderItem item{.colour = to_albedo(kPath)};
    std::vector<std::uint32_t> touching;
    for (std::uint32_t i = 0; i < tree_.point_count(); ++i)
      if (touches_[i]) touching.push_back(i);
    const std::size_t step = touching.size() / kPaths + 1;
    for (std::size_t k = 0; k < touching.size(); k += step) {
      std::vector<Vec3> places;
      for (int i = 0; i <= 24; ++i) places.push_back(place(touching[k], time_ * i / 24));
      add_path(item.mesh, places, dot_ * 0.3);
    }
    return item;
  }

  const CollidePicture& what_;
  const PointSphereTree& tree_;
  double time_;
  std::uint32_t stride_;
  double dot_;  // metres
  TriangleMesh ball_;
  std::vector<bool> touches_;
  ShellMotion motion_{};
  ShellPath path_{};
};

// A ring around a place, which may lie behind a body, and words in the corner.
void point_out(Picture& picture, const Camera& camera, const Vec3& place,
               const std::string& words) {
  const Vec3 seen = place - camera.position;
  const double depth = -dot(seen, camera.back);
  const double x = (1 + dot(seen, camera.right) / (depth * camera.tan_x)) * picture.width / 2;
  const double y = (1 - dot(seen, camera.up) / (depth * camera.tan_y)) * picture.height / 2;
  const double radius = picture.width / 60.0;
  constexpr int kSides = 48;
  for (int i = 0; i < kSides; ++i) {
    const SinCos a = sin_cos(2 * kPi * i / kSides), b = sin_cos(2 * kPi * (i + 1) / kSides);
    draw_line(picture,
              {x + radius * a.cos, y + radius * a.sin, x + radius * b.cos, y + radius * b.sin, 3},
              kContact);
  }
  const int scale = std::max(1, picture.width / 600), gap = 8 * scale;
  draw_text(picture, gap, gap, scale, words, kContact);
}

}  // namespace

Picture draw_collision(const CollidePicture& what, int width, Threads threads) {
  const RenderSettings settings{
      .width = width, .height = width * 2 / 3, .ground = false, .threads = threads};
  const std::vector<RenderItem> items = Drawing(what).items();
  Picture picture = render(items, settings);
  if (what.result.status == ContinuousStatus::kContact)
    point_out(picture, frame_scene(make_scene(items, settings), settings),
              what.result.contact.position,
              what.result.time_of_contact > 0
                  ? fmt::format("first contact at {:.4g}", what.result.time_of_contact)
                  : "contact");
  return picture;
}

}  // namespace isotact::tool

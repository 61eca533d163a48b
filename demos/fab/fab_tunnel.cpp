// A winding tunnel with obstacles, and the way through it.
#include <algorithm>
#include <cmath>

#include "isotact/base/random.h"
#include "isotact/geometry/primitives/part_mesh.h"
#include "isotact/geometry/primitives/primitives.h"

#include "fab_shapes.h"

namespace isotact {
namespace {

constexpr double kSpeed = 0.9;  // metres a frame
constexpr double kFirst = -24, kLast = 760;
constexpr double kRadius = 11, kWall = 1.6;

Vec3 compute_middle(double x) {
  return {x, 9 * sin_cos(x * 0.013).sin + 3 * sin_cos(x * 0.031 + 1).sin,
          14 * sin_cos(x * 0.009 + 0.5).sin + 4 * sin_cos(x * 0.027).sin};
}

// x along the tunnel, y up.
Pose compute_frame(double x) {
  const Vec3 forward = normalized(compute_middle(x + 0.5) - compute_middle(x - 0.5));
  const Vec3 right = normalized(cross(forward, Vec3{0, 1, 0}));
  const Vec3 up = cross(right, forward);
  return {to_quat(transpose(Mat3{{forward, up, right}})), compute_middle(x)};
}

PointRing make_ring(double x, double radius, int around) {
  const Pose frame = compute_frame(x);
  PointRing ring = make_section(0, 0, radius, radius, 0.3, around);
  for (Vec3& p : ring) p = transform_point(frame, p);
  return ring;
}

// Inside with ribs, backwards, and outside, forwards: a closed loop of rings.
TriangleMesh make_wall() {
  constexpr int kAround = 36;
  constexpr double kPitch = 8;
  std::vector<PointRing> rings;
  const int ribs = static_cast<int>((kLast - kFirst) / kPitch);
  for (int i = ribs - 1; i >= 0; --i) {
    const double x = kFirst + kPitch * i;
    for (const auto& [along, radius] : {std::pair{7.9, kRadius},
                                        {2.2, kRadius},
                                        {1.8, kRadius - 0.7},
                                        {0.5, kRadius - 0.7},
                                        {0.1, kRadius}})
      rings.push_back(make_ring(x + along, radius, kAround));
  }
  for (int i = 0; i <= ribs; ++i)
    rings.push_back(make_ring(kFirst + (kPitch * ribs) * i / ribs, kRadius + kWall, kAround));
  PartMesh parts;
  parts.add_loop(rings);
  return parts.take();
}

TriangleMesh make_rock(Random& random, double radius) {
  TriangleMesh mesh = make_sphere({.radius = radius, .frequency = 5});
  struct Wave {
    Vec3 along;
    double phase, height;
  };
  std::vector<Wave> waves;
  for (int i = 0; i < 5; ++i)
    waves.push_back({random.unit_vector() * random.uniform(1.5, 4) / radius,
                     random.uniform(0, 2 * kPi), random.uniform(0.05, 0.13)});
  for (Vec3f& p : mesh.positions) {
    double reach = 1;
    for (const Wave& w : waves)
      reach += w.height * sin_cos(dot(w.along, to_double(p)) + w.phase).sin;
    p = to_float(to_double(p) * reach);
  }
  return mesh;
}

// Along x.
TriangleMesh make_beam(double half_length, double radius) {
  PartMesh parts;
  parts.add_lathe({{-half_length, 0},
                   {-half_length, radius * 1.5},
                   {-half_length + 0.5, radius * 1.5},
                   {-half_length + 0.6, radius},
                   {half_length - 0.6, radius},
                   {half_length - 0.5, radius * 1.5},
                   {half_length, radius * 1.5},
                   {half_length, 0}},
                  16, half_length / 5.5);
  return parts.take();
}

// Around x.
TriangleMesh make_gate(double radius, double thickness) {
  std::vector<PointRing> rings;
  constexpr int kAround = 32, kSection = 8;
  for (int i = 0; i < kAround; ++i) {
    const SinCos turn = sin_cos(2 * kPi * i / kAround);
    PointRing ring;
    for (int k = 0; k < kSection; ++k) {
      const SinCos section = sin_cos(2 * kPi * (k + 0.5) / kSection);
      const double r = radius + thickness * section.cos;
      ring.push_back({-thickness * section.sin, r * turn.cos, r * turn.sin});
    }
    rings.push_back(std::move(ring));
  }
  PartMesh parts;
  parts.add_loop(rings);
  return parts.take();
}

const Quat kTurnUp = rotation_about({0, 0, 1}, kPi / 2);      // x to y
const Quat kTurnRight = rotation_about({0, 1, 0}, -kPi / 2);  // x to z

struct Obstacle {
  const char* name;
  TriangleMesh mesh;
  Pose ship_from_obstacle;  // where the ship is when it passes
  Vec3f color;
};

// A sequence of kinds, each with a place relative to the fighter, some to be hit, some to be
// passed.
Obstacle make_obstacle(int number, Random& random) {
  const Vec3f stone{0.32F, 0.27F, 0.23F}, steel{0.30F, 0.34F, 0.38F}, paint{0.55F, 0.24F, 0.06F};
  const double side = random.below(2) == 0 ? -1 : 1;
  switch (number % 8) {
    case 0:  // into a wing
      return {"rock",
              make_rock(random, random.uniform(1.1, 1.8)),
              {random.rotation(), {0, random.uniform(-0.8, 0.8), side * random.uniform(0.8, 2.4)}},
              stone};
    case 1:  // upright, through a wing or the hull
      return {"beam", make_beam(9.5, 0.35), {kTurnUp, {0, 0, side * random.uniform(0, 1)}}, paint};
    case 2:  // beside the fighter, or into a wing's tip
      return {"rock",
              make_rock(random, random.uniform(0.8, 1.3)),
              {random.rotation(),
               {0, random.uniform(-1, 1),
                side * random.uniform(7.2, 7.6) * (number % 16 == 2 ? 1 : 0.6)}},
              stone};
    case 3:  // it flies through, every other time with its cannons in it
      return {"gate", make_gate(number % 16 == 3 ? 7.6 : 5.9, 0.6), {Quat{}, {0, 0, 0}}, paint};
    case 4:  // along the way, through the wings on one side
      return {"pipe",
              make_beam(random.uniform(14, 18), 0.45),
              {rotation_about({0, 1, 0}, side * 0.03),
               {6, random.uniform(-0.5, 0.5), side * random.uniform(1.6, 3)}},
              steel};
    case 5:  // above it, or through it
      return {"beam",
              make_beam(10, 0.4),
              {kTurnRight, {0, random.uniform(2.7, 3.3) - (number % 16 == 5 ? 2.2 : 0), 0}},
              steel};
    case 6:  // into the nose
      return {"rock",
              make_rock(random, random.uniform(1.2, 1.8)),
              {random.rotation(), {0, random.uniform(-1, 1), random.uniform(-1, 1)}},
              stone};
    default:  // beside the cannons, or along one of them
      return {"pipe",
              make_beam(12, 0.5),
              {Quat{}, {0, random.uniform(-1, 1), side * (number % 16 == 7 ? 7.0 : 5.3)}},
              steel};
  }
}

Pose compute_pose_at(double x) {
  const Pose frame = compute_frame(x);
  const double sway = 1.6 * sin_cos(x * 0.037).sin, rise = 1.1 * sin_cos(x * 0.053 + 0.4).sin;
  const double roll = 0.35 * sin_cos(x * 0.021).sin;
  return {frame.rotation * rotation_about({1, 0, 0}, roll),
          transform_point(frame, {0, rise, sway})};
}

}  // namespace

FabScene make_tunnel() {
  FabScene scene;
  scene.elements.push_back({.name = "wall", .mesh = make_wall(), .color = {0.20F, 0.21F, 0.24F}});
  Random random(8);
  for (int i = 0; i < 48; ++i) {
    Obstacle obstacle = make_obstacle(i, random);
    const Pose world_from_ship = compute_pose_at(22 + 14.5 * i + random.uniform(-2, 2));
    scene.elements.push_back({.name = obstacle.name,
                              .mesh = std::move(obstacle.mesh),
                              .world_from_element = world_from_ship * obstacle.ship_from_obstacle,
                              .color = obstacle.color});
  }
  for (std::size_t i = 0; i < scene.elements.size(); ++i)
    scene.elements[i].id = static_cast<std::uint32_t>(i + 1);
  TriangleMesh& wall = scene.elements.front().mesh;
  refine_to(wall, wall.triangles.size() + kTunnelTriangles - count_triangles(scene));
  return scene;
}

Pose compute_tunnel_pose(double frame) { return compute_pose_at(kSpeed * frame); }

std::size_t count_triangles(const FabScene& scene) {
  std::size_t count = 0;
  for (const FabElement& element : scene.elements) count += element.mesh.triangles.size();
  return count;
}

FabSurface join_elements(const std::vector<FabElement>& elements) {
  FabSurface surface;
  PartMesh parts;
  for (const FabElement& element : elements) {
    parts.add_mesh(element.mesh, element.world_from_element);
    surface.ids.resize(parts.triangles(), element.id);
  }
  surface.mesh = parts.take();
  return surface;
}

}  // namespace isotact

// A small city: houses along an avenue, a bridge, domes, hills around, and an airship above.
#include <algorithm>
#include <array>
#include <cmath>

#include "isotact/base/random.h"
#include "isotact/geometry/primitives/part_mesh.h"

#include "fab_shapes.h"

namespace isotact {
namespace {

const Quat kUpright = rotation_about({0, 0, 1}, kPi / 2);  // a lathe's x to y

constexpr double kCitySize = 520, kGroundBottom = -12;

double smooth_step(double t) {
  t = std::clamp(t, 0.0, 1.0);
  return t * t * (3 - 2 * t);
}

// ---- ground -------------------------------------------------------------------------------------

void add_ground(PartMesh& parts, int cells) {
  const auto line = [cells](int i) { return kCitySize * (static_cast<double>(i) / cells - 0.5); };
  const auto top = [&](int i, int j) {
    return Vec3{line(i), find_city_ground(line(i), line(j)), line(j)};
  };
  const auto bottom = [&](int i, int j) { return Vec3{line(i), kGroundBottom, line(j)}; };
  for (int i = 0; i < cells; ++i)
    for (int j = 0; j < cells; ++j)
      parts.add_quad(top(i, j), top(i, j + 1), top(i + 1, j + 1), top(i + 1, j));
  // The rim, in the positive sense about y.
  std::vector<std::array<int, 2>> rim;
  for (int k = 0; k < cells; ++k) rim.push_back({k, cells});
  for (int k = 0; k < cells; ++k) rim.push_back({cells, cells - k});
  for (int k = 0; k < cells; ++k) rim.push_back({cells - k, 0});
  for (int k = 0; k < cells; ++k) rim.push_back({0, k});
  for (std::size_t k = 0; k < rim.size(); ++k) {
    const auto [i, j] = rim[k];
    const auto [u, v] = rim[(k + 1) % rim.size()];
    parts.add_quad(bottom(i, j), bottom(u, v), top(u, v), top(i, j));
    parts.add_triangle({0, kGroundBottom, 0}, bottom(u, v), bottom(i, j));
  }
  parts.weld(0, 0);
}

// ---- houses -------------------------------------------------------------------------------------

struct Block {
  Vec3 lower, upper;
  int columns_x, columns_z, rows;  // of windows
};

// A window in its frame: 18 triangles. Corners counter-clockwise, seen from outside.
void add_window(PartMesh& parts, const std::array<Vec3, 4>& corners) {
  const Vec3 normal = normalized(cross(corners[1] - corners[0], corners[3] - corners[0])) * 0.45;
  const Vec3 across = corners[1] - corners[0], up = corners[3] - corners[0];
  const std::array<Vec3, 4> frame = {
      corners[0] + across * 0.2 + up * 0.25, corners[0] + across * 0.8 + up * 0.25,
      corners[0] + across * 0.8 + up * 0.8, corners[0] + across * 0.2 + up * 0.8};
  for (std::size_t k = 0; k < 4; ++k) {
    const std::size_t next = (k + 1) % 4;
    parts.add_quad(corners[k], corners[next], frame[next], frame[k]);
    parts.add_quad(frame[k], frame[next], frame[next] - normal, frame[k] - normal);
  }
  parts.add_quad(frame[0] - normal, frame[1] - normal, frame[2] - normal, frame[3] - normal);
}

void add_block(PartMesh& parts, const Block& block) {
  const std::size_t first_point = parts.points(), first_triangle = parts.triangles();
  const Vec3 a = block.lower, b = block.upper;
  const auto between = [](double from, double to, int i, int n) {
    return i == 0 ? from : i == n ? to : from + (to - from) * i / n;
  };
  // Walls in the positive sense about y, from the corner at small x and large z on.
  std::vector<Vec3> ring;  // the feet of all columns of points
  for (int i = 0; i < block.columns_x; ++i)
    ring.push_back({between(a.x, b.x, i, block.columns_x), 0, b.z});
  for (int i = 0; i < block.columns_z; ++i)
    ring.push_back({b.x, 0, between(b.z, a.z, i, block.columns_z)});
  for (int i = 0; i < block.columns_x; ++i)
    ring.push_back({between(b.x, a.x, i, block.columns_x), 0, a.z});
  for (int i = 0; i < block.columns_z; ++i)
    ring.push_back({a.x, 0, between(a.z, b.z, i, block.columns_z)});
  const Vec3 middle = (a + b) * 0.5;
  const auto at = [](const Vec3& foot, double y) { return Vec3{foot.x, y, foot.z}; };
  const auto inner = [&](const Vec3& foot, double y) {
    return Vec3{std::lerp(middle.x, foot.x, 0.93), y, std::lerp(middle.z, foot.z, 0.93)};
  };
  for (std::size_t k = 0; k < ring.size(); ++k) {
    const Vec3 p = ring[k], q = ring[(k + 1) % ring.size()];
    for (int row = 0; row < block.rows; ++row) {
      const double y0 = between(a.y, b.y, row, block.rows);
      const double y1 = between(a.y, b.y, row + 1, block.rows);
      add_window(parts, {at(p, y0), at(q, y0), at(q, y1), at(p, y1)});
    }
    parts.add_quad(at(p, b.y), at(q, b.y), inner(q, b.y), inner(p, b.y));
    parts.add_quad(inner(p, b.y), inner(q, b.y), inner(q, b.y - 0.9), inner(p, b.y - 0.9));
    parts.add_triangle(at(middle, b.y - 0.9), inner(p, b.y - 0.9), inner(q, b.y - 0.9));
    parts.add_triangle(at(middle, a.y), at(q, a.y), at(p, a.y));
  }
  parts.weld(first_point, first_triangle);
}

TriangleMesh make_house(Random& random, double x, double z) {
  PartMesh parts;
  const double half_x = random.uniform(7, 9.5), half_z = random.uniform(7, 9.5);
  const int rows = 5 + static_cast<int>(random.below(8));
  constexpr double kStorey = 3.2;
  double top = -2 + kStorey * rows;
  add_block(parts, {{x - half_x, -2, z - half_z}, {x + half_x, top, z + half_z}, 7, 7, rows});
  if (random.below(3) > 0) {  // a tower on it
    const int more = 3 + static_cast<int>(random.below(6));
    const double foot = top - 1;
    top = foot + kStorey * more;
    add_block(parts, {{x - half_x * 0.6, foot, z - half_z * 0.6},
                      {x + half_x * 0.6, top, z + half_z * 0.6},
                      3,
                      3,
                      more});
  }
  parts.place({kUpright, {x, top - 1, z}});
  const double mast = random.uniform(4, 10);
  parts.add_lathe({{0, 0}, {0, 0.5}, {1.2, 0.3}, {mast, 0.12}, {mast + 0.2, 0}}, 10, 1.5);
  return parts.take();
}

// ---- single things ------------------------------------------------------------------------------

TriangleMesh make_airship() {
  PartMesh parts;
  std::vector<LathePoint> hull;
  constexpr int kPieces = 40;
  for (int i = 0; i <= kPieces; ++i) {
    const SinCos turn = sin_cos(kPi * i / kPieces);
    const double taper = 1 + 0.18 * turn.cos;  // blunter in front
    hull.push_back({-17 * turn.cos, i == 0 || i == kPieces ? 0 : 4.6 * turn.sin / taper});
  }
  parts.add_lathe(hull, 60, 10);
  for (int k = 0; k < 4; ++k) {
    parts.place({rotation_about({1, 0, 0}, kPi / 4 + kPi / 2 * k), {}});
    parts.add_box({-14, 3.2, 0}, {2.4, 2.2, 0.18}, 6);
  }
  parts.place({});
  parts.add_box({1, -4.9, 0}, {3.6, 0.9, 1.1}, 6);
  for (const double side : {-1.0, 1.0}) {
    parts.place({{}, {-1, -4.6, side * 2.2}});
    parts.add_lathe({{-1.2, 0}, {-1, 0.35}, {0.8, 0.5}, {1.1, 0.3}, {1.3, 0}}, 16, 0.4);
  }
  return parts.take();
}

void add_cylinder(PartMesh& parts, const Vec3& from, const Vec3& to, double radius) {
  const Vec3 along = normalized(to - from);
  const Vec3 side =
      normalized(cross(along, std::abs(along.y) > 0.9 ? Vec3{1, 0, 0} : Vec3{0, 1, 0}));
  const Mat3 frame = transpose(Mat3{{along, side, cross(along, side)}});
  const double l = length(to - from);
  parts.place({to_quat(frame), from});
  parts.add_lathe({{0, 0}, {0, radius}, {l, radius}, {l, 0}}, 8, l / 4);
  parts.place({});
}

// Across the avenue, hung from two pylons.
TriangleMesh make_bridge(double x, double deck, double half_span) {
  PartMesh parts;
  parts.add_box({x, deck, 0}, {3.2, 0.5, half_span + 30}, 20);
  for (const double z : {-half_span, half_span}) {
    for (const double side : {-2.6, 2.6})
      parts.add_box({x + side, deck / 2 + 10, z}, {0.6, deck / 2 + 13, 0.9}, 6);
    parts.add_box({x, deck + 19, z}, {3.2, 0.7, 0.9}, 4);
    for (const double side : {-2.6, 2.6})
      for (int k = 1; k <= 8; ++k) {
        const double reach = half_span * 0.95 * k / 8, high = deck + 4 + 1.9 * k;
        add_cylinder(parts, {x + side, high, z}, {x + side, deck, z - reach}, 0.09);
        add_cylinder(parts, {x + side, high, z}, {x + side, deck, z + reach}, 0.09);
      }
  }
  return parts.take();
}

TriangleMesh make_dome(const Vec3& foot, double radius) {
  PartMesh parts;
  parts.place({kUpright, foot});
  std::vector<LathePoint> profile = {
      {-3, 0}, {-3, radius * 1.1}, {1, radius * 1.1}, {1, radius}, {3, radius}};
  for (int k = 1; k <= 20; ++k) {
    const SinCos turn = sin_cos(kPi / 2 * k / 20);
    profile.push_back({3 + radius * 0.8 * turn.sin, k == 20 ? 0 : radius * turn.cos});
  }
  parts.add_lathe(profile, 56, 0.9);
  return parts.take();
}

TriangleMesh make_pole(const Vec3& top) {
  PartMesh parts;
  parts.place({kUpright, {top.x, -1, top.z}});
  const double high = top.y + 1;
  parts.add_lathe(
      {{0, 0}, {0, 0.5}, {1.3, 0.5}, {1.5, 0.2}, {high, 0.14}, {high + 0.2, 0.25}, {high + 0.5, 0}},
      14, 0.8);
  return parts.take();
}

// ---- the way ------------------------------------------------------------------------------------

// Every 50 frames.
constexpr std::array<Vec3, 13> kPath = {
    Vec3{-228, 16, 0}, {-188, 9, 2}, {-152, 4.1, -2}, {-112, 5.5, 1}, {-72, 9, 4},
    {-34, 15, 1},      {6, 21, -3},  {46, 12, 0},     {86, 18, 3},    {122, 26, 1},
    {158, 16, -6},     {192, 9, -5}, {232, 18, 0}};

Vec3 find_path_between(double frame) {
  const double at = frame / 50;
  const double clamped = std::clamp(std::floor(at), 0.0, static_cast<double>(kPath.size() - 2));
  const auto i = static_cast<std::size_t>(clamped);
  const double t = at - clamped;
  const Vec3 b = kPath[i], c = kPath[i + 1];
  const Vec3 a = i > 0 ? kPath[i - 1] : b * 2.0 - c;
  const Vec3 d = i + 2 < kPath.size() ? kPath[i + 2] : c * 2.0 - b;
  // Catmull and Rom's curve.
  return 0.5 * (2.0 * b + (c - a) * t + (2.0 * a - 5.0 * b + 4.0 * c - d) * (t * t) +
                (3.0 * (b - c) + d - a) * (t * t * t));
}

Quat look_along(const Vec3& forward) {
  const Vec3 x = normalized(forward), z = normalized(cross(x, Vec3{0, 1, 0}));
  return to_quat(transpose(Mat3{{x, cross(z, x), z}}));
}

}  // namespace

double find_city_ground(double x, double z) {
  const double far = smooth_step((std::sqrt(x * x + z * z) - 200) / 90);
  const double hills = 9 + 5 * sin_cos(x * 0.043 + 1).sin * sin_cos(z * 0.037).cos +
                       2 * sin_cos(x * 0.11 + z * 0.07).sin;
  // The avenue stays open.
  const double open = smooth_step((std::abs(z) - 12) / 40);
  return 0.25 * sin_cos(x * 0.21).sin * sin_cos(z * 0.17 + 0.3).sin + far * hills * open;
}

CityPlaces find_city_places() {
  return {.flag_pole = {-96, 12, 1},
          .flag_width = 9,
          .flag_height = 6,
          .meadow = {-148, find_city_ground(-148, 0), 0},
          .meadow_size = 36,
          .firework = {112, 27, 2},
          .firework_radius = 24};
}

Pose compute_city_pose(double frame) {
  const Vec3 forward = find_path_between(frame + 0.5) - find_path_between(frame - 0.5);
  const Vec3 turn =
      find_path_between(frame + 5) - 2.0 * find_path_between(frame) + find_path_between(frame - 5);
  return {look_along(forward) * rotation_about({1, 0, 0}, std::clamp(turn.z * 1.5, -0.6, 0.6)),
          find_path_between(frame)};
}

Pose compute_airship_pose(double frame) {
  const SinCos turn = sin_cos(2 * kPi * frame / 600 - 0.6);
  // Comes from the side, crosses the avenue, and turns about.
  return {look_along({18 * turn.cos, 0, -75 * turn.sin}),
          {10 + 18 * turn.sin, 26, 75 * turn.cos + 60}};
}

FabScene make_city() {
  FabScene scene;
  const auto add = [&scene](const char* name, TriangleMesh mesh, const Vec3f& color) {
    scene.elements.push_back({.name = name, .mesh = std::move(mesh), .color = color});
  };
  add("airship", make_airship(), {0.62F, 0.55F, 0.40F});
  scene.elements.back().world_from_element = compute_airship_pose(0);
  PartMesh ground;
  add_ground(ground, 150);
  add("ground", ground.take(), {0.16F, 0.20F, 0.10F});
  const CityPlaces places = find_city_places();
  add("pole", make_pole(places.flag_pole), {0.4F, 0.4F, 0.4F});
  add("bridge", make_bridge(48, 7, 26), {0.42F, 0.14F, 0.10F});
  add("dome", make_dome({178, 0, -17}, 11), {0.18F, 0.40F, 0.36F});
  add("dome", make_dome({196, 0, 22}, 13), {0.18F, 0.40F, 0.36F});
  Random random(3);
  const std::array<Vec3f, 4> walls = {Vec3f{0.50F, 0.42F, 0.33F},
                                      {0.36F, 0.38F, 0.42F},
                                      {0.46F, 0.30F, 0.22F},
                                      {0.55F, 0.53F, 0.48F}};
  for (int i = -4; i <= 4; ++i)
    for (int j = -3; j <= 3; ++j) {
      // Gaps: the avenue, the bridge's ends, and corners that hills need.
      if (j == 0 || (i == 1 && std::abs(j) == 1) || std::abs(i) + std::abs(j) > 5) continue;
      if (i == 4 && std::abs(j) == 1) continue;
      const double x = 40.0 * i + random.uniform(-3, 3);
      const double z = 34.0 * j + (j > 0 ? -8 : 8) + random.uniform(-2, 2);
      add("house", make_house(random, x, z), walls[random.below(4)]);
    }
  add("house", make_house(random, -62, 16.5), walls[2]);  // its corner is in the way
  for (std::size_t i = 0; i < scene.elements.size(); ++i)
    scene.elements[i].id = static_cast<std::uint32_t>(i + 1);
  TriangleMesh& floor = scene.elements[1].mesh;
  refine_to(floor, floor.triangles.size() + kCityTriangles - count_triangles(scene));
  return scene;
}

}  // namespace isotact

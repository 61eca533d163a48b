// Every shape of the catalogue: closed, clean, of the right genus, and the same bytes everywhere.
#include "isotact/geometry/primitives/primitives.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/hash.h"
#include "isotact/base/random.h"
#include "isotact/base/trig.h"
#include "isotact/geometry/repair/flaws.h"
#include "isotact/geometry/repair/self_intersection.h"

#include "support/slow_build.h"

namespace isotact {
namespace {

using Values = std::map<std::string, double>;

std::size_t holes_through(const std::string& shape) {
  static const std::set<std::string> with_one{"torus", "knot", "gear", "link", "nut", "pipe"};
  return with_one.contains(shape) ? 1 : 0;
}

double volume(const TriangleMesh& mesh) {
  double sum = 0;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const auto [a, b, c] = corners(mesh, i);
    sum += dot(to_double(a), cross(to_double(b), to_double(c))) / 6;
  }
  return sum;
}

double area_of(const std::array<Vec3f, 3>& t) {
  return length(cross(to_double(t[1]) - to_double(t[0]), to_double(t[2]) - to_double(t[0]))) / 2;
}

double area(const TriangleMesh& mesh) {
  double sum = 0;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) sum += area_of(corners(mesh, i));
  return sum;
}

// The smallest height of a triangle over its longest side.
double thinnest(const TriangleMesh& mesh) {
  double least = 1;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const auto t = corners(mesh, i);
    double longest_sq = 0;
    for (std::size_t k = 0; k < 3; ++k)
      longest_sq = std::max(longest_sq, length_sq(to_double(t[(k + 1) % 3]) - to_double(t[k])));
    least = std::min(least, 2 * area_of(t) / longest_sq);
  }
  return least;
}

void expect_sound(const std::string& shape, const TriangleMesh& mesh) {
  ASSERT_FALSE(find_flaw(mesh)) << *find_flaw(mesh);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges, reversed;
  std::vector<char> used(mesh.positions.size(), 0);
  for (const Triangle& t : mesh.triangles)
    for (std::size_t k = 0; k < 3; ++k) {
      used[t[k]] = 1;
      edges.emplace_back(t[k], t[(k + 1) % 3]);
      reversed.emplace_back(t[(k + 1) % 3], t[k]);
    }
  std::sort(edges.begin(), edges.end());
  std::sort(reversed.begin(), reversed.end());
  EXPECT_EQ(std::adjacent_find(edges.begin(), edges.end()), edges.end()) << "an edge runs twice";
  EXPECT_EQ(edges, reversed) << "an edge is open";
  EXPECT_EQ(std::count(used.begin(), used.end(), 0), 0) << "a vertex is unused";
  std::vector<std::array<float, 3>> positions;
  for (const Vec3f& p : mesh.positions) {
    ASSERT_TRUE(is_finite(p));
    positions.push_back({p.x, p.y, p.z});
  }
  std::sort(positions.begin(), positions.end());
  EXPECT_EQ(std::adjacent_find(positions.begin(), positions.end()), positions.end())
      << "two vertices are at the same position";
  const auto euler = static_cast<long>(mesh.positions.size()) -
                     static_cast<long>(edges.size() / 2) + static_cast<long>(mesh.triangles.size());
  EXPECT_EQ(euler, 2 - 2 * static_cast<long>(holes_through(shape)));
  EXPECT_GT(volume(mesh), 0);
  EXPECT_GT(thinnest(mesh), 1e-3);
}

double vary(const std::string& shape, const ShapeParameter& p, Random& random) {
  if (p.name == "seed") return static_cast<double>(random.next_u32());
  if (p.name == "triangles") return 4000 + random.below(3000);
  if (p.name == "flank_rows") return 1 + random.below(2);
  if ((shape == "bolt" || shape == "nut") && p.name == "segments") return 48 + 48 * random.below(2);
  if (p.name == "p" || p.name == "q") return 1 + random.below(4);
  const double value = std::clamp(p.value * random.uniform(0.6, 1.5), p.minimum, p.maximum);
  return p.whole ? std::floor(value) : value;
}

class EveryShape : public testing::TestWithParam<std::string> {
 protected:
  static const ShapeInfo& info() {
    for (const ShapeInfo& shape : shape_catalogue())
      if (shape.name == GetParam()) return shape;
    throw Error("no such shape");
  }
};

TEST_P(EveryShape, IsSoundByDefault) {
  const TriangleMesh mesh = make_shape(GetParam());
  expect_sound(GetParam(), mesh);
  const SelfIntersections found = find_self_intersections(mesh);
  EXPECT_EQ(found.crossing + found.overlapping + found.touching, 0U);
}

TEST_P(EveryShape, IsSoundForRandomParameters) {
  const int tries = GetParam() == "ship" || GetParam() == "blob" ? 1 : unless_slow(12, 4);
  Random random(2014);
  int made = 0;
  for (int i = 0; i < tries; ++i) {
    Values values;
    std::string text;
    for (const ShapeParameter& p : info().parameters) {
      values[p.name] = vary(GetParam(), p, random);
      text += p.name + "=" + std::to_string(values[p.name]) + " ";
    }
    TriangleMesh mesh;
    try {
      mesh = make_shape(GetParam(), values);
    } catch (const Error&) {
      continue;  // parameters that contradict each other
    }
    SCOPED_TRACE(text);
    ++made;
    expect_sound(GetParam(), mesh);
    const SelfIntersections found = find_self_intersections(mesh);
    EXPECT_EQ(found.crossing + found.overlapping, 0U);
  }
  EXPECT_GE(made, tries / 3) << "too few of the random parameters were possible";
}

// Further from the defaults, up to 4000 times; but 8 times where a long shape has many rows.
double vary_wildly(const std::string& shape, const ShapeParameter& p, Random& random) {
  static const std::set<std::string> with_rows{"capsule", "cylinder", "bolt", "nut", "terrain"};
  if (p.name == "seed") return random.below(1000);
  if (p.whole && p.minimum >= 48) return 48;
  if (p.whole) {
    const double most = p.name != "segments" ? 10 : with_rows.contains(shape) ? 24 : 120;
    return std::floor(random.uniform(p.minimum, std::max(p.minimum, std::min(most, p.maximum))));
  }
  if (p.maximum <= 200) return random.uniform(p.minimum, p.maximum);
  const std::uint32_t doublings =
      random.below(2) == 0 ? random.below(with_rows.contains(shape) ? 3 : 12) : 0;
  double factor = random.uniform(0.7, 1.4);
  for (std::uint32_t i = 0; i < doublings; ++i) factor *= 2;
  return std::clamp(random.below(2) == 0 ? p.value * factor : p.value / factor, p.minimum,
                    p.maximum);
}

// Without those that have nothing but a scale and a number of triangles.
class EveryVariedShape : public EveryShape {};

TEST_P(EveryVariedShape, IsSoundOrRefusedAllOverItsRange) {
  Random random(7);
  int sound = 0;
  for (int i = 0; i < 400 && sound < unless_slow(30, 10); ++i) {
    Values values;
    std::string text;
    for (const ShapeParameter& p : info().parameters) {
      if (random.below(2) == 0) continue;
      values[p.name] = vary_wildly(GetParam(), p, random);
      text += p.name + "=" + std::to_string(values[p.name]) + " ";
    }
    TriangleMesh mesh;
    try {
      mesh = make_shape(GetParam(), values);
    } catch (const Error&) {
      continue;
    }
    if (mesh.triangles.size() > 12000) continue;
    ++sound;
    const MeshFlaws flaws = find_flaws(mesh, {.self_intersections = true});
    const SelfIntersections& found = *flaws.self_intersections;
    EXPECT_TRUE(flaws.watertight && flaws.manifold && flaws.oriented && !flaws.inward) << text;
    EXPECT_EQ(flaws.degenerate + flaws.merged_vertices, 0U) << text;
    EXPECT_EQ(found.crossing + found.overlapping + found.touching, 0U) << text;
  }
  EXPECT_GE(sound, 10) << "too few of the random parameters were possible";
}

TEST_P(EveryShape, RefusesEveryParameterBeyondItsRange) {
  for (const ShapeParameter& p : info().parameters) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const double wrong : {p.minimum - 1, p.maximum * 2 + 1, nan}) {
      try {
        make_shape(GetParam(), {{p.name, wrong}});
        ADD_FAILURE() << p.name << " = " << wrong << " was taken";
      } catch (const Error& error) {
        const std::string message = error.what();
        EXPECT_EQ(message.find(GetParam() + ": " + p.name + " is "), 0U) << message;
        EXPECT_NE(message.find("it must be from "), std::string::npos) << message;
      }
    }
    if (p.whole) {
      EXPECT_THROW(make_shape(GetParam(), {{p.name, p.value + 0.5}}), Error) << p.name;
    }
  }
}

TEST_P(EveryShape, HasTheSameBytesEverywhere) {
  static const std::map<std::string, std::uint64_t> golden{
      {"sphere", 0xce77b1c3ae9b7beaU},  {"box", 0xb604f214459f41a5U},
      {"capsule", 0xa91d9d56a5ad0ab6U}, {"cylinder", 0xbaf6115e8abeeb67U},
      {"torus", 0x3c2e4bdfc61053a8U},   {"knot", 0x67b954d42889d5b2U},
      {"bowl", 0x911910dc1aea417bU},    {"gear", 0xfcd861d9bfc6df4eU},
      {"link", 0x35a4e05be7f7d5dbU},    {"bolt", 0xd78bc861e00603e9U},
      {"nut", 0x07a946f4a8fa76c3U},     {"terrain", 0xe9cdc893957d2d02U},
      {"pipe", 0x73f3cf9d00c734a8U},    {"ship", 0x8df28761c7fee64fU},
      {"blob", 0x4be5c1196011894aU}};
  Values values;
  if (GetParam() == "ship" || GetParam() == "blob") values["triangles"] = 5000;
  const TriangleMesh mesh = make_shape(GetParam(), values);
  const std::uint64_t hash = hash_range(mesh.triangles, hash_range(mesh.positions));
  EXPECT_EQ(hash, golden.at(GetParam())) << std::hex << GetParam() << " 0x" << hash;
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const ShapeInfo& shape : shape_catalogue()) names.push_back(shape.name);
  return names;
}
std::vector<std::string> varied_names() {
  std::vector<std::string> names = all_names();
  std::erase_if(names, [](const std::string& name) { return name == "ship" || name == "blob"; });
  return names;
}
INSTANTIATE_TEST_SUITE_P(Shapes, EveryVariedShape, testing::ValuesIn(varied_names()),
                         [](const auto& shape) { return shape.param; });
INSTANTIATE_TEST_SUITE_P(Shapes, EveryShape, testing::ValuesIn(all_names()),
                         [](const auto& shape) { return shape.param; });

void expect_bounds(const TriangleMesh& mesh, const Vec3& lower, const Vec3& upper, double within) {
  const Aabb box = to_double(bounds(mesh));
  for (std::size_t axis = 0; axis < 3; ++axis) {
    EXPECT_NEAR(box.lower[axis], lower[axis], within) << "axis " << axis;
    EXPECT_NEAR(box.upper[axis], upper[axis], within) << "axis " << axis;
  }
}

TEST(Shapes, BoundsAreAsDocumented) {
  expect_bounds(make_sphere({}), {-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5}, 1e-3);
  expect_bounds(make_box({.size_x = 1, .size_y = 2, .size_z = 3, .segments = 5}), {-0.5, -1, -1.5},
                {0.5, 1, 1.5}, 1e-7);
  expect_bounds(make_capsule({}), {-0.25, -0.5, -0.25}, {0.25, 0.5, 0.25}, 1e-7);
  expect_bounds(make_cylinder({}), {-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5}, 1e-7);
  expect_bounds(make_torus({}), {-0.5, -0.125, -0.5}, {0.5, 0.125, 0.5}, 1e-7);
  expect_bounds(make_bowl({.foot_radius = 0}), {-0.1, 0, -0.1}, {0.1, 0.104, 0.1}, 1e-7);
  expect_bounds(make_gear({}), {-0.065, -0.01, -0.065}, {0.065, 0.01, 0.065}, 1e-7);
  expect_bounds(make_link({}), {-0.026, -0.041, -0.008}, {0.026, 0.041, 0.008}, 1e-7);
  const double corner = 0.012 / std::cos(kPi / 6);
  expect_bounds(make_bolt({}), {-corner, -0.010, -0.012}, {corner, 0.05, 0.012}, 1e-7);
  expect_bounds(make_nut({}), {-corner, -0.0065, -0.012}, {corner, 0.0065, 0.012}, 1e-7);
  expect_bounds(make_terrain({}), {-5, 0, -5}, {5, 2, 5}, 1e-6);
  expect_bounds(make_ship({.triangles = unless_slow(8000, 4000)}), {-0.5, -0.11, -0.46},
                {0.5, 0.23, 0.46}, 5e-3);
  expect_bounds(make_blob({.triangles = unless_slow(8000, 4000)}), {-0.058, 0, -0.095},
                {0.058, 0.2, 0.086}, 1e-3);
}

TEST(Shapes, ImplicitOnesHaveTheTrianglesAskedFor) {
  for (const int triangles : unless_slow<std::vector<int>>({9716, 6000}, {4000}))
    EXPECT_EQ(make_ship({.triangles = triangles}).triangles.size(),
              static_cast<std::size_t>(triangles));
  EXPECT_EQ(make_blob({.triangles = unless_slow(7001, 4001)}).triangles.size(),
            unless_slow(7000U, 4000U));
}

// Halving the edges quarters the error.
template <typename Make>
void expect_convergence(Make make, double true_volume, double true_area) {
  const TriangleMesh coarse = make(1), fine = make(2);
  const double volume_error = std::abs(volume(coarse) - true_volume) / true_volume;
  const double area_error = std::abs(area(coarse) - true_area) / true_area;
  EXPECT_LT(volume_error, 0.02);
  EXPECT_LT(area_error, 0.02);
  EXPECT_LT(std::abs(volume(fine) - true_volume) / true_volume, 0.3 * volume_error + 1e-6);
  EXPECT_LT(std::abs(area(fine) - true_area) / true_area, 0.3 * area_error + 1e-6);
}

TEST(Shapes, VolumeAndAreaConvergeToTheTrueOnes) {
  expect_convergence([](int f) { return make_sphere({.radius = 2, .frequency = 8 * f}); },
                     4.0 / 3 * kPi * 8, 4 * kPi * 4);
  expect_convergence(
      [](int f) { return make_capsule({.radius = 0.5, .length = 2, .segments = 48 * f}); },
      kPi * 0.25 * 2 + 4.0 / 3 * kPi * 0.125, 2 * kPi * 0.5 * 2 + 4 * kPi * 0.25);
  expect_convergence(
      [](int f) { return make_cylinder({.radius = 1, .height = 3, .segments = 48 * f}); }, 3 * kPi,
      8 * kPi);
  expect_convergence(
      [](int f) {
        return make_torus(
            {.radius = 2, .tube_radius = 0.5, .segments = 64 * f, .tube_segments = 32 * f});
      },
      2 * kPi * kPi * 2 * 0.25, 4 * kPi * kPi * 2 * 0.5);
  const double along = 2 * 0.03 + 2 * kPi * 0.018;
  expect_convergence([](int f) { return make_link({.segments = 64 * f, .wire_segments = 32 * f}); },
                     kPi * 0.008 * 0.008 * along, 2 * kPi * 0.008 * along);
  EXPECT_NEAR(volume(make_box({.size_x = 1, .size_y = 2, .size_z = 3, .segments = 7})), 6, 1e-5);
  // Half a hollow ball with a round rim (Pappus).
  const double r = 0.1, t = 0.008, i = r - t;
  const double bowl =
      2.0 / 3 * kPi * (r * r * r - i * i * i) + kPi * t * t / 8 * 2 * kPi * (r - t / 2);
  EXPECT_NEAR(volume(make_bowl({.foot_radius = 0, .segments = 192})), bowl, 0.005 * bowl);
}

TEST(Shapes, TubesHaveHalfTheirRadiusOfVolumePerArea) {
  const TriangleMesh knot = make_knot({.segments = 768, .tube_segments = 64});
  EXPECT_NEAR(2 * volume(knot) / area(knot), 0.06, 0.06 * 0.005);
}

TEST(Shapes, SeedsChangeOnlyWhatIsRandom) {
  for (const char* name : {"terrain", "pipe"}) {
    EXPECT_NE(make_shape(name, {{"seed", 1}}), make_shape(name, {{"seed", 2}})) << name;
    EXPECT_EQ(make_shape(name, {{"seed", 3}}), make_shape(name, {{"seed", 3}})) << name;
  }
}

std::string message_of(const std::string& shape, const Values& values) {
  try {
    make_shape(shape, values);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Shapes, ErrorsNameTheParameterItsValueAndWhatIsAllowed) {
  EXPECT_EQ(message_of("sphere", {{"radius", -1}}),
            "sphere: radius is -1; it must be from 1e-05 to 10000");
  EXPECT_EQ(message_of("torus", {{"tube_radius", 0.5}}),
            "torus: tube_radius is 0.5; it must be less than radius (0.375)");
  EXPECT_EQ(message_of("gear", {{"teeth", 4}}), "gear: teeth is 4; it must be from 5 to 10000");
  EXPECT_EQ(message_of("gear", {{"teeth", 7.5}}), "gear: teeth is 7.5; it must be a whole number");
  EXPECT_EQ(message_of("knot", {{"p", 2}, {"q", 4}}),
            "knot: q is 4; it must be without a common divisor with p (2)");
  EXPECT_EQ(message_of("sphere", {{"frequency", 50000}}),
            "sphere: frequency is 50000, which would take 5e+10 triangles; at most 5e+07 are made");
  EXPECT_EQ(message_of("bolt", {{"segments", 100}}),
            "bolt: segments is 100; it must be a multiple of 48");
  EXPECT_NE(message_of("knot", {{"tube_radius", 0.2}}).find("does not touch itself"),
            std::string::npos);
  EXPECT_NE(message_of("pipe", {{"inner_radius", 0.2}}).find("does not touch itself"),
            std::string::npos);
}

// Settings that once gave meshes that ran through themselves or had collapsed triangles.
TEST(Shapes, RefuseWhatWouldNotBeSoundAndNameTheParameter) {
  const std::vector<std::tuple<std::string, Values, std::string>> cases{
      // Windings that come near each other between two sample points.
      {"knot",
       {{"segments", 37}, {"tube_radius", 0.015}, {"winding_radius", 2.2e-5}},
       "tube_radius"},
      {"knot",
       {{"p", 10}, {"ring_radius", 78}, {"tube_radius", 0.0856}, {"tube_segments", 24}},
       "tube_radius"},
      {"knot", {{"p", 22}, {"ring_radius", 290}, {"tube_radius", 0.0352}}, "tube_radius"},
      // Fewer samples than windings.
      {"pipe", {{"segments", 18}, {"windings", 100}, {"drop", 0.071}, {"sway", 0.728}}, "segments"},
      {"pipe", {{"segments", 7}, {"span", 3.9}, {"sway", 0.35}, {"windings", 68}}, "segments"},
      // Facets of the outside that reach through the wall.
      {"bowl", {{"radius", 1.73315}, {"thickness", 0.00113676}, {"segments", 20}}, "thickness"},
      {"bowl", {{"radius", 0.446}, {"rim_degrees", 71.3}, {"segments", 13}}, "thickness"},
      // Too fine for float32.
      {"knot",
       {{"ring_radius", 1180},
        {"tube_radius", 1.6e-5},
        {"winding_radius", 0.04},
        {"tube_segments", 50}},
       "tube_radius"},
      {"torus", {{"radius", 1e4}, {"tube_radius", 1e-3}}, "tube_radius"},
      {"link", {{"bend_radius", 1e4}, {"wire_radius", 1e-3}}, "wire_radius"},
      {"pipe", {{"span", 1e3}, {"wall", 1e-3}}, "wall"}};
  for (const auto& [shape, values, parameter] : cases)
    EXPECT_EQ(message_of(shape, values).find(shape + ": " + parameter + " is "), 0U)
        << message_of(shape, values);
}

// 3e9 bands were once cast to an int.
TEST(Shapes, BoltsTakeHeadsOfAnyProportion) {
  const TriangleMesh bolt = make_bolt({.diameter = 2.5e-5,
                                       .pitch = 1e-5,
                                       .length = 2e-4,
                                       .thread_length = 1e-4,
                                       .head_height = 1e4,
                                       .head_width = 1e4,
                                       .segments = 48});
  EXPECT_TRUE(find_flaws(bolt).watertight);
}

// Tubes must not be refused for more than the room that they need: a ring of two strands around
// each other, which are 2 * winding_radius apart.
TEST(Shapes, KnotsMayFillTheirRoomButNoMore) {
  for (const int segments : {96, 200, 1000}) {
    const auto knot = [&](double tube_radius) {
      return KnotShape{.p = 2,
                       .q = 1,
                       .ring_radius = 1,
                       .winding_radius = 0.1,
                       .tube_radius = tube_radius,
                       .segments = segments,
                       .tube_segments = 12};
    };
    const SelfIntersections found = find_self_intersections(make_knot(knot(0.092)));
    EXPECT_EQ(found.crossing + found.overlapping + found.touching, 0U);
    EXPECT_THROW(make_knot(knot(0.101)), Error);
  }
}

TEST(Shapes, UnknownNamesAreAnsweredWithTheNearestOnes) {
  EXPECT_EQ(message_of("geer", {}),
            "unknown shape 'geer'; did you mean gear? Possible: sphere, box, capsule, cylinder, "
            "torus, knot, bowl, gear, link, bolt, nut, terrain, pipe, ship, blob");
  EXPECT_EQ(message_of("sphere", {{"radios", 1}}),
            "sphere: unknown parameter 'radios'; did you mean radius? Possible: radius, frequency");
  EXPECT_EQ(message_of("xyzzyplugh", {}).find("unknown shape 'xyzzyplugh'; possible: sphere"), 0U);
}

}  // namespace
}  // namespace isotact

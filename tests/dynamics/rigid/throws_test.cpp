// Bodies thrown at walls: none ends behind, none stops dead, none gains energy.
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "isotact/base/random.h"
#include "isotact/dynamics/rigid/world.h"
#include "isotact/geometry/mesh/mass_properties.h"
#include "isotact/geometry/primitives/primitives.h"

#include "dynamics/rigid/part.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

struct Thrown {
  std::string name;
  Part part;
};

Thrown make_thrown(const std::string& name, const std::map<std::string, double>& with = {}) {
  const TriangleMesh mesh = make_shape(name, with);
  ShapeSettings settings;
  settings.field.resolution = 48;
  settings.points = 1200;
  return {name,
          {Shape::from_mesh(mesh, settings), make_body_mass(compute_mass_properties(mesh), 2000)}};
}

const std::vector<Thrown>& all_thrown() {
  static const std::vector<Thrown> all = {
      make_thrown("sphere", {{"radius", 0.03}}),
      make_thrown("box", {{"size_x", 0.05}, {"size_y", 0.05}, {"size_z", 0.05}}),
      make_thrown("box", {{"size_x", 0.3}, {"size_y", 0.01}, {"size_z", 0.01}}),
      make_thrown("box", {{"size_x", 0.1}, {"size_y", 0.01}, {"size_z", 0.1}}),
      make_thrown("gear"),
      make_thrown("link"),
      make_thrown("knot")};
  return all;
}

// What a throw may not do.
struct Outcome {
  bool met = false, behind = false, dead = false, waited = false;
  double gain = 0;  // of energy, as a share of what was there
};

struct Throw {
  const Thrown* thrown;
  double step, thickness, restitution, friction;
  BodySettings body{}, wall{};
};

Throw make_throw(Random& random) {
  constexpr std::array<double, 6> kSteps = {5e-4, 1e-3, 2e-3, 4e-3, 8e-3, 16e-3};
  const auto& all = all_thrown();
  Throw t;
  t.thrown = &all[random.below(static_cast<std::uint32_t>(all.size()))];
  t.step = kSteps[random.below(6)];
  const Part& part = t.thrown->part;
  // No thinner than what the sampling and the field can see.
  t.thickness = std::max(0.002 * std::pow(50, random.uniform()),
                         4 * part.shape.cell() + 2 * part.shape.points().covering_radius());
  t.restitution = random.uniform();
  t.friction = random.uniform();
  t.wall.name = "wall";
  t.wall.kind = BodyKind::kStatic;
  t.wall.shape = Shape::from_analytic(BoxField{.half_size = {50, t.thickness / 2, 50}});
  t.wall.material = {.friction = t.friction, .restitution = t.restitution};
  Vec3 way = random.unit_vector();
  way.y = -std::abs(way.y) - 0.1;
  t.body.shape = part.shape;
  t.body.mass = part.mass;
  const double size = length(extent(part.shape.bounds()));
  t.body.pose = {random.rotation(), {0, 0.05 + size + t.thickness, 0}};
  t.body.velocity = normalized(way) * (1 + 100 * std::pow(random.uniform(), 2));
  t.body.angular_velocity = random.unit_vector() * random.uniform(0, 200);
  t.body.material = t.wall.material;
  return t;
}

Outcome play(const Throw& t) {
  World world({.step = t.step});
  world.add_body(t.wall);
  const BodyId id = world.add_body(t.body);
  const double reach = t.body.pose.translation.y;
  const auto energy = [&] { return world.energies().kinetic + world.energies().potential; };
  const double start = energy();
  Outcome outcome;
  int hit = -1;
  double before = 0;
  for (int i = 0; i < 400; ++i) {
    const double kinetic = world.energies().kinetic;
    const StepReport& report = world.step();
    outcome.waited = outcome.waited || report.waiting > 0;
    if (hit < 0 && report.impacts > 0) {
      hit = i;
      before = kinetic;
      outcome.met = true;
    }
    outcome.gain = std::max(outcome.gain, energy() / start - 1);
    // Two steps later. Friction and restitution may leave little, not nothing.
    if (hit >= 0 && i == hit + 2) outcome.dead = world.energies().kinetic < 1e-4 * before;
    const double y = world.body(id).state.center.y;
    outcome.behind = outcome.behind || y < -t.thickness / 2;
    if (outcome.behind || (hit >= 0 && i > hit + 20) || (hit >= 0 && y > reach)) break;
  }
  return outcome;
}

TEST(Throws, NoneEndsBehindStopsDeadOrGainsEnergy) {
  Random random(3);
  constexpr int kThrows = unless_slow(120, 14);
  int met = 0;
  for (int i = 0; i < kThrows; ++i) {
    const Throw t = make_throw(random);
    const Outcome outcome = play(t);
    const std::string about = t.thrown->name + " " + std::to_string(i);
    met += outcome.met ? 1 : 0;
    EXPECT_FALSE(outcome.behind) << about;
    EXPECT_FALSE(outcome.dead) << about;
    EXPECT_FALSE(outcome.waited) << about;
    EXPECT_LE(outcome.gain, 1e-3) << about;
  }
  EXPECT_GT(met, kThrows / 2);
}

// Hundreds of turns in a step: the shorter way from one pose to the next would be no turn at all.
TEST(Throws, ManyTurnsInAStepAreMade) {
  const Thrown& rod = all_thrown()[2];
  World world({.step = 0.01, .gravity = {}});
  BodySettings wall;
  wall.kind = BodyKind::kStatic;
  wall.shape = Shape::from_analytic(BoxField{.half_size = {1, 0.02, 1}});
  world.add_body(wall);
  BodySettings body;
  body.shape = rod.part.shape;
  body.mass = rod.part.mass;
  // Its end passes where the wall is once a turn. Two whole turns a step: it ends as it began.
  body.pose = {{}, {0, 0.1, 0}};
  body.angular_velocity = {0, 0, 2 * 2 * 3.14159265358979 / 0.01};
  const BodyId id = world.add_body(body);
  const StepReport& report = world.step();
  EXPECT_GT(report.impacts, 0U);
  EXPECT_GT(velocity(world.body(id)).y, 1);
  EXPECT_GT(world.body(id).state.center.y, 0.1);
}

}  // namespace
}  // namespace isotact

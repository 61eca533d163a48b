// Driven bodies that hit, turn and press others.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/trig.h"
#include "isotact/dynamics/rigid/world.h"

#include "dynamics/rigid/throw_cases.h"

namespace isotact {
namespace {

Part make_ball(double radius) {
  const TriangleMesh mesh = make_shape("sphere", {{"radius", radius}});
  ShapeSettings settings;
  settings.field.resolution = 32;
  settings.points = 400;
  return {Shape::from_mesh(mesh, settings), make_body_mass(compute_mass_properties(mesh), 2000)};
}

BodySettings thing(const Part& part, const Vec3& at, double restitution) {
  BodySettings s;
  s.shape = part.shape;
  s.mass = part.mass;
  s.pose.translation = at;
  s.material.restitution = restitution;
  return s;
}

// The work of driven bodies in impacts was in no account: a bat that met a ball ended the run.
TEST(Driven, AnImpactOfABatHasItsWorkAndItsImpulse) {
  const Part ball = make_ball(0.02);
  for (const double step : {1e-3, 1e-2})
    for (const double speed : {5.0, 50.0}) {
      World world({.step = step, .gravity = {}});
      BodySettings bat;
      bat.kind = BodyKind::kKinematic;
      bat.shape = Shape::from_analytic(BoxField{.half_size = {0.05, 0.05, 0.05}});
      bat.pose.translation = {-0.2, 0, 0};
      bat.material.restitution = 0.5;
      const BodyId driven = world.add_body(bat);
      const BodyId id = world.add_body(thing(ball, {}, 0.5));
      double x = -0.2, impulse = 0;
      for (int i = 0; i < static_cast<int>(0.3 / step / speed * 5); ++i) {
        x += speed * step;
        world.move_to(driven, {{}, {x, 0, 0}});
        world.step();
        ASSERT_FALSE(world.trouble()) << world.trouble()->message;
        for (const PairContact& c : world.contacts()) impulse -= c.impulse.x;  // on the bat
      }
      const double mass = world.body(id).mass.mass;
      // Its first point is not quite in the middle.
      EXPECT_NEAR(velocity(world.body(id)).x, 1.5 * speed, 0.05 * speed);
      EXPECT_NEAR(impulse, mass * velocity(world.body(id)).x, 1e-9 * mass * speed);
    }
}

// A rod of 30 cm with a ball in the disc that its ends pass through. Boxes of whole turns followed
// the shorter way, which is none.
void add_ball_in_disc(World& world) {
  static const Part ball = make_ball(0.02);
  world.add_body(thing(ball, {0, 0.1, 0}, 0.5));
}

TEST(Driven, AFreeRodThatMakesWholeTurnsMeetsABall) {
  const throw_cases::Thrown& rod = throw_cases::all_thrown()[2];
  for (const double turns : {0.5, 1.0, 1.3, 2.0, 5.0}) {
    World world({.step = 0.01, .gravity = {}});
    add_ball_in_disc(world);
    BodySettings s = thing(rod.part, {}, 0.5);
    s.angular_velocity = {0, 0, turns * 2 * kPi / 0.01};
    world.add_body(s);
    world.step();
    EXPECT_GT(world.report().pairs, 0U) << turns;
    EXPECT_GT(world.report().impacts, 0U) << turns;
    EXPECT_GT(length(velocity(world.body(0))), 1) << turns;
  }
}

TEST(Driven, ADrivenRodMakesTheTurnsThatItIsGiven) {
  const throw_cases::Thrown& rod = throw_cases::all_thrown()[2];
  for (const double turns : {0.6, 1.0, 2.25}) {
    World world({.step = 0.01, .gravity = {}});
    add_ball_in_disc(world);
    BodySettings s = thing(rod.part, {}, 0.5);
    s.kind = BodyKind::kKinematic;
    const BodyId id = world.add_body(s);
    const Vec3 turn{0, 0, turns * 2 * kPi};
    const Pose end{rotation_about(turn, length(turn)), {}};
    world.move_to(id, end, turn);
    const std::vector<std::byte> before = world.save();
    world.step();
    EXPECT_GT(world.report().impacts, 0U) << turns;
    EXPECT_FALSE(world.trouble());
    const std::uint64_t hash = world.hash();
    world.restore(before);  // with the turn
    world.step();
    EXPECT_EQ(world.hash(), hash) << turns;
    world.step();  // Nothing drives it: it rests.
    const Quat now = world.pose(id).rotation;
    EXPECT_NEAR(std::abs(now.w * end.rotation.w + now.z * end.rotation.z), 1, 1e-12);
  }
}

TEST(Driven, ATurnLeadsToItsPose) {
  const throw_cases::Thrown& rod = throw_cases::all_thrown()[2];
  World world;
  BodySettings s = thing(rod.part, {}, 0.5);
  s.kind = BodyKind::kKinematic;
  const BodyId id = world.add_body(s);
  EXPECT_THROW(world.move_to(id, {}, {0, 0, 1}), Error);
  EXPECT_THROW(world.move_to(id, {}, {0, 0, 2e6}), Error);
  EXPECT_THROW(world.move_to(id, {}, {0, 0, std::nan("")}), Error);
  world.move_to(id, {}, {0, 0, 2 * kPi});
}

// A plate comes down on a box that stands on the ground. Contacts were solved again and again, and
// the run never ended.
World make_press(double step, double restitution) {
  World world({.step = step});
  BodySettings ground;
  ground.name = "ground";
  ground.kind = BodyKind::kStatic;
  ground.shape = Shape::from_analytic(PlaneField{});
  world.add_body(ground);
  BodySettings box;
  box.name = "box";
  box.shape = Shape::from_analytic(BoxField{.half_size = {0.1, 0.1, 0.1}});
  box.mass = make_body_mass(8, {}, identity3() * 0.05);
  box.pose.translation = {0, 0.1, 0};
  box.material.restitution = restitution;
  world.add_body(box);
  BodySettings plate;
  plate.name = "plate";
  plate.kind = BodyKind::kKinematic;
  plate.shape = Shape::from_analytic(BoxField{.half_size = {0.2, 0.05, 0.2}});
  plate.pose.translation = {0, 0.27, 0};
  world.add_body(plate);
  return world;
}

TEST(Driven, APressThatLeavesNoFreePlaceIsTrouble) {
  for (const double speed : {0.5, 20.0})
    for (const double step : {1e-3, 5e-3})
      for (const double restitution : {0.0, 0.6}) {
        World world = make_press(step, restitution);
        double y = 0.27;
        std::uint32_t most = 0;
        while (!world.trouble() && y > 0.15) {
          y -= speed * step;
          world.move_to(2, {{}, {0, y, 0}});
          world.step();
          most = std::max(most, world.report().impacts);
        }
        ASSERT_TRUE(world.trouble()) << speed << " " << step;
        const std::string& message = world.trouble()->message;
        for (const char* word : {"'box'", "'plate'", "'ground'", "no free place"})
          EXPECT_NE(message.find(word), std::string::npos) << message;
        EXPECT_LT(most, 200U);
      }
}

// A press that stops in time only holds what is under it.
TEST(Driven, APressThatStopsHoldsABox) {
  World world = make_press(2e-3, 0.3);
  double y = 0.27;
  for (int i = 0; i < 500; ++i) {
    y = std::max(y - 1e-4, 0.2495);
    world.move_to(2, {{}, {0, y, 0}});
    world.step();
    ASSERT_FALSE(world.trouble()) << world.trouble()->message;
  }
  EXPECT_NEAR(world.body(1).state.center.y, 0.1, 1e-3);
  EXPECT_LT(kinetic_energy(world.body(1)), 1e-3);
}

}  // namespace
}  // namespace isotact

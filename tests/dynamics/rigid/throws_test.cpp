// Bodies thrown at walls: none ends behind, none stops dead, none gains energy.
#include <string>

#include <gtest/gtest.h>

#include "dynamics/rigid/throw_cases.h"
#include "support/slow_build.h"
#include "support/test_seed.h"

namespace isotact {
namespace {

using namespace throw_cases;

TEST(Throws, NoneEndsBehindStopsDeadOrGainsEnergy) {
  Random random(test_seed(3));
  const int throws = test_cases(unless_slow(120, 14));
  int met = 0, waited = 0;
  for (int i = 0; i < throws; ++i) {
    const Throw t = make_throw(random);
    const Outcome outcome = play(t);
    const std::string about = t.thrown->name + " " + std::to_string(i);
    met += outcome.met ? 1 : 0;
    EXPECT_FALSE(outcome.behind) << about;
    EXPECT_FALSE(outcome.dead) << about;
    waited += outcome.waited ? 1 : 0;
    EXPECT_FALSE(outcome.trouble) << about;
    EXPECT_LE(outcome.gain, 1e-3) << about;
    EXPECT_LE(outcome.drift, 1e-12) << about;
  }
  EXPECT_GT(met, throws / 2);
  EXPECT_LE(waited, throws / 100);
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

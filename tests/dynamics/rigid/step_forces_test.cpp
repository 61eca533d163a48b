// ForceSolve::kStep: the force of this step.
#include <algorithm>
#include <cmath>
#include <utility>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/dynamics/rigid/world.h"
#include "isotact/field/models/analytic.h"
#include "isotact/geometry/primitives/primitives.h"

#include "dynamics/rigid/part.h"
#include "dynamics/rigid/throw_cases.h"
#include "support/slow_build.h"
#include "support/test_seed.h"

namespace isotact {
namespace {

Part make_part(const std::string& shape, const std::map<std::string, double>& with = {}) {
  const TriangleMesh mesh = make_shape(shape, with);
  return {Shape::from_mesh(mesh, {.field = {.resolution = 48}, .points = 600}),
          make_body_mass(compute_mass_properties(mesh), 1000)};
}
const std::vector<Part>& parts() {
  static const std::vector<Part> all = {
      make_part("box", {{"size_x", 0.1}, {"size_y", 0.06}, {"size_z", 0.16}}), make_part("gear"),
      make_part("sphere", {{"radius", 0.05}})};
  return all;
}

WorldSettings own_forces(double step, double tolerance = 1e-3) {
  return {.step = step,
          .solve = ForceSolve::kStep,
          .impacts = ImpactRule::kOff,
          .force_tolerance = tolerance,
          .force_rounds = 40,
          .threads = {1}};
}

// Vec3 sums of all dynamic bodies.
Vec3 momentum_of(const World& world) {
  Vec3 sum{};
  for (BodyId k = 0; k < world.body_count(); ++k)
    if (world.body(k).kind == BodyKind::kDynamic) sum += world.body(k).state.momentum;
  return sum;
}
Vec3 angular_momentum_of(const World& world) {
  Vec3 sum{};
  for (BodyId k = 0; k < world.body_count(); ++k) {
    const RigidBody& b = world.body(k);
    if (b.kind != BodyKind::kDynamic) continue;
    sum += b.state.angular_momentum + cross(b.state.center, b.state.momentum);
  }
  return sum;
}

// What moves without turning in one potential keeps its energy, however stiff it is for the step.
TEST(StepForces, TranslationKeepsTheEnergy) {
  Random random(test_seed(11));
  const Part& box = parts()[0];
  double area = 0;  // of the lower face
  const PointSphereTree& tree = *box.shape.tree();
  for (std::uint32_t i = 0; i < tree.point_count(); ++i)
    if (tree.point(i).y < -0.0299F) area += static_cast<double>(tree.areas()[i]);
  int touched = 0;
  const int cases = test_cases(unless_slow(24, 4));
  for (int i = 0; i < cases; ++i) {
    // h omega from 0.1 to 8.
    const double stiff = 0.1 * std::pow(80, i < 2 ? i : random.uniform()), h = 1e-3;
    WorldSettings settings = own_forces(h, 1e-13);
    settings.gravity.y = random.uniform(-15, 0);
    World world(settings);
    const BodyId ground =
        world.add_body({.kind = BodyKind::kStatic, .shape = Shape::from_analytic(PlaneField{})});
    const BodyId id = world.add_body(
        {.shape = box.shape,
         .mass = make_body_mass(1, {}, identity3() * 1e9),
         .pose = {.translation = {0, 0.03 + random.uniform(1e-4, 3e-3), 0}},
         .velocity = {random.uniform(-1, 1), random.uniform(-2, -0.5), random.uniform(-1, 1)}});
    world.set_pair_material(
        ground, id, {.stiffness = stiff * stiff / (area * h * h), .damping = 0, .friction = 0});
    const double start = world.energies().total();
    double most = 0, kinetic = 0;
    for (int k = 0; k < 300; ++k) {
      const StepReport& report = world.step();
      touched += report.contacts > 0 ? 1 : 0;
      most = std::max(most, std::abs(report.energies.total() - start));
      kinetic = std::max(kinetic, report.energies.kinetic);
    }
    EXPECT_LE(most, 1e-12 * (kinetic + 15)) << "h omega " << stiff;
  }
  EXPECT_GT(touched, 2 * cases);
}

// With rotation, two roles and several contacts: no gain, and a loss below 1 in 1000 a bounce. In
// free flight, the midpoint rule changes the energy of a spin by some millionths.
TEST(StepForces, BouncesKeepTheEnergy) {
  Random random(test_seed(12));
  const int cases = test_cases(unless_slow(60, 6));
  int touched = 0;
  for (int i = 0; i < cases; ++i) {
    const Part& part = parts()[static_cast<std::size_t>(i) % 3];
    const bool two = i % 2 == 0;
    const double size = length(extent(part.shape.bounds()));
    WorldSettings settings = own_forces(1e-3);
    settings.gravity = {};
    World world(settings);
    BodySettings other{.kind = BodyKind::kStatic, .shape = Shape::from_analytic(PlaneField{})};
    if (two)
      other = {.shape = part.shape,
               .mass = part.mass,
               .pose = {random.rotation(), {0, -0.525 * size, 0}},
               .angular_velocity = random.unit_vector() * random.uniform(0, 10)};
    const BodyId a = world.add_body(other);
    const BodyId b =
        world.add_body({.shape = part.shape,
                        .mass = part.mass,
                        .pose = {random.rotation(), {0, 0.525 * size, 0}},
                        .velocity = {random.uniform(-0.2, 0.2), -1, random.uniform(-0.2, 0.2)},
                        .angular_velocity = random.unit_vector() * random.uniform(0, 20)});
    world.set_pair_material(a, b, {.stiffness = 1e7, .damping = 0, .friction = 0});
    const double start = world.energies().total();
    const Vec3 push = momentum_of(world), spin = angular_momentum_of(world);
    double gain = 0;
    bool met = false;
    for (int k = 0; k < 250; ++k) {
      const StepReport& report = world.step();
      met = met || report.points > 0;
      gain = std::max(gain, report.energies.total() - start);
    }
    touched += met ? 1 : 0;
    EXPECT_LE(gain, 1e-4 * start) << i;
    EXPECT_GE(world.energies().total(), (1 - 1e-3) * start) << i;
    if (!two) continue;
    EXPECT_LE(length(momentum_of(world) - push), 1e-12 * length(push)) << i;
    EXPECT_LE(length(angular_momentum_of(world) - spin), 1e-12 * (length(spin) + length(push)))
        << i;
  }
  EXPECT_GT(touched, cases / 2);
}

// A spring with a damper takes energy at any step, and what rests needs one evaluation.
TEST(StepForces, RestIsOneRound) {
  for (const double stiffness : {0.0, 1e7, 1e9}) {
    World world({.step = 5e-3, .solve = ForceSolve::kStep, .threads = {1}});
    world.add_body({.kind = BodyKind::kStatic, .shape = Shape::from_analytic(PlaneField{})});
    for (int i = 0; i < 3; ++i)
      world.add_body({.shape = parts()[0].shape,
                      .mass = parts()[0].mass,
                      .pose = {.translation = {0, 0.03 + 0.0601 * i, 0}},
                      .material = {.stiffness = stiffness}});
    double rounds = 0, worst = 0;
    for (int i = 0; i < 400; ++i) {
      const StepReport& report = world.step();
      ASSERT_FALSE(world.trouble());
      if (i < 200) continue;
      rounds += report.force_rounds;
      worst = std::max(worst, report.residual);
    }
    EXPECT_LT(rounds, 1.7 * 200) << stiffness;
    EXPECT_LE(worst, 1e-3) << stiffness;
    EXPECT_NEAR(world.body(3).state.center.y, 0.15, 0.01) << stiffness;
    EXPECT_LT(world.energies().kinetic, 1e-4) << stiffness;
  }
}

World make_mixture(int threads) {
  World world({.step = 4e-3, .solve = ForceSolve::kStep, .threads = {threads}});
  world.add_body({.kind = BodyKind::kStatic, .shape = Shape::from_analytic(PlaneField{})});
  Random random(test_seed(13));
  for (int i = 0; i < 9; ++i) {
    const Part& part = parts()[static_cast<std::size_t>(i) % 3];
    world.add_body({.shape = part.shape,
                    .mass = part.mass,
                    .pose = {random.rotation(), {0.03 * (i % 3), 0.15 + 0.12 * i, 0}},
                    .angular_velocity = random.unit_vector() * random.uniform(0, 10)});
  }
  world.add_joint({.kind = JointKind::kBall,
                   .a = 1,
                   .b = 2,
                   .a_from_joint = {.translation = {0, 0.1, 0}},
                   .b_from_joint = {.translation = {0, -0.1, 0}}});
  return world;
}

TEST(StepForces, SameBytesForAnyThreadsAndAfterARestore) {
  World one = make_mixture(1), two = make_mixture(2), seven = make_mixture(7),
        again = make_mixture(1);
  const int steps = unless_slow(100, 30);
  std::uint32_t rounds = 0;
  for (int i = 0; i < steps; ++i) {
    for (World* w : {&one, &two, &seven}) w->step();
    rounds = std::max(rounds, one.report().force_rounds);
    ASSERT_EQ(one.hash(), two.hash()) << i;
    ASSERT_EQ(one.hash(), seven.hash()) << i;
    if (i < steps / 2) continue;
    if (i == steps / 2) {
      again.restore(one.save());
      ASSERT_EQ(again.save(), one.save());
      continue;
    }
    again.step();
    ASSERT_EQ(one.save(), again.save()) << i;
    ASSERT_EQ(one.report().energies.total(), again.report().energies.total());
  }
  EXPECT_GT(rounds, 1U);
  ASSERT_FALSE(one.trouble());
}

TEST(StepForces, ThrowsKeepTheirPromises) {
  using namespace throw_cases;
  Random random(test_seed(14));
  const int throws = test_cases(unless_slow(60, 7));
  int met = 0;
  for (int i = 0; i < throws; ++i) {
    const Outcome outcome = play(make_throw(random), ForceSolve::kStep);
    met += outcome.met ? 1 : 0;
    EXPECT_FALSE(outcome.behind || outcome.dead || outcome.trouble) << i;
    EXPECT_LE(outcome.gain, 1e-3) << i;
    EXPECT_LE(outcome.drift, 1e-12) << i;
  }
  EXPECT_GT(met, throws / 2);
}

// The paper's choices, one at a time: each gives another answer, and none breaks a promise.
TEST(StepForces, ThePapersChoicesAreSwitches) {
  const auto play_drop = [](auto&& change) {
    WorldSettings settings{
        .step = 1e-3, .solve = ForceSolve::kExplicit, .impacts = ImpactRule::kOff, .threads = {1}};
    change(settings);
    World world(settings);
    const BodyId ground =
        world.add_body({.kind = BodyKind::kStatic, .shape = Shape::from_analytic(PlaneField{})});
    const Part& part = parts()[0];
    const BodyId id = world.add_body({.shape = part.shape,
                                      .mass = part.mass,
                                      .pose = {rotation_about({1, 0, 0}, 0.7), {0, 0.1, 0}},
                                      .velocity = {0.3, -1, 0},
                                      .angular_velocity = {0, 5, 3}});
    const BodyId twin = world.add_body(
        {.kind = BodyKind::kStatic, .shape = part.shape, .pose = {.translation = {0.1, 0.02, 0}}});
    for (const BodyId other : {ground, twin})
      world.set_pair_material(other, id, {.stiffness = 1e6, .damping = 3e3, .friction = 0});
    for (int i = 0; i < 200; ++i) {
      world.step();
      EXPECT_FALSE(world.trouble());
    }
    return world.body(id).state;
  };
  const BodyState base = play_drop([](WorldSettings&) {});
  const std::vector<void (*)(WorldSettings&)> choices = {
      [](WorldSettings& s) { s.forces.handles = HandleRule::kEuler; },
      [](WorldSettings& s) { s.forces.weights = PointWeight::kEqual; },
      [](WorldSettings& s) { s.forces.damping = DampingRule::kFull; },
      [](WorldSettings& s) { s.forces.damping = DampingRule::kWholeStep; },
      [](WorldSettings& s) { s.forces.direction = ForceDirection::kPoint; },
      [](WorldSettings& s) { s.forces.quadrature = Quadrature::kMidpoint; },
      [](WorldSettings& s) { s.turns = TurnRule::kEuler; }};
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const BodyState state = play_drop(choices[i]);
    EXPECT_FALSE(state == base) << i;
    EXPECT_LT(length(state.center - base.center), 0.1) << i;
  }
  // These only lose contacts.
  for (const bool roots : {true, false}) {
    WorldSettings settings;
    const BodyState state = play_drop([&](WorldSettings& s) {
      if (roots)
        s.roots = RootSearch::kPaper;
      else
        s.traversal = ShellTraversal::kPaper;
    });
    EXPECT_LT(length(state.center - base.center), 0.05);
  }
}

// The paper's tree and its root search find nothing that is not there, and lose little.
TEST(StepForces, ThePapersSearchesFindNearlyAll) {
  const Part& part = parts()[1];
  const double size = length(extent(part.shape.bounds()));
  Random random(test_seed(15));
  std::vector<ShellMotion> motions;
  for (int i = 0; i < test_cases(200); ++i) {
    ShellMotion m;
    m.shell.from = {random.rotation(), random.unit_vector() * random.uniform(0.2, 0.7) * size};
    m.shell.to = {m.shell.from.rotation,
                  m.shell.from.translation + random.unit_vector() * random.uniform(0, 0.1) * size};
    motions.push_back(m);
  }
  const auto find = [&](const SweptSettings& settings) {
    SweptResults results;
    SweptTracer(*part.shape.field(), settings).trace(*part.shape.tree(), motions, results);
    std::vector<std::pair<std::size_t, std::uint32_t>> found;
    for (std::size_t i = 0; i < results.motions.size(); ++i)
      for (std::uint64_t k = 0; k < results.motions[i].hit_count; ++k)
        found.emplace_back(i, results.hits[results.motions[i].first_hit + k].point);
    return found;
  };
  const auto all = find({.threads = {1}});
  ASSERT_GT(all.size(), 1000U);
  for (const SweptSettings& settings :
       {SweptSettings{.traversal = ShellTraversal::kPaper, .threads = {1}},
        SweptSettings{.roots = RootSearch::kPaper, .threads = {1}}}) {
    const auto found = find(settings);
    std::size_t extra = 0;
    for (const auto& hit : found)
      extra += std::binary_search(all.begin(), all.end(), hit) ? 0U : 1U;
    EXPECT_LE(extra, all.size() / 1000);  // roots that end a little too early or too late
    EXPECT_GE(found.size(), all.size() - all.size() / 50);
  }
}

TEST(StepForces, SettingsAreChecked) {
  EXPECT_THROW(World({.force_tolerance = 0}), Error);
  EXPECT_THROW(World({.force_rounds = 0}), Error);
  EXPECT_THROW(World({.forces = {.drag_share = 2}}), Error);
}

// At constant velocities both proposals of XB14's section 4 are the same motion.
TEST(StepForces, EulerHandlesOfAConstantMotionAreThoseOfThePath) {
  const Part& part = parts()[2];
  const PointSphereTree& tree = *part.shape.tree();
  BodyStep shell, field;
  shell.motion = {{{}, {0, 0.049, 0}}, {{}, {0.002, 0.047, 0}}, part.mass.center};
  shell.center_from = transform_point(shell.motion.from, part.mass.center);
  shell.center_to = transform_point(shell.motion.to, part.mass.center);
  shell.velocity = (shell.center_to - shell.center_from) / 1e-3;
  shell.velocity_from = shell.velocity;
  const SweptTracer tracer(AnyField{PlaneField{}}, 1e-3);
  SweptResults swept;
  tracer.trace(tree, {.shell = shell.motion, .field = field.motion}, swept);
  ShellPath path;
  compute_shell_path({.shell = shell.motion, .field = field.motion}, ball_of(tree), 1e-5, path);
  const auto impulse = [&](HandleRule rule) {
    ForceSettings settings{.handles = rule};
    settings.material = {.stiffness = 1e6, .damping = 10, .friction = 0};
    std::vector<PointStick> sticks;
    return compute_role_impulse(
        AnyField{PlaneField{}},
        RoleInput{tree, path, swept.hits, swept.intervals, shell, field, 1e-3}, settings, sticks);
  };
  const RoleImpulse by_path = impulse(HandleRule::kPath), by_euler = impulse(HandleRule::kEuler);
  ASSERT_GT(by_path.points, 0U);
  EXPECT_NEAR(length(by_path.impulse - by_euler.impulse), 0, 1e-12 * length(by_path.impulse));
  EXPECT_NEAR(length(by_path.angular_impulse - by_euler.angular_impulse), 0,
              1e-9 * length(by_path.impulse));
}

}  // namespace
}  // namespace isotact

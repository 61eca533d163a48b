// Bodies thrown at walls. The benchmark throws them as well.
#pragma once

#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "isotact/base/random.h"
#include "isotact/dynamics/rigid/world.h"
#include "isotact/geometry/mesh/mass_properties.h"
#include "isotact/geometry/primitives/primitives.h"

#include "dynamics/rigid/part.h"

namespace isotact::throw_cases {

struct Thrown {
  std::string name{};
  TriangleMesh mesh{};
  Part part;
};

inline Thrown make_thrown(const std::string& name, const std::string& shape,
                          const std::map<std::string, double>& with = {}) {
  TriangleMesh mesh = make_shape(shape, with);
  ShapeSettings settings;
  settings.field.resolution = 48;
  settings.points = 1200;
  Part part{Shape::from_mesh(mesh, settings), make_body_mass(compute_mass_properties(mesh), 2000)};
  return {name, std::move(mesh), std::move(part)};
}

inline const std::vector<Thrown>& all_thrown() {
  static const std::vector<Thrown> all = {
      make_thrown("sphere", "sphere", {{"radius", 0.03}}),
      make_thrown("cube", "box", {{"size_x", 0.05}, {"size_y", 0.05}, {"size_z", 0.05}}),
      make_thrown("rod", "box", {{"size_x", 0.3}, {"size_y", 0.01}, {"size_z", 0.01}}),
      make_thrown("plate", "box", {{"size_x", 0.1}, {"size_y", 0.01}, {"size_z", 0.1}}),
      make_thrown("gear", "gear"),
      make_thrown("link", "link"),
      make_thrown("knot", "knot")};
  return all;
}

struct Throw {
  const Thrown* thrown = nullptr;
  double step = 0, thickness = 0, restitution = 0, friction = 0;
  double reach = 0;  // metres from the wall's middle along it, within which it is a wall
  bool wall_moves = false, wall_sampled = false;
  BodySettings body{}, wall{};
};

// The wall's own thickness at which nothing may pass: what sampling and fields may miss.
inline double thinnest_wall(const Shape& thrown, double cell_of_wall) {
  return 4 * std::max(thrown.cell(), cell_of_wall) + 2 * thrown.points().covering_radius();
}

inline Throw make_throw(Random& random) {
  constexpr std::array<double, 6> kSteps = {5e-4, 1e-3, 2e-3, 4e-3, 8e-3, 16e-3};
  constexpr double kSampledSize = 0.8;
  const auto& all = all_thrown();
  Throw t;
  t.thrown = &all[random.below(static_cast<std::uint32_t>(all.size()))];
  t.step = kSteps[random.below(6)];
  const Part& part = t.thrown->part;
  t.wall_moves = random.below(10) == 0;
  // Meshes with a field and points of their own; the others are formulas.
  t.wall_sampled = !t.wall_moves && random.below(10) == 0;
  t.thickness = std::max(0.002 * std::pow(50, random.uniform()),
                         thinnest_wall(part.shape, t.wall_sampled ? kSampledSize / 128 : 0.0));
  t.restitution = random.uniform();
  t.friction = random.uniform();
  t.reach = t.wall_sampled ? 0.5 * kSampledSize : t.wall_moves ? 5 : 50;
  t.wall.name = "wall";
  t.wall.kind = t.wall_moves ? BodyKind::kDynamic : BodyKind::kStatic;
  if (t.wall_sampled) {
    ShapeSettings settings;
    settings.field.resolution = 128;
    settings.points = 4000;
    t.wall.shape = Shape::from_mesh(
        make_box({.size_x = kSampledSize, .size_y = t.thickness, .size_z = kSampledSize}),
        settings);
  } else {
    t.wall.shape = Shape::from_analytic(BoxField{.half_size = {t.reach, t.thickness / 2, t.reach}});
  }
  if (t.wall_moves) {
    t.wall.mass = make_body_mass(
        compute_mass_properties(
            make_box({.size_x = 2 * t.reach, .size_y = t.thickness, .size_z = 2 * t.reach})),
        2000);
    t.wall.velocity = random.unit_vector() * random.uniform(0, 5);
    t.wall.angular_velocity = random.unit_vector() * random.uniform(0, 1);
  }
  t.wall.material = {.friction = t.friction, .restitution = t.restitution};
  Vec3 way = random.unit_vector();
  way.y = -std::abs(way.y) - 0.1;
  t.body.name = t.thrown->name;
  t.body.shape = part.shape;
  t.body.mass = part.mass;
  const double size = length(extent(part.shape.bounds()));
  t.body.pose = {random.rotation(), {0, 0.05 + size + t.thickness, 0}};
  t.body.velocity = normalized(way) * (1 + 100 * std::pow(random.uniform(), 2));
  t.body.angular_velocity = random.unit_vector() * random.uniform(0, 200);
  t.body.material = t.wall.material;
  return t;
}

// What a throw may not do.
struct Outcome {
  bool met = false, behind = false, waited = false, trouble = false;
  // Kinetic energy and that of contacts two steps after the first impact, as a share of before. An
  // impact leaves the square of the restitution of the energy along its normal; friction may take
  // the rest. Dead: less than a hundredth of what as many impacts leave.
  double left = 1;
  bool dead = false;
  double gain = 0;   // of mechanical energy, as a share of what was there
  double drift = 0;  // of momentum, where both are free and gravity is taken out; a share
  int steps = 0;
};

// Whether a place in the wall's frame is over the wall or under it, rather than beside it.
inline bool is_over(const Throw& t, const Vec3& p) {
  return std::abs(p.x) < t.reach && std::abs(p.z) < t.reach;
}

// Follows a place: whether it has passed the wall, rather than its edge.
class Watch {
 public:
  Watch(const Throw& t, const Vec3& place) : throw_(t), last_(in_wall(t.wall.pose, place)) {}

  bool passes(const Pose& wall, const Vec3& place) {
    const Vec3 now = in_wall(wall, place);
    around_ = around_ || !is_over(throw_, now) || !is_over(throw_, last_);
    last_ = now;
    return !around_ && now.y < -throw_.thickness / 2;
  }

 private:
  static Vec3 in_wall(const Pose& wall, const Vec3& place) {
    return transform_point(inverse(wall), place);
  }
  const Throw& throw_;
  Vec3 last_;
  bool around_ = false;
};

inline Outcome play(const Throw& t, ForceSolve solve = ForceSolve::kImplicit) {
  World world({.step = t.step, .solve = solve, .threads = {1}});
  const BodyId wall = world.add_body(t.wall);
  const BodyId id = world.add_body(t.body);
  const Vec3 pull = world.settings().gravity;
  const double high = t.body.pose.translation.y;
  // Velocities change at the beginning of a step, by the loads of all of it. At the time of the
  // positions a body that falls has half of the next step's. (With ForceSolve::kStep velocities are
  // those of that time.)
  const Vec3 half = solve == ForceSolve::kStep ? Vec3{} : pull * (0.5 * t.step);
  const auto energy = [&] {
    double sum = world.energies().total();
    for (const BodyId b : {wall, id})
      if (world.body(b).kind == BodyKind::kDynamic)
        sum += dot(world.body(b).state.momentum, half) +
               0.5 * world.body(b).mass.mass * length_sq(half);
    return sum;
  };
  const auto momentum = [&] {
    Vec3 sum{};
    for (const BodyId b : {wall, id})
      if (world.body(b).kind == BodyKind::kDynamic)
        sum += world.body(b).state.momentum - pull * (world.body(b).mass.mass * world.time());
    return sum;
  };
  const double start = energy(), start_kinetic = world.energies().kinetic;
  const Vec3 push = momentum();
  Outcome outcome;
  int hit = -1;
  std::uint32_t blows = 0;
  double before = 0;
  Watch watch(t, world.body(id).state.center);
  for (int i = 0; i < 400; ++i) {
    const double kinetic = world.energies().kinetic;
    const StepReport& report = world.step();
    ++outcome.steps;
    outcome.waited = outcome.waited || report.waiting > 0;
    outcome.trouble = outcome.trouble || world.trouble().has_value();
    if (hit < 0 || i <= hit + 2) blows += report.impacts;
    if (hit < 0 && report.impacts > 0) {
      hit = i;
      before = kinetic;
      outcome.met = true;
    }
    outcome.gain = std::max(outcome.gain, (energy() - start) / start_kinetic);
    if (t.wall_moves)
      outcome.drift = std::max(outcome.drift, length(momentum() - push) / length(push));
    if (hit >= 0 && i == hit + 2) {
      const Energies now = world.energies();
      outcome.left = (now.kinetic + now.springs) / before;
      outcome.dead =
          outcome.left < 0.01 * std::pow(t.restitution, 2 * std::min<std::uint32_t>(blows, 3));
    }
    const Vec3 center = world.body(id).state.center;
    outcome.behind = outcome.behind || watch.passes(world.pose(wall), center);
    if (outcome.behind || outcome.trouble) break;
    if (hit >= 0 && (i > hit + 20 || center.y > high)) break;
  }
  return outcome;
}

}  // namespace isotact::throw_cases

// How scenes should end, from exact geometry: positions and directions of bodies, and whether rings
// go through each other.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "isotact/base/trig.h"

#include "scene_trial.h"

namespace isotact::bench {
namespace {

constexpr double kPi = 3.14159265358979323846;

const Pose& start_of(const SceneRun& run, std::size_t k) {
  return run.replay().frames.front().poses[k];
}
const Pose& end_of(const SceneRun& run, std::size_t k) {
  return run.replay().frames.back().poses[k];
}
bool moves(const SceneRun& run, std::size_t k) {
  return run.scene().bodies[k].kind == BodyKind::kDynamic;
}
std::string name_of(const SceneRun& run, std::size_t k) { return std::string(run.body_name(k)); }
Aabb box_of(const SceneRun& run, std::size_t k) {
  const Aabbf b = bounds(run.replay().meshes[*run.replay().bodies[k].mesh]);
  return {to_double(b.lower), to_double(b.upper)};
}
Vec3 middle_of(const SceneRun& run, std::size_t k, const Pose& pose) {
  return transform_point(pose, center(box_of(run, k)));
}
// The greatest movement of a corner of its box from the first pose to the last.
double shift_of(const SceneRun& run, std::size_t k) {
  const Aabb box = box_of(run, k);
  double most = 0;
  for (int i = 0; i < 8; ++i) {
    const Vec3 p{(i & 1) != 0 ? box.upper.x : box.lower.x, (i & 2) != 0 ? box.upper.y : box.lower.y,
                 (i & 4) != 0 ? box.upper.z : box.lower.z};
    most = std::max(
        most, length(transform_point(end_of(run, k), p) - transform_point(start_of(run, k), p)));
  }
  return most;
}
double fastest(const SceneRun& run) {
  double most = 0;
  for (std::size_t k = 0; k < run.scene().bodies.size(); ++k)
    most = std::max(most, length(velocity(run.world().body(static_cast<BodyId>(k)))));
  return most;
}

// ---- chains ----

// The middle line of a ring, which is a torus or a long link: a flat curve with the radius
// `radius` about the points (-half, 0) to (half, 0) of its plane.
struct Ring {
  std::array<Vec3, 3> axes{};  // Along the ring, across it, and through it, in the body's frame.
  double half = 0, radius = 0;
};

double along(const Vec3& v, std::size_t axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

Ring find_ring(const Aabb& box) {
  const Vec3 e = extent(box) * 0.5;
  std::array<std::size_t, 3> order{0, 1, 2};
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return along(e, a) > along(e, b); });
  constexpr std::array<Vec3, 3> kAxes{Vec3{1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, 0, 1}};
  Ring ring;
  for (std::size_t i = 0; i < 3; ++i) ring.axes[i] = kAxes[order[i]];
  const double tube = along(e, order[2]);
  ring.radius = along(e, order[1]) - tube;
  ring.half = along(e, order[0]) - along(e, order[1]);
  return ring;
}

// Whether one ring's line goes through the other's disc an odd number of times.
bool are_linked(const Ring& a, const Pose& world_from_a, const Ring& b, const Pose& world_from_b) {
  constexpr int kCorners = 256;
  const Pose b_from_a = inverse(world_from_b) * world_from_a;
  const auto corner = [&](int i) {
    const double angle = 2 * kPi * i / kCorners;
    const double side = std::cos(angle) >= 0 ? a.half : -a.half;
    const Vec3 p =
        a.axes[0] * (side + a.radius * std::cos(angle)) + a.axes[1] * (a.radius * std::sin(angle));
    return transform_point(b_from_a, p);
  };
  bool linked = false;
  Vec3 from = corner(kCorners - 1);
  for (int i = 0; i < kCorners; ++i) {
    const Vec3 to = corner(i);
    const double h0 = dot(from, b.axes[2]), h1 = dot(to, b.axes[2]);
    if ((h0 < 0) != (h1 < 0)) {
      const Vec3 at = from + (to - from) * (h0 / (h0 - h1));
      const double x = dot(at, b.axes[0]), y = dot(at, b.axes[1]);
      const double past = std::max(std::abs(x) - b.half, 0.0);
      if (std::hypot(past, y) < b.radius) linked = !linked;
    }
    from = to;
  }
  return linked;
}

Outcome judge_links(const SceneRun& run, std::size_t first, std::size_t last) {
  std::string broken;
  for (std::size_t k = first; k < last; ++k)
    if (!are_linked(find_ring(box_of(run, k)), end_of(run, k), find_ring(box_of(run, k + 1)),
                    end_of(run, k + 1)))
      broken += fmt::format("{}{}", broken.empty() ? "" : ", ", name_of(run, k + 1));
  if (!broken.empty()) return {false, fmt::format("fell off: {}", broken)};
  return {true, fmt::format("{} links hold", last - first)};
}

Outcome judge_chain(const SceneRun& run) {
  return judge_links(run, 0, run.scene().bodies.size() - 1);
}

// Bodies: a spool that turns, 21 links, the anchor.
Outcome judge_anchor(const SceneRun& run) {
  constexpr std::size_t kLast = 21, kAnchor = 22;
  Outcome outcome = judge_links(run, 1, kLast);
  // Two taut links are as far apart as their insides are long.
  const double play = 0.4;
  for (const auto& [a, b] : {std::pair<std::size_t, std::size_t>{0, 1}, {kLast, kAnchor}}) {
    const double before = length(start_of(run, a).translation - start_of(run, b).translation);
    const double now = length(end_of(run, a).translation - end_of(run, b).translation);
    if (now <= before + play + (a == 0 ? 4 : 0)) continue;
    outcome.found = fmt::format("{} is {:.3g} m from {}; {}", name_of(run, b), now, name_of(run, a),
                                outcome.found);
    outcome.holds = false;
  }
  return outcome;
}

// ---- at rest ----

// Bodies that end where they should, within a distance, and stand still.
Outcome judge_rest(const SceneRun& run, const std::vector<std::pair<std::size_t, Vec3>>& places,
                   double near) {
  Outcome outcome;
  double worst = 0;
  for (const auto& [k, place] : places) {
    const double off = length(end_of(run, k).translation - place);
    if (off <= worst) continue;
    worst = off;
    outcome.found = fmt::format("{} is {:.3g} m off", name_of(run, k), off);
  }
  const double speed = fastest(run);
  outcome.holds = worst <= near && speed < 0.05;
  outcome.found += fmt::format("{}{:.2g} m/s", outcome.found.empty() ? "" : ", ", speed);
  return outcome;
}

Outcome judge_stack(const SceneRun& run) {
  std::vector<std::pair<std::size_t, Vec3>> places;
  for (std::size_t k = 0; k < 5; ++k)
    places.emplace_back(k, Vec3{0, -0.5 + static_cast<double>(k), 0});
  return judge_rest(run, places, 0.02);
}
Outcome judge_mass_ratio(const SceneRun& run) {
  return judge_rest(run, {{1, Vec3{0, 0, 0}}, {2, Vec3{0, 5.5, 0}}}, 0.02);
}
Outcome judge_cliff(const SceneRun& run) { return judge_rest(run, {{0, Vec3{0, 0, 0}}}, 0.01); }
Outcome judge_corner(const SceneRun& run) {
  return judge_rest(run, {{4, Vec3{-0.4995, -0.5, -0.4995}}}, 0.01);
}

// The stones are a tenth of a metre above the ground at first. They are 0.12 to 0.141 m apart, 3.1 m
// in all: to touch, each half gets 1.55 m shorter. A half leads from (31, 4) to (0, 62), 66 m. With
// its foot in place its end sinks by 58.1 - sqrt(64.4^2 - 31^2) = 1.7 m. Stones that fall out of an
// arch that breaks move by more than 4 m, half of their own height.
Outcome judge_arch(const SceneRun& run) {
  double most = 0;
  std::string which;
  for (std::size_t k = 1; k < run.scene().bodies.size(); ++k)
    if (const double shift = shift_of(run, k); shift > most) {
      most = shift;
      which = name_of(run, k);
    }
  const double speed = fastest(run);
  return {most < 2.2 && speed < 0.05,
          fmt::format("{} moved by {:.3g} m, {:.2g} m/s", which, most, speed)};
}

// ---- mechanisms ----

// Wedges, 12.5 mm of play at a slope of 0.1225: 0.1 m until they hold.
Outcome judge_lewis(const SceneRun& run) {
  const double lifted = end_of(run, 0).translation.y, block = end_of(run, 5).translation.y;
  const double tilt = 2 * std::acos(std::min(1.0, std::abs(end_of(run, 5).rotation.w)));
  return {block > lifted - 0.15 && tilt < 0.2,
          fmt::format("lifted by {:.4g} of {:.4g} m, tilted by {:.2g} rad", block, lifted, tilt)};
}

// The angle about y by which a body has turned, over all frames.
double turned_about_y(const SceneRun& run, std::size_t k) {
  double turned = 0;
  const auto& frames = run.replay().frames;
  for (std::size_t i = 1; i < frames.size(); ++i) {
    const Vec3 from = rotate(frames[i - 1].poses[k].rotation, {1, 0, 0});
    const Vec3 to = rotate(frames[i].poses[k].rotation, {1, 0, 0});
    turned += std::atan2(from.z * to.x - from.x * to.z, from.x * to.x + from.z * to.z);
  }
  return turned;
}

// The thread of the data folder's bolt rises by 13.28 mm per turn.
Outcome judge_bolt(const SceneRun& run) {
  constexpr double kPitch = 0.01328;
  const double sunk = -end_of(run, 1).translation.y, turns = -turned_about_y(run, 1) / (2 * kPi);
  const double off = std::abs(sunk - kPitch * turns);
  return {sunk > 0.05 && off < 0.1 * kPitch,
          fmt::format("{:.3g} turns, sunk by {:.3g} mm, {:.2g} mm off the thread", turns,
                      1e3 * sunk, 1e3 * off)};
}
// The nut of the library: 2 mm per turn. The nut may have left the thread's end.
Outcome judge_nut(const SceneRun& run) {
  const double sunk = start_of(run, 1).translation.y - end_of(run, 1).translation.y;
  const double turns = -turned_about_y(run, 1) / (2 * kPi);
  return {sunk > 1e-3 && std::abs(sunk - 2e-3 * turns) < 4e-4,
          fmt::format("{:.3g} turns, sunk by {:.3g} mm", turns, 1e3 * sunk)};
}
Outcome judge_locked(const SceneRun& run) {
  const double sunk = start_of(run, 1).translation.y - end_of(run, 1).translation.y;
  return {std::abs(sunk) < 3e-4, fmt::format("sunk by {:.2g} mm", 1e3 * sunk)};
}

// Half a turn a second after a ramp of 0.3 s; the wheel has twice the teeth.
Outcome judge_gears(const SceneRun& run) {
  const double driver = turned_about_y(run, 1), wheel = turned_about_y(run, 2),
               driven = turned_about_y(run, 3);
  const double expected = kPi * (run.report().time - 0.15);
  return {std::abs(driver / expected - 1) < 0.05 && std::abs(wheel / driver + 0.5) < 0.02 &&
              std::abs(driven / driver - 1) < 0.03,
          fmt::format("turned by {:.4g}, {:.4g}, {:.4g} rad", driver, wheel, driven)};
}

// A force of 0.5 N pulls it along x. An oloid's middle is half to 0.61 of its radius high.
Outcome judge_oloid(const SceneRun& run) {
  double turned = 0;
  const auto& frames = run.replay().frames;
  for (std::size_t i = 1; i < frames.size(); ++i) {
    const Quat q = conjugate(frames[i - 1].poses[0].rotation) * frames[i].poses[0].rotation;
    turned += 2 * std::acos(std::min(1.0, std::abs(q.w)));
  }
  const double rolled = end_of(run, 0).translation.x - start_of(run, 0).translation.x;
  const double height = run.world().body(0).state.center.y + 0.05;
  return {rolled > 0.5 && turned > 2 * kPi && height > 0.02 && height < 0.05,
          fmt::format("rolled {:.3g} m and turned by {:.3g} rad, {:.3g} m high", rolled, turned,
                      height)};
}

// The bat turns at 36 rad/s and meets the ball, a thousandth of its mass, at 0.335 m from its
// middle: at 12 m/s. Without friction and bounce the ball slides out along it to its end at 0.432
// m, and is never faster than there: 36 sqrt(2 * 0.432^2 - 0.335^2) = 18.4 m/s.
Outcome judge_bat(const SceneRun& run) {
  const Vec3 v = velocity(run.world().body(1));
  const double speed = length(v);
  return {speed > 11 && speed < 18.6 && v.x > 8 && shift_of(run, 2) == 0,
          fmt::format("the ball flies at {:.3g} m/s, {:.3g} along x", speed, v.x)};
}

// The file holds the lever by nothing: both bodies fall freely, as they began.
Outcome judge_lever(const SceneRun& run) {
  const double t = run.report().time, fall = 0.5 * 9.81 * t * t;
  double off = 0;
  for (const std::size_t k : {0U, 1U}) {
    const Vec3 moved = end_of(run, k).translation - start_of(run, k).translation;
    off = std::max(off, length(moved + Vec3{0, fall, 0}));
  }
  // Positions of an integrator of first order are a step late.
  return {off < 9.81 * t * run.scene().world.step, fmt::format("{:.2g} m off a free fall", off)};
}

// The same lever on a hinge: the weight falls onto its end and turns it.
Outcome judge_hinged(const SceneRun& run) {
  const double off = length(end_of(run, 0).translation - start_of(run, 0).translation);
  double turned = 0, tilt = 0;
  for (const ReplayFrame& frame : run.replay().frames) {
    const Vec3 x = rotate(frame.poses[0].rotation, {1, 0, 0});
    turned = std::min(turned, std::atan2(x.y, x.x));
    tilt = std::max(tilt, std::abs(x.z));
  }
  return {off < 0.01 && turned < -0.5 && tilt < 0.01,
          fmt::format("turned to {:.3g} rad, hinge off by {:.2g} m", turned, off)};
}

// ---- piles ----

// A funnel with its apex at (0, -5, 0) and slopes of 45 degrees, up to a height of 0.
Outcome judge_funnel(const SceneRun& run) {
  std::size_t inside = 0, above = 0, count = 0;
  for (std::size_t k = 0; k < run.scene().bodies.size(); ++k) {
    if (!moves(run, k)) continue;
    const Vec3 p = middle_of(run, k, end_of(run, k));
    ++count;
    if (p.y > 0)
      ++above;
    else if (std::max(std::abs(p.x), std::abs(p.z)) < p.y + 5)
      ++inside;
  }
  return {inside == count, fmt::format("{} of {} in the cone, {} above it", inside, count, above)};
}

// Everything that moves ends above the ground and within a radius of the middle.
Outcome judge_within(const SceneRun& run, double radius, double floor) {
  std::size_t lost = 0, count = 0;
  for (std::size_t k = 0; k < run.scene().bodies.size(); ++k) {
    if (!moves(run, k)) continue;
    const Vec3 p = middle_of(run, k, end_of(run, k));
    ++count;
    if (p.y < floor || std::hypot(p.x, p.z) > radius) ++lost;
  }
  return {lost == 0, fmt::format("{} of {} where they should be", count - lost, count)};
}
Outcome judge_tray(const SceneRun& run) { return judge_within(run, 0.3, 0); }
Outcome judge_drop(const SceneRun& run) { return judge_within(run, 1, 0); }
Outcome judge_hills(const SceneRun& run) { return judge_within(run, 2, -1); }
// The plate hangs at x = 0 to start with and is hit from the left. Later it swings over the bullet,
// which lies on the ground: only a way through the plate counts.
Outcome judge_bullet(const SceneRun& run) {
  bool passed = false;
  Vec3 from{-1, 0, 0};
  for (const ReplayFrame& frame : run.replay().frames) {
    const Vec3 to = transform_point(inverse(frame.poses[2]), frame.poses[3].translation);
    if (from.x < 0 && to.x >= 0) {
      const Vec3 at = from + (to - from) * (from.x / (from.x - to.x));
      passed = passed || (std::abs(at.y) < 0.2 && std::abs(at.z) < 0.15);
    }
    from = to;
  }
  return {!passed, passed ? "through the plate" : "before the plate"};
}

// ---- sharp bodies ----

// Spikes and wedges three metres long stand on their tips: without friction they lean over and
// slide off. Their axis is never in what they stood on.
Outcome judge_axis(const SceneRun& run) {
  constexpr int kPlaces = 60;
  const exact_depth::Solid support(run.replay().meshes[*run.replay().bodies[1].mesh]);
  double deepest = 0, lowest = 0, time = 0;
  for (const ReplayFrame& frame : run.replay().frames) {
    const Pose support_from_body = inverse(frame.poses[1]) * frame.poses[0];
    for (int i = 0; i <= kPlaces; ++i) {
      const Vec3 at = transform_point(support_from_body, {0, -3.0 * i / kPlaces, 0});
      const double depth = support.depth_of(at, {});
      if (depth > deepest) time = frame.time;
      deepest = std::max(deepest, depth);
    }
    lowest = frame.poses[0].translation.y;
  }
  return {deepest < 0.05, deepest == 0
                              ? fmt::format("{} at the end", lowest > -1 ? "stands" : "slid off")
                              : fmt::format("{:.2g} m inside at {:.3g} s", deepest, time)};
}

constexpr Expectation kExpectations[] = {
    {"3-links", "the links hang in each other", 0, judge_chain},
    {"10-links", "the links hang in each other", 0, judge_chain},
    {"anchor", "21 links and the anchor hang from the spool", 0, judge_anchor},
    {"493-Lewis", "the wedges hold the block by friction", 0, judge_lewis},
    {"5-cubes", "five cubes stand on each other", 0, judge_stack},
    {"arch-25-stones", "the arch stands for 20 s", 20, judge_arch},
    {"bat", "the ball flies off along the bat's path", 0, judge_bat},
    {"bolt", "the screw turns in by its thread", 0, judge_bolt},
    {"cliff-edges", "the cube rests on the cliff", 0, judge_cliff},
    {"cone", "ten cubes lie in the cone", 0, judge_funnel},
    {"cone-bunnies-lowpoly", "seven bunnies lie in the cone", 0, judge_funnel},
    {"large-mass-ratio", "the small cube carries a thousand times its mass", 0, judge_mass_ratio},
    {"lever-arm", "nothing holds the lever in this file: both fall freely", 0, judge_lever},
    {"lever-arm, hinged", "the weight turns the lever about its hinge", 0, judge_hinged},
    {"oloid", "the oloid rolls on the ground", 0, judge_oloid},
    {"spike-in-hole", "the spike stands or slides off, not through", 0, judge_axis},
    {"spikes", "the spike stands or slides off, not through", 0, judge_axis},
    {"tet-corner", "the corner rests between the cubes", 0, judge_corner},
    {"wedge-in-crack", "the wedge stands or slides off, not through", 0, judge_axis},
    {"chain", "the links hang in each other", 0, judge_chain},
    {"nut", "the nut turns down by its thread", 0, judge_nut},
    {"nut_locked", "the nut stays where it is", 0, judge_locked},
    {"gears", "the wheel turns half as fast, the last pinion as fast", 0, judge_gears},
    {"pile", "a hundred bodies lie in the tray", 0, judge_tray},
    {"pile_small", "sixteen bodies lie in the tray", 0, judge_tray},
    {"drop_bunny", "the bunny lies on its twin or the ground", 0, judge_drop},
    {"drop_bowl", "the bowl lies on its twin or the ground", 0, judge_drop},
    {"drop_dragon", "the dragon lies on its twin or the ground", 0, judge_drop},
    {"hills", "balls and rings lie between the hills", 0, judge_hills},
    {"bullet", "the bullet does not pass the plate", 0, judge_bullet},
};

}  // namespace

const Expectation* find_expectation(std::string_view scene) {
  for (const Expectation& e : kExpectations)
    if (e.scene == scene) return &e;
  return nullptr;
}

}  // namespace isotact::bench

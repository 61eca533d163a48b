// Exact first contacts and least distances of motions, beside static tests at many times.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "isotact/geometry/bvh/mesh_distance.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/queries/continuous_collide.h"

#include "exact_report.h"
#include "exact_stock.h"
#include "geometry/bvh/triangle_oracle.h"
#include "queries/swept/motions.h"
#include "support/data_folder.h"

namespace isotact::bench {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kSmall = 500;  // Triangles: contacts are compared with all pairs, too.
constexpr int kTimes = 1000, kManyTimes = 100'000;
constexpr int kManyMotions = 20;  // so many motions are sampled at kManyTimes with --full

struct Motion {
  BodyMotion of_a{}, of_b{};
  MotionModel model = MotionModel::kConstantRates;
};

struct Counts {
  int motions = 0, polynomials = 0, free = 0, contacts = 0, at_start = 0, contained = 0,
      all_pairs = 0, unclear = 0;
  double earliest = 0;  // by how much a contact was early, in time tolerances
  double loosest = 0;   // largest difference of both bounds of a least distance, in its tolerances
  double nearest = kInfinity;  // least distance of a motion that is free, in sizes
};

class MotionCheck {
 public:
  MotionCheck(const BodyPair& pair, Report& report, Counts& counts)
      : a_(*pair.first), b_(*pair.second), report_(report), counts_(counts) {}

  // Whether it ends free.
  bool check(const Motion& motion, double margin, int times, const std::string& label) {
    label_ = label;
    ++counts_.motions;
    counts_.polynomials += motion.model == MotionModel::kPolynomial ? 1 : 0;
    const ShellMotion relative{.shell = motion.of_a, .field = motion.of_b, .model = motion.model};
    const auto pose_at = [&](double time) {
      const AffineMap map = compute_map(relative, time);
      return Pose{to_quat(map.linear), map.offset};  // B from A
    };
    // Between their ends polynomials are no rotations: A's corners are moved, in floats.
    const bool is_rigid = motion.model != MotionModel::kPolynomial;
    if (!is_rigid) times = std::max(times / 5, 1);
    const DistanceAt distance_at = [&](double time) {
      if (is_rigid) return compute_mesh_distance(b_.bvh, a_.bvh, pose_at(time)).distance;
      const AffineMap map = compute_map(relative, time);
      TriangleMesh placed = a_.mesh;
      for (Vec3f& p : placed.positions) p = to_float(map * to_double(p));
      return compute_mesh_distance(b_.bvh, Bvh(placed), {}).distance;
    };
    const double size = a_.size + b_.size;
    const double tolerance = 0x1p-20 * size;
    const ContinuousRequest request{.accuracy = Accuracy::kExact,
                                    .margin = margin,
                                    .model = motion.model,
                                    .want_distance = true,
                                    .distance_tolerance = tolerance};
    const ContinuousResult r =
        continuous_collide(a_.shape, motion.of_a, b_.shape, motion.of_b, request);
    require(r.exact && r.has_distance && r.blind_depth == 0 && !r.distance_gave_up &&
                r.status != ContinuousStatus::kGaveUp,
            "every answer is exact");
    // What rounding hides: coordinates of the world, and 2^-40 of the path (mesh_motion.h).
    double coordinates = size + furthest(a_) + furthest(b_), path = size;
    for (const BodyMotion* m : {&motion.of_a, &motion.of_b}) {
      coordinates += length(m->from.translation) + length(m->to.translation) + length(m->pivot);
      path += length(m->to.translation - m->from.translation);
    }
    const double moved = is_rigid ? 0 : 0x1p-22 * coordinates;
    const double hidden = 0x1p-43 * coordinates + 0x1p-36 * path + moved;

    const bool is_contact = r.status == ContinuousStatus::kContact;
    const bool may_be_inside = is_contact && r.latest_time == 0 && distance_at(0) > margin;
    if (!is_contact || may_be_inside) check_nesting(pose_at(0), may_be_inside);
    if (may_be_inside) {
      ++counts_.contained;
      return false;
    }
    const double end = is_contact ? r.time_of_contact : 1;
    if (is_contact) {
      ++(end == 0 ? counts_.at_start : counts_.contacts);
      require(r.latest_time - end <= request.time_tolerance,
              "contacts are early by no more than the tolerance");
      counts_.earliest = std::max(counts_.earliest, (r.latest_time - end) / request.time_tolerance);
      const double at_latest = distance_at(r.latest_time);
      require(at_latest <= margin + hidden, "they touch at the latest time",
              fmt::format("{} apart at {}", at_latest, r.latest_time));
      if (is_small() && is_rigid) {
        ++counts_.all_pairs;
        const double truth =
            triangle_oracle::find_distance(b_.mesh, a_.mesh, pose_at(r.latest_time));
        require(truth <= margin + hidden, "they touch at the latest time in long double",
                fmt::format("{} apart at {}", truth, r.latest_time));
        for (const double share : {1 - 1e-3, 1 - 1e-6, 1 - 1e-9}) {
          if (end == 0) continue;
          const double before =
              triangle_oracle::find_distance(b_.mesh, a_.mesh, pose_at(end * share));
          require(before > margin, "no contact is late in long double",
                  fmt::format("{} apart at {} of {}", before, end * share, end));
        }
      }
    } else {
      ++counts_.free;
      require(std::isinf(r.time_of_contact), "free motions have no time of contact");
    }
    // Never late: apart at all times before, also just before.
    if (end > 0) {
      const double last = is_contact ? end * (1 - (is_rigid ? 1e-12 : 1e-3)) : 1;
      const Sampled before = sample_distance(distance_at, 0, last, times);
      require(before.least > margin, "no contact is late",
              fmt::format("{} apart at {} of {}", before.least, before.time, end));
      for (int k = 3; is_contact && is_rigid && k < 12; ++k) {
        const double time = end * (1 - std::pow(10, -k)), distance = distance_at(time);
        require(distance > margin, "no contact is late, just before it",
                fmt::format("{} apart at {} of {}", distance, time, end));
      }
      if (!is_contact) {
        counts_.nearest = std::min(counts_.nearest, before.least / size);
        check_least(r, before, tolerance, hidden, moved);
        return true;
      }
    }
    if (margin > 0) {
      check_least(r, sample_distance(distance_at, 0, 1, times / 4), tolerance, hidden, moved);
    } else {
      require(r.distance == 0 && r.lower_bound == 0, "the least distance of a contact is 0",
              fmt::format("{} to {}", r.lower_bound, r.distance));
    }
    return false;
  }

 private:
  static double furthest(const BenchBody& body) {
    const Aabb box = to_double(body.bvh.bounds());
    return length(max(box.lower * -1.0, box.upper));
  }

  bool is_small() const {
    return a_.mesh.triangles.size() < kSmall && b_.mesh.triangles.size() < kSmall;
  }

  void require(bool holds, const std::string& claim, const std::string& detail = {}) {
    if (holds) return;
    report_.check(false, claim, fmt::format("{} {} {}: {}", a_.name, b_.name, label_, detail));
  }

  void check_least(const ContinuousResult& r, const Sampled& truth, double tolerance, double hidden,
                   double moved) {
    const std::string detail = fmt::format("{} to {}, sampled {} at {}", r.lower_bound, r.distance,
                                           truth.least, truth.time);
    require(r.lower_bound <= truth.least + moved, "least distances have lower bounds", detail);
    require(r.distance <= truth.least + tolerance + hidden,
            "least distances are least, to their tolerance", detail);
    require(r.distance - std::max(r.lower_bound, 0.0) <= tolerance + 2 * hidden,
            "bounds of least distances converge", detail);
    counts_.loosest = std::max(counts_.loosest, (r.distance - r.lower_bound) / tolerance);
  }

  // Of a corner of each part at the start: what is outside then, and never touches, stays outside.
  void check_nesting(const Pose& b_from_a, bool is_inside) {
    const Nesting nesting = find_nesting(b_, a_, b_from_a);
    if (nesting.is_unclear) {
      ++counts_.unclear;
      return;
    }
    require((nesting.most > 0.5) == is_inside, "what is inside at the start is in contact",
            fmt::format("{}, winding number {}", is_inside, nesting.most));
  }

  const BenchBody &a_, &b_;
  Report& report_;
  Counts& counts_;
  std::string label_;
};

// ---- motions ------------------------------------------------------------------------------------

Pose about_middle(const BenchBody& body, const Quat& rotation, const Vec3& middle) {
  return {rotation, middle - rotate(rotation, body.middle)};
}

// From anywhere near to anywhere near, with up to half a turn of both.
Motion anywhere(const BodyPair& pair, Random& random) {
  const double size = size_of(pair);
  Motion m;
  const auto fill = [&](BodyMotion& motion, const BenchBody& body, bool rests) {
    motion.from = about_middle(body, random.rotation(), random.in_unit_ball() * (0.9 * size));
    motion.to = about_middle(body, random.rotation(), random.in_unit_ball() * (0.9 * size));
    motion.pivot = body.middle;
    if (rests) motion.to = motion.from;
  };
  fill(m.of_a, *pair.first, false);
  fill(m.of_b, *pair.second, random.below(2) == 0);
  return m;
}

// Passes B at a small gap at half time; turning, or not.
Motion passing(const BodyPair& pair, double reach, double turn, Random& random) {
  const double size = size_of(pair);
  const Pose b_in_a = place_at_gap(pair, size * std::pow(10, random.uniform(-6, -1)), random);
  const Vec3 half = random.unit_vector() * (reach * size);
  const Quat half_turn = rotation_about(random.unit_vector(), turn / 2);
  const BenchBody& b = *pair.second;
  const Vec3 middle = transform_point(b_in_a, b.middle);
  Motion m;
  m.of_b.from = about_middle(b, conjugate(half_turn) * b_in_a.rotation, middle - half);
  m.of_b.to = about_middle(b, half_turn * b_in_a.rotation, middle + half);
  m.of_b.pivot = b.middle;
  return m;
}

Motion choose_motion(const BodyPair& pair, int number, Random& random) {
  Motion m;
  switch (number % 5) {
    case 0:
      m = anywhere(pair, random);
      break;
    case 1:
      m = passing(pair, random.uniform(0.3, 1.5), 0, random);
      break;
    case 2:
      m = passing(pair, random.uniform(0.1, 1), random.uniform(0, 3), random);
      break;
    case 3:
      m = passing(pair, 0.01, random.uniform(0, 0.1), random);
      break;
    default:  // turns alone
      m = passing(pair, 0, random.uniform(0, 3), random);
  }
  // Frames of the world that are not A's.
  if (number % 2 == 1) {
    const Pose world{random.rotation(), random.in_unit_ball() * size_of(pair)};
    for (BodyMotion* of : {&m.of_a, &m.of_b}) {
      of->from = world * of->from;
      of->to = world * of->to;
    }
  }
  if (number % 4 == 3) m.model = MotionModel::kScrew;
  // Their truth moves all corners at each time.
  constexpr std::size_t kFew = 3000;
  if (number % 4 == 2 &&
      pair.first->mesh.triangles.size() + pair.second->mesh.triangles.size() < kFew)
    m.model = MotionModel::kPolynomial;
  return m;
}

void move_away(Motion& m, double metres, Random& random) {
  const Vec3 far = random.unit_vector() * metres;
  for (BodyMotion* of : {&m.of_a, &m.of_b})
    for (Pose* pose : {&of->from, &of->to}) pose->translation += far;
}

// A slides along its axis, in the middle of B, and turns a bit; sometimes off the axis.
Motion slide_along(const BodyPair& pair, const Vec3& axis, double spare, Random& random) {
  Motion m;
  const double reach = 0.3 * pair.second->size;
  const Vec3 off = cross(axis, random.unit_vector()) * (random.uniform(0, 1.2) * spare);
  const Quat turn = rotation_about(axis, random.below(2) == 0 ? random.uniform(0, 2) : 0);
  m.of_a.from = about_middle(*pair.first, {}, pair.second->middle + off - axis * reach);
  m.of_a.to = about_middle(*pair.first, turn, pair.second->middle + off + axis * reach);
  m.of_a.pivot = pair.first->middle;
  return m;
}

// ---- groups -------------------------------------------------------------------------------------

struct MotionGroup {
  std::string name;
  std::vector<BodyPair> pairs;
  std::function<Motion(const BodyPair&, int, Random&)> choose = choose_motion;
  bool spins = false;  // many turns: a chain of motions
};

BodyPtr scaled(const std::string& name, TriangleMesh mesh, double scale) {
  for (Vec3f& p : mesh.positions) p = to_float(to_double(p) * scale);
  return std::make_shared<const BenchBody>(name, std::move(mesh), 48);
}

TriangleMesh make_soup(std::uint32_t count) {
  Random random(73);
  TriangleMesh mesh;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Vec3 at = random.in_unit_ball() * 0.5;
    for (int k = 0; k < 3; ++k)
      mesh.positions.push_back(to_float(at + random.in_unit_ball() * 0.15));
    mesh.triangles.push_back({3 * i, 3 * i + 1, 3 * i + 2});
  }
  return mesh;
}

TriangleMesh open_ended(TriangleMesh cylinder) {
  std::erase_if(cylinder.triangles, [&](const Triangle& t) {
    const float y = cylinder.positions[t[0]].y;
    return cylinder.positions[t[1]].y == y && cylinder.positions[t[2]].y == y;
  });
  return cylinder;
}

std::vector<MotionGroup> make_motion_groups(bool quick) {
  std::vector<MotionGroup> groups;
  std::vector<PairGroup> stock = make_truth_groups(quick);
  const std::vector<BodyPair> some(stock[0].pairs.begin(), stock[0].pairs.begin() + 2);
  for (PairGroup& group : stock) groups.push_back({group.name, std::move(group.pairs)});
  const BodyPtr soup = scaled("soup", make_soup(60), 1), box = scaled("box", make_box({}), 1),
                needle =
                    scaled("needle", make_box({.size_x = 1, .size_y = 0.01, .size_z = 0.01}), 1);
  groups.push_back({"soup", {{soup, soup}, {soup, box}, {needle, soup}}});
  const BodyPtr tiny_gear = scaled("tiny gear", make_shape("gear"), 1e-4),
                tiny_knot = scaled("tiny knot", make_shape("knot"), 1e-5);
  groups.push_back({"some micrometres", {{tiny_gear, tiny_knot}, {tiny_knot, tiny_knot}}});
  groups.push_back({"10 km away", some, [](const BodyPair& pair, int number, Random& random) {
                      Motion m = choose_motion(pair, number, random);
                      move_away(m, 1e4, random);
                      return m;
                    }});
  groups.push_back({"many turns", {{box, needle}, {needle, some[0].second}, {box, some[1].first}}});
  groups.back().spins = true;
  const BodyPtr piston = scaled("piston", make_cylinder({.radius = 0.0499, .height = 0.05}), 1),
                bore =
                    scaled("bore", open_ended(make_cylinder({.radius = 0.05, .height = 0.3})), 1);
  groups.push_back({"piston", {{piston, bore}}, [](const BodyPair& pair, int, Random& random) {
                      return slide_along(pair, {0, 1, 0}, 1e-4, random);
                    }});
  if (has_data()) {
    const auto part = [](const std::string& file) {
      return scaled(file, read_data_mesh("03_mech/" + file), 1);
    };
    groups.push_back(
        {"data: piston in cylinder, peg in hole",
         {{part("ripc507_092-piston__piston.stl"), part("ripc507_092-piston__cylinder.stl")},
          {part("factory_round_peg_8mm_tight.obj"), part("factory_round_hole_8mm_subdiv_3x.obj")}},
         [](const BodyPair& pair, int, Random& random) {
           Vec3 axis{};
           axis[random.below(3)] = 1;
           return slide_along(pair, axis, 0.01 * size_of(pair), random);
         }});
  }
  return groups;
}

// A spins by several turns while it passes B: pieces of a third of a turn, one after the other.
void check_spin(const BodyPair& pair, int times, const std::string& label, Random& random,
                MotionCheck& check) {
  const Motion whole = passing(pair, random.uniform(0.2, 1), 0, random);
  const int turns = 2 + static_cast<int>(random.below(7)), pieces = 3 * turns;
  const Vec3 axis = random.unit_vector();
  const BenchBody& b = *pair.second;
  const auto pose_at = [&](int k) {
    const double t = static_cast<double>(k) / pieces;
    const Quat rotation =
        normalized(rotation_about(axis, 2 * kPi * turns * t) * whole.of_b.from.rotation);
    const Vec3 from = transform_point(whole.of_b.from, b.middle),
               to = transform_point(whole.of_b.to, b.middle);
    return about_middle(b, rotation, lerp(from, to, t));
  };
  for (int k = 0; k < pieces; ++k) {
    const Motion piece{.of_b = {.from = pose_at(k), .to = pose_at(k + 1), .pivot = b.middle}};
    if (!check.check(piece, 0, times / 10, fmt::format("{}, piece {}", label, k))) return;
  }
}

}  // namespace

void bench_motion(const Options& options, Report& report) {
  const std::vector<MotionGroup> groups = make_motion_groups(options.quick);
  std::size_t pairs = 0;
  for (const MotionGroup& group : groups) pairs += group.pairs.size();
  const int count = options.count > 0 ? options.count
                    : options.quick   ? 60
                    : options.full    ? 2000
                                      : 300;
  const int each = (count + static_cast<int>(pairs) - 1) / static_cast<int>(pairs);
  const int total = each * static_cast<int>(pairs);
  Table table = report.table(
      {.id = "exact-motion",
       .title = fmt::format("{} motions beside static tests at {} times", total, kTimes),
       .columns = {{"bodies", Of::kKey},
                   {"motions", Of::kKey},
                   {"polynomials"},
                   {"free"},
                   {"contact"},
                   {"at the start"},
                   {"contained"},
                   {"earliest", Of::kOurs, "tolerances"},
                   {"bounds differ", Of::kOurs, "tolerances"},
                   {"nearest miss", Of::kOurs, "sizes"},
                   {"also in long double"},
                   {"winding unclear"}},
       .note = "Samples are refined at their lowest minima. Each piece of a spin counts."});
  int number = 0, many = 0;
  for (const MotionGroup& group : groups) {
    Counts counts;
    for (std::size_t p = 0; p < group.pairs.size(); ++p) {
      const BodyPair& pair = group.pairs[p];
      MotionCheck check(pair, report, counts);
      for (int i = 0; i < each; ++i, ++number) {
        // Each motion has a stream of its own, so that one can be repeated alone.
        Random random(static_cast<std::uint64_t>(options.seed), static_cast<std::uint64_t>(number));
        const std::string label = fmt::format("seed {}, motion {}", options.seed, number);
        const bool is_many =
            options.full && many < kManyMotions && number * kManyMotions >= many * total;
        many += is_many ? 1 : 0;
        const int times = is_many ? kManyTimes : kTimes;
        if (group.spins) {
          check_spin(pair, times, label, random, check);
          continue;
        }
        const Motion motion = group.choose(pair, i, random);
        const double margin = i % 6 == 5 ? 0.02 * size_of(pair) * random.uniform() : 0;
        check.check(motion, margin, times, label);
      }
    }
    table.row({group.name, counts.motions, counts.polynomials, counts.free, counts.contacts,
               counts.at_start, counts.contained, counts.earliest, counts.loosest,
               cell_if(counts.free > 0, counts.nearest), counts.all_pairs, counts.unclear});
    report.json["motion"].push_back({{"name", group.name},
                                     {"motions", counts.motions},
                                     {"polynomials", counts.polynomials},
                                     {"free", counts.free},
                                     {"contacts", counts.contacts},
                                     {"at_start", counts.at_start},
                                     {"contained", counts.contained},
                                     {"earliest", counts.earliest},
                                     {"bounds_differ", counts.loosest},
                                     {"all_pairs", counts.all_pairs},
                                     {"unclear", counts.unclear}});
  }
  report.check(true, "first contacts are never late and least distances lie between their bounds");
}

}  // namespace isotact::bench

// Yes or no: do two bodies touch? Beside FCL, which stops at the first contact. Also whole states
// of a robot.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "isotact/geometry/bvh/mesh_distance.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/queries/batch.h"
#include "isotact/queries/collide.h"
#include "isotact/queries/detail/exact_distance.h"

#include "exact_report.h"
#include "exact_stock.h"
#include "support/data_folder.h"

namespace isotact::bench {
namespace {

double microseconds_of(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
      .count();
}

// ---- pairs --------------------------------------------------------------------------------------

enum class Placing : std::uint8_t { kRandom, kNear, kTouching };
constexpr const char* kPlacings[] = {"random", "near", "touching"};

Pose place(const BodyPair& pair, Placing placing, Random& random) {
  const double size = size_of(pair);
  if (placing == Placing::kNear) return place_at_gap(pair, random.uniform() * 0.03 * size, random);
  if (placing == Placing::kTouching)
    return place_overlapping(pair, random.uniform() * 0.03 * size, random);
  Pose pose{.rotation = random.rotation()};
  pose.translation = pair.first->middle - rotate(pose.rotation, pair.second->middle) +
                     random.unit_vector() * (0.7 * size * std::cbrt(random.uniform()));
  return pose;
}

struct AnyTimes {
  double fcl = 0, ours = 0, by_field = 0, batch = 0;  // microseconds of all poses
  double contacts = 0, proved = 0, points = 0;        // the same, with all contacts
  int touching = 0, wrong = 0, poses = 0;
};

// All poses of a pair one after the other, as a user's loop has them; the least of some rounds.
void time_pair(const BodyPair& pair, const std::vector<Pose>& poses, AnyTimes& times) {
  const Shape &a = pair.first->shape, &b = pair.second->shape;
  for (const Shape* shape : {&a, &b}) prepare(*shape, CollideRequest{});
  std::vector<FclPair> peers;
  for (const Pose& pose : poses)
    peers.emplace_back(pair.first->fcl, Pose{}, pair.second->fcl, pose);
  std::vector<char> theirs(poses.size()), ours(poses.size()), fields(poses.size()),
      all(poses.size());
  CollideScratch scratch, field_scratch, proof_scratch;
  BatchScratch batch;
  const CollideBatchRequest batch_request{.threads = {1}};
  const auto loop = [&](const CollideRequest& request, CollideScratch& memory,
                        std::vector<char>& verdicts) {
    for (std::size_t i = 0; i < poses.size(); ++i)
      verdicts[i] =
          collide(a, {}, b, poses[i], request, memory).status == CollideStatus::kContact ? 1 : 0;
  };
  double best[7] = {1e300, 1e300, 1e300, 1e300, 1e300, 1e300, 1e300};
  std::span<const CollideRow> rows;
  for (int round = 0; round < 5; ++round) {
    const double t[] = {
        microseconds_of([&] {
          for (std::size_t i = 0; i < poses.size(); ++i) theirs[i] = peers[i].collide() ? 1 : 0;
        }),
        microseconds_of([&] { loop({.mode = Mode::kAny}, scratch, ours); }),
        microseconds_of([&] {
          loop({.accuracy = Accuracy::kField, .mode = Mode::kAny}, field_scratch, fields);
        }),
        microseconds_of([&] { rows = collide_poses(a, {}, b, poses, batch_request, batch); }),
        microseconds_of([&] { loop({}, scratch, all); }),
        microseconds_of([&] { loop({.accuracy = Accuracy::kField}, proof_scratch, all); }),
        microseconds_of([&] {
          loop({.accuracy = Accuracy::kField, .only_points = true}, field_scratch, all);
        })};
    for (int k = 0; k < 7; ++k) best[k] = std::min(best[k], t[k]);
  }
  times.fcl += best[0];
  times.ours += best[1];
  times.by_field += best[2];
  times.batch += best[3];
  times.contacts += best[4];
  times.proved += best[5];
  times.points += best[6];
  for (std::size_t i = 0; i < poses.size(); ++i) {
    ++times.poses;
    times.touching += ours[i];
    const bool touches_in_batch = rows[i].status == CollideStatus::kContact;
    // A body inside of the other touches for us alone; ties are settled by the distance.
    const auto is_tie = [&] {
      return compute_mesh_distance(pair.first->bvh, pair.second->bvh, poses[i]).distance <=
             1e-9 * size_of(pair);
    };
    const bool contained =
        ours[i] == 1 && theirs[i] == 0 &&
        detail::find_containment(a, {}, b, poses[i]) == detail::Containment::kInClosed;
    if ((ours[i] == 1) != touches_in_batch || (ours[i] != theirs[i] && !contained && !is_tie()))
      ++times.wrong;
  }
}

void bench_pairs(const Options& options, Report& report) {
  Table table =
      report.table({.id = "exact-any",
                    .title = "Do they touch? Stopping at the first contact",
                    .columns = {{"bodies", Of::kKey},
                                {"poses", Of::kKey},
                                {"number", Of::kKey},
                                {"touch", Of::kOurs, "%"},
                                {"FCL", Of::kPeer, "us"},
                                {"kAny", Of::kOurs, "us"},
                                {"batch", Of::kOurs, "us"},
                                {"by field", Of::kOurs, "us"},
                                {"faster", Of::kOurs, "times"},
                                {"field faster", Of::kOurs, "times"}},
                    .note = "Means. Random: middles within 0.7 of the size. Near: gaps up "
                            "to 0.03 of it. Touching: moved on by up to that."});
  struct Row {
    std::string group, poses;
    double points, proved, exact;
  };
  std::vector<Row> rows;
  const int count = options.poses > 0 ? options.poses : options.quick ? 40 : 200;
  int wrong = 0;
  const auto run = [&](const PairGroup& group) {
    for (const Placing placing : {Placing::kRandom, Placing::kNear, Placing::kTouching}) {
      Random random(41);
      AnyTimes times;
      const std::size_t pairs = std::min<std::size_t>(group.pairs.size(), 8);
      for (std::size_t k = 0; k < pairs; ++k) {
        const BodyPair& pair = group.pairs[k * group.pairs.size() / pairs];
        std::vector<Pose> poses;
        for (std::size_t i = 0; i < static_cast<std::size_t>(count) / pairs; ++i)
          poses.push_back(place(pair, placing, random));
        time_pair(pair, poses, times);
      }
      const double n = times.poses;
      const std::string name = kPlacings[static_cast<int>(placing)];
      table.row({group.name, name, times.poses, 100.0 * times.touching / n, times.fcl / n,
                 times.ours / n, times.batch / n, times.by_field / n, times.fcl / times.ours,
                 times.fcl / times.by_field});
      report.json["any"].push_back({{"name", group.name},
                                    {"poses", name},
                                    {"fcl_us", times.fcl / n},
                                    {"us", times.ours / n},
                                    {"batch_us", times.batch / n},
                                    {"field_us", times.by_field / n}});
      rows.push_back({group.name, name, times.points / n, times.proved / n, times.contacts / n});
      report.aim(times.fcl >= times.ours, group.name + ", " + name + ": faster than FCL");
      wrong += times.wrong;
    }
  };
  for (const PairGroup& group : make_timed_groups(options.quick)) run(group);
  for (const int cells : options.quick ? std::vector<int>{64} : std::vector<int>{64, 256, 1024}) {
    if (cells > 256 && !options.full) continue;
    run(make_bunnies(cells));
  }
  Table contacts = report.table(
      {.id = "exact-collide",
       .title = "Contacts: exact verdicts beside the field's",
       .columns = {{"bodies", Of::kKey},
                   {"poses", Of::kKey},
                   {"points", Of::kPeer, "us"},
                   {"by field", Of::kPeer, "us"},
                   {"exact", Of::kOurs, "us"},
                   {"over points"},
                   {"over field", Of::kOurs}},
       .note = "Means of collide with all contacts, at the poses of the table above. Points: "
               "kField with only_points, whose verdict is that of the samples. By field: kField, "
               "whose verdict is proved, or kUncertain."});
  double exact = 0, points = 0, proved = 0;
  for (const Row& r : rows) {
    contacts.row(
        {r.group, r.poses, r.points, r.proved, r.exact, r.exact / r.points, r.exact / r.proved});
    exact += r.exact;
    points += r.points;
    proved += r.proved;
    report.json["collide"].push_back({{"name", r.group},
                                      {"poses", r.poses},
                                      {"points_us", r.points},
                                      {"field_us", r.proved},
                                      {"us", r.exact}});
    report.aim(r.exact <= 1.5 * r.proved,
               r.group + ", " + r.poses + ": at most 1.5 times the field's proved verdict");
  }
  report.aim(exact <= 1.5 * points,
             "exact contacts take at most 1.5 times those of points, in all");
  report.aim(exact <= 1.5 * proved, "exact contacts take at most 1.5 times the field's, in all");
  report.check(wrong == 0, "verdicts are FCL's, and those of the batch");
}

// ---- a robot ------------------------------------------------------------------------------------

struct Joint {
  Vec3 xyz, rpy;
  double lower, upper;
};
// The Panda's arm: each joint turns about its own z.
constexpr double kRight = std::numbers::pi / 2;
constexpr std::array<Joint, 7> kArm = {{{{0, 0, 0.333}, {0, 0, 0}, -2.9671, 2.9671},
                                        {{0, 0, 0}, {-kRight, 0, 0}, -1.8326, 1.8326},
                                        {{0, -0.316, 0}, {kRight, 0, 0}, -2.9671, 2.9671},
                                        {{0.0825, 0, 0}, {kRight, 0, 0}, -3.1416, 0.0873},
                                        {{-0.0825, 0.384, 0}, {-kRight, 0, 0}, -2.9671, 2.9671},
                                        {{0, 0, 0}, {kRight, 0, 0}, -0.0873, 3.8223},
                                        {{0.088, 0, 0}, {kRight, 0, 0}, -2.9671, 2.9671}}};
constexpr std::size_t kLinks = 11;  // 0 to 7, hand, two fingers

std::array<Pose, kLinks> place_links(const std::array<double, 7>& angles) {
  std::array<Pose, kLinks> links{};
  for (std::size_t j = 0; j < 7; ++j) {
    const Pose origin{.rotation = rotation_about({1, 0, 0}, kArm[j].rpy.x),
                      .translation = kArm[j].xyz};
    links[j + 1] = links[j] * origin * Pose{.rotation = rotation_about({0, 0, 1}, angles[j])};
  }
  links[8] = links[7] *
             Pose{.rotation = rotation_about({0, 0, 1}, -kRight / 2), .translation = {0, 0, 0.107}};
  links[9] = links[8] * Pose{.translation = {0, 0.065, 0.0584}};
  links[10] = links[8] * Pose{.rotation = rotation_about({0, 0, 1}, 2 * kRight),
                              .translation = {0, -0.065, 0.0584}};
  return links;
}

// Pairs that the robot's own description does not leave out.
constexpr std::array<ShapePair, 21> kSelfPairs = {
    {{0, 5},  {0, 6}, {0, 7}, {0, 8}, {0, 9}, {0, 10}, {1, 5}, {1, 6}, {1, 7}, {1, 8}, {1, 9},
     {1, 10}, {2, 5}, {2, 7}, {2, 8}, {2, 9}, {2, 10}, {5, 7}, {5, 8}, {5, 9}, {5, 10}}};

// In place of the robot's meshes: a round bar from each link's joint to the next, or along it, and
// boxes for hand and fingers.
TriangleMesh make_link(std::size_t link, bool is_detailed) {
  if (link == 8) return make_box({.size_x = 0.06, .size_y = 0.2, .size_z = 0.06});
  if (link > 8) return make_box({.size_x = 0.02, .size_y = 0.02, .size_z = 0.05});
  const int segments = is_detailed ? 64 : 16;
  const Vec3 end = link < 7 && length_sq(kArm[link].xyz) > 0 ? kArm[link].xyz : Vec3{0, 0, -0.1};
  TriangleMesh mesh = make_capsule({.radius = 0.055, .length = length(end), .segments = segments});
  const Vec3 along = normalized(end), turn = cross(Vec3{0, 1, 0}, along);
  // Turns y onto the bar, or against it, whichever needs less.
  const double w = std::abs(along.y) + 1;
  const Vec3 axis = along.y < 0 ? -turn : turn;
  const Pose pose{.rotation = normalized(Quat{w, axis.x, axis.y, axis.z}),
                  .translation = end * 0.5};
  for (Vec3f& p : mesh.positions) p = to_float(transform_point(pose, to_double(p)));
  return mesh;
}

TriangleMesh link_mesh(std::size_t link, bool is_detailed) {
  if (!has_data()) return make_link(link, is_detailed);
  const std::string name = link < 8 ? fmt::format("link{}", link) : link == 8 ? "hand" : "finger";
  return read_data_mesh(
      fmt::format("09_robots/panda/meshes/{}/{}.obj", is_detailed ? "visual" : "collision", name));
}

void bench_robot(const Options& options, Report& report) {
  Table table = report.table(
      {.id = "exact-any-robot",
       .title = has_data() ? "Self-check of the Panda, one state"
                           : "Self-check of the Panda, with procedural links, one state",
       .columns = {{"meshes", Of::kKey},
                   {"states", Of::kKey},
                   {"collide", Of::kKey},
                   {"FCL first", Of::kPeer, "us"},
                   {"FCL all pairs", Of::kPeer, "us"},
                   {"first", Of::kOurs, "us"},
                   {"one by one", Of::kOurs, "us"},
                   {"all pairs", Of::kOurs, "us"},
                   {"first faster", Of::kOurs, "times"},
                   {"all faster", Of::kOurs, "times"}},
       .note = "First: stops at the first pair that touches. One by one: a call per state."});
  const int count = options.quick ? 100 : 1000;
  for (const bool visual : {false, true}) {
    std::vector<Shape> shapes;
    std::vector<FclMeshModel> models;
    for (std::size_t i = 0; i < kLinks; ++i) {
      const TriangleMesh mesh = link_mesh(i, visual && i != 0 && i != 7);
      shapes.push_back(Shape::from_mesh(mesh, {.field = {.resolution = 48}, .points = 400}));
      models.emplace_back(mesh);
      prepare(shapes.back(), CollideRequest{.mode = Mode::kAny});
    }
    Random random(43);
    std::vector<Pose> poses;
    std::vector<std::vector<FclPair>> peers;
    for (int s = 0; s < count; ++s) {
      std::array<double, 7> angles{};
      for (std::size_t j = 0; j < 7; ++j)
        angles[j] = kArm[j].lower + random.uniform() * (kArm[j].upper - kArm[j].lower);
      const auto links = place_links(angles);
      poses.insert(poses.end(), links.begin(), links.end());
      std::vector<FclPair>& of_state = peers.emplace_back();
      for (const ShapePair& p : kSelfPairs)
        of_state.emplace_back(models[p.a], links[p.a], models[p.b], links[p.b]);
    }
    const PoseBatch states{shapes, kSelfPairs, poses};
    const std::size_t n = static_cast<std::size_t>(count);
    std::vector<char> theirs(n), ours(n), single(n);
    std::vector<char> all_theirs(n * kSelfPairs.size()), all_ours(all_theirs.size());
    BatchScratch scratch, one_scratch, all_scratch;
    double best[5] = {1e300, 1e300, 1e300, 1e300, 1e300};
    for (int round = 0; round < 5; ++round) {
      const double t[] = {
          microseconds_of([&] {
            for (std::size_t s = 0; s < n; ++s)
              theirs[s] = std::any_of(peers[s].begin(), peers[s].end(),
                                      [](FclPair& pair) { return pair.collide(); })
                              ? 1
                              : 0;
          }),
          microseconds_of([&] {
            for (std::size_t s = 0; s < n; ++s)
              for (std::size_t k = 0; k < kSelfPairs.size(); ++k)
                all_theirs[s * kSelfPairs.size() + k] = peers[s][k].collide() ? 1 : 0;
          }),
          microseconds_of([&] {
            const auto rows =
                collide_batch(states, {.stop_at_first = true, .threads = {1}}, scratch);
            for (std::size_t s = 0; s < n; ++s)
              ours[s] = rows[s].status == CollideStatus::kContact ? 1 : 0;
          }),
          microseconds_of([&] {
            for (std::size_t s = 0; s < n; ++s) {
              const PoseBatch one{shapes, kSelfPairs, std::span(poses).subspan(s * kLinks, kLinks)};
              const auto rows =
                  collide_batch(one, {.stop_at_first = true, .threads = {1}}, one_scratch);
              single[s] = rows[0].status == CollideStatus::kContact ? 1 : 0;
            }
          }),
          microseconds_of([&] {
            const auto rows = collide_batch(states, {.threads = {1}}, all_scratch);
            for (std::size_t i = 0; i < rows.size(); ++i)
              all_ours[i] = rows[i].status == CollideStatus::kContact ? 1 : 0;
          })};
      for (int k = 0; k < 5; ++k) best[k] = std::min(best[k], t[k] / count);
    }
    int wrong = 0;
    for (std::size_t i = 0; i < all_ours.size(); ++i) {
      if (all_ours[i] == all_theirs[i]) continue;
      const ShapePair& p = kSelfPairs[i % kSelfPairs.size()];
      const Pose* state = poses.data() + i / kSelfPairs.size() * kLinks;
      const DistanceResult d =
          distance(shapes[p.a], state[p.a], shapes[p.b], state[p.b], {.want_depth = false});
      wrong += d.contained || std::abs(d.distance) < 1e-9 ? 0 : 1;
    }
    for (std::size_t s = 0; s < n; ++s) wrong += ours[s] == single[s] ? 0 : 1;
    const double touching =
        100.0 * static_cast<double>(std::count(ours.begin(), ours.end(), 1)) / count;
    const char* name = visual ? "visual" : "collision";
    table.row({name, count, fmt::format("{:.0f} %", touching), best[0], best[1], best[2], best[3],
               best[4], best[0] / best[2], best[1] / best[4]});
    report.json["robot"].push_back({{"name", name},
                                    {"fcl_first_us", best[0]},
                                    {"fcl_all_us", best[1]},
                                    {"first_us", best[2]},
                                    {"single_us", best[3]},
                                    {"all_us", best[4]}});
    report.check(wrong == 0, std::string(name) + ": verdicts are FCL's");
    report.aim(best[2] <= 5, std::string(name) + ": 5 us a state, stopping at the first hit");
  }
}

}  // namespace

void bench_any(const Options& options, Report& report) {
  bench_robot(options, report);
  bench_pairs(options, report);
}

}  // namespace isotact::bench

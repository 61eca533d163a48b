// One impact: all bodies that touch the two that meet, and through them others, as far as the blow
// reaches, are one problem (impact_solver.h).
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isotact/base/detail/thread_scratch.h"
#include "isotact/dynamics/rigid/detail/impacts.h"
#include "isotact/dynamics/rigid/detail/joint_rows.h"
#include "isotact/dynamics/rigid/detail/point_force.h"

namespace isotact::detail {
namespace {

constexpr int kMostBounces = 16;  // of a pair in a step; from then on it does not bounce
constexpr std::size_t kContactsOfPair = 8;
constexpr std::size_t kKnownOfPair = 24;
constexpr std::size_t kMostFaces = 16;  // Of both bodies, that are looked for.
constexpr double kOneNormal = 1e-4;     // Radians: points of one face.
constexpr double kFlush = 0.05;         // Radians, between a face and the other body's field.
constexpr double kFaceCells = 0.1;      // Cells from the plane of a face.
constexpr double kSameSide = 0.5;       // Cosine, at rims.

// A flat face of one body on the other: points with one normal, not all on a line.
struct Face {
  Vec3 normal{};  // Outward, world.
  Vec3 place{};
  bool of_a = false;
  std::vector<std::size_t> points{};  // Indices of contacts.
};

std::vector<Face> list_faces(const PlacedBody& a, const PlacedBody& b,
                             const std::vector<Contact>& touching) {
  std::vector<Face> faces;
  for (std::size_t i = 0; i < touching.size(); ++i) {
    const Contact& c = touching[i];
    const bool of_a = c.sampled_by == Body::kA;
    const PlacedBody& by = of_a ? a : b;
    const Vec3 own = rotate(by.pose.rotation, to_double(by.body.tree().normals()[c.point]));
    const auto at = std::find_if(faces.begin(), faces.end(), [&](const Face& f) {
      return f.of_a == of_a && length_sq(f.normal - own) < kOneNormal * kOneNormal;
    });
    if (at != faces.end())
      at->points.push_back(i);
    else if (faces.size() < kMostFaces)
      faces.push_back({own, c.position, of_a, {i}});
  }
  return faces;
}
// Whether three of its points are a triangle that is higher than `near`, and the other body's
// field says the same of half of them. A face that cuts into the other body is not one.
bool is_flat(const Face& f, const std::vector<Contact>& touching, double near) {
  const auto from = [&](std::size_t i) { return touching[i].position - f.place; };
  Vec3 far{};
  for (const std::size_t i : f.points)
    if (length_sq(from(i)) > length_sq(far)) far = from(i);
  const Vec3 along = normalized(far), pushes = f.of_a ? -f.normal : f.normal;
  const auto agree = std::count_if(f.points.begin(), f.points.end(), [&](std::size_t i) {
    return length_sq(touching[i].normal - pushes) < kFlush * kFlush;
  });
  return length_sq(f.normal) > 0 && 2 * static_cast<std::size_t>(agree) >= f.points.size() &&
         std::any_of(f.points.begin(), f.points.end(),
                     [&](auto i) { return length(cross(from(i), along)) > near; });
}
class BlowSolver {
 public:
  BlowSolver(ImpactState& state, double time) : s_(state), w_(state.world) {
    blow_.time = time;
    blow_.problem.rest_speed = s_.rest_speed;
  }

  Blow run(std::size_t pair) {
    add_pair(pair);
    // A pair whose known contact does not touch any more is in the problem all the same.
    for (const BodyId id : {w_.pairs[pair].pair.a, w_.pairs[pair].pair.b})
      look_around(add_body(id));
    solve();
    return std::move(blow_);
  }

 private:
  const WorldBody& body(BodyId id) const { return w_.bodies[id]; }

  std::uint32_t add_body(BodyId id) {
    const auto at = std::find(blow_.bodies.begin(), blow_.bodies.end(), id);
    if (at != blow_.bodies.end()) return static_cast<std::uint32_t>(at - blow_.bodies.begin());
    const WorldBody& w = body(id);
    const CurrentPart& part = s_.parts[id];
    const Pose pose = pose_at(part, blow_.time);
    ImpactBody added;
    added.center = transform_point(pose, part.motion.pivot);
    added.velocity = twist_at(s_, id, blow_.time);
    if (w.is_dynamic()) {
      // Velocities have the loads of the whole step: they are those of its middle.
      if (flies(id))
        added.velocity.linear += w_.settings.gravity * (w_.settings.step * (blow_.time - 0.5));
      added.inverse_mass = 1 / w.body.mass.mass;
      const Mat3 turn = to_matrix(pose.rotation);
      added.inverse_inertia = turn * w.body.mass.inverse_inertia * transpose(turn);
    }
    blow_.problem.bodies.push_back(added);
    blow_.bodies.push_back(id);
    blow_.looked_at.push_back(false);
    return static_cast<std::uint32_t>(blow_.bodies.size() - 1);
  }

  // Whether nothing touched it when the step began.
  bool flies(BodyId id) const {
    const auto& pairs = s_.pairs_of_body[id];
    return std::none_of(pairs.begin(), pairs.end(), [&](std::size_t k) {
      return w_.pairs[k].points > 0 || w_.pairs[k].touched;
    });
  }

  // Contacts of a body with all others that it touches.
  void look_around(std::uint32_t local) {
    if (blow_.looked_at[local]) return;
    blow_.looked_at[local] = true;
    const BodyId id = blow_.bodies[local];
    if (!body(id).is_dynamic()) return;
    for (const std::size_t k : s_.pairs_of_body[id])
      if (!w_.pairs[k].apart && !s_.impacts[k].pressed) add_pair(k);
    for (const JointSettings& j : w_.joints) {
      if (j.a != id && j.b != id) continue;
      add_body(j.a);
      add_body(j.b);
    }
  }

  void add_pair(std::size_t k) {
    if (std::find(blow_.pairs.begin(), blow_.pairs.end(), k) != blow_.pairs.end()) return;
    blow_.pairs.push_back(k);
    const BodyPair pair = w_.pairs[k].pair;
    const std::vector<Contact>& touching = find_touching(k);
    if (touching.empty()) return;
    const std::uint32_t a = add_body(pair.a), b = add_body(pair.b);
    const SurfaceMaterial &ma = body(pair.a).settings.material,
                          &mb = body(pair.b).settings.material;
    const double restitution =
        s_.impacts[k].count > kMostBounces ? 0 : std::max(ma.restitution, mb.restitution);
    const double friction = w_.material_of(pair).friction;
    for (const std::size_t i : choose(touching, s_.impacts[k].known)) {
      const Contact& c = touching[i];
      blow_.problem.contacts.push_back({.a = a,
                                        .b = b,
                                        .place = c.position,
                                        .normal = c.normal,
                                        .friction = friction,
                                        .restitution = restitution});
      blow_.pair_of.push_back(k);
      blow_.contacts.push_back(c);
    }
  }

  // Points that touch at the moment, first the one whose impact it is.
  const std::vector<Contact>& find_touching(std::size_t k) {
    PairImpacts& impacts = s_.impacts[k];
    if (impacts.touching_at != blow_.time) {
      impacts.touching_at = blow_.time;
      impacts.touching.clear();
      for (const bool points_of_a : {true, false}) add_touching(k, points_of_a, impacts.touching);
    }
    if (impacts.next.time == blow_.time) {
      const Contact& c = impacts.next.contact;
      const auto same = [&](const Contact& other) {
        return other.sampled_by == c.sampled_by && other.point == c.point;
      };
      if (std::none_of(impacts.touching.begin(), impacts.touching.end(), same))
        impacts.touching.push_back(c);
    }
    const BodyPair& pair = w_.pairs[k].pair;
    take_face_normals({body(pair.a), pose_at(s_.parts[pair.a], blow_.time)},
                      {body(pair.b), pose_at(s_.parts[pair.b], blow_.time)}, impacts.touching);
    return impacts.touching;
  }
  void add_touching(std::size_t k, bool points_of_a, std::vector<Contact>& touching) const {
    const BodyPair pair = w_.pairs[k].pair;
    const BodyId of_shell = points_of_a ? pair.a : pair.b, of_field = points_of_a ? pair.b : pair.a;
    const WorldBody &shell = body(of_shell), &field = body(of_field);
    if (!shell.has_points() || !field.has_field()) return;
    const ShellMotion motion{.shell = at_rest(pose_at(s_.parts[of_shell], blow_.time)),
                             .field = at_rest(pose_at(s_.parts[of_field], blow_.time))};
    const ThreadScratch<SweptResults> scratch;
    field.near->trace(shell.tree(), motion, *scratch);
    const Encounter m{pair, points_of_a, shell, field, motion, blow_.time, blow_.time};
    for (const SweptHit& hit : scratch->hits) touching.push_back(make_contact(m, hit.point, 0));
  }

  // Those that are known, and some that are far from each other: the corners of a face rather than
  // its middle. Contacts of different directions count as far.
  static std::vector<std::size_t> choose(const std::vector<Contact>& some,
                                         const std::vector<PairPoint>& known) {
    std::vector<std::size_t> chosen;
    const auto is_known = [&](const Contact& c) {
      const PairPoint p{c.sampled_by, c.point};
      const std::size_t old = known.size() - std::min(known.size(), kKnownOfPair);
      return std::find(known.begin() + static_cast<std::ptrdiff_t>(old), known.end(), p) !=
             known.end();
    };
    if (some.size() <= kContactsOfPair) {
      for (std::size_t i = 0; i < some.size(); ++i) chosen.push_back(i);
      return chosen;
    }
    Aabb box;
    for (const Contact& c : some) extend(box, c.position);
    const double size = length(extent(box));
    std::vector<double> far(some.size(), kNoTime);
    const auto add = [&](std::size_t added) {
      chosen.push_back(added);
      const Contact& c = some[added];
      for (std::size_t i = 0; i < some.size(); ++i)
        far[i] = std::min(far[i], length_sq(some[i].position - c.position) +
                                      0.25 * size * size * length_sq(some[i].normal - c.normal));
    };
    for (std::size_t i = 0; i < some.size(); ++i)
      if (is_known(some[i])) add(i);
    if (chosen.empty()) {
      std::size_t deepest = 0;
      for (std::size_t i = 1; i < some.size(); ++i)
        if (some[i].depth > some[deepest].depth) deepest = i;
      add(deepest);
    }
    const std::size_t most = std::max(kContactsOfPair, chosen.size() + kContactsOfPair / 2);
    while (chosen.size() < most) {
      const auto next =
          static_cast<std::size_t>(std::max_element(far.begin(), far.end()) - far.begin());
      if (!(far[next] > 1e-6 * size * size)) break;
      add(next);
    }
    return chosen;
  }

  void add_joints() {
    blow_.problem.joints.clear();
    std::vector<JointRow> rows;
    for (const JointSettings& j : w_.joints) {
      const auto a = std::find(blow_.bodies.begin(), blow_.bodies.end(), j.a);
      const auto b = std::find(blow_.bodies.begin(), blow_.bodies.end(), j.b);
      if (a == blow_.bodies.end() || b == blow_.bodies.end()) continue;
      RigidBody at_a = body(j.a).body, at_b = body(j.b).body;
      set_pose(at_a, pose_at(s_.parts[j.a], blow_.time));
      set_pose(at_b, pose_at(s_.parts[j.b], blow_.time));
      rows.clear();
      add_joint_rows(j, at_a, at_b, w_.settings.step, rows);
      for (const JointRow& row : rows) {
        // Motors and limits act in the next step.
        if (std::isfinite(row.least) || std::isfinite(row.most)) continue;
        blow_.problem.joints.push_back({static_cast<std::uint32_t>(a - blow_.bodies.begin()),
                                        static_cast<std::uint32_t>(b - blow_.bodies.begin()),
                                        row.on_a, row.on_b});
      }
    }
  }

  // Bodies whose motion changed are looked around, as long as that finds something to do.
  void solve() {
    for (;;) {
      // Joints connect: whoever is jointed with one of them moves with it.
      for (std::uint32_t i = 0; i < blow_.bodies.size(); ++i)
        if (is_jointed(blow_.bodies[i])) look_around(i);
      add_joints();
      if (solve_impacts(blow_.problem).rounds == 0) return;
      bool grew = false;
      for (std::uint32_t i = 0; i < blow_.bodies.size(); ++i) {
        const Wrench& w = blow_.problem.bodies[i].impulse;
        if (blow_.looked_at[i] || (length_sq(w.linear) == 0 && length_sq(w.angular) == 0)) continue;
        const std::size_t contacts = blow_.contacts.size();
        look_around(i);
        grew = grew || blow_.contacts.size() > contacts;
      }
      if (!grew) return;
    }
  }
  bool is_jointed(BodyId id) const {
    return std::any_of(w_.joints.begin(), w_.joints.end(),
                       [&](const JointSettings& j) { return j.a == id || j.b == id; });
  }

  ImpactState& s_;
  ImpactWorld& w_;
  Blow blow_;
};

}  // namespace

void take_face_normals(const PlacedBody& a, const PlacedBody& b, std::vector<Contact>& touching) {
  double near = 0;
  for (const PlacedBody* by : {&a, &b})
    if (by->body.has_field()) near = std::max(near, 2 * kFaceCells * by->body.cell());
  std::vector<Face> faces = list_faces(a, b, touching);
  std::erase_if(faces, [&](const Face& f) { return !is_flat(f, touching, near); });
  std::stable_sort(faces.begin(), faces.end(),
                   [](const Face& f, const Face& g) { return f.points.size() > g.points.size(); });
  for (Contact& c : touching)
    for (const Face& f : faces) {
      const Vec3 pushes = f.of_a ? -f.normal : f.normal;
      if (std::abs(dot(c.position - f.place, f.normal)) > near) continue;
      if (dot(pushes, c.normal) < kSameSide) continue;
      c.normal = pushes;
      break;
    }
}
Pose pose_at(const CurrentPart& part, double time) {
  if (time >= part.end) return part.motion.to;
  if (time <= part.begin) return part.motion.from;
  return compute_pose(part.motion, (time - part.begin) / (part.end - part.begin));
}

BodyMotion motion_between(const CurrentPart& part, double from, double to) {
  return {pose_at(part, from), pose_at(part, to), part.motion.pivot};
}

Vec3 place_in_field(const Encounter& m, std::uint32_t point, double time) {
  return compute_map(m.motion, time) * to_double(m.shell.tree().point(point));
}

Contact make_contact(const Encounter& m, std::uint32_t point, double time) {
  const AffineMap field_from_shell = compute_map(m.motion, time);
  const Vec3 x = field_from_shell * to_double(m.shell.tree().point(point));
  const FieldSample sample = m.field.field().sample(x);
  const Vec3 own = field_from_shell.linear * to_double(m.shell.tree().normals()[point]);
  Vec3 out =
      compute_direction(m.field.field(), x, sample.gradient, own, kRimReach * m.field.cell());
  if (length_sq(out) == 0) out = {0, 1, 0};
  const Pose world = compute_pose(m.motion.field, time);
  const Vec3 place = transform_point(world, x), normal = transform_vector(world, out);
  return {.position = place,
          .point_on_a = place,
          .point_on_b = place,
          .normal = m.points_of_a ? normal : -normal,
          .depth = -sample.distance,
          .sampled_by = m.points_of_a ? Body::kA : Body::kB,
          .point = point};
}

// Momenta are constant between impacts; the rate of a turn changes with the rotation.
Twist twist_at(const ImpactState& state, BodyId id, double time) {
  const WorldBody& w = state.world.bodies[id];
  if (!w.is_dynamic()) return {w.step.velocity, w.step.angular_velocity};
  RigidBody there = w.body;
  there.state.rotation = pose_at(state.parts[id], time).rotation;
  return {velocity(there), angular_velocity(there)};
}

Blow solve_blow(ImpactState& state, std::size_t pair, double time) {
  return BlowSolver(state, time).run(pair);
}

namespace {

bool is_jammed(const ImpactState& state, const Blow& blow, BodyId id) {
  for (std::size_t i = 0; i < blow.contacts.size(); ++i) {
    const BodyPair& pair = state.world.pairs[blow.pair_of[i]].pair;
    if (blow.problem.contacts[i].jammed && (pair.a == id || pair.b == id)) return true;
  }
  return false;
}

}  // namespace

bool is_driven(const WorldBody& body) {
  return body.body.kind == BodyKind::kKinematic &&
         (length_sq(body.step.velocity) > 0 || length_sq(body.step.angular_velocity) > 0);
}

Trouble describe_jam(const ImpactState& state, const Blow& blow, std::size_t contact, double depth,
                     double most) {
  const std::vector<WorldBody>& bodies = state.world.bodies;
  const BodyPair& pair = state.world.pairs[blow.pair_of[contact]].pair;
  const BodyId id = bodies[pair.a].is_dynamic() ? pair.a : pair.b;
  std::string driven, others;
  for (const BodyId other : blow.bodies) {
    if (other == id || !is_jammed(state, blow, other)) continue;
    std::string& list = is_driven(bodies[other]) ? driven : others;
    list += fmt::format("{}'{}'", list.empty() ? "" : ", ", bodies[other].settings.name);
  }
  const double time = state.world.report.time - (1 - blow.time) * state.world.settings.step;
  return {id, time,
          fmt::format("body '{}' at {:.6g} s has no free place: {} presses it{}{}; it gets {:.3g} "
                      "m deep in this step, and contacts hold {:.3g} m",
                      bodies[id].settings.name, time,
                      driven.empty() ? "a joint" : "driven body " + driven,
                      others.empty() ? "" : " against ", others, depth, most)};
}

}  // namespace isotact::detail

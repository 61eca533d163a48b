#include "isotact/dynamics/detail/joint_solver.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include <Eigen/Dense>

namespace isotact::detail {
namespace {

constexpr double kCorrection = 0.2;  // of what is off, mended in a step
constexpr int kMostRounds = 12;      // of motors and limits that reach their bounds
constexpr double kUnbounded = std::numeric_limits<double>::infinity();

// One equation: what A and B do to it, and what should come out.
struct Row {
  std::size_t a = 0, b = 0;
  Vec3 linear{};  // of A; B has the opposite
  Vec3 angular_a{}, angular_b{};
  double wanted = 0;                              // velocity
  double least = -kUnbounded, most = kUnbounded;  // of the impulse
  bool is_motor = false;
};

struct Frames {
  Pose a, b;   // world_from_joint, as each body has it
  Vec3 apart;  // from A's place to B's
};
Frames find_frames(const JointSettings& j, const RigidBody& a, const RigidBody& b) {
  Frames f{world_from_body(a) * j.a_from_joint, world_from_body(b) * j.b_from_joint, {}};
  f.apart = f.b.translation - f.a.translation;
  return f;
}

// The turn from A's frame to B's, in the world, as axis times angle.
Vec3 find_turn(const Frames& f) {
  Quat q = f.b.rotation * conjugate(f.a.rotation);
  if (q.w < 0) q = {-q.w, -q.x, -q.y, -q.z};
  const Vec3 v{q.x, q.y, q.z};
  const double sine = length(v);
  return sine < 1e-100 ? Vec3{} : v * (2 * angle_of(sine, q.w) / sine);
}

Vec3 axis_of(const Pose& frame, std::size_t axis) {
  Vec3 unit{};
  unit[axis] = 1;
  return rotate(frame.rotation, unit);
}

double find_position(const JointSettings& j, const Frames& f) {
  if (j.kind == JointKind::kSlider) return dot(f.apart, axis_of(f.a, 0));
  const Vec3 x = axis_of(f.a, 0), y = axis_of(f.a, 1), now = axis_of(f.b, 1);
  return angle_of(dot(cross(y, now), x), dot(y, now));
}

class RowMaker {
 public:
  RowMaker(const JointSettings& j, const RigidBody& a, const RigidBody& b, double step,
           std::vector<Row>& rows)
      : j_(j), a_(a), b_(b), step_(step), f_(find_frames(j, a, b)), rows_(rows) {}

  void make() {
    const bool slides = j_.kind == JointKind::kSlider;
    // Places: along all axes, or those across.
    for (std::size_t axis = slides ? 1 : 0; axis < 3; ++axis) add_place(axis_of(f_.a, axis));
    if (j_.kind == JointKind::kFixed || slides) {
      const Vec3 off = find_turn(f_);
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const Vec3 u = axis_of(f_.a, axis);
        add_turn(u, dot(off, u));
      }
    } else if (j_.kind == JointKind::kHinge) {
      // The axes' cross product is what turns one onto the other.
      const Vec3 off = cross(axis_of(f_.a, 0), axis_of(f_.b, 0));
      for (std::size_t axis = 1; axis < 3; ++axis) {
        const Vec3 u = axis_of(f_.a, axis);
        add_turn(u, dot(off, u));
      }
    }
    if (j_.kind == JointKind::kHinge || slides) add_drive();
  }

 private:
  // Velocity of B's place against A's along a direction.
  Row place_row(const Vec3& u) const {
    const Vec3 place = f_.b.translation;
    return {j_.a, j_.b, -u, -cross(place - a_.state.center, u), cross(place - b_.state.center, u)};
  }
  Row turn_row(const Vec3& u) const { return {j_.a, j_.b, {}, -u, u}; }

  void add_place(const Vec3& u) {
    Row row = place_row(u);
    row.wanted = -kCorrection / step_ * dot(f_.apart, u);
    rows_.push_back(row);
  }
  void add_turn(const Vec3& u, double off) {
    Row row = turn_row(u);
    row.wanted = -kCorrection / step_ * off;
    rows_.push_back(row);
  }

  void add_drive() {
    const Vec3 u = axis_of(f_.a, 0);
    const Row free = j_.kind == JointKind::kHinge ? turn_row(u) : place_row(u);
    if (j_.motor) {
      Row row = free;
      row.wanted = j_.motor->velocity;
      row.most = std::abs(j_.motor->max_force) * step_;
      row.least = -row.most;
      row.is_motor = true;
      rows_.push_back(row);
    }
    if (!j_.limits) return;
    // Where the next step would pass a limit, it may just be reached.
    const double now = find_position(j_, f_);
    Row lower = free, upper = free;
    lower.wanted = (j_.limits->lower - now) / step_;
    lower.least = 0;
    upper.wanted = (j_.limits->upper - now) / step_;
    upper.most = 0;
    rows_.push_back(lower);
    rows_.push_back(upper);
  }

  const JointSettings& j_;
  const RigidBody &a_, &b_;
  double step_;
  Frames f_;
  std::vector<Row>& rows_;
};

// Velocities of a body that a unit impulse of a row makes.
struct Push {
  Vec3 velocity{}, angular{};
};
Push push_of(const RigidBody& body, const Vec3& linear, const Vec3& angular) {
  if (body.kind != BodyKind::kDynamic) return {};
  const Quat& q = body.state.rotation;
  return {linear / body.mass.mass,
          rotate(q, body.mass.inverse_inertia * rotate(conjugate(q), angular))};
}

// Of the bodies of one set of joints.
class Island {
 public:
  Island(std::vector<Row> rows, std::span<RigidBody* const> bodies)
      : rows_(std::move(rows)), bodies_(bodies) {}

  // Motors and limits that would pass their bounds are held there, and the rest is solved anew.
  double solve() {
    const auto n = static_cast<Eigen::Index>(rows_.size());
    Eigen::MatrixXd matrix(n, n);
    Eigen::VectorXd missing(n);
    for (Eigen::Index i = 0; i < n; ++i) {
      missing[i] = row(i).wanted - velocity_of(row(i));
      for (Eigen::Index k = 0; k <= i; ++k) matrix(i, k) = matrix(k, i) = couple(row(i), row(k));
    }
    // Joints that say the same twice share the work.
    for (Eigen::Index i = 0; i < n; ++i) matrix(i, i) *= 1 + 1e-9;
    std::vector<bool> held(rows_.size(), false);
    Eigen::VectorXd impulse = Eigen::VectorXd::Zero(n);
    // Limits push only when they are reached.
    for (std::size_t i = 0; i < rows_.size(); ++i)
      held[i] = rows_[i].least == 0 || rows_[i].most == 0;
    for (int round = 0; round < kMostRounds; ++round) {
      solve_free(matrix, missing, held, impulse);
      if (!update(matrix, missing, held, impulse)) break;
    }
    double work = 0;
    for (Eigen::Index i = 0; i < n; ++i) {
      if (row(i).is_motor) work += impulse[i] * row(i).wanted;
      apply(row(i), impulse[i]);
    }
    return work;
  }

 private:
  const Row& row(Eigen::Index i) const { return rows_[static_cast<std::size_t>(i)]; }

  double velocity_of(const Row& r) const {
    const RigidBody &a = *bodies_[r.a], &b = *bodies_[r.b];
    const auto of = [](const RigidBody& body, const Vec3& linear, const Vec3& angular) {
      if (body.kind == BodyKind::kStatic) return 0.0;
      return dot(linear, velocity(body)) + dot(angular, angular_velocity(body));
    };
    return of(a, r.linear, r.angular_a) + of(b, -r.linear, r.angular_b);
  }

  // How fast row i goes by a unit impulse of row k.
  double couple(const Row& i, const Row& k) const {
    double sum = 0;
    for (const bool of_a : {true, false}) {
      const std::size_t body = of_a ? k.a : k.b;
      if (body != i.a && body != i.b) continue;
      const Push p =
          push_of(*bodies_[body], of_a ? k.linear : -k.linear, of_a ? k.angular_a : k.angular_b);
      const bool as_a = body == i.a;
      sum += dot(as_a ? i.linear : -i.linear, p.velocity) +
             dot(as_a ? i.angular_a : i.angular_b, p.angular);
    }
    return sum;
  }

  void solve_free(const Eigen::MatrixXd& matrix, const Eigen::VectorXd& missing,
                  const std::vector<bool>& held, Eigen::VectorXd& impulse) const {
    std::vector<Eigen::Index> free;
    for (std::size_t i = 0; i < held.size(); ++i)
      if (!held[i]) free.push_back(static_cast<Eigen::Index>(i));
    const auto n = static_cast<Eigen::Index>(free.size());
    if (n == 0) return;
    Eigen::MatrixXd small(n, n);
    Eigen::VectorXd right(n);
    for (Eigen::Index i = 0; i < n; ++i) {
      const Eigen::Index at = free[static_cast<std::size_t>(i)];
      right[i] = missing[at];
      for (std::size_t k = 0; k < held.size(); ++k)
        if (held[k])
          right[i] -=
              matrix(at, static_cast<Eigen::Index>(k)) * impulse[static_cast<Eigen::Index>(k)];
      for (Eigen::Index k = 0; k < n; ++k)
        small(i, k) = matrix(at, free[static_cast<std::size_t>(k)]);
    }
    const Eigen::VectorXd solved = small.ldlt().solve(right);
    for (Eigen::Index i = 0; i < n; ++i) {
      const double x = solved[i];
      impulse[free[static_cast<std::size_t>(i)]] = std::isfinite(x) ? x : 0;
    }
  }

  // Whether another round is needed.
  bool update(const Eigen::MatrixXd& matrix, const Eigen::VectorXd& missing,
              std::vector<bool>& held, Eigen::VectorXd& impulse) const {
    bool changed = false;
    for (std::size_t i = 0; i < held.size(); ++i) {
      const auto at = static_cast<Eigen::Index>(i);
      const Row& r = rows_[i];
      if (!held[i]) {
        const double bounded = std::clamp(impulse[at], r.least, r.most);
        if (bounded == impulse[at]) continue;
        impulse[at] = bounded;
        held[i] = changed = true;
      } else {
        // What is held at a bound is let go where it should go the other way.
        const double left = missing[at] - matrix.row(at).dot(impulse);
        const bool lets_go =
            (impulse[at] == r.least && left > 1e-12) || (impulse[at] == r.most && left < -1e-12);
        if (!lets_go) continue;
        held[i] = false;
        changed = true;
      }
    }
    return changed;
  }

  void apply(const Row& r, double impulse) const {
    const auto to = [&](RigidBody& body, const Vec3& linear, const Vec3& angular) {
      if (body.kind != BodyKind::kDynamic) return;
      body.state.momentum += linear * impulse;
      body.state.angular_momentum += angular * impulse;
    };
    to(*bodies_[r.a], r.linear, r.angular_a);
    to(*bodies_[r.b], -r.linear, r.angular_b);
  }

  std::vector<Row> rows_;
  std::span<RigidBody* const> bodies_;
};

// Of each body, the least number of those that joints connect it with. What does not move connects
// nothing.
std::vector<std::size_t> find_sets(std::span<const JointSettings> joints,
                                   std::span<RigidBody* const> bodies) {
  std::vector<std::size_t> parent(bodies.size());
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  const auto root = [&](std::size_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  for (const JointSettings& j : joints) {
    if (bodies[j.a]->kind != BodyKind::kDynamic || bodies[j.b]->kind != BodyKind::kDynamic)
      continue;
    const std::size_t a = root(j.a), b = root(j.b);
    parent[std::max(a, b)] = std::min(a, b);
  }
  for (std::size_t i = 0; i < parent.size(); ++i) parent[i] = root(i);
  return parent;
}

}  // namespace

JointError find_joint_error(const JointSettings& j, const RigidBody& a, const RigidBody& b) {
  const Frames f = find_frames(j, a, b);
  JointError error;
  error.distance = length(f.apart);
  if (j.kind == JointKind::kSlider) {
    const Vec3 x = axis_of(f.a, 0);
    error.distance = length(f.apart - x * dot(f.apart, x));
  }
  if (j.kind == JointKind::kHinge) {
    const double sine = length(cross(axis_of(f.a, 0), axis_of(f.b, 0)));
    error.angle = angle_of(sine, dot(axis_of(f.a, 0), axis_of(f.b, 0)));
  }
  if (j.kind == JointKind::kFixed || j.kind == JointKind::kSlider)
    error.angle = length(find_turn(f));
  return error;
}

double find_joint_position(const JointSettings& j, const RigidBody& a, const RigidBody& b) {
  return find_position(j, find_frames(j, a, b));
}

double solve_joints(std::span<const JointSettings> joints, std::span<RigidBody* const> bodies,
                    double step, Threads threads) {
  const std::vector<std::size_t> set_of = find_sets(joints, bodies);
  std::vector<std::vector<Row>> sets(bodies.size());
  for (const JointSettings& j : joints) {
    const bool a_moves = bodies[j.a]->kind == BodyKind::kDynamic;
    if (!a_moves && bodies[j.b]->kind != BodyKind::kDynamic) continue;
    RowMaker(j, *bodies[j.a], *bodies[j.b], step, sets[set_of[a_moves ? j.a : j.b]]).make();
  }
  std::erase_if(sets, [](const std::vector<Row>& rows) { return rows.empty(); });
  std::vector<double> work(sets.size(), 0);
  parallel_for(sets.size(), 1, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) work[k] = Island(std::move(sets[k]), bodies).solve();
  });
  return std::accumulate(work.begin(), work.end(), 0.0);
}

}  // namespace isotact::detail

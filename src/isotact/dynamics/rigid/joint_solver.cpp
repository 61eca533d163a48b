#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>

#include "isotact/dynamics/rigid/detail/joint_rows.h"

namespace isotact::detail {
namespace {

constexpr double kCorrection = 0.2;   // of what is off, mended in a step
constexpr int kMostLimitRounds = 12;  // of motors and limits that reach their bounds
constexpr int kMostSweeps = 200;      // if these rounds do not end

struct Frames {
  Pose a, b;   // world_from_joint, as each body has it
  Vec3 apart;  // from A's place to B's
};
Frames compute_frames(const JointSettings& j, const RigidBody& a, const RigidBody& b) {
  Frames f{world_from_body(a) * j.a_from_joint, world_from_body(b) * j.b_from_joint, {}};
  f.apart = f.b.translation - f.a.translation;
  return f;
}

// The turn from A's frame to B's, in the world, as axis times angle.
Vec3 compute_turn(const Frames& f) {
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

double compute_position(const JointSettings& j, const Frames& f) {
  if (j.kind == JointKind::kSlider) return dot(f.apart, axis_of(f.a, 0));
  const Vec3 x = axis_of(f.a, 0), y = axis_of(f.a, 1), now = axis_of(f.b, 1);
  return angle_of(dot(cross(y, now), x), dot(y, now));
}

class RowMaker {
 public:
  RowMaker(const JointSettings& j, const RigidBody& a, const RigidBody& b, double step,
           std::vector<JointRow>& rows)
      : j_(j), a_(a), b_(b), step_(step), f_(compute_frames(j, a, b)), rows_(rows) {}

  void make() {
    const bool slides = j_.kind == JointKind::kSlider;
    // Places: along all axes, or those across.
    for (std::size_t axis = slides ? 1 : 0; axis < 3; ++axis) add_place(axis_of(f_.a, axis));
    if (j_.kind == JointKind::kFixed || slides) {
      const Vec3 off = compute_turn(f_);
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
    if (j_.kind == JointKind::kBall && j_.friction > 0)
      for (std::size_t axis = 0; axis < 3; ++axis) add_friction(turn_row(axis_of(f_.a, axis)));
  }

 private:
  // Velocity of B's place against A's along a direction.
  JointRow place_row(const Vec3& u) const {
    const Vec3 place = f_.b.translation;
    return {.a = j_.a,
            .b = j_.b,
            .on_a = {-u, -cross(place - a_.state.center, u)},
            .on_b = {u, cross(place - b_.state.center, u)}};
  }
  JointRow turn_row(const Vec3& u) const {
    return {.a = j_.a, .b = j_.b, .on_a = {{}, -u}, .on_b = {{}, u}};
  }

  void add_place(const Vec3& u) {
    JointRow row = place_row(u);
    row.wanted = -kCorrection / step_ * dot(f_.apart, u);
    rows_.push_back(row);
  }
  void add_turn(const Vec3& u, double off) {
    JointRow row = turn_row(u);
    row.wanted = -kCorrection / step_ * off;
    rows_.push_back(row);
  }

  // Friction stops the motion as far as its bound allows. Against a motor it begins at its bound:
  // the two ask for different velocities.
  void add_friction(JointRow row) {
    row.most = j_.friction * step_;
    row.least = -row.most;
    if (j_.motor && j_.motor->velocity != 0)
      row.first = j_.motor->velocity > 0 ? row.least : row.most;
    rows_.push_back(row);
  }

  void add_drive() {
    const Vec3 u = axis_of(f_.a, 0);
    const JointRow free = j_.kind == JointKind::kHinge ? turn_row(u) : place_row(u);
    if (j_.motor) {
      JointRow row = free;
      row.wanted = j_.motor->velocity;
      row.most = std::abs(j_.motor->max_force) * step_;
      row.least = -row.most;
      row.is_motor = true;
      rows_.push_back(row);
    }
    if (j_.friction > 0) add_friction(free);
    if (!j_.limits) return;
    // Where the next step would pass a limit, it may just be reached.
    const double now = compute_position(j_, f_);
    JointRow lower = free, upper = free;
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
  std::vector<JointRow>& rows_;
};

// Of the free ones, with the others held where they are.
void solve_free(const Eigen::MatrixXd& matrix, const Eigen::VectorXd& missing,
                const std::vector<bool>& held, Eigen::VectorXd& impulse) {
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

struct Rows {
  std::span<const JointRow> rows;
  const Eigen::MatrixXd& matrix;
  const Eigen::VectorXd& missing;
};

// Whether another round is needed.
bool update(const Rows& r, std::vector<bool>& held, Eigen::VectorXd& impulse) {
  bool changed = false;
  for (std::size_t i = 0; i < held.size(); ++i) {
    const auto at = static_cast<Eigen::Index>(i);
    const JointRow& row = r.rows[i];
    if (!held[i]) {
      const double bounded = std::clamp(impulse[at], row.least, row.most);
      if (bounded == impulse[at]) continue;
      impulse[at] = bounded;
      held[i] = changed = true;
    } else {
      // What is held at a bound is let go where it should go the other way.
      const double left = r.missing[at] - r.matrix.row(at).dot(impulse);
      const bool lets_go =
          (impulse[at] == row.least && left > 1e-12) || (impulse[at] == row.most && left < -1e-12);
      if (!lets_go) continue;
      held[i] = false;
      changed = true;
    }
  }
  return changed;
}

// Projected Gauss-Seidel, which converges slowly and always.
void sweep(const Rows& r, Eigen::VectorXd& impulse) {
  for (int round = 0; round < kMostSweeps; ++round)
    for (Eigen::Index i = 0; i < impulse.size(); ++i) {
      const JointRow& row = r.rows[static_cast<std::size_t>(i)];
      if (!(r.matrix(i, i) > 0)) continue;
      const double left = r.missing[i] - r.matrix.row(i).dot(impulse);
      impulse[i] = std::clamp(impulse[i] + left / r.matrix(i, i), row.least, row.most);
    }
}

}  // namespace

JointError compute_joint_error(const JointSettings& j, const RigidBody& a, const RigidBody& b) {
  const Frames f = compute_frames(j, a, b);
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
    error.angle = length(compute_turn(f));
  return error;
}

double compute_joint_position(const JointSettings& j, const RigidBody& a, const RigidBody& b) {
  return compute_position(j, compute_frames(j, a, b));
}

void add_joint_rows(const JointSettings& joint, const RigidBody& a, const RigidBody& b, double step,
                    std::vector<JointRow>& rows) {
  RowMaker(joint, a, b, step, rows).make();
}

std::vector<double> solve_joint_rows(std::span<const JointRow> rows, std::span<const double> matrix,
                                     std::span<const double> missing) {
  const auto n = static_cast<Eigen::Index>(rows.size());
  Eigen::MatrixXd m = Eigen::Map<const Eigen::MatrixXd>(matrix.data(), n, n).transpose();
  const Eigen::VectorXd right = Eigen::Map<const Eigen::VectorXd>(missing.data(), n);
  // Joints that say the same twice share the work.
  for (Eigen::Index i = 0; i < n; ++i) m(i, i) *= 1 + rows[static_cast<std::size_t>(i)].softness;
  // Limits push only when they are reached.
  std::vector<bool> held(rows.size(), false);
  Eigen::VectorXd impulse = Eigen::VectorXd::Zero(n);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    held[i] = rows[i].least == 0 || rows[i].most == 0 || rows[i].first;
    impulse[static_cast<Eigen::Index>(i)] = rows[i].first.value_or(0);
  }
  bool changed = true;
  for (int round = 0; round < kMostLimitRounds && changed; ++round) {
    solve_free(m, right, held, impulse);
    changed = update({rows, m, right}, held, impulse);
  }
  if (changed) sweep({rows, m, right}, impulse);
  return {impulse.begin(), impulse.end()};
}

}  // namespace isotact::detail

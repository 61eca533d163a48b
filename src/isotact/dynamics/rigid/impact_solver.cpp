#include "isotact/dynamics/rigid/detail/impact_solver.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <Eigen/Cholesky>

namespace isotact::detail {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Index = Eigen::Index;

constexpr int kMostRounds = 64;         // of reflections
constexpr int kMostExchanges = 200;     // of contacts that begin or cease to push
constexpr int kMostFrictionRounds = 400;
// Makes impulses unique where contacts share a load in more ways than one. A contact is softer by
// this share, which takes energy and gives none; what it leaves is stopped in the next round.
constexpr double kRegular = 1e-9;
constexpr double kStill = 1e-12;  // of the largest speed: as good as none

Vec3 tangent_of(const Vec3& n) {
  const Vec3 axis = std::abs(n.x) < 0.6 ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
  return normalized(cross(n, axis));
}

VectorXd to_vector(const Wrench& w) {
  VectorXd v(6);
  v << w.linear.x, w.linear.y, w.linear.z, w.angular.x, w.angular.y, w.angular.z;
  return v;
}

// Impulses of the contacts in `active` that are not negative and leave none of them approaching:
// W x + u >= 0, x >= 0, one of both zero in each. W is positive definite, so there is one answer.
// Whole blocks are exchanged, and single contacts once that does not help (Judice and Pires), which
// always ends.
VectorXd solve_complementary(const MatrixXd& w, const VectorXd& u) {
  const Index n = u.size();
  VectorXd x = VectorXd::Zero(n);
  std::vector<bool> pushes(static_cast<std::size_t>(n), true);
  const double size = u.cwiseAbs().maxCoeff();
  Index fewest = n + 1;
  int patience = 10;
  for (int round = 0; round < kMostExchanges + 10 * n; ++round) {
    std::vector<Index> set;
    for (Index i = 0; i < n; ++i)
      if (pushes[static_cast<std::size_t>(i)]) set.push_back(i);
    const auto m = static_cast<Index>(set.size());
    MatrixXd part(m, m);
    VectorXd right(m);
    for (Index i = 0; i < m; ++i) {
      right[i] = -u[set[static_cast<std::size_t>(i)]];
      for (Index k = 0; k < m; ++k)
        part(i, k) = w(set[static_cast<std::size_t>(i)], set[static_cast<std::size_t>(k)]);
    }
    x.setZero();
    if (m > 0) {
      const VectorXd answer = part.ldlt().solve(right);
      for (Index i = 0; i < m; ++i) x[set[static_cast<std::size_t>(i)]] = answer[i];
    }
    const VectorXd after = w * x + u;
    const double most = x.cwiseAbs().maxCoeff();
    std::vector<Index> wrong;
    for (Index i = 0; i < n; ++i)
      if (pushes[static_cast<std::size_t>(i)] ? x[i] < -kStill * most : after[i] < -kStill * size)
        wrong.push_back(i);
    if (wrong.empty()) break;
    const auto count = static_cast<Index>(wrong.size());
    if (count < fewest) {
      fewest = count;
      patience = 10;
    } else if (patience > 0) {
      --patience;
    }
    if (patience == 0) wrong = {wrong.back()};
    for (const Index i : wrong)
      pushes[static_cast<std::size_t>(i)] = !pushes[static_cast<std::size_t>(i)];
  }
  return x.cwiseMax(0.0);
}

// The least of x' m x / 2 + x' g on a disc. m is symmetric and positive definite.
Eigen::Vector2d minimise_on_disc(const Eigen::Matrix2d& m, const Eigen::Vector2d& g,
                                 double radius) {
  const Eigen::Vector2d free = -m.ldlt().solve(g);
  if (free.norm() <= radius) return free;
  if (!(radius > 0)) return Eigen::Vector2d::Zero();
  // On its edge: (m + s) x = -g with s > 0, so that |x| is the radius; |x| falls with s.
  double low = 0, high = g.norm() / radius;
  Eigen::Vector2d x = Eigen::Vector2d::Zero();
  for (int i = 0; i < 100 && high - low > 1e-15 * high; ++i) {
    const double s = 0.5 * (low + high);
    x = -(m + s * Eigen::Matrix2d::Identity()).ldlt().solve(g);
    (x.norm() > radius ? low : high) = s;
  }
  return x * (radius / x.norm());
}

class Solver {
 public:
  explicit Solver(ImpactProblem& p)
      : p_(p), contacts_(static_cast<Index>(p.contacts.size())),
        size_(static_cast<Index>(6 * p.bodies.size())) {}

  ImpactReport solve() {
    ImpactReport report;
    if (contacts_ == 0) return report;
    prepare();
    for (;; ++report.rounds) {
      const VectorXd u = speeds();
      const std::vector<Index> active = find_approaching(u);
      if (active.empty()) break;
      if (report.rounds == kMostRounds) {
        stop(u);
        report.stopped = true;
        break;
      }
      reflect(active, u);
    }
    store();
    return report;
  }

 private:
  // ---- what impulses do ----

  VectorXd divide_by_mass(const VectorXd& x) const {
    VectorXd y(x.size());
    for (std::size_t k = 0; k < p_.bodies.size(); ++k) {
      const ImpactBody& b = p_.bodies[k];
      const auto at = static_cast<Index>(6 * k);
      const Vec3 turn = b.inverse_inertia * Vec3{x[at + 3], x[at + 4], x[at + 5]};
      for (Index i = 0; i < 3; ++i) y[at + i] = x[at + i] * b.inverse_mass;
      y[at + 3] = turn.x;
      y[at + 4] = turn.y;
      y[at + 5] = turn.z;
    }
    return y;
  }

  // Impulses of joints that keep what they hold: a share of x that acts beside it.
  VectorXd with_joints(const VectorXd& x) const {
    if (joints_.cols() == 0) return x;
    return x - joints_ * held_.solve(joints_answer_.transpose() * x);
  }

  void prepare() {
    velocity_.resize(size_);
    for (std::size_t k = 0; k < p_.bodies.size(); ++k) {
      const Twist& v = p_.bodies[k].velocity;
      velocity_.segment<6>(static_cast<Index>(6 * k)) = to_vector({v.linear, v.angular});
    }
    impulse_ = VectorXd::Zero(size_);
    prepare_joints();
    // Columns: the normal of each contact, then both tangents of each.
    rows_ = MatrixXd::Zero(size_, 3 * contacts_);
    for (Index c = 0; c < contacts_; ++c) {
      const ImpactContact& contact = p_.contacts[static_cast<std::size_t>(c)];
      const Vec3 t = tangent_of(contact.normal), s = cross(contact.normal, t);
      set_row(c, contact, contact.normal);
      set_row(contacts_ + 2 * c, contact, t);
      set_row(contacts_ + 2 * c + 1, contact, s);
    }
    pushes_.resize(size_, 3 * contacts_);
    answers_.resize(size_, 3 * contacts_);
    for (Index k = 0; k < 3 * contacts_; ++k) {
      pushes_.col(k) = with_joints(rows_.col(k));
      answers_.col(k) = divide_by_mass(pushes_.col(k));
    }
    give_ = rows_.transpose() * answers_;
    give_ = (0.5 * (give_ + give_.transpose())).eval();
    give_.diagonal() *= 1 + kRegular;
  }

  void prepare_joints() {
    const auto n = static_cast<Index>(p_.joints.size());
    joints_ = MatrixXd::Zero(size_, n);
    joints_answer_.resize(size_, n);
    for (Index k = 0; k < n; ++k) {
      const ImpactJoint& j = p_.joints[static_cast<std::size_t>(k)];
      joints_.col(k).segment<6>(static_cast<Index>(6 * j.a)) += to_vector(j.on_a);
      joints_.col(k).segment<6>(static_cast<Index>(6 * j.b)) += to_vector(j.on_b);
      joints_answer_.col(k) = divide_by_mass(joints_.col(k));
    }
    if (n == 0) return;
    MatrixXd s = joints_.transpose() * joints_answer_;
    held_.compute(s);
  }

  void set_row(Index k, const ImpactContact& c, const Vec3& direction) {
    const auto add = [&](std::uint32_t body, double sign) {
      const ImpactBody& b = p_.bodies[body];
      rows_.col(k).segment<6>(static_cast<Index>(6 * body)) +=
          sign * to_vector(wrench_of(direction, c.place - b.center));
    };
    add(c.a, 1);
    add(c.b, -1);
  }

  // Along normals, then along tangents.
  VectorXd speeds() const { return rows_.transpose() * velocity_; }

  void apply(Index k, double size) {
    velocity_ += answers_.col(k) * size;
    impulse_ += pushes_.col(k) * size;
  }

  // ---- rounds ----

  std::vector<Index> find_approaching(const VectorXd& u) const {
    const double fastest = u.cwiseAbs().maxCoeff();
    const double still = std::max(1e-10 * fastest, 1e-6 * p_.rest_speed);
    std::vector<Index> some;
    bool any = false;
    for (Index c = 0; c < contacts_; ++c) any = any || u[c] < -still;
    if (!any) return some;
    // What does not bounce and rests is kept from being pushed into what it rests on.
    for (Index c = 0; c < contacts_; ++c) {
      const double e = p_.contacts[static_cast<std::size_t>(c)].restitution;
      if (u[c] < -still || (e == 0 && u[c] <= still)) some.push_back(c);
    }
    return some;
  }

  VectorXd find_stops(const std::vector<Index>& active, const VectorXd& u) const {
    const auto n = static_cast<Index>(active.size());
    MatrixXd w(n, n);
    VectorXd before(n);
    for (Index i = 0; i < n; ++i) {
      before[i] = u[active[static_cast<std::size_t>(i)]];
      for (Index k = 0; k < n; ++k)
        w(i, k) = give_(active[static_cast<std::size_t>(i)], active[static_cast<std::size_t>(k)]);
    }
    return solve_complementary(w, before);
  }

  void reflect(const std::vector<Index>& active, const VectorXd& u) {
    const VectorXd stops = find_stops(active, u);
    const auto n = static_cast<Index>(active.size());
    VectorXd bounce(n);
    for (Index i = 0; i < n; ++i) {
      const Index c = active[static_cast<std::size_t>(i)];
      const double e = p_.contacts[static_cast<std::size_t>(c)].restitution;
      bounce[i] = -u[c] > p_.rest_speed ? e * stops[i] : 0.0;
    }
    // With x the stops and E x the bounces, the kinetic energy changes by -(x' W x - x'E W E x) / 2:
    // less than nothing if all restitutions are equal. If they differ, they shrink until it is so.
    const double stopped = energy_of(active, stops), bounced = energy_of(active, bounce);
    if (bounced > stopped) bounce *= std::sqrt(stopped / bounced);
    std::vector<double> size(static_cast<std::size_t>(contacts_), 0.0);
    for (Index i = 0; i < n; ++i) {
      const Index c = active[static_cast<std::size_t>(i)];
      const double sum = stops[i] + bounce[i];
      size[static_cast<std::size_t>(c)] = sum;
      apply(c, sum);
      p_.contacts[static_cast<std::size_t>(c)].impulse += sum;
    }
    rub(size);
  }

  double energy_of(const std::vector<Index>& active, const VectorXd& x) const {
    double sum = 0;
    for (Index i = 0; i < x.size(); ++i)
      for (Index k = 0; k < x.size(); ++k)
        sum += x[i] * x[k] * give_(active[static_cast<std::size_t>(i)],
                                   active[static_cast<std::size_t>(k)]);
    return sum;
  }

  // Friction within Coulomb's discs that takes most energy. One contact after the other, again and
  // again: each takes what it can, so energy only falls, and the end of it does not depend on the
  // order.
  void rub(const std::vector<double>& normal) {
    std::vector<Index> rubs;
    for (Index c = 0; c < contacts_; ++c) {
      const auto k = static_cast<std::size_t>(c);
      if (normal[k] > 0 && p_.contacts[k].friction > 0) rubs.push_back(c);
    }
    if (rubs.empty()) return;
    VectorXd size = VectorXd::Zero(2 * contacts_);
    VectorXd u = speeds().tail(2 * contacts_);
    const auto give = give_.bottomRightCorner(2 * contacts_, 2 * contacts_);
    const double fastest = u.cwiseAbs().maxCoeff();
    for (int round = 0; round < kMostFrictionRounds; ++round) {
      double change = 0;
      for (const Index c : rubs) {
        const auto k = static_cast<std::size_t>(c);
        const Eigen::Matrix2d m = give.block<2, 2>(2 * c, 2 * c);
        const Eigen::Vector2d now = size.segment<2>(2 * c);
        const Eigen::Vector2d g = u.segment<2>(2 * c) - m * now;
        const Eigen::Vector2d next =
            minimise_on_disc(m, g, p_.contacts[k].friction * normal[k]);
        const Eigen::Vector2d step = next - now;
        if (step.isZero(0)) continue;
        size.segment<2>(2 * c) = next;
        u += give.middleCols<2>(2 * c) * step;
        change = std::max(change, (m * step).norm());
      }
      if (change <= kStill * fastest) break;
    }
    for (const Index c : rubs)
      for (Index i = 0; i < 2; ++i) apply(contacts_ + 2 * c + i, size[2 * c + i]);
  }

  // Without restitution and friction, which leaves nothing that approaches.
  void stop(const VectorXd& u) {
    std::vector<Index> all;
    for (Index c = 0; c < contacts_; ++c) all.push_back(c);
    const VectorXd stops = find_stops(all, u);
    for (Index c = 0; c < contacts_; ++c) {
      apply(c, stops[c]);
      p_.contacts[static_cast<std::size_t>(c)].impulse += stops[c];
    }
  }

  void store() {
    for (std::size_t k = 0; k < p_.bodies.size(); ++k) {
      ImpactBody& b = p_.bodies[k];
      if (b.inverse_mass == 0) continue;
      const auto at = static_cast<Index>(6 * k);
      b.velocity = {{velocity_[at], velocity_[at + 1], velocity_[at + 2]},
                    {velocity_[at + 3], velocity_[at + 4], velocity_[at + 5]}};
      b.impulse += Wrench{{impulse_[at], impulse_[at + 1], impulse_[at + 2]},
                          {impulse_[at + 3], impulse_[at + 4], impulse_[at + 5]}};
    }
  }

  ImpactProblem& p_;
  Index contacts_, size_;
  VectorXd velocity_, impulse_;
  MatrixXd rows_, pushes_, answers_, give_;
  MatrixXd joints_, joints_answer_;
  Eigen::LDLT<MatrixXd> held_;
};

}  // namespace

ImpactReport solve_impacts(ImpactProblem& problem) { return Solver(problem).solve(); }

}  // namespace isotact::detail

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

constexpr int kMostRounds = 64;      // of reflections
constexpr int kMostExchanges = 200;  // of contacts that begin or cease to push
constexpr int kMostFrictionRounds = 2000;
constexpr int kFullRounds = 24;  // then less and less bounces
constexpr double kFading = 0.7;  // each round
// Makes impulses unique where contacts share a load in more ways than one: contacts are softer by
// this share of their mobility. What that leaves is taken out afterwards.
constexpr double kSoft = 1e-9;
constexpr int kRefinements = 3;
// Contacts that cannot all be kept from approaching, as between two plates of a press, would push
// without bound. These are softer.
constexpr double kJammed = 1e4;  // of the impulse that stops a free body
constexpr double kSoftJam = 1e-3;
constexpr double kHeld = 1e-9;  // of its mobility without joints: joints hold a contact in place
constexpr double kApproach = 1e-7;  // of the largest speed: no approach
constexpr double kStill = 1e-12;    // of the largest speed: as good as none

Vec3 tangent_of(const Vec3& n) {
  const Vec3 axis = std::abs(n.x) < 0.6 ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
  return normalized(cross(n, axis));
}

VectorXd to_vector(const Wrench& w) {
  VectorXd v(6);
  v << w.linear.x, w.linear.y, w.linear.z, w.angular.x, w.angular.y, w.angular.z;
  return v;
}

// Impulses that are not negative and leave none approaching: W x + u >= 0, x >= 0, one of both zero
// in each contact. With the softness W is positive definite, so there is one answer. Whole blocks
// are exchanged, and single contacts once that does not help (Judice and Pires), which always ends.
class Complementary {
 public:
  Complementary(const MatrixXd& w, const VectorXd& soft, const VectorXd& u)
      : w_(w),
        soft_(soft),
        u_(u),
        x_(VectorXd::Zero(u.size())),
        pushes_(static_cast<std::size_t>(u.size()), true) {}

  VectorXd solve() {
    const Index n = u_.size();
    const double size = u_.cwiseAbs().maxCoeff();
    auto fewest = static_cast<std::size_t>(n) + 1;
    int patience = 10;
    for (Index round = 0; round < kMostExchanges + 10 * n; ++round) {
      factorise();
      x_.setZero();
      add_answer(-u_);
      const VectorXd after = w_ * x_ + soft_.cwiseProduct(x_) + u_;
      const double most = x_.cwiseAbs().maxCoeff();
      std::vector<Index> wrong;
      for (Index i = 0; i < n; ++i)
        if (pushes(i) ? x_[i] < -kStill * most : after[i] < -kStill * size) wrong.push_back(i);
      if (wrong.empty()) break;
      if (wrong.size() < fewest) {
        fewest = wrong.size();
        patience = 10;
      } else if (patience > 0) {
        --patience;
      }
      if (patience == 0) wrong = {wrong.back()};
      for (const Index i : wrong) pushes_[static_cast<std::size_t>(i)] = !pushes(i);
    }
    return x_.cwiseMax(0.0);
  }

  // Without the softness: what its share left is solved for again.
  void refine(VectorXd& x) {
    for (int k = 0; k < kRefinements; ++k) add_answer(-u_ - w_ * x_);
    x = x_.cwiseMax(0.0);
  }

 private:
  bool pushes(Index i) const { return pushes_[static_cast<std::size_t>(i)]; }

  void factorise() {
    set_.clear();
    for (Index i = 0; i < u_.size(); ++i)
      if (pushes(i)) set_.push_back(i);
    const auto m = static_cast<Index>(set_.size());
    MatrixXd part(m, m);
    for (Index i = 0; i < m; ++i)
      for (Index k = 0; k < m; ++k) part(i, k) = w_(at(i), at(k));
    for (Index i = 0; i < m; ++i) part(i, i) += soft_[at(i)];
    if (m > 0) factors_.compute(part);
  }
  Index at(Index i) const { return set_[static_cast<std::size_t>(i)]; }

  void add_answer(const VectorXd& right) {
    const auto m = static_cast<Index>(set_.size());
    if (m == 0) return;
    VectorXd part(m);
    for (Index i = 0; i < m; ++i) part[i] = right[at(i)];
    const VectorXd answer = factors_.solve(part);
    for (Index i = 0; i < m; ++i) x_[at(i)] += answer[i];
  }

  const MatrixXd& w_;
  const VectorXd &soft_, &u_;
  VectorXd x_;
  std::vector<bool> pushes_;
  std::vector<Index> set_;  // those that push
  Eigen::LDLT<MatrixXd> factors_;
};

// The least of x' m x / 2 + x' g on a disc. m is symmetric and positive definite.
Eigen::Vector2d minimise_on_disc(const Eigen::Matrix2d& m, const Eigen::Vector2d& g,
                                 double radius) {
  Eigen::Vector2d free = -m.ldlt().solve(g);
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
      : p_(p),
        contacts_(static_cast<Index>(p.contacts.size())),
        size_(static_cast<Index>(6 * p.bodies.size())) {}

  ImpactReport solve() {
    ImpactReport report;
    if (contacts_ == 0) return report;
    prepare();
    for (;; ++report.rounds) {
      const VectorXd u = speeds();
      const std::vector<Index> active = find_approaching(u, report.rounds);
      if (active.empty()) break;
      if (report.rounds == kMostRounds) {
        stop(u);
        report.stopped = true;
        break;
      }
      reflect(active, u, report.rounds);
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
    free_.resize(3 * contacts_);
    for (Index k = 0; k < 3 * contacts_; ++k)
      free_[k] = rows_.col(k).dot(divide_by_mass(rows_.col(k)));
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

  std::vector<Index> find_approaching(const VectorXd& u, int round) const {
    const double fastest = u.cwiseAbs().maxCoeff();
    const double still = std::max(kApproach * fastest, 1e-3 * p_.rest_speed);
    std::vector<Index> some;
    bool any = false;
    for (Index c = 0; c < contacts_; ++c) any = any || (u[c] < -still && gives(c));
    if (!any) return some;
    // What rests and does not bounce, or does so no more, is kept from being pushed into what it
    // rests on.
    for (Index c = 0; c < contacts_; ++c) {
      const double e = p_.contacts[static_cast<std::size_t>(c)].restitution;
      if (gives(c) && (u[c] < -still || ((e == 0 || round >= kFullRounds) && u[c] <= still)))
        some.push_back(c);
    }
    return some;
  }

  bool gives(Index c) const { return give_(c, c) > kHeld * free_[c]; }

  VectorXd find_stops(const std::vector<Index>& active, const VectorXd& u) const {
    const auto n = static_cast<Index>(active.size());
    MatrixXd w(n, n);
    VectorXd before(n), soft(n);
    for (Index i = 0; i < n; ++i) {
      before[i] = u[active[static_cast<std::size_t>(i)]];
      soft[i] = kSoft * free_[active[static_cast<std::size_t>(i)]];
      for (Index k = 0; k < n; ++k)
        w(i, k) = give_(active[static_cast<std::size_t>(i)], active[static_cast<std::size_t>(k)]);
    }
    Complementary problem(w, soft, before);
    VectorXd stops = problem.solve();
    const auto largest = [&] { return stops.cwiseProduct(soft).maxCoeff() / kSoft; };
    if (largest() <= kJammed * before.cwiseAbs().maxCoeff()) {
      problem.refine(stops);
      return stops;
    }
    soft *= kSoftJam / kSoft;
    return Complementary(w, soft, before).solve();
  }

  void reflect(const std::vector<Index>& active, const VectorXd& u, int round) {
    const VectorXd stops = find_stops(active, u);
    const auto n = static_cast<Index>(active.size());
    VectorXd bounce(n);
    const double share = std::pow(kFading, std::max(0, round - kFullRounds));
    for (Index i = 0; i < n; ++i) {
      const Index c = active[static_cast<std::size_t>(i)];
      const double e = p_.contacts[static_cast<std::size_t>(c)].restitution;
      bounce[i] = -u[c] > p_.rest_speed ? share * e * stops[i] : 0.0;
    }
    // With x the stops and E x the bounces, the kinetic energy changes by -(x' W x - x'E W E x) /
    // 2: less than nothing if all restitutions are equal. If they differ, they shrink until it is
    // so.
    const double stopped = energy_of(active, stops), bounced = energy_of(active, bounce);
    if (bounced > stopped) bounce *= std::sqrt(std::max(stopped, 0.0) / bounced);
    std::vector<double> size(static_cast<std::size_t>(contacts_), 0.0);
    for (Index i = 0; i < n; ++i) {
      const Index c = active[static_cast<std::size_t>(i)];
      const double sum = stops[i] + bounce[i];
      size[static_cast<std::size_t>(c)] = sum;
      apply(c, sum);
      p_.contacts[static_cast<std::size_t>(c)].impulse += sum;
    }
    rub(size, share);
  }

  double energy_of(const std::vector<Index>& active, const VectorXd& x) const {
    double sum = 0;
    for (Index i = 0; i < x.size(); ++i)
      for (Index k = 0; k < x.size(); ++k)
        sum += x[i] * x[k] *
               give_(active[static_cast<std::size_t>(i)], active[static_cast<std::size_t>(k)]);
    return sum;
  }

  // Friction within Coulomb's discs that takes most energy. One contact after the other, again and
  // again: each takes what it can, so energy only falls, and the end of it does not depend on the
  // order.
  void rub(const std::vector<double>& normal, double share) {
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
        Eigen::Matrix2d m = give.block<2, 2>(2 * c, 2 * c);
        m.diagonal() += kSoft * free_.segment<2>(contacts_ + 2 * c);
        const Eigen::Vector2d now = size.segment<2>(2 * c);
        const Eigen::Vector2d g = u.segment<2>(2 * c) - m * now;
        const Eigen::Vector2d next =
            minimise_on_disc(m, g, share * p_.contacts[k].friction * normal[k]);
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
    for (Index c = 0; c < contacts_; ++c)
      if (gives(c)) all.push_back(c);
    const VectorXd stops = find_stops(all, u);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double size = stops[static_cast<Index>(i)];
      apply(all[i], size);
      p_.contacts[static_cast<std::size_t>(all[i])].impulse += size;
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
  VectorXd free_;  // the diagonal of give_ without joints
  MatrixXd joints_, joints_answer_;
  Eigen::LDLT<MatrixXd> held_;
};

}  // namespace

ImpactReport solve_impacts(ImpactProblem& problem) { return Solver(problem).solve(); }

}  // namespace isotact::detail

#include "isotact/dynamics/rigid/detail/impact_solver.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>
#include <Eigen/LU>

namespace isotact::detail {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Index = Eigen::Index;

constexpr int kMostRounds = 64;      // of reflections
constexpr int kMostExchanges = 200;  // of contacts that begin or cease to push
constexpr int kMostFrictionRounds = 50;
constexpr int kMostFrictionSteps = 12;  // of Newton
constexpr int kFullRounds = 24;         // then less and less bounces
constexpr double kFading = 0.7;         // each round
// Makes impulses unique where contacts share a load in more ways than one: contacts are softer by
// this share of their mobility. What that leaves is taken out afterwards.
constexpr double kSoft = 1e-9;
constexpr int kRefinements = 3;
// Contacts that cannot all be kept from approaching, as between two plates of a press, push without
// bound, and their softness yields by a share of the speeds. Others yield by kSoft times a ratio of
// masses.
constexpr double kJammed = 1e-2;
// Joints whose velocities have an error jam contacts as well. These are softer.
constexpr double kSoftJam = 1e-3;
constexpr double kHeld = 1e-9;  // of its mobility without joints: joints hold a contact in place
constexpr double kApproach = 1e-10;  // of the largest speed: no approach
constexpr double kStill = 1e-12;     // of the largest speed: as good as none
// With the softness, impulses are known to this share of the largest; smaller ones are rounding.
constexpr double kNoPush = 1e-9;
constexpr double kNoGain = 1e-11;  // of the largest speed

Vec3 tangent_of(const Vec3& n) {
  const Vec3 axis = std::abs(n.x) < 0.6 ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
  return normalized(cross(n, axis));
}

// Impulses that are not negative and leave none approaching: W x + u >= 0, x >= 0, one of both zero
// in each contact. With the softness W is positive definite, so there is one answer. Whole blocks
// are exchanged, and single contacts once that does not help (Judice and Pires), which always ends.
// It begins with those that approach, or in large problems with those that push after some sweeps:
// there each exchange takes a factorisation, and single ones may be hundreds.
class Complementary {
 public:
  Complementary(const MatrixXd& w, const VectorXd& soft, const VectorXd& u)
      : w_(w), soft_(soft), u_(u), x_(VectorXd::Zero(u.size())) {
    if (u.size() > kMany) sweep();
    for (Index i = 0; i < u.size(); ++i) pushes_.push_back(u.size() > kMany ? x_[i] > 0 : u[i] < 0);
  }

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
        if (pushes(i) ? x_[i] < -kNoPush * most : after[i] < -kNoGain * size) wrong.push_back(i);
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
  static constexpr Index kMany = 48;

  // Gauss and Seidel's method, with impulses that are not negative.
  void sweep() {
    constexpr int kSweeps = 60;
    for (int k = 0; k < kSweeps; ++k)
      for (Index i = 0; i < u_.size(); ++i) {
        const double after = w_.col(i).dot(x_) + soft_[i] * x_[i] + u_[i];
        x_[i] = std::max(x_[i] - after / (w_(i, i) + soft_[i]), 0.0);
      }
  }

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

// The least of x' m x / 2 + x' g on a disc. m is symmetric and positive definite. On the edge (m +
// s) x = -g with s > 0, so that |x| is the radius: Newton's method for 1 / |x|, which is nearly
// linear in s, rises to that s.
Eigen::Vector2d minimise_on_disc(const Eigen::Matrix2d& m, const Eigen::Vector2d& g,
                                 double radius) {
  if (!(radius > 0)) return Eigen::Vector2d::Zero();
  double s = 0;
  const auto divide = [&](const Eigen::Vector2d& v) {  // by m + s
    const double a = m(0, 0) + s, b = m(0, 1), d = m(1, 1) + s;
    return Eigen::Vector2d(Eigen::Vector2d(d * v[0] - b * v[1], a * v[1] - b * v[0]) /
                           (a * d - b * b));
  };
  Eigen::Vector2d x = -divide(g);
  if (x.norm() <= radius) return x;
  for (int i = 0; i < 50; ++i) {
    const double size = x.norm();
    if (size <= radius * (1 + 1e-15)) break;
    s += size * size / x.dot(divide(x)) * (size - radius) / radius;
    x = -divide(g);
  }
  return x * (radius / x.norm());
}

// The least of x' W x / 2 + x' u on a disc for each contact.
//
// First one contact after the other, again and again: each takes what it can. Then Newton's method
// for all at once, with the multipliers of the discs: those on their edge have g + s x = 0 and |x|
// = radius, the others g = 0, where g = W x + u. Both keep what was best.
class Discs {
 public:
  Discs(const MatrixXd& w, const VectorXd& soft, const VectorXd& u, const VectorXd& radius)
      : w_(w),
        soft_(soft),
        u_(u),
        radius_(radius),
        x_(VectorXd::Zero(u.size())),
        linked_(static_cast<std::size_t>(radius.size())) {
    for (Index c = 0; c < count(); ++c)
      for (Index k = 0; k < count(); ++k)
        if (!w_.block<2, 2>(2 * k, 2 * c).isZero(0))
          linked_[static_cast<std::size_t>(c)].push_back(k);
  }

  VectorXd solve() {
    const double end = kStill * u_.cwiseAbs().maxCoeff();
    g_ = u_;
    for (int k = 0; k < kMostFrictionRounds; ++k)
      if (sweep() <= end) return x_;
    for (int k = 0; k < kMostFrictionSteps; ++k) {
      const double before = error();
      if (before <= end) break;
      const VectorXd old = x_;
      step();
      g_ = w_ * x_ + u_;
      if (error() <= 0.5 * before) continue;
      // Not near enough yet: back, and on with the slow ones.
      x_ = old;
      g_ = w_ * x_ + u_;
      double change = 0;
      for (int i = 0; i < kMostFrictionRounds; ++i) change = sweep();
      if (change <= end) break;
    }
    return x_;
  }

 private:
  Index count() const { return radius_.size(); }

  double sweep() {
    double change = 0;
    for (Index c = 0; c < count(); ++c) {
      Eigen::Matrix2d m = w_.block<2, 2>(2 * c, 2 * c);
      m.diagonal() += soft_.segment<2>(2 * c);
      const Eigen::Vector2d now = x_.segment<2>(2 * c);
      const Eigen::Vector2d g = g_.segment<2>(2 * c) - m * now;
      const Eigen::Vector2d by = minimise_on_disc(m, g, radius_[c]) - now;
      if (by.isZero(0)) continue;
      x_.segment<2>(2 * c) += by;
      for (const Index k : linked_[static_cast<std::size_t>(c)])
        g_.segment<2>(2 * k) += w_.block<2, 2>(2 * k, 2 * c) * by;
      change = std::max(change, (m * by).norm());
    }
    return change;
  }

  // On the edge, and pushed out of the disc.
  bool slips(Index c) const {
    const Eigen::Vector2d x = x_.segment<2>(2 * c);
    return x.norm() >= (1 - 1e-9) * radius_[c] && x.dot(g_.segment<2>(2 * c)) < 0;
  }
  // The largest speed along which a contact could still take energy.
  double error() const {
    double most = 0;
    for (Index c = 0; c < count(); ++c) {
      const Eigen::Vector2d x = x_.segment<2>(2 * c), g = g_.segment<2>(2 * c);
      const double r = radius_[c];
      if (!(r > 0)) continue;
      most = std::max(most, slips(c) ? std::abs(x[0] * g[1] - x[1] * g[0]) / r : g.norm());
    }
    return most;
  }

  void step() {
    const Index n = x_.size();
    std::vector<Index> edge;
    for (Index c = 0; c < count(); ++c)
      if (slips(c)) edge.push_back(c);
    const auto m = static_cast<Index>(edge.size());
    MatrixXd a = MatrixXd::Zero(n + m, n + m);
    VectorXd right(n + m);
    a.topLeftCorner(n, n) = w_;
    a.topLeftCorner(n, n).diagonal() += 1e-3 * soft_;
    right.head(n) = -g_;
    for (Index k = 0; k < m; ++k) {
      const Index c = edge[static_cast<std::size_t>(k)];
      const Eigen::Vector2d x = x_.segment<2>(2 * c);
      const double s = -x.dot(g_.segment<2>(2 * c)) / x.squaredNorm();
      a.block<2, 2>(2 * c, 2 * c).diagonal().array() += s;
      a.block<2, 1>(2 * c, n + k) = x;
      a.block<1, 2>(n + k, 2 * c) = x.transpose();
      right.segment<2>(2 * c) -= s * x;
      right[n + k] = 0.5 * (radius_[c] * radius_[c] - x.squaredNorm());
    }
    x_ += a.partialPivLu().solve(right).head(n);
    for (Index c = 0; c < count(); ++c) {
      const double size = x_.segment<2>(2 * c).norm();
      if (size > radius_[c]) x_.segment<2>(2 * c) *= radius_[c] / size;
    }
  }

  const MatrixXd& w_;
  const VectorXd &soft_, &u_, &radius_;
  VectorXd x_, g_;
  std::vector<std::vector<Index>> linked_;  // Contacts that share a body with each.
};

// What a unit impulse of a contact along a direction is and does.
struct Row {
  std::uint32_t a = 0, b = 0;
  Wrench on_a{}, on_b{};
  Twist moves_a{}, moves_b{};
  double free = 0;  // Its mobility without joints.
};

Twist divide_by_mass(const Wrench& w, const ImpactBody& b) {
  return {w.linear * b.inverse_mass, b.inverse_inertia * w.angular};
}

class Solver {
 public:
  explicit Solver(ImpactProblem& p) : p_(p), contacts_(p.contacts.size()) {}

  ImpactReport solve() {
    ImpactReport report;
    if (contacts_ == 0) return report;
    prepare();
    for (;; ++report.rounds) {
      const std::vector<double> u = speeds();
      const std::vector<std::size_t> active = find_approaching(u, report.rounds);
      if (active.empty()) break;
      if (report.rounds >= kMostRounds) {
        stop(u);
        report.stopped = true;
        break;
      }
      reflect(active, u, report.rounds);
    }
    return report;
  }

 private:
  // ---- what impulses do ----

  // Rows: the normal of each contact, then both tangents of each.
  void prepare() {
    for (std::size_t c = 0; c < contacts_; ++c)
      rows_.push_back(make_row(p_.contacts[c], p_.contacts[c].normal));
    for (std::size_t c = 0; c < contacts_; ++c) {
      const Vec3 t = tangent_of(p_.contacts[c].normal), s = cross(p_.contacts[c].normal, t);
      rows_.push_back(make_row(p_.contacts[c], t));
      rows_.push_back(make_row(p_.contacts[c], s));
    }
    prepare_joints();
  }
  std::size_t tangent(std::size_t contact) const { return contacts_ + 2 * contact; }

  Row make_row(const ImpactContact& c, const Vec3& direction) const {
    const ImpactBody &a = p_.bodies[c.a], &b = p_.bodies[c.b];
    Row r{c.a, c.b, wrench_of(direction, c.place - a.center),
          wrench_of(direction * -1.0, c.place - b.center)};
    r.moves_a = divide_by_mass(r.on_a, a);
    r.moves_b = divide_by_mass(r.on_b, b);
    r.free = dot(r.on_a, r.moves_a) + dot(r.on_b, r.moves_b);
    return r;
  }

  // Joints hold what they hold: with a unit of a row acts the share -joint_share_ of theirs.
  void prepare_joints() {
    const auto n = static_cast<Index>(p_.joints.size());
    if (n == 0) return;
    std::vector<Row> joints;
    for (const ImpactJoint& j : p_.joints)
      joints.push_back({j.a, j.b, j.on_a, j.on_b, divide_by_mass(j.on_a, p_.bodies[j.a]),
                        divide_by_mass(j.on_b, p_.bodies[j.b])});
    MatrixXd own(n, n);
    for (Index i = 0; i < n; ++i)
      for (Index k = 0; k < n; ++k)
        own(i, k) = link(joints[static_cast<std::size_t>(i)], joints[static_cast<std::size_t>(k)]);
    joint_speed_.resize(n, static_cast<Index>(rows_.size()));
    for (Index i = 0; i < n; ++i)
      for (std::size_t k = 0; k < rows_.size(); ++k)
        joint_speed_(i, static_cast<Index>(k)) =
            link(joints[static_cast<std::size_t>(i)], rows_[k]);
    joint_share_ = own.ldlt().solve(joint_speed_);
  }

  // The speed along one row by a unit impulse of the other, without joints.
  static double link(const Row& r, const Row& s) {
    double sum = 0;
    if (r.a == s.a) sum += dot(r.on_a, s.moves_a);
    if (r.a == s.b) sum += dot(r.on_a, s.moves_b);
    if (r.b == s.a) sum += dot(r.on_b, s.moves_a);
    if (r.b == s.b) sum += dot(r.on_b, s.moves_b);
    return sum;
  }
  double mobility(std::size_t i, std::size_t k) const {
    double sum = link(rows_[i], rows_[k]);
    if (joint_share_.size() > 0)
      sum -= joint_speed_.col(static_cast<Index>(i)).dot(joint_share_.col(static_cast<Index>(k)));
    return sum;
  }
  MatrixXd make_matrix(const std::vector<std::size_t>& rows) const {
    const auto n = static_cast<Index>(rows.size());
    MatrixXd w(n, n);
    for (Index i = 0; i < n; ++i)
      for (Index k = 0; k <= i; ++k)
        w(i, k) = w(k, i) =
            mobility(rows[static_cast<std::size_t>(i)], rows[static_cast<std::size_t>(k)]);
    return w;
  }
  VectorXd softness(const std::vector<std::size_t>& rows) const {
    VectorXd soft(static_cast<Index>(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i)
      soft[static_cast<Index>(i)] = kSoft * rows_[rows[i]].free;
    return soft;
  }

  double speed(std::size_t row) const {
    const Row& r = rows_[row];
    return dot(r.on_a, p_.bodies[r.a].velocity) + dot(r.on_b, p_.bodies[r.b].velocity);
  }
  // Along normals.
  std::vector<double> speeds() const {
    std::vector<double> u(contacts_);
    for (std::size_t c = 0; c < contacts_; ++c) u[c] = speed(c);
    return u;
  }

  void apply(const std::vector<std::size_t>& rows, const VectorXd& sizes) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double size = sizes[static_cast<Index>(i)];
      if (size == 0) continue;
      const Row& r = rows_[rows[i]];
      push(r.a, r.on_a * size, r.moves_a * size);
      push(r.b, r.on_b * size, r.moves_b * size);
      const std::size_t c = rows[i] < contacts_ ? rows[i] : (rows[i] - contacts_) / 2;
      p_.contacts[c].push += r.on_a.linear * size;
    }
    if (joint_share_.size() == 0) return;
    VectorXd held = VectorXd::Zero(joint_share_.rows());
    for (std::size_t i = 0; i < rows.size(); ++i)
      held += joint_share_.col(static_cast<Index>(rows[i])) * sizes[static_cast<Index>(i)];
    for (Index k = 0; k < held.size(); ++k) {
      const ImpactJoint& j = p_.joints[static_cast<std::size_t>(k)];
      const Wrench on_a = j.on_a * -held[k], on_b = j.on_b * -held[k];
      push(j.a, on_a, divide_by_mass(on_a, p_.bodies[j.a]));
      push(j.b, on_b, divide_by_mass(on_b, p_.bodies[j.b]));
    }
  }
  void push(std::uint32_t body, const Wrench& impulse, const Twist& change) {
    ImpactBody& b = p_.bodies[body];
    b.impulse += impulse;
    b.velocity.linear += change.linear;
    b.velocity.angular += change.angular;
  }

  // ---- rounds ----

  std::vector<std::size_t> find_approaching(const std::vector<double>& u, int round) const {
    double fastest = 0;
    for (const double v : u) fastest = std::max(fastest, std::abs(v));
    const double still = std::max(kApproach * fastest, 1e-3 * p_.rest_speed);
    std::vector<std::size_t> some;
    bool any = false;
    for (std::size_t c = 0; c < contacts_; ++c) any = any || (u[c] < -still && gives(c));
    if (!any) return some;
    // What rests and does not bounce, or does so no more, is kept from being pushed into what it
    // rests on.
    for (std::size_t c = 0; c < contacts_; ++c) {
      const double e = p_.contacts[c].restitution;
      if (gives(c) && (u[c] < -still || ((e == 0 || round >= kFullRounds) && u[c] <= still)))
        some.push_back(c);
    }
    return some;
  }

  bool gives(std::size_t c) const {
    if (p_.contacts[c].jammed) return false;
    return joint_share_.size() == 0 ? rows_[c].free > 0 : mobility(c, c) > kHeld * rows_[c].free;
  }

  // Takes those that jam out of `active`.
  VectorXd find_stops(std::vector<std::size_t>& active, const std::vector<double>& u) {
    for (;;) {
      VectorXd before(static_cast<Index>(active.size()));
      for (std::size_t i = 0; i < active.size(); ++i) before[static_cast<Index>(i)] = u[active[i]];
      if (active.empty()) return before;
      const MatrixXd w = make_matrix(active);
      const VectorXd soft = softness(active);
      Complementary problem(w, soft, before);
      VectorXd stops = problem.solve();
      const VectorXd yields = stops.cwiseProduct(soft);
      const double most = kJammed * before.cwiseAbs().maxCoeff();
      if (!(yields.maxCoeff() > most)) {
        problem.refine(stops);
        return stops;
      }
      if (!is_driven()) {
        const VectorXd softer = soft * (kSoftJam / kSoft);
        return Complementary(w, softer, before).solve();
      }
      std::vector<std::size_t> others;
      for (std::size_t i = 0; i < active.size(); ++i) {
        const bool jams = yields[static_cast<Index>(i)] > 0.1 * most;
        p_.contacts[active[i]].jammed = jams;
        if (!jams) others.push_back(active[i]);
      }
      active = others;
    }
  }

  // Whether something moves that nothing stops.
  bool is_driven() const {
    return std::any_of(p_.bodies.begin(), p_.bodies.end(), [](const ImpactBody& b) {
      return b.inverse_mass == 0 &&
             (length_sq(b.velocity.linear) > 0 || length_sq(b.velocity.angular) > 0);
    });
  }

  // Impulses x change the energy by u' x + x' W x / 2, with the work of driven bodies taken out. A
  // solution never adds any; one that did not converge may, and is made smaller.
  static VectorXd limit_energy(const MatrixXd& w, const VectorXd& u, const VectorXd& x) {
    const double gives = -u.dot(x), takes = 0.5 * x.dot(w * x);
    if (!(takes > gives * (1 + 1e-12))) return x;
    return gives > 0 ? VectorXd(x * (gives / takes)) : VectorXd::Zero(x.size());
  }

  void reflect(std::vector<std::size_t> active, const std::vector<double>& u, int round) {
    const VectorXd stops = find_stops(active, u);
    const auto n = static_cast<Index>(active.size());
    if (n == 0) return;
    VectorXd bounce(n);
    const double share = std::pow(kFading, std::max(0, round - kFullRounds));
    for (Index i = 0; i < n; ++i) {
      const std::size_t c = active[static_cast<std::size_t>(i)];
      bounce[i] = -u[c] > p_.rest_speed ? share * p_.contacts[c].restitution * stops[i] : 0.0;
    }
    // With x the stops and E x the bounces, the kinetic energy changes by -(x' W x - x'E W E x) /
    // 2: less than nothing if all restitutions are equal. If they differ, they shrink until it is
    // so.
    const MatrixXd w = make_matrix(active);
    const double stopped = stops.dot(w * stops), bounced = bounce.dot(w * bounce);
    if (bounced > stopped) bounce *= std::sqrt(std::max(stopped, 0.0) / bounced);
    VectorXd before(n);
    for (Index i = 0; i < n; ++i) before[i] = u[active[static_cast<std::size_t>(i)]];
    const VectorXd sum = limit_energy(w, before, stops + bounce);
    apply(active, sum);
    for (Index i = 0; i < n; ++i)
      p_.contacts[active[static_cast<std::size_t>(i)]].impulse += sum[i];
    rub(active, sum * share);
  }

  // Friction within Coulomb's discs that takes most energy: its end does not depend on an order.
  void rub(const std::vector<std::size_t>& active, const VectorXd& normal) {
    std::vector<std::size_t> rows;
    std::vector<double> most;
    for (std::size_t i = 0; i < active.size(); ++i) {
      const double radius = p_.contacts[active[i]].friction * normal[static_cast<Index>(i)];
      if (!(radius > 0)) continue;
      rows.push_back(tangent(active[i]));
      rows.push_back(tangent(active[i]) + 1);
      most.push_back(radius);
    }
    if (rows.empty()) return;
    VectorXd u(static_cast<Index>(rows.size())), radius(static_cast<Index>(most.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) u[static_cast<Index>(i)] = speed(rows[i]);
    for (std::size_t i = 0; i < most.size(); ++i) radius[static_cast<Index>(i)] = most[i];
    const MatrixXd w = make_matrix(rows);
    const VectorXd soft = softness(rows);
    apply(rows, limit_energy(w, u, Discs(w, soft, u, radius).solve()));
  }

  // Without restitution and friction, which leaves nothing that approaches.
  void stop(const std::vector<double>& u) {
    std::vector<std::size_t> all;
    for (std::size_t c = 0; c < contacts_; ++c)
      if (gives(c)) all.push_back(c);
    VectorXd stops = find_stops(all, u);
    VectorXd before(stops.size());
    for (std::size_t i = 0; i < all.size(); ++i) before[static_cast<Index>(i)] = u[all[i]];
    stops = limit_energy(make_matrix(all), before, stops);
    apply(all, stops);
    for (std::size_t i = 0; i < all.size(); ++i)
      p_.contacts[all[i]].impulse += stops[static_cast<Index>(i)];
  }

  ImpactProblem& p_;
  std::size_t contacts_;
  std::vector<Row> rows_;
  MatrixXd joint_speed_, joint_share_;  // Of each row: one row per joint equation.
};

}  // namespace

ImpactReport solve_impacts(ImpactProblem& problem) { return Solver(problem).solve(); }

}  // namespace isotact::detail

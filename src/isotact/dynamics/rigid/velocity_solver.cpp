#include "isotact/dynamics/rigid/detail/velocity_solver.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <Eigen/Cholesky>

#include "isotact/base/disjoint_sets.h"
#include "isotact/dynamics/rigid/detail/joint_rows.h"

namespace isotact::detail {
namespace {

using Vector6 = Eigen::Matrix<double, 6, 1>;
using Matrix6 = Eigen::Matrix<double, 6, 6>;

constexpr int kMaxContactRounds = 8;      // Rounds in which contacts begin or stop to push.
constexpr std::size_t kDenseBodies = 24;  // Larger islands use conjugate gradients.
constexpr int kMaxIterations = 400;
constexpr double kResidual = 1e-10;    // Relative to the right side.
constexpr double kSlideChange = 0.05;  // A larger change of friction needs another round.
constexpr double kRattle = 0.5;  // Below this affordable share of a push, contacts only brake.
// A contact's load is at most this multiple of all that pushes the bodies of its island. Wedges may
// hold each other by any force, which grows with the stiffness: it is no load.
constexpr double kMostLoad = 4;
constexpr double kHoldSoftness = 1e-7;  // Several held points of a contact share its load.
constexpr std::size_t kNoBody = static_cast<std::size_t>(-1);

template <typename V>
V from_vector(const Eigen::VectorXd& v, std::size_t body) {
  const auto k = static_cast<Eigen::Index>(6 * body);
  return {{v[k], v[k + 1], v[k + 2]}, {v[k + 3], v[k + 4], v[k + 5]}};
}
void add_to(Eigen::VectorXd& v, std::size_t body, const Wrench& w) {
  double* const at = v.data() + 6 * body;
  at[0] += w.linear.x;
  at[1] += w.linear.y;
  at[2] += w.linear.z;
  at[3] += w.angular.x;
  at[4] += w.angular.y;
  at[5] += w.angular.z;
}
// The six values of a body, 16-byte aligned as the whole vector is.
Eigen::Map<const Vector6, Eigen::Aligned16> segment(const Eigen::VectorXd& v, std::size_t body) {
  return Eigen::Map<const Vector6, Eigen::Aligned16>(v.data() + 6 * body);
}
Eigen::Map<Vector6, Eigen::Aligned16> segment(Eigen::VectorXd& v, std::size_t body) {
  return Eigen::Map<Vector6, Eigen::Aligned16>(v.data() + 6 * body);
}
Eigen::Matrix3d to_eigen(const Mat3& m) {
  Eigen::Matrix3d e;
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k)
      e(i, k) = m.rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(k)];
  return e;
}
Matrix6 to_eigen(const SpatialMatrix& m) {
  Matrix6 e;
  e.topLeftCorner<3, 3>() = to_eigen(m.ll);
  e.topRightCorner<3, 3>() = to_eigen(m.la);
  e.bottomLeftCorner<3, 3>() = to_eigen(m.la).transpose();
  e.bottomRightCorner<3, 3>() = to_eigen(m.aa);
  return e;
}
// The matrix of moved(twist, offset).
Matrix6 move_matrix(const Vec3& offset) {
  Matrix6 t = Matrix6::Identity();
  t.topRightCorner<3, 3>() << 0, offset.z, -offset.y, -offset.z, 0, offset.x, offset.y, -offset.x,
      0;
  return t;
}
Mat3 world_inertia(const RigidBody& b) {
  const Mat3 turn = to_matrix(b.state.rotation);
  return turn * b.mass.inertia * transpose(turn);
}

// A contact of an island.
struct ContactLink {
  ContactPush* contact = nullptr;
  std::array<std::size_t, 2> body{};  // Index in the island, or kNoBody.
  std::array<Vec3, 2> arm{};          // From the body's centre to the contact's position.
  Twist known{};                      // Twist of A against B by bodies outside of the island.
  bool acts = true;
  double slide_share = 1;    // Share of the measured friction of slipping points.
  SpatialMatrix response{};  // Includes that friction.
};

// Impulses of an island, on A for contacts, and the twists that result from them. The twists are a
// linear function of the impulses.
struct ImpulseResult {
  std::vector<Wrench> contacts{};
  std::vector<double> joints{};
  Eigen::VectorXd twists{};
};
ImpulseResult mix(const ImpulseResult& a, const ImpulseResult& b, double share) {
  ImpulseResult m = a;
  for (std::size_t k = 0; k < m.contacts.size(); ++k)
    m.contacts[k] += (b.contacts[k] - a.contacts[k]) * share;
  for (std::size_t i = 0; i < m.joints.size(); ++i)
    m.joints[i] += (b.joints[i] - a.joints[i]) * share;
  m.twists += (b.twists - a.twists) * share;
  return m;
}

// Block of the matrix between two bodies of the island, with the sign reversed.
struct Coupling {
  std::size_t a = 0, b = 0;
  Matrix6 block{};
};

enum class PushRule : std::uint8_t {
  kFull,
  kRecover,  // Contacts act as dampers. Held points get less deep.
  kBrake,    // Contacts act as dampers. They only take energy.
  kNone,
};

struct IslandReport {
  double joint_work = 0;
  bool limited = false;
};

class Island {
 public:
  void add_body(std::size_t body) { members_.push_back(body); }
  void add_contact(ContactPush& c) { contacts_.push_back(&c); }
  void add_joint(const JointSettings& j) { joints_.push_back(&j); }
  bool is_free() const { return contacts_.empty() && joints_.empty(); }
  std::size_t size() const { return members_.size(); }

  IslandReport solve(const VelocityProblem& p) {
    gather(p);
    rows_ = make_rows(p);
    ImpulseResult result = compute_impulses(p, PushRule::kFull);
    IslandReport report;
    const double most = p.starts.empty() ? std::numeric_limits<double>::infinity()
                                         : kMostLoad * compute_loads(p, result);
    if (!p.starts.empty() && !links_.empty()) report.limited = limit_work(p, result);
    for (std::size_t k = 0; k < links_.size(); ++k) {
      const ContactLink& link = links_[k];
      link.contact->given = result.contacts[k];
      link.contact->pushed = std::min(length(result.contacts[k].linear), most);
      push(*p.bodies[link.contact->a], moved(result.contacts[k], -link.arm[0]));
      push(*p.bodies[link.contact->b], moved(result.contacts[k], -link.arm[1]) * -1.0);
    }
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const double size = result.joints[i];
      if (rows_[i].is_motor) report.joint_work += size * rows_[i].wanted;
      report.joint_work -= size * compute_known_velocity(p, rows_[i]);
      push(*p.bodies[rows_[i].a], rows_[i].on_a * size);
      push(*p.bodies[rows_[i].b], rows_[i].on_b * size);
    }
    return report;
  }

 private:
  static void push(RigidBody& body, const Wrench& w) {
    if (body.kind != BodyKind::kDynamic) return;
    body.state.momentum += w.linear;
    body.state.angular_momentum += w.angular;
  }

  // N s: the sum of what pushes the bodies in this step, but for contacts: loads and motors. A
  // moment pushes at the radius of gyration.
  double compute_loads(const VelocityProblem& p, const ImpulseResult& result) const {
    double sum = 0, gyration = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < size(); ++k) {
      const SpatialMatrix& m = masses_[k];
      const Twist& start = p.starts[members_[k]];
      const double trace = m.aa.rows[0].x + m.aa.rows[1].y + m.aa.rows[2].z;
      const double radius = std::sqrt(trace * m.ll.rows[0].x) / m.ll.rows[0].x;
      const Wrench change = momenta_[k] - m * start;
      sum += length(change.linear) + length(change.angular) / radius;
      gyration = std::min(gyration, radius);
    }
    for (std::size_t i = 0; i < rows_.size(); ++i)
      if (rows_[i].is_motor) sum += std::abs(result.joints[i]) / std::min(gyration, 1.0);
    return sum;
  }

  // Returns the index in the island, or kNoBody for a body that does not move freely.
  std::size_t find_member(const VelocityProblem& p, std::size_t body) const {
    if (p.bodies[body]->kind != BodyKind::kDynamic) return kNoBody;
    return static_cast<std::size_t>(std::lower_bound(members_.begin(), members_.end(), body) -
                                    members_.begin());
  }

  void gather(const VelocityProblem& p) {
    for (const std::size_t m : members_) {
      const RigidBody& b = *p.bodies[m];
      masses_.push_back({{identity3() * b.mass.mass}, {}, world_inertia(b)});
      momenta_.push_back({b.state.momentum, b.state.angular_momentum});
    }
    for (ContactPush* c : contacts_) {
      ContactLink link{.contact = c};
      const std::array<std::size_t, 2> bodies = {c->a, c->b};
      for (std::size_t k = 0; k < 2; ++k) {
        link.body[k] = find_member(p, bodies[k]);
        link.arm[k] = c->place - p.bodies[bodies[k]]->state.center;
        if (link.body[k] == kNoBody)
          link.known = link.known - moved(p.twists[bodies[k]], link.arm[k]) * (k == 0 ? -1.0 : 1.0);
      }
      links_.push_back(link);
    }
  }

  ImpulseResult compute_impulses(const VelocityProblem& p, PushRule rule) {
    rule_ = rule;
    for (ContactLink& link : links_) link.acts = rule != PushRule::kNone;
    ImpulseResult result;
    result.joints.resize(rows_.size(), 0);
    for (int round = 1;; ++round) {
      factorize();
      result.twists = solve_matrix(compute_right_side(), result.twists);
      if (!rows_.empty()) result.joints = hold_joints(p, rows_, result.twists);
      if (rule == PushRule::kNone || round == kMaxContactRounds ||
          !update_links(result.twists, round))
        break;
    }
    for (const ContactLink& link : links_)
      result.contacts.push_back(
          link.acts ? push_of(link) - link.response * slip(link, result.twists) : Wrench{});
    take_held_impulses(result);
    if (!p.starts.empty()) result.twists = compute_twists(p, result);
    return result;
  }
  // Impulses of held points are those of their contacts.
  void take_held_impulses(ImpulseResult& result) const {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const std::size_t k = rows_[i].contact;
      if (k == kNoBody) continue;
      const Wrench about_center = rows_[i].on_a * std::exchange(result.joints[i], 0);
      result.contacts[k] += moved(about_center, links_[k].arm[0]);
    }
  }
  // Twists that result from the impulses. The iterations may end with slightly different ones.
  Eigen::VectorXd compute_twists(const VelocityProblem& p, const ImpulseResult& result) const {
    Eigen::VectorXd twists = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(6 * size()));
    for (std::size_t k = 0; k < size(); ++k) add_to(twists, k, momenta_[k]);
    for (std::size_t k = 0; k < links_.size(); ++k)
      add_wrench(links_[k], result.contacts[k], twists);
    for (std::size_t i = 0; i < rows_.size(); ++i)
      for (const bool of_a : {true, false}) {
        const std::size_t at = find_member(p, of_a ? rows_[i].a : rows_[i].b);
        if (at != kNoBody)
          add_to(twists, at, (of_a ? rows_[i].on_a : rows_[i].on_b) * result.joints[i]);
      }
    for (std::size_t k = 0; k < size(); ++k) {
      const BodyMass& mass = p.bodies[members_[k]]->mass;
      const Mat3 turn = to_matrix(p.bodies[members_[k]]->state.rotation);
      const auto at = static_cast<Eigen::Index>(6 * k);
      twists.segment<3>(at) /= mass.mass;
      twists.segment<3>(at + 3) = to_eigen(turn * mass.inverse_inertia * transpose(turn)) *
                                  Eigen::Vector3d(twists.segment<3>(at + 3));
    }
    return twists;
  }
  Wrench push_of(const ContactLink& link) const {
    return rule_ == PushRule::kFull ? link.contact->push : Wrench{};
  }

  std::vector<JointRow> make_rows(const VelocityProblem& p) const {
    std::vector<JointRow> rows;
    for (const JointSettings* j : joints_)
      add_joint_rows(*j, *p.bodies[j->a], *p.bodies[j->b], p.step, rows);
    for (std::size_t k = 0; k < links_.size(); ++k) {
      const ContactPush& c = *links_[k].contact;
      for (std::size_t i = 0; i < c.held_count; ++i) {
        const HeldPoint& held = c.held[i];
        const Vec3 arm_a = held.place - p.bodies[c.a]->state.center;
        const Vec3 arm_b = held.place - p.bodies[c.b]->state.center;
        rows.push_back({.a = c.a,
                        .b = c.b,
                        .on_a = wrench_of(held.normal, arm_a),
                        .on_b = wrench_of(-held.normal, arm_b),
                        .wanted = -held.allowed,
                        .least = 0,
                        .softness = kHoldSoftness,
                        .contact = k});
      }
    }
    return rows;
  }

  Twist slip(const ContactLink& link, const Eigen::VectorXd& twists) const {
    Twist u = link.known;
    for (std::size_t k = 0; k < 2; ++k)
      if (link.body[k] != kNoBody)
        u = u -
            moved(from_vector<Twist>(twists, link.body[k]), link.arm[k]) * (k == 0 ? -1.0 : 1.0);
    return u;
  }

  Eigen::VectorXd compute_right_side() const {
    Eigen::VectorXd right = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(6 * size()));
    for (std::size_t k = 0; k < size(); ++k) add_to(right, k, momenta_[k]);
    for (const ContactLink& link : links_)
      if (link.acts) add_wrench(link, push_of(link) - link.response * link.known, right);
    return right;
  }
  // `w` acts on A about the contact's position, and its opposite on B.
  static void add_wrench(const ContactLink& link, const Wrench& w, Eigen::VectorXd& to) {
    for (std::size_t k = 0; k < 2; ++k)
      if (link.body[k] != kNoBody)
        add_to(to, link.body[k], moved(w, -link.arm[k]) * (k == 0 ? 1.0 : -1.0));
  }

  // ---- the matrix M + H ----

  void factorize() {
    diagonal_.resize(size());
    for (std::size_t k = 0; k < size(); ++k) diagonal_[k] = to_eigen(masses_[k]);
    couplings_.clear();
    for (ContactLink& link : links_) {
      if (!link.acts) continue;
      link.response = link.contact->response;
      link.response += link.contact->slide * link.slide_share;
      const Matrix6 h = to_eigen(link.response);
      std::array<Matrix6, 2> t{};
      for (std::size_t k = 0; k < 2; ++k) {
        if (link.body[k] == kNoBody) continue;
        t[k] = move_matrix(link.arm[k]);
        diagonal_[link.body[k]] += t[k].transpose() * h * t[k];
      }
      if (link.body[0] != kNoBody && link.body[1] != kNoBody)
        couplings_.push_back({link.body[0], link.body[1], t[0].transpose() * h * t[1]});
    }
    if (size() <= kDenseBodies)
      factorize_dense();
    else
      scale_blocks();
  }
  void factorize_dense() {
    const auto n = static_cast<Eigen::Index>(6 * size());
    Eigen::MatrixXd all = Eigen::MatrixXd::Zero(n, n);
    for (const Coupling& c : couplings_) {
      const auto i = static_cast<Eigen::Index>(6 * c.a), k = static_cast<Eigen::Index>(6 * c.b);
      all.block<6, 6>(i, k) -= c.block;
      all.block<6, 6>(k, i) -= c.block.transpose();
    }
    for (std::size_t k = 0; k < size(); ++k) {
      const auto at = static_cast<Eigen::Index>(6 * k);
      all.block<6, 6>(at, at) = diagonal_[k];
    }
    dense_.compute(all);
  }
  // With the factors D = L L' of the blocks of single bodies, the matrix becomes L (1 - N) L'.
  // Conjugate gradients for 1 - N are those for the matrix with the preconditioner D.
  void scale_blocks() {
    for (Matrix6& d : diagonal_) {
      const Eigen::LLT<Matrix6> factor(d);
      d.setIdentity();
      factor.matrixL().solveInPlace(d);
    }
    for (Coupling& c : couplings_) {
      const Matrix6 half = c.block * diagonal_[c.b].transpose();
      c.block.noalias() = diagonal_[c.a] * half;
    }
  }

  // y = x - N x
  void multiply(const Eigen::VectorXd& x, Eigen::VectorXd& y) const {
    y = x;
    for (const Coupling& c : couplings_) {
      segment(y, c.a).noalias() -= c.block * segment(x, c.b);
      segment(y, c.b).noalias() -= c.block.transpose() * segment(x, c.a);
    }
  }

  // `guess`: a solution of a similar problem, or empty.
  Eigen::VectorXd solve_matrix(const Eigen::VectorXd& right,
                               const Eigen::VectorXd& guess = {}) const {
    if (size() <= kDenseBodies) return dense_.solve(right);
    Eigen::VectorXd scaled(right.size()), image(right.size());
    for (std::size_t k = 0; k < size(); ++k)
      segment(scaled, k).noalias() = diagonal_[k] * segment(right, k);
    Eigen::VectorXd x = scaled;
    if (guess.size() == right.size())
      for (std::size_t k = 0; k < size(); ++k) {
        Vector6 at = segment(guess, k);
        diagonal_[k].transpose().triangularView<Eigen::Upper>().solveInPlace(at);
        segment(x, k) = at;
      }
    multiply(x, image);
    Eigen::VectorXd r = scaled - image, direction = r;
    double size_sq = r.squaredNorm();
    const double enough = kResidual * kResidual * scaled.squaredNorm();
    for (int i = 0; i < kMaxIterations && size_sq > enough; ++i) {
      multiply(direction, image);
      const double curvature = direction.dot(image);
      if (!(curvature > 0)) break;
      const double length = size_sq / curvature;
      x += length * direction;
      r -= length * image;
      const double next_sq = r.squaredNorm();
      direction = r + next_sq / size_sq * direction;
      size_sq = next_sq;
    }
    for (std::size_t k = 0; k < size(); ++k)
      segment(image, k).noalias() = diagonal_[k].transpose() * segment(x, k);
    return image;
  }

  // ---- joints, and contacts that begin or stop to push ----

  // The velocity of a row has a part of the island's bodies and a known part of the others.
  double compute_velocity(const VelocityProblem& p, const JointRow& row,
                          const Eigen::VectorXd& twists) const {
    double sum = 0;
    for (const bool of_a : {true, false}) {
      const std::size_t at = find_member(p, of_a ? row.a : row.b);
      if (at != kNoBody) sum += dot(of_a ? row.on_a : row.on_b, from_vector<Twist>(twists, at));
    }
    return sum;
  }
  double compute_known_velocity(const VelocityProblem& p, const JointRow& row) const {
    double sum = 0;
    for (const bool of_a : {true, false}) {
      const std::size_t body = of_a ? row.a : row.b;
      if (find_member(p, body) == kNoBody) sum += dot(of_a ? row.on_a : row.on_b, p.twists[body]);
    }
    return sum;
  }

  // Changes twists so that all joints hold. Returns the impulses of the rows.
  std::vector<double> hold_joints(const VelocityProblem& p, const std::vector<JointRow>& rows,
                                  Eigen::VectorXd& twists) const {
    const std::size_t n = rows.size();
    std::vector<Eigen::VectorXd> columns;  // Twists per unit impulse of each row.
    std::vector<double> matrix(n * n), missing;
    for (const JointRow& row : rows) {
      Eigen::VectorXd push = Eigen::VectorXd::Zero(twists.size());
      for (const bool of_a : {true, false}) {
        const std::size_t at = find_member(p, of_a ? row.a : row.b);
        if (at != kNoBody) add_to(push, at, of_a ? row.on_a : row.on_b);
      }
      columns.push_back(solve_matrix(push));
      // Contacts that brake part no bodies.
      const bool brakes = row.contact != kNoBody && rule_ > PushRule::kRecover;
      const double wanted = brakes ? std::min(row.wanted, 0.0) : row.wanted;
      missing.push_back(wanted - compute_known_velocity(p, row) - compute_velocity(p, row, twists));
    }
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < n; ++k)
        matrix[i * n + k] = compute_velocity(p, rows[i], columns[k]);
    std::vector<double> impulse = solve_joint_rows(rows, matrix, missing);
    for (std::size_t k = 0; k < n; ++k) twists += columns[k] * impulse[k];
    return impulse;
  }

  // Returns whether another round is needed. In the last rounds no contact is removed: one that
  // pulls for a step does less harm than one that is lost.
  bool update_links(const Eigen::VectorXd& twists, int round) {
    bool changed = false;
    for (ContactLink& link : links_) {
      const ContactPush& c = *link.contact;
      const double change = -dot(c.normal_response, slip(link, twists));
      const double normal = rule_ == PushRule::kFull ? c.normal + change : change;
      const bool acts = normal >= 0 || (link.acts && round > kMaxContactRounds / 2);
      changed = changed || acts != link.acts;
      link.acts = acts;
      if (rule_ != PushRule::kFull || !(c.found_normal > 0)) continue;
      const double share = std::clamp(normal / c.found_normal, 0.0, 1.0);
      changed = changed || std::abs(share - link.slide_share) > kSlideChange;
      link.slide_share = share;
    }
    return changed;
  }

  // ---- energy ----

  double compute_work(const VelocityProblem& p, std::size_t k, const ImpulseResult& result) const {
    const ContactLink& link = links_[k];
    Twist start = link.known;
    for (std::size_t i = 0; i < 2; ++i)
      if (link.body[i] != kNoBody)
        start =
            start - moved(p.starts[members_[link.body[i]]], link.arm[i]) * (i == 0 ? -1.0 : 1.0);
    const Wrench& push = result.contacts[k];
    const double of_end = link.contact->work_share;
    return ((1 - of_end) * dot(push, start) + of_end * dot(push, slip(link, result.twists))) /
           link.contact->share;
  }
  double compute_work(const VelocityProblem& p, const ImpulseResult& result) const {
    double sum = 0;
    for (std::size_t k = 0; k < links_.size(); ++k) sum += compute_work(p, k, result);
    return sum;
  }

  // Returns the largest share of `b` in a mixture that does at most `limit` of work, as `a` does.
  double compute_share(const VelocityProblem& p, const ImpulseResult& a, const ImpulseResult& b,
                       double limit) const {
    // The work is a parabola in the share. Three values determine it.
    const double at_0 = compute_work(p, a), at_1 = compute_work(p, b),
                 half = compute_work(p, mix(a, b, 0.5));
    const double square = 2 * (at_0 + at_1) - 4 * half, linear = at_1 - at_0 - square;
    const double rest = limit - at_0;
    // The first root, written so that it does not cancel.
    const double root = std::sqrt(std::max(linear * linear + 4 * square * rest, 0.0));
    double share = linear + root > 0 ? 2 * rest / (linear + root) : 0;
    if (linear < 0 && square > 0) share = (root - linear) / (2 * square);
    share = std::clamp(share, 0.0, 1.0);
    while (share > 0 && compute_work(p, mix(a, b, share)) > limit * (1 + 1e-9) + 1e-300)
      share = share < 1e-9 ? 0 : 0.5 * share;
    return share;
  }

  // Overlaps that springs cannot heal shrink as fast as the limit allows.
  ImpulseResult recover(const VelocityProblem& p, const ImpulseResult& braked, double limit) {
    const auto is_held = [](const JointRow& r) { return r.contact != kNoBody && r.wanted > 0; };
    if (std::none_of(rows_.begin(), rows_.end(), is_held)) return braked;
    const ImpulseResult recovered = compute_impulses(p, PushRule::kRecover);
    return mix(braked, recovered, compute_share(p, braked, recovered, limit));
  }

  // Limits the work of contacts to what they may give, and updates what they have taken.
  // Returns whether the result had to change.
  bool limit_work(const VelocityProblem& p, ImpulseResult& result) {
    double limit = 0;
    for (const ContactLink& link : links_) limit += link.contact->most;
    const bool limited = compute_work(p, result) > limit;
    if (limited) {
      const ImpulseResult braked = compute_impulses(p, PushRule::kBrake);
      if (compute_work(p, braked) <= limit) {
        // Springs that need far more energy than there is are too stiff for the step. They rattle.
        const double share = compute_share(p, braked, result, limit);
        result = share < kRattle ? recover(p, braked, limit) : mix(braked, result, share);
      } else {
        const ImpulseResult none = compute_impulses(p, PushRule::kNone);
        result = mix(none, braked, compute_share(p, none, braked, limit));
      }
    }
    // Contacts that gave more than they had take the difference from the others.
    double owed = 0, owned = 0;
    for (std::size_t k = 0; k < links_.size(); ++k) {
      double& taken = links_[k].contact->taken;
      taken -= compute_work(p, k, result);
      (taken < 0 ? owed : owned) += std::abs(taken);
    }
    const double kept = owned > owed ? 1 - owed / owned : 0;
    for (const ContactLink& link : links_)
      link.contact->taken = std::max(link.contact->taken, 0.0) * kept;
    return limited;
  }

  PushRule rule_ = PushRule::kFull;
  std::vector<JointRow> rows_;
  std::vector<std::size_t> members_;  // Indices of bodies in the world, sorted.
  std::vector<ContactPush*> contacts_;
  std::vector<const JointSettings*> joints_;
  std::vector<SpatialMatrix> masses_;
  std::vector<Wrench> momenta_;
  std::vector<ContactLink> links_;
  std::vector<Matrix6> diagonal_;  // Blocks of bodies; for large islands the inverses of L.
  std::vector<Coupling> couplings_;
  Eigen::LLT<Eigen::MatrixXd> dense_;
};

// Returns, for each body, the lowest index of the bodies that contacts and joints connect it with.
// Only bodies that move freely connect others.
std::vector<std::size_t> find_sets(const VelocityProblem& p) {
  DisjointSets sets(p.bodies.size());
  const auto connect = [&](std::size_t i, std::size_t k) {
    if (p.bodies[i]->kind == BodyKind::kDynamic && p.bodies[k]->kind == BodyKind::kDynamic)
      sets.join(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(k));
  };
  for (const ContactPush& c : p.contacts) connect(c.a, c.b);
  for (const JointSettings& j : p.joints) connect(j.a, j.b);
  std::vector<std::size_t> set_of(p.bodies.size());
  for (std::size_t i = 0; i < set_of.size(); ++i)
    set_of[i] = sets.find(static_cast<std::uint32_t>(i));
  return set_of;
}

}  // namespace

VelocityReport solve_velocities(const VelocityProblem& p) {
  const std::vector<std::size_t> set_of = find_sets(p);
  std::vector<Island> islands(p.bodies.size());
  const auto island_of = [&](std::size_t a, std::size_t b) -> Island* {
    if (p.bodies[a]->kind == BodyKind::kDynamic) return &islands[set_of[a]];
    return p.bodies[b]->kind == BodyKind::kDynamic ? &islands[set_of[b]] : nullptr;
  };
  for (std::size_t k = 0; k < p.bodies.size(); ++k)
    if (p.bodies[k]->kind == BodyKind::kDynamic) islands[set_of[k]].add_body(k);
  for (ContactPush& c : p.contacts)
    if (Island* island = island_of(c.a, c.b)) island->add_contact(c);
  for (const JointSettings& j : p.joints)
    if (Island* island = island_of(j.a, j.b)) island->add_joint(j);
  std::erase_if(islands, [](const Island& i) { return i.is_free(); });
  std::vector<IslandReport> reports(islands.size());
  parallel_for(islands.size(), 1, p.threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) reports[k] = islands[k].solve(p);
  });
  VelocityReport report{.islands = static_cast<std::uint32_t>(islands.size())};
  for (const Island& i : islands)
    report.largest = std::max(report.largest, static_cast<std::uint32_t>(i.size()));
  for (const IslandReport& r : reports) {
    report.joint_work += r.joint_work;
    report.limited += r.limited ? 1U : 0U;
  }
  return report;
}

}  // namespace isotact::detail

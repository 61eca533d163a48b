// Backward Euler: M (v - v0) = h f(x0 + h v, v), solved by Newton steps (Baraff and Witkin 1998
// take one). Matrices of springs are made positive semidefinite: a spring that is shorter than at
// rest pushes sideways, too, which would make the system indefinite, and is left out.
#include <algorithm>
#include <cmath>

#include <Eigen/SparseCholesky>

#include "isotact/dynamics/soft/detail/soft_body.h"
#include "isotact/dynamics/soft/detail/soft_contact.h"

namespace isotact::detail {
namespace {

using SparseMatrix = Eigen::SparseMatrix<double>;
using Triplets = std::vector<Eigen::Triplet<double>>;

}  // namespace

struct ImplicitSolver {
  Eigen::SimplicialLDLT<SparseMatrix, Eigen::Lower> factors{};
  SparseMatrix matrix{};
  Triplets triplets{};
  bool analyzed = false;
  std::vector<Vec3> v{}, x{}, gradient{};  // gradient: of the volume
};

namespace {

// The lower half of a symmetric block for vertices i and j. Those that nothing moves have no rows.
void add_block(const SoftBody& b, Triplets& triplets, std::uint32_t i, std::uint32_t j,
               const Mat3& m) {
  if (b.inverse_mass[i] == 0 || b.inverse_mass[j] == 0) return;
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t c = 0; c < 3; ++c) {
      const auto row = static_cast<int>(3 * i + r), column = static_cast<int>(3 * j + c);
      if (row >= column) triplets.emplace_back(row, column, m.rows[r][c]);
    }
}

Mat3 outer(const Vec3& a, const Vec3& b) { return {{b * a.x, b * a.y, b * a.z}}; }

// h^2 K + h D of the springs: K = k (n n^T + (1 - L/l) (1 - n n^T)), D = c n n^T.
void add_spring_matrices(const SoftBody& b, const Vec3* x, double h, Triplets& triplets) {
  for (const SoftSpring& s : b.springs) {
    const Vec3 d = x[s.b] - x[s.a];
    const double l = length(d);
    const Vec3 n = l > 0 ? d / l : Vec3{1, 0, 0};
    const double across = l > s.rest ? h * h * s.stiffness * (1 - s.rest / l) : 0;
    const double along = h * h * s.stiffness + h * b.settings.material.damping - across;
    const Mat3 k = outer(n, n) * along + diagonal3({across, across, across});
    add_block(b, triplets, s.a, s.a, k);
    add_block(b, triplets, s.b, s.b, k);
    add_block(b, triplets, std::max(s.a, s.b), std::min(s.a, s.b), k * -1.0);
  }
}

// h^2 k g g^T of areas, g the gradient of the area: the part that is positive semidefinite.
void add_area_matrices(const SoftBody& b, const Vec3* x, double h, Triplets& triplets) {
  if (b.rest_area.empty()) return;
  for (const Triangle& t : b.topology.triangles) {
    const Vec3 normal = normalized(cross(x[t[1]] - x[t[0]], x[t[2]] - x[t[0]]));
    const Vec3 g[3] = {cross(normal, x[t[2]] - x[t[1]]) * 0.5,
                       cross(normal, x[t[0]] - x[t[2]]) * 0.5,
                       cross(normal, x[t[1]] - x[t[0]]) * 0.5};
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j)
        if (t[i] >= t[j])
          add_block(b, triplets, t[i], t[j],
                    outer(g[i], g[j]) * (h * h * b.settings.material.area));
  }
}

void factorize(const SoftBody& b, const Vec3* x, double h, ImplicitSolver& s) {
  s.triplets.clear();
  const double air = 1 + h * b.settings.material.air_friction;
  for (std::uint32_t i = 0; i < b.x.size(); ++i) {
    const double m = b.inverse_mass[i] > 0 ? b.mass[i] * air : 1;
    for (std::uint32_t axis = 0; axis < 3; ++axis) {
      const auto row = static_cast<int>(3 * i + axis);
      s.triplets.emplace_back(row, row, m);
    }
  }
  add_spring_matrices(b, x, h, s.triplets);
  add_area_matrices(b, x, h, s.triplets);
  const auto size = static_cast<Eigen::Index>(3 * b.x.size());
  s.matrix.resize(size, size);
  s.matrix.setFromTriplets(s.triplets.begin(), s.triplets.end());
  if (!s.analyzed) s.factors.analyzePattern(s.matrix);
  s.analyzed = true;
  s.factors.factorize(s.matrix);
}

// The volume is one number, so its matrix c g g^T is of rank one, and full. Sherman and Morrison:
// (A + c g g^T)^-1 r = y - z c (g.y) / (1 + c g.z) with A y = r, A z = g.
void correct_for_volume(const SoftBody& b, const Vec3* x, double h, ImplicitSolver& s,
                        Eigen::VectorXd& y) {
  const double stiffness = b.settings.material.volume;
  if (!(stiffness > 0)) return;
  Eigen::VectorXd g = Eigen::VectorXd::Zero(y.size());
  for (const Triangle& t : b.topology.triangles) {
    const Vec3 share = cross(x[t[1]] - x[t[0]], x[t[2]] - x[t[0]]) / 6.0;
    for (const std::uint32_t i : t)
      for (std::uint32_t axis = 0; axis < 3; ++axis)
        if (b.inverse_mass[i] > 0) g[3 * i + axis] += share[axis];
  }
  const double c = h * h * stiffness / std::abs(b.rest_volume);
  const Eigen::VectorXd z = s.factors.solve(g);
  y -= z * (c * g.dot(y) / (1 + c * g.dot(z)));
}

}  // namespace

void move_implicitly(SoftBody& b, const SoftMotion& m) {
  if (!b.solver) b.solver = std::make_shared<ImplicitSolver>();
  ImplicitSolver& s = *b.solver;
  const double h = m.step;
  const std::size_t n = b.x.size();
  const Vec3 gravity = b.steered ? Vec3{} : m.gravity;
  s.v = b.v;
  s.x.resize(n);
  Eigen::VectorXd r(static_cast<Eigen::Index>(3 * n));
  for (int step = 0; step < m.newton_steps; ++step) {
    for (std::size_t i = 0; i < n; ++i) s.x[i] = b.x0[i] + s.v[i] * h;
    std::fill(b.force.begin(), b.force.end(), Vec3{});
    add_forces(b, s.x.data(), s.v.data(), b.force.data());
    for (std::size_t i = 0; i < n; ++i) {
      const Vec3 pull =
          b.force[i] + (gravity - s.v[i] * b.settings.material.air_friction) * b.mass[i];
      const Vec3 left = pull * h - (s.v[i] - b.v[i]) * b.mass[i];
      for (std::size_t axis = 0; axis < 3; ++axis)
        r[static_cast<Eigen::Index>(3 * i + axis)] = b.inverse_mass[i] > 0 ? left[axis] : 0.0;
    }
    factorize(b, s.x.data(), h, s);
    Eigen::VectorXd y = s.factors.solve(r);
    correct_for_volume(b, s.x.data(), h, s, y);
    for (std::size_t i = 0; i < n; ++i) {
      const auto at = static_cast<Eigen::Index>(3 * i);
      s.v[i] += Vec3{y[at], y[at + 1], y[at + 2]};
    }
  }
  BoundsNote note{.about = center(b.box0)};
  for (std::size_t i = 0; i < n; ++i) {
    b.v[i] = b.inverse_mass[i] > 0 ? s.v[i] : Vec3{};
    b.x[i] = b.x0[i] + b.v[i] * h;
    note.add(b.x0[i], b.x[i]);
  }
  note.give(b);
}

// Impulses that keep contacts apart: projected Gauss and Seidel over rows, with Coulomb's friction.
// Each impulse goes to both sides, so that momentum is conserved whatever the number of iterations.

namespace {

constexpr double kRecovery = 0.1;  // margins a step

Vec3 compute_change(const SoftRow& r) {  // of the slip
  Vec3 sum{};
  for (std::uint32_t k = 0; k < r.count; ++k) sum += *r.change[k] * r.weight[k];
  if (r.rigid != nullptr) sum -= r.rigid->dv + cross(r.rigid->dw, r.arm);
  return sum;
}

void apply(const SoftRow& r, const Vec3& impulse) {
  for (std::uint32_t k = 0; k < r.count; ++k)
    *r.change[k] += impulse * (r.weight[k] * r.inverse_mass[k]);
  if (r.rigid == nullptr || !r.rigid->dynamic) return;
  r.rigid->dv -= impulse * r.rigid->inverse_mass;
  r.rigid->dw -= r.rigid->inverse_inertia * cross(r.arm, impulse);
}

void solve_row(SoftRow& r, double step) {
  const double closing = dot(r.normal, compute_change(r)) + r.gap / step;
  const double impulse = std::max(0.0, r.impulse - closing * r.normal_mass);
  apply(r, r.normal * (impulse - r.impulse));
  r.impulse = impulse;
  if (!(r.friction > 0)) return;
  Vec3 slip = r.slip + compute_change(r);
  slip -= r.normal * dot(r.normal, slip);
  Vec3 drag = r.drag - slip * r.tangent_mass;
  const double most = r.friction * impulse, much = length(drag);
  if (much > most) drag *= most / much;
  apply(r, drag - r.drag);
  r.drag = drag;
}

}  // namespace

double wanted_distance(double distance, double margin) {
  return std::min(margin, distance + kRecovery * margin);
}

void finish_row(SoftRow& r) {
  double along = 0;
  for (std::uint32_t k = 0; k < r.count; ++k)
    along += r.weight[k] * r.weight[k] * r.inverse_mass[k];
  double across = along;
  if (r.rigid != nullptr && r.rigid->dynamic) {
    const Vec3 turn = cross(r.arm, r.normal);
    const Mat3& j = r.rigid->inverse_inertia;
    along += r.rigid->inverse_mass + dot(turn, j * turn);
    // The most that any direction has: steps are too short rather than too long.
    const double trace = j.rows[0].x + j.rows[1].y + j.rows[2].z;
    across += r.rigid->inverse_mass + trace * length_sq(r.arm);
  }
  r.normal_mass = along > 0 ? 1 / along : 0;
  r.tangent_mass = across > 0 ? 1 / across : 0;
}

void solve_rows(std::span<SoftRow*> rows, double step, int iterations) {
  for (int i = 0; i < iterations; ++i)
    for (SoftRow* r : rows) solve_row(*r, step);
}

}  // namespace isotact::detail

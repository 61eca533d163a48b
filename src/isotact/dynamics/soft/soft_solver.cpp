// Impulses that keep contacts apart: projected Gauss and Seidel over rows, with Coulomb's friction.
// Each impulse goes to both sides, so that momentum is conserved whatever the number of iterations.

#include <algorithm>
#include <cmath>

#include "isotact/dynamics/soft/detail/soft_contact.h"

namespace isotact::detail {

namespace {

constexpr double kRecovery = 0.1;  // thicknesses a step

Vec3 find_change(const SoftRow& r) {  // of the slip
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
  const double closing = dot(r.normal, find_change(r)) + r.gap / step;
  const double impulse = std::max(0.0, r.impulse - closing * r.normal_mass);
  apply(r, r.normal * (impulse - r.impulse));
  r.impulse = impulse;
  if (!(r.friction > 0)) return;
  Vec3 slip = r.slip + find_change(r);
  slip -= r.normal * dot(r.normal, slip);
  Vec3 drag = r.drag - slip * r.tangent_mass;
  const double most = r.friction * impulse, much = length(drag);
  if (much > most) drag *= most / much;
  apply(r, drag - r.drag);
  r.drag = drag;
}

}  // namespace

double wanted_distance(double distance, double thickness) {
  return std::min(thickness, distance + kRecovery * thickness);
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

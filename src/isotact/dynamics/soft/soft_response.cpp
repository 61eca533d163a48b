// What soft bodies do about their contacts: islands of bodies, solved and held apart.

#include <algorithm>

#include "isotact/base/disjoint_sets.h"
#include "isotact/dynamics/soft/detail/soft_state.h"

namespace isotact {

using detail::FieldPair;
using detail::RigidSide;
using detail::SoftBody;
using detail::SoftIsland;
using detail::SoftPair;
using detail::SoftRow;

void SoftWorld::State::find_islands() {
  const auto soft = static_cast<std::uint32_t>(bodies.size());
  DisjointSets sets(soft + rigid.size());
  std::vector<bool> busy(soft);
  for (std::size_t k = 0; k < pair_count; ++k) {
    if (pair_rows[k].empty()) continue;
    sets.join(pairs[k].a, pairs[k].b);
    busy[pairs[k].a] = busy[pairs[k].b] = true;
  }
  for (const FieldPair& f : field_pairs) {
    busy[f.body] = true;
    if (rigid[f.rigid].dynamic && !f.rows.empty()) sets.join(f.body, soft + f.rigid);
  }
  constexpr std::uint32_t kNone = 0xffffffffU;
  std::vector<std::uint32_t> number(sets.size(), kNone);
  islands.clear();
  const auto island_of = [&](std::uint32_t node) -> SoftIsland& {
    std::uint32_t& n = number[sets.find(node)];
    if (n == kNone) {
      n = static_cast<std::uint32_t>(islands.size());
      islands.emplace_back();
    }
    return islands[n];
  };
  for (SoftId i = 0; i < soft; ++i)
    if (busy[i]) {
      std::fill(bodies[i].change.begin(), bodies[i].change.end(), Vec3{});
      island_of(i).bodies.push_back(i);
    }
  for (std::uint32_t j = 0; j < rigid.size(); ++j)
    if (rigid[j].dynamic && number[sets.find(soft + j)] != kNone)
      island_of(soft + j).rigid.push_back(&rigid[j]);
  for (std::size_t k = 0; k < pair_count; ++k)
    for (SoftRow& row : pair_rows[k]) island_of(pairs[k].a).rows.push_back(&row);
  for (FieldPair& f : field_pairs)
    for (SoftRow& row : f.rows) island_of(f.body).rows.push_back(&row);
}

namespace {

// What is steered is turned around by what it meets.
void turn_heading(SoftBody& b) {
  if (!b.steered) return;
  Vec3 push{};
  for (std::size_t i = 0; i < b.change.size(); ++i) push += b.change[i] * b.mass[i];
  const Vec3 normal = normalized(push);
  const double against = dot(b.heading, normal);
  if (against < 0) b.heading -= normal * (2 * against);
}

}  // namespace

void SoftWorld::State::solve_island(SoftIsland& island) {
  detail::solve_rows(island.rows, settings.step, settings.contact_iterations);
  for (RigidSide* r : island.rigid) {
    r->velocity += r->dv;
    r->turning += r->dw;
    detail::predict(*r, settings.step);
  }
}

namespace {

// A way made shorter ends between two places outside, which may be inside of what is bent.
void stay_outside(SoftBody& b, std::uint32_t i) {
  if (b.near_rigid.empty() || !(detail::compute_depth(b.x[i], b.near_rigid) > 0)) return;
  if (!(detail::compute_depth(b.x0[i], b.near_rigid) > 0)) b.x[i] = b.x0[i];
}

}  // namespace

void SoftWorld::State::push(SoftBody& b) {
  detail::note_prediction(b);
  turn_heading(b);
  for (std::size_t i = 0; i < b.x.size(); ++i) {
    b.x[i] += b.change[i] * settings.step;
    b.v[i] += b.change[i];
  }
  detail::update_bounds(b);
  if (b.broken) return;
  for (RigidSide& r : rigid)
    if (r.field && detail::may_touch(b, r)) b.near_rigid.push_back(&r);
  for (std::uint32_t i = 0; i < b.x.size(); ++i) {
    if (b.inverse_mass[i] == 0) continue;
    if (!b.near_rigid.empty()) detail::keep_outside(b, i, b.near_rigid);
    Vec3 x = clamp_to(b.room, b.x[i]);
    if (settings.cube) x = clamp_to(*settings.cube, x);
    if (x == b.x[i]) continue;
    b.x[i] = x;
    stay_outside(b, i);
  }
  detail::update_bounds(b);
  detail::update_off(b);
}

void SoftWorld::State::hold_apart() {
  // A pair is looked at once more at most: what is found by ways holds for all shorter ones.
  std::vector<std::uint32_t> again;
  for (FieldPair& f : field_pairs) {
    RigidSide& r = rigid[f.rigid];
    if (r.placed && r.now == r.next)
      detail::find_points_on_paths(bodies[f.body], r, f.candidates, f.near);
    f.fixed.assign(f.near.size(), false);
  }
  for (int round = 0;; ++round) {
    again.clear();
    for (std::uint32_t k = 0; k < pair_count; ++k) {
      SoftPair& p = pairs[k];
      if (p.by_ways || bodies[p.a].off + bodies[p.b].off < p.margin) continue;
      p.by_ways = true;
      again.push_back(k);
    }
    if (round > 0 && again.empty()) break;
    look_at_pairs(again);
    // What one of the two shortens may be in the way of the other. Ways only get shorter, and what
    // is on its side of a plane stays there: it comes to an end.
    do hold_islands(stay_outside);
    while (hold_off_points(stay_outside) > 0);
    note_held();
  }
  for (const SoftBody& b : bodies) {
    if (b.near_rigid.empty() || !b.pushed) continue;
    for (const Vec3& x : b.x)
      report.depth = std::max(report.depth, detail::compute_depth(x, b.near_rigid));
  }
}

// Bodies that hang together by what is near are held apart by one thread.
void SoftWorld::State::hold_islands(const detail::HoldCheck& check) {
  DisjointSets sets(bodies.size());
  for (std::size_t k = 0; k < pair_count; ++k)
    if (!pairs[k].near.empty()) sets.join(pairs[k].a, pairs[k].b);
  islands.clear();
  constexpr std::uint32_t kNone = 0xffffffffU;
  std::vector<std::uint32_t> number(bodies.size(), kNone);
  for (std::size_t k = 0; k < pair_count; ++k) {
    if (pairs[k].near.empty()) continue;
    const std::uint32_t root = sets.find(pairs[k].a);
    if (number[root] == kNone) {
      number[root] = static_cast<std::uint32_t>(islands.size());
      islands.emplace_back();
    }
    islands[number[root]].pairs.push_back(&pairs[k]);
  }
  parallel_for(islands.size(), 1, settings.threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      islands[i].held = detail::hold_apart(islands[i].pairs, bodies, check);
  });
  for (const SoftIsland& island : islands) report.held += island.held;
}

std::uint32_t SoftWorld::State::hold_off_points(const detail::HoldCheck& check) {
  std::uint32_t held = 0;
  for (FieldPair& f : field_pairs)
    held += detail::hold_off_points(bodies[f.body], f.near, f.fixed, check);
  report.held += held;
  return held;
}

void SoftWorld::State::note_held() {
  for (SoftBody& b : bodies) {
    if (!b.held) continue;
    b.held = false;
    detail::update_bounds(b);
    detail::update_off(b);
  }
}

}  // namespace isotact

// Soft bodies against each other and against themselves.
//
// Features that are near at the beginning of a step are kept apart along the line between their
// nearest points then, so that nobody can come out on the wrong side, however long the step. First
// by impulses. What these leave is held back, which needs no convergence: see hold_apart.

#include <algorithm>
#include <cmath>
#include <limits>

#include "isotact/base/detail/thread_scratch.h"
#include "isotact/dynamics/soft/detail/soft_contact.h"

namespace isotact::detail {

namespace {

std::size_t count_of_a(FeatureKind kind) {
  return kind == FeatureKind::kVertexFace ? 1 : kind == FeatureKind::kEdgeEdge ? 2 : 3;
}

bool is_less(const FeatureContact& p, const FeatureContact& q) {
  if (p.kind != q.kind) return p.kind < q.kind;
  return p.feature_a != q.feature_a ? p.feature_a < q.feature_a : p.feature_b < q.feature_b;
}

// Features of one body that are nearer than its margin at rest: no contact.
bool is_near_at_rest(const SoftBody& body, const FeatureContact& c) {
  return std::binary_search(body.near_at_rest.begin(), body.near_at_rest.end(), c, is_less);
}

}  // namespace

void note_rest(SoftBody& body) {
  std::vector<TrianglePair> candidates;
  body.tree->set_positions(body.x);
  find_self_pairs(*body.tree, {.margin = body.margin}, candidates);
  find_self_proximities({&body.topology, body.x}, candidates, body.margin, body.near_at_rest);
}

double compute_reach_around(const SoftBody& body, double others) {
  return std::max(body.reach, std::min(others, 0.5 * body.mean_edge)) + body.margin;
}

void note_prediction(SoftBody& body) {
  if (!body.pushed) body.predicted = body.x;
  body.pushed = true;
}

void update_off(SoftBody& body) {
  double off_sq = 0;
  for (std::size_t i = 0; i < body.x.size(); ++i)
    off_sq = std::max(off_sq, length_sq(body.x[i] - body.predicted[i]));
  body.off = std::sqrt(off_sq) * (1 + 1e-14);
}

namespace {

struct NearScratch {
  std::vector<Vec3> a{}, b{};  // ends of ways
};

// Where vertices would end, seen from a frame that goes by `way`; and the longest way there.
double place_ends(const SoftBody& body, const Vec3& way, std::vector<Vec3>& ends) {
  const std::vector<Vec3>& to = predicted_of(body);
  ends.resize(to.size());
  double longest_sq = 0;
  for (std::size_t i = 0; i < to.size(); ++i) {
    ends[i] = to[i] - way;
    longest_sq = std::max(longest_sq, length_sq(ends[i] - body.x0[i]));
  }
  return std::sqrt(longest_sq) * (1 + 1e-14);
}

double find_longest_path(const SoftBody& body) {
  double longest_sq = 0;
  for (std::size_t i = 0; i < body.x.size(); ++i)
    longest_sq = std::max(longest_sq, length_sq(body.x[i] - body.x0[i]));
  return std::sqrt(longest_sq) * (1 + 1e-14);
}

}  // namespace

void find_near(SoftPair& pair, std::vector<SoftBody>& bodies) {
  ThreadScratch<NearScratch> scratch;
  SoftBody &a = bodies[pair.a], &b = bodies[pair.b];
  pair.candidates.clear();
  pair.near.clear();
  const SurfaceView view_a{&a.topology, a.x0}, view_b{&b.topology, b.x0};
  const Vec3 way = (a.mean_way + b.mean_way) * 0.5;
  const double way_a = place_ends(a, way, scratch->a);
  a.tree->set_positions(a.x0, scratch->a);
  if (pair.a == pair.b) {
    find_self_pairs(*a.tree, {.margin = pair.margin}, pair.candidates);
    find_self_proximities(view_a, pair.candidates, pair.margin + 2 * way_a, pair.near);
    return;
  }
  const double way_b = place_ends(b, way, scratch->b);
  b.tree->set_positions(b.x0, scratch->b);
  find_triangle_pairs(*a.tree, *b.tree, {.margin = pair.margin}, pair.candidates);
  find_proximities(view_a, view_b, pair.candidates, pair.margin + way_a + way_b, pair.near);
}

void find_on_paths(SoftPair& pair, std::vector<SoftBody>& bodies) {
  SoftBody &a = bodies[pair.a], &b = bodies[pair.b];
  pair.candidates.clear();
  pair.near.clear();
  const SurfaceView view_a{&a.topology, a.x0}, view_b{&b.topology, b.x0};
  const double way_a = find_longest_path(a);
  a.tree->set_positions(a.x0, a.x);
  if (pair.a == pair.b) {
    find_self_pairs(*a.tree, {}, pair.candidates);
    find_self_proximities(view_a, pair.candidates, 2 * way_a, pair.near);
    return;
  }
  const double way_b = find_longest_path(b);
  b.tree->set_positions(b.x0, b.x);
  find_triangle_pairs(*a.tree, *b.tree, {}, pair.candidates);
  find_proximities(view_a, view_b, pair.candidates, way_a + way_b, pair.near);
}

void find_pair_rows(SoftPair& pair, std::uint32_t number, std::vector<SoftBody>& bodies,
                    double step, std::vector<SoftRow>& rows) {
  SoftBody &a = bodies[pair.a], &b = bodies[pair.b];
  const bool self = pair.a == pair.b;
  const double margin = std::max(a.margin, b.margin);
  const double friction = std::sqrt(a.settings.material.friction * b.settings.material.friction);
  for (const FeatureContact& c : pair.near) {
    const std::size_t of_a = count_of_a(c.kind);
    SoftRow row;
    row.pair = number;
    row.count = 4;
    row.normal = c.normal;
    if (!(c.distance > 0)) {  // no direction: apart as the bodies are
      if (self) continue;
      row.normal = normalized(center(a.box0) - center(b.box0));
      if (row.normal == Vec3{}) continue;
    }
    Vec3 end{}, way{};
    for (std::size_t k = 0; k < 4; ++k) {
      SoftBody& body = k < of_a ? a : b;
      const std::uint32_t i = c.vertices[k];
      row.weight[k] = k < of_a ? c.weights[k] : -c.weights[k];
      row.change[k] = &body.change[i];
      row.inverse_mass[k] = body.inverse_mass[i];
      end += body.x[i] * row.weight[k];
      way += (body.x[i] - body.x0[i]) * row.weight[k];
    }
    row.gap = dot(row.normal, end) - wanted_distance(c.distance, margin);
    if (row.gap > 0.5 * margin || (self && is_near_at_rest(a, c))) continue;
    row.slip = way / step;
    row.place = (c.point_on_a + c.point_on_b) * 0.5;
    row.friction = friction;
    finish_row(row);
    if (row.normal_mass > 0) rows.push_back(row);
  }
}

namespace {

// How far apart the ends of the ways of A's vertices and of B's are, along the normal.
double compute_end_gap(const FeatureContact& c, const SoftBody& a, const SoftBody& b) {
  const std::size_t of_a = count_of_a(c.kind);
  double lower = std::numeric_limits<double>::infinity(), upper = -lower;
  for (std::size_t k = 0; k < 4; ++k) {
    if (k < of_a)
      lower = std::min(lower, dot(c.normal, a.x[c.vertices[k]] - c.point_on_b));
    else
      upper = std::max(upper, dot(c.normal, b.x[c.vertices[k]] - c.point_on_b));
  }
  return lower - upper;
}

constexpr double kKeep = 0.1;  // of the distance that must be left

// Shortens a vertex's way so that it stays on its side of the plane in the middle.
bool hold_vertex(SoftBody& body, std::uint32_t i, const Vec3& normal, const Vec3& middle,
                 double keep, const HoldCheck& check) {
  if (body.inverse_mass[i] == 0) return false;
  const double start = dot(normal, body.x0[i] - middle), end = dot(normal, body.x[i] - middle);
  if (end >= keep || !(start > end)) return false;
  const double share = std::clamp((start - keep) / (start - end), 0.0, 1.0);
  note_prediction(body);
  body.held = true;
  body.x[i] = lerp(body.x0[i], body.x[i], share);
  check(body, i);
  return true;
}

// Takes the speed away with which the nearest points approach each other, as an impulse on all
// vertices: a way that is cut short while the velocity stays would load springs without end.
// Without b, its point rests.
void stop_approach(const FeatureContact& c, SoftBody& a, SoftBody* b) {
  const std::size_t of_a = count_of_a(c.kind);
  double speed = 0, mobility = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    if (k >= of_a && b == nullptr) continue;
    const SoftBody& body = k < of_a ? a : *b;
    const double weight = k < of_a ? c.weights[k] : -c.weights[k];
    speed += weight * dot(c.normal, body.v[c.vertices[k]]);
    mobility += weight * weight * body.inverse_mass[c.vertices[k]];
  }
  if (!(speed < 0) || !(mobility > 0)) return;
  for (std::size_t k = 0; k < 4; ++k) {
    if (k >= of_a && b == nullptr) continue;
    SoftBody& body = k < of_a ? a : *b;
    const double weight = k < of_a ? c.weights[k] : -c.weights[k];
    body.v[c.vertices[k]] -=
        c.normal * (speed / mobility * weight * body.inverse_mass[c.vertices[k]]);
  }
}

std::uint32_t hold_features(const FeatureContact& c, SoftBody& a, SoftBody& b,
                            const HoldCheck& check) {
  const std::size_t of_a = count_of_a(c.kind);
  const Vec3 middle = (c.point_on_a + c.point_on_b) * 0.5;
  const double keep = kKeep * 0.5 * c.distance;
  std::uint32_t held = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    SoftBody& body = k < of_a ? a : b;
    const Vec3 normal = k < of_a ? c.normal : -c.normal;
    held += hold_vertex(body, c.vertices[k], normal, middle, keep, check) ? 1U : 0U;
  }
  stop_approach(c, a, &b);
  return held;
}

}  // namespace

std::uint32_t hold_apart(std::span<SoftPair*> pairs, std::vector<SoftBody>& bodies,
                         const HoldCheck& check) {
  std::uint32_t held = 0;
  for (SoftPair* p : pairs) p->fixed.assign(p->near.size(), false);
  for (bool changed = true; changed;) {
    changed = false;
    for (SoftPair* p : pairs) {
      SoftBody &a = bodies[p->a], &b = bodies[p->b];
      for (std::size_t k = 0; k < p->near.size(); ++k) {
        const FeatureContact& c = p->near[k];
        // What touches from the start has no plane between, and cannot be held.
        if (!(c.distance > 0)) continue;
        if (p->fixed[k] || compute_end_gap(c, a, b) >= kKeep * c.distance) continue;
        p->fixed[k] = changed = true;
        held += hold_features(c, a, b, check);
      }
    }
  }
  return held;
}

void find_points_on_paths(SoftBody& body, RigidSide& rigid, std::vector<TrianglePair>& candidates,
                          std::vector<FeatureContact>& near) {
  candidates.clear();
  near.clear();
  body.tree->set_positions(body.x0, body.x);
  rigid.tree->set_positions(rigid.points);
  find_triangle_pairs(*body.tree, *rigid.tree, {}, candidates);
  find_proximities({&body.topology, body.x0}, {&rigid.topology, rigid.points}, candidates,
                   find_longest_path(body), near);
  std::erase_if(near, [](const FeatureContact& c) {
    return c.kind != FeatureKind::kFaceVertex || !(c.distance > 0);
  });
}

std::uint32_t hold_off_points(SoftBody& body, std::span<const FeatureContact> near,
                              std::vector<bool>& fixed, const HoldCheck& check) {
  std::uint32_t held = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t j = 0; j < near.size(); ++j) {
      if (fixed[j]) continue;
      const FeatureContact& c = near[j];
      double gap = std::numeric_limits<double>::infinity();
      for (std::size_t k = 0; k < 3; ++k)
        gap = std::min(gap, dot(c.normal, body.x[c.vertices[k]] - c.point_on_b));
      if (gap >= kKeep * c.distance) continue;
      fixed[j] = changed = true;
      const Vec3 middle = (c.point_on_a + c.point_on_b) * 0.5;
      for (std::size_t k = 0; k < 3; ++k)
        if (hold_vertex(body, c.vertices[k], c.normal, middle, kKeep * 0.5 * c.distance, check))
          ++held;
      stop_approach(c, body, nullptr);
    }
  }
  return held;
}

}  // namespace isotact::detail

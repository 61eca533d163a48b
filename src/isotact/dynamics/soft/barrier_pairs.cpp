// Candidates of barriers, and the proof that a move lets none of them cross.
#include <algorithm>
#include <cmath>

#include "isotact/dynamics/soft/detail/barrier.h"
#include "isotact/queries/deformable/continuous_features.h"

namespace isotact::detail {
namespace {

// Of the gap above the least separation: what a move must leave.
constexpr double kLeave = 0.25;

bool has_fixed_side(const BarrierSurface& a) { return !a.moves; }

double largest_margin(const BarrierSystem& s) {
  double margin = 0;
  for (const BarrierSurface& a : s.surfaces) margin = std::max(margin, a.margin);
  return margin;
}

// Metres: how far arcs of a rigid body's vertices are from their chords at most. The second
// derivative of a turn by an angle in a unit of time is its square times the arm.
double compute_arc(const BarrierRigid& r, double part) {
  const double angle_sq = length_sq(r.twist) * part * part;
  return r.reach * angle_sq / 8;
}

struct PairMaker {
  BarrierSystem& s;
  const BarrierSurface &a, &b;
  double margin;
  bool self;

  bool is_far(std::span<const std::uint32_t> first, std::span<const std::uint32_t> second,
              double reach) const {
    for (std::size_t k = 0; k < 3; ++k) {
      double low_a = s.lower[first[0]][k], high_a = s.upper[first[0]][k];
      for (const std::uint32_t i : first.subspan(1))
        low_a = std::min(low_a, s.lower[i][k]), high_a = std::max(high_a, s.upper[i][k]);
      double low_b = s.lower[second[0]][k], high_b = s.upper[second[0]][k];
      for (const std::uint32_t i : second.subspan(1))
        low_b = std::min(low_b, s.lower[i][k]), high_b = std::max(high_b, s.upper[i][k]);
      if (low_a - high_b > reach || low_b - high_a > reach) return true;
    }
    return false;
  }

  void add(const std::array<std::uint32_t, 4>& v, bool edges, FeatureKind kind,
           std::uint32_t feature_a, std::uint32_t feature_b) {
    const std::size_t split = edges ? 2 : 1;
    const std::span<const std::uint32_t> all(v);
    const double radius = std::max(a.radius, b.radius);
    if (is_far(all.first(split), all.subspan(split), margin + radius)) return;
    BarrierPair p{.v = v,
                  .edges = edges,
                  .friction = static_cast<float>(std::sqrt(a.friction * b.friction)),
                  .reach = margin,
                  .radius = radius,
                  .stiffness = std::max(a.inertia, b.inertia)};
    if (self && !a.near_at_rest->empty()) {
      const FeatureContact key{.kind = kind, .feature_a = feature_a, .feature_b = feature_b};
      const auto& rest = *a.near_at_rest;
      const auto before = [](const FeatureContact& l, const FeatureContact& r) {
        if (l.kind != r.kind) return l.kind < r.kind;
        return l.feature_a != r.feature_a ? l.feature_a < r.feature_a : l.feature_b < r.feature_b;
      };
      const auto at = std::lower_bound(rest.begin(), rest.end(), key, before);
      if (at != rest.end() && !before(key, *at)) p.reach = std::min(p.reach, 0.5 * at->distance);
    }
    p.least = kLeastShare * p.reach;
    // Those that are nearer keep half of what they have. They are pushed to more.
    const bool is_near = may_reach(p, s.x.data());
    const double now = is_near ? compute_pair_distance(p, s.x.data()).distance - radius : p.reach;
    p.bound = now;
    if (is_near && now < p.reach) p.now = now;
    p.self = self;
    // No vertex leaves its room.
    const auto stray = [&](std::size_t begin, std::size_t end) {
      double most = 0;
      for (std::size_t k = begin; k < end; ++k) {
        const Vec3 &x = s.x[v[k]], far = max(s.upper[v[k]] - x, x - s.lower[v[k]]);
        most = std::max(most, length_sq(far));
      }
      return std::sqrt(most);
    };
    if (is_near && now > 1.001 * (p.reach + stray(0, split) + stray(split, 4))) return;
    if (!(now > 1e-3 * p.least)) {
      ++s.left_out;
      return;
    }
    if (now < 1.01 * p.least) p.least = 0.5 * now;
    s.pairs.push_back(p);
  }

  void add_vertex(const BarrierSurface& of, const BarrierSurface& face, std::uint32_t triangle,
                  std::size_t corner, std::uint32_t other, bool swapped) {
    if (!of.topology->owns_corner(triangle, corner)) return;
    const std::uint32_t v = of.topology->triangles[triangle][corner];
    const Triangle& t = face.topology->triangles[other];
    if (self && (t[0] == v || t[1] == v || t[2] == v)) return;
    add({of.first + v, face.first + t[0], face.first + t[1], face.first + t[2]}, false,
        swapped && !self ? FeatureKind::kFaceVertex : FeatureKind::kVertexFace, v, other);
  }

  void add_edges(std::uint32_t ta, std::size_t i, std::uint32_t tb, std::size_t j) {
    if (!a.topology->owns_edge(ta, i) || !b.topology->owns_edge(tb, j)) return;
    std::uint32_t e = a.topology->edges_of[ta][i], f = b.topology->edges_of[tb][j];
    if (self && e > f) std::swap(e, f);
    const Edge &ea = a.topology->edges[e], &eb = b.topology->edges[f];
    if (self && (ea[0] == eb[0] || ea[0] == eb[1] || ea[1] == eb[0] || ea[1] == eb[1])) return;
    add({a.first + ea[0], a.first + ea[1], b.first + eb[0], b.first + eb[1]}, true,
        FeatureKind::kEdgeEdge, e, f);
  }

  void add_triangles(const TrianglePair& t) {
    for (std::size_t k = 0; k < 3; ++k) add_vertex(a, b, t.a, k, t.b, false);
    for (std::size_t k = 0; k < 3; ++k) add_vertex(b, a, t.b, k, t.a, true);
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) add_edges(t.a, i, t.b, j);
  }
};

std::span<const Vec3> part_of(const std::vector<Vec3>& all, const BarrierSurface& a) {
  return std::span<const Vec3>(all).subspan(a.first, a.count);
}

void find_pairs_of(BarrierSystem& s, BarrierSurface& a, BarrierSurface& b, bool self) {
  const double margin = std::max(a.margin, b.margin), radius = std::max(a.radius, b.radius);
  const Vec3 around{margin + radius, margin + radius, margin + radius};
  if (!self && !overlaps(Aabb{a.room.lower - around, a.room.upper + around}, b.room)) return;
  PairMaker maker{s, a, b, margin, self};
  if (b.tree == nullptr) {  // a sphere
    for (std::uint32_t t = 0; t < a.topology->triangles.size(); ++t) {
      const Triangle& f = a.topology->triangles[t];
      maker.add({b.first, a.first + f[0], a.first + f[1], a.first + f[2]}, false,
                FeatureKind::kFaceVertex, t, 0);
    }
    return;
  }
  s.found.clear();
  a.tree->set_positions(part_of(s.lower, a), part_of(s.upper, a));
  if (self) {
    find_self_pairs(*a.tree, {.margin = margin, .threads = s.threads}, s.found);
  } else {
    b.tree->set_positions(part_of(s.lower, b), part_of(s.upper, b));
    find_triangle_pairs(*a.tree, *b.tree, {.margin = margin, .threads = s.threads}, s.found);
  }
  for (const TrianglePair& t : s.found) maker.add_triangles(t);
}

}  // namespace

bool has_room(const BarrierSystem& s) {
  if (s.lower.size() != s.x.size()) return false;
  const auto is_inside = [&](std::size_t i, const Vec3& x) {
    const Vec3 &l = s.lower[i], &u = s.upper[i];
    return x.x >= l.x && x.y >= l.y && x.z >= l.z && x.x <= u.x && x.y <= u.y && x.z <= u.z;
  };
  for (std::uint32_t i = 0; i < s.soft_count; ++i)
    if (!is_inside(i, s.x[i] + s.direction[i]) || !is_inside(i, s.x[i])) return false;
  for (const BarrierRigid& r : s.rigid) {
    if (r.push == Vec3{} && r.twist == Vec3{}) continue;
    for (std::uint32_t i = r.first; i < r.first + r.count; ++i)
      if (!is_inside(i, s.x[i] + s.direction[i]) || !is_inside(i, s.x[i])) return false;
  }
  return true;
}

bool make_room(BarrierSystem& s) {
  if (has_room(s)) return true;
  if (s.lower.size() != s.x.size() || s.searches < 2) return false;
  // Directions of soft vertices are cut short at their rooms, if that is not much.
  constexpr double kLeastPart = 0.2;
  std::vector<double> part(s.soft_count, 1);
  for (std::uint32_t i = 0; i < s.soft_count; ++i)
    for (std::size_t k = 0; k < 3; ++k) {
      const double x = s.x[i][k], way = s.direction[i][k];
      const double room = way > 0 ? s.upper[i][k] - x : x - s.lower[i][k];
      if (std::abs(way) > room) part[i] = std::min(part[i], 0.999 * room / std::abs(way));
      if (part[i] < kLeastPart) return false;
    }
  for (std::uint32_t i = 0; i < s.soft_count; ++i) s.direction[i] *= part[i];
  return has_room(s);
}

void find_pairs(BarrierSystem& s) {
  const std::size_t n = s.x.size();
  ++s.searches;
  s.lower.resize(n), s.upper.resize(n);
  // Each search of a step leaves more room, so that few are needed.
  const double spare = (s.searches == 1 ? 0.5 : 0.75) * largest_margin(s);
  const double largest = largest_margin(s);
  for (BarrierSurface& a : s.surfaces) {
    double around = a.moves ? spare : 0;
    if (a.rigid >= 0) around += 2 * compute_arc(s.rigid[static_cast<std::size_t>(a.rigid)], 1);
    a.room = {};
    for (std::uint32_t i = a.first; i < a.first + a.count; ++i) {
      const Vec3 to = s.x[i] + s.direction[i];
      double pad_i = around;
      if (i < s.soft_count) pad_i += std::min(0.05 * length(s.aim[i] - s.x0[i]), 0.5 * largest);
      const Vec3 pad{pad_i, pad_i, pad_i};
      // A fifth more than it is to go: later rounds correct it.
      const Vec3 more = (to - s.x[i]) * 0.2;
      s.lower[i] = min(s.x[i], to + more) - pad;
      s.upper[i] = max(s.x[i], to + more) + pad;
      extend(a.room, s.lower[i]);
      extend(a.room, s.upper[i]);
    }
  }
  s.pairs.clear();
  s.travel.assign(n, 0), s.travel_beside.assign(n, 0);
  s.left_out = 0;
  for (std::size_t i = 0; i < s.surfaces.size(); ++i) {
    BarrierSurface& a = s.surfaces[i];
    if (a.rigid < 0 && a.self) find_pairs_of(s, a, a, true);
    if (a.rigid >= 0 || a.tree == nullptr) continue;  // Rigid bodies come last.
    for (std::size_t j = i + 1; j < s.surfaces.size(); ++j)
      if (!has_fixed_side(a) || !has_fixed_side(s.surfaces[j]))
        find_pairs_of(s, a, s.surfaces[j], false);
  }
  // Sums over pairs must not depend on when they were found.
  std::sort(s.pairs.begin(), s.pairs.end(), [](const BarrierPair& p, const BarrierPair& q) {
    return p.edges != q.edges ? p.edges < q.edges : p.v < q.v;
  });
}

PairDistance compute_pair_distance(const BarrierPair& p, const Vec3* x) {
  const std::array<Vec3, 4> points{x[p.v[0]], x[p.v[1]], x[p.v[2]], x[p.v[3]]};
  const FeatureDistance d =
      p.edges ? compute_distance_edge_edge(points) : compute_distance_vertex_face(points);
  PairDistance out{.w = d.weights, .distance = d.distance};
  for (std::size_t k = p.edges ? 2 : 1; k < 4; ++k) out.w[k] = -out.w[k];
  out.normal = d.distance > 0 ? d.to_first / d.distance : Vec3{};
  return out;
}

bool may_reach(const BarrierPair& p, const Vec3* x) {
  const double far = p.reach + p.radius;
  const Vec3 &a = x[p.v[0]], &b = x[p.v[1]], &c = x[p.v[2]], &d = x[p.v[3]];
  for (std::size_t k = 0; k < 3; ++k) {
    if (p.edges) {
      if (std::min(a[k], b[k]) - std::max(c[k], d[k]) > far) return false;
      if (std::min(c[k], d[k]) - std::max(a[k], b[k]) > far) return false;
    } else {
      if (a[k] - std::max({b[k], c[k], d[k]}) > far) return false;
      if (std::min({b[k], c[k], d[k]}) - a[k] > far) return false;
    }
  }
  return true;
}

void place_trial(BarrierSystem& s, double part) {
  for (std::uint32_t i = 0; i < s.soft_count; ++i) {
    const double share = s.share[i] * part;
    s.trial[i] = share == 1 && s.inertia[i] == 0 ? s.aim[i] : s.x[i] + s.direction[i] * share;
  }
  for (std::size_t k = 0; k < s.rigid.size(); ++k) {
    BarrierRigid& r = s.rigid[k];
    const double share = s.share[s.soft_count + k] * part;
    r.center_trial = r.center + r.push * share;
    const Vec3 turn = r.twist * share;
    r.turn_trial = normalized(rotation_about(turn, length(turn)) * r.turn);
    if (share == 1 && !r.dynamic) r.center_trial = r.center_aim, r.turn_trial = r.turn_aim;
    if (share == 0 || (r.push == Vec3{} && r.twist == Vec3{})) {
      r.center_trial = r.center, r.turn_trial = r.turn;
      for (std::uint32_t i = 0; i < r.count; ++i) s.trial[r.first + i] = s.x[r.first + i];
      continue;
    }
    for (std::uint32_t i = 0; i < r.count; ++i)
      s.trial[r.first + i] = r.center_trial + rotate(r.turn_trial, r.local[i]);
  }
}

void measure_trial(BarrierSystem& s) {
  s.trial_travel.resize(s.x.size()), s.trial_beside.resize(s.x.size());
  for (const BarrierSurface& a : s.surfaces) {
    if (!a.moves) {
      std::fill_n(s.trial_travel.begin() + a.first, a.count, 0.0);
      continue;
    }
    Vec3 mean{};
    for (std::uint32_t i = a.first; i < a.first + a.count; ++i) mean += s.trial[i] - s.x[i];
    mean = mean / static_cast<double>(a.count);
    // A little more, for rounding.
    constexpr double kMore = 1 + 1e-12;
    for (std::uint32_t i = a.first; i < a.first + a.count; ++i) {
      s.trial_travel[i] = length(s.trial[i] - s.x[i]) * kMore;
      s.trial_beside[i] = length(s.trial[i] - s.x[i] - mean) * kMore;
    }
  }
}

namespace {

double sum_of(const std::vector<double>& travel, const BarrierPair& p) {
  return travel[p.v[0]] + travel[p.v[1]] + travel[p.v[2]] + travel[p.v[3]];
}

}  // namespace

double bound_now(const BarrierSystem& s, const BarrierPair& p) {
  return p.bound - sum_of(p.self ? s.travel_beside : s.travel, p);
}
double bound_on_trial(const BarrierSystem& s, const BarrierPair& p) {
  return bound_now(s, p) - sum_of(p.self ? s.trial_beside : s.trial_travel, p);
}

namespace {

struct Certifier {
  BarrierSystem& s;
  std::vector<double> arc{};  // By rigid body, at the current shares.

  double arc_of(std::uint32_t mover) const {
    return mover == kNoMover || mover < s.soft_count ? 0 : arc[mover - s.soft_count];
  }

  bool is_dirty(const BarrierPair& p) const {
    return std::any_of(p.v.begin(), p.v.end(), [&](std::uint32_t i) {
      const std::uint32_t m = s.mover[i];
      return m != kNoMover && s.dirty[m] != 0;
    });
  }

  double prove(const BarrierPair& p) const {
    const double arcs = arc_of(s.mover[p.v[0]]) + arc_of(s.mover[p.v[3]]);
    FeatureMotion motion;
    for (std::size_t k = 0; k < 4; ++k)
      motion.at_t0[k] = s.x[p.v[k]], motion.at_t1[k] = s.trial[p.v[k]];
    const double wanted = p.radius + p.least + arcs;
    if (bound_on_trial(s, p) > p.least + arcs + kLeave * p.reach) return 1;
    // Boxes of the paths: exact, and enough for most.
    for (std::size_t k = 0; k < 3; ++k) {
      double low_a = 0, high_a = 0, low_b = 0, high_b = 0;
      const auto span = [&](std::size_t i) {
        return Interval2{std::min(motion.at_t0[i][k], motion.at_t1[i][k]),
                         std::max(motion.at_t0[i][k], motion.at_t1[i][k])};
      };
      const Interval2 i0 = span(0), i1 = span(1), i2 = span(2), i3 = span(3);
      low_a = p.edges ? std::min(i0.low, i1.low) : i0.low;
      high_a = p.edges ? std::max(i0.high, i1.high) : i0.high;
      low_b = std::min(i2.low, i3.low), high_b = std::max(i2.high, i3.high);
      if (!p.edges) low_b = std::min(low_b, i1.low), high_b = std::max(high_b, i1.high);
      // What is left of the gap counts, too: half of the reach is more than that.
      if (low_a - high_b > wanted + p.reach * kLeave || low_b - high_a > wanted + p.reach * kLeave)
        return 1;
    }
    const double now =
        p.now >= 0 ? p.now + p.radius : compute_pair_distance(p, s.x.data()).distance;
    const double gap = now - p.radius - p.least;
    if (!(gap > 0)) return 0;
    const MeetingSettings settings{.separation = wanted + std::min(kLeave * gap, kLeave * p.reach),
                                   .tolerance = 0.05 * gap,
                                   .max_steps = 64};
    if (!(now > settings.separation)) return 0;  // Arcs that are too long for the gap.
    const Meeting m = p.edges ? find_meeting_edge_edge(motion, settings)
                              : find_meeting_vertex_face(motion, settings);
    return m.status == MeetingStatus::kApart ? 1 : std::clamp(m.time, 0.0, 1.0);
  }

  struct Interval2 {
    double low, high;
  };

  void prove_all() {
    arc.resize(s.rigid.size());
    for (std::size_t k = 0; k < arc.size(); ++k)
      arc[k] = compute_arc(s.rigid[k], s.share[s.soft_count + k]);
    s.time.assign(s.pairs.size(), 1);
    parallel_for(s.pairs.size(), 2048, s.threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        if (is_dirty(s.pairs[i])) s.time[i] = prove(s.pairs[i]);
    });
  }
};

// Vertices go straight, so that both ends beyond a plane are enough.
void limit_by_planes(BarrierSystem& s) {
  for (const BarrierSurface& a : s.surfaces) {
    if (a.rigid >= 0 || a.tree == nullptr) continue;
    const double least = kLeastShare * a.margin;
    for (const BarrierPlane& plane : s.planes)
      for (std::uint32_t i = a.first; i < a.first + a.count; ++i) {
        if (s.inertia[i] == 0) continue;
        const double now = dot(plane.normal, s.x[i]) - plane.offset;
        const double way = dot(plane.normal, s.direction[i]);
        const double low = now < 1.01 * least ? 0.5 * now : least;
        const double keep = low + kLeave * (now - low);
        if (!(now > 0)) continue;  // It began inside.
        if (now + way < keep) s.share[i] = std::min(s.share[i], 0.999 * (now - keep) / -way);
      }
  }
}

}  // namespace

bool find_blocked(BarrierSystem& s) {
  const std::size_t movers = s.soft_count + s.rigid.size();
  s.share.assign(movers, 1);
  s.dirty.assign(movers, 1);
  Certifier c{s};
  place_trial(s, 1);
  measure_trial(s);
  c.prove_all();
  return std::any_of(s.time.begin(), s.time.end(), [](double t) { return t < 1; });
}

double find_certified_shares(BarrierSystem& s, bool together) {
  const std::size_t movers = s.soft_count + s.rigid.size();
  s.share.assign(movers, 1);
  s.dirty.assign(movers, 1);
  limit_by_planes(s);
  double least = *std::min_element(s.share.begin(), s.share.end());
  if (together) std::fill(s.share.begin(), s.share.end(), least);
  Certifier c{s};
  constexpr int kMostRounds = 8, kMostRoundsTogether = 40;
  for (int round = 0;; ++round) {
    place_trial(s, 1);
    measure_trial(s);
    c.prove_all();
    bool changed = false;
    if (together) {
      const double part = s.time.empty() ? 1 : *std::min_element(s.time.begin(), s.time.end());
      if (part == 1) break;
      const double share = round < kMostRoundsTogether ? s.share[0] * part * 0.98 : 0;
      std::fill(s.share.begin(), s.share.end(), share);
      continue;
    }
    s.next_dirty.assign(movers, 0);
    const std::vector<double> before = s.share;
    for (std::size_t k = 0; k < s.pairs.size(); ++k) {
      if (s.time[k] == 1) continue;
      for (const std::uint32_t i : s.pairs[k].v) {
        const std::uint32_t m = s.mover[i];
        if (m == kNoMover || before[m] == 0) continue;
        const double share = before[m] * s.time[k] * 0.98;
        if (share >= s.share[m]) continue;
        s.share[m] = share;
        s.next_dirty[m] = 1;
        changed = true;
      }
    }
    if (!changed) break;
    if (round == kMostRounds) return -1;
    std::swap(s.dirty, s.next_dirty);
  }
  least = *std::min_element(s.share.begin(), s.share.end());
  return least;
}

}  // namespace isotact::detail

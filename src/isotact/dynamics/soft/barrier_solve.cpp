// The minimisation of a step's energy: Newton's method with preconditioned conjugate gradients.
// Matrices are sums of terms with positive curvature, and are never assembled: a direction from any
// number of products descends.
#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Dense>

#include "isotact/dynamics/soft/detail/barrier.h"

namespace isotact::detail {

namespace {

struct SpringTerm {
  std::uint32_t a = 0, b = 0;
  double along = 0, across = 0;
  Vec3 normal{};
};
struct AreaTerm {
  Triangle t{};
  std::array<Vec3, 3> g{};
  double k = 0;
};
struct VolumeTerm {
  const BarrierSurface* surface = nullptr;
  std::vector<Vec3> g{};
  double k = 0;
};

using Block6 = Eigen::Matrix<double, 6, 6>;
using Vector6 = Eigen::Matrix<double, 6, 1>;

Mat3 outer_of(const Vec3& a, const Vec3& b) { return {{b * a.x, b * a.y, b * a.z}}; }

Mat3 inverse_of(const Mat3& m) {
  const auto& r = m.rows;
  const Vec3 x = cross(r[1], r[2]), y = cross(r[2], r[0]), z = cross(r[0], r[1]);
  const double d = dot(r[0], x);
  return transpose(Mat3{{x / d, y / d, z / d}});
}

// Derivatives at the current positions.
struct BarrierModel {
  BarrierSystem& s;
  std::vector<SpringTerm> springs{};
  std::vector<AreaTerm> areas{};
  std::vector<VolumeTerm> volumes{};
  std::vector<Vec3> gradient{}, r{}, z{}, q{}, p{}, solution{};
  std::vector<Mat3> blocks{};
  std::vector<Block6> rigid_blocks{};
  // Planes at rest in the way of features that the last direction would have led through others:
  // terms of the model, not of the energy.
  std::vector<BarrierContact> guesses{};
  int products = 0;

  std::size_t dofs() const { return s.soft_count + 2 * s.rigid.size(); }
  bool is_free(std::uint32_t i) const { return s.inertia[i] > 0; }

  // ---- derivatives ----------------------------------------------------------------------------

  void find_contacts() {
    struct Found {
      std::vector<BarrierContact> list{};
    };
    const Vec3* x = s.x.data();
    Found all = parallel_reduce(
        s.pairs.size(), 2048, s.threads, Found{},
        [&](std::size_t begin, std::size_t end) {
          Found found;
          for (std::size_t i = begin; i < end; ++i) {
            BarrierPair& pair = s.pairs[i];
            pair.now = -1;
            if (bound_now(s, pair) > pair.reach) continue;
            const PairDistance d = compute_pair_distance(pair, x);
            const double distance = d.distance - pair.radius;
            pair.bound += distance - bound_now(s, pair);
            if (!(distance < pair.reach)) continue;
            pair.now = distance;
            const BarrierValue b =
                compute_barrier(distance, pair.least, pair.reach, pair.stiffness);
            found.list.push_back({.v = pair.v,
                                  .w = d.w,
                                  .count = 4,
                                  .normal = d.normal,
                                  .distance = distance,
                                  .energy = b.energy,
                                  .force = -b.slope,
                                  .curvature = b.curvature,
                                  .friction = -b.slope * static_cast<double>(pair.friction)});
          }
          return found;
        },
        [](Found first, const Found& second) {
          first.list.insert(first.list.end(), second.list.begin(), second.list.end());
          return first;
        });
    s.contacts = std::move(all.list);
    for (const BarrierSurface& a : s.surfaces) {
      if (a.rigid >= 0 || a.tree == nullptr) continue;
      for (const BarrierPlane& plane : s.planes)
        for (std::uint32_t i = a.first; i < a.first + a.count; ++i) {
          const double d = dot(plane.normal, x[i]) - plane.offset;
          if (!(d < a.margin) || !is_free(i)) continue;
          const BarrierValue b = compute_plane_barrier(a, d);
          s.contacts.push_back({.v = {i, i, i, i},
                                .w = {1, 0, 0, 0},
                                .count = 1,
                                .normal = plane.normal,
                                .distance = d,
                                .energy = b.energy,
                                .force = -b.slope,
                                .curvature = b.curvature,
                                .friction = -b.slope * std::sqrt(a.friction * plane.friction)});
        }
    }
  }

  void update_friction(bool renew) {
    if (renew) {
      s.drags.clear();
      for (const BarrierContact& c : s.contacts)
        if (c.friction > 0) s.drags.push_back(c);
      for (BarrierContact& c : s.drags) c.curvature = c.force = c.energy = 0;
    }
    for (BarrierContact& c : s.drags) {
      c.slip = compute_slip(s, c, s.x.data());
      c.drag = c.friction * compute_friction(length(c.slip), s.soft_slip).rate;
    }
  }

  Vec3 motion_of(const std::vector<Vec3>& v, std::uint32_t i) const {
    if (i < s.soft_count) return v[i];
    const std::uint32_t m = s.mover[i];
    if (m == kNoMover) return {};
    const std::size_t k = m - s.soft_count, at = s.soft_count + 2 * k;
    return v[at] + cross(v[at + 1], s.x[i] - s.rigid[k].center);
  }
  void add_force(std::vector<Vec3>& v, std::uint32_t i, const Vec3& f) const {
    if (i < s.soft_count) {
      v[i] += f;
      return;
    }
    const std::uint32_t m = s.mover[i];
    if (m == kNoMover) return;
    const std::size_t k = m - s.soft_count, at = s.soft_count + 2 * k;
    v[at] += f;
    v[at + 1] += cross(s.x[i] - s.rigid[k].center, f);
  }

  void differentiate_body(SoftBody& b, const BarrierSurface& a) {
    const SoftMaterial& m = b.settings.material;
    const Vec3 *at = s.x.data() + a.first, *from = s.x0.data() + a.first;
    Vec3* g = gradient.data() + a.first;
    const double damping = m.damping / s.step;
    for (std::size_t i = 0; i < b.springs.size(); ++i) {
      const SoftSpring& spring = b.springs[i];
      const Vec3 d = at[spring.b] - at[spring.a];
      const double l = length(d);
      if (!(l > 0)) continue;
      const Vec3 n = d / l;
      double pull = spring.stiffness * (l - spring.rest), along = spring.stiffness;
      const double beyond = i < b.edge_springs ? compute_beyond(m, l, spring.rest) : 0;
      if (beyond != 0) {
        pull += kBeyondLimit * spring.stiffness * beyond;
        along += kBeyondLimit * spring.stiffness;
      }
      const double across = std::max(0.0, pull / l);
      Vec3 f = n * pull;
      if (damping > 0) {
        const Vec3 d0 = from[spring.b] - from[spring.a], n0 = normalized(d0);
        f += n0 * (damping * dot(n0, d - d0));
        along += damping;
      }
      g[spring.a] -= f;
      g[spring.b] += f;
      springs.push_back({a.first + spring.a, a.first + spring.b, along, across, n});
    }
    for (std::size_t i = 0; i < b.rest_area.size(); ++i) {
      const Triangle& t = b.topology.triangles[i];
      const Vec3 normal = cross(at[t[1]] - at[t[0]], at[t[2]] - at[t[0]]);
      const double twice = length(normal);
      if (!(twice > 0)) continue;
      const Vec3 n = normal / twice;
      AreaTerm term{{a.first + t[0], a.first + t[1], a.first + t[2]}, {}, m.area};
      for (std::size_t k = 0; k < 3; ++k) {
        term.g[k] = cross(n, at[t[(k + 2) % 3]] - at[t[(k + 1) % 3]]) * 0.5;
        g[t[k]] += term.g[k] * (m.area * (twice / 2 - b.rest_area[i]));
      }
      areas.push_back(term);
    }
    if (!(m.volume > 0)) return;
    VolumeTerm term{&a, std::vector<Vec3>(a.count), m.volume / std::abs(b.rest_volume)};
    for (const Triangle& t : b.topology.triangles) {
      // Exact gradients: a sixth of the cross product of the other two corners, about a corner.
      const Vec3 o = at[0], p0 = at[t[0]] - o, p1 = at[t[1]] - o, p2 = at[t[2]] - o;
      term.g[t[0]] += cross(p1, p2) / 6.0;
      term.g[t[1]] += cross(p2, p0) / 6.0;
      term.g[t[2]] += cross(p0, p1) / 6.0;
    }
    const double pressure = term.k * (compute_volume(b, at) - b.rest_volume);
    for (std::uint32_t i = 0; i < a.count; ++i) g[i] += term.g[i] * pressure;
    volumes.push_back(std::move(term));
  }

  void differentiate(bool renew_friction) {
    gradient.assign(dofs(), Vec3{});
    springs.clear(), areas.clear(), volumes.clear();
    for (std::uint32_t i = 0; i < s.soft_count; ++i)
      gradient[i] = (s.x[i] - s.aim[i]) * s.inertia[i];
    for (std::size_t k = 0; k < s.rigid.size(); ++k) {
      const BarrierRigid& body = s.rigid[k];
      if (!body.dynamic) continue;
      const double rate = 1 / (s.step * s.step);
      gradient[s.soft_count + 2 * k] = (body.center - body.center_aim) * (body.mass * rate);
      gradient[s.soft_count + 2 * k + 1] =
          body.inertia * rotation_between(body.turn, body.turn_aim) * rate;
    }
    for (std::size_t k = 0; k < s.bodies.size(); ++k)
      differentiate_body(*s.bodies[k], s.surfaces[k]);
    find_contacts();
    update_friction(renew_friction);
    for (const auto* list : {&s.contacts, &s.drags})
      for (const BarrierContact& c : *list) {
        const Vec3 f = c.slip * c.drag - c.normal * c.force;
        for (std::uint32_t k = 0; k < c.count; ++k) add_force(gradient, c.v[k], f * c.w[k]);
      }
  }

  void make_blocks() {
    blocks.assign(s.soft_count, Mat3{});
    for (std::uint32_t i = 0; i < s.soft_count; ++i)
      blocks[i] = diagonal3({s.inertia[i], s.inertia[i], s.inertia[i]});
    for (const SpringTerm& t : springs) {
      const Mat3 k = outer_of(t.normal, t.normal * (t.along - t.across)) +
                     diagonal3({t.across, t.across, t.across});
      blocks[t.a] = blocks[t.a] + k;
      blocks[t.b] = blocks[t.b] + k;
    }
    for (const AreaTerm& t : areas)
      for (std::size_t k = 0; k < 3; ++k)
        blocks[t.t[k]] = blocks[t.t[k]] + outer_of(t.g[k], t.g[k] * t.k);
    for (const VolumeTerm& t : volumes)
      for (std::uint32_t i = 0; i < t.surface->count; ++i)
        blocks[t.surface->first + i] =
            blocks[t.surface->first + i] + outer_of(t.g[i], t.g[i] * t.k);
    rigid_blocks.assign(s.rigid.size(), Block6::Zero());
    for (std::size_t k = 0; k < s.rigid.size(); ++k) {
      const BarrierRigid& body = s.rigid[k];
      for (int i = 0; i < 3; ++i) {
        const auto row = static_cast<std::size_t>(i);
        rigid_blocks[k](i, i) = body.dynamic ? body.mass / (s.step * s.step) : 1;
        for (int j = 0; j < 3; ++j)
          rigid_blocks[k](3 + i, 3 + j) =
              body.dynamic ? body.inertia.rows[row][static_cast<std::size_t>(j)] / (s.step * s.step)
                           : (i == j ? 1 : 0);
      }
    }
    for (const auto* list : {&s.contacts, &s.drags, &guesses})
      for (const BarrierContact& c : *list) {
        for (std::uint32_t k = 0; k < c.count; ++k) {
          if (c.v[k] >= s.soft_count) continue;
          const double w_sq = c.w[k] * c.w[k];
          blocks[c.v[k]] = blocks[c.v[k]] +
                           outer_of(c.normal, c.normal * ((c.curvature - c.drag) * w_sq)) +
                           diagonal3({c.drag * w_sq, c.drag * w_sq, c.drag * w_sq});
        }
        // Rigid vertices come last in a pair.
        const std::uint32_t m = s.mover[c.v[c.count - 1]];
        if (c.count == 4 && m != kNoMover && m >= s.soft_count)
          add_rigid_block(c, m - s.soft_count);
        const std::uint32_t m0 = s.mover[c.v[0]];
        if (c.count == 4 && m0 != m && m0 != kNoMover && m0 >= s.soft_count)
          add_rigid_block(c, m0 - s.soft_count);
      }
    for (std::uint32_t i = 0; i < s.soft_count; ++i)
      blocks[i] = is_free(i) ? inverse_of(blocks[i]) : Mat3{};
    for (std::size_t k = 0; k < s.rigid.size(); ++k)
      rigid_blocks[k] = s.rigid[k].dynamic ? Block6(rigid_blocks[k].inverse()) : Block6::Zero();
  }

  void add_rigid_block(const BarrierContact& c, std::size_t k) {
    Vec3 push{}, arm{};
    double weight = 0;
    for (std::uint32_t j = 0; j < c.count; ++j) {
      if (s.mover[c.v[j]] != s.soft_count + k) continue;
      push += c.normal * c.w[j];
      weight += c.w[j];
      arm += (s.x[c.v[j]] - s.rigid[k].center) * c.w[j];
    }
    const Vec3 turn = cross(arm, c.normal);
    Vector6 j;
    j << push.x, push.y, push.z, turn.x, turn.y, turn.z;
    rigid_blocks[k] += c.curvature * j * j.transpose();
    // Drag acts across the normal: its bound on all axes.
    for (int i = 0; i < 3; ++i) {
      rigid_blocks[k](i, i) += c.drag * weight * weight;
      rigid_blocks[k](3 + i, 3 + i) += c.drag * length_sq(arm);
    }
  }

  void multiply(const std::vector<Vec3>& v, std::vector<Vec3>& out) {
    ++products;
    out.resize(v.size());
    for (std::uint32_t i = 0; i < s.soft_count; ++i) out[i] = v[i] * s.inertia[i];
    for (std::size_t k = 0; k < s.rigid.size(); ++k) {
      const BarrierRigid& body = s.rigid[k];
      const std::size_t at = s.soft_count + 2 * k;
      const double rate = 1 / (s.step * s.step);
      out[at] = body.dynamic ? v[at] * (body.mass * rate) : Vec3{};
      out[at + 1] = body.dynamic ? body.inertia * v[at + 1] * rate : Vec3{};
    }
    for (const SpringTerm& t : springs) {
      const Vec3 d = v[t.b] - v[t.a];
      const Vec3 f = t.normal * ((t.along - t.across) * dot(t.normal, d)) + d * t.across;
      out[t.a] -= f;
      out[t.b] += f;
    }
    for (const AreaTerm& t : areas) {
      const double rate =
          t.k * (dot(t.g[0], v[t.t[0]]) + dot(t.g[1], v[t.t[1]]) + dot(t.g[2], v[t.t[2]]));
      for (std::size_t k = 0; k < 3; ++k) out[t.t[k]] += t.g[k] * rate;
    }
    for (const VolumeTerm& t : volumes) {
      double rate = 0;
      for (std::uint32_t i = 0; i < t.surface->count; ++i)
        rate += dot(t.g[i], v[t.surface->first + i]);
      rate *= t.k;
      for (std::uint32_t i = 0; i < t.surface->count; ++i)
        out[t.surface->first + i] += t.g[i] * rate;
    }
    for (const auto* list : {&s.contacts, &s.drags, &guesses})
      for (const BarrierContact& c : *list) {
        Vec3 d{};
        for (std::uint32_t k = 0; k < c.count; ++k) d += motion_of(v, c.v[k]) * c.w[k];
        const double along = dot(c.normal, d);
        const Vec3 f = c.normal * ((c.curvature - c.drag) * along) + d * c.drag;
        for (std::uint32_t k = 0; k < c.count; ++k) add_force(out, c.v[k], f * c.w[k]);
      }
  }

  // Zero for what is prescribed.
  void mask(std::vector<Vec3>& v) const {
    for (std::uint32_t i = 0; i < s.soft_count; ++i)
      if (!is_free(i)) v[i] = {};
    for (std::size_t k = 0; k < s.rigid.size(); ++k)
      if (!s.rigid[k].dynamic) v[s.soft_count + 2 * k] = v[s.soft_count + 2 * k + 1] = {};
  }

  void precondition(const std::vector<Vec3>& v, std::vector<Vec3>& out) const {
    out.resize(v.size());
    for (std::uint32_t i = 0; i < s.soft_count; ++i) out[i] = blocks[i] * v[i];
    for (std::size_t k = 0; k < s.rigid.size(); ++k) {
      const Vec3 &a = v[s.soft_count + 2 * k], &b = v[s.soft_count + 2 * k + 1];
      Vector6 w;
      w << a.x, a.y, a.z, b.x, b.y, b.z;
      w = rigid_blocks[k] * w;
      out[s.soft_count + 2 * k] = {w(0), w(1), w(2)};
      out[s.soft_count + 2 * k + 1] = {w(3), w(4), w(5)};
    }
  }

  static double product(const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += dot(a[i], b[i]);
    return sum;
  }

  // Solves for the direction, from the last one if it is `warm`. Prescribed motion is given, and
  // moves the right side.
  void solve(double share, int most, bool warm) {
    if (!warm) solution.assign(dofs(), Vec3{});
    for (std::uint32_t i = 0; i < s.soft_count; ++i)
      if (!is_free(i)) solution[i] = s.aim[i] - s.x[i];
    for (std::size_t k = 0; k < s.rigid.size(); ++k) {
      const BarrierRigid& body = s.rigid[k];
      if (body.dynamic) continue;
      solution[s.soft_count + 2 * k] = body.center_aim - body.center;
      solution[s.soft_count + 2 * k + 1] = rotation_between(body.turn_aim, body.turn);
    }
    r = gradient;
    for (const BarrierContact& c : guesses)
      for (std::uint32_t k = 0; k < c.count; ++k)
        add_force(r, c.v[k], c.normal * (-c.force * c.w[k]));
    for (Vec3& v : r) v = -v;
    mask(r);
    precondition(r, z);
    const double enough = product(r, z) * share * share;
    const bool is_zero =
        std::all_of(solution.begin(), solution.end(), [](const Vec3& v) { return v == Vec3{}; });
    if (!is_zero) {
      multiply(solution, q);
      mask(q);
      for (std::size_t i = 0; i < r.size(); ++i) r[i] -= q[i];
      precondition(r, z);
    }
    p = z;
    double rz = product(r, z);
    for (int i = 0; i < most && rz > enough && rz > 0; ++i) {
      multiply(p, q);
      mask(q);
      const double pq = product(p, q);
      if (!(pq > 0)) break;
      const double step = rz / pq;
      for (std::size_t k = 0; k < r.size(); ++k) {
        solution[k] += p[k] * step;
        r[k] -= q[k] * step;
      }
      precondition(r, z);
      const double next = product(r, z);
      const double turn = next / rz;
      rz = next;
      for (std::size_t k = 0; k < p.size(); ++k) p[k] = z[k] + p[k] * turn;
    }
    take_direction();
  }

  // Adds guesses for what the direction leads through others. Returns whether there are any new.
  bool add_guesses() {
    // Those that nothing presses against go.
    std::erase_if(guesses, [&](const BarrierContact& c) {
      Vec3 end{};
      for (std::uint32_t k = 0; k < c.count; ++k)
        end += (s.x[c.v[k]] + motion_of(solution, c.v[k])) * c.w[k];
      return dot(c.normal, end) > c.distance;
    });
    const std::size_t before = guesses.size();
    const auto guess = [&](BarrierContact c, double stiffness, double target) {
      Vec3 now{}, end{};
      for (std::uint32_t k = 0; k < c.count; ++k) {
        now += s.x[c.v[k]] * c.w[k];
        end += (s.x[c.v[k]] + motion_of(solution, c.v[k])) * c.w[k];
      }
      const double beyond = target - dot(c.normal, end);
      if (!(beyond > 0)) return;
      c.curvature = stiffness * 20;
      c.force = c.curvature * (target - dot(c.normal, now));
      c.distance = target;
      guesses.push_back(c);
    };
    for (std::size_t i = 0; i < s.pairs.size(); ++i) {
      const BarrierPair& pair = s.pairs[i];
      if (s.time[i] == 1 || pair.now >= 0) continue;
      // The direction at the time when they would come near.
      std::array<Vec3, 4> places;
      for (std::size_t k = 0; k < 4; ++k)
        places[k] = lerp(s.x[pair.v[k]], s.trial[pair.v[k]], s.time[i]);
      BarrierPair there = pair;
      there.v = {0, 1, 2, 3};
      const PairDistance d = compute_pair_distance(there, places.data());
      guess({.v = pair.v, .w = d.w, .count = 4, .normal = d.normal}, pair.stiffness,
            pair.radius + 0.5 * pair.reach);
    }
    for (const BarrierSurface& a : s.surfaces) {
      if (a.rigid >= 0 || a.tree == nullptr) continue;
      for (const BarrierPlane& plane : s.planes)
        for (std::uint32_t i = a.first; i < a.first + a.count; ++i) {
          const double d = dot(plane.normal, s.x[i]) - plane.offset;
          if (!is_free(i) || d < a.margin) continue;
          if (d + dot(plane.normal, s.direction[i]) > kLeastShare * a.margin) continue;
          guess({.v = {i, i, i, i}, .w = {1, 0, 0, 0}, .count = 1, .normal = plane.normal},
                a.inertia, plane.offset + 0.5 * a.margin);
        }
    }
    return guesses.size() > before;
  }

  void take_direction() {
    for (std::uint32_t i = 0; i < s.soft_count; ++i) s.direction[i] = solution[i];
    for (std::size_t k = 0; k < s.rigid.size(); ++k) {
      BarrierRigid& body = s.rigid[k];
      body.push = solution[s.soft_count + 2 * k];
      body.twist = solution[s.soft_count + 2 * k + 1];
      constexpr double kMostTwist = 0.5;  // rad a round
      const double angle = length(body.twist);
      if (angle > kMostTwist && body.dynamic) body.twist *= kMostTwist / angle;
      const Quat turn = rotation_about(body.twist, length(body.twist)) * body.turn;
      const bool rests = body.push == Vec3{} && body.twist == Vec3{};
      for (std::uint32_t i = 0; i < body.count; ++i)
        s.direction[body.first + i] =
            rests ? Vec3{}
                  : body.center + body.push + rotate(turn, body.local[i]) - s.x[body.first + i];
    }
  }

  bool is_arrived() const {
    for (std::uint32_t i = 0; i < s.soft_count; ++i)
      if (!is_free(i) && s.x[i] != s.aim[i]) return false;
    return std::all_of(s.rigid.begin(), s.rigid.end(), [](const BarrierRigid& b) {
      return b.dynamic || (b.center == b.center_aim && b.turn == b.turn_aim);
    });
  }

  void accept() {
    measure_trial(s);
    for (std::size_t i = 0; i < s.x.size(); ++i) {
      s.travel[i] += s.trial_travel[i];
      s.travel_beside[i] += s.trial_beside[i];
    }
    std::swap(s.x, s.trial);
    for (BarrierRigid& b : s.rigid) b.center = b.center_trial, b.turn = b.turn_trial;
  }

  double longest(double part) const {
    double most = 0;
    for (std::uint32_t i = 0; i < s.soft_count; ++i)
      most = std::max(most, length_sq(s.direction[i]) * s.share[i] * s.share[i]);
    for (std::size_t k = 0; k < s.rigid.size(); ++k) {
      const double way = length(s.rigid[k].push) + s.rigid[k].reach * length(s.rigid[k].twist);
      most = std::max(most, way * way * s.share[s.soft_count + k] * s.share[s.soft_count + k]);
    }
    return std::sqrt(most) * part;
  }
};

constexpr int kMostProducts = 300;
constexpr int kMostGuesses = 3;
constexpr int kFrictionRounds = 4;  // Later ones keep the forces that bound friction.

}  // namespace

BarrierSolveReport solve_barrier(BarrierSystem& s, int max_rounds) {
  BarrierModel model{.s = s};
  BarrierSolveReport report;
  double margin = std::numeric_limits<double>::infinity();
  for (const BarrierSurface& a : s.surfaces)
    if (a.rigid < 0 && a.tree != nullptr) margin = std::min(margin, a.margin);
  double aimed_sq = 0;
  for (std::uint32_t i = 0; i < s.soft_count; ++i) {
    s.direction[i] = s.aim[i] - s.x[i];
    aimed_sq = std::max(aimed_sq, length_sq(s.direction[i]));
  }
  const double near_enough = std::max(1e-2 * margin, 1e-2 * std::sqrt(aimed_sq));
  for (int round = 0; round < max_rounds; ++round) {
    ++report.rounds;
    if (!has_room(s)) find_pairs(s);
    const bool arrived = model.is_arrived();
    model.differentiate(round < kFrictionRounds);
    if (round == 0) report.stored_before = compute_stored_energy(s);
    model.guesses.clear();
    for (int guess = 0;; ++guess) {
      model.make_blocks();
      model.solve(round < 2 ? 0.1 : 0.03, kMostProducts, guess > 0);
      if (!make_room(s)) find_pairs(s);
      find_blocked(s);
      if (guess == kMostGuesses || !model.add_guesses()) break;
    }
    const double before = arrived ? compute_step_energy(s, false) : 0;
    bool moved = false;
    double part = 1;
    if (arrived && model.longest(1) < 1e-3 * near_enough) {  // Shares are 1 here.
      report.converged = true;
      break;
    }
    for (const bool together : {false, true}) {
      const double least = find_certified_shares(s, together);
      if (least < 0) continue;
      if (!together && least < 1)
        for (std::uint32_t i = 0; i < s.soft_count; ++i) report.held += s.share[i] < 1 ? 1U : 0U;
      part = 1;
      const int tries = together ? 20 : 3;
      for (int i = 0; i < tries && !moved; ++i, part *= 0.5) {
        place_trial(s, part);
        measure_trial(s);
        moved = model.longest(part) > 0 && (!arrived || compute_step_energy(s, true) <= before);
        if (moved) break;
      }
      if (moved) break;
    }
    if (!moved) break;
    const double way = model.longest(1);
    model.accept();
    if (arrived && way < near_enough) {
      report.converged = true;
      break;
    }
  }
  report.arrived = model.is_arrived();
  model.find_contacts();
  report.stored_after = compute_stored_energy(s);
  report.products = model.products;
  return report;
}

}  // namespace isotact::detail

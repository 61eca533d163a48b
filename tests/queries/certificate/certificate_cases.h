// Random cases for certificates, and certificates falsified on purpose. The benchmark uses them as
// well.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include "isotact/base/random.h"
#include "isotact/geometry/bvh/mesh_distance.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/queries/certificate/certify.h"

namespace isotact::certificate_cases {

struct Case {
  TriangleMesh a, b;
  BodyMotion motion_of_a{}, motion_of_b{};
  CertifyRequest request{};
  double size = 0;  // metres: of the larger body

  CertifyResult certify() const {
    return isotact::certify(a, motion_of_a, b, motion_of_b, request);
  }
};

inline double size_of(const TriangleMesh& mesh) { return length(extent(to_double(bounds(mesh)))); }

// A plate, a needle, a torus, a ball, a bowl, triangles at random, or one of these with holes.
inline TriangleMesh random_mesh(Random& random) {
  TriangleMesh mesh;
  switch (random.below(7)) {
    case 0:
      mesh = make_box({.size_x = 1, .size_y = 0.001, .size_z = 0.7});
      break;
    case 1:
      mesh = make_box({.size_x = 1, .size_y = 0.01, .size_z = 0.01});
      break;
    case 2:
      mesh = make_box({.size_x = 0.7, .size_y = 0.5, .size_z = 0.4, .segments = 3});
      break;
    case 3:
      mesh = make_sphere({.radius = 0.5, .frequency = 2});
      break;
    case 4:
      mesh = make_torus({.radius = 0.4, .tube_radius = 0.1, .segments = 10, .tube_segments = 6});
      break;
    case 5:
      mesh = make_cylinder({.radius = 0.2, .height = 0.9, .segments = 12});
      break;
    default:
      for (std::uint32_t i = 0; i < 8; ++i) {
        const Vec3 at = random.in_unit_ball() * 0.4;
        for (int k = 0; k < 3; ++k)
          mesh.positions.push_back(to_float(at + random.in_unit_ball() * 0.2));
        mesh.triangles.push_back({3 * i, 3 * i + 1, 3 * i + 2});
      }
      if (random.below(2) == 0) mesh.triangles[0][2] = mesh.triangles[0][1];  // a segment
      break;
  }
  if (random.below(3) == 0)
    std::erase_if(mesh.triangles, [&](const Triangle&) { return random.uniform() < 0.3; });
  if (mesh.triangles.empty()) mesh.triangles.push_back({0, 1, 2});
  return mesh;
}

// Bodies about the origin of the world, or far from it; as large as each other, or of very
// different sizes; made about their own origins, or far from these; spinning by up to half a turn
// each, sliding, or at rest.
inline Case random_case(Random& random) {
  constexpr double kScales[] = {1e-3, 1, 1e3};
  const double scale = kScales[random.below(3)];
  const double ratio = random.below(3) == 0 ? std::pow(10, random.uniform(-3, 0)) : 1;
  Case c{.a = random_mesh(random), .b = random_mesh(random)};
  const Vec3 aside = random.below(4) == 0 ? random.in_unit_ball() * 20 : Vec3{};
  for (Vec3f& p : c.a.positions) p = to_float((to_double(p) + aside) * scale);
  for (Vec3f& p : c.b.positions) p = to_float(to_double(p) * (scale * ratio));
  c.size = std::max(size_of(c.a), size_of(c.b));
  const Vec3 middle_a = center(to_double(bounds(c.a))), middle_b = center(to_double(bounds(c.b)));
  const Vec3 world = random.below(4) == 0 ? random.in_unit_ball() * (scale * 1e4) : Vec3{};
  const bool slides = random.below(4) == 0;
  const double reach = random.uniform(0.3, 1.5) * c.size;
  const auto fill = [&](BodyMotion& motion, const Vec3& middle, const Vec3& away) {
    motion.from.rotation = random.rotation();
    motion.to.rotation = slides ? motion.from.rotation : random.rotation();
    if (!slides && random.below(6) == 0)  // half a turn, as exactly as can be said
      motion.to.rotation = motion.from.rotation * Quat{0, 1, 0, 0};
    for (Pose* pose : {&motion.from, &motion.to})
      pose->translation =
          world + away + random.in_unit_ball() * (0.5 * reach) - rotate(pose->rotation, middle);
    motion.pivot = random.below(2) == 0 ? middle : Vec3{};
    if (random.below(4) == 0) motion.to = motion.from;
  };
  fill(c.motion_of_a, middle_a, random.unit_vector() * reach);
  fill(c.motion_of_b, middle_b, {});
  constexpr MotionModel kModels[] = {MotionModel::kConstantRates, MotionModel::kConstantRates,
                                     MotionModel::kScrew, MotionModel::kStraight,
                                     MotionModel::kPolynomial};
  c.request.model = kModels[random.below(5)];
  c.request.degree = 1 + static_cast<int>(random.below(8));
  c.request.max_intervals = 1U << 16U;
  return c;
}

// ---- the truth at one time ----------------------------------------------------------------------

inline std::array<Vec3, 3> corners_at(const TriangleMesh& mesh, std::size_t triangle,
                                      const AffineMap& map) {
  const auto c = corners(mesh, triangle);
  return {map * to_double(c[0]), map * to_double(c[1]), map * to_double(c[2])};
}

struct Nearest {
  double distance = std::numeric_limits<double>::infinity();
  Vec3 on_a{}, on_b{};  // in B's frame
};

// All pairs, along the motion as the library's queries have it.
inline Nearest nearest_at(const TriangleMesh& a, const TriangleMesh& b,
                          const CertificateMotion& motion, double time) {
  const AffineMap b_from_a = compute_map(
      {.shell = motion.a, .field = motion.b, .model = motion.model, .degree = motion.degree}, time);
  Nearest best;
  for (std::size_t i = 0; i < a.triangles.size(); ++i) {
    const auto of_a = corners_at(a, i, b_from_a);
    const Vec3 lower = min(of_a[0], min(of_a[1], of_a[2])),
               upper = max(of_a[0], max(of_a[1], of_a[2]));
    for (std::size_t k = 0; k < b.triangles.size(); ++k) {
      const auto of_b = corners_at(b, k, {});
      const Aabb box{min(of_b[0], min(of_b[1], of_b[2])), max(of_b[0], max(of_b[1], of_b[2]))};
      if (length(max(max(box.lower - upper, lower - box.upper), {})) >= best.distance) continue;
      const TriangleDistance d = compute_triangle_distance(of_a, of_b);
      if (d.distance < best.distance) best = {d.distance, d.point_on_a, d.point_on_b};
    }
  }
  return best;
}

// ---- falsified certificates ---------------------------------------------------------------------

enum class Falsehood {
  kClearance,      // above the truth
  kInterval,       // one is missing
  kShorter,        // one ends a bit before the next one begins
  kCell,           // one is missing
  kSmallerCell,    // one no longer holds all of its triangles
  kLater,          // the first contact is said to be later
  kEarlier,        // or earlier
  kTimeTolerance,  // smaller than what is known
  kDistanceTolerance,
  kTriangles,       // that do not touch
  kMesh,            // another mesh beside the file
  kSealedMesh,      // another mesh, with its hash in the file
  kMotion,          // another motion in the file
  kSealedMotion,    // another motion with its hash
  kFreeOfContact,   // a contact is said to be free
  kContained,       // a corner is said to be inside, at a time when bodies are apart
  kModel,           // another model of motion, with its hash
  kExchanged,       // the two bodies
  kRaisedTime,      // a contact anywhere in a long time
  kRaisedDistance,  // a contact of triangles far apart
  kNotANumber,      // some number of the claim or of the covering
};
inline constexpr Falsehood kFalsehoods[] = {
    Falsehood::kClearance,  Falsehood::kInterval,       Falsehood::kShorter,
    Falsehood::kCell,       Falsehood::kSmallerCell,    Falsehood::kLater,
    Falsehood::kEarlier,    Falsehood::kTimeTolerance,  Falsehood::kDistanceTolerance,
    Falsehood::kTriangles,  Falsehood::kMesh,           Falsehood::kSealedMesh,
    Falsehood::kMotion,     Falsehood::kSealedMotion,   Falsehood::kFreeOfContact,
    Falsehood::kContained,  Falsehood::kModel,          Falsehood::kExchanged,
    Falsehood::kRaisedTime, Falsehood::kRaisedDistance, Falsehood::kNotANumber};

inline std::string_view name(Falsehood falsehood) {
  constexpr std::string_view kNames[] = {"clearance above the truth",
                                         "interval removed",
                                         "interval shortened",
                                         "cell removed",
                                         "cell shrunk",
                                         "contact later",
                                         "contact earlier",
                                         "time tolerance",
                                         "distance tolerance",
                                         "other triangles",
                                         "other mesh",
                                         "other mesh, sealed",
                                         "other motion",
                                         "other motion, sealed",
                                         "contact said to be free",
                                         "said to be contained",
                                         "other model, sealed",
                                         "bodies exchanged",
                                         "time tolerance raised",
                                         "distance tolerance raised",
                                         "not a number"};
  static_assert(std::size(kNames) == std::size(kFalsehoods));
  return kNames[static_cast<std::size_t>(falsehood)];
}

struct Falsified {
  Certificate certificate;
  TriangleMesh a, b;
};

inline double& last_coordinate(BodyMotion& motion, std::uint32_t which) {
  double* const numbers[] = {&motion.from.translation.x, &motion.to.translation.z, &motion.pivot.y};
  return *numbers[which % 3];
}

// Whether what is said is false for certain, by samples, of which one is given.
inline bool is_false(const Falsified& f, double time) {
  const Certificate& c = f.certificate;
  const double last = c.claim == CertificateClaim::kFree ? 1 : c.free_until;
  const double least = c.claim == CertificateClaim::kFree ? c.clearance : 0;
  if (last == 0) return false;  // Nothing is said to be apart.
  for (int i = 0; i <= 40; ++i) {
    const double distance = nearest_at(f.a, f.b, c.motion, i == 0 ? time : last * i / 40).distance;
    if (distance < least * (1 - 1e-9) || distance == 0) return true;
  }
  return false;
}

inline std::size_t pick_cell(const Certificate& c, Random& random) {
  return random.below(static_cast<std::uint32_t>(c.cells.size()));
}

// How often the interval's middle is covered for all of a cell's triangles by others: cells of a
// writer may overlap where it does no harm.
inline bool is_needed(const Falsified& f, std::size_t cell, double time) {
  const Certificate& c = f.certificate;
  const TriangleMesh& mesh = c.divided == Body::kA ? f.a : f.b;
  const auto is_in = [&](const Aabb& box, std::size_t t) {
    const auto k = corners(mesh, t);
    return contains(box, to_double(k[0])) && contains(box, to_double(k[1])) &&
           contains(box, to_double(k[2]));
  };
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    if (!is_in(c.cells[cell].box, t)) continue;
    bool is_elsewhere = false;
    for (std::size_t i = 0; i < c.cells.size(); ++i)
      if (i != cell && is_in(c.cells[i].box, t))
        for (const CertificateInterval& in : c.cells[i].intervals)
          is_elsewhere = is_elsewhere || (in.from <= time && time <= in.to);
    if (!is_elsewhere) return true;
  }
  return false;
}

// Nothing if it does not apply to this certificate. The claim is false, or its covering has a hole.
inline std::optional<Falsified> falsify(Falsehood falsehood, const Case& from,
                                        const CertifyResult& result, Random& random) {
  Falsified f{result.certificate, from.a, from.b};
  Certificate& c = f.certificate;
  const bool is_free = c.claim == CertificateClaim::kFree;
  const bool is_contact = c.claim == CertificateClaim::kContact;
  const bool has_cells = !c.cells.empty();
  TriangleMesh& divided = c.divided == Body::kA ? f.a : f.b;
  switch (falsehood) {
    case Falsehood::kClearance:
      if (!is_free) return {};
      c.clearance = result.distance * (1 + std::pow(10, random.uniform(-9, 0)));
      return f;
    case Falsehood::kInterval:
    case Falsehood::kShorter: {
      if (!has_cells) return {};
      const std::size_t cell = pick_cell(c, random);
      auto& intervals = c.cells[cell].intervals;
      const std::uint32_t at = random.below(static_cast<std::uint32_t>(intervals.size()));
      const CertificateInterval gone = intervals[at];
      if (!is_needed(
              f, cell,
              falsehood == Falsehood::kShorter ? gone.to : gone.from + (gone.to - gone.from) / 2))
        return {};
      if (falsehood == Falsehood::kInterval)
        intervals.erase(intervals.begin() + at);
      else
        intervals[at].to = std::nextafter(gone.to, 0.0);
      return f;
    }
    case Falsehood::kCell: {
      if (!has_cells) return {};
      const std::size_t cell = pick_cell(c, random);
      const CertificateInterval& in = c.cells[cell].intervals.front();
      if (!is_needed(f, cell, in.from + (in.to - in.from) / 2)) return {};
      c.cells.erase(c.cells.begin() + static_cast<std::ptrdiff_t>(cell));
      return f;
    }
    case Falsehood::kSmallerCell: {
      if (c.cells.size() != 1) return {};
      const std::uint32_t axis = random.below(3);
      c.cells[0].box.upper[axis] = std::nextafter(c.cells[0].box.upper[axis], -1e300);
      return f;
    }
    case Falsehood::kLater:
      if (!is_contact || c.contact_time >= 1) return {};
      c.free_until = c.contact_time =
          c.contact_time + (1 - c.contact_time) * random.uniform(0.01, 1);
      for (CertificateCell& cell : c.cells)
        if (!cell.intervals.empty()) cell.intervals.back().to = c.free_until;
      if (c.cells.empty()) c.cells.push_back({to_double(bounds(divided)), {{0, c.free_until}}});
      return f;
    case Falsehood::kEarlier:
      if (!is_contact || c.free_until == 0) return {};
      c.free_until = c.contact_time = c.free_until * random.uniform(0, 0.99);
      if (nearest_at(f.a, f.b, c.motion, c.contact_time).distance <= 2 * c.distance_tolerance)
        return {};
      return f;
    case Falsehood::kTimeTolerance:
      if (!is_contact || !(c.contact_time > c.free_until)) return {};
      c.time_tolerance = (c.contact_time - c.free_until) * random.uniform(0, 0.999);
      return f;
    case Falsehood::kDistanceTolerance:
      if (!is_contact) return {};
      c.distance_tolerance *= random.uniform(-0.5, 0.999);
      return f;
    case Falsehood::kTriangles: {
      if (!is_contact) return {};
      c.triangle_a = random.below(static_cast<std::uint32_t>(f.a.triangles.size()) + 2);
      c.triangle_b = random.below(static_cast<std::uint32_t>(f.b.triangles.size()) + 2);
      if (c.triangle_a >= f.a.triangles.size() || c.triangle_b >= f.b.triangles.size()) return f;
      TriangleMesh one{f.a.positions, {f.a.triangles[c.triangle_a]}},
          other{f.b.positions, {f.b.triangles[c.triangle_b]}};
      if (nearest_at(one, other, c.motion, c.contact_time).distance <= 2 * c.distance_tolerance)
        return {};
      return f;
    }
    case Falsehood::kMesh: {
      TriangleMesh& mesh = random.below(2) == 0 ? f.a : f.b;
      const Triangle& t =
          mesh.triangles[random.below(static_cast<std::uint32_t>(mesh.triangles.size()))];
      float& x = mesh.positions[t[random.below(3)]][random.below(3)];
      x = std::nextafter(x, 1e30F);
      return f;
    }
    case Falsehood::kSealedMesh: {
      // A corner is put onto the other body.
      if (c.claim == CertificateClaim::kContained) return {};
      const double time = (is_free ? 1 : c.free_until) * random.uniform();
      const AffineMap b_from_a = compute_map({.shell = c.motion.a,
                                              .field = c.motion.b,
                                              .model = c.motion.model,
                                              .degree = c.motion.degree},
                                             time);
      const auto on_a =
          corners_at(f.a, random.below(static_cast<std::uint32_t>(f.a.triangles.size())), b_from_a);
      const Triangle& of_b =
          f.b.triangles[random.below(static_cast<std::uint32_t>(f.b.triangles.size()))];
      // Not just onto it: through it.
      Vec3f& moved = f.b.positions[of_b[0]];
      const Vec3 inwards = (on_a[0] + on_a[1] + on_a[2]) * (1.0 / 3);
      moved = to_float(inwards + (inwards - to_double(moved)) * 0.05);
      c.b.hash = hash_triangles(f.b);
      c.b.triangle_count = f.b.triangles.size();
      if (c.divided == Body::kB)
        for (CertificateCell& cell : c.cells) extend(cell.box, to_double(moved));
      if (!is_false(f, time)) return {};
      return f;
    }
    case Falsehood::kMotion: {
      double& x =
          last_coordinate(random.below(2) == 0 ? c.motion.a : c.motion.b, random.next_u32());
      x = std::nextafter(x, 1e30);
      return f;
    }
    case Falsehood::kSealedMotion: {
      if (c.claim == CertificateClaim::kContained) return {};
      // The ends are moved so that the bodies meet.
      const double time = is_free ? 1 : 0;
      const Nearest near = nearest_at(f.a, f.b, c.motion, time);
      Pose& pose = is_free ? c.motion.a.to : c.motion.a.from;
      const Pose& of_b = is_free ? c.motion.b.to : c.motion.b.from;
      pose.translation +=
          rotate(normalized(of_b.rotation), near.on_b - near.on_a) * random.uniform(1, 1.2);
      c.motion_hash = hash_motion(c.motion);
      if (!is_false(f, time)) return {};
      return f;
    }
    case Falsehood::kFreeOfContact:
      if (is_free) return {};
      c.clearance = 0;
      c.claim = CertificateClaim::kFree;
      if (c.cells.empty()) c.cells.push_back({to_double(bounds(divided)), {{0, 1}}});
      for (CertificateCell& cell : c.cells) cell.intervals.back().to = 1;
      // With many short intervals to the end, as a proof of a grazing passage would have.
      if (random.below(2) == 0) {
        auto& last = c.cells.back().intervals;
        const CertificateInterval whole = last.back();
        last.pop_back();
        for (int i = 0; i < 64; ++i)
          last.push_back(
              {whole.from + (whole.to - whole.from) * i / 64,
               i == 63 ? whole.to : whole.from + (whole.to - whole.from) * (i + 1) / 64});
      }
      return f;
    case Falsehood::kContained: {
      // Surfaces apart at the start, and no corner inside: the writer found neither.
      if (!is_free && c.free_until == 0) return {};
      c.claim = CertificateClaim::kContained;
      c.inner = random.below(2) == 0 ? Body::kA : Body::kB;
      c.triangle_a = random.below(static_cast<std::uint32_t>(f.a.triangles.size()));
      c.triangle_b = random.below(static_cast<std::uint32_t>(f.b.triangles.size()));
      return f;
    }
    case Falsehood::kModel: {
      if (c.claim == CertificateClaim::kContained) return {};
      constexpr MotionModel kOthers[] = {MotionModel::kStraight, MotionModel::kScrew,
                                         MotionModel::kPolynomial};
      c.motion.model = kOthers[random.below(3)];
      if (c.motion.model == from.request.model) return {};
      c.motion_hash = hash_motion(c.motion);
      if (!is_false(f, is_free ? 0.5 : 0.5 * c.free_until)) return {};
      return f;
    }
    case Falsehood::kExchanged:
      if (c.a.hash == c.b.hash) return {};
      std::swap(c.a, c.b);
      std::swap(c.motion.a, c.motion.b);
      c.motion_hash = hash_motion(c.motion);
      std::swap(c.triangle_a, c.triangle_b);
      c.divided = c.divided == Body::kA ? Body::kB : Body::kA;
      return f;
    case Falsehood::kRaisedTime:
      if (!is_contact || c.free_until < 1e-4) return {};
      c.free_until *= random.uniform(0, 0.9);
      c.time_tolerance = random.below(2) == 0 ? 1 : c.contact_time - c.free_until;
      return f;
    case Falsehood::kRaisedDistance:
      if (c.claim == CertificateClaim::kContained) return {};
      if (is_contact) {  // of triangles that do not touch, or touch elsewhere
        c.triangle_a = random.below(static_cast<std::uint32_t>(f.a.triangles.size()));
        c.triangle_b = random.below(static_cast<std::uint32_t>(f.b.triangles.size()));
        c.distance_tolerance = from.size * random.uniform(1e-3, 1000);
        return f;
      }
      c.claim = CertificateClaim::kContact;
      c.contact_time = random.uniform(0, 1);
      c.free_until = std::max(0.0, c.contact_time - random.uniform(0, 1e-6));
      c.time_tolerance = 1e-6;
      c.distance_tolerance = result.distance * random.uniform(1, 1000) + 1e3 * from.size;
      return f;
    case Falsehood::kNotANumber: {
      double* const numbers[] = {is_free ? &c.clearance : &c.contact_time,
                                 is_free ? &c.clearance : &c.free_until,
                                 has_cells ? &c.cells[0].intervals[0].from : &c.time_tolerance,
                                 has_cells ? &c.cells[0].intervals[0].to : &c.distance_tolerance,
                                 has_cells ? &c.cells[0].box.upper.x : &c.motion.a.to.translation.y,
                                 &c.motion.b.from.translation.z};
      if (c.claim == CertificateClaim::kContained) return {};
      *numbers[random.below(6)] = std::numeric_limits<double>::quiet_NaN();
      c.motion_hash = hash_motion(c.motion);
      return f;
    }
  }
  return {};
}

}  // namespace isotact::certificate_cases

// The checker: hashes, the covering of time and space, and the proof of each part of it by the
// steps of certificate_proof.cpp. Nothing here, there or in certificate_path.cpp uses the search.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "isotact/queries/certificate/detail/certificate_proof.h"

namespace isotact {
namespace {

using detail::ApartProof;
using detail::CertificatePath;
using detail::ProofSolid;
using detail::ProofTree;

// One certificate with its meshes. Each step returns why it fails, or nothing.
class CertificateChecker {
 public:
  using Reason = std::optional<std::string>;

  CertificateChecker(const Certificate& certificate, const TriangleMesh& a, const TriangleMesh& b,
                     const CertificateCheckSettings& settings)
      : c_(certificate), a_(a), b_(b), settings_(settings), max_tests_(settings.max_tests) {}

  CertificateCheck run() {
    Reason reason = check_inputs();
    if (!reason) reason = check_claim();
    result_.holds = !reason;
    result_.reason = reason.value_or("");
    return result_;
  }

 private:
  Reason check_inputs() const {
    const auto check_mesh = [](const CertificateMesh& said, const TriangleMesh& mesh,
                               char letter) -> Reason {
      if (const auto flaw = find_flaw(mesh)) return fmt::format("mesh {}: {}", letter, *flaw);
      const std::size_t count = detail::finite_triangles(mesh).size();
      if (count == 0) return fmt::format("mesh {} has no triangles", letter);
      if (said.triangle_count == count && said.hash == hash_triangles(mesh)) return {};
      return fmt::format("mesh {} is another one than that of the certificate ({} triangles, {})",
                         letter, said.triangle_count, said.file);
    };
    if (Reason reason = check_mesh(c_.a, a_, 'A')) return reason;
    if (Reason reason = check_mesh(c_.b, b_, 'B')) return reason;
    if (c_.motion_hash != hash_motion(c_.motion))
      return "the motion is another one than that of the certificate's hash";
    const ShellMotion motion{.shell = c_.motion.a,
                             .field = c_.motion.b,
                             .model = c_.motion.model,
                             .degree = c_.motion.degree};
    if (name(c_.motion.model).empty()) return "the motion is of no known model";
    if (const auto flaw = find_flaw(motion)) return "the motion: " + *flaw;
    if (c_.motion.model != MotionModel::kConstantRates && c_.divided != Body::kA)
      return "this model of motion is defined in the frame of B, so cells must divide A";
    return {};
  }

  Reason check_claim() {
    const CertificatePath path(c_.motion, c_.divided);
    const ProofSolid a(a_), b(b_);
    result_.a_is_closed = a.is_closed();
    result_.b_is_closed = b.is_closed();
    Reason reason;
    if (c_.claim == CertificateClaim::kContained) {
      reason = check_contained(a, b, path);
    } else {
      ApartProof proof(c_.divided == Body::kA ? b_ : a_, c_.divided == Body::kA ? a_ : b_, path);
      result_.rounding = proof.rounding();
      reason = check_times(proof);
      if (!reason && last_time() > 0) reason = check_apart(a, b, path);
      if (!reason && last_time() > 0) reason = check_cells(proof);
      result_.tests += proof.tests();
    }
    result_.tests += a.tests() + b.tests();
    return reason;
  }

  // Until which they are apart.
  double last_time() const { return c_.claim == CertificateClaim::kFree ? 1 : c_.free_until; }

  Reason check_times(const ApartProof& proof) const {
    if (c_.claim == CertificateClaim::kFree)
      return c_.clearance >= 0 ? Reason() : "the clearance is negative";
    if (Reason reason = check_tolerances(proof)) return reason;
    if (!(c_.free_until >= 0 && c_.free_until <= c_.contact_time && c_.contact_time <= 1))
      return "the times are not in order between 0 and 1";
    if (!(c_.contact_time - c_.free_until <= c_.time_tolerance))
      return fmt::format(
          "between the last time apart, {}, and the contact, {}, is more than the "
          "tolerance, {}",
          c_.free_until, c_.contact_time, c_.time_tolerance);
    const bool a_is_divided = c_.divided == Body::kA;
    if (!is_finite_triangle(a_, c_.triangle_a) || !is_finite_triangle(b_, c_.triangle_b))
      return "there is no triangle of the number that is said to touch";
    const double distance =
        proof.bound_distance(a_is_divided ? c_.triangle_b : c_.triangle_a,
                             a_is_divided ? c_.triangle_a : c_.triangle_b, c_.contact_time);
    if (!(distance <= c_.distance_tolerance))
      return fmt::format(
          "the triangles that are said to touch at {} are up to {} metres apart, "
          "more than the tolerance, {}",
          c_.contact_time, distance, c_.distance_tolerance);
    return {};
  }

  // A claim with tolerances that are large enough would say nothing.
  Reason check_tolerances(const ApartProof& proof) const {
    if (!(c_.time_tolerance <= settings_.time_tolerance))
      return fmt::format("its tolerance of time is {}, and at most {} is accepted",
                         c_.time_tolerance, settings_.time_tolerance);
    const double most = settings_.distance_tolerance.value_or(proof.touch_tolerance(c_.motion));
    if (!(c_.distance_tolerance <= most))
      return fmt::format("its tolerance of distance is {} metres, and at most {} is accepted",
                         c_.distance_tolerance, most);
    return {};
  }

  static bool is_finite_triangle(const TriangleMesh& mesh, std::uint32_t triangle) {
    if (triangle >= mesh.triangles.size()) return false;
    const auto c = corners(mesh, triangle);
    return is_finite(c[0]) && is_finite(c[1]) && is_finite(c[2]);
  }

  Reason check_contained(const ProofSolid& a, const ProofSolid& b, const CertificatePath& path) {
    const bool a_is_inner = c_.inner == Body::kA;
    const ProofSolid &inner = a_is_inner ? a : b, &outer = a_is_inner ? b : a;
    const std::uint32_t triangle = a_is_inner ? c_.triangle_a : c_.triangle_b;
    if (!outer.is_closed()) return "the outer mesh is not closed: it has no inside";
    if (!is_finite_triangle(inner.mesh(), triangle))
      return "there is no triangle of the number whose corner is said to be inside";
    if (detail::is_corner_inside(inner, outer, triangle, path, c_.inner == c_.divided) == true)
      return {};
    return "the corner that is said to be inside is not, or too near to the surface to tell";
  }

  // While surfaces are apart, no part can pass from inside to outside.
  Reason check_apart(const ProofSolid& a, const ProofSolid& b, const CertificatePath& path) const {
    const detail::ContainedResult answer = detail::find_contained(a, b, path, c_.divided);
    if (answer.corner)
      return fmt::format("at the beginning, triangle {} of {} lies inside of the other body",
                         answer.corner->triangle, answer.corner->inner == Body::kA ? 'A' : 'B');
    if (!answer.is_clear)
      return "rounding decides whether a part of one body lies inside of the other one";
    return {};
  }

  // Each triangle must be in cells whose intervals cover the time without a gap; and each cell must
  // keep its promise.
  Reason check_cells(ApartProof& proof) {
    const TriangleMesh& mesh = c_.divided == Body::kA ? a_ : b_;
    const std::vector<std::uint32_t> all = detail::finite_triangles(mesh);
    std::vector<std::vector<std::uint32_t>> cells_of(mesh.triangles.size());
    for (std::uint32_t i = 0; i < c_.cells.size(); ++i) {
      const std::vector<std::uint32_t> inside = triangles_in(mesh, all, c_.cells[i].box);
      for (const std::uint32_t t : inside) cells_of[t].push_back(i);
      const ProofTree tree(mesh, inside);
      if (Reason reason = check_cell(proof, tree, i)) return reason;
    }
    std::map<std::vector<std::uint32_t>, bool> known;  // many triangles are in the same cells
    for (const std::uint32_t t : all) {
      const auto [at, is_new] = known.try_emplace(cells_of[t], false);
      if (is_new) at->second = is_covered(cells_of[t]);
      if (!at->second)
        return fmt::format("triangle {} of {} is not in a cell at all times", t,
                           c_.divided == Body::kA ? 'A' : 'B');
    }
    return {};
  }

  static std::vector<std::uint32_t> triangles_in(const TriangleMesh& mesh,
                                                 const std::vector<std::uint32_t>& of,
                                                 const Aabb& box) {
    std::vector<std::uint32_t> found;
    for (const std::uint32_t t : of) {
      const auto c = corners(mesh, t);
      if (contains(box, to_double(c[0])) && contains(box, to_double(c[1])) &&
          contains(box, to_double(c[2])))
        found.push_back(t);
    }
    return found;
  }

  Reason check_cell(ApartProof& proof, const ProofTree& tree, std::uint32_t number) {
    ++result_.cells;
    const double clearance = c_.claim == CertificateClaim::kFree ? c_.clearance : 0;
    for (const CertificateInterval& time : c_.cells[number].intervals) {
      if (!(time.from >= 0 && time.from < time.to && time.to <= 1))
        return fmt::format("cell {}: {} to {} is no interval between 0 and 1", number, time.from,
                           time.to);
      ++result_.intervals;
      if (proof.holds(tree, time, clearance, max_tests_)) continue;
      if (max_tests_ > 0 && proof.tests() >= max_tests_)
        return fmt::format("the check was stopped after {} tests", proof.tests());
      return fmt::format("cell {}: from {} to {} the clearance is not proved", number, time.from,
                         time.to);
    }
    return {};
  }

  bool is_covered(const std::vector<std::uint32_t>& cells) const {
    std::vector<CertificateInterval> times;
    for (const std::uint32_t i : cells)
      times.insert(times.end(), c_.cells[i].intervals.begin(), c_.cells[i].intervals.end());
    std::sort(times.begin(), times.end(),
              [](const auto& s, const auto& t) { return s.from < t.from; });
    double reached = 0;
    for (const CertificateInterval& time : times) {
      if (time.from > reached) return false;
      reached = std::max(reached, time.to);
    }
    return reached >= last_time();
  }

  const Certificate& c_;
  const TriangleMesh &a_, &b_;
  const CertificateCheckSettings& settings_;
  const std::uint64_t max_tests_;
  CertificateCheck result_{};
};

}  // namespace

CertificateCheck check_certificate(const Certificate& certificate, const TriangleMesh& a,
                                   const TriangleMesh& b,
                                   const CertificateCheckSettings& settings) {
  return CertificateChecker(certificate, a, b, settings).run();
}

}  // namespace isotact

// The writer of certificates. The search says what holds; the covering is then found by trying the
// checker's own steps: an interval that is not proved for a cell is halved, or the cell is.
#include "isotact/queries/certificate/certify.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/geometry/bvh/bvh.h"
#include "isotact/queries/certificate/detail/certificate_proof.h"
#include "isotact/queries/swept/mesh_motion.h"

namespace isotact {
namespace {

using detail::ApartProof;
using detail::CertificatePath;
using detail::ProofSolid;
using detail::ProofTree;

// At most this, with six digits: shorter to read.
double round_down(double value) {
  const std::string text = fmt::format("{:.6g}", value * (1 - 1e-5));
  double rounded = 0;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return rounded > 0 && rounded <= value ? rounded : value;
}

// ---- the covering -------------------------------------------------------------------------------

// A cell, and the two that it may be divided into.
struct CellPart {
  std::vector<std::uint32_t> triangles;  // all of the mesh that are in the box
  CertificateCell cell;
  std::optional<ProofTree> tree{};  // made on first use
  std::unique_ptr<CellPart> halves[2]{};
  int depth = 0;
  bool is_whole = false;  // It cannot be divided.
};

class CoverSearch {
 public:
  CoverSearch(const TriangleMesh& divided, ApartProof& proof, double clearance,
              const CertifyRequest& request)
      : mesh_(divided), proof_(proof), clearance_(clearance), request_(request) {}

  // Returns whether all times up to `last` are covered; else failed_at() and gave_up_early().
  bool run(double last) {
    root_.triangles = detail::finite_triangles(mesh_);
    root_.cell.box = box_of(root_.triangles);
    return cover(root_, {0, last}, 0);
  }

  std::vector<CertificateCell> take_cells() {
    std::vector<CertificateCell> cells;
    collect(root_, cells);
    return cells;
  }
  const CertificateInterval& failed_at() const { return failed_at_; }
  bool was_stopped() const { return was_stopped_; }

 private:
  static constexpr int kMostHalvings = 40, kMostDepth = 6;
  static constexpr std::size_t kFewTriangles = 64;

  bool cover(CellPart& part, const CertificateInterval& time,
             int halvings) {  // NOLINT(misc-no-recursion)
    if (!part.tree) part.tree.emplace(mesh_, part.triangles);
    const bool is_late = request_.max_tests > 0 && proof_.tests() >= request_.max_tests;
    if (is_late || count_ >= request_.max_intervals) {
      was_stopped_ = true;
      failed_at_ = time;
      return false;
    }
    if (proof_.holds(*part.tree, time, clearance_, request_.max_tests)) {
      part.cell.intervals.push_back(time);
      ++count_;
      return true;
    }
    // Some of the cell is near: halving the cell leaves the rest to longer intervals.
    const bool is_turn_of_space = halvings % 3 == 2 && part.depth < kMostDepth;
    if (is_turn_of_space && divide(part))
      return cover(*part.halves[0], time, halvings + 1) &&
             cover(*part.halves[1], time, halvings + 1);
    const double middle = time.from + (time.to - time.from) / 2;
    if (halvings >= kMostHalvings || !(time.from < middle && middle < time.to)) {
      failed_at_ = time;
      return false;
    }
    return cover(part, {time.from, middle}, halvings + 1) &&
           cover(part, {middle, time.to}, halvings + 1);
  }

  // Into the box of one half of the triangles, and the box of those that are not in it.
  bool divide(CellPart& part) const {
    if (part.halves[0]) return true;
    if (part.is_whole || part.triangles.size() <= kFewTriangles) return false;
    std::vector<std::uint32_t> half = part.triangles;
    const Vec3 e = extent(part.cell.box);
    const std::size_t axis = e.x >= e.y && e.x >= e.z ? 0 : e.y >= e.z ? 1 : 2;
    const auto middle = half.begin() + static_cast<std::ptrdiff_t>(half.size() / 2);
    std::nth_element(half.begin(), middle, half.end(), [&](auto s, auto t) {
      const double of_s = place_of(s, axis), of_t = place_of(t, axis);
      return of_s != of_t ? of_s < of_t : s < t;
    });
    half.erase(middle, half.end());
    auto first = std::make_unique<CellPart>(), second = std::make_unique<CellPart>();
    std::vector<std::uint32_t> rest;
    first->cell.box = box_of(half);
    for (const std::uint32_t t : part.triangles)
      (is_in(first->cell.box, t) ? first->triangles : rest).push_back(t);
    if (rest.empty()) {
      part.is_whole = true;
      return false;
    }
    second->cell.box = box_of(rest);
    for (const std::uint32_t t : part.triangles)
      if (is_in(second->cell.box, t)) second->triangles.push_back(t);
    first->depth = second->depth = part.depth + 1;
    part.halves[0] = std::move(first);
    part.halves[1] = std::move(second);
    return true;
  }

  double place_of(std::uint32_t triangle, std::size_t axis) const {
    const auto c = corners(mesh_, triangle);
    return double{c[0][axis]} + double{c[1][axis]} + double{c[2][axis]};
  }
  Aabb box_of(const std::vector<std::uint32_t>& triangles) const {
    Aabb box;
    for (const std::uint32_t t : triangles)
      for (const Vec3f& p : corners(mesh_, t)) extend(box, to_double(p));
    return box;
  }
  bool is_in(const Aabb& box, std::uint32_t triangle) const {
    const auto c = corners(mesh_, triangle);
    return contains(box, to_double(c[0])) && contains(box, to_double(c[1])) &&
           contains(box, to_double(c[2]));
  }

  static void collect(CellPart& part,
                      std::vector<CertificateCell>& cells) {  // NOLINT(misc-no-recursion)
    if (!part.cell.intervals.empty()) cells.push_back(std::move(part.cell));
    for (const auto& half : part.halves)
      if (half) collect(*half, cells);
  }

  const TriangleMesh& mesh_;
  ApartProof& proof_;
  const double clearance_;
  const CertifyRequest& request_;
  CellPart root_{};
  CertificateInterval failed_at_{};
  std::uint64_t count_ = 0;
  bool was_stopped_ = false;
};

// ---- claims -------------------------------------------------------------------------------------

bool stays(const BodyMotion& m) {
  return m.from.rotation == m.to.rotation && m.from.translation == m.to.translation;
}

class Certifier {
 public:
  Certifier(const TriangleMesh& a, const BodyMotion& motion_of_a, const TriangleMesh& b,
            const BodyMotion& motion_of_b, const CertifyRequest& request)
      : a_(a), b_(b), request_(request) {
    Certificate& c = result_.certificate;
    c.motion = {motion_of_a, motion_of_b, request.model, request.degree};
    // Paths bend least in the frame of a body that stays where it is.
    const bool is_free = request.model == MotionModel::kConstantRates;
    c.divided = is_free && stays(motion_of_a) && !stays(motion_of_b) ? Body::kB : Body::kA;
  }

  CertifyResult run() {
    Certificate& c = result_.certificate;
    motion_ = {.shell = c.motion.a,
               .field = c.motion.b,
               .model = c.motion.model,
               .degree = c.motion.degree};
    if (const auto flaw = find_flaw(motion_)) throw Error(*flaw);
    if (!a_is_divided()) motion_ = exchange_roles(motion_);
    const auto mark = [](const TriangleMesh& mesh, const std::string& file, const char* which) {
      if (const auto flaw = find_flaw(mesh)) throw Error(fmt::format("mesh {}: {}", which, *flaw));
      const std::uint64_t count = detail::finite_triangles(mesh).size();
      if (count == 0) throw Error(fmt::format("mesh {} has no triangles to certify", which));
      return CertificateMesh{file, count, hash_triangles(mesh)};
    };
    c.a = mark(a_, request_.file_a, "A");
    c.b = mark(b_, request_.file_b, "B");
    c.motion_hash = hash_motion(c.motion);
    path_.emplace(c.motion, c.divided);
    proof_.emplace(fixed(), divided(), *path_);
    fixed_bvh_.emplace(fixed());
    divided_bvh_.emplace(divided());
    find();
    result_.tests += proof_->tests();
    if (result_.status != CertifyStatus::kFree && result_.status != CertifyStatus::kContact)
      result_.certificate = {};
    return result_;
  }

 private:
  bool a_is_divided() const { return result_.certificate.divided == Body::kA; }
  const TriangleMesh& divided() const { return a_is_divided() ? a_ : b_; }
  const TriangleMesh& fixed() const { return a_is_divided() ? b_ : a_; }

  void give_up(const std::string& reason, CertifyStatus status = CertifyStatus::kGaveUp) {
    result_.status = status;
    result_.reason = reason;
  }

  void find() {
    const MeshContactResult first = find_first_contact(
        *fixed_bvh_, *divided_bvh_, motion_,
        {.time_tolerance = request_.time_tolerance / 4, .max_tests = request_.max_tests});
    result_.tests += first.tests;
    if (first.status == MeshMotionStatus::kGaveUp)
      return give_up(
          fmt::format("the search for a first contact stopped after {} tests; there is "
                      "none before {}",
                      first.tests, first.time));
    const bool touches_at_start = first.status == MeshMotionStatus::kContact && first.time == 0;
    if (!touches_at_start) {
      const detail::ContainedResult in = detail::find_contained(
          ProofSolid(a_), ProofSolid(b_), *path_, result_.certificate.divided);
      if (in.corner) return set_contained(*in.corner);
      if (!in.is_clear)
        return give_up("rounding decides whether a part of one body lies inside of the other one");
    }
    if (first.status == MeshMotionStatus::kContact)
      set_contact(first);
    else
      set_free();
  }

  void set_contained(const detail::ContainedCorner& corner) {
    if (request_.clearance) return give_up(kInside, CertifyStatus::kCloser);
    Certificate& c = result_.certificate;
    c.claim = CertificateClaim::kContained;
    c.inner = corner.inner;
    (corner.inner == Body::kA ? c.triangle_a : c.triangle_b) = corner.triangle;
    result_.status = CertifyStatus::kContact;
  }

  void set_contact(const MeshContactResult& first) {
    if (request_.clearance)
      return give_up(fmt::format("they touch at time {:.9g}", first.latest_time),
                     CertifyStatus::kCloser);
    Certificate& c = result_.certificate;
    c.claim = CertificateClaim::kContact;
    c.time_tolerance = request_.time_tolerance;
    c.contact_time = first.latest_time;
    // The search knows no contact before first.time; half of the tolerance makes room for a proof.
    c.free_until = std::max(0.0, first.time - request_.time_tolerance / 2);
    c.triangle_a = a_is_divided() ? first.triangle_b : first.triangle_a;
    c.triangle_b = a_is_divided() ? first.triangle_a : first.triangle_b;
    c.distance_tolerance =
        proof_->bound_distance(first.triangle_a, first.triangle_b, c.contact_time);
    // Triangles that the search takes for touching come within 2^-40 of the motion's path.
    if (c.distance_tolerance > proof_->touch_tolerance(c.motion))
      return give_up(fmt::format("the triangles that touch at {:.9g} may be up to {:.3g} m apart",
                                 c.contact_time, c.distance_tolerance));
    if (c.contact_time - c.free_until > c.time_tolerance)
      return give_up("the first contact is not known to the tolerance of times");
    if (cover(0, c.free_until)) result_.status = CertifyStatus::kContact;
  }

  void set_free() {
    MeshApproachResult near = approach(0);
    // A coarse bound of a small distance, once more.
    if (!near.gave_up && near.lower_bound < 0.96 * near.distance &&
        0.03 * near.distance > 2 * proof_->rounding())
      near = approach(0.03 * near.distance);
    result_.lower_bound = near.lower_bound;
    result_.distance = near.distance;
    result_.time_of_distance = near.time;
    double clearance = request_.clearance.value_or(0);
    if (clearance > near.distance)
      return give_up(
          fmt::format("they come as near as {:.6g} m, at time {:.6g}", near.distance, near.time),
          CertifyStatus::kCloser);
    if (!request_.clearance) {
      if (near.gave_up)
        return give_up(
            fmt::format("the search for the least distance stopped after {} tests", near.tests));
      const double room = 4 * proof_->rounding();
      clearance = std::min(request_.share * near.lower_bound, near.lower_bound - room);
      if (!(clearance > 0))
        return give_up(
            fmt::format("they come as near as {:.3g} m at time {:.6g}, which rounding "
                        "of {:.3g} m hides",
                        near.distance, near.time, proof_->rounding()));
      clearance = round_down(clearance);
    }
    Certificate& c = result_.certificate;
    c.claim = CertificateClaim::kFree;
    c.clearance = clearance;
    if (cover(clearance, 1)) result_.status = CertifyStatus::kFree;
  }

  MeshApproachResult approach(double tolerance) {
    const MeshApproachResult near =
        find_closest_approach(*fixed_bvh_, *divided_bvh_, motion_,
                              {.tolerance = tolerance, .max_tests = request_.max_tests});
    result_.tests += near.tests;
    return near;
  }

  bool cover(double clearance, double last) {
    if (last == 0) return true;
    CoverSearch search(divided(), *proof_, clearance, request_);
    if (!search.run(last)) {
      const CertificateInterval& time = search.failed_at();
      give_up(search.was_stopped()
                  ? fmt::format("the proof was stopped at time {:.9g} by a limit of tests or of "
                                "intervals: a smaller clearance needs fewer",
                                time.from)
                  : fmt::format("from {:.9g} to {:.9g}, the bodies are so near that rounding of "
                                "{:.3g} m decides: allow a smaller clearance, or a larger "
                                "tolerance of times",
                                time.from, time.to, proof_->rounding()));
      return false;
    }
    result_.certificate.cells = search.take_cells();
    return true;
  }

  static constexpr const char* kInside = "one body lies inside of the other one";

  const TriangleMesh &a_, &b_;
  const CertifyRequest request_;
  CertifyResult result_{};
  ShellMotion motion_{};  // the divided body is the shell
  std::optional<CertificatePath> path_{};
  std::optional<ApartProof> proof_{};
  std::optional<Bvh> fixed_bvh_{}, divided_bvh_{};
};

void check(const CertifyRequest& request) {
  if (request.clearance && !(*request.clearance >= 0 && std::isfinite(*request.clearance)))
    throw Error("the clearance to certify must not be negative");
  if (!(request.share > 0 && request.share < 1))
    throw Error("the share of the least distance to certify must be between 0 and 1");
  if (!(request.time_tolerance > 0)) throw Error("the tolerance of times must be positive");
}

}  // namespace

CertifyResult certify(const TriangleMesh& a, const BodyMotion& motion_of_a, const TriangleMesh& b,
                      const BodyMotion& motion_of_b, const CertifyRequest& request) {
  check(request);
  return Certifier(a, motion_of_a, b, motion_of_b, request).run();
}

}  // namespace isotact

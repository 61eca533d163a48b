// The steps of a certificate's proof, which check_certificate takes: positions of a body that moves
// with a bound of their error, and whether triangles stay apart for an interval of time. Simple on
// purpose, and apart from all search code: nothing of queries/swept is used but the structs of a
// motion and their find_flaw.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "isotact/queries/certificate/certificate.h"

namespace isotact::detail {

// The relative error of one operation in double.
inline constexpr double kRoundoff = 0x1p-53;

// The divided body's motion in the frame of the other one, which is fixed there.
class CertificatePath {
 public:
  // The motion must be without flaw; for models other than constant rates, A must be divided.
  CertificatePath(const CertificateMotion& motion, Body divided);

  // fixed_from_divided. The exact position of a point that is `reach` metres from the divided
  // body's origin is no further than error(reach) from map * point, in double.
  AffineMap at(double time) const;
  double error(double reach) const { return unit_error_ * (reach + scale_); }

  // Metres: bounds the second derivative of the exact path of all points that are no further than
  // `radius` from pivot(). Over a time T, a path is no further than bend * T^2 / 8 from its chord.
  double bend(double radius) const { return constant_ + per_metre_ * radius; }
  const Vec3& pivot() const { return pivot_; }  // in the divided body's frame

 private:
  static constexpr std::size_t kMostDegree = 8;
  struct Body {
    Quat from{}, to{};  // world_from_body, unit
    Vec3 turn{};        // from first to last: axis times angle, in the body's frame
    Vec3 pivot{}, pivot_from{}, pivot_to{};
    Vec3 place_from{}, place_to{};  // of the origin
  };
  struct Rigid {
    Quat rotation{};
    Vec3 offset{};
  };

  static Body body_of(const BodyMotion& motion);
  static Quat rotation_at(const Body& body, double time);
  Rigid rates_at(double time) const;
  Rigid screw_at(double time) const;
  AffineMap polynomial_at(double time) const;
  void set_rates();
  void set_screw();
  void set_polynomial(int degree);

  MotionModel model_;
  Body divided_, fixed_;
  Rigid first_{}, last_{};
  Vec3 turn_{}, shift_{};  // of the screw
  int degree_ = 0;
  std::array<AffineMap, kMostDegree + 1> through_{};
  Vec3 pivot_{};
  double constant_ = 0, per_metre_ = 0, unit_error_ = 0, scale_ = 0;
};

using ProofCorners = std::array<Vec3, 3>;

// Boxes around triangles, halved along their longest side.
class ProofTree {
 public:
  struct Node {
    Aabb box{};
    std::uint32_t begin = 0, end = 0;  // of corners()
    std::uint32_t first_child = 0;     // the second one follows; 0: a leaf
  };

  // Triangles with these numbers; their corners must be finite.
  ProofTree(const TriangleMesh& mesh, const std::vector<std::uint32_t>& triangles);

  std::size_t size() const { return corners_.size(); }  // triangles
  bool is_empty() const { return corners_.empty(); }
  const std::vector<Node>& nodes() const { return nodes_; }  // the first one is the root
  const ProofCorners& corners(std::uint32_t i) const { return corners_[i]; }

 private:
  std::vector<Node> nodes_;
  std::vector<ProofCorners> corners_;
};

// Numbers of the triangles whose corners are finite.
std::vector<std::uint32_t> finite_triangles(const TriangleMesh& mesh);

// Nearest points of two triangles, as weights of corners would give them. Rounded, and a little too
// far apart at worst: proofs use their direction only, or take them as points that exist.
struct NearPoints {
  Vec3 on_a{}, on_b{};
};
NearPoints find_near_points(const ProofCorners& a, const ProofCorners& b);

class ApartProof {
 public:
  ApartProof(const TriangleMesh& fixed, const TriangleMesh& divided, const CertificatePath& path);

  // Whether it is proved that all triangles of the cell, which are of the divided body, keep more
  // than 0 and at least `clearance` from the fixed body, for all times of the interval. max_tests:
  // boxes and triangles, all calls together; 0: no limit. Beyond, nothing is proved.
  bool holds(const ProofTree& cell, const CertificateInterval& time, double clearance,
             std::uint64_t max_tests = 0);

  // Metres: no less than the least distance at a time, by two triangles' near points.
  double bound_distance(std::uint32_t of_fixed, std::uint32_t of_divided, double time) const;

  // Metres: triangles that touch are within this at the time of a contact, in all cases but those
  // where rounding hides it: 2^-30 of paths and sizes, and four times rounding().
  double touch_tolerance(const CertificateMotion& motion) const;

  double rounding() const { return rounding_; }  // metres, of differences of positions
  std::uint64_t tests() const { return tests_; }

 private:
  struct Moment {
    AffineMap from, to, middle;
    double bend_time = 0;  // T^2 / 8
  };
  struct SweptBox {
    Aabb box;      // around both ends
    Aabb middle;   // at the middle time
    double slack;  // metres: how much nearer points may come
    std::uint64_t stamp;
  };
  // Places in trees. A pair that was not apart is likely not to be so in the next interval.
  struct Failed {
    std::uint32_t of_fixed, of_divided;
  };

  const SweptBox& swept_box(const ProofTree& cell, std::uint32_t node, const Moment& moment);
  static bool boxes_hold(const Aabb& of_cell, const SweptBox& swept, const Aabb& of_fixed,
                         const Moment& moment, double needed);
  bool leaves_hold(const ProofTree& cell, std::uint32_t node, std::uint32_t of_fixed,
                   const Moment& moment, double clearance);
  bool pair_holds(const ProofTree& cell, std::uint32_t of_divided, std::uint32_t of_fixed,
                  const Moment& moment, double clearance);
  double slack_of(const Vec3& middle, double radius, const Moment& moment) const;

  const TriangleMesh &fixed_mesh_, &divided_mesh_;
  const CertificatePath& path_;
  ProofTree fixed_;
  double rounding_ = 0;
  std::vector<SweptBox> swept_;
  std::uint64_t stamp_ = 0, tests_ = 0;
  std::vector<std::array<std::uint32_t, 2>> open_;  // nodes of the cell and of the fixed body
  std::optional<Failed> failed_;
};

// A mesh as a body with an inside.
class ProofSolid {
 public:
  explicit ProofSolid(const TriangleMesh& mesh);

  bool is_closed() const { return is_closed_; }
  // Whether the winding number of the closed mesh at a point is not 0; nothing if rounding decides.
  // The point may be off by `error`, metres.
  std::optional<bool> is_inside(const Vec3& point, double error) const;
  // Triangles by the connected parts that they belong to: the first triangles of each part.
  const std::vector<std::vector<std::uint32_t>>& parts() const { return parts_; }
  const TriangleMesh& mesh() const { return mesh_; }
  std::uint64_t tests() const { return tests_; }

 private:
  const TriangleMesh& mesh_;
  std::vector<std::uint32_t> finite_;
  std::vector<std::vector<std::uint32_t>> parts_;
  Aabb box_{};
  bool is_closed_ = false;
  mutable std::uint64_t tests_ = 0;
};

struct ContainedCorner {
  Body inner = Body::kA;
  std::uint32_t triangle = 0;
};
struct ContainedResult {
  std::optional<ContainedCorner> corner;  // one that is inside of the other body at time 0
  bool is_clear = true;                   // false: rounding left some part undecided
};
// At the beginning of the motion. `divided` tells which of the two moves in the other's frame.
ContainedResult find_contained(const ProofSolid& a, const ProofSolid& b,
                               const CertificatePath& path, Body divided);
// Whether one corner is inside; nothing if rounding decides.
std::optional<bool> is_corner_inside(const ProofSolid& inner, const ProofSolid& outer,
                                     std::uint32_t triangle, const CertificatePath& path,
                                     bool inner_is_divided);

}  // namespace isotact::detail

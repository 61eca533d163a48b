// A motion of two bodies as a curve of maps from the shell's frame to the field's. It has a bound
// of how much the paths of points bend.
#pragma once

#include <array>

#include "isotact/queries/swept/motion.h"

namespace isotact::detail {

inline constexpr int kMostDegree = 8;  // of polynomials

// The constant part of a body's motion at constant rates.
struct Rates {
  Pose from{}, to{};
  Vec3 turn{};  // From first to last, in the body's frame.
  Vec3 pivot{}, pivot_from{}, pivot_to{};
};

// A screw in a time t: points rotate by t * turn and drift by t * shift, at constant rates.
struct Screw {
  Vec3 turn{}, shift{};
};

struct FieldFromShell {
  Pose from{}, to{};
};

// Maps that a polynomial goes through.
struct Places {
  std::array<AffineMap, kMostDegree + 1> map{};
  int degree = 0;
};

class MotionCurve {
 public:
  // The motion must be without flaw.
  explicit MotionCurve(const ShellMotion& motion);

  // compute_map of the motion.
  AffineMap at(double time) const;

  // Metres: bounds the second derivative of the path of every shell point that is no further than
  // `radius` from pivot(), with time from 0 to 1. A path between two times is therefore at most
  // bend / 8 times the square of their difference away from its chord.
  double bend(double radius) const { return constant_ + per_metre_ * radius; }
  const Vec3& pivot() const { return pivot_; }  // in the shell's frame

  double rounding() const { return rounding_; }  // metres, of positions: see ShellPath

 private:
  struct Parts {
    MotionModel model;
    FieldFromShell ends{};
    Rates field{}, shell{};
    Screw screw{};
    Places places{};
  };
  Parts parts_;
  Vec3 pivot_{};
  double constant_ = 0, per_metre_ = 0, rounding_ = 0;
};

}  // namespace isotact::detail

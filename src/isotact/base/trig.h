// Sines, cosines and angles made of basic arithmetic and sqrt alone, so that they give the same
// bits on every machine. (Those of libm differ with and without FMA.) A few nanoseconds a call.
#pragma once

namespace isotact {

inline constexpr double kPi = 3.14159265358979323846;

struct SinCos {
  double sin = 0, cos = 1;
};

// Of an angle in radians, to about one unit in the last place for |angle| up to a million; beyond
// that, and for what is not finite, both are NaN.
SinCos sin_cos(double angle);

// The angle of the point (x, y) in (-pi, pi], within a few units in the last place; 0 for (0, 0).
// Both must be finite and not so large or small that their squares leave the range of double.
double angle_of(double y, double x);

}  // namespace isotact

// Sines, cosines and angles made of basic arithmetic and sqrt alone, so they give the same bits on
// every machine. (Those of libm differ with and without FMA.) Cost: a few nanoseconds per call.
#pragma once

#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

inline constexpr double kPi = 3.14159265358979323846;

struct SinCos {
  double sin = 0, cos = 1;
};

// Sine and cosine of an angle in radians, to about one unit in the last place for |angle| up to a
// million. Beyond that, and for an angle that is not finite, both are NaN.
SinCos sin_cos(double angle);

// Returns the angle of the point (x, y) in (-pi, pi], within a few units in the last place; 0 for
// (0, 0). Both must be finite, and their squares must stay in the range of double.
double angle_of(double y, double x);

}  // namespace isotact

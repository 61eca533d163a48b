// Settings of penalty forces (SSL14, equations 2 and 3), and counters of work.
#pragma once

#include <cstdint>

#include "isotact/base/vec.h"
#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

enum class ShellForceScale : std::uint8_t {
  // Depth times the area that a point stands for: the force of an elastic layer over all that
  // overlaps. Stiffness in N/m^3. The same for all samplings, but for their resolution.
  kPressure,
  // The mean depth over the area that overlaps. Stiffness in N/m. A peg pushes as hard with its end
  // as with its side, as SSL14 (end of 2.2) would have it.
  kMeanDepth,
};
enum class ShellForceNormal : std::uint8_t {
  kShell,  // of the points, as SSL14 has it: costs nothing
  kField,  // the field's gradient: right at edges of the field's body too; a lookup a hit
};

struct ShellForceSettings {
  double stiffness = 1e7;
  ShellForceScale scale = ShellForceScale::kPressure;
  ShellForceNormal normal = ShellForceNormal::kShell;
  Vec3 center{};  // torques are about it; in the field's frame
};

struct ShellWork {
  std::uint64_t spheres = 0, points = 0;  // Tested.
};

}  // namespace isotact

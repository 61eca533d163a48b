#include <iterator>

#include <fmt/format.h>

#include "isotact/scene/replay.h"

namespace isotact {

std::string write_log_csv(const Replay& replay) {
  std::string text =
      "step,time,kinetic,potential,springs,total,pairs,contacts,points,depth,broad_seconds,"
      "detection_seconds,forces_seconds,motion_seconds\n";
  auto out = std::back_inserter(text);
  for (const StepReport& r : replay.log) {
    const Energies& e = r.energies;
    const PhaseTimes& s = r.seconds;
    fmt::format_to(out, "{},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{},{},{},{:.9g},", r.number, r.time,
                   e.kinetic, e.potential, e.springs, e.total(), r.pairs, r.contacts, r.points,
                   r.depth);
    fmt::format_to(out, "{:.4g},{:.4g},{:.4g},{:.4g}\n", s.broad, s.detection, s.forces, s.motion);
  }
  return text;
}

}  // namespace isotact

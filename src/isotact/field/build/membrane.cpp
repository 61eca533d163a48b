#include "isotact/field/build/detail/membrane.h"

namespace isotact::surface_detail {

MembraneReport add_membranes(TriangleMesh& mesh, std::span<const Rim> rims,
                             const MembraneSettings& settings) {
  MembraneReport report;
  for (const Rim& rim : rims) {
    settings.monitor.check();
    add_fan(mesh, rim);
    if (rim.radius > settings.voxel_size) ++report.plain;
  }
  return report;
}

}  // namespace isotact::surface_detail

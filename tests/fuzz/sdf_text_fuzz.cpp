// SDFGen's text: refused with Error, or as many finite values as the lattice has nodes.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "isotact/base/error.h"
#include "isotact/field/io/sdf_export.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const isotact::LatticeSamples read =
        isotact::read_sdf_text(std::as_bytes(std::span(data, size)), "fuzz.sdf");
    if (read.values.size() != isotact::count(node_counts(read.lattice))) std::abort();
    if (!(read.lattice.spacing > 0) || !is_finite(read.lattice.origin)) std::abort();
    for (const float value : read.values)
      if (!std::isfinite(value)) std::abort();
  } catch (const isotact::Error&) {
    return 0;
  }
  return 0;
}

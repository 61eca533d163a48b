// Any bytes are a glTF or GLB that is read, or an Error; never a crash, never an index out of
// range.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "isotact/base/error.h"
#include "isotact/geometry/io/gltf.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace isotact;
  try {
    const LoadedMesh loaded =
        read_gltf(std::as_bytes(std::span(data, size)), "fuzz.gltf", false, {});
    if (find_flaw(loaded.mesh)) std::abort();
  } catch (const Error&) {
  }
  return 0;
}

#include "check_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  isotact::fuzz::check_reader(isotact::MeshFormat::kOff, data, size);
  return 0;
}

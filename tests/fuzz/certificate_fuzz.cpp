// What must hold for any bytes at all: a certificate is refused with Error, or it is text that is
// read back the same; and its check ends with an answer, whatever it says.
#include <cstdint>
#include <string>

#include "isotact/base/error.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/queries/certificate/certificate.h"

#include "require.h"

namespace isotact::fuzz {
namespace {

void check_text(std::string_view text) {
  Certificate certificate;
  try {
    certificate = decode_certificate(text, "fuzz.certificate");
  } catch (const Error&) {
    return;
  }
  const std::string again = encode_certificate(certificate);
  require(encode_certificate(decode_certificate(again, "fuzz.certificate")) == again,
          "written again, the certificate differs");
  static const TriangleMesh box = make_box({});
  constexpr std::uint64_t kMostTests = 10000;  // A fuzzer wants short runs.
  const auto check = [&] {
    const CertificateCheck answer =
        check_certificate(certificate, box, box, {.max_tests = kMostTests});
    require(answer.holds == answer.reason.empty(), "a refusal has no reason");
  };
  check();
  // Hashes made right: the rest of the checker is reached.
  certificate.a.hash = certificate.b.hash = hash_triangles(box);
  certificate.a.triangle_count = certificate.b.triangle_count = box.triangles.size();
  certificate.motion_hash = hash_motion(certificate.motion);
  check();
}

}  // namespace
}  // namespace isotact::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  isotact::fuzz::check_text({reinterpret_cast<const char*>(data), size});
  return 0;
}

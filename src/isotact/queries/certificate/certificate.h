// A proof, in a file, that two moving meshes stay apart, or when they first touch.
//
//   const CertifyResult r = certify(gear, gear_motion, rack, rack_motion);      // certify.h
//   if (r.status == CertifyStatus::kFree) write_certificate("gear.certificate", r.certificate);
//   ...
//   const CertificateCheck c = check_certificate(read_certificate("gear.certificate"), gear, rack);
//   if (!c.holds) ... c.reason ...
//
// The certificate divides one mesh into cells and the time of the motion into intervals. For each
// cell and interval the checker proves by itself that all triangles in the cell keep the distance.
// It takes nothing from the search that wrote the file. docs/formats.md specifies the file.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isotact/base/aabb.h"
#include "isotact/export.h"
#include "isotact/geometry/mesh/mesh.h"
#include "isotact/queries/contact/contact.h"
#include "isotact/queries/swept/motion.h"

namespace ISOTACT_PUBLIC isotact {

// 128 bits: two hashes of the same bytes. They tell meshes and motions apart; they prove nothing.
using CertificateHash = std::array<std::uint64_t, 2>;

// The hash of the corners of all triangles in their order. Vertices that are shared or repeated,
// that no triangle uses, and triangles with a corner that is not finite make no difference.
CertificateHash hash_triangles(const TriangleMesh& mesh);

struct CertificateMesh {
  std::string file;  // a hint for people: printable, without line ends
  std::uint64_t triangle_count = 0;
  CertificateHash hash{};
};

struct CertificateMotion {
  BodyMotion a{}, b{};
  // All models but constant rates are defined in the frame of B, as in continuous_collide.
  MotionModel model = MotionModel::kConstantRates;
  int degree = 3;  // of polynomials
};
CertificateHash hash_motion(const CertificateMotion& motion);

// Surfaces are meant, and the inside of closed meshes: see check_certificate.
enum class CertificateClaim : std::uint8_t {
  kFree,       // They keep at least `clearance` for all times from 0 to 1.
  kContact,    // They are apart until free_until, and touch at contact_time.
  kContained,  // At time 0 a corner of one body is inside the other one.
};
std::string_view name(CertificateClaim claim);  // "free", "contact", "contained"

struct CertificateInterval {
  double from = 0, to = 0;

  friend bool operator==(const CertificateInterval&, const CertificateInterval&) = default;
};

// All triangles that lie in the box, for each of the intervals. Boxes are in the frame of the body
// that is divided.
struct CertificateCell {
  Aabb box{};
  std::vector<CertificateInterval> intervals;

  friend bool operator==(const CertificateCell&, const CertificateCell&) = default;
};

struct Certificate {
  CertificateMesh a{}, b{};
  CertificateMotion motion{};
  CertificateHash motion_hash{};

  CertificateClaim claim = CertificateClaim::kFree;
  double clearance = 0;  // metres, of kFree
  // For kContact: they are apart for all times before free_until and have at most
  // distance_tolerance, metres, at contact_time, which is later by at most time_tolerance.
  double free_until = 0, contact_time = 0, time_tolerance = 0, distance_tolerance = 0;
  // For kContact: the triangles that touch. For kContained: the one whose first corner is inside.
  std::uint32_t triangle_a = 0, triangle_b = 0;
  Body inner = Body::kA;  // of kContained

  Body divided = Body::kA;  // whose triangles the cells divide; the other body's frame is used
  std::vector<CertificateCell> cells;
};

// Text that decode_certificate reads back exactly.
std::string encode_certificate(const Certificate& certificate);
// Throws Error with the line for text that is no certificate of this version, or that is longer
// than a certificate may be. It does not check the claim.
Certificate decode_certificate(std::string_view text, std::string_view file_name);

inline constexpr std::uint64_t kMostCertificateBytes = std::uint64_t{1} << 30U;
Certificate read_certificate(const std::filesystem::path& path);
void write_certificate(const std::filesystem::path& path, const Certificate& certificate);

struct CertificateCheck {
  bool holds = false;
  std::string reason;  // Why it does not hold; empty if it does.
  // Whether the mesh has an inside: each edge is used as often in one direction as in the other. A
  // body whose corner is inside does not count as apart. Of an open mesh, only the surface counts.
  bool a_is_closed = false, b_is_closed = false;
  std::uint64_t cells = 0, intervals = 0;
  double rounding = 0;      // metres: what positions may be off, which all proofs allow for
  std::uint64_t tests = 0;  // boxes and triangles
};

// Tolerances of a contact that a check accepts. With large ones anything would be a contact.
struct CertificateCheckSettings {
  double time_tolerance = 1e-6;  // of the certificate, at most: in durations of the motion
  // Metres, of the certificate, at most. Without it: 2^-30 of the bodies' sizes and paths, and four
  // times `rounding`.
  std::optional<double> distance_tolerance{};
  std::uint64_t max_tests = 0;  // boxes and triangles before it is refused; 0: no limit
};

// Whether the claim is proved for these two meshes. Trusts nothing but the meshes, the arithmetic
// of base/ and itself: docs/certificates.md argues each step. Never throws for a certificate,
// however it came to be.
CertificateCheck check_certificate(const Certificate& certificate, const TriangleMesh& a,
                                   const TriangleMesh& b,
                                   const CertificateCheckSettings& settings = {});

}  // namespace isotact

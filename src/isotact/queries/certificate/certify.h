// Proves that two moving meshes stay apart, or finds when they first touch, and writes the proof
// down. See certificate.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "isotact/export.h"
#include "isotact/queries/certificate/certificate.h"

namespace ISOTACT_PUBLIC isotact {

struct CertifyRequest {
  MotionModel model = MotionModel::kConstantRates;
  int degree = 3;  // of MotionModel::kPolynomial
  // Metres to prove. Without it, `share` of the least distance over the motion is proved. A smaller
  // clearance needs fewer intervals.
  std::optional<double> clearance{};
  double share = 0.9;              // above 0, below 1
  double time_tolerance = 1e-6;    // of first contacts, in durations of the motion
  std::string file_a{}, file_b{};  // names for the certificate
  // Boxes and triangles of one search, and of the proof, before giving up; 0: no limit.
  std::uint64_t max_tests = 0;
  std::uint32_t max_intervals = 1U << 20U;  // before giving up
};

enum class CertifyStatus : std::uint8_t {
  kFree,
  kContact,  // or one body is inside the other one from the start
  kCloser,   // They come closer than the clearance that was asked for: there is no certificate.
  kGaveUp,   // There is no certificate.
};

struct CertifyResult {
  CertifyStatus status = CertifyStatus::kGaveUp;
  std::string reason;  // of kCloser and kGaveUp
  // With kFree and kContact: check_certificate holds, with the request's time_tolerance.
  Certificate certificate{};
  // Metres: bounds of the least distance over the motion, if they stay apart.
  double lower_bound = 0, distance = 0;
  double time_of_distance = 0;
  std::uint64_t tests = 0;  // boxes and triangles
};

// Throws Error for meshes without triangles, for a motion with a flaw, and for settings out of
// range. Cost: the search's (queries/swept/mesh_motion.h), and some times that of the check.
CertifyResult certify(const TriangleMesh& a, const BodyMotion& motion_of_a, const TriangleMesh& b,
                      const BodyMotion& motion_of_b, const CertifyRequest& request = {});

}  // namespace isotact

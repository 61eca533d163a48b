#include "collide/collide_swept.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

namespace isotact::tool {
namespace {

// As the query decides it, which has no mode that lists intervals and is exact.
bool has_exact_motions(const Shape& shape) {
  if (shape.solid()) return !std::holds_alternative<std::monostate>(shape.solid()->primitive());
  const ShapeParts& parts = shape.parts();
  return parts.flat_mesh || (parts.mesh && !parts.mesh->triangles.empty());
}

}  // namespace

std::optional<ContinuousRequest> exact_request_of(const ContinuousRequest& of_points,
                                                  const Shape& a, const Shape& b) {
  const bool can_be = of_points.roles == Roles::kBoth && of_points.margin >= 0 &&
                      has_exact_motions(a) && has_exact_motions(b);
  if (of_points.accuracy == Accuracy::kField || (of_points.accuracy == Accuracy::kBest && !can_be))
    return std::nullopt;
  ContinuousRequest request = of_points;
  request.accuracy = Accuracy::kExact;
  request.mode = Mode::kFirst;
  return request;
}

void decide_by(const ContinuousResult& exact, std::size_t most, ContinuousResult& result) {
  std::vector<TimedContact> contacts = exact.contacts;
  for (const TimedContact& c : result.contacts)
    if (contacts.size() < most && c.time >= exact.time_of_contact) contacts.push_back(c);
  result.status = exact.status;
  result.exact = true;
  result.time_of_contact = exact.time_of_contact;
  result.latest_time = exact.latest_time;
  result.contained = exact.contained;
  result.contact = exact.contact;
  result.contacts = std::move(contacts);
}

ApproachResult find_exact_approach(const Shape& a, const BodyMotion& of_a, const Shape& b,
                                   const BodyMotion& of_b, const ContinuousRequest& request,
                                   const ContinuousResult& exact) {
  // Some seconds. Solids whose cores cross have no bound that would end the search.
  constexpr std::uint64_t kMostTests = 20'000'000;
  const bool touches = exact.status == ContinuousStatus::kContact;
  if (touches && (request.margin == 0 || exact.contained)) return {.time = exact.time_of_contact};
  ContinuousRequest asked = request;
  asked.want_distance = true;
  asked.max_tests = kMostTests;
  const ContinuousResult found = continuous_collide(a, of_a, b, of_b, asked);
  const double distance = touches ? std::min(found.distance, request.margin) : found.distance;
  return {.status = found.distance_gave_up ? ApproachStatus::kGaveUp : ApproachStatus::kDone,
          .distance = distance,
          .lower_bound = std::min(found.lower_bound, distance),
          .time = found.time_of_distance};
}

}  // namespace isotact::tool

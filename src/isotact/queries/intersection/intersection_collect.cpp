// From particles that have arrived to contacts.
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "isotact/queries/intersection_plan.h"

namespace isotact {

namespace {

// Cells that were cut share their number: places decide then.
bool comes_first(const IdfHit& a, const IdfHit& b) {
  const auto key = [](const IdfHit& h) {
    return std::tuple(h.pair, -h.depth, h.particle, h.position[0], h.position[1], h.position[2]);
  };
  return key(a) < key(b);
}

Contact make_contact(const IdfHit& hit, const Vec3& world_from_pair) {
  Contact contact;
  contact.normal =
      normalized(Vec3{static_cast<double>(hit.normal[0]), static_cast<double>(hit.normal[1]),
                      static_cast<double>(hit.normal[2])});
  contact.depth = static_cast<double>(hit.depth);
  const Vec3 at = world_from_pair + Vec3{static_cast<double>(hit.position[0]),
                                         static_cast<double>(hit.position[1]),
                                         static_cast<double>(hit.position[2])};
  const Vec3 across = contact.normal * contact.depth;  // from A's point to B's
  contact.point_on_a = hit.on_a != 0 ? at : at - across;
  contact.point_on_b = hit.on_a != 0 ? at + across : at;
  contact.position = (contact.point_on_a + contact.point_on_b) * 0.5;
  contact.sampled_by = hit.on_a != 0 ? Body::kA : Body::kB;
  contact.point = hit.particle;
  return contact;
}

float find_plain_resolution(const IdfPairRecord& record, const IdfSettings& settings) {
  if (record.cells[0] == 0) return 0;  // nothing in common
  if (settings.sampling != IdfSampling::kGrid) return std::numeric_limits<float>::infinity();
  return record.half_diagonal * record.lipschitz;
}

// All of them would become contacts again, with those of the sampling grid beside them: without a
// limit each call would have more.
constexpr std::size_t kMostSeeds = 16;

void keep_seeds_of(std::span<const Contact> contacts, const IdfBody& body_a,
                   IdfState::Seeds& seeds) {
  const Pose a_from_world = inverse(body_a.world_from_body);
  const std::size_t kept = std::min(contacts.size(), kMostSeeds);
  for (std::size_t i = 0; i < kept; ++i) {
    const Contact& contact = contacts[i * contacts.size() / kept];
    const Vec3& at = contact.sampled_by == Body::kA ? contact.point_on_a : contact.point_on_b;
    seeds.in_a.push_back(to_float(transform_point(a_from_world, at)));
  }
}

}  // namespace

void collect_hits(std::span<IdfHit> hits, std::span<const IdfBody> bodies,
                  std::span<const IdfPair> pairs, const IdfPlan& plan, const IdfSettings& settings,
                  IdfState& state, IdfResult& result) {
  if (!std::is_sorted(hits.begin(), hits.end(), comes_first))
    std::sort(hits.begin(), hits.end(), comes_first);
  result.contacts.resize(hits.size());
  result.first_contact.assign(pairs.size() + 1, 0);
  result.arrived.assign(pairs.size(), 0);
  result.resolution.resize(pairs.size());
  result.particles = plan.particle_end.empty() ? 0 : plan.particle_end.back();
  result.evaluations = 0;
  for (std::size_t i = 0; i < hits.size(); ++i) {
    result.contacts[i] = make_contact(hits[i], plan.world_from_pair[hits[i].pair]);
    ++result.arrived[hits[i].pair];
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    result.first_contact[i + 1] = result.first_contact[i] + result.arrived[i];
    result.resolution[i] = find_plain_resolution(plan.records[i], settings);
  }
  state.seeds.clear();
  if (!settings.keep_seeds) return;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (result.arrived[i] == 0) continue;
    const std::span contacts{result.contacts.data() + result.first_contact[i], result.arrived[i]};
    IdfState::Seeds& seeds = state.seeds[std::uint64_t{pairs[i].a} << 32U | pairs[i].b];
    seeds.in_a.clear();
    keep_seeds_of(contacts, bodies[pairs[i].a], seeds);
  }
}

}  // namespace isotact

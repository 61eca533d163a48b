// From arrived particles to contacts.
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "isotact/queries/intersection/intersection_field.h"
#include "isotact/queries/intersection/intersection_plan.h"

namespace isotact {
namespace {

// Cells that were cut share their number: positions decide then.
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
  const Vec3 across = contact.normal * contact.depth;  // From A's point to B's.
  contact.point_on_a = hit.on_a != 0 ? at : at - across;
  contact.point_on_b = hit.on_a != 0 ? at + across : at;
  contact.position = (contact.point_on_a + contact.point_on_b) * 0.5;
  contact.sampled_by = hit.on_a != 0 ? Body::kA : Body::kB;
  contact.point = hit.particle;
  return contact;
}

float compute_plain_resolution(const IdfPairRecord& record, const IdfSettings& settings) {
  if (record.cells[0] == 0) return 0;  // No common box.
  if (settings.sampling != IdfSampling::kGrid) return std::numeric_limits<float>::infinity();
  return record.half_diagonal * record.lipschitz;
}

// All of them would become contacts again, in addition to those of the sampling grid: without a
// limit each call would have more.
constexpr std::size_t kMostSeeds = 16;

void keep_seeds_of(std::span<const Contact> contacts, const IdfBody& body_a,
                   IdfScratch::Seeds& seeds) {
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
                  IdfResult& result, IdfScratch& scratch) {
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
    result.resolution[i] = compute_plain_resolution(plan.records[i], settings);
  }
  scratch.seeds.clear();
  if (!settings.keep_seeds) return;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (result.arrived[i] == 0) continue;
    const std::span contacts{result.contacts.data() + result.first_contact[i], result.arrived[i]};
    IdfScratch::Seeds& seeds = scratch.seeds[std::uint64_t{pairs[i].a} << 32U | pairs[i].b];
    seeds.in_a.clear();
    keep_seeds_of(contacts, bodies[pairs[i].a], seeds);
  }
}

// KGM, Algorithm 1.

namespace {

// For x > 0. Returns the same bits on every machine, unlike libm's.
double cube_root(double x) {
  int exponent = 0;
  std::frexp(x, &exponent);
  const int third = exponent >= 0 ? exponent / 3 : -((2 - exponent) / 3);
  const double unit = std::ldexp(x, -3 * third);  // In [0.5, 8).
  double root = 1;
  for (int i = 0; i < 8; ++i) root = (2 * root + unit / (root * root)) / 3;  // Newton.
  return std::ldexp(root, third);
}

double at_least_one(double x) { return std::max(std::floor(x + 0.5), 1.0); }

}  // namespace

// The listing works on sorted sides. If the smallest side is zero, it divides by zero. The limit of
// its steps for ever smaller sides is one sample there, and n^3 for the others by their ratio.
//
// Proof that the product is at most 1.5 n^3. r3 <= n, since it starts as the least of three numbers
// whose product is n^3, and n is whole. Then r2 is sqrt(a2 n^3 / r3), rounded, with a2 <= 1. Hence
// r2 r3 <= sqrt(n^3 r3) + r3 / 2 <= n^2 + n / 2, and 1 if n is 1: never above n^3. The last line of
// the listing is r1 = n^3 / (r2 r3) >= 1, rounded: the product is off by at most r2 r3 / 2 <= n^3 /
// 2.
std::array<std::int32_t, 3> distribute_samples(const Vec3& box_size, int n) {
  std::array<std::size_t, 3> axis{0, 1, 2};
  std::stable_sort(axis.begin(), axis.end(),
                   [&](std::size_t i, std::size_t j) { return box_size[i] > box_size[j]; });
  const double longest = box_size[axis[0]];
  if (!(longest > 0)) return {1, 1, 1};
  const double wanted = static_cast<double>(n) * n * n;
  const double a2 = box_size[axis[1]] / longest, a3 = box_size[axis[2]] / longest;
  double r1 = 0, r2 = 0, r3 = 1;
  const double product = a2 * a3;
  if (product > 0) {
    r1 = n / cube_root(product);
    r2 = r1 * a2;
    r3 = at_least_one(r1 * a3);
    const double q = std::sqrt(r1 * r2 * r3 / wanted);
    r2 = at_least_one(r2 / q);
  } else {
    r2 = at_least_one(std::sqrt(a2 * wanted));
  }
  r1 = at_least_one(wanted / (r2 * r3));
  std::array<std::int32_t, 3> samples{};
  samples[axis[0]] = static_cast<std::int32_t>(r1);
  samples[axis[1]] = static_cast<std::int32_t>(r2);
  samples[axis[2]] = static_cast<std::int32_t>(r3);
  return samples;
}

}  // namespace isotact

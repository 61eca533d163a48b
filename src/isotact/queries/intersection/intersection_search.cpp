#include "isotact/queries/intersection/detail/intersection_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

namespace isotact::detail {

namespace {

// The R3 sequence (Roberts 2018): multiples of 1/g, 1/g^2 and 1/g^3, g^4 = g + 1, in 32 bits that
// wrap, so that a GPU computes the same ones.
Vec3f low_discrepancy_point(const IdfPairRecord& r, std::uint32_t i) {
  constexpr std::array<std::uint32_t, 3> kStep{3518319155U, 2882110345U, 2360945575U};
  Vec3f point;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::uint32_t x = (i + 1) * kStep[axis];
    const float fraction = static_cast<float>(x >> 8U) * 0x1p-24F + 0x1p-25F;
    const float size = r.cell_size[axis] * static_cast<float>(r.cells[axis]);
    point[axis] = r.box_min[axis] + fraction * size;
  }
  return point;
}

// Deepest first; equal ones by number. A GPU takes the largest of these by atomicMax.
std::uint32_t order_key(const IdfPairRecord& record, const IdfHit& hit) {
  constexpr float kMost = glsl::kIdfDepthSteps;
  constexpr std::uint32_t kMask = glsl::kIdfParticleMask;
  const float steps =
      std::min(kMost, std::max(0.0F, (hit.depth + record.margin) * record.depth_scale));
  return static_cast<std::uint32_t>(steps) << glsl::kIdfParticleBits |
         (kMask - (hit.particle & kMask));
}

std::uint32_t slot_of(const IdfPairRecord& r, const IdfHit& hit) {
  std::uint32_t slot = 0;
  for (std::size_t axis = 3; axis-- > 0;) {
    const float size = r.cell_size[axis] * static_cast<float>(r.cells[axis]);
    const float place = size > 0 ? (hit.position[axis] - r.box_min[axis]) / size : 0;
    const float last = static_cast<float>(r.slots[axis] - 1);
    const float part = std::floor(place * static_cast<float>(r.slots[axis]));
    slot = slot * static_cast<std::uint32_t>(r.slots[axis]) +
           static_cast<std::uint32_t>(std::min(std::max(part, 0.0F), last));
  }
  return slot;
}

constexpr std::uint32_t kNone = 0xffffffffU;

// Cells that were cut share their number: positions decide then.
auto place_key(const IdfHit& h) {
  return std::tuple(-h.depth, h.particle, h.position[0], h.position[1], h.position[2]);
}

}  // namespace

Vec3f start_of(const IdfPairRecord& record, const IdfPlan& plan, IdfSampling sampling,
               std::uint32_t particle) {
  const std::uint32_t grid = grid_count(record);
  if (particle >= grid) return plan.seeds[record.first_seed + particle - grid];
  if (sampling == IdfSampling::kLowDiscrepancy) return low_discrepancy_point(record, particle);
  const auto nx = static_cast<std::uint32_t>(record.cells[0]);
  const auto ny = static_cast<std::uint32_t>(record.cells[1]);
  return cell_middle(record, static_cast<std::int32_t>(particle % nx),
                     static_cast<std::int32_t>(particle / nx % ny),
                     static_cast<std::int32_t>(particle / nx / ny));
}

IdfLevel make_level(const IdfPairRecord& record, int number) {
  IdfLevel level{.number = number};
  const float part = std::ldexp(1.0F, -number);
  level.half_diagonal = record.half_diagonal * part;
  for (std::size_t axis = 0; axis < 3; ++axis)
    level.quarter[axis] = 0.25F * record.cell_size[axis] * part;
  level.most = compute_cell_cull(record, level.half_diagonal) + record.margin;
  return level;
}

float resolution_of(const IdfPairRecord& record, const IdfLevel& level) {
  return level.half_diagonal * record.lipschitz;
}

bool is_worth_cutting(const IdfPairRecord& record, const IdfLevel& level, std::size_t left,
                      const IdfSettings& settings) {
  return settings.resolution > 0 && left > 0 && level.number < kMostIdfLevels &&
         8 * left <= kMostIdfCells &&
         static_cast<double>(resolution_of(record, level)) > settings.resolution;
}

void cut_cell(const Vec3f& middle, std::uint32_t particle, const IdfLevel& level, IdfCells& to) {
  for (unsigned part = 0; part < 8; ++part)
    to.add({middle.x + ((part & 1U) != 0 ? level.quarter[0] : -level.quarter[0]),
            middle.y + ((part & 2U) != 0 ? level.quarter[1] : -level.quarter[1]),
            middle.z + ((part & 4U) != 0 ? level.quarter[2] : -level.quarter[2])},
           particle);
}

void finish_result(std::span<IdfHit> hits, std::span<const IdfPairResult> found,
                   std::span<const IdfBody> bodies, std::span<const IdfPair> pairs,
                   const IdfPlan& plan, const IdfSettings& settings, IdfResult& result,
                   IdfScratch& scratch) {
  collect_hits(hits, bodies, pairs, plan, settings, result, scratch);
  for (std::size_t i = 0; i < found.size(); ++i) {
    result.arrived[i] = found[i].arrived;
    result.resolution[i] = found[i].resolution;
    result.particles += found[i].cut_particles;
    result.evaluations += found[i].evaluations;
  }
}

}  // namespace isotact::detail

namespace isotact {

float compute_resolution(const IdfPairRecord& record, int level) {
  return record.half_diagonal * std::ldexp(1.0F, -level) * record.lipschitz;
}

void select_hits(const IdfPairRecord& record, const IdfSettings& settings,
                 std::vector<IdfHit>& hits) {
  if (hits.empty()) return;
  const auto by_place = [](const IdfHit& a, const IdfHit& b) {
    return detail::place_key(a) < detail::place_key(b);
  };
  if (record.slots[0] > 0) {
    struct Best {
      std::uint32_t key = 0, hit = detail::kNone;
    };
    std::vector<Best> best(count({record.slots[0], record.slots[1], record.slots[2]}));
    for (std::uint32_t i = 0; i < hits.size(); ++i) {
      const std::uint32_t key = detail::order_key(record, hits[i]);
      Best& slot = best[detail::slot_of(record, hits[i])];
      if (slot.hit == detail::kNone || key > slot.key ||
          (key == slot.key && by_place(hits[i], hits[slot.hit])))
        slot = {key, i};
    }
    std::erase_if(best, [](const Best& b) { return b.hit == detail::kNone; });
    const auto deeper = [&](const Best& a, const Best& b) {
      return a.key != b.key ? a.key > b.key : by_place(hits[a.hit], hits[b.hit]);
    };
    if (settings.max_contacts > 0 && best.size() > settings.max_contacts) {
      std::sort(best.begin(), best.end(), deeper);
      best.resize(settings.max_contacts);
    }
    std::vector<IdfHit> kept;
    kept.reserve(best.size());
    for (const Best& b : best) kept.push_back(hits[b.hit]);
    hits.swap(kept);
  }
  std::sort(hits.begin(), hits.end(), by_place);
}

}  // namespace isotact

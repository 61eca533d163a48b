// Particle by particle, as in KGM's Algorithm 2.
#include <algorithm>
#include <cmath>

#include "isotact/queries/intersection/detail/intersection_formulas.h"
#include "isotact/queries/intersection/detail/intersection_search.h"

namespace isotact {

namespace {

using namespace detail;

struct OnePair {
  const IdfFields fields;
  const IdfPlan& plan;
  const IdfSettings& settings;
  std::uint32_t pair;
};

struct Both {
  IdfSample<float> a, b;
  Vec3f at;

  float value() const { return a.value >= b.value ? a.value : b.value; }
  // Unit direction of the field with the larger value.
  Vec3f direction() const {
    const IdfSample<float>& s = a.value >= b.value ? a : b;
    float d[3] = {s.direction[0], s.direction[1], s.direction[2]};
    normalise(d);
    return {d[0], d[1], d[2]};
  }
};

Both evaluate_both(const IdfFields& fields, const Vec3f& at) {
  const float p[3] = {at.x, at.y, at.z};
  const IdfPairRecord& r = *fields.record;
  Both both;
  both.at = at;
  IdfFormulas<float>::evaluate(*fields.a, r.a_from_pair, r.scale_a, p, both.a);
  IdfFormulas<float>::evaluate(*fields.b, r.b_from_pair, r.scale_b, p, both.b);
  return both;
}

struct Outcome {
  bool arrived = false;
  Both last{};
};

// Outside, no further from the start than `reach`.
Outcome project_one(const OnePair& one, const Vec3f& start, float reach, IdfPairResult& found) {
  const float margin = one.fields.record->margin;
  const auto relaxation = static_cast<float>(one.settings.relaxation);
  bool relaxed = relaxation > 1, was_inside = false;
  Both inside{};
  Vec3f p = start, plain{};
  float last_size = std::numeric_limits<float>::infinity();
  for (int step = 0; step < one.settings.max_steps; ++step) {
    const Both both = evaluate_both(one.fields, p);
    found.evaluations += 2;
    const float value = both.value();
    if (std::fabs(value) < margin) return {.arrived = true, .last = both};
    if (value < margin) {
      was_inside = true;
      inside = both;
    } else if (length_sq(p - start) > reach * reach) {
      break;
    }
    const Vec3f go = both.direction() * value;
    if (relaxed && std::fabs(value) >= last_size) {
      relaxed = false;
      p = plain;
    } else {
      p = both.at - go * (relaxed ? relaxation : 1.0F);
    }
    plain = both.at - go;
    last_size = std::fabs(value);
  }
  return {.arrived = was_inside, .last = inside};
}

bool may_hold(const OnePair& one, const Vec3f& middle, float most) {
  const IdfPairRecord& r = *one.fields.record;
  const float p[3] = {middle.x, middle.y, middle.z};
  return !(IdfFormulas<float>::compute_floor(*one.fields.a, r.a_from_pair, r.scale_a, p) > most) &&
         !(IdfFormulas<float>::compute_floor(*one.fields.b, r.b_from_pair, r.scale_b, p) > most);
}

// Tests all blocks of cells that contain it, and the cell itself.
bool may_move(const OnePair& one, std::uint32_t cell) {
  const IdfPairRecord& r = *one.fields.record;
  const auto nx = static_cast<std::uint32_t>(r.cells[0]);
  const auto ny = static_cast<std::uint32_t>(r.cells[1]);
  const std::uint32_t place[3] = {cell % nx, cell / nx % ny, cell / nx / ny};
  const std::int32_t longest = *std::max_element(r.cells, r.cells + 3);
  for (std::int32_t size = 1; size == 1 || size < longest; size *= 2) {
    Vec3f middle;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto begin = static_cast<std::int32_t>(place[axis]) / size * size;
      const std::int32_t end = std::min(begin + size, r.cells[axis]);
      middle[axis] =
          r.box_min[axis] +
          (0.5F * (static_cast<float>(begin) + static_cast<float>(end))) * r.cell_size[axis];
    }
    if (!may_hold(one, middle, compute_block_cull(r, size) + r.margin)) return false;
  }
  return true;
}

void search_pair(const OnePair& one, std::vector<IdfHit>& hits, IdfPairResult& found) {
  const IdfPairRecord& record = *one.fields.record;
  const bool by_cells = one.settings.search == IdfSearch::kCells;
  IdfCells cells, left;
  const std::uint32_t grid = grid_count(record);
  cells.reserve(grid + record.seed_count);
  for (std::uint32_t i = 0; i < grid + record.seed_count; ++i)
    cells.add(start_of(record, one.plan, one.settings.sampling, i), i);
  for (int number = 0;; ++number) {
    const IdfLevel level = make_level(record, number);
    left.count = 0;
    left.reserve(cells.count);
    for (std::size_t i = 0; i < cells.count; ++i) {
      const bool in_cell = by_cells && cells.particle[i] < grid;
      if (in_cell && !(number == 0 ? may_move(one, cells.particle[i])
                                   : may_hold(one, cells.middle(i), level.most)))
        continue;
      const Outcome outcome =
          project_one(one, cells.middle(i), in_cell ? level.half_diagonal : HUGE_VALF, found);
      if (outcome.arrived) {
        IdfHit hit{};
        const float at[3] = {outcome.last.at.x, outcome.last.at.y, outcome.last.at.z};
        write_hit(outcome.last.a, outcome.last.b, at, record.margin,
                  one.settings.normal == IdfNormal::kPaper, hit);
        hit.particle = cells.particle[i];
        hit.pair = one.pair;
        hits.push_back(hit);
      } else if (in_cell) {
        left.add(cells.middle(i), cells.particle[i]);
      }
    }
    const bool apart = by_cells && hits.empty() && left.count == 0;
    found.resolution = apart ? 0 : resolution_of(record, level);
    if (!by_cells || !hits.empty() || !is_worth_cutting(record, level, left.count, one.settings))
      break;
    cells.count = 0;
    cells.reserve(8 * left.count);
    for (std::size_t i = 0; i < left.count; ++i)
      cut_cell(left.middle(i), left.particle[i], level, cells);
    found.cut_particles += cells.count;
  }
  if (one.settings.sampling != IdfSampling::kGrid) found.resolution = HUGE_VALF;
}

}  // namespace

void intersect_fields_brute_force(std::span<const IdfShape> shapes, std::span<const IdfBody> bodies,
                                  std::span<const IdfPair> pairs, const IdfSettings& settings,
                                  IdfResult& result, IdfScratch& scratch) {
  const IdfSettings chosen = without_contradictions(settings);
  IdfPlan plan;
  plan_intersections(shapes, bodies, pairs, chosen, plan, scratch);
  std::vector<IdfEvaluator> evaluators;
  for (const IdfShape& shape : shapes) evaluators.push_back(make_evaluator(shape));
  std::vector<IdfPairResult> found(pairs.size());
  std::vector<IdfHit> all, hits;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const IdfPairRecord& record = plan.records[i];
    if (record.cells[0] == 0) continue;
    const IdfFields fields{&record, &evaluators[record.shape_a], &evaluators[record.shape_b]};
    hits.clear();
    search_pair({fields, plan, chosen, static_cast<std::uint32_t>(i)}, hits, found[i]);
    found[i].arrived = static_cast<std::uint32_t>(hits.size());
    select_hits(record, chosen, hits);
    all.insert(all.end(), hits.begin(), hits.end());
  }
  finish_result(all, found, bodies, pairs, plan, chosen, result, scratch);
}

}  // namespace isotact

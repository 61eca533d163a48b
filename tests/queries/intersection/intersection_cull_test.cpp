// That cells are left out rightly, by what shapes truly are: no query is asked.
#include <algorithm>
#include <utility>

#include <gtest/gtest.h>

#include "isotact/field/any_field.h"
#include "isotact/queries/intersection/detail/intersection_formulas.h"

#include "support/intersection_scene.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

using namespace detail;

struct TrueShape {
  IdfShape shape;
  AnyField exact;
};

std::vector<TrueShape> make_shapes() {
  const TorusField torus{};
  const BoxField plate{.half_size = {0.5, 0.05, 0.35}};  // thinner than a cell
  const Aabb around_torus = IdfShape{torus}.body(), around_plate = IdfShape{plate}.body();
  const auto bricks = [](const AnyField& field, const Aabb& body) {
    return IdfShape{bake_field(field, {.lattice = make_brick_lattice(body, 1.0 / 20)}).field, body};
  };
  return {{IdfShape{SphereField{}}, AnyField{SphereField{}}},
          {IdfShape{plate}, AnyField{plate}},
          {IdfShape{texels_of(torus, around_torus, 24)}, AnyField{torus}},
          {IdfShape{texels_of(plate, around_plate, 16)}, AnyField{plate}},
          {IdfShape{texels_of(plate, around_plate, 16, TexelOrder::kZeroth)}, AnyField{plate}},
          {bricks(AnyField{torus}, around_torus), AnyField{torus}},
          {bricks(AnyField{plate}, around_plate), AnyField{plate}}};
}

// Points within margin of both true bodies, in cells and blocks of all sizes, at all scales.
TEST(IntersectionCull, PlacesInContactAreNeverLeftOut) {
  const std::vector<TrueShape> all = make_shapes();
  std::vector<IdfShape> shapes;
  for (const TrueShape& t : all) shapes.push_back(t.shape);
  Random random(3);
  std::size_t in_contact = 0, left_out = 0, looked_at = 0;
  for (int round = 0; round < unless_slow(1500, 150); ++round) {
    const auto kinds = static_cast<std::uint32_t>(all.size());
    const double scale = random.uniform(0.2, 5);
    const Vec3 where = random.in_box({-20, -20, -20}, {20, 20, 20});
    const Vec3 away = random.unit_vector() * random.uniform(0.1, 0.9) * scale;
    const IdfBody bodies[2] = {
        {random.below(kinds), placed(where, random.rotation()), scale},
        {random.below(kinds), placed(where + away, random.rotation()), scale}};
    const IdfPair pairs[1] = {{0, 1}};
    const IdfSettings settings{.samples = 1 + static_cast<int>(random.below(14)),
                               .margin = random.below(2) == 0 ? 0 : 1e-4 * scale};
    IdfPlan plan;
    plan_intersections(shapes, bodies, pairs, settings, plan, {});
    const IdfPairRecord& r = plan.records[0];
    if (r.cells[0] == 0) continue;
    const IdfEvaluator a = make_evaluator(shapes[bodies[0].shape]);
    const IdfEvaluator b = make_evaluator(shapes[bodies[1].shape]);
    const auto distance = [&](const IdfBody& body, const Vec3& p) {
      return scale *
             all[body.shape].exact.value(transform_point(inverse(body.world_from_body), p) / scale);
    };
    for (int k = 0; k < 200; ++k) {
      std::int32_t cell[3];
      Vec3 p;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const double t = random.uniform() * r.cells[axis];
        cell[axis] = std::min(static_cast<std::int32_t>(t), r.cells[axis] - 1);
        p[axis] = static_cast<double>(r.box_min[axis]) + t * static_cast<double>(r.cell_size[axis]);
      }
      p += plan.world_from_pair[0];
      const auto margin = static_cast<double>(r.margin);
      const bool touches = distance(bodies[0], p) <= margin && distance(bodies[1], p) <= margin;
      bool stays = true;
      const std::int32_t longest = *std::max_element(r.cells, r.cells + 3);
      for (std::int32_t size = 1; size == 1 || size < longest; size *= 2) {
        float middle[3];
        for (std::size_t axis = 0; axis < 3; ++axis) {
          const std::int32_t begin = cell[axis] / size * size;
          const std::int32_t end = std::min(begin + size, r.cells[axis]);
          middle[axis] =
              r.box_min[axis] + 0.5F * static_cast<float>(begin + end) * r.cell_size[axis];
        }
        const float most = compute_block_cull(r, size) + r.margin;
        stays = stays &&
                !(IdfFormulas<float>::compute_floor(a, r.a_from_pair, r.scale_a, middle) > most) &&
                !(IdfFormulas<float>::compute_floor(b, r.b_from_pair, r.scale_b, middle) > most);
      }
      ASSERT_TRUE(stays || !touches) << "shapes " << bodies[0].shape << " and " << bodies[1].shape;
      ++looked_at;
      in_contact += touches ? 1U : 0U;
      left_out += stays ? 0U : 1U;
    }
  }
  EXPECT_GT(in_contact, looked_at / 100);
  EXPECT_GT(left_out, looked_at / 4);
}

}  // namespace
}  // namespace isotact

#include "isotact/gpu/intersection_query.h"

#include <cmath>
#include <vector>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/field/build/build_field.h"
#include "isotact/geometry/primitives.h"

#include "gpu_fixture.h"

namespace isotact {
namespace {

using GpuIntersectionTest = GpuTest;

template <Field F>
IdfShape baked(const F& field, const Aabb& body, double spacing, TexelOrder order) {
  const double pad = 4 * spacing;
  Lattice lattice{.origin = body.lower - Vec3{pad, pad, pad}, .spacing = spacing};
  for (std::size_t axis = 0; axis < 3; ++axis)
    lattice.cells[axis] =
        static_cast<std::int32_t>(std::ceil((extent(body)[axis] + 2 * pad) / spacing));
  const FirstOrderField first = sample_first_order(field, lattice);
  return IdfShape(order == TexelOrder::kFirst ? make_first_order_texels(first, body)
                                              : make_zeroth_order_texels(first, body));
}

TEST_F(GpuIntersectionTest, TwoSpheresMeetAsTheFormulaSays) {
  const SphereField ball{.radius = 0.5};
  const Aabb box{{-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5}};
  const std::vector<IdfShape> shapes{IdfShape(ball), baked(ball, box, 1.0 / 24, TexelOrder::kFirst),
                                     baked(ball, box, 1.0 / 24, TexelOrder::kZeroth)};
  GpuIntersectionQuery query(gpu(), shapes);
  for (std::uint32_t shape = 0; shape < 3; ++shape) {
    const std::vector<IdfBody> bodies{{shape, {{}, {0.8, 10, 0}}}, {shape, {{}, {0, 10, 0}}}};
    const std::vector<IdfPair> pairs{{0, 1}};
    for (const std::uint32_t most : {0U, 4U}) {
      IdfState state;
      IdfResult result;
      query.run(bodies, pairs, {.epsilon = 0.002, .max_contacts = most}, state, result);
      ASSERT_GT(result.contacts.size(), 0U) << shape;
      const Contact& deepest = result.contacts[0];
      EXPECT_NEAR(deepest.depth, 0.2, 0.02) << shape;
      EXPECT_GT(deepest.normal.x, 0.95) << shape;
      EXPECT_NEAR(deepest.position.y, 10, 0.1);
    }
  }
}

}  // namespace
}  // namespace isotact

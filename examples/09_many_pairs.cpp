// A hundred gears, all pairs at once, on the GPU where there is one: intersection fields (KGM).
#include <cstdio>
#include <optional>
#include <vector>

#include "isotact/base/random.h"
#include "isotact/field/build/build_nodes.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/queries/intersection/intersection_field.h"

#if defined(ISOTACT_HAS_GPU)
#include "isotact/gpu/intersection/intersection_query.h"
#endif

int main() {
  using namespace isotact;
  // Shapes are shared; a field of 48 cells is enough for contacts.
  const std::vector<IdfShape> shapes{IdfShape(build_texels(make_shape("gear"), {.cells = 48})),
                                     IdfShape(SphereField{.radius = 0.03})};
  Random random(1);
  std::vector<IdfBody> bodies;
  for (std::uint32_t i = 0; i < 100; ++i)
    bodies.push_back(
        {.shape = i % 2,
         .world_from_body = {random.rotation(), random.in_box({0, 0, 0}, {0.5, 0.5, 0.5})}});
  // A broad phase would name those whose boxes meet; pairs that are apart cost next to nothing.
  std::vector<IdfPair> pairs;
  for (std::uint32_t a = 0; a < bodies.size(); ++a)
    for (std::uint32_t b = a + 1; b < bodies.size(); ++b) pairs.push_back({a, b});

  IdfScratch scratch;
  IdfResult result;
  const IdfSettings settings{.samples = 10, .max_contacts = 4};
  const char* device = "the CPU";
#if defined(ISOTACT_HAS_GPU)
  if (const std::optional<GpuContext> gpu = GpuContext::try_create(nullptr)) {
    GpuIntersectionQuery query(*gpu, shapes);
    query.run(bodies, pairs, settings, result, scratch);
    device = "a GPU";
  } else
#endif
    intersect_fields(shapes, bodies, pairs, settings, result, scratch);

  std::size_t touching = 0;
  for (const std::uint32_t arrived : result.arrived) touching += arrived > 0 ? 1U : 0U;
  std::printf("%zu of %zu pairs touch, %zu contacts, by %s\n", touching, pairs.size(),
              result.contacts.size(), device);
  if (!result.contacts.empty())
    std::printf("one of them is %.4f m deep\n", result.contacts[0].depth);
  return touching > 0 ? 0 : 1;
}

#include "isotact/gpu/intersection/intersection_query.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "isotact/base/error.h"

#include "gpu/gpu_fixture.h"
#include "support/intersection_scene.h"
#include "support/slow_build.h"

namespace isotact {
namespace {

using GpuIntersectionTest = GpuTest;

IdfResult on_gpu(GpuIntersectionQuery& query, const IntersectionScene& scene,
                 const IdfSettings& settings) {
  IdfScratch scratch;
  IdfResult result;
  query.run(scene.bodies, scene.pairs, settings, result, scratch);
  return result;
}

IdfResult on_cpu(const IntersectionScene& scene, const IdfSettings& settings) {
  IdfScratch scratch;
  IdfResult result;
  intersect_fields(scene.shapes, scene.bodies, scene.pairs, settings, result, scratch);
  return result;
}

// The size of a cell of the sampling grid, as a length: boxes of pairs are about a metre.
double cell_of(const IntersectionScene& scene, std::size_t pair, int samples) {
  return scene.bodies[scene.pairs[pair].a].scale / samples;
}

std::uint32_t difference(std::uint32_t a, std::uint32_t b) { return a > b ? a - b : b - a; }

// The same particles arrive, but for those that rounding decides about: at the edge of margin, or
// after many steps between two walls. Contacts of one particle are the same, and so is the deepest.
void expect_alike(const IntersectionScene& scene, const IdfSettings& settings, const IdfResult& cpu,
                  const IdfResult& gpu) {
  ASSERT_EQ(cpu.arrived.size(), gpu.arrived.size());
  std::size_t colliding = 0, compared = 0, far = 0;
  for (std::size_t i = 0; i < cpu.arrived.size(); ++i) {
    EXPECT_EQ(cpu.arrived[i] > 0, gpu.arrived[i] > 0) << "pair " << i;
    // Of long steps more are taken back or not as rounding decides.
    const std::uint32_t arrived = cpu.arrived[i];
    EXPECT_LE(difference(arrived, gpu.arrived[i]),
              settings.relaxation > 1 ? 10 + arrived / 3 : 2 + arrived / 50)
        << "pair " << i;
    // The processor knows when nothing is left to cut, and says 0.
    EXPECT_GE(gpu.resolution[i], cpu.resolution[i]);
    if (cpu.arrived[i] > 0 && settings.resolution == 0) {
      EXPECT_EQ(gpu.resolution[i], cpu.resolution[i]);
    }
    colliding += cpu.arrived[i] > 0 ? 1U : 0U;
    const auto of_pair = [&](const IdfResult& r) {
      return std::span(r.contacts)
          .subspan(r.first_contact[i], r.first_contact[i + 1] - r.first_contact[i]);
    };
    const double cell = cell_of(scene, i, settings.samples);
    const auto a = of_pair(cpu), b = of_pair(gpu);
    if (!a.empty() && !b.empty()) {
      EXPECT_NEAR(a[0].depth, b[0].depth, 0.1 * cell) << "pair " << i;
    }
    std::vector<const Contact*> by_particle(70000, nullptr);
    for (const Contact& c : a) by_particle[c.point] = &c;
    for (const Contact& c : b) {
      const Contact* twin = by_particle[c.point];
      if (twin == nullptr) continue;
      ++compared;
      const bool near = length(twin->position - c.position) < 0.5 * cell &&
                        std::abs(twin->depth - c.depth) < 0.1 * cell;
      far += near ? 0U : 1U;
    }
  }
  EXPECT_GT(colliding, cpu.arrived.size() / 5);
  EXPECT_LT(colliding, cpu.arrived.size() * 9 / 10);
  EXPECT_GT(compared, gpu.contacts.size() * 9 / 10);
  // A crease may send a particle to one of two places.
  EXPECT_LE(far, 1 + compared / 200);
}

void compare(const GpuContext& gpu, const IntersectionScene& scene,
             const std::vector<IdfSettings>& all) {
  GpuIntersectionQuery query(gpu, scene.shapes);
  int number = 0;
  for (const IdfSettings& s : all) {
    SCOPED_TRACE(testing::Message() << "setting " << number++);
    const IdfResult result = on_gpu(query, scene, s);
    expect_alike(scene, s, on_cpu(scene, s), result);
  }
}

// All kinds of shapes make large shaders, which software Mesa takes seconds to compile, and three
// times as long where a sanitizer watches its memory.
TEST_F(GpuIntersectionTest, GivesTheContactsOfTheProcessor) {
  const std::vector<IdfShape> some{all_kinds()[2], all_kinds()[5], all_kinds()[1]};
  compare(gpu(), random_scene(7, unless_slow(100U, 40U), kSlowBuild ? some : all_kinds()),
          {{.samples = 6, .search = IdfSearch::kPaper},
           {.samples = 5, .resolution = 0.01, .max_contacts = 8}});
}

TEST_F(GpuIntersectionTest, GivesTheContactsOfTheProcessorForEverySetting) {
  const TorusField torus{};
  const BoxField box{.half_size = {0.5, 0.2, 0.35}};
  const std::vector<IdfShape> shapes{IdfShape{texels_of(torus, IdfShape{torus}.body(), 32)},
                                     IdfShape{texels_of(box, IdfShape{box}.body(), 24)}};
  const IdfSettings paper{.samples = 6, .search = IdfSearch::kPaper}, cells{.samples = 8};
  IdfSettings cut = cells, deepest = cells, voxels = cells, spread = paper, printed = paper,
              relaxed = paper;
  cut.resolution = 0.01;
  deepest.max_contacts = 8;
  voxels.one_per_voxel = true;
  spread.sampling = IdfSampling::kLowDiscrepancy;
  printed.normal = IdfNormal::kPaper;
  relaxed.relaxation = 1.5;
  compare(gpu(), random_scene(11, unless_slow(100U, 40U), shapes),
          {paper, cells, cut, deepest, voxels, spread, printed, relaxed});
}

TEST_F(GpuIntersectionTest, TwoPassesGiveTheSameContacts) {
  const IntersectionScene scene =
      random_scene(8, 40, {IdfShape{TorusField{}}, IdfShape{BoxField{}}});
  GpuIntersectionQuery one(gpu(), scene.shapes), two(gpu(), scene.shapes, {.two_passes = true});
  const IdfSettings settings{.samples = 6, .search = IdfSearch::kPaper};
  const IdfResult a = on_gpu(one, scene, settings), b = on_gpu(two, scene, settings);
  ASSERT_EQ(a.first_contact, b.first_contact);
  for (std::size_t i = 0; i < a.contacts.size(); ++i)
    ASSERT_TRUE(same(a.contacts[i], b.contacts[i])) << i;
  EXPECT_GT(a.contacts.size(), 100U);
  EXPECT_THROW(on_gpu(two, scene, {}), Error);
}

TEST_F(GpuIntersectionTest, RunsAreTheSameToTheLastBit) {
  const IntersectionScene scene =
      random_scene(9, 40, {IdfShape{TorusField{}}, IdfShape{BoxField{}}});
  GpuIntersectionQuery query(gpu(), scene.shapes);
  for (const IdfSettings& s : {IdfSettings{.samples = 8, .search = IdfSearch::kPaper},
                               IdfSettings{.samples = 6, .resolution = 0.01, .max_contacts = 4},
                               IdfSettings{.samples = 8, .one_per_voxel = true}}) {
    const IdfResult a = on_gpu(query, scene, s), b = on_gpu(query, scene, s);
    ASSERT_EQ(a.first_contact, b.first_contact);
    EXPECT_EQ(a.arrived, b.arrived);
    for (std::size_t i = 0; i < a.contacts.size(); ++i)
      ASSERT_TRUE(same(a.contacts[i], b.contacts[i])) << i;
  }
}

TEST_F(GpuIntersectionTest, TheOrderOfPairsDoesNotMatter) {
  IntersectionScene scene = random_scene(10, 40, {IdfShape{TorusField{}}, IdfShape{BoxField{}}});
  GpuIntersectionQuery query(gpu(), scene.shapes);
  const IdfSettings settings{.samples = 8, .max_contacts = 8};
  const IdfResult forth = on_gpu(query, scene, settings);
  std::reverse(scene.pairs.begin(), scene.pairs.end());
  const IdfResult back = on_gpu(query, scene, settings);
  const std::size_t n = scene.pairs.size();
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t j = n - 1 - i;
    ASSERT_EQ(forth.arrived[i], back.arrived[j]);
    const std::size_t count = forth.first_contact[i + 1] - forth.first_contact[i];
    ASSERT_EQ(count, back.first_contact[j + 1] - back.first_contact[j]);
    for (std::size_t k = 0; k < count; ++k)
      ASSERT_TRUE(same(forth.contacts[forth.first_contact[i] + k],
                       back.contacts[back.first_contact[j] + k]));
  }
}

// Two spheres: the deepest point lies on the line between their middles.
TEST_F(GpuIntersectionTest, SpheresMeetAsTheFormulaSays) {
  const SphereField ball{.radius = 0.5};
  const Aabb box{{-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5}};
  const std::vector<IdfShape> shapes{IdfShape(ball), IdfShape(texels_of(ball, box, 30)),
                                     IdfShape(texels_of(ball, box, 30, TexelOrder::kZeroth))};
  GpuIntersectionQuery query(gpu(), shapes);
  for (std::uint32_t shape = 0; shape < 3; ++shape) {
    IntersectionScene scene(shapes);
    scene.bodies = {{shape, placed({0.8, 10, 0})}, {shape, placed({0, 10, 0})}};
    scene.pairs = {{0, 1}};
    for (const std::uint32_t most : {0U, 4U}) {
      const IdfResult result = on_gpu(query, scene, {.margin = 0.002, .max_contacts = most});
      ASSERT_GT(result.contacts.size(), 0U) << shape;
      const Contact& deepest = result.contacts[0];
      EXPECT_NEAR(deepest.depth, 0.2, 0.01) << shape;
      EXPECT_GT(deepest.normal.x, 0.98) << shape;
      EXPECT_NEAR(deepest.position.y, 10, 0.1);
      if (most > 0) {
        EXPECT_LE(result.contacts.size(), most);
      }
    }
  }
}

// A few pairs fit into the GPU's buffers at once; the others follow.
TEST_F(GpuIntersectionTest, MorePairsThanFitAtOnceAreTakenInBatches) {
  IntersectionScene scene({IdfShape{SphereField{}}});
  for (std::uint32_t i = 0; i < 40; ++i) {
    scene.bodies.push_back({0, placed({3.0 * i, 0, 0})});
    scene.bodies.push_back({0, placed({3.0 * i + 0.9, 0, 0})});
    scene.pairs.push_back({2 * i, 2 * i + 1});
  }
  GpuIntersectionQuery whole(gpu(), scene.shapes);
  GpuIntersectionQuery parts(gpu(), scene.shapes, {.most_bytes = 1 << 20});
  IdfScratch a_scratch, b_scratch;
  IdfResult a, b;
  const IdfSettings settings{.samples = 8, .keep_seeds = true};
  for (int step = 0; step < 2; ++step) {
    whole.run(scene.bodies, scene.pairs, settings, a, a_scratch);
    parts.run(scene.bodies, scene.pairs, settings, b, b_scratch);
    ASSERT_EQ(a.first_contact, b.first_contact);
    EXPECT_EQ(a.particles, b.particles);
    EXPECT_EQ(a_scratch.seeds.size(), b_scratch.seeds.size());
    for (std::size_t i = 0; i < a.contacts.size(); ++i)
      ASSERT_TRUE(same(a.contacts[i], b.contacts[i])) << i;
  }
  EXPECT_EQ(a_scratch.seeds.size(), 40U);
}

// A sphere that barely dips into another between two samples: seeds of the last call find it again.
TEST_F(GpuIntersectionTest, SeedsKeepContacts) {
  IntersectionScene scene({IdfShape{SphereField{}}});
  scene.bodies = {{0, placed({0.95, 0.1, 0})}, {0, placed({})}};
  scene.pairs = {{0, 1}};
  GpuIntersectionQuery query(gpu(), scene.shapes);
  IdfScratch scratch;
  IdfResult fine, coarse;
  query.run(scene.bodies, scene.pairs, {.samples = 16, .margin = 1e-4, .keep_seeds = true}, fine,
            scratch);
  ASSERT_GT(fine.contacts.size(), 0U);
  const IdfSettings one{.samples = 1, .margin = 1e-4, .max_steps = 1, .keep_seeds = true};
  query.run(scene.bodies, scene.pairs, one, coarse, scratch);
  EXPECT_GT(coarse.contacts.size(), 0U);
}

TEST_F(GpuIntersectionTest, TakesShapes) {
  const Shape shapes[] = {Shape::from_analytic(TorusField{.radius = 0.3, .tube_radius = 0.1}),
                          Shape::from_analytic(SphereField{.radius = 0.2})};
  const IdfBody bodies[] = {{.shape = 0},
                            {.shape = 1, .world_from_body = {.translation = {0.3, 0.1, 0}}}};
  const IdfPair pairs[] = {{0, 1}};
  const auto ask = [&](GpuIntersectionQuery query) {
    IdfScratch scratch;
    IdfResult result;
    query.run(bodies, pairs, {.max_contacts = 4}, result, scratch);
    return result;
  };
  const IdfResult of_shapes = ask({gpu(), shapes});
  const IdfResult of_views = ask({gpu(), intersection_shapes(shapes)});
  ASSERT_FALSE(of_shapes.contacts.empty());
  ASSERT_EQ(of_shapes.contacts.size(), of_views.contacts.size());
  for (std::size_t i = 0; i < of_shapes.contacts.size(); ++i)
    EXPECT_EQ(of_shapes.contacts[i].position, of_views.contacts[i].position);
}

TEST_F(GpuIntersectionTest, NothingIsNoMistake) {
  GpuIntersectionQuery none(gpu(), std::span<const IdfShape>());
  IdfScratch scratch;
  IdfResult result;
  none.run({}, {}, {}, result, scratch);
  EXPECT_EQ(result.contacts.size(), 0U);
  IntersectionScene apart({IdfShape{SphereField{}}});
  apart.bodies = {{0, placed({5, 0, 0})}, {0, placed({})}};
  apart.pairs = {{0, 1}};
  GpuIntersectionQuery query(gpu(), apart.shapes);
  EXPECT_EQ(on_gpu(query, apart, {.resolution = 0.01, .max_contacts = 8}).contacts.size(), 0U);
  EXPECT_THROW(on_gpu(query, apart, {.samples = 0}), Error);
  EXPECT_THROW(GpuIntersectionQuery(gpu(), apart.shapes, {.group_size = 1}), Error);
}

}  // namespace
}  // namespace isotact

// The query's variants on the same crowd: KGM's two passes, one pass with the same contacts, ours
// with the deepest ones; and the rate of texture fetches that the GPU can do at all.
#include <algorithm>

#include "isotact/gpu/core/buffer.h"
#include "isotact/gpu/core/context.h"
#include "isotact/gpu/core/program.h"
#include "isotact/gpu/core/texture.h"

#include "idf_report.h"
#include "support/gpu_measure.h"
#include "support/measure.h"

namespace isotact::bench {
namespace {

// The best case: neighbours in a group fetch close together, and no fetch waits for another.
constexpr const char* kRate = R"(layout(local_size_x = 128) in;
layout(binding = 0) uniform sampler3D source;
layout(std430, binding = 0) buffer Out { vec4 result[]; };
uniform int fetches;
void main() {
  uint i = gl_WorkGroupID.x * 128u + gl_LocalInvocationID.x;
  uvec3 cell = uvec3(i & 31u, i >> 5u & 31u, i >> 10u & 31u);
  vec3 p = (vec3(cell) + 0.37) / 32.0, offset = vec3(0.003, 0.0027, 0.0024);
  vec4 sum = vec4(0.0);
  for (int k = 0; k < fetches; k += 4) {
    sum += textureLod(source, p, 0.0) + textureLod(source, p + offset, 0.0);
    sum += textureLod(source, p + 2.0 * offset, 0.0) + textureLod(source, p + 3.0 * offset, 0.0);
    p += 4.0 * offset;
  }
  if (sum.x == 12345.0) result[0] = sum;
}
)";

// Filtered fetches a second, in units of 10^9.
double measure_texture_rate() {
  constexpr int kSide = 64, kFetches = 32;
  constexpr std::uint32_t kGroups = 65535;
  GpuTexture3d texture(TexelFormat::kSnorm16x4, {kSide, kSide, kSide});
  std::vector<std::int16_t> texels(4 * kSide * kSide * kSide);
  for (std::size_t i = 0; i < texels.size(); ++i)
    texels[i] = static_cast<std::int16_t>((i * 2654435761U >> 7U) % 4096);
  texture.upload({0, 0, 0}, {kSide, kSide, kSide}, std::as_bytes(std::span(texels)));
  GpuBuffer out(16);
  out.bind(0);
  texture.bind(0);
  const GpuProgram program = GpuProgram::from_source("rate.comp", kRate);
  program.set("fetches", kFetches);
  GpuTimer timer;
  const double milliseconds = steady_milliseconds(
      [&] {
        timer.begin();
        program.dispatch(kGroups);
        timer.end();
        return timer.milliseconds();
      },
      false);
  return 128.0 * kGroups * kFetches / (milliseconds * 1e6);
}

struct Variant {
  std::string name;
  GpuIntersectionSettings options;
  IdfSettings settings;
};

std::vector<Variant> make_variants(double margin) {
  const IdfSettings paper{.samples = 20, .margin = margin, .search = IdfSearch::kPaper};
  const IdfSettings cells{.samples = 20, .margin = margin, .search = IdfSearch::kCells};
  std::vector<Variant> variants;
  const auto add = [&](std::string name, IdfSettings settings, GpuIntersectionSettings options,
                       auto change) {
    change(settings, options);
    variants.push_back({std::move(name), options, settings});
  };
  const auto as_is = [](IdfSettings&, GpuIntersectionSettings&) {};
  const auto deepest = [](IdfSettings& s, GpuIntersectionSettings&) { s.max_contacts = 8; };
  add("KGM: two passes, all contacts", paper, {.two_passes = true}, as_is);
  add("one pass, all contacts", paper, {}, as_is);
  add("one pass, all contacts, atlas", paper, {.allow_bindless = false}, as_is);
  add("one pass, all contacts, groups of 64", paper, {.group_size = 64}, as_is);
  add("one pass, all contacts, groups of 256", paper, {.group_size = 256}, as_is);
  add("one pass, 8 deepest", paper, {}, deepest);
  add("cells, all contacts", cells, {}, as_is);
  add("cells, 8 deepest", cells, {}, deepest);
  add("cells, 8 deepest, atlas", cells, {.allow_bindless = false}, deepest);
  add("cells, 8 deepest, down to 0.01 m", cells, {},
      [](IdfSettings& s, GpuIntersectionSettings&) { s.max_contacts = 8, s.resolution = 0.01; });
  for (const int n : {15, 10, 5})
    add(fmt::format("cells, 8 deepest, N = {}", n), cells, {},
        [n](IdfSettings& s, GpuIntersectionSettings&) { s.max_contacts = 8, s.samples = n; });
  return variants;
}

}  // namespace

void bench_kernels(const Options& options, Report& report) {
  const GpuContext gpu = GpuContext::create();
  const bool slow = gpu.info().software || options.quick;
  const double rate = gpu.info().software ? 0 : measure_texture_rate();
  Table table =
      report.table({.id = "kernels",
                    .title = "Variants of the query on the same crowds, fields of 64 cells, N = 20",
                    .columns = {{"crowd", Of::kKey},
                                {"bodies", Of::kKey},
                                {"pairs", Of::kKey},
                                {"variant", Of::kKey},
                                {"GPU", Of::kOurs, "ms"},
                                {"with planning and reading back", Of::kOurs, "ms"},
                                {"contacts", Of::kOurs},
                                {"particles that arrive", Of::kOurs},
                                {"pairs that collide", Of::kOurs}},
                    .note = "KGM had 70 ms for 1,121 pairs at N = 20 (Table 1)."});
  if (rate > 0) report.note(fmt::format("Texture rate: {:.0f} G filtered fetches a second.", rate));
  Json rows = Json::array();
  for (const std::uint64_t seed : {1U, 2U}) {
    const Crowd crowd = make_crowd(make_stock(0), 64,
                                   slow        ? 60
                                   : seed == 1 ? 200
                                               : 512,
                                   slow ? 100 : 1120, seed);
    for (const Variant& v : make_variants(crowd.margin)) {
      GpuIntersectionQuery query(gpu, crowd.shapes, v.options);
      IdfScratch scratch;
      IdfResult result;
      query.run(crowd.bodies, crowd.pairs, v.settings, result, scratch);
      query.run(crowd.bodies, crowd.pairs, v.settings, result, scratch);
      const double ms = steady_milliseconds([&] { return query.repeat(); }, gpu.info().software);
      std::uint64_t arrived = 0;
      for (const std::uint32_t n : result.arrived) arrived += n;
      table.row({static_cast<int>(seed), crowd.bodies.size(), crowd.pairs.size(), v.name, ms,
                 query.times().wall, result.contacts.size(), arrived, count_colliding(result)});
      rows.push_back({{"crowd", seed},
                      {"variant", v.name},
                      {"gpu_ms", ms},
                      {"wall_ms", query.times().wall},
                      {"contacts", result.contacts.size()},
                      {"colliding", count_colliding(result)}});
    }
  }
  report.json["kernels"] = {{"texture_rate", rate}, {"rows", rows}};
}

}  // namespace isotact::bench

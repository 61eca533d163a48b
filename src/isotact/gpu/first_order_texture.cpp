#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "isotact/base/error.h"
#include "isotact/field/build/inside_rows.h"
#include "isotact/gpu/detail/field_builder_state.h"
#include "isotact/gpu/timer.h"

namespace isotact {
namespace {

constexpr std::int32_t kBrickSide = 8;
constexpr std::size_t kSlabBytes = std::size_t{256} << 20U;

// Numbers of nearest triangles of some bricks, kept until all bricks have been seen: texels need
// the largest b of all.
struct Slab {
  std::size_t first = 0, bricks = 0;
  GpuBuffer triangles;
};

class Stopwatch {
 public:
  double lap() {
    const Clock::time_point last = std::exchange(lap_, Clock::now());
    return std::chrono::duration<double, std::milli>(lap_ - last).count();
  }
  double total() const {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now(), lap_ = begin_;
};

void check_box(const Surface& surface, const Lattice& lattice) {
  const Aabb box = bounds(lattice), needed = to_double(bounds(surface.mesh));
  const double offset = surface.report.shell_offset;
  const Vec3 reach{offset, offset, offset};
  if (!contains(box, needed.lower - reach) || !contains(box, needed.upper + reach))
    throw Error("the surface reaches out of the lattice's box");
}

std::vector<detail::BrickOnGpu> list_bricks(const Index3& bricks) {
  std::vector<detail::BrickOnGpu> list;
  list.reserve(count(bricks));
  for (std::int32_t k = 0; k < bricks[2]; ++k)
    for (std::int32_t j = 0; j < bricks[1]; ++j)
      for (std::int32_t i = 0; i < bricks[0]; ++i) list.push_back({{i, j, k}, 1});
  return list;
}

// Bound at the places of first_order_texels.comp.
struct RowsOnGpu {
  GpuBuffer first, changes;
  explicit RowsOnGpu(const InsideRows& rows)
      : first(std::span<const std::uint32_t>(rows.first)),
        changes(std::max<std::size_t>(1, rows.changes.size()) * sizeof(float)) {
    changes.upload(std::span<const float>(rows.changes));
  }
};

}  // namespace

FirstOrderTexture GpuFieldBuilder::build_first_order_texture(const Surface& surface,
                                                             const Lattice& lattice,
                                                             const TextureSettings& settings) {
  Stopwatch watch;
  check_box(surface, lattice);
  const Index3 nodes = node_counts(lattice);
  FirstOrderTexture result{.texture = GpuTexture3d(TexelFormat::kSnorm16x4, nodes),
                           .lattice = lattice};
  Lattice wider = lattice;
  Index3 bricks;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    bricks[axis] = lattice.cells[axis] / kBrickSide + 1;
    wider.cells[axis] = bricks[axis] * kBrickSide;
  }
  if (const std::string why = state_->find_refusal(surface.mesh.triangles.size(), wider);
      !why.empty())
    throw Error(why);

  FirstOrderTexture::Times& times = result.times;
  watch.lap();
  const detail::TriangleTree tree =
      detail::build_triangle_tree(surface.mesh, wider, settings.threads);
  times.tree = watch.lap();
  detail::NodeSearch search(state_->search, state_->memory, tree, wider);
  times.upload = watch.lap();
  GpuTimer search_timer, texel_timer;
  search_timer.begin();
  const std::vector<detail::BrickOnGpu> list = list_bricks(bricks);
  const std::size_t most = state_->most_bricks(detail::SearchResult::kTriangle, kSlabBytes);
  std::vector<Slab> slabs;
  detail::BrickBatch batch;
  for (std::size_t first = 0; first < list.size(); first += most) {
    settings.monitor.check();
    const std::size_t n = std::min(most, list.size() - first);
    batch.results = GpuBuffer(n * 512 * sizeof(std::uint32_t));
    search.find_bricks(std::span(list).subspan(first, n), {0, 0}, detail::SearchResult::kTriangle,
                       batch);
    slabs.push_back({first, n, std::move(batch.results)});
  }

  search_timer.end();
  flush_gpu();

  // While the GPU searches, the processor finds signs.
  watch.lap();
  const bool is_signed = surface.report.method != SignMethod::kUnsigned;
  const RowsOnGpu rows(is_signed
                           ? find_inside_rows(surface, lattice, settings.threads, settings.monitor)
                           : InsideRows{.first = {0}, .changes = {}});
  times.signs = watch.lap();
  texel_timer.begin();
  GpuBuffer largest(sizeof(float));
  largest.clear();
  result.texture.bind_image(0);
  for (const GpuProgram* program : {&state_->largest_b, &state_->texels}) {
    settings.monitor.check();
    search.prepare(*program);
    rows.first.bind(2);
    rows.changes.bind(3);
    largest.bind(4);
    program->set("nodes", nodes[0], nodes[1], nodes[2]);
    program->set("brick_cells", bricks[0], bricks[1], bricks[2]);
    program->set("is_signed", is_signed ? 1U : 0U);
    program->set("shell_offset", static_cast<float>(surface.report.shell_offset / lattice.spacing));
    for (const Slab& slab : slabs) {
      slab.triangles.bind(7);
      program->set("first_brick", static_cast<std::uint32_t>(slab.first));
      program->set("brick_count", static_cast<std::uint32_t>(slab.bricks));
      const GroupGrid grid = spread_groups(slab.bricks * 8);
      program->dispatch(grid.x, grid.y);
    }
  }
  texel_timer.end();
  float most_b = 0;
  largest.read(std::span<float>(&most_b, 1));
  finish_gpu();
  times.search = search_timer.milliseconds();
  times.texels = texel_timer.milliseconds();
  times.all = watch.total();
  result.b_scale = std::nextafter(std::max(most_b, 1e-6F), std::numeric_limits<float>::infinity());
  // Values are off by half a step of b; the sums before that are of numbers as large as the box.
  double cells = search.error() + 0.51 * static_cast<double>(result.b_scale) / 32767;
  if (is_signed) cells += 0.002;
  result.node_error = cells * lattice.spacing;
  result.body = to_double(bounds(surface.mesh));
  const double offset = surface.report.shell_offset;
  result.body.lower -= Vec3{offset, offset, offset};
  result.body.upper += Vec3{offset, offset, offset};
  return result;
}

}  // namespace isotact

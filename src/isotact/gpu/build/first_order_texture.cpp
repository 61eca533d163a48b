#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "isotact/base/error.h"
#include "isotact/field/build/inside_rows.h"
#include "isotact/gpu/build/detail/field_builder_state.h"
#include "isotact/gpu/core/context.h"

namespace isotact {
namespace {

constexpr std::int32_t kBrickSide = glsl::kSearchSide;
constexpr std::size_t kSlabBytes = std::size_t{256} << 20U;

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

bool is_within(const TriangleMesh& mesh, const Lattice& lattice, double offset) {
  const Aabb box = bounds(lattice), needed = to_double(bounds(mesh));
  const Vec3 reach{offset, offset, offset};
  return contains(box, needed.lower - reach) && contains(box, needed.upper + reach);
}

void check_box(const Surface& surface, const Lattice& lattice) {
  if (!is_within(surface.mesh, lattice, surface.report.shell_offset))
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

bool is_signed(const Surface& surface) { return surface.report.method != SignMethod::kUnsigned; }

InsideRows compute_rows(const Surface& surface, const Lattice& lattice,
                        const TextureSettings& settings) {
  if (!is_signed(surface)) return {.first = {0}, .changes = {}};
  return find_inside_rows(surface, lattice, settings.threads, settings.monitor);
}

// Bound at the bindings of first_order_texels.comp.
struct RowsOnGpu {
  GpuBuffer first, changes;
  explicit RowsOnGpu(const InsideRows& rows)
      : first(std::span<const std::uint32_t>(rows.first)),
        changes(std::max<std::size_t>(1, rows.changes.size()) * sizeof(float)) {
    changes.upload(std::span<const float>(rows.changes));
  }
};

}  // namespace

// The GPU's part: first search(), then finish().
class GpuFieldBuilder::TextureBuild {
 public:
  TextureBuild(State& state, const Lattice& lattice, const TextureSettings& settings)
      : state_(state), settings_(settings) {
    result_.lattice = lattice;
    wider_ = lattice;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      bricks_[axis] = lattice.cells[axis] / kBrickSide + 1;
      wider_.cells[axis] = bricks_[axis] * kBrickSide;
    }
  }

  std::string find_refusal(const TriangleMesh& mesh) const {
    return state_.find_refusal(mesh.triangles.size(), wider_);
  }

  // Starts it. Needs a mesh in the lattice's box that is not refused. The last one counts.
  void search(const TriangleMesh& mesh) {
    Stopwatch watch;
    if (!slabs_.empty()) state_.slab = std::move(slabs_.front().triangles);
    slabs_.clear();
    search_.reset();
    const detail::TriangleTree& tree = state_.trees.build(mesh, wider_, settings_.threads);
    result_.times.tree = watch.lap();
    search_.emplace(state_.search, state_.memory, tree, wider_);
    result_.times.upload = watch.lap();
    search_timer_.begin();
    const std::vector<detail::BrickOnGpu> list = list_bricks(bricks_);
    const std::size_t most = state_.most_bricks(detail::SearchResult::kTriangle, kSlabBytes);
    detail::BrickBatch batch;
    for (std::size_t first = 0; first < list.size(); first += most) {
      settings_.monitor.check();
      const std::size_t n = std::min(most, list.size() - first);
      if (first == 0) batch.results = std::exchange(state_.slab, {});
      search_->find_bricks(std::span(list).subspan(first, n), {0, 0},
                           detail::SearchResult::kTriangle, batch);
      slabs_.push_back({first, n, std::move(batch.results)});
    }
    search_timer_.end();
    flush_gpu();
    // Allocating the texture also takes a while: the GPU is busy now.
    if (result_.texture.name() == 0)
      result_.texture = GpuTexture3d(TexelFormat::kSnorm16x4, node_counts(result_.lattice));
  }

  FirstOrderTexture finish(const Surface& surface, const InsideRows& inside) {
    GpuTimer texel_timer;
    const RowsOnGpu rows(inside);
    texel_timer.begin();
    GpuBuffer largest(sizeof(float));
    largest.clear();
    result_.texture.bind_image(glsl::kTexelsUnit);
    for (const GpuProgram* program : {&state_.largest_b, &state_.texels}) {
      settings_.monitor.check();
      rows.first.bind(glsl::kTexelRowsAt);
      rows.changes.bind(glsl::kTexelChangesAt);
      largest.bind(glsl::kTexelLargestAt);
      make_texels(*program, surface);
    }
    texel_timer.end();
    float most_b = 0;
    largest.read(std::span<float>(&most_b, 1));
    finish_gpu();
    state_.slab = std::move(slabs_.front().triangles);
    result_.times.search = search_timer_.milliseconds();
    result_.times.texels = texel_timer.milliseconds();
    result_.b_scale =
        std::nextafter(std::max(most_b, 1e-6F), std::numeric_limits<float>::infinity());
    // Values are off by half a step of b; the sums before that are of numbers as large as the box.
    double cells = search_->error() + 0.51 * static_cast<double>(result_.b_scale) / 32767;
    if (is_signed(surface)) cells += 0.002;
    result_.node_error = cells * wider_.spacing;
    result_.body = to_double(bounds(surface.mesh));
    const double offset = surface.report.shell_offset;
    result_.body.lower -= Vec3{offset, offset, offset};
    result_.body.upper += Vec3{offset, offset, offset};
    return std::move(result_);
  }

  FirstOrderTexture::Times& times() { return result_.times; }

 private:
  // Numbers of nearest triangles of some bricks, kept until all bricks are processed: texels need
  // the largest b of all.
  struct Slab {
    std::size_t first = 0, bricks = 0;
    GpuBuffer triangles;
  };

  void make_texels(const GpuProgram& program, const Surface& surface) const {
    const Index3 nodes = node_counts(result_.lattice);
    search_->prepare(program);
    program.set("nodes", nodes[0], nodes[1], nodes[2]);
    program.set("brick_cells", bricks_[0], bricks_[1], bricks_[2]);
    program.set("is_signed", is_signed(surface) ? 1U : 0U);
    program.set("shell_offset", static_cast<float>(surface.report.shell_offset / wider_.spacing));
    for (const Slab& slab : slabs_) {
      slab.triangles.bind(glsl::kTexelTrianglesAt);
      program.set("first_brick", static_cast<std::uint32_t>(slab.first));
      program.set("brick_count", static_cast<std::uint32_t>(slab.bricks));
      const GroupGrid grid = spread_groups(slab.bricks * (glsl::kSearchNodes / glsl::kSearchGroup));
      program.dispatch(grid.x, grid.y);
    }
  }

  State& state_;
  const TextureSettings& settings_;
  FirstOrderTexture result_;
  Lattice wider_;  // Whole bricks.
  Index3 bricks_{};
  std::optional<detail::NodeSearch> search_;
  std::vector<Slab> slabs_;
  GpuTimer search_timer_;
};

FirstOrderTexture GpuFieldBuilder::build_first_order_texture(const Surface& surface,
                                                             const Lattice& lattice,
                                                             const TextureSettings& settings) {
  const Stopwatch watch;
  check_box(surface, lattice);
  TextureBuild build(*state_, lattice, settings);
  if (const std::string why = build.find_refusal(surface.mesh); !why.empty()) throw Error(why);
  build.search(surface.mesh);
  // While the GPU searches, the CPU finds signs.
  Stopwatch signs;
  const InsideRows rows = compute_rows(surface, lattice, settings);
  build.times().signs = signs.lap();
  FirstOrderTexture texture = build.finish(surface, rows);
  texture.times.all = watch.total();
  return texture;
}

namespace {

bool has_finite_triangles(const TriangleMesh& mesh) {
  return !mesh.triangles.empty() && std::all_of(mesh.positions.begin(), mesh.positions.end(),
                                                [](const Vec3f& p) { return is_finite(p); });
}

bool has_same_triangles(const TriangleMesh& a, const TriangleMesh& b, Threads threads) {
  if (a.triangles.size() != b.triangles.size()) return false;
  return parallel_reduce(
             a.triangles.size(), 8192, threads, 0,
             [&](std::size_t begin, std::size_t end) {
               int others = 0;
               for (std::size_t t = begin; t < end; ++t)
                 if (corners(a, t) != corners(b, t)) ++others;
               return others;
             },
             [](int x, int y) { return x + y; }) == 0;
}

}  // namespace

MeshTexture GpuFieldBuilder::build_first_order_texture(const TriangleMesh& mesh,
                                                       const Lattice& lattice,
                                                       const SurfaceSettings& surface_settings,
                                                       const TextureSettings& settings) {
  const Stopwatch watch;
  if (const auto flaw = find_flaw(mesh)) throw Error(*flaw);
  MeshTexture result;
  struct Signs {
    InsideRows rows;
    double surface_time = 0, time = 0;
  };
  // If an exception is thrown below, the future waits for its thread.
  std::future<Signs> signs = std::async(std::launch::async, [&] {
    Stopwatch lap;
    Signs found;
    result.surface = prepare_surface(mesh, surface_settings);
    check_box(result.surface, lattice);
    found.surface_time = lap.lap();
    found.rows = compute_rows(result.surface, lattice, settings);
    found.time = lap.lap();
    return found;
  });
  TextureBuild build(*state_, lattice, settings);
  const bool early =
      has_finite_triangles(mesh) && is_within(mesh, lattice, 0) && build.find_refusal(mesh).empty();
  if (early) build.search(mesh);
  const Signs found = signs.get();
  const Surface& surface = result.surface;
  if (!early || !has_same_triangles(mesh, surface.mesh, settings.threads)) {
    if (const std::string why = build.find_refusal(surface.mesh); !why.empty()) throw Error(why);
    build.search(surface.mesh);
  }
  build.times().surface = found.surface_time;
  build.times().signs = found.time;
  result.texture = build.finish(surface, found.rows);
  result.texture.times.all = watch.total();
  return result;
}

}  // namespace isotact

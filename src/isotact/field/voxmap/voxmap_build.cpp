// From a surface to a voxelmap: the layers, and the distances of their voxels (SSL14
// section 2.1.1).
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/machine.h"
#include "isotact/field/flat_buffer.h"
#include "isotact/field/models/exact_field.h"
#include "isotact/field/voxmap/detail/voxmap_layers.h"
#include "isotact/geometry/bvh/bvh.h"

namespace isotact {

namespace {

constexpr double kMaxScaled = 2147483647;

// The middle of a closed voxel is no further from its other points, in voxels.
constexpr double kHalfDiagonal = 0.8660254037844386 * (1 + 1e-6);

void require_memory(const VoxmapSettings& settings, std::uint64_t needed) {
  check_memory(static_cast<double>(needed), settings.max_memory, "the voxelmap");
}

// Between passes, the only moments at which one thread runs.
void report_pass(const VoxmapSettings& settings, std::uint64_t pass) {
  settings.monitor.check();
  const std::uint64_t total = settings.encoding == VoxmapEncoding::kLayers ? 3 : 5;
  settings.monitor.report({.task = "building voxelmap", .done = pass, .total = total});
}

void require_lattice(const Lattice& lattice) {
  if (const auto flaw = detail::find_flaw_in_voxmap_lattice(lattice))
    throw Error("voxelmap: " + *flaw);
}

void require_input(const Surface& surface, const Lattice& lattice, const VoxmapSettings& settings) {
  require_lattice(lattice);
  if (std::abs(settings.precision) > kMaxVoxmapPrecision)
    throw Error(fmt::format("voxelmap: precision {}; it must be from -{} to {}", settings.precision,
                            kMaxVoxmapPrecision, kMaxVoxmapPrecision));
  if (const auto flaw = find_flaw(surface.mesh)) throw Error("voxelmap: " + *flaw);
  Aabb box = to_double(bounds(surface.mesh));
  if (is_empty(box)) throw Error("voxelmap: the mesh has no finite triangle");
  const double offset = surface.report.shell_offset;
  box = {box.lower - Vec3{offset, offset, offset}, box.upper + Vec3{offset, offset, offset}};
  const Aabb grid = bounds(lattice);
  if (surface.report.method == SignMethod::kUnsigned &&
      settings.closest == ClosestPointMethod::kLayerWalk &&
      settings.encoding != VoxmapEncoding::kLayers)
    throw Error(
        "voxelmap: the shell around an unsigned surface has no voxels to walk to: choose "
        "the exact method");
  if (!contains(grid, box.lower) || !contains(grid, box.upper))
    throw Error(fmt::format(
        "voxelmap: the surface reaches from ({}, {}, {}) to ({}, {}, {}), out of the lattice's "
        "box, "
        "which reaches from ({}, {}, {}) to ({}, {}, {})",
        box.lower.x, box.lower.y, box.lower.z, box.upper.x, box.upper.y, box.upper.z, grid.lower.x,
        grid.lower.y, grid.lower.z, grid.upper.x, grid.upper.y, grid.upper.z));
}

// A surface voxel's nearest point of the mesh, and the side on which its centre lies.
struct SurfaceVoxels {
  std::vector<std::size_t> places;  // flat indices, ascending
  std::vector<ClosestPoint> closest;
  std::vector<std::uint8_t> inside;

  std::size_t find(std::size_t place) const {
    return static_cast<std::size_t>(std::lower_bound(places.begin(), places.end(), place) -
                                    places.begin());
  }
};
constexpr std::size_t kBytesASurfaceVoxel = 64;  // of that, with the points while it is made

struct Maker {
  const Surface& from;
  const Lattice& lattice;
  const VoxmapSettings& settings;
  ExactField exact;
  std::vector<std::int16_t> layers{};
  SurfaceVoxels surface{};

  Index3 voxel(std::size_t place) const {
    const auto nx = static_cast<std::size_t>(lattice.cells[0]);
    const auto ny = static_cast<std::size_t>(lattice.cells[1]);
    return {static_cast<std::int32_t>(place % nx), static_cast<std::int32_t>(place / nx % ny),
            static_cast<std::int32_t>(place / (nx * ny))};
  }
  Vec3 centre(std::size_t place) const {
    const Index3 v = voxel(place);
    return lattice.origin + Vec3{v[0] + 0.5, v[1] + 0.5, v[2] + 0.5} * lattice.spacing;
  }
  bool is_shell() const { return from.report.method == SignMethod::kUnsigned; }
  bool is_inside(std::size_t place) const { return exact.value(centre(place)) < 0; }
};

// The points at the offset have no triangles. A field that changes no faster than space can be zero
// in a voxel only if it is no more than half a diagonal at its middle.
std::vector<std::uint8_t> find_shell_voxels(const Maker& maker) {
  std::vector<std::uint8_t> mask(count(maker.lattice.cells), 0);
  const double reach = kHalfDiagonal * maker.lattice.spacing;
  parallel_for(mask.size(), 4096, maker.settings.threads, [&](std::size_t begin, std::size_t end) {
    maker.settings.monitor.check();
    for (std::size_t n = begin; n < end; ++n) {
      const Interval bounds = maker.exact.distance_bounds(maker.centre(n));
      mask[n] = bounds.lower <= reach && bounds.upper >= -reach ? 1 : 0;
    }
  });
  return mask;
}

void make_layers(Maker& maker) {
  const VoxmapSettings& settings = maker.settings;
  const Index3& cells = maker.lattice.cells;
  const std::size_t voxels = count(cells);
  const std::uint64_t flat = voxels * (3 + detail::bytes_a_voxel(settings.encoding));
  report_pass(settings, 0);
  const std::vector<std::uint8_t> mask =
      maker.is_shell()
          ? find_shell_voxels(maker)
          : detail::find_surface_voxels(maker.from.mesh, maker.lattice, settings.threads);
  report_pass(settings, 1);
  const std::size_t rows = static_cast<std::size_t>(cells[1]) * static_cast<std::size_t>(cells[2]);
  const std::uint64_t run_bytes = detail::count_runs(mask, cells, settings.threads) *
                                      (sizeof(detail::Run) + 1 + 2 * sizeof(std::size_t)) +
                                  rows * sizeof(std::size_t);
  require_memory(settings, flat + run_bytes);
  maker.layers.resize(voxels);
  detail::compute_chessboard_distances(mask, cells, maker.layers, settings.threads);
  report_pass(settings, 2);
  detail::Runs runs = detail::fill_outside(mask, cells, settings.threads);
  detail::decide_enclosed(runs, cells, maker.layers, [&](std::size_t place) {
    settings.monitor.check();
    return maker.is_inside(place);
  });
  detail::apply_signs(runs, cells, maker.layers, settings.threads);
}

void find_surface_points(Maker& maker, const detail::LayerCounts& counts) {
  const VoxmapSettings& settings = maker.settings;
  require_memory(settings,
                 count(maker.lattice.cells) * (2 + detail::bytes_a_voxel(settings.encoding)) +
                     counts.surface * kBytesASurfaceVoxel);
  SurfaceVoxels& surface = maker.surface;
  surface.places.reserve(counts.surface);
  for (std::size_t n = 0; n < maker.layers.size(); ++n)
    if (maker.layers[n] == 0) surface.places.push_back(n);
  std::vector<Vec3f> centres(surface.places.size());
  for (std::size_t n = 0; n < centres.size(); ++n)
    centres[n] = to_float(maker.centre(surface.places[n]));
  surface.closest.resize(centres.size());
  find_closest_points(maker.exact.tree().bvh(), centres, surface.closest, settings.threads);
  settings.monitor.check();
  surface.inside.resize(centres.size());
  parallel_for(centres.size(), 1024, settings.threads, [&](std::size_t begin, std::size_t end) {
    settings.monitor.check();
    for (std::size_t n = begin; n < end; ++n)
      surface.inside[n] = maker.is_inside(surface.places[n]) ? 1 : 0;
  });
}

// The distance and its gradient in the paper's sign, from the nearest point as it was found.
SupportVoxel measure(const Maker& maker, std::size_t place, const ClosestPoint& closest) {
  const int layer = maker.layers[place];
  const bool inside = layer != 0 ? layer > 0 : maker.surface.inside[maker.surface.find(place)] != 0;
  const Vec3 away = maker.centre(place) - to_double(closest.point);
  const double distance = length(away);
  if (maker.is_shell() && distance > 0) {
    const Vec3f g = to_float(away / -distance);
    return {maker.from.report.shell_offset - distance, {g.x, g.y, g.z}, layer};
  }
  Vec3 gradient;
  if (distance > 1e-5 * maker.lattice.spacing) {
    gradient = away / (inside ? distance : -distance);
  } else {  // on the triangle: KGM section 4.3 takes its normal
    const auto c = corners(maker.from.mesh, closest.triangle);
    const Vec3 a = to_double(c[0]);
    gradient = -normalized(cross(to_double(c[1]) - a, to_double(c[2]) - a));
  }
  const Vec3f g = to_float(gradient);
  if (maker.is_shell()) return {maker.from.report.shell_offset, {g.x, g.y, g.z}, layer};
  return {inside ? distance : -distance, {g.x, g.y, g.z}, layer};
}

struct Measured {
  double greatest = 0;
  std::uint64_t walked = 0, strayed = 0;
};

// Calls put(place, SupportVoxel) for every voxel.
template <typename Put>
Measured measure_voxels(const Maker& maker, Put&& put) {
  const bool walk = maker.settings.closest == ClosestPointMethod::kLayerWalk;
  const auto measure_range = [&](std::size_t begin, std::size_t end) {
    maker.settings.monitor.check();
    Measured measured;
    std::vector<ClosestPoint> closest(end - begin);
    if (walk) {
      for (std::size_t n = begin; n < end; ++n) {
        const detail::LayerWalk found =
            detail::walk_to_surface(maker.layers, maker.lattice.cells, maker.voxel(n));
        closest[n - begin] = maker.surface.closest[maker.surface.find(found.voxel)];
        if (maker.layers[n] != 0) ++measured.walked;
        if (maker.layers[n] != 0 && found.strayed) ++measured.strayed;
      }
    } else {
      std::vector<Vec3f> centres(end - begin);
      for (std::size_t n = begin; n < end; ++n) centres[n - begin] = to_float(maker.centre(n));
      find_closest_points(maker.exact.tree().bvh(), centres, closest, Threads{1});
    }
    for (std::size_t n = begin; n < end; ++n) {
      const SupportVoxel voxel = measure(maker, n, closest[n - begin]);
      measured.greatest = std::max(measured.greatest, std::fabs(voxel.penetration));
      put(n, voxel);
    }
    return measured;
  };
  return parallel_reduce(maker.layers.size(), 16384, maker.settings.threads, Measured{},
                         measure_range, [](const Measured& a, const Measured& b) {
                           return Measured{std::max(a.greatest, b.greatest), a.walked + b.walked,
                                           a.strayed + b.strayed};
                         });
}

Measured write_scaled(const Maker& maker, std::int32_t* out) {
  const double scale = detail::power_of_ten(maker.settings.precision);
  const Measured measured =
      measure_voxels(maker, [&](std::size_t place, const SupportVoxel& voxel) {
        const double v = std::trunc(voxel.penetration * scale);
        out[place] = std::fabs(v) <= kMaxScaled ? static_cast<std::int32_t>(v) : 0;
      });
  if (std::trunc(measured.greatest * scale) > kMaxScaled) {
    int fitting = maker.settings.precision;
    while (fitting > -kMaxVoxmapPrecision &&
           measured.greatest * detail::power_of_ten(fitting) > kMaxScaled)
      --fitting;
    throw Error(fmt::format(
        "voxelmap: a distance of {} m does not fit into 32 bits with precision {}; {} would do",
        measured.greatest, maker.settings.precision, fitting));
  }
  return measured;
}

VoxmapHeader make_header(const Maker& maker, const detail::LayerCounts& counts,
                         std::size_t total_bytes) {
  VoxmapHeader header{};
  std::memcpy(header.magic, "ISOVOXEL", 8);
  header.version = 1;
  header.encoding = static_cast<std::uint32_t>(maker.settings.encoding);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    header.origin[axis] = maker.lattice.origin[axis];
    header.cells[axis] = maker.lattice.cells[axis];
  }
  header.voxel_size = maker.lattice.spacing;
  if (maker.settings.encoding == VoxmapEncoding::kScaled)
    header.precision = maker.settings.precision;
  if (maker.settings.encoding != VoxmapEncoding::kLayers)
    header.closest_method = static_cast<std::uint32_t>(maker.settings.closest);
  header.deepest_layer = counts.deepest;
  header.furthest_layer = counts.furthest;
  header.surface_voxels = counts.surface;
  header.inner_voxels = counts.inner;
  header.outer_voxels = counts.outer;
  header.total_bytes = total_bytes;
  header.data_offset = sizeof(VoxmapHeader);
  return header;
}

}  // namespace

double voxmap_build_bytes(const Lattice& lattice, VoxmapEncoding encoding) {
  double bytes = 3.0 + static_cast<double>(detail::bytes_a_voxel(encoding));
  for (const std::int32_t n : lattice.cells) bytes *= n;
  return bytes;
}

VoxmapResult build_voxmap(const TriangleMesh& mesh, const Lattice& lattice,
                          const VoxmapSettings& settings) {
  require_lattice(lattice);
  if (const auto flaw = find_flaw(mesh)) throw Error("voxelmap: " + *flaw);
  return build_voxmap(prepare_surface(mesh, {.sign = settings.sign,
                                             .nested = settings.nested,
                                             .voxel_size = lattice.spacing,
                                             .shell_offset = settings.shell_offset,
                                             .threads = settings.threads,
                                             .monitor = settings.monitor}),
                      lattice, settings);
}

VoxmapResult build_voxmap(const Surface& surface, const Lattice& lattice,
                          const VoxmapSettings& settings) {
  const auto start = std::chrono::steady_clock::now();
  require_input(surface, lattice, settings);
  check_memory(voxmap_build_bytes(lattice, settings.encoding), settings.max_memory, "the voxelmap");
  Maker maker{.from = surface,
              .lattice = lattice,
              .settings = settings,
              .exact = ExactField(surface, settings.threads)};
  make_layers(maker);
  const detail::LayerCounts counts = detail::count_layers(maker.layers);
  report_pass(settings, 3);
  if (settings.encoding != VoxmapEncoding::kLayers) {
    find_surface_points(maker, counts);
    report_pass(settings, 4);
  }

  const std::size_t total_bytes = round_up_to_alignment(
      sizeof(VoxmapHeader) + maker.layers.size() * detail::bytes_a_voxel(settings.encoding));
  FlatRoom buffer = make_zeroed_room(total_bytes);
  const VoxmapHeader header = make_header(maker, counts, total_bytes);
  std::memcpy(buffer.bytes.data(), &header, sizeof(header));
  std::byte* const data = buffer.bytes.data() + header.data_offset;
  Measured measured;
  switch (settings.encoding) {
    case VoxmapEncoding::kLayers:
      std::memcpy(data, maker.layers.data(), maker.layers.size() * sizeof(std::int16_t));
      break;
    case VoxmapEncoding::kScaled:
      measured = write_scaled(maker, reinterpret_cast<std::int32_t*>(data));
      break;
    case VoxmapEncoding::kSupport: {
      auto* const out = reinterpret_cast<SupportVoxel*>(data);
      measured = measure_voxels(maker, [&](std::size_t n, const SupportVoxel& v) { out[n] = v; });
      break;
    }
  }
  if (settings.encoding != VoxmapEncoding::kLayers) report_pass(settings, 5);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  return {.voxmap = VoxmapAccess::adopt(buffer.bytes, std::move(buffer.owner)),
          .report = {.surface_voxels = counts.surface,
                     .inner_voxels = counts.inner,
                     .outer_voxels = counts.outer,
                     .deepest_layer = counts.deepest,
                     .furthest_layer = counts.furthest,
                     .walked_voxels = measured.walked,
                     .strayed_voxels = measured.strayed,
                     .seconds = taken.count()}};
}

}  // namespace isotact

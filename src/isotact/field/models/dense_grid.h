// A field as float32 samples at all nodes of a lattice, trilinear between them: what the papers
// use, and the oracle of the cleverer ones. At 1024 cells an axis it takes 4.3 GB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/base/shared_progress.h"
#include "isotact/field/field.h"
#include "isotact/field/lattice.h"
#include "isotact/field/value_range.h"

namespace isotact {

struct DenseGridParts {
  Lattice lattice{};
  std::vector<float> samples{};  // metres, at the nodes: n cells have n + 1 of them; x fastest
  // True distance minus sample lies in here, at every node. An infinite end: nothing is known.
  Interval sample_error{};
  // Whether the body lies in the box as a whole, so that its surface is nowhere outside. Then no
  // sample on the rim is inside. Else distance_bounds() knows little outside of the box.
  bool holds_body = false;
};

// "sample (3, 0, 1) is nan, must be finite". Cost: one pass over the samples.
std::optional<std::string> find_flaw(const DenseGridParts& parts);

// Immutable; copies share the samples. Any number of threads may query it.
//
// A computed value never leaves the range of the eight samples around it, not even by a rounding:
// all seven interpolations start at the nearer end. The place in the cell is rounded
// to float (lattice.h), which moves a point by up to 3e-8 cells; bounds hold up to that.
class DenseGrid {
 public:
  explicit DenseGrid(DenseGridParts parts,
                     Threads threads = {});  // throws Error where find_flaw names one

  // The Field concept. Outside of the box: extend_outside. Cost of a value: some 30 ns in the
  // caches, four lines of memory from elsewhere.
  double value(const Vec3& point) const;
  FieldSample sample(const Vec3& point) const;  // on a face between cells, the upper one's gradient
  Aabb bounds() const { return isotact::bounds(parts_->lattice); }
  // Inside, the length of the steepest gradient of the interpolant: reached, but in one cell.
  double lipschitz() const { return lipschitz_; }
  // Of all samples of the cells that the box touches. Cost: one pass over them; nothing where the
  // box covers the whole grid. MinMaxOctree knows ranges of blocks without looking at samples.
  Interval range(const Aabb& box) const;
  // From the eight samples around the point. A true distance changes no faster than space, so with
  // node x_i at distance d_i (to within the error) it is between d_i - |x - x_i| and
  // d_i + |x - x_i|, for all eight.
  Interval distance_bounds(const Vec3& point) const;

  const DenseGridParts& parts() const { return *parts_; }
  const Lattice& lattice() const { return parts_->lattice; }
  std::span<const float> samples() const { return parts_->samples; }
  float node_value(std::int32_t i, std::int32_t j, std::int32_t k) const {
    return parts_->samples[flat_index(nodes_, i, j, k)];
  }
  ValueRange cell_range(const Index3& cell) const;         // of its eight corners
  ValueRange value_range() const { return value_range_; }  // of all samples
  std::uint64_t memory_bytes() const { return parts_->samples.size() * sizeof(float); }

 private:
  Interval node_bounds(const Vec3& point) const;

  std::shared_ptr<const DenseGridParts> parts_;
  Index3 nodes_{};
  ValueRange value_range_{};
  double lipschitz_ = 0;
};

// Also checks what is computed once, the Lipschitz bound and the range.
std::optional<std::string> find_flaw(const DenseGrid& grid);

// Bytes of the samples of a lattice. A double, since a hostile lattice may ask for 2^93.
double dense_grid_bytes(const Lattice& lattice);

struct SampleSettings {
  // Set it where the lattice's box is known to hold the whole body (DenseGridParts).
  bool holds_body = false;
  std::uint64_t max_memory = 0;  // bytes: dense_grid_bytes; 0: what the machine has
  Threads threads{};
  Monitor monitor{};
};

namespace detail {
// Throws Error, with the figure that would be needed.
void check_sampling(const Lattice& lattice, const SampleSettings& settings);
Interval error_of(float stored, const Interval& true_distance);
}  // namespace detail

// The field's values at all nodes, with an error that covers the field's own doubt at the nodes
// (distance_bounds) and the rounding to float. Throws Error for a memory limit that would not
// suffice (before allocating, with the figure that would); Cancelled when the monitor says so. The
// same bytes for any number of threads.
template <Field F>
DenseGrid sample_on_lattice(const F& field, const Lattice& lattice,
                            const SampleSettings& settings = {}) {
  detail::check_sampling(lattice, settings);
  const Index3 nodes = node_counts(lattice);
  DenseGridParts parts{.lattice = lattice,
                       .samples = std::vector<float>(count(nodes)),
                       .holds_body = settings.holds_body};
  const auto rows = static_cast<std::size_t>(nodes[1]) * static_cast<std::size_t>(nodes[2]);
  SharedProgress progress(settings.monitor, "sampling values", rows);
  parts.sample_error = parallel_reduce(
      rows, 8, settings.threads, Interval{},
      [&](std::size_t begin, std::size_t end) {
        Interval error{};
        for (std::size_t row = begin; row < end; ++row) {
          const auto j = static_cast<std::int32_t>(row % static_cast<std::size_t>(nodes[1]));
          const auto k = static_cast<std::int32_t>(row / static_cast<std::size_t>(nodes[1]));
          for (std::int32_t i = 0; i < nodes[0]; ++i) {
            const Vec3 at = node_position(lattice, i, j, k);
            const auto stored = static_cast<float>(field.value(at));
            parts.samples[flat_index(nodes, i, j, k)] = stored;
            error = unite(error, detail::error_of(stored, field.distance_bounds(at)));
          }
        }
        progress.advance(end - begin);
        return error;
      },
      [](const Interval& a, const Interval& b) { return unite(a, b); });
  return DenseGrid(std::move(parts), settings.threads);
}

}  // namespace isotact

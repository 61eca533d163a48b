// A field as float32 samples at all nodes of a lattice, trilinear between them. The papers use it,
// and it is the reference for the more complex models. At 1024 cells per axis it takes 4.3 GB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/base/progress.h"
#include "isotact/export.h"
#include "isotact/field/field.h"
#include "isotact/field/lattice.h"

namespace ISOTACT_PUBLIC isotact {

struct DenseGridParts {
  Lattice lattice{};
  std::vector<float> samples{};  // Metres, at the nodes: n cells have n + 1 of them; x fastest.
  // Contains true distance minus sample at every node. An infinite end: nothing is known.
  Interval sample_error{};
  // Whether the body lies in the box as a whole, so that its surface is nowhere outside. Then no
  // sample on the boundary is inside. Otherwise distance_bounds() is weak outside of the box.
  bool holds_body = false;
};

// "sample (3, 0, 1) is nan, must be finite". Cost: one pass over the samples.
std::optional<std::string> find_flaw(const DenseGridParts& parts);

// Immutable; copies share the samples. Any number of threads may query it.
//
// A computed value never leaves the range of the eight samples around it, not even by a rounding:
// all seven interpolations start at the nearer end. The position in the cell is rounded to float
// (lattice.h), which moves a point by up to 3e-8 cells; bounds are valid up to that.
class DenseGrid {
 public:
  explicit DenseGrid(DenseGridParts parts,
                     // Throws Error if find_flaw names a flaw.
                     Threads threads = {});

  // The Field concept. It uses extend_outside outside of the box. Cost of a value: some 30 ns in
  // the caches, four lines of memory from elsewhere.
  double value(const Vec3& point) const;
  // Returns the upper cell's gradient on a face between cells.
  FieldSample sample(const Vec3& point) const;
  Aabb bounds() const { return isotact::bounds(parts_->lattice); }
  // Inside, the length of the steepest gradient of the interpolant: reached, but in one cell.
  double lipschitz() const { return lipschitz_; }
  // Range of all samples of the cells that the box touches. Cost: one pass over them; nothing if
  // the box covers the whole grid. MinMaxOctree has ranges of blocks without reading samples.
  Interval range(const Aabb& box) const;
  // Bounds from the eight samples around the point. A true distance changes no faster than space.
  // Let node x_i be at distance d_i (to within the error). The distance at x is then between d_i -
  // |x - x_i| and d_i + |x - x_i|, for all eight.
  Interval distance_bounds(const Vec3& point) const;

  const DenseGridParts& parts() const { return *parts_; }
  const Lattice& lattice() const { return parts_->lattice; }
  std::span<const float> samples() const { return parts_->samples; }
  float node_value(std::int32_t i, std::int32_t j, std::int32_t k) const {
    return parts_->samples[flat_index(nodes_, i, j, k)];
  }
  ValueRange cell_range(const Index3& cell) const;         // Range of its eight corners.
  ValueRange value_range() const { return value_range_; }  // Range of all samples.
  std::uint64_t memory_bytes() const { return parts_->samples.size() * sizeof(float); }

 private:
  Interval node_bounds(const Vec3& point) const;

  std::shared_ptr<const DenseGridParts> parts_;
  Index3 nodes_{};
  ValueRange value_range_{};
  double lipschitz_ = 0;
};

// Also checks the numbers that are computed once, the Lipschitz bound and the range.
std::optional<std::string> find_flaw(const DenseGrid& grid);

// Returns the bytes of the samples of a lattice. It is a double, since a hostile lattice may ask
// for 2^93.
double dense_grid_bytes(const Lattice& lattice);

struct SampleSettings {
  // Set it if the lattice's box is known to contain the whole body (DenseGridParts).
  bool holds_body = false;
  std::uint64_t max_memory = 0;  // Bytes: dense_grid_bytes; 0: the memory of the machine.
  Threads threads{};
  Monitor monitor{};
};

namespace detail {
// Throws Error, with the figure that would be needed.
void check_sampling(const Lattice& lattice, const SampleSettings& settings);
Interval error_of(float stored, const Interval& true_distance);
// Writes the samples of the row of nodes along x at (j, k), and returns error_of, united over them.
using SampleRow = std::function<Interval(std::int32_t j, std::int32_t k, std::span<float> samples)>;
DenseGrid sample_rows(const Lattice& lattice, const SampleSettings& settings, const SampleRow& row);
}  // namespace detail

// Samples the field's values at all nodes, with an error that covers the field's own uncertainty at
// the nodes (distance_bounds) and the rounding to float. Throws Error for a memory limit that would
// not suffice (before allocating, with the figure that would). Throws Cancelled if the monitor's
// token was set. The result has the same bytes for any number of threads.
template <Field F>
DenseGrid sample_on_lattice(const F& field, const Lattice& lattice,
                            const SampleSettings& settings = {}) {
  return detail::sample_rows(
      lattice, settings, [&](std::int32_t j, std::int32_t k, std::span<float> samples) {
        Interval error{};
        for (std::size_t i = 0; i < samples.size(); ++i) {
          const Vec3 at = node_position(lattice, static_cast<std::int32_t>(i), j, k);
          samples[i] = static_cast<float>(field.value(at));
          error = unite(error, detail::error_of(samples[i], field.distance_bounds(at)));
        }
        return error;
      });
}

}  // namespace isotact

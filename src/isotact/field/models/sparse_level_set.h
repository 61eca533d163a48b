// A narrow-band level set, as OpenVDB and NanoVDB keep them. It has distances at the nodes near the
// surface, in blocks of 8^3. Elsewhere it has a constant, the background, with the right sign. Here
// it is the intermediate form for their files (adapters/openvdb) and a Field of its own; it needs
// none of their code.
//
// Between nodes the field is trilinear. Beyond the background it stays at plus or minus that value,
// even if nodes contain more: their neighbours do not, and the field would jump. It is a lower
// bound of the distance to the surface there. Bounds trust the file: the values of active nodes are
// distances, and true distances elsewhere are at least the background. Queries for isosurfaces
// beyond the background need a BrickField.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/export.h"
#include "isotact/field/field.h"
#include "isotact/field/lattice.h"
#include "isotact/field/models/brick_field.h"

namespace ISOTACT_PUBLIC isotact {

inline constexpr int kLeafNodes = 8;  // Per axis.

struct LevelSetLeaf {
  std::array<std::uint64_t, 8> active{};  // Node (x, y, z): bit x + 8 y of word z.
  std::array<float, 512> values{};        // x + 8 y + 64 z; metres; at inactive nodes +-background.

  friend bool operator==(const LevelSetLeaf&, const LevelSetLeaf&) = default;
};

struct SparseLevelSet {
  static constexpr std::int32_t kOutside = -1;  // A block without leaf, all of it +background.
  static constexpr std::int32_t kInside = -2;   // The same, -background.

  Lattice lattice{};     // Nodes beyond it, in the leaves at its upper end, do not count.
  float background = 0;  // Metres, positive.
  // Blocks of 8^3 nodes, x fastest: leaf number, kOutside or kInside.
  std::vector<std::int32_t> blocks;
  std::vector<LevelSetLeaf> leaves;  // In the order of their blocks.

  friend bool operator==(const SparseLevelSet&, const SparseLevelSet&) = default;
};

// Returns the number of blocks along each axis that contain the lattice's nodes.
Index3 block_counts(const Lattice& lattice);

// Describes what is wrong with it: counts, numbers that do not fit, values that are not finite.
std::optional<std::string> find_flaw(const SparseLevelSet& level_set);

// The nodes of all bricks are active, with the field's own values. The background is the field's
// band, and the sign elsewhere is that of the coarse level. Active nodes in bricks that were
// refined far away may exceed the background.
SparseLevelSet to_level_set(const BrickField& field, Threads threads = {});

// A Field over a level set that it owns. Immutable; any number of threads may query it.
class LevelSetField {
 public:
  // Throws Error if find_flaw names a flaw. Cost: one pass.
  explicit LevelSetField(SparseLevelSet level_set);

  double value(const Vec3& point) const;
  FieldSample sample(const Vec3& point) const;
  Aabb bounds() const { return isotact::bounds(data_.lattice); }
  double lipschitz() const { return lipschitz_; }
  Interval range(const Aabb& box) const;  // Range of the blocks that the box touches.
  Interval distance_bounds(const Vec3& point) const;

  const SparseLevelSet& level_set() const { return data_; }
  // Returns the stored value of a node of the lattice.
  float node_value(std::int32_t i, std::int32_t j, std::int32_t k) const;
  bool is_active(std::int32_t i, std::int32_t j, std::int32_t k) const;

 private:
  struct Corners {
    std::array<float, 8> value;  // Clamped to the background.
    bool all_known;              // All active and nearer than the background.
  };
  float cut_value(std::int32_t i, std::int32_t j, std::int32_t k) const;
  Corners corners_of(const Index3& cell) const;
  FieldSample sample_inside(const Vec3& point) const;
  void measure_block(const Index3& block);

  SparseLevelSet data_;
  Index3 block_counts_{};
  // Range of a block's cells, with the first nodes of the next blocks.
  std::vector<ValueRange> ranges_;
  ValueRange all_{};
  std::array<float, 3> steepest_{};  // Largest difference along an edge, for each axis.
  bool cuts_body_ = false;           // A node on the box is negative.
  double lipschitz_ = 1;
};

}  // namespace isotact

#include "isotact/adapters/openvdb/vdb.h"

#include <bit>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <openvdb/openvdb.h>
#include <openvdb/tools/Prune.h>
#include <unistd.h>

#include "level_set_grid.h"
#include "vdb_grid.h"
#include "vdb_length.h"

namespace isotact {
namespace {

// Their leaves run z fastest, ours x.
constexpr openvdb::Index their_offset(std::size_t ours) {
  return static_cast<openvdb::Index>((ours & 7U) << 6U | (ours >> 3U & 7U) << 3U | ours >> 6U);
}

detail::PlacedLeaf from_leaf(const openvdb::FloatTree::LeafNodeType& theirs) {
  detail::PlacedLeaf placed;
  const openvdb::Coord& origin = theirs.origin();
  placed.first = {origin.x(), origin.y(), origin.z()};
  for (std::size_t i = 0; i < 512; ++i) {
    placed.leaf.values[i] = theirs.getValue(their_offset(i));
    if (theirs.isValueOn(their_offset(i))) placed.leaf.active[i / 64] |= std::uint64_t{1} << i % 64;
  }
  return placed;
}

Vec3 from_vec(const openvdb::Vec3d& v) { return {v.x(), v.y(), v.z()}; }

SparseLevelSet from_openvdb(const openvdb::FloatGrid& grid) {
  const auto world = [&](double x, double y, double z) {
    return from_vec(grid.transform().indexToWorld(openvdb::Vec3d(x, y, z)));
  };
  const openvdb::CoordBBox box = grid.evalActiveVoxelBoundingBox();
  if (box.empty()) throw Error("the grid has no active voxels");
  detail::VdbTree tree;
  tree.lower = {box.min().x(), box.min().y(), box.min().z()};
  tree.upper = {box.max().x(), box.max().y(), box.max().z()};
  tree.origin = world(0, 0, 0);
  tree.spacing = detail::require_cubes(tree.origin, world(1, 0, 0), world(0, 1, 0), world(0, 0, 1));
  tree.background = grid.background();
  tree.leaves.reserve(grid.tree().leafCount());
  for (auto leaf = grid.tree().cbeginLeaf(); leaf; ++leaf) tree.leaves.push_back(from_leaf(*leaf));
  auto accessor = grid.getConstAccessor();
  tree.tile = [&](const Index3& at) {
    detail::Tile tile;
    tile.active = accessor.probeValue(openvdb::Coord(at[0], at[1], at[2]), tile.value);
    return tile;
  };
  return detail::assemble_level_set(std::move(tree));
}

// Returns the grid's unique name in the file, or throws Error.
std::string choose_grid(openvdb::io::File& file, const std::string& wanted) {
  std::string any;
  for (auto name = file.beginName(); name != file.endName(); ++name) {
    const openvdb::GridBase::Ptr head = file.readGridMetadata(name.gridName());
    if (!head->isType<openvdb::FloatGrid>()) continue;
    if (!wanted.empty() && head->getName() != wanted && name.gridName() != wanted) continue;
    if (head->getGridClass() == openvdb::GRID_LEVEL_SET) return name.gridName();
    if (any.empty()) any = name.gridName();
  }
  if (any.empty())
    throw Error(wanted.empty()
                    ? std::string("has no grid of floats")
                    : fmt::format("has no grid of floats named '{}'", printable(wanted)));
  return any;
}

}  // namespace

namespace detail {

openvdb::FloatGrid::Ptr to_openvdb(const SparseLevelSet& level_set) {
  openvdb::initialize();
  openvdb::FloatGrid::Ptr grid = openvdb::FloatGrid::create(level_set.background);
  grid->setName("distance");
  grid->setGridClass(openvdb::GRID_LEVEL_SET);
  auto transform = openvdb::math::Transform::createLinearTransform(level_set.lattice.spacing);
  const Vec3& origin = level_set.lattice.origin;
  transform->postTranslate(openvdb::Vec3d(origin.x, origin.y, origin.z));
  grid->setTransform(transform);
  const Index3 counts = block_counts(level_set.lattice);
  openvdb::FloatTree& tree = grid->tree();
  for (std::int32_t z = 0; z < counts[2]; ++z)
    for (std::int32_t y = 0; y < counts[1]; ++y)
      for (std::int32_t x = 0; x < counts[0]; ++x) {
        const std::int32_t block = level_set.blocks[flat_index(counts, x, y, z)];
        const openvdb::Coord at(8 * x, 8 * y, 8 * z);
        if (block == SparseLevelSet::kInside) tree.addTile(1, at, -level_set.background, false);
        if (block < 0) continue;
        const LevelSetLeaf& ours = level_set.leaves[static_cast<std::size_t>(block)];
        openvdb::FloatTree::LeafNodeType& theirs = *tree.touchLeaf(at);
        for (std::size_t i = 0; i < 512; ++i) {
          if ((ours.active[i / 64] >> i % 64 & 1U) != 0)
            theirs.setValueOn(their_offset(i), ours.values[i]);
          else
            theirs.setValueOff(their_offset(i), ours.values[i]);
        }
      }
  // Inside tiles that fill a larger node become one.
  openvdb::tools::pruneLevelSet(tree);
  return grid;
}

}  // namespace detail

void write_vdb(const std::filesystem::path& path, const SparseLevelSet& level_set) {
  detail::with_file_name(path, [&] {
    if (const auto flaw = find_flaw(level_set)) throw Error(*flaw);
    std::filesystem::path part = path;
    part += fmt::format(".{}.part", ::getpid());
    try {
      openvdb::io::File file(part.string());
      file.write(openvdb::GridPtrVec{detail::to_openvdb(level_set)});
      file.close();
      std::filesystem::rename(part, path);
    } catch (...) {
      std::error_code ignored;
      std::filesystem::remove(part, ignored);
      throw;
    }
  });
}

SparseLevelSet read_vdb(const std::filesystem::path& path, const VdbReadSettings& settings) {
  return detail::with_file_name(path, [&] {
    detail::check_vdb_length(path);
    openvdb::initialize();
    openvdb::io::File file(path.string());
    file.open(false);  // All at once: no part of the file is left for later.
    const openvdb::GridBase::Ptr base = file.readGrid(choose_grid(file, settings.grid));
    file.close();
    const auto grid = openvdb::gridPtrCast<openvdb::FloatGrid>(base);
    if (!grid) throw Error("the grid is not one of floats");
    return from_openvdb(*grid);
  });
}

}  // namespace isotact

// NanoVDB's files. Their readers allocate the sizes of a file and follow its offsets. Sizes are
// therefore compared with the file first, and a grid with its checksum before it is used.
#include <cstring>
#include <iostream>  // Missing in NanoVDB's validator.
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nanovdb/util/GridValidator.h>
#include <nanovdb/util/IO.h>
#include <nanovdb/util/OpenToNanoVDB.h>

#include "isotact/adapters/openvdb/vdb.h"
#include "isotact/base/file.h"

#include "level_set_grid.h"
#include "vdb_grid.h"

namespace isotact {
namespace {

using NanoLeaf = nanovdb::NanoLeaf<float>;
using NanoHandle = nanovdb::GridHandle<nanovdb::HostBuffer>;

// Takes structs from the front of a file, never beyond its end.
class Input {
 public:
  explicit Input(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::span<const std::byte> take(std::uint64_t size) {
    if (size > bytes_.size()) throw Error("the file ends before what it promises: it was cut");
    const auto front = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return front;
  }
  template <typename T>
  T take_struct() {
    T value;
    std::memcpy(static_cast<void*>(&value), take(sizeof value).data(), sizeof value);
    return value;
  }
  bool is_empty() const { return bytes_.empty(); }

 private:
  std::span<const std::byte> bytes_;
};

// Packed grids are chunks, each with its size before it.
void check_chunks(std::span<const std::byte> data) {
  Input input(data);
  while (!input.is_empty()) input.take(input.take_struct<std::uint64_t>());
}

// A grid in the file, by position.
struct Found {
  std::uint64_t number = 0;
  nanovdb::io::MetaData meta{};
};

Found choose_grid(std::span<const std::byte> file, const std::string& wanted) {
  std::optional<Found> any;
  std::uint64_t number = 0;
  for (Input input(file); !input.is_empty();) {
    const auto header = input.take_struct<nanovdb::io::Header>();
    if (header.magic != NANOVDB_MAGIC_NUMBER) throw Error("is no NanoVDB file");
    std::vector<Found> grids;
    std::vector<std::string> names;
    for (std::uint16_t i = 0; i < header.gridCount; ++i) {
      const auto meta = input.take_struct<nanovdb::io::MetaData>();
      const auto name = input.take(meta.nameSize);
      if (name.empty() || name.back() != std::byte{0}) throw Error("a grid's name does not end");
      names.emplace_back(reinterpret_cast<const char*>(name.data()));
      grids.push_back({number++, meta});
    }
    for (std::size_t i = 0; i < grids.size(); ++i) {
      const nanovdb::io::MetaData& meta = grids[i].meta;
      const auto data = input.take(meta.fileSize);
      // Approximate limit of the expansion of a byte by zlib and blosc.
      constexpr std::uint64_t kMostPacked = 256;
      const bool is_plain = header.codec == nanovdb::io::Codec::NONE;
      if (is_plain ? meta.gridSize != meta.fileSize : meta.gridSize / kMostPacked > meta.fileSize)
        throw Error("the sizes of a grid do not agree");
      if (!is_plain) check_chunks(data);
      if (meta.gridType != nanovdb::GridType::Float) continue;
      if (!wanted.empty() && names[i] != wanted) continue;
      if (meta.gridClass == nanovdb::GridClass::LevelSet) return grids[i];
      if (!any) any = grids[i];
    }
  }
  if (!any)
    throw Error(wanted.empty()
                    ? std::string("has no grid of floats")
                    : fmt::format("has no grid of floats named '{}'", printable(wanted)));
  return *any;
}

const nanovdb::FloatGrid& check_grid(const NanoHandle& handle) {
  if (handle.size() < sizeof(nanovdb::FloatGrid)) throw Error("the grid is too short");
  const nanovdb::FloatGrid* const grid = handle.grid<float>();
  if (grid == nullptr) throw Error("the grid is not one of floats");
  if (grid->gridSize() != handle.size()) throw Error("the grid's size is not that of the file");
  const std::string flaw = nanovdb::GridValidator<float>::check(*grid, true);
  if (!flaw.empty()) throw Error(fmt::format("the grid is damaged: {}", flaw));
  return *grid;
}

std::vector<detail::PlacedLeaf> take_leaves(const nanovdb::FloatGrid& grid) {
  const auto* const start = reinterpret_cast<const std::byte*>(&grid);
  const auto* const leaves = grid.tree().getFirstNode<0>();
  const std::uint64_t leaf_count = grid.tree().nodeCount(0);
  // Their validator does not check the leaves.
  const auto offset = reinterpret_cast<const std::byte*>(leaves) - start;
  if (leaf_count > 0 &&
      (offset < 0 || static_cast<std::uint64_t>(offset) > grid.gridSize() ||
       leaf_count > (grid.gridSize() - static_cast<std::uint64_t>(offset)) / sizeof(NanoLeaf)))
    throw Error("the grid's leaves lie outside of it");
  std::vector<detail::PlacedLeaf> placed(leaf_count);
  for (std::uint64_t n = 0; n < leaf_count; ++n) {
    const NanoLeaf& theirs = leaves[n];
    const nanovdb::Coord first = theirs.origin();
    placed[n].first = {first.x(), first.y(), first.z()};
    for (std::uint32_t i = 0; i < 512; ++i) {
      const std::uint32_t there = (i & 7U) << 6U | (i >> 3U & 7U) << 3U | i >> 6U;  // z fastest.
      placed[n].leaf.values[i] = theirs.getValue(there);
      if (theirs.isActive(there)) placed[n].leaf.active[i / 64] |= std::uint64_t{1} << i % 64;
    }
  }
  return placed;
}

SparseLevelSet from_nanovdb(const nanovdb::FloatGrid& grid) {
  const auto world = [&](double x, double y, double z) {
    const nanovdb::Vec3d p = grid.indexToWorld(nanovdb::Vec3d(x, y, z));
    return Vec3{p[0], p[1], p[2]};
  };
  const nanovdb::CoordBBox& box = grid.indexBBox();
  detail::VdbTree tree;
  tree.lower = {box.min().x(), box.min().y(), box.min().z()};
  tree.upper = {box.max().x(), box.max().y(), box.max().z()};
  tree.origin = world(0, 0, 0);
  tree.spacing = detail::require_cubes(tree.origin, world(1, 0, 0), world(0, 1, 0), world(0, 0, 1));
  tree.background = grid.tree().background();
  tree.leaves = take_leaves(grid);
  const auto accessor = grid.getAccessor();
  tree.tile = [&](const Index3& at) {
    detail::Tile tile;
    tile.active = accessor.probeValue(nanovdb::Coord(at[0], at[1], at[2]), tile.value);
    return tile;
  };
  return detail::assemble_level_set(std::move(tree));
}

}  // namespace

bool has_nanovdb() { return true; }

void write_nvdb(const std::filesystem::path& path, const SparseLevelSet& level_set) {
  detail::with_file_name(path, [&] {
    if (const auto flaw = find_flaw(level_set)) throw Error(*flaw);
    const openvdb::FloatGrid::Ptr grid = detail::to_openvdb(level_set);
    const NanoHandle handle =
        nanovdb::openToNanoVDB(*grid, nanovdb::StatsMode::Default, nanovdb::ChecksumMode::Full);
    // They write the header last, after moving past it. A stream in memory only allows this over
    // existing bytes.
    nanovdb::io::Segment head;
    head.add(handle);
    std::ostringstream stream(std::string(head.memUsage(), '\0'), std::ios::binary);
    nanovdb::io::writeGrid(stream, handle);
    write_file(path, stream.view());
  });
}

SparseLevelSet read_nvdb(const std::filesystem::path& path, const VdbReadSettings& settings) {
  return detail::with_file_name(path, [&] {
    const std::vector<std::byte> bytes = read_file(path);
    const Found found = choose_grid(bytes, settings.grid);
    std::istringstream stream(
        std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), std::ios::binary);
    const NanoHandle handle = nanovdb::io::readGrid(stream, found.number);
    return from_nanovdb(check_grid(handle));
  });
}

}  // namespace isotact

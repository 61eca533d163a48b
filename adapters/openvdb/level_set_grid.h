// From the leaves of a VDB tree, whichever library holds it, to a SparseLevelSet; and how errors of
// those libraries leave this folder.
#pragma once

#include <exception>
#include <filesystem>
#include <functional>
#include <vector>

#include "isotact/base/error.h"
#include "isotact/field/sparse_level_set.h"

namespace isotact::detail {

struct PlacedLeaf {
  Index3 first{};  // index of its first voxel: multiples of 8
  LevelSetLeaf leaf{};
};

struct Tile {
  float value = 0;
  bool active = false;
};

struct VdbTree {
  Index3 lower{}, upper{};  // of the active voxels, both included
  Vec3 origin{};            // of voxel (0, 0, 0), metres
  double spacing = 0;       // metres
  float background = 0;
  std::vector<PlacedLeaf> leaves;             // in any order
  std::function<Tile(const Index3&)> tile{};  // at a voxel outside of the leaves
};

// Throws Error (without a file's name) for a tree that is too large for what it holds.
SparseLevelSet assemble_level_set(VdbTree tree);

// What maps (0, 0, 0) and the three unit steps to the world: throws Error unless voxels are cubes
// along the axes. Returns their side.
double require_cubes(const Vec3& origin, const Vec3& x, const Vec3& y, const Vec3& z);

template <typename Work>
auto with_file_name(const std::filesystem::path& path, const Work& work) {
  try {
    return work();
  } catch (const std::exception& error) {
    throw Error({.file = path.string()}, error.what());
  }
}

}  // namespace isotact::detail

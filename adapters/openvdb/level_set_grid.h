// From the leaves of a VDB tree of either library to a SparseLevelSet, and conversion of their
// exceptions.
#pragma once

#include <exception>
#include <filesystem>
#include <functional>
#include <vector>

#include "isotact/base/error.h"
#include "isotact/field/models/sparse_level_set.h"

namespace isotact::detail {

struct PlacedLeaf {
  Index3 first{};  // Index of its first voxel: multiples of 8.
  LevelSetLeaf leaf{};
};

struct Tile {
  float value = 0;
  bool active = false;
};

struct VdbTree {
  Index3 lower{}, upper{};  // Bounds of the active voxels, both included.
  Vec3 origin{};            // Position of voxel (0, 0, 0), metres.
  double spacing = 0;       // Metres.
  float background = 0;
  std::vector<PlacedLeaf> leaves;             // In any order.
  std::function<Tile(const Index3&)> tile{};  // At a voxel outside of the leaves.
};

// Throws Error (without a file's name) for a tree that is too large for its content.
SparseLevelSet assemble_level_set(VdbTree tree);

// Takes the images of (0, 0, 0) and of the three unit steps in the world. Throws Error unless
// voxels are cubes along the axes. Returns their side.
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

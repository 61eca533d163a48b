// From a mesh to an asset: all that queries need, built once and kept in one file.
//
//   const TriangleMesh mesh = read_mesh("gear.stl").mesh;
//   const AssetResult gear = build_asset(mesh, {.field = {.resolution = 256}});
//   save_asset("gear.isotact", gear.asset);
//   const Shape shape = load_shape("gear.isotact");  // asset/load_shape.h
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isotact/asset/cache.h"
#include "isotact/export.h"
#include "isotact/field/build/asset_report.h"
#include "isotact/field/build/build_field.h"
#include "isotact/field/io/asset.h"
#include "isotact/field/voxmap/voxmap.h"
#include "isotact/pointshell/point_sphere_tree.h"

namespace ISOTACT_PUBLIC isotact {

enum class StoredField : std::uint8_t {
  kBrick,  // sparse and small: the one that all queries take
  kDense,  // a float at every node
  kNone,   // distances are not kept
};
std::string_view name(StoredField field);  // "brick", "dense", "none"

enum class PointMethod : std::uint8_t {
  kNone,       // no points are kept
  kRepulsion,  // evenly spread over the surface (sample_by_repulsion)
  kVoxels,     // from centres of surface voxels (sample_surface_voxels)
  kVertices,   // the mesh's own (sample_vertices)
};
std::string_view name(PointMethod method);  // "none", "repulsion", "voxels", "vertices"

struct PointSettings {
  PointMethod method = PointMethod::kRepulsion;
  std::uint32_t count = 0;  // points in all, of kRepulsion only; 0: by spacing
  // Metres between points; 0: two cells of the field. Of kVertices: between points on sharp edges;
  // 0: twice the mean spacing of the vertices.
  double spacing = 0;
  bool normals_from_field = false;  // else from the mesh; needs a brick field
  double sharp_degrees = ShellSettings{}.sharp_degrees;
  int cluster_size = PointSphereTreeSettings{}.cluster_size;
  SphereKind spheres = PointSphereTreeSettings{}.spheres;
};

// The defaults store a brick field, points two cells apart with their tree, mass properties, and
// the triangles: all that collide, distance and continuous_collide need.
struct AssetSettings {
  // Resolution, sign, padding, thin features, and the memory limit, threads, monitor and device of
  // the whole build.
  FieldSettings field{};
  StoredField stored_field = StoredField::kBrick;
  bool first_order = false;  // also store values and gradients at all nodes, in 16 bits
  std::optional<VoxmapSettings>
      voxmap{};  // also store a voxelmap; limits and threads are `field`'s
  PointSettings points{};
  bool mass = true;
  bool mesh = true;  // the mesh's own triangles with their hierarchy, for exact queries
  // Also stores an index of the brick field for segments and swept points, which takes about half
  // as much memory as the field (queries/segments/segment_index.h). Without it, each program that
  // needs one builds it, in the time of about 20 million cells per second.
  bool segment_index = false;
  // Finds the asset in the cache of builds, or stores it there (asset/cache.h).
  std::optional<CacheSettings> cache{};
};

struct AssetResult {
  Asset asset{};
  AssetReport report{};
  std::vector<std::string> warnings{};  // in words: the report's, those of points and cache, gaps
  bool from_cache = false;
  double seconds = 0;
};

// Describes in words what queries need and the asset does not have: a field, one whose cells show
// the body's shape, or anything at all. Empty for assets that all queries take.
std::vector<std::string> describe_gaps(const Asset& asset);

// Throws Error for settings that contradict each other, and as build_field, build_voxmap and the
// makers of points do; Cancelled when the monitor says so. The asset has the same bytes for any
// number of threads. Cost: that of build_field, and some microseconds per point.
AssetResult build_asset(const TriangleMesh& mesh, const AssetSettings& settings = {});

// The settings as text: all that the asset's bytes depend on, beside the mesh. For keys of the
// cache.
std::string describe(const AssetSettings& settings);

// Points of a prepared surface, as an asset keeps them. `cell` is the size in metres that a spacing
// of 0 is measured in. The brick field is for normals_from_field. Memory limit, threads and monitor
// are those of `settings`. Throws as the makers of points do.
PointSphereTree build_points(const Surface& surface, double cell,
                             const std::optional<BrickField>& field, const PointSettings& points,
                             const FieldSettings& settings);

// Writes the file in one step: readers see the old asset or the new one. The same asset gives the
// same bytes. Throws Error if the file cannot be written. (The same as write_asset, which lies
// beside read_asset in field/io/asset.h.)
void save_asset(const std::filesystem::path& path, const Asset& asset);

}  // namespace isotact

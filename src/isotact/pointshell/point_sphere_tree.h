// The point-sphere tree of SSL14 section 2.1.2, in one flat buffer that is file and memory at once.
//
// Points are grouped into clusters of about K, these into clusters of clusters, up to one root. A
// node has
//   * a sphere that holds ALL points below it (the smallest such; see SphereKind), to pass over
//     whole regions;
//   * one of the points below it as its representative, so that the nodes of each level, as
//     points, are a coarser sampling of the whole object.
//
// Layout. Levels are arrays, the root's first. The children of a node are contiguous on the next
// level, and so are all points below a node. Spheres lie in groups of eight lanes: node i is lane
// i % 8 of group i / 8. The children of a node begin at a multiple of `child_stride` (4, 8 or 16:
// room for as many as a node may have), so that one aligned load a coordinate fetches eight of
// them. Places that this leaves empty have child_count 0, and in their group the centre of the
// sibling before them with the radius kEmptyRadius. Tests that add to the radius fail there by
// themselves; tests that square it must mask by child_count.
//
//   std::vector<std::uint32_t> front{0};  // breadth first: nodes of one level that are not culled
//   for (int level = 0; level < tree.level_count(); ++level) {
//     const ShellLevel now = tree.level(level);
//     for (std::uint32_t i : front)
//       if (may_touch(sphere(now, i))) { ... now.nodes[i].first_child, child_count ... }
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "isotact/base/sphere.h"
#include "isotact/field/flat_buffer.h"
#include "isotact/pointshell/point_shell.h"

namespace isotact {

inline constexpr int kMaxShellLevels = 32;
inline constexpr int kMaxChildren = 16;
inline constexpr float kEmptyRadius = -1e30F;

// Eight spheres, metres. Floats are such that for every point p below, in float arithmetic without
// fused operations, (p.x - x)^2 + (p.y - y)^2 + (p.z - z)^2 <= radius^2, and in exact arithmetic
// too.
struct alignas(64) SphereGroup {
  float x[8], y[8], z[8], radius[8];
};
static_assert(sizeof(SphereGroup) == 128);

struct ShellNode {
  std::uint32_t first_child;  // on the next level; on the last one, its first point
  std::uint32_t child_count;  // 0: an empty place
  std::uint32_t first_point;
  std::uint32_t point_count;     // below
  std::uint32_t representative;  // a point
  std::uint32_t parent;          // on the level above; 0 for the root
  float area;                    // m^2: of all points below
  float reach;                   // metres: no point below is further from the representative
};
static_assert(sizeof(ShellNode) == 32);

enum class SphereKind : std::uint32_t {
  kPoints = 0,  // the smallest ball of the points below (SSL14)
  kNested = 1,  // the smallest ball of the children's balls (XB14's reference [BJ08]): larger, but
                // a child never sticks out of its parent
};

enum class Clustering : std::uint32_t {
  kNearness = 0,
  kNearnessAndNormal = 1,  // the two sides of a sheet mostly end in different clusters
};

// What the flat buffer begins with. Offsets are bytes from its start, multiples of 64.
struct ShellLevelEntry {
  std::uint32_t place_count;   // a multiple of 8; the root's level has 8
  std::uint32_t node_count;    // places that are not empty
  float mean_radius;           // metres
  float max_radius;            // metres
  std::uint64_t group_offset;  // SphereGroup[place_count / 8]
  std::uint64_t node_offset;   // ShellNode[place_count]
};
static_assert(sizeof(ShellLevelEntry) == 32);

struct PointSphereTreeHeader {
  char magic[8];          // "ISOSHELL"
  std::uint32_t version;  // 1
  std::uint32_t level_count;
  std::uint32_t point_count;
  std::uint32_t cluster_size;  // K
  std::uint32_t child_stride;  // 4, 8 or 16
  std::uint32_t max_children;  // of any node
  std::uint32_t sphere_kind;   // SphereKind
  std::uint32_t clustering;    // Clustering
  std::uint32_t edge_points;   // PointShell::edge_points
  std::uint32_t unused0;
  double covering_radius;  // metres
  double spacing;          // metres
  double surface_area;     // m^2
  std::uint64_t total_bytes;
  std::uint64_t x_offset;         // float[point_count] and then 16 zeros at least; so y and z
  std::uint64_t y_offset;         //
  std::uint64_t z_offset;         //
  std::uint64_t normal_offset;    // float[3][point_count], unit and outward, or zero
  std::uint64_t area_offset;      // float[point_count]
  std::uint64_t original_offset;  // std::uint32_t[point_count]: where it was in the shell
  std::uint64_t unused1[2];
  char how[128];  // PointShell::how, cut short, zeros behind
  std::uint8_t unused[240];
  ShellLevelEntry levels[kMaxShellLevels];  // zeros behind the last
};
static_assert(sizeof(PointSphereTreeHeader) == 1536 &&
              offsetof(PointSphereTreeHeader, covering_radius) == 48 &&
              offsetof(PointSphereTreeHeader, how) == 144 &&
              offsetof(PointSphereTreeHeader, levels) == 512);

// One level, as long as the tree lives. Places in [0, nodes.size()).
struct ShellLevel {
  std::span<const SphereGroup> groups{};
  std::span<const ShellNode> nodes{};
  std::uint32_t node_count = 0;  // that are not empty
};

struct Spheref {
  Vec3f center{};
  float radius = 0;
};
inline Spheref sphere(const ShellLevel& level, std::uint32_t place) {
  const SphereGroup& g = level.groups[place / 8];
  const std::uint32_t lane = place % 8;
  return {{g.x[lane], g.y[lane], g.z[lane]}, g.radius[lane]};
}

// Immutable; copies share the buffer. Any number of threads may read it.
class PointSphereTree {
 public:
  PointSphereTree() = default;  // empty: nothing may be asked of it

  // Takes a buffer aligned to 64 bytes and keeps `owner` alive with it. Throws Error where
  // find_flaw_in_point_sphere_tree names a flaw.
  static PointSphereTree from_buffer(std::span<const std::byte> buffer,
                                     std::shared_ptr<const void> owner, Check check = Check::kDeep);
  std::span<const std::byte> buffer() const { return buffer_; }
  FlatBuffer flat_buffer() const { return {buffer_, owner_}; }

  const PointSphereTreeHeader& header() const {
    return *reinterpret_cast<const PointSphereTreeHeader*>(buffer_.data());
  }
  int level_count() const { return static_cast<int>(header().level_count); }  // at least 1
  ShellLevel level(int level) const;  // 0: the root alone; level_count() - 1: clusters of points

  // Points in the tree's order. Sixteen floats behind the last one may be read as well, so that
  // eight or sixteen can be loaded from any place.
  std::uint32_t point_count() const { return header().point_count; }
  std::span<const float> x() const { return floats(header().x_offset); }
  std::span<const float> y() const { return floats(header().y_offset); }
  std::span<const float> z() const { return floats(header().z_offset); }
  Vec3f point(std::uint32_t i) const { return {x()[i], y()[i], z()[i]}; }
  std::span<const Vec3f> normals() const;  // unit, outward, or zero
  std::span<const float> areas() const { return floats(header().area_offset); }
  std::span<const std::uint32_t> original() const;  // the place of each point in the shell

  double covering_radius() const { return header().covering_radius; }
  // No surface point is further than this from a representative of the level: as coarse a shell as
  // the level is. Cost: one pass over the level.
  double covering_radius(int level) const;
  Spheref bounding_sphere() const { return sphere(level(0), 0); }  // of the points
  std::string_view how() const;

 private:
  std::span<const float> floats(std::uint64_t offset) const {
    return {reinterpret_cast<const float*>(buffer_.data() + offset), header().point_count};
  }

  std::span<const std::byte> buffer_{};
  std::shared_ptr<const void> owner_;
};

// What is wrong with a buffer that claims to be a tree: the part and the place, in words. kHeader
// also looks at the links of all nodes, so that no traversal leaves the buffer or runs in circles;
// kDeep (and kShallow) at every point in all of its spheres. Cost: some ten nanoseconds a node;
// deep some ten a point and level.
std::optional<std::string> find_flaw_in_point_sphere_tree(std::span<const std::byte> buffer,
                                                          Check check = Check::kDeep);

struct PointSphereTreeSettings {
  // K, 2 to 16. The papers have 4; with 8-wide tests 8 is faster.
  int cluster_size = 8;
  SphereKind spheres = SphereKind::kPoints;
  Clustering clustering = Clustering::kNearness;
  // For kNearnessAndNormal: normals at right angles count as this many spacings apart.
  double normal_weight = 4;
  // The outlier pass of SSL14 2.1.2. A child that is further from its parent's point than this
  // times the level's mean leaves its cluster, for the nearest cluster that is near enough and has
  // room, or for one of its own. 0: no such pass. It makes the largest spheres smaller, but there
  // must be room for more children than K, and splits leave few outliers: queries gain nothing.
  double outlier_factor = 0;
  std::uint64_t max_memory = 0;  // bytes; 0: what the machine has
  Threads threads{};
  Monitor monitor{};
};

// Clusters come from splitting the points in two, again and again, each time along the axis and at
// the place that leave the smallest boxes, as far as all fit into clusters of K. (SSL14 chains
// nearest neighbours, which leaves stragglers; the outlier pass mends those.) The same bytes for
// any number of threads. Throws Error for a shell that is empty, too large, of arrays of different
// lengths or not finite (coordinates up to 1e15), and for settings out of range. Cost: one to two
// microseconds a point on one thread.
PointSphereTree build_point_sphere_tree(const PointShell& shell,
                                        const PointSphereTreeSettings& settings = {});

}  // namespace isotact

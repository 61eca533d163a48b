// The point-sphere tree of SSL14 section 2.1.2, in one flat buffer that is file and memory at once.
//
// Points are grouped into clusters of about K, these into clusters of clusters, up to one root. A
// node has
//   * a sphere that contains ALL points below it (the smallest such sphere; see SphereKind), which
//     culls whole regions;
//   * one of the points below it as its representative. The nodes of each level, as points, are a
//     coarser sampling of the whole object.
//
// Layout. Levels are arrays, the root's first. The children of a node are contiguous on the next
// level, and so are all points below a node. Spheres lie in groups of eight lanes: node i is lane i
// % 8 of group i / 8. The children of a node begin at a multiple of `child_stride` (4, 8 or 16: the
// largest number of children, rounded up). One aligned load per coordinate therefore fetches eight
// of them. The remaining entries are empty: they have child_count 0, the centre of the sibling
// before them, and the radius kEmptyRadius. Tests that add to the radius fail there by themselves.
// Tests that square it must mask by child_count.
//
//   std::vector<std::uint32_t> front{0};  // Breadth first: nodes of one level that are not culled.
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

#include "isotact/base/aabb.h"
#include "isotact/export.h"
#include "isotact/field/flat_buffer.h"
#include "isotact/pointshell/point_shell.h"

namespace ISOTACT_PUBLIC isotact {

inline constexpr int kMaxShellLevels = 32;
inline constexpr int kMaxChildren = 16;
inline constexpr float kEmptyRadius = -1e30F;

// Eight spheres, metres. Every point p below satisfies (p.x - x)^2 + (p.y - y)^2 + (p.z - z)^2 <=
// radius^2. This holds in float arithmetic without fused operations and in exact arithmetic.
struct alignas(64) SphereGroup {
  float x[8], y[8], z[8], radius[8];
};
static_assert(sizeof(SphereGroup) == 128);

struct ShellNode {
  std::uint32_t first_child;  // On the next level. On the last level: its first point.
  std::uint32_t child_count;  // 0: an empty entry.
  std::uint32_t first_point;
  std::uint32_t point_count;     // All points below the node.
  std::uint32_t representative;  // Index of a point.
  std::uint32_t parent;          // On the level above; 0 for the root.
  float area;                    // m^2, sum over all points below.
  float reach;                   // Metres: no point below is further from the representative.
};
static_assert(sizeof(ShellNode) == 32);

enum class SphereKind : std::uint32_t {
  kPoints = 0,  // The smallest ball of the points below (SSL14).
  // The smallest ball of the children's balls (XB14's reference [BJ08]). It is larger, but a child
  // never sticks out of its parent.
  kNested = 1,
};

enum class Clustering : std::uint32_t {
  kNearness = 0,
  kNearnessAndNormal = 1,  // The two sides of a sheet are mostly in different clusters.
};

// Level table in the header of the flat buffer. Offsets are bytes from the buffer's start,
// multiples of 64.
struct ShellLevelEntry {
  std::uint32_t place_count;   // A multiple of 8. The root's level has 8.
  std::uint32_t node_count;    // Entries that are not empty.
  float mean_radius;           // Metres.
  float max_radius;            // Metres.
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
  std::uint32_t max_children;  // Largest number over all nodes.
  std::uint32_t sphere_kind;   // SphereKind
  std::uint32_t clustering;    // Clustering
  std::uint32_t edge_points;   // PointShell::edge_points
  std::uint32_t unused0;
  double covering_radius;  // Metres.
  double spacing;          // Metres.
  double surface_area;     // m^2
  std::uint64_t total_bytes;
  // float[point_count] and then at least 16 zeros, likewise for y and z.
  std::uint64_t x_offset;
  std::uint64_t y_offset;
  std::uint64_t z_offset;
  std::uint64_t normal_offset;    // float[3][point_count], unit and outward, or zero.
  std::uint64_t area_offset;      // float[point_count]
  std::uint64_t original_offset;  // std::uint32_t[point_count]: index in the shell.
  std::uint64_t unused1[2];
  char how[128];  // PointShell::how, truncated and padded with zeros.
  std::uint8_t unused[240];
  ShellLevelEntry levels[kMaxShellLevels];  // Zeros after the last level.
};
static_assert(sizeof(PointSphereTreeHeader) == 1536 &&
              offsetof(PointSphereTreeHeader, covering_radius) == 48 &&
              offsetof(PointSphereTreeHeader, how) == 144 &&
              offsetof(PointSphereTreeHeader, levels) == 512);

// One level, valid as long as the tree. Entries are in [0, nodes.size()).
struct ShellLevel {
  std::span<const SphereGroup> groups{};
  std::span<const ShellNode> nodes{};
  std::uint32_t node_count = 0;  // Entries that are not empty.
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
  PointSphereTree() = default;  // Empty. No other member may be called.

  // Takes a buffer aligned to 64 bytes and keeps `owner` alive with it. Throws Error if
  // find_flaw_in_point_sphere_tree finds a flaw.
  static PointSphereTree from_buffer(std::span<const std::byte> buffer,
                                     std::shared_ptr<const void> owner, Check check = Check::kDeep);
  std::span<const std::byte> buffer() const { return buffer_; }
  FlatBuffer flat_buffer() const { return {buffer_, owner_}; }

  const PointSphereTreeHeader& header() const {
    return *reinterpret_cast<const PointSphereTreeHeader*>(buffer_.data());
  }
  int level_count() const { return static_cast<int>(header().level_count); }  // At least 1.
  ShellLevel level(int level) const;  // 0: the root alone; level_count() - 1: clusters of points.

  // Points in the order of the tree. Sixteen floats after the last one may be read as well, so that
  // eight or sixteen can be loaded from any position.
  std::uint32_t point_count() const { return header().point_count; }
  std::span<const float> x() const { return floats(header().x_offset); }
  std::span<const float> y() const { return floats(header().y_offset); }
  std::span<const float> z() const { return floats(header().z_offset); }
  Vec3f point(std::uint32_t i) const { return {x()[i], y()[i], z()[i]}; }
  std::span<const Vec3f> normals() const;  // Unit and outward, or zero.
  std::span<const float> areas() const { return floats(header().area_offset); }
  std::span<const std::uint32_t> original() const;  // Index of each point in the shell.

  double covering_radius() const { return header().covering_radius; }
  // Returns a distance such that no surface point is further from a representative of the level. It
  // is the covering radius of the level as a coarse shell. Cost: one pass over the level.
  double covering_radius(int level) const;
  Spheref bounding_sphere() const { return sphere(level(0), 0); }  // Sphere of the points.
  std::string_view how() const;

 private:
  std::span<const float> floats(std::uint64_t offset) const {
    return {reinterpret_cast<const float*>(buffer_.data() + offset), header().point_count};
  }

  std::span<const std::byte> buffer_{};
  std::shared_ptr<const void> owner_;
};

// Returns a flaw of a buffer that claims to be a tree: the part and its index, in words. With
// kHeader it also checks the links of all nodes, so that no traversal leaves the buffer or runs in
// circles. With kDeep or kShallow it checks every point in all of its spheres. Cost: about ten
// nanoseconds per node; deep checks take about ten more per point and level.
std::optional<std::string> find_flaw_in_point_sphere_tree(std::span<const std::byte> buffer,
                                                          Check check = Check::kDeep);

struct PointSphereTreeSettings {
  // K, 2 to 16. The papers use 4. With 8-wide tests, 8 is faster.
  int cluster_size = 8;
  SphereKind spheres = SphereKind::kPoints;
  Clustering clustering = Clustering::kNearness;
  // For kNearnessAndNormal: normals at right angles count as this many spacings apart.
  double normal_weight = 4;
  // The outlier pass of SSL14 2.1.2. A child leaves its cluster if it is further from its parent's
  // point than this factor times the level's mean. It joins the nearest cluster that is near enough
  // and has a free entry, or forms its own. 0: no such pass. It makes the largest spheres smaller,
  // but nodes then need capacity for more children than K. Splits leave few outliers: queries gain
  // nothing.
  double outlier_factor = 0;
  std::uint64_t max_memory = 0;  // Bytes. 0: the memory of the machine.
  Threads threads{};
  Monitor monitor{};
};

// Builds clusters by splitting the points in two, recursively, until clusters of K remain. Each
// split uses the axis and position with the smallest boxes for which all points fit. (SSL14 chains
// nearest neighbours, which leaves stragglers; the outlier pass corrects those.) Results have the
// same bytes for any number of threads. Throws Error for a shell that is empty, too large, not
// finite (coordinates up to 1e15), or has arrays of different lengths. Also throws for settings out
// of range. Cost: one to two microseconds per point on one thread.
PointSphereTree build_point_sphere_tree(const PointShell& shell,
                                        const PointSphereTreeSettings& settings = {});

}  // namespace isotact

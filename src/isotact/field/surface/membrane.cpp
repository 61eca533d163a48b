#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <utility>

#include "isotact/base/disjoint_sets.h"
#include "isotact/field/surface/detail/level_sheet.h"
#include "isotact/field/surface/detail/phase.h"
#include "isotact/field/surface/detail/surface_passes.h"

namespace isotact::surface_detail {
namespace {

constexpr std::uint32_t kNone = 0xffffffffU;
// Aimed at; two or three triangles each. More where membranes may run between rims.
constexpr double kCellsARim = 400, kCellsARimOfMany = 1000;
constexpr double kPiecesARim = 400;        // that its edges are cut into at most, or so
constexpr std::size_t kMostPieces = 4096;  // of one rim edge
constexpr double kMostWork = 2e7;          // cells times the cost of a phase, for one try
constexpr double kWorkInAll = 3e7;         // about two seconds

// Rims near each other, which may share a membrane, as the two ends of a short tube do.
using Group = std::vector<Rim>;

class RimGraph {
 public:
  void add(std::uint32_t a, std::uint32_t b) {
    neighbours_[a].push_back(b);
    neighbours_[b].push_back(a);
  }

  // The vertices of a shortest way from a to b, both included; empty where it is long.
  std::vector<std::uint32_t> find_path(std::uint32_t a, std::uint32_t b) const {
    constexpr std::size_t kMostVisits = 2000;
    struct Visit {
      std::uint32_t vertex;
      std::size_t previous;
    };
    std::vector<Visit> visits{{a, 0}};
    std::unordered_map<std::uint32_t, bool> seen{{a, true}};
    for (std::size_t i = 0; i < visits.size() && visits.size() < kMostVisits; ++i) {
      if (visits[i].vertex == b) {
        std::vector<std::uint32_t> path{b};
        for (; i != 0; path.push_back(visits[i].vertex)) i = visits[i].previous;
        std::reverse(path.begin(), path.end());
        return path;
      }
      for (const std::uint32_t n : neighbours_.at(visits[i].vertex))
        if (seen.emplace(n, true).second) visits.push_back({n, i});
    }
    return {};
  }

  bool contains(std::uint32_t v) const { return neighbours_.contains(v); }

 private:
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> neighbours_;
};

// Rim vertices by cells of a lattice.
class NearestVertex {
 public:
  explicit NearestVertex(const SheetSettings& lattice) : lattice_(lattice) {}

  void add(std::uint32_t vertex, const Vec3& p) {
    cells_[key_of(cell_of(p, lattice_))].push_back({vertex, p});
  }

  // kNone where there is none in the cells around.
  std::uint32_t find(const Index3& cell) const {
    const double h = lattice_.spacing;
    const Vec3 middle =
        lattice_.origin + Vec3{h * (cell[0] + 0.5), h * (cell[1] + 0.5), h * (cell[2] + 0.5)};
    std::uint32_t best = kNone;
    double best_sq = 0;
    for (int dz = -kReach; dz <= kReach; ++dz)
      for (int dy = -kReach; dy <= kReach; ++dy)
        for (int dx = -kReach; dx <= kReach; ++dx) {
          const auto it = cells_.find(key_of({cell[0] + dx, cell[1] + dy, cell[2] + dz}));
          if (it == cells_.end()) continue;
          for (const auto& [vertex, p] : it->second) {
            const double d = length_sq(p - middle);
            if (best != kNone && d >= best_sq) continue;
            best = vertex;
            best_sq = d;
          }
        }
    return best;
  }

 private:
  static constexpr int kReach = 2;
  struct Entry {
    std::uint32_t vertex;
    Vec3 position;
  };
  SheetSettings lattice_;
  std::unordered_map<std::uint64_t, std::vector<Entry>> cells_;
};

// Closes one group along the level sheet.
class GroupCloser {
 public:
  GroupCloser(const TriangleMesh& mesh, const WindingPhase& phase, const Group& group,
              const SheetSettings& lattice, double tolerance)
      : mesh_(mesh), phase_(phase), lattice_(lattice), tolerance_(tolerance), nearest_(lattice) {
    for (const Rim& rim : group)
      for (const NetEdge& e : rim.edges) add_rim_edge(e);
  }

  // Nothing where the sheet is too large. Where it ends elsewhere than on these rims, something is
  // left open.
  std::optional<Patch> run(std::size_t& cells) {
    const LevelSheet sheet = trace_level_sheet(phase_, seeds_, lattice_);
    cells = sheet.cells.size();
    if (!sheet.complete) return std::nullopt;
    place_cells(sheet);
    for (const auto& quad : sheet.quads) add_quad(quad);
    join_to_rims();
    refine(patch_, mesh_, phase_,
           {.tolerance = tolerance_,
            .max_triangles = 2 * patch_.triangles.size() + 1000,
            .threads = lattice_.threads});
    patch_.triangles.insert(patch_.triangles.end(), slivers_.begin(), slivers_.end());
    return std::move(patch_);
  }

 private:
  Vec3 position(std::uint32_t v) const {
    return to_double(v < mesh_.positions.size() ? mesh_.positions[v]
                                                : patch_.positions[v - mesh_.positions.size()]);
  }

  std::uint32_t add_position(const Vec3& p) {
    patch_.positions.push_back(to_float(p));
    return static_cast<std::uint32_t>(mesh_.positions.size() + patch_.positions.size() - 1);
  }

  void add_triangle(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    if (a != b && b != c && c != a) patch_.triangles.push_back({a, b, c});
  }

  // Cuts long edges into pieces, joined to the edge by triangles without area.
  void add_rim_edge(const NetEdge& e) {
    const Vec3 a = position(e.from), b = position(e.to);
    const double pieces_wanted = std::ceil(length(b - a) / lattice_.spacing);
    const auto pieces =
        static_cast<std::size_t>(std::clamp(pieces_wanted, 1.0, static_cast<double>(kMostPieces)));
    std::uint32_t last = e.from;
    for (std::size_t i = 1; i <= pieces; ++i) {
      const double t = static_cast<double>(i) / static_cast<double>(pieces);
      const std::uint32_t next = i == pieces ? e.to : add_position(lerp(a, b, t));
      if (i > 1) slivers_.insert(slivers_.end(), e.excess, Triangle{e.from, last, next});
      add_rim_piece(last, next);
      last = next;
    }
  }

  void add_rim_piece(std::uint32_t a, std::uint32_t b) {
    rim_.add(a, b);
    nearest_.add(a, position(a));
    nearest_.add(b, position(b));
    seeds_.push_back(position(a));
    seeds_.push_back((position(a) + position(b)) / 2);
  }

  void place_cells(const LevelSheet& sheet) {
    vertex_of_.assign(sheet.cells.size(), kNone);
    for (std::size_t c = 0; c < sheet.cells.size(); ++c) {
      const SheetCell& cell = sheet.cells[c];
      if (!cell.crossed) continue;
      if (cell.pierced) vertex_of_[c] = nearest_.find(cell.index);
      if (vertex_of_[c] == kNone) vertex_of_[c] = add_position(cell.vertex);
    }
  }

  void add_quad(const std::array<std::uint32_t, 4>& quad) {
    std::array<std::uint32_t, 4> v{};
    for (std::size_t i = 0; i < 4; ++i) v[i] = vertex_of_[quad[i]];
    const double d02 = length_sq(position(v[0]) - position(v[2]));
    const double d13 = length_sq(position(v[1]) - position(v[3]));
    if (d13 < d02) std::rotate(v.begin(), v.begin() + 1, v.end());
    add_triangle(v[0], v[1], v[2]);
    add_triangle(v[0], v[2], v[3]);
  }

  // The sheet ends in edges between rim vertices that need not be neighbours: what lies between
  // such an edge and the rim is filled by a fan.
  void join_to_rims() {
    for (const NetEdge& e : compute_net(patch_.triangles)) {
      if (!rim_.contains(e.from) || !rim_.contains(e.to)) continue;
      const std::vector<std::uint32_t> path = rim_.find_path(e.to, e.from);
      for (std::uint32_t k = 0; k < e.excess; ++k)
        for (std::size_t i = 2; i < path.size(); ++i) add_triangle(path[0], path[i], path[i - 1]);
    }
  }

  const TriangleMesh& mesh_;
  const WindingPhase& phase_;
  SheetSettings lattice_;
  double tolerance_;
  NearestVertex nearest_;
  RimGraph rim_;
  std::vector<Vec3> seeds_;
  std::vector<std::uint32_t> vertex_of_;  // of the sheet's cells
  std::vector<Triangle> slivers_;         // between rim edges and their pieces
  Patch patch_;
};

// Closes rims that need no sheet: those within a voxel, and slits narrower than half of one. The
// others are returned.
std::vector<Rim> close_small(TriangleMesh& mesh, std::span<const Rim> rims, double voxel_size) {
  std::vector<Rim> wide;
  for (const Rim& rim : rims) {
    if (rim.radius <= voxel_size) {
      add_fan(mesh, rim);
      continue;
    }
    const NarrowFill fill = compute_narrow_fill(mesh, rim);
    if (fill.width <= voxel_size / 2)
      mesh.triangles.insert(mesh.triangles.end(), fill.triangles.begin(), fill.triangles.end());
    else
      wide.push_back(rim);
  }
  return wide;
}

// Adds the patch, and closes what it leaves open as far as that is small. The rest is returned.
std::vector<Rim> add_patch(TriangleMesh& mesh, const Group& group, const Patch& patch,
                           double voxel_size) {
  mesh.positions.insert(mesh.positions.end(), patch.positions.begin(), patch.positions.end());
  mesh.triangles.insert(mesh.triangles.end(), patch.triangles.begin(), patch.triangles.end());
  std::vector<NetEdge> edges = compute_net(patch.triangles);
  for (const Rim& rim : group) edges.insert(edges.end(), rim.edges.begin(), rim.edges.end());
  return close_small(mesh, gather_rims(mesh, sum_edges(std::move(edges))), voxel_size);
}

// Of a cell near the group, in rim edges of its phase: those of a few rims around, a dipole for
// each other, and what a cell costs besides.
double cell_cost(const Group& group) {
  double edges = 0;
  for (const Rim& rim : group) edges += static_cast<double>(rim.edges.size());
  const auto rims = static_cast<double>(group.size());
  return std::min(edges, 3 * edges / rims) + 2 * rims + 100;
}

SheetSettings choose_lattice(const Group& group, const MembraneSettings& settings) {
  double area = 0, perimeter = 0, edges = 0, smallest = group[0].radius;
  Vec3 corner = group[0].center;
  for (const Rim& rim : group) {
    area += rim.fan_area;
    perimeter += rim.perimeter;
    edges += static_cast<double>(rim.edges.size());
    smallest = std::min(smallest, rim.radius);
    corner = min(corner, rim.center);
  }
  const auto rims = static_cast<double>(group.size());
  // Smooth membranes need no more cells than this, but one along a jagged rim follows its teeth.
  const double smooth =
      std::sqrt(area / ((group.size() == 1 ? kCellsARim : kCellsARimOfMany) * rims));
  const double jagged = std::max(perimeter / edges / 2, smooth / 4);
  // A sheet takes some five cells for each that it crosses squarely, its rims some ten a piece.
  const double most = kMostWork / cell_cost(group);
  const double affordable = std::max(
      {perimeter / (kPiecesARim * rims), std::sqrt(10 * area / most), 20 * perimeter / most});
  const double voxel = settings.voxel_size;
  const double fine = std::clamp(smallest / 3, voxel / 2, 2 * voxel);
  const double spacing = std::max({fine, affordable, std::min(smooth, jagged)});
  // The shift keeps nodes off planes and edges that many meshes have at round numbers.
  return {.origin = corner + Vec3{0.3771, 0.6137, 0.4593} * spacing,
          .spacing = spacing,
          .threads = settings.threads,
          .monitor = settings.monitor};
}

double total_radius(std::span<const Rim> rims) {
  double total = 0;
  for (const Rim& rim : rims) total += rim.radius;
  return total;
}

// Tries finer lattices (coarser, as long as the sheet is too large), and takes the first that
// leaves nothing open, or else the one that leaves least. Returns what is left.
std::vector<Rim> close_group(TriangleMesh& mesh, const WindingPhase& phase, const Group& group,
                             const MembraneSettings& settings, double& work_left) {
  constexpr int kTries = 3;
  SheetSettings lattice = choose_lattice(group, settings);
  std::vector<Rim> least = group;
  const std::size_t positions = mesh.positions.size(), triangles = mesh.triangles.size();
  std::optional<Patch> best;
  const double cost = cell_cost(group);
  for (int i = 0; i < kTries && work_left > 0; ++i) {
    lattice.max_cells = static_cast<std::size_t>(std::min(work_left, kMostWork) / cost) + 1000;
    std::size_t cells = 0;
    std::optional<Patch> patch =
        GroupCloser(mesh, phase, group, lattice, settings.voxel_size / 4).run(cells);
    work_left -= static_cast<double>(cells) * cost;
    if (!patch && best) break;
    lattice.spacing *= patch ? 0.5 : 2.5;
    if (!patch) continue;
    std::vector<Rim> open = add_patch(mesh, group, *patch, settings.voxel_size);
    if (open.empty()) return {};
    mesh.positions.resize(positions);
    mesh.triangles.resize(triangles);
    if (total_radius(open) >= total_radius(least)) continue;
    least = std::move(open);
    best = std::move(patch);
  }
  return best ? add_patch(mesh, group, *best, settings.voxel_size) : least;
}

std::vector<Group> group_rims(std::span<const Rim> rims) {
  constexpr std::size_t kMostPairs = 4'000'000;
  constexpr double kNear = 1.1;
  DisjointSets sets(rims.size());
  const bool too_many = rims.size() * rims.size() > kMostPairs;
  for (std::uint32_t i = 1; i < rims.size(); ++i)
    for (std::uint32_t k = too_many ? i - 1 : 0; k < i; ++k)
      if (too_many ||
          length(rims[i].center - rims[k].center) < kNear * (rims[i].radius + rims[k].radius))
        sets.join(i, k);
  std::vector<Group> groups;
  std::vector<std::size_t> group_of(rims.size());
  for (std::uint32_t i = 0; i < rims.size(); ++i) {
    const std::uint32_t root = sets.find(i);
    if (root == i) {
      group_of[i] = groups.size();
      groups.emplace_back();
    }
    groups[group_of[root]].push_back(rims[i]);
  }
  return groups;
}

}  // namespace

MembraneReport add_membranes(TriangleMesh& mesh, std::span<const Rim> rims,
                             const MembraneSettings& settings) {
  std::vector<Rim> open = close_small(mesh, rims, settings.voxel_size);
  // What the first round leaves open are fewer and other rims, of a mesh that has membranes now.
  constexpr int kRounds = 2;
  double work_left = kWorkInAll;
  for (int round = 0; round < kRounds && !open.empty(); ++round) {
    const WindingPhase phase(mesh, open);
    std::vector<Rim> left;
    for (const Group& group : group_rims(open)) {
      settings.monitor.check();
      const std::vector<Rim> rest = close_group(mesh, phase, group, settings, work_left);
      left.insert(left.end(), rest.begin(), rest.end());
    }
    open = std::move(left);
  }
  for (const Rim& rim : open) add_fan(mesh, rim);
  return {.plain = open.size()};
}

}  // namespace isotact::surface_detail

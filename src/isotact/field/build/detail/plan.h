// The plan of a build: its lattice, and the memory and time that it will need.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isotact/field/build/build_field.h"
#include "isotact/field/build/detail/kernel_types.h"
#include "isotact/field/lattice.h"
#include "isotact/field/models/brick_field.h"
#include "isotact/field/surface/surface.h"
#include "isotact/geometry/bvh/bvh.h"

namespace isotact::detail {

// Every fine cell with a point in the band must have eight exact corners, which are this much
// further away at most. A corner is exact if all coarse cells that share it have bricks, and those
// have a point as near as the corner.
inline constexpr double kCellDiagonal = 1.7320508075688773;

// Throws Error for settings that no mesh could satisfy, and for a lattice that is too large.
// The box is padded by at least band + 2 cells whatever the settings say. So cells with points in
// the band do not touch its sides, where bricks end.
Lattice make_lattice(const Aabb& box, const FieldSettings& settings);

// The same cells, and more of them if the prepared surface needs them. Membranes may leave the box
// of the mesh. A shell is the surface itself, so that the box must hold it.
Lattice make_room(const Lattice& lattice, const Aabb& mesh_bounds, const Surface& surface,
                  const FieldSettings& settings);

// Throws Error unless the lattice is one for bricks. Also throws unless its box reaches band + 2
// cells beyond the surface, and beyond the `offset` metres by which that is grown.
void check_room(const Lattice& l, const Surface& surface, double band, double offset);

// The distance up to which near_error is valid, cells of `spacing` metres.
double reach_of(const FieldSettings& settings, double spacing);

// At least the near_error of a field on this lattice, metres. Whoever measures distances, the
// rounding of it is below 2^-19 of the lattice's width.
double bound_near_error(const Lattice& lattice);

struct MeshSize {
  double area = 0;  // square metres
  Vec3 extent{};    // metres
  std::size_t triangles = 0;
};
MeshSize compute_size(const TriangleMesh& mesh);

// Beside the field itself.
std::uint64_t working_bytes(const Lattice& lattice, std::size_t triangles);

// Estimates memory and time of a build; see FieldPlan.
FieldPlan estimate(const Lattice& lattice, const MeshSize& mesh, const FieldSettings& settings);

// Throws Error if the settings have an accuracy, and a build of `needed` bytes, which the estimate
// has as `plan.memory`, exceeds `slack` times the limit. The message has the accuracy that fits.
void check_accuracy(double needed, double slack, const FieldPlan& plan, const MeshSize& mesh,
                    const FieldSettings& settings);

// From which distance coarse nodes are sparse (sparse_nodes.h), cells; 0: nowhere. So far away no
// cell has a brick. The corners of 2^3 coarse cells are within 28 cells of any point in them. So
// none with a point marked as in the band is sparse (marks reach too far by a factor of sqrt(2) at
// most). Nor is one that passes for creased (marking.cpp): it is at most half a side over the
// tolerance and two sides away. The loss of interpolation over sides of 16 cells to a crease is
// then within the tolerance, too.
double compute_sparse_distance(const Lattice& lattice, const FieldSettings& settings,
                               double offset_cells);

// Returns the size of the buffer of a brick field.
std::uint64_t field_bytes(const Index3& coarse_cells, std::size_t bricks);

// Throws Error where `needed` bytes are more than the settings allow.
void check_memory(std::uint64_t needed, const FieldSettings& settings, const char* what);

// Which coarse cells need bricks. One bit per cell, in the order of BrickBlocks.

class CellBits {
 public:
  CellBits() = default;
  explicit CellBits(const Index3& cells);

  const Index3& cells() const { return cells_; }
  std::span<const std::uint64_t> words() const { return words_; }
  std::span<std::uint64_t> words() { return words_; }
  bool at(const Index3& cell) const;  // from any thread
  void set(const Index3& cell);       // from any thread
  void clear(const Index3& cell);
  std::size_t count_set() const;

  std::size_t word_of(const Index3& cell) const;
  static unsigned bit_of(const Index3& cell);

 private:
  Index3 cells_{}, blocks_{};
  std::vector<std::uint64_t> words_;
};

// Marks every coarse cell with a point nearer to a triangle than `reach` (in fine cells), and
// others that seem to have one. A triangle's plane and box decide, and for large triangles the
// distance from the cell's centre. Each of these is a lower bound of the distance between cell and
// triangle, so none that is near enough is missed.
void mark_near(const TriangleMesh& mesh, const Lattice& lattice, double reach, Threads threads,
               CellBits& bits);

// The rule for cells without brick beyond the band.
struct DoubtRule {
  double range = 0;         // metres: distances that count
  double offset = 0;        // metres: |value + offset| is the distance to the triangles
  double allowed = 0;       // metres: the error of the interpolant beyond that of its samples
  double sample_error = 0;  // metres
};
// Marks every coarse cell with a point in the range in which the error of the coarse interpolant is
// not proved to be as allowed. Also marks the 26 cells around each. Let d be the distance, x_i the
// cell's corners and w_i the trilinear weights of a point x. So x = sum w_i x_i, and let c = sum
// w_i d(x_i).
//
// c is not much too large. Over surface points y, d^2 is a minimum of |x - y|^2. So d^2 - |x|^2 is
// a minimum of affine functions, and concave:
//   d^2 >= sum w_i d(x_i)^2 - sum w_i |x_i - x|^2 >= c^2 - s^2, s^2 <= 3/4 side^2 = 48 cells^2.
// c - sqrt(c^2 - s^2) falls with c, so with the nearest corner at m: over = m - sqrt(m^2 - s^2).
// No point is further than s from all corners, so if m > s the cell has no surface and one sign.
//
// Nor too small. For any surface point y, d(x) <= |x - y|, which is convex in x:
//   d(x) - c <= sum w_i (|x_i - y| - d(x_i)) <= max (|x_i - y| - d(x_i)) = under.
// The y nearest to the cell's centre is a good one.
//
// Cells beside a marked one have a brick. Some of its nodes are of the coarse interpolant, on faces
// that they share with cells without brick. The rest is exact. A value there is the mean of v_i,
// each c_i or d_i, with c the mean of the c_i. Since d_i <= c_i + under, the mean is at most c +
// under <= d + over + under. Since d_i >= c_i - over, it is at least c - over >= d - under - over.
// Hence a cell passes if over + under is allowed. A cell that does not pass has exact nodes only,
// since all cells around it have bricks.
void mark_doubts(std::span<const float> coarse, const Lattice& coarse_lattice, const Bvh& bvh,
                 const DoubtRule& rule, Threads threads, CellBits& bits);

// Marks cells in which the coarse interpolant is estimated to be off by more than `tolerance` times
// the distance. If the surface is far, the field is a smooth function but for creases, at which it
// passes from one nearest part to another. On a crease between unit slopes g and g' the slope of
// the interpolant is about their mean. The interpolant is then off by about half a cell's side
// times |g - g'| / 2 = sqrt(1 - |mean|^2). This is only an estimate: the guarantee is far_error.
void mark_creases(std::span<const float> coarse, const Lattice& coarse_lattice, double tolerance,
                  Threads threads, CellBits& bits);
// The same for one cell.
bool is_creased(std::span<const float> coarse, const Lattice& coarse_lattice, double tolerance,
                const Index3& cell);

}  // namespace isotact::detail

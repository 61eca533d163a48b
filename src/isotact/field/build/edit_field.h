// Local edits: some triangles of a mesh are replaced, and only the affected part of the field is
// rebuilt.
//
// The field afterwards is the one that a build from the edited mesh would give on the same lattice,
// byte for byte. This is possible because every sample is a minimum over triangles that does not
// depend on any other sample. A sample stays unchanged unless a removed triangle was nearest or an
// added one comes as near. Signs stay as well. Both surfaces are closed and agree outside of the
// edit, so their difference is closed too, and so is each of its connected pieces. A closed piece
// winds around points of its own box alone, and all samples in these boxes are recomputed.
//
// Cost, on one thread. Proportional to the edit are distances, signs, shared faces, ranges and the
// tree. Proportional to the mesh are the search for holes and flipped parts (prepare_surface, about
// 0.1 microseconds per triangle) and the comparison of its results. Proportional to the field are
// copying it (memory bandwidth) and visiting each coarse node and brick once (some nanoseconds
// each). Holes that the edit opens or closes are handled like the rest: membranes that change count
// as edited.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "isotact/export.h"
#include "isotact/field/build/build_field.h"

namespace ISOTACT_PUBLIC isotact {

struct EditReport {
  // True if the method that finds the sign changed, or most of the surface: everything was rebuilt.
  bool full_rebuild = false;
  std::string reason{};                // The reason for that.
  std::size_t removed_triangles = 0;   // Triangles of the prepared surface, membranes included.
  std::size_t added_triangles = 0;     // The same.
  Aabb changed{};                      // Box of these triangles; empty if nothing changed.
  std::size_t coarse_nodes_built = 0;  // Nodes of the coarse level.
  std::size_t bricks = 0;              // In the field now.
  std::size_t bricks_built = 0;        // Recomputed.
  // Bricks for which at least shared samples were checked.
  std::size_t bricks_bound = 0;
  SignReport sign{};  // Report of the edited surface.
  double seconds = 0;
  // Coarse cells, x fastest, whose corners, samples or brick may differ from those before. All
  // others have the same bytes. Empty if everything was rebuilt.
  std::vector<Index3> changed_cells{};
  std::uint64_t header_before = 0;  // hash_bytes of the header of the field before.
};

// Contains mesh, field, and the data that edits need. These are the hierarchy (some 160 bytes per
// triangle) and the crossings of grid lines with the surface (some 20 bytes per line). Two threads
// must not use it at once. The field may be copied and read by any thread, and copies of earlier
// fields stay unchanged.
class EditableField {
 public:
  // The lattice is the one of a build from this mesh and does not change later: leave padding if
  // the mesh will grow. Thin walls are not searched for. Throws as build_field does, and if the
  // settings ask to keep thin walls. Costs about one and a third builds.
  explicit EditableField(TriangleMesh mesh, const FieldSettings& settings = {});
  EditableField(EditableField&&) noexcept;
  EditableField& operator=(EditableField&&) noexcept;
  ~EditableField();

  const BrickField& field() const;
  const TriangleMesh& mesh() const;   // As edited so far.
  const FieldReport& report() const;  // Report of the last build from scratch.

  // Removes the triangles of mesh() with the given numbers, in any order, and appends those of
  // another mesh. Throws Error, with nothing changed, for numbers that mesh() does not have. So it
  // does for triangles nearer to the box's sides than band + 2 cells (and the shell). Also throws
  // as prepare_surface does and, if everything is rebuilt, as build_field does. Throws Cancelled,
  // with nothing changed, if the token of the settings' monitor was set. After std::bad_alloc the
  // object may only be destroyed. The settings' memory limit applies to the new field alone, and
  // only if everything is rebuilt: the previous field exists beside it for a moment.
  EditReport replace_triangles(std::span<const std::uint32_t> removed, const TriangleMesh& added);
  // Removes all triangles that lie in a box, including those that touch its sides.
  EditReport replace_triangles(const Aabb& box, const TriangleMesh& added);
  // Brings the field to another version of the mesh: it is computed anew only where triangles
  // differ, whatever their order is. Throws as replace_triangles does.
  EditReport replace_mesh(const TriangleMesh& next);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Returns the numbers of the triangles with all three corners in the box, in ascending order.
std::vector<std::uint32_t> find_triangles_inside(const TriangleMesh& mesh, const Aabb& box);

}  // namespace isotact

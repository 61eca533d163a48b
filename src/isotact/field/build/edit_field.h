// Local edits: some triangles of a mesh are replaced, and only what they touch is built anew.
//
// The field afterwards is the one that a build from the edited mesh would give on the same lattice,
// byte for byte. It can be, since every sample is a minimum over triangles that does not depend on
// any other sample: it stays what it was unless a removed triangle was nearest or an added one
// comes as near. Signs stay as well. Both surfaces are closed and agree where nothing was edited,
// so their difference is closed too, and so is each of its connected pieces; a closed piece winds
// around points of its own box alone, and all samples in these boxes are computed anew.
//
// Cost, on one thread: in proportion to the edit are distances, signs, shared faces, ranges and the
// tree; in proportion to the mesh the search for holes and flipped parts (prepare_surface, about
// 0.1 microseconds a triangle) and for what came of them; in proportion to the field copying it
// (memory bandwidth) and looking at each coarse node and brick once (some nanoseconds each). Holes
// that the edit opens or closes are handled like the rest: membranes that change count as edited.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "isotact/field/build/build_field.h"

namespace isotact {

struct EditReport {
  // Where the way the sign is found changed, or most of the surface: all was built anew.
  bool full_rebuild = false;
  std::string reason{};                // of that, in words
  std::size_t removed_triangles = 0;   // of the prepared surface, membranes included
  std::size_t added_triangles = 0;     // the same
  Aabb changed{};                      // of these triangles; empty where nothing changed
  std::size_t coarse_nodes_built = 0;  // of the coarse level
  std::size_t bricks = 0;              // in the field now
  std::size_t bricks_built = 0;        // computed anew
  std::size_t bricks_bound = 0;        // of which at least shared samples were looked at
  SignReport sign{};                   // of the edited surface
  double seconds = 0;
};

// Holds mesh, field, and what edits need: the hierarchy (some 160 bytes a triangle) and where grid
// lines cross the surface (some 20 bytes a line). Not for use by two threads at once; the field may
// be copied and read by any, and copies of earlier fields stay as they are.
class EditableField {
 public:
  // The lattice is the one of a build from this mesh and does not change later: leave padding where
  // the mesh is to grow. Thin walls are not looked for. Throws as build_field does, and where they
  // are to be kept. Costs about one and a third builds.
  explicit EditableField(TriangleMesh mesh, const FieldSettings& settings = {});
  EditableField(EditableField&&) noexcept;
  EditableField& operator=(EditableField&&) noexcept;
  ~EditableField();

  const BrickField& field() const;
  const TriangleMesh& mesh() const;   // as edited so far
  const FieldReport& report() const;  // of the last build from scratch

  // Takes out the triangles of mesh() with the given numbers, in any order, and puts those of
  // another mesh in, behind the others. Throws Error, with nothing changed, for numbers that mesh()
  // does not have, triangles nearer to the box's sides than band + 2 cells (and the shell), and as
  // prepare_surface and, where all is built anew, build_field do; Cancelled, with nothing changed,
  // when the settings' monitor says so. After std::bad_alloc the object may only be destroyed. The
  // settings' memory limit counts for the new field alone, and only where all is built anew:
  // besides it there is for a moment the one before.
  EditReport replace_triangles(std::span<const std::uint32_t> removed, const TriangleMesh& added);
  // Takes out all triangles that lie in a box, touching its sides or not.
  EditReport replace_triangles(const Aabb& box, const TriangleMesh& added);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Numbers of the triangles with all three corners in the box, in ascending order.
std::vector<std::uint32_t> find_triangles_inside(const TriangleMesh& mesh, const Aabb& box);

}  // namespace isotact

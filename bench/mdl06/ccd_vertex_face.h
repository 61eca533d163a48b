// Exact-rational vertex-face queries (08_ccd in the data folder; Wang et al., A Large Scale
// Benchmark and an Inclusion-Based Algorithm for Continuous Collision Detection, 2021): a vertex
// and a triangle, all four points moving straight from their places at t0 to those at t1, and
// whether they meet.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <vector>

#include "isotact/base/vec.h"

namespace isotact::bench {

struct VertexFaceQuery {
  std::array<Vec3, 4> at_t0{}, at_t1{};  // the vertex, then the corners
  bool meets = false;                    // the truth, by exact arithmetic
};

struct VertexFaceFile {
  std::vector<VertexFaceQuery> queries;
  // Coordinates that had to be rounded. Both integers of a fraction are read as long double (64
  // bits) and divided there, and the quotient is rounded to double; each step is checked.
  std::size_t rounded = 0;
};
// Throws Error with the line of what is not such a file.
VertexFaceFile read_vertex_face(const std::filesystem::path& file);

// Queries of the same kind where there are no files: one half meets at half time, the other never
// does. Coordinates are small integers over 64, so that the truth is exact. `is_edges`: the first
// two points and the last two are edges.
VertexFaceFile make_stand_in(std::size_t count, bool is_edges);

// How the query was posed.
enum class Posing : unsigned char {
  kResting,      // the triangle does not move
  kTranslating,  // all corners by the same, but for the rounding of their coordinates
  kDeforming,    // in pieces of time: see answer_by_field
  kDegenerate,   // no field, since the triangle has no area in floats
};

struct VertexFaceResult {
  Posing posing = Posing::kResting;
  bool found = false;     // what the field says
  bool is_point = false;  // the vertex does not move against the triangle
  // In units of the triangle's size, a power of two.
  double closest = 0;  // least distance of the two, to 1e-6
  double slack = 0;    // those that meet are no further apart, by closest's measure
  double allowed = 0;  // up to this distance a "yes" may be the field's error
  double cell = 0;     // of the field; the least step where there is none
};

// The vertex as a point that moves straight in the frame of the triangle, traced through the shell
// field of that triangle with `resolution` cells at covering_margin.
//
// A corner c_i goes by d_i; the triangle's frame goes by their mean, d. In it, the vertex moves
// straight, and corners move by d_i - d. Where that is more than rounding, time is cut into
// `pieces`: in each the triangle stands as it does at the middle, and every point of it is within
// max |d_i - d| / (2 pieces) of its true place all the while, which is added to the slack.
//
// The frame begins at corner 0 and is scaled by a power of two, so that sizes are near 1; rounding
// its coordinates to floats adds to the slack as well. A triangle that is a line or point in floats
// has no field: the point is advanced by its distance, safe steps, instead.
VertexFaceResult answer_by_field(const VertexFaceQuery& query, int resolution, int pieces);

}  // namespace isotact::bench

// Two bodies and what a query said about them, as one block of bytes for the page that shows them
// (viewer/): a run pack of two bodies with the key `pair` (docs/formats.md, "Run pack").
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "isotact/base/pose.h"
#include "isotact/dynamics/world.h"
#include "isotact/geometry/mesh.h"
#include "isotact/queries/collide.h"
#include "isotact/scene/replay_pack.h"

namespace isotact {

struct PairPackBody {
  std::string name{};
  TriangleMesh surface{};        // to be looked at; may be empty
  std::optional<Shape> shape{};  // what queries see
  std::vector<Pose> poses{};     // world_from_body, one a time
};

// What the page needs to ask again while somebody moves B: collide(), compiled to WebAssembly
// (viewer/query), both bodies as assets, and what is asked.
struct PairPackQuery {
  std::vector<std::byte> module{}, asset_a{}, asset_b{};
  CollideRequest request{};
};

struct PairPackSource {
  PairPackBody a{}, b{};
  std::vector<double> times{};       // ascending, 0 to 1; one at least: bodies at rest
  std::vector<ContactPath> paths{};  // of points that touch at some time, in the world
  std::string report{};              // JSON, as `isotact collide --json` has it
  std::optional<PairPackQuery> query{};
  std::string still{};  // where there is no query: why, in a few words
};

// The same source gives the same bytes. Poses are there twice: as a run pack rounds them, for the
// picture, and as they are. Throws Error where it would be larger than most_bytes, and for a report
// that is no JSON.
std::vector<std::byte> write_pair_pack(const PairPackSource& source,
                                       const RunPackSettings& settings = {});

}  // namespace isotact

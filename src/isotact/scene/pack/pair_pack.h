// Two bodies and the result of a query about them, as one block of bytes for the page that shows
// them (viewer/). The block is a run pack of two bodies with the key `pair` (docs/formats.md, "Run
// pack").
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "isotact/base/pose.h"
#include "isotact/dynamics/rigid/world.h"
#include "isotact/export.h"
#include "isotact/geometry/mesh/mesh.h"
#include "isotact/queries/collide.h"
#include "isotact/queries/shape.h"
#include "isotact/scene/pack/replay_pack.h"

namespace ISOTACT_PUBLIC isotact {

struct PairPackBody {
  std::string name{};
  TriangleMesh surface{};        // Mesh for display; may be empty.
  std::optional<Shape> shape{};  // The shape that queries see.
  std::vector<Pose> poses{};     // world_from_body, one per time.
};

// Input of further queries while a user of the page moves B. It has collide(), compiled to
// WebAssembly (viewer/query), both bodies as assets, and the request.
struct PairPackQuery {
  std::vector<std::byte> module{}, asset_a{}, asset_b{};
  CollideRequest request{};
};

struct PairPackSource {
  PairPackBody a{}, b{};
  std::vector<double> times{};       // Ascending, 0 to 1. At least one: bodies at rest.
  std::vector<ContactPath> paths{};  // Paths of points that touch at some time, world frame.
  std::string report{};              // JSON, as printed by `isotact collide --json`.
  std::optional<PairPackQuery> query{};
  std::string still{};  // If there is no query: the reason, in a few words.
};

// Returns the pack. The same source gives the same bytes. Poses are stored twice: rounded as in a
// run pack, for the picture, and exactly. Throws Error if the pack would be larger than most_bytes,
// and if the report is not JSON.
std::vector<std::byte> write_pair_pack(const PairPackSource& source,
                                       const RunPackSettings& settings = {});

}  // namespace isotact

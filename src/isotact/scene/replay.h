// What a run leaves behind: what bodies look like, where they were, and a log. And its files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "isotact/base/pose.h"
#include "isotact/dynamics/world.h"
#include "isotact/geometry/mesh.h"
#include "isotact/scene/scene.h"

namespace isotact {

struct ReplayBody {
  std::string name{};
  BodyKind kind = BodyKind::kDynamic;
  std::optional<std::size_t> mesh{};  // of Replay::meshes
  bool is_endless = false;            // its mesh is a part of a plane
  Colour colour{};
};

// A body that bends. Its vertices are in the world's frame, in every frame of the replay.
struct ReplaySoftBody {
  std::string name{};
  std::vector<Triangle> triangles{};
  Colour colour{};
};

// A contact of two bodies at its deepest place.
inline constexpr std::uint32_t kNoReplayBody = 0xffffffffU;
struct ReplayContact {
  Vec3 position{}, normal{};  // the normal points to A
  double depth = 0;
  std::uint32_t a = 0, b = 0;  // bodies; kNoReplayBody: of one that bends, which has no force here
  Vec3 force{};                // N, on A; B gets the opposite
  Vec3 moment{};               // N m, on A, about `position`: forces act all over where they touch
};

struct ReplayFrame {
  double time = 0;
  std::vector<Pose> poses{};  // world_from_body, of each body
  std::vector<ReplayContact> contacts{};
  std::vector<std::vector<Vec3f>> soft{};  // vertices, of each soft body
  std::vector<ContactPath> paths{};        // where they were asked for (RunSettings::keep_paths)
};

struct Replay {
  std::string name{};
  std::vector<TriangleMesh> meshes{};
  std::vector<ReplayBody> bodies{};
  std::vector<ReplaySoftBody> soft_bodies{};
  std::vector<ReplayFrame> frames{};  // of ascending times; one at least
  std::vector<StepReport> log{};
};

// An animated GLB (glTF 2.0): a node a body, each mesh once, a keyframe a frame for translations
// and rotations of all that move. Bodies that bend have morph targets, at most 255, blended from
// keyframe to keyframe: viewers that take only a few targets show them stiff. Any viewer plays it.
// The same replay gives the same bytes. Throws Error where it would be larger than 4 GiB.
std::vector<std::byte> write_replay_glb(const Replay& replay);

// step,time,kinetic,potential,springs,total,pairs,contacts,points,depth and the seconds of each
// phase; a row a step. Joules, metres, seconds. All but the last four are the same in every run.
std::string write_log_csv(const Replay& replay);

}  // namespace isotact

// The record of a run: meshes of bodies, their poses, and a log. It can be written to files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "isotact/base/pose.h"
#include "isotact/dynamics/rigid/world.h"
#include "isotact/export.h"
#include "isotact/geometry/mesh/mesh.h"
#include "isotact/scene/parse/scene.h"

namespace ISOTACT_PUBLIC isotact {

struct ReplayBody {
  std::string name{};
  BodyKind kind = BodyKind::kDynamic;
  std::optional<std::size_t> mesh{};  // Index into Replay::meshes.
  bool is_endless = false;            // The mesh is a part of a plane.
  Colour colour{};
};

// A soft body. Its vertices are in world coordinates in every frame of the replay.
struct ReplaySoftBody {
  std::string name{};
  std::vector<Triangle> triangles{};
  Colour colour{};
};

// A contact of two bodies at its deepest position.
inline constexpr std::uint32_t kNoReplayBody = 0xffffffffU;
struct ReplayContact {
  Vec3 position{}, normal{};  // The normal points towards A.
  double depth = 0;
  // Bodies. kNoReplayBody stands for a soft body; such a contact has no force here.
  std::uint32_t a = 0, b = 0;
  Vec3 force{};   // N, on A. B receives the opposite.
  Vec3 moment{};  // N m, on A about `position`: forces act all over the contact area.
};

struct ReplayFrame {
  double time = 0;
  std::vector<Pose> poses{};  // world_from_body of each body.
  std::vector<ReplayContact> contacts{};
  std::vector<std::vector<Vec3f>> soft{};  // Vertices of each soft body.
  std::vector<ContactPath> paths{};        // Only if requested (RunSettings::keep_paths).
};

struct Replay {
  std::string name{};
  std::vector<TriangleMesh> meshes{};
  std::vector<ReplayBody> bodies{};
  std::vector<ReplaySoftBody> soft_bodies{};
  std::vector<ReplayFrame> frames{};  // With ascending times; at least one.
  std::vector<StepReport> log{};
};

// Returns an animated GLB (glTF 2.0) that any viewer plays. It has one node per body, each mesh
// once, and one keyframe per frame for translations and rotations of all moving bodies. Soft bodies
// have morph targets, at most 255, blended between keyframes. Viewers that support only a few
// targets show them stiff. The same replay gives the same bytes. Throws Error if the file would be
// larger than 4 GiB.
std::vector<std::byte> write_replay_glb(const Replay& replay);

// Returns one row per step: step,time,kinetic,potential,springs,total,pairs,contacts,points,depth
// and the seconds of each phase. Units are joules, metres and seconds. All columns except the last
// four are the same in every run.
std::string write_log_csv(const Replay& replay);

}  // namespace isotact

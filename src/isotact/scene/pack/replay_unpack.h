// Reads a run pack (replay_pack.h; docs/formats.md, "Run pack"): meshes of bodies, and their poses
// in any of its frames. Pictures of stored runs use it.
//
//   const RunPack run(pack, "pile.html");
//   const ReplayFrame frame = run.frame(run.nearest_frame(0.5));
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "isotact/export.h"
#include "isotact/scene/replay/replay.h"

namespace ISOTACT_PUBLIC isotact {

// Shells, bricks and fields of shapes, paths, and the log are not read.
class RunPack {
 public:
  // Throws Error with the file and the path in its JSON for anything that does not fit. Examples
  // are a truncated pack, another version, numbers that are not finite or out of range, and arrays
  // that share bytes. Memory: about 30 times the JSON, which is limited to 64 MiB, and the arrays
  // once.
  RunPack(std::span<const std::byte> pack, const std::string& file);

  const SceneView& view() const { return view_; }
  // Bodies and meshes. It has no frames: frame() makes them one by one.
  const Replay& replay() const { return replay_; }
  std::span<const double> times() const { return times_; }  // Seconds, ascending; at least one.
  // Returns the index of the frame nearest to a time, the last one of equally near frames.
  std::size_t nearest_frame(double time) const;
  // Returns poses, contacts and soft vertices, without paths. The number must be below
  // times().size().
  ReplayFrame frame(std::size_t number) const;

 private:
  friend class RunPackReader;
  struct SoftPlaces {
    std::size_t vertex_count = 0;
    Vec3 lower{}, size{};
    std::vector<std::uint16_t> places{};  // Three per vertex, frame by frame.
  };
  struct Contacts {
    std::vector<std::uint32_t> first{}, bodies{};
    std::vector<Vec3f> places{}, forces{}, moments{};
    std::vector<std::int16_t> normals{};
    std::vector<float> depths{};
  };
  // A position and a rotation of each of some bodies.
  struct Poses {
    std::vector<Vec3f> places{};
    std::vector<std::int16_t> turns{};  // Quaternions: x, y, z, w.
    Pose get(std::size_t row) const;
  };

  SceneView view_{};
  Replay replay_{};
  std::vector<double> times_{};
  std::vector<std::uint32_t> moving_{};
  Poses first_{}, rows_{};  // All bodies in the first frame; the moving bodies in all frames.
  std::vector<SoftPlaces> soft_{};
  Contacts contacts_{};
};

}  // namespace isotact

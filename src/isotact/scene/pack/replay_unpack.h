// Reads a run pack (replay_pack.h; docs/formats.md, "Run pack") back: what bodies look like, and
// where they are in any of its frames. For pictures of runs that were kept.
//
//   const RunPack run(pack, "pile.html");
//   const ReplayFrame frame = run.frame(run.nearest_frame(0.5));
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "isotact/scene/replay.h"

namespace isotact {

// Not read: shells, bricks and fields of shapes, paths, and the log.
class RunPack {
 public:
  // Throws Error with the file and the path in its JSON for anything that does not fit: cut short,
  // of another version, numbers that are not finite or not in range, arrays that share bytes.
  // Memory: some 30 times the JSON, which may have 64 MiB, and the arrays once.
  RunPack(std::span<const std::byte> pack, const std::string& file);

  const SceneView& view() const { return view_; }
  // Bodies and meshes; it has no frames, which are made one by one.
  const Replay& replay() const { return replay_; }
  std::span<const double> times() const { return times_; }  // ascending, one at least
  // The last one where two are as near.
  std::size_t nearest_frame(double time) const;
  // Poses, contacts and soft vertices, without paths. The number must be below times().size().
  ReplayFrame frame(std::size_t number) const;

 private:
  friend class RunPackReader;
  struct SoftPlaces {
    std::size_t vertex_count = 0;
    Vec3 lower{}, size{};
    std::vector<std::uint16_t> places{};  // three a vertex, frame after frame
  };
  struct Contacts {
    std::vector<std::uint32_t> first{}, bodies{};
    std::vector<Vec3f> places{}, forces{}, moments{};
    std::vector<std::int16_t> normals{};
    std::vector<float> depths{};
  };
  // A place and a turn of each of some bodies.
  struct Poses {
    std::vector<Vec3f> places{};
    std::vector<std::int16_t> turns{};  // x, y, z, w
    Pose get(std::size_t row) const;
  };

  SceneView view_{};
  Replay replay_{};
  std::vector<double> times_{};
  std::vector<std::uint32_t> moving_{};
  Poses first_{}, rows_{};  // of all bodies in the first frame; of those that move in all
  std::vector<SoftPlaces> soft_{};
  Contacts contacts_{};
};

}  // namespace isotact

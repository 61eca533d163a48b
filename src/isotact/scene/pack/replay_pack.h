// A run as one block of bytes for the page that plays it (viewer/): JSON that names arrays, and the
// arrays. docs/formats.md, "Run pack", is the contract between the two.
//
//   SceneRun run(scene, {.keep_paths = true});
//   run.go(step_count(scene));
//   const std::vector<std::byte> pack = write_run_pack(run);
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/scene/run.h"

namespace isotact {

// Limits of what a page can show. What is left out is left out whole: a page never shows a part of
// a shell as if it were all of it.
struct RunPackSettings {
  int field_cells = 48;               // along the longest side of the field of a slice
  std::uint32_t most_points = 60000;  // of a shell, and spheres of a level
  std::uint32_t most_boxes = 60000;   // of a level of the field's tree
  std::uint64_t most_rows = 20000;    // of the log: of longer ones every n-th row
  std::uint64_t most_bytes = std::uint64_t{512} << 20U;
  Threads threads{};
};

// The same run gives the same bytes, but for the times in the log. Rotations are off by at most
// 1.6e-5 a component, normals by as much; soft vertices by 1/131070 of their body's box over the
// run, an axis; samples of a slice's field by 1/65534 of its largest value. Everything else is as
// float or double. Throws Error where it would be larger than most_bytes, with what would help.
std::vector<std::byte> write_run_pack(const SceneRun& run, const RunPackSettings& settings = {});

// The same of parts: a replay of the scene, and a world with its bodies.
struct RunPackSource {
  const Scene& scene;
  const World& world;
  const Replay& replay;
};
std::vector<std::byte> write_run_pack(const RunPackSource& run,
                                      const RunPackSettings& settings = {});

}  // namespace isotact

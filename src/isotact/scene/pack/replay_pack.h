// A run as one block of bytes for the page that plays it (viewer/): JSON that names arrays, and the
// arrays. The contract between the two is "Run pack" in docs/formats.md.
//
//   SceneRun run(scene, {.keep_paths = true});
//   run.go(step_count(scene));
//   const std::vector<std::byte> pack = write_run_pack(run);
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/export.h"
#include "isotact/scene/run/run.h"

namespace ISOTACT_PUBLIC isotact {

// Limits of the data that a page can show. Data over a limit is left out completely: a page never
// shows a part of a shell as if it were the whole shell.
struct RunPackSettings {
  int field_cells = 48;               // Cells along the longest side of a slice's field.
  std::uint32_t most_points = 60000;  // Points per shell, and spheres per level of its tree.
  std::uint32_t most_boxes = 60000;   // Boxes per level of the field's tree.
  std::uint64_t most_rows = 20000;    // Rows of the log. Longer logs keep every n-th row.
  std::uint64_t most_bytes = std::uint64_t{512} << 20U;
  Threads threads{};
};

// Returns the pack. The same run gives the same bytes, except for the times in the log. Rotations
// and normals are off by at most 1.6e-5 per component. Soft vertices are off by at most 1/131070 of
// their body's box over the run, per axis. Samples of a slice's field are off by at most 1/65534 of
// its largest value. Everything else is stored as float or double. Throws Error if the pack would
// be larger than most_bytes; the message names settings that would help.
std::vector<std::byte> write_run_pack(const SceneRun& run, const RunPackSettings& settings = {});

// The same, from parts: a replay of the scene, and a world with its bodies.
struct RunPackSource {
  const Scene& scene;
  const World& world;
  const Replay& replay;
};
std::vector<std::byte> write_run_pack(const RunPackSource& run,
                                      const RunPackSettings& settings = {});

}  // namespace isotact

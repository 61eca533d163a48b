// The poses and velocities of a run's rigid bodies as a table: --poses of isotact simulate.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "isotact/scene/run/run.h"

namespace isotact::tool {

class RunPoses {
 public:
  // `file` is a .csv or .npy. Keeps the current state: one row per rigid body.
  RunPoses(std::string file, const SceneRun& run);

  // Appends the current state. Rows wait on the disk, in a temporary file. Throws Error if it is
  // full.
  void add(const SceneRun& run);

  // Writes all rows. The .csv has the names of bodies, the .npy their indices in the scene
  // (float64, one row of 15 columns each). Throws Error if the file cannot be written.
  void write(const SceneRun& run);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::string file_;
  std::unique_ptr<std::FILE, Close> waiting_;
  std::uint64_t rows_ = 0;
};

}  // namespace isotact::tool

// isotact collide --method depth: bodies at rest, by drawing both (FAB), on the CPU or the GPU.
#pragma once

#include <string>
#include <vector>

#include "isotact/queries/depth/depth_directions.h"
#include "isotact/queries/depth/depth_map.h"

#include "command.h"
#include "input/depth_device.h"
#include "report/collide_report.h"

namespace isotact::tool {

struct DepthOptions {
  std::string direction, maps;  // Empty: not given.
  // Negative: not given.
  int directions = -1, pixels = -1, layers = -1;
  bool two_sided = false, conservative = false;

  bool is_used() const {
    return !direction.empty() || !maps.empty() || directions >= 0 || pixels >= 0 || layers >= 0 ||
           two_sided || conservative;
  }
};
void add_depth_options(Command& command, DepthOptions& options);

// Loads a mesh, or the surface of an asset's field. Warnings go to stderr, and to `warnings` with
// the body's letter.
DepthBody load_depth_body(const std::string& file, const std::string& letter,
                          const std::string& unit, Threads threads,
                          std::vector<std::string>& warnings);

struct DepthLook {
  DepthMap map{};
  DepthReport report{};
};

struct DepthVerdict {
  DepthSettings settings{};
  DepthCompliance compliance{};
  std::vector<DepthLook> views{};  // One per direction of the compliance.
  bool colliding = false, inside = false;
  std::vector<Contact> contacts{};  // Deepest first.
  // Metres: compute_depth_miss of the finest view. Infinite for FAB's maps.
  double miss = 0;
  std::string device{}, motion{};
  double map_seconds = 0, seconds = 0;
  std::vector<std::string> warnings{};
  LengthUnit unit{};
};

// A is the object, B its environment. With FAB's maps, all directions must report a collision,
// since each treats too much as solid. With ours, one suffices. Without a GPU the CPU is used, with
// a warning.
DepthVerdict find_depth_contacts(const DepthBody& a, const DepthBody& b,
                                 const DepthOptions& options, bool gpu, int max_contacts,
                                 Threads threads);
void print_report(const DepthVerdict& verdict);
Json to_json(const DepthVerdict& verdict);

}  // namespace isotact::tool

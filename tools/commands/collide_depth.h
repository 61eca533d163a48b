// isotact collide --method depth: bodies at rest, by drawing both (FAB), on the CPU or the GPU.
#pragma once

#include <string>
#include <vector>

#include "isotact/queries/depth_directions.h"
#include "isotact/queries/depth_map.h"

#include "collide_report.h"
#include "command.h"
#include "depth_device.h"

namespace isotact::tool {

struct DepthOptions {
  std::string direction, maps;  // empty: not given
  // Negative: not given.
  int directions = -1, pixels = -1, layers = -1;
  bool two_sided = false, conservative = false;

  bool is_used() const {
    return !direction.empty() || !maps.empty() || directions >= 0 || pixels >= 0 || layers >= 0 ||
           two_sided || conservative;
  }
};
void add_depth_options(Command& command, DepthOptions& options);

// Out of a mesh, or out of an asset's field. Warnings go to stderr, and to `warnings` with the
// body's letter.
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
  std::vector<DepthLook> views{};  // one a direction of the compliance
  bool colliding = false, inside = false;
  std::vector<Contact> contacts{};  // the deepest first
  double miss = 0;  // metres: find_depth_miss of the finest view; FAB's maps: infinite
  std::string device{}, motion{};
  double map_seconds = 0, seconds = 0;
  std::vector<std::string> warnings{};
};

// A is the object, B its environment. Of FAB's maps all directions must say that they collide,
// since each takes more for solid than there is; of ours one is enough. Without a GPU the CPU
// answers, with a warning.
DepthVerdict find_depth_contacts(const DepthBody& a, const DepthBody& b,
                                 const DepthOptions& options, bool gpu, int max_contacts,
                                 Threads threads);
void print_report(const DepthVerdict& verdict);
Json to_json(const DepthVerdict& verdict);

}  // namespace isotact::tool

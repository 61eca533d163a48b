// isotact collide --method depth: bodies at rest, by drawing both (FAB), on the CPU or the GPU.
#pragma once

#include <string>
#include <vector>

#include "isotact/queries/collide.h"

#include "commands/command.h"
#include "input/shape_input.h"
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

// The shape of a file, to be drawn: no field is built of a mesh. Warnings go to stderr, and to
// `warnings` with the body's letter.
Shape load_drawn_shape(const std::string& file, const std::string& letter,
                       ShapeInputOptions options, std::vector<std::string>& warnings);

struct DepthVerdict {
  DepthRequest request{};
  CollideResult result{};
  std::vector<DepthMap> maps{};  // One per view of the result.
  std::string device{}, motion{};
  double map_seconds = 0, seconds = 0;
  std::vector<std::string> warnings{};
  LengthUnit unit{};
};

// collide() with these options: A is the object, B its environment. Without a GPU the CPU is used,
// with a warning.
DepthVerdict find_depth_contacts(const Shape& a, const Pose& world_from_a, const Shape& b,
                                 const Pose& world_from_b, const DepthOptions& options, bool gpu,
                                 int max_contacts, Threads threads);
void print_report(const DepthVerdict& verdict);
Json to_json(const DepthVerdict& verdict);

}  // namespace isotact::tool

// isotact collide --method idf: bodies at rest, by intersection fields (KGM), on the CPU or the
// GPU.
#pragma once

#include <string>
#include <vector>

#include "isotact/queries/collide.h"
#include "isotact/queries/shape.h"
#include "isotact/queries/swept/closest_approach.h"

#include "commands/command.h"
#include "report/collide_report.h"

namespace isotact::tool {

struct IdfOptions {
  // Negative: not given.
  int samples = -1;
  double overlap = -1;

  bool is_used() const { return samples >= 0 || overlap >= 0; }
};
void add_idf_options(Command& command, IdfOptions& options);

struct IdfReport {
  CollideResult result{};
  CollideRequest request{};
  std::string device{};  // "cpu", or the name of the GPU.
  std::string motion{};
  std::optional<ApproachResult> nearest{};
  std::optional<DistanceResult> measured{};
  double seconds = 0;
  std::vector<std::string> warnings{};
  LengthUnit unit{};
};

// collide() with these options. Without a GPU the CPU is used, with a warning.
IdfReport find_idf_contacts(const Shape& a, const Pose& world_from_a, const Shape& b,
                            const Pose& world_from_b, const IdfOptions& options, double margin,
                            bool gpu, std::uint32_t max_contacts, Threads threads);
void print_report(const IdfReport& report);
Json to_json(const IdfReport& report);

}  // namespace isotact::tool

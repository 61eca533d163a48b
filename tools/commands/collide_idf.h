// isotact collide --method idf: bodies at rest, by intersection fields (KGM), on the CPU or the
// GPU.
#pragma once

#include <string>
#include <vector>

#include "isotact/queries/closest_approach.h"
#include "isotact/queries/intersection_field.h"
#include "isotact/queries/shape.h"

#include "collide_report.h"
#include "command.h"

namespace isotact::tool {

struct IdfOptions {
  // Negative: not given.
  int samples = -1;
  double epsilon = -1, overlap = -1;

  bool is_used() const { return samples >= 0 || epsilon >= 0 || overlap >= 0; }
};
void add_idf_options(Command& command, IdfOptions& options);

struct IdfReport {
  IdfResult result{};
  IdfSettings settings{};
  std::string device{};  // "cpu", or what the GPU is
  std::string motion{};
  std::optional<Approach> nearest{};
  double seconds = 0;
  std::vector<std::string> warnings{};
};

// Both must have fields. Without a GPU the CPU answers, with a warning.
IdfReport find_idf_contacts(const Shape& a, const Pose& world_from_a, const Shape& b,
                            const Pose& world_from_b, const IdfOptions& options, bool gpu,
                            std::uint32_t max_contacts, Threads threads);
void print_report(const IdfReport& report);
Json to_json(const IdfReport& report);

}  // namespace isotact::tool

// Output of isotact collide: for bodies that may move (swept), and for bodies at rest (vps).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "isotact/queries/collide.h"
#include "isotact/queries/continuous_collide.h"
#include "isotact/queries/shape.h"
#include "isotact/queries/swept/closest_approach.h"

#include "commands/command.h"

namespace isotact::tool {

struct SweptReport {
  const ContinuousResult& result;
  std::string motion;
  double margin = 0;
  bool first_only = false;
  std::optional<ApproachResult> nearest;
  bool moves = false;
  double seconds = 0;
  std::vector<std::string> warnings;
};
void print_report(const SweptReport& report);
Json to_json(const SweptReport& report);

struct RestReport {
  const CollideResult& result;
  CollideRequest request{};
  std::string motion;  // As requested, though nothing moves: the key is always present.
  std::optional<ApproachResult> nearest;
  double seconds = 0;
  std::vector<std::string> warnings;
};
// A contact as every method shows it.
Json to_json(const Contact& contact);
void add_contact(Facts& facts, const Contact& contact);

void print_report(const RestReport& report);
Json to_json(const RestReport& report);

}  // namespace isotact::tool

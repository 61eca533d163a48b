// Output of isotact collide: for bodies that may move (swept), and for bodies at rest (vps).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "isotact/queries/collide.h"
#include "isotact/queries/continuous_collide.h"
#include "isotact/queries/distance.h"
#include "isotact/queries/shape.h"
#include "isotact/queries/swept/closest_approach.h"

#include "commands/command.h"
#include "input/query_options.h"

namespace isotact::tool {

const char* name(CollideStatus status);  // "contact", "free", "uncertain" or "gave_up"

// Sets the keys of a distance: its bounds, whether it is exact, and the nearest points. Null for
// what is not known.
void add_distance(Json& j, const DistanceResult& result);
void add_distance(Facts& facts, const DistanceResult& result, const LengthUnit& unit);

// The answers for a list of poses: one row each.
struct PoseResult {
  std::string status;
  std::optional<DistanceResult> distance;  // If it was asked for.
  bool exact = false;
};
struct PosesReport {
  std::string method{};  // Of collide; empty for distance.
  std::vector<PoseResult> answers{};
  LengthUnit unit{};
  double seconds = 0;
  std::vector<std::string> warnings{};
};
void print_report(const PosesReport& report);
// At the top level: contact if any pose has one, and the least distance.
Json to_json(const PosesReport& report);

struct SweptReport {
  const ContinuousResult& result;
  std::string motion;
  double margin = 0;
  bool first_only = false;
  bool moves = false;
  std::optional<DistanceResult> measured;  // of bodies at rest
  double seconds = 0;
  std::vector<std::string> warnings;
  LengthUnit unit{};
};
void print_report(const SweptReport& report);
Json to_json(const SweptReport& report);

struct RestReport {
  const CollideResult& result;
  CollideRequest request{};
  std::string motion;  // As requested, though nothing moves: the key is always present.
  std::optional<ApproachResult> nearest;
  std::optional<DistanceResult> measured;
  double seconds = 0;
  std::vector<std::string> warnings;
  LengthUnit unit{};
};
// A contact as every method shows it.
Json to_json(const Contact& contact);
void add_contact(Facts& facts, const Contact& contact, const LengthUnit& unit);

void print_report(const RestReport& report);
Json to_json(const RestReport& report);

}  // namespace isotact::tool

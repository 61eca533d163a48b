// Options of isotact collide, and the requests of the library that they ask for.
#pragma once

#include <string>

#include "isotact/queries/collide.h"
#include "isotact/queries/continuous_collide.h"
#include "isotact/queries/distance.h"

#include "collide/collide_depth.h"
#include "collide/collide_idf.h"
#include "commands/command.h"
#include "input/query_options.h"
#include "input/shape_input.h"

namespace isotact::tool {

struct CollideOptions {
  CommonOptions common;
  QueryOptions query;
  LengthUnit unit{};
  FailOn fail{};
  MovingBodyOptions a, b;
  ShapeInputOptions input;
  std::string method = "auto", motion = "rates", roles = "both", accuracy = "best";
  std::string output, picture, view;
  double margin = 0, path_tolerance = ContinuousRequest{}.path_tolerance;
  int degree = 3, max_contacts = 16, width = 1200, points = 0;
  // Of vps; negative: not given.
  int level = -1, max_nodes = -1, patches = -1;
  double time_budget = -1, stiffness = -1;
  IdfOptions idf;
  DepthOptions depth;
  bool first_only = false, gpu = false, distance = false;
};
void add_collide_options(Command& command, CollideOptions& options);

// For bodies that may move, and for bodies at rest.
ContinuousRequest request_of(const CollideOptions& options);
CollideRequest rest_request_of(const CollideOptions& options);

// As accurate as the verdict is asked for. If only --fail-on asks for a distance, the search ends
// as soon as the bodies are seen to be closer.
DistanceRequest distance_request_of(const CollideOptions& options, const Shape& a, const Shape& b);

// A page shows it, and goes on to find it while B is dragged. It may decide a verdict.
bool wants_distance(const CollideOptions& options);

// Options that only queries of bodies at rest have.
bool has_rest_options(const CollideOptions& options);

// Points at rest are the quickest if nothing moves, and know force; intervals are of motions.
// Throws UsageError for options that do not fit the method.
bool is_at_rest(const CollideOptions& options, bool moves);

}  // namespace isotact::tool

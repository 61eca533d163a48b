// A scene's trial: how deep its bodies get, by an independent check, and how it ends.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "isotact/scene/run/run.h"

#include "support/exact_depth.h"

namespace isotact::bench {

// The bodies of a scene for the independent check, and the bounds of their fields' errors.
struct CheckedScene {
  std::vector<exact_depth::Body> bodies{};
  std::vector<double> field_errors{};  // Metres, per body; 0 for formulas.
  std::set<std::pair<std::uint32_t, std::uint32_t>> ignored{};  // Jointed pairs.
  double smallest = 0;                                           // Metres: the least diagonal.
};

// What the deepest pair of a run was.
struct Deepest {
  double share = 0;   // Of the smaller body's diagonal.
  double beyond = 0;  // The same, less the greater error of the two fields.
  double error = 0;   // That error, as a share.
  double depth = 0;   // Metres, of the pair with the greatest `beyond`.
  double time = 0;
  std::string pair{};
};

struct Outcome {
  bool holds = true;
  std::string found{};
};

// What is known about the end of a scene, from exact geometry.
struct Expectation {
  std::string_view scene{};  // The folder's or the file's name.
  std::string_view words{};  // "the links hang in each other"
  double seconds = 0;        // Of the run; 0: the scene's.
  Outcome (*judge)(const SceneRun& run) = nullptr;
};
const Expectation* find_expectation(std::string_view scene);

// Cells so fine that the stated error of each field is below a share of the smallest body's
// diagonal, as far as `most_bytes` per field allow. Points stay as far apart as the scene's own.
// Open surfaces get a shell. Returns the bodies' solids beside.
CheckedScene refine_fields(Scene& scene, double share, double most_bytes);

// The solids of a run's bodies: of the meshes that were read, and of formulas.
CheckedScene make_checked(const SceneRun& run);

// The deepest pair of all frames but the first, which is the scene's.
Deepest find_deepest(const CheckedScene& checked, const SceneRun& run);

// Bullet's own boxes and convex hulls as an engine for scenes without joints.
SceneEngineMaker hull_engine(int iterations);

}  // namespace isotact::bench

// The parts of parse_scene, one function a section of the file.
#pragma once

#include "isotact/scene/detail/json_node.h"
#include "isotact/scene/scene.h"

namespace isotact::detail {

inline constexpr double kMostSpeed = 1e6;    // m/s, rad/s
inline constexpr double kMostForce = 1e12;   // N, N m
inline constexpr double kMostSeconds = 1e6;  // of a run
inline constexpr double kMostSteps = 1e9;    // of a run
inline constexpr std::size_t kMostText = 10000;

SceneShape read_shape(const JsonNode& node, const std::filesystem::path& folder);
SceneMaterial read_material(const JsonNode& node);
Colour read_colour(const JsonNode& node);
// "position" and "rotation" of an object.
Pose read_pose(const JsonNode& node);

// One body, or as many as it is repeated. Needs materials and shapes; adds a shape of its own.
void read_body(const JsonNode& node, const std::filesystem::path& folder, Scene& scene);
SceneJoint read_joint(const JsonNode& node, const Scene& scene);
SceneScript read_script(const JsonNode& node, const Scene& scene);

// The place in a list of what has that name; fails with the nearest one where none has.
template <typename Things>
std::size_t find_named(const JsonNode& node, const Things& things, std::string_view what) {
  const std::string name = node.text(1000);
  for (std::size_t i = 0; i < things.size(); ++i)
    if (!things[i].name.empty() && things[i].name == name) return i;
  JsonNode::Names names;
  for (const auto& thing : things)
    if (!thing.name.empty() && names.size() < 20) names.push_back(thing.name);
  if (names.empty()) node.fail("there is no " + std::string(what) + " in this scene");
  return node.choice(names);  // fails
}

}  // namespace isotact::detail

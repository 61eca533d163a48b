// The parts of parse_scene, one function a section of the file.
#pragma once

#include <string>
#include <utility>

#include "isotact/base/random.h"
#include "isotact/scene/detail/json_node.h"
#include "isotact/scene/scene.h"

namespace isotact::detail {

inline constexpr double kMostSpeed = 1e6;    // m/s, rad/s
inline constexpr double kMostForce = 1e12;   // N, N m
inline constexpr double kMostSeconds = 1e6;  // of a run
inline constexpr double kMostSteps = 1e9;    // of a run
inline constexpr std::size_t kMostText = 10000;

SceneShape read_shape(const JsonNode& node, const std::filesystem::path& folder);
// "make", "mesh" and "data" of a shape.
MadeShape read_made(const JsonNode& node);
MeshFile read_mesh_file(const JsonNode& node, const std::filesystem::path& folder);
DataFile read_data_file(const JsonNode& node);
// Two corners, the second above the first.
Aabb read_box(const JsonNode& node);
SceneMaterial read_material(const JsonNode& node);
Colour read_colour(const JsonNode& node);
// "position" and "rotation" of an object.
Pose read_pose(const JsonNode& node);

// One body, or as many as it is repeated. Needs materials and shapes; adds a shape of its own.
void read_body(const JsonNode& node, const std::filesystem::path& folder, Scene& scene);
void read_soft_body(const JsonNode& node, const std::filesystem::path& folder, Scene& scene);
void read_soft_world(const JsonNode& node, SoftWorldSettings& settings);
SceneJoint read_joint(const JsonNode& node, const Scene& scene);
SceneScript read_script(const JsonNode& node, const Scene& scene);

// A block of copies.
struct Repeat {
  std::int64_t count[3] = {1, 1, 1};
  Vec3 spacing{};
  bool turned = false;  // at random
  double jitter = 0;    // metres, at random
  std::uint64_t seed = 1;
};
Repeat read_repeat(const JsonNode& node, std::size_t room);

// About the body's own place, but upwards from it; each with a number behind its name.
template <typename Body, typename Add>
void add_copies(const Body& body, const Repeat& r, Add add) {
  Random random(r.seed);
  int number = 0;
  for (std::int64_t y = 0; y < r.count[1]; ++y)
    for (std::int64_t z = 0; z < r.count[2]; ++z)
      for (std::int64_t x = 0; x < r.count[0]; ++x) {
        Body copy = body;
        copy.name = body.name + " " + std::to_string(++number);
        const auto at = [](std::int64_t i, std::int64_t n) {
          return static_cast<double>(i) - static_cast<double>(n - 1) / 2;
        };
        copy.pose.translation +=
            {at(x, r.count[0]) * r.spacing.x, static_cast<double>(y) * r.spacing.y,
             at(z, r.count[2]) * r.spacing.z};
        copy.pose.translation += random.in_unit_ball() * r.jitter;
        if (r.turned) copy.pose.rotation = random.rotation();
        add(std::move(copy));
      }
}

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

// The parts of parse_scene: one function per section of the file.
#pragma once

#include <string>
#include <utility>

#include "isotact/base/random.h"
#include "isotact/scene/parse/detail/json_node.h"
#include "isotact/scene/parse/scene.h"

namespace isotact::detail {

inline constexpr double kMostSpeed = 1e6;    // m/s, rad/s
inline constexpr double kMostForce = 1e12;   // N, N m
inline constexpr double kMostSeconds = 1e6;  // Duration of a run.
inline constexpr double kMostSteps = 1e9;    // Steps of a run.
inline constexpr std::size_t kMostText = 10000;

SceneShape read_shape(const JsonNode& node, const std::filesystem::path& folder);
// Read "make", "mesh" and "data" of a shape.
MadeShape read_made(const JsonNode& node);
MeshFile read_mesh_file(const JsonNode& node, const std::filesystem::path& folder);
DataFile read_data_file(const JsonNode& node);
// Reads two corners. The second must be above the first.
Aabb read_box(const JsonNode& node);
SceneMaterial read_material(const JsonNode& node);
Colour read_colour(const JsonNode& node);
// Reads "position" and "rotation" of an object.
Pose read_pose(const JsonNode& node);

// Adds one body, or all of its copies if it is repeated. Materials and shapes must have been read.
// Adds the body's own shape, if it has one.
void read_body(const JsonNode& node, const std::filesystem::path& folder, Scene& scene);
void read_soft_body(const JsonNode& node, const std::filesystem::path& folder, Scene& scene);
void read_soft_world(const JsonNode& node, SoftWorldSettings& settings);
SceneJoint read_joint(const JsonNode& node, const Scene& scene);
SceneScript read_script(const JsonNode& node, const Scene& scene);

// A block of copies.
struct Repeat {
  std::int64_t count[3] = {1, 1, 1};
  Vec3 spacing{};
  bool turned = false;  // Random rotations.
  double jitter = 0;    // Metres; length of random offsets.
  std::uint64_t seed = 1;
};
Repeat read_repeat(const JsonNode& node, std::size_t room);

// Copies are centred at the body's own position along x and z, and stacked upwards from it along y.
// Each has a number after its name.
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

// Returns the index of the element with that name. Throws Error with the nearest name if there is
// none.
template <typename Things>
std::size_t find_named(const JsonNode& node, const Things& things, std::string_view what) {
  const std::string name = node.text(1000);
  for (std::size_t i = 0; i < things.size(); ++i)
    if (!things[i].name.empty() && things[i].name == name) return i;
  JsonNode::Names names;
  for (const auto& thing : things)
    if (!thing.name.empty() && names.size() < 20) names.push_back(thing.name);
  if (names.empty()) node.fail("there is no " + std::string(what) + " in this scene");
  return node.choice(names);  // Throws Error.
}

}  // namespace isotact::detail

// The parts of parse_scene: JSON values that carry their path into error messages, and one function
// per section of the file.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "isotact/base/random.h"
#include "isotact/base/vec.h"
#include "isotact/scene/parse/scene.h"

namespace isotact::detail {

struct NumberRange {
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  bool above = false;  // The lower limit itself is not allowed.
};
// The range of positive numbers up to a limit.
constexpr NumberRange above_zero(double upper) { return {0, upper, true}; }
constexpr NumberRange within(double limit) { return {-limit, limit}; }

class JsonNode;

// JSON text as a tree. Throws Error for text that is not JSON, for a repeated key in an object, and
// for more than 32 levels of nesting. Also throws for more values than most_values; keys and ends
// of objects and arrays count as values.
inline constexpr std::size_t kMostJsonValues = 500000;
class JsonText {
 public:
  JsonText(std::string_view text, std::string file, std::size_t most_values = kMostJsonValues);
  ~JsonText();
  JsonText(const JsonText&) = delete;
  JsonText& operator=(const JsonText&) = delete;
  JsonNode root() const;

 private:
  struct Tree;
  std::unique_ptr<const Tree> tree_;
  std::string file_;
};

// Valid as long as the text. Every function that needs a kind or a range throws Error with the path
// if it finds something else.
class JsonNode {
 public:
  using Names = std::vector<std::string>;

  bool is_null() const;
  bool is_text() const;
  bool is_object() const;
  bool is_array() const;

  // Objects. expect_keys throws Error for any other key and names the nearest known key.
  void expect_keys(const Names& keys) const;
  // Returns the one key of the list that is present, or "". Throws Error if more than one is
  // present, or if none is and one is needed.
  std::string choose_key(const Names& keys, bool needed) const;
  std::optional<JsonNode> find(const std::string& key) const;
  JsonNode get(const std::string& key) const;
  std::vector<std::pair<std::string, JsonNode>> members() const;
  // Returns the items of an array. Throws Error if there are more than `most`.
  std::vector<JsonNode> items(std::size_t most) const;

  bool boolean() const;
  double number(const NumberRange& range) const;
  std::int64_t whole(std::int64_t lower, std::int64_t upper) const;
  std::string text(std::size_t most) const;
  std::string name() const;  // 1 to 100 characters.
  std::size_t choice(const Names& names) const;
  Vec3 vec(double limit) const;
  std::vector<double> numbers(std::size_t count, const NumberRange& range) const;

  // Returns a short form of the value for messages: "big" with its quotes, 12, an object.
  std::string found() const;
  [[noreturn]] void fail(std::string_view message) const;
  [[noreturn]] void fail_expecting(std::string_view expected) const;

 private:
  friend class JsonText;
  JsonNode(const void* value, std::string path, const std::string* file)
      : value_(value), path_(std::move(path)), file_(file) {}
  JsonNode member(const std::string& key, const void* value) const;

  const void* value_;  // The library's value type, which no header names.
  std::string path_;
  const std::string* file_;
};

// Reads a member into a target if the member is present.
template <typename T, typename Read>
void read_if(const JsonNode& object, const std::string& key, T& target, Read read) {
  if (const auto node = object.find(key)) target = read(*node);
}

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

// Scripts of a scene file: how bodies and motors move over time.
#include <fmt/format.h>

#include "isotact/scene/parse/detail/scene_reader.h"

namespace isotact::detail {
namespace {

constexpr std::size_t kMostKeys = 100000;

double read_time(const JsonNode& node) { return node.number({0, kMostSeconds}); }

template <typename Key, typename Read>
std::vector<Key> read_keys(const JsonNode& node, const Read& read) {
  std::vector<Key> keys;
  for (const JsonNode& item : node.items(kMostKeys)) {
    Key key = read(item);
    key.time = read_time(item.get("time"));
    if (!keys.empty() && !(key.time > keys.back().time))
      item.get("time").fail("is not later than that of the key before");
    keys.push_back(key);
  }
  if (keys.empty()) node.fail("needs one key at least");
  return keys;
}

void read_span(const JsonNode& node, double& from, double& until) {
  from = 0;
  until = kMostSeconds;
  read_if(node, "from", from, read_time);
  read_if(node, "until", until, read_time);
  if (!(from <= until)) node.fail("'until' is before 'from'");
}

std::size_t read_kinematic(const JsonNode& node, const Scene& scene) {
  const std::size_t body = find_named(node.get("body"), scene.bodies, "body");
  if (scene.bodies[body].kind != BodyKind::kKinematic)
    node.get("body").fail(
        fmt::format("is {}; only kinematic bodies follow a script", name(scene.bodies[body].kind)));
  return body;
}

SceneScript read_body_script(const JsonNode& node, const Scene& scene) {
  if (node.find("keys")) {
    node.expect_keys({"body", "keys"});
    return PoseScript{read_kinematic(node, scene),
                      read_keys<PoseKey>(node.get("keys"), [](const JsonNode& item) {
                        item.expect_keys({"time", "position", "rotation"});
                        return PoseKey{0, read_pose(item)};
                      })};
  }
  if (node.find("force") || node.find("torque")) {
    node.expect_keys({"body", "force", "torque", "from", "until"});
    LoadScript script{.body = find_named(node.get("body"), scene.bodies, "body")};
    if (scene.bodies[script.body].kind != BodyKind::kDynamic)
      node.get("body").fail("is not dynamic: forces do not move it");
    const auto read_force = [](const JsonNode& n) { return n.vec(kMostForce); };
    read_if(node, "force", script.load.force, read_force);
    read_if(node, "torque", script.load.torque, read_force);
    read_span(node, script.from, script.until);
    return script;
  }
  if (!node.find("velocity") && !node.find("angular_velocity"))
    node.fail("needs 'keys', 'velocity', 'angular_velocity', 'force' or 'torque'");
  node.expect_keys({"body", "velocity", "angular_velocity", "from", "until"});
  SteadyScript script{.body = read_kinematic(node, scene)};
  const auto read_speed = [](const JsonNode& n) { return n.vec(kMostSpeed); };
  read_if(node, "velocity", script.velocity, read_speed);
  read_if(node, "angular_velocity", script.angular_velocity, read_speed);
  read_span(node, script.from, script.until);
  return script;
}

}  // namespace

SceneScript read_script(const JsonNode& node, const Scene& scene) {
  if (!node.is_object()) node.fail_expecting("an object");
  if (node.choose_key({"body", "joint"}, true) == "body") return read_body_script(node, scene);
  node.expect_keys({"joint", "keys"});
  const JsonNode joint = node.get("joint");
  MotorScript script{.joint = find_named(joint, scene.joints, "joint with a name")};
  const JointKind kind = scene.joints[script.joint].kind;
  if (kind != JointKind::kHinge && kind != JointKind::kSlider)
    joint.fail(fmt::format("a {} joint has no motor", name(kind)));
  script.keys = read_keys<MotorKey>(node.get("keys"), [](const JsonNode& item) {
    item.expect_keys({"time", "velocity", "max_force"});
    return MotorKey{0,
                    {item.get("velocity").number(within(kMostSpeed)),
                     item.get("max_force").number({0, kMostForce})}};
  });
  return script;
}

}  // namespace isotact::detail

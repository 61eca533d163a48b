#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/scene/parse/detail/scene_reader.h"

namespace isotact::detail {
namespace {

constexpr double kMostDensity = 1e6, kMostMass = 1e12;

Quat read_rotation(const JsonNode& node) {
  node.expect_keys({"wxyz", "xyzw", "axis", "degrees"});
  const std::string kind = node.choose_key({"wxyz", "xyzw", "axis"}, true);
  if (kind == "axis") {
    const JsonNode axis = node.get("axis");
    const Vec3 v = axis.vec(1e6);
    if (!(length(v) > 1e-6)) axis.fail("expected a direction, found a vector without length");
    return rotation_about(v, node.get("degrees").number(within(36000)) * (kPi / 180));
  }
  if (node.find("degrees")) node.get("degrees").fail("goes with 'axis'");
  const JsonNode numbers = node.get(kind);
  const auto q = numbers.numbers(4, within(1.001));
  const Quat quat = kind == "wxyz" ? Quat{q[0], q[1], q[2], q[3]} : Quat{q[3], q[0], q[1], q[2]};
  if (!(std::abs(std::sqrt(length_sq(quat)) - 1) <= 1e-6))
    numbers.fail(fmt::format("expected a unit quaternion, found one of length {:.6g}",
                             std::sqrt(length_sq(quat))));
  return normalized(quat);
}

void check_kind(const JsonNode& node, const SceneBody& body, const Scene& scene) {
  const auto* formula =
      body.shape ? std::get_if<SceneField>(&scene.shapes[*body.shape].source) : nullptr;
  const bool dynamic = body.kind == BodyKind::kDynamic;
  if (dynamic && !body.shape) node.fail("a body that moves freely needs a shape");
  if (dynamic && formula != nullptr && std::holds_alternative<PlaneField>(*formula))
    node.get("shape").fail("a plane has no end, and no mass: it cannot move freely");
  if (dynamic && formula != nullptr && std::holds_alternative<TerrainField>(*formula))
    node.get("shape").fail("a terrain has no end, and no mass: it cannot move freely");
  if (dynamic) return;
  for (const char* key : {"density", "mass", "velocity", "angular_velocity"})
    if (const auto found = node.find(key))
      found->fail(fmt::format("is for dynamic bodies; this one is {}", name(body.kind)));
}

}  // namespace

Repeat read_repeat(const JsonNode& node, std::size_t room) {
  node.expect_keys({"count", "spacing", "turned", "jitter", "seed"});
  Repeat repeat;
  const auto counts = node.get("count").items(3);
  if (counts.size() != 3) node.get("count").fail_expecting("an array of 3 numbers");
  std::int64_t all = 1;
  for (std::size_t i = 0; i < 3; ++i) all *= repeat.count[i] = counts[i].whole(1, 10000);
  if (all > static_cast<std::int64_t>(room))
    node.fail(fmt::format("makes {} bodies; a scene may have {}", all, kMostSceneBodies));
  repeat.spacing = node.get("spacing").vec(kMostScenePlace);
  read_if(node, "turned", repeat.turned, [](const auto& n) { return n.boolean(); });
  read_if(node, "jitter", repeat.jitter, [](const auto& n) { return n.number({0, 1000}); });
  read_if(node, "seed", repeat.seed, [](const auto& n) {
    return static_cast<std::uint64_t>(n.whole(0, std::int64_t{1} << 53));
  });
  return repeat;
}

Colour read_colour(const JsonNode& node) {
  const std::string text = node.text(100);
  const bool valid = text.size() == 7 && text[0] == '#' &&
                     text.find_first_not_of("0123456789abcdefABCDEF", 1) == std::string::npos;
  if (!valid) node.fail_expecting("a colour like \"#8fb8de\"");
  const unsigned long bits = std::stoul(text.substr(1), nullptr, 16);
  const auto channel = [&](unsigned shift) {
    return static_cast<std::uint8_t>((bits >> shift) & 255U);
  };
  return {channel(16), channel(8), channel(0)};
}

Pose read_pose(const JsonNode& node) {
  Pose pose;
  read_if(node, "position", pose.translation, [](const auto& n) { return n.vec(kMostScenePlace); });
  read_if(node, "rotation", pose.rotation, read_rotation);
  return pose;
}

void read_body(const JsonNode& node, const std::filesystem::path& folder, Scene& scene) {
  node.expect_keys({"name", "kind", "shape", "material", "density", "mass", "position", "rotation",
                    "velocity", "angular_velocity", "fast", "colour", "repeat"});
  node.choose_key({"density", "mass"}, false);
  SceneBody body{.name = node.get("name").name()};
  if (const auto kind = node.find("kind"))
    body.kind = static_cast<BodyKind>(kind->choice({"dynamic", "kinematic", "static"}));
  if (const auto shape = node.find("shape")) {
    if (shape->is_text()) {
      body.shape = find_named(*shape, scene.shapes, "shape of that name");
    } else {
      scene.shapes.push_back(read_shape(*shape, folder));
      body.shape = scene.shapes.size() - 1;
    }
  }
  if (const auto material = node.find("material"))
    body.material = find_named(*material, scene.materials, "material");
  read_if(node, "density", body.density,
          [](const auto& n) { return n.number(above_zero(kMostDensity)); });
  read_if(node, "mass", body.mass, [](const auto& n) { return n.number(above_zero(kMostMass)); });
  body.pose = read_pose(node);
  const auto read_speed = [](const JsonNode& n) { return n.vec(kMostSpeed); };
  read_if(node, "velocity", body.velocity, read_speed);
  read_if(node, "angular_velocity", body.angular_velocity, read_speed);
  read_if(node, "fast", body.fast, [](const auto& n) { return n.boolean(); });
  read_if(node, "colour", body.colour, read_colour);
  check_kind(node, body, scene);
  const std::size_t room = kMostSceneBodies - scene.bodies.size();
  if (const auto repeat = node.find("repeat"))
    add_copies(body, read_repeat(*repeat, room),
               [&](SceneBody copy) { scene.bodies.push_back(std::move(copy)); });
  else if (room == 0)
    node.fail(fmt::format("a scene may have {} bodies", kMostSceneBodies));
  else
    scene.bodies.push_back(std::move(body));
}

SceneJoint read_joint(const JsonNode& node, const Scene& scene) {
  node.expect_keys(
      {"name", "kind", "a", "b", "place", "axis", "motor", "limits", "friction", "may_touch"});
  SceneJoint joint;
  read_if(node, "name", joint.name, [](const auto& n) { return n.name(); });
  joint.kind =
      static_cast<JointKind>(node.get("kind").choice({"ball", "hinge", "slider", "fixed"}));
  joint.a = find_named(node.get("a"), scene.bodies, "body");
  joint.b = find_named(node.get("b"), scene.bodies, "body");
  if (joint.a == joint.b) node.get("b").fail("is the same body as 'a'");
  if (scene.bodies[joint.a].kind != BodyKind::kDynamic &&
      scene.bodies[joint.b].kind != BodyKind::kDynamic)
    node.fail("neither of the two bodies is dynamic");
  const bool has_axis = joint.kind == JointKind::kHinge || joint.kind == JointKind::kSlider;
  joint.place = node.get("place").vec(kMostScenePlace);
  if (has_axis) {
    const JsonNode axis = node.get("axis");
    joint.axis = axis.vec(1e6);
    if (!(length(joint.axis) > 1e-6))
      axis.fail("expected a direction, found a vector without length");
    joint.axis = normalized(joint.axis);
  }
  for (const char* key : {"axis", "motor", "limits"})
    if (!has_axis && node.find(key))
      node.get(key).fail(
          fmt::format("is for hinges and sliders, not for a {} joint", name(joint.kind)));
  if (const auto motor = node.find("motor")) {
    motor->expect_keys({"velocity", "max_force"});
    joint.motor = Motor{motor->get("velocity").number(within(kMostSpeed)),
                        motor->get("max_force").number({0, kMostForce})};
  }
  if (const auto limits = node.find("limits")) {
    limits->expect_keys({"lower", "upper"});
    const double most = joint.kind == JointKind::kHinge ? kPi : kMostScenePlace;
    joint.limits = JointLimits{limits->get("lower").number(within(most)),
                               limits->get("upper").number(within(most))};
    if (!(joint.limits->lower <= joint.limits->upper)) limits->fail("lower is above upper");
  }
  if (const auto friction = node.find("friction")) {
    if (joint.kind == JointKind::kFixed) friction->fail("is not for a fixed joint");
    joint.friction = friction->number({0, kMostForce});
  }
  read_if(node, "may_touch", joint.may_touch, [](const auto& n) { return n.boolean(); });
  return joint;
}

}  // namespace isotact::detail

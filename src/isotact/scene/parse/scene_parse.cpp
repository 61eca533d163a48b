#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/file.h"
#include "isotact/scene/parse/detail/scene_reader.h"
#include "isotact/scene/parse/scene.h"

namespace isotact {

using namespace detail;

namespace {

constexpr std::size_t kMostThings = 10000;  // Per kind.
constexpr double kMostFrames = 1e6;         // Per replay.

template <typename Enum>
void read_choice(const JsonNode& object, const std::string& key, const JsonNode::Names& names,
                 Enum& target) {
  if (const auto node = object.find(key)) target = static_cast<Enum>(node->choice(names));
}

void read_world(const JsonNode& node, Scene& scene) {
  WorldSettings& world = scene.world;
  node.expect_keys({"engine",          "narrow_phase", "step",      "gravity",   "contact",
                    "solve",           "impacts",      "motion",    "traversal", "direction",
                    "damping",         "quadrature",   "midpoints", "tolerance", "turns",
                    "energy_factor",   "sleep_speed",  "roots",     "handles",   "weights",
                    "force_tolerance", "force_rounds"});
  const JsonNode::Names engines{"isotact", "bullet"};
  if (const auto engine = node.find("engine")) scene.engine = engines[engine->choice(engines)];
  if (const auto phase = node.find("narrow_phase")) {
    scene.narrow_phase = static_cast<NarrowPhase>(phase->choice({"points", "idf", "gpu"}));
    if (scene.engine == "isotact" && scene.narrow_phase != NarrowPhase::kPoints)
      phase->fail("is for the engine \"bullet\"; our own world has \"points\" only");
  }
  read_if(node, "step", world.step, [](const auto& n) { return n.number({1e-9, 1}); });
  read_if(node, "gravity", world.gravity, [](const auto& n) { return n.vec(1e6); });
  read_choice(node, "contact", {"continuous", "discrete", "off"}, world.contact);
  read_choice(node, "solve", {"implicit", "explicit", "step"}, world.solve);
  read_choice(node, "impacts", {"off", "flagged", "auto"}, world.impacts);
  read_choice(node, "motion", {"straight", "rates", "screw", "polynomial"}, world.motion);
  if (const auto node_traversal = node.find("traversal"))
    world.traversal =
        static_cast<ShellTraversal>(node_traversal->choice({"tree", "linear", "paper"}));
  read_choice(node, "roots", {"all", "paper"}, world.roots);
  read_choice(node, "handles", {"path", "euler"}, world.forces.handles);
  read_choice(node, "weights", {"area", "equal"}, world.forces.weights);
  read_if(node, "force_tolerance", world.force_tolerance, [](const auto& n) {
    return n.number({1e-15, 1});
  });
  read_if(node, "force_rounds", world.force_rounds,
          [](const auto& n) { return static_cast<int>(n.whole(1, 100)); });
  read_choice(node, "direction", {"field", "point"}, world.forces.direction);
  read_choice(node, "damping", {"normal", "full", "whole"}, world.forces.damping);
  read_choice(node, "quadrature", {"adaptive", "midpoint"}, world.forces.quadrature);
  read_if(node, "midpoints", world.forces.midpoints,
          [](const auto& n) { return static_cast<int>(n.whole(1, 1000)); });
  read_if(node, "tolerance", world.forces.tolerance, [](const auto& n) {
    return n.number({1e-9, 1});
  });
  read_choice(node, "turns", {"euler", "midpoint"}, world.turns);
  read_if(node, "sleep_speed", world.sleep_speed, [](const auto& n) { return n.number({0, 1e3}); });
  read_if(node, "energy_factor", world.energy_factor, [](const auto& n) {
    return n.number({1, 1e12, true});
  });
}

void read_run(const JsonNode& node, Scene& scene) {
  node.expect_keys({"steps", "seconds", "frames_per_second"});
  node.choose_key({"steps", "seconds"}, true);
  read_if(node, "steps", scene.steps, [](const auto& n) {
    return static_cast<std::uint64_t>(n.whole(1, static_cast<std::int64_t>(kMostSteps)));
  });
  read_if(node, "seconds", scene.seconds,
          [](const auto& n) { return n.number(above_zero(kMostSeconds)); });
  read_if(node, "frames_per_second", scene.frames_per_second, [](const auto& n) {
    return n.number({0.01, 100000});
  });
  const double seconds =
      scene.seconds ? *scene.seconds : static_cast<double>(scene.steps) * scene.world.step;
  if (seconds / scene.world.step > kMostSteps)
    node.fail(fmt::format("{:g} s at a step of {:g} s are more than {:g} steps", seconds,
                          scene.world.step, kMostSteps));
  if (std::min(seconds * scene.frames_per_second, seconds / scene.world.step) > kMostFrames)
    node.fail(fmt::format("makes {:g} frames; a replay may have {:g}",
                          seconds * scene.frames_per_second, kMostFrames));
}

void read_view(const JsonNode& node, SceneView& view) {
  node.expect_keys({"yaw", "pitch", "zoom", "box"});
  read_if(node, "yaw", view.yaw_degrees, [](const auto& n) { return n.number(within(3600)); });
  read_if(node, "pitch", view.pitch_degrees, [](const auto& n) { return n.number(within(89)); });
  read_if(node, "zoom", view.zoom, [](const auto& n) { return n.number({0.01, 100}); });
  read_if(node, "box", view.box, read_box);
}

// A repeated name is reported at its second use.
class UniqueNames {
 public:
  void add(const JsonNode& node, const std::string& name) {
    if (!name.empty() && !names_.insert(name).second)
      node.fail(fmt::format("there is another with the name '{}'", printable(name)));
  }

 private:
  std::set<std::string> names_;
};

void read_things(const JsonNode& root, const std::filesystem::path& folder, Scene& scene) {
  if (const auto materials = root.find("materials"))
    for (const auto& [name, node] : materials->members()) {
      scene.materials.push_back(read_material(node));
      scene.materials.back().name = name;
    }
  if (const auto shapes = root.find("shapes"))
    for (const auto& [name, node] : shapes->members()) {
      scene.shapes.push_back(read_shape(node, folder));
      scene.shapes.back().name = name;
    }
  UniqueNames bodies, joints;
  const auto read_bodies = [&](const JsonNode& list, auto read, const auto& target) {
    for (const JsonNode& node : list.items(kMostSceneBodies)) {
      const std::size_t first = target.size();
      read(node, folder, scene);
      for (std::size_t k = first; k < target.size(); ++k)
        bodies.add(node.get("name"), target[k].name);
    }
  };
  if (const auto list = root.find("soft_bodies"))
    read_bodies(*list, read_soft_body, scene.soft_bodies);
  // A scene with soft bodies needs no rigid ones.
  if (root.find("bodies") || scene.soft_bodies.empty())
    read_bodies(root.get("bodies"), read_body, scene.bodies);
  if (scene.bodies.empty() && scene.soft_bodies.empty())
    root.get("bodies").fail("a scene needs a body");
  if (scene.engine != "isotact" && !scene.soft_bodies.empty())
    root.get("soft_bodies").fail("only our own world bends bodies: the engine must be \"isotact\"");
  if (const auto list = root.find("joints"))
    for (const JsonNode& node : list->items(kMostThings)) {
      scene.joints.push_back(read_joint(node, scene));
      joints.add(node, scene.joints.back().name);
    }
  if (const auto list = root.find("scripts"))
    for (const JsonNode& node : list->items(kMostThings))
      scene.scripts.push_back(read_script(node, scene));
}

}  // namespace

Aabb detail::read_box(const JsonNode& node) {
  const auto corners = node.items(2);
  if (corners.size() != 2) node.fail_expecting("two corners");
  const Aabb box{corners[0].vec(kMostScenePlace), corners[1].vec(kMostScenePlace)};
  if (!(box.lower.x < box.upper.x && box.lower.y < box.upper.y && box.lower.z < box.upper.z))
    node.fail("the second corner is not above the first along each axis");
  return box;
}

SceneMaterial detail::read_material(const JsonNode& node) {
  node.expect_keys({"stiffness", "damping_ratio", "friction", "restitution", "colour"});
  SceneMaterial material;
  SurfaceMaterial& surface = material.surface;
  read_if(node, "stiffness", surface.stiffness, [](const auto& n) { return n.number({0, 1e18}); });
  read_if(node, "damping_ratio", surface.damping_ratio, [](const auto& n) {
    return n.number({0, 100});
  });
  read_if(node, "friction", surface.friction, [](const auto& n) { return n.number({0, 100}); });
  read_if(node, "restitution", surface.restitution, [](const auto& n) { return n.number({0, 1}); });
  read_if(node, "colour", material.colour, read_colour);
  return material;
}

Scene parse_scene(std::string_view text, const std::filesystem::path& name) {
  if (text.size() > kMostSceneBytes)
    throw Error({.file = name.string()},
                fmt::format("a scene of {} bytes; {} are allowed", text.size(), kMostSceneBytes));
  const JsonText json(text, name.string());
  const JsonNode root = json.root();
  root.expect_keys({"isotact_scene", "name", "about", "world", "run", "view", "materials", "shapes",
                    "bodies", "soft", "soft_bodies", "joints", "scripts"});
  root.get("isotact_scene").whole(1, 1);
  Scene scene{.name = name.stem().string()};
  read_if(root, "name", scene.name, [](const auto& n) { return n.name(); });
  if (const auto about = root.find("about")) {
    // A long text may be an array of lines.
    if (about->is_array())
      for (const JsonNode& line : about->items(1000)) scene.about += line.text(kMostText) + "\n";
    else
      scene.about = about->text(kMostText);
  }
  if (const auto world = root.find("world")) read_world(*world, scene);
  if (const auto soft = root.find("soft")) read_soft_world(*soft, scene.soft);
  if (const auto run = root.find("run")) read_run(*run, scene);
  if (const auto view = root.find("view")) read_view(*view, scene.view);
  read_things(root, name.parent_path(), scene);
  return scene;
}

Scene read_scene(const std::filesystem::path& path) {
  const std::vector<std::byte> bytes = read_file(path, kMostSceneBytes);
  return parse_scene({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

std::string_view name(NarrowPhase narrow_phase) {
  switch (narrow_phase) {
    case NarrowPhase::kIdf:
      return "idf";
    case NarrowPhase::kGpu:
      return "gpu";
    default:
      return "points";
  }
}

std::uint64_t step_count(const Scene& scene) {
  if (!scene.seconds) return scene.steps;
  // Rounds up, except if the quotient is a whole number up to rounding errors.
  const double steps = *scene.seconds / scene.world.step;
  return static_cast<std::uint64_t>(std::max(1.0, std::ceil(steps * (1 - 1e-12))));
}

}  // namespace isotact

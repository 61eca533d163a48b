// Another physics engine that steps a scene's bodies instead of our own World. Scenes name one
// (`"world": {"engine": "bullet"}`); the program that runs them brings it (RunSettings::engines),
// since this module knows of none.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "isotact/dynamics/world.h"
#include "isotact/scene/scene.h"

namespace isotact {

class SceneEngine {
 public:
  virtual ~SceneEngine() = default;

  // Of starting: what is done in another way than the scene asks for.
  virtual std::vector<std::string> warnings() const { return {}; }

  // Until the next step, as World has them.
  virtual void move_to(BodyId body, const Pose& world_from_body) = 0;
  virtual void add_load(BodyId body, const Load& load) = 0;
  virtual void set_motor(std::size_t joint, const Motor& motor) = 0;

  // One step of the scene's length. Writes the states of all bodies into the world, fills in what
  // the report has of contacts, depth, islands and times, and lists pairs that touch, in the order
  // of bodies.
  virtual void step(World& world, StepReport& report, std::vector<PairContact>& contacts) = 0;
};

// Gets the scene, for where shapes come from, and the world with all bodies and joints in it.
// Throws Error for what the engine cannot do.
using SceneEngineMaker =
    std::function<std::unique_ptr<SceneEngine>(const Scene& scene, const World& world)>;
using SceneEngines = std::map<std::string, SceneEngineMaker>;

}  // namespace isotact

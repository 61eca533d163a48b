// Runs scenes on Bullet's dynamics, with our contacts: target isotact::bullet_scene.
//
//   SceneRun run(scene, {.engines = {{"bullet", isotact::make_bullet_engine}}});
//
// What differs from our own world (docs/bullet.md): contact is a constraint, without stiffness and
// damping; Bullet multiplies restitutions; its numbers are single precision; and sleeping is
// Bullet's own, where `sleep_speed` is set. Formulas of scenes are Bullet's primitives.
#pragma once

#include "isotact/scene/engine.h"

namespace isotact {

std::unique_ptr<SceneEngine> make_bullet_engine(const Scene& scene, const World& world);

}  // namespace isotact

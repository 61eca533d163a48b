// Runs scenes on Bullet's dynamics, with our contacts: target isotact::bullet_scene.
//
//   SceneRun run(scene, {.engines = {{"bullet", isotact::make_bullet_engine}}});
//
// Differences from our own world (docs/bullet.md): contact is a constraint, without stiffness and
// damping. Bullet multiplies restitutions. Its numbers are single precision. Sleeping is Bullet's
// own, if `sleep_speed` is set. Formulas of scenes are Bullet's primitives.
//
// The scene's narrow phase: `points` are the pairs of install.h, `idf` and `gpu` the batches of
// batch.h. If this was built without isotact::gpu, or the machine has no GPU, `gpu` becomes `idf`,
// with a warning.
#pragma once

#include "isotact/adapters/bullet/batch.h"
#include "isotact/scene/run/run.h"

namespace isotact {

std::unique_ptr<SceneEngine> make_bullet_engine(const Scene& scene, const World& world);

// Returns an engine with other settings of batches, or with an observer, for example to measure the
// queries of a scene's steps:
//
//   const BatchObserver record = [&](const BatchStep& step, const IdfResult&) { ... };
//   SceneRun run(scene, {.keep_frames = false, .keep_log = false,
//                        .engines = {{"bullet", bullet_engine_with({.observer = record})}}});
//   run.go(1000);
//
// The backend of the settings, if there is one, overrides the scene's. The settings apply only to
// the narrow phases idf and gpu.
SceneEngineMaker bullet_engine_with(BatchSettings batch);

}  // namespace isotact

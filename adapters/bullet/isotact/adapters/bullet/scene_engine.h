// Runs scenes on Bullet's dynamics, with our contacts: target isotact::bullet_scene.
//
//   SceneRun run(scene, {.engines = {{"bullet", isotact::make_bullet_engine}}});
//
// What differs from our own world (docs/bullet.md): contact is a constraint, without stiffness and
// damping; Bullet multiplies restitutions; its numbers are single precision; and sleeping is
// Bullet's own, where `sleep_speed` is set. Formulas of scenes are Bullet's primitives.
//
// The scene's narrow phase: `points` are the pairs of install.h, `idf` and `gpu` the batches of
// batch.h. Where this was built without isotact::gpu, or the machine has no GPU, `gpu` is `idf`,
// and a warning says so.
#pragma once

#include "isotact/adapters/bullet/batch.h"
#include "isotact/scene/engine.h"

namespace isotact {

std::unique_ptr<SceneEngine> make_bullet_engine(const Scene& scene, const World& world);

// With batches that are set otherwise or watched: what a scene's steps ask of the query, say, for
// measuring:
//
//   const BatchObserver record = [&](const BatchStep& step, const IdfResult&) { ... };
//   SceneRun run(scene, {.keep_frames = false, .keep_log = false,
//                        .engines = {{"bullet", bullet_engine_with({.observer = record})}}});
//   run.go(1000);
//
// The settings' own backend, where there is one, goes before the scene's. All of it counts only
// with the narrow phases idf and gpu.
SceneEngineMaker bullet_engine_with(BatchSettings batch);

}  // namespace isotact

// Runs a scene and records it.
//
//   SceneRun run(scene);
//   run.go(step_count(scene));
//   write_file("chain.glb", write_replay_glb(run.replay()));  // replay.h
//
// The same scene gives the same bytes for any number of threads, except for the times in the log.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/dynamics/rigid/world.h"
#include "isotact/export.h"
#include "isotact/scene/parse/scene.h"
#include "isotact/scene/replay/replay.h"

namespace ISOTACT_PUBLIC isotact {

// Another physics engine that steps a scene's bodies instead of our own World. Scenes name one
// (`"world": {"engine": "bullet"}`). The program that runs them provides it (RunSettings::engines),
// since this module has none.

class SceneEngine {
 public:
  virtual ~SceneEngine() = default;

  // Returns the requests of the scene that the engine handles differently, found at its start.
  virtual std::vector<std::string> warnings() const { return {}; }

  // In effect until the next step, as in World.
  virtual void move_to(BodyId body, const Pose& world_from_body) = 0;
  virtual void add_load(BodyId body, const Load& load) = 0;
  virtual void set_motor(std::size_t joint, const Motor& motor) = 0;

  // Performs one step of the scene's length. Writes the states of all bodies into the world and
  // fills in contacts, depth, islands and times of the report. Lists touching pairs in the order of
  // bodies.
  virtual void step(World& world, StepReport& report, std::vector<PairContact>& contacts) = 0;
};

// Receives the scene, which has the sources of shapes, and the world with all bodies and joints.
// Throws Error for requests that the engine does not support.
using SceneEngineMaker =
    std::function<std::unique_ptr<SceneEngine>(const Scene& scene, const World& world)>;
using SceneEngines = std::map<std::string, SceneEngineMaker>;

struct RunSettings {
  Threads threads{};
  bool keep_frames = true;  // Poses and contacts at the scene's frame rate.
  bool keep_log = true;     // One row of 200 bytes per step.
  // Paths of points into other bodies, in frames. Only our own engine has them.
  bool keep_paths = false;
  SceneEngines engines{};  // By name in scenes, in addition to our own.
};

class SceneRun {
 public:
  // Reads files, cooks shapes, and builds the world. Throws Error with the body's name for anything
  // that cannot be loaded. Throws if the frames of the replay would take more than 2 GB, and if the
  // scene's engine is not among those given.
  explicit SceneRun(const Scene& scene, const RunSettings& settings = {});

  const Scene& scene() const { return scene_; }
  // The current bodies, for any engine.
  const World& world() const { return world_; }
  // Soft bodies. Null if the scene has none.
  const SoftWorld* soft() const { return soft_ ? &*soft_ : nullptr; }
  // Report of the last step, of all bodies together.
  const StepReport& report() const { return report_; }
  // Contacts of rigid bodies.
  std::span<const PairContact> contacts() const;
  // Index of the body: soft bodies follow the rigid ones.
  std::optional<Trouble> trouble() const;
  std::string_view body_name(std::size_t body) const;  // The same index.
  std::uint64_t hash() const;  // Hash of the whole state: equal for equal runs.
  const Replay& replay() const { return replay_; }
  ReplayFrame frame() const;  // The current state.
  // Warnings of loading, and of the first step if bodies overlap at the start.
  const std::vector<std::string>& warnings() const { return warnings_; }

  // Applies scripts, steps the world, and records the step. Returns false if the world is in
  // trouble; a run should stop then.
  bool step();
  // Performs that many steps. Stops early if there is trouble or if `watch` returns false after a
  // step. The last state also becomes a frame.
  using Watch = std::function<bool(const StepReport&)>;
  bool go(std::uint64_t steps, const Watch& watch = {});

  // Maxima over the whole run.
  double deepest() const { return deepest_; }  // Metres.
  std::uint32_t most_contacts() const { return most_contacts_; }
  // Sums over the whole run (StepReport).
  std::uint64_t impacts() const { return impacts_; }
  std::uint64_t substeps() const { return substeps_; }

  // Returns the whole state with the hash of its scene and a checksum. A restored run continues
  // with the same bytes; its replay begins there. Throws Error for another engine than ours.
  std::vector<std::byte> save() const;
  // Throws Error for another scene or broken data.
  void restore(std::span<const std::byte> snapshot);

 private:
  void start_engine();
  void step_engine();
  void start_soft();
  void add_soft_report();
  void warn_of_soft_overlaps();
  void record_soft(ReplayFrame& frame) const;
  std::vector<std::byte> save_parts() const;
  void restore_parts(std::span<const std::byte> bytes);
  void apply_scripts();
  void warn_of_overlaps();
  void record(bool even_between_frames);
  std::uint64_t scene_hash() const;

  Scene scene_;
  RunSettings settings_;
  World world_;
  std::optional<SoftWorld> soft_{};
  std::unique_ptr<SceneEngine> engine_{};
  StepReport report_{};
  std::vector<PairContact> contacts_{};  // Contacts of the engine.
  Replay replay_{};
  std::vector<std::string> warnings_{};
  double deepest_ = 0;
  std::uint32_t most_contacts_ = 0;
  std::uint64_t impacts_ = 0, substeps_ = 0;
};

}  // namespace isotact

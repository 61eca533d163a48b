// Runs a scene and records what happens.
//
//   SceneRun run(scene);
//   run.go(step_count(scene));
//   write_file("chain.glb", write_replay_glb(run.replay()));  // replay.h
//
// The same scene gives the same bytes for any number of threads, but for the times in the log.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/scene/engine.h"
#include "isotact/scene/replay.h"
#include "isotact/scene/scene.h"

namespace isotact {

struct RunSettings {
  Threads threads{};
  bool keep_frames = true;  // poses and contacts at the scene's rate
  bool keep_log = true;     // a row a step: 200 bytes
  bool keep_paths = false;  // ways of points into others, in frames; of our own engine only
  SceneEngines engines{};   // by the name that scenes have for them, beside our own
};

class SceneRun {
 public:
  // Reads files, cooks shapes, and builds the world: throws Error for what cannot be had, with the
  // name of the body. Throws where the frames of the replay would take more than 2 GB, and where
  // the scene's engine is not among those given.
  explicit SceneRun(const Scene& scene, const RunSettings& settings = {});

  const Scene& scene() const { return scene_; }
  // The bodies as they are now, whatever engine moves them.
  const World& world() const { return world_; }
  // Those that bend; null where the scene has none.
  const SoftWorld* soft() const { return soft_ ? &*soft_ : nullptr; }
  // Of the last step: of all bodies together.
  const StepReport& report() const { return report_; }
  // Of rigid bodies.
  std::span<const PairContact> contacts() const;
  std::optional<Trouble> find_trouble() const;  // body: soft ones count on from the rigid ones
  std::string_view body_name(std::size_t body) const;  // so, too
  std::uint64_t hash() const;                          // of all that changes: equal for equal runs
  const Replay& replay() const { return replay_; }
  ReplayFrame frame() const;  // as it is now
  // Of loading, and of the first step: bodies that overlap there.
  const std::vector<std::string>& warnings() const { return warnings_; }

  // Scripts, a step of the world, and what is recorded of it. False where the world is in trouble:
  // there is no sense in going on.
  bool step();
  // That many steps, or until there is trouble, or `watch` says no after one. The last state
  // becomes a frame, too.
  using Watch = std::function<bool(const StepReport&)>;
  bool go(std::uint64_t steps, const Watch& watch = {});

  // Of the whole run.
  double deepest() const { return deepest_; }  // metres
  std::uint32_t most_contacts() const { return most_contacts_; }

  // All that changes, sealed against other scenes and broken files. A run that is restored goes on
  // with the same bytes; its replay begins there. Throws Error with another engine than ours.
  std::vector<std::byte> save() const;
  void restore(std::span<const std::byte> snapshot);  // throws Error where it does not fit

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
  std::vector<PairContact> contacts_{};  // of the engine
  Replay replay_{};
  std::vector<std::string> warnings_{};
  double deepest_ = 0;
  std::uint32_t most_contacts_ = 0;
};

}  // namespace isotact

// The broad phase for many moving objects. Each object has a wider box, sized for its expected
// motion. Pairs of wider boxes are candidates, kept from step to step. Only objects that leave
// their wider box search for new ones, in a tree of blocks of eight boxes. A step visits the
// candidates in order and compares the objects' own boxes.
//
// Cost of a step: a few nanoseconds for each candidate, and the logarithm of all objects for each
// object that left its wider box. From time to time, n to sort the tree. A step without changes
// costs nothing. Memory: about 250 bytes per object, 16 per candidate.
#pragma once

#include <cstdint>
#include <memory>

#include "isotact/export.h"
#include "isotact/queries/broad_phase/broad_phase.h"

namespace ISOTACT_PUBLIC isotact {

struct BoxTreeSettings {
  double margin = 0.06;     // Enlargement of a wider box on every side, in mean extents.
  double steps_ahead = 16;  // Steps of its own motion that a wider box contains.
  double most_ahead = 0.4;  // Limit of that motion, in mean extents.
};

// Work of the last step.
struct BoxTreeWork {
  std::size_t looked_up = 0;   // Objects that left their wider box.
  std::size_t candidates = 0;  // Pairs of wider boxes.
  bool sorted = false;         // The tree was sorted again.
};

class BoxTree final : public BroadPhase {
 public:
  explicit BoxTree(const BoxTreeSettings& settings = {});
  ~BoxTree() override;

  const BoxTreeWork& work() const;

 private:
  struct State;

  void find_pairs(Threads threads) override;
  void take_changes(Threads threads);
  void look_up(Threads threads);
  void merge_bucket(std::size_t bucket);
  void merge(Threads threads);

  std::unique_ptr<State> state_;
};

}  // namespace isotact

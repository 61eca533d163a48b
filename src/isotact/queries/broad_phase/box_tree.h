// The broad phase for many moving objects. Each object has a wider box, made for where it seems to
// be going. Pairs of wider boxes are candidates, kept from step to step; only objects that leave
// their wider box look for new ones, in a tree of blocks of eight boxes. A step goes through the
// candidates in order and compares the objects' own boxes.
//
// Cost of a step: the candidates (a few nanoseconds each); objects that left their wider box, times
// the logarithm of all; now and then, n to sort the tree. Nothing if nothing has changed. Memory:
// about 250 bytes an object, 16 a candidate.
#pragma once

#include <cstdint>
#include <memory>

#include "isotact/queries/broad_phase/broad_phase.h"

namespace isotact {

struct BoxTreeSettings {
  double margin = 0.06;     // of its mean extent, by which a wider box is wider on every side
  double steps_ahead = 16;  // of its own motion, which a wider box holds
  double most_ahead = 0.4;  // of its mean extent, which that may be
};

// What the last step did.
struct BoxTreeWork {
  std::size_t looked_up = 0;   // objects that left their wider box
  std::size_t candidates = 0;  // pairs of wider boxes
  bool sorted = false;         // the tree anew
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

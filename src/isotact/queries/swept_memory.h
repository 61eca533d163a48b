// What a shell and a field remember of each other from one motion to the next.
//
//   SweptMemory memory;  // of this tree in this field
//   for (;;) tracer.trace(tree, next_motion(), memory, results);
//
// Bodies of a simulation move by little in a step. Of every part of the shell it is known how far
// it may move before one of its points can change sides (detail/swept_front.h): what has not moved
// as far is passed over, and points that stay inside all the way need no trace. Hits and intervals
// are those of a trace without memory, to the last bit, whatever the motions were: small steps,
// jumps, or poses that were set in between. Only counts differ. So a memory may be thrown away, or
// begin anew, at any time; it is nothing that a snapshot has to hold.
//
// A memory serves one tree and one tracer at a time, and starts anew when it meets others; it keeps
// the tree's buffer alive. One thread may use it at a time. Motions too large for it to gain (more
// than a tenth of the shell's radius, or of more than kMostMemoryPieces pieces) are traced without,
// and so are SweptMode::kAny and ShellTraversal::kLinear.
//
// Cost of a trace: half a microsecond; one or two nanoseconds for each place that it remembers, or
// none at all for a shell that is only near; some seventy for each that has moved as far as it may;
// and the traces of points that are about to come through the isosurface. Memory: 6 bytes for each
// point near the isosurface, and 17 for each node further away. The tracer keeps 4 bytes for each
// block of 8^3 cells of its field from the first such trace on.
#pragma once

#include <cstdint>
#include <memory>

namespace isotact {

inline constexpr int kMostMemoryPieces = 8;

class SweptMemory {
 public:
  SweptMemory();
  SweptMemory(SweptMemory&&) noexcept;
  SweptMemory& operator=(SweptMemory&&) noexcept;
  ~SweptMemory();

  void forget();  // and gives its memory back
  std::uint64_t memory_bytes() const;

 private:
  friend class SweptTracer;
  struct State;
  std::unique_ptr<State> state_;  // none before it is used
};

}  // namespace isotact

// What the parts of bench_swept share: options, bodies with their fields, shells, pairs of poses,
// and how they are traced and held against each other.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "isotact/geometry/mesh/mesh.h"
#include "isotact/queries/swept/swept.h"

#include "support/report.h"

namespace isotact::bench {

struct Options : RunOptions {
  int resolution() const { return quick ? 256 : 1024; }
};

struct Body {
  TriangleMesh mesh;
  BrickField field;
};

struct Shell {
  std::string name;
  std::string how;  // in words
  std::shared_ptr<const Body> body;
  PointSphereTree tree;
  double paper_linear = 0, paper_tree = 0;  // XB14 Table 3, seconds for 1,000 pairs; 0: not there

  Vec3 center() const { return to_double(tree.bounding_sphere().center); }
};

// Each made once, when first asked for.
class Stock {
 public:
  explicit Stock(const Options& options) : options_(options) {}
  const Shell& bunny_777();
  const Shell& bunny_35947();   // all vertices of the file, those of no triangle too
  const Shell& bunny_closed();  // vertices, the holes closed: all lie on the field's surface
  const Shell& bowl();
  const Shell& dragon();

 private:
  std::shared_ptr<const Body> bunny();

  const Options& options_;
  std::shared_ptr<const Body> bunny_;
  Shell bunny_777_, bunny_35947_, bunny_closed_, bowl_, dragon_;
};

// XB14 section 5: places of the shell's centre uniform in the field's box, three times as large
// about its middle, and any rotations. Bodies turn about that centre.
std::vector<ShellMotion> make_random_pairs(const Shell& shell, std::size_t count);

// As in a simulation: the shell is moved along a random line up to the first contact, less a
// quarter or more up to half a hundredth of the box; from there it goes a hundredth of the box in
// any direction and turns by 0.05.
std::vector<ShellMotion> make_small_steps(const Shell& shell, std::size_t count);

std::vector<ShellMotion> with_model(std::vector<ShellMotion> motions, MotionModel model);

// One tracer a mode and traversal, one thread, margin 0.
struct Tracers {
  explicit Tracers(const BrickField& field, double margin = 0);
  SweptTracer tree, linear, first, any;
};

struct Traced {
  SweptWork work{};
  std::size_t hit_points = 0, hit_motions = 0;
};

// A few motions at a time: the hits of all would take gigabytes.
Traced trace_all(const SweptTracer& tracer, const PointSphereTree& tree,
                 std::span<const ShellMotion> motions);

// The tree gives what point by point gives, for `compared` of them; and the first contact is the
// first of all.
void check_answers(const Tracers& tracers, const Shell& shell, std::span<const ShellMotion> motions,
                   std::size_t compared, Report& report);

// The parts, each a table.
void bench_table3(const Options& options, Stock& stock, Report& report);
void bench_motions(const Options& options, Stock& stock, Report& report);
void bench_steps(const Options& options, Stock& stock, Report& report);
void bench_fcl(const Options& options, Stock& stock, Report& report);

}  // namespace isotact::bench

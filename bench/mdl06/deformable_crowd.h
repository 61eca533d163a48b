// Bodies that bend and wander in a cube, and pass through each other as MDL06's do (section 7).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "isotact/dynamics/soft/soft_world.h"
#include "isotact/queries/broad_phase/broad_phase.h"
#include "isotact/queries/deformable/object_tree.h"

namespace isotact::bench {

struct CrowdSettings {
  std::vector<std::string> figures{};  // in turn (FigureShape of scene/parse/scene.h)
  std::size_t bodies = 3;
  double space = 1;    // m^3 a body
  double speed = 0.5;  // m/s
  std::uint64_t seed = 1;
  double step = 1.0 / 60;
};

class Crowd {
 public:
  explicit Crowd(const CrowdSettings& settings);

  SoftWorld& soft() { return soft_; }
  std::size_t size() const { return soft_.body_count(); }
  double side() const { return side_; }      // of the cube about the origin
  double extent() const { return extent_; }  // of the largest body
  std::size_t vertices() const { return vertices_; }

  // One for each body, made when first asked for, with the positions of now.
  ObjectTree& tree(SoftId id, const ObjectTreeSettings& settings);

 private:
  SoftWorld soft_;
  double side_ = 0, extent_ = 0;
  std::size_t vertices_ = 0;
  std::vector<std::optional<ObjectTree>> trees_;
};

// Boxes or spheres of now into a broad phase, which gets them in their order at first.
void put_boxes(Crowd& crowd, BroadPhase& phase);
void put_spheres(Crowd& crowd, BroadPhase& phase);

}  // namespace isotact::bench

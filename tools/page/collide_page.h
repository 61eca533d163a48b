// isotact collide --view: both bodies and the answer as one page (docs/pair-inspector.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "isotact/geometry/mesh.h"
#include "isotact/queries/collide.h"
#include "isotact/queries/continuous_collide.h"

#include "command.h"

namespace isotact::tool {

struct CollidePageBody {
  std::string file;
  TriangleMesh surface{};
  std::optional<Shape> shape{};
  BodyMotion motion{};
};

struct CollidePage {
  CollidePageBody a, b;
  ContinuousRequest request{};  // of the motion
  CollideRequest live{};        // what is asked again while somebody moves B
  Json report{};                // as --json has it
  // Of bodies that move: who touches when. Null: nothing moves.
  const ContinuousResult* swept = nullptr;
};

// Wrong usage where no page can be written, or the name is not that of a page.
void check_page_name(const std::string& name);
// Throws Error.
void write_collide_page(const std::string& output, const CollidePage& page, Threads threads);

}  // namespace isotact::tool

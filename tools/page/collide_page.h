// isotact collide --view: both bodies and the result as one page (docs/pair-inspector.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "isotact/geometry/mesh/mesh.h"
#include "isotact/queries/collide.h"
#include "isotact/queries/continuous_collide.h"
#include "isotact/queries/shape.h"

#include "commands/command.h"

namespace isotact::tool {

struct CollidePageBody {
  std::string file;
  TriangleMesh surface{};
  std::optional<Shape> shape{};
  BodyMotion motion{};
};

struct CollidePage {
  CollidePageBody a, b;
  ContinuousRequest request{};  // Request of the motion.
  CollideRequest live{};        // Repeated while a user moves B.
  Json report{};                // As in --json.
  // For moving bodies: contacts and their times. Null: nothing moves.
  const ContinuousResult* swept = nullptr;
};

// Throws UsageError if no page can be written, or if the name is not that of a page.
void check_page_name(const std::string& name);
// Throws Error.
void write_collide_page(const std::string& output, const CollidePage& page, Threads threads);

}  // namespace isotact::tool

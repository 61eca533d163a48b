// The maps of image-space detection, as a picture.
#pragma once

#include "isotact/queries/depth/depth_map.h"

#include "picture/picture.h"

namespace isotact::tool {

// One row of three panels per view. They are the object's map, the environment's first surface in
// the same box, and an overlay of both. The map shows the object's far surface, light if near the
// view's front. Red pixels of the overlay are those in which a surface of the environment lies in
// the object, or is around it.
struct DepthPanels {
  DepthMap object, environment;
};
DepthPanels make_panels(const DepthMap& object, const Pose& world_from_object,
                        const DepthElement& environment, const DepthSettings& settings);
Picture draw_panels(const std::vector<DepthPanels>& rows);

}  // namespace isotact::tool

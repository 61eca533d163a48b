// What image-space detection sees, as a picture.
#pragma once

#include "isotact/queries/depth_map.h"

#include "picture/picture.h"

namespace isotact::tool {

// Three panels a view: the object's map (its far surface, light where it is near to the view's
// front), the environment's first surface in the same box, and both over each other, with the
// pixels in red in which a surface of the environment lies in the object, or is around it. One row
// a view.
struct DepthPanels {
  DepthMap object, environment;
};
DepthPanels make_panels(const DepthMap& object, const Pose& world_from_object,
                        const DepthElement& environment, const DepthSettings& settings);
Picture draw_panels(const std::vector<DepthPanels>& rows);

}  // namespace isotact::tool

// Several small pictures on one sheet, with letters as in the paper's figures.
#pragma once

#include <functional>
#include <string>

#include "isotact/gpu/particles/particle_maps.h"
#include "isotact/queries/depth/depth_map.h"

#include "painter.h"
#include "picture/picture.h"

namespace isotact::demo {

tool::Picture develop(const Painting& painting, double exposure = 1);

// Nearer is brighter; empty pixels are dark blue. Values are 0 to 1, row by row from below.
tool::Picture show_heights(int width, int height,
                           const std::function<float(int column, int row)>& depth);
tool::Picture show_heights(const ParticleMaps& maps);
tool::Picture show_normals(const ParticleMaps& maps);

class Sheet {
 public:
  Sheet(int width, int height);
  // Clips to the sheet. The caption is in the lower left corner of the picture.
  void place(const tool::Picture& picture, int x, int y, const std::string& caption);
  const tool::Picture& picture() const { return picture_; }

 private:
  tool::Picture picture_;
};

// Reduces the number of shades, which makes a smaller file and is not visible.
void coarsen(tool::Picture& picture, int step);

// Rotates by a quarter.
tool::Picture turn_left(const tool::Picture& picture);
// Each pixel is the mean of factor^2.
tool::Picture shrink(const tool::Picture& picture, int factor);

}  // namespace isotact::demo

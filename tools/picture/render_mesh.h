// Pictures of meshes and fields: a small ray tracer on the CPU, with a sun, a sky and a ground that
// catches shadows. Fields are sphere-traced: what is seen is the field itself, not a mesh of it.
#pragma once

#include <optional>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/base/pose.h"
#include "isotact/field/any_field.h"
#include "isotact/geometry/mesh.h"

#include "picture/picture.h"

namespace isotact::tool {

struct RenderField {
  AnyField field;         // with a finite box
  double voxel_size = 0;  // metres: how fine it is
  double iso = 0;         // metres: its surface is where it has this value
};

struct RenderItem {
  TriangleMesh mesh{};
  Pose world_from_mesh{};
  Vec3 colour{0.55, 0.57, 0.60};  // share of the light that is given back, linear
  // Drawn instead of the mesh, in its frame. The mesh is a coarse surface then, for the camera.
  std::optional<RenderField> field{};
  // Instead of the settings': what bends is smooth, however coarse its mesh.
  std::optional<double> crease_degrees{};
};

struct RenderSettings {
  int width = 1200, height = 800;
  double yaw_degrees = 30;                // the camera goes around y; 0 looks along -z
  double pitch_degrees = 20;              // and up; 90 looks straight down
  double field_of_view_degrees = 26;      // of the picture's shorter side
  double zoom = 1;                        // 1: the items fill the picture but for a margin
  double crease_degrees = 35;             // edges sharper than that are seen; 0: flat triangles
  bool ground = true;                     // below the lowest point of the items
  std::optional<double> ground_height{};  // metres: or there
  // What the picture holds instead of all items, so that the camera stands still.
  std::optional<Aabb> frame{};
  int sky_samples = 3;                // rays a subpixel for the light of the sky; more: less grain
  Vec3 background{0.80, 0.82, 0.85};  // linear
  Threads threads{};
};

// The items (at least one triangle between them, finite positions) from a camera that
// frames them all. The same settings give the same picture for any number of threads. Throws Error
// for sizes outside 1 to 16384, samples outside 1 to 64 and what is not finite. Cost: about 20 rays
// a pixel, a few seconds for a million pixels on two cores, some four times that for fields; a few
// megabytes a thread beside the items.
Picture render(const std::vector<RenderItem>& items, const RenderSettings& settings = {});

// The same, and how far away what a pixel shows is, metres along the camera's axis; infinite where
// there is nothing.
struct DeepPicture {
  Picture picture;
  std::vector<float> depths;  // as many as pixels
};
DeepPicture render_deep(const std::vector<RenderItem>& items, const RenderSettings& settings);

}  // namespace isotact::tool

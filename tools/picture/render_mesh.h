// Pictures of meshes and fields: a small ray tracer on the CPU, with a sun, a sky and a ground that
// catches shadows. Fields are sphere-traced: the picture shows the field itself, not a mesh of it.
#pragma once

#include <optional>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/base/pose.h"
#include "isotact/field/any_field.h"
#include "isotact/geometry/mesh/mesh.h"

#include "picture/picture.h"

namespace isotact::tool {

struct RenderField {
  AnyField field;         // With a finite box.
  double voxel_size = 0;  // Metres: its fineness.
  double level = 0;       // Metres: value of its surface.
};

struct RenderItem {
  TriangleMesh mesh{};
  Pose world_from_mesh{};
  Vec3 colour{0.55, 0.57, 0.60};  // Reflected fraction of the light, linear.
  // Drawn instead of the mesh, in its frame. The mesh is then a coarse surface for the camera.
  std::optional<RenderField> field{};
  // Instead of the value of the settings: soft bodies are smooth even if their mesh is coarse.
  std::optional<double> crease_degrees{};
};

struct RenderSettings {
  int width = 1200, height = 800;
  double yaw_degrees = 30;                // Rotation of the camera about y; 0 points along -z.
  double pitch_degrees = 20;              // Elevation; 90 points straight down.
  double field_of_view_degrees = 26;      // Along the shorter side of the picture.
  double zoom = 1;                        // 1: the items fill the picture except for a margin.
  double crease_degrees = 35;             // Sharper edges are visible; 0: flat triangles.
  bool ground = true;                     // Below the lowest point of the items.
  std::optional<double> ground_height{};  // Metres: or at this height.
  // The box of the picture instead of all items, so that the camera does not move.
  std::optional<Aabb> frame{};
  int sky_samples = 3;  // Rays per subpixel for the light of the sky. More rays give less grain.
  Vec3 background{0.80, 0.82, 0.85};  // Linear.
  Threads threads{};
};

// Draws the items from a camera that frames them all. They need at least one triangle together, and
// finite positions. The same settings give the same picture for any number of threads. Throws Error
// for sizes outside 1 to 16384, samples outside 1 to 64 and values that are not finite. Cost: about
// 20 rays per pixel, a few seconds for a million pixels on two cores, about four times that for
// fields. Memory: a few megabytes per thread in addition to the items.
Picture render(const std::vector<RenderItem>& items, const RenderSettings& settings = {});

// The same, with the distance of each pixel, metres along the camera's axis. Infinite at empty
// pixels.
struct DeepPicture {
  Picture picture;
  std::vector<float> depths;  // One per pixel.
};
DeepPicture render_deep(const std::vector<RenderItem>& items, const RenderSettings& settings);

}  // namespace isotact::tool

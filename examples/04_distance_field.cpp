// From a mesh to a signed distance field: build it, ask it, save it, and map it back from its file.
#include <cstdio>
#include <filesystem>
#include <vector>

#include "isotact/field/build/build_field.h"
#include "isotact/field/io/asset.h"
#include "isotact/geometry/primitives/primitives.h"

int main() {
  using namespace isotact;
  const TriangleMesh gear = make_shape("gear", {});
  const FieldResult built = build_field(gear, {.resolution = 128});
  const BrickField& field = built.field;
  std::printf("%zu bricks, %.1f MB, sign by %s (%s)\n", built.report.bricks,
              static_cast<double>(built.report.bytes) / 1e6,
              std::string(name(built.report.sign.method)).c_str(),
              built.report.sign.reason.c_str());

  const FieldSample sample = field.sample({0, 0.03, 0});
  const Interval truth = field.distance_bounds({0, 0.03, 0});
  std::printf("3 cm above the middle: %.4f m, surely between %.4f and %.4f; out is along y: %.2f\n",
              sample.distance, truth.lower, truth.upper, sample.gradient.y);

  std::vector<Vec3f> points(1000);
  for (std::size_t i = 0; i < points.size(); ++i)
    points[i] = {static_cast<float>(i) * 0.0001F, 0, 0};
  std::vector<float> distances(points.size());
  sample_field(field, points, distances, {});

  const auto file = std::filesystem::temp_directory_path() / "isotact_example_gear.isotact";
  write_asset(file, {.field = field});
  const Asset mapped = read_asset(file, {.map = true});
  const bool same = mapped.field->value({0.01, 0.02, 0.03}) == field.value({0.01, 0.02, 0.03});
  std::filesystem::remove(file);
  return same && contains(truth, sample.distance) ? 0 : 1;
}

#include "isotact/pointshell/point_shell.h"

namespace isotact {
namespace {

void take_normal(Vec3f& normal, const Vec3& gradient) {
  if (length(gradient) > 0.5) normal = to_float(normalized(gradient));
}

}  // namespace

void take_normals(PointShell& shell, const BrickField& field, Threads threads) {
  std::vector<Vec3f> gradients(shell.points.size());
  sample_field(field, shell.points, {}, gradients, threads);
  for (std::size_t i = 0; i < gradients.size(); ++i)
    take_normal(shell.normals[i], to_double(gradients[i]));
}

void take_normals(PointShell& shell, const AnyField& field, Threads threads) {
  parallel_for(shell.points.size(), 1024, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      take_normal(shell.normals[i], field.sample(to_double(shell.points[i])).gradient);
  });
}

}  // namespace isotact

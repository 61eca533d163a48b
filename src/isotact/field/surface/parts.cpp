#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "isotact/base/random.h"
#include "isotact/base/trig.h"
#include "isotact/field/surface/detail/phase.h"
#include "isotact/field/surface/detail/surface_passes.h"
#include "isotact/geometry/bvh/winding.h"

namespace isotact::surface_detail {
namespace {

struct Part {
  std::size_t first_triangle = 0;
  Vec3 origin{};  // one of its vertices: volumes of small parts far away keep their digits
  double volume = 0;
  bool turn = false;
};

double triangle_volume(const std::array<Vec3f, 3>& t, const Vec3& origin) {
  return dot(to_double(t[0]) - origin, cross(to_double(t[1]) - origin, to_double(t[2]) - origin)) /
         6;
}

std::vector<Part> measure_parts(const TriangleMesh& mesh, const EdgeReport& edges) {
  std::vector<Part> parts(edges.parts);
  std::uint32_t seen = 0;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    Part& part = parts[edges.part[i]];
    const std::array<Vec3f, 3> t = corners(mesh, i);
    if (edges.part[i] == seen) {  // parts are numbered by their first triangle
      ++seen;
      part.first_triangle = i;
      part.origin = to_double(t[0]);
    }
    part.volume += triangle_volume(t, part.origin);
  }
  return parts;
}

// How often the other parts wind around a point of each part: that number is whole, unless parts
// touch in the very point.
class Surroundings {
 public:
  Surroundings(const TriangleMesh& mesh, const EdgeReport& edges, Threads threads)
      : mesh_(mesh), tree_(mesh, {.threads = threads}), members_(edges.parts) {
    for (std::size_t i = 0; i < mesh.triangles.size(); ++i) members_[edges.part[i]].push_back(i);
  }

  long winding_number_around(std::uint32_t part) const {
    const auto [a, b, c] = corners(mesh_, members_[part][0]);
    const Vec3f p = to_float((to_double(a) + to_double(b) + to_double(c)) / 3);
    double own = 0;
    for (const std::size_t i : members_[part])
      own += compute_half_solid_angle(corners(mesh_, i), to_double(p)) / (2 * kPi);
    return std::lround(compute_winding_number(tree_, p) - own);
  }

 private:
  const TriangleMesh& mesh_;
  WindingTree tree_;
  std::vector<std::vector<std::size_t>> members_;
};

// Let m be how often the others wind around a part. In material (m > 0) it stays as it is: facing
// inwards, it is a cavity. In inverted material (m < 0) it is turned with that. In the open, it is
// turned where its volume is negative.
void decide_by_surroundings(const TriangleMesh& mesh, const EdgeReport& edges,
                            std::vector<Part>& parts, Threads threads) {
  const Surroundings surroundings(mesh, edges, threads);
  parallel_for(parts.size(), 16, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const long m = surroundings.winding_number_around(static_cast<std::uint32_t>(i));
      parts[i].turn = m < 0 || (m == 0 && parts[i].volume < 0);
    }
  });
}

}  // namespace

TurnResult turn_inward_parts(TriangleMesh& mesh, const EdgeReport& edges, Threads threads) {
  std::vector<Part> parts = measure_parts(mesh, edges);
  TurnResult result;
  for (const Part& p : parts) result.volume += std::abs(p.volume);
  const auto faces_inward = [](const Part& p) { return p.volume < 0; };
  if (std::none_of(parts.begin(), parts.end(), faces_inward)) return result;
  if (parts.size() == 1)
    parts[0].turn = true;
  else
    decide_by_surroundings(mesh, edges, parts, threads);
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i)
    if (parts[edges.part[i]].turn) std::swap(mesh.triangles[i][1], mesh.triangles[i][2]);
  for (const Part& p : parts) result.turned += p.turn ? 1U : 0U;
  return result;
}

double compute_area(const TriangleMesh& mesh) {
  double area = 0;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const auto [a, b, c] = corners(mesh, i);
    area += length(cross(to_double(b) - to_double(a), to_double(c) - to_double(a))) / 2;
  }
  return area;
}

namespace {

constexpr std::size_t kSamples = 2000;

// Points a little behind the surface, spread by area.
std::vector<Vec3f> sample_behind(const TriangleMesh& mesh) {
  std::vector<double> area_up_to;
  double area = 0;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const auto [a, b, c] = corners(mesh, i);
    area += length(cross(to_double(b) - to_double(a), to_double(c) - to_double(a)));
    area_up_to.push_back(area);
  }
  const double depth = 1e-5 * length(extent(to_double(bounds(mesh))));
  Random random(1);
  std::vector<Vec3f> points;
  for (std::size_t i = 0; i < kSamples; ++i) {
    const auto it = std::upper_bound(area_up_to.begin(), area_up_to.end(), random.uniform() * area);
    const auto t =
        std::min(static_cast<std::size_t>(it - area_up_to.begin()), mesh.triangles.size() - 1);
    double u = random.uniform(), v = random.uniform();
    if (u + v > 1) {
      u = 1 - u;
      v = 1 - v;
    }
    const auto [a, b, c] = corners(mesh, t);
    const Vec3 origin = to_double(a), ab = to_double(b) - origin, ac = to_double(c) - origin;
    points.push_back(to_float(origin + ab * u + ac * v - normalized(cross(ab, ac)) * depth));
  }
  return points;
}

}  // namespace

double compute_backed_share(const TriangleMesh& mesh, Threads threads) {
  const WindingTree tree(mesh, {.threads = threads});
  const std::vector<Vec3f> points = sample_behind(mesh);
  std::vector<double> winding(points.size());
  compute_winding_numbers(tree, points, winding, threads);
  constexpr double kTreeError = 0.01;  // behind a flat sheet, the number is a half
  const auto backed =
      std::count_if(winding.begin(), winding.end(), [](double w) { return w > 0.5 + kTreeError; });
  return static_cast<double>(backed) / static_cast<double>(points.size());
}

double compute_wrong_share(const TriangleMesh& given, const TriangleMesh& closed, double distance,
                           Threads threads) {
  const WindingTree given_tree(given, {.threads = threads}),
      closed_tree(closed, {.threads = threads});
  const Aabb box = to_double(bounds(closed));
  Random random(2);
  std::vector<Vec3f> points;
  for (std::size_t i = 0; i < kSamples; ++i) {
    const Vec3f p = to_float(random.in_box(box.lower, box.upper));
    if (find_closest_point(closed_tree.bvh(), p).distance > distance) points.push_back(p);
  }
  if (points.empty()) return 0;
  std::vector<double> w(points.size()), n(points.size());
  compute_winding_numbers(given_tree, points, w, threads);
  compute_winding_numbers(closed_tree, points, n, threads);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < points.size(); ++i) wrong += (w[i] > 0.5) != (n[i] > 0.5) ? 1U : 0U;
  return static_cast<double>(wrong) / static_cast<double>(points.size());
}

}  // namespace isotact::surface_detail

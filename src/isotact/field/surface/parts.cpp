#include "isotact/field/build/detail/parts.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "isotact/base/trig.h"
#include "isotact/field/build/detail/solid_angle.h"
#include "isotact/geometry/winding.h"

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
      own += find_half_solid_angle(corners(mesh_, i), to_double(p)) / (2 * kPi);
    return std::lround(find_winding_number(tree_, p) - own);
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

double find_area(const TriangleMesh& mesh) {
  double area = 0;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const auto [a, b, c] = corners(mesh, i);
    area += length(cross(to_double(b) - to_double(a), to_double(c) - to_double(a))) / 2;
  }
  return area;
}

}  // namespace isotact::surface_detail

#include "isotact/geometry/primitives/part_mesh.h"

#include <algorithm>
#include <array>
#include <map>
#include <queue>
#include <unordered_map>

#include <fmt/format.h>

#include "isotact/base/error.h"

namespace isotact {
namespace {

Vec3 middle_of(const PointRing& ring) {
  Vec3 sum{};
  for (const Vec3& p : ring) sum += p;
  return sum / static_cast<double>(ring.size());
}

std::vector<LathePoint> cut_profile(const std::vector<LathePoint>& profile, double step) {
  std::vector<LathePoint> cut{profile.front()};
  for (std::size_t i = 1; i < profile.size(); ++i) {
    const LathePoint a = profile[i - 1], b = profile[i];
    const double dx = b.x - a.x, dr = b.radius - a.radius;
    const int pieces =
        std::max(1, static_cast<int>(std::ceil(std::sqrt(dx * dx + dr * dr) / step - 1e-9)));
    for (int k = 1; k < pieces; ++k) {
      const double t = static_cast<double>(k) / pieces;
      cut.push_back({a.x + dx * t, a.radius + dr * t});
    }
    cut.push_back(b);
  }
  return cut;
}

}  // namespace

std::uint32_t PartMesh::add(const Vec3& point) {
  mesh_.positions.push_back(to_float(transform_point(placement_, point)));
  return static_cast<std::uint32_t>(mesh_.positions.size() - 1);
}

std::uint32_t PartMesh::add_ring(const PointRing& ring) {
  const auto first = static_cast<std::uint32_t>(mesh_.positions.size());
  for (const Vec3& p : ring) add(p);
  return first;
}

void PartMesh::stitch(std::uint32_t from, std::uint32_t to, std::uint32_t size) {
  for (std::uint32_t k = 0; k < size; ++k) {
    const std::uint32_t next = (k + 1) % size;
    mesh_.triangles.push_back({from + k, from + next, to + next});
    mesh_.triangles.push_back({from + k, to + next, to + k});
  }
}

void PartMesh::add_loft(const std::vector<PointRing>& rings, const Vec3& first, const Vec3& last) {
  const auto size = static_cast<std::uint32_t>(rings.front().size());
  std::uint32_t ring = add_ring(rings.front());
  const std::uint32_t first_apex = add(first);
  for (std::uint32_t k = 0; k < size; ++k)
    mesh_.triangles.push_back({first_apex, ring + (k + 1) % size, ring + k});
  for (std::size_t i = 1; i < rings.size(); ++i) {
    const std::uint32_t next = add_ring(rings[i]);
    stitch(ring, next, size);
    ring = next;
  }
  const std::uint32_t last_apex = add(last);
  for (std::uint32_t k = 0; k < size; ++k)
    mesh_.triangles.push_back({last_apex, ring + k, ring + (k + 1) % size});
}

void PartMesh::add_loft(const std::vector<PointRing>& rings) {
  add_loft(rings, middle_of(rings.front()), middle_of(rings.back()));
}

void PartMesh::add_loop(const std::vector<PointRing>& rings) {
  const auto size = static_cast<std::uint32_t>(rings.front().size());
  const std::uint32_t first = add_ring(rings.front());
  std::uint32_t ring = first;
  for (std::size_t i = 1; i < rings.size(); ++i) {
    const std::uint32_t next = add_ring(rings[i]);
    stitch(ring, next, size);
    ring = next;
  }
  stitch(ring, first, size);
}

void PartMesh::add_lathe(const std::vector<LathePoint>& profile, int around, double step) {
  const std::vector<LathePoint> cut = cut_profile(profile, step);
  std::vector<PointRing> rings;
  for (std::size_t i = 1; i + 1 < cut.size(); ++i)
    rings.push_back(make_section(cut[i].x, 0, cut[i].radius, cut[i].radius, 0, around));
  add_loft(rings, {cut.front().x, 0, 0}, {cut.back().x, 0, 0});
}

void PartMesh::add_box(const Vec3& center, const Vec3& half_size, int cuts) {
  const std::size_t first_point = points(), first_triangle = triangles();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::size_t u = (axis + 1) % 3, v = (axis + 2) % 3;
    for (const double side : {-1.0, 1.0}) {
      const auto at = [&](int i, int j) {
        Vec3 p{};
        p[axis] = side;
        p[u] = side * (2 * i - cuts) / cuts;
        p[v] = static_cast<double>(2 * j - cuts) / cuts;
        return center + Vec3{p.x * half_size.x, p.y * half_size.y, p.z * half_size.z};
      };
      for (int i = 0; i < cuts; ++i)
        for (int j = 0; j < cuts; ++j)
          add_quad(at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
    }
  }
  weld(first_point, first_triangle);
}

void PartMesh::add_mesh(const TriangleMesh& mesh, const Pose& mesh_from_part) {
  const auto first = static_cast<std::uint32_t>(mesh_.positions.size());
  for (const Vec3f& p : mesh.positions) add(transform_point(mesh_from_part, to_double(p)));
  for (const Triangle& t : mesh.triangles)
    mesh_.triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
}

void PartMesh::add_quad(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  const std::uint32_t first = add_ring({a, b, c, d});
  mesh_.triangles.push_back({first, first + 1, first + 2});
  mesh_.triangles.push_back({first, first + 2, first + 3});
}

void PartMesh::add_triangle(const Vec3& a, const Vec3& b, const Vec3& c) {
  const std::uint32_t first = add_ring({a, b, c});
  mesh_.triangles.push_back({first, first + 1, first + 2});
}

void PartMesh::weld(std::size_t first_point, std::size_t first_triangle) {
  std::map<std::array<float, 3>, std::uint32_t> places;
  std::vector<std::uint32_t> now(points() - first_point);
  std::size_t kept = first_point;
  for (std::size_t i = first_point; i < points(); ++i) {
    const Vec3f p = mesh_.positions[i];
    // Adding zero makes -0 to 0.
    const auto [place, is_new] =
        places.try_emplace({p.x + 0.0F, p.y + 0.0F, p.z + 0.0F}, static_cast<std::uint32_t>(kept));
    if (is_new) mesh_.positions[kept++] = p;
    now[i - first_point] = place->second;
  }
  mesh_.positions.resize(kept);
  for (std::size_t t = first_triangle; t < triangles(); ++t)
    for (std::uint32_t& corner : mesh_.triangles[t]) corner = now[corner - first_point];
}

PointRing make_section(double x, double y, double half_height, double half_width, double squareness,
                       int around) {
  PointRing ring;
  for (int k = 0; k < around; ++k) {
    const SinCos angle = sin_cos(2 * kPi * (k + 0.5) / around);
    const double square = 1 / std::max(std::abs(angle.sin), std::abs(angle.cos));
    const double reach = 1 + (square - 1) * squareness;
    ring.push_back({x, y + half_height * reach * angle.cos, half_width * reach * angle.sin});
  }
  return ring;
}

// ---- exact numbers of triangles -----------------------------------------------------------------

namespace {

std::uint64_t key_of(std::uint32_t a, std::uint32_t b) {
  return (static_cast<std::uint64_t>(std::min(a, b)) << 32U) | std::max(a, b);
}

class EdgeCutter {
 public:
  explicit EdgeCutter(TriangleMesh& mesh) : mesh_(mesh) {
    for (std::uint32_t t = 0; t < mesh.triangles.size(); ++t) add_edges(t);
    for (const auto& [key, sides] : sides_)
      if (sides.count != 2) throw Error("an edge does not have two triangles");
  }

  void cut_longest(const PlacePoint& place) {
    // What is on top may have been cut since.
    while (sides_.find(longest_.top().second) == sides_.end()) longest_.pop();
    const std::uint64_t key = longest_.top().second;
    longest_.pop();
    const std::array<std::uint32_t, 2> both = sides_.at(key).triangles;
    const auto a = static_cast<std::uint32_t>(key >> 32U), b = static_cast<std::uint32_t>(key);
    const auto middle = static_cast<std::uint32_t>(mesh_.positions.size());
    const Vec3f between = (mesh_.positions[a] + mesh_.positions[b]) * 0.5F;
    mesh_.positions.push_back(place ? place(between) : between);
    for (const std::uint32_t t : both) {
      remove_edges(t);
      Triangle old = mesh_.triangles[t];
      while (key_of(old[0], old[1]) != key) old = {old[1], old[2], old[0]};
      mesh_.triangles[t] = {old[0], middle, old[2]};
      mesh_.triangles.push_back({middle, old[1], old[2]});
      add_edges(t);
      add_edges(static_cast<std::uint32_t>(mesh_.triangles.size() - 1));
    }
  }

 private:
  struct Sides {
    std::array<std::uint32_t, 2> triangles{};
    int count = 0;
  };

  void add_edges(std::uint32_t t) {
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t a = mesh_.triangles[t][k], b = mesh_.triangles[t][(k + 1) % 3];
      const std::uint64_t key = key_of(a, b);
      Sides& sides = sides_[key];
      if (sides.count == 0)
        longest_.emplace(length_sq(mesh_.positions[a] - mesh_.positions[b]), key);
      if (sides.count < 2) sides.triangles[static_cast<std::size_t>(sides.count)] = t;
      ++sides.count;
    }
  }

  void remove_edges(std::uint32_t t) {
    for (std::size_t k = 0; k < 3; ++k) {
      const auto found =
          sides_.find(key_of(mesh_.triangles[t][k], mesh_.triangles[t][(k + 1) % 3]));
      Sides& sides = found->second;
      if (sides.triangles[0] == t) sides.triangles[0] = sides.triangles[1];
      if (--sides.count == 0) sides_.erase(found);
    }
  }

  TriangleMesh& mesh_;
  std::unordered_map<std::uint64_t, Sides> sides_;  // never walked for a result
  std::priority_queue<std::pair<float, std::uint64_t>> longest_;
};

}  // namespace

void refine_to(TriangleMesh& mesh, std::size_t triangles, const PlacePoint& place) {
  if (mesh.triangles.size() > triangles || (triangles - mesh.triangles.size()) % 2 != 0)
    throw Error(fmt::format("{} triangles cannot become {} by cutting edges of a closed mesh",
                            mesh.triangles.size(), triangles));
  if (mesh.triangles.size() == triangles) return;
  EdgeCutter cutter(mesh);
  while (mesh.triangles.size() < triangles) cutter.cut_longest(place);
}

}  // namespace isotact

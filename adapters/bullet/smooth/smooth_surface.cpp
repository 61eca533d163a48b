#include "smooth_surface.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace isotact::bullet_detail {
namespace {

constexpr std::size_t kTerms = 7;
constexpr std::size_t kMostTriangles = 96, kMostCorners = 64;
// With fewer corners a quadric follows each of them.
constexpr std::size_t kFewestCorners = 8;
constexpr int kRings = 3;  // Across edges.

using Terms = std::array<double, kTerms>;
Terms terms_at(const Vec3& p) { return {1, p.x, p.y, p.x * p.x, p.x * p.y, p.y * p.y, p.z * p.z}; }

// In the axes and the unit of a patch.
Vec3 to_patch(const SmoothPatch& patch, const Vec3& point) {
  const Vec3 d = (point - patch.origin) / patch.size;
  return {dot(d, patch.axis[0]), dot(d, patch.axis[1]), dot(d, patch.axis[2])};
}

Vec3 area_normal(const TriangleMesh& mesh, std::uint32_t triangle) {
  const auto corner = corners(mesh, triangle);
  const Vec3 a = to_double(corner[0]);
  return cross(to_double(corner[1]) - a, to_double(corner[2]) - a);
}

Vec3 unit_normal(const TriangleMesh& mesh, std::uint32_t triangle) {
  const Vec3 n = area_normal(mesh, triangle);
  const double l = length(n);
  return l > 0 ? n / l : Vec3{};
}

// Cholesky's factors of a positive definite matrix. Returns false if it is none.
bool solve(std::array<Terms, kTerms>& a, Terms& b) {
  for (std::size_t i = 0; i < kTerms; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= a[i][k] * a[j][k];
      if (i == j) {
        if (!(sum > 0)) return false;
        a[i][i] = std::sqrt(sum);
      } else {
        a[i][j] = sum / a[j][j];
      }
    }
  }
  for (std::size_t i = 0; i < kTerms; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  for (std::size_t i = kTerms; i-- > 0;) {
    for (std::size_t k = i + 1; k < kTerms; ++k) b[i] -= a[k][i] * b[k];
    b[i] /= a[i][i];
  }
  return true;
}

void set_axes(SmoothPatch& patch, const Vec3& normal) {
  const Vec3 other = std::abs(normal.x) < 0.6 ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
  patch.axis[2] = normal;
  patch.axis[0] = normalized(cross(other, normal));
  patch.axis[1] = cross(normal, patch.axis[0]);
}

struct Fit {
  // In units of the patch: how far corners are off the tangent plane and the patch, at most.
  double bend = 0, error = 0;
};

// Least squares, with weights that fall towards the furthest corner.
std::optional<Fit> fit_heights(std::span<const Vec3> corners, SmoothPatch& patch) {
  // Corners on two lines, as those of a long cylinder, do not determine all curvatures: those are
  // zero then. It changes others by a few parts in a million.
  constexpr double kStraight = 1e-7;
  std::array<Terms, kTerms> a{};
  Terms b{};
  double weights = 0;
  for (const Vec3& p : corners) {
    const Vec3 at = to_patch(patch, p);
    const double far = std::max(0.0, 1 - length_sq(at));
    const double w = far * far;
    const Terms t = terms_at(at);
    for (std::size_t i = 0; i < kTerms; ++i) {
      b[i] += w * t[i] * at.z;
      for (std::size_t j = 0; j <= i; ++j) a[i][j] += w * t[i] * t[j];
    }
    weights += w;
  }
  for (std::size_t i = 3; i < kTerms; ++i) a[i][i] += kStraight * weights;
  if (!solve(a, b)) return std::nullopt;
  patch.c = b;
  Fit fit;
  for (const Vec3& p : corners) {
    const Vec3 at = to_patch(patch, p);
    const double plane = b[0] + b[1] * at.x + b[2] * at.y;
    fit.bend = std::max(fit.bend, std::abs(at.z - plane));
    fit.error = std::max(fit.error, std::abs(at.z - patch.height_at(at.x, at.y).z));
  }
  return fit;
}

}  // namespace

SmoothPatch::Height SmoothPatch::height_at(double x, double y) const {
  constexpr double kLeast = 0.05;  // Far from the patch, beyond the equator of its sphere.
  const double q = c[0] + c[1] * x + c[2] * y + c[3] * x * x + c[4] * x * y + c[5] * y * y;
  const double root = std::sqrt(std::max(1 - 4 * c[6] * q, kLeast));
  return {2 * q / (1 + root), (c[1] + 2 * c[3] * x + c[4] * y) / root,
          (c[2] + c[4] * x + 2 * c[5] * y) / root};
}

FieldSample SmoothPatch::sample(const Vec3& point) const {
  constexpr double kNear = 1e-9;
  const Vec3 p = to_patch(*this, point);
  double x = p.x, y = p.y;
  Height h;
  // The nearest place: its normal leads to the point. Newton's steps without the second
  // derivatives converge by the curvature times the distance, which is small here.
  for (int i = 0; i < 4; ++i) {
    h = height_at(x, y);
    const double rest_x = p.x - x + (p.z - h.z) * h.slope_x;
    const double rest_y = p.y - y + (p.z - h.z) * h.slope_y;
    // The inverse of 1 + (slope)(slope)^T.
    const double along = (rest_x * h.slope_x + rest_y * h.slope_y) /
                         (1 + h.slope_x * h.slope_x + h.slope_y * h.slope_y);
    const double step_x = rest_x - h.slope_x * along, step_y = rest_y - h.slope_y * along;
    // The height is that before the step: it changes by less than the step times the slope.
    if (std::abs(step_x) + std::abs(step_y) < kNear) break;
    x += step_x;
    y += step_y;
  }
  const double scale = 1 / std::sqrt(1 + h.slope_x * h.slope_x + h.slope_y * h.slope_y);
  const Vec3 normal = (axis[2] - axis[0] * h.slope_x - axis[1] * h.slope_y) * scale;
  const Vec3 foot = origin + (axis[0] * x + axis[1] * y + axis[2] * h.z) * size;
  return {dot(point - foot, normal), normal};
}

double SmoothPatch::most_curvature() const {
  const double mean = c[3] + c[5], apart = std::hypot(c[3] - c[5], c[4]);
  return (std::abs(mean) + apart) / size;
}

SmoothSurface::SmoothSurface(const TriangleMesh& mesh, double crease_angle) {
  static std::atomic<std::uint64_t> last_serial{0};
  serial_ = ++last_serial;
  const auto count = static_cast<std::uint32_t>(mesh.triangles.size());
  std::vector<std::uint32_t> order(mesh.positions.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto key = [&](std::uint32_t i) {
    const Vec3f& p = mesh.positions[i];
    return std::array<float, 3>{p.x, p.y, p.z};
  };
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  welded_.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    welded_[order[i]] =
        i > 0 && key(order[i]) == key(order[i - 1]) ? welded_[order[i - 1]] : order[i];

  // Edges of all triangles, so that those of two neighbours are next to each other.
  struct Edge {
    std::uint32_t from, to, triangle, corner;
  };
  std::vector<Edge> edges;
  edges.reserve(std::size_t{3} * count);
  for (std::uint32_t t = 0; t < count; ++t)
    for (std::uint32_t i = 0; i < 3; ++i) {
      const std::uint32_t a = welded_[mesh.triangles[t][i]];
      const std::uint32_t b = welded_[mesh.triangles[t][(i + 1) % 3]];
      if (a != b) edges.push_back({std::min(a, b), std::max(a, b), t, i});
    }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return std::array{a.from, a.to, a.triangle, a.corner} <
           std::array{b.from, b.to, b.triangle, b.corner};
  });
  neighbors_.assign(count, {kNone, kNone, kNone});
  const double least_cosine = std::cos(crease_angle);
  for (std::size_t begin = 0; begin < edges.size();) {
    std::size_t end = begin + 1;
    while (end < edges.size() && edges[end].from == edges[begin].from &&
           edges[end].to == edges[begin].to)
      ++end;
    if (end == begin + 2) {
      const Edge &a = edges[begin], &b = edges[begin + 1];
      if (dot(unit_normal(mesh, a.triangle), unit_normal(mesh, b.triangle)) >= least_cosine) {
        neighbors_[a.triangle][a.corner] = b.triangle;
        neighbors_[b.triangle][b.corner] = a.triangle;
      }
    }
    begin = end;
  }
}

std::optional<SmoothPatch> SmoothSurface::fit(const TriangleMesh& mesh, std::uint32_t triangle,
                                              const Vec3& place) const {
  // Directions differ by at most 45 degrees from that of the first triangle.
  constexpr double kLeastCosine = 0.7;
  // Of the bend: a part whose corners are no smoother than this has no surface of its own.
  constexpr double kMostError = 0.15;
  constexpr double kLeastBend = 1e-4;  // Of the size: less is flat.
  const Vec3 first = unit_normal(mesh, triangle);
  if (!(length_sq(first) > 0)) return std::nullopt;
  std::uint32_t found[kMostTriangles], ids[kMostCorners];
  Vec3 places[kMostCorners];
  std::size_t count = 0, corner_count = 0;
  Vec3 normal{};
  const auto add = [&](std::uint32_t t) {
    found[count++] = t;
    normal += unit_normal(mesh, t);
    for (const std::uint32_t corner : mesh.triangles[t]) {
      const std::uint32_t id = welded_[corner];
      if (corner_count == kMostCorners ||
          std::find(ids, ids + corner_count, id) != ids + corner_count)
        continue;
      ids[corner_count] = id;
      places[corner_count++] = to_double(mesh.positions[corner]);
    }
  };
  add(triangle);
  std::size_t begin = 0;
  for (int ring = 0; ring < kRings; ++ring) {
    const std::size_t end = count;
    for (std::size_t i = begin; i < end; ++i)
      for (const std::uint32_t next : neighbors_[found[i]]) {
        if (next == kNone || count == kMostTriangles ||
            std::find(found, found + count, next) != found + count)
          continue;
        if (dot(unit_normal(mesh, next), first) >= kLeastCosine) add(next);
      }
    if (count == end) break;
    begin = end;
  }
  SmoothPatch patch{.origin = place};
  const std::span<const Vec3> all(places, corner_count);
  patch.size = 0;
  double off = 0;
  const Vec3 on_plane = to_double(mesh.positions[mesh.triangles[triangle][0]]);
  for (const Vec3& p : all) {
    patch.size = std::max(patch.size, length(p - place));
    off = std::max(off, std::abs(dot(p - on_plane, first)));
  }
  patch.size *= 1.1;  // The furthest counts a little.
  if (!(patch.size > 0)) return std::nullopt;
  if (off < kLeastBend * patch.size) {
    patch.origin -= first * dot(place - on_plane, first);
    patch.is_flat = true;
    set_axes(patch, first);
    return patch;
  }
  if (corner_count < kFewestCorners || !(length_sq(normal) > 0)) return std::nullopt;
  // Once over the mean plane, then over that of the first fit.
  set_axes(patch, normalized(normal));
  std::optional<Fit> fit = fit_heights(all, patch);
  if (!fit || fit->bend < kLeastBend || fit->error > kMostError * fit->bend) return std::nullopt;
  const FieldSample nearest = patch.sample(place);
  patch.origin = place - nearest.gradient * nearest.distance;
  set_axes(patch, nearest.gradient);
  fit = fit_heights(all, patch);
  if (!fit) return std::nullopt;
  return patch;
}

}  // namespace isotact::bullet_detail

// The fighter of FAB's figures: a long nose, four wings that open, engines, and cannons.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/geometry/primitives/part_mesh.h"

#include "fab_shapes.h"

namespace isotact {
namespace {

// How finely parts are cut: 1 is the coarsest that looks right.
class FighterBuilder {
 public:
  FighterBuilder(double detail, double wing_degrees)
      : detail_(detail), half_angle_(wing_degrees / 2 * kPi / 180) {}

  TriangleMesh build() {
    add_hull();
    add_canopy();
    add_droid();
    add_tail();
    for (const double side : {-1.0, 1.0})
      for (const double up : {-1.0, 1.0}) add_wing(side, up);
    return parts_.take();
  }

 private:
  struct Station {
    double x, y, half_height, half_width, squareness;
  };

  int around(int coarse) const {
    return 4 * std::max(1, static_cast<int>(std::lround(coarse * detail_ / 4)));
  }
  double step(double coarse) const { return coarse / detail_; }

  // Rings at all stations, and between them at most `step` apart.
  std::vector<PointRing> make_hull_rings(const std::vector<Station>& stations, double step,
                                         int around) const {
    std::vector<PointRing> rings;
    for (std::size_t i = 0; i + 1 < stations.size(); ++i) {
      const Station a = stations[i], b = stations[i + 1];
      const int pieces = std::max(1, static_cast<int>(std::ceil((b.x - a.x) / step)));
      for (int k = 0; k < pieces; ++k) {
        const double t = static_cast<double>(k) / pieces;
        rings.push_back(make_section(std::lerp(a.x, b.x, t), std::lerp(a.y, b.y, t),
                                     std::lerp(a.half_height, b.half_height, t),
                                     std::lerp(a.half_width, b.half_width, t),
                                     std::lerp(a.squareness, b.squareness, t), around));
      }
    }
    const Station end = stations.back();
    rings.push_back(
        make_section(end.x, end.y, end.half_height, end.half_width, end.squareness, around));
    return rings;
  }

  void add_hull() {
    parts_.place({});
    const std::vector<Station> stations = {
        {-4.6, 0.00, 0.62, 0.66, 0.75}, {-4.4, 0.00, 0.78, 0.82, 0.7}, {-1.2, 0.05, 0.84, 0.9, 0.7},
        {0.6, 0.06, 0.80, 0.82, 0.65},  {1.2, 0.02, 0.68, 0.72, 0.6},  {3.2, -0.06, 0.5, 0.58, 0.5},
        {5.6, -0.16, 0.34, 0.42, 0.4},  {7.0, -0.22, 0.26, 0.3, 0.25}, {7.6, -0.24, 0.19, 0.2, 0.1},
        {7.9, -0.25, 0.11, 0.11, 0}};
    parts_.add_loft(make_hull_rings(stations, step(0.42), around(20)), {-4.6, 0, 0},
                    {8.0, -0.25, 0});
  }

  void add_canopy() {
    parts_.place({});
    const std::vector<Station> stations = {
        {-0.7, 0.72, 0.1, 0.2, 0.2},  {-0.5, 0.74, 0.32, 0.42, 0.3}, {0.2, 0.7, 0.5, 0.54, 0.35},
        {0.9, 0.58, 0.46, 0.5, 0.35}, {1.9, 0.4, 0.28, 0.36, 0.3},   {2.7, 0.3, 0.14, 0.18, 0.2},
        {2.9, 0.26, 0.08, 0.08, 0.1}};
    parts_.add_loft(make_hull_rings(stations, step(0.34), around(16)), {-0.75, 0.72, 0},
                    {2.95, 0.24, 0});
  }

  void add_droid() {
    parts_.place({rotation_about({0, 0, 1}, kPi / 2), {-1.25, 0.7, 0}});  // its axis points up
    std::vector<LathePoint> profile = {{-0.1, 0}, {-0.1, 0.3}, {0.22, 0.3}};
    for (int k = 1; k <= 5; ++k) {
      const SinCos angle = sin_cos(kPi / 2 * k / 5);
      profile.push_back({0.22 + 0.27 * angle.sin, k == 5 ? 0 : 0.3 * angle.cos});
    }
    parts_.add_lathe(profile, around(12), step(0.25));
  }

  void add_tail() {
    parts_.place({});
    const int cuts = std::max(1, static_cast<int>(std::lround(2 * detail_)));
    parts_.add_box({-2.9, 0.83, 0}, {1.1, 0.22, 0.5}, cuts);
    parts_.add_box({-3.0, -0.86, 0}, {1.3, 0.16, 0.42}, cuts);
    parts_.add_box({-4.62, 0.28, 0}, {0.25, 0.14, 0.42}, cuts);
    parts_.add_box({-4.62, -0.28, 0}, {0.25, 0.14, 0.42}, cuts);
    for (const double side : {-1.0, 1.0}) {
      parts_.add_box({-2.4, 0, side * 0.98}, {1.7, 0.34, 0.3}, cuts);
      parts_.add_box({2.3, -0.03, side * 0.62}, {0.7, 0.09, 0.1}, cuts);
    }
  }

  // A wing in its own frame: z runs from the hinge to the tip, x is the fighter's, y is up.
  void add_wing(double side, double up) {
    // Those on the other side are turned about the fighter's x axis, not mirrored, so that parts
    // stay turned outwards; what is above a wing is then below it.
    const double angle = side > 0 ? -up * half_angle_ : kPi + up * half_angle_;
    const Pose hinge{rotation_about({1, 0, 0}, angle), {0, up * 0.16, side * 0.75}};
    const double outside = side * up;  // where the engine sits
    parts_.place(hinge);
    constexpr double kSpan = 4.75;
    const int across = around(16), pieces = static_cast<int>(std::ceil(kSpan / step(0.45)));
    std::vector<PointRing> rings;
    for (int i = 0; i <= pieces; ++i) {
      const double s = static_cast<double>(i) / pieces;
      const double front = std::lerp(-0.1, -1.3, s), rear = std::lerp(-4.2, -3.3, s);
      const double thick = std::lerp(0.15, 0.07, s);
      PointRing ring;
      for (int k = 0; k < across; ++k) {
        const SinCos turn = sin_cos(2 * kPi * (k + 0.5) / across);
        const double blunt = 1 / std::max({std::abs(turn.sin), std::abs(turn.cos), 0.75});
        ring.push_back({(front + rear) / 2 + (front - rear) / 2 * turn.cos * blunt * 0.75,
                        thick * turn.sin * blunt * 0.75, kSpan * s});
      }
      rings.push_back(std::move(ring));
    }
    parts_.add_loft(rings);
    const int cuts = std::max(1, static_cast<int>(std::lround(detail_)));
    parts_.add_box({-2.4, outside * 0.17, 2.9}, {0.8, 0.05, 0.55}, cuts);

    parts_.place(hinge * Pose{{}, {0, outside * 0.5, 0.92}});
    parts_.add_lathe({{-3.4, 0},
                      {-3.4, 0.27},
                      {-4.9, 0.33},
                      {-5.0, 0.37},
                      {-4.9, 0.41},
                      {-3.3, 0.44},
                      {-3.1, 0.6},
                      {-1.0, 0.64},
                      {0.15, 0.66},
                      {0.3, 0.6},
                      {0.3, 0.52},
                      {-0.3, 0.46},
                      {-0.3, 0.2},
                      {0.05, 0}},
                     around(16), step(0.45));
    parts_.place(hinge * Pose{{}, {0, 0, kSpan}});
    parts_.add_lathe({{-3.5, 0},
                      {-3.45, 0.14},
                      {-3.1, 0.2},
                      {-1.2, 0.2},
                      {-1.0, 0.13},
                      {1.6, 0.1},
                      {1.7, 0.07},
                      {3.6, 0.06},
                      {3.65, 0.13},
                      {3.8, 0.13},
                      {3.85, 0.06},
                      {4.3, 0.05},
                      {4.35, 0}},
                     around(10), step(0.6));
  }

  double detail_, half_angle_;
  PartMesh parts_;
};

}  // namespace

TriangleMesh make_fighter(const FighterShape& shape) {
  if (shape.triangles < kLeastFighterTriangles || shape.triangles > 200'000 ||
      shape.triangles % 2 != 0)
    throw Error(
        fmt::format("a fighter of {} triangles; their number must be even, from {} to 200000",
                    shape.triangles, kLeastFighterTriangles));
  if (!(shape.wing_degrees >= 0 && shape.wing_degrees <= 60))
    throw Error(
        fmt::format("wings that open by {} degrees; it must be 0 to 60", shape.wing_degrees));
  // The finest that has no more triangles; cutting edges makes up the rest.
  const auto wanted = static_cast<std::size_t>(shape.triangles);
  TriangleMesh best;
  for (double detail = 0.4;; detail += 0.05) {
    TriangleMesh mesh = FighterBuilder(detail, shape.wing_degrees).build();
    if (mesh.triangles.size() > wanted) break;
    best = std::move(mesh);
  }
  refine_to(best, wanted);
  return best;
}

}  // namespace isotact

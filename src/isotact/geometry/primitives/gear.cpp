// Spur gear. The flanks are those that a rack with straight sides generates (Litvin and Fuentes,
// "Gear Geometry and Applied Theory", 2004): the involute of the base circle, and below it the
// trochoid of the rack's corner, which leaves a fillet and, with few teeth, an undercut.
#include <algorithm>
#include <cmath>

#include "isotact/geometry/primitives/detail/surface_builder.h"
#include "isotact/geometry/primitives/detail/tables.h"
#include "isotact/geometry/primitives/primitives.h"

namespace isotact {
namespace {

using detail::Ring;
using detail::SurfaceBuilder;

constexpr double kAddendum = 1, kDedendum = 1.25;  // in modules

// One side of a tooth: radius, and angle from the middle of the tooth.
struct FlankPoint {
  double radius, half_angle;
};

class ToothForm {
 public:
  explicit ToothForm(const GearShape& shape) : shape_(shape) {
    const SinCos pressure = sin_cos(shape.pressure_angle_degrees * (kPi / 180));
    pitch_radius_ = shape.module * shape.teeth / 2;
    base_radius_ = pitch_radius_ * pressure.cos;
    root_radius_ = pitch_radius_ - kDedendum * shape.module;
    tip_radius_ = pitch_radius_ + kAddendum * shape.module;
    // Half the rack's tooth at its tip; the backlash makes the cutter wider.
    corner_ = kPi * shape.module / 4 + shape.backlash / 2 -
              kDedendum * shape.module * pressure.sin / pressure.cos;
    pitch_half_angle_ = kPi / (2 * shape.teeth) - shape.backlash / (2 * pitch_radius_);
    pitch_involute_ = involute(pitch_radius_);
    form_radius_ = compute_form_radius(pressure.sin);
  }

  double root_radius() const { return root_radius_; }
  double tip_radius() const { return tip_radius_; }

  // From root to tip, with the joint of fillet and involute among the points.
  std::vector<FlankPoint> flank() const {
    const int total = shape_.flank_segments, fillet = std::max(1, total * 3 / 8);
    const double reach = std::sqrt(form_radius_ * form_radius_ - root_radius_ * root_radius_);
    std::vector<FlankPoint> points;
    for (int i = 0; i <= fillet; ++i) {
      const double u = reach * i / fillet;
      const double r = i == fillet ? form_radius_ : std::sqrt(root_radius_ * root_radius_ + u * u);
      points.push_back({r, below_form(r)});
    }
    for (int i = 1; i <= total - fillet; ++i) {
      const double r = form_radius_ + (tip_radius_ - form_radius_) * i / (total - fillet);
      points.push_back({r, on_involute(r)});
    }
    return points;
  }

 private:
  // tan a - a for the pressure angle a at a radius.
  double involute(double radius) const {
    const double t = std::sqrt(std::max(0.0, radius * radius - base_radius_ * base_radius_));
    return t / base_radius_ - angle_of(t, base_radius_);
  }
  double on_involute(double radius) const {
    return pitch_half_angle_ + pitch_involute_ - involute(radius);
  }
  // The path of the rack's corner as it rolls off.
  double below_form(double radius) const {
    const double u = std::sqrt(std::max(0.0, radius * radius - root_radius_ * root_radius_));
    const double gap = corner_ / pitch_radius_ + angle_of(u, root_radius_) - u / pitch_radius_;
    return kPi / shape_.teeth - gap;
  }

  // Where the fillet ends: at the last contact of the rack's straight side, or, with an undercut,
  // where the corner's path crosses the involute.
  double compute_form_radius(double sin_pressure) const {
    const double left = pitch_radius_ * sin_pressure - kDedendum * shape_.module / sin_pressure;
    if (left >= 0) return std::sqrt(base_radius_ * base_radius_ + left * left);
    double low = std::max(base_radius_, root_radius_), high = tip_radius_;
    for (int i = 0; i < 60; ++i) {
      const double middle = (low + high) / 2;
      (below_form(middle) < on_involute(middle) ? low : high) = middle;
    }
    return high;
  }

  const GearShape& shape_;
  double pitch_radius_, base_radius_, root_radius_, tip_radius_;
  double corner_, pitch_half_angle_, pitch_involute_, form_radius_;
};

void check_gear(const GearShape& shape, const ToothForm& form) {
  const double largest = 0.9 * form.root_radius();
  if (!(shape.bore_radius <= largest))
    detail::throw_parameter(
        "gear", "bore_radius", shape.bore_radius,
        "at most 0.9 of the root circle's radius, " + detail::number_text(largest));
  if (!(shape.backlash <= 0.5 * shape.module))
    detail::throw_parameter("gear", "backlash", shape.backlash,
                            "at most half a module, " + detail::number_text(shape.module / 2));
  const double thinnest = 0.05 * shape.module;
  for (const FlankPoint& p : form.flank())
    if (!(2 * p.half_angle * p.radius >= thinnest))
      detail::throw_parameter("gear", "pressure_angle_degrees", shape.pressure_angle_degrees,
                              "smaller: with " + std::to_string(shape.teeth) +
                                  " teeth it leaves them pointed or cut through");
  const FlankPoint root = form.flank().front();
  if (!(kPi / shape.teeth - root.half_angle > 1e-3 / shape.teeth))
    detail::throw_parameter("gear", "pressure_angle_degrees", shape.pressure_angle_degrees,
                            "smaller: it leaves no gap between the teeth at the root");
}

// One face of the gear: the outline of the teeth as a ring, and the bore.
struct Face {
  Ring outline, bore;
};

Vec3 at(double radius, double angle, double y) {
  return detail::around_y(radius, sin_cos(angle), y);
}

class GearFace {
 public:
  GearFace(SurfaceBuilder& builder, const GearShape& shape, const ToothForm& form, double y,
           bool up)
      : builder_(builder), shape_(shape), flank_(form.flank()), y_(y), up_(up) {}

  Face make() {
    for (int tooth = 0; tooth < shape_.teeth; ++tooth) add_tooth(tooth);
    Ring ring = root_;
    const double outer = flank_.front().radius, inner = shape_.bore_radius;
    const double edge = kPi * (outer + inner) / static_cast<double>(ring.size());
    const int steps = std::max(1, static_cast<int>((outer - inner) / edge + 0.5));
    for (int i = 1; i <= steps; ++i) {
      const double radius = outer + (inner - outer) * i / steps;
      Ring next;
      for (const double angle : root_angles_) next.push_back(builder_.add(at(radius, angle, y_)));
      cover(ring, next);
      ring = std::move(next);
    }
    return {std::move(outline_), std::move(ring)};
  }

 private:
  void cover(const Ring& outer, const Ring& inner) {
    if (up_)
      builder_.stitch(outer, inner);
    else
      builder_.stitch(inner, outer);
  }

  void add_tooth(int tooth) {
    const double middle = 2 * kPi * tooth / shape_.teeth;
    const auto columns = static_cast<std::size_t>(shape_.tip_segments);
    std::vector<Ring> rows;
    for (const FlankPoint& p : flank_) {
      Ring row;
      for (std::size_t c = 0; c <= columns; ++c) {
        const double across = 2 * static_cast<double>(c) / static_cast<double>(columns) - 1;
        row.push_back(builder_.add(at(p.radius, middle + across * p.half_angle, y_)));
        if (rows.empty()) root_angles_.push_back(middle + across * p.half_angle);
      }
      rows.push_back(std::move(row));
    }
    for (std::size_t j = 0; j + 1 < rows.size(); ++j)
      for (std::size_t c = 0; c < columns; ++c) {
        const std::array corner{rows[j + 1][c], rows[j + 1][c + 1], rows[j][c + 1], rows[j][c]};
        if (up_)
          builder_.quad(corner[0], corner[1], corner[2], corner[3]);
        else
          builder_.quad(corner[0], corner[3], corner[2], corner[1]);
      }
    root_.insert(root_.end(), rows.front().begin(), rows.front().end());
    for (const Ring& row : rows) outline_.push_back(row.front());
    outline_.insert(outline_.end(), rows.back().begin() + 1, rows.back().end());
    for (std::size_t j = rows.size() - 1; j-- > 0;) outline_.push_back(rows[j].back());
    add_gap(middle);
  }

  void add_gap(double middle) {
    const FlankPoint& root = flank_.front();
    const double from = middle + root.half_angle;
    const double gap = 2 * kPi / shape_.teeth - 2 * root.half_angle;
    for (int i = 1; i < shape_.root_segments; ++i) {
      const double angle = from + gap * i / shape_.root_segments;
      root_angles_.push_back(angle);
      root_.push_back(builder_.add(at(root.radius, angle, y_)));
      outline_.push_back(root_.back());
    }
  }

  SurfaceBuilder& builder_;
  const GearShape& shape_;
  std::vector<FlankPoint> flank_;
  double y_;
  bool up_;
  Ring root_, outline_;
  std::vector<double> root_angles_;
};

Ring lift(SurfaceBuilder& builder, const Ring& ring, double y) {
  Ring lifted;
  for (const std::uint32_t i : ring) {
    const Vec3 p = builder.point(i);
    lifted.push_back(builder.add({p.x, y, p.z}));
  }
  return lifted;
}

}  // namespace

TriangleMesh make_gear(const GearShape& shape) {
  detail::check(shape);
  const double outline = 2.0 * shape.flank_segments + shape.tip_segments + shape.root_segments;
  const double across = shape.tip_segments * 2.0 * shape.flank_segments +
                        2.0 * (shape.tip_segments + shape.root_segments) *
                            (shape.tip_segments + shape.root_segments) * shape.teeth;
  detail::check_triangles("gear", "teeth", shape.teeth,
                          shape.teeth * (4 * outline * shape.width_segments + 2 * across));
  const ToothForm form(shape);
  check_gear(shape, form);
  SurfaceBuilder builder;
  const double half = shape.width / 2;
  const Face bottom = GearFace(builder, shape, form, -half, false).make();
  const Face top = GearFace(builder, shape, form, half, true).make();
  Face below = bottom;
  for (int i = 1; i <= shape.width_segments; ++i) {
    const double y = -half + shape.width * i / shape.width_segments;
    Face above = i == shape.width_segments
                     ? top
                     : Face{lift(builder, bottom.outline, y), lift(builder, bottom.bore, y)};
    builder.stitch(below.outline, above.outline);
    builder.stitch(above.bore, below.bore);
    below = std::move(above);
  }
  return builder.finish({"gear", "module", shape.module});
}

double gear_center_distance(double module, int teeth_a, int teeth_b) {
  return module * (teeth_a + teeth_b) / 2;
}

double gear_mesh_angle(int teeth_a, int teeth_b, double angle_a) {
  return kPi - kPi / teeth_b - angle_a * teeth_a / teeth_b;
}

}  // namespace isotact

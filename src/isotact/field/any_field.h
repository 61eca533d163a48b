// A field of any kind behind one type, for trees that are assembled at run time. Such a tree comes
// from a scene file, or from a user who adds and cuts shapes.
//
//   AnyField body{SphereField{}};
//   body = AnyField{Difference{body, AnyField{BoxField{}}}};
#pragma once

#include <memory>
#include <utility>

#include "isotact/export.h"
#include "isotact/field/field.h"

namespace ISOTACT_PUBLIC isotact {

// Immutable; copies share the contents. A query costs one indirect call more than the field's own.
// Queries and destruction descend the tree by recursion: code that builds trees from files must
// limit their depth (a thousand levels are safe).
class AnyField {
 public:
  template <typename F>
  requires(!std::same_as<F, AnyField>) && Field<F> explicit AnyField(F field)
      : field_(std::make_shared<const Model<F>>(std::move(field))) {}

  double value(const Vec3& point) const { return field_->value(point); }
  FieldSample sample(const Vec3& point) const { return field_->sample(point); }
  Aabb bounds() const { return field_->bounds(); }
  double lipschitz() const { return field_->lipschitz(); }
  // Whether values along any segment are a convex function but for rounding, as signed distances
  // from convex bodies are: the model says so by a constant kConvex.
  bool is_convex() const { return field_->is_convex(); }
  Interval range(const Aabb& box) const { return field_->range(box); }
  Interval distance_bounds(const Vec3& point) const { return field_->distance_bounds(point); }

 private:
  struct Interface {
    virtual ~Interface() = default;
    virtual double value(const Vec3& point) const = 0;
    virtual FieldSample sample(const Vec3& point) const = 0;
    virtual Aabb bounds() const = 0;
    virtual double lipschitz() const = 0;
    virtual bool is_convex() const = 0;
    virtual Interval range(const Aabb& box) const = 0;
    virtual Interval distance_bounds(const Vec3& point) const = 0;
  };

  template <typename F>
  struct Model final : Interface {
    explicit Model(F f) : field(std::move(f)) {}
    double value(const Vec3& point) const override { return field.value(point); }
    FieldSample sample(const Vec3& point) const override { return field.sample(point); }
    Aabb bounds() const override { return field.bounds(); }
    double lipschitz() const override { return field.lipschitz(); }
    bool is_convex() const override {
      if constexpr (requires { F::kConvex; })
        return F::kConvex;
      else
        return false;
    }
    Interval range(const Aabb& box) const override { return field.range(box); }
    Interval distance_bounds(const Vec3& point) const override {
      return field.distance_bounds(point);
    }
    F field;
  };

  std::shared_ptr<const Interface> field_;
};

}  // namespace isotact

// Distance and direction of steepest ascent of a shape, at a point of its own frame, in units of its
// own: metres for formulas; for lattices cells, counted from the middle of the box. Directions may
// have any length; on creases, those of one side.
#include "shape_layout.h"
layout(std430, binding = kIdfShapesAt) readonly buffer Shapes { ShapeRecord shapes[]; };

// A texture of its own holds the field and nothing else: the middle of one is that of the other.
#ifdef BINDLESS
#define FIRST_ORDER_TEXTURE(s) sampler3D(s.handle)
#define ZEROTH_ORDER_TEXTURE(s) sampler3D(s.handle)
#define TEXTURE_MIDDLE(s) vec3(0.5)
#else
layout(binding = kFirstOrderUnit) uniform sampler3D first_order_atlas;
layout(binding = kZerothOrderUnit) uniform sampler3D zeroth_order_atlas;
#define FIRST_ORDER_TEXTURE(s) first_order_atlas
#define ZEROTH_ORDER_TEXTURE(s) zeroth_order_atlas
#define TEXTURE_MIDDLE(s) s.p2.xyz
#endif

// Up where there is no direction.
vec3 unit(vec3 v) {
  float l = dot(v, v);
  return l > 1e-30 ? v * inversesqrt(l) : vec3(0.0, 1.0, 0.0);
}

// How a field goes on outside of its box (field.h, extend_outside). `beyond` is the way from the
// nearest point of the box, where the value is r.w and the direction r.xyz. Written so that little is
// left to do for points inside, and without branches for the others: of a step's time this is a
// fifth otherwise.
vec4 extend_outside(vec4 r, vec3 beyond) {
  float far_sq = dot(beyond, beyond);
  if (far_sq == 0.0) return r;
  float outside = max(r.w, 0.0);
  vec3 along = r.xyz * vec3(equal(beyond, vec3(0.0)));
  return vec4(beyond + outside * along, sqrt(far_sq + outside * outside) + min(r.w, 0.0));
}

// KGM, equation 12, with positions from the middle of the box (field_texels.h).
// p0: half of the box, b_scale; p1: texture coordinates a cell; p2: those of the middle.
vec4 sample_first_order(ShapeRecord s, vec3 at) {
  vec3 u = clamp(at, -s.p0.xyz, s.p0.xyz);
  vec4 t = textureLod(FIRST_ORDER_TEXTURE(s), u * s.p1.xyz + TEXTURE_MIDDLE(s), 0.0);
  vec4 r = vec4(t.xyz, t.w * s.p0.w + 0.5 * dot(t.xyz, u));
  return extend_outside(r, at - u);
}

// The value alone is stored, in metres; its gradient is differences over a cell. p0.w: cells a
// metre.
float zeroth(ShapeRecord s, vec3 u) {
  return textureLod(ZEROTH_ORDER_TEXTURE(s), u * s.p1.xyz + TEXTURE_MIDDLE(s), 0.0).x * s.p0.w;
}

vec4 sample_zeroth_order(ShapeRecord s, vec3 at) {
  vec3 u = clamp(at, -s.p0.xyz, s.p0.xyz);
  vec3 low = max(u - 0.5, -s.p0.xyz), high = min(u + 0.5, s.p0.xyz);
  vec3 g = vec3(zeroth(s, vec3(high.x, u.yz)) - zeroth(s, vec3(low.x, u.yz)),
                zeroth(s, vec3(u.x, high.y, u.z)) - zeroth(s, vec3(u.x, low.y, u.z)),
                zeroth(s, vec3(u.xy, high.z)) - zeroth(s, vec3(u.xy, low.z))) /
           max(high - low, vec3(1e-6));
  vec4 r = vec4(g, zeroth(s, u));
  return extend_outside(r, at - u);
}

// p0: centre; p1: half of the size.
vec4 sample_box(ShapeRecord s, vec3 p) {
  vec3 d = p - s.p0.xyz, q = abs(d) - s.p1.xyz;
  vec3 side = mix(vec3(-1.0), vec3(1.0), greaterThanEqual(d, vec3(0.0)));
  float inside = max(q.x, max(q.y, q.z));
  if (inside > 0.0) {
    vec3 out_by = max(q, vec3(0.0));
    float l = length(out_by);
    return vec4(out_by * side / l, l);
  }
  vec3 axis = q.x >= q.y && q.x >= q.z ? vec3(1, 0, 0)
              : q.y >= q.z             ? vec3(0, 1, 0)
                                       : vec3(0, 0, 1);
  return vec4(axis * side, inside);
}

// p0: one end, radius; p1: the way to the other end.
vec4 sample_capsule(ShapeRecord s, vec3 p) {
  vec3 d = p - s.p0.xyz;
  float along = dot(s.p1.xyz, s.p1.xyz);
  float t = along > 0.0 ? clamp(dot(d, s.p1.xyz) / along, 0.0, 1.0) : 0.0;
  vec3 away = d - t * s.p1.xyz;
  return vec4(unit(away), length(away) - s.p0.w);
}

// Along y. p0: centre, radius; p1.x: half of the height.
vec4 sample_cylinder(ShapeRecord s, vec3 p) {
  vec3 d = p - s.p0.xyz;
  float around = length(d.xz);
  vec2 q = vec2(around - s.p0.w, abs(d.y) - s.p1.x);
  vec3 radial = around > 0.0 ? vec3(d.x, 0.0, d.z) / around : vec3(1, 0, 0);
  vec3 up = vec3(0.0, d.y >= 0.0 ? 1.0 : -1.0, 0.0);
  if (max(q.x, q.y) <= 0.0) return q.x >= q.y ? vec4(radial, q.x) : vec4(up, q.y);
  vec2 out_by = max(q, vec2(0.0));
  float l = length(out_by);
  return vec4((radial * out_by.x + up * out_by.y) / l, l);
}

// Around y. p0: centre, radius; p1.x: the tube's radius.
vec4 sample_torus(ShapeRecord s, vec3 p) {
  vec3 d = p - s.p0.xyz;
  float around = length(d.xz);
  vec3 radial = around > 0.0 ? vec3(d.x, 0.0, d.z) / around : vec3(1, 0, 0);
  vec3 away = d - radial * s.p0.w;
  return vec4(unit(away), length(away) - s.p1.x);
}

#ifdef WITH_BRICKS
#include "shape_brick.glsl"
#endif

// A lower bound of the distance, but for the shape's error (intersection_plan.h): for texels what the
// nearest node allows (texel_kernel.h, compute_texel_floor).
float floor_outside(float on_box, vec3 beyond) {
  float far_sq = dot(beyond, beyond), outside = max(on_box, 0.0);
  return far_sq == 0.0 ? on_box : sqrt(far_sq + outside * outside);
}

#ifdef BINDLESS
ivec3 first_texel(ShapeRecord s) { return ivec3(0); }
#else
ivec3 first_texel(ShapeRecord s) { return ivec3(round(s.p2.xyz / s.p1.xyz - s.p0.xyz - 0.5)); }
#endif

// NodeBound of field_texels.h: near in p2.w, excess in p1.w.
float sure_of_node(ShapeRecord s, float value) {
  return value > 3.9 ? max(min(value, s.p2.w), value - s.p1.w) : value;
}

float floor_first_order(ShapeRecord s, vec3 at) {
  vec3 u = clamp(at, -s.p0.xyz, s.p0.xyz);
  ivec3 node = ivec3(u + s.p0.xyz + 0.5);
  vec4 t = texelFetch(FIRST_ORDER_TEXTURE(s), first_texel(s) + node, 0);
  vec3 there = vec3(node) - s.p0.xyz;
  float value = t.w * s.p0.w + 0.5 * dot(t.xyz, there);
  return floor_outside(sure_of_node(s, value) - distance(u, there), at - u);
}

float floor_zeroth_order(ShapeRecord s, vec3 at) {
  vec3 u = clamp(at, -s.p0.xyz, s.p0.xyz);
  ivec3 node = ivec3(u + s.p0.xyz + 0.5);
  float value = texelFetch(ZEROTH_ORDER_TEXTURE(s), first_texel(s) + node, 0).x * s.p0.w;
  return floor_outside(sure_of_node(s, value) - distance(u, vec3(node) - s.p0.xyz), at - u);
}

// xyz: direction, w: distance.
vec4 sample_shape(ShapeRecord s, vec3 p) {
#if !defined(WITH_ZEROTH) && !defined(WITH_BRICKS) && !defined(WITH_FORMULAS)
  return sample_first_order(s, p);
#else
  switch (s.kind) {
    case kShapeFirstOrder:
      return sample_first_order(s, p);
#ifdef WITH_ZEROTH
    case kShapeZerothOrder:
      return sample_zeroth_order(s, p);
#endif
#ifdef WITH_BRICKS
    case kShapeBrick:
      return sample_brick(s, p);
#endif
#ifdef WITH_FORMULAS
    case kShapePlane:
      return vec4(s.p0.xyz, dot(s.p0.xyz, p) - s.p0.w);
    case kShapeSphere:
      return vec4(unit(p - s.p0.xyz), length(p - s.p0.xyz) - s.p0.w);
    case kShapeBox:
      return sample_box(s, p);
    case kShapeCapsule:
      return sample_capsule(s, p);
    case kShapeCylinder:
      return sample_cylinder(s, p);
    case kShapeTorus:
      return sample_torus(s, p);
#endif
  }
  return vec4(0.0, 1.0, 0.0, 1e30);
#endif
}

float floor_of_shape(ShapeRecord s, vec3 p) {
#if !defined(WITH_ZEROTH) && !defined(WITH_BRICKS) && !defined(WITH_FORMULAS)
  return floor_first_order(s, p);
#else
  if (s.kind == kShapeFirstOrder) return floor_first_order(s, p);
#ifdef WITH_ZEROTH
  if (s.kind == kShapeZerothOrder) return floor_zeroth_order(s, p);
#endif
  return sample_shape(s, p).w;
#endif
}

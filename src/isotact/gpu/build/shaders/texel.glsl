// A node's value and gradient as field/texels/field_texels.h keeps them; make_texel of field/texels/texel.h does
// the same. Lengths are cells. After search_layout.h.

vec3 keep_gradient(vec3 gradient) {
  return roundEven(clamp(gradient, -1.0, 1.0) * kTexelSteps) / kTexelSteps;
}

// For the gradient as it is kept: then its rounding does not count times the position.
float compute_b(float value, vec3 kept_gradient, vec3 from_middle) {
  return value - 0.5 * dot(kept_gradient, from_middle);
}

vec4 make_texel(vec3 kept_gradient, float b, float b_scale) {
  return vec4(kept_gradient, roundEven(clamp(b / b_scale, -1.0, 1.0) * kTexelSteps) / kTexelSteps);
}

// KGM, section 4.3: away from the surface the unit vector from the nearest point; on it, where that
// would be noise, the triangle's normal. The distance is the fourth component. After nearest.glsl.
vec4 compute_direction(uint frame, vec3 p) {
  vec3 offset = offset_from(frame, p);
  float d = length(offset_in_plane(frame, p));
  return vec4(d < kOnSurface ? normal_of(frame) : normalize(offset), d);
}

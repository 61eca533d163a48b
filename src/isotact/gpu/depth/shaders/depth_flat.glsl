// Triangles in a picture, and which pixels they hold: as the graphics pipeline decides it. Corners
// are snapped to a grid, so that edge functions are exact for triangles of up to some 8,000 pixels;
// beyond that, the two triangles at an edge still compute the same for it, as its ends are put in
// order first.
#include "depth_instances.glsl"

struct Flat {
  dvec2 at[3];  // pixels, counter-clockwise
  vec3 z;       // between 0 and 1 in the box
  double area;  // twice; 0: seen along itself
  bool front;   // faces the view
};
const int kBlockTiles = 4;  // along each side of what a work-group takes
const double kGrid = 4096.0lf;

dvec2 to_picture(vec3 clip) {
  return round((dvec2(clip.xy) + 1.0lf) * dvec2(isotact_frame.size) * (0.5lf * kGrid)) *
         (1.0lf / kGrid);
}

// Twice the area of a, b, p: positive where that runs counter-clockwise.
double compute_edge(dvec2 a, dvec2 b, dvec2 p) {
  bool turned = b.x < a.x || (b.x == a.x && b.y < a.y);
  dvec2 from = turned ? b : a, to = turned ? a : b;
  precise double e = (to.x - from.x) * (p.y - from.y) - (to.y - from.y) * (p.x - from.x);
  return turned ? -e : e;
}

Flat make_flat(DrawnInstance instance, uint corner) {
  Flat t;
  for (uint k = 0u; k < 3u; ++k) {
    vec3 clip = to_clip(instance, corner + k);
    t.at[k] = to_picture(clip);
    t.z[k] = 0.5 * clip.z + 0.5;
  }
  t.area = compute_edge(t.at[0], t.at[1], t.at[2]);
  t.front = t.area < 0;
  if (t.front) {
    dvec2 at = t.at[1];
    t.at[1] = t.at[2];
    t.at[2] = at;
    t.z = t.z.xzy;
    t.area = -t.area;
  }
  return t;
}

// Middles on an edge belong to one of its two triangles.
bool is_left(double e, dvec2 a, dvec2 b) {
  return e > 0 || (e == 0 && (b.y < a.y || (b.y == a.y && b.x < a.x)));
}

// Edge functions, depths of the corners, twice the area. The same bits in every shader.
float compute_z(dvec3 e, vec3 z, double area) {
  precise double sum = e.x * double(z.x) + e.y * double(z.y) + e.z * double(z.z);
  return float(sum / area);
}

bool compute_depth(Flat t, ivec2 pixel, out float z) {
  dvec2 p = dvec2(pixel) + 0.5lf;
  double e0 = compute_edge(t.at[1], t.at[2], p), e1 = compute_edge(t.at[2], t.at[0], p),
         e2 = compute_edge(t.at[0], t.at[1], p);
  z = 0;
  if (!is_left(e0, t.at[1], t.at[2]) || !is_left(e1, t.at[2], t.at[0]) ||
      !is_left(e2, t.at[0], t.at[1]))
    return false;
  z = compute_z(dvec3(e0, e1, e2), t.z, t.area);
  return true;
}

// Of z, a pixel. The same bits in every shader.
vec2 compute_slope(Flat t) {
  precise dvec2 slope = dvec2(0);
  for (int k = 0; k < 3; ++k) {
    dvec2 side = t.at[(k + 2) % 3] - t.at[(k + 1) % 3];
    slope += dvec2(-side.y, side.x) * double(t.z[k]);
  }
  return vec2(slope / t.area);
}

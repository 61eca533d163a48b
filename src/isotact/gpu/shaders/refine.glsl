// A look into a cell whose own particle found nothing: cut in eight, down to `resolution`. Parts
// whose middle is further outside than they can change are free of contact. Children in order, depth
// first, so that the same cell always gives the same contact.
#include "particles.glsl"

uniform float resolution;  // metres

const int kMostLevels = 6;

vec3 part_middle(Pair pair, vec3 middle, uint path, int level) {
  vec3 size = pair.cell_size;
  for (int l = level; l > 0; --l) {
    uint child = path >> (3 * (l - 1)) & 7u;
    size *= 0.5;
    middle += 0.5 * size * (vec3(child & 1u, child >> 1u & 1u, child >> 2u & 1u) * 2.0 - 1.0);
  }
  return middle;
}

bool search_cell(Pair pair, Bodies bodies, uint cell, out vec3 p, out Both s) {
  vec3 middle = start_of(pair, cell);
  uint path = 0u;
  int level = 1;
  while (level > 0) {
    p = part_middle(pair, middle, path, level);
    s = sample_both(pair, bodies, p);
    float d = max(s.a.w, s.b.w);
    float change = change_within(pair, pair.half_diagonal * exp2(-float(level)));
    bool may_hold = d <= change + pair.epsilon;
    bool is_last = change <= resolution || level == kMostLevels;
    if (may_hold && (is_last || d < pair.epsilon) && project(pair, bodies, p, s)) return true;
    if (may_hold && !is_last) {
      path <<= 3u;
      ++level;
      continue;
    }
    while (level > 0 && (path & 7u) == 7u) {
      path >>= 3u;
      --level;
    }
    ++path;
  }
  return false;
}

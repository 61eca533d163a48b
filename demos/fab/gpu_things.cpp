// Flag, plants, firework, flames.
#include <epoxy/gl.h>

#include "isotact/base/random.h"

#include "things.h"

namespace isotact::demo {
namespace {

constexpr const char* kFlagVertex = R"(#version 450 core
void main() { gl_Position = vec4(gl_VertexID % 2, gl_VertexID / 2, 0, 1); }
)";
constexpr const char* kFlagControl = R"(#version 450 core
layout(vertices = 4) out;
layout(location = 4) uniform int cuts;
void main() {
  gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
  if (gl_InvocationID != 0) return;
  for (int i = 0; i < 4; ++i) gl_TessLevelOuter[i] = cuts;
  for (int i = 0; i < 2; ++i) gl_TessLevelInner[i] = cuts;
}
)";
constexpr const char* kFlagEvaluation = R"(#version 450 core
layout(quads, equal_spacing, ccw) in;
layout(location = 0) uniform mat4 clip_from_world;
layout(location = 1) uniform vec3 pole_top;
layout(location = 2) uniform vec2 size;
layout(location = 3) uniform float seconds;
layout(location = 0) out vec3 world_position;
layout(location = 1) out vec3 color;
void main() {
  vec2 at = gl_TessCoord.xy;  // from the pole on, from below
  float wave = 5.5 * at.x - 4.2 * seconds + 0.8 * at.y;
  float loose = at.x * (1.2 - 0.2 * at.x);
  world_position = pole_top + vec3(0.11 * size.x * loose * sin(wave),
                                   (at.y - 1) * size.y - 0.06 * size.y * at.x * at.x +
                                       0.03 * size.y * loose * sin(1.7 * wave),
                                   at.x * size.x * (0.94 + 0.02 * cos(wave)));
  float ring = length((at - 0.5) * vec2(size.x / size.y, 1));
  color = at.y > 0.667 ? vec3(0.55, 0.04, 0.03) : at.y > 0.333 ? vec3(0.8) : vec3(0.03, 0.08, 0.4);
  if (ring < 0.24 && ring > 0.13) color = vec3(0.8, 0.5, 0.04);
  gl_Position = clip_from_world * vec4(world_position, 1);
}
)";

constexpr const char* kPlantVertex = R"(#version 450 core
layout(location = 0) in vec4 root;
void main() { gl_Position = root; }  // w: a number that makes each another one
)";
constexpr const char* kPlantGeometry = R"(#version 450 core
layout(points) in;
layout(line_strip, max_vertices = 42) out;
layout(location = 0) uniform mat4 clip_from_world;
layout(location = 3) uniform float seconds;
layout(location = 0) out vec3 world_position;
layout(location = 1) out vec3 color;
void main() {
  vec4 root = gl_in[0].gl_Position;
  for (int blade = 0; blade < 6; ++blade) {
    float turn = 6.2832 * fract(root.w * 7.13 + blade * 0.171);
    float high = 1.3 + 1.7 * fract(root.w * 3.7 + blade * 0.37);
    float lean = 0.25 + 0.5 * fract(root.w * 11.3 + blade * 0.61);
    vec2 along = vec2(cos(turn), sin(turn)) * lean;
    along.x += 0.22 * sin(1.9 * seconds + root.x * 0.4 + root.z * 0.3);
    for (int k = 0; k <= 6; ++k) {
      float t = k / 6.0;
      world_position = root.xyz + vec3(along.x * t * t, high * t * (1 - 0.25 * lean * t), along.y * t * t);
      color = mix(vec3(0.02, 0.10, 0.015), vec3(0.16, 0.42, 0.04), t * (0.6 + 0.4 * fract(root.w * 5)));
      gl_Position = clip_from_world * vec4(world_position, 1);
      EmitVertex();
    }
    EndPrimitive();
  }
}
)";

constexpr const char* kFireworkCompute = R"(
layout(local_size_x = 64) in;
#include "index.glsl"
struct Spark { vec4 position, color; };
layout(std430, binding = 0) buffer Sparks { Spark sparks[]; };
uniform uint count;
uniform vec3 center;
uniform float radius;
uniform float seconds;
const uint kRocket = 1475u;  // sparks of one rocket
uint mix_bits(uint h) {
  h = (h ^ (h >> 16u)) * 0x7feb352du;
  h = (h ^ (h >> 15u)) * 0x846ca68bu;
  return h ^ (h >> 16u);
}
float uniform_of(uint h) { return float(mix_bits(h) >> 8u) / 16777216.0; }
void main() {
  uint i = invocation_index();
  if (i >= count) return;
  uint rocket = i / kRocket;
  // Rockets burst one after the other, again and again, each time somewhere else.
  float life = 3.2, clock = seconds / life + uniform_of(rocket * 17u + 5u);
  uint burst = rocket * 8191u + uint(floor(clock)) * 131071u;
  float t = fract(clock) * life;
  vec3 place = vec3(uniform_of(burst), uniform_of(burst + 1u), uniform_of(burst + 2u)) * 2 - 1;
  vec3 from = center + place * radius * vec3(0.9, 0.5, 0.6);
  uint me = mix_bits(i) + burst;
  float z = 2 * uniform_of(me) - 1, turn = 6.2831853 * uniform_of(me + 1u);
  vec3 direction = vec3(sqrt(1 - z * z) * vec2(cos(turn), sin(turn)), z);
  float speed = radius * (0.42 + 0.1 * uniform_of(me + 2u));
  vec3 p = from + direction * speed * (1 - exp(-1.6 * t)) / 1.6 - vec3(0, 1.1, 0) * t * t * 0.5;
  vec3 hue = 0.5 + 0.5 * cos(6.2831853 * (uniform_of(burst + 3u) + vec3(0, 0.33, 0.67)));
  float glow = exp(-1.1 * t) * (0.6 + 0.4 * sin(40 * t + 6.28 * uniform_of(me + 4u)));
  sparks[i] = Spark(vec4(p, 1), vec4(mix(hue, vec3(1), exp(-4 * t)) * glow, 1));
}
)";
constexpr const char* kFireworkVertex = R"(#version 450 core
struct Spark { vec4 position, color; };
layout(std430, binding = 0) readonly buffer Sparks { Spark sparks[]; };
layout(location = 0) uniform mat4 clip_from_world;
layout(location = 3) uniform float points;
layout(location = 0) out vec3 world_position;
layout(location = 1) out vec3 color;
void main() {
  world_position = sparks[gl_VertexID].position.xyz;
  color = sparks[gl_VertexID].color.rgb * 1.3;
  gl_Position = clip_from_world * vec4(world_position, 1);
  gl_PointSize = points > 1 ? max(2.5, points * 0.16 / gl_Position.w) : 1;
}
)";

constexpr const char* kFlameVertex = R"(
#include "particle_layout.h"
layout(std430, binding = 0) readonly buffer Particles { Particle particles[]; };
layout(location = 0) uniform mat4 clip_from_world;
layout(location = 3) uniform float points;
layout(location = 0) out vec3 world_position;
layout(location = 1) out vec3 color;
void main() {
  Particle p = particles[gl_VertexID];
  world_position = p.position;
  float t = clamp(p.age / max(p.life, 1e-6), 0, 1);
  vec3 hot = vec3(1, 0.75, 0.35), warm = vec3(1, 0.3, 0.04), cool = vec3(0.35, 0.03, 0.005);
  color = (t < 0.4 ? mix(hot, warm, t / 0.4) : mix(warm, cool, (t - 0.4) / 0.6)) * 0.05 * (1 - t * t);
  gl_Position = clip_from_world * vec4(world_position, 1);
  gl_PointSize = points > 1 ? points * (0.010 + 0.016 * t) / gl_Position.w : 1;
}
)";

}  // namespace

FlagThing::FlagThing(const Vec3& pole_top, double width, double height, int cuts)
    : Thing(
          {.vertex = kFlagVertex, .tess_control = kFlagControl, .tess_evaluation = kFlagEvaluation},
          Look::kSolid, DepthPrimitive::kTriangles),
      top_(to_float(pole_top)),
      width_(static_cast<float>(width)),
      height_(static_cast<float>(height)),
      cuts_(cuts) {
  glCreateVertexArrays(1, &vertex_array_);
}
FlagThing::~FlagThing() { glDeleteVertexArrays(1, &vertex_array_); }

void FlagThing::emit(float) {
  glUniform3f(1, top_.x, top_.y, top_.z);
  glUniform2f(2, width_, height_);
  glUniform1f(3, seconds);
  glUniform1i(4, cuts_);
  glBindVertexArray(vertex_array_);
  glPatchParameteri(GL_PATCH_VERTICES, 4);
  glDrawArrays(GL_PATCHES, 0, 4);
}

PlantsThing::PlantsThing(const CityPlaces& places, int count)
    : Thing({.vertex = kPlantVertex, .geometry = kPlantGeometry}, Look::kPlant,
            DepthPrimitive::kLines),
      count_(count) {
  std::vector<std::array<float, 4>> roots;
  Random random(5);
  const double half = places.meadow_size / 2;
  for (int i = 0; i < count; ++i) {
    const double x = places.meadow.x + random.uniform(-half, half);
    const double z = places.meadow.z + random.uniform(-half, half);
    const Vec3f root = to_float({x, find_city_ground(x, z), z});
    roots.push_back({root.x, root.y, root.z, static_cast<float>(random.uniform())});
  }
  roots_ = GpuBuffer(std::span<const std::array<float, 4>>(roots));
  glCreateVertexArrays(1, &vertex_array_);
  glVertexArrayVertexBuffer(vertex_array_, 0, roots_.name(), 0, 16);
  glVertexArrayAttribFormat(vertex_array_, 0, 4, GL_FLOAT, GL_FALSE, 0);
  glVertexArrayAttribBinding(vertex_array_, 0, 0);
  glEnableVertexArrayAttrib(vertex_array_, 0);
}
PlantsThing::~PlantsThing() { glDeleteVertexArrays(1, &vertex_array_); }

void PlantsThing::emit(float) {
  glUniform1f(3, seconds);
  glBindVertexArray(vertex_array_);
  glDrawArrays(GL_POINTS, 0, count_);
}

FireworkThing::FireworkThing(const CityPlaces& places, std::uint32_t count)
    : Thing({.vertex = kFireworkVertex}, Look::kGlow, DepthPrimitive::kPoints),
      center_(to_float(places.firework)),
      radius_(static_cast<float>(places.firework_radius)),
      count_(count),
      particles_(std::size_t{count} * 32),
      program_(GpuProgram::from_source("firework.comp", kFireworkCompute)) {
  glCreateVertexArrays(1, &vertex_array_);
  update(0);
}
FireworkThing::~FireworkThing() { glDeleteVertexArrays(1, &vertex_array_); }

void FireworkThing::update(float seconds) {
  program_.set("count", count_);
  program_.set("center", center_.x, center_.y, center_.z);
  program_.set("radius", radius_);
  program_.set("seconds", seconds);
  particles_.bind(0);
  const GroupGrid groups = spread_groups((count_ + 63) / 64);
  program_.dispatch(groups.x, groups.y);
}

void FireworkThing::emit(float points) {
  glUniform1f(3, points);
  particles_.bind(0);
  glBindVertexArray(vertex_array_);
  glEnable(GL_PROGRAM_POINT_SIZE);
  glDrawArrays(GL_POINTS, 0, static_cast<GLsizei>(count_));
  glDisable(GL_PROGRAM_POINT_SIZE);
}

FlameThing::FlameThing(const GpuParticles& particles)
    : Thing({.vertex = kFlameVertex}, Look::kGlow, DepthPrimitive::kPoints), particles_(particles) {
  glCreateVertexArrays(1, &vertex_array_);
}
FlameThing::~FlameThing() { glDeleteVertexArrays(1, &vertex_array_); }

void FlameThing::emit(float points) {
  glUniform1f(3, points);
  particles_.buffer().bind(0);
  glBindVertexArray(vertex_array_);
  glEnable(GL_PROGRAM_POINT_SIZE);
  glDrawArrays(GL_POINTS, 0, static_cast<GLsizei>(particles_.count()));
  glDisable(GL_PROGRAM_POINT_SIZE);
}

}  // namespace isotact::demo

#include <bit>

#include <epoxy/gl.h>

#include "things.h"

namespace isotact::demo {
namespace {

constexpr const char* kVertex = R"(#version 450 core
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 own_color;
layout(location = 0) uniform mat4 clip_from_world;
layout(location = 1) uniform vec3 at;
layout(location = 2) uniform vec4 turn;
layout(location = 3) uniform vec4 tint;
layout(location = 0) out vec3 world_position;
layout(location = 1) out vec3 color;
void main() {
  vec3 t = 2 * cross(turn.xyz, position);
  world_position = position + turn.w * t + cross(turn.xyz, t) + at;
  color = mix(own_color, tint.rgb, tint.a);
  gl_Position = clip_from_world * vec4(world_position, 1);
}
)";

constexpr const char* kBoxVertex = R"(#version 450 core
layout(location = 0) uniform mat4 clip_from_world;
layout(location = 1) uniform vec3 at;
layout(location = 2) uniform vec4 turn;
layout(location = 3) uniform vec3 half_size;
layout(location = 4) uniform vec3 line_color;
layout(location = 0) out vec3 world_position;
layout(location = 1) out vec3 color;
void main() {
  int edge = gl_VertexID / 2, axis = edge / 4;  // four edges along each axis
  vec3 p = vec3(0);
  p[axis] = gl_VertexID % 2 == 0 ? -1 : 1;
  p[(axis + 1) % 3] = edge % 2 == 0 ? -1 : 1;
  p[(axis + 2) % 3] = edge / 2 % 2 == 0 ? -1 : 1;
  p *= half_size;
  vec3 t = 2 * cross(turn.xyz, p);
  world_position = p + turn.w * t + cross(turn.xyz, t) + at;
  color = line_color;
  gl_Position = clip_from_world * vec4(world_position, 1);
}
)";

void set_pose(const Pose& pose) {
  const Vec3f t = to_float(pose.translation);
  const Quat& q = pose.rotation;
  glUniform3f(1, t.x, t.y, t.z);
  glUniform4f(2, static_cast<float>(q.x), static_cast<float>(q.y), static_cast<float>(q.z),
              static_cast<float>(q.w));
}

FabElement make_element(const TriangleMesh& mesh, const Vec3f& color) {
  FabElement element;
  element.mesh = mesh;
  element.color = color;
  return element;
}

}  // namespace

MeshThing::MeshThing(std::span<const FabElement> elements)
    : Thing({.vertex = kVertex}, Look::kSolid, DepthPrimitive::kTriangles) {
  std::vector<Vec3f> positions, colors;
  std::vector<std::uint32_t> indices;
  for (const FabElement& element : elements) {
    const auto base = static_cast<std::uint32_t>(positions.size());
    Range range;
    range.first = static_cast<std::uint32_t>(indices.size());
    range.count = static_cast<std::uint32_t>(3 * element.mesh.triangles.size());
    range.pose = element.world_from_element;
    ranges_.push_back(range);
    positions.insert(positions.end(), element.mesh.positions.begin(), element.mesh.positions.end());
    colors.resize(positions.size(), element.color);
    for (const Triangle& t : element.mesh.triangles)
      for (const std::uint32_t corner : t) indices.push_back(base + corner);
  }
  glCreateBuffers(3, buffers_.data());
  glNamedBufferStorage(buffers_[0], static_cast<GLsizeiptr>(positions.size() * 12),
                       positions.data(), 0);
  glNamedBufferStorage(buffers_[1], static_cast<GLsizeiptr>(colors.size() * 12), colors.data(), 0);
  glNamedBufferStorage(buffers_[2], static_cast<GLsizeiptr>(indices.size() * 4), indices.data(), 0);
  glCreateVertexArrays(1, &vertex_array_);
  for (GLuint i = 0; i < 2; ++i) {
    glVertexArrayVertexBuffer(vertex_array_, i, buffers_[i], 0, 12);
    glVertexArrayAttribFormat(vertex_array_, i, 3, GL_FLOAT, GL_FALSE, 0);
    glVertexArrayAttribBinding(vertex_array_, i, i);
    glEnableVertexArrayAttrib(vertex_array_, i);
  }
  glVertexArrayElementBuffer(vertex_array_, buffers_[2]);
}

MeshThing::MeshThing(const TriangleMesh& mesh, const Vec3f& color)
    : MeshThing(std::vector{make_element(mesh, color)}) {}

MeshThing::~MeshThing() {
  glDeleteBuffers(3, buffers_.data());
  glDeleteVertexArrays(1, &vertex_array_);
}

void MeshThing::move(std::size_t element, const Pose& world_from_element) {
  ranges_[element].pose = world_from_element;
}

void MeshThing::tint(std::size_t element, const Vec3f& color, float share) {
  ranges_[element].tint = color;
  ranges_[element].share = share;
}

GpuDrawable MeshThing::element_drawable(std::size_t element, std::uint32_t id) {
  GpuDrawable drawable = Thing::drawable(id, true);
  drawable.draw = [this, element](const DrawPass& pass) {
    only_ = static_cast<int>(element);
    draw(pass);
    only_ = -1;
  };
  return drawable;
}

void MeshThing::emit_range(const Range& range) const {
  set_pose(range.pose);
  glUniform4f(3, range.tint.x, range.tint.y, range.tint.z, range.share);
  glDrawElements(GL_TRIANGLES, static_cast<GLsizei>(range.count), GL_UNSIGNED_INT,
                 std::bit_cast<const void*>(std::uintptr_t{range.first} * 4));
}

void MeshThing::emit(float) {
  glBindVertexArray(vertex_array_);
  if (only_ >= 0) {
    emit_range(ranges_[static_cast<std::size_t>(only_)]);
    return;
  }
  for (const Range& range : ranges_) emit_range(range);
}

BoxThing::BoxThing(const Vec3& half_size, const Vec3f& color)
    : Thing({.vertex = kBoxVertex}, Look::kPlant, DepthPrimitive::kLines),
      half_size_(to_float(half_size)),
      color_(color) {
  glCreateVertexArrays(1, &vertex_array_);
}
BoxThing::~BoxThing() { glDeleteVertexArrays(1, &vertex_array_); }

void BoxThing::emit(float) {
  set_pose(world_from_box);
  glUniform3f(3, half_size_.x, half_size_.y, half_size_.z);
  glUniform3f(4, color_.x, color_.y, color_.z);
  glBindVertexArray(vertex_array_);
  glDrawArrays(GL_LINES, 0, 24);
}

}  // namespace isotact::demo

// Meshes drawn as a caller would do it: with buffers and shaders of their own.
#pragma once

#include <memory>
#include <vector>

#include <epoxy/gl.h>

#include "isotact/base/pose.h"
#include "isotact/geometry/mesh/mesh.h"
#include "isotact/gpu/depth/depth_detector.h"
#include "isotact/gpu/depth/draw_program.h"

namespace isotact {

class DrawnMesh {
 public:
  explicit DrawnMesh(const TriangleMesh& mesh)
      : indices_(static_cast<GLsizei>(3 * mesh.triangles.size())) {
    glCreateBuffers(2, buffers_);
    glNamedBufferStorage(buffers_[0], static_cast<GLsizeiptr>(mesh.positions.size() * 12),
                         mesh.positions.data(), 0);
    glNamedBufferStorage(buffers_[1], static_cast<GLsizeiptr>(mesh.triangles.size() * 12),
                         mesh.triangles.data(), 0);
    glCreateVertexArrays(1, &vertices_);
    glVertexArrayVertexBuffer(vertices_, 0, buffers_[0], 0, 12);
    glVertexArrayAttribFormat(vertices_, 0, 3, GL_FLOAT, GL_FALSE, 0);
    glVertexArrayAttribBinding(vertices_, 0, 0);
    glEnableVertexArrayAttrib(vertices_, 0);
    glVertexArrayElementBuffer(vertices_, buffers_[1]);
  }
  DrawnMesh(const DrawnMesh&) = delete;
  DrawnMesh& operator=(const DrawnMesh&) = delete;
  ~DrawnMesh() {
    glDeleteBuffers(2, buffers_);
    glDeleteVertexArrays(1, &vertices_);
  }

  void draw(const DrawPass& pass, const Pose& pose = {}, GLenum mode = GL_TRIANGLES) {
    program_.use(pass);
    const Vec3& t = pose.translation;
    const Quat& q = pose.rotation;
    glUniform3f(1, static_cast<float>(t.x), static_cast<float>(t.y), static_cast<float>(t.z));
    glUniform4f(2, static_cast<float>(q.x), static_cast<float>(q.y), static_cast<float>(q.z),
                static_cast<float>(q.w));
    glBindVertexArray(vertices_);
    glDrawElements(mode, indices_, GL_UNSIGNED_INT, nullptr);
  }
  GpuDrawable drawable(std::uint32_t id = 0, const Pose& pose = {}, bool closed = true) {
    return {.draw = [this, pose](const DrawPass& pass) { draw(pass, pose); },
            .id = id,
            .closed = closed};
  }

 private:
  static constexpr const char* kVertex = R"(
layout(location = 0) in vec3 position;
layout(location = 0) uniform mat4 clip_from_world;
layout(location = 1) uniform vec3 at;
layout(location = 2) uniform vec4 turn;
void main() {
  vec3 t = 2 * cross(turn.xyz, position);
  vec3 p = position + turn.w * t + cross(turn.xyz, t) + at;
  gl_Position = clip_from_world * vec4(p, 1);
}
)";
  GLsizei indices_;
  GLuint buffers_[2]{};
  GLuint vertices_ = 0;
  GpuDrawProgram program_{DrawStages{.vertex = kVertex, .name = "mesh"}};
};

}  // namespace isotact

// The parts of FAB's scenes (section 3): meshes, and things that exist only on the GPU. The paper:
// "tessellation shaders generate and animate a flag, the geometry shader generates green plants",
// and "a firework composed of 59 000 particles", moved by a compute shader.
#pragma once

#include <span>
#include <vector>

#include "isotact/gpu/core/buffer.h"
#include "isotact/gpu/core/program.h"
#include "isotact/gpu/particles/particle_maps.h"

#include "fab_shapes.h"
#include "thing.h"

namespace isotact::demo {

// Elements of a scene in one set of buffers.
class MeshThing final : public Thing {
 public:
  explicit MeshThing(std::span<const FabElement> elements);
  MeshThing(const TriangleMesh& mesh, const Vec3f& color);
  ~MeshThing() override;

  std::size_t elements() const { return ranges_.size(); }
  void move(std::size_t element, const Pose& world_from_element);
  void tint(std::size_t element, const Vec3f& color, float share);  // 0: its own colour.
  // Draws one element alone, at its pose when it is drawn.
  GpuDrawable element_drawable(std::size_t element, std::uint32_t id);

 private:
  struct Range {
    std::uint32_t first = 0, count = 0;  // Indices.
    Pose pose{};
    Vec3f tint{};
    float share = 0;
  };
  void emit(float points) override;
  void emit_range(const Range& range) const;

  std::vector<Range> ranges_;
  std::uint32_t vertex_array_ = 0;
  std::array<std::uint32_t, 3> buffers_{};
  int only_ = -1;
};

// A quad that tessellation shaders cut into 2 * cuts^2 triangles and move in the wind.
class FlagThing final : public Thing {
 public:
  FlagThing(const Vec3& pole_top, double width, double height, int cuts = 32);
  ~FlagThing() override;
  float seconds = 0;

 private:
  void emit(float points) override;
  Vec3f top_;
  float width_, height_;
  int cuts_;
  std::uint32_t vertex_array_ = 0;
};

// Points that a geometry shader expands to bundles of bent lines.
class PlantsThing final : public Thing {
 public:
  PlantsThing(const CityPlaces& places, int count = 2500);
  ~PlantsThing() override;
  float seconds = 0;

 private:
  void emit(float points) override;
  int count_;
  GpuBuffer roots_;
  std::uint32_t vertex_array_ = 0;
};

inline constexpr std::uint32_t kFireworkParticles = 59000;

// Points that a compute shader moves and colours.
class FireworkThing final : public Thing {
 public:
  FireworkThing(const CityPlaces& places, std::uint32_t count = kFireworkParticles);
  ~FireworkThing() override;
  void update(float seconds);  // Call it before drawing.

 private:
  void emit(float points) override;
  Vec3f center_;
  float radius_;
  std::uint32_t count_;
  GpuBuffer particles_;  // vec4 position, vec4 color.
  GpuProgram program_;
  std::uint32_t vertex_array_ = 0;
};

// Particles of gpu/particles/particle_maps.h as flames: point sprites of varying size and colour.
class FlameThing final : public Thing {
 public:
  explicit FlameThing(const GpuParticles& particles);
  ~FlameThing() override;

 private:
  void emit(float points) override;
  const GpuParticles& particles_;
  std::uint32_t vertex_array_ = 0;
};

// The edges of a box, as lines.
class BoxThing final : public Thing {
 public:
  BoxThing(const Vec3& half_size, const Vec3f& color);
  ~BoxThing() override;
  Pose world_from_box{};

 private:
  void emit(float points) override;
  Vec3f half_size_, color_;
  std::uint32_t vertex_array_ = 0;
};

}  // namespace isotact::demo

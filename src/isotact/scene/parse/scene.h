// A scene: bodies, their joints and motors, and the settings of the world. It is read from JSON, as
// described in docs/scenes.md.
//
//   const Scene scene = read_scene("scenes/chain.json");
//   SceneRun run(scene);  // run.h
//
// Units are metres, kilograms, seconds and radians. The y axis points up unless gravity says
// otherwise.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "isotact/dynamics/rigid/world.h"
#include "isotact/dynamics/soft/soft_world.h"
#include "isotact/export.h"
#include "isotact/field/models/analytic.h"
#include "isotact/field/models/analytic_solid.h"
#include "isotact/field/models/terrain_field.h"
#include "isotact/field/surface/surface.h"

namespace ISOTACT_PUBLIC isotact {

using Colour = std::array<std::uint8_t, 3>;  // sRGB

struct SceneMaterial {
  std::string name{};
  SurfaceMaterial surface{};
  std::optional<Colour> colour{};
};

// Sources of meshes, assets and fields.
struct MadeShape {
  std::string name{};  // From the catalogue of geometry/primitives/primitives.h.
  std::map<std::string, double> parameters{};  // Those that differ from the defaults.
  std::optional<double> size{};                // Longest side in metres.
  bool operator==(const MadeShape&) const = default;
};
struct MeshFile {
  std::filesystem::path path{};  // In a form that a reader can open.
  std::string unit = "m";
  std::optional<double> size{};  // Longest side in metres; the scale is then ignored.
  double scale = 1;              // Factor, after the unit.
  bool operator==(const MeshFile&) const = default;
};
struct AssetFile {
  std::filesystem::path path{};
};
// A mesh of the folder in the environment variable ISOTACT_DATA, which not everybody has, and its
// substitute.
struct DataFile {
  std::string path{};            // Relative to that folder.
  std::optional<double> size{};  // Longest side in metres.
  MadeShape stand_in{};
  bool operator==(const DataFile&) const = default;
};
// A formula; an AnalyticSolid is a union, difference or intersection, and has an end.
using SceneField = std::variant<PlaneField, SphereField, BoxField, CapsuleField, CylinderField,
                                TorusField, TerrainField, ConeField, AnalyticSolid>;

struct SceneShape {
  std::string name{};  // Empty for a body's own shape.
  std::variant<MadeShape, MeshFile, AssetFile, DataFile, SceneField> source{};
  // For meshes: at most one of each two. By default, the resolution is 64 and points are two cells
  // apart.
  std::optional<int> resolution{};
  std::optional<double> voxel_size{};
  // 0: only a field, for the points of other bodies to touch.
  std::optional<std::uint32_t> points{};
  std::optional<double> spacing{};
  // For meshes of files: the rule that separates inside from outside (docs/fields.md).
  SignMethod sign = SignMethod::kAuto;
};

struct SceneBody {
  std::string name{};
  BodyKind kind = BodyKind::kDynamic;
  std::optional<std::size_t> shape{};  // Index into Scene::shapes. None: the body touches nothing.
  std::optional<std::size_t> material{};  // Index into Scene::materials.
  double density = 1000;                  // kg/m^3
  std::optional<double> mass{};           // kg. If given, density is ignored.
  Pose pose{};
  Vec3 velocity{}, angular_velocity{};
  bool fast = false;
  std::optional<Colour> colour{};
};

// A flat cloth about the origin in the xz plane.
struct SheetShape {
  double width = 1, depth = 1;     // Metres, along x and z.
  int cells_x = 32, cells_z = 32;  // Two triangles per cell.
  bool operator==(const SheetShape&) const = default;
};
// A body of "figure" (docs/scenes.md), from MDL06's experiments.
struct FigureShape {
  std::string name{};
  std::optional<double> size{};  // Longest side in metres.
  bool operator==(const FigureShape&) const = default;
};

struct SceneSoftBody {
  std::string name{};
  std::variant<MadeShape, MeshFile, DataFile, SheetShape, FigureShape> source{};
  SoftMaterial material{};
  double mass = 1;
  Pose pose{};
  Vec3 velocity{}, angular_velocity{};
  std::optional<Aabb> pinned{};  // Vertices inside this box at the start stay fixed.
  double margin = 0;
  bool self_contact = false;
  std::optional<Steering> steering{};
  std::optional<Colour> colour{};
};

struct SceneJoint {
  std::string name{};
  JointKind kind = JointKind::kBall;
  std::size_t a = 0, b = 0;  // Indices into Scene::bodies.
  Vec3 place{};              // World frame, at the start.
  Vec3 axis{1, 0, 0};        // Unit vector.
  std::optional<Motor> motor{};
  std::optional<JointLimits> limits{};
  double friction = 0;  // N m, or N of sliders.
  bool may_touch = false;
};

// Path of a kinematic body through poses. It moves evenly between two poses and takes the shorter
// rotation. It waits before the first and after the last.
struct PoseKey {
  double time = 0;
  Pose pose{};
};
struct PoseScript {
  std::size_t body = 0;
  std::vector<PoseKey> keys{};  // With ascending times.
};
// Moves and rotates a body about its own origin from one time to another, from its initial pose.
struct SteadyScript {
  std::size_t body = 0;
  Vec3 velocity{}, angular_velocity{};
  double from = 0, until = 0;
};
// Applies a load to a dynamic body at its centre of mass.
struct LoadScript {
  std::size_t body = 0;
  Load load{};
  double from = 0, until = 0;
};
// Drives a motor. Values are interpolated between two keys; the first key holds before them and the
// last after them.
struct MotorKey {
  double time = 0;
  Motor motor{};
};
struct MotorScript {
  std::size_t joint = 0;
  std::vector<MotorKey> keys{};
};
using SceneScript = std::variant<PoseScript, SteadyScript, LoadScript, MotorScript>;

// Camera of pictures.
struct SceneView {
  double yaw_degrees = 30, pitch_degrees = 20;
  double zoom = 1;
  // The box that the picture shows. None: all bodies along all their paths.
  std::optional<Aabb> box{};
};

// Narrow phase of another engine, if it offers a choice.
enum class NarrowPhase : std::uint8_t {
  kPoints,  // Points of one body in the field of the other.
  // All pairs at once with intersection fields (queries/intersection/intersection_field.h).
  kIdf,
  kGpu,  // The same on the GPU. Without a GPU: on the CPU, with a warning.
};
std::string_view name(NarrowPhase narrow_phase);

struct Scene {
  std::string name{}, about{};
  WorldSettings world{};
  // The engine that steps the scene: our own world, or another one that the program provides
  // (SceneEngine of run.h).
  std::string engine = "isotact";
  NarrowPhase narrow_phase = NarrowPhase::kPoints;  // Our own engine has no other.
  // Length of a run: steps, or seconds if they are given.
  std::uint64_t steps = 1000;
  std::optional<double> seconds{};
  double frames_per_second = 60;  // Frames of the replay.
  SceneView view{};
  std::vector<SceneMaterial> materials{};
  std::vector<SceneShape> shapes{};
  std::vector<SceneBody> bodies{};
  // Soft bodies. Only our own world has them. The step, gravity and threads are those of the world.
  // Contact is inside of the solve if the scene names no integrator.
  SoftWorldSettings soft{.integrator = SoftIntegrator::kBarrier};
  std::vector<SceneSoftBody> soft_bodies{};
  std::vector<SceneJoint> joints{};
  std::vector<SceneScript> scripts{};
};

// Returns the number of steps of a run, with the world's current step.
std::uint64_t step_count(const Scene& scene);

// Limits of a file's values. None is near the practical limits of a simulation.
inline constexpr std::size_t kMostSceneBytes = std::size_t{8} << 20U;
inline constexpr std::size_t kMostSceneBodies = 10000;  // Per kind.
inline constexpr double kMostScenePlace = 1e6;          // Metres from the origin.

// Throws Error with the JSON path for anything that does not fit: "drop.json: bodies[3].shape.size:
// expected a number above 0, found "big"". `name` stands for the file. Files that the scene names
// are relative to its folder, and are not opened here. Memory: 100 MB for the largest texts, about
// 30 times the length of small ones.
Scene parse_scene(std::string_view text, const std::filesystem::path& name);
Scene read_scene(const std::filesystem::path& path);

}  // namespace isotact

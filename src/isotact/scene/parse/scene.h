// A scene: bodies, what holds and drives them, and how the world runs. Read from JSON, as
// docs/scenes.md describes it.
//
//   const Scene scene = read_scene("scenes/chain.json");
//   SceneRun run(scene);  // run.h
//
// Metres, kilograms, seconds, radians; y is up unless gravity says otherwise.
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

#include "isotact/dynamics/soft/soft_world.h"
#include "isotact/dynamics/world.h"
#include "isotact/field/analytic.h"

namespace isotact {

using Colour = std::array<std::uint8_t, 3>;  // sRGB

struct SceneMaterial {
  std::string name{};
  SurfaceMaterial surface{};
  std::optional<Colour> colour{};
};

// Where a mesh, an asset or a field comes from.
struct MadeShape {
  std::string name{};                          // of the catalogue of geometry/primitives.h
  std::map<std::string, double> parameters{};  // those that are not as by default
  std::optional<double> size{};                // of the longest side, metres
  bool operator==(const MadeShape&) const = default;
};
struct MeshFile {
  std::filesystem::path path{};  // as a reader can open it
  std::string unit = "m";
  bool operator==(const MeshFile&) const = default;
};
struct AssetFile {
  std::filesystem::path path{};
};
// A mesh of the folder in the environment variable ISOTACT_DATA, which not everybody has, and what
// stands in for it.
struct DataFile {
  std::string path{};            // in that folder
  std::optional<double> size{};  // of the longest side, metres
  MadeShape stand_in{};
  bool operator==(const DataFile&) const = default;
};
using SceneField =
    std::variant<PlaneField, SphereField, BoxField, CapsuleField, CylinderField, TorusField>;

struct SceneShape {
  std::string name{};  // empty: a body's own
  std::variant<MadeShape, MeshFile, AssetFile, DataFile, SceneField> source{};
  // Of meshes: at most one of each two. Nothing: a resolution of 64, points two cells apart.
  std::optional<int> resolution{};
  std::optional<double> voxel_size{};
  std::optional<std::uint32_t> points{};  // 0: a field only, for others' points to touch
  std::optional<double> spacing{};
};

struct SceneBody {
  std::string name{};
  BodyKind kind = BodyKind::kDynamic;
  std::optional<std::size_t> shape{};     // of Scene::shapes; none: touches nothing
  std::optional<std::size_t> material{};  // of Scene::materials
  double density = 1000;                  // kg/m^3
  std::optional<double> mass{};           // kg; where given, density does not count
  Pose pose{};
  Vec3 velocity{}, angular_velocity{};
  bool fast = false;
  std::optional<Colour> colour{};
};

// A flat cloth about the origin, in the plane of x and z.
struct SheetShape {
  double width = 1, depth = 1;     // along x and z
  int cells_x = 32, cells_z = 32;  // two triangles each
  bool operator==(const SheetShape&) const = default;
};
// One of figures.h, of MDL06's experiments.
struct FigureShape {
  std::string name{};
  std::optional<double> size{};  // of the longest side, metres
  bool operator==(const FigureShape&) const = default;
};

struct SceneSoftBody {
  std::string name{};
  std::variant<MadeShape, MeshFile, DataFile, SheetShape, FigureShape> source{};
  SoftMaterial material{};
  double mass = 1;
  Pose pose{};
  Vec3 velocity{}, angular_velocity{};
  std::optional<Aabb> pinned{};  // vertices in here at the start stay
  double thickness = 0;
  bool self_contact = false;
  std::optional<Steering> steering{};
  std::optional<Colour> colour{};
};

struct SceneJoint {
  std::string name{};
  JointKind kind = JointKind::kBall;
  std::size_t a = 0, b = 0;  // of Scene::bodies
  Vec3 place{};              // in the world, at the start
  Vec3 axis{1, 0, 0};        // unit
  std::optional<Motor> motor{};
  std::optional<JointLimits> limits{};
  bool may_touch = false;
};

// Where a kinematic body goes: through poses, evenly between two of them and the shorter way round;
// it waits before the first and after the last.
struct PoseKey {
  double time = 0;
  Pose pose{};
};
struct PoseScript {
  std::size_t body = 0;
  std::vector<PoseKey> keys{};  // of ascending times
};
// Goes on and turns about its own origin from a time to another, from where it was at the start.
struct SteadyScript {
  std::size_t body = 0;
  Vec3 velocity{}, angular_velocity{};
  double from = 0, until = 0;
};
// Pushes a dynamic body, at its centre of mass.
struct LoadScript {
  std::size_t body = 0;
  Load load{};
  double from = 0, until = 0;
};
// Sets a motor: evenly between two keys, as the first before and as the last after them.
struct MotorKey {
  double time = 0;
  Motor motor{};
};
struct MotorScript {
  std::size_t joint = 0;
  std::vector<MotorKey> keys{};
};
using SceneScript = std::variant<PoseScript, SteadyScript, LoadScript, MotorScript>;

// From where pictures show it.
struct SceneView {
  double yaw_degrees = 30, pitch_degrees = 20;
  double zoom = 1;
  // What the picture holds; nothing: all bodies on all their ways.
  std::optional<Aabb> box{};
};

// How another engine finds contacts, where it offers a choice.
enum class NarrowPhase : std::uint8_t {
  kPoints,  // points of one body in the field of the other
  kIdf,     // all pairs at once by intersection fields (queries/intersection_field.h)
  kGpu,     // the same on the GPU; on the CPU, with a warning, where there is none
};
std::string_view name(NarrowPhase narrow_phase);

struct Scene {
  std::string name{}, about{};
  WorldSettings world{};
  // What steps it: our own world, or another engine that the program brings (engine.h).
  std::string engine = "isotact";
  NarrowPhase narrow_phase = NarrowPhase::kPoints;  // ours has no other
  // How long a run is: steps, or seconds where they are given.
  std::uint64_t steps = 1000;
  std::optional<double> seconds{};
  double frames_per_second = 60;  // of the replay
  SceneView view{};
  std::vector<SceneMaterial> materials{};
  std::vector<SceneShape> shapes{};
  std::vector<SceneBody> bodies{};
  // Those that bend: only our own world has them. The step, gravity and threads are the world's.
  SoftWorldSettings soft{};
  std::vector<SceneSoftBody> soft_bodies{};
  std::vector<SceneJoint> joints{};
  std::vector<SceneScript> scripts{};
};

// With the step that the world has now.
std::uint64_t step_count(const Scene& scene);

// Limits of what a file may ask for. None is near what a simulation can do in practice.
inline constexpr std::size_t kMostSceneBytes = std::size_t{8} << 20U;
inline constexpr std::size_t kMostSceneBodies = 10000;  // of each kind
inline constexpr double kMostScenePlace = 1e6;          // metres from the origin

// Throws Error with the JSON path for anything that does not fit: "drop.json:
// bodies[3].shape.size: expected a number above 0, found "big"". `name` stands for the file; files
// that the scene names are looked for beside it, but not opened here. Memory: 100 MB for the
// largest texts, some 30 times the length of small ones.
Scene parse_scene(std::string_view text, const std::filesystem::path& name);
Scene read_scene(const std::filesystem::path& path);

}  // namespace isotact

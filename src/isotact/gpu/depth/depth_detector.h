// Collision of objects with everything that can be drawn, on the graphics pipeline: FAB, and
// beyond. queries/depth/depth_map.h, the CPU implementation, defines all terms.
//
//   GpuDepthDetector detector(gpu, {.width = 512, .height = 512});
//   detector.draw_map(0, {{.draw = draw_ship, .closed = true}}, view);  // Again when it deforms.
//   const DepthResult report = detector.detect(world_from_ship, {{.draw = draw_tunnel, .id = 7}});
//
// A drawable is a callback that draws with any shaders of the caller (draw_program.h), or a mesh of
// ours (mesh_drawable.h). Its triangles are counter-clockwise seen from outside. During the call,
// framebuffer, viewport, scissor, depth, culling and the bindings named in draw_program.h are ours;
// the callback may change the rest.
//
// Slots store maps: of different objects, of the parts of one (FAB, Figure 5), or of one in several
// directions (Figure 3). A query finds collisions of a slot's object at a pose. One submission may
// have many queries, and a slot may serve several. Only fetch() and detect() wait.
//
// Limits and differences from the CPU implementation:
//   * `conservative` is for kIntervals. It uses the GPU's conservative rasterisation, which draws
//     no triangles that are exactly edge-on. Adjoining triangles cover their rims, but a wall
//     between two faces may be missed in pixels whose centre it does not enclose.
//   * All elements that contain the object are found. Their ids are reported only if a ray is
//     within one of them alone, or at one of 16 pixels of the map.
//   * The deepest position in a part of the picture is decided to 2^-20 of the box's depth (at 512
//     x 512 pixels; 2 bits less for each doubling of both sides). Candidates have a capacity of one
//     per pixel. If more arrive, each deeper than all before it, some parts of the picture may be
//     left out. Contacts and the search for the deepest position then lack these parts. Collision,
//     pixels, bounds and ids do not depend on that.
//
// Everything works in the context that was current at construction, the caller's or our own, and
// leaves its state unchanged. Results are the same bits for every run on one device. Contacts and
// the deepest position are an exception if there were more hits than the detector's capacity (one
// hit per pixel and query, 2^23 in all). Not for several threads at once.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "isotact/export.h"
#include "isotact/gpu/core/context.h"
#include "isotact/gpu/depth/draw_program.h"
#include "isotact/queries/depth/depth_map.h"

namespace ISOTACT_PUBLIC isotact {

class GpuMeshes;

struct GpuDrawable {
  std::function<void(const DrawPass&)> draw{};
  std::uint32_t id = 0;
  bool closed = false;  // Triangles that bound a solid.
  DepthPrimitive primitive = DepthPrimitive::kTriangles;
  // Bounds of everything that it draws, world frame. It is not called for queries whose box misses
  // them. None: always called. (Objects are drawn in any case.)
  std::optional<Aabb> bounds{};
};

// Elements are numbered: drawables first, then those of the meshes, one after the other.
struct GpuDepthScene {
  std::span<const GpuDrawable> drawables{};
  std::span<const GpuMeshes* const> meshes{};
};

// Rasteriser of GpuMeshes. Callers' drawables always use the pipeline.
enum class GpuRaster : std::uint8_t {
  kAuto,      // kCompute on hardware if it is possible, otherwise kGraphics.
  kGraphics,  // The graphics pipeline, after culling.
  // Compute shaders, for GPUs with few graphics units. Only for DepthMethod::kIntervals without
  // `conservative`; otherwise kGraphics is used.
  kCompute,
};

struct GpuDepthSettings {
  int slots = 1;      // Maps at once, up to kMostDepthSlots.
  int queries = 0;    // Largest number per submission; 0: as many as slots.
  int in_flight = 3;  // Submissions that have not been fetched.
  // False if nobody else changes the state of the context, and callbacks restore their changes.
  // Saves some tens of microseconds per call.
  bool save_state = true;
  GpuRaster raster = GpuRaster::kAuto;
  // With kCompute: one dispatch for everything. The scene must be one GpuMeshes of triangles, with
  // at most 1024 elements and edges of up to 8000 pixels, for at most 8 queries. It gives the same
  // results sooner, except for the last bits of positions and depths on hardware. Other scenes take
  // several passes.
  bool one_pass = true;
  // If everything fits into one dispatch, detect() first tests on the CPU whether the object is
  // free, unless it was not free in the last call. It compares triangles, by boxes and then one by
  // one, with the depths between which the object is solid in tiles of 16 x 16 pixels. The GPU is
  // not used if no triangle comes near, and a position in each connected part of the tiles is
  // outside of all closed elements. Costs some microseconds if it does not succeed.
  bool first_check = true;
  // kCompute: capacity for the blocks of 4 x 4 tiles that triangles cover; 0: 2^18. Blocks beyond
  // it take longer.
  std::uint32_t tiles = 0;
  // kTwoMaps: the environment is drawn only at pixels of the object (FAB, "Stencil buffer").
  bool use_stencil = false;
  // Capacity for the object's surfaces while its map is drawn, kIntervals; 0: four per pixel. It
  // grows with MapUpdate::kWait.
  std::uint32_t surfaces = 0;
};
inline constexpr int kMostDepthSlots = 1024;

enum class MapUpdate : std::uint8_t {
  kWait,  // Waits until the map is complete. Increases the capacity if it was too small.
  // Returns at once. Reports of a map whose capacity was too small are Errors.
  kQueue,
};

struct GpuDepthQuery {
  int slot = 0;
  Pose world_from_object{};
};

struct GpuDepthTicket {
  std::uint64_t number = 0;
};

// Results of the last submission on the GPU. Shaders may read them after glMemoryBarrier, until the
// next submission. There are `queries` records of `stride` bytes, little-endian uint32 unless
// stated otherwise:
//    0 pixels            4 inside (0, 1)      8 contacts
//   12 first pixel x, y  20 last pixel x, y (int32)
//   28 deepest pixel (y * width + x)   32 its element's number   36 its depth   40 depth (float)
//   44 surfaces lost   48 covered   52 overfull   56 open (pixels of the map)   60 slot
//   64 max_contacts records of 32 bytes, the deepest first: pixel, element, float depth of the
//      position, float distance to the end of the object (signed, along the view), float3 normal
//      (view frame), float depth of the contact
//   then bits of the elements that meet the object (or are around it, if `inside`)
// Depths and distances are fractions of the whole depth of the box, 2 half_size.z.
struct GpuDepthResults {
  std::uint32_t buffer = 0;  // OpenGL's name.
  std::uint32_t queries = 0, stride = 0;
};

class GpuDepthDetector {
 public:
  // Compiles shaders, up to a second. Throws Error for invalid settings, if the GPU lacks memory,
  // and for `conservative` if it has no conservative rasterisation.
  GpuDepthDetector(const GpuContext& gpu, const DepthSettings& settings,
                   const GpuDepthSettings& gpu_settings = {});
  GpuDepthDetector(GpuDepthDetector&&) noexcept;
  GpuDepthDetector& operator=(GpuDepthDetector&&) noexcept;
  ~GpuDepthDetector();

  // The object is drawn in its own frame: DrawPass::clip_from_world takes points of the object.
  void draw_map(int slot, std::span<const GpuDrawable> object, const DepthView& view,
                MapUpdate update = MapUpdate::kWait);
  void draw_map(int slot, std::initializer_list<GpuDrawable> object, const DepthView& view) {
    draw_map(slot, std::span<const GpuDrawable>(object.begin(), object.size()), view);
  }
  // Draws all elements of meshes, with their poses as object_from_element.
  void draw_map(int slot, const GpuMeshes& object, const DepthView& view,
                MapUpdate update = MapUpdate::kWait);
  // kTwoMaps, kFragments: the solid begins at the box's front (if the object has one side).
  DepthMap read_map(int slot);
  // kTwoMaps: returns the environment's height map of a query of the last submission, in metres,
  // row by row. Infinite at empty pixels.
  std::vector<float> read_environment(int query);

  // Throws Error for slots without a map, and if too many submissions are in flight.
  GpuDepthTicket submit(std::span<const GpuDepthQuery> queries, const GpuDepthScene& scene);
  bool is_ready(GpuDepthTicket ticket) const;
  // Waits for it. Reports are in the order of queries. Does not allocate if they have the capacity
  // already.
  void fetch(GpuDepthTicket ticket, std::vector<DepthResult>& reports);
  // Drops a submission whose report is not needed.
  void forget(GpuDepthTicket ticket);
  // The same submission, with results on the GPU only: there is nothing to fetch. Waits if the GPU
  // has not finished the submission `in_flight` times before.
  GpuDepthResults submit_on_gpu(std::span<const GpuDepthQuery> queries, const GpuDepthScene& scene);

  // Submits queries and fetches their reports: the same reports, most of them sooner
  // (GpuDepthSettings::first_check).
  void detect(std::span<const GpuDepthQuery> queries, const GpuDepthScene& scene,
              std::vector<DepthResult>& reports);
  // One query of slot 0.
  DepthResult detect(const Pose& world_from_object, const GpuDepthScene& scene);
  DepthResult detect(const Pose& world_from_object,
                     std::initializer_list<GpuDrawable> environment) {
    return detect(
        world_from_object,
        GpuDepthScene{std::span<const GpuDrawable>(environment.begin(), environment.size()), {}});
  }

  const DepthSettings& settings() const;
  std::uint64_t memory_bytes() const;  // On the GPU.
  struct Submissions {
    std::uint64_t all = 0, one_pass = 0;
    std::uint64_t proved_free = 0;  // Calls of detect() that needed no submission.
  };
  Submissions submissions() const;  // So far.

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace isotact

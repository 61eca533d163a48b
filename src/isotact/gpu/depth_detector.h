// Collision of objects with all that can be drawn, on the graphics pipeline: FAB, and beyond. What
// everything means is told in queries/depth_map.h, which has the CPU's side.
//
//   GpuDepthDetector detector(gpu, {.width = 512, .height = 512});
//   detector.draw_map(0, {{.draw = draw_ship, .closed = true}}, view);  // again when it deforms
//   const DepthReport report = detector.detect(world_from_ship, {{.draw = draw_tunnel, .id = 7}});
//
// A drawable is a callback that draws with the caller's own shaders, whatever they are
// (draw_program.h), or a mesh of ours (mesh_drawable.h). Its triangles are counter-clockwise seen
// from outside. While it is called, framebuffer, viewport, scissor, depth, culling and the bindings
// that draw_program.h names are ours; the rest is its own.
//
// Slots hold maps: of different objects, of the parts of one (FAB, Figure 5), or of one in several
// directions (Figure 3). Queries ask for collisions of a slot's object at a pose; many of them go
// in one submission, and a slot may serve several. Nothing waits but fetch() and detect().
//
// Where this does less than the CPU's side, or other things:
//   * `conservative` is for kIntervals, and rests on the GPU's conservative rasterisation, which
//   draws
//     no triangles that are seen exactly along themselves: their rims are seen by what adjoins
//     them, but a wall between two faces may be missed in pixels whose middle it does not enclose.
//   * Elements that hold the object within them are all found, but named only where a ray is within
//     one of them alone, or at one of 16 pixels of the map.
//   * Which place is the deepest in a part of the picture is decided to 2^-20 of the box's depth
//   (at
//     512 x 512 pixels; 2 bits less for each doubling of both sides). Candidates have room for as
//     many as there are pixels: where more come, each deeper than all before it, some parts of the
//     picture may be left out of contacts and of the search for the deepest place. Whether it
//     collides, pixels, bounds and ids do not depend on that.
//
// Everything works in the context that was current at construction, the caller's or our own, and
// leaves its state as it found it. Results are the same bits for every run on one device, but for
// contacts and the deepest place where there were more hits than the detector has room for (of one
// query a hit a pixel, 2^23 in all). Not for several threads at once.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "isotact/gpu/context.h"
#include "isotact/gpu/draw_program.h"
#include "isotact/queries/depth_map.h"

namespace isotact {

class GpuMeshes;

struct GpuDrawable {
  std::function<void(const DrawPass&)> draw{};
  std::uint32_t id = 0;
  bool closed = false;  // triangles that bound a solid
  DepthPrimitive primitive = DepthPrimitive::kTriangles;
  // Of all that it draws, in the world's frame: it is not called for queries whose box misses this.
  // Without: always. (Objects are drawn in any case.)
  std::optional<Aabb> bounds{};
};

// Elements are numbered: drawables first, then those of the meshes, one after the other.
struct GpuDepthScene {
  std::span<const GpuDrawable> drawables{};
  std::span<const GpuMeshes* const> meshes{};
};

// Who makes pixels of GpuMeshes. Callers' drawables are always the pipeline's.
enum class GpuRaster : std::uint8_t {
  kAuto,      // kCompute on hardware, where it can; else kGraphics
  kGraphics,  // the graphics pipeline, after culling
  kCompute,   // compute shaders, for GPUs with few graphics units. DepthMethod::kIntervals without
              // `conservative` only: kGraphics elsewhere
};

struct GpuDepthOptions {
  int slots = 1;      // maps at once, up to kMostDepthSlots
  int queries = 0;    // of one submission at most; 0: as many as slots
  int in_flight = 3;  // submissions that have not been fetched
  // False where nobody else changes the state of the context, and callbacks put back what they set:
  // spares some tens of microseconds a call.
  bool save_state = true;
  GpuRaster raster = GpuRaster::kAuto;
  // With kCompute: one dispatch for all, where the scene is one GpuMeshes of triangles, of 1024
  // elements at most and edges of up to 8000 pixels, for 8 queries at most. The same answers,
  // but for the last bits of places and depths on hardware, and sooner. What does not fit goes in
  // several passes.
  bool one_pass = true;
  // Where all goes in one dispatch, and somebody waits, detect() looks on the CPU first whether the
  // object is free, unless it was not when it was last asked: triangles, by boxes and then one by
  // one, against the depths between which the object is solid in tiles of 16 x 16 pixels. Where
  // none comes near, and a place in each connected part of the tiles is outside of all closed
  // elements, the GPU is not asked. Costs some microseconds where it does not help.
  bool first_look = true;
  // kCompute: room for the blocks of 4 x 4 tiles that triangles cover; 0: 2^18. What is beyond
  // takes longer.
  std::uint32_t tiles = 0;
  // kTwoMaps: the environment is drawn only where the object is (FAB, "Stencil buffer").
  bool use_stencil = false;
  // Room for the object's surfaces when its map is drawn, kIntervals; 0: four a pixel. It grows
  // with MapUpdate::kWait.
  std::uint32_t surfaces = 0;
};
inline constexpr int kMostDepthSlots = 1024;

enum class MapUpdate : std::uint8_t {
  kWait,   // until the map is complete: makes more room where there was too little
  kQueue,  // returns at once; reports of a map with too little room are Errors
};

struct GpuDepthQuery {
  int slot = 0;
  Pose world_from_object{};
};

struct GpuDepthTicket {
  std::uint64_t number = 0;
};

// Of the last submission, on the GPU; valid for shaders after glMemoryBarrier, until the next one.
// `queries` records of `stride` bytes, little-endian uint32 where nothing else is said:
//    0 pixels            4 inside (0, 1)      8 contacts
//   12 first pixel x, y  20 last pixel x, y (int32)
//   28 deepest pixel (y * width + x)   32 its element's number   36 its depth   40 depth (float)
//   44 surfaces lost   48 covered   52 overfull   56 open (pixels of the map)   60 slot
//   64 max_contacts records of 32 bytes, the deepest first: pixel, element, float depth of the
//      place, float way to the end of the object (signed, along the view), float3 normal (view's
//      frame), float depth of the contact
//   then bits of the elements that meet the object (or are around it, where `inside`)
// Depths and ways are parts of the whole depth of the box, 2 half_size.z.
struct GpuDepthResults {
  std::uint32_t buffer = 0;  // OpenGL's name
  std::uint32_t queries = 0, stride = 0;
};

class GpuDepthDetector {
 public:
  // Compiles shaders, up to a second. Throws Error for settings without sense, where the GPU has no
  // room, and for `conservative` where it has no conservative rasterisation.
  GpuDepthDetector(const GpuContext& gpu, const DepthSettings& settings,
                   const GpuDepthOptions& options = {});
  GpuDepthDetector(GpuDepthDetector&&) noexcept;
  GpuDepthDetector& operator=(GpuDepthDetector&&) noexcept;
  ~GpuDepthDetector();

  // The object, drawn in its own frame: DrawPass::clip_from_world takes points of the object.
  void draw_map(int slot, std::span<const GpuDrawable> object, const DepthView& view,
                MapUpdate update = MapUpdate::kWait);
  void draw_map(int slot, std::initializer_list<GpuDrawable> object, const DepthView& view) {
    draw_map(slot, std::span<const GpuDrawable>(object.begin(), object.size()), view);
  }
  // Of meshes: all elements, with their poses as object_from_element.
  void draw_map(int slot, const GpuMeshes& object, const DepthView& view,
                MapUpdate update = MapUpdate::kWait);
  // kTwoMaps, kFragments: the solid begins at the box's front (where the object has one side).
  DepthMap read_map(int slot);
  // kTwoMaps: the environment's height map of a query of the last submission, in metres, row by
  // row; infinite where there is nothing.
  std::vector<float> read_environment(int query);

  // Throws Error for slots without a map, and where too many submissions are in flight.
  GpuDepthTicket submit(std::span<const GpuDepthQuery> queries, const GpuDepthScene& scene);
  bool is_ready(GpuDepthTicket ticket) const;
  // Waits for it. Reports in the order of queries; no allocation where they have room already.
  void fetch(GpuDepthTicket ticket, std::vector<DepthReport>& reports);
  // Drops a submission whose report nobody wants.
  void forget(GpuDepthTicket ticket);
  // The same submission, with results on the GPU only: nothing to fetch. Waits where the GPU is not
  // done with what was submitted `in_flight` times before.
  GpuDepthResults submit_on_gpu(std::span<const GpuDepthQuery> queries, const GpuDepthScene& scene);

  // Queries that somebody waits for, submitted and fetched: the same reports, most of them sooner
  // (GpuDepthOptions::first_look).
  void detect(std::span<const GpuDepthQuery> queries, const GpuDepthScene& scene,
              std::vector<DepthReport>& reports);
  // One of slot 0.
  DepthReport detect(const Pose& world_from_object, const GpuDepthScene& scene);
  DepthReport detect(const Pose& world_from_object,
                     std::initializer_list<GpuDrawable> environment) {
    return detect(
        world_from_object,
        GpuDepthScene{std::span<const GpuDrawable>(environment.begin(), environment.size()), {}});
  }

  const DepthSettings& settings() const;
  std::uint64_t memory_bytes() const;  // on the GPU
  struct Submissions {
    std::uint64_t all = 0, one_pass = 0;
    std::uint64_t looks = 0;  // calls of detect() that needed none
  };
  Submissions submissions() const;  // so far

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace isotact

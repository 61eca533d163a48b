// The state of a GpuDepthDetector, and the passes of its calls.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "isotact/base/detail/lanes.h"
#include "isotact/gpu/core/buffer.h"
#include "isotact/gpu/core/detail/gl_names.h"
#include "isotact/gpu/core/gl_state.h"
#include "isotact/gpu/core/program.h"
#include "isotact/gpu/depth/depth_detector.h"
#include "isotact/gpu/depth/detail/depth_layout.h"
#include "isotact/gpu/depth/detail/mesh_state.h"
#include "isotact/gpu/depth/detail/solid_tiles.h"
#include "isotact/gpu/depth/mesh_drawable.h"

namespace isotact::detail {

// Test whether triangles of an environment stay clear of an object, as far as tiles of its depth
// map can decide. It runs on the CPU in some microseconds for tens of thousands of triangles. The
// transfer to the GPU and back takes ten times as long.
class TriangleSieve {
 public:
  // For a picture. Keeps its memory.
  void begin(const SolidTiles& solid, std::array<std::int32_t, 2> pixels);
  // Tests an element of triangles at a pose. True: all of them are clear of the tiles' boxes, which
  // contain the object. The boxes include the half pixel between a tile and the centres of its
  // neighbours' pixels. False: some are not, or a decision would take long.
  bool is_clear(const GpuMeshes::State& meshes, const GpuMeshes::State::Element& element,
                const glsl::Rows3x4& clip_from_element);

 private:
  // Positions of an element's corners, off by no more than `room`: columns of a matrix, in three
  // lanes.
  struct Placing {
    using Column = Lanes<float, 4>;
    Column x{0}, y{0}, z{0}, start{0};
    Column size_x{0}, size_y{0}, size_z{0};  // The same without signs.
    Column room{0};

    ISOTACT_INLINE Column place(const Vec3f& p) const {
      return x * p.x + y * p.y + z * p.z + start;
    }
    // Half extent of a box, with tolerance.
    ISOTACT_INLINE Column compute_reach(const Vec3f& half) const {
      return size_x * half.x + size_y * half.y + size_z * half.z + room;
    }
  };
  struct Placed;
  void set_placing(const GpuMeshes::State::Element& element,
                   const glsl::Rows3x4& clip_from_element);
  bool is_triangle_clear(const Vec3f* corners) const;
  bool is_over(const Placed& triangle, const Vec3f& room, int column, int row) const;

  const SolidTiles* solid_ = nullptr;
  std::array<float, 3> scale_{};  // Tiles and depths per clip coordinate.
  std::size_t bundles_left_ = 0;
  Placing placing_;
};

// Detection in one dispatch: the side of the CPU. The other side is shaders/depth_in_one.comp.
inline constexpr std::size_t kOnceBytes = 16 * std::size_t{glsl::kOnceRows};  // Size of the input.
inline constexpr std::size_t kOnceQueries = 8;  // For more queries, several passes are faster.
// Largest number of clusters per query: each tile tests all of them, which several passes would
// not.
inline constexpr std::size_t kOnceEntries = 2048;

// For the first test on the CPU (depth_first_check.cpp): largest number of connected parts of an
// object's tiles.
inline constexpr std::size_t kCheckParts = 16;

struct OnceSlot {
  std::uint64_t version = 0;  // Version of the listed map.
  std::uint32_t tiles = 0;
  std::uint32_t lost = 0;  // Surfaces beyond the capacity.
  std::shared_ptr<const SolidTiles> solid{};
  bool was_free = true;  // In the last call.
};

struct OncePass {
  GpuProgram program;
  GpuBuffer frame, notes, covered;
  std::vector<OnceSlot> slots;
  std::uint32_t tiles_a_slot = 0;
  // For the submission in preparation.
  std::vector<OnceQuery> queries;
  std::vector<std::uint32_t> entries;
  TriangleSieve sieve;
};

// Returns the check value that proves that all words of a record have arrived, as the shader
// computes it.
std::uint32_t find_record_check(const std::uint32_t* words, std::size_t count,
                                std::uint32_t serial);

inline constexpr std::size_t kBlockAlign = 256;  // Alignment of uniform buffers, on every GPU.
inline constexpr std::size_t align_block(std::size_t bytes) {
  return (bytes + kBlockAlign - 1) / kBlockAlign * kBlockAlign;
}
// Returns the number of tiles over a picture's side.
inline constexpr std::int32_t count_tiles(std::int32_t pixels) {
  return (pixels + glsl::kDepthTile - 1) / glsl::kDepthTile;
}
inline constexpr std::size_t kPassOffset = align_block(sizeof(DepthFrame));
inline constexpr std::size_t find_pass(std::size_t pass) {
  return kPassOffset + pass * kBlockAlign;
}

// Binds storage buffers with one call. The first has the lowest binding; unnamed ones between get
// no buffer.
struct BoundBuffer {
  std::uint32_t binding = 0, name = 0;  // name: OpenGL's.
};
void bind_buffers(std::initializer_list<BoundBuffer> buffers);

// The end of all work submitted so far.
class Fence {
 public:
  Fence() = default;
  Fence(const Fence&) = delete;
  Fence& operator=(const Fence&) = delete;
  ~Fence() { drop(); }
  void set();
  bool is_set() const { return sync_ != nullptr; }
  bool is_passed() const;  // Also true if it is not set.
  void wait();             // Spins for a while, then sleeps.
  void drop();

 private:
  void* sync_ = nullptr;
};

// Upload of one drawing: the frame, then blocks of passes, then data of meshes. The command stream
// itself writes it. For some kilobytes this is faster than copies from mapped memory, and nothing
// waits for the end of the last drawing.
class Upload {
 public:
  Upload() = default;
  Upload(const Upload&) = delete;
  Upload& operator=(const Upload&) = delete;
  ~Upload();

  void reserve(std::size_t bytes);
  template <typename T>
  void put(std::size_t offset, const T& value) {
    std::memcpy(stage_.data() + offset, &value, sizeof value);
  }
  template <typename T>
  void put_all(std::size_t offset, std::span<const T> values) {
    std::copy_n(std::as_bytes(values).data(), values.size_bytes(), stage_.data() + offset);
  }
  void send(std::size_t bytes) const;
  void bind_frame() const;
  void bind_pass(std::size_t pass) const;
  std::uint32_t name() const { return name_; }  // OpenGL's name.

 private:
  std::vector<std::byte> stage_;
  std::uint32_t name_ = 0;
  std::size_t bytes_ = 0;
};

// Meshes of a submission, and the positions of their data in its upload.
struct MeshPlan {
  const GpuMeshes* meshes = nullptr;
  std::uint32_t first_element = 0;
  std::size_t instances = 0, batches = 0;  // Bytes.
  std::uint32_t queries_at_once = 1;
};

// A submission.
struct Flight {
  Upload upload;
  Fence done;
  GpuStage down{GpuStage::Direction::kDown};
  std::uint64_t number = 0;  // 0: free.
  std::uint64_t serial = 0;  // Its last number.
  std::uint32_t stamp = 0;   // For one dispatch: mark of its records, unique in this process.
  std::vector<GpuDepthQuery> queries;
  std::vector<DepthView> views;  // One per query.
  std::vector<MeshPlan> meshes;
  std::vector<std::uint32_t> ids;  // One per element.
  std::uint32_t element_words = 0, record_words = 0, stride = 0;
  // For one dispatch: the input.
  bool once = false, in_down = false;  // in_down: the CPU may read the results.
  std::vector<DrawnInstance> instances;
  bool is_pending = false;  // Nothing has waited for it.

  bool has_come() const;
  bool is_ready();
  void wait();
};

struct SlotMap {
  std::optional<DepthView> view;
  std::uint64_t version = 0;
};

struct DepthPrograms {
  DepthPrograms(const DepthSettings& settings, bool from_vertex);
  FragmentShader only, gather, test, surface;  // test: intervals or fragments.
  // With conservative rasterisation, if it is requested.
  std::optional<FragmentShader> gather_whole, test_whole;
};

struct RasterPrograms {
  GpuProgram raster, tiles;
};

// For GpuMeshes: culling, and drawing of the rest.
struct MeshPrograms {
  MeshPrograms(const DepthSettings& settings, bool compute);
  // With the graphics pipeline.
  std::optional<DepthPrograms> fragments;
  GpuProgram cull;
  std::array<std::unique_ptr<GpuDrawProgram>, 3> draw;  // By DepthPrimitive.
  // With compute shaders: hits; then, for queries without any, elements around the object.
  RasterPrograms surfaces, windings;
  GpuBuffer visible;  // Or tiles.
};

// Fixed state of a pass.
struct PassState {
  std::uint32_t framebuffer = 0;
  std::uint32_t depth_function = 0;  // 0: no test, no writing.
  bool clamp = false;
};

}  // namespace isotact::detail

namespace isotact {

struct GpuDepthDetector::State {
  State(const GpuContext& gpu, const DepthSettings& wanted,
        const GpuDepthSettings& wanted_gpu_settings);

  DepthSettings settings;
  GpuDepthSettings gpu_settings;
  std::int32_t tiles = 1, atlas_width = 0, atlas_height = 0;
  bool compute_raster = false;
  std::uint32_t item_room = 0;  // Capacity of the list of tiles, compute_raster.
  detail::DepthFrame frame;     // Except elements and queries.

  detail::DepthPrograms callers;                 // Fragment shaders for callers' stages.
  std::unique_ptr<detail::MeshPrograms> meshes;  // For our own, made at the first use.
  std::optional<GpuProgram> resolve, compare, within, finish;
  std::unique_ptr<detail::OncePass> once;  // Made at the first use.
  std::optional<GpuDrawProgram> mask;
  std::optional<FragmentShader> mask_fragment;
  detail::GlVertexArray no_vertices;

  GpuBuffer notes, intervals, tile_bounds;                         // Per slot.
  GpuBuffer heads, nodes;                                          // For the map in preparation.
  GpuBuffer hit_mask, parts, hits, sums, bits, windings, results;  // Per query.
  detail::GlTexture object_far, object_near, environment_depth, environment_surface;
  detail::GlFramebuffer plain, far_picture, near_picture, environment_picture;

  std::vector<detail::SlotMap> slots;
  std::vector<std::uint64_t> stencils;  // Per query: version of the marked map.
  std::uint64_t map_versions = 0;
  detail::Upload map_upload;
  std::vector<std::unique_ptr<detail::Flight>> flights;
  std::uint64_t submissions = 0, once_submissions = 0, proved_free = 0;

  bool by_intervals() const { return settings.method == DepthMethod::kIntervals; }
  void check_slot(int slot) const;

  void make_buffers(std::size_t max_storage_bytes);
  void make_pictures();
  void reserve_elements(std::uint32_t elements);

  // depth_draw.cpp
  void begin_pass(const detail::PassState& pass) const;
  void set_tile(int tile) const;
  std::size_t node_bytes() const {
    return settings.conservative ? sizeof(glsl::uvec4) : sizeof(glsl::uvec2);
  }
  std::size_t node_start() const { return node_bytes(); }  // The list starts after two counts.
  void draw_map(int slot, std::span<const GpuDrawable> object, const DepthView& view,
                MapUpdate update);
  void draw_intervals(std::span<const GpuDrawable> object, const DepthView& view,
                      const detail::Upload& upload);
  detail::DepthMapNote read_note(int slot) const;
  void draw_heights(int slot, std::span<const GpuDrawable> object, const DepthView& view,
                    const detail::Upload& upload);
  void draw_object(std::span<const GpuDrawable> object, const DepthView& view,
                   const detail::Upload& upload, const FragmentShader& fragment,
                   std::uint32_t cull);
  void draw_environment(const detail::Flight& flight, const GpuDepthScene& scene);
  void draw_tested(const GpuDrawable& drawable, DrawPass& pass, bool look_inside) const;
  void plan_meshes(detail::Flight& flight, const GpuDepthScene& scene, std::size_t& bytes);
  void bind_batch(const detail::Flight& flight, const detail::MeshPlan& plan,
                  std::size_t batch) const;
  void begin_meshes() const;
  void draw_visible(const GpuMeshes& drawn, std::uint32_t commands_name,
                    std::size_t commands) const;
  void put_meshes(detail::Flight& flight) const;
  void draw_meshes(const detail::Flight& flight);
  // `command`: the one of the batch that counts work-groups.
  void raster_meshes(const detail::Flight& flight, const detail::RasterPrograms& programs,
                     std::size_t command) const;
  void mark_stencils(const detail::Flight& flight);
  void bind_storage() const;
  // The storage of both kinds of detection, and one more buffer behind it.
  void bind_storage_and(std::uint32_t last_at, std::uint32_t last_name) const;

  // depth_once.cpp
  bool can_run_once(const GpuDepthScene& scene) const;
  void make_once();
  std::vector<bool> find_probed_tiles(const detail::DepthMapNote& note) const;
  void list_covered(std::size_t slot);
  void list_clusters(const detail::Flight& flight, std::size_t query, const GpuMeshes::State& m,
                     std::vector<detail::DrawnInstance>& instances) const;
  // Returns false if it takes several passes.
  bool prepare_once(detail::Flight& flight, const GpuDepthScene& scene);
  bool put_once(detail::Flight& flight);  // False: too much.
  void run_once(detail::Flight& flight, std::uint32_t results_name);

  // depth_first_check.cpp: returns whether the CPU can prove that all queries are free.
  bool is_proved_free(std::span<const GpuDepthQuery> queries, const GpuDepthScene& scene);
  bool is_proved_free(const GpuDepthQuery& query, const GpuMeshes::State& meshes);
  bool is_outside(const GpuDepthQuery& query, const GpuMeshes::State& meshes) const;
  void note_answers(std::span<const GpuDepthQuery> queries, std::span<const DepthResult> reports);

  // depth_detector.cpp
  void check_queries(std::span<const GpuDepthQuery> queries) const;
  void set_stride(detail::Flight& flight) const;
  void forget_hits();  // Clears hits of a submission that did not end normally.
  detail::Flight& find(GpuDepthTicket ticket);
  detail::Flight& prepare(std::span<const GpuDepthQuery> queries, const GpuDepthScene& scene);
  void run(detail::Flight& flight, const GpuDepthScene& scene, std::uint32_t results_name);
};

// depth_report.cpp: converts results of the GPU to the world frame.
void make_depth_report(const detail::Flight& flight, std::size_t query,
                       const DepthSettings& settings, DepthResult& report);

namespace detail {
// Returns the columns of clip_from_frame for a pose view_from_frame.
std::array<float, 16> make_clip_matrix(const DepthView& view, const Pose& view_from_frame);
// Without its number and query.
DrawnInstance make_instance(const GpuMeshes::State::Element& element, const DepthView& view,
                            const Pose& view_from_world);
void set_conservative(bool on);  // If the GPU supports it.
}  // namespace detail

}  // namespace isotact

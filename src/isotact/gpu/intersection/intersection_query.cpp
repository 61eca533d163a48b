#include "isotact/gpu/intersection/intersection_query.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/gpu/core/buffer.h"
#include "isotact/gpu/core/context.h"
#include "isotact/gpu/core/program.h"
#include "isotact/gpu/intersection/detail/shape_table.h"
#include "isotact/queries/intersection/intersection_plan.h"

namespace isotact {
namespace {

constexpr std::uint64_t kMostHitBytes = std::uint64_t{1} << 30U;  // Memory for all contacts.
constexpr std::uint32_t kMostOpen = 1U << 24U;  // And as many contacts of cut cells.

// Offset of a list's count of work-groups, for indirect dispatches.
constexpr std::size_t kGroupsOffset = offsetof(glsl::WorkListHead, groups);

double since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

std::uint64_t particles_of(const IdfPairRecord& r) {
  return static_cast<std::uint64_t>(r.cells[0]) * static_cast<std::uint64_t>(r.cells[1]) *
             static_cast<std::uint64_t>(r.cells[2]) +
         r.seed_count;
}

// Particles that a group moves.
static_assert(glsl::kIdfBlockGroup == kIdfBlockCells * kIdfBlockCells * kIdfBlockCells);
std::uint32_t blocks_of(const IdfPairRecord& r) {
  std::uint32_t n = 1;
  for (const std::int32_t cells : r.cells)
    n *= static_cast<std::uint32_t>((cells + kIdfBlockCells - 1) / kIdfBlockCells);
  return n + (r.seed_count + glsl::kIdfBlockGroup - 1) / glsl::kIdfBlockGroup;
}

std::uint32_t slots_of(const IdfPairRecord& r) {
  return static_cast<std::uint32_t>(r.slots[0] * r.slots[1] * r.slots[2]);
}

// Returns the bytes of a list of pairs of words.
std::size_t list_bytes(std::size_t room) {
  return sizeof(glsl::WorkListHead) + room * sizeof(glsl::uvec2);
}
static_assert(3 * glsl::kIdfMostLevels <= glsl::kIdfPartBits);

// Returns the number of cuts of a pair's cells.
int compute_levels(const IdfPairRecord& r, const IdfSettings& s) {
  int level = 0;
  while (
      level<glsl::kIdfMostLevels&& static_cast<double>(compute_resolution(r, level))> s.resolution)
    ++level;
  return level;
}

// Appends the results of some pairs to those of others.
void append(const IdfResult& part, IdfResult& all) {
  const auto before = static_cast<std::uint32_t>(all.contacts.size());
  all.contacts.insert(all.contacts.end(), part.contacts.begin(), part.contacts.end());
  for (std::size_t i = 1; i < part.first_contact.size(); ++i)
    all.first_contact.push_back(before + part.first_contact[i]);
  all.arrived.insert(all.arrived.end(), part.arrived.begin(), part.arrived.end());
  all.resolution.insert(all.resolution.end(), part.resolution.begin(), part.resolution.end());
  all.particles += part.particles;
}

}  // namespace

struct GpuIntersectionQuery::State {
  State(const GpuContext& gpu, std::span<const IdfShape> all, const GpuIntersectionSettings& o)
      : info(gpu.info()),
        shapes(all.begin(), all.end()),
        gpu_settings(o),
        table(info, shapes, o.allow_bindless) {}

  enum class Output { kAll, kDeepest, kVoxels };

  const GpuProgram& program(const char* name, const std::vector<ShaderDefine>& defines);
  std::vector<ShaderDefine> search_defines() const;
  void set_uniforms(const GpuProgram& p) const;
  bool is_by_cells() const { return settings.search == IdfSearch::kCells; }

  void set(const IdfSettings& asked);  // Throws Error if they do not fit the GPU settings.
  void run_batch(std::span<const IdfBody> bodies, std::span<const IdfPair> batch,
                 const IdfScratch& seeds_before, IdfScratch& seeds_after, IdfResult& result);
  void upload();
  double dispatch();  // Returns milliseconds.
  void count_first();
  void find_blocks();
  void move(std::vector<ShaderDefine> defines);
  void dispatch_all();
  void dispatch_slots();
  void refine();
  bool make_room();  // False: the capacity was sufficient.
  void read();       // Into found and counts.
  void read_all();
  void read_deepest();
  void read_refined();
  void drop_strays();
  std::size_t pairs_a_batch(const IdfSettings& s) const;

  bool is_refined() const { return is_by_cells() && settings.resolution > 0; }
  std::uint32_t pair_count() const { return static_cast<std::uint32_t>(plan.records.size()); }

  GpuInfo info;
  std::vector<IdfShape> shapes;
  GpuIntersectionSettings gpu_settings;
  detail::ShapeTable table;
  std::map<std::string, GpuProgram> programs;

  IdfSettings settings;
  Output output = Output::kAll;
  IdfPlan plan;
  // Per pair: groups, summed up; first particles; blocks of cells, summed up.
  std::vector<std::uint32_t> totals, starts, ends;
  std::uint64_t particle_count = 0, group_count = 0;
  std::size_t block_count = 0;
  std::vector<IdfPairRecord> gpu_pairs;
  std::vector<IdfHit> found;
  std::vector<std::uint32_t> counts;

  GpuBuffer blocks, block_ends;  // Blocks that may contain contacts; ends per pair.
  GpuBuffer pairs, seeds, totals_buffer, starts_buffer, arrived, hits, compacted, slots, offsets;
  // For cutting cells: levels at which pairs were found, their contacts, lists of open cells.
  GpuBuffer found_level, refined_hits, open[2];
  std::uint32_t open_room = 1U << 16U, hit_room = 1U << 14U;
  std::uint32_t refined_count = 0;
  bool is_cut_short = false;
  GpuTimer timer, count_timer;
  GpuIntersectionTimes times;
};

const GpuProgram& GpuIntersectionQuery::State::program(const char* name,
                                                       const std::vector<ShaderDefine>& defines) {
  std::string key = name;
  for (const ShaderDefine& d : defines) key += fmt::format(" {}={}", d.name, d.value);
  const auto old = programs.find(key);
  if (old != programs.end()) return old->second;
  return programs.emplace(key, GpuProgram(name, defines)).first->second;
}

std::vector<ShaderDefine> GpuIntersectionQuery::State::search_defines() const {
  std::vector<ShaderDefine> d = table.defines();
  if (is_by_cells()) d.push_back({"CELLS", "1"});
  d.push_back({"GROUP_SIZE", fmt::format("{}", gpu_settings.group_size)});
  if (settings.relaxation > 1) d.push_back({"RELAXED", "1"});
  if (settings.sampling == IdfSampling::kLowDiscrepancy) d.push_back({"LOW_DISCREPANCY", "1"});
  if (settings.normal == IdfNormal::kPaper) d.push_back({"NORMAL_OF_B", "1"});
  return d;
}

void GpuIntersectionQuery::State::set_uniforms(const GpuProgram& p) const {
  p.set("pair_count", pair_count());
  p.set("last_step", settings.max_steps - 1);
  p.set("relaxation", static_cast<float>(settings.relaxation));
  p.set("resolution", static_cast<float>(settings.resolution));
  p.set("open_room", open_room);
  p.set("hit_room", hit_room);
  p.set("max_contacts", settings.max_contacts);
  p.set("slot_count", plan.slot_count);
}

// Returns the number of pairs that certainly fit into the GPU's buffers at once.
std::size_t GpuIntersectionQuery::State::pairs_a_batch(const IdfSettings& s) const {
  const auto side = static_cast<std::uint64_t>(s.samples);
  const std::uint64_t particles = 2 * side * side * side + kMostIdfContacts;
  std::uint64_t a_pair = sizeof(IdfPairRecord);
  if (s.max_contacts == 0) a_pair = std::max<std::uint64_t>(a_pair, particles * sizeof(IdfHit));
  if (s.max_contacts > 0) a_pair = std::max<std::uint64_t>(a_pair, s.max_contacts * sizeof(IdfHit));
  a_pair = std::max<std::uint64_t>(a_pair, particles * 8);
  const std::uint64_t wanted =
      gpu_settings.most_bytes > 0 ? gpu_settings.most_bytes : kMostHitBytes;
  const auto limit = static_cast<std::uint64_t>(info.max_storage_bytes);
  return static_cast<std::size_t>(std::max<std::uint64_t>(1, std::min(limit, wanted) / a_pair));
}

void GpuIntersectionQuery::State::upload() {
  output = settings.max_contacts > 0 ? Output::kDeepest
           : settings.one_per_voxel  ? Output::kVoxels
                                     : Output::kAll;
  const std::size_t n = plan.records.size();
  totals.resize(n);
  starts.resize(n);
  group_count = particle_count = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t particles = particles_of(plan.records[i]);
    starts[i] = static_cast<std::uint32_t>(particle_count);
    particle_count += particles;
    group_count += (particles + static_cast<std::uint64_t>(gpu_settings.group_size) - 1) /
                   static_cast<std::uint64_t>(gpu_settings.group_size);
    totals[i] = static_cast<std::uint32_t>(gpu_settings.two_passes ? particle_count : group_count);
  }
  if (gpu_settings.two_passes)
    group_count = (particle_count + static_cast<std::uint64_t>(gpu_settings.group_size) - 1) /
                  static_cast<std::uint64_t>(gpu_settings.group_size);
  const auto put = [](GpuBuffer& buffer, const auto& data) {
    const std::span<const std::byte> bytes = std::as_bytes(std::span(data));
    buffer.reserve(std::max<std::size_t>(bytes.size(), 16));
    buffer.upload_bytes(bytes);
  };
  gpu_pairs.clear();
  for (const IdfPairRecord& r : plan.records) gpu_pairs.push_back(detail::make_gpu_pair(r, shapes));
  put(pairs, gpu_pairs);
  put(seeds, plan.seeds);
  put(totals_buffer, totals);
  if (is_by_cells()) {
    std::uint32_t end = 0;
    ends.clear();
    for (const IdfPairRecord& r : plan.records) ends.push_back(end += blocks_of(r));
    block_count = end;
    put(block_ends, ends);
  }
  arrived.reserve(4 * n + 4);
  found_level.reserve(4 * n + 4);
  if (output == Output::kAll) {
    put(starts_buffer, starts);
    offsets.reserve(4 * n + 4);
    if (!gpu_settings.two_passes) hits.reserve(particle_count * sizeof(IdfHit));
  } else {
    slots.reserve(4 * static_cast<std::size_t>(plan.slot_count) + 16);
    if (output == Output::kDeepest) hits.reserve(n * settings.max_contacts * sizeof(IdfHit));
    if (output == Output::kVoxels) {
      std::uint32_t end = 0;
      for (std::size_t i = 0; i < n; ++i) starts[i] = end += slots_of(plan.records[i]);
      put(starts_buffer, starts);
    }
  }
}

double GpuIntersectionQuery::State::dispatch() {
  if (particle_count == 0) return 0;
  table.bind();
  pairs.bind(glsl::kIdfPairsAt);
  seeds.bind(glsl::kIdfSeedsAt);
  totals_buffer.bind(glsl::kIdfTotalsAt);
  arrived.bind(glsl::kIdfCountsAt);
  if (gpu_settings.two_passes) count_first();
  timer.begin();
  arrived.clear();
  if (is_refined()) {
    found_level.clear();
    refined_hits.reserve(sizeof(glsl::RefinedHead) + hit_room * sizeof(IdfHit));
    refined_hits.clear_bytes(0, sizeof(glsl::RefinedHead));
    for (GpuBuffer& list : open) {
      list.reserve(list_bytes(open_room));
      list.clear_bytes(0, sizeof(glsl::WorkListHead));
    }
    open[0].bind(glsl::kIdfNextAt);
  }
  output == Output::kAll ? dispatch_all() : dispatch_slots();
  timer.end();
  return timer.milliseconds() + (gpu_settings.two_passes ? count_timer.milliseconds() : 0);
}

// The first one of KGM's two passes. The CPU needs the size of memory to reserve.
void GpuIntersectionQuery::State::count_first() {
  count_timer.begin();
  arrived.clear();
  std::vector<ShaderDefine> defines = search_defines();
  defines.push_back({"PER_INVOCATION", "1"});
  defines.push_back({"OUTPUT_COUNT", "1"});
  const GpuProgram& count = program("project.comp", defines);
  set_uniforms(count);
  const GroupGrid groups = spread_groups(group_count);
  count.dispatch(groups.x, groups.y);
  offsets.bind(glsl::kIdfOffsetsAt);
  const GpuProgram& sum = program("prefix_sum.comp", {});
  sum.set("count", pair_count());
  sum.dispatch(1);
  count_timer.end();
  std::uint32_t total = 0;
  offsets.read(std::span<std::uint32_t>(&total, 1), 4 * static_cast<std::size_t>(pair_count()));
  hits.reserve(std::max<std::size_t>(total, 1) * sizeof(IdfHit));
}

void GpuIntersectionQuery::State::find_blocks() {
  blocks.reserve(list_bytes(block_count));
  blocks.clear_bytes(0, sizeof(glsl::WorkListHead));
  blocks.bind(glsl::kIdfBlocksAt);
  block_ends.bind(glsl::kIdfBlockEndsAt);
  const GpuProgram& find = program("blocks.comp", search_defines());
  set_uniforms(find);
  const auto size = static_cast<std::uint64_t>(gpu_settings.group_size);
  const GroupGrid groups = spread_groups((block_count + size - 1) / size);
  find.dispatch(groups.x, groups.y);
  program("list_groups.comp", {{"GROUP_SIZE", "1"}}).dispatch(1);
  arrived.bind(glsl::kIdfCountsAt);
}

// Moves all particles, or those of cells that may contain a contact.
void GpuIntersectionQuery::State::move(std::vector<ShaderDefine> defines) {
  if (is_by_cells()) find_blocks();
  if (gpu_settings.two_passes) defines.push_back({"PER_INVOCATION", "1"});
  if (is_refined()) defines.push_back({"REFINED", "1"});
  const GpuProgram& p = program("project.comp", defines);
  set_uniforms(p);
  const GroupGrid groups = spread_groups(group_count);
  is_by_cells() ? p.dispatch_indirect(blocks, kGroupsOffset) : p.dispatch(groups.x, groups.y);
}

void GpuIntersectionQuery::State::dispatch_all() {
  std::vector<ShaderDefine> defines = search_defines();
  defines.push_back({"OUTPUT_STORE", "1"});
  (gpu_settings.two_passes ? offsets : starts_buffer).bind(glsl::kIdfOffsetsAt);
  hits.bind(glsl::kIdfHitsAt);
  move(defines);
  if (is_refined()) refine();
}

void GpuIntersectionQuery::State::dispatch_slots() {
  std::vector<ShaderDefine> defines = search_defines();
  const std::vector<ShaderDefine> plain = defines;
  defines.push_back({"OUTPUT_SLOTS", "1"});
  slots.clear_bytes(0, 4 * static_cast<std::size_t>(plan.slot_count));
  slots.bind(glsl::kIdfSlotsAt);
  move(defines);
  if (is_refined()) {
    refine();
    slots.bind(glsl::kIdfSlotsAt);
  }
  if (output == Output::kDeepest) {
    offsets.reserve(4 * static_cast<std::size_t>(pair_count()) + 4);
    offsets.bind(glsl::kIdfOffsetsAt);
    hits.bind(glsl::kIdfHitsAt);
    const GpuProgram& pick = program("pick.comp", plain);
    set_uniforms(pick);
    const GroupGrid pick_groups = spread_groups(pair_count());
    pick.dispatch(pick_groups.x, pick_groups.y);
    return;
  }
  // At most as many voxels as particles arrived: memory is certainly sufficient.
  hits.reserve(std::max<std::uint64_t>(particle_count, 1) * sizeof(IdfHit));
  hits.bind(glsl::kIdfHitsAt);
  starts_buffer.bind(glsl::kIdfTotalsAt);
  offsets.reserve(16);
  offsets.clear_bytes(0, 4);
  offsets.bind(glsl::kIdfOffsetsAt);
  const GpuProgram& voxels = program("voxels.comp", plain);
  set_uniforms(voxels);
  const std::uint64_t size = static_cast<std::uint64_t>(gpu_settings.group_size);
  const GroupGrid voxel_groups = spread_groups((plan.slot_count + size - 1) / size);
  voxels.dispatch(voxel_groups.x, voxel_groups.y);
}

// Level by level; lists of open cells alternate. Levels without open cells cost almost nothing.
void GpuIntersectionQuery::State::refine() {
  int levels = 0;
  for (const IdfPairRecord& r : plan.records)
    if (r.cells[0] > 0) levels = std::max(levels, compute_levels(r, settings));
  const GpuProgram& count =
      program("open_groups.comp", {{"GROUP_SIZE", fmt::format("{}", gpu_settings.group_size)}});
  count.set("open_room", open_room);
  const GpuProgram& cut = program("refine_particles.comp", search_defines());
  set_uniforms(cut);
  found_level.bind(glsl::kIdfFoundLevelsAt);
  refined_hits.bind(glsl::kIdfHitsAt);
  for (int level = 1; level <= levels; ++level) {
    GpuBuffer& now = open[(level + 1) % 2];
    GpuBuffer& next = open[level % 2];
    now.bind(glsl::kIdfOpenAt);
    count.dispatch(1);
    next.clear_bytes(0, sizeof(glsl::WorkListHead));
    next.bind(glsl::kIdfNextAt);
    cut.set("level", level);
    cut.dispatch_indirect(now, kGroupsOffset);
  }
}

void GpuIntersectionQuery::State::read_all() {
  std::uint64_t total = 0;
  for (const std::uint32_t c : counts) total += c;
  if (total == 0) return;
  found.resize(total);
  const std::span<IdfHit> to(found);
  if (gpu_settings.two_passes) {
    hits.read(to);
    return;
  }
  arrived.upload(std::span<const std::uint32_t>(counts));
  compacted.reserve(total * sizeof(IdfHit));
  GpuTimer clock;
  clock.begin();
  arrived.bind(glsl::kIdfCountsAt);
  offsets.bind(glsl::kIdfOffsetsAt);
  const GpuProgram& sum = program("prefix_sum.comp", {});
  sum.set("count", pair_count());
  sum.dispatch(1);
  hits.bind(glsl::kIdfHitsAt);
  compacted.bind(glsl::kIdfCompactedAt);
  starts_buffer.bind(glsl::kIdfStartsAt);
  const GpuProgram& compact = program("compact.comp", {});
  compact.set("pair_count", pair_count());
  const GroupGrid groups = spread_groups(pair_count());
  compact.dispatch(groups.x, groups.y);
  clock.end();
  compacted.read(to);
  times.compact += clock.milliseconds();
}

void GpuIntersectionQuery::State::read_deepest() {
  const std::size_t n = plan.records.size(), most = settings.max_contacts;
  std::vector<std::uint32_t> picked(n);
  offsets.read(std::span(picked));
  std::vector<IdfHit> room(n * most);
  hits.read(std::span(room));
  for (std::size_t i = 0; i < n; ++i)
    found.insert(found.end(), room.begin() + static_cast<std::ptrdiff_t>(i * most),
                 room.begin() + static_cast<std::ptrdiff_t>(i * most + picked[i]));
  drop_strays();
}

// Winning particles move again in another shader. If its compiler rounds differently, one at the
// edge of margin may then not arrive.
void GpuIntersectionQuery::State::drop_strays() {
  std::erase_if(found, [](const IdfHit& h) { return h.pair == glsl::kIdfStray; });
}

// Contacts of cut cells are few: the CPU chooses among them.
void GpuIntersectionQuery::State::read_refined() {
  if (refined_count == 0) return;
  std::vector<IdfHit> more(std::min(refined_count, hit_room));
  refined_hits.read(std::span(more), sizeof(glsl::RefinedHead));
  std::stable_sort(more.begin(), more.end(),
                   [](const IdfHit& a, const IdfHit& b) { return a.pair < b.pair; });
  std::vector<IdfHit> of_pair;
  for (std::size_t i = 0; i < more.size(); ++i) {
    ++counts[more[i].pair];
    of_pair.push_back(more[i]);
    if (i + 1 < more.size() && more[i + 1].pair == more[i].pair) continue;
    select_hits(plan.records[more[i].pair], settings, of_pair);
    found.insert(found.end(), of_pair.begin(), of_pair.end());
    of_pair.clear();
  }
}

void GpuIntersectionQuery::State::read() {
  counts.assign(plan.records.size(), 0);
  if (particle_count == 0) return;
  arrived.read(std::span(counts));
  if (output == Output::kAll) read_all();
  if (output == Output::kDeepest) read_deepest();
  if (output == Output::kVoxels) {
    std::uint32_t stored = 0;
    offsets.read(std::span<std::uint32_t>(&stored, 1));
    found.resize(stored);
    hits.read(std::span(found));
    drop_strays();
  }
  if (is_refined()) read_refined();
}

// Returns whether lists of cut cells were too short. The GPU counts beyond their ends.
bool GpuIntersectionQuery::State::make_room() {
  if (!is_refined() || particle_count == 0) return false;
  glsl::RefinedHead needed;
  refined_hits.read(std::span<glsl::RefinedHead>(&needed, 1));
  refined_count = needed.hit_count;
  const auto limit = static_cast<std::uint64_t>(info.max_storage_bytes);
  bool has_grown = false;
  const auto grow = [&](std::uint32_t& room, std::uint32_t wanted, std::uint64_t bytes) {
    const std::uint64_t most = std::min<std::uint64_t>(kMostOpen, limit / bytes / 2);
    if (wanted <= room || room >= most) return;
    room = static_cast<std::uint32_t>(std::min<std::uint64_t>(most, std::uint64_t{wanted} * 3 / 2));
    has_grown = true;
  };
  grow(hit_room, needed.hit_count, sizeof(IdfHit));
  grow(open_room, needed.most_open, sizeof(glsl::uvec2));
  is_cut_short = !has_grown && (needed.hit_count > hit_room || needed.most_open > open_room);
  return has_grown;
}

void GpuIntersectionQuery::State::set(const IdfSettings& asked) {
  const IdfSettings wanted = without_contradictions(asked);
  if (gpu_settings.two_passes &&
      (wanted.search != IdfSearch::kPaper || wanted.max_contacts > 0 || wanted.one_per_voxel))
    throw Error("two passes are the search of KGM: they need IdfSearch::kPaper and all contacts");
  settings = wanted;
  times = {};
}

void GpuIntersectionQuery::State::run_batch(std::span<const IdfBody> bodies,
                                            std::span<const IdfPair> batch,
                                            const IdfScratch& seeds_before, IdfScratch& seeds_after,
                                            IdfResult& result) {
  plan_intersections(shapes, bodies, batch, settings, plan, seeds_before);
  upload();
  double milliseconds = dispatch();
  while (make_room()) milliseconds = dispatch();
  found.clear();
  read();
  times.query += milliseconds;
  collect_hits(found, bodies, batch, plan, settings, result, seeds_after);
  result.arrived = counts;
  if (!is_refined() || is_cut_short) return;
  for (std::size_t i = 0; i < batch.size(); ++i)
    if (counts[i] == 0 && plan.records[i].cells[0] > 0)
      result.resolution[i] =
          compute_resolution(plan.records[i], compute_levels(plan.records[i], settings));
}

GpuIntersectionQuery::GpuIntersectionQuery(const GpuContext& gpu, std::span<const IdfShape> shapes,
                                           const GpuIntersectionSettings& gpu_settings) {
  if (gpu_settings.group_size < 32 || gpu_settings.group_size > gpu.info().max_group_size)
    throw Error(fmt::format("work-groups of {}: 32 to {} are possible", gpu_settings.group_size,
                            gpu.info().max_group_size));
  state_ = std::make_unique<State>(gpu, shapes, gpu_settings);
}
GpuIntersectionQuery::GpuIntersectionQuery(const GpuContext& gpu, std::span<const Shape> shapes,
                                           const GpuIntersectionSettings& gpu_settings)
    : GpuIntersectionQuery(gpu, intersection_shapes(shapes), gpu_settings) {}
GpuIntersectionQuery::GpuIntersectionQuery(GpuIntersectionQuery&&) noexcept = default;
GpuIntersectionQuery& GpuIntersectionQuery::operator=(GpuIntersectionQuery&&) noexcept = default;
GpuIntersectionQuery::~GpuIntersectionQuery() = default;

void GpuIntersectionQuery::run(std::span<const IdfBody> bodies, std::span<const IdfPair> pairs,
                               const IdfSettings& settings, IdfResult& result,
                               IdfScratch& scratch) {
  const auto begin = std::chrono::steady_clock::now();
  State& s = *state_;
  s.set(settings);
  const std::size_t batch = s.pairs_a_batch(settings);
  if (pairs.size() <= batch) {
    s.run_batch(bodies, pairs, scratch, scratch, result);
  } else {
    IdfScratch next, part_state;
    IdfResult part;
    result = {};
    result.first_contact.push_back(0);
    for (std::size_t first = 0; first < pairs.size(); first += batch) {
      s.run_batch(bodies, pairs.subspan(first, std::min(batch, pairs.size() - first)), scratch,
                  part_state, part);
      append(part, result);
      next.seeds.merge(part_state.seeds);
    }
    scratch = std::move(next);
  }
  s.times.wall = since(begin);
}

GpuIntersectionCount GpuIntersectionQuery::count(std::span<const IdfBody> bodies,
                                                 std::span<const IdfPair> pairs,
                                                 const IdfSettings& settings) {
  State& s = *state_;
  s.set(settings);
  GpuIntersectionCount total;
  const std::size_t batch = s.pairs_a_batch(settings);
  for (std::size_t first = 0; first < pairs.size(); first += batch) {
    plan_intersections(s.shapes, bodies,
                       pairs.subspan(first, std::min(batch, pairs.size() - first)), settings,
                       s.plan, {});
    s.upload();
    double milliseconds = s.dispatch();
    while (s.make_room()) milliseconds = s.dispatch();
    total.milliseconds += milliseconds;
    total.particles += s.particle_count;
    if (s.particle_count == 0) continue;
    s.counts.assign(s.plan.records.size(), 0);
    s.arrived.read(std::span(s.counts));
    s.found.clear();
    if (s.is_refined()) s.read_refined();
    for (const std::uint32_t n : s.counts) {
      total.arrived += n;
      total.colliding += n > 0 ? 1U : 0U;
    }
  }
  return total;
}

double GpuIntersectionQuery::repeat() { return state_->dispatch(); }

const GpuIntersectionTimes& GpuIntersectionQuery::times() const { return state_->times; }
std::uint64_t GpuIntersectionQuery::texture_bytes() const { return state_->table.texture_bytes(); }

}  // namespace isotact

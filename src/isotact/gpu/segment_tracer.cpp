#include "isotact/gpu/segment_tracer.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/gpu/context.h"
#include "isotact/gpu/program.h"
#include "isotact/queries/segment_index.h"

namespace isotact {
namespace {

constexpr std::uint32_t kGroup = 128;      // segments
// Of a group: parts of paths in macro cells and in cells.
constexpr std::uint32_t kMacroParts = 4 * kGroup, kCellParts = 3 * kGroup;
constexpr std::uint32_t kNoteNumbers = 4;  // before the list of notes
constexpr std::size_t kPiece = 1U << 22U;  // segments that go up at once
constexpr std::uint32_t kMacroRows = 3, kCellRows = 4;

// As Settings of shaders/segment_path.glsl.
struct ShaderSettings {
  double origin[3];
  double scale;
  float top[3];
  std::int32_t macros[3];
  std::uint32_t place_offset;
  std::uint32_t cell_offset;
  float correction_step, iso;
  std::uint32_t is_free_beyond_box;
  std::uint32_t unused;
};
static_assert(sizeof(ShaderSettings) == 80 && offsetof(ShaderSettings, place_offset) == 56);
static_assert(sizeof(Segment) == 24 && sizeof(SegmentInterval) == 8);
static_assert(offsetof(IndexedCell, first_block) == 20 && offsetof(IndexedCell, blocks) == 24 &&
              offsetof(IndexedCell, inside) == 26 && offsetof(IndexedCell, corner) == 32);

using Row = std::array<std::uint32_t, 4>;

std::vector<std::uint32_t> make_tables(const SegmentIndex& index, std::uint32_t& place_offset) {
  const std::size_t macros = count(index.macros), words = (8 * macros + 3) / 4;
  std::vector<std::uint32_t> tables(words + macros, 0);
  std::memcpy(tables.data(), index.free_cubes.data(), 8 * macros);
  place_offset = static_cast<std::uint32_t>(words);
  for (std::size_t i = 0; i < macros; ++i)
    if (index.free_cubes[i] == 0) tables[words + i] = index.place_of(i);
  return tables;
}

// Macro cells and their cells, which are told where they are: parts of paths name but the node.
std::vector<Row> make_nodes(const SegmentIndex& index, std::uint32_t& cell_offset) {
  const std::size_t macros = index.occupied_macros.size();
  cell_offset = static_cast<std::uint32_t>(kMacroRows * macros);
  std::vector<Row> rows(cell_offset + kCellRows * index.cells.size());
  if (!index.cells.empty())
    std::memcpy(rows.data() + cell_offset, index.cells.data(),
                index.cells.size() * sizeof(IndexedCell));
  for (std::size_t i = 0; i < macros; ++i) {
    const IndexedMacro& macro = index.occupied_macros[i];
    const SegmentSlab& slab = macro.slab;
    const auto bits = [](float x) { return std::bit_cast<std::uint32_t>(x); };
    const auto number = static_cast<std::uint32_t>(
        flat_index(index.macros, macro.at[0], macro.at[1], macro.at[2]));
    rows[kMacroRows * i] = {bits(slab.normal[0]), bits(slab.normal[1]), bits(slab.normal[2]),
                            bits(slab.least)};
    rows[kMacroRows * i + 1] = {bits(slab.most), macro.first, macro.inside, number};
    std::memcpy(&rows[kMacroRows * i + 2], &index.masks[i], sizeof(Row));
    std::size_t cell = macro.first;
    for (std::uint64_t left = index.masks[i].indexed; left != 0; left &= left - 1, ++cell) {
      Row& row = rows[cell_offset + kCellRows * cell + 1];
      row[2] = (row[2] & 0xffffffU) | static_cast<std::uint32_t>(std::countr_zero(left)) << 24U;
      row[3] = number;
    }
  }
  return rows;
}

template <typename T>
GpuBuffer upload(const char* what, std::span<const T> data, std::int64_t most) {
  if (data.size_bytes() > static_cast<std::uint64_t>(most))
    throw Error(fmt::format(
        "the {} of this field take {} bytes, and a storage buffer of this GPU has at most {}: "
        "build the field with fewer cells, or trace on the CPU",
        what, data.size_bytes(), most));
  // A buffer of no bytes could not be bound.
  if (data.empty()) return GpuBuffer(16);
  return GpuBuffer(data);
}

}  // namespace

// Of one context, compiled where they are needed.
struct GpuSegmentTracer::Programs {
  GpuProgram intervals, first;

  // kAny is served by the first time.
  const GpuProgram& of(SegmentMode mode) {
    const bool all = mode == SegmentMode::kIntervals;
    GpuProgram& program = all ? intervals : first;
    if (program.name() == 0)
      program = GpuProgram("segments.comp", {{"GROUP", fmt::format("{}u", kGroup)},
                                             {"MACRO_PARTS", fmt::format("{}u", kMacroParts)},
                                             {"CELL_PARTS", fmt::format("{}u", kCellParts)},
                                             {"MODE", all ? "0" : "1"},
                                             {"ALONG_SLAB", fmt::format("{:e}", kAlongSlab)},
                                             {"DOUBTFUL", fmt::format("{:e}", kDoubtful)}});
    return program;
  }
};

struct GpuSegmentTracer::State {
  SegmentTracer cpu;
  std::shared_ptr<Programs> programs;
  GpuBuffer settings, tables, nodes, blocks;
  // Of trace() with spans.
  GpuBuffer segments;
  GpuSegmentResults results;
  std::vector<GpuSegmentSpan> spans;
  std::vector<SegmentInterval> intervals;
  std::uint32_t room = 0;

  explicit State(SegmentTracer tracer) : cpu(std::move(tracer)) {}

  void trace_piece(std::span<const Segment> some, GpuSegmentTracer& tracer, SegmentResults& to);
  void append(std::span<const Segment> some, const SegmentResults& unsure,
              SegmentResults& to) const;
};

GpuSegmentTracer::GpuSegmentTracer(const BrickField& field, const SegmentSettings& settings,
                                   const GpuSegmentTracer* lends_shaders) {
  if (settings.roots != RootSearch::kAll)
    throw Error("segments on the GPU: RootSearch::kPaper is for comparisons on the CPU");
  SegmentSettings fast = settings;
  fast.traversal = Traversal::kFast;
  auto state = std::make_unique<State>(SegmentTracer(field, fast));
  const SegmentIndex& index = *state->cpu.index();
  const Lattice& lattice = field.lattice();
  ShaderSettings s{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    s.origin[axis] = lattice.origin[axis];
    s.top[axis] = static_cast<float>(lattice.cells[axis]);
    s.macros[axis] = index.macros[axis];
  }
  s.scale = 1 / lattice.spacing;
  s.correction_step = field.header().step;
  s.iso = static_cast<float>(settings.iso);
  s.is_free_beyond_box = state->cpu.is_free_beyond_box() ? 1 : 0;
  const std::int64_t most = GpuContext::adopt_current().info().max_storage_bytes;
  constexpr std::size_t kMostMacros = std::size_t{1} << 27U;  // numbers are of 32 bits
  if (count(index.macros) >= kMostMacros)
    throw Error("segments on the GPU: the field has more cells than 32 bits number");
  state->tables =
      upload("tables", std::span<const std::uint32_t>(make_tables(index, s.place_offset)), most);
  state->nodes = upload("nodes", std::span<const Row>(make_nodes(index, s.cell_offset)), most);
  state->blocks = upload("samples", std::span<const SampleBlock>(index.blocks), most);
  state->settings = GpuBuffer(std::span<const ShaderSettings>(&s, 1));
  state->programs =
      lends_shaders != nullptr ? lends_shaders->state_->programs : std::make_shared<Programs>();
  state->programs->of(settings.mode);
  state_ = std::move(state);
}

GpuSegmentTracer::GpuSegmentTracer(GpuSegmentTracer&&) noexcept = default;
GpuSegmentTracer& GpuSegmentTracer::operator=(GpuSegmentTracer&&) noexcept = default;
GpuSegmentTracer::~GpuSegmentTracer() = default;

const SegmentSettings& GpuSegmentTracer::settings() const { return state_->cpu.settings(); }
const SegmentTracer& GpuSegmentTracer::cpu() const { return state_->cpu; }
std::uint64_t GpuSegmentTracer::memory_bytes() const {
  return state_->settings.size() + state_->tables.size() + state_->nodes.size() +
         state_->blocks.size();
}

void GpuSegmentTracer::trace(const GpuBuffer& segments, std::uint32_t count, std::uint32_t room,
                             GpuSegmentResults& results) {
  if (count == 0) return;
  results.spans.reserve(count * sizeof(GpuSegmentSpan));
  results.intervals.reserve(std::max<std::size_t>(room, 1) * sizeof(SegmentInterval));
  results.notes.reserve((kNoteNumbers + std::size_t{count}) * sizeof(std::uint32_t));
  results.notes.clear_bytes(0, kNoteNumbers * sizeof(std::uint32_t));
  const GpuBuffer* bound[] = {&state_->settings,  &state_->tables, &state_->nodes,
                              &state_->blocks,    &segments,       &results.spans,
                              &results.intervals, &results.notes};
  for (std::uint32_t i = 0; i < std::size(bound); ++i) bound[i]->bind(i);
  const GroupGrid grid = spread_groups((std::uint64_t{count} + kGroup - 1) / kGroup);
  const GpuProgram& program = state_->programs->of(settings().mode);
  program.set("segment_count", count);
  program.set("interval_room", room);
  program.dispatch(grid.x, grid.y);
}

void GpuSegmentTracer::trace(std::span<const Segment> segments, SegmentResults& results) {
  results.first.assign(1, 0);
  results.first.reserve(segments.size() + 1);
  results.intervals.clear();
  for (std::size_t begin = 0; begin < segments.size(); begin += kPiece)
    state_->trace_piece(segments.subspan(begin, std::min(kPiece, segments.size() - begin)), *this,
                        results);
}

void GpuSegmentTracer::State::trace_piece(std::span<const Segment> some, GpuSegmentTracer& tracer,
                                          SegmentResults& to) {
  const auto n = static_cast<std::uint32_t>(some.size());
  segments.reserve(some.size_bytes());
  segments.upload(some);
  room = std::max(room, n);
  std::uint32_t notes[kNoteNumbers];
  tracer.trace(segments, n, room, results);
  results.notes.read(std::span<std::uint32_t>(notes));
  if (notes[0] > room) {
    room = notes[0];
    tracer.trace(segments, n, room, results);
    results.notes.read(std::span<std::uint32_t>(notes));
  }
  spans.resize(n);
  intervals.resize(notes[0]);
  results.spans.read(std::span(spans));
  results.intervals.read(std::span(intervals));
  // In order, so that they are met in order.
  std::vector<std::uint32_t> numbers(notes[1]);
  results.notes.read(std::span(numbers), sizeof(notes));
  std::sort(numbers.begin(), numbers.end());
  std::vector<Segment> left;
  left.reserve(numbers.size());
  for (const std::uint32_t i : numbers) left.push_back(some[i]);
  SegmentResults unsure;
  cpu.trace(left, unsure);
  append(some, unsure, to);
}

void GpuSegmentTracer::State::append(std::span<const Segment> some, const SegmentResults& unsure,
                                     SegmentResults& to) const {
  std::size_t next = 0;
  to.intervals.reserve(to.intervals.size() + intervals.size() + unsure.intervals.size());
  for (std::size_t i = 0; i < some.size(); ++i) {
    if (spans[i].count != kUnsureSegment) {
      const auto first = intervals.begin() + spans[i].first;
      to.intervals.insert(to.intervals.end(), first, first + spans[i].count);
    } else {
      const SegmentInterval* all = unsure.intervals.data();
      to.intervals.insert(to.intervals.end(), all + unsure.first[next],
                          all + unsure.first[next + 1]);
      ++next;
    }
    to.first.push_back(to.intervals.size());
  }
}

}  // namespace isotact

#include "isotact/gpu/segments/segment_tracer.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/parallel.h"
#include "isotact/gpu/core/context.h"
#include "isotact/gpu/core/program.h"
#include "isotact/queries/segments/segment_index.h"

namespace isotact {
namespace {

constexpr std::uint32_t kGroup = glsl::kSegmentGroup;
constexpr std::size_t kPiece = 1U << 22U;  // Segments that are uploaded at once.
constexpr std::size_t kGrain = 1U << 14U;  // Segments per task of a CPU thread.
constexpr std::uint32_t kMacroRows = glsl::kMacroNodeRows, kCellRows = glsl::kCellNodeRows;

// Data that shaders read and write directly.
static_assert(sizeof(Segment) == 4 * 2 * glsl::kSegmentPairs && sizeof(SegmentInterval) == 8);
static_assert(sizeof(SampleBlock) == 4 * glsl::kSampleBlockWords &&
              kBlockNodes == glsl::kSampleBlockNodes);
static_assert(IndexedCell::kNoBlocks == glsl::kSegmentNoBlocks);

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

glsl::SegmentMacroNode make_macro_node(const IndexedMacro& macro, const MacroMasks& masks,
                                       float shift, std::uint32_t number) {
  const SegmentSlab& slab = macro.slab;
  glsl::SegmentMacroNode node{
      .slab = {slab.normal[0], slab.normal[1], slab.normal[2], slab.least + shift},
      .most = slab.most + shift,
      .first_cell = macro.first,
      .inside = macro.inside,
      .number = number,
      .masks = {}};
  static_assert(sizeof(node.masks) == sizeof(masks));
  std::memcpy(node.masks, &masks, sizeof(masks));
  return node;
}

glsl::SegmentCellNode make_cell_node(const IndexedCell& cell, float shift, std::uint32_t in_macro,
                                     std::uint32_t macro) {
  const SegmentSlab& slab = cell.slab;
  const float* const c = cell.corner;
  return {.slab = {slab.normal[0], slab.normal[1], slab.normal[2], slab.least + shift},
          .most = slab.most + shift,
          .first_block = cell.first_block,
          .bits = static_cast<std::uint32_t>(cell.blocks) |
                  static_cast<std::uint32_t>(cell.inside_blocks) << 8U |
                  static_cast<std::uint32_t>(cell.inside) << 16U | in_macro << 24U,
          .macro = macro,
          .low = {c[0], c[1], c[2], c[3]},
          .high = {c[4], c[5], c[6], c[7]}};
}

// Macro cells and their cells, with their positions: parts of paths name only the node. `shift`
// moves the slabs from the index's centre to the margin, in cells.
std::vector<Row> make_nodes(const SegmentIndex& index, float shift, std::uint32_t& cell_offset) {
  const std::size_t macros = index.occupied_macros.size();
  cell_offset = static_cast<std::uint32_t>(kMacroRows * macros);
  std::vector<Row> rows(cell_offset + kCellRows * index.cells.size());
  for (std::size_t i = 0; i < macros; ++i) {
    const IndexedMacro& macro = index.occupied_macros[i];
    const auto number =
        static_cast<std::uint32_t>(flat_index(index.macros, macro.at[0], macro.at[1], macro.at[2]));
    const glsl::SegmentMacroNode node = make_macro_node(macro, index.masks[i], shift, number);
    std::memcpy(&rows[kMacroRows * i], &node, sizeof(node));
    std::size_t cell = macro.first;
    for (std::uint64_t left = index.masks[i].indexed; left != 0; left &= left - 1, ++cell) {
      const glsl::SegmentCellNode in_cell = make_cell_node(
          index.cells[cell], shift, static_cast<std::uint32_t>(std::countr_zero(left)), number);
      std::memcpy(&rows[cell_offset + kCellRows * cell], &in_cell, sizeof(in_cell));
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
  // A buffer of zero bytes could not be bound.
  if (data.empty()) return GpuBuffer(16);
  return GpuBuffer(data);
}

// Results of the GPU for some segments, in its own order, and those of the CPU.
struct Piece {
  std::span<const SegmentInterval> intervals;
  std::span<const GpuSegmentSpan> spans;
  std::vector<std::uint32_t> undecided;  // Segments, in order.
  SegmentResults of_unsure;

  // Calls visit(segment, its intervals) for segments of a range, in order.
  template <typename Visit>
  void for_each(std::size_t begin, std::size_t end, Visit&& visit) const {
    auto next = static_cast<std::size_t>(
        std::lower_bound(undecided.begin(), undecided.end(), begin) - undecided.begin());
    for (std::size_t i = begin; i < end; ++i) {
      const GpuSegmentSpan& s = spans[i];
      if (s.count != kUnsureSegment) {
        visit(i, intervals.subspan(s.count > 0 ? s.first : 0, s.count));
        continue;
      }
      const std::span<const SegmentInterval> all = of_unsure.intervals;
      const std::uint64_t first = of_unsure.first[next], last = of_unsure.first[++next];
      visit(i, all.subspan(first, last - first));
    }
  }
};

// Appends after the results of the first `done` segments.
void append(const Piece& piece, Threads threads, std::size_t done, SegmentResults& to) {
  const std::size_t n = piece.spans.size();
  // Start of each range.
  std::vector<std::uint64_t> starts((n - 1) / kGrain + 1, 0);
  parallel_for(n, kGrain, threads, [&](std::size_t begin, std::size_t end) {
    std::uint64_t sum = 0;
    piece.for_each(begin, end, [&](std::size_t, std::span<const SegmentInterval> found) {
      sum += found.size();
    });
    starts[begin / kGrain] = sum;
  });
  std::uint64_t total = to.first[done];
  for (std::uint64_t& start : starts) total += std::exchange(start, total);
  if (to.intervals.size() < total) to.intervals.resize(total);
  parallel_for(n, kGrain, threads, [&](std::size_t begin, std::size_t end) {
    std::uint64_t at = starts[begin / kGrain];
    piece.for_each(begin, end, [&](std::size_t i, std::span<const SegmentInterval> found) {
      for (const SegmentInterval& interval : found) to.intervals[at++] = interval;
      to.first[done + i + 1] = at;
    });
  });
}

}  // namespace

// Programs of one context, compiled at their first use.
struct GpuSegmentTracer::Programs {
  GpuProgram intervals, first;

  // The first time serves kAny.
  const GpuProgram& of(Mode mode) {
    const bool all = mode == Mode::kAll;
    GpuProgram& program = all ? intervals : first;
    if (program.name() == 0)
      program = GpuProgram("segments.comp", {{"MODE", all ? "0" : "1"},
                                             {"ALONG_SLAB", fmt::format("{:e}", kAlongSlab)},
                                             {"DOUBTFUL", fmt::format("{:e}", kDoubtful)}});
    return program;
  }
};

struct GpuSegmentTracer::State {
  SegmentTracer cpu;
  std::shared_ptr<Programs> programs;
  GpuBuffer settings, tables, nodes, blocks;
  // For trace() with spans.
  GpuBuffer segments;
  GpuSegmentResults results;
  GpuStage up{GpuStage::Direction::kUp}, down{GpuStage::Direction::kDown};
  std::uint32_t room = 0;

  explicit State(SegmentTracer tracer) : cpu(std::move(tracer)) {}

  Piece trace_piece(std::span<const Segment> some, GpuSegmentTracer& tracer);
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
  const auto shift = static_cast<float>((settings.margin - index.center) / lattice.spacing);
  glsl::SegmentBlock s{};
  s.origin_x = lattice.origin.x, s.origin_y = lattice.origin.y, s.origin_z = lattice.origin.z;
  s.top_x = static_cast<float>(lattice.cells[0]);
  s.top_y = static_cast<float>(lattice.cells[1]);
  s.top_z = static_cast<float>(lattice.cells[2]);
  s.macros_x = index.macros[0], s.macros_y = index.macros[1], s.macros_z = index.macros[2];
  s.scale = 1 / lattice.spacing;
  s.correction_step = field.header().step;
  s.margin = static_cast<float>(settings.margin);
  s.is_free_beyond_box = state->cpu.is_free_beyond_box() ? 1 : 0;
  const std::int64_t most = GpuContext::adopt_current().info().max_storage_bytes;
  // Numbers of octants and macro cells, and of cells and segments of a group, have 32 bits.
  constexpr std::size_t kMostMacros = std::size_t{1} << 27U,
                        kMostPlaces = (std::size_t{1} << 32U) / kGroup;
  if (count(index.macros) >= kMostMacros || index.cells.size() >= kMostPlaces)
    throw Error("segments on the GPU: the field has more cells than 32 bits number");
  state->tables =
      upload("tables", std::span<const std::uint32_t>(make_tables(index, s.place_offset)), most);
  state->nodes =
      upload("nodes", std::span<const Row>(make_nodes(index, shift, s.cell_offset)), most);
  state->blocks = upload("samples", index.blocks, most);
  state->settings = GpuBuffer(std::span<const glsl::SegmentBlock>(&s, 1));
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

void GpuSegmentTracer::trace(const GpuBuffer& segments, std::uint32_t count, std::uint32_t capacity,
                             GpuSegmentResults& results) {
  if (count == 0) return;
  results.spans.reserve(count * sizeof(GpuSegmentSpan));
  results.intervals.reserve(std::max<std::size_t>(capacity, 1) * sizeof(SegmentInterval));
  results.notes.reserve(sizeof(GpuSegmentNotes) + count * sizeof(std::uint32_t));
  results.notes.clear_bytes(0, sizeof(GpuSegmentNotes));
  state_->settings.bind(glsl::kSegmentBlockAt);
  state_->tables.bind(glsl::kSegmentTablesAt);
  state_->nodes.bind(glsl::kSegmentNodesAt);
  state_->blocks.bind(glsl::kSegmentSamplesAt);
  segments.bind(glsl::kSegmentsAt);
  results.spans.bind(glsl::kSegmentSpansAt);
  results.intervals.bind(glsl::kSegmentIntervalsAt);
  results.notes.bind(glsl::kSegmentNotesAt);
  const GroupGrid grid = spread_groups((std::uint64_t{count} + kGroup - 1) / kGroup);
  const GpuProgram& program = state_->programs->of(settings().mode);
  program.set("segment_count", count);
  program.set("interval_room", capacity);
  program.dispatch(grid.x, grid.y);
}

void GpuSegmentTracer::trace(std::span<const Segment> segments, SegmentResults& results) {
  results.first.resize(segments.size() + 1);
  results.first[0] = 0;
  results.work = {};
  for (std::size_t begin = 0; begin < segments.size(); begin += kPiece) {
    const std::size_t n = std::min(kPiece, segments.size() - begin);
    append(state_->trace_piece(segments.subspan(begin, n), *this), settings().threads, begin,
           results);
  }
  results.intervals.resize(results.first.back());
}

// The result is valid until the next piece.
Piece GpuSegmentTracer::State::trace_piece(std::span<const Segment> some,
                                           GpuSegmentTracer& tracer) {
  const auto n = static_cast<std::uint32_t>(some.size());
  const Threads threads = cpu.settings().threads;
  segments.reserve(some.size_bytes());
  up.reserve(some.size_bytes());
  const std::span<Segment> sent = up.view<Segment>(n);
  parallel_for(n, kGrain, threads, [&](std::size_t begin, std::size_t end) {
    std::memcpy(&sent[begin], &some[begin], (end - begin) * sizeof(Segment));
  });
  up.send(segments, some.size_bytes());
  room = std::max(room, n);
  constexpr std::size_t kNoteBytes = sizeof(GpuSegmentNotes);
  down.reserve(kNoteBytes);
  std::uint32_t found = 0, undecided = 0;
  for (bool fits = false; !fits;) {
    tracer.trace(segments, n, room, results);
    down.receive(results.notes, kNoteBytes);
    finish_gpu();
    const GpuSegmentNotes& notes = down.view<GpuSegmentNotes>(1)[0];
    found = notes.interval_count;
    undecided = notes.undecided_count;
    fits = found <= room;
    room = std::max(room, found);
  }
  const std::size_t interval_bytes = found * sizeof(SegmentInterval),
                    span_bytes = n * sizeof(GpuSegmentSpan),
                    note_bytes = kNoteBytes + undecided * sizeof(std::uint32_t);
  down.reserve(interval_bytes + span_bytes + note_bytes);
  down.receive(results.intervals, interval_bytes);
  down.receive(results.spans, span_bytes, interval_bytes);
  down.receive(results.notes, note_bytes, interval_bytes + span_bytes);
  finish_gpu();
  Piece piece;
  piece.intervals = down.view<SegmentInterval>(found);
  piece.spans = down.view<GpuSegmentSpan>(n, interval_bytes);
  const auto noted = down.view<std::uint32_t>(undecided, interval_bytes + span_bytes + kNoteBytes);
  piece.undecided.assign(noted.begin(), noted.end());
  std::sort(piece.undecided.begin(), piece.undecided.end());
  std::vector<Segment> left;
  left.reserve(undecided);
  for (const std::uint32_t i : piece.undecided) left.push_back(some[i]);
  cpu.trace(left, piece.of_unsure);
  return piece;
}

}  // namespace isotact

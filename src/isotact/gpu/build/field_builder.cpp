#include "isotact/gpu/build/field_builder.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "isotact/gpu/build/detail/field_builder_state.h"

namespace isotact {
namespace {

using detail::SearchResult;
using Slots = std::array<std::optional<detail::BrickSlot>, detail::kSlots>;

constexpr std::size_t kNodes = glsl::kSearchNodes;           // Per brick.
constexpr std::size_t kBatchBytes = std::size_t{16} << 20U;  // Results.

// Batches rotate: while the CPU reads one, the GPU works on the next.
class GpuDistances final : public DeviceDistances {
 public:
  GpuDistances(const detail::SearchPrograms& programs, detail::SearchScratch& memory,
               const detail::TriangleTree& tree, const Lattice& lattice, Slots& slots,
               std::size_t batch_bytes)
      : search_(programs, memory, tree, lattice), slots_(slots), batch_bytes_(batch_bytes) {}

  std::vector<float> compute_coarse(const Monitor& monitor) override {
    monitor.check();
    search_.compute_coarse();
    std::vector<float> values(count(search_.coarse_nodes()));
    search_.coarse_distances().read(std::span<float>(values));
    return values;
  }

  void for_each_brick(const Work& work, Threads threads, const Monitor& monitor,
                      const Visitor& visit) override {
    const SearchResult result =
        work.directions ? SearchResult::kDirection : SearchResult::kDistance;
    const std::size_t brick_bytes = kNodes * detail::bytes_of(result);
    const std::size_t batch = std::max<std::size_t>(1, batch_bytes_ / brick_bytes);
    using detail::kSlots;
    for (std::optional<detail::BrickSlot>& slot : slots_)
      if (slot) slot->bricks.clear();  // Rest of a cancelled build.
    const std::size_t batches = (work.bricks.size() + batch - 1) / batch;
    for (std::size_t b = 0; b < batches + kSlots - 1; ++b) {
      monitor.check();
      if (b < batches) {
        std::optional<detail::BrickSlot>& slot = slots_[b % kSlots];
        if (!slot) slot.emplace(batch_bytes_, batch_bytes_ / (kNodes * sizeof(float)));
        begin(work, b * batch, std::min(batch, work.bricks.size() - b * batch), result, *slot);
      }
      if (b + 1 >= kSlots) take(*slots_[(b + 1) % kSlots], result, threads, visit);
    }
  }

  double error() const override { return search_.error(); }
  std::uint64_t host_bytes() const override {
    return detail::kSlots * (batch_bytes_ + batch_bytes_ / 64);
  }

 private:
  void begin(const Work& work, std::size_t first, std::size_t n, SearchResult result,
             detail::BrickSlot& slot) {
    slot.first = first;
    slot.bricks.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      const BrickRequest& r = work.bricks[first + i];
      slot.bricks[i] = {{r.cell[0], r.cell[1], r.cell[2]}, r.whole ? 1 : 0};
    }
    search_.find_bricks(slot.bricks, {work.wanted_from, work.wanted_to}, result, slot.on_gpu);
    slot.exact.begin(slot.on_gpu.exact, n * sizeof(std::uint32_t));
    slot.results.begin(slot.on_gpu.results, n * kNodes * detail::bytes_of(result));
  }

  static void take(detail::BrickSlot& slot, SearchResult result, Threads threads,
                   const Visitor& visit) {
    if (slot.bricks.empty()) return;
    const std::byte* const exact = slot.exact.wait().data();
    const std::byte* const results = slot.results.wait().data();
    const std::size_t brick_bytes = kNodes * detail::bytes_of(result);
    parallel_for(slot.bricks.size(), 64, threads, [&](std::size_t begin, std::size_t end) {
      std::array<float, kNodes> distance;
      std::array<Vec3f, kNodes> direction;
      for (std::size_t i = begin; i < end; ++i) {
        BrickDistances brick{.request = slot.first + i, .distance = distance};
        std::memcpy(&brick.exact, exact + i * sizeof(std::uint32_t), sizeof(std::uint32_t));
        const std::byte* const from = results + i * brick_bytes;
        if (result == SearchResult::kDirection) {
          read_directions(from, direction, distance);
          brick.direction = direction;
        } else {
          std::memcpy(distance.data(), from, brick_bytes);
        }
        visit(brick);
      }
    });
    slot.bricks.clear();
  }

  static void read_directions(const std::byte* from, std::array<Vec3f, kNodes>& direction,
                              std::array<float, kNodes>& distance) {
    for (std::size_t n = 0; n < kNodes; ++n) {
      float part[4];
      std::memcpy(part, from + n * sizeof(part), sizeof(part));
      direction[n] = {part[0], part[1], part[2]};
      distance[n] = part[3];
    }
  }

  detail::NodeSearch search_;
  Slots& slots_;
  std::size_t batch_bytes_;
};

}  // namespace

GpuFieldBuilder::State::State(const GpuInfo& of)
    : info(of),
      largest_b("first_order_texels.comp", {{"PASS", "0"}}),
      texels("first_order_texels.comp", {{"PASS", "1"}}),
      batch_bytes(most_bricks(SearchResult::kDirection, kBatchBytes) * kNodes *
                  detail::bytes_of(SearchResult::kDirection)) {}

std::size_t GpuFieldBuilder::State::most_bricks(SearchResult result, std::size_t most) const {
  const auto buffer = static_cast<std::size_t>(info.max_storage_bytes);
  return std::clamp<std::size_t>(std::min(most, buffer / 2) / (kNodes * detail::bytes_of(result)),
                                 1, detail::kMostBricksOfBatch);
}

std::string GpuFieldBuilder::State::find_refusal(std::size_t triangles,
                                                 const Lattice& lattice) const {
  const auto most = static_cast<double>(info.max_storage_bytes);
  if (triangles > detail::kTreeMaxTriangles ||
      static_cast<double>(triangles + detail::kTreeBlock) * sizeof(detail::TriangleFrame) > most)
    return fmt::format("{} triangles are too many for one buffer of {}: the processor takes over",
                       triangles, info.renderer);
  double nodes = 1;
  for (const std::int32_t cells : lattice.cells) nodes *= cells / 8 + 1;
  if (1.5 * nodes * sizeof(float) > most)
    return fmt::format(
        "{:.3g} coarse nodes are too many for one buffer of {}: the processor takes "
        "over",
        nodes, info.renderer);
  return {};
}

GpuFieldBuilder::GpuFieldBuilder(const GpuContext& context)
    : state_(std::make_unique<State>(context.info())) {}
GpuFieldBuilder::~GpuFieldBuilder() = default;

std::string GpuFieldBuilder::name() const { return state_->info.renderer; }

std::unique_ptr<DeviceDistances> GpuFieldBuilder::open(const TriangleMesh& mesh,
                                                       const Lattice& lattice, Threads threads,
                                                       std::string& why) {
  why = state_->find_refusal(mesh.triangles.size(), lattice);
  if (!why.empty() || mesh.triangles.empty()) return nullptr;
  return std::make_unique<GpuDistances>(state_->search, state_->memory,
                                        state_->trees.build(mesh, lattice, threads), lattice,
                                        state_->slots, state_->batch_bytes);
}

}  // namespace isotact

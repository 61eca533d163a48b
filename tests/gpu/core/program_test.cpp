#include "isotact/gpu/core/program.h"

#include <numeric>
#include <vector>

#include "isotact/base/error.h"
#include "isotact/gpu/core/context.h"

#include "gpu/gpu_fixture.h"

namespace isotact {
namespace {

using GpuProgramTest = GpuTest;

constexpr const char* kDouble = R"(layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Data { uint data[]; };
#include "index.glsl"
uniform uint count;
void main() {
  uint i = invocation_index();
  if (i < count) data[i] = FACTOR * data[i];
}
)";

TEST_F(GpuProgramTest, ComputesInStorageBuffers) {
  std::vector<std::uint32_t> data(1000);
  std::iota(data.begin(), data.end(), 0U);
  GpuBuffer buffer{std::span<const std::uint32_t>(data)};
  const GpuProgram program = GpuProgram::from_source("double.comp", kDouble, {{"FACTOR", "3u"}});
  buffer.bind(0);
  program.set("count", 999U);
  GpuTimer timer;
  timer.begin();
  program.dispatch(16);
  timer.end();
  buffer.read(std::span<std::uint32_t>(data));
  for (std::uint32_t i = 0; i < 999; ++i) ASSERT_EQ(data[i], 3 * i);
  EXPECT_EQ(data[999], 999U);
  EXPECT_GE(timer.milliseconds(), 0);
}

std::string complaint(const char* source) {
  try {
    (void)GpuProgram::from_source("mine.comp", source);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST_F(GpuProgramTest, NamesFileAndLineOfMistakes) {
  const std::string text = complaint(
      "layout(local_size_x = 1) in;\n"
      "#include \"index.glsl\"\n"
      "void main() {\n"
      "  uint i = nothing_of_this_name;\n"
      "}\n");
  EXPECT_NE(text.find("mine.comp:4"), std::string::npos) << text;
  EXPECT_NE(text.find("nothing_of_this_name"), std::string::npos) << text;
}

TEST_F(GpuProgramTest, NamesMissingFiles) {
  const std::string text = complaint("\n#include \"missing.glsl\"\nvoid main() {}\n");
  EXPECT_NE(text.find("mine.comp:2"), std::string::npos) << text;
  EXPECT_NE(text.find("missing.glsl"), std::string::npos) << text;
  EXPECT_THROW((void)GpuProgram("missing.comp"), Error);
}

TEST_F(GpuProgramTest, StagesCarryUpAndDown) {
  GpuStage up(GpuStage::Direction::kUp), down(GpuStage::Direction::kDown);
  for (const std::uint32_t n : {3U, 1000U}) {  // it grows
    up.reserve(n * 4);
    for (std::uint32_t i = 0; i < n; ++i) up.view<std::uint32_t>(n)[i] = 7 * i;
    const GpuBuffer buffer(n * 4);
    up.send(buffer, n * 4);
    down.reserve(n * 4 + 8);
    down.receive(buffer, n * 4, 8);
    finish_gpu();
    for (std::uint32_t i = 0; i < n; ++i) ASSERT_EQ(down.view<std::uint32_t>(n, 8)[i], 7 * i);
  }
}

TEST_F(GpuProgramTest, DispatchesFromABuffer) {
  std::vector<std::uint32_t> data(256, 1);
  GpuBuffer buffer{std::span<const std::uint32_t>(data)};
  const std::uint32_t groups[] = {9, 9, 9, 2, 1, 1};
  const GpuBuffer indirect{std::span<const std::uint32_t>(groups)};
  const GpuProgram program = GpuProgram::from_source("double.comp", kDouble, {{"FACTOR", "2u"}});
  program.set("count", 256U);
  buffer.bind(0);
  program.dispatch_indirect(indirect, 12);
  buffer.read(std::span<std::uint32_t>(data));
  EXPECT_EQ(std::accumulate(data.begin(), data.end(), 0U), 128U * 2 + 128U);
}

TEST(SpreadGroups, CoversEveryCount) {
  for (const std::uint64_t count : {0ULL, 1ULL, 65535ULL, 65536ULL, 1234567ULL, 4294836225ULL}) {
    const GroupGrid g = spread_groups(count);
    const std::uint64_t product = std::uint64_t{g.x} * g.y;
    EXPECT_GE(product, count);
    EXPECT_LE(product, count + g.y);
    EXPECT_LE(g.x, 65535U);
    EXPECT_LE(g.y, 65535U);
  }
  EXPECT_THROW((void)spread_groups(4294836226ULL), Error);
}

}  // namespace
}  // namespace isotact

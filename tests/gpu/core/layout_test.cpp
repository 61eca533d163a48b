// Structs that C++ and GLSL share: no struct crosses without being one, and each of them lies in
// the GPU's memory as it does in C++.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <epoxy/gl.h>

#include "isotact/field/surface/triangle_frame.h"
#include "isotact/gpu/build/detail/search_layout.h"
#include "isotact/gpu/core/buffer.h"
#include "isotact/gpu/core/program.h"
#include "isotact/gpu/depth/detail/depth_layout.h"
#include "isotact/gpu/intersection/detail/shape_layout.h"
#include "isotact/gpu/particles/particle_layout.h"
#include "isotact/gpu/segments/segment_layout.h"
#include "isotact/queries/intersection/intersection_layout.h"

#include "gpu/core/layout_text.h"
#include "gpu/gpu_fixture.h"

namespace isotact {
namespace {

namespace fs = std::filesystem;

const LayoutText& layout() {
  static const LayoutText text;
  return text;
}

// C++'s side of every struct of a shared header.
#define ISOTACT_SIZE(name) \
  { #name, sizeof(glsl::name) }
const std::map<std::string, std::size_t> kSizes = {
    ISOTACT_SIZE(BrickOnGpu),
    ISOTACT_SIZE(BrickWalk),
    ISOTACT_SIZE(CoveredTile),
    ISOTACT_SIZE(DepthFrame),
    ISOTACT_SIZE(DepthHit),
    ISOTACT_SIZE(DepthMapNote),
    ISOTACT_SIZE(DepthNodesHead),
    ISOTACT_SIZE(DepthPassBlock),
    ISOTACT_SIZE(DepthResultContact),
    ISOTACT_SIZE(DepthResultHead),
    ISOTACT_SIZE(DispatchGroups),
    ISOTACT_SIZE(DrawCommand),
    ISOTACT_SIZE(DrawnInstance),
    ISOTACT_SIZE(GpuSegmentNotes),
    ISOTACT_SIZE(GpuSegmentSpan),
    ISOTACT_SIZE(IdfHit),
    ISOTACT_SIZE(IdfPairRecord),
    ISOTACT_SIZE(MeshBatch),
    ISOTACT_SIZE(MeshCluster),
    ISOTACT_SIZE(MeshLeaf),
    ISOTACT_SIZE(OnceHead),
    ISOTACT_SIZE(OnceQuery),
    ISOTACT_SIZE(Particle),
    ISOTACT_SIZE(ParticleCounts),
    ISOTACT_SIZE(ParticleDrawBlock),
    ISOTACT_SIZE(ParticleExtent),
    ISOTACT_SIZE(ParticleFace),
    ISOTACT_SIZE(ParticleMapBlock),
    ISOTACT_SIZE(ParticleStepBlock),
    ISOTACT_SIZE(RefinedHead),
    ISOTACT_SIZE(SegmentBlock),
    ISOTACT_SIZE(SegmentCellNode),
    ISOTACT_SIZE(SegmentMacroNode),
    ISOTACT_SIZE(ShapeRecord),
    ISOTACT_SIZE(TurnedBox),
    ISOTACT_SIZE(WorkListHead),
    {"TriangleFrame", sizeof(detail::TriangleFrame)}};
#undef ISOTACT_SIZE

// Structs in uniform blocks follow other rules.
std::set<std::string> find_uniform_structs() {
  std::set<std::string> names;
  for (const LayoutBlock& block : layout().blocks())
    if (block.is_std140())
      for (const LayoutMember& m : block.members)
        if (find_builtin(m.type) == nullptr) names.insert(m.type);
  return names;
}

TEST(SharedLayout, EveryStructOfASharedHeaderIsTested) {
  for (const auto& [name, of] : layout().structs())
    EXPECT_TRUE(kSizes.contains(name)) << of.file << ": add " << name << " to kSizes";
  for (const auto& [name, size] : kSizes)
    EXPECT_TRUE(layout().structs().contains(name)) << name << " is in no shared header";
}

// Members of C++ follow each other without gaps where the size is the sum of theirs. That is what
// the other tests compare GLSL with.
TEST(SharedLayout, CppHasNoGaps) {
  for (const auto& [name, size] : kSizes) EXPECT_EQ(layout().packed_size(name), size) << name;
}

TEST(SharedLayout, GlslHasNoGapsByItsRules) {
  for (const auto& [name, size] : kSizes) {
    std::string gap;
    EXPECT_EQ(layout().lay_out(name, false, gap).size, size) << name;
    EXPECT_EQ(gap, "") << name << " in a storage block";
  }
  const std::set<std::string> uniform = find_uniform_structs();
  EXPECT_GE(uniform.size(), 5U);
  for (const std::string& name : uniform) {
    std::string gap;
    EXPECT_EQ(layout().lay_out(name, true, gap).size, kSizes.at(name)) << name;
    EXPECT_EQ(gap, "") << name << " in a uniform block";
  }
}

// What is wrong with a block, or nothing.
std::string find_fault(const LayoutBlock& block) {
  int plain = 0;
  for (const LayoutMember& m : block.members) {
    if (find_builtin(m.type) != nullptr)
      ++plain;
    else if (!layout().structs().contains(m.type))
      return m.type + " is not in a shared header";
  }
  if (plain > 1) return "its members belong into a struct of a shared header";
  return "";
}

TEST(SharedLayout, BlocksHoldSharedStructsOrPlainArrays) {
  EXPECT_GT(layout().blocks().size(), 60U) << "the scan found hardly anything";
  for (const LayoutBlock& block : layout().blocks())
    EXPECT_EQ(find_fault(block), "") << block.file << ": block " << block.name;
}

TEST(SharedLayout, TheCheckItselfSeesFaults) {
  const auto fault_of = [](const char* text) {
    const std::vector<LayoutBlock> blocks = layout().read_blocks("one.comp", text);
    return blocks.size() == 1 ? find_fault(blocks[0]) : "no block";
  };
  EXPECT_NE(fault_of("layout(std430, binding = 1) buffer A { uint count; uvec2 list[]; };"), "");
  EXPECT_NE(fault_of("layout(std430) readonly buffer A { Mine list[]; };"), "");
  EXPECT_NE(fault_of("layout(std140, binding = k) uniform A { vec4 a, b; } a;"), "");
  EXPECT_EQ(fault_of("layout(std430) buffer A { WorkListHead head; uvec2 list[]; };"), "");
  EXPECT_EQ(fault_of("layout(std140) uniform A { uvec4 words[16]; };"), "");
}

// Numbers of bindings are constants of shared headers, on both sides.
TEST(SharedLayout, BindingsHaveNames) {
  static const std::regex number(R"(\bbinding = \d[^;]*;)");
  for (const detail::ShaderSource& source : detail::shader_sources()) {
    const std::string text = read_shader(std::string(source.text));
    for (std::sregex_iterator i(text.begin(), text.end(), number), end; i != end; ++i)
      ADD_FAILURE() << source.name << ": " << i->str();
  }
  static const std::regex bound(R"(\bbind(?:_image)?\(\d|_BUFFER, \d+,)");
  int files = 0;
  for (const auto& entry :
       fs::recursive_directory_iterator(fs::path(ISOTACT_SOURCE_FOLDER) / "src/isotact/gpu")) {
    if (entry.path().extension() != ".cpp") continue;
    ++files;
    std::ifstream in(entry.path());
    std::string line;
    for (int n = 1; std::getline(in, line); ++n)
      EXPECT_FALSE(std::regex_search(line, bound)) << entry.path() << ":" << n << ": " << line;
  }
  EXPECT_GT(files, 20);
}

TEST(SharedLayout, GlslSeesNothingOfCpp) {
  EXPECT_EQ(detail::drop_cpp("#pragma once\na\n#ifdef __cplusplus\nb\n#if C\nc\n#else\nd\n#endif\n"
                             "#else\ne\n#if F\nf\n#endif\n#endif\ng"),
            "\na\n\n\n\n\n\n\n\n\ne\n#if F\nf\n#endif\n\ng\n");
}

// ---- on the GPU ---------------------------------------------------------------------------------

// A number of a struct: how GLSL names it, and its first word.
struct Place {
  std::string name, type;
  std::size_t word = 0;
};

// Of long arrays only the first two and the last one.
void list_places(const std::string& prefix, const LayoutMember& m, std::size_t& word,
                 std::vector<Place>& places) {
  const std::size_t count = std::max<std::size_t>(m.count, 1);
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_skipped = i > 1 && i + 1 < count && count > 16;
    std::vector<Place> skipped;
    std::vector<Place>& to = is_skipped ? skipped : places;
    const std::string name =
        prefix + m.name + (m.count > 0 ? "[" + std::to_string(i) + "]" : std::string());
    if (const LayoutType* type = find_builtin(m.type)) {
      const std::string scalar = type->bytes == 8          ? "double"
                                 : type->is_float          ? "float"
                                 : m.type.starts_with("i") ? "int"
                                                           : "uint";
      for (std::size_t c = 0; c < type->components; ++c, word += type->bytes / 4)
        to.push_back(
            {type->components > 1 ? name + "[" + std::to_string(c) + "]" : name, scalar, word});
    } else {
      for (const LayoutMember& part : layout().structs().at(m.type).members)
        list_places(name + ".", part, word, to);
    }
  }
}

std::string words_of(const Place& p, const std::string& value) {
  if (p.type == "double") return "unpackDouble2x32(" + value + ")";
  return (p.type == "float" ? "floatBitsToUint(" : "uint(") + value + ")";
}
std::string value_of(const Place& p, const std::string& word) {
  if (p.type == "double") return "packDouble2x32(uvec2(" + word + ", " + word + " + 1u))";
  return (p.type == "float" ? "uintBitsToFloat(" : p.type + "(") + word + ")";
}

class SharedLayoutOnGpu : public GpuTest {
 protected:
  // As floats, doubles or integers, none of these is special.
  static constexpr std::uint32_t kFirst = 0x3f800000U, kUntouched = 0xdeadbeefU;

  // Two structs of C++'s layout go up, and the shader tells what it finds where. It writes two, and
  // they come down. Empty where all is right.
  static std::string compare(const std::string& name, bool is_uniform) {
    std::vector<Place> places;
    std::size_t words = 0;
    for (std::size_t i = 0; i < 2; ++i)
      list_places("x[" + std::to_string(i) + "]", {name, ""}, words, places);
    // One statement for each.
    std::string reads, writes;
    for (const Place& p : places) {
      const std::string at = std::to_string(p.word);
      reads += p.type == "double" ? "w = " + words_of(p, "from." + p.name) + "; found[" + at +
                                        "] = w.x; found[" + at + " + 1] = w.y;\n"
                                  : "found[" + at + "] = " + words_of(p, "from." + p.name) + ";\n";
      if (!is_uniform)
        writes += "to." + p.name + " = " + value_of(p, "first + " + at + "u") + ";\n";
    }
    const std::string text =
        "layout(local_size_x = 1) in;\n#include \"" + layout().structs().at(name).file + "\"\n" +
        (is_uniform
             ? "layout(std140, binding = 0) uniform From { " + name + " x[2]; } from;\n"
             : "layout(std430, binding = 0) readonly buffer From { " + name + " x[2]; } from;\n") +
        "layout(std430, binding = 1) buffer Found { uint found[]; };\n"
        "layout(std430, binding = 2) buffer To { " +
        name +
        " x[2]; } to;\n"
        "uniform uint first;\nvoid main() {\nuvec2 w;\n" +
        reads + writes + "}\n";
    const GpuProgram program = GpuProgram::from_source(name, text);
    std::vector<std::uint32_t> sent(words), blank(words, kUntouched);
    for (std::size_t i = 0; i < words; ++i) sent[i] = kFirst + static_cast<std::uint32_t>(i);
    const GpuBuffer from{std::span<const std::uint32_t>(sent)};
    GpuBuffer found{std::span<const std::uint32_t>(blank)},
        to{std::span<const std::uint32_t>(blank)};
    if (is_uniform)
      glBindBufferBase(GL_UNIFORM_BUFFER, 0, from.name());
    else
      from.bind(0);
    found.bind(1);
    to.bind(2);
    program.set("first", kFirst);
    program.dispatch(1);
    std::vector<std::uint32_t> told(words), written(words);
    found.read(std::span<std::uint32_t>(told));
    to.read(std::span<std::uint32_t>(written));
    for (const Place& p : places)
      for (std::size_t k = 0; k < (p.type == "double" ? 2U : 1U); ++k) {
        if (told[p.word + k] != sent[p.word + k]) return "GLSL reads " + p.name + " elsewhere";
        if (!is_uniform && written[p.word + k] != sent[p.word + k])
          return "GLSL writes " + p.name + " elsewhere";
      }
    return "";
  }
};

TEST_F(SharedLayoutOnGpu, IsThatOfCpp) {
  for (const auto& [name, size] : kSizes) EXPECT_EQ(compare(name, false), "") << name;
}

TEST_F(SharedLayoutOnGpu, IsThatOfCppInUniformBlocks) {
  for (const std::string& name : find_uniform_structs()) EXPECT_EQ(compare(name, true), "") << name;
}

}  // namespace
}  // namespace isotact

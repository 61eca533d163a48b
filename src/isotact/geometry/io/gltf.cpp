#include "isotact/geometry/io/gltf.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/geometry/io/detail/gltf_reader.h"

namespace isotact {
namespace {

using namespace detail;

struct Text {
  std::string_view json;
  JsonSource source;
  std::optional<std::span<const std::byte>> binary_chunk;
};

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Text find_text(std::span<const std::byte> bytes, const std::string& file, LoadedMesh& loaded) {
  Text text{.json = as_text(bytes), .source = {.file = file}, .binary_chunk = {}};
  loaded.format = MeshFormat::kGltf;
  if (is_glb(bytes)) {
    GlbChunks chunks = split_glb(bytes, file);
    loaded.format = MeshFormat::kGlb;
    loaded.warnings = std::move(chunks.warnings);
    text.json = as_text(chunks.json);
    text.source = {.file = file, .first_byte = chunks.json_begin, .has_lines = false};
    text.binary_chunk = chunks.binary;
  }
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.json.starts_with(kByteOrderMark)) {
    loaded.warnings.emplace_back("the JSON starts with a byte order mark, which glTF forbids");
    text.json.remove_prefix(kByteOrderMark.size());
    text.source.first_byte += kByteOrderMark.size();
  }
  return text;
}

// Refuses scenes that would take much more memory than the file: one mesh shown by many nodes, or
// accessors of zeros.
class SizeLimit {
 public:
  explicit SizeLimit(std::string file) : file_(std::move(file)) {}

  void add(const MeshPrimitives& mesh) {
    vertices_ += mesh.vertex_count;
    triangles_ += mesh.triangle_count;
    if (std::max(vertices_, triangles_) > std::numeric_limits<std::uint32_t>::max())
      throw Error({.file = file_}, "the scene has more than 4294967295 vertices or triangles");
  }
  void check(std::uint64_t input_bytes) const {
    const std::uint64_t limit = std::max(kFloor, kRatio * input_bytes);
    if (sizeof(Vec3f) * vertices_ + sizeof(Triangle) * triangles_ > limit)
      throw Error({.file = file_},
                  fmt::format("the scene expands to more than {} MiB and {} times the file with "
                              "its buffers; that is refused",
                              limit >> 20U, kRatio));
  }
  std::uint64_t vertices() const { return vertices_; }
  std::uint64_t triangles() const { return triangles_; }

 private:
  static constexpr std::uint64_t kFloor = std::uint64_t{64} << 20U;
  static constexpr std::uint64_t kRatio = 64;

  std::string file_;
  std::uint64_t vertices_ = 0;
  std::uint64_t triangles_ = 0;
};

// What was left out of the nodes, as GltfOmissions is of the primitives.
struct NodeOmissions {
  std::uint64_t skinned = 0;
  std::uint64_t gpu_instanced = 0;

  void add(JsonValue node) {
    if (node.find("skin")) ++skinned;
    const auto extensions = node.find("extensions");
    if (extensions && extensions->find("EXT_mesh_gpu_instancing")) ++gpu_instanced;
  }
};

void add_warnings(const GltfOmissions& primitives, const NodeOmissions& nodes, std::uint64_t odd,
                  LoadedMesh& loaded) {
  const auto add = [&](std::uint64_t count, std::string_view what, std::string_view counted) {
    if (count > 0) loaded.warnings.push_back(fmt::format("{} ({}: {})", what, counted, count));
  };
  add(primitives.points_and_lines, "points and lines keep their vertices, but make no triangles",
      "primitives");
  add(primitives.without_positions, "what has no POSITION is skipped", "primitives");
  add(primitives.incomplete, "vertices that do not fill a last triangle are ignored", "primitives");
  add(primitives.morphed, "morph targets are ignored; the base shape is used", "primitives");
  add(nodes.skinned, "skins are ignored; the shape at rest stands where its node puts it", "nodes");
  add(nodes.gpu_instanced, "EXT_mesh_gpu_instancing is ignored; each node shows its mesh once",
      "nodes");
  add(odd, "some positions are not finite", "positions");
  if (loaded.mesh.triangles.empty()) loaded.warnings.emplace_back("the file has no triangles");
}

}  // namespace

LoadedMesh read_gltf(std::span<const std::byte> bytes, const std::filesystem::path& file,
                     bool may_read_siblings, const MeshReadSettings& settings) {
  LoadedMesh loaded;
  const std::string name = file.string();
  if (bytes.empty()) throw Error({.file = name}, "the file is empty; expected glTF");
  Text text = find_text(bytes, name, loaded);
  const GltfDocument document(text.json, std::move(text.source));
  const GltfScene scene(document, settings.scale);
  if (!scene.has_nodes() && document.meshes.size() > 0)
    loaded.warnings.emplace_back("the file has no nodes; all meshes are read as they are");
  settings.monitor.check();

  GltfBuffers buffers(document, {file, may_read_siblings, text.binary_chunk});
  GltfAccessors accessors(document, buffers);
  GltfOmissions left_of_primitives;
  NodeOmissions left_of_nodes;
  Memo<MeshPrimitives> meshes(document.meshes.size());
  const auto mesh_of = [&](const MeshInstance& instance) -> const MeshPrimitives& {
    return meshes.get(instance.mesh, [&] {
      return parse_mesh(document.meshes.at(instance.mesh), accessors, left_of_primitives);
    });
  };
  SizeLimit size(name);
  scene.for_each_instance([&](const MeshInstance& instance) {
    size.add(mesh_of(instance));
    if (instance.node) left_of_nodes.add(*instance.node);
  });
  size.check(bytes.size() + buffers.sibling_bytes());
  loaded.mesh.positions.reserve(size.vertices());
  loaded.mesh.triangles.reserve(size.triangles());

  std::vector<std::uint32_t> scratch;
  std::uint64_t odd = 0;
  const std::string task = "reading " + file.filename().string();
  scene.for_each_instance([&](const MeshInstance& instance) {
    for (const Primitive& primitive : mesh_of(instance).primitives) {
      settings.monitor.check();
      odd += append_primitive(primitive, instance.scene_from_mesh, document.json, scratch,
                              loaded.mesh);
      settings.monitor.report({task, loaded.mesh.positions.size(), size.vertices()});
    }
  });
  add_warnings(left_of_primitives, left_of_nodes, odd, loaded);
  return loaded;
}

}  // namespace isotact

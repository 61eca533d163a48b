#include "isotact/geometry/io/gltf.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/geometry/io/detail/glb_container.h"
#include "isotact/geometry/io/detail/gltf_accessor.h"
#include "isotact/geometry/io/detail/gltf_buffers.h"
#include "isotact/geometry/io/detail/gltf_document.h"
#include "isotact/geometry/io/detail/gltf_primitives.h"
#include "isotact/geometry/io/detail/gltf_scene.h"

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
  SizeLimit(std::string file, std::uint64_t input_bytes)
      : file_(std::move(file)), limit_(std::max(kFloor, kRatio * input_bytes)) {}

  void add(const MeshPrimitives& mesh) {
    vertices_ += mesh.vertex_count;
    triangles_ += mesh.triangle_count;
    if (vertices_ > std::numeric_limits<std::uint32_t>::max())
      throw Error({.file = file_}, "the scene has more vertices than 32-bit indices can name");
    if (sizeof(Vec3f) * vertices_ + sizeof(Triangle) * triangles_ > limit_)
      throw Error({.file = file_},
                  fmt::format("the scene expands to more than {} MiB, {} times the file and its "
                              "buffers; that is refused",
                              limit_ >> 20U, kRatio));
  }
  std::uint64_t vertices() const { return vertices_; }
  std::uint64_t triangles() const { return triangles_; }

 private:
  static constexpr std::uint64_t kFloor = std::uint64_t{64} << 20U;
  static constexpr std::uint64_t kRatio = 64;

  std::string file_;
  std::uint64_t limit_;
  std::uint64_t vertices_ = 0;
  std::uint64_t triangles_ = 0;
};

void add_warnings(const GltfOmissions& omissions, const GltfScene& scene, std::uint64_t odd,
                  LoadedMesh& loaded) {
  const auto add = [&](std::uint64_t count, std::string_view what, std::string_view counted) {
    if (count > 0) loaded.warnings.push_back(fmt::format("{} ({}: {})", what, counted, count));
  };
  if (!scene.has_nodes && !scene.instances.empty())
    loaded.warnings.emplace_back("the file has no nodes; all meshes are read as they are");
  add(omissions.points_and_lines, "points and lines keep their vertices, but make no triangles",
      "primitives");
  add(omissions.without_positions, "what has no POSITION is skipped", "primitives");
  add(omissions.incomplete, "vertices that do not fill a last triangle are ignored", "primitives");
  add(omissions.morphed, "morph targets are ignored; the base shape is used", "primitives");
  add(scene.skinned_count, "skins are ignored; the shape at rest stands where its node puts it",
      "nodes");
  add(scene.gpu_instanced_count,
      "EXT_mesh_gpu_instancing is ignored; each node shows its mesh once", "nodes");
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
  const GltfScene scene = find_instances(document, settings.scale);
  settings.monitor.check();

  GltfBuffers buffers(document, {file, may_read_siblings, text.binary_chunk});
  GltfAccessors accessors(document, buffers);
  GltfOmissions omissions;
  Memo<MeshPrimitives> meshes(document.meshes.size());
  const auto mesh_of = [&](const MeshInstance& instance) -> const MeshPrimitives& {
    return meshes.get(instance.mesh, [&] {
      return parse_mesh(document.meshes.at(instance.mesh), accessors, omissions);
    });
  };
  for (const MeshInstance& instance : scene.instances) mesh_of(instance);
  SizeLimit limit(name, bytes.size() + buffers.sibling_bytes());
  for (const MeshInstance& instance : scene.instances) limit.add(mesh_of(instance));
  loaded.mesh.positions.reserve(limit.vertices());
  loaded.mesh.triangles.reserve(limit.triangles());

  std::vector<std::uint32_t> scratch;
  std::uint64_t odd = 0;
  const std::string task = "reading " + file.filename().string();
  for (const MeshInstance& instance : scene.instances) {
    for (const Primitive& primitive : mesh_of(instance).primitives) {
      settings.monitor.check();
      odd += append_primitive(primitive, instance.scene_from_mesh, document.json, scratch,
                              loaded.mesh);
      settings.monitor.report({task, loaded.mesh.positions.size(), limit.vertices()});
    }
  }
  add_warnings(omissions, scene, odd, loaded);
  return loaded;
}

}  // namespace isotact

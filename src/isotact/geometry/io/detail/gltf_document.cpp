#include "isotact/geometry/io/detail/gltf_document.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "isotact/base/error.h"

namespace isotact::detail {
namespace {

// Extensions that a file may require although we do nothing for them: they leave positions, indices
// and nodes as they are. An entry that ends in '_' stands for all that start so.
constexpr std::array<std::string_view, 19> kHarmlessExtensions = {"ADOBE_materials_",
                                                                  "AGI_",
                                                                  "CESIUM_primitive_",
                                                                  "EXT_instance_features",
                                                                  "EXT_lights_",
                                                                  "EXT_mesh_features",
                                                                  "EXT_mesh_manifold",
                                                                  "EXT_structural_metadata",
                                                                  "EXT_texture_",
                                                                  "FB_ngon_encoding",
                                                                  "KHR_animation_pointer",
                                                                  "KHR_lights_",
                                                                  "KHR_materials_",
                                                                  "KHR_mesh_quantization",
                                                                  "KHR_techniques_",
                                                                  "KHR_texture_",
                                                                  "KHR_xmp",
                                                                  "KHR_xmp_json_ld",
                                                                  "MSFT_texture_dds"};

bool is_harmless(std::string_view extension) {
  return std::any_of(
      kHarmlessExtensions.begin(), kHarmlessExtensions.end(), [&](std::string_view known) {
        return known.back() == '_' ? extension.starts_with(known) : extension == known;
      });
}

void check_version(JsonValue root) {
  const auto asset = root.find("asset");
  if (!asset || !asset->find("version"))
    root.fail("has no asset/version: this JSON is not a glTF 2.0 file");
  for (const std::string_view key : {"version", "minVersion"}) {
    const auto value = asset->find(key);
    if (!value) continue;
    std::string storage;
    const std::string_view version = value->as_string(storage);
    const bool can_read = key == "version" ? version.starts_with("2.") : version == "2.0";
    if (!can_read)
      value->fail(fmt::format("glTF version \"{}\"; only 2.0 can be read", printable(version)));
  }
}

void check_extensions(JsonValue root) {
  const auto required = root.find("extensionsRequired");
  if (!required) return;
  for (const JsonValue item : required->items()) {
    std::string storage;
    const std::string_view extension = item.as_string(storage);
    if (!is_harmless(extension))
      item.fail(fmt::format("the file requires {}, which may change geometry and cannot be read",
                            printable(extension)));
  }
}

}  // namespace

GltfList::GltfList(const JsonDocument& json, std::string_view key) : json_(&json), key_(key) {
  const auto array = json.root().find(key);
  if (!array) return;
  for (const JsonValue item : array->items()) elements_.push_back(item.index());
}

std::uint32_t GltfList::number_of(JsonValue reference) const {
  const std::uint64_t number = reference.as_unsigned(0, std::numeric_limits<std::uint32_t>::max());
  if (number >= elements_.size())
    reference.fail(fmt::format("refers to {} {}, but there are {}", key_, number, size()));
  return static_cast<std::uint32_t>(number);
}

GltfDocument::GltfDocument(std::string_view text, JsonSource source)
    : json(text, std::move(source)),
      buffers(json, "buffers"),
      buffer_views(json, "bufferViews"),
      accessors(json, "accessors"),
      meshes(json, "meshes"),
      nodes(json, "nodes"),
      scenes(json, "scenes") {
  check_version(json.root());
  check_extensions(json.root());
}

}  // namespace isotact::detail

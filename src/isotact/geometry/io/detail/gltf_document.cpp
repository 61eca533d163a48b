#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/geometry/io/detail/gltf_reader.h"

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

namespace {

constexpr std::uint32_t kNoNode = std::numeric_limits<std::uint32_t>::max();

template <std::size_t kCount>
std::array<double, kCount> parse_numbers(JsonValue value) {
  std::array<double, kCount> numbers{};
  std::size_t count = 0;
  for (const JsonValue item : value.items()) {
    if (count < kCount) numbers[count] = item.as_double();
    ++count;
  }
  if (count != kCount) value.fail(fmt::format("expected {} numbers, found {}", kCount, count));
  return numbers;
}

Affine parse_matrix(JsonValue value) {
  const auto m = parse_numbers<16>(value);  // column by column
  constexpr double kTolerance = 1e-5;
  const double bend = std::abs(m[3]) + std::abs(m[7]) + std::abs(m[11]) + std::abs(m[15] - 1);
  if (!(bend <= kTolerance))
    value.fail(
        fmt::format("expected a last row of 0 0 0 1, found {} {} {} {}", m[3], m[7], m[11], m[15]));
  return {{{Vec3{m[0], m[4], m[8]}, Vec3{m[1], m[5], m[9]}, Vec3{m[2], m[6], m[10]}}},
          {m[12], m[13], m[14]}};
}

// Need not be of unit length: exporters round.
Mat3 parse_rotation(JsonValue value) {
  const auto q = parse_numbers<4>(value);
  const double largest = std::max({std::abs(q[0]), std::abs(q[1]), std::abs(q[2]), std::abs(q[3])});
  if (largest == 0) value.fail("expected a unit quaternion, found 0 0 0 0");
  double x = q[0] / largest, y = q[1] / largest, z = q[2] / largest, w = q[3] / largest;
  const double length = std::sqrt(x * x + y * y + z * z + w * w);
  x /= length;
  y /= length;
  z /= length;
  w /= length;
  return {{Vec3{1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)},
           Vec3{2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)},
           Vec3{2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)}}};
}

Affine parse_transform(JsonValue node) {
  const auto translation = node.find("translation");
  const auto rotation = node.find("rotation");
  const auto scale = node.find("scale");
  if (const auto matrix = node.find("matrix")) {
    if (translation || rotation || scale)
      node.fail("has both a matrix and translation, rotation or scale");
    return parse_matrix(*matrix);
  }
  Affine transform;
  if (translation) {
    const auto t = parse_numbers<3>(*translation);
    transform.offset = {t[0], t[1], t[2]};
  }
  if (rotation) transform.linear = parse_rotation(*rotation);
  if (scale) {
    const auto s = parse_numbers<3>(*scale);
    transform.linear = transform.linear * diagonal3({s[0], s[1], s[2]});
  }
  return transform;
}

// The parent of each node, or kNoNode; Error where one has two.
std::vector<std::uint32_t> find_parents(const GltfDocument& document) {
  const GltfList& nodes = document.nodes;
  std::vector<std::uint32_t> parents(nodes.size(), kNoNode);
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    const auto children = nodes.at(i).find("children");
    if (!children) continue;
    for (const JsonValue child : children->items()) {
      std::uint32_t& parent = parents[nodes.number_of(child)];
      if (parent != kNoNode)
        child.fail(
            fmt::format("node {} is already a child of node {}", nodes.number_of(child), parent));
      parent = i;
    }
  }
  return parents;
}

// Follows each chain of parents until a node that is known to hang below a root.
void check_no_cycle(const GltfDocument& document, std::span<const std::uint32_t> parents) {
  std::vector<std::uint32_t> walk_of(parents.size(), kNoNode);  // which walk passed here first
  for (std::uint32_t start = 0; start < parents.size(); ++start) {
    std::uint32_t at = start;
    for (; at != kNoNode && walk_of[at] == kNoNode; at = parents[at]) walk_of[at] = start;
    if (at != kNoNode && walk_of[at] == start)
      document.nodes.at(at).fail(fmt::format("node {} is its own ancestor", at));
  }
}

std::vector<std::uint32_t> find_roots(const GltfDocument& document,
                                      std::span<const std::uint32_t> parents) {
  std::vector<std::uint32_t> roots;
  if (document.scenes.size() == 0) {
    for (std::uint32_t i = 0; i < parents.size(); ++i)
      if (parents[i] == kNoNode) roots.push_back(i);
    return roots;
  }
  const auto scene = document.json.root().find("scene");
  const JsonValue chosen = document.scenes.at(scene ? document.scenes.number_of(*scene) : 0);
  const auto listed = chosen.find("nodes");
  if (!listed) return roots;
  std::vector<bool> is_listed(parents.size());
  for (const JsonValue item : listed->items()) {
    const std::uint32_t node = document.nodes.number_of(item);
    if (parents[node] != kNoNode)
      item.fail(fmt::format("node {} is no root: it is a child of node {}", node, parents[node]));
    if (is_listed[node]) item.fail(fmt::format("node {} is listed twice", node));
    is_listed[node] = true;
    roots.push_back(node);
  }
  return roots;
}

// Depth first with a stack of its own: a chain of nodes may be as long as the file.
class TreeWalk {
 public:
  using Visit = std::function<void(const MeshInstance&)>;

  TreeWalk(const GltfDocument& document, const Visit& visit) : document_(document), visit_(visit) {}

  void run(std::uint32_t root, const Affine& world) {
    enter(root, world);
    while (!stack_.empty()) {
      Level& level = stack_.back();
      if (level.next == level.end) {
        stack_.pop_back();
        continue;
      }
      const std::uint32_t child = document_.nodes.number_of(*level.next);
      ++level.next;
      enter(child, Affine(level.transform));  // a copy: the stack may move
    }
  }

 private:
  using Iterator = JsonValue::Items::Iterator;
  struct Level {
    Affine transform;
    Iterator next;
    Iterator end;
  };

  void enter(std::uint32_t number, const Affine& parent) {
    const JsonValue node = document_.nodes.at(number);
    const Affine local = parse_transform(node);
    const Affine transform = local == Affine{} ? parent : parent * local;
    if (const auto mesh = node.find("mesh"))
      visit_({node, document_.meshes.number_of(*mesh), transform});
    if (const auto children = node.find("children")) {
      const auto items = children->items();
      stack_.push_back({transform, items.begin(), items.end()});
    }
  }

  const GltfDocument& document_;
  const Visit& visit_;
  std::vector<Level> stack_;
};

}  // namespace

GltfScene::GltfScene(const GltfDocument& document, double scale)
    : document_(document), world_{diagonal3({scale, scale, scale}), {}} {
  const std::vector<std::uint32_t> parents = find_parents(document);
  check_no_cycle(document, parents);
  roots_ = find_roots(document, parents);
}

void GltfScene::for_each_instance(const std::function<void(const MeshInstance&)>& visit) const {
  TreeWalk walk(document_, visit);
  for (const std::uint32_t root : roots_) walk.run(root, world_);
  if (has_nodes()) return;
  for (std::uint32_t i = 0; i < document_.meshes.size(); ++i) visit({std::nullopt, i, world_});
}

}  // namespace isotact::detail

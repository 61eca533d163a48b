#include <algorithm>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/field/models/csg.h"
#include "isotact/geometry/mesh/mesh.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/scene/parse/detail/scene_reader.h"

namespace isotact::detail {
namespace {

using Names = JsonNode::Names;

constexpr double kMostLength = 1e4;
double read_length(const JsonNode& node, const std::string& key) {
  return node.get(key).number(above_zero(kMostLength));
}

// Reads rows of heights. Each row runs along x; rows follow each other along z.
TerrainField read_terrain(const JsonNode& node) {
  constexpr std::size_t kMostNodes = 2048;  // Per axis.
  TerrainHeights terrain{.spacing = read_length(node, "spacing")};
  const JsonNode heights = node.get("heights");
  const std::vector<JsonNode> rows = heights.items(kMostNodes);
  if (rows.size() < 2) heights.fail_expecting("two rows of heights at least");
  std::size_t length = 0;
  for (const JsonNode& row : rows) {
    const std::vector<JsonNode> numbers = row.items(kMostNodes);
    if (length == 0) length = numbers.size();
    if (numbers.size() < 2) row.fail_expecting("two heights at least");
    if (numbers.size() != length)
      row.fail(fmt::format("has {} heights, and the first row {}", numbers.size(), length));
    for (const JsonNode& number : numbers)
      terrain.heights.push_back(static_cast<float>(number.number(within(kMostLength))));
  }
  terrain.cells_x = static_cast<std::int32_t>(length) - 1;
  terrain.cells_z = static_cast<std::int32_t>(rows.size()) - 1;
  terrain.origin_x = -0.5 * terrain.spacing * terrain.cells_x;
  terrain.origin_z = -0.5 * terrain.spacing * terrain.cells_z;
  return TerrainField(std::move(terrain));
}

SceneField read_field(const JsonNode& node, const Names& more_keys = {});

// One of the parts of a combination, in its place.
AnalyticSolid read_part(const JsonNode& node) {
  if (!node.is_object()) node.fail_expecting("an object with a formula");
  const SceneField field = read_field(node, {"position", "rotation"});
  AnalyticSolid solid = std::visit([](const auto& f) { return AnalyticSolid(f); }, field);
  const Pose pose = read_pose(node);
  return pose == Pose{} ? solid : AnalyticSolid(place(solid, pose));
}

// The first part, and then each of the others with what there is so far.
template <typename Combine>
AnalyticSolid read_combination(const JsonNode& node, const Combine& combine) {
  constexpr std::size_t kMostParts = 64;
  const JsonNode list = node.get("parts");
  const std::vector<JsonNode> parts = list.items(kMostParts);
  if (parts.size() < 2) list.fail_expecting("two formulas at least");
  AnalyticSolid solid = read_part(parts[0]);
  for (std::size_t i = 1; i < parts.size(); ++i) solid = combine(solid, read_part(parts[i]));
  return solid;
}

SceneField read_field(const JsonNode& node, const Names& more_keys) {
  const Names kinds{"plane",   "sphere", "box",   "capsule",    "cylinder",    "torus",
                    "terrain", "cone",   "union", "difference", "intersection"};
  const auto allow = [&](Names keys) {
    keys.insert(keys.begin(), "field");
    keys.insert(keys.end(), more_keys.begin(), more_keys.end());
    node.expect_keys(keys);
  };
  switch (node.get("field").choice(kinds)) {
    case 0: {
      allow({"normal", "offset"});
      PlaneField plane;
      if (const auto normal = node.find("normal")) {
        const Vec3 n = normal->vec(1e6);
        if (!(length(n) > 1e-6))
          normal->fail("expected a direction, found a vector without length");
        plane.normal = normalized(n);
      }
      read_if(node, "offset", plane.offset,
              [](const auto& n) { return n.number(within(kMostScenePlace)); });
      return plane;
    }
    case 1:
      allow({"radius"});
      return SphereField{.radius = read_length(node, "radius")};
    case 2: {
      allow({"size"});
      const auto s = node.get("size").numbers(3, above_zero(kMostLength));
      return BoxField{.half_size = {s[0] / 2, s[1] / 2, s[2] / 2}};
    }
    case 3: {
      allow({"radius", "length"});
      const double half = read_length(node, "length") / 2;
      return CapsuleField{
          .a = {0, -half, 0}, .b = {0, half, 0}, .radius = read_length(node, "radius")};
    }
    case 4:
      allow({"radius", "height"});
      return CylinderField{.radius = read_length(node, "radius"),
                           .height = read_length(node, "height")};
    case 6:
      allow({"heights", "spacing"});
      return read_terrain(node);
    case 7:
      allow({"radius", "height"});
      return ConeField{.radius = read_length(node, "radius"),
                       .height = read_length(node, "height")};
    case 8:
      allow({"parts"});
      return read_combination(node, [](const auto& a, const auto& b) { return Union{a, b}; });
    case 9:
      allow({"parts"});
      return read_combination(node, [](const auto& a, const auto& b) { return Difference{a, b}; });
    case 10:
      allow({"parts"});
      return read_combination(node, [](const auto& a, const auto& b) {
        return Intersection{a, b};
      });
    default: {
      allow({"radius", "tube_radius"});
      const TorusField torus{.radius = read_length(node, "radius"),
                             .tube_radius = read_length(node, "tube_radius")};
      if (const auto flaw = find_flaw(torus)) node.fail(*flaw);
      return torus;
    }
  }
}

void read_sampling(const JsonNode& node, SceneShape& shape) {
  node.choose_key({"resolution", "voxel_size"}, false);
  node.choose_key({"points", "spacing"}, false);
  read_if(node, "resolution", shape.resolution,
          [](const auto& n) { return static_cast<int>(n.whole(kLeastResolution, 2048)); });
  read_if(node, "voxel_size", shape.voxel_size, [](const auto& n) {
    return n.number({1e-6, 1e3});
  });
  read_if(node, "points", shape.points,
          [](const auto& n) { return static_cast<std::uint32_t>(n.whole(0, 2000000)); });
  read_if(node, "spacing", shape.spacing, [](const auto& n) { return n.number({1e-6, 1e3}); });
}

SignMethod read_sign(const JsonNode& node) {
  constexpr SignMethod kMethods[] = {SignMethod::kAuto, SignMethod::kPseudonormal,
                                     SignMethod::kWinding, SignMethod::kUnsigned};
  Names names;
  for (const SignMethod method : kMethods) names.emplace_back(name(method));
  return kMethods[node.choice(names)];
}

}  // namespace

MadeShape read_made(const JsonNode& node) {
  Names names;
  for (const ShapeInfo& info : shape_catalogue()) names.push_back(info.name);
  const ShapeInfo& info = shape_catalogue()[node.get("make").choice(names)];
  MadeShape made{.name = info.name};
  if (const auto with = node.find("with")) {
    Names known;
    for (const ShapeParameter& p : info.parameters) known.push_back(p.name);
    with->expect_keys(known);
    for (const ShapeParameter& p : info.parameters)
      if (const auto value = with->find(p.name)) {
        made.parameters[p.name] =
            p.whole ? static_cast<double>(value->whole(static_cast<std::int64_t>(p.minimum),
                                                       static_cast<std::int64_t>(p.maximum)))
                    : value->number({p.minimum, p.maximum});
      }
  }
  read_if(node, "size", made.size, [](const auto& n) { return n.number(above_zero(1e4)); });
  return made;
}

DataFile read_data_file(const JsonNode& node) {
  DataFile file{.path = node.get("data").text(1000)};
  read_if(node, "size", file.size, [](const auto& n) { return n.number(above_zero(1e4)); });
  const JsonNode stand_in = node.get("else");
  stand_in.expect_keys({"make", "with", "size"});
  file.stand_in = read_made(stand_in);
  if (!file.stand_in.size) file.stand_in.size = file.size;
  return file;
}

MeshFile read_mesh_file(const JsonNode& node, const std::filesystem::path& folder) {
  MeshFile file{.path = folder / node.get("mesh").text(1000)};
  if (const auto unit = node.find("unit")) {
    const Names units{"m", "cm", "mm", "in"};
    file.unit = units[unit->choice(units)];
  }
  node.choose_key({"size", "scale"}, false);
  read_if(node, "size", file.size, [](const auto& n) { return n.number(above_zero(1e4)); });
  read_if(node, "scale", file.scale, [](const auto& n) { return n.number({1e-6, 1e6}); });
  return file;
}

SceneShape read_shape(const JsonNode& node, const std::filesystem::path& folder) {
  if (!node.is_object()) node.fail_expecting("a shape's name or an object");
  SceneShape shape;
  const std::string kind = node.choose_key({"make", "mesh", "data", "asset", "field"}, true);
  const Names sampling{"resolution", "voxel_size", "points", "spacing"};
  const auto allow = [&](Names keys) {
    keys.insert(keys.end(), sampling.begin(), sampling.end());
    node.expect_keys(keys);
    read_sampling(node, shape);
  };
  if (kind == "make") {
    allow({"make", "with", "size"});
    shape.source = read_made(node);
  } else if (kind == "mesh") {
    allow({"mesh", "unit", "size", "scale", "sign"});
    read_if(node, "sign", shape.sign, read_sign);
    shape.source = read_mesh_file(node, folder);
  } else if (kind == "data") {
    allow({"data", "size", "else"});
    shape.source = read_data_file(node);
  } else if (kind == "asset") {
    node.expect_keys({"asset"});  // An asset already has its field and points.
    shape.source = AssetFile{folder / node.get("asset").text(1000)};
  } else {
    const SceneField field = read_field(node);
    if (const auto* solid = std::get_if<AnalyticSolid>(&field)) {
      if (is_empty(solid->body())) node.fail("is empty: nothing can touch it");
      if (!solid->is_bounded())
        node.fail("has no end, and only a plane or a terrain may: intersect it with a box");
    }
    shape.source = field;
  }
  return shape;
}

}  // namespace isotact::detail

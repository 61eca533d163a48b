#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/field/models/dense_grid.h"
#include "isotact/scene/pack/detail/pack_parts.inl"

namespace isotact::detail {
namespace {

PackJson pack_spheres(const ShellLevel& level, PackArrays& arrays) {
  std::vector<float> spheres;  // x, y, z, radius
  std::vector<std::uint32_t> representatives;
  for (std::uint32_t i = 0; i < level.nodes.size(); ++i) {
    if (level.nodes[i].child_count == 0) continue;
    const Spheref s = sphere(level, i);
    spheres.insert(spheres.end(), {s.center.x, s.center.y, s.center.z, s.radius});
    representatives.push_back(level.nodes[i].representative);
  }
  return {{"spheres", arrays.add(spheres)}, {"points", arrays.add(representatives)}};
}

PackJson pack_shell(const PointSphereTree& tree, const RunPackSettings& settings,
                    PackArrays& arrays) {
  if (tree.point_count() > settings.most_points) return nullptr;
  std::vector<Vec3f> points;
  for (std::uint32_t i = 0; i < tree.point_count(); ++i) points.push_back(tree.point(i));
  PackJson levels = PackJson::array();
  for (int l = 0; l < tree.level_count(); ++l) {
    PackJson level = pack_spheres(tree.level(l), arrays);
    level["covering_radius"] = tree.covering_radius(l);
    levels.push_back(std::move(level));
  }
  return {{"positions", arrays.add(std::span<const Vec3f>(points))},
          {"covering_radius", tree.covering_radius()},
          {"levels", std::move(levels)}};
}

// Level 0: coarse cells that have bricks. Levels above: nodes that the surface crosses.
bool shows_box(const BrickField& field, int level, const Index3& at) {
  if (level == 0) return field.brick_at(at) != BrickField::kNoBrick;
  const std::size_t place = flat_index(field.tree_dims(level), at[0], at[1], at[2]);
  const ValueRange range = field.tree_level(level)[place];
  return range.min <= 0 && range.max >= 0;
}

std::vector<std::uint16_t> find_boxes(const BrickField& field, int level) {
  std::vector<std::uint16_t> corners;
  const Index3 n = field.tree_dims(level);
  for (std::int32_t k = 0; k < n[2]; ++k)
    for (std::int32_t j = 0; j < n[1]; ++j)
      for (std::int32_t i = 0; i < n[0]; ++i) {
        if (!shows_box(field, level, {i, j, k})) continue;
        for (const std::int32_t at : {i, j, k}) corners.push_back(static_cast<std::uint16_t>(at));
      }
  return corners;
}

// All boxes of a level have one size.
PackJson pack_bricks(const BrickField& field, const RunPackSettings& settings, PackArrays& arrays) {
  PackJson levels = PackJson::array();
  for (int l = static_cast<int>(field.header().level_count); l >= 0; --l) {
    const Index3 n = field.tree_dims(l);
    if (std::max({n[0], n[1], n[2]}) > 0xffff) continue;  // Indices have 16 bits.
    const std::vector<std::uint16_t> corners = find_boxes(field, l);
    if (corners.empty() || corners.size() / 3 > settings.most_boxes) continue;
    const double side = std::ldexp(field.voxel_size() * kBrickCells, l);
    levels.push_back({{"side", side}, {"corners", arrays.add(corners)}});
  }
  return {{"origin", to_pack(field.lattice().origin)}, {"levels", std::move(levels)}};
}

// Values at the nodes of a coarse lattice, for pictures.
template <Field F>
PackJson pack_samples(const F& field, const Aabb& box, const RunPackSettings& settings,
                      PackArrays& arrays) {
  const Vec3 size = extent(box);
  Lattice lattice{.origin = box.lower,
                  .spacing = std::max({size.x, size.y, size.z}) / settings.field_cells};
  for (std::size_t axis = 0; axis < 3; ++axis)
    lattice.cells[axis] =
        std::max(1, static_cast<std::int32_t>(std::ceil(size[axis] / lattice.spacing - 1e-9)));
  const DenseGrid grid = sample_on_lattice(field, lattice, {.threads = settings.threads});
  float largest = 0;
  for (const float v : grid.samples()) largest = std::max(largest, std::abs(v));
  const float scale = largest > 0 ? largest / 32767 : 1;
  std::vector<std::int16_t> values;
  values.reserve(grid.samples().size());
  for (const float v : grid.samples())
    values.push_back(static_cast<std::int16_t>(std::lround(v / scale)));
  return {{"origin", to_pack(lattice.origin)},
          {"spacing", lattice.spacing},
          {"nodes", node_counts(lattice)},
          {"scale", scale},
          {"values", arrays.add(values)}};
}

// Returns the box of a formula's mesh, enlarged by a quarter.
Aabb box_around(const TriangleMesh& mesh) {
  const Aabb box = to_double(bounds(mesh));
  const Vec3 size = extent(box);
  const double pad = 0.25 * std::max({size.x, size.y, size.z});
  return {box.lower - Vec3{pad, pad, pad}, box.upper + Vec3{pad, pad, pad}};
}

}  // namespace

PackJson pack_shape(const PackShapeSource& source, const RunPackSettings& settings,
                    PackArrays& arrays) {
  const auto& [name, mesh, shape] = source;
  PackJson json{
      {"name", name},         {"positions", arrays.add(std::span<const Vec3f>(mesh.positions))},
      {"triangles", nullptr}, {"shell", nullptr},
      {"bricks", nullptr},    {"field", nullptr}};
  std::vector<std::uint32_t> corners;
  corners.reserve(3 * mesh.triangles.size());
  for (const Triangle& t : mesh.triangles) corners.insert(corners.end(), {t[0], t[1], t[2]});
  json["triangles"] = arrays.add(corners);
  if (shape != nullptr && shape->tree())
    json["shell"] = pack_shell(*shape->tree(), settings, arrays);
  if (shape != nullptr && shape->field()) {
    json["bricks"] = pack_bricks(*shape->field(), settings, arrays);
    json["field"] = pack_samples(*shape->field(), shape->field()->bounds(), settings, arrays);
  } else if (shape != nullptr && shape->solid() && shape->is_bounded() && !mesh.positions.empty()) {
    json["field"] = pack_samples(shape->any_field(), box_around(mesh), settings, arrays);
  }
  return json;
}

PackJson PackArrays::add_bytes(const char* type, std::span<const std::byte> bytes,
                               std::size_t count) {
  bytes_.resize((bytes_.size() + 7) / 8 * 8);
  PackJson view{type, bytes_.size(), count};
  if (bytes_.size() + bytes.size() > most_bytes_)
    throw Error(
        fmt::format("this is larger than the limit of {} MB for a page", most_bytes_ >> 20U),
        hint_);
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  return view;
}

std::vector<std::byte> join_pack(const PackJson& json, const std::vector<std::byte>& arrays) {
  constexpr char kMagic[8] = {'I', 'S', 'O', 'P', 'A', 'C', 'K', '1'};
  // Names from files may contain bytes that are not UTF-8.
  std::string text = json.dump(-1, ' ', false, PackJson::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::uint64_t size = text.size();
  std::vector<std::byte> pack(16 + text.size() + arrays.size());
  std::memcpy(pack.data(), kMagic, 8);
  std::memcpy(pack.data() + 8, &size, 8);
  std::memcpy(pack.data() + 16, text.data(), text.size());
  std::copy(arrays.begin(), arrays.end(),
            pack.begin() + static_cast<std::ptrdiff_t>(16 + text.size()));
  return pack;
}

}  // namespace isotact::detail

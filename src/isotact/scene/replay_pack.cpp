#include "isotact/scene/replay_pack.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "isotact/base/error.h"
#include "isotact/field/dense_grid.h"

namespace isotact {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are written in place");

using PackJson = nlohmann::ordered_json;

PackJson to_json(const Vec3& v) { return {v.x, v.y, v.z}; }

// Arrays, one behind the other, each aligned to 8 bytes.
class PackArrays {
 public:
  explicit PackArrays(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

  // ["f32", byte, count]: what the JSON has of an array. Count is of numbers.
  template <typename T>
  PackJson add(const std::vector<T>& numbers) {
    return add_bytes(type_of<T>(), std::as_bytes(std::span(numbers)), numbers.size());
  }
  PackJson add(std::span<const Vec3f> rows) {
    return add_bytes("f32", std::as_bytes(rows), 3 * rows.size());
  }

  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  template <typename T>
  static const char* type_of() {
    if constexpr (std::is_same_v<T, float>) return "f32";
    if constexpr (std::is_same_v<T, double>) return "f64";
    if constexpr (std::is_same_v<T, std::int16_t>) return "i16";
    if constexpr (std::is_same_v<T, std::uint16_t>) return "u16";
    if constexpr (std::is_same_v<T, std::uint32_t>) return "u32";
  }
  PackJson add_bytes(const char* type, std::span<const std::byte> bytes, std::size_t count) {
    bytes_.resize((bytes_.size() + 7) / 8 * 8);
    PackJson view{type, bytes_.size(), count};
    if (bytes_.size() + bytes.size() > most_bytes_)
      throw Error(
          fmt::format("the run is larger than the {} MB that a page can hold; ask for fewer frames "
                      "a second (--fps)",
                      most_bytes_ >> 20U));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return view;
  }

  std::uint64_t most_bytes_;
  std::vector<std::byte> bytes_;
};

// ---- shapes ------------------------------------------------------------------------------------

// The body through which the world knows the shape.
std::optional<BodyId> find_user(const Scene& scene, std::size_t shape) {
  for (std::size_t k = 0; k < scene.bodies.size(); ++k)
    if (scene.bodies[k].shape == shape) return static_cast<BodyId>(k);
  return {};
}

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

// Level 0: coarse cells that have bricks. Above: nodes through which the surface goes.
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

// Each level's boxes are of one size.
PackJson pack_bricks(const BrickField& field, const RunPackSettings& settings, PackArrays& arrays) {
  PackJson levels = PackJson::array();
  for (int l = static_cast<int>(field.header().level_count); l >= 0; --l) {
    const Index3 n = field.tree_dims(l);
    if (std::max({n[0], n[1], n[2]}) > 0xffff) continue;  // numbers have 16 bits
    const std::vector<std::uint16_t> corners = find_boxes(field, l);
    if (corners.empty() || corners.size() / 3 > settings.most_boxes) continue;
    const double side = std::ldexp(field.voxel_size() * kBrickCells, l);
    levels.push_back({{"side", side}, {"corners", arrays.add(corners)}});
  }
  return {{"origin", to_json(field.lattice().origin)}, {"levels", std::move(levels)}};
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
  return {{"origin", to_json(lattice.origin)},
          {"spacing", lattice.spacing},
          {"nodes", node_counts(lattice)},
          {"scale", scale},
          {"values", arrays.add(values)}};
}

// A formula's box: that of its mesh, and a quarter around it.
Aabb box_around(const TriangleMesh& mesh) {
  const Aabb box = to_double(bounds(mesh));
  const Vec3 size = extent(box);
  const double pad = 0.25 * std::max({size.x, size.y, size.z});
  return {box.lower - Vec3{pad, pad, pad}, box.upper + Vec3{pad, pad, pad}};
}

PackJson pack_shape(const RunPackSource& run, std::size_t number, const RunPackSettings& settings,
                    PackArrays& arrays) {
  const Scene& scene = run.scene;
  const TriangleMesh& mesh = run.replay.meshes[number];
  PackJson json{{"name", scene.shapes[number].name},
                {"positions", arrays.add(std::span<const Vec3f>(mesh.positions))},
                {"triangles", nullptr},
                {"shell", nullptr},
                {"bricks", nullptr},
                {"field", nullptr}};
  std::vector<std::uint32_t> corners;
  corners.reserve(3 * mesh.triangles.size());
  for (const Triangle& t : mesh.triangles) corners.insert(corners.end(), {t[0], t[1], t[2]});
  json["triangles"] = arrays.add(corners);
  const auto user = find_user(scene, number);
  if (!user) return json;
  const BodySettings& body = run.world.body_settings(*user);
  if (body.shape && body.shape->tree())
    json["shell"] = pack_shell(*body.shape->tree(), settings, arrays);
  if (body.shape && body.shape->field()) {
    json["bricks"] = pack_bricks(*body.shape->field(), settings, arrays);
    json["field"] =
        pack_samples(*body.shape->field(), body.shape->field()->bounds(), settings, arrays);
  } else if (body.field && !run.replay.bodies[*user].is_endless && !mesh.positions.empty()) {
    json["field"] = pack_samples(*body.field, box_around(mesh), settings, arrays);
  }
  return json;
}

// ---- bodies, frames, contacts, the log ---------------------------------------------------------

// A number of [-1, 1] as one of [-32767, 32767].
std::int16_t to_snorm(double v) {
  return static_cast<std::int16_t>(std::lround(std::clamp(v, -1.0, 1.0) * 32767));
}

void append_numbers(std::vector<float>& to, const Vec3& v) {
  const Vec3f f = to_float(v);
  to.insert(to.end(), {f.x, f.y, f.z});
}

void append_numbers(std::vector<std::int16_t>& to, const Quat& q) {
  to.insert(to.end(), {to_snorm(q.x), to_snorm(q.y), to_snorm(q.z), to_snorm(q.w)});
}

std::string to_hex(const Colour& c) { return fmt::format("#{:02x}{:02x}{:02x}", c[0], c[1], c[2]); }

PackJson pack_bodies(const RunPackSource& run) {
  PackJson bodies = PackJson::array();
  const Replay& replay = run.replay;
  for (std::size_t k = 0; k < replay.bodies.size(); ++k) {
    const ReplayBody& body = replay.bodies[k];
    const BodySettings& settings = run.world.body_settings(static_cast<BodyId>(k));
    PackJson json{{"name", body.name},
                  {"kind", name(body.kind)},
                  {"shape", nullptr},
                  {"endless", body.is_endless},
                  {"colour", to_hex(body.colour)},
                  {"center", to_json(settings.mass.center)},
                  {"mass", nullptr}};
    if (body.mesh) json["shape"] = *body.mesh;
    if (body.kind == BodyKind::kDynamic) json["mass"] = settings.mass.mass;
    bodies.push_back(std::move(json));
  }
  return bodies;
}

std::vector<std::uint32_t> find_moving(const Replay& replay) {
  std::vector<std::uint32_t> moving;
  for (std::size_t k = 0; k < replay.bodies.size(); ++k) {
    const Pose& first = replay.frames[0].poses[k];
    if (std::any_of(replay.frames.begin(), replay.frames.end(),
                    [&](const ReplayFrame& f) { return !(f.poses[k] == first); }))
      moving.push_back(static_cast<std::uint32_t>(k));
  }
  return moving;
}

PackJson pack_frames(const Replay& replay, PackArrays& arrays) {
  std::vector<double> times;
  std::vector<float> first_places, places;
  std::vector<std::int16_t> first_turns, turns;
  for (const Pose& pose : replay.frames[0].poses) {
    append_numbers(first_places, pose.translation);
    append_numbers(first_turns, pose.rotation);
  }
  const std::vector<std::uint32_t> moving = find_moving(replay);
  for (const ReplayFrame& frame : replay.frames) {
    times.push_back(frame.time);
    for (const std::uint32_t k : moving) {
      append_numbers(places, frame.poses[k].translation);
      append_numbers(turns, frame.poses[k].rotation);
    }
  }
  return {{"times", arrays.add(times)},
          {"first_places", arrays.add(first_places)},
          {"first_turns", arrays.add(first_turns)},
          {"moving", arrays.add(moving)},
          {"places", arrays.add(places)},
          {"turns", arrays.add(turns)}};
}

PackJson pack_contacts(const Replay& replay, PackArrays& arrays) {
  std::vector<std::uint32_t> first{0}, bodies;
  std::vector<float> places, depths, forces, moments;
  std::vector<std::int16_t> normals;
  for (const ReplayFrame& frame : replay.frames) {
    for (const ReplayContact& c : frame.contacts) {
      bodies.insert(bodies.end(), {c.a, c.b});
      append_numbers(places, c.position);
      for (const double n : {c.normal.x, c.normal.y, c.normal.z}) normals.push_back(to_snorm(n));
      depths.push_back(static_cast<float>(c.depth));
      append_numbers(forces, c.force);
      append_numbers(moments, c.moment);
    }
    first.push_back(static_cast<std::uint32_t>(depths.size()));
  }
  return {{"first", arrays.add(first)},    {"bodies", arrays.add(bodies)},
          {"places", arrays.add(places)},  {"normals", arrays.add(normals)},
          {"depths", arrays.add(depths)},  {"forces", arrays.add(forces)},
          {"moments", arrays.add(moments)}};
}

PackJson pack_paths(const Replay& replay, PackArrays& arrays) {
  std::vector<std::uint32_t> first{0};
  std::vector<float> rows;  // from, to, enter, exit
  for (const ReplayFrame& frame : replay.frames) {
    for (const ContactPath& p : frame.paths) {
      append_numbers(rows, p.from);
      append_numbers(rows, p.to);
      rows.insert(rows.end(), {p.enter, p.exit});
    }
    first.push_back(static_cast<std::uint32_t>(rows.size() / 8));
  }
  return {{"first", arrays.add(first)}, {"rows", arrays.add(rows)}};
}

PackJson pack_soft(const Replay& replay, std::size_t number, PackArrays& arrays) {
  const ReplaySoftBody& body = replay.soft_bodies[number];
  Aabbf box;
  for (const ReplayFrame& frame : replay.frames)
    for (const Vec3f& p : frame.soft[number]) extend(box, p);
  const Vec3f size = is_empty(box) ? Vec3f{} : extent(box);
  std::vector<std::uint16_t> places;
  for (const ReplayFrame& frame : replay.frames)
    for (const Vec3f& p : frame.soft[number])
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const float share = size[axis] > 0 ? (p[axis] - box.lower[axis]) / size[axis] : 0;
        places.push_back(static_cast<std::uint16_t>(std::lround(share * 65535)));
      }
  std::vector<std::uint32_t> corners;
  for (const Triangle& t : body.triangles) corners.insert(corners.end(), {t[0], t[1], t[2]});
  return {{"name", body.name},
          {"colour", to_hex(body.colour)},
          {"triangles", arrays.add(corners)},
          {"lower", to_json(is_empty(box) ? Vec3{} : to_double(box.lower))},
          {"size", to_json(to_double(size))},
          {"places", arrays.add(places)}};
}

// The columns of the CSV (replay.h), by its names.
PackJson pack_log(const Replay& replay, const RunPackSettings& settings, PackArrays& arrays) {
  const std::uint64_t rows = replay.log.size();
  const std::uint64_t every = rows == 0 ? 1 : (rows - 1) / settings.most_rows + 1;
  const auto column = [&](auto&& get) {
    std::vector<double> numbers;
    for (std::uint64_t k = 0; k < rows; k += every)
      numbers.push_back(static_cast<double>(get(replay.log[k])));
    return arrays.add(numbers);
  };
  using R = const StepReport&;
  return {{"every", every},
          {"columns",
           {{"step", column([](R r) { return r.number; })},
            {"time", column([](R r) { return r.time; })},
            {"kinetic", column([](R r) { return r.energies.kinetic; })},
            {"potential", column([](R r) { return r.energies.potential; })},
            {"springs", column([](R r) { return r.energies.springs; })},
            {"total", column([](R r) { return r.energies.total(); })},
            {"pairs", column([](R r) { return r.pairs; })},
            {"contacts", column([](R r) { return r.contacts; })},
            {"points", column([](R r) { return r.points; })},
            {"depth", column([](R r) { return r.depth; })},
            {"broad_seconds", column([](R r) { return r.seconds.broad; })},
            {"detection_seconds", column([](R r) { return r.seconds.detection; })},
            {"forces_seconds", column([](R r) { return r.seconds.forces; })},
            {"motion_seconds", column([](R r) { return r.seconds.motion; })}}}};
}

PackJson pack_view(const SceneView& view) {
  PackJson json{{"yaw", view.yaw_degrees}, {"pitch", view.pitch_degrees}, {"zoom", view.zoom}};
  json["box"] = nullptr;
  if (view.box) json["box"] = {to_json(view.box->lower), to_json(view.box->upper)};
  return json;
}

PackJson pack_scene(const Scene& scene) {
  const Vec3 gravity = scene.world.gravity;
  const Vec3 up = length(gravity) > 0 ? -gravity / length(gravity) : Vec3{0, 1, 0};
  return {{"name", scene.name},       {"about", scene.about}, {"engine", scene.engine},
          {"step", scene.world.step}, {"up", to_json(up)},    {"view", pack_view(scene.view)}};
}

std::vector<std::byte> join_pack(const PackJson& json, const std::vector<std::byte>& arrays) {
  constexpr char kMagic[8] = {'I', 'S', 'O', 'P', 'A', 'C', 'K', '1'};
  // Names from files may hold bytes that are not UTF-8.
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

}  // namespace

std::vector<std::byte> write_run_pack(const SceneRun& run, const RunPackSettings& settings) {
  return write_run_pack({run.scene(), run.world(), run.replay()}, settings);
}

std::vector<std::byte> write_run_pack(const RunPackSource& run, const RunPackSettings& settings) {
  const Replay& replay = run.replay;
  PackArrays arrays(settings.most_bytes);
  PackJson shapes = PackJson::array(), soft = PackJson::array();
  for (std::size_t k = 0; k < replay.meshes.size(); ++k)
    shapes.push_back(pack_shape(run, k, settings, arrays));
  for (std::size_t k = 0; k < replay.soft_bodies.size(); ++k)
    soft.push_back(pack_soft(replay, k, arrays));
  PackJson json{{"version", 1}, {"scene", pack_scene(run.scene)}};
  json["shapes"] = std::move(shapes);
  json["bodies"] = pack_bodies(run);
  json["soft_bodies"] = std::move(soft);
  json["frames"] = pack_frames(replay, arrays);
  json["contacts"] = pack_contacts(replay, arrays);
  json["paths"] = pack_paths(replay, arrays);
  json["log"] = pack_log(replay, settings, arrays);
  return join_pack(json, arrays.bytes());
}

}  // namespace isotact

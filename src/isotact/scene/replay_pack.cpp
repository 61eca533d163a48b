#include "isotact/scene/replay_pack.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/scene/detail/pack_arrays.h"

namespace isotact {
namespace detail {

PackJson PackArrays::add_bytes(const char* type, std::span<const std::byte> bytes,
                               std::size_t count) {
  bytes_.resize((bytes_.size() + 7) / 8 * 8);  // each is aligned
  PackJson view{type, bytes_.size(), count};
  if (bytes_.size() + bytes.size() > most_bytes_)
    throw Error(
        fmt::format("the run is larger than the {} MB that a page can hold; ask for fewer frames a "
                    "second (--fps)",
                    most_bytes_ >> 20U));
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  return view;
}

}  // namespace detail

namespace {

using detail::PackArrays;
using detail::PackJson;
using detail::to_json;

// A number of [-1, 1] as one of [-32767, 32767].
std::int16_t to_snorm(double v) {
  return static_cast<std::int16_t>(std::lround(std::clamp(v, -1.0, 1.0) * 32767));
}

void append(std::vector<float>& to, const Vec3& v) {
  const Vec3f f = to_float(v);
  to.insert(to.end(), {f.x, f.y, f.z});
}

void append(std::vector<std::int16_t>& to, const Quat& q) {
  to.insert(to.end(), {to_snorm(q.x), to_snorm(q.y), to_snorm(q.z), to_snorm(q.w)});
}

std::string hex(const Colour& c) { return fmt::format("#{:02x}{:02x}{:02x}", c[0], c[1], c[2]); }

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
                  {"colour", hex(body.colour)},
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
    append(first_places, pose.translation);
    append(first_turns, pose.rotation);
  }
  const std::vector<std::uint32_t> moving = find_moving(replay);
  for (const ReplayFrame& frame : replay.frames) {
    times.push_back(frame.time);
    for (const std::uint32_t k : moving) {
      append(places, frame.poses[k].translation);
      append(turns, frame.poses[k].rotation);
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
      append(places, c.position);
      for (const double n : {c.normal.x, c.normal.y, c.normal.z}) normals.push_back(to_snorm(n));
      depths.push_back(static_cast<float>(c.depth));
      append(forces, c.force);
      append(moments, c.moment);
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
      append(rows, p.from);
      append(rows, p.to);
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
          {"colour", hex(body.colour)},
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

std::vector<std::byte> join(const PackJson& json, const std::vector<std::byte>& arrays) {
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
    shapes.push_back(detail::pack_shape(run, k, settings, arrays));
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
  return join(json, arrays.bytes());
}

}  // namespace isotact

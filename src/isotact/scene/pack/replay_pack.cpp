#include "isotact/scene/pack/replay_pack.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "isotact/scene/pack/detail/pack_parts.inl"

namespace isotact {
namespace {

using detail::PackArrays;
using detail::PackJson;
using detail::to_hex;
using detail::to_pack;

// Returns a body that has the shape in the world.
std::optional<BodyId> find_user(const Scene& scene, std::size_t shape) {
  for (std::size_t k = 0; k < scene.bodies.size(); ++k)
    if (scene.bodies[k].shape == shape) return static_cast<BodyId>(k);
  return {};
}

PackJson pack_shape_of(const RunPackSource& run, std::size_t number,
                       const RunPackSettings& settings, PackArrays& arrays) {
  detail::PackShapeSource source{run.scene.shapes[number].name, run.replay.meshes[number]};
  if (const auto user = find_user(run.scene, number)) {
    const BodySettings& body = run.world.body_settings(*user);
    if (body.shape) source.shape = &*body.shape;
  }
  return detail::pack_shape(source, settings, arrays);
}

// ---- bodies, frames, contacts, the log ---------------------------------------------------------

// Maps [-1, 1] to [-32767, 32767].
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
                  {"center", to_pack(settings.mass.center)},
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
  std::vector<float> rows;  // From, to, enter, exit.
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
          {"lower", to_pack(is_empty(box) ? Vec3{} : to_double(box.lower))},
          {"size", to_pack(to_double(size))},
          {"places", arrays.add(places)}};
}

// The columns of the CSV (replay.h), by their names.
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
            {"motion_seconds", column([](R r) { return r.seconds.motion; })},
            {"impacts", column([](R r) { return r.impacts; })},
            {"substeps", column([](R r) { return r.substeps; })}}}};
}

PackJson pack_view(const SceneView& view) {
  PackJson json{{"yaw", view.yaw_degrees}, {"pitch", view.pitch_degrees}, {"zoom", view.zoom}};
  json["box"] = nullptr;
  if (view.box) json["box"] = {to_pack(view.box->lower), to_pack(view.box->upper)};
  return json;
}

}  // namespace

namespace detail {

std::string to_hex(const Colour& c) { return fmt::format("#{:02x}{:02x}{:02x}", c[0], c[1], c[2]); }

PackJson pack_scene(const Scene& scene) {
  const Vec3 gravity = scene.world.gravity;
  const Vec3 up = length(gravity) > 0 ? -gravity / length(gravity) : Vec3{0, 1, 0};
  return {{"name", scene.name},       {"about", scene.about}, {"engine", scene.engine},
          {"step", scene.world.step}, {"up", to_pack(up)},    {"view", pack_view(scene.view)}};
}

void pack_replay(const Replay& replay, const RunPackSettings& settings, PackArrays& arrays,
                 PackJson& json) {
  json["soft_bodies"] = PackJson::array();
  for (std::size_t k = 0; k < replay.soft_bodies.size(); ++k)
    json["soft_bodies"].push_back(pack_soft(replay, k, arrays));
  json["frames"] = pack_frames(replay, arrays);
  json["contacts"] = pack_contacts(replay, arrays);
  json["paths"] = pack_paths(replay, arrays);
  json["log"] = pack_log(replay, settings, arrays);
}

}  // namespace detail

std::vector<std::byte> write_run_pack(const SceneRun& run, const RunPackSettings& settings) {
  return write_run_pack({run.scene(), run.world(), run.replay()}, settings);
}

std::vector<std::byte> write_run_pack(const RunPackSource& run, const RunPackSettings& settings) {
  PackArrays arrays(settings.most_bytes, Hint::kFrameRate);
  PackJson shapes = PackJson::array();
  for (std::size_t k = 0; k < run.replay.meshes.size(); ++k)
    shapes.push_back(pack_shape_of(run, k, settings, arrays));
  PackJson json{{"version", 1}, {"scene", detail::pack_scene(run.scene)}};
  json["shapes"] = std::move(shapes);
  json["bodies"] = pack_bodies(run);
  detail::pack_replay(run.replay, settings, arrays, json);
  return detail::join_pack(json, arrays.bytes());
}

}  // namespace isotact

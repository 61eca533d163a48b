#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "isotact/base/error.h"
#include "isotact/geometry/io/gltf.h"
#include "isotact/scene/replay/replay.h"

namespace isotact {
namespace {

static_assert(std::endian::native == std::endian::little, "GLB is written in place");
static_assert(sizeof(Vec3f) == 12 && sizeof(Triangle) == 12);

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMostBytes = std::numeric_limits<std::uint32_t>::max();
constexpr int kFloat = 5126, kUnsigned = 5125;
constexpr int kVertices = 34962, kIndices = 34963;
// Shapes of a soft body between which players blend. The number of weights is this number times the
// number of keyframes.
constexpr std::size_t kMostMorphs = 255;

// Buffer views and accessors, one each, in the order in which they are added.
class Buffer {
 public:
  // Adds rows of numbers of four bytes each.
  template <typename T>
  std::size_t add(std::span<const T> rows, const char* type, int component, int target = 0) {
    Json view{{"buffer", 0}, {"byteOffset", bytes_.size()}, {"byteLength", rows.size_bytes()}};
    if (target != 0) view["target"] = target;
    views.push_back(std::move(view));
    const auto* from = reinterpret_cast<const std::byte*>(rows.data());
    bytes_.insert(bytes_.end(), from, from + rows.size_bytes());
    const std::size_t parts = std::strcmp(type, "SCALAR") == 0 ? 1
                              : std::strcmp(type, "VEC3") == 0 ? 3
                                                               : 4;
    accessors.push_back({{"bufferView", views.size() - 1},
                         {"componentType", component},
                         {"count", rows.size_bytes() / (4 * parts)},
                         {"type", type}});
    if (bytes_.size() > kMostBytes)
      throw Error("the replay is larger than the 4 GiB of a GLB; ask for fewer frames per second");
    return accessors.size() - 1;
  }

  Json views = Json::array(), accessors = Json::array();
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

Json vec_json(const Vec3f& v) { return {v.x, v.y, v.z}; }

class Writer {
 public:
  explicit Writer(const Replay& replay) : replay_(replay) {}

  std::vector<std::byte> run() {
    if (replay_.frames.empty() && !replay_.soft_bodies.empty())
      throw Error("a replay with bodies that bend needs a frame");
    Json nodes = Json::array(), roots = Json::array();
    for (std::size_t k = 0; k < replay_.bodies.size(); ++k) {
      nodes.push_back(node_of(k));
      roots.push_back(k);
    }
    for (std::size_t k = 0; k < replay_.soft_bodies.size(); ++k) {
      roots.push_back(nodes.size());
      nodes.push_back(soft_node_of(k, nodes.size()));
    }
    animate();
    Json scene{{"nodes", roots}};
    if (!replay_.name.empty()) scene["name"] = replay_.name;
    Json json{{"asset", {{"version", "2.0"}, {"generator", "Isotact"}}},
              {"scene", 0},
              {"scenes", Json::array({scene})},
              {"nodes", nodes}};
    if (!meshes_.empty()) json["meshes"] = meshes_;
    if (!materials_.empty()) json["materials"] = materials_;
    if (!channels_.empty())
      json["animations"] =
          Json::array({{{"name", "run"}, {"channels", channels_}, {"samplers", samplers_}}});
    if (!buffer_.bytes().empty()) {
      json["accessors"] = buffer_.accessors;
      json["bufferViews"] = buffer_.views;
      json["buffers"] = Json::array({{{"byteLength", buffer_.bytes().size()}}});
    }
    return pack(json.dump(-1, ' ', false, Json::error_handler_t::replace));
  }

 private:
  Json node_of(std::size_t k) {
    const ReplayBody& body = replay_.bodies[k];
    Json node{{"name", body.name}};
    if (body.mesh) node["mesh"] = mesh_of(*body.mesh, body.colour);
    if (!replay_.frames.empty()) {
      const Pose& pose = replay_.frames[0].poses[k];
      node["translation"] = vec_json(to_float(pose.translation));
      const std::array<float, 4> q = quat_of(pose.rotation);
      node["rotation"] = {q[0], q[1], q[2], q[3]};
    }
    return node;
  }

  // Adds each mesh once per colour, and its numbers once.
  std::size_t mesh_of(std::size_t mesh, const Colour& colour) {
    const auto [at, is_new] = mesh_numbers_.try_emplace({mesh, colour}, meshes_.size());
    if (!is_new) return at->second;
    const auto [positions, indices] = geometry_of(mesh);
    meshes_.push_back({{"primitives", Json::array({{{"attributes", {{"POSITION", positions}}},
                                                    {"indices", indices},
                                                    {"material", material_of(colour)},
                                                    {"mode", 4}}})}});
    return at->second;
  }

  std::pair<std::size_t, std::size_t> geometry_of(std::size_t number) {
    const auto found = geometry_numbers_.find(number);
    if (found != geometry_numbers_.end()) return found->second;
    const TriangleMesh& mesh = replay_.meshes[number];
    const std::size_t positions = add_positions(mesh.positions);
    const std::size_t indices =
        buffer_.add(std::span(mesh.triangles), "SCALAR", kUnsigned, kIndices);
    return geometry_numbers_[number] = {positions, indices};
  }

  std::size_t add_positions(std::span<const Vec3f> places) {
    Aabbf box;
    for (const Vec3f& p : places) {
      if (!is_finite(p)) throw Error("a mesh has a position that is not finite; glTF has no such");
      extend(box, p);
    }
    const std::size_t positions = buffer_.add(places, "VEC3", kFloat, kVertices);
    buffer_.accessors[positions]["min"] = vec_json(box.lower);
    buffer_.accessors[positions]["max"] = vec_json(box.upper);
    return positions;
  }

  // A node with morph targets: its shape in the first frame, and the offsets of each keyframe from
  // it.
  Json soft_node_of(std::size_t k, std::size_t node) {
    const ReplaySoftBody& body = replay_.soft_bodies[k];
    const std::vector<Vec3f>& first = replay_.frames[0].soft[k];
    Json primitive{
        {"attributes", {{"POSITION", add_positions(first)}}},
        {"indices", buffer_.add(std::span(body.triangles), "SCALAR", kUnsigned, kIndices)},
        {"material", material_of(body.colour)},
        {"mode", 4}};
    Json mesh{{"primitives", Json::array()}};
    const std::vector<std::size_t>& keys = morph_frames();
    if (keys.size() > 1) {
      Json targets = Json::array();
      std::vector<Vec3f> by(first.size());
      for (std::size_t i = 1; i < keys.size(); ++i) {
        const std::vector<Vec3f>& now = replay_.frames[keys[i]].soft[k];
        for (std::size_t v = 0; v < by.size(); ++v) by[v] = now[v] - first[v];
        targets.push_back({{"POSITION", add_positions(by)}});
      }
      primitive["targets"] = targets;
      mesh["weights"] = std::vector<int>(keys.size() - 1, 0);
      morphing_.push_back(node);
    }
    mesh["primitives"].push_back(primitive);
    meshes_.push_back(mesh);
    return {{"name", body.name}, {"mesh", meshes_.size() - 1}};
  }

  std::size_t material_of(const Colour& colour) {
    const auto [at, is_new] = material_numbers_.try_emplace(colour, materials_.size());
    if (is_new) {
      const auto light = [&](std::size_t i) {
        return static_cast<float>(decode_srgb(static_cast<double>(colour[i]) / 255));
      };
      materials_.push_back({{"pbrMetallicRoughness",
                             {{"baseColorFactor", {light(0), light(1), light(2), 1}},
                              {"metallicFactor", 0},
                              {"roughnessFactor", 0.6}}},
                            {"doubleSided", true}});
    }
    return at->second;
  }

  // x, y, z, w: glTF's order.
  static std::array<float, 4> quat_of(const Quat& q) {
    return {static_cast<float>(q.x), static_cast<float>(q.y), static_cast<float>(q.z),
            static_cast<float>(q.w)};
  }

  float time_of(std::size_t frame) const {
    return static_cast<float>(replay_.frames[frame].time - replay_.frames[0].time);
  }

  // Returns frames whose time, as float, is later than that of the frame before.
  std::vector<std::size_t> keyframes() const {
    std::vector<std::size_t> frames;
    for (std::size_t f = 0; f < replay_.frames.size(); ++f)
      if (frames.empty() || time_of(f) > time_of(frames.back())) frames.push_back(f);
    return frames;
  }

  // Returns as many of them as are allowed, evenly spaced, with the first and the last.
  const std::vector<std::size_t>& morph_frames() {
    if (!morph_frames_.empty()) return morph_frames_;
    const std::vector<std::size_t> all = keyframes();
    const std::size_t count = std::min(all.size(), kMostMorphs + 1);
    for (std::size_t i = 0; i < count; ++i)
      morph_frames_.push_back(all[count == 1 ? 0 : i * (all.size() - 1) / (count - 1)]);
    return morph_frames_;
  }

  std::size_t add_times(std::span<const std::size_t> frames) {
    std::vector<float> times;
    for (const std::size_t f : frames) times.push_back(time_of(f));
    const std::size_t input = buffer_.add(std::span<const float>(times), "SCALAR", kFloat);
    buffer_.accessors[input]["min"] = {times.front()};
    buffer_.accessors[input]["max"] = {times.back()};
    return input;
  }

  // All soft bodies have the same keyframes: one set of weights, of which one is 1 at each
  // keyframe.
  void animate_soft() {
    if (morphing_.empty()) return;
    const std::vector<std::size_t>& keys = morph_frames();
    const std::size_t targets = keys.size() - 1;
    std::vector<float> weights(keys.size() * targets, 0.0F);
    for (std::size_t i = 1; i < keys.size(); ++i) weights[i * targets + i - 1] = 1;
    const std::size_t input = add_times(keys);
    const std::size_t output = buffer_.add(std::span<const float>(weights), "SCALAR", kFloat);
    for (const std::size_t node : morphing_) add_channel(node, "weights", input, output);
  }

  void animate() {
    animate_soft();
    const std::vector<std::size_t> frames = keyframes();
    if (frames.size() < 2) return;
    std::optional<std::size_t> input;
    for (std::size_t k = 0; k < replay_.bodies.size(); ++k) {
      const Pose& first = replay_.frames[0].poses[k];
      const bool moves = std::any_of(frames.begin(), frames.end(), [&](std::size_t f) {
        return !(replay_.frames[f].poses[k] == first);
      });
      if (!moves) continue;
      if (!input) input = add_times(frames);
      animate_body(k, frames, *input);
    }
  }

  void animate_body(std::size_t k, const std::vector<std::size_t>& frames, std::size_t input) {
    std::vector<Vec3f> translations;
    std::vector<std::array<float, 4>> rotations;
    Quat last{};
    for (const std::size_t f : frames) {
      const Pose& pose = replay_.frames[f].poses[k];
      translations.push_back(to_float(pose.translation));
      // Takes the quaternion of the rotation that is nearer to the last one.
      Quat q = pose.rotation;
      if (q.w * last.w + q.x * last.x + q.y * last.y + q.z * last.z < 0)
        q = {-q.w, -q.x, -q.y, -q.z};
      last = q;
      rotations.push_back(quat_of(q));
    }
    const std::size_t moved = buffer_.add(std::span<const Vec3f>(translations), "VEC3", kFloat);
    const std::size_t turned =
        buffer_.add(std::span<const std::array<float, 4>>(rotations), "VEC4", kFloat);
    add_channel(k, "translation", input, moved);
    add_channel(k, "rotation", input, turned);
  }

  void add_channel(std::size_t node, const char* path, std::size_t input, std::size_t output) {
    samplers_.push_back({{"input", input}, {"output", output}, {"interpolation", "LINEAR"}});
    channels_.push_back(
        {{"sampler", samplers_.size() - 1}, {"target", {{"node", node}, {"path", path}}}});
  }

  std::vector<std::byte> pack(std::string json) const {
    json.resize((json.size() + 3) / 4 * 4, ' ');
    const std::vector<std::byte>& binary = buffer_.bytes();  // Numbers of four bytes.
    const std::uint64_t size = 20 + json.size() + (binary.empty() ? 0 : 8 + binary.size());
    if (size > kMostBytes)
      throw Error("the replay is larger than the 4 GiB of a GLB; ask for fewer frames per second");
    std::vector<std::byte> out;
    out.reserve(size);
    const auto put = [&](const void* from, std::size_t bytes) {
      const auto* begin = static_cast<const std::byte*>(from);
      out.insert(out.end(), begin, begin + bytes);
    };
    const auto put_number = [&](std::size_t number) {
      const auto narrow = static_cast<std::uint32_t>(number);
      put(&narrow, 4);
    };
    put("glTF", 4);
    put_number(2);
    put_number(size);
    put_number(json.size());
    put("JSON", 4);
    put(json.data(), json.size());
    if (!binary.empty()) {
      put_number(binary.size());
      put("BIN", 4);  // Four bytes: the text and its terminating zero.
      put(binary.data(), binary.size());
    }
    return out;
  }

  const Replay& replay_;
  Buffer buffer_;
  Json meshes_ = Json::array(), materials_ = Json::array();
  Json channels_ = Json::array(), samplers_ = Json::array();
  std::map<std::pair<std::size_t, Colour>, std::size_t> mesh_numbers_;
  std::map<std::size_t, std::pair<std::size_t, std::size_t>> geometry_numbers_;
  std::map<Colour, std::size_t> material_numbers_;
  std::vector<std::size_t> morph_frames_, morphing_;  // Keyframes; nodes that have them.
};

}  // namespace

std::vector<std::byte> write_replay_glb(const Replay& replay) { return Writer(replay).run(); }

std::string write_log_csv(const Replay& replay) {
  std::string text =
      "step,time,kinetic,potential,springs,total,pairs,contacts,points,depth,broad_seconds,"
      "detection_seconds,forces_seconds,motion_seconds,impacts,substeps\n";
  auto out = std::back_inserter(text);
  for (const StepReport& r : replay.log) {
    const Energies& e = r.energies;
    const PhaseTimes& s = r.seconds;
    fmt::format_to(out, "{},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{},{},{},{:.9g},", r.number, r.time,
                   e.kinetic, e.potential, e.springs, e.total(), r.pairs, r.contacts, r.points,
                   r.depth);
    fmt::format_to(out, "{:.4g},{:.4g},{:.4g},{:.4g},{},{}\n", s.broad, s.detection, s.forces,
                   s.motion, r.impacts, r.substeps);
  }
  return text;
}

}  // namespace isotact

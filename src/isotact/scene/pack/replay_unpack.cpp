#include "isotact/scene/pack/replay_unpack.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/scene/parse/detail/scene_reader.h"

namespace isotact {

using detail::JsonNode;
using detail::JsonText;

namespace {

static_assert(std::endian::native == std::endian::little, "arrays are read in place");

constexpr std::size_t kPackHead = 16;                              // Bytes before the JSON.
constexpr std::uint64_t kMostPackJson = std::uint64_t{64} << 20U;  // Bytes.
constexpr std::size_t kMostPackValues = 8'000'000;
// Shapes or bodies. The limit on JSON is reached first.
constexpr std::size_t kMostPackParts = 1'000'000;
constexpr double kMostPackNumber = 1e12;  // Metres, newtons.
constexpr std::int64_t kMostPlace = std::int64_t{1} << 52U;

}  // namespace

// The arrays of a pack. Each is read once, so that all of them together are no larger than the
// pack.
class RunPackReader {
 public:
  RunPackReader(std::span<const std::byte> arrays, RunPack& pack)
      : arrays_(arrays), left_(arrays.size()), pack_(pack) {}

  void read(const JsonNode& root) {
    root.get("version").whole(1, 1);
    const JsonNode scene = root.get("scene");
    pack_.replay_.name = scene.get("name").text(detail::kMostText);
    read_view(scene.get("view"));
    for (const JsonNode& shape : root.get("shapes").items(kMostPackParts)) read_shape(shape);
    for (const JsonNode& body : root.get("bodies").items(kMostPackParts)) read_body(body);
    read_frames(root.get("frames"));
    for (const JsonNode& body : root.get("soft_bodies").items(kMostPackParts)) read_soft(body);
    read_contacts(root.get("contacts"));
  }

 private:
  template <typename T>
  std::vector<T> read_array(const JsonNode& node, std::string_view type) {
    const std::vector<JsonNode> view = node.items(3);
    if (view.size() != 3) node.fail_expecting("an array's type, place and length");
    if (view[0].text(100) != type)
      node.fail(fmt::format("expected an array of {}, found one of {}", type, view[0].found()));
    const auto at = static_cast<std::uint64_t>(view[1].whole(0, kMostPlace));
    const auto count = static_cast<std::uint64_t>(view[2].whole(0, kMostPlace));
    if (at > arrays_.size() || count > (arrays_.size() - at) / sizeof(T))
      node.fail("ends behind the run, which has been cut short");
    const std::size_t bytes = count * sizeof(T);
    if (bytes > left_) node.fail("shares bytes with other arrays");
    left_ -= bytes;
    std::vector<T> numbers(count);
    if (bytes > 0) std::memcpy(numbers.data(), arrays_.data() + at, bytes);
    return numbers;
  }
  template <typename T>
  std::vector<T> read_array(const JsonNode& node, std::string_view type, std::size_t count) {
    std::vector<T> numbers = read_array<T>(node, type);
    if (numbers.size() != count)
      node.fail(fmt::format("expected {} numbers, found {}", count, numbers.size()));
    return numbers;
  }
  std::vector<Vec3f> read_rows(const JsonNode& node) {
    const std::vector<float> numbers = read_array<float>(node, "f32");
    if (numbers.size() % 3 != 0)
      node.fail(fmt::format("expected three numbers a row, found {}", numbers.size()));
    for (const float v : numbers)
      if (!(std::abs(static_cast<double>(v)) <= kMostPackNumber))
        node.fail(fmt::format("has a number that is {:g}", v));
    std::vector<Vec3f> rows(numbers.size() / 3);
    for (std::size_t i = 0; i < rows.size(); ++i)
      rows[i] = {numbers[3 * i], numbers[3 * i + 1], numbers[3 * i + 2]};
    return rows;
  }
  std::vector<Vec3f> read_rows(const JsonNode& node, std::size_t count) {
    std::vector<Vec3f> rows = read_rows(node);
    if (rows.size() != count)
      node.fail(fmt::format("expected {} rows, found {}", count, rows.size()));
    return rows;
  }
  // Reads corners, which must be indices of existing vertices.
  std::vector<Triangle> read_triangles(const JsonNode& node, std::size_t vertices) {
    const std::vector<std::uint32_t> corners = read_array<std::uint32_t>(node, "u32");
    if (corners.size() % 3 != 0)
      node.fail(fmt::format("expected three corners a triangle, found {}", corners.size()));
    for (const std::uint32_t v : corners)
      if (v >= vertices) node.fail(fmt::format("names vertex {} of {}", v, vertices));
    std::vector<Triangle> triangles(corners.size() / 3);
    for (std::size_t i = 0; i < triangles.size(); ++i)
      triangles[i] = {corners[3 * i], corners[3 * i + 1], corners[3 * i + 2]};
    return triangles;
  }

  void read_view(const JsonNode& node) {
    SceneView& view = pack_.view_;
    view.yaw_degrees = node.get("yaw").number(detail::within(3600));
    view.pitch_degrees = node.get("pitch").number(detail::within(89));
    view.zoom = node.get("zoom").number({0.01, 100});
    if (const auto box = node.find("box"); box && !box->is_null())
      view.box = detail::read_box(*box);
  }

  void read_shape(const JsonNode& node) {
    TriangleMesh mesh;
    mesh.positions = read_rows(node.get("positions"));
    mesh.triangles = read_triangles(node.get("triangles"), mesh.positions.size());
    pack_.replay_.meshes.push_back(std::move(mesh));
  }

  void read_body(const JsonNode& node) {
    ReplayBody body{.name = node.get("name").text(detail::kMostText)};
    body.kind = static_cast<BodyKind>(node.get("kind").choice({"dynamic", "kinematic", "static"}));
    const auto& meshes = pack_.replay_.meshes;
    if (const JsonNode shape = node.get("shape"); !shape.is_null()) {
      if (meshes.empty()) shape.fail("there is no shape in this run");
      body.mesh = shape.whole(0, static_cast<std::int64_t>(meshes.size()) - 1);
    }
    body.is_endless = node.get("endless").boolean();
    if (body.is_endless && (!body.mesh || meshes[*body.mesh].triangles.empty()))
      node.fail("is a plane without a triangle");
    body.colour = detail::read_colour(node.get("colour"));
    pack_.replay_.bodies.push_back(std::move(body));
  }

  RunPack::Poses read_poses(const JsonNode& places, const JsonNode& turns, std::size_t count) {
    RunPack::Poses poses{.places = read_rows(places, count),
                         .turns = read_array<std::int16_t>(turns, "i16", 4 * count)};
    for (std::size_t k = 0; k < count; ++k) {
      const auto* q = poses.turns.data() + 4 * k;
      if (std::all_of(q, q + 4, [](std::int16_t v) { return v == 0; }))
        turns.fail(fmt::format("row {} is no rotation", k));
    }
    return poses;
  }

  void read_frames(const JsonNode& node) {
    const JsonNode times = node.get("times");
    pack_.times_ = read_array<double>(times, "f64");
    if (pack_.times_.empty()) times.fail("has no frame");
    for (std::size_t f = 0; f < pack_.times_.size(); ++f)
      if (!std::isfinite(pack_.times_[f]) || (f > 0 && pack_.times_[f] < pack_.times_[f - 1]))
        times.fail(fmt::format("frame {} is at {:g} s; times must ascend", f, pack_.times_[f]));
    const std::size_t bodies = pack_.replay_.bodies.size();
    pack_.first_ = read_poses(node.get("first_places"), node.get("first_turns"), bodies);
    const JsonNode moving = node.get("moving");
    pack_.moving_ = read_array<std::uint32_t>(moving, "u32");
    if (pack_.moving_.size() > bodies) moving.fail("names more bodies than there are");
    for (const std::uint32_t k : pack_.moving_)
      if (k >= bodies) moving.fail(fmt::format("names body {} of {}", k, bodies));
    pack_.rows_ = read_poses(node.get("places"), node.get("turns"),
                             pack_.moving_.size() * pack_.times_.size());
  }

  void read_soft(const JsonNode& node) {
    const JsonNode places = node.get("places");
    RunPack::SoftPlaces soft{.lower = node.get("lower").vec(kMostPackNumber),
                             .size = node.get("size").vec(kMostPackNumber),
                             .places = read_array<std::uint16_t>(places, "u16")};
    const std::size_t row = 3 * pack_.times_.size();
    if (soft.places.size() % row != 0)
      places.fail(fmt::format("expected as many numbers for each of {} frames, found {}",
                              pack_.times_.size(), soft.places.size()));
    soft.vertex_count = soft.places.size() / row;
    pack_.replay_.soft_bodies.push_back(
        {.name = node.get("name").text(detail::kMostText),
         .triangles = read_triangles(node.get("triangles"), soft.vertex_count),
         .colour = detail::read_colour(node.get("colour"))});
    pack_.soft_.push_back(std::move(soft));
  }

  void read_contacts(const JsonNode& node) {
    RunPack::Contacts& c = pack_.contacts_;
    const JsonNode first = node.get("first"), bodies = node.get("bodies");
    c.first = read_array<std::uint32_t>(first, "u32", pack_.times_.size() + 1);
    c.depths = read_array<float>(node.get("depths"), "f32");
    const std::size_t count = c.depths.size();
    if (c.first.front() != 0 || c.first.back() != count ||
        !std::is_sorted(c.first.begin(), c.first.end()))
      first.fail(fmt::format("does not share {} contacts out among the frames", count));
    c.bodies = read_array<std::uint32_t>(bodies, "u32", 2 * count);
    for (const std::uint32_t k : c.bodies)
      if (k >= pack_.replay_.bodies.size() && k != kNoReplayBody)
        bodies.fail(fmt::format("names body {} of {}", k, pack_.replay_.bodies.size()));
    c.places = read_rows(node.get("places"), count);
    c.normals = read_array<std::int16_t>(node.get("normals"), "i16", 3 * count);
    c.forces = read_rows(node.get("forces"), count);
    c.moments = read_rows(node.get("moments"), count);
  }

  std::span<const std::byte> arrays_;
  std::size_t left_;  // Bytes left for further arrays.
  RunPack& pack_;
};

RunPack::RunPack(std::span<const std::byte> pack, const std::string& file) {
  constexpr std::string_view kMagic = "ISOPACK1";
  if (pack.size() < kPackHead || std::memcmp(pack.data(), kMagic.data(), kMagic.size()) != 0)
    throw Error({.file = file}, "the run in it does not begin as one of this version does");
  std::uint64_t size = 0;
  std::memcpy(&size, pack.data() + kMagic.size(), sizeof size);
  if (size > pack.size() - kPackHead)
    throw Error({.file = file}, "the run in it has been cut short");
  if (size > kMostPackJson)
    throw Error({.file = file}, fmt::format("the run's description has {} bytes; {} are allowed",
                                            size, kMostPackJson));
  const auto* const text = reinterpret_cast<const char*>(pack.data() + kPackHead);
  const JsonText json({text, size}, file, kMostPackValues);
  RunPackReader(pack.subspan(kPackHead + size), *this).read(json.root());
}

std::size_t RunPack::nearest_frame(double time) const {
  const auto after = std::upper_bound(times_.begin(), times_.end(), time);
  if (after == times_.begin()) return 0;
  const auto place = static_cast<std::size_t>(after - times_.begin());
  return after != times_.end() && *after - time <= time - times_[place - 1] ? place : place - 1;
}

Pose RunPack::Poses::get(std::size_t row) const {
  const std::int16_t* q = turns.data() + 4 * row;
  const auto part = [&](std::size_t i) { return static_cast<double>(q[i]); };
  return {normalized(Quat{part(3), part(0), part(1), part(2)}), to_double(places[row])};
}

ReplayFrame RunPack::frame(std::size_t number) const {
  ReplayFrame frame{.time = times_[number]};
  frame.poses.resize(replay_.bodies.size());
  for (std::size_t k = 0; k < frame.poses.size(); ++k) frame.poses[k] = first_.get(k);
  for (std::size_t k = 0; k < moving_.size(); ++k)
    frame.poses[moving_[k]] = rows_.get(number * moving_.size() + k);
  for (const SoftPlaces& soft : soft_) {
    std::vector<Vec3f>& vertices = frame.soft.emplace_back(soft.vertex_count);
    for (std::size_t v = 0; v < soft.vertex_count; ++v) {
      const std::uint16_t* p = soft.places.data() + 3 * (number * soft.vertex_count + v);
      vertices[v] = to_float(
          soft.lower + Vec3{soft.size.x * p[0], soft.size.y * p[1], soft.size.z * p[2]} / 65535.0);
    }
  }
  const Contacts& c = contacts_;
  for (std::size_t k = c.first[number]; k < c.first[number + 1]; ++k) {
    const std::int16_t* n = c.normals.data() + 3 * k;
    frame.contacts.push_back({.position = to_double(c.places[k]),
                              .normal = Vec3{double(n[0]), double(n[1]), double(n[2])} / 32767.0,
                              .depth = static_cast<double>(c.depths[k]),
                              .a = c.bodies[2 * k],
                              .b = c.bodies[2 * k + 1],
                              .force = to_double(c.forces[k]),
                              .moment = to_double(c.moments[k])});
  }
  return frame;
}

}  // namespace isotact

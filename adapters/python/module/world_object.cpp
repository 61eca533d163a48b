#include "world_object.h"

#include <algorithm>
#include <cmath>

#include "isotact/base/error.h"
#include "isotact/geometry/primitives/primitives.h"

namespace isotact::python {
namespace {

// Colour-blind users can tell these colours apart (Okabe and Ito 2008).
constexpr Colour kPalette[] = {{0x56, 0xb4, 0xe9}, {0xe6, 0x9f, 0x00}, {0x00, 0x9e, 0x73},
                               {0xcc, 0x79, 0xa7}, {0xf0, 0xe4, 0x42}, {0xd5, 0x5e, 0x00}};
constexpr Colour kGround = {0xb8, 0xb8, 0xb4};

// A part of a plane, or of another solid without end, that a page can show: a flat square below
// the plane's origin.
TriangleMesh part_of(const AnalyticSolid& solid) {
  constexpr double kSide = 20;
  PlaneField plane;
  if (const auto* given = std::get_if<PlaneField>(&solid.primitive())) plane = *given;
  const Vec3 n = plane.normal;
  const Vec3 u = normalized(cross(n, std::abs(n.x) < 0.9 ? Vec3{1, 0, 0} : Vec3{0, 1, 0}));
  const Vec3 v = cross(n, u), middle = n * plane.offset;
  TriangleMesh mesh;
  for (const auto& [s, t] : {std::pair{-1, -1}, {1, -1}, {1, 1}, {-1, 1}})
    mesh.positions.push_back(to_float(middle + (u * s + v * t) * (kSide / 2)));
  mesh.triangles = {{0, 1, 2}, {0, 2, 3}};
  return mesh;
}

// The frame that a time belongs to. Times are sums of steps, which may be a little low.
double frame_at(double time, double rate) { return std::floor(time * rate + 1e-6); }

}  // namespace

WorldObject::WorldObject(const WorldSettings& settings, double frames_per_second)
    : world(settings), rate_(frames_per_second) {
  scene_.name = "world";
  scene_.world = settings;
  scene_.frames_per_second = rate_ > 0 ? rate_ : 60;
}

BodyId WorldObject::add_body(const BodySettings& settings) {
  if (begun_) throw Error("a world that is recorded takes no more bodies after its first step");
  return world.add_body(settings);
}

void WorldObject::begin() {
  begun_ = true;
  replay_.name = scene_.name;
  std::vector<const Shape*> shapes;
  for (std::size_t k = 0; k < world.body_count(); ++k) {
    const BodySettings& body = world.body_settings(static_cast<BodyId>(k));
    ReplayBody made{.name = body.name.empty() ? "body " + std::to_string(k) : body.name,
                    .kind = body.kind,
                    .colour = kPalette[k % std::size(kPalette)]};
    SceneBody named{.name = made.name, .kind = body.kind};
    if (body.shape) {
      const auto known = std::find_if(shapes.begin(), shapes.end(), [&](const Shape* other) {
        return is_same(*other, *body.shape);
      });
      made.mesh = static_cast<std::size_t>(known - shapes.begin());
      made.is_endless = !body.shape->is_bounded();
      if (made.is_endless) made.colour = kGround;
      if (known == shapes.end()) {
        shapes.push_back(&*body.shape);
        replay_.meshes.push_back(made.is_endless ? part_of(*body.shape->solid())
                                                 : body.shape->surface());
        scene_.shapes.push_back({.name = made.name});
      }
      named.shape = made.mesh;
    }
    scene_.bodies.push_back(std::move(named));
    replay_.bodies.push_back(std::move(made));
  }
  record();
}

void WorldObject::record() {
  ReplayFrame now{.time = world.time()};
  for (std::size_t k = 0; k < world.body_count(); ++k)
    now.poses.push_back(world.pose(static_cast<BodyId>(k)));
  const double step = world.settings().step;
  for (const PairContact& c : world.contacts()) {
    if (c.phase == ContactPhase::kEnd) continue;
    now.contacts.push_back(
        {.position = c.contact.position,
         .normal = c.contact.normal,
         .depth = c.contact.depth,
         .a = c.pair.a,
         .b = c.pair.b,
         .force = c.impulse * (1 / step),
         .moment = (c.angular_impulse - cross(c.contact.position, c.impulse)) * (1 / step)});
  }
  replay_.frames.push_back(std::move(now));
}

bool WorldObject::step() {
  if (is_recording() && !begun_) begin();
  const StepReport& now = world.step();
  if (world.trouble()) return false;
  if (is_recording()) {
    replay_.log.push_back(now);
    if (frame_at(now.time, rate_) > frame_at(now.time - world.settings().step, rate_)) record();
  }
  return true;
}

const Replay& WorldObject::replay() {
  if (!is_recording())
    throw Error("the world has no recording: make it with World(frames_per_second=60)");
  if (!begun_) begin();
  return replay_;
}

}  // namespace isotact::python

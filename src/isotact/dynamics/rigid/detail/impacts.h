// Impacts of a world: what the search for events (impacts.cpp) and the solution of one of them
// (impact_blow.cpp) share.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "isotact/dynamics/rigid/detail/impact_solver.h"
#include "isotact/dynamics/rigid/detail/world_state.h"

namespace isotact::detail {

inline constexpr double kNoTime = std::numeric_limits<double>::infinity();

// The current part of a body's step: from its last impact, or the beginning, to the end, or as far
// as it turns by half a radian.
struct CurrentPart {
  double begin = 0, end = 1;  // Share of the step.
  BodyMotion motion{};
  bool changed = false;  // The path is not the straight one of BodyStep.
};
Pose pose_at(const CurrentPart& part, double time);
BodyMotion motion_between(const CurrentPart& part, double from, double to);

// A point of a pair's shells.
struct PairPoint {
  Body by = Body::kA;
  std::uint32_t point = 0;
  friend bool operator==(const PairPoint&, const PairPoint&) = default;
};

struct Impact {
  double time = kNoTime;  // Share of the step.
  Contact contact{};
};

// Impacts of a pair in a step.
struct PairImpacts {
  Impact next{};
  std::uint32_t version = 0;  // Number of changes of `next`.
  int count = 0;              // Impacts so far.
  double quiet_until = 0;     // Until then only deep contacts are impacts: a sub-step.
  double idle_until = 0;      // Not searched until then.
  bool pressed = false;       // Driven bodies leave it no free velocity: left to the penalty.
  // Points that began an impact. All impacts of the pair consider those that still touch.
  std::vector<PairPoint> known{};
  // Contacts at a time. Poses at a time do not depend on what happens from then on.
  double touching_at = -1;
  std::vector<Contact> touching{};
};

// The parts of a world that impacts read and change.
struct ImpactWorld {
  const WorldSettings& settings;
  std::vector<WorldBody>& bodies;
  std::vector<PairState>& pairs;
  std::vector<Aabb>& boxes;  // That bodies fill in the step.
  std::span<const JointSettings> joints;
  StepReport& report;
  std::optional<Trouble>& trouble;
  double& energy_bound;
  std::function<ContactMaterial(const BodyPair&)> material_of;
  std::function<bool(const BodyPair&)> is_hard, may_meet;
};

struct ImpactState {
  ImpactWorld world;
  double rest_speed = 0;             // m/s: slower contacts do not bounce.
  std::vector<CurrentPart> parts{};  // One per body.
  std::vector<std::vector<std::size_t>> pairs_of_body{};
  std::vector<PairImpacts> impacts{};  // One per pair.
};

// One role of a pair between two times.
struct Encounter {
  BodyPair pair;
  bool points_of_a;
  const WorldBody &shell, &field;
  const ShellMotion& motion;
  double begin, end;
  double hard_speed = kNoTime;  // m/s: entries that are faster are impacts.
  double deep = kNoTime;        // Metres: points that would get deeper have an impact.
  double least_depth = 0;       // Metres: entries that get no deeper are no impacts.
};
Vec3 place_in_field(const Encounter& m, std::uint32_t point, double time);
// `time` is a share of the meeting.
Contact make_contact(const Encounter& m, std::uint32_t point, double time);

struct PlacedBody {
  const WorldBody& body;
  Pose pose;
};
// Contacts in the plane of a flat face have its normal. That of a sampled field is a part in a
// hundred off, and at rims by any angle: boxes without friction would fly off aside.
void take_face_normals(const PlacedBody& a, const PlacedBody& b, std::vector<Contact>& touching);

// Velocities about the centre of mass at a time.
Twist twist_at(const ImpactState& state, BodyId id, double time);

// An impact with all bodies and contacts that it reaches, solved.
struct Blow {
  double time = 0;
  ImpactProblem problem{};
  std::vector<BodyId> bodies{};        // Bodies of the problem.
  std::vector<bool> looked_at{};       // Their contacts are in the problem.
  std::vector<std::size_t> pair_of{};  // One per contact.
  std::vector<Contact> contacts{};
  std::vector<std::size_t> pairs{};  // Those that were searched.
};
Blow solve_blow(ImpactState& state, std::size_t pair, double time);

bool is_driven(const WorldBody& body);  // It moves, and nothing pushes it.
// The trouble of a contact that nothing keeps from approaching. It gets `depth` metres deep, and
// `most` is allowed.
Trouble describe_jam(const ImpactState& state, const Blow& blow, std::size_t contact, double depth,
                     double most);

}  // namespace isotact::detail

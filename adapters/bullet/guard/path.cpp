#include "path.h"

#include <algorithm>
#include <cmath>

#include "isotact/adapters/bullet/convert.h"
#include "isotact/queries/swept/motion.h"

namespace isotact::bullet_detail {
namespace {

constexpr double kMostTurn = 0.05;  // rad per piece: colliders leave their path by 1/3000 of a link
constexpr int kMostPieces = 64;

bool is_spherical(const btMultiBody& body, int link) {
  return body.getLink(link).m_jointType == btMultibodyLink::eSpherical;
}

double angle_between(const btQuaternion& a, const btQuaternion& b) {
  return static_cast<double>(a.angleShortestPath(b));
}

btQuaternion joint_turn(const btScalar* q) { return {q[0], q[1], q[2], q[3]}; }

// Along the smaller angle.
btQuaternion turn_between(const btQuaternion& a, btQuaternion b, double time) {
  if (a.dot(b) < 0) b = -b;
  btQuaternion turn = a.slerp(b, static_cast<btScalar>(time));
  return turn.normalize();
}

}  // namespace

Pose Path::at(double time) const {
  if (knots.size() == 1) return knots.front();
  const auto pieces = static_cast<double>(knots.size() - 1);
  const double at = std::clamp(time, 0.0, 1.0) * pieces;
  const auto piece = std::min(static_cast<std::size_t>(at), knots.size() - 2);
  return compute_pose({knots[piece], knots[piece + 1], {}}, at - static_cast<double>(piece));
}

double Path::fastest(double radius) const {
  double most = 0;
  for (std::size_t i = 1; i < knots.size(); ++i) {
    const Quat turn = conjugate(knots[i - 1].rotation) * knots[i].rotation;
    const double sine = std::sqrt(turn.x * turn.x + turn.y * turn.y + turn.z * turn.z);
    const double angle = 2 * std::atan2(sine, std::abs(turn.w));
    most = std::max(most, length(knots[i].translation - knots[i - 1].translation) + angle * radius);
  }
  return most * static_cast<double>(knots.size() - 1);
}

Path path_between(const btTransform& from, const btTransform& to) {
  Path path{{from_bullet(from)}};
  if (!(from == to)) path.knots.push_back(from_bullet(to));
  return path;
}

Configuration configuration_of(const btMultiBody& body) {
  Configuration c{.place = body.getBasePos(), .world_to_base = body.getWorldToBaseRot()};
  for (int link = 0; link < body.getNumLinks(); ++link) {
    const btScalar* q = body.getJointPosMultiDof(link);
    c.joints.insert(c.joints.end(), q, q + body.getLink(link).m_posVarCount);
  }
  return c;
}

Configuration between(const btMultiBody& body, const Configuration& from, const Configuration& to,
                      double time) {
  const auto t = static_cast<btScalar>(time);
  Configuration c{.place = from.place.lerp(to.place, t),
                  .world_to_base = turn_between(from.world_to_base, to.world_to_base, time)};
  std::size_t first = 0;
  for (int link = 0; link < body.getNumLinks(); ++link) {
    const auto count = static_cast<std::size_t>(body.getLink(link).m_posVarCount);
    if (is_spherical(body, link)) {
      const btQuaternion q =
          turn_between(joint_turn(&from.joints[first]), joint_turn(&to.joints[first]), time);
      c.joints.insert(c.joints.end(), {q.x(), q.y(), q.z(), q.w()});
    } else {
      for (std::size_t i = first; i < first + count; ++i)
        c.joints.push_back(from.joints[i] + (to.joints[i] - from.joints[i]) * t);
    }
    first += count;
  }
  return c;
}

void configure(btMultiBody& body, const Configuration& configuration) {
  body.setBasePos(configuration.place);
  body.setWorldToBaseRot(configuration.world_to_base);
  std::size_t first = 0;
  for (int link = 0; link < body.getNumLinks(); ++link) {
    const auto count = static_cast<std::size_t>(body.getLink(link).m_posVarCount);
    if (count > 0) body.setJointPosMultiDof(link, &configuration.joints[first]);
    first += count;
  }
  thread_local btAlignedObjectArray<btQuaternion> turns;
  thread_local btAlignedObjectArray<btVector3> places;
  turns.resize(body.getNumLinks() + 1), places.resize(body.getNumLinks() + 1);
  body.updateCollisionObjectWorldTransforms(turns, places);
}

int count_pieces(const btMultiBody& body, const Configuration& from, const Configuration& to) {
  double turn = 0;
  std::size_t first = 0;
  // Turns of joints add up along a chain.
  for (int link = 0; link < body.getNumLinks(); ++link) {
    const auto count = static_cast<std::size_t>(body.getLink(link).m_posVarCount);
    if (is_spherical(body, link))
      turn += angle_between(joint_turn(&from.joints[first]), joint_turn(&to.joints[first]));
    else if (body.getLink(link).m_jointType != btMultibodyLink::ePrismatic && count > 0)
      turn += std::abs(static_cast<double>(to.joints[first] - from.joints[first]));
    first += count;
  }
  turn += angle_between(from.world_to_base, to.world_to_base);
  return std::clamp(static_cast<int>(std::ceil(turn / kMostTurn)), 1, kMostPieces);
}

}  // namespace isotact::bullet_detail

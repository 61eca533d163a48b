// Bullet's manifolds of one pair, written from candidates so that what stays from step to step
// keeps its impulses (warm starting). Private to the plug-in.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <BulletCollision/BroadphaseCollision/btCollisionAlgorithm.h>
#include <BulletCollision/CollisionDispatch/btCollisionObjectWrapper.h>

#include "candidate.h"

class btDispatcher;
class btPersistentManifold;
class btManifoldPoint;

namespace isotact::bullet_detail {

struct WriteSettings {
  double time_step = 0;     // s
  double bounce_speed = 0;  // m/s
  double nearness = 0;      // metres: points this near to one of the step before count as it
  // m/s: what is in overlap is driven out no faster. For contacts that are not seen before.
  double recovery_speed = std::numeric_limits<double>::infinity();
};

class Manifolds {
 public:
  // `shared`: a manifold that others write to, too, or null.
  Manifolds(btDispatcher& dispatcher, btPersistentManifold* shared)
      : dispatcher_(dispatcher), shared_(shared) {}
  Manifolds(const Manifolds&) = delete;
  Manifolds& operator=(const Manifolds&) = delete;
  ~Manifolds();

  // Keys of the contacts of the last step of a slot.
  std::span<const std::uint64_t> keys(std::uint32_t id) const;
  // Any manifold, for callbacks that want one.
  btPersistentManifold& any(const btCollisionObject* body_0, const btCollisionObject* body_1);

  // Between begin and end, each slot that has contacts is written once. Slots that are not are
  // emptied, and their manifolds given back, but for the first.
  void begin();
  void write(std::uint32_t id, std::span<const Candidate> chosen,
             const btCollisionObjectWrapper& wrap_0, const btCollisionObjectWrapper& wrap_1,
             const WriteSettings& settings);
  void end();

  void list(btManifoldArray& manifolds) const;
  // Whether there were contacts in the last step.
  bool has_contacts() const;

 private:
  // Of one contact, in the order of the manifold's points.
  struct Memory {
    std::uint64_t key = 0;
    // J/kg: of an impact that was braked to touch in this step, and is to bounce in the next.
    double kinetic = 0;  // J: of both bodies before an impact
    double energy = 0;
  };
  struct Slot {
    std::uint32_t id = 0;
    btPersistentManifold* manifold = nullptr;
    Memory left{};  // of an impact, where others emptied the manifold
    std::size_t count = 0;
    Memory memory[kMostChosen]{};
    std::uint64_t keys[kMostChosen]{};
    bool written = false;
  };
  Slot& find_or_make(std::uint32_t id, const btCollisionObject* body_0,
                     const btCollisionObject* body_1);
  void match(const Slot& slot, std::span<const Candidate> chosen, const WriteSettings& settings,
             const btCollisionObject& body_0, std::span<int> place_of) const;
  static void bounce(btManifoldPoint& point, Memory& memory, const WriteSettings& settings,
                     const btCollisionObject& body_0, const btCollisionObject& body_1);

  btDispatcher& dispatcher_;
  btPersistentManifold* shared_;
  std::vector<Slot> slots_;
};

Vec3 gravity_of(const btCollisionObject& body);  // m/s^2; zero for what does not fall
// rad/s.
Vec3 turn_rate(const btCollisionObject& body);
// m/s, at a place of the world.
Vec3 velocity_at(const btCollisionObject& body, const Vec3& place);

}  // namespace isotact::bullet_detail

// Bullet's manifolds of one pair, written from candidates so that persisting contacts keep their
// impulses (warm starting). Private to the plug-in.
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
  // Metres: points this near to one of the step before count as the same.
  double nearness = 0;
  // m/s: overlapping bodies are separated no faster. For contacts that were not seen before.
  double recovery_speed = std::numeric_limits<double>::infinity();
  double mean_area = 0;  // m^2: of the pair's patches.
};

class Manifolds {
 public:
  // `shared`: a manifold that others also write to, or null.
  Manifolds(btDispatcher& dispatcher, btPersistentManifold* shared)
      : dispatcher_(dispatcher), shared_(shared) {}
  Manifolds(const Manifolds&) = delete;
  Manifolds& operator=(const Manifolds&) = delete;
  ~Manifolds();

  // Returns the keys of a slot's contacts in the last step.
  std::span<const std::uint64_t> keys(std::uint32_t id) const;
  // Returns any manifold, for callbacks that need one.
  btPersistentManifold& any(const btCollisionObject* body_0, const btCollisionObject* body_1);

  // Between begin and end, each slot with contacts is written once. Other slots are emptied, and
  // their manifolds released, except for the first.
  void begin();
  void write(std::uint32_t id, std::span<const Candidate> chosen,
             const btCollisionObjectWrapper& wrap_0, const btCollisionObjectWrapper& wrap_1,
             const WriteSettings& settings);
  void end();

  void list(btManifoldArray& manifolds) const;
  // Returns whether there were contacts in the last step.
  bool has_contacts() const;
  // Metres: the deepest overlap of all contacts, or 0.
  double deepest() const;
  // Moves the contacts of the last step with their bodies, without a query.
  void follow_bodies(const btCollisionObject& body_0, const btCollisionObject& body_1);

 private:
  // Memory of one contact, in the order of the manifold's points.
  struct ContactScratch {
    std::uint64_t key = 0;
    double kinetic = 0;  // J, of both bodies before an impact.
    // J/kg, of an impact that was braked to touch in this step, and is to bounce in the next.
    double energy = 0;
  };
  struct Slot {
    std::uint32_t id = 0;
    btPersistentManifold* manifold = nullptr;
    ContactScratch left{};  // Memory of an impact, if others emptied the manifold.
    std::size_t count = 0;
    ContactScratch memory[kMostChosen]{};
    std::uint64_t keys[kMostChosen]{};
    bool written = false;
  };
  Slot& find_or_make(std::uint32_t id, const btCollisionObject* body_0,
                     const btCollisionObject* body_1);
  void match(const Slot& slot, std::span<const Candidate> chosen, const WriteSettings& settings,
             const btCollisionObject& body_0, std::span<int> place_of) const;
  static void bounce(btManifoldPoint& point, ContactScratch& memory, const WriteSettings& settings,
                     const btCollisionObject& body_0, const btCollisionObject& body_1);

  btDispatcher& dispatcher_;
  btPersistentManifold* shared_;
  std::vector<Slot> slots_;
};

Vec3 gravity_of(const btCollisionObject& body);  // m/s^2; zero for bodies that do not fall.
// m/s at the body's origin, and rad/s. Of rigid bodies and of links of multibodies.
struct BodyVelocity {
  Vec3 linear{}, angular{};
};
BodyVelocity velocity_of(const btCollisionObject& body);
// Returns rad/s.
Vec3 turn_rate(const btCollisionObject& body);
// Returns m/s, at a position of the world.
Vec3 velocity_at(const btCollisionObject& body, const Vec3& place);

}  // namespace isotact::bullet_detail

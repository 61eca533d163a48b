#include "isotact/queries/broad_phase/broad_phase.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "isotact/base/error.h"

namespace isotact {
namespace {

constexpr Sphere kNoSphere{{}, -1};

void check_volume(const Aabb& box) {
  if (!is_empty(box)) return;
  for (std::size_t k = 0; k < 3; ++k)
    if (std::isnan(box.lower[k]) || std::isnan(box.upper[k]))
      throw Error(fmt::format("a box from ({}, {}, {}) to ({}, {}, {}): expected numbers",
                              box.lower.x, box.lower.y, box.lower.z, box.upper.x, box.upper.y,
                              box.upper.z));
}

void check_volume(const Sphere& sphere) {
  if (is_finite(sphere.center) && std::isfinite(sphere.radius) && sphere.radius >= 0) return;
  throw Error(
      fmt::format("a sphere about ({}, {}, {}) of radius {}: expected a finite one whose radius is "
                  "not negative",
                  sphere.center.x, sphere.center.y, sphere.center.z, sphere.radius));
}

}  // namespace

ObjectHandle BroadPhase::take_handle() {
  if (free_.empty()) {
    boxes_.emplace_back();
    live_.push_back(0);
    marked_.push_back(0);
    return static_cast<ObjectHandle>(boxes_.size() - 1);
  }
  std::pop_heap(free_.begin(), free_.end(), std::greater<>());
  const ObjectHandle object = free_.back();
  free_.pop_back();
  return object;
}

void BroadPhase::mark(ObjectHandle object) {
  if (marked_[object] != 0) return;
  marked_[object] = 1;
  changed_.push_back(object);
}

void BroadPhase::set(ObjectHandle object, const Aabb& box, const Sphere& sphere) {
  boxes_[object] = box;
  if (sphere.radius >= 0 && object >= spheres_.size()) spheres_.resize(object + 1, kNoSphere);
  if (object < spheres_.size()) spheres_[object] = sphere;
  mark(object);
}

ObjectHandle BroadPhase::insert(const Aabb& box) {
  check_volume(box);
  const ObjectHandle object = take_handle();
  live_[object] = 1;
  ++size_;
  set(object, box, kNoSphere);
  return object;
}

ObjectHandle BroadPhase::insert(const Sphere& sphere) {
  check_volume(sphere);
  const ObjectHandle object = insert(bounds(sphere));
  set(object, bounds(sphere), sphere);
  return object;
}

void BroadPhase::update(ObjectHandle object, const Aabb& box) {
  assert(contains(object));
  if (boxes_[object] == box && sphere_of(object) == nullptr) return;
  check_volume(box);
  set(object, box, kNoSphere);
}

void BroadPhase::update(ObjectHandle object, const Sphere& sphere) {
  assert(contains(object));
  const Sphere* old = sphere_of(object);
  if (old != nullptr && *old == sphere) return;
  check_volume(sphere);
  set(object, bounds(sphere), sphere);
}

void BroadPhase::remove(ObjectHandle object) {
  assert(contains(object));
  live_[object] = 0;
  --size_;
  set(object, Aabb{}, kNoSphere);
  removed_.push_back(object);
}

void BroadPhase::step(Threads threads) {
  if (changed_.empty()) {
    begun_.clear();
    ended_.clear();
    return;
  }
  find_pairs(threads);
  for (const ObjectHandle object : changed_) marked_[object] = 0;
  changed_.clear();
  for (const ObjectHandle object : removed_) {
    free_.push_back(object);
    std::push_heap(free_.begin(), free_.end(), std::greater<>());
  }
  removed_.clear();
}

bool BroadPhase::is_pair(ObjectHandle a, ObjectHandle b) const {
  const Aabb &box_a = boxes_[a], &box_b = boxes_[b];
  // An empty box and an infinite one would overlap.
  if (!overlaps(box_a, box_b) || is_empty(box_a) || is_empty(box_b)) return false;
  const Sphere *sphere_a = sphere_of(a), *sphere_b = sphere_of(b);
  if (sphere_a != nullptr && sphere_b != nullptr) return overlaps(*sphere_a, *sphere_b);
  if (sphere_a != nullptr) return overlaps(*sphere_a, box_b);
  return sphere_b == nullptr || overlaps(*sphere_b, box_a);
}

void BroadPhase::replace_pairs(std::vector<ObjectPair>& found) {
  begun_.clear();
  ended_.clear();
  auto old = pairs_.begin();
  for (const ObjectPair& pair : found) {
    while (old != pairs_.end() && *old < pair) ended_.push_back(*old++);
    if (old != pairs_.end() && *old == pair)
      ++old;
    else
      begun_.push_back(pair);
  }
  ended_.insert(ended_.end(), old, pairs_.end());
  pairs_.swap(found);
}

void BruteForceBroadPhase::find_pairs(Threads) {
  found_.clear();
  const auto count = static_cast<ObjectHandle>(handle_count());
  for (ObjectHandle a = 0; a < count; ++a)
    for (ObjectHandle b = a + 1; b < count; ++b)
      if (is_pair(a, b)) found_.push_back({a, b});
  replace_pairs(found_);
}

}  // namespace isotact

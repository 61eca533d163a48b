#include "scene_octree.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isotact/base/error.h"

namespace isotact {
namespace {

// Two spheres that touch only by rounding share no point. Each, enlarged by this, has one in some
// region. Far more than rounding of the tests.
constexpr double kSphereSlack = 1 + 1e-12;

bool is_inside(const Aabb& box, const Aabb& cube) {
  return cube.lower.x <= box.lower.x && box.upper.x <= cube.upper.x &&
         cube.lower.y <= box.lower.y && box.upper.y <= cube.upper.y &&
         cube.lower.z <= box.lower.z && box.upper.z <= cube.upper.z;
}

template <typename T>
void erase_one(std::vector<T>& list, T value) {
  const auto at = std::find(list.begin(), list.end(), value);
  if (at == list.end()) return;
  *at = list.back();
  list.pop_back();
}

// Neighbours share their sides bit for bit, so that no point falls between two.
Aabb octant(const Aabb& box, unsigned number) {
  Aabb part = box;
  const Vec3 middle = center(box);
  for (unsigned k = 0; k < 3; ++k)
    ((number >> k & 1U) != 0 ? part.lower : part.upper)[k] = middle[k];
  return part;
}

}  // namespace

SceneOctree::SceneOctree(const SceneOctreeSettings& settings) : settings_(settings) {
  if (!is_finite(settings.center) || !std::isfinite(settings.size) || !(settings.size > 0))
    throw Error(
        fmt::format("a scene's cube of size {}: expected a finite one above 0", settings.size));
  if (settings.max_level < 0 || settings.max_level > 10)
    throw Error(fmt::format("a scene's octree of {} levels: expected 0 to 10", settings.max_level));
  const Vec3 half = Vec3{1, 1, 1} * (settings.size / 2);
  regions_.emplace_back();
  regions_[0].box = {settings.center - half, settings.center + half};
  regions_[0].is_used = true;
}

int SceneOctree::level_for(double size, double extent) {
  int level = 0;
  while (level < 10 && size / 2 >= extent) {
    size /= 2;
    ++level;
  }
  return level;
}

bool SceneOctree::is_in(ObjectHandle object, const Aabb& region) {
  ++work_.region_tests;
  const Sphere* sphere = sphere_of(object);
  if (sphere == nullptr) return overlaps(box_of(object), region);
  const Sphere grown{sphere->center, sphere->radius * kSphereSlack};
  if (settings_.region_test == RegionTest::kArvo) return overlaps(grown, region);
  const Vec3 r = Vec3{1, 1, 1} * grown.radius;
  return isotact::contains(Aabb{region.lower - r, region.upper + r}, grown.center);
}

bool SceneOctree::covers(ObjectHandle object, const Aabb& region) const {
  const Sphere* sphere = sphere_of(object);
  if (sphere == nullptr) return is_inside(region, box_of(object));
  const Vec3 far = max(sphere->center - region.lower, region.upper - sphere->center);
  return length_sq(far) <= sphere->radius * sphere->radius;
}

void SceneOctree::collect(std::uint32_t region, ObjectHandle object,
                          std::vector<std::uint32_t>& leaves) {
  if (!is_in(object, regions_[region].box)) return;
  const std::uint32_t child = regions_[region].first_child;
  if (child == kNone) {
    leaves.push_back(region);
    return;
  }
  for (std::uint32_t i = 0; i < 8; ++i) collect(child + i, object, leaves);
}

void SceneOctree::mark(std::uint32_t region) {
  if (regions_[region].is_marked) return;
  regions_[region].is_marked = true;
  marked_.push_back(region);
}

void SceneOctree::move(ObjectHandle object) {
  Place& place = places_[object];
  const bool is_there = !is_empty(box_of(object));
  found_leaves_.clear();
  if (is_there) collect(0, object, found_leaves_);
  const bool is_outside = is_there && !is_inside(box_of(object), regions_[0].box);
  if (is_outside && !place.is_outside) outside_.push_back(object);
  if (!is_outside && place.is_outside) erase_one(outside_, object);
  place.is_outside = is_outside;
  std::sort(found_leaves_.begin(), found_leaves_.end());
  std::sort(place.leaves.begin(), place.leaves.end());
  if (found_leaves_ == place.leaves) {  // Most stay in their regions.
    for (const std::uint32_t leaf : place.leaves)
      if (should_split(regions_[leaf])) mark(leaf);
    return;
  }
  for (const std::uint32_t leaf : place.leaves) {
    erase_one(regions_[leaf].objects, object);
    mark(leaf);
  }
  for (const std::uint32_t leaf : found_leaves_) {
    regions_[leaf].objects.push_back(object);
    mark(leaf);
  }
  place.leaves.swap(found_leaves_);
}

bool SceneOctree::should_split(const Region& region) const {
  return region.objects.size() > 1 && region.level < settings_.max_level &&
         !std::all_of(region.objects.begin(), region.objects.end(),
                      [&](ObjectHandle object) { return covers(object, region.box); });
}

void SceneOctree::expand(std::uint32_t region) {
  std::uint32_t first = 0;
  if (free_groups_.empty()) {
    first = static_cast<std::uint32_t>(regions_.size());
    regions_.resize(regions_.size() + 8);
  } else {
    first = free_groups_.back();
    free_groups_.pop_back();
  }
  ++work_.expanded;
  std::vector<ObjectHandle> objects;
  objects.swap(regions_[region].objects);
  regions_[region].first_child = first;
  for (const ObjectHandle object : objects) erase_one(places_[object].leaves, region);
  for (std::uint32_t i = 0; i < 8; ++i) {
    Region& child = regions_[first + i];
    child.box = octant(regions_[region].box, i);
    child.parent = region;
    child.first_child = kNone;
    child.level = regions_[region].level + 1;
    child.is_used = true;
    child.objects.clear();
    for (const ObjectHandle object : objects) {
      if (!is_in(object, child.box)) continue;
      child.objects.push_back(object);
      places_[object].leaves.push_back(first + i);
    }
    if (should_split(child)) expand(first + i);  // regions_ may move: child is not used again.
  }
}

void SceneOctree::reduce(std::uint32_t parent) {
  while (parent != kNone) {
    const std::uint32_t first = regions_[parent].first_child;
    if (first == kNone) return;
    std::vector<ObjectHandle> objects;
    for (std::uint32_t i = 0; i < 8; ++i) {
      const Region& child = regions_[first + i];
      if (child.first_child != kNone) return;
      for (const ObjectHandle object : child.objects)
        if (std::find(objects.begin(), objects.end(), object) == objects.end())
          objects.push_back(object);
      if (objects.size() > 1) return;
    }
    for (std::uint32_t i = 0; i < 8; ++i) {
      Region& child = regions_[first + i];
      for (const ObjectHandle object : child.objects) erase_one(places_[object].leaves, first + i);
      child.objects.clear();
      child.is_used = false;
    }
    for (const ObjectHandle object : objects) places_[object].leaves.push_back(parent);
    regions_[parent].objects.swap(objects);
    regions_[parent].first_child = kNone;
    free_groups_.push_back(first);
    ++work_.reduced;
    parent = regions_[parent].parent;
  }
}

void SceneOctree::compare(std::span<const ObjectHandle> objects) {
  for (std::size_t i = 0; i < objects.size(); ++i)
    for (std::size_t k = i + 1; k < objects.size(); ++k) {
      ++work_.pair_tests;
      if (!is_pair(objects[i], objects[k])) continue;
      const auto [a, b] = std::minmax(objects[i], objects[k]);
      found_.push_back({a, b});
    }
}

// Two volumes that overlap share a point: in a region that then has both, or outside the root, in
// which case both are in outside_. (See is_in for the rounding of spheres.)
void SceneOctree::find_pairs(Threads) {
  work_ = {};
  places_.resize(handle_count());
  for (const ObjectHandle object : changed()) move(object);
  for (const std::uint32_t region : marked_) {
    regions_[region].is_marked = false;
    if (!regions_[region].is_used || regions_[region].first_child != kNone) continue;
    if (should_split(regions_[region]))
      expand(region);
    else
      reduce(regions_[region].parent);
  }
  marked_.clear();

  found_.clear();
  for (const Region& region : regions_) {
    if (!region.is_used) continue;
    ++work_.regions;
    if (region.first_child != kNone) continue;
    ++work_.leaves;
    work_.deepest = std::max(work_.deepest, static_cast<std::size_t>(region.level));
    compare(region.objects);
  }
  compare(outside_);
  work_.outside = outside_.size();
  std::sort(found_.begin(), found_.end());
  found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
  replace_pairs(found_);
}

std::vector<SceneOctree::Leaf> SceneOctree::leaves() const {
  std::vector<Leaf> result;
  for (const Region& region : regions_)
    if (region.is_used && region.first_child == kNone)
      result.push_back({region.box, region.level, region.objects});
  return result;
}

}  // namespace isotact

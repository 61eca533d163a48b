// collide() for a page: compiled to WebAssembly, loaded by src/pair/query.js. Numbers and assets
// come in through one buffer, answers go out as JSON with the keys of `isotact collide --json`, or
// with `error`.
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/queries/collide.h"
#include "isotact/queries/distance.h"
#include "isotact/queries/shape.h"

namespace {

using namespace isotact;

std::vector<std::byte> room;
std::array<std::optional<Shape>, 2> bodies;
CollideScratch state;
std::string answer;

// What a page passes, in this order.
enum Number : std::size_t {
  kPoseOfA = 0,  // x y z, w x y z
  kPoseOfB = 7,
  kExactly = 14,  // not 0: the distance is searched for, too
  kMargin,
  kRoles,
  kMaxContacts,
  kPatches,
  kLevel,
  kMaxNodes,
  kStiffness,
  kNumberCount,
};

// Characters that would end a text in JSON do not occur in our messages but for quotes.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}

std::string number(double x) { return std::isfinite(x) ? fmt::format("{:.17g}", x) : "null"; }

std::string list(const Vec3& v) {
  return fmt::format("[{},{},{}]", number(v.x), number(v.y), number(v.z));
}

std::string text_of(const Contact& c) {
  return fmt::format(
      R"({{"position":{},"point_on_a":{},"point_on_b":{},"normal":{},"depth":{},"sampled_by":"{}","point":{}}})",
      list(c.position), list(c.point_on_a), list(c.point_on_b), list(c.normal), number(c.depth),
      c.sampled_by == Body::kA ? 'a' : 'b', c.point);
}

Pose pose_of(const double* n) {
  return {normalized(Quat{n[3], n[4], n[5], n[6]}), {n[0], n[1], n[2]}};
}

CollideRequest request_of(const std::array<double, kNumberCount>& n) {
  CollideRequest request{.accuracy = Accuracy::kField,
                         .margin = n[kMargin],
                         .roles = static_cast<Roles>(n[kRoles]),
                         .max_contacts = static_cast<std::uint32_t>(n[kMaxContacts]),
                         .patches = static_cast<std::uint32_t>(n[kPatches]),
                         .level = static_cast<int>(n[kLevel]),
                         .max_nodes = static_cast<std::uint64_t>(n[kMaxNodes]),
                         .want_distance = true,
                         .want_force = true};
  request.force.stiffness = n[kStiffness];
  // A page makes no points: a body without them takes the other role.
  const Shape &a = *bodies[0], &b = *bodies[1];
  if (request.roles == Roles::kBoth && a.tree() && !b.tree()) request.roles = Roles::kPointsOfA;
  if (request.roles == Roles::kBoth && b.tree() && !a.tree()) request.roles = Roles::kPointsOfB;
  return request;
}

const char* name_of(CollideStatus status) {
  if (status == CollideStatus::kContact) return "contact";
  if (status == CollideStatus::kUncertain) return "uncertain";
  return status == CollideStatus::kFree ? "free" : "gave_up";
}

// The least that any point has; exactly, where both have points and fields for it.
double compute_distance(const CollideResult& result, const Pose& of_a, const Pose& of_b) {
  const Shape &a = *bodies[0], &b = *bodies[1];
  const bool can = a.tree() && b.tree() && a.field() && b.field();
  return can ? distance(a, of_a, b, of_b, {.accuracy = Accuracy::kField}).distance
             : result.distance;
}

std::string ask(const std::array<double, kNumberCount>& n) {
  if (!bodies[0] || !bodies[1]) throw Error("a body is missing");
  const Pose of_a = pose_of(&n[kPoseOfA]), of_b = pose_of(&n[kPoseOfB]);
  const CollideRequest request = request_of(n);
  const auto start = std::chrono::steady_clock::now();
  const CollideResult& r = collide(*bodies[0], of_a, *bodies[1], of_b, request, state);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const bool limited = request.level >= 0 || request.max_nodes > 0;
  const double least = n[kExactly] != 0 && !limited ? compute_distance(r, of_a, of_b) : r.distance;
  const bool touches = r.status == CollideStatus::kContact;
  std::string contacts;
  for (const Contact& c : r.contacts) contacts += (contacts.empty() ? "" : ",") + text_of(c);
  return fmt::format(
      R"({{"status":"{}","method":"vps","contacts":[{}],"min_distance":{},"time_of_contact":{},)"
      R"("intervals":[{}],"touching_points":{},"force":{},"torque":{},"overlap_area":{},"blind_depth":{},)"
      R"("seconds":{}}})",
      name_of(r.status), contacts, number(least), touches ? "0" : "null", touches ? "[0,1]" : "",
      r.touching_points, list(r.force), list(r.torque), number(r.area), number(r.blind_depth),
      number(seconds));
}

template <typename Work>
const char* answer_with(Work work) {
  try {
    answer = work();
  } catch (const std::exception& error) {
    answer = fmt::format(R"({{"error":{}}})", quoted(error.what()));
  }
  return answer.c_str();
}

}  // namespace

extern "C" {

// Where to put what comes next.
std::byte* query_room(std::size_t bytes) {
  room.assign(bytes, std::byte{});
  return room.data();
}

// The room holds an asset: body 0 is A, 1 is B.
const char* query_load(int body, std::size_t bytes) {
  return answer_with([&]() -> std::string {
    const Asset asset = decode_asset(std::span(room).first(bytes), body == 0 ? "A" : "B");
    bodies.at(static_cast<std::size_t>(body)) = Shape::from_asset(asset);
    state = {};
    return "{}";
  });
}

// The room holds numbers.
const char* query_collide(std::size_t count) {
  return answer_with([&] {
    std::array<double, kNumberCount> numbers{};
    if (count != kNumberCount) throw Error("a query has another number of numbers");
    std::memcpy(numbers.data(), room.data(), sizeof(numbers));
    return ask(numbers);
  });
}
}

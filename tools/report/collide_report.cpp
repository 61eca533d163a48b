#include "collide_report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace isotact::tool {

Json to_json(const Contact& c) {
  return {{"position", to_list(c.position)},
          {"point_on_a", to_list(c.point_on_a)},
          {"point_on_b", to_list(c.point_on_b)},
          {"normal", to_list(c.normal)},
          {"depth", c.depth},
          {"sampled_by", c.sampled_by == Body::kA ? "a" : "b"},
          {"point", c.point}};
}

void add_contact(Facts& facts, const Contact& c) {
  facts.emplace_back(
      "position", fmt::format("{:.6g} {:.6g} {:.6g} m", c.position.x, c.position.y, c.position.z));
  facts.emplace_back("normal", fmt::format("{:.4g} {:.4g} {:.4g} (from B towards A)", c.normal.x,
                                           c.normal.y, c.normal.z));
  facts.emplace_back("depth", fmt::format("{:.4g} m", c.depth));
}

namespace {

Json to_json(const TimedContact& c, bool moves) {
  Json j = tool::to_json(c.contact);
  if (moves) j["time_of_contact"] = c.time;
  return j;
}

const char* name(CollideStatus status) {
  switch (status) {
    case CollideStatus::kFree:
      return "free";
    case CollideStatus::kContact:
      return "contact";
    case CollideStatus::kGaveUp:
      break;
  }
  return "gave_up";
}

// A level or a budget: then the answer is what the query alone knows.
bool is_limited(const CollideRequest& r) {
  return r.level >= 0 || r.max_nodes > 0 || r.max_microseconds > 0;
}

// The least distance, where it is known: of all that was looked at, or of the closest approach.
std::optional<double> compute_distance(const RestReport& r) {
  if (!r.request.want_distance) return {};
  if (!is_limited(r.request) && r.nearest && r.nearest->status == ApproachStatus::kDone)
    return r.nearest->distance;
  if (!std::isfinite(r.result.distance)) return {};
  return r.result.distance;
}

}  // namespace

void print_report(const SweptReport& r) {
  const bool touches = r.result.status == ContinuousStatus::kContact;
  Facts facts{{"status", touches ? "contact" : "free"}};
  if (touches && r.moves)
    facts.emplace_back("first contact",
                       fmt::format("at {:.6g} of the motion", r.result.time_of_contact));
  if (touches) add_contact(facts, r.result.contact);
  if (!r.first_only)
    facts.emplace_back("points",
                       fmt::format("{} touch, {} intervals", format_count(r.result.points.size()),
                                   format_count(r.result.intervals.size())));
  if (r.nearest && r.nearest->status == ApproachStatus::kGaveUp)
    facts.emplace_back("distance", fmt::format("at least {:.6g} m, at most {:.6g} m (gave up)",
                                               r.nearest->lower_bound, r.nearest->distance));
  else if (r.nearest)
    facts.emplace_back(r.moves ? "closest approach" : "distance",
                       r.moves ? fmt::format("{:.4g} m at {:.4g} of the motion",
                                             r.nearest->distance, r.nearest->time)
                               : fmt::format("{:.4g} m", r.nearest->distance));
  facts.emplace_back("unseen", fmt::format("nothing deeper than {:.4g} m", r.result.blind_depth));
  facts.emplace_back("time", fmt::format("{:.3g} s", r.seconds));
  print_facts(facts);
}

Json to_json(const SweptReport& r) {
  const bool touches = r.result.status == ContinuousStatus::kContact;
  Json contacts = Json::array(), intervals = Json::array();
  for (const TimedContact& c : r.result.contacts) contacts.push_back(to_json(c, r.moves));
  if (touches && !r.first_only) {
    // All points together: when the bodies touch at all.
    std::vector<SegmentInterval> all = r.result.intervals;
    std::sort(all.begin(), all.end(),
              [](const auto& x, const auto& y) { return x.enter < y.enter; });
    std::vector<SegmentInterval> merged;
    for (const SegmentInterval& in : all) {
      if (!merged.empty() && in.enter <= merged.back().exit)
        merged.back().exit = std::max(merged.back().exit, in.exit);
      else
        merged.push_back(in);
    }
    for (const SegmentInterval& in : merged) intervals.push_back({in.enter, in.exit});
  }
  Json j{{"status", touches ? "contact" : "free"},
         {"method", "swept"},
         {"device", "cpu"},
         {"motion", r.motion},
         {"contacts", contacts},
         {"min_distance", nullptr},
         {"time_of_contact", nullptr},
         {"intervals", intervals},
         {"touching_points", r.result.points.size()},
         {"force", nullptr},
         {"torque", nullptr},
         {"margin", r.margin},
         {"blind_depth", r.result.blind_depth},
         {"path_error", r.result.path_error},
         {"tested_spheres", r.result.work.spheres},
         {"tested_points", r.result.work.points},
         {"tested_segments", r.result.work.segments},
         {"warnings", r.warnings},
         {"seconds", r.seconds}};
  if (r.first_only) j["intervals"] = j["touching_points"] = nullptr;
  if (r.nearest && r.nearest->status == ApproachStatus::kDone) {
    j["min_distance"] = r.nearest->distance;
    j["min_distance_time"] = r.nearest->time;
  } else if (r.nearest) {
    j["lower_bound"] = r.nearest->lower_bound;  // it gave up
  }
  if (touches) j["time_of_contact"] = r.result.time_of_contact;
  return j;
}

void print_report(const RestReport& r) {
  const CollideResult& result = r.result;
  Facts facts{
      {"status", result.status == CollideStatus::kGaveUp ? "gave up" : name(result.status)}};
  if (!result.contacts.empty()) add_contact(facts, result.contacts.front());
  facts.emplace_back("points",
                     fmt::format("{} touch, {} contacts", format_count(result.touching_points),
                                 format_count(result.contacts.size())));
  const auto add_vector = [&](const char* what, const Vec3& v, const char* unit) {
    facts.emplace_back(what, fmt::format("{:.4g} {:.4g} {:.4g} {}", v.x, v.y, v.z, unit));
  };
  if (result.status == CollideStatus::kContact) {
    add_vector("force on A", result.force, "N");
    add_vector("torque on A", result.torque, "N m, about its origin");
  }
  if (const auto distance = compute_distance(r))
    facts.emplace_back("distance", fmt::format("{:.4g} m", *distance));
  if (is_limited(r.request))
    facts.emplace_back("looked at", fmt::format("all of level {}; nothing is nearer than {:.4g} m",
                                                result.level, result.lower_bound));
  facts.emplace_back("unseen", fmt::format("nothing deeper than {:.4g} m", result.blind_depth));
  facts.emplace_back("time", fmt::format("{:.3g} s", r.seconds));
  print_facts(facts);
}

Json to_json(const RestReport& r) {
  const CollideResult& result = r.result;
  const bool touches = result.status == CollideStatus::kContact;
  Json contacts = Json::array(), manifolds = Json::array();
  for (const Contact& c : result.contacts) contacts.push_back(to_json(c));
  for (const std::uint32_t first : result.first_contact)
    if (first < result.contacts.size()) manifolds.push_back(first);
  Json j{{"status", name(result.status)},
         {"method", "vps"},
         {"device", "cpu"},
         {"motion", r.motion},
         {"contacts", contacts},
         {"min_distance", nullptr},
         {"time_of_contact", nullptr},
         {"intervals", Json::array()},
         {"touching_points", result.touching_points},
         {"force", to_list(result.force)},
         {"torque", to_list(result.torque)},
         {"overlap_area", result.area},
         {"stiffness", r.request.force.stiffness},
         {"manifolds", manifolds},
         {"level", result.level},
         {"complete", result.complete},
         {"lower_bound", nullptr},
         {"margin", r.request.margin},
         {"blind_depth", result.blind_depth},
         {"tested_spheres", result.work.spheres},
         {"tested_points", result.work.points},
         {"warnings", r.warnings},
         {"seconds", r.seconds}};
  if (const auto distance = compute_distance(r)) {
    j["min_distance"] = *distance;
    j["min_distance_time"] = 0;
  }
  if (std::isfinite(result.lower_bound)) j["lower_bound"] = result.lower_bound;
  if (touches) {
    j["time_of_contact"] = 0;
    j["intervals"].push_back({0, 1});
  }
  return j;
}

}  // namespace isotact::tool

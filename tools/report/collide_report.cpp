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

const char* name(CollideStatus status) {
  switch (status) {
    case CollideStatus::kFree:
      return "free";
    case CollideStatus::kContact:
      return "contact";
    case CollideStatus::kUncertain:
      return "uncertain";
    case CollideStatus::kGaveUp:
      break;
  }
  return "gave_up";
}

void add_distance(Json& j, const DistanceResult& r) {
  const auto finite_or_null = [](double value) {
    return std::isfinite(value) ? Json(value) : Json();
  };
  const bool has_points = std::isfinite(r.distance);
  j["distance"] = finite_or_null(r.distance);
  j["lower_bound"] = finite_or_null(r.lower_bound);
  j["upper_bound"] = finite_or_null(r.upper_bound);
  j["exact"] = r.exact;
  j["touching"] = r.exact ? Json(r.touching) : Json();
  j["contained"] = r.exact ? Json(r.contained) : Json();
  j["witness_a"] = has_points ? to_list(r.contact.point_on_a) : Json();
  j["witness_b"] = has_points ? to_list(r.contact.point_on_b) : Json();
}

void add_distance(Facts& facts, const DistanceResult& r, const LengthUnit& unit) {
  const bool is_near = r.status == DistanceStatus::kNearEnough;
  if (std::isfinite(r.distance))
    facts.emplace_back("distance", is_near   ? "at most " + unit.format(r.distance)
                                   : r.exact ? unit.format(r.distance) + " (exact)"
                                             : unit.format(r.distance));
  else
    facts.emplace_back("distance", "more than " + unit.format(r.lower_bound));
  const bool is_known = is_near || (r.exact && r.status == DistanceStatus::kDone &&
                                    r.lower_bound >= r.distance - 1e-6 * std::abs(r.distance));
  if (!is_known && std::isfinite(r.distance))
    facts.emplace_back("between",
                       unit.format(r.lower_bound) + " and " + unit.format(r.upper_bound));
  if (r.contained) facts.emplace_back("contained", "a part of one body is inside of the other");
  if (!std::isfinite(r.distance)) return;
  facts.emplace_back("point on A", unit.format(r.contact.point_on_a));
  facts.emplace_back("point on B", unit.format(r.contact.point_on_b));
}

void print_report(const PosesReport& r) {
  fmt::print("{:>6}  {:<9}  {:>14}  {}\n", "pose", "status", "distance", "exact");
  for (std::size_t i = 0; i < r.answers.size(); ++i) {
    const auto& [status, distance, exact] = r.answers[i];
    const std::string length = !distance ? "-"
                               : std::isfinite(distance->distance)
                                   ? r.unit.format(distance->distance)
                                   : "> " + r.unit.format(distance->lower_bound);
    fmt::print("{:>6}  {:<9}  {:>14}  {}\n", i, status, length, exact ? "yes" : "no");
  }
}

Json to_json(const PosesReport& r) {
  Json rows = Json::array();
  const DistanceResult* least = nullptr;
  std::string status = "free";
  for (const PoseResult& answer : r.answers) {
    Json row{{"status", answer.status}, {"exact", answer.exact}};
    if (answer.distance) {
      add_distance(row, *answer.distance);
      if (least == nullptr || answer.distance->distance < least->distance)
        least = &*answer.distance;
    }
    rows.push_back(std::move(row));
    if (answer.status == "contact" || status == "free") status = answer.status;
  }
  Json j{{"status", status}};
  if (!r.method.empty()) {
    j["method"] = r.method;
    j["device"] = "cpu";
    j["contacts"] = Json::array();
  }
  j["exact"] = std::all_of(r.answers.begin(), r.answers.end(),
                           [](const PoseResult& answer) { return answer.exact; });
  if (least != nullptr) add_distance(j, *least);
  j["poses"] = std::move(rows);
  j["warnings"] = r.warnings;
  j["seconds"] = r.seconds;
  return j;
}

void add_contact(Facts& facts, const Contact& c, const LengthUnit& unit) {
  facts.emplace_back("position", unit.format(c.position));
  facts.emplace_back("normal", fmt::format("{:.4g} {:.4g} {:.4g} (from B towards A)", c.normal.x,
                                           c.normal.y, c.normal.z));
  facts.emplace_back("depth", unit.format(c.depth));
}

namespace {

std::string with_exact(const std::string& status, bool exact) {
  return status + (exact ? " (exact)" : " (not exact)");
}

Json to_json(const TimedContact& c, bool moves) {
  Json j = tool::to_json(c.contact);
  if (moves) j["time_of_contact"] = c.time;
  return j;
}

// A level or a budget: then the answer is what the query alone knows.
bool is_limited(const CollideRequest& r) {
  return r.level >= 0 || r.max_nodes > 0 || r.max_microseconds > 0;
}

// The least distance, where it is known: of all that was looked at, or of the closest approach.
std::optional<double> compute_distance(const RestReport& r) {
  if (r.measured && !is_limited(r.request)) {
    if (!std::isfinite(r.measured->distance)) return {};
    return r.measured->distance;
  }
  if (!r.request.want_distance) return {};
  if (!is_limited(r.request) && r.nearest && r.nearest->status == ApproachStatus::kDone)
    return r.nearest->distance;
  if (!std::isfinite(r.result.distance)) return {};
  return r.result.distance;
}

}  // namespace

void print_report(const SweptReport& r) {
  const bool touches = r.result.status == ContinuousStatus::kContact;
  const bool exact = r.result.exact;
  Facts facts{{"status", with_exact(touches ? "contact" : "free", exact)}};
  if (touches && r.moves)
    facts.emplace_back(
        "first contact",
        with_exact(fmt::format("at {:.6g} of the motion", r.result.time_of_contact), exact));
  if (exact && r.result.contained)
    facts.emplace_back("contained", "at the start a part of one body is inside of the other");
  if (touches) add_contact(facts, r.result.contact, r.unit);
  if (!r.first_only)
    facts.emplace_back(
        "points",
        fmt::format("{} touch{}, {} intervals", format_count(r.result.points.size()),
                    exact ? " in the other's field" : "", format_count(r.result.intervals.size())));
  if (r.measured)
    add_distance(facts, *r.measured, r.unit);
  else if (r.result.has_distance && r.result.distance_gave_up)
    facts.emplace_back("distance", fmt::format("at least {}, at most {} (gave up)",
                                               r.unit.format(r.result.lower_bound),
                                               r.unit.format(r.result.distance)));
  else if (r.result.has_distance)
    facts.emplace_back(r.moves ? "closest approach" : "distance",
                       r.unit.format(r.result.distance) +
                           (r.moves ? with_exact(fmt::format(" at {:.4g} of the motion",
                                                             r.result.time_of_distance),
                                                 exact)
                                    : ""));
  if (exact && !r.first_only)
    facts.emplace_back(
        "unseen", "nothing; by points, nothing deeper than " + r.unit.format(r.result.blind_depth));
  else
    facts.emplace_back(
        "unseen", exact ? "nothing" : "nothing deeper than " + r.unit.format(r.result.blind_depth));
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
    // Fields may be early by their error.
    const double first = r.result.exact ? r.result.time_of_contact : 0;
    for (const SegmentInterval& in : merged)
      if (static_cast<double>(in.exit) >= first)
        intervals.push_back({std::max(static_cast<double>(in.enter), first), in.exit});
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
         // By the triangles nothing goes unseen; touching_points and intervals are of points.
         {"blind_depth", r.result.exact ? 0 : r.result.blind_depth},
         {"points_blind_depth", nullptr},
         {"path_error", r.result.path_error},
         {"tested_spheres", r.result.work.spheres},
         {"tested_points", r.result.work.points},
         {"tested_segments", r.result.work.segments},
         {"warnings", r.warnings},
         {"seconds", r.seconds}};
  if (r.first_only)
    j["intervals"] = j["touching_points"] = nullptr;
  else
    j["points_blind_depth"] = r.result.blind_depth;
  if (r.result.has_distance && !r.result.distance_gave_up) {
    j["min_distance"] = r.result.distance;
    j["min_distance_time"] = r.result.time_of_distance;
  } else if (r.measured && std::isfinite(r.measured->distance)) {
    j["min_distance"] = r.measured->distance;
    j["min_distance_time"] = 0;
  }
  // Of a search that gave up, or an exact one.
  if (r.result.has_distance && (r.result.distance_gave_up || (r.moves && r.result.exact)))
    j["lower_bound"] = r.result.lower_bound;
  if (touches) j["time_of_contact"] = r.result.time_of_contact;
  if (r.measured) {
    add_distance(j, *r.measured);
  } else if (r.moves && r.result.has_distance && r.result.exact) {
    j["distance"] = j["upper_bound"] = r.result.distance;
    if (!r.result.distance_gave_up || touches) {
      j["witness_a"] = to_list(r.result.nearest.point_on_a);
      j["witness_b"] = to_list(r.result.nearest.point_on_b);
    }
  }
  j["exact"] = r.result.exact;
  if (r.result.exact) j["contained"] = r.result.contained;
  return j;
}

namespace {

// What the verdict says of the distance, without a further search.
void add_known(Json& j, const RestReport& r) {
  const CollideResult& c = r.result;
  const auto finite_or_null = [](double value) {
    return std::isfinite(value) ? Json(value) : Json();
  };
  const bool touches = c.status == CollideStatus::kContact;
  j["lower_bound"] = finite_or_null(is_limited(r.request) ? c.lower_bound : c.least_distance);
  j["upper_bound"] = finite_or_null(c.most_distance);
  if (touches && !c.contacts.empty()) {
    j["witness_a"] = to_list(c.contacts.front().point_on_a);
    j["witness_b"] = to_list(c.contacts.front().point_on_b);
  }
  if (!c.exact) return;
  // Whether bodies that are near by the margin touch is not known.
  const bool is_known = r.request.margin == 0 || c.contained || !touches;
  j["touching"] = is_known || c.touching ? Json(c.touching) : Json();
  j["contained"] = touches && (is_known || c.touching) ? Json(c.contained) : Json();
  if (touches && !std::isfinite(c.most_distance)) j["upper_bound"] = r.request.margin;
  if (!touches && !std::isfinite(c.least_distance)) j["lower_bound"] = r.request.margin;
}

}  // namespace

void print_report(const RestReport& r) {
  const CollideResult& result = r.result;
  Facts facts{{"status", result.status == CollideStatus::kGaveUp
                             ? "gave up"
                             : with_exact(name(result.status), result.exact)}};
  if (!result.contacts.empty()) {
    add_contact(facts, result.contacts.front(), r.unit);
    // The triangles say that bodies touch; how deep points are is the field's word.
    if (result.exact && result.touching_points > 0)
      facts.back().second += " (of a point in the field, not exact)";
  }
  if (result.status == CollideStatus::kUncertain)
    facts.emplace_back("between", r.unit.format(result.least_distance) + " and " +
                                      r.unit.format(result.most_distance));
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
  if (r.measured)
    add_distance(facts, *r.measured, r.unit);
  else if (const auto distance = compute_distance(r))
    facts.emplace_back("distance", r.unit.format(*distance));
  if (is_limited(r.request))
    facts.emplace_back("tested", fmt::format("all of level {}; nothing is nearer than {}",
                                             result.level, r.unit.format(result.lower_bound)));
  facts.emplace_back("unseen", "nothing deeper than " + r.unit.format(result.blind_depth));
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
  if (r.measured)
    add_distance(j, *r.measured);
  else
    add_known(j, r);
  j["exact"] = result.exact;
  if (touches) {
    j["time_of_contact"] = 0;
    j["intervals"].push_back({0, 1});
  }
  return j;
}

}  // namespace isotact::tool

#include "collide/collide_depth.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/pose.h"
#include "isotact/queries/shape_views.h"

#include "input/depth_device.h"

namespace isotact::tool {
namespace {

DepthRequest request_of(const DepthOptions& options, int max_contacts) {
  DepthRequest r{.two_sided = options.two_sided,
                 .conservative = options.conservative,
                 .max_directions = std::max(options.directions, 1),
                 .want_coverage = true,
                 .keep = std::min(kMostDepthContacts, static_cast<std::uint32_t>(max_contacts))};
  if (options.maps == "two-maps") r.maps = DepthMethod::kTwoMaps;
  if (options.maps == "fragments") r.maps = DepthMethod::kFragments;
  if (options.pixels > 0) r.pixels = options.pixels;
  if (options.layers > 0) r.layers = options.layers;
  if (r.maps == DepthMethod::kIntervals && r.two_sided)
    throw UsageError("--two-sided is of --maps two-maps and fragments: intervals have both sides");
  if (r.maps != DepthMethod::kIntervals && options.layers > 0)
    throw UsageError("--layers is of --maps intervals: the others know one part a ray");
  if (options.direction.empty() || options.direction == "auto") return r;
  if (options.directions >= 0)
    throw UsageError("--directions is for --direction auto, which chooses them");
  try {
    r.direction = parse_pose("xyz=" + options.direction).translation;
  } catch (const Error& error) {
    throw UsageError(std::string("--direction: ") + error.what());
  }
  if (!(length_sq(r.direction) > 0)) throw UsageError("--direction must not be zero");
  return r;
}

void warn(DepthVerdict& verdict, std::string text) {
  fmt::print(stderr, "isotact: warning: {}\n", text);
  verdict.warnings.push_back(std::move(text));
}

void warn_of_maps(DepthVerdict& verdict) {
  for (const DepthViewResult& view : verdict.result.depth.views) {
    if (view.overfull > 0)
      warn(verdict,
           fmt::format("{} of {} pixels have more parts of A than layers: what lies between the "
                       "last of them counts as A; take more --layers or another --direction",
                       view.overfull, view.covered));
    if (view.open > 0)
      warn(verdict, fmt::format("A is not closed in {} of {} pixels: from its first surface to its "
                                "last counts as A there",
                                view.open, view.covered));
  }
}

bool is_colliding(const DepthVerdict& v) { return v.result.status == CollideStatus::kContact; }

const char* name_of(DepthMethod method) {
  return method == DepthMethod::kTwoMaps     ? "two-maps"
         : method == DepthMethod::kFragments ? "fragments"
                                             : "intervals";
}

const DepthViewResult* deepest_of(const DepthVerdict& v) {
  const DepthViewResult* best = nullptr;
  for (const DepthViewResult& view : v.result.depth.views)
    if (view.pixels > 0 && (best == nullptr || view.depth > best->depth)) best = &view;
  return best;
}

Json to_json(const DepthViewResult& view) {
  return {{"direction", to_list(view.direction)},
          {"seen", view.seen},
          {"gained", view.gained},
          {"grazing", view.grazing},
          {"covered", view.covered},
          {"overfull", view.overfull},
          {"open", view.open},
          {"colliding", view.colliding},
          {"pixels", view.pixels}};
}

}  // namespace

void add_depth_options(Command& command, DepthOptions& options) {
  command.add_text(
      {.names = "--direction",
       .help = "With --method depth: draw along this direction, in A's frame (default: auto)",
       .value_name = "auto|X,Y,Z"},
      options.direction);
  command.add_whole(
      {.names = "--directions",
       .help = "With --method depth: draw along as many directions as needed, at most "
               "this many, 1 to 16 (default: 1)",
       .value_name = "N"},
      options.directions, {1, 16});
  command.add_whole({.names = "--pixels",
                     .help = "With --method depth: pixels along the side of a map (default: 512)",
                     .value_name = "N"},
                    options.pixels, {1, kMostDepthPixels});
  command.add_whole({.names = "--layers",
                     .help = "With --method depth: most parts of A that a ray may pass, 1 to 8 "
                             "(default: 4)",
                     .value_name = "N"},
                    options.layers, {1, kMostDepthLayers});
  command.add_text({.names = "--maps",
                    .help = "With --method depth: maps of the intervals in which A is solid along "
                            "each ray, or height maps of the paper (default: intervals)",
                    .value_name = "intervals|two-maps|fragments",
                    .choices = {"intervals", "two-maps", "fragments"}},
                   options.maps);
  command.add_flag("--two-sided", options.two_sided,
                   "With --maps two-maps and fragments: use the rear boundary of A as well");
  command.add_flag(
      "--conservative", options.conservative,
      "With --method depth: miss no part, however thin; points up to a pixel outside of A "
      "then count");
}

Shape load_drawn_shape(const std::string& file, const std::string& letter,
                       ShapeInputOptions options, std::vector<std::string>& warnings) {
  options.builds_field = options.needs_points = false;
  LoadedBody body = load_body(file, options);
  std::vector<std::string> own;
  try {
    own = describe_depth_limits(body.shape, letter == "B");
  } catch (const Cancelled&) {
    throw;
  } catch (const Error& error) {
    throw Error({.file = file}, error.what());
  }
  print_warnings(file, own);
  for (const auto* list : {&body.warnings, &own})
    for (const std::string& warning : *list)
      warnings.push_back(fmt::format("{}: {}", letter, warning));
  return body.shape;
}

DepthVerdict find_depth_contacts(const Shape& a, const Pose& world_from_a, const Shape& b,
                                 const Pose& world_from_b, const DepthOptions& options, bool gpu,
                                 int max_contacts, Threads threads) {
  DepthVerdict verdict{.request = request_of(options, max_contacts)};
  DepthDevice device(gpu);
  CollideRequest request{.method = Method::kDepthMap, .depth = verdict.request, .threads = threads};
  request.depth.backend = &device;
  verdict.result = collide(a, world_from_a, b, world_from_b, request);
  if (!device.warning().empty()) warn(verdict, device.warning());
  verdict.device = device.name();
  verdict.map_seconds = device.map_seconds();
  verdict.seconds = device.seconds();
  verdict.maps = device.maps();
  verdict.maps.resize(verdict.result.depth.views.size());
  warn_of_maps(verdict);
  return verdict;
}

void print_report(const DepthVerdict& v) {
  const DepthCoverage& seen = v.result.depth;
  const bool is_bounded = std::isfinite(v.result.blind_depth);
  Facts facts{{"status", seen.inside       ? "contact: A, or a part of it, lies within B"
                         : is_colliding(v) ? "contact (not exact)"
                                           : "free (not exact)"},
              {"device", v.device}};
  if (!v.result.contacts.empty()) add_contact(facts, v.result.contacts.front(), v.unit);
  if (const DepthViewResult* deepest = deepest_of(v); deepest != nullptr && is_colliding(v))
    facts.emplace_back("deepest", v.unit.format(deepest->depth) + " along the view");
  for (const DepthViewResult& view : seen.views)
    facts.emplace_back(&view == seen.views.data() ? "seen along" : "",
                       fmt::format("{:.3g}, {:.3g}, {:.3g}: {:.1f} % of A, {} of {} pixels meet B",
                                   view.direction.x, view.direction.y, view.direction.z,
                                   100 * view.seen, view.pixels, view.covered));
  facts.emplace_back("not seen", fmt::format("{:.1f} % of A's surface; {:.1f} % is grazing",
                                             100 * seen.unseen, 100 * seen.grazing));
  facts.emplace_back("missed", !is_bounded ? "A within B, and what is hidden: see --maps intervals"
                               : v.request.conservative
                                   ? "nothing"
                                   : "nothing in common that holds a ball of " +
                                         v.unit.format(v.result.blind_depth));
  facts.emplace_back("time",
                     fmt::format("{:.3g} s, and {:.3g} s for A's map", v.seconds, v.map_seconds));
  print_facts(facts);
}

Json to_json(const DepthVerdict& v) {
  const DepthCoverage& seen = v.result.depth;
  const bool colliding = is_colliding(v);
  Json contacts = Json::array(), directions = Json::array();
  for (const Contact& contact : v.result.contacts) contacts.push_back(tool::to_json(contact));
  std::uint32_t pixels = 0;
  for (const DepthViewResult& view : seen.views) {
    directions.push_back(to_json(view));
    pixels = std::max(pixels, view.pixels);
  }
  const DepthViewResult* deepest = deepest_of(v);
  const bool has_depth = colliding && deepest != nullptr;
  const double miss = v.result.blind_depth;
  return {{"status", colliding ? "contact" : "free"},
          {"method", "depth"},
          {"device", v.device},
          {"motion", v.motion},
          {"contacts", contacts},
          {"min_distance", nullptr},
          {"exact", false},
          {"time_of_contact", colliding ? Json(0) : Json()},
          {"intervals", colliding ? Json::array({Json::array({0, 1})}) : Json::array()},
          {"force", nullptr},
          {"torque", nullptr},
          {"inside", seen.inside},
          {"pixels", pixels},
          {"view_depth", has_depth ? Json(deepest->depth) : Json()},
          {"deepest", has_depth ? to_list(deepest->deepest) : Json()},
          {"maps", name_of(v.request.maps)},
          {"two_sided", v.request.two_sided},
          {"conservative", v.request.conservative},
          {"width", v.request.pixels},
          {"height", v.request.pixels},
          {"layers", v.maps.empty() ? 0 : v.maps.front().layers},
          {"directions", directions},
          {"seen", seen.seen},
          {"unseen", seen.unseen},
          {"grazing", seen.grazing},
          {"blind_depth", std::isfinite(miss) ? Json(miss) : Json()},
          {"warnings", v.warnings},
          {"map_seconds", v.map_seconds},
          {"seconds", v.seconds}};
}

}  // namespace isotact::tool

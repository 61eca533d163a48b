#include "collide_depth.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/pose.h"
#include "isotact/geometry/repair/flaws.h"

#include "input/asset_input.h"
#include "input/depth_device.h"
#include "input/field_file.h"
#include "input/mesh_input.h"

namespace isotact::tool {
namespace {

struct DrawnSurface {
  TriangleMesh mesh{};
  bool is_of_field = false;  // then it is closed and turned outwards
};

DrawnSurface surface_of(const std::string& file, const std::string& unit, Threads threads,
                        std::vector<std::string>& warnings) {
  const auto of_field = [&](const AssetField& field) {
    FieldSurfaceResult surface = extract_field_surface(field, {.threads = threads}, file);
    warnings.insert(warnings.end(), surface.notes.begin(), surface.notes.end());
    warnings.push_back("is drawn as the surface of its field, not as the mesh that this is of");
    return DrawnSurface{std::move(surface.mesh), true};
  };
  if (is_asset(file)) {
    const Asset asset = read_asset_input(file);
    if (asset.mesh) return {asset.mesh->mesh()};
    if (!has_field(asset))
      throw Error({.file = file},
                  "--method depth draws surfaces, and this asset has neither a mesh nor a field to "
                  "make one of: give the mesh that it was built from");
    return of_field(field_of(asset));
  }
  if (is_field_file(file)) return of_field(load_field(file));
  LoadedMesh loaded = read_input({file, unit});
  if (loaded.mesh.triangles.empty()) throw Error({.file = file}, "has no triangles");
  warnings = std::move(loaded.warnings);
  return {std::move(loaded.mesh)};
}

// What is wrong with a mesh as it was read.
bool is_closed(const TriangleMesh& mesh, const std::string& file, const std::string& letter,
               Threads threads, std::vector<std::string>& warnings) {
  if (const auto flaw = find_flaw(mesh)) throw Error({.file = file}, *flaw);
  const MeshFlaws flaws = find_flaws(mesh, {.threads = threads});
  if (flaws.non_finite_triangles > 0)
    throw Error({.file = file}, fmt::format("{} triangles are not finite: isotact info names them",
                                            flaws.non_finite_triangles));
  if (!flaws.balanced && letter == "B")
    warnings.push_back("is not closed: that A lies within it cannot be told");
  if (flaws.inward && letter == "B")
    warnings.push_back("is turned inwards: it is taken for a room, free inside");
  return flaws.balanced;
}

DepthSettings settings_of(const DepthOptions& options, int max_contacts) {
  DepthSettings s;
  if (options.maps == "two-maps") s.method = DepthMethod::kTwoMaps;
  if (options.maps == "fragments") s.method = DepthMethod::kFragments;
  if (options.pixels > 0) s.width = s.height = options.pixels;
  if (options.layers > 0) s.layers = options.layers;
  s.two_sided = options.two_sided;
  s.conservative = options.conservative;
  s.max_contacts = std::min(kMostDepthContacts, static_cast<std::uint32_t>(max_contacts));
  if (s.method == DepthMethod::kIntervals && s.two_sided)
    throw UsageError("--two-sided is of --maps two-maps and fragments: intervals have both sides");
  if (s.method != DepthMethod::kIntervals && options.layers > 0)
    throw UsageError("--layers is of --maps intervals: the others know one part a ray");
  return s;
}

DepthCompliance directions_of(const TriangleMesh& mesh, const DepthOptions& options,
                              const DepthSettings& s, Threads threads) {
  DepthDirectionSettings look{.method = s.method,
                              .two_sided = s.two_sided,
                              .layers = s.layers,
                              .max_directions = std::max(options.directions, 1),
                              .threads = threads};
  if (options.direction.empty() || options.direction == "auto")
    return choose_depth_directions(mesh, look);
  if (options.directions >= 0)
    throw UsageError("--directions is for --direction auto, which chooses them");
  Vec3 direction;
  try {
    direction = parse_pose("xyz=" + options.direction).translation;
  } catch (const Error& error) {
    throw UsageError(std::string("--direction: ") + error.what());
  }
  if (!(length_sq(direction) > 0)) throw UsageError("--direction must not be zero");
  return check_depth_directions(mesh, {&direction, 1}, look);
}

// Of the same place in several views, the first one stays.
void merge_contacts(DepthVerdict& verdict) {
  for (const DepthLook& look : verdict.views)
    verdict.contacts.insert(verdict.contacts.end(), look.report.contacts.begin(),
                            look.report.contacts.end());
  std::stable_sort(verdict.contacts.begin(), verdict.contacts.end(),
                   [](const Contact& a, const Contact& b) { return a.depth > b.depth; });
  if (verdict.contacts.size() > verdict.settings.max_contacts)
    verdict.contacts.resize(verdict.settings.max_contacts);
}

void judge(DepthVerdict& verdict) {
  const bool any = verdict.settings.method == DepthMethod::kIntervals;
  const auto hits = std::count_if(verdict.views.begin(), verdict.views.end(),
                                  [](const DepthLook& look) { return look.report.colliding; });
  verdict.colliding = any ? hits > 0 : hits == std::ssize(verdict.views);
  verdict.inside = verdict.colliding &&
                   std::all_of(verdict.views.begin(), verdict.views.end(),
                               [](const DepthLook& look) { return look.report.pixels == 0; });
  if (verdict.colliding) merge_contacts(verdict);
  verdict.miss = INFINITY;
  // The paper's maps have no bound: what lies within B, or behind what hides it, is missed.
  if (verdict.settings.method != DepthMethod::kIntervals) return;
  for (const DepthLook& look : verdict.views)
    verdict.miss = std::min(verdict.miss, compute_depth_miss(look.map.view, verdict.settings));
}

void warn_of_maps(DepthVerdict& verdict) {
  const auto warn = [&](std::string text) {
    fmt::print(stderr, "isotact: warning: {}\n", text);
    verdict.warnings.push_back(std::move(text));
  };
  for (const DepthLook& look : verdict.views) {
    if (look.map.overfull > 0)
      warn(
          fmt::format("{} of {} pixels have more parts of A than layers: what lies between the "
                      "last of them counts as A; take more --layers or another --direction",
                      look.map.overfull, look.map.covered));
    if (look.map.open > 0)
      warn(
          fmt::format("A is not closed in {} of {} pixels: from its first surface to its last "
                      "counts as A there",
                      look.map.open, look.map.covered));
  }
}

const char* status_of(const DepthVerdict& v) { return v.colliding ? "contact" : "free"; }

const char* name_of(DepthMethod method) {
  return method == DepthMethod::kTwoMaps     ? "two-maps"
         : method == DepthMethod::kFragments ? "fragments"
                                             : "intervals";
}

const DepthReport* deepest_of(const DepthVerdict& v) {
  const DepthReport* best = nullptr;
  for (const DepthLook& look : v.views)
    if (look.report.pixels > 0 && (best == nullptr || look.report.depth > best->depth))
      best = &look.report;
  return best;
}

Json to_json(const DepthDirectionShare& share, const DepthLook& look) {
  return {{"direction", to_list(share.direction)},
          {"seen", share.seen},
          {"gained", share.gained},
          {"grazing", share.grazing},
          {"covered", look.map.covered},
          {"overfull", look.map.overfull},
          {"open", look.map.open},
          {"colliding", look.report.colliding},
          {"pixels", look.report.pixels}};
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

DepthBody load_depth_body(const std::string& file, const std::string& letter,
                          const std::string& unit, Threads threads,
                          std::vector<std::string>& warnings) {
  DepthBody body;
  std::vector<std::string> own;
  DrawnSurface surface = surface_of(file, unit, threads, own);
  body.closed = surface.is_of_field || is_closed(surface.mesh, file, letter, threads, own);
  body.mesh = std::move(surface.mesh);
  print_warnings(file, own);
  for (const std::string& warning : own) warnings.push_back(fmt::format("{}: {}", letter, warning));
  body.part = make_depth_mesh(body.mesh);
  return body;
}

DepthVerdict find_depth_contacts(const DepthBody& a, const DepthBody& b,
                                 const DepthOptions& options, bool gpu, int max_contacts,
                                 Threads threads) {
  DepthVerdict verdict{.settings = settings_of(options, max_contacts)};
  verdict.settings.threads = threads;
  verdict.compliance = directions_of(a.mesh, options, verdict.settings, threads);
  DepthDevice device(gpu, verdict.settings);
  if (!device.warning().empty()) {
    verdict.warnings.push_back(device.warning());
    fmt::print(stderr, "isotact: warning: {}\n", device.warning());
  }
  verdict.device = device.name();
  const Aabb box = to_double(bounds(a.mesh));
  using Clock = std::chrono::steady_clock;
  for (const DepthDirectionShare& share : verdict.compliance.directions) {
    const DepthView view = make_depth_view(box, share.direction);
    const auto start = Clock::now();
    DepthLook look{.map = device.draw(a, view), .report = {}};
    const auto drawn = Clock::now();
    if (device.name() != "cpu") device.detect(look.map, a, b);  // compiles shaders
    const auto ready = Clock::now();
    look.report = device.detect(look.map, a, b);
    verdict.map_seconds += std::chrono::duration<double>(drawn - start).count();
    verdict.seconds += std::chrono::duration<double>(Clock::now() - ready).count();
    verdict.views.push_back(std::move(look));
  }
  judge(verdict);
  warn_of_maps(verdict);
  return verdict;
}

void print_report(const DepthVerdict& v) {
  Facts facts{{"status", v.inside ? "contact: A, or a part of it, lies within B" : status_of(v)},
              {"device", v.device}};
  if (!v.contacts.empty()) add_contact(facts, v.contacts.front(), v.unit);
  if (const DepthReport* deepest = deepest_of(v); deepest != nullptr && v.colliding)
    facts.emplace_back("deepest", v.unit.format(deepest->depth) + " along the view");
  for (std::size_t i = 0; i < v.views.size(); ++i) {
    const DepthDirectionShare& share = v.compliance.directions[i];
    const DepthLook& look = v.views[i];
    facts.emplace_back(i == 0 ? "seen along" : "",
                       fmt::format("{:.3g}, {:.3g}, {:.3g}: {:.1f} % of A, {} of {} pixels meet B",
                                   share.direction.x, share.direction.y, share.direction.z,
                                   100 * share.seen, look.report.pixels, look.map.covered));
  }
  facts.emplace_back("not seen",
                     fmt::format("{:.1f} % of A's surface; {:.1f} % is grazing",
                                 100 * v.compliance.unseen, 100 * v.compliance.grazing));
  facts.emplace_back("missed",
                     !std::isfinite(v.miss) ? "A within B, and what is hidden: see --maps intervals"
                     : v.settings.conservative
                         ? "nothing"
                         : "nothing in common that holds a ball of " + v.unit.format(v.miss));
  facts.emplace_back("time",
                     fmt::format("{:.3g} s, and {:.3g} s for A's map", v.seconds, v.map_seconds));
  print_facts(facts);
}

Json to_json(const DepthVerdict& v) {
  Json contacts = Json::array(), directions = Json::array();
  for (const Contact& contact : v.contacts) contacts.push_back(tool::to_json(contact));
  std::uint32_t pixels = 0;
  for (std::size_t i = 0; i < v.views.size(); ++i) {
    directions.push_back(to_json(v.compliance.directions[i], v.views[i]));
    pixels = std::max(pixels, v.views[i].report.pixels);
  }
  const DepthReport* deepest = deepest_of(v);
  const bool has_depth = v.colliding && deepest != nullptr;
  return {{"status", status_of(v)},
          {"method", "depth"},
          {"device", v.device},
          {"motion", v.motion},
          {"contacts", contacts},
          {"min_distance", nullptr},
          {"time_of_contact", v.colliding ? Json(0) : Json()},
          {"intervals", v.colliding ? Json::array({Json::array({0, 1})}) : Json::array()},
          {"force", nullptr},
          {"torque", nullptr},
          {"inside", v.inside},
          {"pixels", pixels},
          {"view_depth", has_depth ? Json(deepest->depth) : Json()},
          {"deepest", has_depth ? to_list(deepest->deepest) : Json()},
          {"maps", name_of(v.settings.method)},
          {"two_sided", v.settings.two_sided},
          {"conservative", v.settings.conservative},
          {"width", v.settings.width},
          {"height", v.settings.height},
          {"layers", v.views.empty() ? 0 : v.views.front().map.layers},
          {"directions", directions},
          {"seen", v.compliance.seen},
          {"unseen", v.compliance.unseen},
          {"grazing", v.compliance.grazing},
          {"blind_depth", std::isfinite(v.miss) ? Json(v.miss) : Json()},
          {"warnings", v.warnings},
          {"map_seconds", v.map_seconds},
          {"seconds", v.seconds}};
}

}  // namespace isotact::tool

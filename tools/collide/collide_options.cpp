#include "collide/collide_options.h"

#include <algorithm>

#include <fmt/format.h>

#include "isotact/queries/points/shell_contact.h"

#include "input/mesh_input.h"

namespace isotact::tool {
namespace {

Accuracy accuracy_of(const CollideOptions& options) {
  if (options.accuracy == "exact") return Accuracy::kExact;
  return options.accuracy == "field" ? Accuracy::kField : Accuracy::kBest;
}

void add_rest_options(Command& command, CollideOptions& options) {
  command.add_whole({.names = "--level",
                     .help = "At rest: test this level of the point trees and no further, 0 for "
                             "the root (default: all points)",
                     .value_name = "N"},
                    options.level, {0, 1000});
  command.add_whole(
      {.names = "--max-nodes",
       .help = "At rest: test at most this many spheres and points (default: no limit)",
       .value_name = "N"},
      options.max_nodes, {1, 2e9});
  command.add_number({.names = "--time-budget",
                      .help = "At rest: stop the query after this time (default: no limit); the "
                              "answer then depends on the machine",
                      .value_name = "MICROSECONDS"},
                     options.time_budget, {1e-3, 1e9});
  command.add_whole(
      {.names = "--patches",
       .help = "At rest: divide each body into about this many patches, each with its "
               "own contacts (default: 1)",
       .value_name = "N"},
      options.patches, {1, 1e6});
  command.add_number(
      {.names = "--stiffness",
       .help = "At rest: the force is this many N/m^3 times depth and area (default: "
               "1e7)",
       .value_name = "K"},
      options.stiffness, {0, 1e30});
}

}  // namespace

ContinuousRequest request_of(const CollideOptions& options) {
  ContinuousRequest request{.margin = options.margin,
                            .model = *find_motion_model(options.motion),
                            .degree = options.degree,
                            .mode = options.first_only ? Mode::kFirst : Mode::kAll,
                            .max_contacts = static_cast<std::size_t>(options.max_contacts),
                            .path_tolerance = options.path_tolerance,
                            .threads = options.common.thread_setting()};
  if (options.roles == "a") request.roles = Roles::kPointsOfA;
  if (options.roles == "b") request.roles = Roles::kPointsOfB;
  request.accuracy = accuracy_of(options);
  return request;
}

bool has_rest_options(const CollideOptions& o) {
  return o.level >= 0 || o.max_nodes >= 0 || o.patches >= 0 || o.time_budget >= 0 ||
         o.stiffness >= 0;
}

bool is_at_rest(const CollideOptions& options, bool moves) {
  const bool wants_intervals = options.first_only || !options.output.empty();
  const bool is_depth = options.method == "depth";
  const bool is_of_rest = options.method == "vps" || options.method == "idf" || is_depth;
  if (is_of_rest && moves)
    throw UsageError(fmt::format("--method {} is for bodies at rest; those that move need swept",
                                 options.method));
  if (is_of_rest && wants_intervals)
    throw UsageError(
        fmt::format("--method {} has no intervals: -o and --first are of swept", options.method));
  if (options.accuracy != "best" && (options.method == "idf" || is_depth))
    throw UsageError("--accuracy is of --method vps and swept");
  if (options.accuracy == "exact" &&
      (options.margin < 0 || options.roles != "both" || options.level >= 0 ||
       options.max_nodes >= 0 || options.time_budget >= 0))
    throw UsageError(
        "--accuracy exact takes no negative --margin, no --points-of, --level, --max-nodes or "
        "--time-budget: these are for points and fields");
  if (options.gpu && options.method != "idf" && !is_depth)
    throw UsageError("--gpu is of --method idf and depth");
  if (options.idf.is_used() && options.method != "idf")
    throw UsageError("--samples and --overlap are of --method idf");
  if (options.depth.is_used() && !is_depth)
    throw UsageError(
        "--direction, --directions, --pixels, --layers, --maps, --two-sided and --conservative are "
        "of --method depth");
  if (is_depth && (options.margin != 0 || options.roles != "both" || options.points > 0))
    throw UsageError("--method depth has neither points nor a margin");
  if (is_depth && options.distance)
    throw UsageError("--method depth draws bodies and knows no distance: choose another method");
  if (options.method == "idf" && options.roles != "both")
    throw UsageError("--method idf has no points: leave --points-of out");
  if (options.method == "idf" && options.margin < 0)
    throw UsageError("--method idf takes no negative --margin");
  if (options.method == "idf" && !options.picture.empty())
    throw UsageError("--picture shows points; --method idf has none");
  const bool at_rest =
      options.method == "vps" || (options.method == "auto" && !moves && !wants_intervals);
  if (!at_rest && has_rest_options(options))
    throw UsageError(
        "--level, --max-nodes, --time-budget, --patches and --stiffness are of --method vps, for "
        "bodies at rest");
  return at_rest;
}

bool wants_distance(const CollideOptions& o) {
  return o.distance || !o.view.empty() || o.fail.is_set();
}

DistanceRequest distance_request_of(const CollideOptions& o, const Shape& a, const Shape& b) {
  DistanceRequest request{.accuracy = accuracy_of(o)};
  const bool only_fails = !o.distance && o.view.empty();
  if (only_fails && o.fail.closer > 0 && request.accuracy != Accuracy::kField &&
      have_exact_distance(a, b))
    request.near_enough = o.fail.closer;
  return request;
}

CollideRequest rest_request_of(const CollideOptions& o) {
  CollideRequest request{
      .accuracy = accuracy_of(o),
      .margin = o.margin,
      .roles = request_of(o).roles,
      .max_contacts = std::min(kManifoldSize, static_cast<std::uint32_t>(o.max_contacts)),
      .level = o.level,
      .want_distance = wants_distance(o),
      .want_force = true};
  if (o.patches > 0) request.patches = static_cast<std::uint32_t>(o.patches);
  if (o.max_nodes > 0) request.max_nodes = static_cast<std::uint64_t>(o.max_nodes);
  if (o.time_budget > 0) request.max_microseconds = o.time_budget;
  if (o.stiffness >= 0) request.force.stiffness = o.stiffness;
  return request;
}

void add_collide_options(Command& command, CollideOptions& options) {
  command.add_text({.names = "A", .help = kBodyHelp, .required = true}, options.a.file);
  command.add_text({.names = "B", .help = "The other body", .required = true}, options.b.file);
  add_moving_body(command, options.a, "a");
  add_moving_body(command, options.b, "b");
  command.add_text({.names = "--method",
                    .help = "vps: points of each body in the field of the other, at rest, with "
                            "force; idf: particles on the surface of the common part, at rest; "
                            "depth: both bodies drawn into the same maps, at rest; swept: points "
                            "along their paths; auto: vps if nothing moves and neither -o nor "
                            "--first is given, else swept (default: auto)",
                    .value_name = "auto|swept|vps|idf|depth",
                    .choices = {"auto", "swept", "vps", "idf", "depth"}},
                   options.method);
  command.add_text({.names = "--accuracy",
                    .help = "exact: the triangles decide whether and when bodies touch, an error "
                            "without them; field: points and fields; best: exact if possible "
                            "(default: best). Intervals are always those of points",
                    .value_name = "best|field|exact",
                    .choices = {"best", "field", "exact"}},
                   options.accuracy);
  command.add_flag("--gpu", options.gpu, "With --method idf and depth: compute on the GPU");
  add_idf_options(command, options.idf);
  add_depth_options(command, options.depth);
  add_rest_options(command, options);
  command.add_text({.names = "--motion",
                    .help = "Motion between the poses: straight point paths, constant rates of "
                            "each body, one screw, or a polynomial (default: rates)",
                    .value_name = "straight|rates|screw|polynomial",
                    .choices = {"straight", "rates", "screw", "polynomial"}},
                   options.motion);
  command.add_whole(
      {.names = "--degree",
       .help = "With --motion polynomial: degree of the polynomial, 1 to 8 (default: 3)",
       .value_name = "N"},
      options.degree, {1, 8});
  command.add_length({.names = "--margin",
                      .help = "Bodies touch if their distance is at most this (default: 0)",
                      .value_name = "LENGTH"},
                     options.margin, {-1e12, 1e12});
  command.add_text({.names = "--points-of",
                    .help = "The body that gives points, which are tested in the other's field "
                            "(default: both)",
                    .value_name = "a|b|both",
                    .choices = {"a", "b", "both"}},
                   options.roles);
  command.add_flag("--distance", options.distance,
                   "Also compute the distance of the bodies, or their closest approach along the "
                   "motion (not with --method depth)");
  command.add_flag("--first", options.first_only,
                   "Stop at the first contact, which is the fastest query");
  command.add_whole({.names = "--max-contacts",
                     .help = "Return at most this many contacts, the earliest ones, 1 to 100000 "
                             "(default: 16); at rest the deepest ones: at most 4 per patch, and "
                             "64 with --method idf and depth",
                     .value_name = "N"},
                    options.max_contacts, {1, 100000});
  command.add_number({.names = "--path-tolerance",
                      .help = "Largest error of the straight pieces of curved paths, in cells "
                              "(default: 1/32)",
                      .value_name = "CELLS"},
                     options.path_tolerance, {1e-6, 1e6});
  command.add_whole({.names = "--resolution",
                     .help = "With meshes: cells along the longest side (default: 128)",
                     .value_name = "N"},
                    options.input.resolution, {16, 4096});
  command.add_whole(
      {.names = "--points",
       .help = "Number of points on each body that has none (default: points two cells "
               "apart)",
       .value_name = "N"},
      options.points, {1, kMaxShellPoints});
  command.add_text({.names = "--sign",
                    .help = "With meshes: rule that decides between inside and outside (default: "
                            "auto)",
                    .value_name = "auto|pseudonormal|winding|unsigned",
                    .choices = {"auto", "pseudonormal", "winding", "unsigned"}},
                   options.input.sign);
  command.add_text(
      {.names = "--keep-thin",
       .help = "With meshes: treatment of walls that vanish between samples: grow the body by at "
               "most a cell (default: offset), use smaller cells, or only report them",
       .value_name = "offset|refine|report",
       .choices = {"offset", "refine", "report"}},
      options.input.keep_thin);
  add_query_options(command, options.query);
  add_unit(command, options.input.unit);
  command.add_text(
      {.names = "-o,--output",
       .help = "Intervals to write, one row per interval: body (0: A, 1: B), point, t_enter, "
               "t_exit; .npy, .csv, else raw float32",
       .value_name = "FILE"},
      options.output);
  command.add_text({.names = "--picture",
                    .help = "Picture to write: B, and the points of A at the first contact; with "
                            "--method depth the maps",
                    .value_name = "PNG"},
                   options.picture);
  command.add_text({.names = "--view",
                    .help = "Page to write: a browser shows both bodies and the answer, and B can "
                            "be dragged",
                    .value_name = "HTML"},
                   options.view);
  command.add_whole({.names = "--width",
                     .help = "Width of the picture in pixels (default: 1200)",
                     .value_name = "N"},
                    options.width, {200, 8192});
  add_common_options(command, options.common);
}

}  // namespace isotact::tool

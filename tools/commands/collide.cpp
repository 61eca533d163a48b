// isotact collide: whether two bodies touch, at rest or along their motions.
#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/pose.h"
#include "isotact/queries/batch.h"
#include "isotact/queries/points/shell_contact.h"
#include "isotact/queries/shape_views.h"

#include "collide/collide_depth.h"
#include "collide/collide_idf.h"
#include "command.h"
#include "input/field_file.h"
#include "input/mesh_input.h"
#include "input/point_file.h"
#include "input/query_options.h"
#include "input/shape_input.h"
#include "page/collide_page.h"
#include "picture/collide_picture.h"
#include "picture/depth_picture.h"
#include "picture/picture_output.h"
#include "report/collide_report.h"
#include "report/hints.h"

namespace isotact::tool {
namespace {

struct CollideOptions {
  CommonOptions common;
  QueryOptions query;
  LengthUnit unit{};
  FailOn fail{};
  MovingBodyOptions a, b;
  ShapeInputOptions input;
  std::string method = "auto", motion = "rates", roles = "both", accuracy = "best";
  std::string output, picture, view;
  double margin = 0, path_tolerance = ContinuousRequest{}.path_tolerance;
  int degree = 3, max_contacts = 16, width = 1200, points = 0;
  // Of vps; negative: not given.
  int level = -1, max_nodes = -1, patches = -1;
  double time_budget = -1, stiffness = -1;
  IdfOptions idf;
  DepthOptions depth;
  bool first_only = false, gpu = false, distance = false;
};

Accuracy accuracy_of(const CollideOptions& options) {
  if (options.accuracy == "exact") return Accuracy::kExact;
  return options.accuracy == "field" ? Accuracy::kField : Accuracy::kBest;
}

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

// body (0: A, 1: B), point, enter, exit.
void write_intervals(const std::string& output, const ContinuousResult& result) {
  constexpr std::uint32_t kMost = 1U << 24U;  // numbers are written as float32
  for (const TouchingPoint& p : result.points)
    if (p.point >= kMost)
      throw Error(fmt::format("{}: points beyond number {} cannot be written", output, kMost));
  std::vector<float> rows;
  for (const TouchingPoint& p : result.points)
    for (std::uint32_t k = 0; k < p.interval_count; ++k) {
      const SegmentInterval& in = result.intervals[p.first_interval + k];
      rows.insert(rows.end(), {p.body == Body::kA ? 0.0F : 1.0F, static_cast<float>(p.point),
                               in.enter, in.exit});
    }
  const std::string names[] = {"body", "point", "t_enter", "t_exit"};
  write_table(output, names, rows);
}

bool has_rest_options(const CollideOptions& o) {
  return o.level >= 0 || o.max_nodes >= 0 || o.patches >= 0 || o.time_budget >= 0 ||
         o.stiffness >= 0;
}

// Points at rest are the quickest where nothing moves, and know force; intervals are of motions.
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

// A page shows it, and goes on to find it while B is dragged. It may decide a verdict.
bool wants_distance(const CollideOptions& o) {
  return o.distance || !o.view.empty() || o.fail.is_set();
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

struct Pair {
  const Shape &a, &b;
  BodyMotion of_a, of_b;
  std::vector<std::string> warnings;
  const TriangleMesh &surface_of_a, &surface_of_b;
};

// The closest approach, if it is asked for.
std::optional<ApproachResult> find_nearest(const CollideOptions& options, const Pair& pair) {
  if (!wants_distance(options)) return {};
  return find_closest_approach(pair.a, pair.of_a, pair.b, pair.of_b, request_of(options));
}

// Of bodies at rest, if it is asked for: exact if both keep their triangles.
std::optional<DistanceResult> measure(const CollideOptions& options, const Pair& pair) {
  if (!wants_distance(options) || options.roles != "both") return {};
  return distance(pair.a, pair.of_a.from, pair.b, pair.of_b.from);
}

constexpr double kUnknown = -std::numeric_limits<double>::infinity();

// Ends with exit code 3 if --fail-on asks for it.
void judge(const CollideOptions& options, const std::string& status, double lower_bound) {
  if (options.fail.is_set() && options.fail.fails(status, lower_bound)) throw VerdictFailed{};
}

// An exact distance decides, whatever fields and points have found. Without a measured distance,
// the bound is that of the closest approach.
void judge(const CollideOptions& options, const std::string& status,
           const std::optional<DistanceResult>& measured,
           const std::optional<ApproachResult>& nearest) {
  if (!measured) return judge(options, status, nearest ? nearest->lower_bound : kUnknown);
  judge(options, measured->exact ? name(compute_status(*measured, options.margin)) : status,
        measured->lower_bound);
}

template <typename Report>
void print(const CollideOptions& options, const Report& report) {
  options.common.json ? print_json(to_json(report)) : print_report(report);
}

// The page, where one is asked for.
template <typename Report>
void show(const CollideOptions& options, const Pair& pair, const Report& report,
          const ContinuousResult* swept = nullptr) {
  if (options.view.empty()) return;
  write_collide_page(options.view,
                     {.a = {options.a.file, pair.surface_of_a, pair.a, pair.of_a},
                      .b = {options.b.file, pair.surface_of_b, pair.b, pair.of_b},
                      .request = request_of(options),
                      .live = rest_request_of(options),
                      .report = to_json(report),
                      .swept = swept},
                     options.common.thread_setting());
}

template <typename Work>
double seconds_of(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

bool has_picture(const Pair& pair) { return pair.a.can_have_points() && pair.b.can_have_field(); }

void draw(const CollideOptions& options, const Pair& pair, const ContinuousResult& result) {
  if (options.picture.empty()) return;
  if (!has_picture(pair))
    throw Error("the picture shows the points of A and the body of B, and one has none");
  write_picture(options.picture,
                draw_collision({pair.a, pair.b, pair.of_a, pair.of_b, request_of(options), result},
                               options.width, options.input.threads));
}

// So that the time of the query is its own.
template <typename Request>
void prepare_both(const Pair& pair, const Request& request) {
  for (const Shape* shape : {&pair.a, &pair.b}) prepare(*shape, request);
}

void run_swept(const CollideOptions& options, const Pair& pair, bool moves) {
  ContinuousRequest request = request_of(options);
  const std::optional<DistanceResult> measured =
      moves ? std::optional<DistanceResult>() : measure(options, pair);
  request.want_distance = wants_distance(options) && !measured;
  prepare_both(pair, request);
  ContinuousResult result;
  const double seconds = seconds_of(
      [&] { result = continuous_collide(pair.a, pair.of_a, pair.b, pair.of_b, request); });
  const SweptReport report{.result = result,
                           .motion = options.motion,
                           .margin = options.margin,
                           .first_only = options.first_only,
                           .moves = moves,
                           .measured = measured,
                           .seconds = seconds,
                           .warnings = pair.warnings,
                           .unit = options.unit};
  if (!options.output.empty()) write_intervals(options.output, result);
  draw(options, pair, result);
  show(options, pair, report, moves ? &result : nullptr);
  print(options, report);
  const char* const status = result.status == ContinuousStatus::kContact ? "contact" : "free";
  if (measured) return judge(options, status, measured, std::nullopt);
  judge(options, status, result.has_distance ? result.lower_bound : kUnknown);
}

void run_at_rest(const CollideOptions& options, const Pair& pair) {
  const CollideRequest request = rest_request_of(options);
  prepare_both(pair, request);
  CollideScratch scratch;
  const CollideResult* answer = nullptr;  // lies in the scratch
  const double seconds = seconds_of(
      [&] { answer = &collide(pair.a, pair.of_a.from, pair.b, pair.of_b.from, request, scratch); });
  const CollideResult& result = *answer;
  const RestReport report{.result = result,
                          .request = request,
                          .motion = options.motion,
                          .nearest = find_nearest(options, pair),
                          .measured = measure(options, pair),
                          .seconds = seconds,
                          .warnings = pair.warnings,
                          .unit = options.unit};
  if (!options.picture.empty()) {
    // Points that touch, as the other query has them, and the deepest contact of this one.
    ContinuousResult touching;
    ContinuousRequest of_points = request_of(options);
    of_points.accuracy = Accuracy::kField;
    if (has_picture(pair))
      touching = continuous_collide(pair.a, pair.of_a, pair.b, pair.of_b, of_points);
    touching.status =
        result.contacts.empty() ? ContinuousStatus::kFree : ContinuousStatus::kContact;
    if (!result.contacts.empty()) touching.contact = result.contacts.front();
    draw(options, pair, touching);
  }
  show(options, pair, report);
  print(options, report);
  judge(options, name(result.status), report.measured, report.nearest);
}

// One row per pose of B.
void run_poses(const CollideOptions& options, const Pair& pair, const std::vector<Pose>& poses) {
  CollideBatchRequest request{.collide = rest_request_of(options),
                              .threads = options.common.thread_setting()};
  request.collide.want_force = request.collide.want_distance = false;
  // Only the verdict is printed, and levels and budgets have a part in it.
  if (!has_rest_options(options)) request.collide.mode = Mode::kAny;
  prepare_both(pair, request.collide);
  PosesReport report{.method = "vps", .unit = options.unit, .warnings = pair.warnings};
  BatchScratch scratch, distance_scratch;
  report.seconds = seconds_of([&] {
    const auto rows = collide_poses(pair.a, pair.of_a.from, pair.b, poses, request, scratch);
    std::span<const DistanceResult> measured;
    if (wants_distance(options) && options.roles == "both")
      measured = distance_poses(pair.a, pair.of_a.from, pair.b, poses, {.threads = request.threads},
                                distance_scratch);
    for (std::size_t i = 0; i < rows.size(); ++i)
      report.answers.push_back({name(rows[i].status),
                                measured.empty() ? std::nullopt : std::optional(measured[i]),
                                rows[i].exact});
  });
  print(options, report);
  for (const PoseResult& answer : report.answers)
    judge(options, answer.status, answer.distance, std::nullopt);
}

void run_idf(const CollideOptions& options, const Pair& pair) {
  IdfReport report = find_idf_contacts(
      pair.a, pair.of_a.from, pair.b, pair.of_b.from, options.idf, options.margin, options.gpu,
      static_cast<std::uint32_t>(options.max_contacts), options.common.thread_setting());
  report.motion = options.motion;
  report.nearest = find_nearest(options, pair);
  report.measured = measure(options, pair);
  report.unit = options.unit;
  report.warnings.insert(report.warnings.begin(), pair.warnings.begin(), pair.warnings.end());
  show(options, pair, report);
  print(options, report);
  judge(options, name(report.result.status), report.measured, report.nearest);
}

// Drawn bodies need neither field nor points; a page shows them where they can be had.
CollidePageBody page_body_of(const CollideOptions& options, const std::string& file,
                             const Shape& drawn, const BodyMotion& motion) {
  CollidePageBody made{.file = file, .surface = drawn.surface(), .motion = motion};
  try {
    LoadedBody loaded = load_body(file, options.input);
    made.shape = loaded.shape;
    if (!loaded.surface.triangles.empty()) made.surface = std::move(loaded.surface);
  } catch (const Error& error) {
    fmt::print(stderr, "isotact: warning: the page shows the surface only: {}\n",
               in_words_of_tool(error.what()));
  }
  return made;
}

// Panels of the maps that were drawn of A.
void draw_maps(const CollideOptions& options, const DepthVerdict& verdict, const Pose& world_from_a,
               const Shape& b, const Pose& world_from_b) {
  const DepthElement environment = depth_element(b, world_from_b, 0);
  const DepthSettings settings{.method = verdict.request.maps,
                               .width = verdict.request.pixels,
                               .height = verdict.request.pixels,
                               .layers = verdict.request.layers,
                               .two_sided = verdict.request.two_sided,
                               .conservative = verdict.request.conservative,
                               .threads = options.common.thread_setting()};
  std::vector<DepthPanels> rows;
  for (const DepthMap& map : verdict.maps)
    rows.push_back(make_panels(map, world_from_a, environment, settings));
  write_picture(options.picture, draw_panels(rows));
}

void run_depth(const CollideOptions& options, const BodyMotion& of_a, const BodyMotion& of_b) {
  const Threads threads = options.common.thread_setting();
  std::vector<std::string> warnings;
  const Shape a = load_drawn_shape(options.a.file, "A", options.input, warnings);
  const Shape b = load_drawn_shape(options.b.file, "B", options.input, warnings);
  DepthVerdict verdict = find_depth_contacts(a, of_a.from, b, of_b.from, options.depth, options.gpu,
                                             options.max_contacts, threads);
  verdict.motion = options.motion;
  verdict.unit = options.unit;
  verdict.warnings.insert(verdict.warnings.begin(), warnings.begin(), warnings.end());
  if (!options.picture.empty()) draw_maps(options, verdict, of_a.from, b, of_b.from);
  if (!options.view.empty())
    write_collide_page(options.view,
                       {.a = page_body_of(options, options.a.file, a, of_a),
                        .b = page_body_of(options, options.b.file, b, of_b),
                        .live = rest_request_of(options),
                        .report = to_json(verdict)},
                       threads);
  print(options, verdict);
  judge(options, name(verdict.result.status), kUnknown);
}

bool is_for_meshes(const ShapeInputOptions& input) {
  const ShapeInputOptions usual;
  return input.resolution != usual.resolution || input.sign != usual.sign ||
         input.keep_thin != usual.keep_thin;
}

void refuse_for_lists(bool at_rest) {
  refuse_given({"--pose-b"}, "--poses-b has the poses of B");
  refuse_given({"--picture", "--view", "-o", "--pivot-b"}, "for one pose of B, not for --poses-b");
  if (!at_rest) throw UsageError("--poses-b is for bodies at rest, by --method vps");
}

void run_collide(CollideOptions options) {
  options.unit = options.query.unit();
  options.fail = options.query.verdict();
  const bool has_list = !options.query.poses_b.empty();
  if (options.picture == "-" || options.output == "-" || options.view == "-")
    throw UsageError("results go to stdout: -o, --picture and --view need files");
  if (!options.picture.empty()) check_picture_name(options.picture, options.common);
  if (!options.view.empty()) check_page_name(options.view);
  const auto has_no_mesh = [](const std::string& file) {
    return parse_solid(file).has_value() || is_field_file(file);
  };
  const bool no_mesh = has_no_mesh(options.a.file) && has_no_mesh(options.b.file);
  refuse_unused_settings(options.a.file, options.b.file, options.input.unit);
  if (options.a.to_pose.empty() && options.b.to_pose.empty())
    refuse_given({"--motion", "--degree", "--pivot-a", "--pivot-b"},
                 "nothing moves without --to-pose-a or --to-pose-b");
  for (const std::string* input : {&options.a.file, &options.b.file}) {
    if (parse_solid(*input)) continue;
    refuse_same_file(*input, options.output);
    refuse_same_file(*input, options.picture);
    refuse_same_file(*input, options.view);
  }
  for (const std::string* input : {&options.a.file, &options.b.file})
    if (const auto solid = parse_solid(*input); solid && !solid->is_bounded())
      for (const std::string* shown : {&options.view, &options.picture})
        if (!shown->empty())
          throw UsageError(fmt::format(
              "{} shows bodies with an end, and {} has none: give a flat box in its place",
              shown == &options.view ? "--view" : "--picture", *input));
  if (options.first_only && !options.output.empty())
    throw UsageError("-o writes the intervals of all points, --first searches for one only");
  options.input.threads = options.common.thread_setting();
  options.input.points = static_cast<std::uint32_t>(options.points);
  options.input.keep_surface = !options.view.empty();
  const BodyMotion of_a = motion_of(options.a, "a"), of_b = motion_of(options.b, "b");
  const bool moves = of_a.from != of_a.to || of_b.from != of_b.to;
  const bool at_rest = is_at_rest(options, moves);
  if (has_list) refuse_for_lists(at_rest && options.method != "idf" && options.method != "depth");
  const std::vector<Pose> poses =
      has_list ? read_poses(options.query.poses_b) : std::vector<Pose>{};
  if (options.method == "depth" && options.fail.wants_distance())
    throw UsageError("--method depth knows no distance: --fail-on closer needs another method");
  if (options.method == "depth") return run_depth(options, of_a, of_b);
  options.input.margin = std::max(options.margin, 0.0);
  options.input.needs_points = options.method != "idf" || options.distance || !options.view.empty();
  const LoadedBody loaded_a = load_body(options.a.file, options.input);
  const LoadedBody loaded_b = load_body(options.b.file, options.input);
  Pair pair{loaded_a.shape, loaded_b.shape, of_a, of_b, {}, loaded_a.surface, loaded_b.surface};
  if (no_mesh && is_for_meshes(options.input))
    pair.warnings.emplace_back(
        "--resolution, --sign and --keep-thin do nothing here: no mesh is read");
  for (const std::string& w : loaded_a.warnings) pair.warnings.push_back("A: " + w);
  for (const std::string& w : loaded_b.warnings) pair.warnings.push_back("B: " + w);
  if (options.method == "idf") return run_idf(options, pair);
  if (has_list) return run_poses(options, std::move(pair), poses);
  at_rest ? run_at_rest(options, pair) : run_swept(options, pair, moves);
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

void add_collide(CommandLine& line) {
  auto options = std::make_shared<CollideOptions>();
  Command command = line.add_command("collide", "Find whether two bodies touch, at rest or moving");
  command.set_examples(
      "Examples:\n"
      "  isotact collide bolt.isotact nut.isotact --pose-a \"xyz=0,0.01,0\"\n"
      "  isotact collide bunny.obj bowl.obj --pose-a \"xyz=0,1,0\" --to-pose-a \"xyz=0,-1,0\" "
      "--json\n"
      "  isotact collide gear.obj box.obj --to-pose-a \"wxyz=0,0,0,1\" --picture contact.png\n"
      "  isotact collide gear.obj box.obj --view pair.html");
  command.add_text({.names = "A", .help = kBodyHelp, .required = true}, options->a.file);
  command.add_text({.names = "B", .help = "The other body", .required = true}, options->b.file);
  add_moving_body(command, options->a, "a");
  add_moving_body(command, options->b, "b");
  command.add_text({.names = "--method",
                    .help = "vps: points of each body in the field of the other, at rest, with "
                            "force; idf: particles on the surface of the common part, at rest; "
                            "depth: both bodies drawn into the same maps, at rest; swept: points "
                            "along their paths; auto: vps if nothing moves and neither -o nor "
                            "--first is given, else swept (default: auto)",
                    .value_name = "auto|swept|vps|idf|depth",
                    .choices = {"auto", "swept", "vps", "idf", "depth"}},
                   options->method);
  command.add_text({.names = "--accuracy",
                    .help = "exact: the triangles decide whether and when bodies touch, an error "
                            "without them; field: points and fields; best: exact if possible "
                            "(default: best). Intervals are always those of points",
                    .value_name = "best|field|exact",
                    .choices = {"best", "field", "exact"}},
                   options->accuracy);
  command.add_flag("--gpu", options->gpu, "With --method idf and depth: compute on the GPU");
  add_idf_options(command, options->idf);
  add_depth_options(command, options->depth);
  add_rest_options(command, *options);
  command.add_text({.names = "--motion",
                    .help = "Motion between the poses: straight point paths, constant rates of "
                            "each body, one screw, or a polynomial (default: rates)",
                    .value_name = "straight|rates|screw|polynomial",
                    .choices = {"straight", "rates", "screw", "polynomial"}},
                   options->motion);
  command.add_whole(
      {.names = "--degree",
       .help = "With --motion polynomial: degree of the polynomial, 1 to 8 (default: 3)",
       .value_name = "N"},
      options->degree, {1, 8});
  command.add_number(
      {.names = "--margin",
       .help = "Bodies touch if their distance is at most this, in metres (default: 0)",
       .value_name = "S"},
      options->margin, {-1e12, 1e12});
  command.add_text({.names = "--points-of",
                    .help = "The body that gives points, which are tested in the other's field "
                            "(default: both)",
                    .value_name = "a|b|both",
                    .choices = {"a", "b", "both"}},
                   options->roles);
  command.add_flag("--distance", options->distance,
                   "Also compute the distance of the bodies, or their closest approach along the "
                   "motion (not with --method depth)");
  command.add_flag("--first", options->first_only,
                   "Stop at the first contact, which is the fastest query");
  command.add_whole({.names = "--max-contacts",
                     .help = "Return at most this many contacts, the earliest ones, 1 to 100000 "
                             "(default: 16); at rest the deepest ones: at most 4 per patch, and "
                             "64 with --method idf and depth",
                     .value_name = "N"},
                    options->max_contacts, {1, 100000});
  command.add_number({.names = "--path-tolerance",
                      .help = "Largest error of the straight pieces of curved paths, in cells "
                              "(default: 1/32)",
                      .value_name = "CELLS"},
                     options->path_tolerance, {1e-6, 1e6});
  command.add_whole({.names = "--resolution",
                     .help = "With meshes: cells along the longest side (default: 128)",
                     .value_name = "N"},
                    options->input.resolution, {16, 4096});
  command.add_whole(
      {.names = "--points",
       .help = "Number of points on each body that has none (default: points two cells "
               "apart)",
       .value_name = "N"},
      options->points, {1, kMaxShellPoints});
  command.add_text({.names = "--sign",
                    .help = "With meshes: rule that decides between inside and outside (default: "
                            "auto)",
                    .value_name = "auto|pseudonormal|winding|unsigned",
                    .choices = {"auto", "pseudonormal", "winding", "unsigned"}},
                   options->input.sign);
  command.add_text(
      {.names = "--keep-thin",
       .help = "With meshes: treatment of walls that vanish between samples: grow the body by at "
               "most a cell (default: offset), use smaller cells, or only report them",
       .value_name = "offset|refine|report",
       .choices = {"offset", "refine", "report"}},
      options->input.keep_thin);
  add_query_options(command, options->query);
  add_unit(command, options->input.unit);
  command.add_text(
      {.names = "-o,--output",
       .help = "Intervals to write, one row per interval: body (0: A, 1: B), point, t_enter, "
               "t_exit; .npy, .csv, else raw float32",
       .value_name = "FILE"},
      options->output);
  command.add_text({.names = "--picture",
                    .help = "Picture to write: B, and the points of A at the first contact; with "
                            "--method depth the maps",
                    .value_name = "PNG"},
                   options->picture);
  command.add_text({.names = "--view",
                    .help = "Page to write: a browser shows both bodies and the answer, and B can "
                            "be dragged",
                    .value_name = "HTML"},
                   options->view);
  command.add_whole({.names = "--width",
                     .help = "Width of the picture in pixels (default: 1200)",
                     .value_name = "N"},
                    options->width, {200, 8192});
  add_common_options(command, options->common);
  command.on_run([options] { run_collide(*options); });
}

}  // namespace isotact::tool

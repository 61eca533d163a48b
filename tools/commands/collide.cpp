// isotact collide: whether two bodies touch, at rest or along their motions.
#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/parallel.h"
#include "isotact/base/pose.h"
#include "isotact/queries/batch.h"
#include "isotact/queries/shape_views.h"

#include "collide/collide_depth.h"
#include "collide/collide_idf.h"
#include "collide/collide_options.h"
#include "command.h"
#include "input/field_file.h"
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
  return distance(pair.a, pair.of_a.from, pair.b, pair.of_b.from,
                  distance_request_of(options, pair.a, pair.b));
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

// So that the time of the query is its own. Both shapes at once.
template <typename Request>
void prepare_both(const Pair& pair, const Request& request) {
  const Shape* shapes[] = {&pair.a, &pair.b};
  parallel_for(2, 1, request.threads,
               [&](std::size_t i, std::size_t) { prepare(*shapes[i], request); });
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
  CollideRequest request = rest_request_of(options);
  // An exact distance is measured once, by distance().
  if (request.accuracy != Accuracy::kField && options.roles == "both" &&
      !has_rest_options(options) && have_exact_distance(pair.a, pair.b))
    request.want_distance = false;
  prepare_both(pair, request);
  CollideScratch scratch;
  const CollideResult* answer = nullptr;  // lies in the scratch
  const double seconds = seconds_of(
      [&] { answer = &collide(pair.a, pair.of_a.from, pair.b, pair.of_b.from, request, scratch); });
  const CollideResult& result = *answer;
  const std::optional<DistanceResult> measured = measure(options, pair);
  const RestReport report{.result = result,
                          .request = request,
                          .motion = options.motion,
                          .nearest = measured ? std::nullopt : find_nearest(options, pair),
                          .measured = measured,
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
      measured = distance_poses(
          pair.a, pair.of_a.from, pair.b, poses,
          {.distance = distance_request_of(options, pair.a, pair.b), .threads = request.threads},
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
  add_collide_options(command, *options);
  command.on_run([options] { run_collide(*options); });
}

}  // namespace isotact::tool

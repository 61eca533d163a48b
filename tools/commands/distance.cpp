// isotact distance: how far apart two bodies are.
#include "isotact/queries/distance.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <tuple>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/pose.h"
#include "isotact/queries/batch.h"

#include "command.h"
#include "input/mesh_input.h"
#include "input/query_options.h"
#include "input/shape_input.h"
#include "report/collide_report.h"

namespace isotact::tool {
namespace {

struct DistanceOptions {
  CommonOptions common;
  ShapeInputOptions input;
  QueryOptions query;
  std::string a, b, pose_a, pose_b, accuracy = "best";
  double relative = 0, absolute = 0, near_enough = 0;
  double max_distance = std::numeric_limits<double>::infinity();
  bool separation = false;
};

Json report_of(const DistanceResult& r, const std::vector<std::string>& warnings, double seconds) {
  Json j{{"status", name(compute_status(r))}};
  add_distance(j, r);
  j["complete"] = r.status == DistanceStatus::kDone;
  j["separation"] = r.has_separation ? to_list(r.separation) : Json();
  j["normal"] = std::isfinite(r.distance) ? to_list(r.contact.normal) : Json();
  j["warnings"] = warnings;
  j["seconds"] = seconds;
  return j;
}

void print_distance(const DistanceResult& r, const LengthUnit& unit) {
  std::string status = name(compute_status(r));
  if (r.status == DistanceStatus::kGaveUp) status += ", gave up";
  Facts facts{{"status", status + (r.exact ? "" : " (not exact)")}};
  add_distance(facts, r, unit);
  if (r.has_separation)
    facts.emplace_back("separation", unit.format(r.separation) + " (moves A out of B)");
  print_facts(facts);
}

void run_distance(DistanceOptions options) {
  const FailOn fail = options.query.verdict();
  const LengthUnit unit = options.query.unit();
  const bool has_list = !options.query.poses_b.empty();
  if (has_list) refuse_given({"--pose-b"}, "--poses-b has the poses of B");
  const Pose of_a = read_pose("--pose-a", options.pose_a);
  const std::vector<Pose> poses = has_list
                                      ? read_poses(options.query.poses_b)
                                      : std::vector<Pose>{read_pose("--pose-b", options.pose_b)};
  DistanceRequest request{.relative_tolerance = options.relative,
                          .absolute_tolerance = options.absolute,
                          .max_distance = options.max_distance,
                          .near_enough = options.near_enough,
                          .want_separation = options.separation};
  if (options.accuracy == "field") {
    request.accuracy = Accuracy::kField;
    refuse_given({"--relative", "--absolute", "--max-distance", "--near-enough", "--separation"},
                 "for exact distances, not for --accuracy field");
  }
  if (options.accuracy == "exact") request.accuracy = Accuracy::kExact;
  refuse_unused_settings(options.a, options.b, options.input.unit);
  options.input.threads = options.common.thread_setting();
  const LoadedBody a = load_body(options.a, options.input), b = load_body(options.b, options.input);
  std::vector<std::string> warnings;
  for (const std::string& w : a.warnings) warnings.push_back("A: " + w);
  for (const std::string& w : b.warnings) warnings.push_back("B: " + w);
  // Whether they are closer is known as soon as one pair of points is.
  if (fail.closer > 0 && request.near_enough == 0 && request.accuracy != Accuracy::kField &&
      have_exact_distance(a.shape, b.shape))
    request.near_enough = fail.closer;
  prepare(a.shape, request);
  prepare(b.shape, request);
  const auto start = std::chrono::steady_clock::now();
  PosesReport report{.unit = unit, .warnings = warnings};
  BatchScratch scratch;
  for (const DistanceResult& r :
       distance_poses(a.shape, of_a, b.shape, poses,
                      {.distance = request, .threads = options.input.threads}, scratch))
    report.answers.push_back({name(compute_status(r)), r, r.exact});
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const DistanceResult& first = *report.answers.front().distance;
  if (options.common.json)
    print_json(has_list ? to_json(report) : report_of(first, warnings, report.seconds));
  else
    has_list ? print_report(report) : print_distance(first, unit);
  for (const PoseResult& answer : report.answers)
    if (fail.fails(answer.status, answer.distance->lower_bound)) throw VerdictFailed{};
}

}  // namespace

void add_distance(CommandLine& line) {
  const auto options = std::make_shared<DistanceOptions>();
  Command command = line.add_command("distance", "Find how far apart two bodies are");
  command.set_examples(
      "Examples:\n"
      "  isotact distance crank.stl rod.stl --unit mm --print-unit mm\n"
      "  isotact distance a.obj b.obj --pose-b \"xyz=0,0,1 axis=0,0,1,90\" --json\n"
      "  isotact distance a.obj b.obj --fail-on closer:5mm");
  command.add_text({.names = "A", .help = kBodyHelp, .required = true}, options->a);
  command.add_text({.names = "B", .help = "The other body", .required = true}, options->b);
  for (const auto& [option, pose, body] : {std::tuple{"--pose-a", &options->pose_a, "A"},
                                           std::tuple{"--pose-b", &options->pose_b, "B"}})
    command.add_text(
        {.names = option, .help = std::string("Pose of ") + body + kPoseHelp, .value_name = "POSE"},
        *pose);
  command.add_text({.names = "--accuracy",
                    .help = "exact: computed from triangles, and an error without them; field: "
                            "computed from points and fields; best: exact if possible (default: "
                            "best)",
                    .value_name = "best|field|exact",
                    .choices = {"best", "field", "exact"}},
                   options->accuracy);
  command.add_number(
      {.names = "--relative",
       .help = "With exact distances: allowed relative error; the result is never too "
               "small (default: 0)",
       .value_name = "SHARE"},
      options->relative, {0, 1e6});
  command.add_length({.names = "--absolute",
                      .help = "With exact distances: allowed error; the result is never too "
                              "small (default: 0)",
                      .value_name = "LENGTH"},
                     options->absolute, {0, 1e12});
  command.add_length({.names = "--max-distance",
                      .help = "With exact distances: stop at this distance (default: no "
                              "limit)",
                      .value_name = "LENGTH"},
                     options->max_distance, {0, 1e12});
  command.add_length({.names = "--near-enough",
                      .help = "With exact distances: stop as soon as the bodies are known to be as "
                              "near as this; the distance is then at most that (default: --fail-on "
                              "closer:LENGTH has one)",
                      .value_name = "LENGTH"},
                     options->near_enough, {0, 1e12});
  command.add_flag(
      "--separation", options->separation,
      "With exact distances: find a translation of A that separates bodies in contact");
  add_query_options(command, options->query);
  command.add_whole(
      {.names = "--resolution",
       .help = "With meshes: cells of the field along the longest side (default: 128)",
       .value_name = "N"},
      options->input.resolution, {16, 4096});
  add_unit(command, options->input.unit);
  add_common_options(command, options->common);
  command.on_run([options] { run_distance(*options); });
}

}  // namespace isotact::tool

// isotact distance: how far apart two bodies are.
#include "isotact/queries/distance.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <tuple>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/pose.h"

#include "command.h"
#include "input/mesh_input.h"
#include "input/shape_input.h"

namespace isotact::tool {
namespace {

struct DistanceOptions {
  CommonOptions common;
  ShapeInputOptions input;
  std::string a, b, pose_a, pose_b, accuracy = "best", print_unit = "m", fail_on;
  double relative = 0, absolute = 0, max_distance = std::numeric_limits<double>::infinity();
};

Pose pose_of(const std::string& option, const std::string& text) {
  try {
    return parse_pose(text);
  } catch (const Error& error) {
    throw UsageError(option + ": " + error.what());
  }
}

struct LengthUnit {
  const char* name;
  double metres;
};
constexpr LengthUnit kLengthUnits[] = {{"mm", 1e-3}, {"cm", 1e-2}, {"in", 0.0254}, {"m", 1}};

LengthUnit unit_named(const std::string& name) {
  for (const LengthUnit& unit : kLengthUnits)
    if (name == unit.name) return unit;
  throw UsageError("--print-unit: m, cm, mm or in");
}

// "5mm", "0.2in", or metres.
double parse_length(const std::string& option, const std::string& text) {
  std::size_t used = 0;
  double value = std::numeric_limits<double>::quiet_NaN();
  try {
    value = std::stod(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  const std::string rest = text.substr(used);
  for (const LengthUnit& unit : kLengthUnits)
    if (rest == unit.name) return value * unit.metres;
  if (used == 0 || !rest.empty() || !std::isfinite(value))
    throw UsageError(option + ": expected a length such as 5mm or 0.005, found '" + text + "'");
  return value;
}

// When the exit code is 3.
struct FailOn {
  bool contact = false, free = false;
  double closer = -std::numeric_limits<double>::infinity();  // metres
};

FailOn parse_fail_on(const std::string& text) {
  FailOn fail;
  if (text.empty()) return fail;
  if (text == "contact")
    fail.contact = true;
  else if (text == "free")
    fail.free = true;
  else if (text.rfind("closer:", 0) == 0)
    fail.closer = parse_length("--fail-on closer", text.substr(7));
  else
    throw UsageError("--fail-on: contact, free or closer:LENGTH, as in closer:5mm");
  return fail;
}

const char* status_of(const DistanceResult& r) {
  if (r.touching || r.contained || r.upper_bound <= 0) return "contact";
  return r.lower_bound > 0 ? "free" : "uncertain";
}

bool fails(const FailOn& fail, const DistanceResult& r) {
  const std::string status = status_of(r);
  // What is not certain fails, too.
  if (fail.contact) return status != "free";
  if (fail.free) return status != "contact";
  return r.lower_bound < fail.closer;
}

Json finite_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json report_of(const DistanceResult& r, const std::vector<std::string>& warnings, double seconds) {
  const bool has_points = std::isfinite(r.distance);
  return {{"status", status_of(r)},
          {"distance", finite_or_null(r.distance)},
          {"lower_bound", finite_or_null(r.lower_bound)},
          {"upper_bound", finite_or_null(r.upper_bound)},
          {"exact", r.exact},
          {"complete", r.status == DistanceStatus::kDone},
          {"touching", r.exact ? Json(r.touching) : Json()},
          {"contained", r.exact ? Json(r.contained) : Json()},
          {"witness_a", has_points ? to_list(r.contact.point_on_a) : Json()},
          {"witness_b", has_points ? to_list(r.contact.point_on_b) : Json()},
          {"normal", has_points ? to_list(r.contact.normal) : Json()},
          {"warnings", warnings},
          {"seconds", seconds}};
}

void print_distance(const DistanceResult& r, const LengthUnit& unit) {
  const auto length_text = [&](double metres) {
    return fmt::format("{:.6g} {}", metres / unit.metres, unit.name);
  };
  const auto point_text = [&](const Vec3& p) {
    return fmt::format("{:.6g} {:.6g} {:.6g} {}", p.x / unit.metres, p.y / unit.metres,
                       p.z / unit.metres, unit.name);
  };
  Facts facts{{"status", status_of(r)}};
  if (std::isfinite(r.distance))
    facts.emplace_back("distance", length_text(r.distance) + (r.exact ? " (exact)" : ""));
  else
    facts.emplace_back("distance", "more than " + length_text(r.lower_bound));
  if (!r.exact || r.status == DistanceStatus::kGaveUp || r.lower_bound < r.distance * (1 - 1e-6))
    facts.emplace_back("between",
                       length_text(r.lower_bound) + " and " + length_text(r.upper_bound));
  if (r.contained) facts.emplace_back("contained", "a part of one body is inside of the other");
  if (std::isfinite(r.distance)) {
    facts.emplace_back("point on A", point_text(r.contact.point_on_a));
    facts.emplace_back("point on B", point_text(r.contact.point_on_b));
  }
  print_facts(facts);
}

void run_distance(DistanceOptions options) {
  const FailOn fail = parse_fail_on(options.fail_on);
  const LengthUnit unit = unit_named(options.print_unit);
  const Pose of_a = pose_of("--pose-a", options.pose_a), of_b = pose_of("--pose-b", options.pose_b);
  DistanceRequest request{.relative_tolerance = options.relative,
                          .absolute_tolerance = options.absolute,
                          .max_distance = options.max_distance};
  if (options.accuracy == "field") request.accuracy = Accuracy::kField;
  if (options.accuracy == "exact") request.accuracy = Accuracy::kExact;
  options.input.threads = options.common.thread_setting();
  const LoadedBody a = load_body(options.a, options.input), b = load_body(options.b, options.input);
  std::vector<std::string> warnings;
  for (const std::string& w : a.warnings) warnings.push_back("A: " + w);
  for (const std::string& w : b.warnings) warnings.push_back("B: " + w);
  prepare(a.shape, request);
  prepare(b.shape, request);
  const auto start = std::chrono::steady_clock::now();
  const DistanceResult result = distance(a.shape, of_a, b.shape, of_b, request);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (options.common.json)
    print_json(report_of(result, warnings, seconds));
  else
    print_distance(result, unit);
  if (fails(fail, result)) throw VerdictFailed{};
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
  command.add_text({.names = "A", .help = "A mesh or an asset", .required = true}, options->a);
  command.add_text({.names = "B", .help = "The other body", .required = true}, options->b);
  for (const auto& [option, pose, body] : {std::tuple{"--pose-a", &options->pose_a, "A"},
                                           std::tuple{"--pose-b", &options->pose_b, "B"}})
    command.add_text({.names = option,
                      .help = std::string("Pose of ") + body + ": \"xyz=0,0,1 axis=0,1,0,90\"",
                      .value_name = "POSE"},
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
  command.add_number(
      {.names = "--absolute",
       .help = "With exact distances: allowed error in metres; the result is never too "
               "small (default: 0)",
       .value_name = "S"},
      options->absolute, {0, 1e12});
  command.add_number({.names = "--max-distance",
                      .help = "With exact distances: stop at this distance in metres (default: no "
                              "limit)",
                      .value_name = "S"},
                     options->max_distance, {0, 1e12});
  command.add_text({.names = "--print-unit",
                    .help = "Unit of the lengths in text; JSON has metres (default: m)",
                    .value_name = "m|cm|mm|in",
                    .choices = {"m", "cm", "mm", "in"}},
                   options->print_unit);
  command.add_text({.names = "--fail-on",
                    .help = "End with exit code 3 if the bodies touch, if they do not, or if they "
                            "may be closer than a length, as in closer:5mm",
                    .value_name = "contact|free|closer:LENGTH"},
                   options->fail_on);
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

// isotact collide: whether two bodies touch, at rest or on their ways.
#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/pose_text.h"
#include "isotact/queries/closest_approach.h"
#include "isotact/queries/continuous_collide.h"

#include "collide_picture.h"
#include "command.h"
#include "field_file.h"
#include "mesh_input.h"
#include "picture_output.h"
#include "point_file.h"
#include "shape_input.h"

namespace isotact::tool {
namespace {

struct BodyOptions {
  std::string file, pose, to_pose, pivot;
};

struct CollideOptions {
  CommonOptions common;
  BodyOptions a, b;
  ShapeInputOptions input;
  std::string method = "auto", motion = "rates", roles = "both";
  std::string output, picture;
  double margin = 0, path_tolerance = ContinuousRequest{}.path_tolerance;
  int degree = 3, max_contacts = 16, width = 1200, points = 0;
  bool first_only = false;
};

// What a pose is wrong in, with the option's name.
Pose parse_option(const std::string& option, const std::string& text) {
  try {
    return parse_pose(text);
  } catch (const Error& error) {
    throw UsageError(option + ": " + error.what());
  }
}

BodyMotion motion_of(const BodyOptions& body, const std::string& letter) {
  BodyMotion motion;
  if (!body.pose.empty()) motion.from = parse_option("--pose-" + letter, body.pose);
  motion.to =
      body.to_pose.empty() ? motion.from : parse_option("--to-pose-" + letter, body.to_pose);
  if (!body.pivot.empty())
    motion.pivot = parse_option("--pivot-" + letter, "xyz=" + body.pivot).translation;
  return motion;
}

ContinuousRequest request_of(const CollideOptions& options) {
  ContinuousRequest request{.margin = options.margin,
                            .model = *find_motion_model(options.motion),
                            .degree = options.degree,
                            .mode = options.first_only ? SweptMode::kFirst : SweptMode::kAll,
                            .max_contacts = static_cast<std::size_t>(options.max_contacts),
                            .path_tolerance = options.path_tolerance,
                            .threads = options.common.thread_setting()};
  if (options.roles == "a") request.roles = Roles::kPointsOfA;
  if (options.roles == "b") request.roles = Roles::kPointsOfB;
  return request;
}

// Of both ways that are possible, the nearer.
std::optional<Approach> find_nearest(const Shape& a, const BodyMotion& motion_of_a, const Shape& b,
                                     const BodyMotion& motion_of_b,
                                     const ContinuousRequest& request) {
  std::optional<Approach> best;
  const ShellMotion forward{
      .shell = motion_of_a, .field = motion_of_b, .model = request.model, .degree = request.degree};
  const auto look = [&](const Shape& points, const Shape& field, const ShellMotion& motion) {
    if (!points.tree() || !field.field()) return;
    const Approach now =
        find_closest_approach(*field.field(), *points.tree(), motion,
                              {.field_points = field.tree() ? &*field.tree() : nullptr,
                               .path_tolerance = request.path_tolerance});
    if (!best || now.distance < best->distance) best = now;
  };
  if (request.roles != Roles::kPointsOfB) look(a, b, forward);
  if (request.roles != Roles::kPointsOfA) look(b, a, exchange_roles(forward));
  return best;
}

Json to_json(const TimedContact& c, bool moves) {
  Json j{{"position", to_list(c.contact.position)},
         {"point_on_a", to_list(c.contact.point_on_a)},
         {"point_on_b", to_list(c.contact.point_on_b)},
         {"normal", to_list(c.contact.normal)},
         {"depth", c.contact.depth},
         {"sampled_by", c.contact.sampled_by == Body::kA ? "a" : "b"},
         {"point", c.contact.point}};
  if (moves) j["time"] = c.time;
  return j;
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

struct Report {
  const ContinuousResult& result;
  std::optional<Approach> nearest;
  bool moves;
  double seconds;
  std::vector<std::string> warnings;
};

void print_report(const CollideOptions& options, const Report& r) {
  const bool touches = r.result.status == ContinuousStatus::kContact;
  Facts facts{{"status", touches ? "contact" : "free"}};
  if (touches && r.moves)
    facts.emplace_back("first contact",
                       fmt::format("at {:.6g} of the way", r.result.time_of_contact));
  if (touches) {
    const Contact& c = r.result.contact;
    facts.emplace_back("position", fmt::format("{:.6g} {:.6g} {:.6g} m", c.position.x, c.position.y,
                                               c.position.z));
    facts.emplace_back("normal", fmt::format("{:.4g} {:.4g} {:.4g} (from B towards A)", c.normal.x,
                                             c.normal.y, c.normal.z));
    facts.emplace_back("depth", fmt::format("{:.4g} m", c.depth));
  }
  if (!options.first_only)
    facts.emplace_back("points",
                       fmt::format("{} touch, {} intervals", format_count(r.result.points.size()),
                                   format_count(r.result.intervals.size())));
  if (r.nearest && r.nearest->status == ApproachStatus::kGaveUp)
    facts.emplace_back("distance", fmt::format("at least {:.6g} m, at most {:.6g} m (gave up)",
                                               r.nearest->lower_bound, r.nearest->distance));
  else if (r.nearest)
    facts.emplace_back(
        r.moves ? "closest approach" : "distance",
        r.moves ? fmt::format("{:.4g} m at {:.4g} of the way", r.nearest->distance, r.nearest->time)
                : fmt::format("{:.4g} m", r.nearest->distance));
  facts.emplace_back("unseen", fmt::format("nothing deeper than {:.4g} m", r.result.blind_depth));
  facts.emplace_back("time", fmt::format("{:.3g} s", r.seconds));
  print_facts(facts);
}

void print_json_report(const CollideOptions& options, const Report& r) {
  const bool touches = r.result.status == ContinuousStatus::kContact;
  Json contacts = Json::array(), intervals = Json::array();
  for (const TimedContact& c : r.result.contacts) contacts.push_back(to_json(c, r.moves));
  if (touches && !options.first_only) {
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
         {"motion", options.motion},
         {"contacts", contacts},
         {"min_distance", nullptr},
         {"time_of_contact", nullptr},
         {"intervals", intervals},
         {"touching_points", r.result.points.size()},
         {"force", nullptr},
         {"torque", nullptr},
         {"margin", options.margin},
         {"blind_depth", r.result.blind_depth},
         {"path_error", r.result.path_error},
         {"spheres", r.result.counts.spheres},
         {"points", r.result.counts.points},
         {"segments", r.result.counts.segments},
         {"warnings", r.warnings},
         {"seconds", r.seconds}};
  if (options.first_only) j["intervals"] = j["touching_points"] = nullptr;
  if (r.nearest && r.nearest->status == ApproachStatus::kDone) {
    j["min_distance"] = r.nearest->distance;
    j["min_distance_time"] = r.nearest->time;
  } else if (r.nearest) {
    j["min_distance_above"] = r.nearest->lower_bound;  // it gave up
  }
  if (touches) j["time_of_contact"] = r.result.time_of_contact;
  print_json(j);
}

void run_collide(CollideOptions options) {
  if (options.picture == "-" || options.output == "-")
    throw UsageError("results go to stdout: -o and --picture need files");
  if (!options.picture.empty()) check_picture_name(options.picture, options.common);
  if (is_field_file(options.a.file) && is_field_file(options.b.file))
    refuse_unit(options.input.unit, "no mesh is read, and fields are in metres");
  for (const std::string* input : {&options.a.file, &options.b.file}) {
    refuse_same_file(*input, options.output);
    refuse_same_file(*input, options.picture);
  }
  if (options.first_only && !options.output.empty())
    throw UsageError("-o writes the intervals of all points, --first looks for one only");
  options.input.threads = options.common.thread_setting();
  options.input.points = static_cast<std::uint32_t>(options.points);
  const BodyMotion of_a = motion_of(options.a, "a"), of_b = motion_of(options.b, "b");
  const bool moves = of_a.from != of_a.to || of_b.from != of_b.to;
  const ContinuousRequest request = request_of(options);
  options.input.margin = options.margin;
  const LoadedShape loaded_a = load_shape(options.a.file, options.input);
  const LoadedShape loaded_b = load_shape(options.b.file, options.input);
  const Shape &a = loaded_a.shape, &b = loaded_b.shape;
  ContinuousResult result = continuous_collide(a, of_a, b, of_b, request);  // prepares
  const auto start = std::chrono::steady_clock::now();
  continuous_collide(a, of_a, b, of_b, request, result);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  Report report{result, find_nearest(a, of_a, b, of_b, request), moves, seconds, {}};
  for (const std::string& w : loaded_a.warnings) report.warnings.push_back("A: " + w);
  for (const std::string& w : loaded_b.warnings) report.warnings.push_back("B: " + w);
  if (!options.output.empty()) write_intervals(options.output, result);
  if (!options.picture.empty()) {
    if (!a.tree() || !b.field())
      throw Error("the picture shows the points of A and the body of B, and one has none");
    write_picture(options.picture, draw_collision({a, b, of_a, of_b, request, result},
                                                  options.width, options.input.threads));
  }
  if (options.common.json)
    print_json_report(options, report);
  else
    print_report(options, report);
}

void add_body(Command& command, BodyOptions& body, const std::string& letter) {
  const std::string upper = letter == "a" ? "A" : "B";
  command.add_text({.names = "--pose-" + letter,
                    .help = "Where " + upper + " is, or begins: \"xyz=0,0,1 wxyz=1,0,0,0\"",
                    .value_name = "POSE"},
                   body.pose);
  command.add_text({.names = "--to-pose-" + letter,
                    .help = "Where " + upper + " goes (default: it stays)",
                    .value_name = "POSE"},
                   body.to_pose);
  command.add_text({.names = "--pivot-" + letter,
                    .help = "The point of " + upper +
                            ", in its own frame, that goes straight while it "
                            "turns, with --motion rates (default: 0,0,0)",
                    .value_name = "X,Y,Z"},
                   body.pivot);
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
      "  isotact collide gear.obj box.obj --to-pose-a \"wxyz=0,0,0,1\" --picture contact.png");
  command.add_text({.names = "A", .help = "A mesh or an asset", .required = true}, options->a.file);
  command.add_text({.names = "B", .help = "The other body", .required = true}, options->b.file);
  add_body(command, options->a, "a");
  add_body(command, options->b, "b");
  command.add_text({.names = "--method",
                    .help = "swept: points of each body through the field of the other (default: "
                            "auto, which is swept)",
                    .value_name = "auto|swept",
                    .choices = {"auto", "swept"}},
                   options->method);
  command.add_text({.names = "--motion",
                    .help = "Between the poses: straight point paths, constant rates of each body, "
                            "one screw, or a polynomial (default: rates)",
                    .value_name = "straight|rates|screw|polynomial",
                    .choices = {"straight", "rates", "screw", "polynomial"}},
                   options->motion);
  command.add_whole({.names = "--degree",
                     .help = "Of --motion polynomial, 1 to 8 (default: 3)",
                     .value_name = "N"},
                    options->degree, {1, 8});
  command.add_number({.names = "--margin",
                      .help = "Bodies touch where they are as near as this, metres (default: 0)",
                      .value_name = "S"},
                     options->margin, {-1e12, 1e12});
  command.add_text({.names = "--points-of",
                    .help = "Whose points are tested against the other's field (default: both)",
                    .value_name = "a|b|both",
                    .choices = {"a", "b", "both"}},
                   options->roles);
  command.add_flag("--first", options->first_only,
                   "Stop at the first contact: the quickest answer");
  command.add_whole({.names = "--max-contacts",
                     .help = "The earliest ones, 1 to 100000 (default: 16)",
                     .value_name = "N"},
                    options->max_contacts, {1, 100000});
  command.add_number({.names = "--path-tolerance",
                      .help = "How far curved paths are cut short, in cells (default: 1/32)",
                      .value_name = "CELLS"},
                     options->path_tolerance, {1e-6, 1e6});
  command.add_whole({.names = "--resolution",
                     .help = "Of meshes: cells along the longest side (default: 128)",
                     .value_name = "N"},
                    options->input.resolution, {16, 4096});
  command.add_whole({.names = "--points",
                     .help = "Points on each body that has none (default: two cells apart)",
                     .value_name = "N"},
                    options->points, {1, kMaxShellPoints});
  command.add_text({.names = "--sign",
                    .help = "Of meshes: how inside is told from outside (default: auto)",
                    .value_name = "auto|pseudonormal|winding|unsigned",
                    .choices = {"auto", "pseudonormal", "winding", "unsigned"}},
                   options->input.sign);
  command.add_text(
      {.names = "--keep-thin",
       .help = "Of meshes: walls that vanish between samples are kept by a body that is "
               "grown by a cell at most (default), by smaller cells, or only told of",
       .value_name = "offset|refine|report",
       .choices = {"offset", "refine", "report"}},
      options->input.keep_thin);
  add_unit(command, options->input.unit);
  command.add_text(
      {.names = "-o,--output",
       .help = "A row an interval, body (0: A) point t_enter t_exit: .npy, .csv, else raw "
               "float32",
       .value_name = "FILE"},
      options->output);
  command.add_text({.names = "--picture",
                    .help = "Draw B, and the points of A at the first contact",
                    .value_name = "PNG"},
                   options->picture);
  command.add_whole(
      {.names = "--width", .help = "Of the picture, pixels (default: 1200)", .value_name = "N"},
      options->width, {200, 8192});
  add_common_options(command, options->common);
  command.on_run([options] { run_collide(*options); });
}

}  // namespace isotact::tool

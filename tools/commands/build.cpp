// isotact build: from a mesh to an asset.
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>

#include <fmt/format.h>

#include "isotact/asset/build_asset.h"
#include "isotact/base/error.h"
#include "isotact/base/progress.h"

#include "command.h"
#include "input/asset_input.h"
#include "input/gpu_device.h"
#include "input/mesh_input.h"
#include "input/query_options.h"
#include "input/shell_options.h"
#include "report/build_report.h"
#include "report/info_asset.h"

namespace isotact::tool {
namespace {

constexpr int kNotGiven = -1;

struct BuildOptions {
  CommonOptions common;
  MeshInputOptions input;
  std::string output;
  int resolution = kNotGiven;
  double voxel_size = kNotGiven;
  std::string accuracy, range;  // lengths
  std::string field = "brick";
  bool first_order = false;
  bool no_mesh = false;
  std::string voxmap;
  ShellOptions shell;
  std::string sign = "auto";
  std::string nested = "winding";
  double shell_offset = 0;
  double padding = FieldSettings{}.padding;
  double tolerance = FieldSettings{}.tolerance;
  std::string keep_thin = std::string(name(FieldSettings{}.keep_thin));
  double max_megabytes = 0;
  bool segment_index = false;
  bool cache = false;
  bool gpu = false;
};

FieldSettings field_settings(const BuildOptions& o) {
  FieldSettings s;
  if (o.resolution != kNotGiven) s.resolution = o.resolution;
  if (o.voxel_size > 0) s.voxel_size = o.voxel_size;
  if (!o.accuracy.empty()) s.accuracy = parse_length("--accuracy", o.accuracy);
  if (!o.range.empty()) s.range = parse_length("--range", o.range);
  s.padding = o.padding;
  s.tolerance = o.tolerance;
  s.shell_offset = o.shell_offset;
  s.max_memory = static_cast<std::uint64_t>(o.max_megabytes * 1e6);
  for (const SignMethod method :
       {SignMethod::kAuto, SignMethod::kPseudonormal, SignMethod::kWinding, SignMethod::kUnsigned})
    if (o.sign == name(method)) s.sign = method;
  s.nested = o.nested == "even-odd" ? NestedRule::kEvenOdd : NestedRule::kWinding;
  for (const KeepThin keep :
       {KeepThin::kIgnore, KeepThin::kReport, KeepThin::kRefine, KeepThin::kOffset})
    if (o.keep_thin == name(keep)) s.keep_thin = keep;
  s.threads = o.common.thread_setting();
  return s;
}

// "layers", "scaled:4" or "support".
VoxmapSettings voxmap_settings(const std::string& text) {
  VoxmapSettings settings;
  if (text == "support") settings.encoding = VoxmapEncoding::kSupport;
  if (text.starts_with("scaled:")) {
    settings.encoding = VoxmapEncoding::kScaled;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + 7, end, settings.precision);
    if (error != std::errc() || stop != end || std::abs(settings.precision) > kMaxVoxmapPrecision)
      throw UsageError(
          fmt::format("--voxmap {}: the precision must be a whole number from -{} to {}", text,
                      kMaxVoxmapPrecision, kMaxVoxmapPrecision));
  } else if (text != "layers" && text != "support") {
    throw UsageError(fmt::format("--voxmap {}: expected layers, scaled:P or support", text));
  }
  return settings;
}

// Wrong usage shows before any work.
AssetSettings asset_settings(const BuildOptions& o) {
  if (o.resolution != kNotGiven && o.voxel_size > 0)
    throw UsageError("--resolution and --voxel-size exclude each other");
  if (!o.accuracy.empty() && (o.resolution != kNotGiven || o.voxel_size > 0))
    throw UsageError("--accuracy chooses the cells: leave out --resolution and --voxel-size");
  if (o.field != "brick" && !o.range.empty()) throw UsageError("--range needs --field brick");
  if (o.field == "none" && !o.accuracy.empty())
    throw UsageError("--accuracy needs --field brick or dense");
  if (o.keep_thin == name(KeepThin::kOffset) &&
      (o.field != "brick" || o.first_order || !o.voxmap.empty()))
    throw UsageError("--keep-thin offset grows brick fields only");
  if (o.shell_offset > 0 && o.sign != "auto" && o.sign != "unsigned")
    throw UsageError(
        fmt::format("--shell-offset is for unsigned surfaces, not for --sign {}", o.sign));
  AssetSettings settings{.field = field_settings(o), .first_order = o.first_order};
  if (settings.field.accuracy && !(*settings.field.accuracy > 0))
    throw UsageError("--accuracy: expected a length above 0");
  if (settings.field.range < 0) throw UsageError("--range: expected a length of at least 0");
  for (const StoredField stored : {StoredField::kBrick, StoredField::kDense, StoredField::kNone})
    if (o.field == name(stored)) settings.stored_field = stored;
  if (!o.voxmap.empty()) settings.voxmap = voxmap_settings(o.voxmap);
  settings.points = point_settings(o.shell);
  if (settings.points.normals_from_field && settings.stored_field != StoredField::kBrick)
    throw UsageError("--point-normals field needs --field brick");
  settings.mesh = !o.no_mesh;
  settings.segment_index = o.segment_index;
  if (o.segment_index && settings.stored_field != StoredField::kBrick)
    throw UsageError("--segment-index needs --field brick");
  if (o.cache) settings.cache = CacheSettings{};
  return settings;
}

// What was said beforehand, and what came of it; null unless it was asked for.
void add_accuracy(Json& j, const FieldReport& report, const std::optional<FieldPlan>& plan) {
  for (const char* key : {"planned_bytes", "planned_memory", "planned_seconds", "measured_error"})
    j[key] = nullptr;
  if (!plan) return;
  j["planned_bytes"] = plan->bytes;
  j["planned_memory"] = plan->memory;
  j["planned_seconds"] = plan->seconds;
  if (const FieldReport::Measured& m = report.measured; m.points > 0)
    j["measured_error"] = {{"error_points", m.points},
                           {"mean_error", m.mean},
                           {"p99_error", m.p99},
                           {"max_error", m.max}};
}

Json as_json(const AssetResult& result, const std::vector<std::string>& warnings,
             const BuildOptions& options, const std::optional<FieldPlan>& plan) {
  const Asset& asset = result.asset;
  Json j;
  j["input"] = options.input.file;
  j["output"] = options.output;
  if (has_field(asset)) {
    const AssetField field = field_of(asset);
    j["field"] = field.kind;
    j["resolution"] = resolution_of(field.lattice);
    j["dims"] = field.lattice.cells;
    j["voxel_size"] = field.lattice.spacing;
  }
  if (asset.field) {
    add_brick_facts(j, *asset.field);
    j["field_bytes"] = asset.field->header().total_bytes;
  }
  j["bytes"] = encoded_size(asset);
  j["build_seconds"] = result.seconds;
  add_accuracy(j, result.report.field, plan);
  j["from_cache"] = result.from_cache;
  j["device"] = sign_report_of(asset).value("device", "cpu");
  add_sign_facts(j, sign_report_of(asset));
  j["points"] = 0;
  if (const auto tree = find_point_sphere_tree(asset, Check::kHeader)) {
    j["points"] = tree->point_count();
    j["point_tree"] = describe_tree(*tree);
  }
  if (asset.mesh) j["mesh"] = describe_mesh(*asset.mesh);
  j["warnings"] = warnings;
  return j;
}

std::string format_dims(const Json& dims) {
  return fmt::format("{} x {} x {}", dims[0].get<int>(), dims[1].get<int>(), dims[2].get<int>());
}

std::string format_holes(const Json& j, std::uint64_t holes) {
  std::string text = format_count(holes) + ", closed";
  if (!j["membrane_area"].is_number() || !j["membrane_share"].is_number() ||
      !j["largest_hole"].is_number())
    return text;
  return text +
         fmt::format(
             " by membranes of {:.3g} m^2, {:.3g} % of the surface, the largest {:.3g} m across",
             j["membrane_area"].get<double>(), 100 * j["membrane_share"].get<double>(),
             j["largest_hole"].get<double>());
}

void print_table(const Json& j) {
  Facts facts = {
      {"asset", without_control_codes(j["output"].get<std::string>())},
      {"bytes", format_count(j["bytes"].get<std::uint64_t>())},
  };
  if (j.contains("dims")) {
    const double voxel = j["voxel_size"].get<double>();
    facts.emplace_back("cells", format_dims(j["dims"]) + fmt::format(" of {:.6g} m", voxel));
  }
  if (j.contains("bricks")) {
    facts.emplace_back("bricks", format_count(j["bricks"].get<std::uint64_t>()));
    facts.emplace_back("error", format_errors(j));
    if (const Json& m = j["measured_error"]; m.is_object())
      facts.emplace_back("measured",
                         fmt::format("at {} points: at most {:.3g} m, 99 % below {:.3g} m",
                                     format_count(m["error_points"].get<std::uint64_t>()),
                                     m["max_error"].get<double>(), m["p99_error"].get<double>()));
  }
  if (j.contains("point_tree")) facts.emplace_back("points", format_points(j));
  if (j.contains("mesh")) facts.emplace_back("mesh", format_mesh(j["mesh"]));
  facts.emplace_back("sign", fmt::format("{}: {}", j["sign_method"].get<std::string>(),
                                         j["sign_reason"].get<std::string>()));
  if (const auto holes = j["holes"].get<std::uint64_t>(); holes > 0)
    facts.emplace_back("holes", format_holes(j, holes));
  facts.emplace_back("seconds", fmt::format("{:.3g}{}", j["build_seconds"].get<double>(),
                                            j["from_cache"].get<bool>() ? ", from the cache" : ""));
  print_facts(facts);
}

// What is wrong with a mesh is wrong with its file.
AssetResult build_named(const TriangleMesh& mesh, const AssetSettings& settings,
                        const BuildOptions& options) {
  try {
    return build_asset(mesh, settings);
  } catch (const Error& e) {
    throw Error(FileSpot{.file = options.input.file}, e.what());
  }
}

// Before the build, since it may take long.
std::optional<FieldPlan> announce(const TriangleMesh& mesh, const FieldSettings& settings,
                                  const BuildOptions& options) {
  if (!settings.accuracy && settings.range == 0) return std::nullopt;
  if (mesh.triangles.empty()) return std::nullopt;  // the build says so
  FieldPlan plan;
  try {
    plan = plan_field(mesh, settings);
  } catch (const Error& e) {
    throw Error(FileSpot{.file = options.input.file}, e.what());
  }
  fmt::print(
      stderr,
      "isotact: plan: {} x {} x {} cells of {:.3g} m; an error of at most {:.3g} m up to "
      "{:.3g} m from the surface; about {:.3g} MB, {:.3g} MB while building, and {:.2g} s of "
      "one thread\n",
      plan.lattice.cells[0], plan.lattice.cells[1], plan.lattice.cells[2], plan.lattice.spacing,
      plan.near_error, plan.near_reach, 1e-6 * static_cast<double>(plan.bytes),
      1e-6 * static_cast<double>(plan.memory), plan.seconds);
  std::fflush(stderr);
  return plan;
}

// Else an asset would lie under a name that promises a mesh.
void refuse_mesh_name(const std::string& output) {
  for (const MeshFormat format : {MeshFormat::kObj, MeshFormat::kStl, MeshFormat::kPly,
                                  MeshFormat::kOff, MeshFormat::kGltf, MeshFormat::kGlb})
    if (output.ends_with("." + std::string(name(format))))
      throw UsageError(
          fmt::format("'{}': build writes assets (.isotact); isotact convert writes meshes",
                      printable(output)));
}

void run_build(const BuildOptions& options) {
  AssetSettings settings = asset_settings(options);
  refuse_mesh_name(options.output);
  const bool to_stdout = is_stdout(options.output, options.common);
  refuse_same_file(options.input.file, options.output);
  const LoadedMesh loaded = read_input(options.input);
  std::vector<std::string> warnings = loaded.warnings;
  AssetResult result;
  const std::optional<FieldPlan> plan = announce(loaded.mesh, settings.field, options);
  {
    ProgressBar bar;
    const GpuDevice gpu(options.gpu);
    settings.field.device = gpu.get();
    settings.field.monitor = bar.monitor();
    if (!gpu.warning().empty()) warnings.push_back(gpu.warning());
    result = build_named(loaded.mesh, settings, options);
  }
  warnings.insert(warnings.end(), result.warnings.begin(), result.warnings.end());
  if (to_stdout)
    write_stdout(encode_asset(result.asset));
  else
    save_asset(options.output, result.asset);
  print_warnings(options.input.file, warnings);
  if (to_stdout) return;
  const Json report = as_json(result, warnings, options, plan);
  if (options.common.json)
    print_json(report);
  else
    print_table(report);
}

void add_field_options(Command& command, BuildOptions& o) {
  const auto choice = [&](const char* names, std::string& target, const char* help,
                          const char* value_name, std::vector<std::string> choices) {
    command.add_text(
        {.names = names, .help = help, .value_name = value_name, .choices = std::move(choices)},
        target);
  };
  command.add_whole({.names = "--resolution",
                     .help = "Cells along the longest side of the padded box (default: 128)",
                     .value_name = "N"},
                    o.resolution, {kLeastResolution, kMostResolution});
  command.add_length(
      {.names = "--voxel-size", .help = "Side of a cell in metres", .value_name = "S"},
      o.voxel_size, {1e-12, 1e12});
  command.add_text({.names = "--accuracy",
                    .help = "Choose cells whose proved error near the surface is at most this "
                            "length, as in 0.05mm",
                    .value_name = "LENGTH"},
                   o.accuracy);
  command.add_text({.names = "--range",
                    .help = "Distance up to which the bound near the surface is proved, too, as in "
                            "20mm (default: 4 cells)",
                    .value_name = "LENGTH"},
                   o.range);
  choice("--field", o.field, "Field to store (default: brick)", "brick|dense|none",
         {"brick", "dense", "none"});
  command.add_flag("--first-order", o.first_order,
                   "Also store values and gradients at all nodes, in 16 bits");
  command.add_flag("--no-mesh", o.no_mesh, "Leave out the triangles, which exact queries need");
  command.add_text({.names = "--voxmap",
                    .help = "Also store a voxelmap; scaled:P multiplies distances by 10^P",
                    .value_name = "layers|scaled:P|support"},
                   o.voxmap);
  command.add_flag("--segment-index", o.segment_index,
                   "Store an index of the brick field too, so that segments need not build it; it "
                   "is about half as large as the field");
  add_shell_options(command, o.shell);
  choice("--sign", o.sign, "Rule that decides between inside and outside (default: auto)",
         "auto|pseudonormal|winding|unsigned", {"auto", "pseudonormal", "winding", "unsigned"});
  choice("--nested", o.nested, "Rule for the inside of nested surfaces (default: winding)",
         "winding|even-odd", {"winding", "even-odd"});
  command.add_length({.names = "--shell-offset",
                      .help = "Thickness in metres around an unsigned surface (default: a cell)",
                      .value_name = "S"},
                     o.shell_offset, {0, 1e12});
  command.add_number({.names = "--padding",
                      .help = "Cells between mesh and box; fewer than 6 count as 6 (default: 6)",
                      .value_name = "CELLS"},
                     o.padding, {0, kMostPadding});
  command.add_number({.names = "--tolerance",
                      .help = "Refine cells away from the surface if their error exceeds this "
                              "share of the distance; 0: all, 1: none (default: 0.15)",
                      .value_name = "T"},
                     o.tolerance, {0, 1});
  choice("--keep-thin", o.keep_thin,
         "Treatment of walls and rods that vanish between samples: ignore or report them "
         "(default: report), build with smaller cells, or grow the body by at most a cell",
         "ignore|report|refine|offset", {"ignore", "report", "refine", "offset"});
  command.add_flag("--gpu", o.gpu,
                   "Compute distances on the GPU; without one, on the CPU with a warning");
  command.add_number({.names = "--max-memory",
                      .help = "Refuse builds that need more megabytes than this, all sections "
                              "together (default: the memory of the machine)",
                      .value_name = "MB"},
                     o.max_megabytes, {0, 1e9});
}

}  // namespace

void add_build(CommandLine& line) {
  auto options = std::make_shared<BuildOptions>();
  Command command = line.add_command(
      "build", "Build an asset from a mesh: its distance field, and points on its surface");
  command.set_examples(
      "Examples:\n"
      "  isotact build bunny.ply -o bunny.isotact --resolution 256\n"
      "  isotact build part.stl --unit mm --voxel-size 0.0002 -o part.isotact --json\n"
      "  isotact build part.stl --unit mm --accuracy 0.05mm --range 20mm -o part.isotact\n"
      "  isotact build gear.stl -o gear.isotact --points 20000\n"
      "  isotact build gear.stl -o field.isotact --points none");
  add_mesh_input(command, options->input, "Mesh: OBJ, STL, PLY, OFF, glTF, GLB");
  command.add_text(
      {.names = "-o,--output", .help = "Asset to write", .value_name = "ASSET", .required = true},
      options->output);
  add_field_options(command, *options);
  command.add_flag("--cache,!--no-cache", options->cache,
                   "Keep and reuse results in the folder of ISOTACT_CACHE, or ~/.cache/isotact");
  add_common_options(command, options->common);
  command.on_run([options] { run_build(*options); });
}

}  // namespace isotact::tool

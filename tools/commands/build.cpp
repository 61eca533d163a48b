// isotact build: from a mesh to an asset.
#include <charconv>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/memory_limit.h"
#include "isotact/base/progress.h"
#include "isotact/field/build/build_field.h"
#include "isotact/field/build/build_nodes.h"
#include "isotact/field/build/cache.h"
#include "isotact/field/build/settings_text.h"
#include "isotact/field/isosurface.h"
#include "isotact/geometry/mass_properties.h"

#include "asset_input.h"
#include "command.h"
#include "gpu_device.h"
#include "mesh_input.h"
#include "shell_options.h"

namespace isotact::tool {
namespace {

constexpr int kNotGiven = -1;

struct BuildOptions {
  CommonOptions common;
  MeshInputOptions input;
  std::string output;
  int resolution = kNotGiven;
  double voxel_size = kNotGiven;
  std::string field = "brick";
  bool first_order = false;
  std::string voxmap;
  ShellOptions shell;
  std::string sign = "auto";
  std::string nested = "winding";
  double shell_offset = 0;
  double padding = FieldSettings{}.padding;
  double tolerance = FieldSettings{}.tolerance;
  std::string keep_thin = std::string(name(FieldSettings{}.keep_thin));
  double max_megabytes = 0;
  bool cache = false;
  bool gpu = false;
};

struct BuildResult {
  Asset asset;
  std::vector<std::string> warnings;
  bool from_cache = false;
  double seconds = 0;
};

FieldSettings field_settings(const BuildOptions& o, const Monitor& monitor) {
  FieldSettings s;
  if (o.resolution != kNotGiven) s.resolution = o.resolution;
  if (o.voxel_size > 0) s.voxel_size = o.voxel_size;
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
  s.monitor = monitor;
  return s;
}

// The voxel size is that of the field in which they were looked for at first.
Json to_json(const ThinReport& thin, double voxel_size) {
  Json places = Json::array();
  for (const ThinPlace& place : thin.places)
    places.push_back({{"position", {place.position.x, place.position.y, place.position.z}},
                      {"kind", place.is_film   ? "film"
                               : place.is_wall ? "wall"
                                               : "rod or tip"},
                      {"thickness", place.thickness},
                      {"thickness_cells", place.thickness / voxel_size},
                      {"extent", place.extent},
                      {"area", place.area},
                      {"samples", place.samples}});
  return {{"samples", thin.samples},
          {"lost", thin.lost},
          {"crumbs", thin.crumbs},
          {"parts", thin.parts},
          {"lost_area", thin.lost_area},
          {"lost_share", thin.lost_share},
          {"thinnest", thin.thinnest},
          {"voxel_size_to_keep", thin.voxel_size_to_keep},
          {"films", thin.films},
          {"film_area", thin.film_area},
          {"film_share", thin.film_share},
          {"thinnest_film", thin.thinnest_film},
          {"refined_from", thin.refined_from},
          {"memory_limited", thin.memory_limited},
          {"offset", thin.offset},
          {"lost_afterwards", thin.lost_afterwards},
          {"area_afterwards", thin.area_afterwards},
          {"films_afterwards", thin.films_afterwards},
          {"places", std::move(places)}};
}

Json to_json(const FieldReport& report) {
  const SignReport& sign = report.sign;
  Json j{{"method", name(sign.method)},
         {"reason", sign.reason},
         {"watertight", sign.watertight},
         {"holes", sign.holes},
         {"hole_edges", sign.hole_edges},
         {"largest_hole", sign.largest_hole},
         {"membrane_area", sign.membrane_area},
         {"membrane_share", sign.membrane_share},
         {"cancelled_pairs", sign.cancelled_pairs},
         {"overlap_volume", report.overlap_volume},
         {"overlap_share", report.overlap_share},
         {"turned_components", sign.turned_components},
         {"consistent_components", sign.consistent_components},
         {"dropped_triangles", sign.dropped_triangles},
         {"shell_offset", sign.shell_offset},
         {"thin_features",
          to_json(report.thin, report.thin.refined_from > 0 ? report.thin.refined_from
                                                            : report.lattice.spacing)},
         {"warnings", report.warnings}};
  // Without a GPU, the same bytes as ever.
  if (report.device != "cpu") j["device"] = report.device;
  return j;
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

Surface surface_for(const TriangleMesh& mesh, double voxel_size, const FieldSettings& settings) {
  return prepare_surface(mesh, {.sign = settings.sign,
                                .nested = settings.nested,
                                .voxel_size = voxel_size,
                                .shell_offset = settings.shell_offset,
                                .threads = settings.threads,
                                .monitor = settings.monitor});
}

// What is sampled at every node takes memory by the lattice alone. All sections are held at once,
// so their sum counts.
struct SampledBytes {
  double dense = 0, first_order = 0, voxmap = 0;

  double total() const { return dense + first_order + voxmap; }
};

SampledBytes find_sampled_bytes(const Lattice& lattice, const BuildOptions& options) {
  SampledBytes bytes;
  if (options.field == "dense") bytes.dense = dense_grid_bytes(lattice);
  if (options.first_order)
    bytes.first_order = build_first_order_field_bytes(lattice, FirstOrderSettings{}.storage) +
                        (options.gpu ? 3 * dense_grid_bytes(lattice) : 0);  // gradients
  if (!options.voxmap.empty())
    bytes.voxmap = voxmap_build_bytes(lattice, voxmap_settings(options.voxmap).encoding);
  return bytes;
}

void check_sections(double field_bytes, const SampledBytes& sampled, std::uint64_t limit) {
  if (sampled.total() == 0) return;  // the field's own build has looked
  std::string parts;
  const auto add = [&](const char* part, double size) {
    if (size > 0)
      parts += fmt::format("{}{} {:.1f} MB", parts.empty() ? "" : ", ", part, size / 1e6);
  };
  add("bricks", field_bytes);
  add("dense", sampled.dense);
  add("first order", sampled.first_order);
  add("voxmap", sampled.voxmap);
  check_memory(field_bytes + sampled.total(), limit, fmt::format("what is asked for ({})", parts));
}

// From exact distances to the surface that the field was built of.
void add_sampled_sections(Asset& asset, const TriangleMesh& mesh, const Lattice& lattice,
                          const FieldSettings& settings, const BuildOptions& options) {
  const bool dense = options.field == "dense";
  if (!dense && !options.first_order && options.voxmap.empty()) return;
  const SampledBytes bytes = find_sampled_bytes(lattice, options);
  const double field_bytes =
      asset.field ? static_cast<double>(asset.field->header().total_bytes) : 0;
  check_sections(field_bytes, bytes, settings.max_memory);
  // What the others leave of the limit.
  const auto left_for = [&](double own) -> std::uint64_t {
    if (settings.max_memory == 0) return 0;
    return settings.max_memory - static_cast<std::uint64_t>(field_bytes + bytes.total() - own);
  };
  const Surface surface = surface_for(mesh, lattice.spacing, settings);
  if (dense) {
    FieldSettings own = settings;
    own.max_memory = left_for(bytes.dense);
    asset.dense = build_dense_grid(surface, lattice, own);
  }
  if (options.first_order)
    asset.first_order = build_first_order_field(surface, lattice,
                                                {.max_memory = left_for(bytes.first_order),
                                                 .threads = settings.threads,
                                                 .monitor = settings.monitor,
                                                 .device = settings.device});
  if (options.voxmap.empty()) return;
  VoxmapSettings voxmap = voxmap_settings(options.voxmap);
  voxmap.max_memory = left_for(bytes.voxmap);
  voxmap.threads = settings.threads;
  voxmap.monitor = settings.monitor;
  asset.voxmap = build_voxmap(surface, lattice, voxmap).voxmap;
}

void add_points(BuildResult& result, const TriangleMesh& mesh, const Lattice& lattice,
                const FieldSettings& settings, const BuildOptions& options) {
  if (!options.shell.is_asked_for()) return;
  const Surface surface = surface_for(mesh, lattice.spacing, settings);
  if (surface.report.method == SignMethod::kUnsigned)
    result.warnings.push_back(
        "the points lie on the triangles, not on the shell around them that the field has");
  set_point_sphere_tree(result.asset,
                        build_shell_tree(surface, result.asset.field, options.shell, settings));
}

// Bricks are built where they are stored, and to look for thin walls; not where nothing of them
// would be left.
FieldResult build_bricks(const TriangleMesh& mesh, const FieldSettings& settings,
                         const BuildOptions& options) {
  if (options.field != "none" || settings.keep_thin == KeepThin::kRefine)
    return build_field(mesh, settings);
  FieldResult nothing;
  nothing.report.lattice = plan_lattice(mesh, settings);
  nothing.report.sign = surface_for(mesh, nothing.report.lattice.spacing, settings).report;
  nothing.report.warnings = nothing.report.sign.warnings;
  if (settings.device != nullptr && options.first_order)
    nothing.report.device = settings.device->name();
  return nothing;
}

// Where the sum of its parts is not the body that the field has: overlaps count twice or not at
// all in it, and an open mesh has no volume.
bool is_mesh_no_measure(const FieldReport& report) {
  return report.overlap_volume > 0 || report.sign.holes > 0;
}

// Of the field's own surface; of every second node or so where there are many, which is off by no
// more than cells are small.
MassProperties find_mass_of(const BrickField& field, const FieldSettings& settings) {
  constexpr int kEnough = 384;
  const int stride = (resolution_of(field.lattice()) + kEnough - 1) / kEnough;
  const TriangleMesh surface = extract_surface(
      field, {.stride = stride, .threads = settings.threads, .monitor = settings.monitor});
  return find_mass_properties(surface, {.density = 1, .threads = settings.threads});
}

BuildResult make_asset(const TriangleMesh& mesh, const BuildOptions& options) {
  ProgressBar bar;
  const GpuDevice gpu(options.gpu);
  FieldSettings settings = field_settings(options, bar.monitor());
  settings.device = gpu.get();
  BuildResult result;
  if (!gpu.warning().empty()) result.warnings.push_back(gpu.warning());
  if (!mesh.triangles.empty())  // else the build says what is wrong with the mesh
    check_sections(0, find_sampled_bytes(plan_lattice(mesh, settings), options),
                   settings.max_memory);
  FieldResult built = build_bricks(mesh, settings, options);
  Json report = to_json(built.report);
  const bool by_field = is_mesh_no_measure(built.report) && options.field != "none";
  MassProperties mass =
      by_field ? find_mass_of(built.field, settings)
               : find_mass_properties(mesh, {.density = 1, .threads = settings.threads});
  mass.warnings.clear();
  report["mass_from"] = nullptr;
  if (mass.status == MassStatus::kSolid) {
    report["mass_from"] = by_field ? "field" : "mesh";
    result.asset.mass = std::move(mass);
  }
  result.asset.source = {.mesh_hash = hash_mesh(mesh),
                         .settings = describe(settings),
                         .sign_report = report.dump(-1, ' ', true, Json::error_handler_t::replace)};
  if (options.field == "brick") result.asset.field = built.field;
  built.field = {};  // what is not kept makes room
  add_sampled_sections(result.asset, mesh, built.report.lattice, settings, options);
  add_points(result, mesh, built.report.lattice, settings, options);
  return result;
}

// Of a cached asset: as make_asset wrote it, so that what is printed of it is there.
bool has_report(const Asset& asset) {
  const Json sign = sign_report_of(asset);
  const auto has = [&](const char* key, auto is) {
    return sign.contains(key) && (sign[key].*is)();
  };
  return sign.is_object() && has("method", &Json::is_string) && has("reason", &Json::is_string) &&
         has("watertight", &Json::is_boolean) && has("holes", &Json::is_number_unsigned) &&
         has("thin_features", &Json::is_object) && has("warnings", &Json::is_array);
}

// Everything that goes into the asset must be in the key.
BuildResult make_or_find_asset(const TriangleMesh& mesh, const BuildOptions& options) {
  if (!options.cache) return make_asset(mesh, options);
  const CacheKey key = make_cache_key(
      mesh, fmt::format("{} field={} first-order={} voxmap={} gpu={} {}",
                        describe(field_settings(options, {})), options.field, options.first_order,
                        options.voxmap, options.gpu, describe(options.shell)));
  CacheLookup found = find_in_cache(key);
  if (found.asset && has_report(*found.asset)) {
    BuildResult result;
    result.asset = std::move(*found.asset);
    result.from_cache = true;
    return result;
  }
  BuildResult result = make_asset(mesh, options);
  if (!found.note.empty()) result.warnings.push_back(found.note);
  const CacheStore stored = store_in_cache(key, result.asset);
  if (!stored.stored && !stored.note.empty()) result.warnings.push_back(stored.note);
  return result;
}

Json as_json(const BuildResult& result, const BuildOptions& options) {
  const Asset& asset = result.asset;
  Json j;
  j["input"] = options.input.file;
  j["output"] = options.output;
  if (asset.field || asset.dense || asset.first_order) {
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
  j["from_cache"] = result.from_cache;
  j["device"] = sign_report_of(asset).value("device", "cpu");
  const Json sign = sign_report_of(asset);
  j["sign_method"] = sign["method"];
  j["sign_reason"] = sign["reason"];
  j["watertight"] = sign["watertight"];
  for (const char* key : {"holes", "largest_hole", "membrane_area", "membrane_share",
                          "cancelled_pairs", "overlap_volume", "overlap_share", "mass_from"})
    j[key] = sign.value(key, Json());
  j["thin_features"] = sign["thin_features"];
  j["points"] = 0;
  if (const auto tree = find_point_sphere_tree(asset, Check::kHeader)) {
    j["points"] = tree->point_count();
    j["point_tree"] = describe_tree(*tree);
  }
  j["warnings"] = result.warnings;
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
             " by membranes of {:.3g} m^2, {:.2g} % of the surface, the largest {:.3g} m across",
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
  }
  if (j.contains("point_tree")) facts.emplace_back("points", format_points(j));
  facts.emplace_back("sign", fmt::format("{}: {}", j["sign_method"].get<std::string>(),
                                         j["sign_reason"].get<std::string>()));
  if (const auto holes = j["holes"].get<std::uint64_t>(); holes > 0)
    facts.emplace_back("holes", format_holes(j, holes));
  facts.emplace_back("seconds", fmt::format("{:.3g}{}", j["build_seconds"].get<double>(),
                                            j["from_cache"].get<bool>() ? ", from the cache" : ""));
  print_facts(facts);
}

// What is wrong with a mesh is wrong with its file.
BuildResult make_named(const TriangleMesh& mesh, const BuildOptions& options) {
  try {
    return make_or_find_asset(mesh, options);
  } catch (const Error& e) {
    throw Error(FileSpot{.file = options.input.file}, e.what());
  }
}

void run_build(const BuildOptions& options) {
  if (options.resolution != kNotGiven && options.voxel_size > 0)
    throw UsageError("--resolution and --voxel-size exclude each other");
  if (options.keep_thin == name(KeepThin::kOffset) &&
      (options.field != "brick" || options.first_order || !options.voxmap.empty()))
    throw UsageError("--keep-thin offset grows brick fields only");
  if (options.shell_offset > 0 && options.sign != "auto" && options.sign != "unsigned")
    throw UsageError(
        fmt::format("--shell-offset is for unsigned surfaces, not for --sign {}", options.sign));
  const bool to_stdout = is_stdout(options.output, options.common);
  if (!options.voxmap.empty()) voxmap_settings(options.voxmap);  // wrong usage shows before work
  check_usage(options.shell);
  if (options.shell.normals == "field" && options.field != "brick")
    throw UsageError("--point-normals field needs --field brick");
  refuse_same_file(options.input.file, options.output);
  LoadedMesh loaded = read_input(options.input);
  const auto start = std::chrono::steady_clock::now();
  BuildResult result = make_named(loaded.mesh, options);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const Json sign = sign_report_of(result.asset);
  for (const Json& warning : sign["warnings"]) result.warnings.push_back(warning);
  result.warnings.insert(result.warnings.begin(), loaded.warnings.begin(), loaded.warnings.end());
  if (options.shell_offset > 0 && sign["method"] != name(SignMethod::kUnsigned))
    result.warnings.push_back(
        fmt::format("--shell-offset does nothing here: the sign is told by {}",
                    sign["method"].get<std::string>()));
  if (to_stdout)
    write_stdout(encode_asset(result.asset));
  else
    write_asset(options.output, result.asset);
  print_warnings(options.input.file, result.warnings);
  if (to_stdout) return;
  const Json report = as_json(result, options);
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
  command.add_number(
      {.names = "--voxel-size", .help = "Side of a cell in metres", .value_name = "S"},
      o.voxel_size, {1e-12, 1e12});
  choice("--field", o.field, "What is stored (default: brick)", "brick|dense|none",
         {"brick", "dense", "none"});
  command.add_flag("--first-order", o.first_order,
                   "Store values and gradients at all nodes too, in 16 bits");
  command.add_text({.names = "--voxmap",
                    .help = "Store a voxelmap too, scaled by 10^P",
                    .value_name = "layers|scaled:P|support"},
                   o.voxmap);
  add_shell_options(command, o.shell);
  choice("--sign", o.sign, "How inside is told from outside (default: auto)",
         "auto|pseudonormal|winding|unsigned", {"auto", "pseudonormal", "winding", "unsigned"});
  choice("--nested", o.nested, "Which parts of nested surfaces are inside (default: winding)",
         "winding|even-odd", {"winding", "even-odd"});
  command.add_number({.names = "--shell-offset",
                      .help = "Thickness in metres around an unsigned surface (default: a cell)",
                      .value_name = "S"},
                     o.shell_offset, {0, 1e12});
  command.add_number({.names = "--padding",
                      .help = "Cells between mesh and box; less than 6 count as 6 (default: 6)",
                      .value_name = "CELLS"},
                     o.padding, {0, kMostPadding});
  command.add_number({.names = "--tolerance",
                      .help = "Error away from the surface, as a part of the distance, above which "
                              "cells are refined; 0: all, 1: none (default: 0.15)",
                      .value_name = "T"},
                     o.tolerance, {0, 1});
  choice("--keep-thin", o.keep_thin,
         "Walls and rods that vanish between samples: only report them (default), build with "
         "smaller cells, or grow the body by a cell at most",
         "ignore|report|refine|offset", {"ignore", "report", "refine", "offset"});
  command.add_flag(
      "--gpu", o.gpu,
      "Find distances on the GPU; on the processor, with a warning, where there is none");
  command.add_number({.names = "--max-memory",
                      .help = "Refuse builds that need more megabytes than this, all sections "
                              "together (default: what the machine has)",
                      .value_name = "MB"},
                     o.max_megabytes, {0, 1e9});
}

}  // namespace

void add_build(CommandLine& line) {
  auto options = std::make_shared<BuildOptions>();
  Command command = line.add_command("build", "Build an asset, with its distance field, of a mesh");
  command.set_examples(
      "Examples:\n"
      "  isotact build bunny.ply -o bunny.isotact --resolution 256\n"
      "  isotact build part.stl --unit mm --voxel-size 0.0002 -o part.isotact --json\n"
      "  isotact build gear.stl -o gear.isotact --points 20000");
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

// isotact info: facts and flaws of meshes, facts of assets.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/geometry/flaws.h"
#include "isotact/geometry/mass_properties.h"

#include "asset_input.h"
#include "command.h"
#include "field_file.h"
#include "info_asset.h"
#include "mesh_input.h"

namespace isotact::tool {
namespace {

struct InfoOptions {
  CommonOptions common;
  std::vector<std::string> files;
  std::string unit;
  bool self_intersections = false;
};

struct MeshInfo {
  LoadedMesh loaded;
  MeshFlaws flaws;
  MassProperties mass;
  double seconds = 0;
};

MeshInfo examine(const std::string& file, const InfoOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  MeshInfo info;
  info.loaded = read_input({file, options.unit});
  const Threads threads = options.common.thread_setting();
  info.flaws = find_flaws(info.loaded.mesh,
                          {.self_intersections = options.self_intersections, .threads = threads});
  info.mass = find_mass_properties(info.loaded.mesh, {.density = 1, .threads = threads});
  info.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return info;
}

Json to_json(const Mat3& m) { return {to_list(m.rows[0]), to_list(m.rows[1]), to_list(m.rows[2])}; }

Json to_json(const Aabbf& box) {
  if (is_empty(box)) return nullptr;
  return {{"min", to_list(to_double(box.lower))}, {"max", to_list(to_double(box.upper))}};
}

std::size_t crossing_pairs(const SelfIntersections& found) {
  return found.crossing + found.overlapping;
}

Json as_json(const MeshInfo& info, const std::string& file) {
  const MeshFlaws& f = info.flaws;
  const MassProperties& m = info.mass;
  const bool solid = m.status == MassStatus::kSolid;
  Json j;
  j["file"] = file;
  j["kind"] = "mesh";
  j["format"] = name(info.loaded.format);
  j["vertices"] = f.vertices;
  j["triangles"] = f.triangles;
  j["bounds"] = to_json(f.bounds);
  j["watertight"] = f.watertight;
  j["watertight_as_stored"] = f.watertight_as_stored;
  j["manifold"] = f.manifold;
  j["oriented"] = f.oriented;
  j["balanced"] = f.balanced;
  j["boundary_loops"] = f.boundary_loops.count;
  j["boundary_edges"] = f.boundary_edges.count;
  j["nonmanifold_edges"] = f.non_manifold_edges.count;
  j["nonmanifold_vertices"] = f.non_manifold_vertices.count;
  j["inconsistent_edges"] = f.inconsistent_edges.count;
  j["components"] = f.components;
  j["degenerate"] = f.degenerate;
  j["duplicate"] = f.duplicate_triangles.count;
  j["unreferenced_vertices"] = f.unreferenced_vertices.count;
  j["nonfinite_vertices"] = f.non_finite_vertices.count;
  j["self_intersections"] =
      f.self_intersections ? Json(crossing_pairs(*f.self_intersections)) : Json(nullptr);
  j["self_intersections_complete"] =
      f.self_intersections ? Json(f.self_intersections->complete) : Json(nullptr);
  j["area"] = f.area;
  j["volume"] = f.volume ? Json(*f.volume) : Json(nullptr);
  j["center_of_mass"] = solid ? to_list(m.center) : Json(nullptr);
  j["inertia"] = solid ? to_json(m.inertia) : Json(nullptr);
  j["principal_moments"] = solid ? to_list(m.principal_moments) : Json(nullptr);
  const Quat& q = m.mesh_from_principal;
  j["principal_axes"] = solid ? Json{{"wxyz", {q.w, q.x, q.y, q.z}}} : Json(nullptr);
  j["flaws"] = describe(f);
  j["warnings"] = info.loaded.warnings;
  j["seconds"] = info.seconds;
  return j;
}

std::string yes_or_no(bool value) { return value ? "yes" : "no"; }

std::string format_vector(const Vec3& v) {
  return fmt::format("{:.6g}  {:.6g}  {:.6g}", v.x, v.y, v.z);
}

std::string format_watertight(const MeshFlaws& f) {
  if (f.watertight && !f.watertight_as_stored) return "yes, once equal positions are merged";
  return yes_or_no(f.watertight);
}

void print_table(const MeshInfo& info, const std::string& file) {
  const MeshFlaws& f = info.flaws;
  Facts facts = {
      {"file", fmt::format("{} ({})", without_control_codes(file), name(info.loaded.format))},
      {"vertices", format_count(f.vertices)},
      {"triangles", format_count(f.triangles)},
  };
  if (!is_empty(f.bounds)) {
    facts.emplace_back("size", format_vector(to_double(extent(f.bounds))) + "  m");
    facts.emplace_back("center", format_vector(to_double(center(f.bounds))) + "  m");
  }
  facts.emplace_back("watertight", format_watertight(f));
  facts.emplace_back("manifold", yes_or_no(f.manifold));
  facts.emplace_back("components", format_count(f.components));
  facts.emplace_back("area", fmt::format("{:.6g} m^2", f.area));
  if (f.volume) facts.emplace_back("volume", fmt::format("{:.6g} m^3", *f.volume));
  if (info.mass.status == MassStatus::kSolid)
    facts.emplace_back("mass center", format_vector(info.mass.center) + "  m");
  for (const std::string& flaw : describe(f)) facts.emplace_back("flaw", flaw);
  print_facts(facts);
}

// Prints the table, or returns what --json prints.
Json show(const std::string& file, const InfoOptions& options) {
  if (is_field_file(file)) {
    Json facts = is_asset(file) ? describe_asset(file) : describe_field_file(file);
    if (!options.common.json) print_asset(facts);
    return facts;
  }
  const MeshInfo info = examine(file, options);
  if (!options.common.json) print_table(info, file);
  print_warnings(file, info.loaded.warnings);
  return options.common.json ? as_json(info, file) : Json();
}

void run_info(const InfoOptions& options) {
  if (std::all_of(options.files.begin(), options.files.end(), is_field_file))
    refuse_unit(options.unit, "no mesh is read, and fields are in metres");
  if (options.files.size() == 1) {
    const Json facts = show(options.files[0], options);
    if (options.common.json) print_json(facts);
    return;
  }
  // One bad file of several does not keep the others from being shown.
  Json all = Json::array();
  bool failed = false;
  for (const std::string& file : options.files) {
    if (!options.common.json && !all.empty()) fmt::print("\n");
    std::fflush(stdout);
    try {
      all.push_back(show(file, options));
    } catch (const Error& error) {
      fmt::print(stderr, "isotact: error: {}\n", error.what());
      all.push_back({{"file", file}, {"error", error.what()}});
      failed = true;
    }
  }
  if (options.common.json) print_json(all);
  if (failed) throw AlreadyReported();
}

}  // namespace

void add_info(CommandLine& line) {
  auto options = std::make_shared<InfoOptions>();
  Command command = line.add_command("info", "Show facts and flaws of meshes, assets and fields");
  command.set_examples(
      "Examples:\n"
      "  isotact info bunny.ply\n"
      "  isotact info bunny.isotact --json\n"
      "  isotact info part.stl --unit mm --json --self-intersections");
  command.add_texts(
      {.names = "FILE",
       .help = "Assets; fields: .vdb .nvdb .sdf; meshes: OBJ, STL, PLY, OFF, glTF, GLB",
       .required = true},
      options->files);
  add_unit(command, options->unit);
  command.add_flag("--self-intersections", options->self_intersections,
                   "Also look for triangles of meshes that cross each other");
  add_common_options(command, options->common);
  command.on_run([options] { run_info(*options); });
}

}  // namespace isotact::tool

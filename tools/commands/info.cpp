// isotact info: facts and flaws of meshes, facts of assets and fields; a table and a verdict.
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/geometry/mesh/mass_properties.h"
#include "isotact/geometry/repair/flaws.h"

#include "command.h"
#include "input/asset_input.h"
#include "input/field_file.h"
#include "input/mesh_input.h"
#include "report/hints.h"
#include "report/info_asset.h"
#include "report/schema.h"

namespace isotact::tool {
namespace {

struct InfoOptions {
  CommonOptions common;
  std::vector<std::string> files;
  std::string unit;
  std::string fail_on;
  bool self_intersections = false;
};

// They are searched for without being asked in meshes of at most so many triangles: about a second.
constexpr std::size_t kMostTrianglesToCross = 500'000;

struct MeshInfo {
  LoadedMesh loaded;
  MeshFlaws flaws;
  MassProperties mass;
};

MeshInfo examine(const std::string& file, const InfoOptions& options) {
  MeshInfo info;
  info.loaded = read_input({file, options.unit});
  const Threads threads = options.common.thread_setting();
  const bool is_small = info.loaded.mesh.triangles.size() <= kMostTrianglesToCross;
  info.flaws = find_flaws(
      info.loaded.mesh,
      {.self_intersections = options.self_intersections || is_small, .threads = threads});
  info.mass = compute_mass_properties(info.loaded.mesh, {.density = 1, .threads = threads});
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
  j["bytes"] = std::filesystem::file_size(file);
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

// An odd size is a question about the unit, no flaw.
std::size_t count_flaws(const Json& facts) {
  const auto is_flaw = [](const Json& warning) {
    return split_hint(warning.get<std::string>()).hint != Hint::kUnit;
  };
  const Json& warnings = facts["warnings"];
  return facts.value("flaws", Json::array()).size() +
         static_cast<std::size_t>(std::count_if(warnings.begin(), warnings.end(), is_flaw));
}

const char* judge(const Json& facts) {
  if (facts.contains("error") || facts.value("triangles", Json()) == 0) return "bad";
  return count_flaws(facts) > 0 ? "flawed" : "good";
}

// Returns the facts. Prints them, after `gap`, unless --json asks for all at the end.
Json show(const std::string& file, const InfoOptions& options, const char* gap) {
  if (is_field_file(file)) {
    Json facts = is_asset(file) ? describe_asset(file) : describe_field_file(file);
    if (!options.common.json) {
      fmt::print("{}", gap);
      print_asset(facts);
    }
    return facts;
  }
  const MeshInfo info = examine(file, options);
  if (!options.common.json) {
    fmt::print("{}", gap);
    print_table(info, file);
  }
  print_warnings(file, info.loaded.warnings);
  return as_json(info, file);
}

// One bad file of several does not keep the others from being shown.
Json show_all(const InfoOptions& options) {
  Json all = Json::array();
  for (const std::string& file : options.files) {
    std::fflush(stdout);
    try {
      all.push_back(show(file, options, all.empty() ? "" : "\n"));
    } catch (const Error& error) {
      if (options.files.size() == 1) throw;
      fmt::print(stderr, "isotact: error: {}\n", in_words_of_tool(error.what()));
      all.push_back({{"file", file}, {"error", error.what()}});
    }
    all.back()["verdict"] = judge(all.back());
  }
  return all;
}

std::size_t count_verdicts(const Json& files, const char* verdict) {
  return static_cast<std::size_t>(std::count_if(
      files.begin(), files.end(), [&](const Json& file) { return file["verdict"] == verdict; }));
}

const char* worst_verdict(const Json& files) {
  for (const char* verdict : {"bad", "flawed"})
    if (count_verdicts(files, verdict) > 0) return verdict;
  return "good";
}

std::string format_size(const Json& facts) {
  if (facts["kind"] == "mesh")
    return format_count(facts["triangles"].get<std::uint64_t>(), "triangle");
  if (facts.contains("resolution")) return fmt::format("{} cells", facts["resolution"].get<int>());
  return format_bytes(facts["bytes"].get<std::uint64_t>());
}

// file, kind, size, watertight, flaws, verdict.
std::array<std::string, 6> summary_row(const Json& facts) {
  const std::string file = without_control_codes(facts["file"].get<std::string>());
  if (facts.contains("error")) return {file, "-", "-", "-", "-", "bad"};
  const Json watertight = facts.value("watertight", Json());
  return {file,
          facts["kind"].get<std::string>(),
          format_size(facts),
          watertight.is_boolean() ? yes_or_no(watertight.get<bool>()) : "-",
          format_count(count_flaws(facts)),
          facts["verdict"].get<std::string>()};
}

std::string describe_verdict(const Json& files) {
  const std::size_t bad = count_verdicts(files, "bad"), flawed = count_verdicts(files, "flawed");
  std::string text = worst_verdict(files);
  // Of meshes that are too large for it.
  const bool is_unsearched = std::any_of(files.begin(), files.end(), [](const Json& f) {
    return f.value("kind", Json()) == "mesh" && f.value("self_intersections", Json()).is_null();
  });
  const std::string remark =
      is_unsearched ? "; self-intersections were not searched for (--self-intersections)" : "";
  if (bad == 0 && flawed == 0)
    return text + ": " +
           (files.size() == 1 ? "nothing is wrong with it" : "nothing is wrong with them") + remark;
  const auto of_all = [&](std::size_t count) {
    return fmt::format("{} of {}", count, format_count(files.size(), "file"));
  };
  if (bad > 0) text += fmt::format(": {} cannot be used", of_all(bad));
  if (flawed > 0)
    text += fmt::format("{} {} {} flaws or warnings", bad > 0 ? "," : ":", of_all(flawed),
                        flawed == 1 ? "has" : "have");
  return text + remark;
}

void print_summary(const Json& files) {
  std::vector<std::array<std::string, 6>> rows{
      {"file", "kind", "size", "watertight", "flaws", "verdict"}};
  for (const Json& facts : files) rows.push_back(summary_row(facts));
  std::array<std::size_t, 6> widths{};
  for (const auto& row : rows)
    for (std::size_t k = 0; k < row.size(); ++k) widths[k] = std::max(widths[k], row[k].size());
  fmt::print("\n");
  for (const auto& row : rows) {
    for (std::size_t k = 0; k + 1 < row.size(); ++k) fmt::print("{:<{}}  ", row[k], widths[k]);
    fmt::print("{}\n", row.back());
  }
  fmt::print("\nverdict: {}\n", describe_verdict(files));
}

// The keys of one file stand at the top level, those of several files in `files`.
void print_all(const Json& files) {
  if (files.size() == 1) return print_json(files[0]);
  print_json({{"files", files}, {"verdict", worst_verdict(files)}});
}

void run_info(const InfoOptions& options) {
  if (std::all_of(options.files.begin(), options.files.end(), is_field_file)) {
    refuse_unit(options.unit, "no mesh is read, and fields are in metres");
    refuse_given({"--self-intersections"}, "for meshes, and no file is one");
  }
  const Json files = show_all(options);
  if (options.common.json)
    print_all(files);
  else
    print_summary(files);
  if (std::any_of(files.begin(), files.end(), [](const Json& f) { return f.contains("error"); }))
    throw AlreadyReported();
  const bool is_bad = count_verdicts(files, "bad") > 0;
  const bool is_flawed = is_bad || count_verdicts(files, "flawed") > 0;
  if ((options.fail_on == "bad" && is_bad) || (options.fail_on == "flawed" && is_flawed))
    throw VerdictFailed{};
}

}  // namespace

void add_info(CommandLine& line) {
  auto options = std::make_shared<InfoOptions>();
  Command command =
      line.add_command("info", "Show facts and flaws of meshes, assets and fields, and a verdict");
  command.set_examples(
      "Examples:\n"
      "  isotact info bunny.ply\n"
      "  isotact info bunny.isotact --json\n"
      "  isotact info part.stl --unit mm --json --self-intersections\n"
      "  isotact info parts/*.stl --unit mm");
  command.add_texts(
      {.names = "FILE",
       .help = "Assets; fields: .vdb .nvdb .sdf; meshes: OBJ, STL, PLY, OFF, glTF, GLB",
       .required = true},
      options->files);
  add_unit(command, options->unit);
  command.add_flag("--self-intersections", options->self_intersections,
                   "With meshes: count pairs of triangles that cross or overlap, however many "
                   "triangles there are (default: in meshes of up to 500,000)");
  command.add_text({.names = "--fail-on",
                    .help = "Exit with code 3 if a file is bad; or if one is flawed or bad",
                    .value_name = "bad|flawed",
                    .choices = {"bad", "flawed"}},
                   options->fail_on);
  add_common_options(command, options->common);
  command.on_run([options] { run_info(*options); });
}

}  // namespace isotact::tool

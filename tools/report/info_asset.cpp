#include "info_asset.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "isotact/asset/build_asset.h"
#include "isotact/base/error.h"

#include "input/asset_input.h"
#include "input/field_file.h"
#include "input/shell_options.h"
#include "report/hints.h"

namespace isotact::tool {
namespace {

Json list_sections(const Asset& asset) {
  Json sections = Json::array();
  for (const AssetSection& section :
       parse_sections(asset.file, asset.file_name, AssetCheck::kTables).sections)
    sections.push_back({{"section", name(section.kind)}, {"bytes", section.bytes.size()}});
  return sections;
}

// The first part of a text that is no JSON of ours; whole letters.
std::string shorten(const std::string& text) {
  constexpr std::size_t kMost = 1000;
  if (text.size() <= kMost) return text;
  std::size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80) --end;
  return text.substr(0, end) + "...";
}

void add_field(Json& j, const AssetField& field) {
  const Aabb box = field.field.bounds();
  j["field"] = field.kind;
  j["resolution"] = resolution_of(field.lattice);
  j["dims"] = field.lattice.cells;
  j["voxel_size"] = field.lattice.spacing;
  j["field_bounds"] = {{"min", to_list(box.lower)}, {"max", to_list(box.upper)}};
  j["lipschitz"] = field.field.lipschitz();
  if (!field.brick) return;
  add_brick_facts(j, *field.brick);
}

// Of samples at nodes; between them a field that is interpolated is off by more.
void add_sampled(Json& j, const Asset& asset) {
  if (asset.dense) {
    const Interval error = asset.dense->parts().sample_error;
    j["dense"] = {{"dims", asset.dense->lattice().cells},
                  {"voxel_size", asset.dense->lattice().spacing},
                  {"node_error", std::max(-error.lower, error.upper)}};
  }
  if (!asset.first_order) return;
  const FirstOrderHeader& h = asset.first_order->header();
  j["first_order"] = {{"dims", asset.first_order->lattice().cells},
                      {"voxel_size", h.spacing},
                      {"bits", asset.first_order->storage() == FirstOrderStorage::kHalf ? 16 : 32},
                      {"near_node_error", h.near_error},
                      {"far_node_error", h.far_error}};
}

// Compressed layers are still as they are in the file; they begin with the same header, whose magic
// only is different. What it holds was not checked as a whole, so numbers are only shown.
void add_voxmap(Json& j, const Asset& asset) {
  VoxmapHeader h{};
  if (asset.voxmap) {
    h = asset.voxmap->header();
  } else {
    const auto raw = std::find_if(asset.raw.begin(), asset.raw.end(), [](const RawSection& s) {
      return s.kind == SectionKind::kVoxmap && s.buffer.bytes.size() >= sizeof(VoxmapHeader);
    });
    if (raw == asset.raw.end()) return;
    std::memcpy(&h, raw->buffer.bytes.data(), sizeof(h));
  }
  const auto encoding = static_cast<VoxmapEncoding>(h.encoding);
  Json& v = j["voxmap"];
  v["dims"] = h.cells;
  v["voxel_size"] = h.voxel_size;
  v["encoding"] = encoding == VoxmapEncoding::kLayers   ? "layers"
                  : encoding == VoxmapEncoding::kScaled ? "scaled"
                                                        : "support";
  v["precision"] = encoding == VoxmapEncoding::kScaled ? Json(h.precision) : Json(nullptr);
  v["surface_voxels"] = h.surface_voxels;
  v["inner_voxels"] = h.inner_voxels;
  v["outer_voxels"] = h.outer_voxels;
}

// What was passed over in the file, what queries need and do not find there, then what build had to
// say about the mesh.
Json list_warnings(const Asset& asset, const Json& sign) {
  Json warnings = asset.notes;
  for (const std::string& gap : describe_gaps(asset)) warnings.push_back(gap);
  if (sign.is_object() && sign.contains("warnings") && sign["warnings"].is_array())
    for (const Json& warning : sign["warnings"])
      if (warning.is_string()) warnings.push_back(warning);
  return warnings;
}

std::string format_cells(const Json& part) {
  const Json& dims = part["dims"];
  return fmt::format("{} x {} x {} of {:.6g} m", dims[0].get<int>(), dims[1].get<int>(),
                     dims[2].get<int>(), part["voxel_size"].get<double>());
}

void add_sampled_facts(Facts& facts, const Json& j) {
  if (j.contains("dense")) {
    const Json& error = j["dense"]["node_error"];
    facts.emplace_back("dense", fmt::format("{}, samples off by at most {:.3g} m",
                                            format_cells(j["dense"]), error.get<double>()));
  }
  if (j.contains("first_order")) {
    const Json& f = j["first_order"];
    facts.emplace_back(
        "first order",
        fmt::format("{}, {} bits, samples off by at most {:.3g} m near the surface, {:.3g} m "
                    "elsewhere",
                    format_cells(f), f["bits"].get<int>(), f["near_node_error"].get<double>(),
                    f["far_node_error"].get<double>()));
  }
  if (j.contains("voxmap")) {
    const Json& v = j["voxmap"];
    std::string text = fmt::format("{}, {}", format_cells(v), v["encoding"].get<std::string>());
    if (v["precision"].is_number()) text += fmt::format(" by 10^{}", v["precision"].get<int>());
    facts.emplace_back("voxmap", text);
  }
}

}  // namespace

Json describe_asset(const std::string& file) {
  const Asset asset = read_asset_input(file);
  Json j;
  j["file"] = file;
  j["kind"] = "asset";
  j["format"] = "isotact";
  j["bytes"] = asset.file.bytes.size();
  j["sections"] = list_sections(asset);
  if (asset.field || asset.dense || asset.first_order) add_field(j, field_of(asset));
  add_sampled(j, asset);
  add_voxmap(j, asset);
  const Json sign = sign_report_of(asset);
  // A report may be of another program: what is not as it should be is not there.
  const auto add = [&](const char* key, const char* from, bool (Json::*is)() const noexcept) {
    const bool there = sign.is_object() && sign.contains(from) && (sign[from].*is)();
    j[key] = there ? sign[from] : Json(nullptr);
  };
  add("sign_method", "method", &Json::is_string);
  add("sign_reason", "reason", &Json::is_string);
  add("watertight", "watertight", &Json::is_boolean);
  add("holes", "holes", &Json::is_number_unsigned);
  j["points"] = 0;
  if (const auto tree = find_point_sphere_tree(asset)) {
    j["points"] = tree->point_count();
    j["point_tree"] = describe_tree(*tree);
  }
  if (asset.mesh) j["mesh"] = describe_mesh(*asset.mesh);
  j["volume"] = asset.mass ? Json(asset.mass->volume) : Json(nullptr);
  j["area"] = asset.mass ? Json(asset.mass->area) : Json(nullptr);
  j["center_of_mass"] = asset.mass ? to_list(asset.mass->center) : Json(nullptr);
  j["mesh_hash"] = fmt::format("{:016x}", asset.source.mesh_hash);
  const Json settings = parse_text(asset.source.settings);
  j["settings"] = settings.is_object() ? settings : Json(shorten(asset.source.settings));
  j["warnings"] = list_warnings(asset, sign);
  return j;
}

Json describe_field_file(const std::string& file) {
  const AssetField field = load_field(file);
  Json j;
  j["file"] = file;
  j["kind"] = "field";
  j["format"] = lower_extension(file).substr(1);
  j["bytes"] = std::filesystem::file_size(file);
  add_field(j, field);
  j["warnings"] = Json::array();
  return j;
}

std::string format_bytes(std::uint64_t bytes) {
  if (bytes < 10000) return fmt::format("{} bytes", bytes);
  if (bytes < 1000000) return fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3);
  return fmt::format("{:.2f} MB", static_cast<double>(bytes) / 1e6);
}

void print_asset(const Json& j) {
  Facts facts = {
      {"file", fmt::format("{} ({})", without_control_codes(j["file"].get<std::string>()),
                           j["kind"] == "asset" ? "asset" : j["format"].get<std::string>())},
      {"size", format_bytes(j["bytes"].get<std::uint64_t>())},
  };
  for (const Json& section : j.value("sections", Json::array()))
    facts.emplace_back("section", fmt::format("{}, {}", section["section"].get<std::string>(),
                                              format_bytes(section["bytes"].get<std::uint64_t>())));
  if (j.contains("dims")) {
    facts.emplace_back("cells", format_cells(j));
    const auto corner = [&](const char* end) {
      const Json& p = j["field_bounds"][end];
      return fmt::format("{:.6g}  {:.6g}  {:.6g}  m", p[0].get<double>(), p[1].get<double>(),
                         p[2].get<double>());
    };
    facts.emplace_back("from", corner("min"));
    facts.emplace_back("to", corner("max"));
  }
  if (j.contains("bricks")) {
    facts.emplace_back("bricks", format_count(j["bricks"].get<std::uint64_t>()));
    facts.emplace_back("error", format_errors(j));
  }
  add_sampled_facts(facts, j);
  if (j.contains("point_tree")) add_point_facts(facts, j);
  if (j.contains("mesh")) facts.emplace_back("mesh", format_mesh(j["mesh"]));
  if (j["kind"] != "asset") facts.emplace_back("field", j["field"].get<std::string>());
  if (j.contains("sign_method") && j["sign_method"].is_string()) {
    std::string sign = j["sign_method"].get<std::string>();
    if (j["sign_reason"].is_string()) sign += ": " + j["sign_reason"].get<std::string>();
    facts.emplace_back("sign", without_control_codes(sign));
  }
  if (j.contains("volume") && j["volume"].is_number())
    facts.emplace_back("volume", fmt::format("{:.6g} m^3", j["volume"].get<double>()));
  for (const Json& warning : j["warnings"])
    facts.emplace_back("warning",
                       without_control_codes(in_words_of_tool(warning.get<std::string>())));
  print_facts(facts);
}

}  // namespace isotact::tool

#include "isotact/field/build/asset_report.h"

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace isotact {
namespace {

using Json = nlohmann::ordered_json;

// The keys of a report in the order in which they are written. ReportWriter and ReportReader share
// these lists.
template <typename Visit, typename Sign>
void visit_sign(Visit&& visit, Sign& sign) {
  visit("reason", sign.reason);
  visit("watertight", sign.watertight);
  visit("holes", sign.holes);
  visit("hole_edges", sign.hole_edges);
  visit("largest_hole", sign.largest_hole);
  visit("membrane_area", sign.membrane_area);
  visit("membrane_share", sign.membrane_share);
  visit("cancelled_pairs", sign.cancelled_pairs);
}

template <typename Visit, typename Report>
void visit_repairs(Visit&& visit, Report& report) {
  visit("overlap_volume", report.overlap_volume);
  visit("overlap_share", report.overlap_share);
  visit("turned_components", report.sign.turned_components);
  visit("consistent_components", report.sign.consistent_components);
  visit("dropped_triangles", report.sign.dropped_triangles);
  visit("shell_offset", report.sign.shell_offset);
}

template <typename Visit, typename Thin>
void visit_thin(Visit&& visit, Thin& thin) {
  visit("samples", thin.samples);
  visit("lost", thin.lost);
  visit("crumbs", thin.crumbs);
  visit("parts", thin.parts);
  visit("lost_area", thin.lost_area);
  visit("lost_share", thin.lost_share);
  visit("thinnest", thin.thinnest);
  visit("voxel_size_to_keep", thin.voxel_size_to_keep);
  visit("films", thin.films);
  visit("film_area", thin.film_area);
  visit("film_share", thin.film_share);
  visit("thinnest_film", thin.thinnest_film);
  visit("refined_from", thin.refined_from);
  visit("memory_limited", thin.memory_limited);
  visit("offset", thin.offset);
  visit("lost_afterwards", thin.lost_afterwards);
  visit("area_afterwards", thin.area_afterwards);
  visit("films_afterwards", thin.films_afterwards);
}

struct ReportWriter {
  Json& json;

  template <typename T>
  void operator()(const char* key, const T& value) const {
    json[key] = value;
  }
};

template <typename Visit, typename Measured>
void visit_measured(Visit&& visit, Measured& measured) {
  visit("points", measured.points);
  visit("mean", measured.mean);
  visit("p99", measured.p99);
  visit("max", measured.max);
}

// Leaves values alone whose keys are missing, or null as numbers are that were not finite. Keys of
// another type make it fail.
struct ReportReader {
  const Json& json;
  bool& failed;

  template <typename T>
  void operator()(const char* key, T& value) const {
    const auto at = json.find(key);
    if (at == json.end() || at->is_null()) return;
    bool fits = false;
    if constexpr (std::is_same_v<T, bool>)
      fits = at->is_boolean();
    else if constexpr (std::is_same_v<T, std::string>)
      fits = at->is_string();
    else if constexpr (std::is_integral_v<T>)
      fits = at->is_number_unsigned();
    else
      fits = at->is_number();
    if (fits)
      value = at->template get<T>();
    else
      failed = true;
  }
};

const char* kind_of(const ThinPlace& place) {
  return place.is_film ? "film" : place.is_wall ? "wall" : "rod or tip";
}

// The voxel size is that of the field in which they were searched for first.
Json to_json(const ThinReport& thin, double voxel_size) {
  Json j;
  visit_thin(ReportWriter{j}, thin);
  Json places = Json::array();
  for (const ThinPlace& place : thin.places)
    places.push_back({{"position", {place.position.x, place.position.y, place.position.z}},
                      {"kind", kind_of(place)},
                      {"thickness", place.thickness},
                      {"thickness_cells", place.thickness / voxel_size},
                      {"extent", place.extent},
                      {"area", place.area},
                      {"samples", place.samples}});
  j["places"] = std::move(places);
  return j;
}

Json to_json(const AssetReport& whole) {
  const FieldReport& report = whole.field;
  Json j{{"method", name(report.sign.method)}};
  visit_sign(ReportWriter{j}, report.sign);
  visit_repairs(ReportWriter{j}, report);
  j["thin_features"] = to_json(report.thin, report.thin.refined_from > 0 ? report.thin.refined_from
                                                                         : report.lattice.spacing);
  if (report.measured.points > 0)
    visit_measured(ReportWriter{j["measured_error"]}, report.measured);
  j["warnings"] = report.warnings;
  if (report.device != "cpu") j["device"] = report.device;
  j["mass_from"] = whole.mass_from.empty() ? Json() : Json(whole.mass_from);
  return j;
}

const Json* find_key(const Json& json, const char* key) {
  const auto at = json.find(key);
  return at == json.end() ? nullptr : &*at;
}

bool read_method(const Json& json, SignMethod& method) {
  const Json* const at = find_key(json, "method");
  if (at == nullptr || !at->is_string()) return false;
  for (const SignMethod known :
       {SignMethod::kPseudonormal, SignMethod::kWinding, SignMethod::kUnsigned})
    if (at->get_ref<const std::string&>() == name(known)) {
      method = known;
      return true;
    }
  return false;
}

bool read_warnings(const Json& json, std::vector<std::string>& warnings) {
  const Json* const at = find_key(json, "warnings");
  if (at == nullptr || !at->is_array()) return false;
  for (const Json& warning : *at)
    if (warning.is_string()) warnings.push_back(warning.get<std::string>());
  return true;
}

ThinPlace read_place(const Json& json, bool& failed) {
  ThinPlace place;
  const ReportReader read{json, failed};
  read("thickness", place.thickness);
  read("extent", place.extent);
  read("area", place.area);
  read("samples", place.samples);
  std::string kind;
  read("kind", kind);
  place.is_film = kind == "film";
  place.is_wall = kind == "wall";
  const Json* const at = find_key(json, "position");
  if (at == nullptr || !at->is_array() || at->size() != 3) return place;
  for (std::size_t axis = 0; axis < 3; ++axis)
    if ((*at)[axis].is_number()) place.position[axis] = (*at)[axis].get<double>();
  return place;
}

bool read_thin(const Json& json, ThinReport& thin) {
  const Json* const at = find_key(json, "thin_features");
  if (at == nullptr || !at->is_object()) return false;
  bool failed = false;
  visit_thin(ReportReader{*at, failed}, thin);
  if (const Json* const places = find_key(*at, "places"); places != nullptr && places->is_array())
    for (const Json& place : *places)
      if (place.is_object()) thin.places.push_back(read_place(place, failed));
  return !failed;
}

}  // namespace

std::string encode_report(const AssetReport& report) {
  return to_json(report).dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::optional<AssetReport> parse_report(const Asset& asset) {
  const std::string& text = asset.source.sign_report;
  if (!is_modest_json(text)) return std::nullopt;
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  AssetReport report;
  bool failed = !json.contains("reason") || !json.contains("watertight") || !json.contains("holes");
  visit_sign(ReportReader{json, failed}, report.field.sign);
  visit_repairs(ReportReader{json, failed}, report.field);
  ReportReader{json, failed}("device", report.field.device);
  ReportReader{json, failed}("mass_from", report.mass_from);
  if (const Json* const measured = find_key(json, "measured_error")) {
    failed = failed || !measured->is_object();
    if (!failed) visit_measured(ReportReader{*measured, failed}, report.field.measured);
  }
  if (failed || !read_method(json, report.field.sign.method) ||
      !read_thin(json, report.field.thin) || !read_warnings(json, report.field.warnings))
    return std::nullopt;
  return report;
}

std::optional<SignRule> parse_sign_rule(const Asset& asset) {
  const auto find_word = [](const std::string& text, const char* key) -> std::string {
    if (!is_modest_json(text)) return {};
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object()) return {};
    const Json* const at = find_key(json, key);
    return at != nullptr && at->is_string() ? at->get<std::string>() : std::string();
  };
  const std::string nested = find_word(asset.source.settings, "nested"),
                    method = find_word(asset.source.sign_report, "method");
  if (nested.empty() && method.empty()) return std::nullopt;
  return SignRule{.is_unsigned = method == name(SignMethod::kUnsigned),
                  .nested = nested == "even-odd" ? NestedRule::kEvenOdd : NestedRule::kWinding};
}

bool is_modest_json(std::string_view text) {
  constexpr std::size_t kMostBytes = 1U << 20U;
  constexpr int kDeepest = 32;
  if (text.size() > kMostBytes) return false;
  // Brackets in strings count as well: no text of ours has so many of them.
  int depth = 0;
  for (const char c : text) {
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > kDeepest) return false;
  }
  return true;
}

}  // namespace isotact

#include "report/build_report.h"

namespace isotact::tool {
namespace {

// A length of something that is not there was stored as zero.
void zero_to_null(Json& object, std::initializer_list<const char*> keys) {
  for (const char* key : keys)
    if (object.contains(key) && object[key] == 0.0) object[key] = nullptr;
}

void rename(Json& object, const char* from, const char* to) {
  if (!object.contains(from)) return;
  object[to] = object[from];
  object.erase(from);
}

// Assets keep shorter names, which have other meanings elsewhere in the tool's JSON.
Json thin_features_of(const Json& stored) {
  Json thin = stored;
  rename(thin, "parts", "lost_parts");
  if (thin.contains("places"))
    for (Json& place : thin["places"]) {
      rename(place, "position", "mesh_position");
      rename(place, "kind", "feature");
    }
  zero_to_null(thin, {"thinnest", "voxel_size_to_keep", "thinnest_film", "refined_from", "offset"});
  return thin;
}

}  // namespace

void add_sign_facts(Json& report, const Json& stored) {
  report["sign_method"] = stored["method"];
  report["sign_reason"] = stored["reason"];
  report["watertight"] = stored["watertight"];
  for (const char* key : {"holes", "largest_hole", "membrane_area", "membrane_share",
                          "cancelled_pairs", "overlap_volume", "overlap_share", "mass_from"})
    report[key] = stored.value(key, Json());
  zero_to_null(report, {"largest_hole"});
  report["thin_features"] = thin_features_of(stored["thin_features"]);
}

}  // namespace isotact::tool

// How an asset was built. The asset keeps it as JSON in its source section.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "isotact/export.h"
#include "isotact/field/build/build_field.h"
#include "isotact/field/io/asset.h"

namespace ISOTACT_PUBLIC isotact {

struct AssetReport {
  // From a report that was read from an asset: sign, thin features, overlaps, device and warnings.
  // The lattice, the sizes and the bounds of error are those of the asset's own field.
  FieldReport field{};
  std::string mass_from{};  // "mesh" or "field"; empty: the body encloses no volume
};

// One line of JSON, for SourceInfo::sign_report. Equal reports give equal text.
std::string encode_report(const AssetReport& report);

// The report that the asset keeps. Empty for an asset that was built by other means, or whose text
// is not such a report. Assets may come from anywhere: the text is treated as hostile.
std::optional<AssetReport> parse_report(const Asset& asset);

// The rule by which a build separated inside from outside.
struct SignRule {
  bool is_unsigned = false;  // The field is that of a shell: the body has no inside.
  NestedRule nested = NestedRule::kWinding;
};

// The rule by which the asset was built, from its settings and its report. Empty if neither says
// it. The texts are treated as hostile.
std::optional<SignRule> parse_sign_rule(const Asset& asset);

// True for text that is safe to hand to a JSON parser: at most a mebibyte, nested at most 32 deep.
// Texts of assets that build_asset wrote are far below both.
bool is_modest_json(std::string_view text);

}  // namespace isotact

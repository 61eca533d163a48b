#include "asset_input.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/file.h"

namespace isotact::tool {

bool is_asset(const std::string& file) {
  try {
    std::array<std::byte, 8> start{};
    FileStream stream(file);
    return stream.size() > 0 && stream.read(start) == start.size() &&
           std::memcmp(start.data(), "ISOTACT\x1a", start.size()) == 0;
  } catch (const Error&) {
    return false;
  }
}

Asset read_asset_input(const std::string& file) {
  Asset asset = read_asset(file);
  print_warnings(file, asset.notes);
  return asset;
}

const BrickField& require_field(const Asset& asset) {
  if (!asset.field)
    throw Error({.file = asset.file_name}, "holds no brick field; build it with --field brick");
  return *asset.field;
}

int resolution_of(const BrickField& field) {
  const Index3& cells = field.lattice().cells;
  return *std::max_element(cells.begin(), cells.end());
}

Json sign_report_of(const Asset& asset) {
  const Json report = Json::parse(asset.source.sign_report, nullptr, false);
  return report.is_object() ? report : Json(nullptr);
}

}  // namespace isotact::tool

// Reading an asset for a subcommand, and telling assets from meshes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "isotact/field/any_field.h"
#include "isotact/field/io/asset.h"
#include "isotact/field/isosurface.h"

#include "command.h"

namespace isotact::tool {

// By its first bytes. False for what cannot be read, so that the reader of meshes says why.
bool is_asset(const std::string& file);

// Copied and checked in full, but for voxmap layers, which stay compressed: nothing here needs
// them, and a small file may stand for gigabytes. Notes about what was passed over go to stderr.
Asset read_asset_input(const std::string& file);

// The field that an asset answers with: its brick field, else its dense grid, else its first-order
// field; an Error that says how to get one where it has none. Shares the asset's memory.
struct AssetField {
  AnyField field;
  Lattice lattice{};      // of its nodes
  std::string_view kind;  // "brick", "dense" or "first-order"
  std::optional<BrickField> brick{};
};
AssetField field_of(const Asset& asset);

// A closed surface, by extract_surface. Only brick fields go on outside of their box; of others,
// what leaves the lattice is cut off there.
TriangleMesh extract(const AssetField& field, const IsosurfaceSettings& settings);

// The stride to extract with: `wanted`, or 0 to have one chosen, `least` or what keeps a surface
// far outside of the box at `most_triangles` or so, with a note in words. An Error with the
// estimate where no stride would do, or the wanted one does not.
struct StrideChoice {
  int stride = 1;
  std::vector<std::string> notes{};
};
struct StrideWish {
  double iso = 0;
  int wanted = 0, least = 1;
  double most_triangles = 0;
};
StrideChoice choose_stride(const AssetField& field, const StrideWish& wish,
                           const std::string& file);

// The surface, or an Error that names the file where there is none at this value.
TriangleMesh extract_or_fail(const AssetField& field, const IsosurfaceSettings& settings,
                             const std::string& file);

// In words, where an extracted surface leaves the field's box: there it is not the body's own.
std::vector<std::string> warn_of_box(const AssetField& field, const TriangleMesh& surface,
                                     double iso);

// The cells along the longest side.
int resolution_of(const Lattice& lattice);

// A text of an asset as JSON; null where it is none, or longer or nested deeper than anything that
// build writes: whoever made the file may mean to exhaust memory or stack.
Json parse_text(std::string_view text);

// How inside and outside were told apart: what build wrote into the asset, or null.
Json sign_report_of(const Asset& asset);

// A brick field's facts: its bricks, its bounds of error, and the largest value that it has.
void add_brick_facts(Json& j, const BrickField& field);
// The bounds in words.
std::string format_errors(const Json& j);

}  // namespace isotact::tool

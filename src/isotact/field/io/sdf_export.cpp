#include "isotact/field/io/sdf_export.h"

#include <bit>
#include <cmath>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/file.h"

namespace isotact {
namespace {

static_assert(std::endian::native == std::endian::little, "image data is written as it lies");

void check_lattice(const Lattice& l) {
  const bool is_usable = l.cells[0] > 0 && l.cells[1] > 0 && l.cells[2] > 0 && l.spacing > 0 &&
                         std::isfinite(l.spacing) && is_finite(l.origin);
  if (!is_usable) throw Error("the lattice to export has no cells or is not finite");
}

void append_text(const AppendBytes& append, std::string_view text) {
  append(std::as_bytes(std::span(text)));
}

// Calls use(layer) for one layer after the other, in one piece of memory.
template <typename Use>
void for_each_layer(const Lattice& lattice, const FillLayer& fill, const Use& use) {
  const Index3 nodes = node_counts(lattice);
  std::vector<float> layer(count({nodes[0], nodes[1], 1}));
  for (std::int32_t k = 0; k < nodes[2]; ++k) {
    fill(k, layer);
    use(std::span<const float>(layer));
  }
}

}  // namespace

void write_sdf_text(const std::filesystem::path& path, const Lattice& lattice,
                    const FillLayer& fill) {
  check_lattice(lattice);
  write_file_in_pieces(path, [&](const AppendBytes& append) {
    const Index3 n = node_counts(lattice);
    append_text(append, fmt::format("{} {} {}\n{} {} {}\n{}\n", n[0], n[1], n[2], lattice.origin.x,
                                    lattice.origin.y, lattice.origin.z, lattice.spacing));
    std::string text;
    for_each_layer(lattice, fill, [&](std::span<const float> layer) {
      text.clear();
      for (const float value : layer) fmt::format_to(std::back_inserter(text), "{}\n", value);
      append_text(append, text);
    });
  });
}

void write_vti(const std::filesystem::path& path, const Lattice& lattice, const FillLayer& fill) {
  check_lattice(lattice);
  write_file_in_pieces(path, [&](const AppendBytes& append) {
    const Index3& n = lattice.cells;
    const std::string extent = fmt::format("0 {} 0 {} 0 {}", n[0], n[1], n[2]);
    append_text(
        append,
        fmt::format("<?xml version=\"1.0\"?>\n"
                    "<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" "
                    "header_type=\"UInt64\">\n"
                    "  <ImageData WholeExtent=\"{0}\" Origin=\"{1} {2} {3}\" "
                    "Spacing=\"{4} {4} {4}\">\n"
                    "    <Piece Extent=\"{0}\">\n"
                    "      <PointData Scalars=\"distance\">\n"
                    "        <DataArray type=\"Float32\" Name=\"distance\" format=\"appended\" "
                    "offset=\"0\"/>\n"
                    "      </PointData>\n"
                    "    </Piece>\n"
                    "  </ImageData>\n"
                    "  <AppendedData encoding=\"raw\">\n_",
                    extent, lattice.origin.x, lattice.origin.y, lattice.origin.z, lattice.spacing));
    const std::uint64_t bytes = count(node_counts(lattice)) * sizeof(float);
    append(std::as_bytes(std::span(&bytes, 1)));
    for_each_layer(lattice, fill,
                   [&](std::span<const float> layer) { append(std::as_bytes(layer)); });
    append_text(append, "\n  </AppendedData>\n</VTKFile>\n");
  });
}

}  // namespace isotact

// Fields as files of other programs: SDFGen's text (.sdf) and VTK image data (.vti, for ParaView).
// Both contain one float32 distance per node of a lattice, x fastest. A reader of SDFGen's text is
// here as well.
//
// Values are requested one layer of nodes at a time, so memory is that of a layer. Files are
// replaced in one step; a failure leaves the previous file. Throws Error for a lattice that is not
// usable and for files that cannot be written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/export.h"
#include "isotact/field/field.h"
#include "isotact/field/lattice.h"

namespace ISOTACT_PUBLIC isotact {

// Writes the values at the nodes of layer k, (cells[0] + 1) (cells[1] + 1) of them, into `layer`.
using FillLayer = std::function<void(std::int32_t k, std::span<float> layer)>;

// Returns the layers of a field, which must outlive the result.
template <Field F>
FillLayer node_values(const F& field, const Lattice& lattice, Threads threads = {}) {
  return [&field, lattice, threads](std::int32_t k, std::span<float> layer) {
    const auto row_size = static_cast<std::size_t>(lattice.cells[0]) + 1;
    parallel_for(layer.size() / row_size, 8, threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t j = begin; j < end; ++j)
        for (std::size_t i = 0; i < row_size; ++i)
          layer[j * row_size + i] = static_cast<float>(field.value(node_position(
              lattice, static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), k)));
    });
  };
}

// "nx ny nz", the origin, the spacing, then one value per line; nx, ny, nz count nodes. Numbers are
// written with the digits that give the same float32 (origin and spacing: double) when read back.
void write_sdf_text(const std::filesystem::path& path, const Lattice& lattice,
                    const FillLayer& fill);
// Point data "distance", binary.
void write_vti(const std::filesystem::path& path, const Lattice& lattice, const FillLayer& fill);

template <Field F>
void write_sdf_text(const std::filesystem::path& path, const F& field, const Lattice& lattice,
                    Threads threads = {}) {
  write_sdf_text(path, lattice, node_values(field, lattice, threads));
}
template <Field F>
void write_vti(const std::filesystem::path& path, const F& field, const Lattice& lattice,
               Threads threads = {}) {
  write_vti(path, lattice, node_values(field, lattice, threads));
}

struct LatticeSamples {
  Lattice lattice{};
  std::vector<float> values;  // At the nodes, x fastest.
};

// Throws Error with the line for anything that is not SDFGen's text: counts below 2, numbers that
// are not finite, too few values or too many. Memory is proportional to the file, regardless of its
// counts. The second reads from memory.
LatticeSamples read_sdf_text(const std::filesystem::path& path);
LatticeSamples read_sdf_text(std::span<const std::byte> bytes, std::string_view name);

}  // namespace isotact

// A small brick field of a ball, for what reads and writes fields and does not care how they are
// built.
#pragma once

#include <cstdint>
#include <vector>

#include "isotact/field/models/brick_field.h"
#include "isotact/field/models/detail/brick_assembly.h"

namespace isotact::test {

// Of radius 1 about the origin, in `coarse`^3 coarse cells over [-1.6, 1.6]^3. Bricks lie where the
// surface is near.
inline BrickField make_ball_field(std::int32_t coarse) {
  const std::int32_t blocks = (coarse + 3) / 4;
  const double spacing = 3.2 / (coarse * kBrickCells);
  const detail::AssemblySettings settings{
      .lattice = {.origin = {-1.6, -1.6, -1.6},
                  .spacing = spacing,
                  .cells = {coarse * kBrickCells, coarse * kBrickCells, coarse * kBrickCells}},
      .band = 3 * spacing,
      .sample_error = 1e-6};
  const auto distance = [&](std::int32_t i, std::int32_t j, std::int32_t k) {
    return static_cast<float>(length(node_position(settings.lattice, i, j, k)) - 1);
  };
  std::vector<float> values;
  for (std::int32_t k = 0; k <= coarse; ++k)
    for (std::int32_t j = 0; j <= coarse; ++j)
      for (std::int32_t i = 0; i <= coarse; ++i) values.push_back(distance(8 * i, 8 * j, 8 * k));
  std::vector<std::uint64_t> occupied(count({blocks, blocks, blocks}));
  for (std::int32_t k = 0; k < coarse; ++k)
    for (std::int32_t j = 0; j < coarse; ++j)
      for (std::int32_t i = 0; i < coarse; ++i) {
        const double middle =
            length(node_position(settings.lattice, 8 * i + 4, 8 * j + 4, 8 * k + 4)) - 1;
        if (std::abs(middle) > (4 * 1.733 + 3) * spacing) continue;
        occupied[flat_index({blocks, blocks, blocks}, i / 4, j / 4, k / 4)] |=
            std::uint64_t{1} << static_cast<unsigned>(i % 4 + 4 * (j % 4) + 16 * (k % 4));
      }
  detail::BrickAssembly assembly(settings, occupied, values);
  for (std::size_t brick = 0; brick < assembly.brick_count(); ++brick) {
    const Index3 cell = assembly.cell_of(brick);
    std::vector<float> own;
    for (std::int32_t n = 0; n < 512; ++n)
      own.push_back(distance(8 * cell[0] + n % 8, 8 * cell[1] + n / 8 % 8, 8 * cell[2] + n / 64));
    assembly.set(brick, own);
  }
  return assembly.finish();
}

}  // namespace isotact::test

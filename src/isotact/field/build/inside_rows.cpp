#include "isotact/field/build/inside_rows.h"

#include <algorithm>

#include "isotact/field/build/detail/row_crossings.h"

namespace isotact {
namespace {

// Calls visit(x) wherever inside turns into outside or back.
template <typename Visit>
void visit_changes(const detail::RowCrossings& rows, std::int32_t j, std::int32_t k,
                   const Visit& visit) {
  std::int32_t winding = 0;
  for (const detail::LineCrossing& c : rows.row(j, k)) {
    const bool was_inside = rows.is_inside(winding);
    winding += c.delta;
    if (rows.is_inside(winding) != was_inside) visit(c.x);
  }
}

}  // namespace

InsideRows find_inside_rows(const Surface& surface, const Lattice& lattice, Threads threads,
                            const Monitor& monitor) {
  const detail::RowCrossings crossings(surface, lattice, threads, monitor);
  const Index3 nodes = node_counts(lattice);
  const auto lines_a_layer = static_cast<std::size_t>(nodes[1]);
  const auto layers = static_cast<std::size_t>(nodes[2]);
  InsideRows rows;
  rows.first.assign(lines_a_layer * layers + 1, 0);
  const auto for_lines = [&](const auto& body) {
    parallel_for(layers, 4, threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k)
        for (std::size_t j = 0; j < lines_a_layer; ++j)
          body(k * lines_a_layer + j, static_cast<std::int32_t>(j), static_cast<std::int32_t>(k));
    });
  };
  for_lines([&](std::size_t line, std::int32_t j, std::int32_t k) {
    visit_changes(crossings, j, k, [&](float) { ++rows.first[line + 1]; });
  });
  for (std::size_t l = 1; l < rows.first.size(); ++l) rows.first[l] += rows.first[l - 1];
  rows.changes.resize(rows.first.back());
  for_lines([&](std::size_t line, std::int32_t j, std::int32_t k) {
    std::size_t at = rows.first[line];
    visit_changes(crossings, j, k, [&](float x) { rows.changes[at++] = x; });
  });
  return rows;
}

bool is_inside(const InsideRows& rows, const Lattice& lattice, std::int32_t i, std::int32_t j,
               std::int32_t k) {
  const std::size_t line =
      static_cast<std::size_t>(k) * static_cast<std::size_t>(lattice.cells[1] + 1) +
      static_cast<std::size_t>(j);
  const float* const begin = rows.changes.data() + rows.first[line];
  const float* const end = rows.changes.data() + rows.first[line + 1];
  return (std::lower_bound(begin, end, static_cast<float>(i)) - begin) % 2 != 0;
}

}  // namespace isotact

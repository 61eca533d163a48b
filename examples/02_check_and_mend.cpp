// A dirty mesh: what is wrong with it, and what can be mended without guessing.
#include <cstdio>

#include "isotact/geometry/mesh/mass_properties.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/geometry/repair/flaws.h"
#include "isotact/geometry/repair/repair.h"

namespace {

void report(const char* title, const isotact::TriangleMesh& mesh) {
  const isotact::MeshFlaws flaws = isotact::find_flaws(mesh);
  std::printf("%s: %zu vertices, %zu triangles\n", title, flaws.vertices, flaws.triangles);
  for (const std::string& sentence : describe(flaws)) std::printf("  %s\n", sentence.c_str());
}

// The mesh as an STL file would hold it: every triangle with corners of its own.
isotact::TriangleMesh as_soup(const isotact::TriangleMesh& mesh) {
  isotact::TriangleMesh soup;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const auto first = static_cast<std::uint32_t>(soup.positions.size());
    for (const isotact::Vec3f& corner : corners(mesh, i)) soup.positions.push_back(corner);
    soup.triangles.push_back({first, first + 1, first + 2});
  }
  return soup;
}

}  // namespace

int main() {
  using namespace isotact;
  TriangleMesh dirty = as_soup(make_bowl({}));
  for (std::size_t i = 0; i < dirty.triangles.size(); i += 7)
    std::swap(dirty.triangles[i][1], dirty.triangles[i][2]);
  dirty.triangles.push_back(dirty.triangles.front());
  report("as found", dirty);

  TriangleMesh mended = weld(dirty).mesh;
  mended = remove_duplicates(mended).mesh;
  mended = orient(mended, {.outward = Outward::kAll}).mesh;
  report("mended", mended);

  const MassProperties mass = compute_mass_properties(mended, {.density = 2400});
  std::printf("in stoneware: %.3f kg, centre at height %.4f m\n", mass.mass, mass.center.y);
  return mass.status == MassStatus::kSolid ? 0 : 1;
}

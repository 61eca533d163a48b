// A part that is machined step by step: each cut replaces a few triangles, and only the part of the
// field near them is computed anew.
#include <cmath>
#include <cstdio>

#include "isotact/field/build/edit_field.h"
#include "isotact/geometry/primitives/primitives.h"

using namespace isotact;

namespace {

// A plate of 0.2 m * 0.04 m * 0.2 m whose upper side is a grid of squares.
constexpr int kCells = 20;
constexpr double kCell = 0.01;

Vec3f corner(int x, double y, int z) {
  return to_float({(x - kCells / 2) * kCell, y, (z - kCells / 2) * kCell});
}

void add_quad(TriangleMesh& mesh, const Vec3f& a, const Vec3f& b, const Vec3f& c, const Vec3f& d) {
  const auto first = static_cast<std::uint32_t>(mesh.positions.size());
  mesh.positions.insert(mesh.positions.end(), {a, b, c, d});
  mesh.triangles.push_back({first, first + 1, first + 2});
  mesh.triangles.push_back({first, first + 2, first + 3});
}

// One square of the upper side, sunk to a pocket with walls: 2 triangles become 10.
TriangleMesh make_pocket(int x, int z, double top, double floor) {
  TriangleMesh mesh;
  const auto at = [&](int i, int k, double y) { return corner(x + i, y, z + k); };
  add_quad(mesh, at(0, 0, floor), at(0, 1, floor), at(1, 1, floor), at(1, 0, floor));
  const int ring[5][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 0}};
  for (int i = 0; i < 4; ++i) {
    const int *a = ring[i], *b = ring[i + 1];
    add_quad(mesh, at(a[0], a[1], floor), at(b[0], b[1], floor), at(b[0], b[1], top),
             at(a[0], a[1], top));
  }
  return mesh;
}

}  // namespace

int main() {
  constexpr double kTop = 0.02;
  TriangleMesh plate;
  for (int x = 0; x < kCells; ++x)
    for (int z = 0; z < kCells; ++z) {
      add_quad(plate, corner(x, kTop, z), corner(x, kTop, z + 1), corner(x + 1, kTop, z + 1),
               corner(x + 1, kTop, z));
      add_quad(plate, corner(x, -kTop, z), corner(x + 1, -kTop, z), corner(x + 1, -kTop, z + 1),
               corner(x, -kTop, z + 1));
    }
  for (int i = 0; i < kCells; ++i) {
    add_quad(plate, corner(i, -kTop, 0), corner(i, kTop, 0), corner(i + 1, kTop, 0),
             corner(i + 1, -kTop, 0));
    add_quad(plate, corner(i, -kTop, kCells), corner(i + 1, -kTop, kCells),
             corner(i + 1, kTop, kCells), corner(i, kTop, kCells));
    add_quad(plate, corner(0, -kTop, i), corner(0, -kTop, i + 1), corner(0, kTop, i + 1),
             corner(0, kTop, i));
    add_quad(plate, corner(kCells, -kTop, i), corner(kCells, kTop, i), corner(kCells, kTop, i + 1),
             corner(kCells, -kTop, i + 1));
  }

  EditableField part(plate, {.resolution = 96});
  std::printf("built: %zu bricks, sign by %s\n", part.report().bricks,
              std::string(name(part.report().sign.method)).c_str());
  for (const int x : {5, 9, 14}) {
    const Vec3f low = corner(x, kTop, 10), high = corner(x + 1, kTop, 11);
    const Aabb square{to_double(low) - Vec3{1e-4, 1e-4, 1e-4},
                      to_double(high) + Vec3{1e-4, 1e-4, 1e-4}};
    const EditReport cut = part.replace_triangles(square, make_pocket(x, 10, kTop, 0));
    const Vec3 middle{(low.x + high.x) / 2.0, 0.01, (low.z + high.z) / 2.0};
    std::printf("cut a pocket: %zu triangles out, %zu in, %zu of %zu bricks anew; in it: %.4f m\n",
                cut.removed_triangles, cut.added_triangles, cut.bricks_built, cut.bricks,
                part.field().value(middle));
    // In the middle of the pocket the walls are half a square away.
    if (cut.full_rebuild || std::abs(part.field().value(middle) - kCell / 2) > 1e-3) return 1;
  }
  // The same bytes as a build from the edited mesh would give on this lattice.
  const FieldResult anew = build_field(part.mesh(), {.resolution = 96});
  return part.field().value({0, 0.03, 0}) == anew.field.value({0, 0.03, 0}) ? 0 : 1;
}

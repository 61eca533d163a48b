// Fields whose distances a GPU has found, against those of the processor.
#include <cmath>
#include <cstring>
#include <span>
#include <vector>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/field/build/build_field.h"
#include "isotact/field/build/build_nodes.h"
#include "isotact/field/build/inside_rows.h"
#include "isotact/field/models/exact_field.h"
#include "isotact/field/texels/field_texels.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/gpu/build/field_builder.h"

#include "fields/compare_bricks.h"
#include "gpu/gpu_fixture.h"

namespace isotact {
namespace {

class GpuFieldBuild : public GpuTest {
 protected:
  static GpuFieldBuilder& builder() {
    static GpuFieldBuilder made(gpu());
    return made;
  }
};

struct Case {
  const char* name;
  TriangleMesh mesh;
  SignMethod sign = SignMethod::kAuto;
};

TriangleMesh holed_blob() {
  TriangleMesh blob = make_blob({.triangles = 4000});
  Random random(7);
  std::erase_if(blob.triangles, [&](const Triangle&) { return random.below(200) == 0; });
  return blob;
}

TriangleMesh flipped_torus() {
  TriangleMesh torus = make_torus({});
  for (Triangle& t : torus.triangles) std::swap(t[1], t[2]);
  return torus;
}

// Triangles anywhere, some without area, some without length.
TriangleMesh soup() {
  TriangleMesh mesh;
  Random random(3);
  const auto coordinate = [&] { return static_cast<float>(random.uniform(-1, 1)); };
  for (int i = 0; i < 60; ++i) {
    const Vec3f a{coordinate(), coordinate(), coordinate()};
    const Vec3f b = i % 5 == 0 ? a + Vec3f{0.3F, 0, 0} : Vec3f{coordinate(), a.y, coordinate()};
    const Vec3f c = i % 5 == 0 ? a + Vec3f{0.1F, 0, 0} : Vec3f{coordinate(), b.y, a.z};
    const auto first = static_cast<std::uint32_t>(mesh.positions.size());
    mesh.positions.insert(mesh.positions.end(), {a, b, i % 7 == 0 ? b : c});
    mesh.triangles.push_back({first, first + 1, first + 2});
  }
  return mesh;
}

// On the lattices below: the gear's triangles are so small that all nodes walk through the tree,
// the box's and the soup's few are listed, and the others have bricks of both kinds.
std::vector<Case> cases() {
  return {{"gear", make_shape("gear")},
          {"one triangle a block", make_box({})},
          {"holed", holed_blob()},
          {"flipped", flipped_torus()},
          {"shell", make_torus({}), SignMethod::kUnsigned},
          {"soup", soup()}};
}

// Not a multiple of bricks.
Lattice uneven_lattice(const TriangleMesh& mesh, int cells) {
  const Aabb box = to_double(bounds(mesh));
  const Vec3 size = extent(box);
  const double h = std::max({size.x, size.y, size.z}) / (cells - 8);
  Lattice lattice{.origin = box.lower - Vec3{4.1, 4.3, 4.2} * h, .spacing = h};
  for (std::size_t axis = 0; axis < 3; ++axis)
    lattice.cells[axis] = static_cast<std::int32_t>(std::ceil(size[axis] / h)) + 9;
  return lattice;
}

// Surfaces are prepared once: holes take their time.
struct Prepared {
  const char* name;
  Lattice lattice;
  Surface surface;
  TriangleMesh mesh;
  SurfaceSettings settings;
};
const std::vector<Prepared>& prepared() {
  static const std::vector<Prepared> all = [] {
    std::vector<Prepared> list;
    for (const Case& c : cases()) {
      const Lattice lattice = uneven_lattice(c.mesh, 20);
      const SurfaceSettings settings{.sign = c.sign, .voxel_size = lattice.spacing};
      list.push_back({c.name, lattice, prepare_surface(c.mesh, settings), c.mesh, settings});
    }
    return list;
  }();
  return all;
}

TEST_F(GpuFieldBuild, DenseGridsAreTheProcessors) {
  for (const auto& [name, lattice, surface, mesh, settings] : prepared()) {
    SCOPED_TRACE(name);
    const DenseGrid theirs = build_dense_grid(surface, lattice, {.device = &builder()});
    const DenseGrid ours = build_dense_grid(surface, lattice);
    ASSERT_EQ(theirs.samples().size(), ours.samples().size());
    std::size_t inside = 0;
    for (std::size_t i = 0; i < ours.samples().size(); ++i) {
      const float a = theirs.samples()[i], b = ours.samples()[i];
      ASSERT_NEAR(a, b, 1e-4 * lattice.spacing) << i;
      if (std::abs(b) > 1e-3 * lattice.spacing) {
        ASSERT_EQ(a < 0, b < 0) << i;
      }
      if (b < 0) ++inside;
    }
    EXPECT_GT(inside, ours.samples().size() / 200);
    EXPECT_LE(theirs.parts().sample_error.upper, 0.004 * lattice.spacing);
  }
}

// Where two places of the surface are equally near, either may count: then the point that the
// gradient leads to must be one of the surface.
void expect_gradients(const FirstOrderField& theirs, const FirstOrderField& ours,
                      const Surface& surface) {
  const Lattice& l = ours.lattice();
  const Index3 nodes = node_counts(l);
  const ExactField exact(surface);
  std::size_t others = 0;
  for (std::int32_t k = 0; k < nodes[2]; ++k)
    for (std::int32_t j = 0; j < nodes[1]; ++j)
      for (std::int32_t i = 0; i < nodes[0]; ++i) {
        const auto a = theirs.texel(i, j, k), b = ours.texel(i, j, k);
        ASSERT_NEAR(a[3], b[3], 1e-4);
        const Vec3 ga{2.0 * a[0], 2.0 * a[1], 2.0 * a[2]}, gb{2.0 * b[0], 2.0 * b[1], 2.0 * b[2]};
        const double cells = std::abs(static_cast<double>(b[3]));
        ASSERT_NEAR(length(ga), 1, 1e-5);
        if (length(ga - gb) < 1e-3 + 1e-4 / std::max(cells, 0.01)) continue;
        ++others;
        if (cells < 2e-3) continue;  // on the surface
        const double shell = surface.report.shell_offset;
        const double d = static_cast<double>(b[3]) * l.spacing + shell;
        const Vec3 foot = node_position(l, i, j, k) - ga * d;
        ASSERT_NEAR(exact.value(foot) + shell, 0, 1e-3 * l.spacing);
      }
  EXPECT_LT(others, count(nodes) / 20);
}

TEST_F(GpuFieldBuild, FirstOrderFieldsAreTheProcessors) {
  for (const auto& [name, lattice, surface, mesh, settings] : prepared()) {
    SCOPED_TRACE(name);
    FirstOrderSettings floats{.storage = FirstOrderStorage::kFloat32};
    const FirstOrderField ours = build_first_order_field(surface, lattice, floats);
    floats.device = &builder();
    expect_gradients(build_first_order_field(surface, lattice, floats), ours, surface);
  }
}

std::vector<std::int16_t> read_texels(const FirstOrderTexture& texture) {
  std::vector<std::int16_t> texels(4 * count(node_counts(texture.lattice)));
  texture.texture.read(std::as_writable_bytes(std::span(texels)));
  return texels;
}

// Whether the surface has the mesh's own triangles or, as those of holed and flipped ones, others.
TEST_F(GpuFieldBuild, TexturesOfMeshesAreThoseOfTheirSurfaces) {
  std::size_t others = 0;
  for (const auto& [name, lattice, surface, mesh, settings] : std::span(prepared()).subspan(1)) {
    SCOPED_TRACE(name);
    const MeshTexture made = builder().build_first_order_texture(mesh, lattice, settings);
    EXPECT_EQ(made.surface.report.reason, surface.report.reason);
    EXPECT_EQ(read_texels(made.texture),
              read_texels(builder().build_first_order_texture(surface, lattice)));
    if (surface.mesh.triangles != mesh.triangles) ++others;
  }
  EXPECT_GE(others, 2U);
  EXPECT_LE(others + 2, prepared().size());
}

TEST_F(GpuFieldBuild, TexturesHoldTheFirstOrderField) {
  for (const auto& [name, lattice, surface, mesh, settings] : prepared()) {
    SCOPED_TRACE(name);
    const Index3 nodes = node_counts(lattice);
    const FirstOrderTexture texture = builder().build_first_order_texture(surface, lattice);
    EXPECT_LT(texture.node_error, 0.01 * lattice.spacing);
    const std::vector<std::int16_t> texels = read_texels(texture);
    const FirstOrderField field = build_first_order_field(
        surface, lattice, {.storage = FirstOrderStorage::kFloat32, .device = &builder()});
    double largest = 0;
    for (std::size_t n = 0; n < count(nodes); ++n) {
      const Index3 at{static_cast<std::int32_t>(n % static_cast<std::size_t>(nodes[0])),
                      static_cast<std::int32_t>(n / static_cast<std::size_t>(nodes[0]) %
                                                static_cast<std::size_t>(nodes[1])),
                      static_cast<std::int32_t>(n / static_cast<std::size_t>(nodes[0]) /
                                                static_cast<std::size_t>(nodes[1]))};
      const auto f = field.texel(at[0], at[1], at[2]);
      const Vec3 middle{at[0] - 0.5 * lattice.cells[0], at[1] - 0.5 * lattice.cells[1],
                        at[2] - 0.5 * lattice.cells[2]};
      const TexelParts expected =
          make_texel_parts(static_cast<double>(f[3]), {2.0 * f[0], 2.0 * f[1], 2.0 * f[2]}, middle);
      largest = std::max(largest, std::abs(expected.b));
      for (std::size_t axis = 0; axis < 3; ++axis)
        ASSERT_NEAR(texels[4 * n + axis], expected.gradient[axis], 1) << n;
      const double b = texels[4 * n + 3] / kTexelSteps * static_cast<double>(texture.b_scale);
      // A gradient that is rounded the other way changes b by half a step times the position.
      ASSERT_NEAR(b, expected.b, 0.002) << n;
    }
    EXPECT_NEAR(static_cast<double>(texture.b_scale), largest, 1e-3);
  }
}

TEST_F(GpuFieldBuild, BrickFieldsKeepThePromisesOfTheProcessors) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const FieldSettings settings{.resolution = 40, .sign = c.sign};
    FieldSettings on_gpu = settings;
    on_gpu.device = &builder();
    const FieldResult theirs = build_field(c.mesh, on_gpu);
    const FieldResult ours = build_field(c.mesh, settings);
    EXPECT_EQ(theirs.report.device, builder().name());
    EXPECT_EQ(ours.report.device, "cpu");
    EXPECT_EQ(theirs.report.lattice, ours.report.lattice);
    EXPECT_EQ(theirs.report.bricks, ours.report.bricks);
    EXPECT_EQ(theirs.report.thin.lost, ours.report.thin.lost);
    EXPECT_EQ(theirs.report.warnings, ours.report.warnings);
    EXPECT_NEAR(theirs.report.near_error, ours.report.near_error, 1e-3 * ours.report.near_error);
    const BrickDifference d = compare_bricks(theirs.field, ours.field);
    EXPECT_TRUE(is_as_promised(d, theirs.field, ours.field)) << d.most_off << d.nearest_other;
    EXPECT_EQ(d.other_bricks, 0U);
    // A number on the edge between two steps, or two bounds, may fall on either side.
    EXPECT_LE(d.other_cubes, d.bricks / 100);
    EXPECT_LE(d.other_samples, d.bricks);
    const auto ca = theirs.field.coarse_values(), cb = ours.field.coarse_values();
    for (std::size_t n = 0; n < ca.size(); ++n)
      ASSERT_NEAR(ca[n], cb[n], 1e-4 * ours.report.lattice.spacing) << n;
  }
}

TEST_F(GpuFieldBuild, InsideRowsTellTheSign) {
  for (const auto& [name, lattice, surface, mesh, settings] : prepared()) {
    SCOPED_TRACE(name);
    if (surface.report.method == SignMethod::kUnsigned) continue;
    const InsideRows rows = find_inside_rows(surface, lattice);
    const DenseGrid grid = build_dense_grid(surface, lattice);
    const Index3 nodes = node_counts(lattice);
    for (std::int32_t k = 0; k < nodes[2]; ++k)
      for (std::int32_t j = 0; j < nodes[1]; ++j)
        for (std::int32_t i = 0; i < nodes[0]; ++i)
          ASSERT_EQ(is_inside(rows, lattice, i, j, k), std::signbit(grid.node_value(i, j, k)));
  }
}

TEST_F(GpuFieldBuild, StopsWhenAskedTo) {
  CancelToken token;
  std::size_t reports = 0;
  const Monitor monitor{.on_progress =
                            [&](const ProgressReport& r) {
                              ++reports;
                              if (r.task == "bricks") token.cancel();
                            },
                        .cancel = &token};
  const TriangleMesh mesh = make_torus({});
  EXPECT_THROW(build_field(mesh, {.resolution = 64, .monitor = monitor, .device = &builder()}),
               Cancelled);
  EXPECT_GT(reports, 2U);
  EXPECT_NO_THROW(build_field(mesh, {.resolution = 48, .device = &builder()}));
  EXPECT_THROW(build_field(mesh, {.resolution = 64, .max_memory = 1000000, .device = &builder()}),
               Error);
}

TEST_F(GpuFieldBuild, RefusesABoxThatDoesNotHoldTheSurface) {
  const TriangleMesh mesh = make_torus({});
  Lattice lattice = uneven_lattice(mesh, 22);
  const Surface surface = prepare_surface(mesh, {.voxel_size = lattice.spacing});
  lattice.cells[1] /= 2;
  EXPECT_THROW(builder().build_first_order_texture(surface, lattice), Error);
  EXPECT_THROW(builder().build_first_order_texture(mesh, lattice, {.voxel_size = lattice.spacing}),
               Error);
}

}  // namespace
}  // namespace isotact

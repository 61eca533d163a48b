#include "exact_stock.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "isotact/base/disjoint_sets.h"
#include "isotact/base/error.h"
#include "isotact/geometry/bvh/mesh_distance.h"
#include "isotact/geometry/bvh/winding.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/geometry/repair/flaws.h"
#include "isotact/geometry/repair/repair.h"

#include "support/data_folder.h"

namespace isotact::bench {
namespace {

using Named = std::pair<std::string, TriangleMesh>;

BodyPtr make_body(const std::string& name, const TriangleMesh& mesh, bool quick) {
  return std::make_shared<const BenchBody>(name, mesh, quick ? 48 : 96);
}

std::vector<BodyPtr> read_bodies(const std::string& folder, const std::vector<std::string>& files,
                                 bool quick) {
  std::vector<BodyPtr> bodies;
  for (const std::string& file : files)
    bodies.push_back(make_body(file, read_data_mesh(fmt::format("{}/{}", folder, file)), quick));
  return bodies;
}

// All pairs of different bodies.
std::vector<BodyPair> pair_up(const std::vector<BodyPtr>& bodies) {
  std::vector<BodyPair> pairs;
  for (std::size_t i = 0; i < bodies.size(); ++i)
    for (std::size_t k = i + 1; k < bodies.size(); ++k) pairs.emplace_back(bodies[i], bodies[k]);
  return pairs;
}

// Each body with the next ones, until there are enough pairs.
std::vector<BodyPair> pair_up(const std::vector<BodyPtr>& bodies, std::size_t count) {
  std::vector<BodyPair> pairs;
  for (std::size_t step = 0; pairs.size() < count; ++step)
    for (std::size_t i = 0; i < bodies.size() && pairs.size() < count; ++i)
      pairs.emplace_back(bodies[i], bodies[(i + step) % bodies.size()]);
  return pairs;
}

std::vector<BodyPtr> make_procedural(const std::vector<std::string>& names, bool quick) {
  std::vector<BodyPtr> bodies;
  for (const std::string& name : names) bodies.push_back(make_body(name, make_shape(name), quick));
  return bodies;
}

// ---- flaws that are put in on purpose -----------------------------------------------------------

TriangleMesh with_holes(TriangleMesh mesh) {
  Random random(71);
  std::vector<Triangle> kept;
  for (const Triangle& t : mesh.triangles)
    if (random.uniform() > 0.05) kept.push_back(t);
  mesh.triangles = std::move(kept);
  return mesh;
}

// Unwelded, some triangles twice, some collapsed, some turned around.
TriangleMesh made_dirty(const TriangleMesh& mesh) {
  Random random(72);
  TriangleMesh dirty;
  const auto add = [&](std::array<Vec3f, 3> c) {
    const auto first = static_cast<std::uint32_t>(dirty.positions.size());
    dirty.positions.insert(dirty.positions.end(), c.begin(), c.end());
    dirty.triangles.push_back({first, first + 1, first + 2});
  };
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    auto c = corners(mesh, i);
    if (random.uniform() < 0.02) std::swap(c[0], c[1]);
    add(c);
    if (random.uniform() < 0.02) add(c);
    if (random.uniform() < 0.02) add({c[0], c[1], c[1]});
  }
  return dirty;
}

std::vector<Vec3> find_corners_of_parts(const TriangleMesh& mesh) {
  const TriangleMesh welded = weld(mesh).mesh;
  DisjointSets sets(welded.positions.size());
  for (const Triangle& t : welded.triangles) {
    sets.join(t[0], t[1]);
    sets.join(t[0], t[2]);
  }
  std::map<std::uint32_t, Vec3> parts;
  for (const Triangle& t : welded.triangles)
    parts.emplace(sets.find(t[0]), to_double(welded.positions[t[0]]));
  std::vector<Vec3> corners;
  for (const auto& [set, corner] : parts) corners.push_back(corner);
  return corners;
}

}  // namespace

BenchBody::BenchBody(std::string name_of_it, TriangleMesh triangles, int resolution)
    : name(std::move(name_of_it)),
      mesh(std::move(triangles)),
      bvh(mesh),
      fcl(mesh),
      shape(Shape::from_mesh(mesh, {.field = {.resolution = resolution}, .points = 1000})),
      size(length(extent(to_double(bvh.bounds())))),
      middle(center(to_double(bvh.bounds()))),
      balanced(find_flaws(mesh).balanced),
      corners_of_parts(find_corners_of_parts(mesh)) {}

Nesting find_nesting(const BenchBody& a, const BenchBody& b, const Pose& a_from_b) {
  Nesting nesting{.is_unclear = !(a.balanced && b.balanced)};
  const auto look = [&](const BenchBody& of, const Pose& in_from_of, const BenchBody& in) {
    for (const Vec3& part : of.corners_of_parts) {
      const Vec3 x = transform_point(in_from_of, part);
      if (!contains(to_double(in.bvh.bounds()), x)) continue;
      const double w = brute_force::compute_winding_number(in.mesh, to_float(x));
      nesting.most = std::max(nesting.most, w);
      nesting.is_unclear = nesting.is_unclear || std::abs(w - 0.5) < 0.45;
    }
  };
  look(a, inverse(a_from_b), b);
  look(b, a_from_b, a);
  return nesting;
}

std::vector<PairGroup> make_timed_groups(bool quick) {
  if (!has_data()) {
    return {
        {"procedural parts",
         pair_up(make_procedural({"gear", "bolt", "nut", "knot", "bowl"}, quick))},
        {"blobs",
         pair_up({make_body("blob", make_blob({.triangles = quick ? 4000 : 70000}), quick)}, 1)}};
  }
  const std::string panda = "09_robots/panda/meshes/";
  std::vector<PairGroup> groups;
  groups.push_back({"robot links, visual",
                    pair_up(read_bodies(panda + "visual",
                                        {"hand.obj", "link1.obj", "link2.obj", "link3.obj",
                                         "link4.obj", "link5.obj", "link6.obj", "finger.obj"},
                                        quick))});
  groups.push_back(
      {"robot links, collision",
       pair_up(read_bodies(panda + "collision",
                           {"finger.obj", "hand.obj", "link0.obj", "link1.obj", "link2.obj",
                            "link3.obj", "link4.obj", "link5.obj", "link6.obj", "link7.obj"},
                           quick))});
  groups.push_back({"robot links, Panda and Shadow hand",
                    pair_up(read_bodies(
                        "04_robots",
                        {"panda_link0.stl", "panda_link3.stl", "panda_link6.stl", "panda_hand.stl",
                         "shadow_f_middle.obj", "shadow_lf_metacarpal.obj", "shadow_wrist.obj"},
                        quick))});
  groups.push_back(
      {"bunny pairs", pair_up(read_bodies("01_stanford", {"bunny_closed.obj"}, quick), 1)});
  groups.push_back(
      {"mechanical parts",
       pair_up(read_bodies(
           "03_mech",
           {"factory_nut_m16_tight_subdiv_3x.obj", "factory_bolt_m16_tight.obj",
            "ripc507_092-piston__crank.stl", "ripc507_092-piston__connecting-rod.stl",
            "ripc507_092-piston__piston.stl", "bullet_diff_carrier.stl", "bullet_diff_spider.stl",
            "trimesh_featuretype.STL", "trimesh_angle_block.STL", "ripc_screw-big.stl",
            "ripc_nut-big.stl", "industreal_gear_base.obj"},
           quick))});
  return groups;
}

PairGroup make_bunnies(int cells) {
  const TriangleMesh mesh =
      has_data() ? read_data_mesh("01_stanford/bunny_closed.obj") : make_blob({.triangles = 70000});
  const auto body = std::make_shared<const BenchBody>("bunny", mesh, cells);
  return {fmt::format("bunnies, {} cells", cells), {{body, body}}};
}

std::vector<PairGroup> make_truth_groups(bool quick) {
  const std::size_t count = quick ? 2 : 8;
  const TriangleMesh plate = make_box({.size_x = 1, .size_y = 0.002, .size_z = 0.8});
  std::vector<PairGroup> groups;
  if (!has_data()) {
    const auto flawed = [&](const auto& change) {
      std::vector<BodyPtr> bodies;
      for (const char* name : {"gear", "knot", "bowl", "nut"})
        bodies.push_back(make_body(std::string(name) + " *", change(make_shape(name)), quick));
      return bodies;
    };
    groups.push_back(
        {"clean", pair_up(make_procedural({"torus", "box", "knot", "sphere"}, quick), count)});
    groups.push_back({"open", pair_up(flawed(with_holes), count)});
    groups.push_back({"dirty", pair_up(flawed(made_dirty), count)});
    groups.push_back(
        {"mechanical", pair_up(make_procedural({"gear", "nut", "bolt"}, quick), count)});
  } else {
    groups.push_back(
        {"clean", pair_up(read_bodies("02_classic",
                                      {"cgal_bones.off", "cgal_knot2.off", "igl_3holes.off",
                                       "spot.obj", "cgal_joint.off", "cgal_rotor.off"},
                                      quick),
                          count)});
    std::vector<BodyPtr> open =
        read_bodies("02_classic", {"moebius.obj", "fcl_rob.obj", "teapot.obj"}, quick);
    open.push_back(make_body("bunny with holes",
                             with_holes(read_data_mesh("01_stanford/bun_zipper_res4.ply")), quick));
    open.push_back(make_body("box with holes", with_holes(make_box({})), quick));
    groups.push_back({"open", pair_up(open, count)});
    std::vector<BodyPtr> dirty =
        read_bodies("02_classic", {"cow.obj", "cheburashka.obj", "homer.obj"}, quick);
    dirty.push_back(
        make_body("dirty nut", made_dirty(read_data_mesh("03_mech/pyvista_nut.ply")), quick));
    dirty.push_back(make_body("dirty gear", made_dirty(make_gear({})), quick));
    groups.push_back({"dirty", pair_up(dirty, count)});
    groups.push_back(
        {"mechanical",
         pair_up(read_bodies("03_mech",
                             {"pyvista_nut.ply", "ripc507_092-piston__cylinder.stl",
                              "ripc507_092-piston__connecting-rod.stl", "ripc_link.obj",
                              "ripc_erleben_spike.obj", "ripc_erleben_hole.obj",
                              "ripc507_092-piston__crank.stl"},
                             quick),
                 count)});
  }
  std::vector<BodyPtr> thin{
      make_body("plate", plate, quick), make_body("bowl", make_shape("bowl"), quick),
      make_body("pipe", make_shape("pipe"), quick),
      make_body("needle", make_box({.size_x = 1, .size_y = 0.01, .size_z = 0.01}), quick)};
  groups.push_back({"thin", pair_up(thin, count)});
  // The second body fits into the first.
  PairGroup nested{"nested", {}};
  for (const char* name : {"box", "sphere", "torus", "gear"}) {
    TriangleMesh small = make_shape("knot");
    const TriangleMesh large = make_shape(name);
    const auto size_of_mesh = [](const TriangleMesh& m) { return extent(bounds(m)).x; };
    for (Vec3f& p : small.positions) p = p * (0.1F * size_of_mesh(large) / size_of_mesh(small));
    nested.pairs.emplace_back(make_body(name, large, quick), make_body("small knot", small, quick));
  }
  groups.push_back(std::move(nested));
  return groups;
}

namespace {

struct Placement {
  Pose pose;
  Vec3 direction;  // From A to B.
};

// Not if B passes by.
std::optional<Placement> approach(const BodyPair& pair, double gap, Random& random) {
  const auto& [a, b] = pair;
  Placement at{.pose = {.rotation = random.rotation()}, .direction = random.unit_vector()};
  const double reach = 0.5 * (a->size + b->size) + gap;
  at.pose.translation = a->middle - rotate(at.pose.rotation, b->middle) + at.direction * reach;
  double travel = 0;
  for (int step = 0; step < 60 && travel < 2 * reach; ++step) {
    const double excess = compute_mesh_distance(a->bvh, b->bvh, at.pose).distance - gap;
    if (excess < 0.01 * gap + 1e-6 * size_of(pair)) return at;
    at.pose.translation -= at.direction * excess;
    travel += excess;
  }
  return std::nullopt;
}

Placement find_approach(const BodyPair& pair, double gap, Random& random) {
  for (int attempt = 0; attempt < 100; ++attempt)
    if (const std::optional<Placement> at = approach(pair, gap, random)) return *at;
  throw Error("no pose was found at which " + pair.first->name + " is near " + pair.second->name);
}

}  // namespace

Pose place_at_gap(const BodyPair& pair, double gap, Random& random) {
  return find_approach(pair, gap, random).pose;
}

Pose place_overlapping(const BodyPair& pair, double depth, Random& random) {
  Placement at = find_approach(pair, 0, random);
  at.pose.translation -= at.direction * (depth + 2e-6 * size_of(pair));
  return at.pose;
}

}  // namespace isotact::bench

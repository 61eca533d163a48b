// Writes the seeds of the fuzzers of assets and of run packs: small ones, whole and broken in one
// place each.
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <vector>

#include "isotact/base/file.h"
#include "isotact/field/io/asset.h"
#include "isotact/field/models/analytic.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/pointshell/asset_section.h"
#include "isotact/scene/pack/replay_pack.h"

#include "support/ball_brick_field.h"

namespace {

using namespace isotact;
namespace fs = std::filesystem;

Asset small_asset(std::int32_t coarse_cells) {
  const TriangleMesh mesh = make_sphere({.radius = 1, .frequency = 1});
  Asset asset;
  asset.source = {
      .mesh_hash = hash_mesh(mesh), .settings = "{\"resolution\":8}", .sign_report = "closed"};
  asset.mass = compute_mass_properties(mesh, {.density = 1});
  if (coarse_cells > 0) asset.field = test::make_ball_field(coarse_cells);
  return asset;
}

// What is sampled at all nodes: with `encoding` of the voxmap.
Asset sampled_asset(VoxmapEncoding encoding) {
  const Lattice lattice{.origin = {-1, -1, -1}, .spacing = 0.5, .cells = {4, 4, 4}};
  const SphereField ball{.radius = 0.6};
  Asset asset;
  asset.dense = sample_on_lattice(ball, lattice, {.holds_body = true});
  asset.first_order = sample_first_order(
      ball, lattice,
      {.storage = encoding == VoxmapEncoding::kLayers ? FirstOrderStorage::kHalf
                                                      : FirstOrderStorage::kFloat32});
  asset.voxmap = build_voxmap(make_sphere({.radius = 0.6, .frequency = 1}), lattice,
                              {.encoding = encoding, .precision = 2})
                     .voxmap;
  return asset;
}

Asset shell_asset(const PointSphereTreeSettings& settings) {
  Asset asset;
  set_point_sphere_tree(
      asset, build_point_sphere_tree(sample_vertices(make_sphere({.radius = 1, .frequency = 2})),
                                     settings));
  return asset;
}

Asset mesh_asset() {
  Asset asset;
  asset.mesh = FlatMesh::build(make_sphere({.radius = 1, .frequency = 2}));
  return asset;
}

void write_seeds(const fs::path& folder) {
  fs::create_directories(folder);
  const auto save = [&](const char* name, std::span<const std::byte> bytes) {
    write_file(folder / name, bytes);
  };
  save("nothing.isotact", encode_sections({}));
  save("source_only.isotact", encode_asset({}));
  save("no_field.isotact", encode_asset(small_asset(0)));
  save("one_brick.isotact", encode_asset(small_asset(1)));
  save("few_bricks.isotact", encode_asset(small_asset(2)));
  save("sampled_layers.isotact", encode_asset(sampled_asset(VoxmapEncoding::kLayers)));
  save("sampled_scaled.isotact", encode_asset(sampled_asset(VoxmapEncoding::kScaled)));
  save("sampled_support.isotact", encode_asset(sampled_asset(VoxmapEncoding::kSupport)));
  save("shell.isotact", encode_asset(shell_asset({.cluster_size = 4})));
  save("shell_nested.isotact",
       encode_asset(shell_asset({.cluster_size = 3, .spheres = SphereKind::kNested})));
  const std::vector<std::byte> mesh = encode_asset(mesh_asset());
  save("mesh.isotact", mesh);
  // A child of the root is the root; the fuzzer sets the checksums right.
  std::vector<std::byte> looped = mesh;
  const FlatMeshHeader h = mesh_asset().mesh->header();
  const std::size_t section = mesh.size() - h.total_bytes;
  std::memset(looped.data() + section + h.node_offset + offsetof(detail::BvhNode, child), 0, 4);
  save("mesh_looped.isotact", looped);
  const std::vector<std::byte> raw(100, std::byte{7});
  const std::vector<AssetSection> unknown = {{SectionKind::kPointshell, raw},
                                             {static_cast<SectionKind>(4711), raw}};
  save("unknown_kind.isotact", encode_sections(unknown));
  const std::vector<std::byte> whole = encode_asset(small_asset(1));
  const auto save_broken = [&](const char* name, std::size_t at, unsigned value) {
    std::vector<std::byte> bytes = whole;
    bytes[at] = static_cast<std::byte>(value);
    save(name, bytes);
  };
  save_broken("broken_version.isotact", 8, 9);
  save_broken("broken_count.isotact", 12, 255);
  save_broken("broken_total.isotact", 23, 255);
  save_broken("broken_checksum.isotact", 24, 0);
  save_broken("broken_kind.isotact", 64, 3);
  save_broken("broken_offset.isotact", 64 + 32 + 8, 65);
  save_broken("broken_size.isotact", 64 + 32 + 20, 255);
  save_broken("broken_field.isotact", whole.size() - 100, 99);
  save("cut.isotact", std::span(whole).first(whole.size() / 2));
  save("cut_header.isotact", std::span(whole).first(40));
}

// A few frames of two boxes and a cloth, which go through the ground or rest on it.
constexpr const char* kRun = R"({
  "isotact_scene": 1,
  "world": {"step": 0.01},
  "run": {"steps": 4, "frames_per_second": 50},
  "shapes": {"cube": {"make": "box", "size": 0.2, "resolution": 16, "points": 8}},
  "bodies": [
    {"name": "ground", "kind": "static", "shape": {"field": "plane"}},
    {"name": "post", "kind": "static"},
    {"name": "box", "shape": "cube", "position": [0, 0.1, 0], "colour": "#a07040"},
    {"name": "top", "shape": "cube", "position": [0, 0.4, 0]}
  ],
  "soft_bodies": [{"name": "cloth", "shape": {"sheet": [0.2, 0.2], "cells": [2, 2]}, "position": [1, 0.1, 0]}]
})";

void write_run_seeds(const fs::path& folder) {
  fs::create_directories(folder);
  SceneRun run(parse_scene(kRun, "run.json"), {.threads = {1}, .keep_log = false});
  run.go(4);
  const std::vector<std::byte> pack =
      write_run_pack(run, {.field_cells = 2, .most_points = 0, .most_boxes = 0});
  const auto save = [&](const char* name, std::span<const std::byte> bytes) {
    write_file(folder / name, bytes);
  };
  save("whole.pack", pack);
  save("cut.pack", std::span(pack).first(pack.size() / 2));
  save("cut_arrays.pack", std::span(pack).first(pack.size() - 100));
  std::vector<std::byte> broken = pack;
  broken[9] = std::byte{255};
  save("broken_size.pack", broken);
  broken = pack;
  broken[7] = std::byte{'2'};
  save("broken_version.pack", broken);
  // Gzip of nothing, in a page; bases that are none.
  write_file(folder / "empty.html", "<p id=\"run-pack\">H4sIAAAAAAACAwMAAAAAAAAAAAA=</script>");
  write_file(folder / "no_base64.html", "<p id=\"run-pack\">ISOTACT-RUN-PACK</script>");
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_fuzz_seeds tests/fuzz/corpus\n");
    return 2;
  }
  write_seeds(fs::path(argv[1]) / "asset");
  write_run_seeds(fs::path(argv[1]) / "run_pack");
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}

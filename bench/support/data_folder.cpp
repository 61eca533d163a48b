#include "data_folder.h"

#include <string>
#include <system_error>
#include <vector>

#include "isotact/geometry/io/mesh_io.h"
#include "isotact/geometry/primitives/primitives.h"

namespace isotact::bench {

TriangleMesh read_data_mesh(const std::filesystem::path& file) {
  if (has_data()) return read_mesh(data_folder() / file).mesh;
  const std::string name = file.filename().string();
  const auto is = [&](const char* word) { return name.find(word) != std::string::npos; };
  if (is("bun_zipper_res3")) return make_blob({.triangles = 4000});
  if (is("bun")) return make_blob({.triangles = 71890});
  if (is("dragon"))
    return make_knot({.p = 2,
                      .q = 7,
                      .ring_radius = 0.1,
                      .winding_radius = 0.04,
                      .tube_radius = 0.012,
                      .segments = 6839,
                      .tube_segments = 64});
  if (is("bowl")) return make_bowl({});
  if (is("bolt")) return make_bolt({});
  if (is("nut")) return make_nut({});
  return make_gear({});
}

std::optional<std::filesystem::path> find_scene(const std::filesystem::path& file) {
  namespace fs = std::filesystem;
  std::vector<fs::path> folders{fs::path()};  // the working folder
  std::error_code none;
  for (fs::path folder = fs::read_symlink("/proc/self/exe", none).parent_path(); !folder.empty();
       folder = folder.parent_path()) {
    folders.push_back(folder);
    if (folder == folder.root_path()) break;
  }
  folders.emplace_back(ISOTACT_BENCH_SOURCES);
  for (const fs::path& folder : folders)
    if (fs::path found = folder / "scenes" / file; fs::is_regular_file(found, none)) return found;
  return {};
}

}  // namespace isotact::bench

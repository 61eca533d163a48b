#include "collide_page.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "isotact/base/file.h"
#include "isotact/pointshell/asset_section.h"
#include "isotact/scene/pack/pair_pack.h"

#include "query_module.h"
#include "report/hints.h"
#include "report/schema.h"
#include "run_page.h"

namespace isotact::tool {
namespace {

constexpr int kFrames = 120;             // of a motion, and one more
constexpr std::size_t kMostPaths = 32;   // of points of each body
constexpr int kPiecesOfPath = 48;        // where something turns
constexpr std::size_t kMostAssets = 48;  // MB of both bodies, to be asked in the page

ShellMotion motion_against(const CollidePage& page, Body points) {
  const ShellMotion of_a{.shell = page.a.motion,
                         .field = page.b.motion,
                         .model = page.request.model,
                         .degree = page.request.degree};
  return points == Body::kA ? of_a : exchange_roles(of_a);
}

// Where the body with points is, as the query has it. By constant rates that is its own motion. The
// other models are of motions against the other body; where those do not keep it rigid, the nearest
// that does.
Pose pose_at(const CollidePage& page, Body body, double time) {
  const BodyMotion& own = body == Body::kA ? page.a.motion : page.b.motion;
  const BodyMotion& other = body == Body::kA ? page.b.motion : page.a.motion;
  const Body points = page.request.roles == Roles::kPointsOfB ? Body::kB : Body::kA;
  if (page.request.model == MotionModel::kConstantRates || body != points)
    return compute_pose(own, time);
  const BodyMotion against{.from = inverse(other.from) * own.from,
                           .to = inverse(other.to) * own.to};
  return compute_pose(other, time) * Pose{compute_pose(against, time).rotation,
                                          compute_map(motion_against(page, body), time).offset};
}

bool turns(const BodyMotion& motion) { return motion.from.rotation != motion.to.rotation; }

// The way of one point, cut where it enters and leaves.
void add_path(const CollidePage& page, const TouchingPoint& point, int pieces,
              std::vector<ContactPath>& paths) {
  const bool of_a = point.body == Body::kA;
  const Vec3 place = to_double((of_a ? page.a : page.b).shape->points().point(point.point));
  const BodyMotion& field = of_a ? page.b.motion : page.a.motion;
  const ShellMotion motion = motion_against(page, point.body);
  const auto at = [&](double time) {
    return transform_point(compute_pose(field, time), compute_map(motion, time) * place);
  };
  std::vector<double> cuts;
  for (int k = 0; k <= pieces; ++k) cuts.push_back(static_cast<double>(k) / pieces);
  const std::span<const SegmentInterval> inside{page.swept->intervals.data() + point.first_interval,
                                                point.interval_count};
  for (const SegmentInterval& in : inside)
    for (const float t : {in.enter, in.exit}) cuts.push_back(std::clamp<double>(t, 0, 1));
  std::sort(cuts.begin(), cuts.end());
  for (std::size_t k = 0; k + 1 < cuts.size(); ++k) {
    if (!(cuts[k] < cuts[k + 1])) continue;
    const double middle = (cuts[k] + cuts[k + 1]) / 2;
    const bool is_inside = std::any_of(
        inside.begin(), inside.end(),
        [&](const SegmentInterval& in) { return in.enter <= middle && middle <= in.exit; });
    paths.push_back({at(cuts[k]), at(cuts[k + 1]), is_inside ? 0.0F : 1.0F, 1.0F});
  }
}

std::vector<ContactPath> find_paths(const CollidePage& page) {
  std::vector<ContactPath> paths;
  const bool curved = turns(page.a.motion) || turns(page.b.motion);
  for (const Body body : {Body::kA, Body::kB}) {
    std::vector<const TouchingPoint*> own;
    for (const TouchingPoint& p : page.swept->points)
      if (p.body == body) own.push_back(&p);
    const std::size_t step = (own.size() + kMostPaths - 1) / kMostPaths;
    for (std::size_t k = 0; k < own.size(); k += step)
      add_path(page, *own[k], curved ? kPiecesOfPath : 1, paths);
  }
  return paths;
}

// A page builds nothing: it gets what a query by points needs.
std::vector<std::byte> asset_of(const Shape& shape) {
  Asset asset{.field = shape.field(), .voxmap = shape.voxmap()};
  if (!asset.field && !asset.voxmap && shape.can_have_field()) asset.field = shape.brick_field();
  if (shape.can_have_points()) set_point_sphere_tree(asset, shape.points());
  return encode_asset(asset);
}

// What can be asked in the page, or why nothing can.
void add_query(const CollidePage& page, PairPackSource& source) {
  const QueryModule module = query_module();
  if (module.bytes.empty()) {
    source.still = "built without WebAssembly";
    return;
  }
  if (!page.a.shape || !page.b.shape) {
    source.still = "a body has no field";
    return;
  }
  PairPackQuery query{.module = {module.bytes.begin(), module.bytes.end()},
                      .asset_a = asset_of(*page.a.shape),
                      .asset_b = asset_of(*page.b.shape),
                      .request = page.live};
  const std::size_t bytes = query.asset_a.size() + query.asset_b.size();
  if (bytes > kMostAssets << 20U)
    source.still =
        fmt::format("the bodies take {} MB, and {} at most fit a page", bytes >> 20U, kMostAssets);
  else
    source.query = std::move(query);
}

PairPackBody pack_body(const CollidePageBody& body) {
  return {.name = std::filesystem::path(body.file).filename().string(),
          .surface = body.surface,
          .shape = body.shape};
}

}  // namespace

std::string query_support() {
  const QueryModule module = query_module();
  if (module.bytes.empty()) return fmt::format("not built in: {}", module.missing);
  return fmt::format("built in ({} KB, in pages of collide --view)", module.bytes.size() / 1000);
}

void check_page_name(const std::string& name) {
  check_extension(name, ".html");
  require_viewer();
}

void write_collide_page(const std::string& output, const CollidePage& page, Threads threads) {
  PairPackSource source{.a = pack_body(page.a), .b = pack_body(page.b)};
  const int frames = page.swept != nullptr ? kFrames : 0;
  for (int k = 0; k <= frames; ++k) {
    source.times.push_back(frames > 0 ? static_cast<double>(k) / frames : 0);
    source.a.poses.push_back(pose_at(page, Body::kA, source.times.back()));
    source.b.poses.push_back(pose_at(page, Body::kB, source.times.back()));
  }
  if (page.swept != nullptr) source.paths = find_paths(page);
  Json report = complete("collide", page.report);
  use_words_of_tool(report);
  source.report = report.dump(-1, ' ', false, Json::error_handler_t::replace);
  add_query(page, source);
  write_file(output, make_pair_page(write_pair_pack(source, {.threads = threads}),
                                    source.query.has_value()));
}

}  // namespace isotact::tool

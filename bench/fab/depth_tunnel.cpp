// FAB's Table 1: a fighter of 9,716 triangles flies through a tunnel of 69,842 with obstacles, 800
// frames. FCL and each of our ways see the same frames; whoever says otherwise than FCL is asked
// why.
#include <algorithm>
#include <array>
#include <functional>
#include <memory>

#include "isotact/geometry/bvh/winding.h"
#include "isotact/gpu/depth/depth_detector.h"
#include "isotact/gpu/depth/mesh_drawable.h"
#include "isotact/queries/depth/depth_map.h"

#include "depth_report.h"
#include "depth_statistics.h"
#include "fab_shapes.h"
#include "kgm/idf_fcl.h"
#include "support/measure.h"

namespace isotact::bench {
namespace {

struct Contestant {
  std::string name;
  // Whether the fighter collides at a pose. What it found stays in `report`, but for FCL.
  std::function<bool(const Pose&)> collides;
  double memory = 0;            // bytes
  const DepthResult* report{};  // none: FCL
  std::size_t stride = 1;       // looks at every so many frames
  std::vector<double> seconds{};
  std::vector<bool> answers{};
};

// `wake`: before each round, so that the GPU's clock is up as it is where a scene is drawn.
void look_at_frames(Contestant& c, std::span<const Pose> poses, int rounds,
                    const std::function<void()>& wake) {
  for (int round = 0; round < rounds; ++round) {
    wake();
    c.seconds.clear();
    c.answers.clear();
    for (std::size_t f = 0; f < poses.size(); f += c.stride) {
      bool answer = false;
      c.seconds.push_back(seconds_of([&] { answer = c.collides(poses[f]); }).wall);
      c.answers.push_back(answer);
    }
  }
}

// Why an answer differs from FCL's.
struct Differences {
  std::size_t contained = 0;  // no surfaces cross, but something lies in the fighter, or it in that
  std::vector<std::size_t> thin;  // what crosses covers no pixel's middle, by the exact rasteriser
  std::vector<std::size_t> wrong_collisions, missed;
};

// Knows both bodies on the CPU: exactly which pixels' middles lie in both, and winding numbers.
class Judge {
 public:
  Judge(const TriangleMesh& fighter, const FabScene& scene, const DepthView& view,
        const DepthSettings& settings)
      : settings_(settings), inside_fighter_(fighter), fighter_(make_depth_mesh(fighter)) {
    for (const FabElement& e : scene.elements) {
      inside_element_.emplace_back(e.mesh);
      parts_.push_back(make_depth_mesh(e.mesh));
    }
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const FabElement& e = scene.elements[i];
      environment_.push_back(make_depth_element(parts_[i], e.world_from_element, e.id, e.closed));
    }
    const DepthElement object[] = {make_depth_element(fighter_, {}, 0, true)};
    map_ = draw_depth_map(object, view, settings_);
  }

  DepthResult detect(const Pose& world_from_fighter) const {
    return detect_by_depth(map_, world_from_fighter, environment_, settings_);
  }
  std::size_t bytes() const { return map_.intervals.size() * sizeof(DepthMap::Interval); }

  // They collide although no surfaces cross: what is said to be the deepest place must lie in the
  // fighter, or the fighter in an element.
  bool is_contained(const Pose& world_from_fighter, const DepthResult& report) const {
    const Pose fighter_from_world = inverse(world_from_fighter);
    const Vec3f in_fighter = to_float(transform_point(fighter_from_world, report.deepest));
    if (!report.inside) return compute_winding_number(inside_fighter_, in_fighter) > 0.5;
    for (std::size_t i = 0; i < environment_.size(); ++i) {
      const Pose element_from_fighter =
          inverse(environment_[i].world_from_element) * world_from_fighter;
      const Vec3f middle = to_float(transform_point(element_from_fighter, {}));
      if (environment_[i].closed && compute_winding_number(inside_element_[i], middle) > 0.5)
        return true;
    }
    return false;
  }
  // Surfaces cross, but what they have in common covers no pixel's middle: less than
  // compute_depth_miss.
  bool is_thin(const Pose& world_from_fighter) const {
    return !detect(world_from_fighter).colliding;
  }

 private:
  DepthSettings settings_;
  WindingTree inside_fighter_;
  std::vector<WindingTree> inside_element_;
  DepthMesh fighter_;
  std::vector<DepthMesh> parts_;
  std::vector<DepthElement> environment_;
  DepthMap map_;
};

Differences compare(Contestant& c, const Contestant& fcl, std::span<const Pose> poses,
                    const Judge& judge) {
  Differences d;
  for (std::size_t i = 0; i < c.answers.size(); ++i) {
    const std::size_t f = i * c.stride;
    if (c.answers[i] == fcl.answers[f]) continue;
    if (c.answers[i]) {
      c.collides(poses[f]);
      if (judge.is_contained(poses[f], *c.report))
        ++d.contained;
      else
        d.wrong_collisions.push_back(f);
    } else if (judge.is_thin(poses[f])) {
      d.thin.push_back(f);
    } else {
      d.missed.push_back(f);
    }
  }
  return d;
}

std::vector<double> times_where(const Contestant& c, const Contestant& fcl, int collides) {
  std::vector<double> times;
  for (std::size_t i = 0; i < c.seconds.size(); ++i)
    if (collides < 0 || fcl.answers[i * c.stride] == (collides == 1))
      times.push_back(c.seconds[i] * 1e6);
  return times;
}

std::string name_frames(const std::vector<std::size_t>& frames) {
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(frames.size(), 6); ++i)
    text += fmt::format(" {}", frames[i]);
  return frames.size() > 6 ? text + " ..." : text;
}

void tell(const Contestant& c, const Contestant& fcl, const Differences& d, Table& table,
          Json& rows) {
  constexpr std::array<const char*, 3> kWhich{"all frames", "with collision", "without"};
  const bool is_fcl = &c == &fcl;
  Json row{{"name", c.name}, {"memory", c.memory}};
  std::vector<Cell> cells{c.name};
  for (int k = 0; k < 3; ++k) {
    const Sample ours = describe_values(times_where(c, fcl, k == 0 ? -1 : 2 - k));
    const Sample theirs = describe_values(times_where(fcl, fcl, k == 0 ? -1 : 2 - k));
    const double p = is_fcl ? 1 : find_p_value(ours, theirs);
    cells.insert(cells.end(), {ours.mean, ours.deviation, cell_if(!is_fcl, p)});
    row[kWhich[static_cast<std::size_t>(k)]] = {
        {"mean_us", ours.mean}, {"deviation_us", ours.deviation}, {"p", p}};
  }
  cells.emplace_back(c.memory / 1e6);
  if (is_fcl)
    cells.insert(cells.end(), {{}, {}, {}, {}, {}});
  else
    cells.insert(cells.end(),
                 {d.wrong_collisions.size(), d.missed.size(), d.contained, d.thin.size(),
                  name_frames(d.wrong_collisions) + name_frames(d.missed) + name_frames(d.thin)});
  table.row(cells, is_fcl ? Of::kPeer : Of::kOurs);
  row["wrong"] = d.wrong_collisions;
  row["missed"] = d.missed;
  row["contained"] = d.contained;
  row["thin"] = d.thin;
  rows.push_back(row);
}

// FAB's Table 1, in microseconds; the errors are those it counted.
void tell_paper(Table& table) {
  const Cell none;
  table.row({"FAB published: FCL", 205.08, none, none, 139.40, none, none, 323.77, none, none,
             "5 to 6", none, none, none, none, ""},
            Of::kPaper);
  table.row({"FAB published: its own", 101.61, none, 2.929e-08, 103.40, none, 0.09391, 98.38, none,
             5.535e-11, "below 1", 4, none, none, none, ""},
            Of::kPaper);
}

// One map for each view, all asked for each pose.
struct Detector {
  Detector(const GpuContext& context, const DepthSettings& settings, std::size_t poses_at_once,
           const GpuMeshes& object, std::span<const DepthView> views, bool one_pass,
           bool first_check)
      : gpu(context, settings,
            {.slots = static_cast<int>(views.size()),
             .queries = static_cast<int>(views.size() * poses_at_once),
             .save_state = false,
             .one_pass = one_pass,
             .first_check = first_check}),
        view_count(views.size()) {
    for (std::size_t i = 0; i < views.size(); ++i)
      gpu.draw_map(static_cast<int>(i), object, views[i]);
  }

  void list_queries(std::span<const Pose> poses) {
    queries.clear();
    for (const Pose& pose : poses)
      for (std::size_t i = 0; i < view_count; ++i)
        queries.push_back({.slot = static_cast<int>(i), .world_from_object = pose});
  }
  GpuDepthTicket submit(std::span<const Pose> poses, const GpuDepthScene& scene) {
    list_queries(poses);
    return gpu.submit(queries, scene);
  }

  GpuDepthDetector gpu;
  std::size_t view_count;
  std::vector<GpuDepthQuery> queries{};
  std::vector<DepthResult> reports{};
  DepthResult report{};  // of all views
};

// The first view that shows a collision.
const DepthResult& merge(std::span<const DepthResult> of_views) {
  for (const DepthResult& r : of_views)
    if (r.colliding) return r;
  return of_views.front();
}

// Microseconds a frame where nobody waits for one: `at_once` poses a submission, and reports
// fetched two submissions later. The answers must be those of one by one.
double measure_batches(const GpuContext& gpu, const DepthSettings& settings, std::size_t at_once,
                       const GpuMeshes& object, std::span<const DepthView> views,
                       const GpuDepthScene& scene, std::span<const Pose> poses,
                       const std::vector<bool>& expected, bool one_pass, Report& report,
                       const std::function<void()>& wake) {
  Detector detector(gpu, settings, at_once, object, views, one_pass, false);
  std::vector<DepthResult> reports;
  std::vector<bool> answers;
  double seconds = 0;
  for (int round = 0; round < 3; ++round) {
    wake();
    answers.clear();
    std::vector<GpuDepthTicket> tickets;
    std::size_t fetched = 0;
    const auto fetch = [&] {
      detector.gpu.fetch(tickets[fetched++], reports);
      for (std::size_t i = 0; i < reports.size(); i += views.size())
        answers.push_back(merge(std::span(reports).subspan(i, views.size())).colliding);
    };
    seconds = seconds_of([&] {
                for (std::size_t first = 0; first < poses.size(); first += at_once) {
                  const std::size_t n = std::min(at_once, poses.size() - first);
                  tickets.push_back(detector.submit(poses.subspan(first, n), scene));
                  if (tickets.size() >= fetched + 3) fetch();
                }
                while (fetched < tickets.size()) fetch();
              }).wall;
  }
  report.check(answers == expected, "many poses at once give the answers of one by one",
               fmt::format("{} at once", at_once));
  return 1e6 * seconds / static_cast<double>(poses.size());
}

}  // namespace

void bench_tunnel(const Options& options, const GpuContext& gpu, Report& report) {
  const bool software = gpu.info().software;
  const TriangleMesh fighter = make_fighter();
  const FabScene scene = make_tunnel();
  const FabSurface tunnel = join_elements(scene.elements);
  std::vector<Pose> poses;
  for (int f = 0; f < kTunnelFrames; f += options.quick ? 16 : 1)
    poses.push_back(compute_tunnel_pose(f));
  const int side = options.pixels > 0 ? options.pixels : software ? 256 : 512;
  const DepthView view = make_depth_view(to_double(bounds(fighter)), {1, 0, 0});
  const DepthSettings base{.width = side, .height = side};

  const std::vector<TriangleMesh> meshes{fighter, tunnel.mesh};
  const FclCrowd fcl(meshes);
  std::vector<Contestant> contestants;
  contestants.push_back({.name = "FCL",
                         .collides =
                             [&](const Pose& pose) {
                               return fcl.collide({.shape = 0, .world_from_body = pose},
                                                  {.shape = 1}, 1, false) > 0;
                             },
                         .memory = static_cast<double>(fcl.bytes())});

  const MeshElement ship[] = {make_mesh_element(fighter, {}, 0, true)};
  std::vector<MeshElement> things;
  for (const FabElement& e : scene.elements)
    things.push_back(make_mesh_element(e.mesh, e.world_from_element, e.id, e.closed));
  const GpuMeshes object(ship), environment(things);
  const GpuMeshes* const around[] = {&environment};
  const DepthView above = make_depth_view(to_double(bounds(fighter)), {0, -1, 0});
  const DepthView both[] = {view, above};
  struct Variant {
    const char* name;
    DepthSettings settings;
    std::span<const DepthView> views;
    bool one_pass = true, first_check = true;
  };
  const std::span<const DepthView> one(both, 1), two(both, 2);
  std::vector<Variant> variants{{"FAB, two maps", base, one},
                                {"FAB, two maps, two-sided", base, one},
                                {"FAB, fragments", base, one},
                                {"ours", base, one},
                                {"ours, 16 contacts", base, one},
                                {"ours, surfaces, two views", base, two},
                                {"ours, without a first check", base, one, true, false},
                                {"ours, several passes", base, one, false, false}};
  variants[0].settings.method = variants[1].settings.method = DepthMethod::kTwoMaps;
  variants[1].settings.two_sided = true;
  variants[2].settings.method = DepthMethod::kFragments;
  variants[4].settings.max_contacts = 16;
  variants[5].settings.find_inside = false;
  std::vector<std::unique_ptr<Detector>> detectors;
  for (const Variant& variant : variants) {
    detectors.push_back(std::make_unique<Detector>(gpu, variant.settings, 1, object, variant.views,
                                                   variant.one_pass, variant.first_check));
    Detector& d = *detectors.back();
    contestants.push_back({.name = variant.name,
                           .collides =
                               [&d, &around](const Pose& pose) {
                                 d.list_queries({&pose, 1});
                                 d.gpu.detect(d.queries, {{}, around}, d.reports);
                                 d.report = merge(d.reports);
                                 return d.report.colliding;
                               },
                           .memory = static_cast<double>(d.gpu.memory_bytes()),
                           .report = &d.report});
  }

  const Judge judge(fighter, scene, view, base);
  DepthResult on_cpu;
  contestants.push_back({.name = "ours, on the CPU",
                         .collides =
                             [&](const Pose& pose) {
                               on_cpu = judge.detect(pose);
                               return on_cpu.colliding;
                             },
                         .memory = static_cast<double>(judge.bytes()),
                         .report = &on_cpu,
                         .stride = 8});

  const auto wake = [&] {
    if (software) return;
    constexpr double kSeconds = 0.2;
    for (double seconds = 0; seconds < kSeconds;)
      seconds += seconds_of([&] {
                   for (std::size_t f = 0; f < poses.size(); f += 8)
                     contestants[1].collides(poses[f]);
                 }).wall;
  };
  for (Contestant& c : contestants)
    look_at_frames(c, poses, c.stride > 1 || software ? 1 : 5, wake);
  const Contestant& peer = contestants.front();
  Table table = report.table(
      {.id = "tunnel",
       .paper = "FAB",
       .place = "Table 1",
       .title = "A fighter in a tunnel: microseconds a frame, from the call to the report",
       .columns = {{"way", Of::kKey},
                   {"all frames", Of::kOurs, "us", 1},
                   {"deviation", Of::kOurs, "us", 1},
                   {"p", Of::kOurs},
                   {"with collision", Of::kOurs, "us", 1},
                   {"deviation", Of::kOurs, "us", 1},
                   {"p", Of::kOurs},
                   {"without", Of::kOurs, "us", 1},
                   {"deviation", Of::kOurs, "us", 1},
                   {"p", Of::kOurs},
                   {"memory", Of::kOurs, "MB", 2},
                   {"wrong", Of::kOurs},
                   {"missed", Of::kOurs},
                   {"contained", Of::kOurs},
                   {"thin", Of::kOurs},
                   {"frames", Of::kOurs}},
       .note = fmt::format(
           "A fighter of {} triangles, a tunnel of {}, {} frames, {} of them with collision, {} x "
           "{} "
           "pixels of {:.0f} mm. p: that means differ by chance, Welch's t-test against FCL. "
           "Wrong: "
           "collisions that FCL does not have, missed: those that only FCL has; contained: one "
           "within the other, which FCL can not see; thin: what both have in common covers no "
           "pixel's middle.",
           fighter.triangles.size(), tunnel.mesh.triangles.size(), poses.size(),
           std::count(peer.answers.begin(), peer.answers.end(), true), side, side,
           2e3 * view.half_size.x / side)});
  tell_paper(table);
  Json rows = Json::array();
  for (Contestant& c : contestants) {
    const Differences d = &c == &peer ? Differences{} : compare(c, peer, poses, judge);
    tell(c, peer, d, table, rows);
    if (c.name.starts_with("ours")) {
      report.check(d.wrong_collisions.empty(), "ours reports no collision that is none", c.name);
      // By surfaces alone, walls along the view's axis do not show.
      if (c.name.find("surfaces") == std::string::npos)
        report.check(d.missed.empty(), "ours misses no collision that covers a pixel's middle",
                     c.name);
    }
  }
  const Sample theirs = describe_values(times_where(peer, peer, -1));
  const Sample ours = describe_values(times_where(contestants[4], peer, -1));
  report.aim(ours.mean < theirs.mean, "one answer that is waited for: mean below FCL's");
  report.aim(ours.deviation < 0.5 * theirs.deviation, "its deviation below half of FCL's");
  Table batches = report.table(
      {.id = "tunnel-at-once",
       .title = "The same frames where nobody waits",
       .columns = {
           {"way", Of::kKey}, {"poses at once", Of::kKey}, {"a pose", Of::kOurs, "us", 1}}});
  for (const std::size_t number : {std::size_t{3}, std::size_t{5}, std::size_t{7}})
    for (const std::size_t at_once : {1U, 64U}) {
      const Variant& variant = variants[number];
      const double us =
          measure_batches(gpu, variant.settings, at_once, object, variant.views, {{}, around},
                          poses, contestants[number + 1].answers, variant.one_pass, report, wake);
      batches.row({variant.name, at_once, us});
      report.json["tunnel"]["at_once"].push_back(
          {{"way", variant.name}, {"poses", at_once}, {"us", us}});
    }
  report.json["tunnel"]["pixels"] = side;
  report.json["tunnel"]["frames"] = poses.size();
  report.json["tunnel"]["rows"] = rows;
}

}  // namespace isotact::bench

// MDL06's Table 1: how often bodies that wander meet, by boxes and by spheres. The paper counts
// what its program saw in ten minutes by the clock, at frame rates that it does not give; here ten
// minutes are those of the bodies, at 60 frames a second, with the same motion for boxes and for
// spheres, so that the two columns can be compared. What meets by trees is compared with all leaves
// against all in every hundredth frame, which takes longer than all else.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "deformable_crowd.h"
#include "deformable_report.h"
#include "scene_octree.h"

namespace isotact::bench {
namespace {

constexpr double kSpace = 17;  // m^3 a body: chosen such that three meet as often as in the paper

struct PaperRow {
  std::size_t bodies;
  const char* volume;
  std::array<int, 5> broad, narrow;
};
constexpr PaperRow kPaper[] = {
    {3, "boxes", {18, 35, 32, 17, 21}, {14, 22, 18, 10, 9}},
    {3, "spheres", {12, 18, 10, 15, 7}, {7, 8, 7, 4, 5}},
    {6, "boxes", {85, 69, 53, 43, 45}, {51, 45, 37, 29, 29}},
    {6, "spheres", {46, 53, 53, 49, 42}, {31, 29, 32, 30, 19}},
    {9, "boxes", {109, 78, 72, 66, 91}, {64, 42, 51, 45, 42}},
    {9, "spheres", {61, 84, 85, 86, 64}, {24, 37, 45, 44, 24}},
};

struct Meetings {
  int broad = 0, narrow = 0;
};

// One kind of volume that follows a crowd: begun pairs, and pairs whose trees begin to overlap.
class Watch {
 public:
  Watch(Crowd& crowd, bool spheres) : crowd_(crowd), spheres_(spheres), octree_(octree_of(crowd)) {}

  void look(Report& report, bool check) {
    spheres_ ? put_spheres(crowd_, octree_) : put_boxes(crowd_, octree_);
    octree_.step();
    spheres_ ? put_spheres(crowd_, all_) : put_boxes(crowd_, all_);
    all_.step();
    report.check(std::equal(octree_.pairs().begin(), octree_.pairs().end(), all_.pairs().begin(),
                            all_.pairs().end()),
                 "pairs of the octree are those of all against all, in every frame");
    found_.broad += static_cast<int>(octree_.begun().size());
    for (const ObjectPair& pair : octree_.ended()) touching_.erase(pair);
    for (const ObjectPair& pair : octree_.pairs()) {
      const bool now = meet(pair, report, check);
      bool& before = touching_[pair];
      found_.narrow += now && !before ? 1 : 0;
      before = now;
    }
  }
  const Meetings& found() const { return found_; }

 private:
  static SceneOctreeSettings octree_of(const Crowd& crowd) {
    return {.size = crowd.side(),
            .max_level = SceneOctree::level_for(crowd.side(), crowd.extent())};
  }

  ObjectTree& tree(SoftId id) {
    const std::span<const Vec3> positions = std::as_const(crowd_.soft()).positions(id);
    auto found = trees_.find(id);
    if (found == trees_.end()) {
      // As the paper: octants of the cube, down to triangles.
      ObjectTreeSettings s{.arity = 8,
                           .volume = spheres_ ? NodeVolume::kSphere : NodeVolume::kBox,
                           .cut = TreeCut::kRegular,
                           .leaf_triangles = 1};
      found =
          trees_
              .emplace(id, ObjectTree(positions, crowd_.soft().body_settings(id).mesh.triangles, s))
              .first;
    }
    found->second.set_positions(positions);
    return found->second;
  }

  bool meet(const ObjectPair& pair, Report& report, bool check) {
    ObjectTree &a = tree(pair.a), &b = tree(pair.b);
    find_contact_sets(a, b, {}, sets_);
    if (check) {
      ContactSets all;
      find_contact_sets_brute_force(a, b, {}, all);
      report.check(sets_ == all, "what meets by trees is what meets by all leaves against all");
    }
    return !sets_.triangles_a.empty();
  }

  Crowd& crowd_;
  bool spheres_;
  SceneOctree octree_;
  BruteForceBroadPhase all_;
  std::map<SoftId, ObjectTree> trees_;
  std::map<ObjectPair, bool> touching_;
  ContactSets sets_;
  Meetings found_;
};

std::string list(const std::vector<int>& counts) {
  return fmt::format("{}", fmt::join(counts, ","));
}

}  // namespace

void bench_table1(const Options& options, Report& report) {
  const int frames = options.quick ? 3600 : 36000;
  Table table = report.table(
      {.id = "table1",
       .paper = "MDL06",
       .place = "Table 1",
       .title = options.quick ? "Meetings of pawns, fish and rabbits in one minute, five runs"
                              : "Meetings of pawns, fish and rabbits in ten minutes, five runs",
       .columns = {{"bodies", Of::kKey},
                   {"volume", Of::kKey},
                   {"broad phase", Of::kOurs},
                   {"broad phase, published", Of::kPaper},
                   {"narrow phase", Of::kOurs},
                   {"narrow phase, published", Of::kPaper}},
       .note =
           "The paper counts what its program saw in ten minutes by the clock, at frame rates and "
           "in a cube that it does not give. Here they are minutes of the bodies, at 60 frames "
           "a second, with one motion for boxes and spheres, in a cube of 17 m^3 a body."});
  Json rows = Json::array();
  for (const std::size_t bodies : {3U, 6U, 9U}) {
    std::map<std::string, std::vector<int>> broad, narrow;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      Crowd crowd(
          {.figures = {"pawn", "fish", "rabbit"}, .bodies = bodies, .space = kSpace, .seed = seed});
      Watch boxes(crowd, false), spheres(crowd, true);
      for (int frame = 0; frame < frames; ++frame) {
        crowd.soft().step();
        const bool check = frame % 100 == 0;
        boxes.look(report, check);
        spheres.look(report, check);
      }
      report.check(!crowd.soft().trouble(), "bodies stay in one piece");
      for (const auto& [name, watch] :
           {std::pair{"boxes", &boxes}, std::pair{"spheres", &spheres}}) {
        broad[name].push_back(watch->found().broad);
        narrow[name].push_back(watch->found().narrow);
      }
    }
    for (const PaperRow& row : kPaper) {
      if (row.bodies != bodies) continue;
      const std::vector<int> paper_broad(row.broad.begin(), row.broad.end());
      const std::vector<int> paper_narrow(row.narrow.begin(), row.narrow.end());
      table.row({bodies, row.volume, list(broad[row.volume]), list(paper_broad),
                 list(narrow[row.volume]), list(paper_narrow)});
      rows.push_back({{"bodies", bodies},
                      {"volume", row.volume},
                      {"broad", broad[row.volume]},
                      {"paper_broad", paper_broad},
                      {"narrow", narrow[row.volume]},
                      {"paper_narrow", paper_narrow}});
    }
  }
  report.json["table1"] = rows;
}

}  // namespace isotact::bench

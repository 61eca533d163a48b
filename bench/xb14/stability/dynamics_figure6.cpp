// XB14's Figure 6: the same fall with continuous contact at its largest step, with discrete contact
// at its own, and with discrete contact, as it is and lagged, at the former.
#include <algorithm>

#include "dynamics_drop.h"
#include "picture/render_mesh.h"
#include "picture/text.h"

namespace isotact::bench {
namespace {

constexpr int kWidth = 240, kHeight = 320;
constexpr std::size_t kEvery = 3, kMost = 48;  // of poses 1/30 s apart
constexpr Vec3 kPale{0.62, 0.70, 0.78}, kStrong{0.12, 0.33, 0.55};
constexpr tool::Rgb8 kInk{60, 62, 68};

tool::Picture draw_panel(const DropBody& body, const Drop& drop, const std::string& caption) {
  const std::vector<Pose> poses = run_drop(body, drop, true).poses;
  std::vector<tool::RenderItem> items;
  const std::size_t count = std::min(poses.size(), kMost);
  for (std::size_t i = 0; i < count; i += kEvery) {
    const double t = static_cast<double>(i) / kMost;
    items.push_back(
        {.mesh = body.mesh, .world_from_mesh = poses[i], .colour = lerp(kPale, kStrong, t)});
  }
  tool::Picture picture = tool::render(items, {.width = kWidth,
                                               .height = kHeight,
                                               .yaw_degrees = 30,
                                               .pitch_degrees = 8,
                                               .zoom = 1.25,
                                               .ground_height = 0.0,
                                               .frame = Aabb{{-0.3, 0, -0.3}, {0.3, 0.8, 0.3}},
                                               .sky_samples = 8,
                                               .threads = {1}});
  tool::draw_text(picture, 8, 8, 1, caption, kInk);
  if (poses.size() < kMost)
    tool::draw_text(picture, 8, 8 + tool::kTextHeight + 4, 1,
                    fmt::format("gone after {:.2f} s", static_cast<double>(poses.size()) / 30),
                    kInk);
  return picture;
}

tool::Picture put_side_by_side(const std::vector<tool::Picture>& panels) {
  tool::Picture all{kWidth * static_cast<int>(panels.size()), kHeight, {}};
  for (int y = 0; y < kHeight; ++y)
    for (const tool::Picture& panel : panels) {
      const auto row = panel.pixels.begin() + y * kWidth;
      all.pixels.insert(all.pixels.end(), row, row + kWidth);
    }
  return all;
}

// The orientation in which the discrete method gains most energy.
int find_worst(const DropBody& body, Drop drop, double step) {
  drop.method = Method::kDiscrete;
  drop.step = step;
  double most = -1;
  int worst = 1;
  for (int k = 1; k <= 3; ++k) {
    drop.orientation = k;
    const double gained = run_drop(body, drop).gained;
    if (gained <= most) continue;
    most = gained;
    worst = k;
  }
  return worst;
}

}  // namespace

void draw_figure6(const DropBody& body, const Drop& drop, double continuous_step,
                  double discrete_step, const std::filesystem::path& file) {
  struct Panel {
    const char* name;
    Method method;
    double step;
  };
  const Panel panels[] = {{"(a) continuous", Method::kContinuous, continuous_step},
                          {"(b) discrete", Method::kDiscrete, discrete_step},
                          {"(c) discrete", Method::kDiscrete, continuous_step},
                          {"(d) lagged", Method::kLagged, continuous_step}};
  std::vector<tool::Picture> pictures;
  Drop fall = drop;
  fall.orientation = find_worst(body, drop, continuous_step);
  for (const Panel& panel : panels) {
    fall.method = panel.method;
    fall.step = panel.step;
    pictures.push_back(
        draw_panel(body, fall, fmt::format("{}, {:.2f} ms", panel.name, panel.step * 1e3)));
  }
  tool::write_png(file, put_side_by_side(pictures));
}

}  // namespace isotact::bench

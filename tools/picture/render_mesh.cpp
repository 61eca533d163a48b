#include "picture/render_mesh.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "isotact/base/error.h"
#include "isotact/base/trig.h"

#include "picture/render_scene.h"

namespace isotact::tool {
namespace {

constexpr int kPattern = 8;  // rays differ within 8 x 8 subpixels, and a filter shares them
constexpr int kMargin = 4;   // half the filter's width
constexpr int kTile = 64;    // pixels
constexpr int kSide = 2 * kTile + 2 * kMargin;  // subpixels of a tile, two by two a pixel
constexpr std::int32_t kNothing = -2, kGround = -1;

// What a subpixel sees, and the light that arrives there.
struct Subpixel {
  std::int32_t item = kNothing;
  Vec3 position{}, normal{}, view{};
  double sun = 0;  // share of the sun's disc that is seen
  Vec3 sky{};      // light of the sky and of what stands around
};

struct Lights {
  Vec3 sun_direction;
  Vec3 sun_colour{1.95, 1.85, 1.70};
  double sun_radius = 0.09;  // tangent of half its angle: a soft box rather than a star
};

Vec3 sky_light(const Vec3& direction) {
  const double t = std::clamp(direction.y * 0.5 + 0.5, 0.0, 1.0);
  return lerp(Vec3{0.46, 0.44, 0.42}, Vec3{0.86, 0.94, 1.08}, t);
}

// Two unit vectors square to n and to each other.
std::array<Vec3, 2> tangents(const Vec3& n) {
  const Vec3 other = std::abs(n.y) < 0.9 ? Vec3{0, 1, 0} : Vec3{1, 0, 0};
  const Vec3 u = normalized(cross(other, n));
  return {u, cross(n, u)};
}

// The direction around z above a point of the unit disc: points spread evenly over the disc give
// directions by the cosine law (Malley's method).
Vec3 disc_point(double radius_sq, double turn) {
  const SinCos t = sin_cos(2 * kPi * turn);
  const double r = std::sqrt(radius_sq);
  return {r * t.cos, r * t.sin, std::sqrt(std::max(0.0, 1 - radius_sq))};
}

class RayTables {
 public:
  explicit RayTables(int sky_samples) {
    // Neighbours in the 8 x 8 pattern get far-apart members of the sequence: order by bit reversal.
    for (std::uint32_t i = 0; i < kPattern * kPattern; ++i) {
      std::uint32_t rank = 0;
      const std::uint32_t x = i % kPattern, y = i / kPattern;
      for (std::uint32_t bit = 0; bit < 3; ++bit) {
        const std::uint32_t a = (x >> bit) & 1U, b = (y >> bit) & 1U;
        rank |= ((a ^ b) << (5 - 2 * bit)) | (b << (4 - 2 * bit));
      }
      rank_[i] = rank;
    }
    // The R2 sequence (Roberts 2018): even in any part of its order.
    constexpr double g1 = 0.75487766624669276, g2 = 0.56984029099805327;
    const auto fraction = [](double x) { return x - std::floor(x); };
    const std::size_t count = kPattern * kPattern * static_cast<std::size_t>(sky_samples);
    for (std::size_t i = 0; i < count; ++i) {
      const auto k = static_cast<double>(i) + 0.5;
      sky_.push_back(disc_point(fraction(k * g1), fraction(k * g2)));
    }
    for (std::size_t i = 0; i < kPattern * kPattern; ++i) {
      const auto k = static_cast<double>(i) + 0.5;
      sun_.push_back(disc_point(fraction(k * g2), fraction(k * g1)));
    }
    samples_ = static_cast<std::size_t>(sky_samples);
  }

  std::size_t rank(int x, int y) const {
    return rank_[static_cast<std::size_t>((y & (kPattern - 1)) * kPattern + (x & (kPattern - 1)))];
  }
  const Vec3& sun(std::size_t rank) const { return sun_[rank]; }
  std::span<const Vec3> sky(std::size_t rank) const {
    return std::span(sky_).subspan(rank * samples_, samples_);
  }

 private:
  std::array<std::size_t, kPattern * kPattern> rank_{};
  std::vector<Vec3> sky_, sun_;
  std::size_t samples_ = 1;
};

class Renderer {
 public:
  Renderer(const std::vector<RenderItem>& items, const RenderSettings& settings)
      : items_(items),
        settings_(settings),
        scene_(make_scene(items, settings)),
        camera_(frame_scene(scene_, settings)),
        tables_(settings.sky_samples) {
    // Over the left shoulder of the camera.
    const Vec3 flat = normalized(Vec3{camera_.back.x, 0, camera_.back.z} + Vec3{0, 1e-9, 0});
    lights_.sun_direction = normalized(flat * 0.55 - camera_.right * 0.65 + Vec3{0, 1.05, 0});
  }

  void render_tile(int tile_x, int tile_y, DeepPicture& to) const {
    std::vector<Subpixel> tile(static_cast<std::size_t>(kSide) * kSide);
    const int rows = std::min(kSide, 2 * (settings_.height - tile_y * kTile) + 2 * kMargin);
    const int columns = std::min(kSide, 2 * (settings_.width - tile_x * kTile) + 2 * kMargin);
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < columns; ++x) {
        const int sub_x = tile_x * 2 * kTile + x - kMargin,
                  sub_y = tile_y * 2 * kTile + y - kMargin;
        tile[index(x, y)] = look(sub_x, sub_y);
      }
    smooth(tile, 1);
    smooth(tile, kSide);
    for (int y = 0; y < std::min(kTile, settings_.height - tile_y * kTile); ++y)
      for (int x = 0; x < std::min(kTile, settings_.width - tile_x * kTile); ++x) {
        const int px = tile_x * kTile + x, py = tile_y * kTile + y;
        Vec3 sum;
        float depth = std::numeric_limits<float>::infinity();
        for (int k = 0; k < 4; ++k) {
          const Subpixel& s = tile[index(2 * x + k % 2 + kMargin, 2 * y + k / 2 + kMargin)];
          const Vec3 colour = shade(s, px, py);
          // Clamped one by one, so that highlights do not fray edges.
          sum += min(colour, Vec3{1, 1, 1}) * 0.25;
          if (s.item != kNothing)
            depth = std::min(depth,
                             static_cast<float>(dot(camera_.position - s.position, camera_.back)));
        }
        const auto at = static_cast<std::size_t>(py) * static_cast<std::size_t>(settings_.width) +
                        static_cast<std::size_t>(px);
        to.picture.pixels[at] = encode_srgb(sum);
        to.depths[at] = depth;
      }
  }

 private:
  static std::size_t index(int x, int y) { return static_cast<std::size_t>(y * kSide + x); }

  Subpixel look(int sub_x, int sub_y) const {
    const Vec3 direction = camera_.direction((sub_x + 0.5) / settings_.width - 1,
                                             1 - (sub_y + 0.5) / settings_.height);
    Subpixel seen;
    seen.view = -direction;
    const SurfaceHit hit = find_hit(scene_, camera_.position, direction);
    const double floor = settings_.ground_height.value_or(scene_.bounds.lower.y);
    const double t_ground = direction.y < -1e-6 && camera_.position.y > floor
                                ? (floor - camera_.position.y) / direction.y
                                : 1e30;
    Vec3 face;
    double lift = 2e-4 * scene_.size;
    if (hit.item >= 0 && hit.t <= t_ground) {
      seen.item = hit.item;
      seen.position = camera_.position + direction * hit.t;
      seen.normal = hit.normal;
      face = hit.face;
      lift = hit.lift;
    } else if (settings_.ground && t_ground < 1e30) {
      seen.item = kGround;
      seen.position = camera_.position + direction * t_ground;
      seen.normal = face = {0, 1, 0};
    } else {
      return seen;
    }
    light(seen, face, lift, tables_.rank(sub_x, sub_y));
    return seen;
  }

  void light(Subpixel& s, const Vec3& face, double lift, std::size_t rank) const {
    const Vec3 origin = s.position + face * lift;
    const auto [u, v] = tangents(lights_.sun_direction);
    const Vec3& j = tables_.sun(rank);
    const Vec3 to_sun = lights_.sun_direction + (u * j.x + v * j.y) * lights_.sun_radius;
    if (dot(to_sun, face) > 0 && dot(to_sun, s.normal) > 0)
      s.sun = is_hidden(scene_, origin, normalized(to_sun)) ? 0 : 1;
    const auto [p, q] = tangents(s.normal);
    const auto sky = tables_.sky(rank);
    for (const Vec3& d : sky) {
      const Vec3 direction = p * d.x + q * d.y + s.normal * d.z;
      const Vec3 full = sky_light(direction);
      // What hides the sky gives a little light back.
      const bool hidden = dot(direction, face) <= 0 || is_hidden(scene_, origin, direction);
      s.sky += hidden ? full * 0.16 : full;
    }
    s.sky = s.sky / static_cast<double>(sky.size());
  }

  // The mean over 8 subpixels in one direction that see the same smooth piece of surface.
  void smooth(std::vector<Subpixel>& tile, int stride) const {
    const std::vector<Subpixel> before = tile;
    for (int y = 0; y < kSide; ++y)
      for (int x = 0; x < kSide; ++x) {
        const int along = stride == 1 ? x : y;
        Subpixel& here = tile[index(x, y)];
        if (here.item == kNothing) continue;
        const double reach = 0.012 * scene_.size;
        double weights = 0, sun = 0;
        Vec3 sky;
        for (int k = std::max(-kMargin, -along); k < std::min(kMargin, kSide - along); ++k) {
          const auto at = static_cast<std::size_t>(static_cast<int>(index(x, y)) + k * stride);
          const Subpixel& other = before[at];
          if (other.item != here.item) continue;
          const double turn = dot(here.normal, other.normal);
          const double off = std::abs(dot(other.position - here.position, here.normal));
          if (turn < 0.9 || off > reach) continue;
          const double w = (turn - 0.9) * (1 - off / reach);
          weights += w, sun += other.sun * w, sky += other.sky * w;
        }
        if (weights > 0) here.sun = sun / weights, here.sky = sky / weights;
      }
  }

  // A plain wall, lighter in the middle.
  Vec3 background(int px, int py) const {
    const double x = (px + 0.5) / settings_.width - 0.5, y = (py + 0.5) / settings_.height - 0.45;
    return settings_.background * (1.08 - 0.55 * (x * x + y * y));
  }

  Vec3 shade(const Subpixel& s, int px, int py) const {
    if (s.item == kNothing) return background(px, py);
    const double facing = std::max(0.0, dot(s.normal, lights_.sun_direction));
    if (s.item == kGround) {
      // The ground has the background's colour, times the share of light that is left.
      const Vec3 open = Vec3{0.79, 0.82, 0.88} + lights_.sun_colour * (0.5 * facing);
      const Vec3 left = s.sky + lights_.sun_colour * (0.5 * facing * s.sun);
      const Vec3 wall = background(px, py);
      return {wall.x * std::min(1.0, left.x / open.x), wall.y * std::min(1.0, left.y / open.y),
              wall.z * std::min(1.0, left.z / open.z)};
    }
    const Vec3& albedo = items_[static_cast<std::size_t>(s.item)].colour;
    const Vec3 diffuse = s.sky * 0.50 + lights_.sun_colour * (0.42 * facing * s.sun);
    // A coat of varnish: the sun's highlight, and the sky at glancing angles (Schlick 1994).
    const Vec3 halfway = normalized(lights_.sun_direction + s.view);
    double spot = std::max(0.0, dot(s.normal, halfway));
    for (int i = 0; i < 6; ++i) spot *= spot;  // to the power of 64
    const double away = 1 - std::clamp(dot(s.normal, s.view), 0.0, 1.0);
    const double mirror = 0.04 + 0.5 * away * away * away * away * away;
    const Vec3 bounce = s.normal * (2 * dot(s.normal, s.view)) - s.view;
    const Vec3 coat =
        lights_.sun_colour * (0.30 * spot * s.sun) + sky_light(bounce) * (mirror * s.sky.y);
    return Vec3{albedo.x * diffuse.x, albedo.y * diffuse.y, albedo.z * diffuse.z} + coat;
  }

  const std::vector<RenderItem>& items_;
  const RenderSettings& settings_;
  RenderScene scene_;
  Camera camera_;
  RayTables tables_;
  Lights lights_{};
};

void check(const RenderSettings& s) {
  if (s.width < 1 || s.width > 16384 || s.height < 1 || s.height > 16384)
    throw Error("render: the picture is " + std::to_string(s.width) + " x " +
                std::to_string(s.height) + "; sides must be from 1 to 16384");
  if (s.sky_samples < 1 || s.sky_samples > 64)
    throw Error("render: sky_samples is " + std::to_string(s.sky_samples) +
                "; it must be from 1 to 64");
  const bool sound = std::abs(s.yaw_degrees) < 1e5 && std::abs(s.pitch_degrees) <= 90 &&
                     s.field_of_view_degrees >= 1 && s.field_of_view_degrees <= 120 && s.zoom > 0 &&
                     s.zoom < 1e3 && s.crease_degrees >= 0 && s.crease_degrees <= 180;
  if (!sound)
    throw Error(
        "render: yaw, pitch (-90 to 90), field of view (1 to 120), zoom (above 0) or crease "
        "(0 to 180) is out of range");
}

}  // namespace

DeepPicture render_deep(const std::vector<RenderItem>& items, const RenderSettings& settings) {
  check(settings);
  const Renderer renderer(items, settings);
  const std::size_t pixels =
      static_cast<std::size_t>(settings.width) * static_cast<std::size_t>(settings.height);
  DeepPicture deep{{settings.width, settings.height, std::vector<Rgb8>(pixels)},
                   std::vector<float>(pixels)};
  const int tiles_x = (settings.width + kTile - 1) / kTile;
  const int tiles_y = (settings.height + kTile - 1) / kTile;
  parallel_for(static_cast<std::size_t>(tiles_x * tiles_y), 1, settings.threads,
               [&](std::size_t begin, std::size_t end) {
                 for (std::size_t tile = begin; tile < end; ++tile)
                   renderer.render_tile(static_cast<int>(tile) % tiles_x,
                                        static_cast<int>(tile) / tiles_x, deep);
               });
  return deep;
}

Picture render(const std::vector<RenderItem>& items, const RenderSettings& settings) {
  return render_deep(items, settings).picture;
}

}  // namespace isotact::tool

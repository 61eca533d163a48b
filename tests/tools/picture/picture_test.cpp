#include "picture/picture.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/hash.h"
#include "isotact/field/build/build_field.h"
#include "isotact/geometry/primitives/primitives.h"

#include "picture/render_mesh.h"
#include "picture/slice_picture.h"
#include "picture/text.h"

namespace isotact::tool {
namespace {

TEST(Picture, SrgbIsTheStandardCurve) {
  for (int i = 0; i <= 1000; ++i) {
    const double linear = i / 1000.0;
    const double encoded =
        linear <= 0.0031308 ? 12.92 * linear : 1.055 * std::pow(linear, 1 / 2.4) - 0.055;
    EXPECT_NEAR(encode_srgb(linear), encoded * 255, 0.501) << linear;
    EXPECT_NEAR(decode_srgb(encoded), linear, 1e-4);
  }
  for (int i = 0; i < 256; ++i) EXPECT_EQ(encode_srgb(decode_srgb(i / 255.0)), i);
  EXPECT_EQ(encode_srgb(-1.0), 0);
  EXPECT_EQ(encode_srgb(7.0), 255);
}

TEST(Picture, ColoursAreReadOrRefused) {
  EXPECT_EQ(parse_colour("#ffffff"), (Vec3{1, 1, 1}));
  EXPECT_EQ(encode_srgb(parse_colour("#8fB80e")), (Rgb8{0x8f, 0xb8, 0x0e}));
  for (const char* wrong : {"", "#fff", "ffffff0", "#gg0000", "#ffffff0"})
    EXPECT_THROW(parse_colour(wrong), Error) << wrong;
}

TEST(Picture, PngFilesBeginAsTheyMustAndFailuresSayWhere) {
  const auto folder = std::filesystem::temp_directory_path() / "isotact_picture_test";
  std::filesystem::create_directories(folder);
  const Picture picture{2, 1, {{255, 0, 0}, {0, 0, 255}}};
  write_png(folder / "two.png", picture);
  std::ifstream file(folder / "two.png", std::ios::binary);
  std::string start(8, ' ');
  file.read(start.data(), 8);
  EXPECT_EQ(start, "\x89PNG\r\n\x1a\n");
  EXPECT_THROW(write_png(folder / "two.png", {}), Error);
  try {
    write_png(folder / "missing" / "two.png", picture);
    ADD_FAILURE() << "wrote into a missing folder";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("two.png"), std::string::npos) << error.what();
  }
  std::filesystem::remove_all(folder);
}

double brightness(const Picture& picture, int x, int y) {
  const Rgb8& p = picture.pixels[static_cast<std::size_t>(y * picture.width + x)];
  return (p[0] + p[1] + p[2]) / 3.0;
}

TEST(RenderMesh, SphereIsFramedLitFromTheLeftAndCastsAShadow) {
  const RenderSettings settings{.width = 160, .height = 120};
  const std::vector<RenderItem> items{{make_sphere({}), {}, {0.1, 0.1, 0.5}}};
  const Picture picture = render(items, settings);
  ASSERT_EQ(picture.pixels.size(), 160U * 120U);
  const auto is_sphere = [&](int x, int y) {
    const Rgb8& p = picture.pixels[static_cast<std::size_t>(y * 160 + x)];
    return p[2] > p[0] + 30;
  };
  int lowest = 0, highest = 120, leftmost = 160, rightmost = 0;
  for (int y = 0; y < 120; ++y)
    for (int x = 0; x < 160; ++x)
      if (is_sphere(x, y)) {
        lowest = std::max(lowest, y), highest = std::min(highest, y);
        leftmost = std::min(leftmost, x), rightmost = std::max(rightmost, x);
      }
  // It fills the height but for a margin, and is in the middle and round.
  EXPECT_NEAR(lowest - highest, 0.86 * 120, 5);
  EXPECT_NEAR(lowest + highest, 119, 4);
  EXPECT_NEAR(leftmost + rightmost, 159, 4);
  EXPECT_NEAR(rightmost - leftmost, lowest - highest, 4);
  EXPECT_GT(brightness(picture, 65, 45), brightness(picture, 95, 85) + 20);
  // The shadow falls to the right, on a ground that is elsewhere like the background.
  EXPECT_LT(brightness(picture, 140, 90), brightness(picture, 20, 90) - 20);
}

TEST(RenderMesh, DepthsAreThoseOfTheSurface) {
  const RenderSettings settings{.width = 61, .height = 41, .ground = false};
  const DeepPicture deep = render_deep({{make_sphere({.radius = 1}), {}, {}}}, settings);
  EXPECT_EQ(deep.picture.pixels, render({{make_sphere({.radius = 1}), {}, {}}}, settings).pixels);
  EXPECT_TRUE(std::isinf(deep.depths[0]));
  // The camera stands where the sphere fills 0.86 of the height; its front is nearer by a radius.
  const double tangent = 0.86 * std::tan(13 * 3.14159265 / 180),
               sine = std::sin(std::atan(tangent));
  EXPECT_NEAR(static_cast<double>(deep.depths[20 * 61 + 30]), 1 / sine - 1, 0.05);
}

TEST(RenderMesh, WhatBendsIsSmoothAcrossSharperEdges) {
  const RenderSettings settings{.width = 60, .height = 40};
  RenderItem item{make_box({}), {}, {0.5, 0.5, 0.5}};
  const auto sharp = render({item}, settings).pixels;
  item.crease_degrees = 35;
  EXPECT_EQ(render({item}, settings).pixels, sharp);
  item.crease_degrees = 100;
  EXPECT_NE(render({item}, settings).pixels, sharp);
}

TEST(RenderMesh, SamePictureForAnyNumberOfThreads) {
  const std::vector<RenderItem> items{{make_torus({}), {}, {0.5, 0.3, 0.2}},
                                      {make_box({}), {{}, {0, 1, 0}}, {0.3, 0.5, 0.2}}};
  std::vector<std::uint64_t> hashes;
  for (const int threads : {1, 2, 7})
    hashes.push_back(
        hash_range(render(items, {.width = 150, .height = 100, .threads = {threads}}).pixels));
  EXPECT_EQ(hashes[0], hashes[1]);
  EXPECT_EQ(hashes[0], hashes[2]);
}

RenderItem field_of_sphere() {
  const TriangleMesh sphere = make_sphere({});
  const BrickField field = build_field(sphere, {.resolution = 40}).field;
  return {.mesh = sphere,
          .colour = {0.1, 0.1, 0.5},
          .field = RenderField{.field = AnyField(field), .voxel_size = field.voxel_size()}};
}

TEST(RenderField, LooksLikeTheMeshItWasBuiltFrom) {
  const RenderSettings settings{.width = 90, .height = 60};
  RenderItem item = field_of_sphere();
  const Picture traced = render({item}, settings);
  item.field.reset();
  const Picture meshed = render({item}, settings);
  double off = 0;
  for (int y = 0; y < 60; ++y)
    for (int x = 0; x < 90; ++x)
      off += std::abs(brightness(traced, x, y) - brightness(meshed, x, y)) / (90 * 60);
  EXPECT_LT(off, 2);  // of 255
}

TEST(RenderField, SamePictureForAnyNumberOfThreads) {
  const std::vector<RenderItem> items{field_of_sphere()};
  const auto hash = [&](int threads) {
    return hash_range(render(items, {.width = 60, .height = 40, .threads = {threads}}).pixels);
  };
  EXPECT_EQ(hash(1), hash(2));
  EXPECT_EQ(hash(1), hash(7));
}

TEST(SlicePicture, InsideIsOrangeOutsideBlueAndLinesLieWhereTheyShould) {
  const auto ball = [](const Vec3& p) { return length(p) - 1; };
  const SlicePicture slice = draw_slice(ball, {.box = {{-2, -2, -2}, {2, 2, 2}}, .width = 600});
  const Picture& p = slice.picture;
  ASSERT_EQ(p.pixels.size(), static_cast<std::size_t>(p.width * p.height));
  EXPECT_NEAR(slice.lowest, -1, 0.01);
  EXPECT_NEAR(slice.highest, std::sqrt(8.0) - 1, 0.02);
  // The plot begins at (4, 17) and leaves 90 + 12 pixels for the legend.
  const double side = 600 - 90 - 12;
  const auto at = [&](double x, double y) {
    return p.pixels[static_cast<std::size_t>(static_cast<int>(17 + side * (0.5 - y / 4)) * p.width +
                                             static_cast<int>(4 + side * (0.5 + x / 4)))];
  };
  const Rgb8 inside = at(0.13, 0.33), outside = at(1.53, 1.53), zero = at(0.6, 0.8);
  EXPECT_GT(inside[0], inside[2] + 30);
  EXPECT_GT(outside[2], outside[0] + 30);
  EXPECT_LT(zero[0] + zero[1] + zero[2], 200);
}

TEST(SlicePicture, SamePictureForAnyNumberOfThreadsAndRefusals) {
  const auto ball = [](const Vec3& p) { return length(p) - 1; };
  const TriangleMesh mesh = make_sphere({});
  const auto hash = [&](int threads) {
    return hash_range(draw_slice(ball, {.axis = 1,
                                        .box = {{-2, -2, -2}, {2, 2, 2}},
                                        .width = 250,
                                        .outline = &mesh,
                                        .threads = {threads}})
                          .picture.pixels);
  };
  EXPECT_EQ(hash(1), hash(2));
  EXPECT_EQ(hash(1), hash(7));
  EXPECT_THROW(draw_slice(ball, {.box = {{-2, -2, -2}, {2, 2, 2}}, .width = 10}), Error);
  EXPECT_THROW(draw_slice(ball, {}), Error);
  EXPECT_THROW(draw_slice(ball, {.box = {{-1e-9, -2, -2}, {1e-9, 2, 2}}}), Error);
}

TEST(SlicePicture, CrossSectionsOfClosedMeshesAreClosed) {
  const TriangleMesh mesh = make_torus({});
  for (const double at : {0.0, 0.05, 0.124}) {
    const auto segments = cut_mesh(mesh, 1, at);
    EXPECT_GT(segments.size(), 50U);
    double length_of_all = 0;
    for (const auto& [a, b] : segments) {
      length_of_all += length(b - a);
      EXPECT_EQ(a.y, at);
    }
    // Two circles of radii 0.375 +- sqrt(0.125^2 - at^2).
    EXPECT_NEAR(length_of_all, 4 * 3.14159265 * 0.375, 0.02);
  }
}

TEST(Text, IsInkedWhereItIsWrittenAndCutAtTheEdge) {
  Picture p{40, 20, std::vector<Rgb8>(800, Rgb8{255, 255, 255})};
  draw_text(p, 2, 2, 1, "1", {0, 0, 0});
  int inked = 0;
  for (const Rgb8& pixel : p.pixels) inked += pixel[0] == 0 ? 1 : 0;
  EXPECT_EQ(inked, 10);
  EXPECT_NO_THROW(draw_text(p, -50, -3, 4, "far away \x01?", {0, 0, 0}));
  EXPECT_NO_THROW(draw_text(p, 35, 15, 3, "edge", {0, 0, 0}));
  EXPECT_NO_THROW(draw_line(p, {-1e30, 0, 1e30, 1e9, 3}, {0, 0, 0}));
  EXPECT_EQ(text_width("ab", 2), 24);
}

TEST(RenderMesh, TakesFlawedMeshesAndRefusesWhatCannotBeDrawn) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  // A good triangle, one on a line, one that is not finite.
  const TriangleMesh flawed{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {2, 0, 0}, {nan, 0, 0}},
                            {{0, 1, 2}, {0, 1, 3}, {0, 1, 4}}};
  EXPECT_EQ(render({{flawed, {}, {1, 1, 1}}}, {.width = 20, .height = 10}).pixels.size(), 200U);
  const TriangleMesh flat{{{0, 0, 0}, {1, 0, 0}, {0, 0, 1}}, {{0, 1, 2}}};
  for (const double pitch : {-90.0, 0.0, 90.0})
    EXPECT_NO_THROW(
        render({{flat, {}, {1, 1, 1}}}, {.width = 20, .height = 10, .pitch_degrees = pitch}));
  EXPECT_THROW(render({}, {}), Error);
  EXPECT_THROW(render({{TriangleMesh{}, {}, {}}}, {}), Error);
  EXPECT_THROW(render({{TriangleMesh{{{0, 0, 0}}, {{0, 1, 2}}}, {}, {}}}, {}), Error);
  const std::vector<RenderItem> good{{flat, {}, {1, 1, 1}}};
  EXPECT_THROW(render(good, {.width = 0}), Error);
  EXPECT_THROW(render(good, {.height = 20000}), Error);
  EXPECT_THROW(render(good, {.pitch_degrees = std::nan("")}), Error);
  EXPECT_THROW(render(good, {.sky_samples = 0}), Error);
}

}  // namespace
}  // namespace isotact::tool

// GIF files against a reader of our own.
#include "picture/gif.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/random.h"

namespace isotact::tool {
namespace {

std::size_t byte_at(const std::vector<std::byte>& bytes, std::size_t at) {
  return std::to_integer<std::size_t>(bytes.at(at));
}
std::size_t u16_at(const std::vector<std::byte>& bytes, std::size_t at) {
  return byte_at(bytes, at) | byte_at(bytes, at + 1) << 8U;
}

// As the specification has it; moves `at` behind the last block.
std::vector<std::uint8_t> decompress_lzw(const std::vector<std::byte>& bytes, std::size_t& at) {
  std::vector<bool> bits;
  for (std::size_t size = byte_at(bytes, at); size > 0; size = byte_at(bytes, at)) {
    for (std::size_t k = 1; k <= size; ++k)
      for (unsigned bit = 0; bit < 8; ++bit) bits.push_back(byte_at(bytes, at + k) >> bit & 1U);
    at += 1 + size;
  }
  ++at;
  std::vector<std::vector<std::uint8_t>> table;
  const auto reset = [&] {
    table.assign(258, {});
    for (std::size_t k = 0; k < 256; ++k) table[k] = {static_cast<std::uint8_t>(k)};
  };
  reset();
  std::vector<std::uint8_t> out, before;
  std::size_t width = 9, place = 0;
  while (true) {
    std::size_t code = 0;
    for (std::size_t k = 0; k < width; ++k) code |= std::size_t{bits.at(place + k)} << k;
    place += width;
    if (code == 257) break;
    if (code == 256) {
      reset();
      width = 9;
      before.clear();
      continue;
    }
    std::vector<std::uint8_t> text;
    if (code < table.size()) {
      text = table[code];
    } else {
      EXPECT_EQ(code, table.size());
      text = before;
      text.push_back(before.at(0));
    }
    out.insert(out.end(), text.begin(), text.end());
    if (!before.empty() && table.size() < 4096) {
      before.push_back(text[0]);
      table.push_back(before);
    }
    if (table.size() == std::size_t{1} << width && width < 12) ++width;
    before = text;
  }
  EXPECT_LT(bits.size() - place, 8U);
  return out;
}

TEST(Gif, LzwComesBack) {
  Random random(3);
  for (const std::size_t size : {0U, 1U, 2U, 255U, 5000U, 200000U})
    for (const std::uint32_t kinds : {1U, 2U, 30U, 256U}) {
      std::vector<std::uint8_t> bytes(size);
      for (std::uint8_t& b : bytes) b = static_cast<std::uint8_t>(random.below(kinds));
      const std::vector<std::byte> packed = compress_lzw(bytes);
      std::size_t at = 0;
      EXPECT_EQ(decompress_lzw(packed, at), bytes) << size << " of " << kinds;
      EXPECT_EQ(at, packed.size());
    }
}

struct Shown {
  int width = 0, height = 0;
  std::vector<std::vector<Rgb8>> frames;
  std::vector<std::size_t> delays;
  std::size_t drawn = 0;  // pixels in rectangles
};

Shown show(const std::vector<std::byte>& gif) {
  Shown shown;
  shown.width = static_cast<int>(u16_at(gif, 6));
  shown.height = static_cast<int>(u16_at(gif, 8));
  std::vector<Rgb8> canvas(static_cast<std::size_t>(shown.width * shown.height));
  std::size_t at = 13 + 768 + 19;  // behind palette and loop
  while (byte_at(gif, at) == 0x21) {
    EXPECT_EQ(byte_at(gif, at + 1), 0xf9U);
    shown.delays.push_back(u16_at(gif, at + 4));
    const std::size_t clear = byte_at(gif, at + 6);
    at += 8;
    EXPECT_EQ(byte_at(gif, at), std::size_t{','});
    const std::size_t x0 = u16_at(gif, at + 1), y0 = u16_at(gif, at + 3),
                      width = u16_at(gif, at + 5), height = u16_at(gif, at + 7);
    at += 11;
    const std::vector<std::uint8_t> pixels = decompress_lzw(gif, at);
    EXPECT_EQ(pixels.size(), width * height);
    shown.drawn += pixels.size();
    for (std::size_t k = 0; k < pixels.size(); ++k) {
      if (pixels[k] == clear) continue;
      const std::size_t colour = 13 + 3 * std::size_t{pixels[k]};
      Rgb8& to =
          canvas.at((y0 + k / width) * static_cast<std::size_t>(shown.width) + x0 + k % width);
      for (std::size_t i = 0; i < 3; ++i) to[i] = static_cast<std::uint8_t>(gif.at(colour + i));
    }
    shown.frames.push_back(canvas);
  }
  EXPECT_EQ(byte_at(gif, at), std::size_t{';'});
  EXPECT_EQ(at + 1, gif.size());
  return shown;
}

// A shaded wall, and a coloured disc that goes from left to right.
Picture disc_at(double x) {
  Picture p{120, 80, {}};
  for (int row = 0; row < 80; ++row)
    for (int column = 0; column < 120; ++column) {
      const bool inside = std::hypot(column - x, row - 40.0) < 15;
      const auto shade = static_cast<std::uint8_t>(150 + row);
      p.pixels.push_back(inside ? Rgb8{200, static_cast<std::uint8_t>(2 * row), 40}
                                : Rgb8{shade, shade, static_cast<std::uint8_t>(shade + 10)});
    }
  return p;
}

TEST(Gif, FramesAreWhatTheyWereMadeOf) {
  for (const int dither : {0, 8}) {
    GifAnimation animation({.frames_per_second = 30, .dither = dither, .tolerance = 2});
    std::vector<Picture> pictures;
    for (int k = 0; k < 12; ++k) pictures.push_back(disc_at(20 + 6 * (k / 2)));
    for (const Picture& p : pictures) animation.add(p);
    EXPECT_EQ(animation.frame_count(), 12U);
    const std::vector<std::byte> gif = animation.encode();
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(gif.data()), 6), "GIF89a");
    const Shown shown = show(gif);
    ASSERT_EQ(shown.frames.size(), 12U);
    for (std::size_t f = 0; f < 12; ++f)
      for (std::size_t i = 0; i < pictures[f].pixels.size(); ++i)
        for (std::size_t c = 0; c < 3; ++c)
          ASSERT_NEAR(shown.frames[f][i][c], pictures[f].pixels[i][c], 6 + dither);
    // Every other frame is as the one before: a pixel is drawn of it.
    EXPECT_LT(shown.drawn, 120U * 80U + 5U * 40U * 60U + 6U + 1U);
    std::size_t sum = 0;
    for (const std::size_t d : shown.delays) sum += d;
    EXPECT_EQ(sum, 40U);  // hundredths: 12 of 1/30 s
    EXPECT_EQ(animation.encode(), gif);
  }
}

TEST(Gif, FewColoursAreKeptExactly) {
  Picture p{16, 16, {}};
  Random random(9);
  for (int k = 0; k < 256; ++k)
    p.pixels.push_back({static_cast<std::uint8_t>(random.below(10) * 25), 7, 200});
  GifAnimation animation;
  animation.add(p);
  EXPECT_EQ(show(animation.encode()).frames[0], p.pixels);
}

TEST(Gif, RefusesWhatIsNoAnimation) {
  EXPECT_THROW(GifAnimation().encode(), Error);
  EXPECT_THROW(GifAnimation().add({}), Error);
  GifAnimation animation;
  animation.add(disc_at(1));
  EXPECT_THROW(animation.add({1, 1, {{}}}), Error);
  EXPECT_EQ(make_animation(".webp", 10), nullptr);
  EXPECT_NE(make_animation(".gif", 10), nullptr);
  EXPECT_NE(make_animation(".png", 10), nullptr);
}

TEST(Palette, TakesTheColoursThatMatter) {
  ColourCounts counts;
  for (int k = 0; k < 100000; ++k) counts.add({200, 200, 200});
  for (int k = 0; k < 100; ++k) counts.add({200, 20, 20});
  for (int k = 0; k < 100; ++k) counts.add({20, 20, 200});
  std::vector<Rgb8> palette = choose_palette(counts, 3);
  std::sort(palette.begin(), palette.end());
  EXPECT_EQ(palette, (std::vector<Rgb8>{{20, 20, 200}, {200, 20, 20}, {200, 200, 200}}));
  EXPECT_EQ(choose_palette(counts, 200).size(), 3U);
  EXPECT_EQ(choose_palette({}, 5).size(), 1U);
  NearestColours nearest(palette);
  EXPECT_EQ(nearest.find({190, 60, 0}), 1);
  EXPECT_EQ(nearest.find({0, 0, 255}), 0);
}

}  // namespace
}  // namespace isotact::tool

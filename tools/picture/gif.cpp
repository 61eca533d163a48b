#include "picture/gif.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <span>
#include <string_view>

#include "isotact/base/error.h"

namespace isotact::tool {
namespace {

constexpr std::uint8_t kTransparent = 255;  // the palette's last
constexpr std::size_t kMostColours = 255;
constexpr std::size_t kMostBytes = std::size_t{2} << 30U;

void put_u8(std::vector<std::byte>& out, std::size_t value) {
  out.push_back(static_cast<std::byte>(value & 255U));
}
void put_u16(std::vector<std::byte>& out, std::size_t value) {
  put_u8(out, value);
  put_u8(out, value >> 8U);
}
void put_text(std::vector<std::byte>& out, std::string_view text) {
  for (const char c : text) out.push_back(static_cast<std::byte>(c));
}

// Codes of 9 to 12 bits, the lowest bit first, cut into blocks.
class CodeStream {
 public:
  void put(std::uint32_t code, unsigned bits) {
    held_ |= code << held_bits_;
    for (held_bits_ += bits; held_bits_ >= 8; held_bits_ -= 8) {
      put_u8(block_, held_);
      held_ >>= 8U;
      if (block_.size() == 255) flush();
    }
  }
  std::vector<std::byte> finish() {
    if (held_bits_ > 0) put_u8(block_, held_);
    flush();
    put_u8(out_, 0);
    return std::move(out_);
  }

 private:
  void flush() {
    if (block_.empty()) return;
    put_u8(out_, block_.size());
    out_.insert(out_.end(), block_.begin(), block_.end());
    block_.clear();
  }

  std::uint32_t held_ = 0;
  unsigned held_bits_ = 0;
  std::vector<std::byte> block_, out_;
};

// Texts that were met, each a known one and a byte more.
class CodeTable {
 public:
  static constexpr std::uint32_t kClear = 256, kEnd = 257, kMost = 4096;

  std::uint32_t find(std::uint32_t prefix, std::uint8_t byte) const {
    return codes_[place(prefix, byte)];
  }
  void add(std::uint32_t prefix, std::uint8_t byte) {
    used_.push_back(place(prefix, byte));
    codes_[used_.back()] = static_cast<std::uint16_t>(next_++);
  }
  std::uint32_t next() const { return next_; }
  void clear() {
    for (const std::size_t at : used_) codes_[at] = 0;
    used_.clear();
    next_ = kEnd + 1;
  }

 private:
  static std::size_t place(std::uint32_t prefix, std::uint8_t byte) {
    return std::size_t{prefix} * 256 + byte;
  }
  std::vector<std::uint16_t> codes_ = std::vector<std::uint16_t>(kMost * 256, 0);  // 0: none
  std::vector<std::size_t> used_;
  std::uint32_t next_ = kEnd + 1;
};

// From -0.5 to 0.5, evenly spread over any 8 x 8 pixels (Bayer 1973).
double dither_at(int x, int y) {
  unsigned value = 0;
  for (unsigned bit = 0; bit < 3; ++bit) {
    const unsigned a = (static_cast<unsigned>(x) >> bit) & 1U,
                   b = (static_cast<unsigned>(y) >> bit) & 1U;
    value |= ((a ^ b) << (5 - 2 * bit)) | (b << (4 - 2 * bit));
  }
  return (value + 0.5) / 64 - 0.5;
}

struct Rectangle {
  int x0, y0, x1, y1;  // the latter two not included
};

// What a viewer shows, frame after frame.
class Canvas {
 public:
  Canvas(const GifSettings& settings, const std::vector<Rgb8>& palette, int width, int height)
      : settings_(settings), nearest_(palette), width_(width), height_(height) {}

  // The colours of a frame, kTransparent where what is shown may stay.
  std::vector<std::uint8_t> draw(const Picture& picture) {
    std::vector<std::uint8_t> changes(picture.pixels.size(), kTransparent);
    const bool is_first = shown_.empty();
    shown_.resize(changes.size());
    shown_for_.resize(changes.size());
    for (int y = 0; y < height_; ++y)
      for (int x = 0; x < width_; ++x) {
        const std::size_t at = place(x, y);
        const Rgb8& wanted = picture.pixels[at];
        if (!is_first && is_near(wanted, shown_for_[at])) continue;
        const std::uint8_t index = nearest_.find(dithered(wanted, x, y));
        if (is_first || shown_[at] != index) changes[at] = index;
        shown_[at] = index;
        shown_for_[at] = wanted;
      }
    return changes;
  }

  // Around all that is not transparent; one pixel where nothing is.
  Rectangle compute_box(const std::vector<std::uint8_t>& changes) const {
    Rectangle box{width_, height_, 0, 0};
    for (int y = 0; y < height_; ++y)
      for (int x = 0; x < width_; ++x) {
        if (changes[place(x, y)] == kTransparent) continue;
        box = {std::min(box.x0, x), std::min(box.y0, y), std::max(box.x1, x + 1),
               std::max(box.y1, y + 1)};
      }
    return box.x1 == 0 ? Rectangle{0, 0, 1, 1} : box;
  }

 private:
  std::size_t place(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
           static_cast<std::size_t>(x);
  }
  bool is_near(const Rgb8& a, const Rgb8& b) const {
    for (std::size_t i = 0; i < 3; ++i)
      if (std::abs(int{a[i]} - int{b[i]}) > settings_.tolerance) return false;
    return true;
  }
  Rgb8 dithered(Rgb8 colour, int x, int y) const {
    const int by = static_cast<int>(std::lround(settings_.dither * dither_at(x, y)));
    for (std::uint8_t& c : colour) c = static_cast<std::uint8_t>(std::clamp(c + by, 0, 255));
    return colour;
  }

  GifSettings settings_;
  NearestColours nearest_;
  int width_, height_;
  std::vector<std::uint8_t> shown_;
  std::vector<Rgb8> shown_for_;  // the pixels that it was chosen for
};

// All of the first frame, and of the others what differs from the one before.
std::vector<Rgb8> find_palette(const std::vector<Picture>& frames) {
  ColourCounts counts;
  for (std::size_t k = 0; k < frames.size(); ++k)
    for (std::size_t i = 0; i < frames[k].pixels.size(); ++i)
      if (k == 0 || frames[k].pixels[i] != frames[k - 1].pixels[i]) counts.add(frames[k].pixels[i]);
  return choose_palette(counts, kMostColours);
}

void put_head(std::vector<std::byte>& out, const Picture& picture,
              const std::vector<Rgb8>& palette) {
  put_text(out, "GIF89a");
  put_u16(out, static_cast<std::size_t>(picture.width));
  put_u16(out, static_cast<std::size_t>(picture.height));
  put_u8(out, 0xf7);  // a palette of 256, eight bits a channel
  put_u16(out, 0);    // background and aspect
  for (std::size_t k = 0; k < 256; ++k)
    for (std::size_t i = 0; i < 3; ++i) put_u8(out, k < palette.size() ? palette[k][i] : 0U);
  put_text(out, "\x21\xff\x0bNETSCAPE2.0\x03\x01");
  put_u16(out, 0);  // for ever
  put_u8(out, 0);
}

void put_frame(std::vector<std::byte>& out, const std::vector<std::uint8_t>& changes, int width,
               const Rectangle& box, std::size_t hundredths) {
  put_text(out, "\x21\xf9\x04");
  put_u8(out, 0x05);  // stays when the next one comes; has a transparent colour
  put_u16(out, hundredths);
  put_u8(out, kTransparent);
  put_u8(out, 0);
  put_text(out, ",");
  for (const int v : {box.x0, box.y0, box.x1 - box.x0, box.y1 - box.y0})
    put_u16(out, static_cast<std::size_t>(v));
  put_u8(out, 0);
  std::vector<std::uint8_t> part;
  for (int y = box.y0; y < box.y1; ++y) {
    const auto row = changes.begin() + static_cast<std::ptrdiff_t>(y) * width;
    part.insert(part.end(), row + box.x0, row + box.x1);
  }
  put_u8(out, 8);  // bits of a pixel
  const std::vector<std::byte> data = compress_lzw(part);
  out.insert(out.end(), data.begin(), data.end());
}

}  // namespace

std::vector<std::byte> compress_lzw(std::span<const std::uint8_t> bytes) {
  CodeStream stream;
  CodeTable table;
  unsigned bits = 9;
  stream.put(CodeTable::kClear, bits);
  std::optional<std::uint32_t> prefix;
  for (const std::uint8_t byte : bytes) {
    if (!prefix) {
      prefix = byte;
      continue;
    }
    if (const std::uint32_t longer = table.find(*prefix, byte); longer != 0) {
      prefix = longer;
      continue;
    }
    stream.put(*prefix, bits);
    // A reader is one text behind: codes become longer once it has as many as they can name.
    if (table.next() == 1U << bits && bits < 12) ++bits;
    if (table.next() < CodeTable::kMost) {
      table.add(*prefix, byte);
    } else {
      stream.put(CodeTable::kClear, bits);
      table.clear();
      bits = 9;
    }
    prefix = byte;
  }
  if (prefix) {
    stream.put(*prefix, bits);
    if (table.next() == 1U << bits && bits < 12) ++bits;
  }
  stream.put(CodeTable::kEnd, bits);
  return stream.finish();
}

GifAnimation::GifAnimation(const GifSettings& settings) : settings_(settings) {
  settings_.frames_per_second = std::clamp(settings_.frames_per_second, 1.0, 50.0);
}

void GifAnimation::add(const Picture& picture) {
  if (picture.width < 1 || picture.height < 1) throw Error("an empty picture cannot be written");
  if (!frames_.empty() &&
      (picture.width != frames_[0].width || picture.height != frames_[0].height))
    throw Error("the pictures of an animation must have one size");
  if ((frames_.size() + 1) * picture.pixels.size() * sizeof(Rgb8) > kMostBytes)
    throw Error(
        "the frames of this GIF would take more than 2 GB; draw fewer (--every) or smaller ones "
        "(--width)");
  frames_.push_back(picture);
}

std::vector<std::byte> GifAnimation::encode() const {
  if (frames_.empty()) throw Error("an animation needs a picture");
  const std::vector<Rgb8> palette = find_palette(frames_);
  Canvas canvas(settings_, palette, frames_[0].width, frames_[0].height);
  std::vector<std::byte> out;
  put_head(out, frames_[0], palette);
  const auto end_of = [&](std::size_t frames) {
    return std::llround(100.0 * static_cast<double>(frames) / settings_.frames_per_second);
  };
  for (std::size_t k = 0; k < frames_.size(); ++k) {
    const std::vector<std::uint8_t> changes = canvas.draw(frames_[k]);
    put_frame(out, changes, frames_[0].width, canvas.compute_box(changes),
              static_cast<std::size_t>(end_of(k + 1) - end_of(k)));
  }
  put_text(out, ";");
  return out;
}

namespace {

struct WeightedColour {
  Rgb8 colour;
  double weight;
};

// A part of all colours, with what decides whether and where it is cut.
struct ColourBox {
  std::span<WeightedColour> colours;
  std::array<double, 3> mean{};
  double error = 0;      // sum of squares about the mean
  std::size_t axis = 0;  // of the longest spread

  explicit ColourBox(std::span<WeightedColour> part) : colours(part) {
    double weight = 0;
    std::array<double, 3> squares{};
    for (const WeightedColour& c : colours) {
      weight += c.weight;
      for (std::size_t i = 0; i < 3; ++i) mean[i] += c.weight * c.colour[i];
    }
    for (double& m : mean) m /= weight;
    for (const WeightedColour& c : colours)
      for (std::size_t i = 0; i < 3; ++i) {
        const double off = c.colour[i] - mean[i];
        squares[i] += c.weight * off * off;
      }
    error = squares[0] + squares[1] + squares[2];
    axis = static_cast<std::size_t>(std::max_element(squares.begin(), squares.end()) -
                                    squares.begin());
  }

  Rgb8 colour() const {
    const auto whole = [&](std::size_t i) { return static_cast<std::uint8_t>(mean[i] + 0.5); };
    return {whole(0), whole(1), whole(2)};
  }
};

}  // namespace

std::vector<Rgb8> choose_palette(const ColourCounts& counts, std::size_t most) {
  std::vector<WeightedColour> all;
  for (std::size_t code = 0; code < counts.size(); ++code)
    if (const std::uint32_t count = counts.count(code); count > 0)
      all.push_back({ColourCounts::colour_of(code), std::sqrt(static_cast<double>(count))});
  if (all.empty()) return {Rgb8{}};
  std::vector<ColourBox> boxes{ColourBox(all)};
  while (boxes.size() < most) {
    const auto worst =
        std::max_element(boxes.begin(), boxes.end(),
                         [](const ColourBox& a, const ColourBox& b) { return a.error < b.error; });
    if (worst->error <= 0) break;  // one colour each
    const auto [colours, mean, error, axis] = *worst;
    const double cut = mean[axis];
    // Some are on either side of their mean: neither part is empty.
    const auto middle =
        std::stable_partition(colours.begin(), colours.end(),
                              [&, on = axis](const auto& c) { return c.colour[on] <= cut; });
    const auto count = static_cast<std::size_t>(middle - colours.begin());
    if (count == 0 || count == colours.size()) break;  // rounding left no two sides
    *worst = ColourBox(colours.first(count));
    boxes.emplace_back(colours.subspan(count));
  }
  std::vector<Rgb8> palette;
  for (const ColourBox& box : boxes) palette.push_back(box.colour());
  return palette;
}

NearestColours::NearestColours(std::vector<Rgb8> palette)
    : palette_(std::move(palette)), nearest_(std::size_t{1} << 24U, kUnknown) {}

std::uint8_t NearestColours::find(const Rgb8& colour) {
  std::uint16_t& known = nearest_[ColourCounts::code_of(colour)];
  if (known != kUnknown) return static_cast<std::uint8_t>(known);
  int best = 1 << 30;
  for (std::size_t k = 0; k < palette_.size(); ++k) {
    int off = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const int d = int{palette_[k][i]} - int{colour[i]};
      off += d * d;
    }
    if (off < best) best = off, known = static_cast<std::uint16_t>(k);
  }
  return static_cast<std::uint8_t>(known);
}

}  // namespace isotact::tool

#include "picture/animation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "isotact/base/error.h"

#include "picture/gif.h"

namespace isotact::tool {
namespace {

constexpr std::size_t kSignature = 8;  // bytes at the start of a PNG

std::uint32_t read_u32(std::span<const std::byte> bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value = value << 8U | std::to_integer<std::uint32_t>(bytes[i]);
  return value;
}

// The check sum of a chunk: CRC-32 of ISO 3309, as PNG has it.
std::uint32_t compute_crc(std::span<const std::byte> bytes) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> t{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      t[i] = i;
      for (int k = 0; k < 8; ++k) t[i] = t[i] & 1U ? 0xedb88320U ^ (t[i] >> 1U) : t[i] >> 1U;
    }
    return t;
  }();
  std::uint32_t crc = 0xffffffffU;
  for (const std::byte b : bytes)
    crc = table[(crc ^ std::to_integer<std::uint32_t>(b)) & 255U] ^ (crc >> 8U);
  return ~crc;
}

class Chunks {
 public:
  void u32(std::uint32_t value) {
    for (const unsigned shift : {24U, 16U, 8U, 0U}) u8(value >> shift);
  }
  void u16(std::uint32_t value) {
    u8(value >> 8U);
    u8(value);
  }
  void u8(std::uint32_t value) { bytes.push_back(static_cast<std::byte>(value & 255U)); }
  void append(std::span<const std::byte> more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
  }

  // Opens a chunk; `close` fills in its length and its check sum.
  void open(std::string_view type) {
    begin_ = bytes.size();
    u32(0);
    append(std::as_bytes(std::span(type)));
  }
  void close() {
    const std::size_t length = bytes.size() - begin_ - 8;
    for (unsigned i = 0; i < 4; ++i)
      bytes[begin_ + i] = static_cast<std::byte>((length >> (24U - 8U * i)) & 255U);
    u32(compute_crc(std::span<const std::byte>(bytes).subspan(begin_ + 4)));
  }

  std::vector<std::byte> bytes;

 private:
  std::size_t begin_ = 0;
};

// All data of a PNG's image, out of its chunks.
std::vector<std::byte> find_data(std::span<const std::byte> png) {
  std::vector<std::byte> data;
  for (std::size_t at = kSignature; at + 12 <= png.size();) {
    const std::size_t length = read_u32(png.subspan(at));
    if (length > png.size() - at - 12) break;
    if (std::memcmp(png.data() + at + 4, "IDAT", 4) == 0) {
      const auto part = png.subspan(at + 8, length);
      data.insert(data.end(), part.begin(), part.end());
    }
    at += 12 + length;
  }
  return data;
}

}  // namespace

PngAnimation::PngAnimation(double frames_per_second)
    : rate_(std::clamp(frames_per_second, 1.0, 100.0)) {}

void PngAnimation::add(const Picture& picture) {
  if (frames_.empty()) {
    width_ = picture.width;
    height_ = picture.height;
  }
  if (picture.width != width_ || picture.height != height_)
    throw Error("the pictures of an animation must have one size");
  frames_.push_back(find_data(encode_png(picture)));
}

std::vector<std::byte> PngAnimation::encode() const {
  if (frames_.empty()) throw Error("an animation needs a picture");
  constexpr unsigned char kMagic[kSignature] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  const auto width = static_cast<std::uint32_t>(width_),
             height = static_cast<std::uint32_t>(height_);
  Chunks out;
  out.append(std::as_bytes(std::span(kMagic)));
  out.open("IHDR");
  out.u32(width);
  out.u32(height);
  for (const std::uint32_t b : {8U, 2U, 0U, 0U, 0U}) out.u8(b);  // 8 bits, RGB, not interlaced
  out.close();
  out.open("sRGB");
  out.u8(0);
  out.close();
  out.open("acTL");
  out.u32(static_cast<std::uint32_t>(frames_.size()));
  out.u32(0);  // for ever
  out.close();
  std::uint32_t sequence = 0;
  for (std::size_t k = 0; k < frames_.size(); ++k) {
    out.open("fcTL");
    out.u32(sequence++);
    out.u32(width);
    out.u32(height);
    out.u32(0);
    out.u32(0);
    out.u16(static_cast<std::uint32_t>(std::lround(1000 / rate_)));  // milliseconds
    out.u16(1000);
    out.u8(0);  // frames replace each other
    out.u8(0);
    out.close();
    out.open(k == 0 ? "IDAT" : "fdAT");
    if (k > 0) out.u32(sequence++);
    out.append(frames_[k]);
    out.close();
  }
  out.open("IEND");
  out.close();
  return std::move(out.bytes);
}

std::unique_ptr<Animation> make_animation(std::string_view extension, double frames_per_second) {
  if (extension == ".png") return std::make_unique<PngAnimation>(frames_per_second);
  if (extension == ".gif")
    return std::make_unique<GifAnimation>(GifSettings{.frames_per_second = frames_per_second});
  return nullptr;
}

}  // namespace isotact::tool

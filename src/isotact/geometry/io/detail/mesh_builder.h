// The builder that every mesh reader fills: positions, triangles and polygons of any size, in
// memory for the mesh itself. Readers check every index before they hand it over.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "isotact/base/progress.h"
#include "isotact/geometry/mesh/mesh.h"

namespace isotact::detail {

// An array whose final size is not known while it grows. It grows by blocks instead of doubling
// one, so that it never needs more than its contents and one block, also while it becomes a vector.

template <typename T>
class GrowingArray {
 public:
  // Where the final size is known: take() then moves instead of copying. Does nothing after the
  // first values, or another call: only the last block may have free places.
  void expect(std::size_t count) {
    if (count > 0 && blocks_.empty()) add_block(count);
  }
  void push_back(const T& value) {
    if (free_ == 0) add_block(next_block_size());
    blocks_.back().push_back(value);
    --free_;
  }
  void append(std::span<const T> values) {
    while (!values.empty()) {
      if (free_ == 0) add_block(next_block_size());
      const std::size_t count = std::min(free_, values.size());
      blocks_.back().insert(blocks_.back().end(), values.begin(),
                            values.begin() + static_cast<std::ptrdiff_t>(count));
      free_ -= count;
      values = values.subspan(count);
    }
  }
  std::size_t size() const { return capacity_ - free_; }

  // The contents, in a vector without slack; leaves this empty.
  std::vector<T> take() {
    std::vector<T> all;
    if (blocks_.size() == 1 && free_ == 0) {
      all = std::move(blocks_.front());
    } else {
      all.reserve(size());
      for (std::vector<T>& block : blocks_) {
        all.insert(all.end(), block.begin(), block.end());
        std::vector<T>().swap(block);
      }
    }
    *this = {};
    return all;
  }

 private:
  static constexpr std::size_t kSmallestBlock = 64;
  static constexpr std::size_t kLargestBlock = (std::size_t{1} << 20U) / sizeof(T);

  std::size_t next_block_size() const {
    return std::clamp(capacity_, kSmallestBlock, kLargestBlock);
  }
  void add_block(std::size_t count) {
    blocks_.emplace_back().reserve(count);
    free_ = count;
    capacity_ += count;
  }

  std::vector<std::vector<T>> blocks_;
  std::size_t capacity_ = 0;
  std::size_t free_ = 0;  // places left in the last block
};

// Things that a reader found odd and passed over: one warning however many there were.
class Oddity {
 public:
  explicit Oddity(std::string_view text) : text_(text) {}
  void note(std::uint64_t place) {
    if (count_++ == 0) first_ = place;
  }
  std::uint64_t count() const { return count_; }
  // "faces passed over: 12 (the first: line 7)", or nothing where none was noted.
  void report_to(std::vector<std::string>& warnings, std::string_view place = "line") const;

 private:
  std::string_view text_;
  std::uint64_t count_ = 0;
  std::uint64_t first_ = 0;
};

class MeshBuilder {
 public:
  static constexpr std::uint64_t kMaxPositions = 0xFFFFFFFFU;  // what 32-bit indices can name

  std::vector<std::string> warnings;

  // Where the file tells the counts and is long enough for them; only the first call counts, and
  // only before anything was added.
  void expect_positions(std::size_t count) { positions_.expect(count); }
  void expect_triangles(std::size_t count) { triangles_.expect(count); }

  std::uint64_t position_count() const { return positions_.size(); }
  std::uint64_t triangle_count() const { return triangles_.size(); }

  void add_position(const Vec3f& position) { positions_.push_back(position); }
  void add_positions(std::span<const Vec3f> positions) { positions_.append(positions); }
  void add_triangle(const Triangle& triangle) { triangles_.push_back(triangle); }
  void add_triangles(std::span<const Triangle> triangles) { triangles_.append(triangles); }

  // A polygon comes corner by corner, so that its size costs nothing but its triangles.
  void begin_polygon() { corner_count_ = 0; }
  void add_corner(std::uint32_t index) {
    if (corner_count_ == 0) first_corner_ = index;
    if (corner_count_ >= 2) triangles_.push_back({first_corner_, last_corner_, index});
    last_corner_ = index;
    ++corner_count_;
  }
  // Returns false where there were fewer than three corners, and hence nothing was added.
  bool end_polygon() {
    if (corner_count_ > 3)
      polygons_.push_back({triangles_.size() - (corner_count_ - 2), corner_count_ - 2});
    return corner_count_ >= 3;
  }

  // Cuts the polygons and scales the positions; warns about what is not finite or missing.
  TriangleMesh finish(double scale, const Monitor& monitor);

 private:
  // Kept as the fan from its first corner until all positions are there.
  struct Polygon {
    std::uint64_t first_triangle = 0;
    std::uint64_t triangle_count = 0;
  };

  void cut_polygons(TriangleMesh& mesh, const Monitor& monitor);

  GrowingArray<Vec3f> positions_;
  GrowingArray<Triangle> triangles_;
  GrowingArray<Polygon> polygons_;
  std::uint64_t corner_count_ = 0;
  std::uint32_t first_corner_ = 0;
  std::uint32_t last_corner_ = 0;
};

}  // namespace isotact::detail

#include "isotact/field/io/sdf_export.h"

#include <cmath>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/file.h"
#include "isotact/base/random.h"

#include "support/scratch_folder.h"

namespace isotact {
namespace {

const Lattice kSdfLattice{.origin = {-0.1, 1.0 / 3, 2}, .spacing = 0.07, .cells = {3, 4, 5}};

// Distance to the origin less one: enough of a field for the writers.
struct UnitBall {
  double value(const Vec3& p) const { return length(p) - 1; }
  FieldSample sample(const Vec3& p) const { return {value(p), p / length(p)}; }
  Aabb bounds() const { return {{-1, -1, -1}, {1, 1, 1}}; }
  double lipschitz() const { return 1; }
  Interval range(const Aabb&) const { return {-1, 1e9}; }
  Interval distance_bounds(const Vec3& p) const { return {value(p), value(p)}; }
};
static_assert(Field<UnitBall>);

std::string text_of(const std::filesystem::path& path) {
  const std::vector<std::byte> bytes = read_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string sdf_error(std::string_view text) {
  try {
    read_sdf_text(std::as_bytes(std::span(text)), "a.sdf");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(SdfExport, TextComesBackInTheSameBits) {
  const ScratchFolder folder;
  const auto path = folder.path() / "ball.sdf";
  write_sdf_text(path, UnitBall{}, kSdfLattice);
  const LatticeSamples read = read_sdf_text(path);
  EXPECT_EQ(read.lattice, kSdfLattice);
  ASSERT_EQ(read.values.size(), 4U * 5 * 6);
  for (std::int32_t k = 0; k <= 5; ++k)
    for (std::int32_t j = 0; j <= 4; ++j)
      for (std::int32_t i = 0; i <= 3; ++i)
        EXPECT_EQ(read.values[flat_index(node_counts(kSdfLattice), i, j, k)],
                  static_cast<float>(UnitBall{}.value(node_position(kSdfLattice, i, j, k))));
  const std::string text = text_of(path);
  EXPECT_EQ(text.substr(0, text.find('\n')), "4 5 6");
}

TEST(SdfExport, AnyFloatComesBack) {
  const ScratchFolder folder;
  const auto path = folder.path() / "any.sdf";
  const Lattice lattice{.origin = {1e-300, -1e300, 0}, .spacing = 1e-9, .cells = {9, 9, 9}};
  std::vector<float> values;
  Random random(7);
  while (values.size() < 1000) {
    const std::uint32_t bits = random.next_u32();
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    if (std::isfinite(value)) values.push_back(value);
  }
  write_sdf_text(path, lattice, [&](std::int32_t k, std::span<float> layer) {
    std::copy_n(values.begin() + 100 * k, 100, layer.begin());
  });
  const LatticeSamples read = read_sdf_text(path);
  EXPECT_EQ(read.lattice, lattice);
  ASSERT_EQ(read.values.size(), values.size());
  EXPECT_EQ(std::memcmp(read.values.data(), values.data(), 4000), 0);
}

TEST(SdfExport, ImageDataHoldsTheValuesBehindItsHeader) {
  const ScratchFolder folder;
  const auto path = folder.path() / "ball.vti";
  write_vti(path, UnitBall{}, kSdfLattice, {.count = 2});
  const std::string text = text_of(path);
  EXPECT_NE(text.find("WholeExtent=\"0 3 0 4 0 5\""), std::string::npos);
  EXPECT_NE(text.find("Spacing=\"0.07 0.07 0.07\""), std::string::npos);
  const std::size_t data = text.find("\n_") + 2;
  std::uint64_t size = 0;
  std::memcpy(&size, text.data() + data, sizeof size);
  EXPECT_EQ(size, 4U * 5 * 6 * 4);
  float last = 0;
  std::memcpy(&last, text.data() + data + 8 + size - 4, sizeof last);
  EXPECT_EQ(last, static_cast<float>(UnitBall{}.value(node_position(kSdfLattice, 3, 4, 5))));
  EXPECT_EQ(text.substr(data + 8 + size), "\n  </AppendedData>\n</VTKFile>\n");
}

TEST(SdfExport, RefusesALatticeWithoutCells) {
  const ScratchFolder folder;
  EXPECT_THROW(write_vti(folder.path() / "a.vti", UnitBall{}, Lattice{}), Error);
  EXPECT_THROW(write_sdf_text(folder.path() / "a.sdf", UnitBall{}, Lattice{}), Error);
}

TEST(SdfImport, ReadsAnyBlanksBetweenNumbers) {
  const std::string text = "2 2 2\r\n0 0\t0 0.5 1 2 3 4 +5 6e0\n\n\n-7 1e-60";
  const LatticeSamples read = read_sdf_text(std::as_bytes(std::span(text)), "");
  EXPECT_EQ(read.values, (std::vector<float>{1, 2, 3, 4, 5, 6, -7, 0}));
}

TEST(SdfImport, ReadsNumbersAcrossItsWindow) {
  std::string text = "20 30 40\n0 0 0\n1\n";
  for (int i = 0; i < 24000; ++i) text += std::to_string(i) + ".25\n";
  ASSERT_GT(text.size(), 3U * 65536);
  const LatticeSamples read = read_sdf_text(std::as_bytes(std::span(text)), "");
  for (std::size_t i = 0; i < 24000; ++i) ASSERT_EQ(read.values[i], static_cast<float>(i) + 0.25F);
}

TEST(SdfImport, ErrorsNameTheLine) {
  EXPECT_EQ(sdf_error(""),
            "a.sdf:1: the file ends where the number of samples along an axis was expected");
  EXPECT_EQ(sdf_error("2 2\n1\n"), "a.sdf:2: 1 samples along an axis; at least 2 are needed");
  EXPECT_EQ(sdf_error("2 2 2\n0 0 nan\n"), "a.sdf:2: a coordinate of the origin is not finite");
  EXPECT_EQ(sdf_error("2 2 2\n0 0 0\n-1\n"), "a.sdf:3: the spacing is not positive");
  EXPECT_EQ(sdf_error("2 2 2\n0 0 0\n1\n1 2 3 x4 5 6 7 8"),
            "a.sdf:4: expected a value, found 'x4'");
  EXPECT_EQ(sdf_error("2 2 2\n0 0 0\n1\n1 2 3 1e60 5 6 7 8"),
            "a.sdf:4: expected a value, found '1e60'");
  EXPECT_EQ(sdf_error("2 2 2\n0 0 0\n1\n1 2 3 4 5 6 7\n"),
            "a.sdf:5: the file ends where a value was expected");
  EXPECT_EQ(sdf_error("2 2 2\n0 0 0\n1\n1 2 3 4 5 6 7 8 9"), "a.sdf:4: more than 8 values");
}

TEST(SdfImport, AllocatesNothingOnTheWordOfAFile) {
  EXPECT_NE(sdf_error("100000 100000 100000\n0 0 0\n1\n1 2 3").find("do not fit"),
            std::string::npos);
  EXPECT_NE(sdf_error("2000000000 2000000000 2000000000\n0 0 0\n1\n").find("too many"),
            std::string::npos);
  EXPECT_NE(sdf_error("99999999999999999999 2 2\n").find("expected"), std::string::npos);
  EXPECT_NE(sdf_error(std::string(100000, '1')).find("too long"), std::string::npos);
}

}  // namespace
}  // namespace isotact

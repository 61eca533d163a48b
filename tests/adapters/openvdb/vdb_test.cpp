#include "isotact/adapters/openvdb/vdb.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/base/file.h"

#include "support/ball_brick_field.h"
#include "support/scratch_folder.h"

namespace isotact {
namespace {

struct Format {
  const char* extension;
  void (*write)(const std::filesystem::path&, const SparseLevelSet&);
  SparseLevelSet (*read)(const std::filesystem::path&, const VdbReadSettings&);
};

std::vector<Format> formats() {
  std::vector<Format> all = {{".vdb", write_vdb, read_vdb}};
  if (has_nanovdb()) all.push_back({".nvdb", write_nvdb, read_nvdb});
  return all;
}

const BrickField& ball() {
  static const BrickField field = test::make_ball_field(10);
  return field;
}

std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Vdb, NodeValuesComeBackInTheSameBits) {
  const ScratchFolder folder;
  const SparseLevelSet written = to_level_set(ball());
  const LevelSetField before(written);
  for (const Format& format : formats()) {
    const auto path = folder.path() / (std::string("ball") + format.extension);
    format.write(path, written);
    const LevelSetField after(format.read(path, {}));
    const Lattice& lattice = after.level_set().lattice;
    EXPECT_EQ(after.level_set().background, written.background);
    EXPECT_NEAR(lattice.spacing, written.lattice.spacing, 1e-12);
    // The lattice may begin later, by whole leaves.
    Index3 shift;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double cells =
          (lattice.origin[axis] - written.lattice.origin[axis]) / written.lattice.spacing;
      shift[axis] = static_cast<std::int32_t>(std::lround(cells));
      EXPECT_NEAR(cells, shift[axis], 1e-9);
      EXPECT_EQ(shift[axis] % 8, 0);
    }
    const Index3 nodes = node_counts(written.lattice);
    std::size_t active = 0, inside = 0;
    for (std::int32_t k = 0; k < nodes[2]; ++k)
      for (std::int32_t j = 0; j < nodes[1]; ++j)
        for (std::int32_t i = 0; i < nodes[0]; ++i) {
          const Index3 at{i - shift[0], j - shift[1], k - shift[2]};
          bool is_there = true;
          for (std::size_t axis = 0; axis < 3; ++axis)
            is_there = is_there && at[axis] >= 0 && at[axis] <= lattice.cells[axis];
          ASSERT_TRUE(is_there || !before.is_active(i, j, k));
          if (!is_there) continue;
          ASSERT_EQ(after.is_active(at[0], at[1], at[2]), before.is_active(i, j, k));
          ASSERT_EQ(after.node_value(at[0], at[1], at[2]), before.node_value(i, j, k));
          active += before.is_active(i, j, k) ? 1U : 0U;
          inside += !before.is_active(i, j, k) && before.node_value(i, j, k) < 0 ? 1U : 0U;
        }
    EXPECT_GT(active, ball().bricks().size() * 512);
    EXPECT_GT(inside, 1000U);
  }
}

TEST(Vdb, ASecondTripChangesNothing) {
  const ScratchFolder folder;
  for (const Format& format : formats()) {
    const auto path = folder.path() / (std::string("ball") + format.extension);
    format.write(path, to_level_set(ball()));
    const SparseLevelSet once = format.read(path, {});
    format.write(path, once);
    const SparseLevelSet twice = format.read(path, {.grid = "distance"});
    EXPECT_EQ(once.blocks, twice.blocks);
    EXPECT_TRUE(once.leaves == twice.leaves);
    EXPECT_EQ(once.lattice.cells, twice.lattice.cells);
  }
}

TEST(Vdb, BothFormatsHoldTheSame) {
  if (!has_nanovdb()) GTEST_SKIP() << "NanoVDB is not built in";
  const ScratchFolder folder;
  write_vdb(folder.path() / "a.vdb", to_level_set(ball()));
  write_nvdb(folder.path() / "a.nvdb", to_level_set(ball()));
  write_nvdb(folder.path() / "b.nvdb", to_level_set(ball()));
  const SparseLevelSet open = read_vdb(folder.path() / "a.vdb");
  const SparseLevelSet nano = read_nvdb(folder.path() / "a.nvdb");
  EXPECT_EQ(open.blocks, nano.blocks);
  EXPECT_TRUE(open.leaves == nano.leaves);
  EXPECT_EQ(read_file(folder.path() / "a.nvdb"), read_file(folder.path() / "b.nvdb"));
}

TEST(Vdb, ErrorsNameTheFile) {
  const ScratchFolder folder;
  for (const Format& format : formats()) {
    const auto path = folder.path() / (std::string("a") + format.extension);
    const auto name = path.string();
    EXPECT_EQ(error_of([&] { format.read(path, {}); }).find(name), 0U);
    write_file(path, "rubbish that is no grid at all");
    EXPECT_EQ(error_of([&] { format.read(path, {}); }).find(name), 0U);
    write_file(path, "");
    EXPECT_EQ(error_of([&] { format.read(path, {}); }).find(name), 0U);
    format.write(path, to_level_set(ball()));
    const std::string error = error_of([&] { format.read(path, {.grid = "density"}); });
    EXPECT_NE(error.find("no grid of floats named 'density'"), std::string::npos) << error;
    const auto nowhere = folder.path() / "no" / "folder.vdb";
    EXPECT_EQ(error_of([&] { format.write(nowhere, to_level_set(ball())); }).find(nowhere.string()),
              0U);
    EXPECT_NE(error_of([&] { format.write(path, SparseLevelSet{}); }), "");
  }
}

TEST(Vdb, CutFilesAreErrors) {
  const ScratchFolder folder;
  const SparseLevelSet level_set = to_level_set(test::make_ball_field(3));
  for (const Format& format : formats()) {
    const auto path = folder.path() / (std::string("a") + format.extension);
    format.write(path, level_set);
    const std::vector<std::byte> bytes = read_file(path);
    // Everywhere in the header, then here and there; the last lacks a byte.
    for (std::size_t size = 0; size < bytes.size();) {
      write_file(path, std::span(bytes).first(size));
      const std::string error = error_of([&] { format.read(path, {}); });
      EXPECT_EQ(error.find(path.string()), 0U) << format.extension << " " << size;
      // Less than the magic number could be anything; before OpenVDB asks for memory, we refuse.
      if (size >= 8) {
        EXPECT_NE(error.find("it was cut"), std::string::npos) << size << ": " << error;
      }
      size = size == bytes.size() - 1
                 ? bytes.size()
                 : std::min(size + (size < 400 ? 7 : bytes.size() / 16), bytes.size() - 1);
    }
  }
}

TEST(Vdb, DamagedNanoFilesAreErrors) {
  if (!has_nanovdb()) GTEST_SKIP() << "NanoVDB is not built in";
  const ScratchFolder folder;
  const auto path = folder.path() / "a.nvdb";
  write_nvdb(path, to_level_set(test::make_ball_field(2)));
  const std::vector<std::byte> right = read_file(path);
  std::vector<std::byte> wrong = right;
  std::size_t refused = 0, tried = 0;
  for (std::size_t i = 0; i < right.size(); i += right.size() / 200, ++tried) {
    wrong[i] = ~right[i];
    write_file(path, wrong);
    refused += error_of([&] { read_nvdb(path); }).empty() ? 0U : 1U;
    wrong[i] = right[i];
  }
  // Their checksum leaves out padding and statistics of the file's header.
  EXPECT_GT(refused, tried * 3 / 4) << tried;
}

}  // namespace
}  // namespace isotact

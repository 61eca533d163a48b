#include "isotact/base/file.h"

#include <fstream>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "isotact/base/error.h"
#include "isotact/base/hash.h"

#include "support/scratch_folder.h"

namespace isotact {
namespace {

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string message_of(const std::filesystem::path& path) {
  try {
    read_file(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(File, RoundTripsBytes) {
  const ScratchFolder folder;
  const auto path = folder.path() / "a.bin";
  for (const std::size_t size : {0U, 1U, 65536U, 200'000U}) {
    const std::string text(size, 'x');
    write_file(path, text);
    EXPECT_EQ(text_of(read_file(path)), text);
    EXPECT_EQ(text_of(MappedFile(path).bytes()), text);
  }
}

TEST(File, ErrorsNameTheFileAndTheReason) {
  const ScratchFolder folder;
  EXPECT_EQ(message_of(folder.path()),
            folder.path().string() + ": is a directory; a file was expected");
  const std::string missing = (folder.path() / "missing").string();
  EXPECT_EQ(message_of(missing), missing + ": cannot open: No such file or directory");
  EXPECT_THROW(MappedFile{folder.path()}, Error);
  EXPECT_THROW(write_file(folder.path(), "x"), Error);
  EXPECT_THROW(write_file(folder.path() / "no" / "such" / "folder", "x"), Error);
}

TEST(File, RefusesMoreThanTheLimit) {
  const ScratchFolder folder;
  const auto path = folder.path() / "big";
  write_file(path, std::string(1000, 'x'));
  EXPECT_THROW(read_file(path, 999), Error);
  EXPECT_EQ(read_file(path, 1000).size(), 1000U);
}

TEST(File, ReadsPipes) {
  const ScratchFolder folder;
  const auto path = folder.path() / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(path) << std::string(150'000, 'p'); });
  const auto bytes = read_file(path);
  writer.join();
  EXPECT_EQ(text_of(bytes), std::string(150'000, 'p'));
}

TEST(File, WritingThroughALinkKeepsTheLink) {
  const ScratchFolder folder;
  const auto target = folder.path() / "target", link = folder.path() / "link";
  write_file(target, "old");
  std::filesystem::create_symlink(target, link);
  write_file(link, "new");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(text_of(read_file(target)), "new");
}

TEST(File, LinksToNowhereAreFollowedAndLoopsAreErrors) {
  const ScratchFolder folder;
  const auto target = folder.path() / "later", link = folder.path() / "link";
  std::filesystem::create_symlink("later", link);
  write_file(link, "new");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(text_of(read_file(target)), "new");
  const auto loop = folder.path() / "loop";
  std::filesystem::create_symlink("loop", loop);
  EXPECT_THROW(write_file(loop, "x"), Error);
}

// Two writers once shared a temporary file and failed each other.
TEST(File, ManyThreadsMayWriteOnePath) {
  const ScratchFolder folder;
  const auto path = folder.path() / "shared";
  std::vector<std::thread> writers;
  for (char c = 'a'; c < 'e'; ++c)
    writers.emplace_back([&, c] {
      for (int i = 0; i < 50; ++i) EXPECT_NO_THROW(write_file(path, std::string(1000, c)));
    });
  for (std::thread& writer : writers) writer.join();
  const std::string text = text_of(read_file(path));
  EXPECT_EQ(text, std::string(1000, text.at(0)));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(File, AFailedWriteLeavesNothingBehind) {
  const ScratchFolder folder;
  const auto path = folder.path() / "sub";
  std::filesystem::create_directory(path);
  EXPECT_THROW(write_file(path, "x"), Error);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  EXPECT_THROW(write_file("/dev/full", "x"), Error);
}

// Golden: the reference value of XXH3 for these bytes.
TEST(Hash, IsXxh3) {
  EXPECT_EQ(hash_bytes({}), 0x2d06800538d394c2U);
  const std::array<std::uint8_t, 3> bytes{'a', 'b', 'c'};
  EXPECT_EQ(hash_range(bytes), 0x78af5f94892f3950U);
  EXPECT_NE(hash_range(bytes, 1), hash_range(bytes));
}

}  // namespace
}  // namespace isotact

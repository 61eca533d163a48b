// Which files a .gltf may name, and how.
#include <filesystem>

#include <gtest/gtest.h>
#include <unistd.h>

#include "isotact/base/file.h"
#include "isotact/geometry/io/gltf.h"

#include "geometry/io/gltf_asset.h"

namespace isotact {
namespace {

namespace fs = std::filesystem;

// outside/secret.bin beside model/: tetra.bin, "a b.bin", sub/deep.bin, and links.
class GltfFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string test = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    root_ = fs::temp_directory_path() / ("isotact_gltf_" + test + std::to_string(::getpid()));
    fs::create_directories(root_ / "model/sub");
    fs::create_directories(root_ / "outside");
    const Bytes bytes = tetra_bytes();
    for (const std::string name :
         {"model/tetra.bin", "model/a b.bin", "model/sub/deep.bin", "outside/secret.bin"})
      write_file(root_ / name, bytes);
    write_file(root_ / "model/short.bin", std::span(bytes).first(71));
    fs::create_symlink("tetra.bin", root_ / "model/inside_link.bin");
    fs::create_symlink("../outside/secret.bin", root_ / "model/escape.bin");
    fs::create_directory_symlink("../outside", root_ / "model/escape_folder");
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string text(const std::string& uri) const {
    return json_of({.buffers = R"([{"byteLength":72,"uri":")" + uri + R"("}])"});
  }
  LoadedMesh read(const std::string& uri, bool may_read_siblings = true) const {
    const std::string json = text(uri);
    return read_gltf(std::as_bytes(std::span(json)), root_ / "model/test.gltf", may_read_siblings,
                     {});
  }
  void expect_refused(const std::string& uri, const std::string& reason) const {
    const std::string message = error_of([&] { read(uri); });
    EXPECT_NE(message.find("test.gltf: /buffers/0/"), std::string::npos) << uri << ": " << message;
    EXPECT_NE(message.find(reason), std::string::npos) << uri << ": " << message;
  }

  fs::path root_;
};

TEST_F(GltfFiles, FilesOfTheOwnFolderAreRead) {
  for (const std::string uri :
       {"tetra.bin", "./tetra.bin", "a%20b.bin", "a b.bin", "sub/deep.bin", "sub/../tetra.bin",
        "%74etra.bin", "\\u0074etra.bin", "inside_link.bin"})
    EXPECT_EQ(read(uri).mesh.triangles.size(), 4U) << uri;
}

TEST_F(GltfFiles, FilesElsewhereAreRefused) {
  expect_refused("../outside/secret.bin", "leaves it by \"..\"");
  expect_refused("sub/../../outside/secret.bin", "leaves it by \"..\"");
  expect_refused("%2e%2e/outside/secret.bin", "leaves it by \"..\"");
  expect_refused("..%2Foutside%2Fsecret.bin", "leaves it by \"..\"");
  expect_refused((root_ / "outside/secret.bin").string(), "is an absolute path");
  expect_refused("//host/secret.bin", "is an absolute path");
  expect_refused("%2Fetc%2Fpasswd", "is an absolute path");
  expect_refused("file://" + (root_ / "model/tetra.bin").string(), "has a scheme");
  expect_refused("http://example.com/tetra.bin", "has a scheme");
  expect_refused("escape.bin", "is a link that leaves the folder");
  expect_refused("escape_folder/secret.bin", "is a link that leaves the folder");
}

TEST_F(GltfFiles, WhatIsNoWholeFileIsRefused) {
  expect_refused("", "names no file");
  expect_refused("missing.bin", "No such file");
  expect_refused("sub", "is not a file");
  expect_refused("short.bin", "promises 72 bytes, but there are 71");
  expect_refused("a%2", "'%' without two hexadecimal digits");
  expect_refused("a%zz", "'%' without two hexadecimal digits");
  expect_refused("tetra.bin%00.png", "contains a NUL");
}

TEST_F(GltfFiles, NoOtherFileIsReadWithoutLeave) {
  const std::string message = error_of([&] { read("tetra.bin", false); });
  EXPECT_NE(message.find("only buffers within the glTF may be read here"), std::string::npos)
      << message;
}

}  // namespace
}  // namespace isotact

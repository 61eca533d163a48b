// Recognition, files, pipes, writing, and input that is broken in every place.
#include "isotact/geometry/io/mesh_io.h"

#include <filesystem>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "isotact/base/file.h"
#include "isotact/base/random.h"
#include "isotact/geometry/io/detail/mesh_builder.h"

#include "geometry/io/reading.h"

namespace isotact {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::joined;
using test::read;
using test::tetrahedron;

class MeshFile : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path path(const std::string& name) const { return folder_ / name; }
  static std::string error_of_file(const fs::path& file) {
    try {
      read_mesh(file);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

 private:
  fs::path folder_ =
      fs::temp_directory_path() / ("isotact-" + std::to_string(::getpid()) + "-" +
                                   testing::UnitTest::GetInstance()->current_test_info()->name());
};

// Many floats of all sizes, so that digits matter.
TriangleMesh random_mesh(std::uint64_t seed, std::uint32_t vertices, std::uint32_t triangles) {
  Random random(seed);
  TriangleMesh mesh;
  while (mesh.positions.size() < vertices) {
    const auto p = to_float(random.in_box({-1e3, -1, -1e-6}, {1e3, 1, 1e-6}));
    mesh.positions.push_back(p);
  }
  for (std::uint32_t i = 0; i < triangles; ++i)
    mesh.triangles.push_back(
        {random.below(vertices), random.below(vertices), random.below(vertices)});
  return mesh;
}

std::string encode_off(const TriangleMesh& mesh) {
  std::string text = "OFF\n" + std::to_string(mesh.positions.size()) + " " +
                     std::to_string(mesh.triangles.size()) + " 0\n";
  for (const Vec3f& p : mesh.positions)
    text += std::to_string(p.x) + " " + std::to_string(p.y) + " " + std::to_string(p.z) + "\n";
  for (const Triangle& t : mesh.triangles)
    text += "3 " + std::to_string(t[0]) + " " + std::to_string(t[1]) + " " + std::to_string(t[2]) +
            "\n";
  return text;
}

TEST(RecogniseMesh, GoesByContentAndMentionsAWrongName) {
  const TriangleMesh& mesh = tetrahedron();
  const std::vector<std::pair<MeshFormat, std::string>> files = {
      {MeshFormat::kObj, encode_obj(mesh)},      {MeshFormat::kStl, encode_stl(mesh)},
      {MeshFormat::kStl, encode_stl_text(mesh)}, {MeshFormat::kPly, encode_ply(mesh)},
      {MeshFormat::kPly, encode_ply_text(mesh)}, {MeshFormat::kOff, encode_off(mesh)}};
  for (const auto& [format, content] : files) {
    for (const std::string extension : {"obj", "STL", "ply", "off", "glb", "gltf", "txt", ""}) {
      const LoadedMesh loaded = read(content, "a." + extension);
      EXPECT_EQ(loaded.format, format) << extension;
      EXPECT_EQ(loaded.mesh.triangles.size(), 4U);
      const bool is_named_right = extension == "txt" || extension.empty() ||
                                  extension == name(format) ||
                                  (extension == "STL" && format == MeshFormat::kStl);
      EXPECT_EQ(loaded.warnings.empty(), is_named_right) << extension << joined(loaded.warnings);
    }
  }
  EXPECT_EQ(joined(read(encode_obj(mesh), "a.ply").warnings),
            "named as ply, but its content is obj\n");
}

TEST(RecogniseMesh, NamesWhatIsNoMesh) {
  const std::string known = "; OBJ, STL, PLY, OFF, glTF and GLB can be read";
  EXPECT_EQ(error_of("", "a.obj"), "a.obj: is empty; a mesh was expected");
  EXPECT_EQ(error_of("\x89PNG\r\n\x1a\n", "a.obj"), "a.obj: is a PNG picture, not a mesh" + known);
  EXPECT_EQ(error_of("\x7F"
                     "ELF\2\1\1",
                     "a.stl"),
            "a.stl: is a program or library (ELF), not a mesh" + known);
  EXPECT_EQ(error_of("<?xml version=\"1.0\"?>\n<COLLADA/>", "a.dae"),
            "a.dae: is XML or HTML (COLLADA and X3D files are XML, too), not a mesh" + known);
  EXPECT_EQ(error_of("\n <html>", "a.obj"),
            "a.obj: is XML or HTML (COLLADA and X3D files are XML, too), not a mesh" + known);
  EXPECT_EQ(error_of("PK\3\4 and so on", "a.3mf"),
            "a.3mf: is a ZIP archive (3MF files are such archives, too), not a mesh" + known);
  EXPECT_EQ(
      error_of("Dear reader,\n", "letter.txt"),
      "letter.txt: is not a mesh that is known here (it begins with 'Dear reader,\\x0a')" + known);
  EXPECT_EQ(error_of("polygon\n", "a.ply"), "a.ply:1: expected 'ply' as the first word");
  EXPECT_NE(error_of("{\"key\": 1}", "a.json").find("is not a mesh"), std::string::npos);
}

TEST(ReadMesh, Scales) {
  const auto mesh = read("v 1 2 3\nv 0.1 0 -8\n", "a.obj", {.scale = 0.001}).mesh;
  EXPECT_EQ(mesh.positions[0], (Vec3f{0.001F, 0.002F, 0.003F}));
  EXPECT_EQ(mesh.positions[1].z, -0.008F);
  for (const double scale : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THROW(read("v 1 2 3\n", "a.obj", {.scale = scale}), Error);
}

TEST(ReadMesh, ReportsProgressAndCanBeCancelled) {
  const std::string text = encode_obj(random_mesh(5, 20000, 20000));
  std::vector<std::uint64_t> done;
  MeshReadSettings settings;
  settings.monitor.on_progress = [&](const ProgressReport& r) {
    EXPECT_EQ(r.task, "reading a.obj");
    EXPECT_EQ(r.total, text.size());
    done.push_back(r.done);
  };
  read(text, "a.obj", settings);
  ASSERT_GT(done.size(), 2U);
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
  EXPECT_EQ(done.back(), text.size());

  CancelToken cancel;
  settings.monitor.cancel = &cancel;
  settings.monitor.on_progress = [&](const ProgressReport& r) {
    if (r.done > text.size() / 2) cancel.cancel();
  };
  EXPECT_THROW(read(text, "a.obj", settings), Cancelled);
}

TEST_F(MeshFile, WrittenIsReadAgainTheSame) {
  const TriangleMesh mesh = random_mesh(1, 3000, 5000);
  for (const bool text : {false, true}) {
    for (const std::string file : {"a.obj", "a.PLY"}) {
      write_mesh(path(file), mesh, {.text = text});
      const LoadedMesh loaded = read_mesh(path(file));
      EXPECT_EQ(loaded.mesh, mesh) << file;
      EXPECT_TRUE(loaded.warnings.empty()) << joined(loaded.warnings);
    }
    write_mesh(path("a.stl"), mesh, {.text = text});
    const TriangleMesh soup = read_mesh(path("a.stl")).mesh;
    ASSERT_EQ(soup.triangles.size(), mesh.triangles.size());
    for (std::size_t i = 0; i < soup.triangles.size(); ++i)
      EXPECT_EQ(corners(soup, i), corners(mesh, i));
  }
  EXPECT_EQ(read(encode_off(mesh), "a.off").mesh.triangles, mesh.triangles);
}

TEST_F(MeshFile, AnEmptyMeshIsWrittenAndReadAgain) {
  for (const std::string file : {"a.obj", "a.ply", "a.stl"}) {
    write_mesh(path(file), {});
    EXPECT_EQ(read_mesh(path(file)).mesh, TriangleMesh{}) << file;
  }
}

TEST_F(MeshFile, WritingRefusesOtherExtensions) {
  EXPECT_THROW(write_mesh(path("a.off"), tetrahedron()), Error);
  EXPECT_THROW(write_mesh(path("a.xyz"), tetrahedron()), Error);
  EXPECT_THROW(write_mesh(path("a"), tetrahedron()), Error);
  EXPECT_TRUE(fs::is_empty(path("")));
}

TEST_F(MeshFile, FilesThatCannotBeReadSayWhy) {
  EXPECT_NE(error_of_file(path("missing.obj")).find("missing.obj: cannot open: No such file"),
            std::string::npos);
  fs::create_directory(path("folder.obj"));
  EXPECT_NE(error_of_file(path("folder.obj")).find("is a directory"), std::string::npos);
  write_file(path("empty.stl"), "");
  EXPECT_NE(error_of_file(path("empty.stl")).find("is empty"), std::string::npos);
  write_file(path("secret.obj"), encode_obj(tetrahedron()));
  fs::permissions(path("secret.obj"), fs::perms::none);
  if (::access(path("secret.obj").c_str(), R_OK) != 0) {  // root may read anything
    EXPECT_NE(error_of_file(path("secret.obj")).find("Permission denied"), std::string::npos);
  }
}

TEST_F(MeshFile, ReadsPipesOfUnknownSize) {
  const TriangleMesh mesh = random_mesh(2, 40000, 80000);
  const auto read_piped = [&](const std::string& content, const std::string& name) {
    const fs::path pipe = path(name);
    EXPECT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    std::thread writer([&] { write_file(pipe, content); });
    TriangleMesh piped = read_mesh(pipe).mesh;
    writer.join();
    fs::remove(pipe);
    return piped;
  };
  for (const std::string& content : {encode_obj(mesh), encode_ply(mesh), encode_ply_text(mesh)})
    EXPECT_EQ(read_piped(content, "pipe"), mesh);
  EXPECT_EQ(read_piped(encode_stl(mesh), "pipe.stl").triangles.size(), mesh.triangles.size());
  // What has no name and no mark of its own is known by its size, where that can be seen, and else
  // by a count and triangles that make sense.
  std::string solid = encode_stl(mesh);
  for (const std::string header : {"solid part", "g part", "Tool"}) {
    solid.replace(0, header.size(), header);
    EXPECT_EQ(read_piped(solid, "pipe").triangles.size(), mesh.triangles.size()) << header;
  }
  EXPECT_EQ(read_piped(encode_stl(tetrahedron()), "pipe").triangles.size(), 4U);
}

// Every prefix of every kind of file: a mesh without flaw, or an Error.
TEST(BadInput, FilesCutAnywhere) {
  const TriangleMesh mesh = random_mesh(3, 5, 4);
  std::string polygons = encode_obj(mesh) + "f 1/2/3 2//4 3/1 4 5\nf -1 -2 \\\n -3\nvn 0 0 1\n";
  std::string utf16 = "\xFF\xFE";
  for (const char c : polygons) utf16 += {c, '\0'};
  const std::vector<std::pair<std::string, std::string>> files = {
      {"a.obj", polygons},          {"a.obj", utf16},
      {"a.stl", encode_stl(mesh)},  {"a.stl", encode_stl_text(mesh)},
      {"a.ply", encode_ply(mesh)},  {"a.ply", encode_ply_text(mesh)},
      {"a.off", encode_off(mesh)},  {"a", encode_ply(mesh)},
      {"a", encode_stl_text(mesh)}, {"a", encode_off(mesh)}};
  int errors = 0, meshes = 0;
  for (const auto& [name, content] : files)
    for (std::size_t size = 0; size <= content.size(); ++size) {
      try {
        EXPECT_FALSE(find_flaw(read(content.substr(0, size), name).mesh));
        ++meshes;
      } catch (const Error&) {
        ++errors;
      }
    }
  EXPECT_GT(errors, 1000);
  EXPECT_GT(meshes, 100);
}

// Bytes changed here and there reach places that random bytes do not.
TEST(BadInput, FilesWithChangedBytes) {
  const TriangleMesh mesh = random_mesh(4, 5, 4);
  const std::vector<std::pair<std::string, std::string>> files = {
      {"a.obj", encode_obj(mesh)},      {"a.stl", encode_stl(mesh)},
      {"a.stl", encode_stl_text(mesh)}, {"a.ply", encode_ply(mesh)},
      {"a.ply", encode_ply_text(mesh)}, {"a.off", encode_off(mesh)}};
  Random random(6);
  int errors = 0, meshes = 0;
  for (const auto& [name, content] : files)
    for (int i = 0; i < 1000; ++i) {
      std::string changed = content;
      for (std::uint32_t k = 1 + random.below(3); k > 0; --k)
        changed[random.below(static_cast<std::uint32_t>(changed.size()))] =
            static_cast<char>(random.below(256));
      try {
        EXPECT_FALSE(find_flaw(read(changed, name).mesh));
        ++meshes;
      } catch (const Error&) {
        ++errors;
      }
    }
  EXPECT_GT(errors, 1000);
  EXPECT_GT(meshes, 500);
}

// Few pass: a single '#' makes a comment of what follows.
TEST(BadInput, RandomBytes) {
  Random random(7);
  int meshes = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string bytes;
    for (std::uint32_t size = 1 + random.below(600); size > 0; --size)
      bytes += static_cast<char>(random.below(256));
    for (const std::string name : {"a.obj", "a.stl", "a.ply", "a.off", "a.glb", "a"}) try {
        EXPECT_TRUE(read(bytes, name).mesh.triangles.empty()) << name;
        ++meshes;
      } catch (const Error&) {
      }
  }
  EXPECT_LT(meshes, 50);
}

TEST(GrowingArray, HoldsWhatWasAddedInAnyWay) {
  for (const std::size_t expected : {0U, 10U, 100U, 1000U, 300000U}) {
    detail::GrowingArray<int> array;
    array.expect(expected);
    std::vector<int> all;
    for (int i = 0; i < 200000; ++i) {
      if (i % 5 == 0) {
        const std::array<int, 7> several = {i, 1, 2, 3, 4, 5, 6};
        array.append(several);
        all.insert(all.end(), several.begin(), several.end());
      } else {
        array.push_back(i);
        all.push_back(i);
      }
    }
    EXPECT_EQ(array.size(), all.size());
    const std::vector<int> taken = array.take();
    EXPECT_EQ(taken, all);
    EXPECT_EQ(taken.capacity(), taken.size());
    EXPECT_EQ(array.size(), 0U);
  }
}

TEST(GrowingArray, ExpectsNothingMoreOnceItHasABlock) {
  detail::GrowingArray<int> array;
  array.expect(3);
  array.expect(1000);
  EXPECT_EQ(array.size(), 0U);
  array.push_back(1);
  array.expect(1000);
  EXPECT_EQ(array.size(), 1U);
  array.append(std::array<int, 4>{2, 3, 4, 5});
  EXPECT_EQ(array.size(), 5U);
  EXPECT_EQ(array.take(), (std::vector<int>{1, 2, 3, 4, 5}));
}

}  // namespace
}  // namespace isotact

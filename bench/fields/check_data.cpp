// Reads every mesh of the data folder and compares its counts with the folder's MANIFEST.md. Prints
// what differs; files that the manifest has no counts for may be read or refused, but not crash.
// Exit 1 where the counts of a valid file differ.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/geometry/io/mesh_io.h"

#include "support/data_folder.h"

namespace {

using isotact::Error;
namespace fs = std::filesystem;

struct Entry {
  std::string file;
  std::string format;  // empty: refused by what wrote the manifest
  std::uint64_t vertices = 0;
  std::uint64_t triangles = 0;
};

std::vector<std::string> split_row(const std::string& row) {
  std::vector<std::string> cells;
  for (std::size_t begin = 1; begin < row.size();) {
    const std::size_t end = std::min(row.find('|', begin), row.size());
    std::string cell = row.substr(begin, end - begin);
    const std::size_t first = cell.find_first_not_of(' ');
    cell = first == std::string::npos ? std::string()
                                      : cell.substr(first, cell.find_last_not_of(' ') - first + 1);
    cells.push_back(std::move(cell));
    begin = end + 1;
  }
  return cells;
}

std::uint64_t to_number(const std::string& text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::vector<Entry> read_manifest(const fs::path& path) {
  std::ifstream in(path);
  if (!in) throw Error({.file = path.string()}, "cannot be read");
  std::vector<Entry> entries;
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("| 0")) continue;
    const std::vector<std::string> cells = split_row(line);
    if (cells.size() < 4) continue;
    entries.push_back({cells[0], cells[1], to_number(cells[2]), to_number(cells[3])});
  }
  return entries;
}

bool is_mesh_name(const fs::path& file) {
  std::string extension = file.extension().string();
  for (char& c : extension) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return extension == ".obj" || extension == ".stl" || extension == ".ply" || extension == ".off" ||
         extension == ".gltf" || extension == ".glb" || extension == ".dae";
}

struct Tally {
  int equal = 0, different = 0, both_refused = 0, only_we_refuse = 0, only_we_read = 0;
};

void check(const fs::path& folder, const Entry& entry, Tally& tally) {
  const bool is_malformed = entry.file.starts_with("07_");
  std::string outcome;
  const auto start = std::chrono::steady_clock::now();
  try {
    const isotact::LoadedMesh loaded = isotact::read_mesh(folder / entry.file);
    const std::size_t vertices = loaded.mesh.positions.size();
    const std::size_t triangles = loaded.mesh.triangles.size();
    if (const auto flaw = find_flaw(loaded.mesh)) throw std::logic_error(*flaw);
    if (entry.format.empty()) {
      ++tally.only_we_read;
      outcome = fmt::format("READ      {}: {} vertices, {} triangles; the manifest has none",
                            entry.file, vertices, triangles);
    } else if (vertices == entry.vertices && triangles == entry.triangles) {
      ++tally.equal;
    } else {
      ++tally.different;
      outcome = fmt::format("DIFFERENT {}: {} vertices, {} triangles; the manifest has {}, {}",
                            entry.file, vertices, triangles, entry.vertices, entry.triangles);
    }
    for (const std::string& warning : loaded.warnings)
      fmt::print("  warning {}: {}\n", entry.file, warning);
  } catch (const Error& error) {
    if (entry.format.empty()) {
      ++tally.both_refused;
      fmt::print("  refused {}\n", error.what());
    } else {
      ++(is_malformed ? tally.only_we_refuse : tally.different);
      outcome = fmt::format("{} {}; the manifest has {} vertices, {} triangles",
                            is_malformed ? "REFUSED  " : "DIFFERENT", error.what(), entry.vertices,
                            entry.triangles);
    }
  }
  if (!outcome.empty()) fmt::print("{}\n", outcome);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  if (taken.count() > 5) fmt::print("SLOW      {}: {:.1f} s\n", entry.file, taken.count());
}

}  // namespace

int main() {
  try {
    if (!isotact::bench::has_data()) {
      fmt::print("data folder not found: nothing to check\n");
      return 0;
    }
    const fs::path folder = isotact::bench::data_folder();
    Tally tally;
    for (const Entry& entry : read_manifest(folder / "MANIFEST.md"))
      if (is_mesh_name(entry.file)) check(folder, entry, tally);
    fmt::print(
        "{} equal, {} different, {} refused by both, {} refused only here, {} read only here\n",
        tally.equal, tally.different, tally.both_refused, tally.only_we_refuse, tally.only_we_read);
    return tally.different == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "check_data: error: {}\n", error.what());
    return 1;
  }
}

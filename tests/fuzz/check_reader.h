// What must hold for any bytes at all: a reader returns a mesh that find_flaw accepts, or throws
// Error; and what it returns does not depend on how much of the file it sees at a time.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>

#include "isotact/base/error.h"
#include "isotact/geometry/io/detail/readers.h"

namespace isotact::fuzz {

struct Outcome {
  LoadedMesh loaded;
  std::string error;
};

template <typename Read>
Outcome outcome_of(const Read& read) {
  Outcome outcome;
  try {
    outcome.loaded = read();
  } catch (const Error& error) {
    outcome.error = error.what();
  }
  return outcome;
}

[[noreturn]] inline void report(const std::string& problem) {
  std::fprintf(stderr, "%s\n", problem.c_str());
  std::abort();
}

// Compares bits: a NaN equals itself.
template <typename T>
bool are_same(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

inline void check_reader(MeshFormat format, const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const std::string name = "fuzz." + std::string(isotact::name(format));
  const Outcome wide = outcome_of([&] { return detail::read_mesh_as(format, bytes, name); });
  const Outcome narrow = outcome_of(
      [&] { return detail::read_mesh_as(format, bytes, name, {}, 2 * detail::Window::kMaxToken); });
  if (const auto flaw = find_flaw(wide.loaded.mesh)) report(*flaw);
  if (wide.error != narrow.error)
    report("a narrow window changes the error: " + wide.error + " / " + narrow.error);
  if (wide.loaded.warnings != narrow.loaded.warnings)
    report("a narrow window changes the warnings");
  if (!are_same(wide.loaded.mesh.positions, narrow.loaded.mesh.positions) ||
      !are_same(wide.loaded.mesh.triangles, narrow.loaded.mesh.triangles))
    report("a narrow window changes the mesh");
  const Outcome recognised = outcome_of([&] { return read_mesh(bytes, name); });
  if (const auto flaw = find_flaw(recognised.loaded.mesh)) report(*flaw);
}

}  // namespace isotact::fuzz

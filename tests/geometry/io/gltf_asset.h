// Small glTF files for tests: a tetrahedron whose parts a test replaces by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isotact/geometry/io/gltf.h"

namespace isotact {

using Bytes = std::vector<std::byte>;

template <typename T>
Bytes raw(std::initializer_list<T> values) {
  Bytes bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.begin(), bytes.size());
  return bytes;
}

inline Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

inline Bytes tetra_bytes() {
  return raw<float>({0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}) +
         raw<std::uint16_t>({0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3});
}

inline std::string base64(const Bytes& bytes) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8U | (i + k < bytes.size() ? std::to_integer<unsigned>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      text += i + k <= bytes.size() ? kLetters[bits >> (18U - 6U * k) & 63U] : '=';
  }
  return text;
}

struct GltfAsset {
  std::string asset = R"({"version":"2.0"})";
  std::string scene_parts = R"("scene":0,"scenes":[{"nodes":[0]}],)";
  std::string nodes = R"([{"mesh":0}])";
  std::string primitives = R"([{"attributes":{"POSITION":0},"indices":1}])";
  std::string accessors = R"([{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3"},)"
                          R"({"bufferView":1,"componentType":5123,"count":12,"type":"SCALAR"}])";
  std::string views =
      R"([{"buffer":0,"byteLength":48},{"buffer":0,"byteOffset":48,"byteLength":24}])";
  std::string buffers = R"([{"byteLength":72}])";
  std::string more{};
  Bytes bytes = tetra_bytes();
};

inline std::string json_of(const GltfAsset& a) {
  return R"({"asset":)" + a.asset + "," + a.scene_parts + R"("nodes":)" + a.nodes +
         R"(,"meshes":[{"primitives":)" + a.primitives + R"(}],"accessors":)" + a.accessors +
         R"(,"bufferViews":)" + a.views + R"(,"buffers":)" + a.buffers + a.more + "}";
}

inline Bytes glb_of(std::string json, Bytes binary) {
  json.resize((json.size() + 3) / 4 * 4, ' ');
  binary.resize((binary.size() + 3) / 4 * 4);
  const auto u32 = [](std::size_t v) {
    return raw<std::uint32_t>({static_cast<std::uint32_t>(v)});
  };
  const std::span<const char> text(json);
  const auto as_bytes = std::as_bytes(text);
  return raw({'g', 'l', 'T', 'F'}) + u32(2) + u32(28 + json.size() + binary.size()) +
         u32(json.size()) + raw({'J', 'S', 'O', 'N'}) + Bytes(as_bytes.begin(), as_bytes.end()) +
         u32(binary.size()) + raw({'B', 'I', 'N', '\0'}) + binary;
}

inline Bytes glb_of(const GltfAsset& asset) { return glb_of(json_of(asset), asset.bytes); }

inline LoadedMesh read_bytes(std::span<const std::byte> bytes, MeshReadSettings settings = {}) {
  return read_gltf(bytes, "test.glb", false, settings);
}

inline LoadedMesh read_text(std::string_view text) {
  return read_bytes(std::as_bytes(std::span(text)));
}

inline LoadedMesh read_asset(const GltfAsset& asset, MeshReadSettings settings = {}) {
  return read_bytes(glb_of(asset), settings);
}

// The Error's message, or "" where there was none.
template <typename Action>
std::string error_of(const Action& action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace isotact

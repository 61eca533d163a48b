#include "isotact/field/io/asset.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/hash.h"
#include "isotact/field/io/detail/dense_section.h"
#include "isotact/field/io/detail/small_sections.h"

namespace isotact {
namespace {

// How one kind of section gets into an Asset and out of it. `take` throws Error where the bytes are
// not what they claim to be, looking at them as closely as `check` says.
struct SectionRules {
  SectionKind kind;
  void (*take)(Asset& asset, const FlatBuffer& buffer, Check check);
  FlatBuffer (*give)(const Asset& asset);  // empty where the asset has no such section
};

FlatBuffer shared(std::vector<std::byte> bytes) {
  auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return {*owner, owner};
}

// For types that are one flat buffer. Adding one: its header above, its std::optional in Asset, and
// its row below.
template <typename T, std::optional<T> Asset::*member>
constexpr SectionRules flat_rules(SectionKind kind) {
  return {kind,
          [](Asset& asset, const FlatBuffer& buffer, Check check) {
            if constexpr (requires { T::from_buffer(buffer.bytes, buffer.owner, check); })
              asset.*member = T::from_buffer(buffer.bytes, buffer.owner, check);
            else  // checks everything always
              asset.*member = T::from_buffer(buffer.bytes, buffer.owner);
          },
          [](const Asset& asset) -> FlatBuffer {
            if (!(asset.*member)) return {};
            return {(asset.*member)->buffer(), nullptr};
          }};
}

void take_voxmap(Asset& asset, const FlatBuffer& buffer, Check) {
  constexpr std::string_view kCompressed = "ISOLAYER";
  const bool is_compressed =
      buffer.bytes.size() >= kCompressed.size() &&
      std::memcmp(buffer.bytes.data(), kCompressed.data(), kCompressed.size()) == 0;
  asset.voxmap = is_compressed ? decompress_layers(buffer.bytes)
                               : Voxmap::from_buffer(buffer.bytes, buffer.owner);
}

FlatBuffer give_voxmap(const Asset& asset) {
  if (!asset.voxmap) return {};
  if (asset.voxmap->encoding() == VoxmapEncoding::kLayers)
    return shared(compress_layers(*asset.voxmap));
  return {asset.voxmap->buffer(), nullptr};
}

constexpr std::array kRules = {
    SectionRules{SectionKind::kSource,
                 [](Asset& asset, const FlatBuffer& buffer, Check) {
                   asset.source = detail::decode_source(buffer.bytes);
                 },
                 [](const Asset& asset) { return shared(detail::encode_source(asset.source)); }},
    SectionRules{SectionKind::kMassProperties,
                 [](Asset& asset, const FlatBuffer& buffer, Check) {
                   asset.mass = detail::decode_mass(buffer.bytes);
                 },
                 [](const Asset& asset) {
                   return asset.mass ? shared(detail::encode_mass(*asset.mass)) : FlatBuffer{};
                 }},
    flat_rules<BrickField, &Asset::field>(SectionKind::kBrickField),
    SectionRules{SectionKind::kDenseGrid,
                 [](Asset& asset, const FlatBuffer& buffer, Check) {
                   asset.dense = detail::decode_dense_grid(buffer.bytes);
                 },
                 [](const Asset& asset) {
                   return asset.dense ? shared(detail::encode_dense_grid(*asset.dense))
                                      : FlatBuffer{};
                 }},
    flat_rules<FirstOrderField, &Asset::first_order>(SectionKind::kFirstOrderField),
    SectionRules{SectionKind::kVoxmap, take_voxmap, give_voxmap},
};

const SectionRules* find_rules(SectionKind kind) {
  const auto* const at = std::find_if(
      kRules.begin(), kRules.end(), [&](const SectionRules& rules) { return rules.kind == kind; });
  return at == kRules.end() ? nullptr : at;
}

void take_section(Asset& asset, SectionKind kind, const FlatBuffer& buffer, Check check) {
  if (const SectionRules* const rules = find_rules(kind))
    rules->take(asset, buffer, check);
  else if (name(kind) != "unknown")
    asset.raw.push_back({kind, buffer});
  else
    asset.notes.push_back(
        fmt::format("passed over a section of the unknown kind {} with {} bytes: it was written by "
                    "a newer version",
                    static_cast<std::uint32_t>(kind), buffer.bytes.size()));
}

Asset decode_sections(const AssetSections& parsed, std::string_view file_name, Check check) {
  Asset asset;
  asset.file = parsed.file;
  asset.file_name = file_name;
  for (const AssetSection& section : parsed.sections) {
    try {
      take_section(asset, section.kind, {section.bytes, parsed.file.owner}, check);
    } catch (const Error& error) {
      const auto byte = static_cast<std::uint64_t>(section.bytes.data() - parsed.file.bytes.data());
      throw Error({.file = asset.file_name, .byte = byte}, error.what());
    }
  }
  return asset;
}

// What an asset is written as; the buffers keep alive what was made for the purpose.
struct SectionList {
  std::vector<AssetSection> sections;
  std::vector<FlatBuffer> buffers;
};

SectionList list_sections(const Asset& asset) {
  SectionList list;
  const auto add = [&](SectionKind kind, FlatBuffer buffer) {
    if (buffer.bytes.empty()) return;
    list.sections.push_back({kind, buffer.bytes});
    list.buffers.push_back(std::move(buffer));
  };
  for (const SectionRules& rules : kRules) add(rules.kind, rules.give(asset));
  for (const RawSection& raw : asset.raw) add(raw.kind, raw.buffer);
  return list;
}

}  // namespace

std::uint64_t hash_mesh(const TriangleMesh& mesh) {
  return hash_range(mesh.triangles, hash_range(mesh.positions, mesh.positions.size()));
}

const RawSection* find_raw(const Asset& asset, SectionKind kind) {
  const auto at = std::find_if(asset.raw.begin(), asset.raw.end(),
                               [&](const RawSection& raw) { return raw.kind == kind; });
  return at == asset.raw.end() ? nullptr : &*at;
}

MassProperties with_density(const MassProperties& properties, double density) {
  MassProperties p = properties;
  // No solid has no density either: its inertia is zero and stays so.
  const double factor = p.density > 0 ? density / p.density : 1;
  p.density = density;
  p.mass = p.volume * density;
  p.inertia = p.inertia * factor;
  p.principal_moments = p.principal_moments * factor;
  return p;
}

Asset read_asset(const std::filesystem::path& path, const AssetReadSettings& settings) {
  if (settings.map) return decode_sections(map_sections(path), path.string(), Check::kHeader);
  return decode_sections(read_sections(path), path.string(), Check::kDeep);
}

Asset decode_asset(std::span<const std::byte> bytes, std::string_view name) {
  const FlatBuffer copy = copy_to_flat_buffer(bytes);
  return decode_sections(parse_sections(copy, name, AssetCheck::kAll), name, Check::kDeep);
}

void verify_asset(const Asset& asset) {
  if (!asset.file.bytes.empty()) parse_sections(asset.file, asset.file_name, AssetCheck::kAll);
  const SectionList list = list_sections(asset);
  Asset checked;
  for (std::size_t i = 0; i < list.sections.size(); ++i)
    take_section(checked, list.sections[i].kind, list.buffers[i], Check::kDeep);
}

std::vector<std::byte> encode_asset(const Asset& asset) {
  const SectionList list = list_sections(asset);
  return encode_sections(list.sections);
}

std::uint64_t encoded_size(const Asset& asset) {
  const SectionList list = list_sections(asset);
  return encoded_size(list.sections);
}

void write_asset(const std::filesystem::path& path, const Asset& asset) {
  const SectionList list = list_sections(asset);
  write_sections(path, list.sections);
}

}  // namespace isotact

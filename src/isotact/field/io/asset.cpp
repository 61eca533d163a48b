#include "isotact/field/io/asset.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/hash.h"
#include "isotact/field/io/detail/small_sections.h"

namespace isotact {
namespace {

// How sections are looked at; see AssetReadSettings.
struct Care {
  Check check = Check::kDeep;
  bool unpack_layers = true;
  std::uint64_t max_unpacked_bytes = kMaxUnpackedLayers;
};

// How one kind of section gets into an Asset and out of it. `take` throws Error where the bytes are
// not what they claim to be, looking at them as closely as `care` says.
struct SectionRules {
  SectionKind kind;
  void (*take)(Asset& asset, const FlatBuffer& buffer, const Care& care);
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
          [](Asset& asset, const FlatBuffer& buffer, const Care& care) {
            asset.*member = T::from_buffer(buffer.bytes, buffer.owner, care.check);
          },
          [](const Asset& asset) -> FlatBuffer {
            if (!(asset.*member)) return {};
            return {(asset.*member)->buffer(), nullptr};
          }};
}

void take_voxmap(Asset& asset, const FlatBuffer& buffer, const Care& care) {
  constexpr std::string_view kCompressed = "ISOLAYER";
  const bool is_compressed =
      buffer.bytes.size() >= kCompressed.size() &&
      std::memcmp(buffer.bytes.data(), kCompressed.data(), kCompressed.size()) == 0;
  if (!is_compressed) {
    asset.voxmap = Voxmap::from_buffer(buffer.bytes, buffer.owner);
    // One encoding only for the same content.
    if (asset.voxmap->encoding() == VoxmapEncoding::kLayers)
      throw Error("voxelmap: layers must be compressed in files");
  } else if (care.unpack_layers) {
    asset.voxmap = decompress_layers(buffer.bytes, care.max_unpacked_bytes);
  } else {
    asset.raw.push_back({SectionKind::kVoxmap, buffer});
  }
}

FlatBuffer give_voxmap(const Asset& asset) {
  if (!asset.voxmap) return {};
  if (asset.voxmap->encoding() == VoxmapEncoding::kLayers)
    return shared(compress_layers(*asset.voxmap));
  return {asset.voxmap->buffer(), nullptr};
}

constexpr std::array kRules = {
    SectionRules{SectionKind::kSource,
                 [](Asset& asset, const FlatBuffer& buffer, const Care&) {
                   asset.source = detail::decode_source(buffer.bytes);
                 },
                 [](const Asset& asset) { return shared(detail::encode_source(asset.source)); }},
    SectionRules{SectionKind::kMassProperties,
                 [](Asset& asset, const FlatBuffer& buffer, const Care&) {
                   asset.mass = detail::decode_mass(buffer.bytes);
                 },
                 [](const Asset& asset) {
                   return asset.mass ? shared(detail::encode_mass(*asset.mass)) : FlatBuffer{};
                 }},
    flat_rules<BrickField, &Asset::field>(SectionKind::kBrickField),
    SectionRules{SectionKind::kDenseGrid,
                 [](Asset& asset, const FlatBuffer& buffer, const Care&) {
                   asset.dense = detail::decode_dense_grid(buffer.bytes);
                 },
                 [](const Asset& asset) {
                   return asset.dense ? shared(detail::encode_dense_grid(*asset.dense))
                                      : FlatBuffer{};
                 }},
    flat_rules<FirstOrderField, &Asset::first_order>(SectionKind::kFirstOrderField),
    SectionRules{SectionKind::kVoxmap, take_voxmap, give_voxmap},
    flat_rules<FlatMesh, &Asset::mesh>(SectionKind::kMesh),
};

const SectionRules* find_rules(SectionKind kind) {
  const auto* const at = std::find_if(
      kRules.begin(), kRules.end(), [&](const SectionRules& rules) { return rules.kind == kind; });
  return at == kRules.end() ? nullptr : at;
}

void take_section(Asset& asset, SectionKind kind, const FlatBuffer& buffer, const Care& care) {
  if (const SectionRules* const rules = find_rules(kind))
    rules->take(asset, buffer, care);
  else if (name(kind) != "unknown")
    asset.raw.push_back({kind, buffer});
  else
    asset.notes.push_back(
        fmt::format("passed over a section of the unknown kind {} with {} bytes: it was written by "
                    "a newer version",
                    static_cast<std::uint32_t>(kind), buffer.bytes.size()));
}

Asset decode_sections(const AssetSections& parsed, std::string_view file_name, const Care& care) {
  Asset asset;
  asset.file = parsed.file;
  asset.file_name = file_name;
  for (const AssetSection& section : parsed.sections) {
    try {
      take_section(asset, section.kind, {section.bytes, parsed.file.owner}, care);
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
  const Care care{.check = settings.map ? Check::kHeader : Check::kDeep,
                  .unpack_layers = settings.unpack_layers,
                  .max_unpacked_bytes = settings.max_unpacked_bytes};
  return decode_sections(settings.map ? map_sections(path) : read_sections(path), path.string(),
                         care);
}

Asset decode_asset(std::span<const std::byte> bytes, std::string_view name,
                   const AssetReadSettings& settings) {
  const FlatBuffer copy = copy_to_flat_buffer(bytes);
  return decode_sections(parse_sections(copy, name, AssetCheck::kAll), name,
                         {.check = Check::kDeep,
                          .unpack_layers = settings.unpack_layers,
                          .max_unpacked_bytes = settings.max_unpacked_bytes});
}

void verify_asset(const Asset& asset) {
  if (!asset.file.bytes.empty()) parse_sections(asset.file, asset.file_name, AssetCheck::kAll);
  const SectionList list = list_sections(asset);
  // A voxmap that is in memory already may be made a second time.
  Care care;
  if (asset.voxmap)
    care.max_unpacked_bytes =
        std::max<std::uint64_t>(care.max_unpacked_bytes, asset.voxmap->buffer().size());
  Asset checked;
  for (std::size_t i = 0; i < list.sections.size(); ++i)
    take_section(checked, list.sections[i].kind, list.buffers[i], care);
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

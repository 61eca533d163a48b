// The sections of an asset that are not flat buffers: source and mass properties. Decoders throw
// Error with what is wrong, without the file's name.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "isotact/field/io/asset.h"

namespace isotact::detail {

std::vector<std::byte> encode_source(const SourceInfo& source);
SourceInfo decode_source(std::span<const std::byte> bytes);

std::vector<std::byte> encode_mass(const MassProperties& given);
MassProperties decode_mass(std::span<const std::byte> bytes);

}  // namespace isotact::detail

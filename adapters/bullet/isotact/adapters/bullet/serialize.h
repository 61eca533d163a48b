// Our shapes in Bullet's own files.
//
//   shape->set_asset("gear.isotact");
//   btDefaultSerializer serializer;
//   world.serialize(&serializer);
//   ...
//   for (auto& s : isotact::load_serialized_shapes(bytes_of_the_file)) ...
//
// Bullet's files have no space for fields. They get the path of the asset, a hash of its bytes, and
// scaling, margin and frame, as the name of the shape (btCollisionShapeData::m_name). Bullet's
// importers skip shapes that they do not know: load them with load_serialized_shapes, or the shape
// of one name with load_serialized_shape.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isotact/adapters/bullet/shape.h"

namespace isotact {

// Returns the shape of one name. Throws Error for a name that is not ours, an asset that cannot be
// read, and one whose bytes have changed since.
std::unique_ptr<IsotactShape> load_serialized_shape(std::string_view name,
                                                    const BulletShapeSettings& settings = {});

struct SerializedShape {
  std::string name{};
  std::unique_ptr<IsotactShape> shape{};
};
// Returns all of our shapes in the bytes of one of Bullet's files, in their order there. Throws
// Error as above.
std::vector<SerializedShape> load_serialized_shapes(std::span<const std::byte> file,
                                                    const BulletShapeSettings& settings = {});

}  // namespace isotact

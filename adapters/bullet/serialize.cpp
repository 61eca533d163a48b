#include "isotact/adapters/bullet/serialize.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include <LinearMath/btSerializer.h>
#include <fmt/format.h>

#include "isotact/adapters/bullet/convert.h"
#include "isotact/adapters/bullet/report.h"
#include "isotact/base/error.h"
#include "isotact/base/file.h"
#include "isotact/base/hash.h"
#include "isotact/field/io/asset.h"

namespace isotact {
namespace {

// "isotact shape 1 HASH sx sy sz margin qw qx qy qz tx ty tz PATH"
constexpr std::string_view kPrefix = "isotact shape 1 ";
constexpr std::size_t kNumbers = 11;

std::uint64_t hash_of(const std::string& path) { return hash_bytes(read_file(path)); }

// Takes a word off the front.
std::string_view take_word(std::string_view& text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

}  // namespace

void IsotactShape::set_asset(const std::string& path) {
  asset_hash_ = hash_of(path);
  asset_ = path;
}

const char* IsotactShape::serialize(void* buffer, btSerializer* serializer) const {
  auto& data = *static_cast<btCollisionShapeData*>(buffer);
  std::memset(&data, 0, sizeof(data));
  data.m_shapeType = m_shapeType;
  if (asset_.empty()) {
    report_bullet_error(
        "a shape of Isotact's was serialized without its asset: Bullet's file has no space for it; "
        "save the asset, and call set_asset");
    return "btCollisionShapeData";
  }
  const Quat& q = bullet_from_cooked_.rotation;
  const Vec3& t = bullet_from_cooked_.translation;
  serialized_ = fmt::format("{}{:016x} {} {} {} {} {} {} {} {} {} {} {} {}", kPrefix, asset_hash_,
                            scaling_.x(), scaling_.y(), scaling_.z(), m_collisionMargin, q.w, q.x,
                            q.y, q.z, t.x, t.y, t.z, asset_);
  char* name = serialized_.data();
  data.m_name = static_cast<char*>(serializer->getUniquePointer(name));
  serializer->serializeName(name);
  return "btCollisionShapeData";
}

std::unique_ptr<IsotactShape> load_serialized_shape(std::string_view name,
                                                    const BulletShapeSettings& settings) {
  if (!name.starts_with(kPrefix)) throw Error("not the name of a serialized shape of Isotact's");
  std::string_view rest = name.substr(kPrefix.size());
  const std::string_view hash_text = take_word(rest);
  std::uint64_t hash = 0;
  const auto read_hash =
      std::from_chars(hash_text.data(), hash_text.data() + hash_text.size(), hash, 16);
  double n[kNumbers]{};
  bool is_right = read_hash.ec == std::errc() && hash_text.size() == 16;
  for (double& number : n) {
    const std::string_view word = take_word(rest);
    const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
    is_right = is_right && read.ec == std::errc() && std::isfinite(number);
  }
  const Quat q{n[4], n[5], n[6], n[7]};
  if (!is_right || rest.empty() ||
      !(std::abs(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z - 1) < 1e-6))
    throw Error("the name of a serialized shape of Isotact's is damaged");
  const std::string path(rest);
  if (hash_of(path) != hash)
    throw Error(path + ": the asset has changed since the shape was serialized");
  const auto cooked = cook_bullet_shape(read_asset(path), settings);
  auto shape = std::make_unique<IsotactShape>(cooked->shared_body(),
                                              Pose{normalized(q), {n[8], n[9], n[10]}});
  shape->setLocalScaling(to_bullet(Vec3{n[0], n[1], n[2]}));
  shape->setMargin(static_cast<btScalar>(n[3]));
  shape->set_asset(path);
  return shape;
}

std::vector<SerializedShape> load_serialized_shapes(std::span<const std::byte> file,
                                                    const BulletShapeSettings& settings) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  std::vector<SerializedShape> shapes;
  for (std::size_t at = text.find(kPrefix); at != std::string_view::npos;
       at = text.find(kPrefix, at + 1)) {
    const std::size_t end = text.find('\0', at);
    if (end == std::string_view::npos) throw Error("a serialized shape of Isotact's is cut off");
    const std::string_view name = text.substr(at, end - at);
    shapes.push_back({std::string(name), load_serialized_shape(name, settings)});
  }
  return shapes;
}

}  // namespace isotact

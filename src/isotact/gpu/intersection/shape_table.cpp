#include "isotact/gpu/intersection/detail/shape_table.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <numeric>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "isotact/base/error.h"

namespace isotact::detail {
namespace {

// Parts of a field's buffer that shape_brick.glsl reads.
static_assert(offsetof(BrickFieldHeader, coarse_cells) == 4 * glsl::kWordCoarseCells &&
              offsetof(BrickFieldHeader, step) == 4 * glsl::kWordStep &&
              offsetof(BrickFieldHeader, coarse_offset) == 4 * glsl::kWordCoarseOffset &&
              offsetof(BrickFieldHeader, block_offset) == 4 * glsl::kWordBlockOffset &&
              offsetof(BrickFieldHeader, brick_offset) == 4 * glsl::kWordBrickOffset);
static_assert(sizeof(Brick) == 4 * glsl::kBrickWords && kBrickNodes == glsl::kNodesOfBrick &&
              offsetof(Brick, correction) == glsl::kFirstCorrection);
static_assert(sizeof(BrickBlock) == 4 * glsl::kBlockWords &&
              offsetof(BrickBlock, first_brick) == 4 * glsl::kWordFirstBrick);

void put(float (&to)[4], const Vec3& v, double w) {
  to[0] = static_cast<float>(v.x), to[1] = static_cast<float>(v.y), to[2] = static_cast<float>(v.z);
  to[3] = static_cast<float>(w);
}

// Input of the formulas of shapes.glsl.
struct RecordMaker {
  ShapeRecord& r;

  void operator()(const PlaneField& f) const {
    r.kind = glsl::kShapePlane;
    put(r.p0, f.normal, f.offset);
  }
  void operator()(const SphereField& f) const {
    r.kind = glsl::kShapeSphere;
    put(r.p0, f.center, f.radius);
  }
  void operator()(const BoxField& f) const {
    r.kind = glsl::kShapeBox;
    put(r.p0, f.center, 0);
    put(r.p1, f.half_size, 0);
  }
  void operator()(const CapsuleField& f) const {
    r.kind = glsl::kShapeCapsule;
    put(r.p0, f.a, f.radius);
    put(r.p1, f.b - f.a, 0);
  }
  void operator()(const CylinderField& f) const {
    r.kind = glsl::kShapeCylinder;
    put(r.p0, f.center, f.radius);
    put(r.p1, {f.height / 2, 0, 0}, 0);
  }
  void operator()(const TorusField& f) const {
    r.kind = glsl::kShapeTorus;
    put(r.p0, f.center, f.radius);
    put(r.p1, {f.tube_radius, 0, 0}, 0);
  }
  void operator()(const std::shared_ptr<const FieldTexels>& t) const {
    const bool is_first = t->order == TexelOrder::kFirst;
    r.kind = is_first ? glsl::kShapeFirstOrder : glsl::kShapeZerothOrder;
    put(r.p0, half_of(t->lattice),
        is_first ? static_cast<double>(t->b_scale) : 1 / t->lattice.spacing);
    const NodeBound bound = compute_node_bound(*t);
    r.p1[3] = bound.excess;
    r.p2[3] = bound.near;
  }
  void operator()(const std::shared_ptr<const BrickField>& f) const {
    r.kind = glsl::kShapeBrick;
    put(r.p0, half_of(f->lattice()), 1 / f->lattice().spacing);
  }

  static Vec3 half_of(const Lattice& l) {
    return {0.5 * l.cells[0], 0.5 * l.cells[1], 0.5 * l.cells[2]};
  }
};

// Start of the field's texels in a texture of that size.
void put_place(ShapeRecord& r, const Index3& first, const Index3& size) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double unit = 1.0 / size[axis];
    r.p1[axis] = static_cast<float>(unit);
    r.p2[axis] = static_cast<float>((first[axis] + 0.5 + static_cast<double>(r.p0[axis])) * unit);
  }
}

const FieldTexels* texels_of(const IdfShape& shape) {
  const auto* texels = std::get_if<std::shared_ptr<const FieldTexels>>(&shape.solid());
  return texels == nullptr ? nullptr : texels->get();
}

std::span<const std::byte> bytes_of(const FieldTexels& texels) {
  return texels.order == TexelOrder::kFirst ? std::as_bytes(std::span(texels.first))
                                            : std::as_bytes(std::span(texels.zeroth));
}

TexelFormat format_of(TexelOrder order) {
  return order == TexelOrder::kFirst ? TexelFormat::kSnorm16x4 : TexelFormat::kFloat;
}

std::uint64_t size_of(const GpuTexture3d& t) {
  std::uint64_t bytes = bytes_of_texel(t.format());
  for (const std::int32_t n : t.size()) bytes *= static_cast<std::uint64_t>(n);
  return bytes;
}

// Boxes side by side along x, rows of them along y, layers along z. The tallest come first, so that
// little is left between them.
class Shelves {
 public:
  Shelves(std::int64_t wide, std::int64_t most) : wide_(wide), most_(most) {}

  Index3 place(const Index3& n) {
    if (at_[0] + n[0] > wide_) next_row();
    if (at_[1] + n[1] > wide_) next_layer();
    const Index3 spot{int(at_[0]), int(at_[1]), int(at_[2])};
    at_[0] += n[0];
    row_ = std::max<std::int64_t>(row_, n[1]);
    layer_ = std::max<std::int64_t>(layer_, n[2]);
    for (std::size_t axis = 0; axis < 3; ++axis)
      size_[axis] = std::max(size_[axis], spot[axis] + n[axis]);
    if (size_[2] > most_)
      throw Error(
          "the fields of all shapes together do not fit into one texture of this GPU: fewer or "
          "coarser shapes, or brick fields, are needed");
    return spot;
  }
  const Index3& size() const { return size_; }

 private:
  void next_row() {
    at_[0] = 0;
    at_[1] += row_;
    row_ = 0;
  }
  void next_layer() {
    at_[0] = at_[1] = 0;
    at_[2] += layer_;
    row_ = layer_ = 0;
  }

  std::int64_t wide_, most_;
  std::array<std::int64_t, 3> at_{};
  std::int64_t row_ = 0, layer_ = 0;
  Index3 size_{};
};

}  // namespace

ShapeTable::ShapeTable(const GpuInfo& info, std::span<const IdfShape> shapes, bool allow_bindless) {
  records_.resize(shapes.size());
  bool has_formula = false, has_zeroth = false, has_brick = false;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    std::visit(RecordMaker{records_[i]}, shapes[i].solid());
    has_formula |= records_[i].kind < glsl::kShapeFirstOrder;
    has_zeroth |= records_[i].kind == glsl::kShapeZerothOrder;
    has_brick |= records_[i].kind == glsl::kShapeBrick;
  }
  if (info.bindless && allow_bindless) {
    defines_.push_back({"BINDLESS", "1"});
    add_textures(shapes);
  } else {
    add_atlas(shapes, TexelOrder::kFirst, info.max_texture_3d);
    add_atlas(shapes, TexelOrder::kZeroth, info.max_texture_3d);
  }
  if (has_formula) defines_.push_back({"WITH_FORMULAS", "1"});
  if (has_zeroth) defines_.push_back({"WITH_ZEROTH", "1"});
  if (has_brick) {
    defines_.push_back({"WITH_BRICKS", "1"});
    add_bricks(shapes, info.max_storage_bytes);
  }
  if (!records_.empty()) buffer_ = GpuBuffer(std::span<const ShapeRecord>(records_));
}

void ShapeTable::add_textures(std::span<const IdfShape> shapes) {
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const FieldTexels* texels = texels_of(shapes[i]);
    if (texels == nullptr) continue;
    const Index3 n = node_counts(texels->lattice);
    GpuTexture3d texture(format_of(texels->order), n);
    texture.upload({0, 0, 0}, n, bytes_of(*texels));
    texture_bytes_ += size_of(texture);
    const std::uint64_t handle = texture.handle();
    records_[i].handle[0] = static_cast<std::uint32_t>(handle);
    records_[i].handle[1] = static_cast<std::uint32_t>(handle >> 32U);
    put_place(records_[i], {0, 0, 0}, n);
    textures_.push_back(std::move(texture));
  }
}

void ShapeTable::add_atlas(std::span<const IdfShape> shapes, TexelOrder order, std::int64_t most) {
  std::vector<std::size_t> wanted;
  std::int64_t wide = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const FieldTexels* texels = texels_of(shapes[i]);
    if (texels == nullptr || texels->order != order) continue;
    wanted.push_back(i);
    const Index3 n = node_counts(texels->lattice);
    wide = std::max<std::int64_t>(wide, std::max(n[0], n[1]));
    if (std::max({n[0], n[1], n[2]}) > most)
      throw Error(
          fmt::format("a field of {} x {} x {} nodes: textures of this GPU have {} an axis; "
                      "a brick field has no such limit",
                      n[0], n[1], n[2], most));
  }
  if (wanted.empty()) return;
  const auto height = [&](std::size_t i) { return node_counts(texels_of(shapes[i])->lattice)[2]; };
  std::stable_sort(wanted.begin(), wanted.end(),
                   [&](std::size_t i, std::size_t j) { return height(i) > height(j); });
  Shelves shelves(std::min(most, std::max<std::int64_t>(wide, wanted.size() > 1 ? 256 : 1)), most);
  std::vector<Index3> places;
  for (const std::size_t i : wanted)
    places.push_back(shelves.place(node_counts(texels_of(shapes[i])->lattice)));
  GpuTexture3d& atlas = atlas_[static_cast<std::size_t>(order)];
  const Index3 size = shelves.size();
  atlas = GpuTexture3d(format_of(order), size);
  texture_bytes_ += size_of(atlas);
  for (std::size_t w = 0; w < wanted.size(); ++w) {
    const FieldTexels& texels = *texels_of(shapes[wanted[w]]);
    atlas.upload(places[w], node_counts(texels.lattice), bytes_of(texels));
    put_place(records_[wanted[w]], places[w], size);
  }
}

void ShapeTable::add_bricks(std::span<const IdfShape> shapes, std::int64_t most_bytes) {
  std::vector<std::byte> all;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto* field = std::get_if<std::shared_ptr<const BrickField>>(&shapes[i].solid());
    if (field == nullptr) continue;
    records_[i].first_word = static_cast<std::uint32_t>(all.size() / 4);
    const std::span<const std::byte> buffer = (*field)->buffer();
    if (static_cast<std::int64_t>(all.size() + buffer.size()) > most_bytes)
      throw Error(fmt::format("brick fields of {} bytes and more: buffers of this GPU have {}",
                              all.size() + buffer.size(), most_bytes));
    all.insert(all.end(), buffer.begin(), buffer.end());
  }
  bricks_ = GpuBuffer(std::span<const std::byte>(all));
}

Lattice lattice_of(const IdfShape& shape) {
  if (const FieldTexels* texels = texels_of(shape)) return texels->lattice;
  if (const auto* field = std::get_if<std::shared_ptr<const BrickField>>(&shape.solid()))
    return (*field)->lattice();
  return {.origin = {}, .spacing = 1, .cells = {}};  // Metres, from the origin.
}

IdfPairRecord make_gpu_pair(const IdfPairRecord& record, std::span<const IdfShape> shapes) {
  IdfPairRecord pair = record;
  const Lattice a = lattice_of(shapes[record.shape_a]), b = lattice_of(shapes[record.shape_b]);
  const Vec3 middle_a = center(bounds(a)), middle_b = center(bounds(b));
  // Rows to each shape's units from the pair's metres, in double.
  double from_a[3][4], from_b[3][4];
  for (std::size_t row = 0; row < 3; ++row)
    for (std::size_t column = 0; column < 4; ++column) {
      from_a[row][column] = static_cast<double>(record.a_from_pair[4 * row + column]);
      from_b[row][column] = static_cast<double>(record.b_from_pair[4 * row + column]);
      if (column == 3) from_a[row][column] -= middle_a[row], from_b[row][column] -= middle_b[row];
      from_a[row][column] /= a.spacing;
      from_b[row][column] /= b.spacing;
      pair.a_from_pair[4 * row + column] = static_cast<float>(from_a[row][column]);
    }
  const double unit_a = static_cast<double>(record.scale_a) * a.spacing;
  const double unit_b = static_cast<double>(record.scale_b) * b.spacing;
  // B from A: rows of B times the inverse of A's, which is their transpose times unit_a squared.
  for (std::size_t row = 0; row < 3; ++row) {
    double shift = from_b[row][3];
    for (std::size_t column = 0; column < 3; ++column) {
      double sum = 0;
      for (std::size_t k = 0; k < 3; ++k) sum += from_b[row][k] * from_a[column][k];
      sum *= unit_a * unit_a;
      pair.b_from_pair[4 * row + column] = static_cast<float>(sum);
      shift -= sum * from_a[column][3];
    }
    pair.b_from_pair[4 * row + 3] = static_cast<float>(shift);
  }
  pair.scale_a = static_cast<float>(unit_a);
  pair.scale_b = static_cast<float>(unit_b);
  return pair;
}

void ShapeTable::bind() const {
  buffer_.bind(glsl::kIdfShapesAt);
  if (bricks_.size() > 0) bricks_.bind(glsl::kIdfBricksAt);
  const auto bind_atlas = [this](TexelOrder order, std::uint32_t unit) {
    const GpuTexture3d& atlas = atlas_[static_cast<std::size_t>(order)];
    if (atlas.name() != 0) atlas.bind(unit);
  };
  bind_atlas(TexelOrder::kFirst, glsl::kFirstOrderUnit);
  bind_atlas(TexelOrder::kZeroth, glsl::kZerothOrderUnit);
}

}  // namespace isotact::detail

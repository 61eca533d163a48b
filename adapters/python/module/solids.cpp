#include "solids.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/field/models/csg.h"
#include "isotact/field/models/terrain_field.h"

#include "arrays.h"

namespace isotact::python {
namespace {

using Recipe = std::shared_ptr<const SolidRecipe>;
using Numbers = std::vector<double>;

AnalyticSolid make_terrain(const Numbers& n) {
  TerrainHeights t;
  t.cells_x = static_cast<std::int32_t>(n[0]) - 1;
  t.cells_z = static_cast<std::int32_t>(n[1]) - 1;
  t.spacing = n[2];
  t.origin_x = -t.spacing * t.cells_x / 2;
  t.origin_z = -t.spacing * t.cells_z / 2;
  t.heights.reserve(n.size() - 3);
  for (std::size_t i = 3; i < n.size(); ++i) t.heights.push_back(static_cast<float>(n[i]));
  return TerrainField(std::move(t));
}

bool is_terrain(const Numbers& n) {
  constexpr double kMost = 1 << 20;
  return n.size() >= 3 && n[0] >= 2 && n[1] >= 2 && n[0] <= kMost && n[1] <= kMost &&
         n[0] == std::floor(n[0]) && n[1] == std::floor(n[1]) &&
         static_cast<double>(n.size() - 3) == n[0] * n[1];
}

struct Kind {
  const char* word;
  std::size_t numbers, parts;
  AnalyticSolid (*make)(const Numbers&);
};
constexpr Kind kKinds[] = {
    {"plane", 4, 0,
     [](const Numbers& n) -> AnalyticSolid {
       return PlaneField{.normal = {n[0], n[1], n[2]}, .offset = n[3]};
     }},
    {"box", 3, 0,
     [](const Numbers& n) -> AnalyticSolid {
       return BoxField{.half_size = {n[0] / 2, n[1] / 2, n[2] / 2}};
     }},
    {"sphere", 1, 0, [](const Numbers& n) -> AnalyticSolid { return SphereField{.radius = n[0]}; }},
    {"capsule", 2, 0,
     [](const Numbers& n) -> AnalyticSolid {
       return CapsuleField{.a = {0, -n[1] / 2, 0}, .b = {0, n[1] / 2, 0}, .radius = n[0]};
     }},
    {"cylinder", 2, 0,
     [](const Numbers& n) -> AnalyticSolid {
       return CylinderField{.radius = n[0], .height = n[1]};
     }},
    {"cone", 2, 0,
     [](const Numbers& n) -> AnalyticSolid { return ConeField{.radius = n[0], .height = n[1]}; }},
    {"torus", 2, 0,
     [](const Numbers& n) -> AnalyticSolid {
       return TorusField{.radius = n[0], .tube_radius = n[1]};
     }},
    {"terrain", 0, 0, &make_terrain},  // has as many numbers as heights, and three
    {"union", 0, 2, nullptr},
    {"intersection", 0, 2, nullptr},
    {"difference", 0, 2, nullptr},
    {"placed", 8, 1, nullptr},
};

const Kind* kind_named(const std::string& word) {
  for (const Kind& k : kKinds)
    if (word == k.word) return &k;
  return nullptr;
}

// Of a recipe whose word, numbers and number of parts fit together.
AnalyticSolid make_solid(const SolidRecipe& r, const AnalyticSolid* a, const AnalyticSolid* b) {
  const Kind& kind = *kind_named(r.word);
  if (kind.make != nullptr) return kind.make(r.numbers);
  if (r.word == "union") return Union{*a, *b};
  if (r.word == "intersection") return Intersection{*a, *b};
  if (r.word == "difference") return Difference{*a, *b};
  const Numbers& n = r.numbers;
  const Pose pose{.rotation = {n[3], n[4], n[5], n[6]}, .translation = {n[0], n[1], n[2]}};
  return place(*a, pose, n[7]);
}

// A thousand levels are safe (any_field.h).
void check_depth(int depth) {
  constexpr int kDeepest = 1000;
  if (depth > kDeepest)
    throw Error(
        fmt::format("a combination of more than {} solids in a chain: combine halves", kDeepest));
}

ShapeObject make_shape(const AnalyticSolid& solid, Recipe recipe) {
  ShapeObject made{Shape::from_analytic(solid)};
  made.recipe = std::move(recipe);
  return made;
}

ShapeObject simple(const char* word, Numbers numbers) {
  auto recipe = std::make_shared<SolidRecipe>(SolidRecipe{word, std::move(numbers)});
  return make_shape(make_solid(*recipe, nullptr, nullptr), recipe);
}

const AnalyticSolid& solid_of(const ShapeObject& s, const char* verb) {
  if (!s.shape.solid() || !s.recipe)
    throw Error(
        fmt::format("{} takes simple solids (box, sphere, ...), not shapes of meshes", verb));
  return *s.shape.solid();
}

ShapeObject combine(const char* word, const char* verb, const ShapeObject& a,
                    const ShapeObject& b) {
  const AnalyticSolid &first = solid_of(a, verb), &second = solid_of(b, verb);
  auto recipe = std::make_shared<SolidRecipe>(SolidRecipe{word, {}, {a.recipe, b.recipe}});
  recipe->depth = 1 + std::max(a.recipe->depth, b.recipe->depth);
  check_depth(recipe->depth);
  return make_shape(make_solid(*recipe, &first, &second), recipe);
}

ShapeObject place_solid(const ShapeObject& a, const py::object& given, double scale) {
  const AnalyticSolid& solid = solid_of(a, "placed");
  const Pose p = to_pose(given, "pose");
  const Vec3& t = p.translation;
  const Quat& q = p.rotation;
  auto recipe = std::make_shared<SolidRecipe>(
      SolidRecipe{"placed", {t.x, t.y, t.z, q.w, q.x, q.y, q.z, scale}, {a.recipe}});
  recipe->depth = 1 + a.recipe->depth;
  check_depth(recipe->depth);
  return make_shape(make_solid(*recipe, &solid, nullptr), recipe);
}

double positive(double value, const char* name) {
  if (!(value > 0) || !std::isfinite(value))
    throw py::value_error(fmt::format("{}: expected a positive length, found {}", name, value));
  return value;
}

ShapeObject terrain(const py::object& given, double spacing) {
  const py::array a = to_array(given, "heights");
  if (a.ndim() != 2 || a.shape(0) < 2 || a.shape(1) < 2)
    throw py::value_error(
        "heights: expected an array of shape (rows along z, columns along x), at "
        "least 2 of each");
  const py::array_t<double> heights = to_numbers(a, "heights", static_cast<std::size_t>(a.size()),
                                                 "shape (rows, columns) of numbers");
  Numbers numbers{static_cast<double>(a.shape(1)), static_cast<double>(a.shape(0)),
                  positive(spacing, "spacing")};
  numbers.insert(numbers.end(), heights.data(), heights.data() + heights.size());
  return simple("terrain", std::move(numbers));
}

// ---- recipes ------------------------------------------------------------------------------------

class Writer {
 public:
  // Depths are limited: see check_depth.
  std::size_t write(const SolidRecipe& r) {
    if (const auto known = places_.find(&r); known != places_.end()) return known->second;
    py::list operands;
    for (const Recipe& part : r.parts) operands.append(write(*part));
    py::array_t<double> numbers(static_cast<py::ssize_t>(r.numbers.size()));
    std::copy(r.numbers.begin(), r.numbers.end(), numbers.mutable_data());
    list_.append(py::make_tuple(r.word, numbers, operands));
    return places_.emplace(&r, list_.size() - 1).first->second;
  }
  py::list take() { return std::move(list_); }

 private:
  py::list list_;
  std::unordered_map<const SolidRecipe*, std::size_t> places_;
};

Recipe decode_item(const py::handle& item, const std::vector<Recipe>& before) {
  const py::value_error bad("this pickle holds no solid of this version");
  if (!py::isinstance<py::tuple>(item) || py::len(item) != 3) throw bad;
  const auto three = py::reinterpret_borrow<py::tuple>(item);
  if (!py::isinstance<py::str>(three[0])) throw bad;
  auto recipe = std::make_shared<SolidRecipe>();
  recipe->word = py::cast<std::string>(three[0]);
  const py::array numbers = to_array(three[1], "numbers");
  const py::array_t<double> of =
      to_numbers(numbers, "numbers", static_cast<std::size_t>(numbers.size()), "numbers");
  recipe->numbers.assign(of.data(), of.data() + of.size());
  for (const py::handle place : py::list(three[2])) {
    const auto k = static_cast<std::size_t>(
        to_whole(place, "operand", 0, static_cast<std::int64_t>(before.size()) - 1));
    recipe->parts.push_back(before[k]);
    recipe->depth = std::max(recipe->depth, 1 + before[k]->depth);
  }
  const Kind* const kind = kind_named(recipe->word);
  const bool fits = kind != nullptr && recipe->parts.size() == kind->parts &&
                    (recipe->word == "terrain" ? is_terrain(recipe->numbers)
                                               : recipe->numbers.size() == kind->numbers);
  if (!fits) throw bad;
  check_depth(recipe->depth);
  return recipe;
}

// Each part once, however often it is used.
class Maker {
 public:
  const AnalyticSolid& make(const SolidRecipe& r) {
    if (const auto known = made_.find(&r); known != made_.end()) return known->second;
    const AnalyticSolid* parts[2] = {};
    for (std::size_t i = 0; i < r.parts.size(); ++i) parts[i] = &make(*r.parts[i]);
    return made_.emplace(&r, make_solid(r, parts[0], parts[1])).first->second;
  }

 private:
  std::unordered_map<const SolidRecipe*, AnalyticSolid> made_;
};

}  // namespace

ShapeObject shape_of_recipe(const std::shared_ptr<const SolidRecipe>& recipe) {
  Maker maker;
  return make_shape(maker.make(*recipe), recipe);
}

py::list encode_recipe(const SolidRecipe& recipe) {
  Writer writer;
  writer.write(recipe);
  return writer.take();
}

std::shared_ptr<const SolidRecipe> decode_recipe(const py::handle& list) {
  std::vector<Recipe> recipes;
  if (py::isinstance<py::list>(list))
    for (const py::handle item : py::reinterpret_borrow<py::list>(list))
      recipes.push_back(decode_item(item, recipes));
  if (recipes.empty()) throw py::value_error("this pickle holds no solid of this version");
  return recipes.back();
}

void add_solids(py::class_<ShapeObject>& c) {
  c.def_static(
       "plane",
       [](const py::object& normal, double offset) {
         const Vec3 n = to_vec3(normal, "normal");
         if (!(length(n) > 0)) throw py::value_error("normal: expected a direction, found 0 0 0");
         const Vec3 unit = normalized(n);
         return simple("plane", {unit.x, unit.y, unit.z, offset});
       },
       py::arg("normal") = py::make_tuple(0, 1, 0), py::arg("offset") = 0.0,
       "The half-space behind a plane: everything below `offset` along the normal is solid.")
      .def_static(
          "box",
          [](const py::object& size) {
            const Vec3 s = to_vec3(size, "size");
            for (std::size_t k = 0; k < 3; ++k) positive(s[k], "size");
            return simple("box", {s.x, s.y, s.z});
          },
          py::arg("size"), "A box about the origin; size: its three sides.")
      .def_static(
          "sphere", [](double r) { return simple("sphere", {positive(r, "radius")}); },
          py::arg("radius"))
      .def_static(
          "capsule",
          [](double r, double length) {
            return simple("capsule", {positive(r, "radius"), positive(length, "length")});
          },
          py::arg("radius"), py::arg("length"), "Along y; length: of the straight part.")
      .def_static(
          "cylinder",
          [](double r, double h) {
            return simple("cylinder", {positive(r, "radius"), positive(h, "height")});
          },
          py::arg("radius"), py::arg("height"), "Along y, about the origin.")
      .def_static(
          "cone",
          [](double r, double h) {
            return simple("cone", {positive(r, "radius"), positive(h, "height")});
          },
          py::arg("radius"), py::arg("height"), "Along y, about the origin.")
      .def_static(
          "torus",
          [](double r, double tube) {
            return simple("torus", {positive(r, "radius"), positive(tube, "tube_radius")});
          },
          py::arg("radius"), py::arg("tube_radius"), "Around y; radius: of the tube's middle.")
      .def_static("terrain", &terrain, py::arg("heights"), py::arg("spacing"),
                  "Ground of heights[z, x] (y, metres) on a grid, about the origin; solid below.")
      .def("__or__", [](const ShapeObject& a,
                        const ShapeObject& b) { return combine("union", "a union", a, b); })
      .def("__and__",
           [](const ShapeObject& a, const ShapeObject& b) {
             return combine("intersection", "an intersection", a, b);
           })
      .def("__sub__",
           [](const ShapeObject& a, const ShapeObject& b) {
             return combine("difference", "a difference", a, b);
           })
      .def("placed", &place_solid, py::arg("pose"), py::kw_only(), py::arg("scale") = 1.0,
           "A simple solid, scaled and moved, for combinations by |, & and -.");
}

}  // namespace isotact::python

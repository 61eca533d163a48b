// One table a shape: the names, ranges and meanings of its parameters. It feeds the checks of the
// make_ functions, the catalogue, and make_shape.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <type_traits>

#include "isotact/geometry/primitives/primitives.h"

namespace isotact::detail {

template <typename Shape>
struct Parameter {
  const char* name;
  double minimum, maximum;
  const char* help;
  bool whole;
  double (*get)(const Shape&);
  void (*set)(Shape&, double);  // of a value in the range, whole where it must be
};

template <typename Shape, typename Value>
Shape shape_of(Value Shape::*);
template <typename Shape, typename Value>
Value value_of(Value Shape::*);

template <auto member>
constexpr auto parameter(const char* name, double minimum, double maximum, const char* help) {
  using Shape = decltype(shape_of(member));
  using Value = decltype(value_of(member));
  return Parameter<Shape>{
      name,
      minimum,
      maximum,
      help,
      !std::is_same_v<Value, double>,
      [](const Shape& shape) { return static_cast<double>(shape.*member); },
      [](Shape& shape, double value) { shape.*member = static_cast<Value>(value); }};
}

inline constexpr double kLargestLength = 1e4, kSmallestLength = 1e-5;
inline constexpr double kLargestSeed = 9007199254740992.0;  // 2^53: whole numbers in a double

// Specialised beside each make_ function: kName, kHelp and kParameters.
template <typename Shape>
struct ShapeTable;

// "gear: teeth is 3; it must be from 5 to 10000", where `allowed` is what follows "it must be".
[[noreturn]] void throw_parameter(const char* shape, const char* parameter, double value,
                                  const std::string& allowed);
void check_range(const char* shape, const char* parameter, double value, double minimum,
                 double maximum);
// Throws when a shape would have more than kMaxShapeTriangles.
void check_triangles(const char* shape, const char* parameter, double value, double triangles);
std::string number_text(double value);

template <typename Shape>
void check(const Shape& shape) {
  for (const auto& p : ShapeTable<Shape>::kParameters)
    check_range(ShapeTable<Shape>::kName, p.name, p.get(shape), p.minimum, p.maximum);
}

template <typename Shape>
ShapeInfo shape_info() {
  using Table = ShapeTable<Shape>;
  ShapeInfo info{Table::kName, Table::kHelp, {}};
  for (const auto& p : Table::kParameters)
    info.parameters.push_back({p.name, p.get(Shape{}), p.minimum, p.maximum, p.whole, p.help});
  return info;
}

// Every name in `values` must be in the table.
template <typename Shape>
Shape shape_from(const std::map<std::string, double>& values) {
  using Table = ShapeTable<Shape>;
  Shape shape;
  for (const auto& p : Table::kParameters) {
    const auto found = values.find(p.name);
    if (found == values.end()) continue;
    check_range(Table::kName, p.name, found->second, p.minimum, p.maximum);
    if (p.whole && found->second != std::floor(found->second))
      throw_parameter(Table::kName, p.name, found->second, "a whole number");
    p.set(shape, found->second);
  }
  return shape;
}

}  // namespace isotact::detail

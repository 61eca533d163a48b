#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/geometry/primitives/detail/parameters.h"
#include "isotact/geometry/primitives/detail/tables.h"
#include "isotact/geometry/primitives/primitives.h"

namespace isotact {
namespace {

using Values = std::map<std::string, double>;

struct Maker {
  ShapeInfo info;
  std::function<TriangleMesh(const Values&)> make;
};

template <typename Shape>
Maker maker(TriangleMesh (*make)(const Shape&)) {
  return {detail::shape_info<Shape>(),
          [make](const Values& values) { return make(detail::shape_from<Shape>(values)); }};
}

const std::vector<Maker>& makers() {
  static const std::vector<Maker> all{maker(make_sphere),   maker(make_box),   maker(make_capsule),
                                      maker(make_cylinder), maker(make_torus), maker(make_knot),
                                      maker(make_bowl),     maker(make_gear),  maker(make_link),
                                      maker(make_bolt),     maker(make_nut),   maker(make_terrain),
                                      maker(make_pipe),     maker(make_ship),  maker(make_blob)};
  return all;
}

template <typename Range>
std::vector<std::string> names_of(const Range& things) {
  std::vector<std::string> names;
  for (const auto& thing : things) names.push_back(thing.name);
  return names;
}

}  // namespace

const std::vector<ShapeInfo>& shape_catalogue() {
  static const std::vector<ShapeInfo> catalogue = [] {
    std::vector<ShapeInfo> infos;
    for (const Maker& m : makers()) infos.push_back(m.info);
    return infos;
  }();
  return catalogue;
}

TriangleMesh make_shape(std::string_view name, const Values& parameters) {
  const auto found = std::find_if(makers().begin(), makers().end(),
                                  [&](const Maker& m) { return m.info.name == name; });
  if (found == makers().end())
    throw Error("unknown shape '" + printable(name) + "'" +
                suggest(name, names_of(shape_catalogue())));
  const std::vector<std::string> known = names_of(found->info.parameters);
  for (const auto& [parameter, value] : parameters)
    if (std::find(known.begin(), known.end(), parameter) == known.end())
      throw Error(found->info.name + ": unknown parameter '" + printable(parameter) + "'" +
                  suggest(parameter, known));
  return found->make(parameters);
}

}  // namespace isotact

namespace isotact::detail {

std::string number_text(double value) { return fmt::format("{:.6g}", value); }

void throw_parameter(const char* shape, const char* parameter, double value,
                     const std::string& allowed) {
  throw Error(
      fmt::format("{}: {} is {}; it must be {}", shape, parameter, number_text(value), allowed));
}

void check_range(const char* shape, const char* parameter, double value, double minimum,
                 double maximum) {
  // Written so that NaN fails.
  if (!(value >= minimum && value <= maximum))
    throw_parameter(shape, parameter, value,
                    fmt::format("from {} to {}", number_text(minimum), number_text(maximum)));
}

void check_triangles(const char* shape, const char* parameter, double value, double triangles) {
  if (!(triangles <= kMaxShapeTriangles))
    throw Error(
        fmt::format("{}: {} is {}, which would take {:.3g} triangles; at most {:.3g} are "
                    "made",
                    shape, parameter, number_text(value), triangles, kMaxShapeTriangles));
}

}  // namespace isotact::detail

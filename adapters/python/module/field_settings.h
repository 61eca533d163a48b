// Settings of a field's build, as keywords have them.
#pragma once

#include <optional>
#include <string>

#include <pybind11/pybind11.h>

#include "isotact/field/build/build_field.h"

#include "arrays.h"
#include "module.h"

namespace isotact::python {

struct FieldArguments {
  py::object resolution = py::none(), voxel_size = py::none(), accuracy = py::none();
  double range = 0;
  std::string sign = "auto", nested = "winding", keep_thin = "report";
  double padding = FieldSettings{}.padding;
  int threads = 0;

  FieldSettings settings() const {
    FieldSettings s;
    if (!resolution.is_none()) s.resolution = resolution.cast<int>();
    if (!voxel_size.is_none()) s.voxel_size = voxel_size.cast<double>();
    if (!accuracy.is_none()) s.accuracy = accuracy.cast<double>();
    s.range = range;
    s.padding = padding;
    constexpr SignMethod kSigns[] = {SignMethod::kAuto, SignMethod::kPseudonormal,
                                     SignMethod::kWinding, SignMethod::kUnsigned};
    s.sign = kSigns[find_word(sign, "sign", {"auto", "pseudonormal", "winding", "unsigned"})];
    s.nested = find_word(nested, "nested", {"winding", "even-odd"}) == 1 ? NestedRule::kEvenOdd
                                                                         : NestedRule::kWinding;
    constexpr KeepThin kKeeps[] = {KeepThin::kIgnore, KeepThin::kReport, KeepThin::kRefine,
                                   KeepThin::kOffset};
    s.keep_thin =
        kKeeps[find_word(keep_thin, "keep_thin", {"ignore", "report", "refine", "offset"})];
    s.threads = to_threads(threads);
    return s;
  }
};

}  // namespace isotact::python

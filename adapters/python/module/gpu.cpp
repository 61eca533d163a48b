// Queries on the GPU. Each object has an OpenGL context of its own, which is current on the calling
// thread during a call only.
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "isotact/base/error.h"

#include "arrays.h"
#include "exclusive.h"
#include "module.h"
#include "shape_object.h"

#if ISOTACT_HAS_GPU
#include "isotact/gpu/core/context.h"
#include "isotact/gpu/segments/segment_tracer.h"
#endif

namespace isotact::python {
namespace {

#if ISOTACT_HAS_GPU

GpuChoice to_choice(const std::string& word) {
  return static_cast<GpuChoice>(find_word(word, "device", {"any", "hardware", "software"}));
}

// The description of the GPU, or None.
py::object describe_gpu(const std::string& device) {
  const GpuChoice choice = to_choice(device);
  std::optional<std::string> text;
  {
    const py::gil_scoped_release unlocked;
    std::string why;
    if (const auto gpu = GpuContext::try_create(&why, choice)) text = describe(gpu->info());
  }
  return text ? py::object(py::str(*text)) : py::none();
}

class TracerOnGpu {
 public:
  TracerOnGpu(const Shape& shape, const SegmentSettings& settings, GpuChoice choice)
      : gpu_(GpuContext::create(choice)) {
    tracer_.emplace(shape.brick_field(), settings);
    gpu_.release();
  }
  TracerOnGpu(const TracerOnGpu&) = delete;
  TracerOnGpu& operator=(const TracerOnGpu&) = delete;
  ~TracerOnGpu() {
    gpu_.make_current();
    tracer_.reset();
  }

  void trace(std::span<const Segment> segments, SegmentResults& results) {
    gpu_.make_current();
    try {
      tracer_->trace(segments, results);
    } catch (...) {
      gpu_.release();
      throw;
    }
    gpu_.release();
  }
  std::string device() const { return describe(gpu_.info()); }

 private:
  GpuContext gpu_;
  std::optional<GpuSegmentTracer> tracer_;
};

using SharedTracer = std::shared_ptr<Exclusive<TracerOnGpu>>;

SharedTracer make_tracer(const ShapeObject& s, double margin, const std::string& mode,
                         const std::string& device) {
  constexpr Mode kModes[] = {Mode::kAll, Mode::kFirst, Mode::kAny};
  const SegmentSettings settings{.margin = margin,
                                 .mode = kModes[find_word(mode, "mode", {"all", "first", "any"})]};
  const GpuChoice choice = to_choice(device);
  const py::gil_scoped_release unlocked;
  return std::make_shared<Exclusive<TracerOnGpu>>("the tracer", s.shape, settings, choice);
}

py::tuple trace(const SharedTracer& tracer, const py::object& starts, const py::object& ends) {
  const std::vector<Segment> segments = to_segments(starts, ends);
  SegmentResults results;
  {
    const py::gil_scoped_release unlocked;
    tracer->use()->trace(segments, results);
  }
  return py::make_tuple(take_rows<std::uint64_t, std::uint64_t>(std::move(results.first), 1),
                        take_rows<SegmentInterval, float>(std::move(results.intervals), 2));
}

void add_tracer(py::module_& m) {
  py::class_<Exclusive<TracerOnGpu>, SharedTracer>(
      m, "GpuTracer",
      "Segments against a shape on the GPU: the results of Shape.trace, bit for bit, for batches "
      "that are worth the transfer.")
      .def(py::init(&make_tracer), py::arg("shape"), py::kw_only(), py::arg("margin") = 0.0,
           py::arg("mode") = "all", py::arg("device") = "any",
           "device: 'any' (hardware if there is any), 'hardware' or 'software'. Raises Error where "
           "there is no GPU.")
      .def("trace", &trace, py::arg("starts"), py::arg("ends"),
           "(first, intervals), as Shape.trace. One thread at a time.")
      .def_property_readonly("device", [](const SharedTracer& t) { return t->use()->device(); });
}

#else

py::object describe_gpu(const std::string&) { return py::none(); }

// With an error in place of a constructor.
class TracerOnGpu {};
void add_tracer(py::module_& m) {
  py::class_<TracerOnGpu>(m, "GpuTracer", "This build has no GPU queries.")
      .def(py::init([](const py::args&, const py::kwargs&) -> TracerOnGpu {
        throw Error("this build of the package has no GPU queries: Shape.trace answers the same");
      }));
}

#endif

}  // namespace

void add_gpu(py::module_& m) {
  m.def("gpu", &describe_gpu, py::arg("device") = "any",
        "The GPU that queries would use, in words; None if there is none. Software that draws on "
        "the processor (Mesa's llvmpipe) counts, unless device='hardware'.");
  add_tracer(m);
}

}  // namespace isotact::python

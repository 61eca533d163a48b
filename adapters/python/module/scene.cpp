#include "isotact/scene/parse/scene.h"

#include <filesystem>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "isotact/base/error.h"
#include "isotact/scene/replay/replay.h"
#include "isotact/scene/run/run.h"

#include "arrays.h"
#include "long_work.h"
#include "module.h"
#include "run_pages.h"
#include "world_report.h"

namespace isotact::python {
namespace {

// Dictionaries become JSON text; strings are taken as JSON if they begin as such, else as a path.
Scene read(const py::object& object, const std::string& folder) {
  const auto parse = [&](const std::string& text) {
    return parse_scene(text, std::filesystem::path(folder) / "scene");
  };
  if (py::isinstance<py::dict>(object)) {
    py::dict scene = object.attr("copy")();
    if (!scene.contains("isotact_scene")) scene["isotact_scene"] = 1;
    return parse(py::str(py::module_::import("json").attr("dumps")(scene)));
  }
  const std::string text = py::str(object);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && text[first] == '{') return parse(text);
  return read_scene(text);
}

// A run that a Python object keeps.
struct Run {
  explicit Run(const Scene& scene, int threads)
      : inner(scene, {.threads = {threads}, .keep_paths = true}) {}
  SceneRun inner;
};

RunPackSource parts_of(const Run& run) {
  return {.scene = run.inner.scene(), .world = run.inner.world(), .replay = run.inner.replay()};
}

void go(Run& run, std::uint64_t steps, const py::object& progress) {
  run_long(progress, [&](const Monitor& monitor) {
    std::uint64_t done = 0;
    run.inner.go(steps, [&](const StepReport&) {
      monitor.report({"simulating", ++done, steps});
      return !monitor.cancel->is_cancelled();
    });
    monitor.check();
  });
  if (const auto trouble = run.inner.trouble())
    throw Error(fmt::format("the run is in trouble at {:.6g} s: {}: {}", trouble->time,
                            run.inner.body_name(trouble->body), trouble->message));
}

std::unique_ptr<Run> make_run(const py::object& object, const py::object& steps,
                              const std::string& folder, int threads, const py::object& progress) {
  const Scene scene = read(object, folder);
  to_threads(threads);
  std::unique_ptr<Run> run;
  run_long(py::bool_(false), [&](const Monitor&) { run = std::make_unique<Run>(scene, threads); });
  warn(run->inner.warnings());
  go(*run, steps.is_none() ? step_count(scene) : steps.cast<std::uint64_t>(), progress);
  return run;
}

py::array_t<double> times_of(const Replay& replay) {
  py::array_t<double> times(static_cast<py::ssize_t>(replay.frames.size()));
  for (std::size_t i = 0; i < replay.frames.size(); ++i)
    times.mutable_data()[i] = replay.frames[i].time;
  return times;
}

// (frames, bodies, 4, 4)
py::array_t<double> poses_of(const Replay& replay) {
  const auto frames = static_cast<py::ssize_t>(replay.frames.size());
  const auto bodies = static_cast<py::ssize_t>(replay.bodies.size());
  py::array_t<double> poses(std::vector<py::ssize_t>{frames, bodies, 4, 4});
  double* to = poses.mutable_data();
  for (const ReplayFrame& frame : replay.frames)
    for (const Pose& pose : frame.poses) {
      write_matrix(pose, to);
      to += 16;
    }
  return poses;
}

// A column of the log per key.
py::dict log_of(const Replay& replay) {
  const auto column = [&](auto figure) {
    py::array_t<double> values(static_cast<py::ssize_t>(replay.log.size()));
    for (std::size_t i = 0; i < replay.log.size(); ++i)
      values.mutable_data()[i] = static_cast<double>(figure(replay.log[i]));
    return values;
  };
  py::dict d;
  d["time"] = column([](const StepReport& r) { return r.time; });
  d["kinetic"] = column([](const StepReport& r) { return r.energies.kinetic; });
  d["potential"] = column([](const StepReport& r) { return r.energies.potential; });
  d["springs"] = column([](const StepReport& r) { return r.energies.springs; });
  d["contacts"] = column([](const StepReport& r) { return r.contacts; });
  d["depth"] = column([](const StepReport& r) { return r.depth; });
  d["impacts"] = column([](const StepReport& r) { return r.impacts; });
  return d;
}

// The vertices of a soft body in every frame: (frames, vertices, 3).
py::array_t<float> soft_vertices(const Replay& replay, std::size_t body) {
  if (body >= replay.soft_bodies.size())
    throw py::index_error(
        fmt::format("soft body {} does not exist: there are {}", body, replay.soft_bodies.size()));
  const std::size_t count = replay.frames.empty() ? 0 : replay.frames[0].soft[body].size();
  py::array_t<float> all(std::vector<py::ssize_t>{static_cast<py::ssize_t>(replay.frames.size()),
                                                  static_cast<py::ssize_t>(count), 3});
  auto* to = reinterpret_cast<Vec3f*>(all.mutable_data());
  for (const ReplayFrame& frame : replay.frames)
    to = std::copy(frame.soft[body].begin(), frame.soft[body].end(), to);
  return all;
}

}  // namespace

void add_scene(py::module_& m) {
  py::class_<Run>(m, "Run", "A scene that was run, with its recording.")
      .def("go", &go, py::arg("steps"), py::kw_only(), py::arg("progress") = py::none(),
           "Goes on for that many steps. Raises Error if the run gets into trouble.")
      .def(
          "save",
          [](const Run& run, const std::string& path) { save_recording(path, parts_of(run)); },
          py::arg("path"), py::call_guard<py::gil_scoped_release>(),
          "Writes the recording: .html (a page that plays it), .glb, or the log as .csv.")
      .def(
          "page", [](const Run& run) { return run_page(parts_of(run)); },
          py::call_guard<py::gil_scoped_release>(), "The page that plays the run, as text.")
      .def_property_readonly("bodies",
                             [](const Run& run) {
                               std::vector<std::string> names;
                               for (const ReplayBody& b : run.inner.replay().bodies)
                                 names.push_back(b.name);
                               return names;
                             })
      .def_property_readonly("soft_bodies",
                             [](const Run& run) {
                               std::vector<std::string> names;
                               for (const ReplaySoftBody& b : run.inner.replay().soft_bodies)
                                 names.push_back(b.name);
                               return names;
                             })
      .def_property_readonly(
          "times", [](const Run& run) { return times_of(run.inner.replay()); },
          "Seconds of the recorded frames.")
      .def_property_readonly(
          "poses", [](const Run& run) { return poses_of(run.inner.replay()); },
          "(frames, bodies, 4, 4)")
      .def(
          "soft_vertices",
          [](const Run& run, std::size_t body) { return soft_vertices(run.inner.replay(), body); },
          py::arg("body"), "(frames, vertices, 3) of a soft body, metres.")
      .def_property_readonly(
          "log", [](const Run& run) { return log_of(run.inner.replay()); },
          "A dictionary of arrays with one number per step.")
      .def_property_readonly("report", [](const Run& run) { return describe(run.inner.report()); })
      .def_property_readonly(
          "deepest", [](const Run& run) { return run.inner.deepest(); },
          "Metres: the greatest depth of the whole run.")
      .def_property_readonly("hash", [](const Run& run) { return run.inner.hash(); })
      .def(
          "snapshot",
          [](const Run& run) {
            const std::vector<std::byte> bytes = run.inner.save();
            return py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
          },
          "The whole state; restore continues from it with the same bytes.")
      .def(
          "restore",
          [](Run& run, const py::bytes& snapshot) {
            const std::string_view bytes = snapshot;
            run.inner.restore(std::as_bytes(std::span(bytes.data(), bytes.size())));
          },
          py::arg("snapshot"))
      .def("__repr__", [](const Run& run) {
        return fmt::format("<isotact.Run: {} bodies, {} frames, {:.6g} s>",
                           run.inner.replay().bodies.size() + run.inner.replay().soft_bodies.size(),
                           run.inner.replay().frames.size(), run.inner.world().time());
      });
  m.def("run", &make_run, py::arg("scene"), py::kw_only(), py::arg("steps") = py::none(),
        py::arg("folder") = ".", py::arg("threads") = 0, py::arg("progress") = py::none(),
        "Runs a scene, a file's path, JSON text, or a dictionary (docs/scenes.md), and records it. "
        "folder: where files that a dictionary names are. Raises Error if the run gets into "
        "trouble.");
}

}  // namespace isotact::python

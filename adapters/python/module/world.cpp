#include "isotact/dynamics/rigid/world.h"

#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "isotact/base/error.h"

#include "arrays.h"
#include "exclusive.h"
#include "long_work.h"
#include "module.h"
#include "run_pages.h"
#include "shape_object.h"
#include "world_object.h"
#include "world_report.h"

namespace isotact::python {
namespace {

using SharedWorld = Exclusive<WorldObject>;

WorldSettings settings_of(double step, const py::object& gravity, double sleep_speed,
                          const std::string& solve, const std::string& impacts, int threads) {
  WorldSettings s{.step = step, .gravity = to_vec3(gravity, "gravity")};
  s.solve = static_cast<ForceSolve>(find_word(solve, "solve", {"implicit", "explicit", "step"}));
  s.impacts = static_cast<ImpactRule>(find_word(impacts, "impacts", {"off", "flagged", "auto"}));
  s.sleep_speed = sleep_speed;
  s.threads = to_threads(threads);
  return s;
}

BodyId checked(const World& world, BodyId body) {
  if (body >= world.body_count())
    throw py::index_error(
        fmt::format("body {} does not exist: the world has {}", body, world.body_count()));
  return body;
}

BodyId add_body(const SharedWorld& object, const py::object& shape, const std::string& name,
                const std::string& kind, const py::object& pose, double density,
                const py::object& mass, const py::object& velocity,
                const py::object& angular_velocity, double friction, double restitution,
                double stiffness, double damping_ratio, bool fast) {
  BodySettings s{.name = name, .pose = to_pose(pose, "pose")};
  s.kind = static_cast<BodyKind>(find_word(kind, "kind", {"dynamic", "kinematic", "static"}));
  if (!shape.is_none() && !py::isinstance<ShapeObject>(shape))
    throw py::type_error("shape: expected a Shape or None; a mesh becomes one by Shape(mesh)");
  if (!shape.is_none()) s.shape = shape.cast<const ShapeObject&>().shape;
  s.velocity = to_vec3(velocity, "velocity");
  s.angular_velocity = to_vec3(angular_velocity, "angular_velocity");
  s.material = {.stiffness = stiffness,
                .damping_ratio = damping_ratio,
                .friction = friction,
                .restitution = restitution};
  s.fast = fast;
  const double wanted = mass.is_none() ? 0 : mass.cast<double>();
  if (!mass.is_none() && !(wanted > 0 && std::isfinite(wanted)))
    throw py::value_error(fmt::format("mass: expected a positive number of kg, found {}", wanted));
  const py::gil_scoped_release unlocked;
  if (s.kind == BodyKind::kDynamic) {
    if (!s.shape) throw Error("a dynamic body needs a shape: its mass comes from it");
    const MassProperties& solid = s.shape->mass();
    s.mass = make_body_mass(solid, wanted > 0 ? wanted / solid.volume : density);
  }
  return object.use()->add_body(s);
}

std::size_t add_joint(const SharedWorld& object, const std::string& kind, BodyId a, BodyId b,
                      const py::object& place, const py::object& axis, const py::object& limits,
                      const py::object& motor, double friction, bool may_touch) {
  const auto use = object.use();
  World& world = use->world;
  checked(world, a);
  checked(world, b);
  JointSettings j{.a = a, .b = b};
  j.kind = static_cast<JointKind>(find_word(kind, "kind", {"ball", "hinge", "slider", "fixed"}));
  const Vec3 along = to_vec3(axis, "axis");
  if (!(length(along) > 0)) throw py::value_error("axis: expected a direction, found 0 0 0");
  const JointFrames frames = compute_joint_frames(world.pose(a), world.pose(b),
                                                  to_vec3(place, "place"), normalized(along));
  j.a_from_joint = frames.a_from_joint;
  j.b_from_joint = frames.b_from_joint;
  if (!limits.is_none()) {
    const auto n = to_numbers(limits, "limits", 2, "two numbers: lower, upper");
    j.limits = JointLimits{n.data()[0], n.data()[1]};
  }
  if (!motor.is_none()) {
    const auto n = to_numbers(motor, "motor", 2, "two numbers: velocity, greatest force");
    j.motor = Motor{n.data()[0], n.data()[1]};
  }
  j.friction = friction;
  j.may_touch = may_touch;
  return world.add_joint(j);
}

// Ends with an Error if the run is in trouble: figures that nobody should use are not returned.
py::dict step(const SharedWorld& object, std::uint64_t count, const py::object& progress) {
  const auto use = object.use();
  const World& world = use->world;
  const auto perform = [&](std::uint64_t steps) {
    for (std::uint64_t i = 0; i < steps && !world.trouble(); ++i) use->step();
  };
  constexpr std::uint64_t kAtOnce = 8;
  if (count <= kAtOnce && progress.is_none()) {
    {
      const py::gil_scoped_release unlocked;
      perform(count);
    }
    handle_signals();
  } else {
    run_long(progress, [&](const Monitor& monitor) {
      for (std::uint64_t i = 0; i < count && !world.trouble(); ++i) {
        monitor.check();
        monitor.report({"simulating", i, count});
        perform(1);
      }
    });
  }
  if (const auto& trouble = world.trouble())
    throw Error(
        fmt::format("the run is in trouble at {:.6g} s: {}", trouble->time, trouble->message));
  return describe(world.report());
}

py::array_t<double> rows_of(const World& world, Vec3 (*figure)(const RigidBody&)) {
  py::array_t<double> rows({static_cast<py::ssize_t>(world.body_count()), py::ssize_t{3}});
  for (std::size_t i = 0; i < world.body_count(); ++i) {
    const Vec3 v = figure(world.body(static_cast<BodyId>(i)));
    for (std::size_t k = 0; k < 3; ++k) rows.mutable_data()[3 * i + k] = v[k];
  }
  return rows;
}

py::array_t<double> poses_of(const World& world) {
  std::vector<Pose> poses;
  for (std::size_t i = 0; i < world.body_count(); ++i)
    poses.push_back(world.pose(static_cast<BodyId>(i)));
  return matrices_of(poses);
}

py::list contacts_of(const World& world) {
  py::list all;
  for (const PairContact& c : world.contacts()) {
    py::dict d;
    d["a"] = c.pair.a;
    d["b"] = c.pair.b;
    d["contact"] = c.contact;
    d["impulse"] = to_python(c.impulse);
    d["area"] = c.area;
    d["points"] = c.points;
    d["impact"] = c.impact;
    all.append(d);
  }
  return all;
}

void add_stepping(py::class_<SharedWorld>& c) {
  c.def("step", &step, py::arg("count") = std::uint64_t{1}, py::kw_only(),
        py::arg("progress") = py::none(),
        "Performs steps, and returns a report of the last one as a dictionary. Raises Error if the "
        "run gets into trouble: a body that flies apart, or energy that nobody gave.")
      .def(
          "move_to",
          [](const SharedWorld& o, BodyId body, const py::object& pose) {
            const auto use = o.use();
            use->world.move_to(checked(use->world, body), to_pose(pose, "pose"));
          },
          py::arg("body"), py::arg("pose"), "The pose of a kinematic body after the next step.")
      .def(
          "add_load",
          [](const SharedWorld& o, BodyId body, const py::object& force, const py::object& torque) {
            const auto use = o.use();
            use->world.add_load(checked(use->world, body),
                                {to_vec3(force, "force"), to_vec3(torque, "torque")});
          },
          py::arg("body"), py::arg("force") = py::make_tuple(0, 0, 0),
          py::arg("torque") = py::make_tuple(0, 0, 0),
          "A load on a body during the next step, about its centre of mass, in the world's frame.")
      .def(
          "set_pose",
          [](const SharedWorld& o, BodyId body, const py::object& pose) {
            const auto use = o.use();
            isotact::set_pose(use->world.body(checked(use->world, body)), to_pose(pose, "pose"));
            use->world.wake(body);
          },
          py::arg("body"), py::arg("pose"))
      .def(
          "set_velocity",
          [](const SharedWorld& o, BodyId body, const py::object& velocity,
             const py::object& angular) {
            const auto use = o.use();
            isotact::set_velocity(use->world.body(checked(use->world, body)),
                                  to_vec3(velocity, "velocity"),
                                  to_vec3(angular, "angular_velocity"));
            use->world.wake(body);
          },
          py::arg("body"), py::arg("velocity"),
          py::arg("angular_velocity") = py::make_tuple(0, 0, 0),
          "m/s of the centre of mass, rad/s, in the world's frame.")
      .def(
          "set_motor",
          [](const SharedWorld& o, std::size_t joint, double velocity, double max_force) {
            const auto use = o.use();
            use->world.set_motor(joint, {velocity, max_force});
          },
          py::arg("joint"), py::arg("velocity"), py::arg("max_force"))
      .def(
          "joint_position",
          [](const SharedWorld& o, std::size_t joint) {
            const auto use = o.use();
            if (joint >= use->world.joints().size())
              throw py::index_error(fmt::format("joint {} does not exist: the world has {}", joint,
                                                use->world.joints().size()));
            return use->world.joint_position(joint);
          },
          py::arg("joint"), "Radians of a hinge, metres of a slider.")
      .def(
          "ignore_pair",
          [](const SharedWorld& o, BodyId a, BodyId b) {
            const auto use = o.use();
            use->world.ignore_pair(checked(use->world, a), checked(use->world, b));
          },
          py::arg("a"), py::arg("b"), "These two bodies never touch.")
      .def(
          "save",
          [](const SharedWorld& o) {
            const auto use = o.use();
            const std::vector<std::byte> bytes = use->world.save();
            return py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
          },
          "The whole state; restore continues from it with the same bytes.")
      .def(
          "restore",
          [](const SharedWorld& o, const py::bytes& snapshot) {
            const auto use = o.use();
            const std::string_view bytes = snapshot;
            use->world.restore(std::as_bytes(std::span(bytes.data(), bytes.size())));
          },
          py::arg("snapshot"));
}

}  // namespace

py::dict describe(const StepReport& r) {
  py::dict d;
  d["step"] = r.number;
  d["time"] = r.time;
  d["pairs"] = r.pairs;
  d["contacts"] = r.contacts;
  d["points"] = r.points;
  d["impacts"] = r.impacts;
  d["substeps"] = r.substeps;
  d["asleep"] = r.asleep;
  d["held"] = r.held;
  d["depth"] = r.depth;
  d["kinetic"] = r.energies.kinetic;
  d["potential"] = r.energies.potential;
  d["springs"] = r.energies.springs;
  return d;
}

void add_world(py::module_& m) {
  py::class_<SharedWorld> c(
      m, "World",
      "Rigid bodies that move and push each other. For one thread at a time: a second one gets an "
      "Error.\n\n"
      "    world = World(step=1e-3)\n"
      "    world.add_body(Shape.plane(), kind='static')\n"
      "    bunny = world.add_body(shape, pose=Pose((0, 1, 0)))\n"
      "    world.step(1000)\n"
      "    world.poses[bunny]");
  c.def(py::init([](double step, const py::object& gravity, double sleep_speed,
                    const std::string& solve, const std::string& impacts, double frames_per_second,
                    int threads) {
          if (!(frames_per_second >= 0 && frames_per_second <= 1e6))
            throw py::value_error("frames_per_second: expected 0 (no recording) to a million");
          return std::make_unique<SharedWorld>(
              "the world", settings_of(step, gravity, sleep_speed, solve, impacts, threads),
              frames_per_second);
        }),
        py::kw_only(), py::arg("step") = 1e-3, py::arg("gravity") = py::make_tuple(0, -9.81, 0),
        py::arg("sleep_speed") = 0.0, py::arg("solve") = "implicit", py::arg("impacts") = "auto",
        py::arg("frames_per_second") = 0.0, py::arg("threads") = 0)
      .def("add_body", &add_body, py::arg("shape") = py::none(), py::kw_only(),
           py::arg("name") = "", py::arg("kind") = "dynamic", py::arg("pose") = py::none(),
           py::arg("density") = 1000.0, py::arg("mass") = py::none(),
           py::arg("velocity") = py::make_tuple(0, 0, 0),
           py::arg("angular_velocity") = py::make_tuple(0, 0, 0), py::arg("friction") = 0.5,
           py::arg("restitution") = 0.3, py::arg("stiffness") = 0.0, py::arg("damping_ratio") = 0.3,
           py::arg("fast") = false,
           "Returns the number of the body. kind: 'dynamic', 'kinematic' or 'static'. The mass is "
           "that of the solid with this density (kg/m^3), or `mass` (kg). stiffness 0: chosen.")
      .def("add_joint", &add_joint, py::arg("kind"), py::arg("a"), py::arg("b"), py::arg("place"),
           py::kw_only(), py::arg("axis") = py::make_tuple(1, 0, 0), py::arg("limits") = py::none(),
           py::arg("motor") = py::none(), py::arg("friction") = 0.0, py::arg("may_touch") = false,
           "Returns the number of the joint. kind: 'ball', 'hinge', 'slider' or 'fixed'; place and "
           "axis in the world's frame; motor: (velocity, greatest force).")
      .def_property_readonly(
          "poses",
          [](const SharedWorld& o) {
            const auto use = o.use();
            return poses_of(use->world);
          },
          "(bodies, 4, 4)")
      .def_property_readonly(
          "velocities",
          [](const SharedWorld& o) {
            const auto use = o.use();
            return rows_of(use->world, [](const RigidBody& b) { return velocity(b); });
          },
          "(bodies, 3): of the centres of mass, m/s.")
      .def_property_readonly(
          "angular_velocities",
          [](const SharedWorld& o) {
            const auto use = o.use();
            return rows_of(use->world, [](const RigidBody& b) { return angular_velocity(b); });
          },
          "(bodies, 3), rad/s.")
      .def(
          "pose",
          [](const SharedWorld& o, BodyId body) {
            const auto use = o.use();
            return use->world.pose(checked(use->world, body));
          },
          py::arg("body"))
      .def_property_readonly(
          "contacts",
          [](const SharedWorld& o) {
            const auto use = o.use();
            return contacts_of(use->world);
          },
          "Touching pairs of the last step.")
      .def_property_readonly("report",
                             [](const SharedWorld& o) {
                               const auto use = o.use();
                               return describe(use->world.report());
                             })
      .def_property_readonly("time",
                             [](const SharedWorld& o) {
                               const auto use = o.use();
                               return use->world.time();
                             })
      .def_property_readonly(
          "thinnest_wall",
          [](const SharedWorld& o) {
            const auto use = o.use();
            return use->world.thinnest_wall();
          },
          "Metres: no body ends behind a wall that is at least as thick.")
      .def_property_readonly("hash",
                             [](const SharedWorld& o) {
                               const auto use = o.use();
                               return use->world.hash();
                             })
      .def("__len__",
           [](const SharedWorld& o) {
             const auto use = o.use();
             return use->world.body_count();
           })
      .def("__repr__", [](const SharedWorld& o) {
        const auto use = o.use();
        return fmt::format("<isotact.World: {} bodies, {:.6g} s>", use->world.body_count(),
                           use->world.time());
      });
  add_stepping(c);
  c.def(
       "page",
       [](const SharedWorld& o) {
         const auto use = o.use();
         const Replay& replay = use->replay();
         return run_page({.scene = use->scene(), .world = use->world, .replay = replay});
       },
       py::call_guard<py::gil_scoped_release>(),
       "The page that plays the recording, as text; isotact.show displays it.")
      .def(
          "save_recording",
          [](const SharedWorld& o, const std::filesystem::path& path) {
            const auto use = o.use();
            const Replay& replay = use->replay();
            save_recording(path.string(),
                           {.scene = use->scene(), .world = use->world, .replay = replay});
          },
          py::arg("path"), py::call_guard<py::gil_scoped_release>(),
          "Writes the recording: .html (a page that plays it), .glb, or the log as .csv.");
}

}  // namespace isotact::python

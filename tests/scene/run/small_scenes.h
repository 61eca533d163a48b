// Scenes that take milliseconds.
#pragma once

#include <string>

#include "isotact/scene/run/run.h"

namespace isotact {

// Boxes and a ball that fall onto a ground, a pusher on a script, and a door on a hinge.
inline const char* kSmallScene = R"({
  "isotact_scene": 1,
  "name": "small",
  "about": ["a test", "of all sections"],
  "world": {"step": 0.002, "gravity": [0, -9.81, 0], "contact": "continuous", "impacts": "auto",
            "motion": "straight", "quadrature": "adaptive", "tolerance": 0.001},
  "run": {"steps": 200, "frames_per_second": 50},
  "view": {"yaw": 20, "pitch": 10, "zoom": 1, "box": [[-1, 0, -1], [1, 1, 1]]},
  "materials": {"wood": {"stiffness": 1e7, "damping_ratio": 0.4, "friction": 0.5,
                         "restitution": 0.1, "colour": "#a07040"}},
  "shapes": {"cube": {"make": "box", "with": {"segments": 2}, "size": 0.2, "resolution": 16,
                      "points": 100}},
  "bodies": [
    {"name": "ground", "kind": "static", "shape": {"field": "plane"}},
    {"name": "post", "kind": "static"},
    {"name": "cube", "shape": "cube", "material": "wood", "density": 700,
     "position": [0, 0.15, 0], "rotation": {"axis": [0, 1, 0], "degrees": 20},
     "repeat": {"count": [1, 2, 1], "spacing": [0, 0.25, 0], "jitter": 0.01, "seed": 3}},
    {"name": "ball", "mass": 2, "position": [0.4, 0.3, 0], "velocity": [-1, 0, 0],
     "angular_velocity": [0, 0, 1], "fast": true, "colour": "#336699",
     "shape": {"make": "sphere", "with": {"radius": 0.1, "frequency": 4}, "resolution": 16,
               "points": 100}},
    {"name": "pusher", "kind": "kinematic", "shape": "cube", "position": [-0.5, 0.1, 0]},
    {"name": "door", "shape": "cube", "position": [0, 0.3, 0.6], "material": "wood"}
  ],
  "joints": [
    {"name": "hinge", "kind": "hinge", "a": "post", "b": "door", "place": [0, 0.3, 0.6],
     "axis": [0, 1, 0], "motor": {"velocity": 1, "max_force": 5}}
  ],
  "scripts": [
    {"body": "pusher", "keys": [
      {"time": 0, "position": [-0.5, 0.1, 0]},
      {"time": 0.2, "position": [-0.3, 0.1, 0], "rotation": {"wxyz": [1, 0, 0, 0]}}]},
    {"body": "ball", "force": [0, 0, 3], "from": 0.1, "until": 0.2},
    {"joint": "hinge", "keys": [{"time": 0, "velocity": 0, "max_force": 5},
                                {"time": 0.1, "velocity": 2, "max_force": 5}]}
  ]
})";

}  // namespace isotact

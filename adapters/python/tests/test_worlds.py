"""Worlds, scenes, recordings and pages."""

import json
import os
import tempfile
import unittest

import numpy as np

import isotact

SCENE = {
    "name": "fall",
    "bodies": [
        {"name": "ground", "kind": "static", "shape": {"field": "plane"}},
        {"name": "ball", "shape": {"make": "sphere", "resolution": 32}, "position": [0, 1, 0]},
    ],
    "run": {"seconds": 0.5},
}


class Worlds(unittest.TestCase):
    def build(self, **settings):
        world = isotact.World(step=1e-3, **settings)
        world.add_body(isotact.Shape.plane(), kind="static", name="ground")
        ball = world.add_body(isotact.Shape.sphere(0.1), pose=isotact.Pose((0, 0.5, 0)), name="ball")
        return world, ball

    def test_a_ball_falls_and_rests(self):
        world, ball = self.build()
        report = world.step(100)
        self.assertAlmostEqual(report["time"], 0.1)
        self.assertAlmostEqual(world.poses[ball][1, 3], 0.5 - 9.81 * 0.1**2 / 2, delta=1e-3)
        self.assertAlmostEqual(world.velocities[ball][1], -0.981, places=3)
        world.step(2000)
        self.assertAlmostEqual(world.pose(ball).translation[1], 0.1, delta=2e-3)
        self.assertEqual({(c["a"], c["b"]) for c in world.contacts}, {(0, 1)})

    def test_snapshots_and_threads(self):
        one, _ = self.build(threads=1)
        two, _ = self.build(threads=2)
        one.step(300)
        two.step(150)
        kept = two.save()
        two.step(50)
        two.restore(kept)
        two.step(150)
        self.assertEqual(one.hash, two.hash)
        with self.assertRaises(isotact.Error):
            two.restore(b"nothing")

    def test_joints_motors_and_loads(self):
        world = isotact.World(gravity=(0, 0, 0))
        base = world.add_body(isotact.Shape.box((0.1, 0.1, 0.1)), kind="static")
        arm = world.add_body(isotact.Shape.box((1, 0.1, 0.1)), pose=isotact.Pose((0.6, 0, 0)))
        joint = world.add_joint("hinge", base, arm, (0, 0, 0), axis=(0, 0, 1), motor=(1.0, 1e5))
        world.step(500)
        self.assertAlmostEqual(world.joint_position(joint), 0.5, delta=0.02)
        world.set_motor(joint, 0, 0)
        world.set_velocity(arm, (0, 0, 0))
        world.add_load(arm, torque=(0, 0, 5))
        world.step()
        self.assertGreater(world.angular_velocities[arm][2], 0)
        with self.assertRaisesRegex(ValueError, "kind: expected one of"):
            world.add_joint("rope", base, arm, (0, 0, 0))
        with self.assertRaises(IndexError):
            world.pose(7)

    def test_bad_bodies(self):
        world = isotact.World()
        with self.assertRaises(isotact.Error):
            world.add_body(isotact.Shape.plane())  # It moves and has no mass.
        with self.assertRaises(isotact.Error):
            world.add_body(None)
        with self.assertRaisesRegex(ValueError, "mass"):
            world.add_body(isotact.Shape.sphere(1), mass=-1)
        with self.assertRaises(isotact.Error):
            isotact.World(step=-1)

    def test_recordings(self):
        world, _ = self.build(frames_per_second=50)
        world.step(400)
        with tempfile.TemporaryDirectory() as folder:
            for ending in ("html", "glb", "csv"):
                path = os.path.join(folder, "world." + ending)
                world.save_recording(path)
                self.assertGreater(os.path.getsize(path), 1000)
            page = isotact.show(world, os.path.join(folder, "page.html"))
            self.assertIn("<iframe", page._repr_html_())
            with self.assertRaisesRegex(isotact.Error, "not '.mp4'"):
                world.save_recording("world.mp4")
        with self.assertRaisesRegex(isotact.Error, "no recording"):
            isotact.show(isotact.World())


class Scenes(unittest.TestCase):
    def test_dictionaries_text_and_files(self):
        runs = [isotact.run(SCENE), isotact.run(json.dumps({"isotact_scene": 1, **SCENE}))]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "fall.json")
            with open(path, "w") as file:
                json.dump({"isotact_scene": 1, **SCENE}, file)
            runs.append(isotact.run(path))
        self.assertEqual(len({run.hash for run in runs}), 1)
        run = runs[0]
        self.assertEqual(run.bodies, ["ground", "ball"])
        self.assertEqual(run.poses.shape, (len(run.times), 2, 4, 4))
        self.assertAlmostEqual(run.log["time"][-1], 0.5)
        self.assertLess(run.poses[-1, 1, 1, 3], 0.6)
        run.go(10)
        self.assertEqual(run.report["step"], len(run.log["time"]))
        with self.assertRaisesRegex(isotact.Error, "is not known here"):
            isotact.run({**SCENE, "colour": 1})

    def test_soft_bodies(self):
        run = isotact.run(
            {
                "bodies": [{"kind": "static", "name": "g", "shape": {"field": "plane"}}],
                "soft_bodies": [
                    {"name": "cloth", "shape": {"sheet": [0.4, 0.4], "cells": [6, 6]},
                     "position": [0, 0.3, 0], "mass": 0.1}
                ],
                "run": {"steps": 20},
            }
        )
        self.assertEqual(run.soft_bodies, ["cloth"])
        vertices = run.soft_vertices(0)
        self.assertEqual(vertices.shape[1:], (49, 3))
        self.assertTrue(np.isfinite(vertices).all())


if __name__ == "__main__":
    unittest.main()

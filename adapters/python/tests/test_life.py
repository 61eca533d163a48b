"""What outlives what: interrupts, threads, leaks, odd orders of destruction."""

import gc
import os
import resource
import signal
import sys
import threading
import time
import unittest

import numpy as np

import isotact


class Life(unittest.TestCase):
    def test_interrupts_cancel_builds(self):
        mesh = isotact.Mesh.make("blob", triangles=200000)
        signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
        signal.setitimer(signal.ITIMER_REAL, 0.15)
        start = time.monotonic()
        try:
            with self.assertRaises(KeyboardInterrupt):
                isotact.Field.build(mesh, resolution=1500)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
        self.assertLess(time.monotonic() - start, 30)
        isotact.Field.build(mesh, resolution=32)  # All still works.

    def test_progress_is_shown_and_may_raise(self):
        seen = []
        mesh = isotact.Mesh.make("blob", triangles=100000)
        isotact.Field.build(mesh, resolution=512, progress=lambda *report: seen.append(report))
        self.assertTrue(seen)
        for task, done, total in seen:
            self.assertIsInstance(task, str)
            self.assertTrue(0 <= done and 0 <= total)

        def fail(*_):
            raise RuntimeError("enough")

        with self.assertRaisesRegex(RuntimeError, "enough"):
            for _ in range(20):  # A report comes after 50 ms.
                isotact.Field.build(mesh, resolution=1000, progress=fail)
        with self.assertRaises(TypeError):
            isotact.Field.build(mesh, progress=3)

    def test_many_threads(self):
        a = isotact.Shape(isotact.Mesh.make("blob", triangles=4000), on_demand=True)
        b = isotact.Shape(isotact.Mesh.make("gear"), on_demand=True)
        expected = isotact.distance(a, b, None, isotact.Pose((1.5, 0, 0))).distance
        found, failures = [], []

        def ask():
            try:
                found.append(isotact.distance(a, b, None, isotact.Pose((1.5, 0, 0))).distance)
                a.signed_distance(np.zeros((10, 3)))
            except Exception as error:  # noqa: BLE001
                failures.append(error)

        count = 1000 if "ISOTACT_SANITIZED" not in os.environ else 50
        threads = [threading.Thread(target=ask) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertEqual(set(found), {expected})

    def test_nothing_leaks(self):
        mesh = isotact.Mesh.make("box", segments=4)
        shape = isotact.Shape.sphere(0.3)
        points = np.random.default_rng(1).uniform(-1, 1, (1000, 3))

        def work():
            m = isotact.Mesh(mesh.vertices, mesh.faces)
            s = isotact.Shape(m, on_demand=True)
            isotact.collide(s, shape, None, np.eye(4)).contacts
            isotact.distance(s, shape, None, isotact.Pose((2, 0, 0))).gradients
            s.signed_distance(points, gradient=True)
            isotact.distance_poses(s, shape, np.tile(np.eye(4), (50, 1, 1)))
            for bad in (np.zeros(2), "x", None):
                try:
                    s.signed_distance(bad)
                except (TypeError, ValueError):
                    pass
            view = m.vertices
            del m, s
            return view.sum()

        for _ in range(10):
            work()
        gc.collect()
        before, references = self.memory(), sys.getrefcount(None)
        for _ in range(40):
            work()
        gc.collect()
        self.assertLess(sys.getrefcount(None) - references, 100)
        self.assertLess(self.memory() - before, 20e6)  # A leaked shape is a megabyte or more.

    @staticmethod
    def memory():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    def test_odd_orders(self):
        world = isotact.World()
        shape = isotact.Shape(isotact.Mesh.make("box"), resolution=32)
        world.add_body(shape, pose=isotact.Pose((0, 1, 0)))
        field, points, mesh = shape.field, shape.points, shape.mesh
        del shape
        world.step(5)
        del world
        gc.collect()
        self.assertEqual(points.shape[1], 3)
        self.assertLess(field.sample([[0, 0, 0]])[0], 0)
        self.assertEqual(len(mesh.faces), 12)
        contact = isotact.collide(isotact.Shape.sphere(1), isotact.Shape.sphere(1)).contacts[0]
        gc.collect()
        self.assertEqual(contact.normal.shape, (3,))


if __name__ == "__main__":
    unittest.main()

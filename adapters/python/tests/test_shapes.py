"""Meshes, fields and shapes."""

import os
import pickle
import tempfile
import unittest
import warnings

import numpy as np

import isotact

SEED = int(os.environ.get("ISOTACT_TEST_SEED", "1"))


class WithFaces:
    def __init__(self, mesh):
        self.vertices, self.faces = np.array(mesh.vertices, np.float64), np.array(mesh.faces, np.int64)


class WithTriangles:
    def __init__(self, mesh):
        self.vertices, self.triangles = list(mesh.vertices), list(mesh.faces)


def brute_distance(mesh, p):
    """The distance of a point to all triangles, one formula after the other: no code of the
    library."""
    a, b, c = (mesh.vertices.astype(np.float64)[mesh.faces[:, k].astype(np.int64)] for k in range(3))
    n = np.cross(b - a, c - a)
    area = np.maximum((n * n).sum(axis=1), 1e-300)
    sides = [(np.cross(v - u, p - u) * n).sum(axis=1) for u, v in ((a, b), (b, c), (c, a))]
    above = np.min(sides, axis=0) >= 0
    plane = np.where(above, np.abs(((p - a) * n).sum(axis=1)) / np.sqrt(area), np.inf)
    best = plane.min()
    for u, v in ((a, b), (b, c), (c, a)):
        d = v - u
        t = np.clip(((p - u) * d).sum(axis=1) / np.maximum((d * d).sum(axis=1), 1e-300), 0, 1)
        best = min(best, np.linalg.norm(p - u - t[:, None] * d, axis=1).min())
    return best


class Meshes(unittest.TestCase):
    def test_anything_with_vertices_and_faces(self):
        mesh = isotact.Mesh.make("gear")
        for other in (WithFaces(mesh), WithTriangles(mesh), (mesh.vertices, mesh.faces)):
            self.assertEqual(isotact.Mesh.of(other), mesh)
        with self.assertRaisesRegex(TypeError, "vertices and faces"):
            isotact.Mesh.of(3)
        self.assertEqual(pickle.loads(pickle.dumps(mesh)), mesh)

    def test_files(self):
        mesh = isotact.Mesh.make("torus")
        with tempfile.TemporaryDirectory() as folder:
            for ending in ("obj", "stl", "ply", "glb"):
                path = os.path.join(folder, "torus." + ending)
                mesh.save(path)
                again = isotact.Mesh.read(path)
                self.assertEqual(len(again.faces), len(mesh.faces))
            small = isotact.Mesh.read(os.path.join(folder, "torus.obj"), unit="mm")
            np.testing.assert_allclose(small.bounds, mesh.bounds / 1000, rtol=1e-6)
        with self.assertRaisesRegex(isotact.Error, "No such file"):
            isotact.Mesh.read("missing.stl")
        with self.assertRaisesRegex(isotact.Error, "furlong"):
            isotact.Mesh.read("missing.stl", unit="furlong")

    def test_flaws_and_repair(self):
        mesh = isotact.Mesh.make("box", segments=4)
        self.assertTrue(mesh.flaws()["watertight"])
        self.assertAlmostEqual(mesh.mass_properties(density=2)["mass"], 2)
        faces = mesh.faces.copy()
        faces[3] = faces[3][::-1]
        torn = isotact.Mesh(mesh.vertices, faces[:-1])
        flaws = torn.flaws(self_intersections=True)
        self.assertFalse(flaws["watertight"])
        self.assertTrue(flaws["in_words"])
        mended, report = torn.repair(fill_holes=True)
        self.assertTrue(mended.flaws()["watertight"], report)
        self.assertEqual(report["filled_holes"], 1)

    def test_unknown_shapes(self):
        with self.assertRaisesRegex(isotact.Error, "did you mean gear"):
            isotact.Mesh.make("gaer")
        self.assertIn("gear", isotact.Mesh.shapes())


class Fields(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.mesh = isotact.Mesh.make("blob", triangles=4000)
        cls.field = isotact.Field.build(cls.mesh, resolution=96, threads=2)
        cls.shape = isotact.Shape(cls.mesh, resolution=96)

    def test_exact_distances_are_those_of_the_triangles(self):
        points = np.random.default_rng(SEED).uniform(-0.15, 0.25, (60, 3))
        found = self.shape.signed_distance(points, accuracy="exact")
        for point, distance in zip(points.astype(np.float32).astype(float), found):
            self.assertAlmostEqual(abs(distance), brute_distance(self.mesh, point), places=7)

    def test_fields_are_within_their_bounds(self):
        points = np.random.default_rng(SEED + 1).uniform(-0.15, 0.25, (5000, 3))
        exact = self.shape.signed_distance(points, accuracy="exact")
        bounds = self.field.distance_bounds(points)
        self.assertTrue((bounds[:, 0] <= exact + 1e-7).all() and (exact - 1e-7 <= bounds[:, 1]).all())
        values, gradients = self.field.sample(points, gradient=True)
        near = np.abs(exact) < self.field.near_reach
        self.assertGreater(near.sum(), 100)
        self.assertLessEqual(np.abs(values - exact)[near].max(), self.field.near_error + 1e-6)
        self.assertGreater((exact < 0).mean(), 0.005)
        sure = np.abs(exact) > self.field.near_error
        self.assertTrue(((values < 0) == (exact < 0))[sure & near].all())
        self.assertEqual(gradients.dtype, np.float32)

    def test_gradients_are_slopes(self):
        points = np.random.default_rng(SEED + 2).uniform(-0.15, 0.25, (300, 3))
        points = points.astype(np.float32).astype(np.float64)
        distance, gradient = self.shape.signed_distance(points, gradient=True)
        np.testing.assert_allclose(np.linalg.norm(gradient, axis=1), 1, atol=1e-6)
        step = 2.0**-12
        along = self.shape.signed_distance(points + step * gradient)
        off = np.abs((along - distance) / step - 1)
        # The surface bends and has creases: not at all points is the next one as simple.
        self.assertGreater((off < 1e-2).mean(), 0.9)

    def test_files_slices_and_surfaces(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "blob.isotact")
            self.field.save(path)
            points = np.random.default_rng(SEED + 3).uniform(-0.1, 0.2, (1000, 3))
            for mapped in (False, True):
                again = isotact.Field.load(path, map=mapped)
                np.testing.assert_array_equal(again.sample(points), self.field.sample(points))
            with self.assertRaises(isotact.Error):
                isotact.Field.load(os.path.join(folder, "missing.isotact"))
            asset = os.path.join(folder, "shape.isotact")
            self.shape.save(asset)
            loaded = isotact.Shape.load(asset)
            here = isotact.Pose((0.1, 0.1, 0))
            self.assertEqual(
                isotact.distance(loaded, self.shape, here).distance,
                isotact.distance(self.shape, self.shape, here).distance,
            )
        picture = self.field.slice("y", 0.1, pixels=64)
        self.assertEqual(max(picture.shape), 64)
        self.assertLess(picture.min(), 0)
        self.assertEqual(self.field.nodes(stride=8).ndim, 3)
        surface = self.field.isosurface(0.01)
        self.assertTrue(surface.flaws()["watertight"])

    def test_dirty_meshes_are_named(self):
        faces = self.mesh.faces[: len(self.mesh.faces) // 2]
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            isotact.Field.build((self.mesh.vertices, faces), resolution=48)
        self.assertTrue(any("closed" in str(w.message) for w in seen), [str(w.message) for w in seen])
        with self.assertRaises(isotact.Error):
            isotact.Field.build((np.zeros((3, 3)), [[0, 1, 2]]))
        with self.assertRaisesRegex(ValueError, "keep_thin: expected one of"):
            isotact.Field.build(self.mesh, keep_thin="yes")


class Solids(unittest.TestCase):
    def test_formulas(self):
        points = np.random.default_rng(SEED + 4).uniform(-2, 2, (1000, 3))
        ball = isotact.Shape.sphere(0.5)
        np.testing.assert_allclose(
            ball.signed_distance(points), np.linalg.norm(points, axis=1) - 0.5, atol=1e-12
        )
        ground = isotact.Shape.plane((0, 0, 2), 1)
        np.testing.assert_allclose(ground.signed_distance(points), points[:, 2] - 1, atol=1e-12)
        plate = isotact.Shape.box((1, 0.2, 1)) - isotact.Shape.cylinder(0.3, 1)
        self.assertGreater(plate.signed_distance([[0, 0, 0]])[0], 0.2)
        two = ball | ball.placed((2, 0, 0, 1, 0, 0, 0))
        self.assertAlmostEqual(two.signed_distance([[2, 0, 0]])[0], -0.5)
        both = ball & isotact.Shape.box((0.2, 2, 2))
        self.assertGreater(both.signed_distance([[0.3, 0, 0]])[0], 0)
        with self.assertRaisesRegex(ValueError, "radius: expected a positive length"):
            isotact.Shape.sphere(-1)
        with self.assertRaisesRegex(isotact.Error, "simple solids"):
            isotact.Shape(isotact.Mesh.make("box"), on_demand=True) | ball

    def test_terrain(self):
        heights = np.zeros((5, 9))
        heights[2, 4] = 1
        ground = isotact.Shape.terrain(heights, 0.5)
        self.assertLess(ground.signed_distance([[0, 0.5, 0]])[0], 0)
        self.assertGreater(ground.signed_distance([[1.5, 0.5, 0]])[0], 0)
        with self.assertRaisesRegex(ValueError, "heights"):
            isotact.Shape.terrain(np.zeros(4), 1)

    def test_segments(self):
        shape = isotact.Shape(isotact.Mesh.make("sphere"), resolution=64)
        starts = np.array([[-1, 0, 0], [-1, 2, 0], [0, 0, 0]], np.float32)
        ends = np.array([[1, 0, 0], [1, 2, 0], [0, 1, 0]], np.float32)
        first, intervals = shape.trace(starts, ends)
        self.assertEqual(first.tolist(), [0, 1, 1, 2])
        np.testing.assert_allclose(intervals, [[0.25, 0.75], [0, 0.5]], atol=5e-3)
        any_first, _ = shape.trace(starts, ends, mode="any")
        self.assertEqual(any_first.tolist(), [0, 1, 1, 2])
        with self.assertRaisesRegex(ValueError, "ends: expected 3 rows"):
            shape.trace(starts, ends[:2])


if __name__ == "__main__":
    unittest.main()

"""Certificates, voxelmaps, and shapes that travel between processes."""

import copy
import multiprocessing
import os
import pickle
import tempfile
import unittest
import warnings

import numpy as np

import isotact

SEED = int(os.environ.get("ISOTACT_TEST_SEED", "1"))
SANITIZED = "ISOTACT_SANITIZED" in os.environ


def turned(rng):
    q = rng.normal(size=4)
    return isotact.Pose(rng.uniform(-0.7, 0.7, 3), wxyz=q / np.linalg.norm(q))


def distance_of(job):
    a, b, pose = job
    return isotact.distance(a, b, None, pose).distance


class Certificates(unittest.TestCase):
    def setUp(self):
        self.gear = isotact.Mesh.make("gear")
        self.torus = isotact.Mesh.make("torus")

    def test_motions_that_stay_free(self):
        r = isotact.certify(self.gear, self.torus, from_a=isotact.Pose((2, 0, 0)),
                            to_a=isotact.Pose((2, 0, 1), axis=(0, 1, 0), degrees=90))
        self.assertEqual(r.status, "free")
        self.assertEqual(r.certificate.claim, "free")
        self.assertLessEqual(r.certificate.clearance, r.distance)
        self.assertGreaterEqual(r.certificate.clearance, 0.89 * r.lower_bound)
        self.assertTrue(r.certificate.check(self.gear, self.torus))
        self.assertIsNone(r.certificate.time)
        # Another mesh, and another motion, are not what it proves.
        other = r.certificate.check(self.torus, self.gear)
        self.assertFalse(other.holds)
        self.assertNotEqual(other.reason, "")

    def test_first_contacts(self):
        a, b = isotact.Shape(self.gear, on_demand=True), isotact.Shape(self.torus, on_demand=True)
        r = isotact.certify(a, b, from_a=isotact.Pose((2, 0, 0)), to_a=isotact.Pose((0, 0, 0)))
        self.assertEqual(r.status, "contact")
        first = isotact.continuous_collide(a, b, from_a=isotact.Pose((2, 0, 0)),
                                           to_a=isotact.Pose((0, 0, 0)))
        self.assertAlmostEqual(r.certificate.time, first.time, delta=3e-6)
        self.assertLess(r.certificate.free_until, r.certificate.time)
        self.assertTrue(r.certificate.check(a, b).holds)
        self.assertFalse(r.certificate.check(a, b, time_tolerance=1e-15).holds)

    def test_files_and_pickles(self):
        r = isotact.certify(self.gear, self.torus, from_a=isotact.Pose((2, 0, 0)))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "apart.certificate")
            r.certificate.save(path)
            self.assertEqual(isotact.Certificate.load(path), r.certificate)
            with open(path, "a", encoding="utf-8") as file:
                file.write("more\n")
            with self.assertRaises(isotact.Error):
                isotact.Certificate.load(path)
        again = pickle.loads(pickle.dumps(r.certificate))
        self.assertEqual(again, r.certificate)
        self.assertEqual(hash(again), hash(r.certificate))
        self.assertNotEqual(again, 3)

    def test_what_cannot_be_proved(self):
        near = isotact.certify(self.gear, self.torus, from_a=isotact.Pose((2, 0, 0)), clearance=9.0)
        self.assertEqual(near.status, "closer")
        self.assertIsNone(near.certificate)
        self.assertNotEqual(near.reason, "")
        with self.assertRaisesRegex(isotact.Error, "triangles"):
            isotact.certify(isotact.Shape.sphere(1), self.torus)
        with self.assertRaisesRegex(ValueError, "motion"):
            isotact.certify(self.gear, self.torus, motion="sideways")


class Voxmaps(unittest.TestCase):
    def test_layers(self):
        map = isotact.Voxmap.build(isotact.Mesh.make("sphere"), resolution=32)
        values = map.values
        self.assertEqual(values.dtype, np.int16)
        self.assertFalse(values.flags.writeable)
        # Chessboard distances: neighbours differ by one at most.
        for axis in range(3):
            self.assertLessEqual(np.abs(np.diff(values.astype(int), axis=axis)).max(), 1)
        centers = [map.origin[k] + (np.arange(values.shape[2 - k]) + 0.5) * map.voxel_size
                   for k in range(3)]
        z, y, x = np.meshgrid(centers[2], centers[1], centers[0], indexing="ij")
        distance = np.sqrt(x * x + y * y + z * z) - 0.5
        away = np.abs(distance) > map.voxel_size
        self.assertTrue(((values > 0) == (distance < 0))[away].all())

    def test_penetration(self):
        rng = np.random.default_rng(SEED)
        points = rng.uniform(-0.5, 0.5, (2000, 3))
        mesh = isotact.Mesh.make("torus")
        exact = isotact.Shape(mesh, on_demand=True).signed_distance(points)
        support = isotact.Voxmap.build(mesh, resolution=64, encoding="support")
        near = np.abs(exact) < 0.05
        found = support.penetration(points)
        self.assertLess(np.median(np.abs(found + exact)[near]), 0.1 * support.voxel_size)
        inward = rng.normal(size=(2000, 3))
        inward /= np.linalg.norm(inward, axis=1)[:, None]
        for encoding in ("layers", "scaled"):
            map = isotact.Voxmap.build(mesh, resolution=64, encoding=encoding)
            error = np.abs(map.penetration(points, inward) + exact)[near]
            self.assertLess(error.max(), (6 if encoding == "layers" else 2) * map.voxel_size)
            with self.assertRaisesRegex(ValueError, "inward_normals"):
                map.penetration(points)
        with self.assertRaisesRegex(ValueError, "2000 rows"):
            support.penetration(points, inward[:5])

    def test_views_keep_the_map_and_shapes_use_it(self):
        map = isotact.Voxmap.build(isotact.Mesh.make("sphere"), resolution=24)
        shape = map.shape
        values = map.values
        total = int(values.astype(np.int64).sum())
        del map
        self.assertEqual(int(values.astype(np.int64).sum()), total)
        ball = isotact.Shape.sphere(0.5)
        for far, status in ((0.7, "contact"), (1.2, "free")):
            found = isotact.collide(ball, shape, isotact.Pose((far, 0, 0)), accuracy="field")
            self.assertEqual(found.status, status)

    def test_bad_input(self):
        mesh = isotact.Mesh.make("sphere")
        with self.assertRaisesRegex(ValueError, "encoding"):
            isotact.Voxmap.build(mesh, encoding="bits")
        with self.assertRaises((ValueError, isotact.Error)):
            isotact.Voxmap.build(mesh, resolution=10**6)
        with self.assertRaisesRegex(ValueError, "padding"):
            isotact.Voxmap.build(mesh, padding=-1)


class Travellers(unittest.TestCase):
    """Shapes in pickles give the same answers, bit for bit."""

    def shapes(self):
        heights = np.random.default_rng(SEED).uniform(-0.1, 0.1, (5, 4))
        box = isotact.Shape.box((0.5, 0.4, 0.3))
        yield isotact.Shape.plane((1, 2, 0.5), -0.2)
        yield box
        yield isotact.Shape.sphere(0.31)
        yield isotact.Shape.capsule(0.2, 0.3)
        yield isotact.Shape.cylinder(0.2, 0.3)
        yield isotact.Shape.cone(0.2, 0.3)
        yield isotact.Shape.torus(0.3, 0.1)
        yield isotact.Shape.terrain(heights, 0.2)
        yield (box - isotact.Shape.sphere(0.2)) | isotact.Shape.cone(0.1, 0.9)
        yield (box & box.placed(isotact.Pose((0.1, 0, 0), axis=(1, 1, 0), degrees=20), scale=1.1))
        yield isotact.Shape(isotact.Mesh.make("gear"), resolution=48)
        yield isotact.Shape.of_field(isotact.Field.build(isotact.Mesh.make("torus"), resolution=32))
        yield isotact.Voxmap.build(isotact.Mesh.make("torus"), resolution=24).shape

    def test_answers(self):
        rng = np.random.default_rng(SEED + 1)
        points = rng.uniform(-0.6, 0.6, (300, 3))
        ball = isotact.Shape.sphere(0.2)
        for shape in self.shapes():
            again = pickle.loads(pickle.dumps(shape))
            with self.subTest(repr(shape)):
                self.assertEqual(repr(again), repr(shape))
                np.testing.assert_array_equal(again.signed_distance(points),
                                              shape.signed_distance(points))
                for _ in range(10):
                    pose = turned(rng)
                    one, two = (isotact.collide(s, ball, None, pose) for s in (shape, again))
                    self.assertEqual((one.status, one.exact, len(one.contacts)),
                                     (two.status, two.exact, len(two.contacts)))
                    for c, d in zip(one.contacts, two.contacts):
                        np.testing.assert_array_equal(c.position, d.position)
                        self.assertEqual(c.depth, d.depth)

    def test_shared_parts_are_written_once(self):
        solid = isotact.Shape.sphere(0.5)
        for _ in range(14):
            solid = solid | solid
        self.assertLess(len(pickle.dumps(solid)), 2_000)
        again = pickle.loads(pickle.dumps(solid))
        self.assertEqual(repr(again), repr(solid))
        chain = isotact.Shape.sphere(0.5)
        for i in range(900):
            chain = chain | isotact.Shape.sphere(0.5 + 1e-4 * i)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(chain)).bounds, chain.bounds)
        self.assertIs(type(copy.deepcopy([chain])[0]), isotact.Shape)

    @unittest.skipIf(SANITIZED, "new processes would load the sanitizer late")
    def test_other_processes(self):
        rng = np.random.default_rng(SEED)
        a = isotact.Shape(isotact.Mesh.make("gear"), resolution=32)
        b = isotact.Shape.box((0.1, 0.2, 0.3)) - isotact.Shape.sphere(0.04)
        jobs = [(a, isotact.Shape.box((0.1, 0.2, 0.3)), turned(rng)) for _ in range(8)]
        here = [distance_of(j) for j in jobs]
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            self.assertEqual(pool.map(distance_of, jobs), here)
            self.assertEqual(pool.map(repr, [b]), [repr(b)])

    def test_damaged_pickles(self):
        def load(state):
            shape = isotact.Shape.__new__(isotact.Shape)
            shape.__setstate__(state)
            return shape

        good = isotact.Shape.sphere(1).__getstate__()
        bad = [
            (), 3, ("solid",), ("solid", []), ("solid", [("egg", [1.0], [])]), ("asset", "text"),
            ("asset", b"ISOTACT"), ("solid", [("sphere", [1.0, 2.0], [])]),
            ("solid", [("sphere", [-1.0], [])]), ("solid", [("union", [], [0, 1])]),
            ("solid", [("terrain", [1e18, 1e18, 0.1], [])]),
            ("solid", [("sphere", [float("nan")], [])]), (3, good[1]),
        ]
        self.assertIs(type(load(good)), isotact.Shape)
        for state in bad:
            with self.subTest(repr(state)[:60]), self.assertRaises(
                    (ValueError, TypeError, isotact.Error)):
                load(state)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            asset = isotact.Shape(isotact.Mesh.make("gear"), resolution=24).__getstate__()[1]
        rng = np.random.default_rng(SEED)
        for _ in range(20 if SANITIZED else 60):
            damaged = bytearray(asset)
            damaged[rng.integers(len(asset))] ^= 1 << int(rng.integers(8))
            try:
                load(("asset", bytes(damaged)))
            except isotact.Error:
                pass


if __name__ == "__main__":
    unittest.main()

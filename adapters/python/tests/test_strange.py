"""What a stranger tried: each of these crashed, or gave invented data."""

import copy
import pathlib
import pickle
import tempfile
import unittest
import warnings

import numpy as np

import isotact


class Strange(unittest.TestCase):
    def test_joints_that_do_not_exist(self):
        world = isotact.World()
        world.add_body(isotact.Shape.box((1, 1, 1)), pose=isotact.Pose((0, 1, 0)))
        with self.assertRaises(IndexError):
            world.joint_position(0)
        with self.assertRaises(IndexError):
            world.ignore_pair(0, 9)

    def test_long_chains_of_combinations(self):
        ball = isotact.Shape.sphere(0.1)
        chain = ball
        with self.assertRaisesRegex(isotact.Error, "chain"):
            for _ in range(50000):
                chain = chain | ball
        del chain

    def test_combinations_are_not_called_exact(self):
        lens = isotact.Shape.sphere(1) & isotact.Shape.sphere(1).placed((1, 0, 0, 1, 0, 0, 0))
        with self.assertRaisesRegex(isotact.Error, "bounds of distances"):
            lens.signed_distance([[0, 0, 0]], accuracy="exact")
        self.assertLess(lens.signed_distance([[0.5, 0, 0]])[0], 0)

    def test_comparisons_with_other_types(self):
        mesh, pose = isotact.Mesh.make("box"), isotact.Pose()
        self.assertFalse(mesh in [1, None])
        self.assertTrue(mesh != None)  # noqa: E711
        self.assertFalse(pose == "pose")
        self.assertEqual(len({pose, isotact.Pose()}), 1)

    def test_paths(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "box.obj"
            isotact.Mesh.make("box").save(path)
            self.assertEqual(len(isotact.Mesh.read(path).faces), 12)
            self.assertTrue(isotact.Shape.load(path, on_demand=True).bounds.any())

    def test_numbers_of_wrong_types(self):
        mesh = isotact.Mesh.make("box")
        for bad in (10.5, "128", float("nan"), 2**40, [3]):
            with self.assertRaisesRegex((TypeError, ValueError), "resolution: expected"):
                isotact.Field.build(mesh, resolution=bad)
        with self.assertRaisesRegex(TypeError, "voxel_size: expected a number"):
            isotact.Field.build(mesh, voxel_size="small")
        with self.assertRaisesRegex(TypeError, "Shape"):
            isotact.World().add_body(mesh)
        for bad in (None, 5, []):
            with self.assertRaises(TypeError):
                isotact.run(bad)

    def test_nothing_is_invented(self):
        ball = isotact.Shape.sphere(0.5)
        free = isotact.continuous_collide(ball, ball, from_b=(9, 0, 0, 1, 0, 0, 0))
        self.assertIsNone(free.contact)
        self.assertIsNone(free.nearest)
        self.assertIsNone(free.time_of_distance)
        far = isotact.distance(ball, ball, None, (9, 0, 0, 1, 0, 0, 0), max_distance=1)
        self.assertEqual((far.point_on_a, far.normal, far.gradients), (None, None, None))
        self.assertGreaterEqual(far.lower_bound, 1)
        row = isotact.distance_poses(ball, ball, [[9, 0, 0, 1, 0, 0, 0]], max_distance=1)[0]
        self.assertTrue(np.isinf(row["distance"]))
        for column in ("point_on_a", "normal", "gradient_b"):
            self.assertTrue(np.isnan(row[column]).all(), column)

    def test_states_of_one_body(self):
        ball = isotact.Shape.sphere(0.5)
        poses = np.tile(np.eye(4), (7, 1, 1, 1))
        self.assertEqual(isotact.distance_states([ball], np.zeros((0, 2), int), poses).shape, (7, 0))

    def test_boxes_are_tight(self):
        mesh = isotact.Mesh.make("box")
        np.testing.assert_array_equal(isotact.Shape(mesh, resolution=32).bounds, mesh.bounds)

    def test_copies_and_pickles(self):
        shape = isotact.Shape(isotact.Mesh.make("box"), resolution=32)
        other = copy.deepcopy(shape)
        self.assertEqual(isotact.distance(shape, other).distance, isotact.distance(shape, shape).distance)
        field = pickle.loads(pickle.dumps(shape.field))
        points = np.random.default_rng(1).uniform(-1, 1, (100, 3))
        np.testing.assert_array_equal(field.sample(points), shape.field.sample(points))
        self.assertEqual(copy.copy(isotact.Pose((1, 2, 3))), isotact.Pose((1, 2, 3)))

    def test_coarse_coordinates_are_said(self):
        mesh = isotact.Mesh.make("box")
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            isotact.Mesh(mesh.vertices.astype(float) + 1e7, mesh.faces)
        self.assertTrue(any("float32" in str(w.message) for w in seen))


if __name__ == "__main__":
    unittest.main()

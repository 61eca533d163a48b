"""Arrays in and out: types, shapes, views, and what is refused."""

import unittest

import numpy as np

import isotact


class Speaks:
    """Only DLPack, as arrays of other libraries do."""

    def __init__(self, array, device=1):
        self._array, self._device = array, device

    def __dlpack__(self, stream=None):
        return self._array.__dlpack__()

    def __dlpack_device__(self):
        return (self._device, 0)


class Arrays(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sphere = isotact.Shape.sphere(0.5)
        cls.field = isotact.Field.build(isotact.Mesh.make("sphere"), resolution=48)
        cls.points = np.random.default_rng(3).uniform(-1, 1, (100, 3))

    def test_types_of_numbers_agree(self):
        expected = np.linalg.norm(self.points, axis=1) - 0.5
        for points in (
            self.points,
            self.points.astype(np.float32),
            self.points.tolist(),
            tuple(map(tuple, self.points)),
            np.asfortranarray(self.points),
            Speaks(self.points),
        ):
            found = self.sphere.signed_distance(points)
            np.testing.assert_allclose(found, expected, atol=1e-6)
        whole = np.array([[1, 0, 0], [0, 2, 0]])
        np.testing.assert_allclose(self.sphere.signed_distance(whole), [0.5, 1.5])

    def test_views_that_are_not_contiguous(self):
        wide = np.zeros((50, 7))
        wide[:, 2:5] = self.points[:50]
        expected = self.sphere.signed_distance(self.points[:50])
        np.testing.assert_array_equal(self.sphere.signed_distance(wide[:, 2:5]), expected)
        np.testing.assert_array_equal(
            self.sphere.signed_distance(self.points[:50][::-1]), expected[::-1]
        )
        np.testing.assert_array_equal(
            self.sphere.signed_distance(self.points[:50].astype(">f8")), expected
        )

    def test_empty_arrays_have_empty_answers(self):
        for empty in (np.zeros((0, 3)), np.zeros((0, 3), np.float32), []):
            self.assertEqual(self.sphere.signed_distance(empty).shape, (0,))
            distance, gradient = self.field.sample(empty, gradient=True)
            self.assertEqual((distance.shape, gradient.shape), ((0,), (0, 3)))
        rows = isotact.collide_poses(self.sphere, self.sphere, np.zeros((0, 4, 4)))
        self.assertEqual(len(rows), 0)

    def test_what_is_wrong_is_said(self):
        for points, kind, words in (
            (np.zeros((5, 2)), ValueError, r"points: expected .*\(N, 3\).*found \(5, 2\) of float64"),
            (np.zeros(3), ValueError, r"found \(3,\) of float64"),
            (np.zeros((2, 3), bool), TypeError, "of bool"),
            (np.zeros((2, 3), complex), TypeError, "of complex128"),
            (np.array([[object()] * 3]), TypeError, "of object"),
            ([[1, 2, 3], [4, 5]], (TypeError, ValueError), "points"),
            ("text", ValueError, "points"),
            (None, (TypeError, ValueError), "points"),
            (np.array([[0, 0, 0], [0, np.nan, 0]]), ValueError, "row 1 is .0, nan, 0."),
            (np.array([[np.inf, 0, 0]], np.float32), ValueError, "row 0"),
            (Speaks(self.points, device=2), (TypeError, ValueError), "another device"),
        ):
            with self.subTest(words=words):
                with self.assertRaisesRegex(kind, words):
                    self.sphere.signed_distance(points)
                with self.assertRaises((TypeError, ValueError)):
                    self.field.sample(points)

    def test_poses(self):
        pose = isotact.Pose((1, 2, 3), axis=(0, 0, 1), degrees=90)
        matrix = pose.matrix()
        np.testing.assert_allclose(matrix[:3, 3], (1, 2, 3))
        np.testing.assert_allclose(pose.apply([[1, 0, 0]]), [[1, 3, 3]], atol=1e-12)
        seven = np.concatenate([pose.translation, pose.wxyz])
        box = isotact.Shape.box((1, 2, 3))
        expected = isotact.distance(box, self.sphere, None, pose).distance
        for other in (matrix, matrix.tolist(), seven, matrix.astype(np.float32)):
            found = isotact.distance(box, self.sphere, None, other).distance
            self.assertAlmostEqual(found, expected, places=6)
        again = isotact.Pose.parse(str(pose))
        np.testing.assert_allclose(again.matrix(), matrix, atol=1e-15)
        np.testing.assert_allclose((pose * pose.inverse()).matrix(), np.eye(4), atol=1e-12)
        for bad, words in (
            (2 * np.eye(4), "last row"),
            (np.diag([2, 2, 2, 1]), "scales or shears"),
            (np.diag([-1, 1, 1, 1]), "mirrors"),
            (np.eye(3), "pose_b: expected"),
            ([0, 0, 0, 2, 0, 0, 0], "unit quaternion"),
            ([0, 0, np.nan, 1, 0, 0, 0], "finite"),
        ):
            with self.subTest(words=words), self.assertRaisesRegex(ValueError, words):
                isotact.distance(box, self.sphere, None, bad)
        poses = np.tile(np.eye(4), (3, 1, 1))
        poses[1, 0, 0] = -1
        with self.assertRaisesRegex(ValueError, r"poses_b\[1\].*mirrors"):
            isotact.collide_poses(box, self.sphere, poses)

    def test_views_of_meshes_outlive_them(self):
        mesh = isotact.Mesh.make("box")
        vertices, faces = mesh.vertices, mesh.faces
        expected = vertices.copy()
        del mesh
        isotact.Mesh.make("sphere")
        np.testing.assert_array_equal(vertices, expected)
        self.assertFalse(vertices.flags.writeable)
        self.assertFalse(faces.flags.writeable)


if __name__ == "__main__":
    unittest.main()

"""Pairs: verdicts, distances, first contacts, batches and gradients."""

import os
import unittest

import numpy as np

import isotact

SEED = int(os.environ.get("ISOTACT_TEST_SEED", "1"))


def random_poses(count, reach, seed):
    random = np.random.default_rng(seed)
    poses = np.zeros((count, 7))
    poses[:, :3] = random.uniform(-reach, reach, (count, 3))
    q = random.normal(size=(count, 4))
    poses[:, 3:] = q / np.linalg.norm(q, axis=1)[:, None]
    return poses


class Pairs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gear = isotact.Shape(isotact.Mesh.make("gear").transformed(scale=1), resolution=64)
        cls.blob = isotact.Shape(isotact.Mesh.make("blob", triangles=4000), resolution=64)

    def test_words(self):
        ball = isotact.Shape.sphere(0.5)
        apart = isotact.collide(ball, ball, None, isotact.Pose((2, 0, 0)))
        self.assertEqual((apart.status, apart.in_contact, apart.exact), ("free", False, True))
        deep = isotact.collide(ball, ball, None, isotact.Pose((0.8, 0, 0)), want_distance=True)
        self.assertTrue(deep.in_contact)
        self.assertGreater(len(deep.contacts), 0)
        self.assertLess(deep.contacts[0].normal[0], -0.9)  # from B towards A
        for words in ({"accuracy": "yes"}, {"mode": "first"}, {"method": "magic"}):
            with self.assertRaises(ValueError):
                isotact.collide(ball, ball, **words)
        plane = isotact.Shape.plane()
        with self.assertRaises(isotact.Error):
            isotact.collide(plane, plane)
        with self.assertRaises(TypeError):
            isotact.collide(ball, None)

    def test_distance(self):
        ball = isotact.Shape.sphere(0.5)
        far = isotact.distance(ball, ball, None, isotact.Pose((2, 0, 0)))
        self.assertAlmostEqual(far.distance, 1, places=9)
        self.assertEqual(float(far), far.distance)
        np.testing.assert_allclose(far.point_on_a, (0.5, 0, 0), atol=1e-9)
        self.assertLessEqual(far.lower_bound, far.distance)
        overlap = isotact.distance(self.blob, self.blob, None, isotact.Pose((0.01, 0, 0)),
                                   want_separation=True)
        self.assertLess(overlap.distance, 0)
        if overlap.separation is not None:
            moved = isotact.Pose(overlap.separation)
            self.assertGreaterEqual(
                isotact.distance(self.blob, self.blob, moved, isotact.Pose((0.01, 0, 0))).distance, 0
            )
        self.assertTrue(
            np.isinf(isotact.distance(ball, ball, None, (9, 0, 0, 1, 0, 0, 0), max_distance=1).distance)
        )

    def test_first_contact(self):
        ball = isotact.Shape.sphere(0.5)
        fall = isotact.continuous_collide(
            ball, isotact.Shape.plane(), from_a=isotact.Pose((0, 1.5, 0)), to_a=isotact.Pose((0, -0.5, 0))
        )
        self.assertTrue(fall.in_contact)
        self.assertAlmostEqual(fall.time, 0.5, places=5)
        free = isotact.continuous_collide(
            self.gear, self.blob, from_a=isotact.Pose((5, 0, 0)), to_a=isotact.Pose((5, 1, 0)),
            want_distance=True,
        )
        self.assertEqual(free.status, "free")
        self.assertTrue(np.isinf(free.time))
        self.assertGreater(free.distance, 1)

    def test_batches_are_single_calls(self):
        poses = random_poses(300, 0.12, SEED)
        rows = isotact.collide_poses(self.gear, self.blob, poses)
        far = isotact.distance_poses(self.gear, self.blob, poses, want_depth=False)
        hits = 0
        for pose, row, d in zip(poses, rows, far):
            single = isotact.collide(self.gear, self.blob, None, pose, mode="any")
            self.assertEqual(row["status"] == isotact.CONTACT, single.in_contact)
            exact = isotact.distance(self.gear, self.blob, None, pose, want_depth=False)
            self.assertEqual(d["distance"], exact.distance)
            np.testing.assert_array_equal(d["point_on_a"], exact.point_on_a)
            self.assertEqual(single.in_contact, exact.touching or exact.contained)
            hits += single.in_contact
        self.assertGreater(hits, 20)
        self.assertLess(hits, 280)
        one = isotact.collide_poses(self.gear, self.blob, poses, threads=1)
        np.testing.assert_array_equal(one["status"], rows["status"])

    def test_states_of_many_bodies(self):
        shapes = [self.gear, self.blob, isotact.Shape.sphere(0.04)]
        pairs = [[0, 1], [0, 2], [1, 2]]
        poses = np.stack([random_poses(60, 0.15, SEED + k) for k in range(3)], axis=1)
        rows = isotact.collide_states(shapes, pairs, poses)
        self.assertEqual(rows.shape, (60, 3))
        first = isotact.collide_states(shapes, pairs, poses, stop_at_first=True)
        any_hit = (rows["status"] == isotact.CONTACT).any(axis=1)
        np.testing.assert_array_equal(first["status"] == isotact.CONTACT, any_hit)
        np.testing.assert_array_equal(first["pair"] == isotact.NO_PAIR, ~any_hit)
        far = isotact.distance_states(shapes, pairs, poses, want_depth=False)
        for s in range(0, 60, 7):
            for k, (a, b) in enumerate(pairs):
                single = isotact.distance(shapes[a], shapes[b], poses[s, a], poses[s, b],
                                          want_depth=False)
                self.assertEqual(far[s, k]["distance"], single.distance)
        with self.assertRaisesRegex(ValueError, "pairs: row 0 has 3"):
            isotact.collide_states(shapes, [[3, 0]], poses)
        with self.assertRaisesRegex(ValueError, r"\(states, 3, 4, 4\)"):
            isotact.collide_states(shapes, pairs, poses[:, :2])

    def test_gradients_of_pairs(self):
        """Beside differences, at distances where the nearest points do not jump."""
        poses = random_poses(200, 1.2, SEED + 9)
        good = tested = 0
        step = 1e-5
        for pose in poses:
            b = isotact.Pose(pose[:3], wxyz=pose[3:])
            a = isotact.Pose((0.1, -0.2, 0.05), axis=(1, 2, 3), degrees=40)
            here = isotact.distance(self.blob, self.gear, a, b)
            if abs(here.distance) < 1e-3 or here.distance < 0:
                continue
            of_a, of_b = here.gradients
            tested += 1
            expected = np.concatenate([of_a, of_b])
            found = []
            for body in (0, 1):
                for k in range(6):
                    sides = []
                    for sign in (1, -1):
                        v = np.zeros(3)
                        v[k % 3] = sign * step
                        pair = [a, b]
                        p = pair[body]
                        if k < 3:
                            pair[body] = isotact.Pose(p.translation + v, wxyz=p.wxyz)
                        else:
                            turn = isotact.Pose(axis=v, degrees=np.degrees(step))
                            pair[body] = isotact.Pose(p.translation, wxyz=(turn * p).wxyz)
                        sides.append(isotact.distance(self.blob, self.gear, *pair).distance)
                    found.append((sides[0] - sides[1]) / (2 * step))
            good += np.abs(np.array(found) - expected).max() < 1e-2
        self.assertGreater(tested, 50)
        self.assertGreater(good / tested, 0.9)  # Elsewhere the nearest points jump.

    def test_descent_separates_two_parts(self):
        pose, started = np.array([0.09, 0.01, 0.01]), False
        for _ in range(100):
            d = isotact.distance(self.blob, self.blob, None, isotact.Pose(pose))
            started = started or d.distance < 0
            if d.distance > 0.001:
                break
            pose += 0.005 * d.gradients[1][:3]
        self.assertTrue(started)
        self.assertGreater(d.distance, 0)


if __name__ == "__main__":
    unittest.main()

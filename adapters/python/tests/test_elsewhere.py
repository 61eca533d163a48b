"""Modules for those who come from elsewhere, gradients for torch and jax, and type stubs."""

import ast
import importlib.util
import inspect
import pathlib
import unittest

import numpy as np

import isotact
from isotact import autograd, fcl
from isotact import trimesh as proximity


def model_of(mesh):
    model = fcl.BVHModel()
    model.beginModel(len(mesh.vertices), len(mesh.faces))
    model.addSubModel(mesh.vertices, mesh.faces)
    model.endModel()
    return model


class Fcl(unittest.TestCase):
    def test_conventions(self):
        a = fcl.CollisionObject(fcl.Sphere(0.5), fcl.Transform())
        b = fcl.CollisionObject(fcl.Sphere(0.5), fcl.Transform([0.8, 0, 0]))
        result = fcl.CollisionResult()
        count = fcl.collide(a, b, fcl.CollisionRequest(num_max_contacts=4, enable_contact=True), result)
        self.assertEqual(count, len(result.contacts))
        self.assertTrue(result.is_collision)
        self.assertGreater(result.contacts[0].normal[0], 0.9)  # From the first body to the second.
        self.assertAlmostEqual(result.contacts[0].penetration_depth, 0.2, delta=0.2)
        b.setTranslation(np.array([2.0, 0, 0]))
        self.assertEqual(fcl.collide(a, b), 0)
        near = fcl.DistanceResult()
        self.assertAlmostEqual(
            fcl.distance(a, b, fcl.DistanceRequest(enable_nearest_points=True), near), 1, places=9
        )
        np.testing.assert_allclose(near.nearest_points[1], (1.5, 0, 0), atol=1e-9)
        b.setTranslation([0.8, 0, 0])
        self.assertEqual(fcl.distance(a, b), 0)
        self.assertAlmostEqual(
            fcl.distance(a, b, fcl.DistanceRequest(enable_signed_distance=True)), -0.2, places=6
        )
        b.setTranslation([2.0, 0, 0])
        with self.assertRaisesRegex(ValueError, "scales"):
            fcl.Transform(2 * np.eye(3))
        # Along z.
        for solid in (fcl.Capsule(0.1, 2), fcl.Cylinder(0.1, 2), fcl.Cone(0.1, 2)):
            pin = fcl.CollisionObject(solid, fcl.Transform())
            ball = fcl.CollisionObject(fcl.Sphere(0.05), fcl.Transform([0, 0, 0.9]))
            self.assertEqual(fcl.collide(pin, ball), 1)
            ball.setTranslation([0, 0.9, 0])
            self.assertEqual(fcl.collide(pin, ball), 0)
        time = fcl.continuousCollide(
            a, fcl.Transform([2, 0, 0]), b, fcl.Transform([2, 0, 0]), fcl.ContinuousCollisionRequest()
        )
        self.assertAlmostEqual(time, 0.5, places=3)

    def test_meshes_and_managers(self):
        mesh = isotact.Mesh.make("gear")
        objects = [
            fcl.CollisionObject(model_of(mesh), fcl.Transform([0.1 * k, 0, 0])) for k in range(4)
        ]
        manager = fcl.DynamicAABBTreeCollisionManager()
        manager.registerObjects(objects)
        manager.setup()
        self.assertEqual(manager.size(), 4)
        data = fcl.CollisionData(request=fcl.CollisionRequest(num_max_contacts=100, enable_contact=True))
        manager.collide(data, fcl.defaultCollisionCallback)
        pairs = {
            (i, k)
            for i in range(4)
            for k in range(i + 1, 4)
            if fcl.collide(objects[i], objects[k])
        }
        named = {(id(c.o1), id(c.o2)) for c in data.result.contacts}
        self.assertEqual(len(named), len(pairs))
        self.assertEqual(pairs, {(0, 1), (1, 2), (2, 3)})
        far = fcl.CollisionObject(model_of(mesh), fcl.Transform([5, 0, 0]))
        apart = fcl.DistanceData()
        manager.distance(far, apart, fcl.defaultDistanceCallback)
        self.assertAlmostEqual(apart.result.min_distance, 5 - 0.3 - 0.13, delta=0.02)
        with self.assertRaisesRegex(ValueError, "endModel"):
            fcl.CollisionObject(fcl.BVHModel(), fcl.Transform())


class Trimesh(unittest.TestCase):
    def test_signs_and_managers(self):
        mesh = isotact.Mesh.make("torus")
        points = np.array([[0.375, 0, 0], [0, 0, 0]])
        np.testing.assert_allclose(proximity.signed_distance(mesh, points), [0.125, -0.25], atol=5e-3)
        self.assertEqual(proximity.contains(mesh, points).tolist(), [True, False])
        manager = proximity.CollisionManager()
        manager.add_object("a", mesh)
        away = np.eye(4)
        away[0, 3] = 3
        manager.add_object("b", mesh, away)
        self.assertFalse(manager.in_collision_internal())
        self.assertAlmostEqual(manager.min_distance_internal(), 2, delta=0.01)
        manager.set_transform("b", np.array([[1.0, 0, 0, 0.3], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]))
        hit, names, data = manager.in_collision_internal(return_names=True, return_data=True)
        self.assertTrue(hit)
        self.assertEqual(names, {("a", "b")})
        self.assertGreater(len(data), 0)
        self.assertEqual(manager.min_distance_single(mesh, away, return_name=True)[1], "b")
        manager.remove_object("b")
        with self.assertRaises(ValueError):
            manager.remove_object("b")


class Gradients(unittest.TestCase):
    @unittest.skipUnless(importlib.util.find_spec("torch"), "torch is not installed")
    def test_torch(self):
        import torch

        shape = isotact.Shape(isotact.Mesh.make("torus"), on_demand=True)
        points = torch.rand(20, 3, dtype=torch.float64, requires_grad=True)
        out = autograd.torch_signed_distance(shape, points)
        out.sum().backward()
        expected, gradient = shape.signed_distance(points.detach().numpy(), gradient=True)
        np.testing.assert_allclose(out.detach().numpy(), expected)
        np.testing.assert_allclose(points.grad.numpy(), gradient)
        places = torch.tensor([[2.0, 0, 0], [0, 3.0, 0]], dtype=torch.float64, requires_grad=True)
        far = autograd.torch_distance(shape, shape, places)
        far.sum().backward()
        self.assertAlmostEqual(far[0].item(), 1, delta=0.01)
        np.testing.assert_allclose(places.grad.numpy()[0], (1, 0, 0), atol=0.05)

    @unittest.skipUnless(importlib.util.find_spec("jax"), "jax is not installed")
    def test_jax(self):
        import jax
        import jax.numpy as jnp

        shape = isotact.Shape(isotact.Mesh.make("torus"), on_demand=True)
        distance = autograd.jax_signed_distance(shape)
        points = jnp.array(np.random.default_rng(1).uniform(-1, 1, (20, 3)), dtype=jnp.float32)
        gradient = jax.grad(lambda p: distance(p).sum())(points)
        _, expected = shape.signed_distance(np.asarray(points), gradient=True)
        np.testing.assert_allclose(gradient, expected, atol=1e-5)


class Package(unittest.TestCase):
    def test_stubs_name_what_there_is(self):
        folder = pathlib.Path(isotact.__file__).parent
        self.assertTrue((folder / "py.typed").exists())
        tree = ast.parse((folder / "_core.pyi").read_text())
        named = {n.name: n for n in tree.body if isinstance(n, (ast.ClassDef, ast.FunctionDef))}
        core = isotact._core
        for name, member in vars(core).items():
            if name.startswith("_") or not callable(member):
                continue
            self.assertIn(name, named)
            if inspect.isclass(member) and not issubclass(member, Exception):
                listed = {n.name for n in named[name].body if isinstance(n, ast.FunctionDef)}
                here = {k for k in vars(member) if not k.startswith("_")}
                self.assertEqual(here - listed, set(), name)

    def test_everything_has_a_docstring(self):
        for name in isotact.__all__:
            member = getattr(isotact, name)
            if callable(member):
                self.assertTrue((member.__doc__ or "").strip(), name)

    def test_errors(self):
        self.assertTrue(issubclass(isotact.Error, Exception))
        with self.assertRaisesRegex(isotact.Error, "accuracy='field'"):
            a = isotact.Shape.of_field(isotact.Field.build(isotact.Mesh.make("sphere"), resolution=32))
            isotact.collide(a, isotact.Shape.sphere(1), accuracy="exact")


if __name__ == "__main__":
    unittest.main()

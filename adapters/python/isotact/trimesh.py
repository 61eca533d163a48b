"""Calls of trimesh, answered by isotact; trimesh itself is not needed.

    from isotact import trimesh as proximity

    proximity.signed_distance(mesh, points)    # trimesh's sign: positive inside
    manager = proximity.CollisionManager()
    manager.add_object("part", mesh, transform)
    manager.in_collision_internal(return_names=True)

Meshes are anything with vertices and faces. Signs hold for meshes with holes and for other dirty
ones, since they are those of winding numbers.
"""

import numpy as np

from . import _core


def _shape(mesh):
    return mesh if isinstance(mesh, _core.Shape) else _core.Shape(mesh, on_demand=True)


def signed_distance(mesh, points):
    """Distances (N,) of points to the surface: positive inside, negative outside, as trimesh."""
    return -_shape(mesh).signed_distance(points)


def contains(mesh, points):
    """Whether points (N, 3) lie inside."""
    return _shape(mesh).signed_distance(points) < 0


class ContactData:
    def __init__(self, names, contact):
        self.names = frozenset(names)
        self.point, self.normal, self.depth = contact.position, contact.normal, contact.depth


class CollisionManager:
    """Named meshes, and whether they touch each other."""

    def __init__(self):
        self._objects = {}

    def add_object(self, name, mesh, transform=None):
        self._objects[name] = [_shape(mesh), _pose(transform)]

    def remove_object(self, name):
        if name not in self._objects:
            raise ValueError(f"there is no object {name!r}")
        del self._objects[name]

    def set_transform(self, name, transform):
        if name not in self._objects:
            raise ValueError(f"there is no object {name!r}")
        self._objects[name][1] = _pose(transform)

    def _answer(self, pairs, return_names, return_data):
        names, data, hit = set(), [], False
        for label, (a, of_a), (b, of_b) in pairs:
            if return_data:
                answer = _core.collide(a, b, of_a, of_b)
            else:
                answer = _core.collide(a, b, of_a, of_b, mode="any")
            if not answer.in_contact:
                continue
            hit = True
            names.add(label)
            data += [ContactData(label if isinstance(label, tuple) else (label,), c)
                     for c in answer.contacts]
            if not return_names and not return_data:
                break
        parts = [hit]
        if return_names:
            parts.append(names)
        if return_data:
            parts.append(data)
        return parts[0] if len(parts) == 1 else tuple(parts)

    def in_collision_single(self, mesh, transform=None, return_names=False, return_data=False):
        one = (_shape(mesh), _pose(transform))
        pairs = ((name, tuple(other), one) for name, other in self._objects.items())
        return self._answer(pairs, return_names, return_data)

    def in_collision_internal(self, return_names=False, return_data=False):
        items = list(self._objects.items())
        pairs = (
            ((name, other_name), tuple(one), tuple(other))
            for i, (name, one) in enumerate(items)
            for other_name, other in items[i + 1:]
        )
        return self._answer(pairs, return_names, return_data)

    def min_distance_single(self, mesh, transform=None, return_name=False):
        one = (_shape(mesh), _pose(transform))
        best = (np.inf, None)
        for name, (shape, pose) in self._objects.items():
            d = _core.distance(shape, one[0], pose, one[1], want_depth=False).distance
            if d < best[0]:
                best = (d, name)
        return best if return_name else best[0]

    def min_distance_internal(self, return_names=False):
        items = list(self._objects.items())
        best = (np.inf, None)
        for i, (name, (a, of_a)) in enumerate(items):
            for other_name, (b, of_b) in items[i + 1:]:
                d = _core.distance(a, b, of_a, of_b, want_depth=False).distance
                if d < best[0]:
                    best = (d, (name, other_name))
        return best if return_names else best[0]


def _pose(transform):
    return None if transform is None else _core.Pose.from_matrix(transform)

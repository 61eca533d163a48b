"""The calls of python-fcl, answered by isotact: change the import, keep the program.

    from isotact import fcl

    model = fcl.BVHModel()
    model.beginModel(len(vertices), len(triangles))
    model.addSubModel(vertices, triangles)
    model.endModel()
    a = fcl.CollisionObject(model, fcl.Transform())
    b = fcl.CollisionObject(fcl.Box(1, 1, 1), fcl.Transform([0, 0, 2]))
    result = fcl.CollisionResult()
    fcl.collide(a, b, fcl.CollisionRequest(enable_contact=True), result)

The conventions are FCL's: normals point from the first body to the second one, and capsules,
cylinders and cones lie along z. There are two differences. A body that lies inside of a closed mesh
collides with it (FCL's meshes are hollow). Contacts are those of collide(), at most four, so a
contact has no numbers of triangles: b1 and b2 are -1.
"""

import numpy as np

from . import _core

_Z_UP = _core.Pose(axis=(1, 0, 0), degrees=90)  # Our solids lie along y.


class Transform:
    """A rigid transform: Transform(), (t), (R), (q), (R, t), (q, t) or another Transform."""

    def __init__(self, *parts):
        rotation, translation = np.eye(3), np.zeros(3)
        if len(parts) > 2:
            raise ValueError("Transform takes at most a rotation and a translation")
        for part in parts:
            if isinstance(part, Transform):
                rotation, translation = part.R, part.T
                continue
            array = np.asarray(part, dtype=np.float64)
            if array.shape == (3, 3):
                rotation = array
            elif array.shape == (4,):
                rotation = _core.Pose(wxyz=array).matrix()[:3, :3]
            elif array.shape == (3,):
                translation = array
            else:
                raise ValueError(
                    f"Transform: expected a 3 x 3 matrix, a quaternion w x y z or a translation, "
                    f"found an array of shape {array.shape}"
                )
        self.R, self.T = np.array(rotation), np.array(translation)
        self.pose()  # Raises ValueError if it is not rigid.

    def pose(self):
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = self.R, self.T
        return _core.Pose.from_matrix(matrix)

    def getRotation(self):
        return self.R

    def getTranslation(self):
        return self.T

    def getQuatRotation(self):
        return self.pose().wxyz


class CollisionGeometry:
    """A shape of ours, in FCL's frame."""

    def __init__(self, shape, frame=None):
        self.shape, self.frame = shape, frame


class Box(CollisionGeometry):
    def __init__(self, x, y, z):
        super().__init__(_core.Shape.box((x, y, z)))


class Sphere(CollisionGeometry):
    def __init__(self, radius):
        super().__init__(_core.Shape.sphere(radius))


class Capsule(CollisionGeometry):
    def __init__(self, radius, lz):
        super().__init__(_core.Shape.capsule(radius, lz), _Z_UP)


class Cylinder(CollisionGeometry):
    def __init__(self, radius, lz):
        super().__init__(_core.Shape.cylinder(radius, lz), _Z_UP)


class Cone(CollisionGeometry):
    def __init__(self, radius, lz):
        super().__init__(_core.Shape.cone(radius, lz), _Z_UP)


class Halfspace(CollisionGeometry):
    def __init__(self, n, d):
        super().__init__(_core.Shape.plane(n, d / np.linalg.norm(n)))


class BVHModel(CollisionGeometry):
    def __init__(self):
        super().__init__(None)
        self._vertices, self._triangles, self._count = [], [], 0

    def beginModel(self, num_tris_=0, num_vertices_=0):
        self._vertices, self._triangles, self._count = [], [], 0

    def addSubModel(self, verts, triangles):
        verts, triangles = np.asarray(verts), np.asarray(triangles)
        self._vertices.append(verts)
        self._triangles.append(triangles + self._count)
        self._count += len(verts)

    def addVertex(self, x, y, z):
        self.addSubModel(np.array([[x, y, z]]), np.zeros((0, 3), dtype=np.int64))

    def addTriangle(self, v1, v2, v3):
        self.addSubModel(np.array([v1, v2, v3]), np.array([[0, 1, 2]]))

    def endModel(self):
        if not self._vertices:
            raise ValueError("the model has no triangles")
        self.shape = _core.Shape(
            (np.concatenate(self._vertices), np.concatenate(self._triangles)), on_demand=True
        )

    def num_tris_(self):
        return sum(len(t) for t in self._triangles)


class CollisionObject:
    def __init__(self, geom, tf=None):
        if not isinstance(geom, CollisionGeometry):
            raise TypeError(f"expected a geometry, found {type(geom).__name__}")
        if geom.shape is None:
            raise ValueError("the model was not ended: call endModel()")
        self._geom = geom
        self.setTransform(tf if tf is not None else Transform())

    @property
    def shape(self):
        return self._geom.shape

    @property
    def pose(self):
        """The pose of our shape."""
        return self._pose

    def setTransform(self, tf):
        self._tf = Transform(tf)
        self._pose = pose_of(self._geom, self._tf)

    def setTranslation(self, t):
        self.setTransform(Transform(self._tf.R, t))

    def setRotation(self, r):
        self.setTransform(Transform(r, self._tf.T))

    def setQuatRotation(self, q):
        self.setTransform(Transform(q, self._tf.T))

    def getTransform(self):
        return self._tf

    def getTranslation(self):
        return self._tf.T

    def getRotation(self):
        return self._tf.R

    def getQuatRotation(self):
        return self._tf.getQuatRotation()


def pose_of(geom, tf):
    pose = tf.pose()
    return pose if geom.frame is None else pose * geom.frame


class Contact:
    def __init__(self, o1, o2, contact):
        self.o1, self.o2 = o1, o2
        self.b1 = self.b2 = -1
        self.normal = -contact.normal  # Ours points from the second body to the first one.
        self.pos = contact.position
        self.penetration_depth = contact.depth


class CollisionRequest:
    def __init__(self, num_max_contacts=1, enable_contact=False, **unused):
        if num_max_contacts < 1:
            raise ValueError("num_max_contacts: expected 1 or more")
        self.num_max_contacts, self.enable_contact = num_max_contacts, enable_contact


class CollisionResult:
    def __init__(self):
        self.is_collision, self.contacts = False, []


class DistanceRequest:
    def __init__(self, enable_nearest_points=False, enable_signed_distance=False, **unused):
        self.enable_nearest_points = enable_nearest_points
        self.enable_signed_distance = enable_signed_distance


class DistanceResult:
    def __init__(self):
        self.min_distance = float("inf")
        self.nearest_points = [None, None]
        self.o1 = self.o2 = None


class ContinuousCollisionRequest:
    def __init__(self, num_max_iterations=10, toc_err=1e-4, **unused):
        self.num_max_iterations, self.toc_err = num_max_iterations, toc_err


class ContinuousCollisionResult:
    def __init__(self):
        self.is_collide, self.time_of_contact = False, 1.0


def collide(o1, o2, request=None, result=None):
    """Returns the number of contacts: 0 or 1 if contacts are not asked for."""
    request = request or CollisionRequest()
    result = result if result is not None else CollisionResult()
    if not request.enable_contact:
        answer = _core.collide(o1.shape, o2.shape, o1.pose, o2.pose, mode="any")
        result.is_collision = result.is_collision or answer.in_contact
        return int(answer.in_contact)
    answer = _core.collide(
        o1.shape, o2.shape, o1.pose, o2.pose, max_contacts=min(request.num_max_contacts, 4)
    )
    if answer.in_contact:
        result.is_collision = True
        result.contacts += [Contact(o1._geom, o2._geom, c) for c in answer.contacts]
    return len(answer.contacts)


def distance(o1, o2, request=None, result=None):
    """Returns the distance: 0 where bodies overlap, or minus the depth with enable_signed_distance."""
    request = request or DistanceRequest()
    result = result if result is not None else DistanceResult()
    answer = _core.distance(
        o1.shape, o2.shape, o1.pose, o2.pose, want_depth=request.enable_signed_distance
    )
    # Depths of round solids cost nothing, and are known in any case.
    found = answer.distance if request.enable_signed_distance else max(answer.distance, 0.0)
    if found < result.min_distance:
        result.min_distance = found
        result.o1, result.o2 = o1._geom, o2._geom
        if request.enable_nearest_points:
            result.nearest_points = [answer.point_on_a, answer.point_on_b]
    return found


def continuousCollide(o1, tf1_end, o2, tf2_end, request=None, result=None):
    """Returns the time of first contact, 0 to 1; 1 if the bodies do not touch."""
    request = request or ContinuousCollisionRequest()
    result = result if result is not None else ContinuousCollisionResult()
    answer = _core.continuous_collide(
        o1.shape,
        o2.shape,
        from_a=o1.pose,
        to_a=pose_of(o1._geom, tf1_end),
        from_b=o2.pose,
        to_b=pose_of(o2._geom, tf2_end),
        time_tolerance=request.toc_err,
    )
    result.is_collide = answer.in_contact
    result.time_of_contact = answer.time if answer.in_contact else 1.0
    return result.time_of_contact


class CollisionData:
    def __init__(self, request=None, result=None):
        self.request = request or CollisionRequest()
        self.result = result or CollisionResult()
        self.done = False


class DistanceData:
    def __init__(self, request=None, result=None):
        self.request = request or DistanceRequest()
        self.result = result or DistanceResult()
        self.done = False


def defaultCollisionCallback(o1, o2, cdata):
    """Returns whether the search may end."""
    collide(o1, o2, cdata.request, cdata.result)
    enough = len(cdata.result.contacts) >= cdata.request.num_max_contacts
    cdata.done = cdata.result.is_collision and (not cdata.request.enable_contact or enough)
    return cdata.done


def defaultDistanceCallback(o1, o2, ddata):
    """Returns (whether the search may end, the least distance so far)."""
    distance(o1, o2, ddata.request, ddata.result)
    return ddata.done, ddata.result.min_distance


class DynamicAABBTreeCollisionManager:
    """Many objects. Pairs whose boxes are apart are left out."""

    def __init__(self):
        self._objects = []

    def registerObject(self, obj):
        self._objects.append(obj)

    def registerObjects(self, objects):
        self._objects.extend(objects)

    def unregisterObject(self, obj):
        self._objects.remove(obj)

    def setup(self):
        pass

    def update(self, arg=None):
        pass

    def clear(self):
        self._objects = []

    def empty(self):
        return not self._objects

    def size(self):
        return len(self._objects)

    def getObjects(self):
        return list(self._objects)

    def _pairs(self, other):
        if other is None:
            for i, first in enumerate(self._objects):
                for second in self._objects[i + 1:]:
                    yield first, second
            return
        seconds = other._objects if isinstance(other, DynamicAABBTreeCollisionManager) else [other]
        for first in self._objects:
            for second in seconds:
                yield first, second

    def collide(self, *arguments):
        """collide(data, callback), (object, data, callback) or (manager, data, callback)."""
        other, data, callback = arguments if len(arguments) == 3 else (None, *arguments)
        boxes = {}
        for first, second in self._pairs(other):
            if _apart(_box(first, boxes), _box(second, boxes)):
                continue
            if callback(first, second, data):
                return

    def distance(self, *arguments):
        """distance(data, callback), (object, data, callback) or (manager, data, callback)."""
        other, data, callback = arguments if len(arguments) == 3 else (None, *arguments)
        for first, second in self._pairs(other):
            done, _ = callback(first, second, data)
            if done:
                return


def _box(obj, boxes):
    """The box of an object in the world; infinite for shapes without end."""
    if id(obj) not in boxes:
        lower, upper = obj.shape.bounds
        if not (np.isfinite(lower).all() and np.isfinite(upper).all()):
            boxes[id(obj)] = (np.full(3, -np.inf), np.full(3, np.inf))
        else:
            matrix = obj.pose.matrix()
            middle = matrix[:3, :3] @ ((lower + upper) / 2) + matrix[:3, 3]
            half = np.abs(matrix[:3, :3]) @ ((upper - lower) / 2)
            boxes[id(obj)] = (middle - half, middle + half)
    return boxes[id(obj)]


def _apart(a, b):
    return bool((a[0] > b[1]).any() or (b[0] > a[1]).any())

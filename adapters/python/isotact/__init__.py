"""Collision detection and contact with signed distance fields.

    import isotact

    cup = isotact.Shape.load("cup.stl", unit="mm")
    ground = isotact.Shape.plane()
    isotact.collide(cup, ground, isotact.Pose((0, 0.1, 0))).status
    isotact.distance(cup, ground, isotact.Pose((0, 0.1, 0))).distance
    isotact.continuous_collide(cup, ground, to_a=isotact.Pose((0, -1, 0))).time

Lengths are in metres, y is up. Poses map a body's frame into the world.
"""

from ._core import (  # noqa: F401
    CONTACT,
    FREE,
    GAVE_UP,
    NO_PAIR,
    UNCERTAIN,
    Certificate,
    CertificateCheck,
    CertifyResult,
    CollideResult,
    Contact,
    ContinuousResult,
    DistanceResult,
    Error,
    Field,
    GpuTracer,
    Mesh,
    Pose,
    Run,
    Shape,
    Voxmap,
    World,
    __version__,
    certify,
    collide,
    collide_poses,
    collide_states,
    continuous_collide,
    distance,
    distance_poses,
    distance_states,
    gpu,
    run,
)
from .pages import show  # noqa: F401

__all__ = [
    "CONTACT", "FREE", "GAVE_UP", "NO_PAIR", "UNCERTAIN", "Certificate", "CertificateCheck",
    "CertifyResult", "CollideResult", "Contact", "ContinuousResult", "DistanceResult", "Error",
    "Field", "GpuTracer", "Mesh", "Pose", "Run", "Shape", "Voxmap", "World", "certify", "collide",
    "collide_poses", "collide_states", "continuous_collide", "distance", "distance_poses",
    "distance_states", "gpu", "run", "show", "__version__",
]

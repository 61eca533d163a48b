"""Gradients for torch and jax: signed distances of points, and distances of pairs.

Derivatives come from the library (unit vectors away from nearest points, and witness points), not
from finite differences. At places with several nearest points a gradient is that of one of them.
"""

import numpy as np

from . import _core


def _pair(a, b, poses_b, pose_a):
    rows = _core.distance_poses(a, b, poses_b, pose_a=pose_a)
    return rows["distance"], rows["gradient_b"]


def torch_signed_distance(shape, points, accuracy="best"):
    """Signed distances of a tensor of points (N, 3), differentiable with respect to the points."""
    import torch

    class Function(torch.autograd.Function):
        @staticmethod
        def forward(context, points):
            given = points.detach().cpu().numpy()
            distance, gradient = shape.signed_distance(given, gradient=True, accuracy=accuracy)
            context.save_for_backward(torch.as_tensor(gradient, dtype=points.dtype))
            return torch.as_tensor(distance, dtype=points.dtype)

        @staticmethod
        def backward(context, out):
            (gradient,) = context.saved_tensors
            return gradient * out[:, None]

    return Function.apply(points)


def torch_distance(a, b, translations, pose_a=None):
    """Distances of A from B at translations of B, a tensor (N, 3); negative where they overlap."""
    import torch

    class Function(torch.autograd.Function):
        @staticmethod
        def forward(context, translations):
            given = translations.detach().cpu().numpy().astype(np.float64)
            poses = np.zeros((len(given), 7))
            poses[:, :3] = given
            poses[:, 3] = 1
            distance, gradient = _pair(a, b, poses, pose_a)
            context.save_for_backward(
                torch.as_tensor(gradient[:, :3].copy(), dtype=translations.dtype)
            )
            return torch.as_tensor(distance.copy(), dtype=translations.dtype)

        @staticmethod
        def backward(context, out):
            (gradient,) = context.saved_tensors
            return gradient * out[:, None]

    return Function.apply(translations)


def jax_signed_distance(shape, accuracy="best"):
    """A function of points (N, 3) with a derivative, for jax.grad and jax.jit."""
    import jax

    def ask(points):
        distance, gradient = shape.signed_distance(
            np.asarray(points), gradient=True, accuracy=accuracy
        )
        return distance.astype(points.dtype), gradient.astype(points.dtype)

    def call(points):
        shapes = (
            jax.ShapeDtypeStruct(points.shape[:1], points.dtype),
            jax.ShapeDtypeStruct(points.shape, points.dtype),
        )
        return jax.pure_callback(ask, shapes, points)

    @jax.custom_vjp
    def signed_distance(points):
        return call(points)[0]

    def forward(points):
        return call(points)

    def backward(gradient, out):
        return (gradient * out[:, None],)

    signed_distance.defvjp(forward, backward)
    return signed_distance

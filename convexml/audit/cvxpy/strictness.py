"""How much room the values of CVXPY's variables leave in a constraint, as it is written."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numerics import EPS
from .reading.layout import dense
from .reading.violation import constraint_violation
from .rounding.enclosed import enclosed


def is_linear(constraint: Any) -> bool:
    """Whether a constraint is one or several linear ones."""
    import cvxpy as cp

    kinds = (
        cp.constraints.Inequality,
        cp.constraints.NonPos,
        cp.constraints.NonNeg,
        cp.constraints.Equality,
        cp.constraints.Zero,
    )
    return isinstance(constraint, kinds) and all(arg.is_pwl() for arg in constraint.args)


def slack_of(constraint: Any) -> float:
    """The least room of its entries, less what rounding may have added; < 0 where it is violated.

    Of a matrix its least eigenvalue, of a second-order cone t - |v|, of an exponential or power
    cone the room of its inequality; of an equality minus the residual.
    """
    import cvxpy as cp

    match constraint:
        case cp.constraints.Inequality():
            return _least(constraint.args[1] - constraint.args[0])
        case cp.constraints.NonNeg():
            return _least(constraint.args[0])
        case cp.constraints.NonPos():
            return _least(-constraint.args[0])
    args = [dense(argument.value) for argument in constraint.args]
    match constraint:
        case cp.constraints.PSD():
            matrix = np.atleast_2d(args[0])
            half = 0.5 * (matrix + np.conj(np.swapaxes(matrix, -2, -1)))
            lost = 8.0 * half.shape[-1] * EPS * float(np.linalg.norm(half))
            return float(np.min(np.linalg.eigvalsh(half))) - lost
        case cp.constraints.SOC():
            vectors = args[1].reshape(-1, 1) if args[1].ndim < 2 else args[1]
            vectors = vectors.T if constraint.axis == 1 and args[1].ndim == 2 else vectors
            norms = np.linalg.norm(vectors, axis=0)
            return _room(args[0].ravel(), norms)
        case cp.constraints.ExpCone():
            x, y, z = (part.ravel() for part in args)
            return _room(z, y * np.exp(x / y)) if np.all(y > 0.0) else -np.inf
        case cp.constraints.PowCone3D():
            x, y, z = (part.ravel() for part in args)
            alpha = np.broadcast_to(dense(constraint.alpha.value).ravel(), x.shape)
            if not (np.all(x > 0.0) and np.all(y > 0.0)):
                return -np.inf
            return _room(x**alpha * y ** (1.0 - alpha), np.abs(z))
    return -float(np.max(constraint_violation(constraint), initial=0.0))


def _least(room: Any) -> float:
    """The least entry of an expression, less the radius of its evaluation."""
    found = enclosed(room)
    lower = np.real(dense(found.value)) - found.reach
    return float(np.min(lower, initial=np.inf))


def _room(high: Any, low: Any) -> float:
    """The least of high - low, each rounded by a few units and the length of a sum."""
    lost = 32.0 * (np.size(low) + 8) * EPS * (np.abs(high) + np.abs(low))
    return float(np.min(high - low - lost))

"""A loss as Newton's method sees it at some predictions: all of it in one visit of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..design import ahead
from ..losses.softmax import shares
from ..numerics import Array
from .objective import Objective
from .outputs import multiclass_newton
from .outputs.class_hessian import class_sums
from .outputs.multiclass import MulticlassObjective

LARGEST_SYSTEM = 3000
"""Above this many unknowns the system is solved by conjugate gradients, where it is definite."""


@dataclass(frozen=True)
class LossModel:
    """The loss at predictions z: its slopes u, their pull (X'u, 1'u), and its curvatures h.

    Of K classes also its Hessian in (W, b), as ``class_sums`` has it, where that is not too
    large.
    """

    u: Array
    pull: Array
    total: Any
    h: Array
    hessian: Array | None = None


def loss_model(objective: Objective, z: Array) -> LossModel:
    """The model of the loss at z, for one pass."""
    u, h, design = objective.loss_derivative(z), objective.loss_curvature(z), objective.design
    if (
        isinstance(objective, MulticlassObjective)
        and objective.d <= multiclass_newton.LARGEST_SYSTEM
    ):
        p, free = shares(z), objective.fit_intercept
        pull, hessian = class_sums(objective.design.base, u, objective.c, p, free)
        return LossModel(u, pull, u.sum(axis=0), h, hessian)
    factored = h if objective.d <= LARGEST_SYSTEM and z.ndim == 1 else None
    ahead(design, [u], factored, objective.fit_intercept, sums=[u])
    return LossModel(u, design.rmatvec(u), u.sum(axis=0), h)

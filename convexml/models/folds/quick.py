"""A grid of squared losses solved on one Gram matrix and judged by products for all its points."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...certificates.learning.many import relative_gaps, takes_many
from ...design import rows_in_blocks
from ...numerics import Array
from ...objective import Objective
from ...objective.kernel import KernelObjective
from ...penalties import NonnegativeElasticNet
from ...solvers.coordinate.following.gram_path import COLUMNS, follow_grid
from ..arrays.problem import ArrayProblem

ENTRIES, ROWS = 5_000_000, 2000
"""Entries of a dense X with many columns that is copied, and its rows, at most."""


def quick_points(
    problem: Any, name: str, values: Array, tol: float
) -> tuple[Array, Array, Array] | None:
    """(W, b, relative gaps) for values of falling strength; None where that is no such problem."""
    own = isinstance(problem, ArrayProblem)  # its objective is no sum of losses
    if name != "lam" or own or isinstance(problem._objective, KernelObjective):
        return None
    objective: Objective = problem.objective_parts
    if rows_in_blocks(objective) or objective.loss.name != "squared" or not takes_many(objective):
        return None
    penalty = objective.penalty
    if isinstance(penalty, NonnegativeElasticNet):
        if objective.d > COLUMNS:
            return None
    elif not (is_plain(penalty) and is_small(objective)):
        return None
    given = problem._hyper
    penalties = [problem._make(**given | {name: float(value)})[1] for value in values]
    W, b = follow_grid(objective, penalties, tol)
    gaps = relative_gaps(objective, penalties, W, b)
    return W, b, np.where(np.isfinite(W).all(axis=1), gaps, np.inf)


def is_plain(penalty: Any) -> bool:
    """Whether it is lam times the l1 norm, half a square or both, coordinates alike."""
    return penalty.name in ("l1", "l2", "elastic_net") and getattr(penalty, "weights", None) is None


def is_small(objective: Objective) -> bool:
    """Whether columns are few, or X is dense and can be copied."""
    if objective.d <= COLUMNS:
        return True
    dense = isinstance(objective.design.constant, np.ndarray)
    return dense and objective.n <= ROWS and objective.n * objective.d <= ENTRIES

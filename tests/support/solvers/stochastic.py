"""Small problems for stochastic solvers, and their iterates."""

from __future__ import annotations

from typing import Any

import numpy as np

import convexml as cml
from convexml.losses import Absolute, Hinge, Squared
from convexml.numerics import Array
from convexml.penalties import L1, L2
from convexml.solvers.registry import ALGORITHMS
from support.model_cases import samples

SEEDED = ("sgd", "pegasos", "saga", "stochastic_subgradient")
LEADERS = ("follow_the_regularized_leader", "exponentiated_gradient")
STOCHASTIC = (*SEEDED, "online_gradient_descent", *LEADERS)


def start(solver: str, problem: Any, **options: Any) -> Any:
    """The iterates from w = 0, b = 0."""
    objective = problem.objective_parts
    return ALGORITHMS[solver].start(objective, np.zeros(objective.d), 0.0, 0, options)


def posing(solver: str, **keywords: Any) -> Any:
    """A small problem that the solver takes."""
    if solver == "pegasos":
        X, y = samples("binary")
        return cml.LearningProblem(keywords.get("X", X), y, Hinge(), L2(0.1), fit_intercept=False)
    X, y = samples("real")
    if solver == "stochastic_subgradient":
        return cml.LearningProblem(keywords.get("X", X), y, Absolute(), L1(0.1))
    if solver in LEADERS:
        model = cml.ConstrainedLasso if solver == LEADERS[1] else cml.ConstrainedRidge
        return model(keywords.get("X", X), y, 2.0, fit_intercept=False)
    return cml.Ridge(keywords.get("X", X), y, 0.3)


class OwnSquared(Squared):
    """A loss whose slope is not compiled: what it inherits belongs to another derivative."""

    def derivative(self, y: Array, z: Array) -> Array:
        return np.asarray(z) - y

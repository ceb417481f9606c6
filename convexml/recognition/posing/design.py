"""The posed problem of a design, a loss and a penalty."""

from __future__ import annotations

from typing import Any

from ...errors import InputError
from ...losses import Loss
from ...models.learning.construction import with_penalty
from ...models.problem import LearningProblem
from ...numerics import Array
from ...penalties import Penalty
from ..reading.declined import Declined


def repenalised(problem: LearningProblem, penalty: Penalty) -> LearningProblem:
    """The same samples and loss with another penalty."""
    try:
        return with_penalty(problem, penalty)
    except InputError as error:
        raise Declined(str(error)) from None


def learning(
    X: Any, y: Array, weight: Array, loss: Loss, penalty: Penalty, intercept: bool
) -> LearningProblem:
    """A sum over samples; equal weights are one factor."""
    same = bool((weight == weight[0]).all())
    try:
        return LearningProblem(
            X,
            y,
            loss,
            penalty,
            fit_intercept=intercept,
            sample_weight=None if same else weight,
            loss_scale=float(weight[0]) if same else "sum",
        )
    except InputError as error:
        raise Declined(str(error)) from None

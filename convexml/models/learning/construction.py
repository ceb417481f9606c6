"""From samples, loss and penalty to an Objective: read, checked, scaled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ... import losses, penalties
from ...design import StackedDesign, rows_in_blocks
from ...errors import InputError
from ...losses import Loss
from ...numerics import Array
from ...objective import MulticlassObjective, Objective
from ...penalties import Penalty
from ...remedies import for_part
from ...validation import positive_number
from ..reading.inputs import Samples

Parts = tuple[Loss, Penalty, str | float]
"""Loss, penalty and the scale of the loss: "mean", "sum" or a number."""


def read_parts(loss: Any, penalty: Any, scale: Any, owner: str = "LearningProblem") -> Parts:
    """The parts of a general learning problem, validated."""
    if not isinstance(loss, Loss):
        instead = for_part(loss, "losses", (each.__name__ for each in losses.ALL.values()))
        if isinstance(loss, Penalty):
            instead = " The loss comes before the penalty."
        raise InputError(f"{owner}: loss must be a Loss, got {loss!r}.{instead}")
    if not isinstance(penalty, Penalty):
        instead = for_part(penalty, "penalties", (each.__name__ for each in penalties.ALL.values()))
        raise InputError(f"{owner}: penalty must be a Penalty, got {penalty!r}.{instead}")
    if isinstance(scale, str) and scale not in ("mean", "sum"):
        raise InputError(
            f"{owner}: loss_scale must be 'mean', 'sum' or a number > 0, got {scale!r}."
        )
    if not isinstance(scale, str):
        scale = positive_number(scale, owner, "loss_scale")
    return loss, penalty, scale


def made(
    owner: str, make: Callable[..., Parts], hyper: Mapping[str, Any]
) -> tuple[Parts, dict[str, Any]]:
    """What a model makes of its hyperparameters, and these as floats; it is named in errors."""
    try:
        parts = make(**hyper)
    except InputError as error:
        _, _, what = str(error).partition(": ")
        raise InputError(f"{owner}: {what or error}") from None
    return parts, {
        key: value if isinstance(value, str | None) or np.ndim(value) > 0 else float(value)
        for key, value in hyper.items()
    }


def in_words(hyper: Mapping[str, Any]) -> str:
    """The hyperparameters that are no arrays, for ``repr``."""
    return "".join(f", {key}={value!r}" for key, value in hyper.items() if np.ndim(value) == 0)


def compose(owner: str, samples: Samples, parts: Parts, intercept: bool) -> Objective:
    """The objective of loss + penalty on samples; several outputs for a loss of classes."""
    loss, penalty, scale = parts
    names = tuple(samples.feature_names or ())
    c = coefficients(owner, samples.weights, scale)
    given = (samples.y, loss, penalty, c, intercept, names)
    objective: Objective
    if samples.outputs:
        objective = MulticlassObjective(StackedDesign(samples.design, *samples.outputs), *given)
    else:
        objective = Objective(samples.design, *given)
    check_penalty(owner, penalty, objective)
    check_blocks(owner, objective)
    return objective


def recompose(owner: str, objective: Any, weights: Array, parts: Parts) -> Any:
    """The same samples with other parts."""
    loss, penalty, scale = parts
    check_penalty(owner, penalty, objective)
    found = replace(objective, loss=loss, penalty=penalty, c=coefficients(owner, weights, scale))
    check_blocks(owner, found)
    return found


def with_penalty(problem: Any, penalty: Penalty) -> Any:
    """A learning problem of the same samples and loss with another penalty."""
    loss, _, scale = problem._parts
    twin = problem.snapshot()
    twin._parts = loss, penalty, scale
    weights = problem._samples.weights
    twin._objective = recompose(problem.name, problem.objective_parts, weights, twin._parts)
    return twin


def coefficients(owner: str, weights: Array, scale: str | float) -> Array:
    """The factor c_i of each sample's loss, finite and none of them rounded to 0."""
    if scale == "sum":
        return weights
    c = weights / weights.sum() if scale == "mean" else float(scale) * weights
    if not np.all((c > 0.0) & (c < np.inf)):
        k = int(np.argmin((c > 0.0) & (c < np.inf)))
        what = "its share of the sum" if scale == "mean" else f"times {float(scale):g}"
        raise InputError(
            f"{owner}: a sample_weight of {weights[k]:g} is {c[k]:g} as {what}; bring the weights "
            "nearer to 1."
        )
    return c


def check_blocks(owner: str, objective: Any) -> None:
    """Refuse what is known of samples in memory alone: constraints on the predictions."""
    if not rows_in_blocks(objective):
        return
    if objective.loss.is_indicator:
        raise InputError(
            f"{owner}: row blocks take losses that are finite everywhere; {objective.loss!r} is a "
            "constraint on the predictions. Pass X and y in memory."
        )


def check_penalty(owner: str, penalty: Any, objective: Objective) -> None:
    """Refuse a penalty whose groups, weights or bounds are not one for each coefficient."""
    d = objective.d
    features, *outputs = getattr(objective, "w_shape", (d,))  # a function of a kernel has (d,)
    each, instead = "feature", f"Pass {d} numbers, one for each column of X."
    if outputs:
        each = "coefficient"
        instead = f"Pass {d} numbers, {outputs[0]} for each of {features} columns of X."
    try:
        penalty.value(np.zeros(d))
        penalty.violation(np.zeros(d))
    except (ValueError, IndexError) as error:
        for name, given in vars(penalty).items():
            if np.ndim(given) == 1 and len(given) != d:
                raise InputError(
                    f"{owner}: {name} must have one entry per {each} ({d}), got {len(given)}. "
                    f"{instead}"
                ) from None
        raise InputError(f"{owner}: {penalty!r} does not fit {d} features ({error}).") from None

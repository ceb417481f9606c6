"""The optimality conditions of a learning problem: those of its loss, its penalty, and both."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ...conditions import AtFeatures, AtSamples, Condition, Words
from ...losses import Loss
from ...numerics import Array
from ...objective import Objective
from ...objective.kernel import KernelObjective
from ...penalties import Penalty
from ...tex import told
from ..judge import in_units_of_gap
from . import rows
from .passed_point import PassedPoint


@np.errstate(over="ignore", invalid="ignore")
def conditions_at(point: PassedPoint, *, stationary: bool = True) -> list[Condition]:
    """The conditions at a point, as passed: the penalty's, the loss's, and 1'u = 0.

    Each is relative to the size of its row in the data and at the point, which no change of units
    moves; products count relative to ``point.scale``, as the gap does, whose terms they are.

    Parameters
    ----------
    point : PassedPoint
    stationary : bool
        Whether stationarity in w is among them.
    """
    objective = point.objective
    z, words, in_w_alone = _words_of(objective)
    features, samples = at_features(point, words, in_w_alone), at_samples(point, z)
    found = told(objective.penalty, Penalty, "conditions", "value", features)
    if not stationary or (objective.penalty.free(objective.d).all() and not in_w_alone):
        found = [row for row in found if row.kind != "stationarity"]  # it is X'u = 0, the domain
    if names := objective.features:
        found = [row.of_columns(names, *objective.w_shape[1:]) for row in found]
    found = [*found, *told(objective.loss, Loss, "conditions", "value", samples)]
    if objective.fit_intercept:
        found.append(rows.balance(point, words.balance))
    return in_units_of_gap(found, point.scale)


def is_feasible(point: PassedPoint, tol: float) -> bool:
    """Whether the feasibilities are known to be met within ``tol`` before any row is measured.

    -X'u in dom Omega* and u/c in dom l* exactly, 1'u = 0 nearly, where neither w nor z is
    constrained. False where a class that is not of the library may have rows of its own.
    """
    objective, u = point.objective, point.u
    loss, penalty = objective.loss, objective.penalty
    if loss.is_indicator or penalty.restricts or loss.labels == "classes":
        return False
    if not (_is_of_library(loss) and _is_of_library(penalty)):
        return False
    if not penalty.conjugate(point.v) < np.inf:
        return False
    if not objective.is_unbounded:
        lo, hi = objective.dual_bounds()
        if not ((lo <= u) & (u <= hi)).all():
            return False
    return not objective.fit_intercept or bool(abs(u.sum()) <= tol * np.abs(u).sum())


def conditions_later(point: PassedPoint, stationary: bool) -> Callable[[], list[Condition]]:
    """``conditions_at`` without X, which may be written to: what it has to say is asked now."""
    objective = point.objective
    point.ask_of_features(objective.penalty.is_smooth and _words_of(objective)[2])
    return partial(conditions_at, point, stationary=stationary)


def _words_of(objective: Objective) -> tuple[str, Words, bool]:
    """z and u in words; whether stationarity is that of w alone."""
    z = "Xw + b" if objective.fit_intercept else "Xw"
    words: Words = told(objective.loss, Loss, "words", "value", z)
    return z, words, bool(words.slope) and objective.penalty.is_smooth


def _is_of_library(part: Loss | Penalty) -> bool:
    return type(part).conditions.__module__.partition(".")[0] == __name__.partition(".")[0]


def conditions_of_samples(point: PassedPoint) -> list[Condition]:
    """Those of the loss, 1'u = 0, and the domain of a penalty that is finite everywhere.

    For a point without features: a function of a kernel, whose values ``point.z`` holds.
    """
    objective = point.objective
    z, words, _ = _words_of(objective)
    found = [Condition("-Ku in dom Omega*", "dual_feasibility", 0.0)]
    found += told(objective.loss, Loss, "conditions", "value", at_samples(point, z))
    if objective.fit_intercept:
        found.append(rows.balance(point, words.balance))
    return found


def stationarity_of(objective: KernelObjective) -> str:
    """The row K (lam q + u) = 0 in words; models with multipliers of their own have lam = 1."""
    words: Words = told(objective.loss, Loss, "words", "value", "z")
    lam = "" if objective.lam == 1.0 and words.push != Words().push else "lam "
    return f"K ({lam}q + u) = 0"


def of_function(row: Condition) -> Condition:
    """A row of the coordinates of a function, for the kernel matrix in place of its factor."""
    return row.named(row.name.replace("X'u", "Ku"))


ROWS = {"slopes": rows.slopes, "domain": rows.loss_domain, "feasible": rows.predictions}
"""Those that every loss has."""


def at_features(point: PassedPoint, words: Words, in_w_alone: bool) -> AtFeatures:
    """What the penalty is asked about; stationarity of a smooth one may be that of P(w, b)."""
    inclusion = rows.stationarity(point, point.v)
    slope = inclusion.named(words.push)
    if in_w_alone:
        slope = rows.stationarity(point, point.slope, _weighted(point.objective.c, words))
    domain, feasible = rows.penalty_domain(point), rows.coefficients(point)
    sizes = point.w_sizes, point.v_sizes
    return AtFeatures(point.w, point.v, *sizes, words.push, inclusion, domain, feasible, slope)


def at_samples(point: PassedPoint, prediction: str) -> AtSamples:
    """What the loss is asked about."""
    y, c = point.objective.y, point.objective.c
    seen = y, c, point.z, point.u, point.u_sizes
    return AtSamples(*seen, prediction, lambda name: ROWS[name](point))


def _weighted(c: Array, words: Words) -> str:
    """The gradient of the sum of losses in words."""
    if np.all(c == 1.0 / len(c)):
        return f"X'{words.slope}/n"
    return f"X'{words.slope}" if np.all(c == 1.0) else f"X'diag(c){words.slope}"

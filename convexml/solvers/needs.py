"""What a hand-written solver may need: a test of the objective, and the words when it fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..numerics import Array, all_finite
from ..penalties import Penalty
from ..problem import Objective
from ..problem.kernel import KernelObjective
from ..theory import Theorem, corner_slope, round_slope, strong_convexity
from ..theory.constants import has_bounded_slope
from ..validation import arguments, solve_argument
from .composite import has_box_dual
from .driver import Iterate
from .reference import EVERY_SOLVE

Need = tuple[Callable[[Objective], bool], str]


def has_subgradient(penalty: Penalty) -> bool:
    """Whether the penalty can name one of its subgradients."""
    return (
        penalty.is_smooth
        or penalty.is_constraint
        or type(penalty).subgradient is not Penalty.subgradient
    )


def has_bounded_rounds(objective: Objective) -> bool:
    """Whether loss and penalty have bounded slopes where the solution is known to lie."""
    lipschitz = has_bounded_slope(objective)
    mu = objective.penalty.strong_convexity if lipschitz else strong_convexity(objective)
    return bool(np.isfinite(round_slope(objective, 1.0 if mu > 0.0 else np.inf)))


def has_bounded_rounds_on_its_ball(objective: Objective) -> bool:
    """The same, where the ball may be that of the penalty."""
    match objective.penalty.name:
        case "l1_ball":
            return bool(np.isfinite(corner_slope(objective)))
        case "l2_ball":
            return bool(np.isfinite(round_slope(objective, objective.penalty.t)))  # type: ignore[attr-defined]
        case _:
            return has_bounded_rounds(objective)


def has_norm_of_blocks(objective: Objective) -> bool:
    """Whether the penalty is sum_g level_g |w_g|_2, not all of them 0, with or without squares."""
    named = objective.penalty.name in ("l1", "elastic_net", "group_l2")
    blocks = objective.penalty.zero_blocks(objective.d) if named else None
    return blocks is not None and bool(np.any(blocks[1] > 0.0))


NEEDS: dict[str, Need] = {
    "learning problem": (
        lambda objective: objective is not None,
        "it is not of the form loss + penalty",
    ),
    "model that brings it": (
        lambda objective: False,
        "it is written for models of another form",
    ),
    "scalar prediction": (
        lambda objective: objective.loss.labels != "classes",
        "it has one prediction per class",
    ),
    "finite loss": (
        lambda objective: not objective.loss.is_indicator,
        "its loss is a constraint on the predictions",
    ),
    "loss without equality constraints": (
        lambda objective: objective.loss.name != "interpolation",
        "X w = y holds at no iterate, only in the limit",
    ),
    "smooth loss": (
        lambda objective: objective.loss.is_smooth,
        "its loss is not differentiable",
    ),
    "smooth penalty": (
        lambda objective: objective.penalty.is_smooth,
        "its penalty is not differentiable",
    ),
    "bounded curvature": (
        lambda objective: bool(np.isfinite(objective.loss.curvature_bound)),
        "the curvature of its loss is unbounded",
    ),
    "bounded curvature of the penalty": (
        lambda objective: bool(np.isfinite(objective.penalty.curvature_bound)),
        "no bound on the curvature of its penalty is known",
    ),
    "Lipschitz loss": (
        has_bounded_slope,
        "the slope of its loss is unbounded",
    ),
    "subgradient of the penalty": (
        lambda objective: has_subgradient(objective.penalty),
        "its penalty names no subgradient",
    ),
    "uniform l2 penalty": (
        lambda objective: (
            objective.penalty.name == "l2"
            and objective.penalty.strong_convexity == objective.penalty.curvature_bound > 0.0
        ),
        "its penalty is not (lam/2)|w|^2 with lam > 0",
    ),
    "squared loss": (
        lambda objective: objective.loss.name == "squared",
        "its loss is not the squared loss",
    ),
    "uniform l1 penalty": (
        lambda objective: (
            objective.penalty.name == "l1"
            and bool(np.ptp(objective.penalty.subgradient(np.ones(objective.d))) == 0.0)
        ),
        "its penalty is not lam |w|_1 with one lam for all",
    ),
    "uniform quadratic penalty": (
        lambda objective: (
            objective.penalty.name in ("l2", "zero")
            and bool(np.ptp(objective.penalty.subgradient(np.ones(objective.d))) == 0.0)
        ),
        "its penalty is not (lam/2)|w|^2 with one lam for all",
    ),
    "no penalty": (
        lambda objective: (
            objective.penalty.name in ("l2", "zero") and objective.penalty.curvature_bound == 0.0
        ),
        "it has a penalty",
    ),
    "equal sample weights": (
        lambda objective: bool(np.ptp(objective.c) == 0.0),
        "its samples have weights",
    ),
    "logistic loss": (
        lambda objective: objective.loss.name == "logistic",
        "its loss is not the logistic loss",
    ),
    "hinge loss": (
        lambda objective: objective.loss.name == "hinge",
        "its loss is not the hinge",
    ),
    "box dual": (
        has_box_dual,
        "the conjugate of its loss is not quadratic on a box",
    ),
    "bounded box dual": (
        lambda objective: has_box_dual(objective) and all(map(all_finite, objective.slope_bounds)),
        "the conjugate of its loss is not quadratic on a bounded box",
    ),
    "quadratic penalty": (
        lambda objective: objective.penalty.name in ("l2", "zero"),
        "its penalty is not quadratic",
    ),
    "quadratic penalty, l1 or elastic net": (
        lambda objective: objective.penalty.name in ("l2", "zero", "l1", "elastic_net"),
        "its penalty is neither quadratic nor l1, nor both",
    ),
    "strongly convex quadratic penalty": (
        lambda objective: (
            objective.penalty.name == "l2" and objective.penalty.strong_convexity > 0.0
        ),
        "its penalty is not (lam/2)|w|^2 with lam > 0",
    ),
    "norm of blocks as its penalty": (
        lambda objective: objective.penalty.zero_blocks(objective.d) is not None,
        "its penalty is not a sum of norms of blocks",
    ),
    "sorted l1 norm as its penalty": (
        lambda objective: objective.penalty.name == "sorted_l1",
        "its penalty is not the sorted l1 norm",
    ),
    "bounded slope of each sample": (
        has_bounded_rounds,
        "a slope is unbounded, and no ball is known to hold the solution",
    ),
    "penalty without constraints": (
        lambda objective: not objective.penalty.restricts,
        "its penalty is a constraint",
    ),
    "bounded slope of every sample": (
        lambda objective: bool(np.isfinite(round_slope(objective))),
        "the slope of its loss or of its penalty is unbounded",
    ),
    "bounded slope of each sample on its ball": (
        has_bounded_rounds_on_its_ball,
        "a slope is unbounded, and no ball is known to hold the solution",
    ),
    "no constraint but a Euclidean ball": (
        lambda objective: not objective.penalty.restricts or objective.penalty.name == "l2_ball",
        "its penalty is a constraint other than |w| <= t",
    ),
    "l1 ball as its penalty": (
        lambda objective: objective.penalty.name == "l1_ball",
        "its penalty is not the constraint |w|_1 <= t",
    ),
    "separation problem": (
        lambda objective: objective.loss.is_indicator and objective.loss.labels == "binary",
        "it does not ask for a separating hyperplane",
    ),
    "kernel": (
        lambda objective: isinstance(objective, KernelObjective),
        "its samples are rows of features (take dual_coordinate_descent, or kernels.Linear())",
    ),
    "model without an intercept": (
        lambda objective: not objective.fit_intercept,
        "its intercept is free (fit_intercept=False fixes it at 0)",
    ),
}


GENERAL = ("learning problem",)
"""Also where b has shape (K,) and predictions (n, K), for K classes."""
SCALAR = (*GENERAL, "scalar prediction")
SMOOTH = ("finite loss", "smooth loss", "smooth penalty")
"""What gradients of P need."""
SPLIT = ("finite loss", "smooth loss", "bounded curvature")
"""What gradients of the loss and proxes of the penalty need."""
BOUNDED = ("bounded curvature", "bounded curvature of the penalty")
BROUGHT = ("model that brings it",)
"""What is written for some models in arrays of their own, which name it among their methods."""


def meets(objective: Objective | None, need: str) -> bool:
    """Whether an objective has what is needed; it is asked once."""
    known = {} if objective is None else objective.__dict__.setdefault("_meets", {})
    if need not in known:
        known[need] = NEEDS[need][0](objective)  # type: ignore[arg-type]
    return bool(known[need])


# What the package knows of a hand-written solver.


@dataclass(frozen=True)
class Algorithm:
    """A hand-written solver: a generator of iterates, what it needs, and its theorem.

    What models bring for themselves yields points of theirs, and is never started here.
    """

    name: str
    iterate: Callable[..., Iterator[Any]]
    needs: tuple[str, ...]
    max_iter: int
    theorem: Theorem | None = None

    def start(
        self,
        objective: Objective,
        w: Array,
        b: float,
        seed: int,
        options: Mapping[str, Any],
        carried: dict[str, Any] | None = None,
    ) -> Iterator[Iterate]:
        """Begin a run; ``seed`` and ``carried`` reach the algorithms that take them.

        What a run found out about the design is left in ``carried`` for the next one on a path.

        Raises
        ------
        InputError
            For an option that the algorithm does not know.
        """
        given = {"seed": seed, "carried": {} if carried is None else carried}
        takes = list(arguments(self.iterate))[3:]
        ours = {key: value for key, value in given.items() if key in takes}
        try:
            return self.iterate(objective, w.copy(), b, **ours, **options)
        except TypeError as error:
            known = [key for key in takes if key not in given]
            unknown = next((key for key in options if key not in known), None)
            if unknown is None:
                raise InputError(f"{self.name}: {error}.") from None
            has = f"its options: {', '.join(known)}" if known else "it has none"
            raise InputError(
                f"{self.name}: there is no option {unknown!r}; {has}. {EVERY_SOLVE}"
                f"{solve_argument(unknown)}"
            ) from None


def by_name(
    iterate: Callable[..., Iterator[Any]],
    needs: tuple[str, ...],
    max_iter: int,
    theorem: Theorem | None = None,
    prefix: str = "",
) -> Algorithm:
    """The solver that is called as its function is, after a prefix."""
    return Algorithm(prefix + iterate.__name__, iterate, needs, max_iter, theorem)

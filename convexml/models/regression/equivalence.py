"""A ball around w, or a penalty on it: two problems with one solution."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import InputError
from ..reading.names import NamedColumns
from ..solution import Solution
from .lasso import ConstrainedLasso, Lasso
from .ridge import ConstrainedRidge, Ridge

PENALISED = {"ConstrainedLasso": Lasso, "ConstrainedRidge": Ridge}
CONSTRAINED = {"Lasso": ConstrainedLasso, "Ridge": ConstrainedRidge}


def equivalent(solution: Solution) -> Any:
    """The penalised problem with the solution of a constrained one, or the other way round.

    (1/2) mean r^2 subject to |w| <= radius, with the multiplier lambda (mu) of the ball, has the
    solution of (1/2) mean r^2 + lam |w|_1 with lam = lambda, and of (1/2) mean r^2 + (lam/2)
    |w|_2^2 with lam = mu / radius. Back, radius = |w|. The gap of (w, b) with its u is the same in
    both where |X'u| is the multiplier and |w| the radius.

    Parameters
    ----------
    solution : Solution
        Of ``Lasso``, ``ConstrainedLasso``, ``Ridge`` or ``ConstrainedRidge``.

    Returns
    -------
    problem
        Of the other form, posed on the samples of positive weight. A ball that does not bind has
        the multiplier 0, and lam = 0.

    Raises
    ------
    InputError
        For other models, and for w = 0, which no radius > 0 has for certain.

    References
    ----------
    Hajjar, *Linear Models* (2019), sections 5 and 6; Boyd and Vandenberghe (2004), section 5.5.3.
    """
    problem = getattr(solution, "problem", None)
    name = getattr(problem, "name", type(solution).__name__)
    if problem is None or name not in {**PENALISED, **CONSTRAINED}:
        known = ", ".join((*CONSTRAINED, *PENALISED))
        raise InputError(f"equivalent: takes a solution of {known}; got one of {name}.")
    w = np.asarray(solution.primal["w"])
    if name in PENALISED:
        lam = float(solution.dual["lambda" if "Lasso" in name else "mu"])
        lam = lam if "Lasso" in name else lam / problem.radius
        return _posed(PENALISED[name], problem, lam)
    radius = float(np.linalg.norm(w, 1 if name == "Lasso" else 2))
    if not radius > 0.0:
        raise InputError(
            f"equivalent: w = 0 at lam = {problem.lam:g}; a ball needs a radius > 0. Take a "
            "smaller lam."
        )
    return _posed(CONSTRAINED[name], problem, radius)


def _posed(model: Any, problem: Any, value: float) -> Any:
    """The model on the samples of another problem."""
    samples = problem._samples
    X = samples.X
    if samples.feature_names and isinstance(X, np.ndarray):
        X = NamedColumns(X, samples.feature_names)
    intercept = problem.objective_parts.fit_intercept
    weights = samples.weights
    return model(X, samples.y, value, fit_intercept=intercept, sample_weight=weights)

"""convexml on the rows: the problem of each kind, its solution, and the gap of anybody's point."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data import SIGMA, Data

OURS = "convexml"
WORTHWHILE = 10.0
"""The search for a better u takes a Newton step or several: not where it is hopeless."""


def posed(kind: str, data: Data, fit_intercept: bool = True, level: float | None = None) -> Any:
    """The problem of a row; ``level`` in place of the row's own lam or C."""
    import convexml as cml

    X, y, level = data.X, data.y, data.level if level is None else level
    options: dict[str, Any] = {"fit_intercept": fit_intercept}
    if data.weights is not None:
        options["sample_weight"] = data.weights
    if kind in ("lasso", "lasso path"):
        return cml.Lasso(X, y, level, **options)
    if kind == "ridge":
        return cml.Ridge(X, y, level, **options)
    if kind.endswith("logistic"):
        return cml.LogisticRegression(X, y, level, kind.split()[0], **options)
    if kind == "svm":
        return cml.SoftMarginSVM(X, y, level, **options)
    return cml.KernelSVM(X, y, level, cml.kernels.Gaussian(SIGMA), **options)


def fit(kind: str, solver: str = "auto", own_dual: bool = False) -> Any:
    """From the arrays to a certified solution: posing, solving and judging.

    Beside peers (w, b) alone is handed out, as theirs; without any, u as well.
    """

    def run(data: Data, tol: float) -> Any:
        problem = posed(kind, data)
        if kind == "lasso path":
            return [point(each) for each in problem.path(data.lams, tol=tol)]
        solution = problem.solve(solver, tol=tol)
        found = point(solution)
        return (*found, solution.dual["u"]) if own_dual and "u" in solution.dual else found

    return run


def point(solution: Any) -> tuple[Any, Any]:
    """(w, b), or (q, b) of a kernel model, of a certified solution."""
    if solution.status != "optimal":
        gap = f"relative gap {solution.relative_gap:.1e}"
        raise ArithmeticError(f"{solution.status} by {solution.solver}, {gap}")
    primal = solution.primal
    return primal["q"] if "q" in primal else primal["w"], primal["b"]


def verified_gap(
    kind: str, data: Data, found: Any, target: float, fit_intercept: bool = True
) -> float:
    """The relative gap of (w, b), recomputed from the point alone; of a path the worst.

    With (w, b, u) from the two points.
    """
    problem = posed(kind, data, fit_intercept)
    if kind != "lasso path":
        w, b, *u = found
        if u:
            return float(problem.certify(w, b, u[0], tol=target).relative_gap)
        return gap_at(problem, w, b if fit_intercept else 0.0, target)
    gaps = []
    for lam, (w, b) in zip(data.lams, found, strict=True):
        problem.lam = lam
        gaps.append(gap_at(problem, w, b, target))
    return float(np.max(gaps))


def gap_at(problem: Any, w: np.ndarray, b: float | None, target: float) -> float:
    """With the derivative of the loss as u, and a better u looked for where that may decide."""
    from convexml.certificates.learning.dual import plain_dual

    parts = problem.objective_parts
    if parts.loss.is_smooth and parts.w_shape == np.shape(w):
        z = parts.predict(w, b)
        u = plain_dual(parts, z + parts.best_intercept(z)).u
        gap = proved_gap(problem, w, b, u, target)
        if gap <= target or gap > WORTHWHILE * target:
            return gap
    return proved_gap(problem, w, b, None, target)


def proved_gap(problem: Any, w: Any, b: Any, u: Any, target: float) -> float:
    """As ``certify``, which looks for a u until the gap is ``target``; nothing is refuted.

    The search for a better point would take most of the time.
    """
    from convexml.certificates import certify_objective

    if hasattr(problem, "kernel"):
        return float(problem.certify(w, b, u, tol=target).relative_gap)
    parts = problem.objective_parts
    return float(certify_objective(parts, w, b, u, tol=target, refute=False).relative_gap)

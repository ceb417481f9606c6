"""Records of a comparison with everything that a report must show."""

from __future__ import annotations

import sys
from math import inf
from typing import Any
from unittest.mock import patch

import numpy as np

from convexml.show.comparison import Outcome
from convexml.show.views import Comparison, render_html

ENVIRONMENT = {
    "cpu": "A <fast> & honest CPU", "cores": 2, "os": "Linux", "python": "3.11.7",
    "versions": {"numpy": "2.4.6", "ecos": None},
    "blas": [{"library": "openmp", "version": "", "threads": 2}],
    "date": "2026-11-20T09:00:00+00:00", "tolerances": [1e-6], "max_seconds": 5.0, "repeats": 1,
    "seed": 0,
}  # fmt: skip
FACTS = (
    {"name": "nonzeros", "expected": 5.0, "value": 7.0, "ok": False, "source": "<Efron> 2004"},
    {"name": "w", "expected": [1.0, -2.0], "value": [1.0, -2.0], "ok": True, "source": "by hand"},
)


def record(problem: str, solver: str, **others: Any) -> Outcome:
    known: dict[str, Any] = {"title": f"The title of {problem}", "claimed": "optimal"}
    known |= {"verdict": "certified", "status": "optimal", "verified": True}
    known |= {"objective": 1620.599712, "dual_objective": 1620.599711}
    known |= {"gap": 1e-6, "relative_gap": 6.2e-10, "facts": FACTS, "expected_status": "optimal"}
    known |= {"worst_condition": "1'u = 0", "worst_residual": 1e-12}
    known |= {"seconds": 0.0123, "compile_seconds": 0.0045, "iterations": 17}
    return Outcome(problem, solver, 1e-6, **(known | others))


REFUSED: dict[str, Any] = {"verdict": "refuted", "status": "inaccurate", "verified": False}
TOLD = "a feasible point is better by 79.4 <b>bold</b>"
LIE = record(
    *("lasso", "liar"), **REFUSED, objective=1700.0, gap=79.4, relative_gap=0.047, message=TOLD
)
ABSENT = Outcome("lasso", "piqp", 1e-6, message="not installed: pip install piqp")
CRASH = Outcome("svm", "ecos", 1e-6, claimed="error", message="PanicException: index 4")
NONE: dict[str, Any] = {"claim": "unattained", "status": "unattained", "facts": ()}
NONE |= {"objective": 1e-9, "dual_objective": 0.0, "gap": inf, "relative_gap": inf}
UNATTAINED = record("logistic", "scs", **NONE, expected_status="unattained")
STATEMENT = record(
    "statement", "scs", verdict="undecided", status="inaccurate", verified=False, certifiable=False
)
RECORDS = (record("lasso", "clarabel"), LIE, ABSENT, CRASH, UNATTAINED, STATEMENT)


def page_of(results: Comparison, *races: Any) -> str:
    """The page without the charts that matplotlib draws, which take most of its time."""
    with patch.dict(sys.modules, {"matplotlib": None}):
        return render_html(results, races)


LAM = 0.1


def data() -> tuple[Any, Any]:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(30, 4))
    return X, X @ [1.0, -2.0, 0.0, 0.5] + rng.normal(size=30)


def ridge_by_normal_equations() -> float:
    """P* by the normal equations of the centred data."""
    X, y = data()
    n, d = X.shape
    Xc, yc = X - X.mean(axis=0), y - y.mean()
    w = np.linalg.solve(Xc.T @ Xc / n + LAM * np.eye(d), Xc.T @ yc / n)
    return float(np.mean((yc - Xc @ w) ** 2) / 2 + LAM / 2 * w @ w)

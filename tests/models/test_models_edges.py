"""Data that break careless code: columns of 0, of one value, twice, of scale 1e8; y constant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.model_cases import MODELS, samples

import convexml as cml
from convexml.numerics import Array

Edge = Callable[[Array, Array], tuple[Array, Array]]


def column(values: Callable[[Array], Array]) -> Edge:
    """The data with the last feature replaced."""
    return lambda X, y: (np.column_stack([X[:, :4], values(X)]), y)


def two(y: Array) -> Array:
    """Two targets, one of each class where they are labels."""
    return np.array([1.0, -1.0]) if set(y) <= {-1.0, 1.0} else y[:2]


EDGES: dict[str, Edge] = {
    "a column of 0": column(lambda X: 0.0 * X[:, 0]),
    "a column of 1": column(lambda X: np.ones(len(X))),
    "a column twice": column(lambda X: X[:, 0]),
    "a column of 1e8": column(lambda X: 1e8 * X[:, 4]),
    "a column of 1e-8": column(lambda X: 1e-8 * X[:, 4]),
    "all of 1e6": lambda X, y: (1e6 * X, y),
    "far from 0": lambda X, y: (X + 1e4, y),
    "every row twice": lambda X, y: (np.repeat(X, 2, axis=0), np.repeat(y, 2)),
    "two rows": lambda X, y: (X[:2], two(y)),
    "no information": lambda X, y: (0.0 * X, y),
}
TARGETS: dict[str, Edge] = {
    "y constant": lambda X, y: (X, np.full_like(y, 2.0)),
    "y zero": lambda X, y: (X, np.zeros_like(y)),
    "y of 1e6": lambda X, y: (X, 1e6 * y),
    "y of 1e-6": lambda X, y: (X, 1e-6 * y),
    "one row": lambda X, y: (X[:1], y[:1]),
}
OTHERWISE = {
    ("MinimumNorm", "no information"): "infeasible",
    ("HardMarginSVM", "no information"): "infeasible",
    ("HalfspaceLP", "no information"): "infeasible",
    ("LogisticRegression-none", "two rows"): "unattained",
    ("PoissonRegression", "y zero"): "unattained",  # e^b falls for ever
}
CASES = [(case, name, edge) for case in MODELS for name, edge in EDGES.items()]
CASES += [
    (case, name, edge)
    for case in MODELS
    for name, edge in TARGETS.items()
    if not set(case.data()[1]) <= {-1.0, 1.0}
]


@pytest.mark.parametrize(
    ("case", "name", "edge"), CASES, ids=[f"{case.name}-{name}" for case, name, _ in CASES]
)
def test_every_model_answers(case: Any, name: str, edge: Edge) -> None:
    solution = case.make(*edge(*case.data())).solve()
    assert solution.status == OTHERWISE.get((case.name, name), "optimal")
    if solution.status == "optimal":
        assert solution.certificate.holds(1e-6)
    else:
        assert solution.evidence


def test_counts_that_are_all_0_have_no_minimiser() -> None:
    X, _ = samples("count")
    solution = cml.PoissonRegression(X, np.zeros(len(X)), 0.1).solve()
    assert np.all(solution.evidence["w"] == 0.0)
    assert solution.evidence["b"] < 0.0
    assert cml.PoissonRegression(X, np.zeros(len(X)), 0.1, fit_intercept=False).solve().status == (
        "optimal"
    )


def test_a_column_of_another_scale_changes_nothing_but_its_coefficient() -> None:
    X, y = samples("real")
    scale = np.array([1.0, 1e8, 1.0, 1e-8, 1.0])
    plain, scaled = cml.LeastSquares(X, y).solve(), cml.LeastSquares(X * scale, y).solve()
    assert scaled.objective == pytest.approx(plain.objective, rel=1e-9)
    assert scaled.primal["w"] * scale == pytest.approx(plain.primal["w"], rel=1e-6)

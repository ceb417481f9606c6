"""Random compositions of atoms and affine maps, tiny: what is recognised has CLARABEL's value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.answers import clarabel, near

import convexml as cml

Expression = Any

N, D = 10, 3

VARIABLES: dict[str, Callable[[], Expression]] = {
    "plain": lambda: cp.Variable(D, name="w"),
    "column": lambda: cp.vec(cp.Variable((D, 1), name="w"), order="F"),
    "scaled": lambda: 2.0 * cp.Variable(D, name="w"),
    "turned": lambda: cp.Variable(D, name="w")[::-1],
    "two": lambda: cp.hstack([cp.Variable(1, name="u"), cp.Variable(D - 1, name="v")]),
    "nonneg": lambda: cp.Variable(D, nonneg=True, name="w"),
    "difference": lambda: cp.Variable(D, nonneg=True) - cp.Variable(D, nonneg=True),
    "shared": lambda: cp.promote(cp.Variable(name="w"), (D,)),
}
"""What stands for the coefficients."""

MAPS: dict[str, Callable[[np.ndarray, Expression, Expression], Expression]] = {
    "plain": lambda X, w, b: X @ w + b,
    "no intercept": lambda X, w, b: X @ w,
    "transposed": lambda X, w, b: w @ X.T + b * np.ones(N),
    "blocks": lambda X, w, b: cp.hstack([X[:4] @ w + b, X[4:] @ w + b]),
    "columns": lambda X, w, b: sum(X[:, j] * w[j] for j in range(D)) + b,
    "parts": lambda X, w, b: X[:, :1] @ w[:1] + (X[:, 1:] @ w[1:] - b),
    "reversed": lambda X, w, b: (X @ w + 2.0 * b)[::-1],
    "summed up": lambda X, w, b: cp.cumsum(X @ w) / 2 + b,
    "matrix": lambda X, w, b: cp.vec(cp.reshape(X @ w + b, (5, 2), order="C"), order="F"),
    "diagonal": lambda X, w, b: cp.multiply(np.linspace(0.5, 1.5, N), X @ w + b),
    "one each": lambda X, w, b: cp.hstack([row @ w + b for row in X]),
}
"""The predictions."""

LOSSES: dict[str, Callable[[Expression, np.ndarray], Expression]] = {
    "square": lambda z, y: cp.square(z - y),
    "abs": lambda z, y: cp.abs(z - y),
    "huber": lambda z, y: cp.huber(z - y, 0.7),
    "scaled huber": lambda z, y: cp.huber(2.0 * (y - z), 1.0),
    "two lines": lambda z, y: cp.maximum(0.7 * (y - z), -0.3 * (y - z)),
    "tilted abs": lambda z, y: 0.5 * cp.abs(z - y) + 0.2 * (z - y),
    "pos and neg": lambda z, y: 2.0 * cp.pos(y - z) + cp.neg(y - z),
    "tube": lambda z, y: cp.pos(cp.abs(z - y) - 0.3),
    "squared tube": lambda z, y: cp.square(cp.pos(cp.abs(y - z) - 0.2)),
    "hinge": lambda z, y: cp.pos(1 - cp.multiply(np.sign(y), z)),
    "wide hinge": lambda z, y: cp.pos(2 - 3.0 * cp.multiply(np.sign(y), z)),
    "squared hinge": lambda z, y: cp.square(cp.pos(1 - cp.multiply(np.sign(y), z))),
    "one-sided square": lambda z, y: cp.square(cp.pos(z - y)),
    "logistic": lambda z, y: cp.logistic(-cp.multiply(np.sign(y), z)),
    "0/1 labels": lambda z, y: cp.logistic(z) - cp.multiply(1.0 * (y > 0), z),
    "probabilities": lambda z, y: cp.logistic(z) - cp.multiply(0.2 + 0.6 * (y > 0), z),
    "exponential": lambda z, y: cp.exp(-cp.multiply(np.sign(y), z)),
    "poisson": lambda z, y: cp.exp(z) - cp.multiply(np.round(np.abs(y)), z),
    "offset poisson": lambda z, y: cp.exp(z + 0.3) - cp.multiply(np.abs(y), z),
    "square and abs": lambda z, y: cp.square(z - y) + cp.abs(z - y),
    "fourth power": lambda z, y: cp.power(z - y, 4),
}
"""The loss of each sample."""

SUMS: dict[str, Callable[[Expression], Expression]] = {
    "sum": cp.sum,
    "mean": cp.mean,
    "halved": lambda losses: cp.sum(losses) / (2 * N),
    "weighted": lambda losses: np.linspace(0.2, 2.0, N) @ losses,
    "multiplied": lambda losses: cp.sum(cp.multiply(np.linspace(1.0, 0.1, N), losses)),
    "loop": lambda losses: sum(losses[i] for i in range(N)),
    "one twice": lambda losses: cp.sum(losses) + losses[2],
    "largest": lambda losses: 3.0 * cp.max(losses),
}
"""How the losses are put together."""

PENALTIES: dict[str, Callable[[Expression, Expression], Expression]] = {
    "ridge": lambda w, b: 0.5 * cp.sum_squares(w),
    "norm squared": lambda w, b: cp.norm(w) ** 2 / 3,
    "diagonal": lambda w, b: cp.quad_form(w, np.diag([0.2, 1.0, 0.5])),
    "lasso": lambda w, b: 0.5 * cp.norm1(w),
    "adaptive": lambda w, b: cp.norm1(cp.multiply([0.1, 0.6, 0.2], w)),
    "slopes": lambda w, b: cp.sum(cp.maximum(0.2 * w, -0.2 * w)),
    "norm": lambda w, b: cp.norm(w, 2),
    "groups": lambda w, b: cp.norm(w[:2], 2) + cp.abs(w[2]),
    "all but one": lambda w, b: cp.norm1(w[1:]),
    "overlap": lambda w, b: cp.norm(w[:2], 2) + cp.norm(w[1:], 2),
    "largest": lambda w, b: cp.norm_inf(w),
    "differences": lambda w, b: cp.norm1(cp.diff(w)),
    "about a point": lambda w, b: cp.sum_squares(w - 0.4),
    "intercept": lambda w, b: cp.square(b) + cp.sum_squares(w),
    "upward": lambda w, b: 0.6 * cp.sum(cp.pos(w)),
    "tilted": lambda w, b: cp.norm1(w) + 0.2 * w[0],
    "robust": lambda w, b: cp.sum(cp.huber(w, 0.2)),
}

RULES: dict[str, Callable[[Expression, Expression], list[Any]]] = {
    "none": lambda w, b: [],
    "nonnegative": lambda w, b: [w >= 0],
    "box": lambda w, b: [w <= 0.5, w >= -0.2],
    "cube": lambda w, b: [cp.abs(w) <= 0.4],
    "ball": lambda w, b: [cp.norm(w, 2) <= 0.6],
    "squared ball": lambda w, b: [cp.sum_squares(w) <= 0.3],
    "l1 ball": lambda w, b: [cp.norm1(w) <= 0.7],
    "adds up": lambda w, b: [cp.sum(w) == 0.5],
    "fixed": lambda w, b: [w[0] == 0.3],
    "part": lambda w, b: [w[1:] >= 0],
    "above": lambda w, b: [w >= 0.1],
    "intercept": lambda w, b: [b <= 0.2, b >= -0.1],
    "box and ball": lambda w, b: [w >= 0, cp.norm1(w) <= 0.5],
}

ENDS: dict[str, Callable[[Expression], Any]] = {
    "minimised": cp.Minimize,
    "scaled": lambda cost: cp.Minimize(4.0 * cost + 1.5),
    "maximised": lambda cost: cp.Maximize(3.0 - cost),
    "parameter": lambda cost: cp.Minimize(cp.Parameter(nonneg=True, value=0.3) * cost),
}

ODD = set(
    """probabilities,offset poisson,square and abs,fourth power,largest,overlap,differences,
    about a point,intercept,upward,tilted,robust,adds up,fixed,part,above,box and ball,shared"""
    .replace("\n    ", "").split(",")
)  # fmt: skip
"""What the catalogue does not have, or not everywhere."""

FALLING = {"logistic", "0/1 labels", "exponential"}
"""Their infimum may not be attained without a penalty."""

Recipe = tuple[int, str, str, str, str, tuple[str, ...], str, str]


def mostly(table: dict[str, object], plain: int = 0) -> st.SearchStrategy[str]:
    """The rows of a table, the odd ones less often, the first one ``plain`` times more."""
    common = [name for name in table if name not in ODD]
    odd = [name for name in table if name in ODD]
    return st.sampled_from([common[0]] * plain + 4 * common + odd)


recipes = st.tuples(
    st.integers(0, 10**6),
    mostly(VARIABLES),
    mostly(MAPS),
    mostly(LOSSES),
    mostly(SUMS),
    st.lists(mostly(PENALTIES), max_size=2).map(tuple),
    mostly(RULES, plain=100),
    mostly(ENDS),
)


def compose(recipe: Recipe) -> cp.Problem:
    """The problem of a recipe."""
    seed, variable, way, loss, total, penalties, rule, end = recipe
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, D))
    y = X @ rng.normal(size=D) + rng.normal(size=N)
    y = np.where(np.abs(y) < 0.05, 0.05, y)
    y[:2] = np.abs(y[0]), -np.abs(y[1])  # both labels
    w, b = VARIABLES[variable](), cp.Variable(name="b")
    cost = SUMS[total](LOSSES[loss](MAPS[way](X, w, b), y))
    if loss in FALLING:
        cost = cost + 0.01 * cp.sum_squares(w)
    for penalty in penalties:
        cost = cost + PENALTIES[penalty](w, b)
    return cp.Problem(ENDS[end](cost), RULES[rule](w, b))


def check(recipe: Recipe) -> None:
    problem = compose(recipe)
    found = cml.recognize(problem, explain=True)
    if not found:
        assert found.why
        return
    certificate = cml.solve(problem)
    assert certificate.verdict is cml.Verdict.CERTIFIED, certificate.reason
    value = clarabel(compose(recipe))
    assert near(float(problem.value), value, 1e-6)
    assert near(float(problem.objective.value), value, 1e-6)


@settings(max_examples=60)
@given(recipes)
def test_what_is_recognised_has_the_value_of_clarabel(recipe: Recipe) -> None:
    check(recipe)


@pytest.mark.slow
@settings(max_examples=1000)
@given(recipes)
def test_what_is_recognised_has_the_value_of_clarabel_1000(recipe: Recipe) -> None:
    check(recipe)


def test_a_part_is_recognised() -> None:
    """Every loss stands once, with a ridge."""
    seen = 0
    for number, loss in enumerate(LOSSES):
        recipe = (number, "plain", "plain", loss, "sum", ("ridge",), "none", "minimised")
        seen += bool(cml.recognize(compose(recipe)))
    assert seen >= 0.7 * len(LOSSES)

"""The first iterates of each algorithm of the page equal a re-statement written out here."""

from __future__ import annotations

import ast
import inspect
import math
import random
from collections.abc import Iterator
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist, squareform
from sklearn.neighbors import KNeighborsClassifier

from convexml import textbook
from convexml.errors import InputError

RNG = np.random.default_rng(7)
X = RNG.normal(size=(9, 3))
Y = X @ [1.0, -2.0, 0.5] + 0.3 * RNG.normal(size=9)
LABELS = np.where(Y + RNG.normal(size=9) > 0.0, 1.0, -1.0)
START = np.array([0.3, -0.2, 0.1])
N, D = X.shape
SEPARATED = RNG.normal(size=(12, 3))
SIDES = np.sign(SEPARATED @ [1.0, -1.0, 0.3])


def squares(w: Any) -> Any:
    """The gradient of (1/2n) sum (x_i.w - y_i)^2, by einsum."""
    return np.einsum("ij,i->j", X, np.einsum("ij,j->i", X, w) - Y) / N


def logistic(w: Any, ridge: float = 0.1) -> Any:
    return sum(
        -t * x / (1.0 + math.exp(t * (x @ w))) for x, t in zip(X, LABELS, strict=True)
    ) / N + (ridge * np.asarray(w))


def hessian(w: Any, ridge: float = 0.1) -> Any:
    p = [1.0 / (1.0 + math.exp(-x @ w)) for x in X]
    terms = [s * (1 - s) * np.outer(x, x) for s, x in zip(p, X, strict=True)]
    return sum(terms) / N + ridge * np.eye(D)


def value(w: Any) -> float:
    losses = [math.log1p(math.exp(-t * (x @ w))) for x, t in zip(X, LABELS, strict=True)]
    return math.fsum(losses) / N + 0.05 * float(w @ w)


def squared_sample(w: Any, i: int) -> Any:
    return (X[i] @ w - Y[i]) * X[i]


def hinge_sample(w: Any, i: int) -> Any:
    i %= N
    return 0.1 * np.asarray(w) - LABELS[i] * X[i] * (LABELS[i] * (X[i] @ w) < 1.0)


def hinge(w: Any) -> Any:
    return sum(hinge_sample(w, i) for i in range(N)) / N


def shrunk(v: Any, level: float) -> Any:
    return np.array([max(abs(t) - level, 0.0) * (1.0 if t > 0 else -1.0) for t in v])


def in_ball(v: Any) -> Any:
    norm = math.sqrt(float(v @ v))
    return v if norm <= 0.5 else 0.5 * v / norm


def first(points: Any, count: int = 10) -> list[Any]:
    return list(islice(points, count))


def means(points: Iterator[Any]) -> Iterator[Any]:
    seen = []
    for x in points:
        seen.append(x)
        yield np.mean(seen, axis=0)


def steps(slope: Any, step: Any = 0.2, into: Any = None, x: Any = START) -> Iterator[Any]:
    """x - step(t) slope(x, t), moved into a set."""
    t = 0
    while True:
        yield x
        x = x - (step(t) if callable(step) else step) * slope(x, t)
        x, t = x if into is None else into(x), t + 1


def momentum(prox: Any) -> Iterator[Any]:
    """FISTA with the factors written out: t_1 = 1, (t_k - 1) / t_{k+1}."""
    x = y = START
    t = 1.0
    while True:
        yield x
        before, x = x, prox(y - 0.2 * squares(y))
        following = 0.5 + 0.5 * math.sqrt(1.0 + 4.0 * t * t)
        y, t = x + (t - 1.0) / following * (x - before), following


def damped() -> Iterator[Any]:
    x = FAR
    while True:
        yield x
        g, s = logistic(x), 1.0
        step = np.linalg.inv(hessian(x)) @ g
        while value(x - s * step) > value(x) - 0.25 * s * (g @ step):
            s /= 2
        x = x - s * step


def newtons(ridge: float) -> Iterator[Any]:
    return steps(lambda x, t: np.linalg.inv(hessian(x, ridge)) @ logistic(x, ridge), 1.0)


def drawn(seed: int) -> Iterator[int]:
    rng = np.random.default_rng(seed)
    while True:
        yield int(rng.integers(N))


def sampled(seed: int) -> Iterator[Any]:
    draws = drawn(seed)
    return steps(lambda x, t: squared_sample(x, next(draws)), rooted)


def pegasos() -> Iterator[Any]:
    theta, draws, t = np.zeros(D), drawn(5), 1
    while True:
        yield (w := theta / (0.2 * t))
        i = next(draws)
        theta, t = theta + LABELS[i] * X[i] * (LABELS[i] * (X[i] @ w) < 1.0), t + 1


def saga() -> Iterator[Any]:
    x, table, draws = START, [squared_sample(START, i) for i in range(N)], drawn(2)
    while True:
        yield x
        i = next(draws)
        new = squared_sample(x, i)
        x = shrunk(x - 0.05 * (new - table[i] + np.mean(table, axis=0)), 0.02 * 0.05)
        table[i] = new


def perceptron() -> Iterator[Any]:
    theta, clean = np.zeros(3), False
    yield theta
    while not clean:
        clean = True
        for row, side in zip(SEPARATED, SIDES, strict=True):
            if side * (row @ theta) <= 0.0:
                theta, clean = theta + side * row, False
                yield theta


def leaders() -> Iterator[Any]:
    """x_t is the projection of - eta (v_0 + ... + v_{t-1})."""
    x, total, t = np.zeros(D), np.zeros(D), 0
    while True:
        yield x
        total = total + hinge_sample(x, t)
        x, t = in_ball(-0.7 * total), t + 1


def weights() -> Iterator[Any]:
    logs, t = np.zeros(D), 0  # log p_t = - eta sum of v_s, up to a constant
    while True:
        p = np.array([math.exp(a) for a in logs]) / math.fsum(math.exp(a) for a in logs)
        yield p
        logs, t = logs - 0.4 * hinge_sample(p, t), t + 1


def lasso_by_sections(seed: int | None) -> Iterator[Any]:
    """Each new coordinate minimises the lasso along it: found by golden sections."""
    rng, w, t = np.random.default_rng(seed), START, 0

    def at(j: int, a: float) -> float:
        x = np.where(np.arange(D) == j, a, w)
        return float((Y - X @ x) @ (Y - X @ x) / (2 * N) + 0.2 * np.abs(x).sum())

    while True:
        yield w
        j = t % D if seed is None else int(rng.integers(D))
        low, high = -10.0, 10.0
        for _ in range(100):
            a, b = low + 0.382 * (high - low), low + 0.618 * (high - low)
            low, high = (low, b) if at(j, a) <= at(j, b) else (a, high)
        w, t = np.where(np.arange(D) == j, (low + high) / 2, w), t + 1


def dual_ascent(seed: int | None) -> Iterator[Any]:
    rng, alpha, t = np.random.default_rng(seed), np.zeros(N), 0
    H = np.outer(LABELS, LABELS) * (X @ X.T)
    while True:
        yield np.append(X.T @ (alpha * LABELS), alpha)
        i = t % N if seed is None else int(rng.integers(N))
        alpha, t = alpha.copy(), t + 1
        alpha[i] = min(max(alpha[i] + (1.0 - H[i] @ alpha) / H[i, i], 0.0), 0.6)


def admm() -> Iterator[Any]:
    v = q = np.zeros(D)
    while True:
        yield v
        w = np.linalg.inv(X.T @ X / N + 0.5 * np.eye(D)) @ (X.T @ Y / N + 0.5 * (v - q))
        v = shrunk(w + q, 0.2 / 0.5)
        q = q + w - v


def prox(v: Any, step: float) -> Any:
    return shrunk(v, 0.3 * step)


def timed(t: int) -> float:
    return 0.2 / (t + 1)


def rooted(t: int) -> float:
    return 0.5 / math.sqrt(t + 1)


P = textbook
FAR = np.array([30.0, -20.0, 10.0])
RUNS: dict[str, tuple[Any, Any]] = {
    "gradient_descent": (
        P.gradient_descent(squares, START, timed), steps(lambda x, t: squares(x), timed),
    ),
    "subgradient": (
        P.subgradient(hinge, START, 0.4, in_ball, False),
        steps(lambda x, t: hinge(x), 0.4, in_ball),
    ),
    "subgradient, averaged": (
        P.subgradient(hinge, START, 0.4, in_ball, True),
        means(steps(lambda x, t: hinge(x), 0.4, in_ball)),
    ),
    "accelerated_gradient": (P.accelerated_gradient(squares, START, 0.2), momentum(lambda v: v)),
    "fista": (P.fista(squares, prox, START, 0.2), momentum(lambda v: shrunk(v, 0.06))),
    "proximal_gradient": (
        P.proximal_gradient(squares, prox, START, 0.2),
        steps(lambda x, t: squares(x), 0.2, lambda v: shrunk(v, 0.06)),
    ),
    "newton": (P.newton(logistic, hessian, START), newtons(0.1)),
    "damped_newton": (islice(P.damped_newton(value, logistic, hessian, FAR), 6), damped()),
    "irls": (islice(P.irls(X, LABELS, START), 4), newtons(0.0)),
    "sgd": (P.sgd(squared_sample, N, START, rooted, 3, False), sampled(3)),
    "sgd, averaged": (P.sgd(squared_sample, N, START, rooted, 3, True), means(sampled(3))),
    "pegasos": (P.pegasos(X, LABELS, 0.2, 5), means(pegasos())),
    "saga": (
        P.saga(squared_sample, lambda v, step: shrunk(v, 0.02 * step), N, START, 0.05, 2), saga(),
    ),
    "perceptron": (P.perceptron(SEPARATED, SIDES), perceptron()),
    "kernel_perceptron": (
        (m * SIDES @ SEPARATED for m in P.kernel_perceptron(SEPARATED @ SEPARATED.T, SIDES)),
        perceptron(),
    ),
    "online_gradient_descent": (
        P.online_gradient_descent(hinge_sample, np.zeros(D), rooted, in_ball),
        steps(hinge_sample, rooted, in_ball, np.zeros(D)),
    ),
    "follow_the_regularized_leader": (
        P.follow_the_regularized_leader(hinge_sample, D, 0.7, in_ball), leaders(),
    ),
    "exponentiated_gradient": (P.exponentiated_gradient(hinge_sample, D, 0.4), weights()),
    "coordinate_descent": (P.coordinate_descent(X, Y, 0.2, START, None), lasso_by_sections(None)),
    "coordinate_descent, random": (P.coordinate_descent(X, Y, 0.2, START, 4), lasso_by_sections(4)),
    "dual_coordinate_ascent": (
        (np.append(*both) for both in P.dual_coordinate_ascent(X, LABELS, 0.6, None)),
        dual_ascent(None),
    ),
    "dual_coordinate_ascent, random": (
        (np.append(*both) for both in P.dual_coordinate_ascent(X, LABELS, 0.6, 4)), dual_ascent(4),
    ),
    "admm": (P.admm(X, Y, 0.2, 0.5), admm()),
}  # fmt: skip


@pytest.mark.parametrize("name", RUNS)
def test_iterates(name: str) -> None:
    page, restated = RUNS[name]
    found = first(page)
    expected = first(restated, len(found))
    loose = 1e-6 if name.startswith(("damped", "irls", "coordinate")) else 1e-10
    assert_allclose(found, expected, rtol=loose, atol=max(0.1 * loose, 1e-13))
    assert sum(np.linalg.norm(b - a) > 1e-3 for a, b in pairwise(found)) >= 2
    assert not name.endswith("perceptron") or np.all(SIDES * (SEPARATED @ found[-1]) > 0.0)


def test_newton_is_not_damped() -> None:
    """For log cosh from 2 the pure step diverges; the damped one ends at 0."""
    g, h = np.tanh, lambda x: np.diag(1.0 / np.cosh(x) ** 2)
    pure = first(textbook.newton(g, h, np.array([2.0])), 3)
    assert abs(pure[1][0]) > 2.0
    ends = first(textbook.damped_newton(lambda x: float(np.log(np.cosh(x[0]))), g, h, pure[0]))
    assert abs(ends[-1][0]) < 1e-8


# -- factors, eigenvectors, clusters, votes --------------------------------------------------------


@pytest.mark.parametrize("factor", [textbook.householder, textbook.gram_schmidt])
def test_factors_and_least_squares(factor: Any) -> None:
    Q, R = factor(X)
    assert_allclose(Q.T @ Q, np.eye(D), atol=1e-13)
    assert_allclose(Q @ R, X, atol=1e-13)
    assert_allclose(np.tril(R, -1), 0.0, atol=0.0)
    known = np.linalg.lstsq(X, Y)[0]
    assert_allclose(textbook.normal_equations(X, Y), known, rtol=1e-9)
    assert_allclose(textbook.qr_least_squares(X, Y, factor), known, rtol=1e-9)
    ridge = textbook.normal_equations(X, Y, N * 0.3)
    assert_allclose(squares(ridge) + 0.3 * ridge, 0.0, atol=1e-12)


def test_power_iteration_and_deflation() -> None:
    S = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 1.0]])
    for k, (found, v) in enumerate(first(textbook.power_iteration(S, np.ones(3)))):
        image = np.linalg.matrix_power(S, k) @ np.ones(3)
        assert_allclose(v, image / np.linalg.norm(image), rtol=1e-11)
        assert found == pytest.approx(v @ S @ v, rel=1e-11)

    def leading(M: Any) -> Any:
        return first(textbook.power_iteration(M, np.array([1.0, 0.9, 0.7])), 400)[-1][1]

    values, vectors = textbook.deflation(S, 3, leading)
    assert_allclose(values, np.sort(np.linalg.eigvalsh(S))[::-1], rtol=1e-10)
    assert_allclose(vectors @ vectors.T, np.eye(3), atol=1e-8)


def test_lloyd() -> None:
    points = np.array([[0.0, 0.0], [0.0, 1.0], [5.0, 5.0], [6.0, 5.0], [5.0, 7.0]])
    centers, before, expected = points[:2], None, []
    while True:
        table = [[math.dist(x, c) ** 2 for c in centers] for x in points]
        labels = [row.index(min(row)) for row in table]
        expected.append(math.fsum(min(row) for row in table))
        if labels == before:
            break
        before = labels
        centers = [points[np.array(labels) == k].mean(axis=0) for k in range(2)]
    found = list(textbook.lloyd(points, points[:2]))
    assert_allclose([cost for _, _, cost in found], expected)
    assert expected == sorted(expected, reverse=True)
    assert_allclose(found[-1][0], centers)
    *_, (centers, labels, _) = textbook.lloyd(X, np.array([[0.0] * 3, [1e3] * 3]))
    assert_allclose(centers[1], 1e3)  # the center of an empty cluster is kept
    assert set(labels) == {0}


def test_draws_are_uniform_or_by_squares() -> None:
    """Rows 0, 1, 3 on a line: after 0, row 3 is drawn with probability 9/10."""
    drawn: list[int] = []
    first(textbook.sgd(lambda x, i: drawn.append(i) or 0.0 * x, 5, np.zeros(1), 1.0, seed=11), 5001)
    counts = np.bincount(drawn, minlength=5)
    # Chi-square with 4 degrees of freedom: above 33.4 with probability 1e-6.
    assert ((counts - 1000.0) ** 2 / 1000.0).sum() < 33.4
    line = np.array([[0.0], [1.0], [3.0]])
    pairs = [tuple(textbook.kmeans_plus_plus(line, 2, seed)[:, 0]) for seed in range(1000)]
    after = [second for start, second in pairs if start == 0.0]
    # |mean - 9/10| over some 333 draws: 5 standard deviations are .082.
    assert abs(np.mean([second == 3.0 for second in after]) - 0.9) < 0.082
    assert all(start != second for start, second in pairs)


def test_linkage_and_neighbors_are_those_of_others() -> None:
    for between in ("single", "complete", "average"):
        heights = [height for _, _, height in textbook.linkage(squareform(pdist(X)), between)]
        assert_allclose(heights, hierarchy.linkage(pdist(X), between)[:, 2])
    with pytest.raises(InputError, match="one of single, complete, average, got 'median'"):
        next(textbook.linkage(np.zeros((2, 2)), "median"))
    queries = RNG.normal(size=(20, 3))
    theirs = KNeighborsClassifier(3, algorithm="brute").fit(X, LABELS).predict(queries)
    assert_allclose(textbook.nearest_neighbors(X, LABELS, queries, 3), theirs)


def test_adaboost() -> None:
    rng = random.Random(3)
    one = np.array([[rng.choice([-1.0, 1.0]) for _ in range(12)] for _ in range(9)])
    H = np.hstack([one, -one])  # with both signs some edge is positive
    weights, shares, expected = np.zeros(24), np.full(9, 1.0 / 9), [np.zeros(25)]
    for _ in range(9):
        errors = [float(shares[h != LABELS].sum()) for h in H.T]
        j = errors.index(min(errors))
        weights = weights + 0.5 * math.log((1 - errors[j]) / errors[j]) * (np.arange(24) == j)
        shares = shares / np.where(H[:, j] != LABELS, 2 * errors[j], 2 - 2 * errors[j])
        expected.append(np.append(weights, 0.5 - errors[j]))
    found = first(textbook.adaboost(H, LABELS))
    assert_allclose([[*w, edge] for w, edge in found], expected, rtol=1e-9)
    mistakes = np.mean(np.sign(H @ found[-1][0]) != LABELS)
    assert mistakes <= math.exp(-2.0 * sum(edge**2 for _, edge in found))


# -- what a page is --------------------------------------------------------------------------------


def code_lines(function: ast.FunctionDef) -> int:
    """Lines of a function without its docstring, blanks and comments."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    nodes = [node for statement in body for node in ast.walk(statement) if hasattr(node, "lineno")]
    return len({line for node in nodes for line in (node.lineno, node.end_lineno)})


def test_no_function_has_more_than_twenty_lines_and_each_is_restated_here() -> None:
    nodes = ast.walk(ast.parse(Path(inspect.getfile(textbook)).read_text()))
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    assert len(functions) > 30
    assert {f.name: code_lines(f) for f in functions if code_lines(f) > 20} == {}
    here = Path(__file__).read_text()
    for name in textbook.__all__:
        assert f"textbook.{name}" in here or f"P.{name}(" in here

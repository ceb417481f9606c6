"""The first ten iterates of each algorithm of the page equal a re-statement in plain loops."""

from __future__ import annotations

import ast
import inspect
import math
import random
from itertools import islice, pairwise
from pathlib import Path

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
TIGHT = {"rtol": 1e-11, "atol": 1e-13}


def dot(a, b):
    return math.fsum(float(p) * float(q) for p, q in zip(a, b, strict=True))


def least_squares_gradient(w):
    """Of (1/2n) sum (x_i.w - y_i)^2, entry by entry."""
    left = [dot(row, w) - t for row, t in zip(X, Y, strict=True)]
    return [math.fsum(left[i] * X[i, j] for i in range(N)) / N for j in range(D)]


def logistic_gradient(w):
    pull = [-t / (1.0 + math.exp(t * dot(row, w))) for row, t in zip(X, LABELS, strict=True)]
    return [math.fsum(pull[i] * X[i, j] for i in range(N)) / N for j in range(D)]


def logistic_hessian(w):
    share = [1.0 / (1.0 + math.exp(-dot(row, w))) for row in X]
    return [
        [
            math.fsum(share[i] * (1 - share[i]) * X[i, j] * X[i, k] for i in range(N)) / N
            for k in range(D)
        ]
        for j in range(D)
    ]


def squared_sample(w, i):
    left = dot(X[i], w) - Y[i]
    return [left * X[i, j] for j in range(D)]


def hinge_sample(w, i):
    wrong = LABELS[i] * dot(X[i], w) < 1.0
    return [0.1 * w[j] - (LABELS[i] * X[i, j] if wrong else 0.0) for j in range(D)]


def as_array(function):
    return lambda *arguments: np.array(function(*arguments))


def shrunk(v, level):
    return [max(abs(t) - level, 0.0) * (1.0 if t > 0 else -1.0) for t in v]


def in_ball(v, radius=0.5):
    norm = math.sqrt(dot(v, v))
    return list(v) if norm <= radius else [radius * t / norm for t in v]


def first(points, count=10):
    return list(islice(points, count))


def moved(x, by, step):
    return [a - step * g for a, g in zip(x, by, strict=True)]


def test_gradient_descent():
    x, expected = list(START), []
    for t in range(10):
        expected.append(x)
        x = moved(x, least_squares_gradient(x), 0.2 / (t + 1))
    found = textbook.gradient_descent(
        as_array(least_squares_gradient), START, lambda t: 0.2 / (t + 1)
    )
    assert_allclose(first(found), expected, **TIGHT)


@pytest.mark.parametrize("average", [False, True])
def test_projected_subgradients(average):
    def slope(x):
        return [math.fsum(s) / N for s in zip(*(hinge_sample(x, i) for i in range(N)), strict=True)]

    x, seen, expected = list(START), [], []
    for _ in range(10):
        seen.append(x)
        means = [math.fsum(column) / len(seen) for column in zip(*seen, strict=True)]
        expected.append(means if average else x)
        x = in_ball(moved(x, slope(x), 0.4))
    found = textbook.subgradient(as_array(slope), START, 0.4, as_array(in_ball), average)
    assert_allclose(first(found), expected, **TIGHT)


def momentum_restated(prox, step):
    """FISTA with the factors written out: t_1 = 1, (t_k - 1) / t_{k+1}."""
    x, before, t, expected = list(START), list(START), 1.0, [list(START)]
    y = list(START)
    for _ in range(9):
        before, x = x, prox(moved(y, least_squares_gradient(y), step))
        following = 0.5 + 0.5 * math.sqrt(1.0 + 4.0 * t * t)
        y = [a + (t - 1.0) / following * (a - b) for a, b in zip(x, before, strict=True)]
        t = following
        expected.append(x)
    return expected


def test_accelerated_gradient():
    found = textbook.accelerated_gradient(as_array(least_squares_gradient), START, 0.2)
    assert_allclose(first(found), momentum_restated(list, 0.2), **TIGHT)


def test_fista():
    found = textbook.fista(
        as_array(least_squares_gradient),
        lambda v, step: np.array(shrunk(v, 0.3 * step)),
        START,
        0.2,
    )
    assert_allclose(first(found), momentum_restated(lambda v: shrunk(v, 0.06), 0.2), **TIGHT)


def test_proximal_gradient_is_ista():
    x, expected = list(START), []
    for _ in range(10):
        expected.append(x)
        x = shrunk(moved(x, least_squares_gradient(x), 0.2), 0.06)
    found = textbook.proximal_gradient(
        as_array(least_squares_gradient),
        lambda v, step: np.array(shrunk(v, 0.3 * step)),
        START,
        0.2,
    )
    assert_allclose(first(found), expected, **TIGHT)


def cramer(A, b):
    """The solution of a 3 x 3 system by determinants."""
    A, b = [list(row) for row in A], list(b)

    def determinant(M):
        (a, p, q), (c, r, s), (e, t, u) = M
        return a * (r * u - s * t) - p * (c * u - s * e) + q * (c * t - r * e)

    def replaced(k):
        return [[*row[:k], b[i], *row[k + 1 :]] for i, row in enumerate(A)]

    return [determinant(replaced(k)) / determinant(A) for k in range(3)]


def ridge_gradient(w):
    return [g + 0.1 * a for g, a in zip(logistic_gradient(w), w, strict=True)]


def ridge_hessian(w):
    H = logistic_hessian(w)
    return [[H[j][k] + 0.1 * (j == k) for k in range(D)] for j in range(D)]


def ridge_value(w):
    losses = (math.log1p(math.exp(-t * dot(r, w))) for r, t in zip(X, LABELS, strict=True))
    return math.fsum(losses) / N + 0.05 * dot(w, w)


def test_newton_takes_the_whole_step():
    x, expected = list(START), []
    for _ in range(10):
        expected.append(x)
        x = moved(x, cramer(ridge_hessian(x), ridge_gradient(x)), 1.0)
    found = textbook.newton(as_array(ridge_gradient), as_array(ridge_hessian), START)
    assert_allclose(first(found), expected, rtol=1e-9, atol=1e-12)


def test_damped_newton():
    far = [30.0, -20.0, 10.0]
    x, expected, halved = list(far), [], 0
    for _ in range(6):
        expected.append(x)
        g = ridge_gradient(x)
        step = cramer(ridge_hessian(x), g)
        s, fall = 1.0, dot(g, step)
        while ridge_value(moved(x, step, s)) > ridge_value(x) - 0.25 * s * fall:
            s, halved = s / 2, halved + 1
        x = moved(x, step, s)
    assert halved > 0
    found = textbook.damped_newton(
        ridge_value, as_array(ridge_gradient), as_array(ridge_hessian), np.array(far)
    )
    assert_allclose(first(found, 6), expected, rtol=1e-6, atol=1e-9)


def test_irls_is_pure_newton():
    x, expected = list(START), []
    for _ in range(4):
        expected.append(x)
        x = moved(x, cramer(logistic_hessian(x), logistic_gradient(x)), 1.0)
    assert_allclose(first(textbook.irls(X, LABELS, START), 4), expected, rtol=1e-8)


@pytest.mark.parametrize("average", [False, True])
def test_sgd(average):
    draws, x, seen, expected = np.random.default_rng(3), list(START), [], []
    for t in range(10):
        seen.append(x)
        means = [math.fsum(column) / len(seen) for column in zip(*seen, strict=True)]
        expected.append(means if average else x)
        x = moved(x, squared_sample(x, int(draws.integers(N))), 0.1 / math.sqrt(t + 1))
    found = textbook.sgd(
        as_array(squared_sample), N, START, lambda t: 0.1 / math.sqrt(t + 1), 3, average
    )
    assert_allclose(first(found), expected, **TIGHT)


def test_sgd_draws_uniformly_with_replacement():
    drawn = []
    run = textbook.sgd(lambda x, i: drawn.append(i) or 0.0 * x, 5, np.zeros(1), 1.0, seed=11)
    first(run, 5001)
    counts = np.bincount(drawn, minlength=5)
    assert len(counts) == 5
    # Chi-square with 4 degrees of freedom: above 33.4 with probability 1e-6.
    assert ((counts - 1000.0) ** 2 / 1000.0).sum() < 33.4
    assert any(a == b for a, b in pairwise(drawn))


def test_pegasos():
    draws, lam, theta, seen, expected = np.random.default_rng(5), 0.2, [0.0] * D, [], []
    for t in range(1, 11):
        w = [a / (lam * t) for a in theta]
        seen.append(w)
        expected.append([math.fsum(column) / t for column in zip(*seen, strict=True)])
        i = int(draws.integers(N))
        if LABELS[i] * dot(X[i], w) < 1.0:
            theta = [a + LABELS[i] * b for a, b in zip(theta, X[i], strict=True)]
    assert_allclose(first(textbook.pegasos(X, LABELS, lam, 5)), expected, **TIGHT)


def test_saga():
    draws, x, expected = np.random.default_rng(2), list(START), []
    table = [squared_sample(x, i) for i in range(N)]
    for _ in range(10):
        expected.append(x)
        i = int(draws.integers(N))
        new = squared_sample(x, i)
        mean = [math.fsum(column) / N for column in zip(*table, strict=True)]
        v = [a - b + c for a, b, c in zip(new, table[i], mean, strict=True)]
        x, table[i] = shrunk(moved(x, v, 0.05), 0.02 * 0.05), new
    found = textbook.saga(
        as_array(squared_sample),
        lambda v, step: np.array(shrunk(v, 0.02 * step)),
        N,
        START,
        0.05,
        2,
    )
    assert_allclose(first(found), expected, **TIGHT)


SEPARATED = np.array([[2.0, 1.0, 1.0], [-0.2, -1.0, 1.0], [0.5, 0.4, 1.0], [-1.0, 0.3, 1.0]])
SIDES = np.array([1.0, -1.0, 1.0, -1.0])


def test_perceptron():
    theta, expected, clean = [0.0] * 3, [[0.0] * 3], False
    while not clean:
        clean = True
        for row, side in zip(SEPARATED, SIDES, strict=True):
            if side * dot(row, theta) <= 0.0:
                theta = [a + side * b for a, b in zip(theta, row, strict=True)]
                expected.append(theta)
                clean = False
    found = list(textbook.perceptron(SEPARATED, SIDES))
    assert_allclose(found, expected, **TIGHT)
    assert np.all(SIDES * (SEPARATED @ found[-1]) > 0.0)


def test_kernel_perceptron_with_the_linear_kernel_is_the_perceptron():
    counts = list(textbook.kernel_perceptron(SEPARATED @ SEPARATED.T, SIDES))
    thetas = [
        [
            math.fsum(m * s * r for m, s, r in zip(row, SIDES, column, strict=True))
            for column in SEPARATED.T
        ]
        for row in counts
    ]
    assert_allclose(list(textbook.perceptron(SEPARATED, SIDES)), thetas, **TIGHT)


def test_online_gradient_descent():
    x, expected = [0.0] * D, []
    for t in range(10):
        expected.append(x)
        x = in_ball(moved(x, hinge_sample(x, t % N), 0.5 / math.sqrt(t + 1)))
    found = textbook.online_gradient_descent(
        lambda x, t: np.array(hinge_sample(x, t % N)),
        np.zeros(D),
        lambda t: 0.5 / math.sqrt(t + 1),
        as_array(in_ball),
    )
    assert_allclose(first(found), expected, **TIGHT)


def test_the_regularized_leader_minimises_what_it_has_seen():
    """x_{t+1} minimises <v_0 + ... + v_t, x> + |x|^2 / (2 eta) over the ball."""
    slopes = []

    def slope(x, t):
        slopes.append(hinge_sample(x, t % N))
        return np.array(slopes[-1])

    eta, points = 0.7, []
    for x in islice(textbook.follow_the_regularized_leader(slope, D, eta, as_array(in_ball)), 10):
        total = [math.fsum(column) for column in zip(*slopes, strict=True)] or [0.0] * D
        pull = [a + b / eta for a, b in zip(total, x, strict=True)]  # the gradient at x
        norm = math.sqrt(dot(x, x))
        if norm < 0.5 - 1e-12:
            assert_allclose(pull, 0.0, atol=1e-12)
        else:  # it points out of the ball: -pull = mu x with mu >= 0
            mu = -dot(pull, x) / dot(x, x)
            assert mu >= 0.0
            assert_allclose(pull, [-mu * a for a in x], atol=1e-12)
        points.append(norm)
    assert max(points) > 0.49


def test_exponentiated_gradient():
    logs, expected = [0.0] * D, []  # log p_t = - eta sum of v_s, up to a constant
    for t in range(10):
        size = math.fsum(math.exp(a) for a in logs)
        p = [math.exp(a) / size for a in logs]
        expected.append(p)
        logs = moved(logs, hinge_sample(p, t % N), 0.4)
    found = textbook.exponentiated_gradient(lambda p, t: np.array(hinge_sample(p, t % N)), D, 0.4)
    assert_allclose(first(found), expected, rtol=1e-10)


@pytest.mark.parametrize("seed", [None, 4])
def test_coordinate_descent(seed):
    """Each new coordinate minimises the lasso along it: found by golden sections."""
    draws = np.random.default_rng(seed)

    def value(w):
        left = [t - dot(row, w) for row, t in zip(X, Y, strict=True)]
        return dot(left, left) / (2 * N) + 0.2 * math.fsum(abs(a) for a in w)

    w, expected = list(START), []
    for t in range(10):
        expected.append(w)
        j = t % D if seed is None else int(draws.integers(D))
        low, high = -10.0, 10.0
        for _ in range(200):
            a, b = low + 0.382 * (high - low), low + 0.618 * (high - low)
            if value([*w[:j], a, *w[j + 1 :]]) <= value([*w[:j], b, *w[j + 1 :]]):
                high = b
            else:
                low = a
        w = [*w[:j], (low + high) / 2, *w[j + 1 :]]
    found = textbook.coordinate_descent(X, Y, 0.2, START, seed)
    assert_allclose(first(found), expected, atol=1e-6)


@pytest.mark.parametrize("seed", [None, 4])
def test_dual_coordinate_ascent(seed):
    draws, C, alpha, expected = np.random.default_rng(seed), 0.6, [0.0] * N, []
    for t in range(10):
        expected.append(list(alpha))
        i = t % N if seed is None else int(draws.integers(N))
        row = [LABELS[i] * LABELS[k] * dot(X[i], X[k]) for k in range(N)]  # of the dual's Hessian
        alpha[i] = min(max(alpha[i] + (1.0 - dot(row, alpha)) / row[i], 0.0), C)
    found = first(textbook.dual_coordinate_ascent(X, LABELS, C, seed))
    assert_allclose([alpha for _, alpha in found], expected, **TIGHT)
    for w, alpha in found:
        assert_allclose(w, [dot(alpha * LABELS, column) for column in X.T], atol=1e-12)


def test_admm():
    A = [[dot(X[:, j], X[:, k]) / N + 0.5 * (j == k) for k in range(D)] for j in range(D)]
    v, q, expected = [0.0] * D, [0.0] * D, []
    for _ in range(10):
        expected.append(v)
        right = [dot(X[:, j], Y) / N + 0.5 * (v[j] - q[j]) for j in range(D)]
        w = cramer(A, right)
        v = shrunk([a + b for a, b in zip(w, q, strict=True)], 0.2 / 0.5)
        q = [c + a - b for a, b, c in zip(w, v, q, strict=True)]
    assert_allclose(first(textbook.admm(X, Y, 0.2, 0.5)), expected, rtol=1e-9, atol=1e-12)


def test_least_squares_three_ways():
    normal = cramer(
        [[dot(X[:, j], X[:, k]) for k in range(D)] for j in range(D)],
        [dot(X[:, j], Y) for j in range(D)],
    )
    assert_allclose(textbook.normal_equations(X, Y), normal, rtol=1e-9)
    for factor in (textbook.householder, textbook.gram_schmidt):
        assert_allclose(textbook.qr_least_squares(X, Y, factor), normal, rtol=1e-9)
    lam = 0.3
    ridge = textbook.normal_equations(X, Y, N * lam)
    slope = [g + lam * a for g, a in zip(least_squares_gradient(ridge), ridge, strict=True)]
    assert_allclose(slope, 0.0, atol=1e-12)


@pytest.mark.parametrize("factor", [textbook.householder, textbook.gram_schmidt])
def test_factors(factor):
    Q, R = factor(X)
    assert_allclose([[dot(a, b) for b in Q.T] for a in Q.T], np.eye(D), atol=1e-13)
    assert_allclose(Q @ R, X, atol=1e-13)
    assert_allclose(np.tril(R, -1), 0.0, atol=0.0)


def test_power_iteration_and_deflation():
    S = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 1.0]])
    v, expected = [1.0, 1.0, 1.0], []
    for _ in range(10):
        norm = math.sqrt(dot(v, v))
        v = [a / norm for a in v]
        image = [dot(row, v) for row in S]
        expected.append([dot(v, image), *v])
        v = image
    found = first(textbook.power_iteration(S, np.ones(3)))
    assert_allclose([[value, *vector] for value, vector in found], expected, **TIGHT)

    def leading(M):
        return first(textbook.power_iteration(M, np.array([1.0, 0.9, 0.7])), 400)[-1][1]

    values, vectors = textbook.deflation(S, 3, leading)
    assert_allclose(values, np.sort(np.linalg.eigvalsh(S))[::-1], rtol=1e-10)
    assert_allclose(vectors @ vectors.T, np.eye(3), atol=1e-8)


def test_lloyd():
    points = np.array([[0.0, 0.0], [0.0, 1.0], [5.0, 5.0], [6.0, 5.0], [5.0, 7.0]])
    centers, before, expected = [[0.0, 0.0], [0.0, 1.0]], None, []
    while True:
        squares = [[math.dist(x, c) ** 2 for c in centers] for x in points]
        labels = [row.index(min(row)) for row in squares]
        expected.append(math.fsum(min(row) for row in squares))
        if labels == before:
            break
        before = labels
        members = [[x for x, a in zip(points, labels, strict=True) if a == k] for k in range(2)]
        centers = [[math.fsum(c) / len(m) for c in zip(*m, strict=True)] for m in members]
    found = list(textbook.lloyd(points, points[:2]))
    assert_allclose([cost for _, _, cost in found], expected)
    assert expected == sorted(expected, reverse=True)
    assert_allclose(found[-1][0], centers)


def test_lloyd_keeps_the_center_of_an_empty_cluster():
    *_, (centers, labels, _) = textbook.lloyd(X, np.array([[0.0] * 3, [1e3] * 3]))
    assert_allclose(centers[1], 1e3)
    assert set(labels) == {0}


def test_kmeans_plus_plus_draws_by_squares():
    """Rows 0, 1, 3 on a line: after 0, row 3 is drawn with probability 9/10."""
    line = np.array([[0.0], [1.0], [3.0]])
    pairs = [tuple(textbook.kmeans_plus_plus(line, 2, seed)[:, 0]) for seed in range(2000)]
    after = [second for start, second in pairs if start == 0.0]
    # |mean - 9/10| over some 667 draws: 5 standard deviations are .058.
    assert abs(np.mean([second == 3.0 for second in after]) - 0.9) < 0.06
    assert all(start != second for start, second in pairs)


@pytest.mark.parametrize("between", ["single", "complete", "average"])
def test_linkage(between):
    distances = squareform(pdist(X))
    heights = [height for _, _, height in textbook.linkage(distances, between)]
    assert_allclose(heights, hierarchy.linkage(pdist(X), between)[:, 2])


def test_an_unknown_distance_of_clusters_is_refused():
    with pytest.raises(InputError, match="one of single, complete, average, got 'median'"):
        next(textbook.linkage(np.zeros((2, 2)), "median"))


def test_nearest_neighbors():
    queries = np.random.default_rng(1).normal(size=(20, 3))
    theirs = KNeighborsClassifier(3, algorithm="brute").fit(X, LABELS).predict(queries)
    assert_allclose(textbook.nearest_neighbors(X, LABELS, queries, 3), theirs)


def test_adaboost():
    rng = random.Random(3)
    one = np.array([[rng.choice([-1.0, 1.0]) for _ in range(12)] for _ in range(9)])
    H = np.hstack([one, -one])  # with both signs some edge is positive
    weights, D, expected = [0.0] * 24, [1.0 / 9] * 9, [[0.0] * 25]
    for _ in range(9):
        errors = [
            math.fsum(p for p, h, t in zip(D, H[:, j], LABELS, strict=True) if h != t)
            for j in range(24)
        ]
        j = errors.index(min(errors))
        vote = 0.5 * math.log((1 - errors[j]) / errors[j])
        weights = [w + vote * (k == j) for k, w in enumerate(weights)]
        D = [
            p / (2 * errors[j] if h != t else 2 - 2 * errors[j])
            for p, h, t in zip(D, H[:, j], LABELS, strict=True)
        ]
        expected.append([*weights, 0.5 - errors[j]])
    found = first(textbook.adaboost(H, LABELS))
    assert_allclose([[*w, edge] for w, edge in found], expected, rtol=1e-9)
    mistakes = np.mean(np.sign(H @ found[-1][0]) != LABELS)
    assert mistakes <= math.exp(-2.0 * sum(edge**2 for _, edge in found))


def code_lines(function: ast.FunctionDef) -> int:
    """Lines of a function without its docstring, blanks and comments."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    kept = {
        line
        for statement in body
        for node in ast.walk(statement)
        if hasattr(node, "lineno")
        for line in (node.lineno, node.end_lineno)
    }
    return len(kept)


def test_no_function_has_more_than_twenty_lines():
    files = list(Path(inspect.getfile(textbook)).parent.glob("*.py"))
    functions = [
        node
        for file in files
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef)
    ]
    assert len(functions) > 30
    assert {f.name: code_lines(f) for f in functions if code_lines(f) > 20} == {}


def test_every_algorithm_is_restated_here():
    here = Path(__file__).read_text()
    assert [name for name in textbook.__all__ if f"textbook.{name}" not in here] == []

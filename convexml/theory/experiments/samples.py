"""Statistics, measured: each draw takes (bound, generator, the numbers of a problem)."""

from __future__ import annotations

from itertools import groupby, islice, pairwise, product
from typing import Any

import numpy as np

from ...numerics import Array
from ...textbook import adaboost, kmeans_plus_plus, lloyd, nearest_neighbors
from ..simulation import Experiment
from ..statistics import (
    bayes_predictor,
    bayes_risk,
    bernstein,
    boosting_error,
    divergence,
    entropy,
    excess_error,
    finite_class,
    hoeffding,
    kmeans_plus_plus_factor,
    lloyd_decrease,
    nearest_neighbor_risk,
    no_free_lunch,
    regularized_excess,
    stability,
    validation_error,
    vc_error,
    vc_growth,
    vc_halfspaces,
    vc_intervals,
)

Draw = tuple[Any, Any]
Random = np.random.Generator
REPEATS = 40
"""Independent repetitions within a draw."""


def tail(bound: Any, rng: Random, m: int, p: float, eps: float) -> Draw:
    """Whether the mean of m coins is off by eps."""
    off = np.abs(rng.binomial(m, p, REPEATS) / m - p) >= eps - 1e-12
    known = {"variance": p * (1.0 - p)} if bound.__name__ == "bernstein" else {}
    return off, bound(m, eps=eps, **known)


COINS = (
    {"m": 10, "p": 0.5, "eps": 0.4},
    {"m": 50, "p": 0.3, "eps": 0.15},
    {"m": 200, "p": 0.1, "eps": 0.05},
)


def candidates(rng: Random, H: int, m: int, noise: float, edge: float) -> tuple[Array, Array]:
    """Risks and training errors of the predictors 1[x < j/H]; the truth is 1[x < edge], noisy."""
    cuts = np.arange(1, H + 1) / H
    x = rng.uniform(size=m)
    y = (x < edge) ^ (rng.uniform(size=m) < noise)
    errors = ((x[:, None] < cuts) != y[:, None]).mean(axis=0)
    return noise + (1.0 - 2.0 * noise) * np.abs(cuts - edge), errors


def finite(bound: Any, rng: Random, case: str, H: int, eps: float, delta: float) -> Draw:
    """Whether as many samples as are said to be enough were not."""
    m, missed = bound(H, eps=eps, delta=delta, case=case), []
    for _ in range(5):
        risks, errors = candidates(rng, H, m, 0.0 if case == "realizable" else 0.2, 1.0 / H)
        missed.append(
            {
                "realizable": np.any(risks[errors == 0.0] > eps),
                "uniform": np.any(np.abs(risks - errors) > eps),
                "agnostic": risks[errors.argmin()] > risks.min() + eps,
            }[case]
        )
    return np.array(missed), delta


def validated(bound: Any, rng: Random, H: int, m: int, delta: float) -> Draw:
    """Whether a validation error is further from its risk than the bound."""
    risks, errors = candidates(rng, H, m, 0.2, 0.4)
    return np.abs(risks - errors).max() > bound(H, m=m, delta=delta), delta


def chosen(bound: Any, rng: Random, H: int, m: int, delta: float) -> Draw:
    """Whether the least training error leads to a risk above the bound; R* is the noise, 0.2."""
    risks, errors = candidates(rng, H, m, 0.2, 1.0 / np.pi)
    limit = bound(float(risks.min()) - 0.2, classes=H, m=m, delta=delta)
    return risks[errors.argmin()] - 0.2 > limit, delta


CLASSES = (
    {"H": 1, "m": 20, "delta": 0.2},
    {"H": 5, "m": 100, "delta": 0.1},
    {"H": 50, "m": 400, "delta": 0.05},
)


def uniform(bound: Any, rng: Random, dimension: int, m: int, delta: float) -> Draw:
    """Whether an interval [0, a] (dimension 1) or [a, b] (2) has a risk far above its error.

    All labels are 0: its risk is its length, its error the share of the samples inside.
    """
    x = np.concatenate([np.zeros((5, 1)), np.sort(rng.uniform(size=(5, m))), np.ones((5, 1))], 1)
    ahead = x - np.arange(m + 2) / m
    start = np.minimum.accumulate(ahead, axis=1) if dimension == 2 else ahead[:, :1]
    gap = np.max(ahead[:, 1:] - start[:, : m + 1] + 1.0 / m, axis=1)
    return gap > bound(dimension, m=m, delta=delta), delta


def labellings(bound: Any, rng: Random, d: int, m: int) -> Draw:
    """How many labellings of m points random halfspaces make."""
    X = np.hstack([rng.normal(size=(m, d)), np.ones((m, 1))])
    return len(np.unique(X @ rng.normal(size=(d + 1, 1000)) > 0.0, axis=1).T), bound(d + 1, m)


def shattered(bound: Any, rng: Random, d: int, b: bool) -> Draw:
    """The most points with all labellings: shown for as many, refuted for one more (Radon)."""
    size = d + b
    S = np.array(list(product((-1.0, 1.0), repeat=size)))
    X = np.vstack([np.zeros((int(b), d)), np.eye(d)])
    shift = 0.5 * S[:, :1] if b else 0.0
    found = np.array_equal(np.sign((S[:, int(b) :] - shift) @ X.T + shift), S)
    more = np.hstack([rng.normal(size=(size + 1, d)), np.ones((size + 1, int(b)))])
    weights = np.linalg.svd(more.T)[2][-1]  # sum_i weights_i (w.x_i + b) = 0: its signs are missed
    refuted = np.abs(weights @ more).max() < 1e-9 * np.abs(more).max()
    return size if found and refuted else np.nan, bound(d, fit_intercept=b)


def runs_of_ones(bound: Any, rng: Random, count: int) -> Draw:
    """The most points of the line whose labellings all are unions of so many intervals."""
    size = 0
    while all(
        sum(key for key, _ in groupby(row)) <= count for row in product((0, 1), repeat=size + 1)
    ):
        size += 1
    return size, bound(count)


def lunch(bound: Any, rng: Random, m: int) -> Draw:
    """max over f of E error, exactly: all f on 2 m points, all samples; the learner is random."""
    F = np.array(list(product((0, 1), repeat=2 * m)))
    errors = np.zeros(len(F))
    for sample in product(range(2 * m), repeat=m):
        seen = sorted(set(sample))
        guesses = rng.integers(2, size=(2 ** len(seen), 2 * m))
        told = guesses[F[:, seen] @ 2 ** np.arange(len(seen))]
        told[:, seen] = F[:, seen]
        errors += (told != F).mean(axis=1)
    return errors.max() / (2 * m) ** m, bound(m)


def joint(rng: Random, k: int, labels: int) -> Array:
    """A random distribution of pairs."""
    return rng.dirichlet(np.ones(k * labels)).reshape(k, labels)


def any_predictor(bound: Any, rng: Random, k: int, labels: int) -> Draw:
    """Risks of random predictors."""
    p = joint(rng, k, labels)
    guesses = rng.integers(labels, size=(REPEATS, k))
    return 1.0 - p[np.arange(k), guesses].sum(axis=1), bound(p)


def best_predictor(bound: Any, rng: Random, k: int, labels: int) -> Draw:
    """The error of the Bayes predictor on samples, against its risk."""
    p = joint(rng, k, labels)
    x, y = np.divmod(rng.choice(p.size, 1000, p=p.ravel()), labels)
    return np.mean(bound(p)[x] != y), bayes_risk(p)


PAIRS = tuple({"k": k, "labels": labels} for k, labels in ((2, 2), (10, 2), (20, 5)))


def regularized(y: Array, lam: float) -> float:
    """argmin of mean |w - y_i| + lam w^2: at a y_i, or where the slope is that of a piece."""
    m = len(y)
    w = np.concatenate([y, np.arange(-m, m + 1, 2) / (2.0 * lam * m)])
    return float(w[np.argmin(np.abs(w[:, None] - y).mean(axis=1) + lam * w**2)])


ATOMS = np.array([-2.0, -0.5, 0.3, 1.0, 4.0])
"""The values of y, each as probable."""


def replaced(rng: Random, m: int, lam: float) -> tuple[float, float, float]:
    """(mean change of the loss of a sample that is replaced, training loss, risk)."""
    y, other = rng.choice(ATOMS, m), rng.choice(ATOMS)
    w = regularized(y, lam)
    without = [regularized(np.where(np.arange(m) == i, other, y), lam) for i in range(m)]
    change = float(np.mean(np.abs(np.array(without) - y) - np.abs(w - y)))
    return change, float(np.abs(w - y).mean()), float(np.abs(w - ATOMS).mean())


def stable(bound: Any, rng: Random, m: int, lam: float) -> Draw:
    """The change; rho = 1."""
    return replaced(rng, m, lam)[0], bound(rho=1.0, lam=lam, m=m)


def generalizes(bound: Any, rng: Random, m: int, lam: float) -> Draw:
    """Risk - training loss, against the change: equal in expectation."""
    change, training, risk = replaced(rng, m, lam)
    return risk - training, change


def trade_off(bound: Any, rng: Random, m: int, lam: float) -> Draw:
    """Risk - the risk at the median of y."""
    risk, median = replaced(rng, m, lam)[2], float(np.median(ATOMS))
    least = float(np.abs(median - ATOMS).mean())
    return risk - least, bound(rho=1.0, lam=lam, m=m, norm=abs(median))


STRENGTHS = tuple({"m": m, "lam": lam} for m, lam in ((5, 0.5), (10, 0.1), (20, 0.2)))


def boosted(bound: Any, rng: Random, n: int, flips: float) -> Draw:
    """The training error after each round of AdaBoost over stumps, against the edges so far."""
    X = rng.normal(size=(n, 3))
    y = np.where((X[:, 0] + X[:, 1] > 0.0) ^ (rng.uniform(size=n) < flips), 1.0, -1.0)
    cuts = np.quantile(X, np.linspace(0.1, 0.9, 9), axis=0)
    half = np.where(X[:, None, :] > cuts, 1.0, -1.0).reshape(n, -1)
    H, edges, rows = np.hstack([half, -half]), [], []
    for w, edge in islice(adaboost(H, y), 1, 15):
        edges.append(edge)
        rows.append((np.mean(np.where(H @ w > 0.0, 1.0, -1.0) != y), bound(edges)))
    return tuple(np.array(rows).T)


def seeded(bound: Any, rng: Random, n: int, k: int) -> Draw:
    """The cost of k-means++, a mean over seedings, against the least cost of all clusterings."""
    X = rng.normal(size=(n, 2)) + 4.0 * rng.integers(k, size=(n, 1))
    Z = np.eye(k)[np.array(list(product(range(k), repeat=n)))].swapaxes(1, 2)
    sums, sizes = Z @ X, np.maximum(Z.sum(axis=2), 1.0)
    least = float(np.sum(X**2) - np.max(((sums**2).sum(axis=2) / sizes).sum(axis=1)))
    costs = [next(lloyd(X, kmeans_plus_plus(X, k, int(rng.integers(2**31)))))[2] for _ in range(20)]
    return np.mean(costs) / least, bound(k)


def lloyds(bound: Any, rng: Random, n: int, k: int) -> Draw:
    """By how much the cost falls in each step."""
    X, rows = rng.normal(size=(n, 2)), [(0.0, 0.0)]
    for before, after in pairwise(lloyd(X, X[:k])):
        moves = ((before[0] - after[0]) ** 2).sum(axis=1)
        rows.append((before[2] - after[2], bound(np.bincount(before[1], minlength=k), moves)))
    return tuple(np.array(rows).T)


def neighbour(bound: Any, rng: Random, m: int, d: int, c: float) -> Draw:
    """The error of the nearest neighbour; P(y = 1 | x) = 1/2 + c (x_1 - 1/2), R* = 1/2 - c/4."""
    X = rng.uniform(size=(m + 50, d))
    y = (rng.uniform(size=m + 50) < 0.5 + c * (X[:, 0] - 0.5)).astype(float)
    told = nearest_neighbors(X[:m], y[:m], X[m:], 1)
    return np.mean(told != y[m:]), bound(bayes=0.5 - 0.25 * c, m=m, d=d, c=c)


def surprise(bound: Any, rng: Random, k: int) -> Draw:
    """The mean of -log p of samples."""
    p = rng.dirichlet(np.ones(k))
    return np.mean(-np.log(p[rng.choice(k, 500, p=p)])), bound(p)


def most_entropy(bound: Any, rng: Random, k: int) -> Draw:
    """H <= log k."""
    return bound(rng.dirichlet(np.ones(k))), np.log(k)


def pinsker(bound: Any, rng: Random, k: int) -> Draw:
    """KL(p | q), against |p - q|_1^2 / 2 >= 0."""
    p, q = rng.dirichlet(np.ones(k), 2)
    return bound(p, q), 0.5 * float(np.abs(p - q).sum()) ** 2


SIZES = tuple({"k": k} for k in (2, 5, 30))
CLUSTERS = tuple({"n": n, "k": k} for n, k in ((7, 2), (6, 3), (8, 3)))
UPPER, LOWER, EQUAL, EVENTS = "upper", "lower", "equal", "probability"

TABLE = [
    Experiment(hoeffding, EVENTS, "P(|mean - p| >= eps) of m coins", tail, COINS),
    Experiment(bernstein, EVENTS, "P(|mean - p| >= eps) of m coins", tail, COINS),
    Experiment(
        finite_class,
        EVENTS,
        "P(so many samples are not enough) <= delta, thresholds j/H",
        finite,
        tuple(
            {"case": case, "H": 10, "eps": 0.15, "delta": 0.1}
            for case in ("realizable", "uniform", "agnostic")
        ),
    ),
    Experiment(validation_error, EVENTS, "P(|error - risk| > bound) <= delta", validated, CLASSES),
    Experiment(excess_error, EVENTS, "P(risk - R* > bound) <= delta", chosen, CLASSES),
    Experiment(
        vc_error,
        EVENTS,
        "P(some interval has risk - error > bound) <= delta",
        uniform,
        tuple(
            {"dimension": d, "m": m, "delta": delta}
            for d, m, delta in ((1, 20, 0.1), (1, 200, 0.05), (2, 100, 0.1))
        ),
    ),
    Experiment(
        vc_growth,
        UPPER,
        "labellings of m points by halfspaces of R^d",
        labellings,
        tuple({"d": d, "m": m} for d, m in ((1, 8), (2, 6), (3, 5))),
        each=True,
    ),
    Experiment(
        vc_halfspaces,
        EQUAL,
        "0 and the unit vectors have all labellings; one more point has not: Radon",
        shattered,
        tuple({"d": d, "b": b} for d, b in ((1, True), (3, True), (4, False))),
        each=True,
    ),
    Experiment(
        vc_intervals,
        EQUAL,
        "the most points all labellings of which are unions of so many intervals, enumerated",
        runs_of_ones,
        tuple({"count": count} for count in (1, 2, 3)),
        each=True,
    ),
    Experiment(
        no_free_lunch,
        LOWER,
        "max over f of E error of a random learner on 2 m points, enumerated",
        lunch,
        tuple({"m": m} for m in (1, 2, 3)),
        each=True,
    ),
    Experiment(bayes_risk, LOWER, "risk of any predictor", any_predictor, PAIRS, each=True),
    Experiment(bayes_predictor, EQUAL, "its error on samples is R*", best_predictor, PAIRS),
    Experiment(stability, UPPER, "E change of the loss of a replaced sample", stable, STRENGTHS),
    Experiment(stability, EQUAL, "E risk - training loss is that change", generalizes, STRENGTHS),
    Experiment(regularized_excess, UPPER, "E risk(w_S) - risk(w)", trade_off, STRENGTHS),
    Experiment(
        boosting_error,
        UPPER,
        "training error after each round",
        boosted,
        tuple({"n": n, "flips": flips} for n, flips in ((40, 0.0), (80, 0.1), (150, 0.3))),
        each=True,
    ),
    Experiment(kmeans_plus_plus_factor, UPPER, "E cost / least cost", seeded, CLUSTERS),
    Experiment(lloyd_decrease, LOWER, "fall of the cost in a step", lloyds, CLUSTERS, each=True),
    Experiment(
        nearest_neighbor_risk,
        UPPER,
        "E error of the nearest neighbour",
        neighbour,
        tuple({"m": m, "d": d, "c": c} for m, d, c in ((20, 1, 1.0), (100, 1, 0.5), (200, 2, 1.0))),
    ),
    Experiment(entropy, EQUAL, "mean of -log p over samples", surprise, SIZES),
    Experiment(entropy, UPPER, "entropy <= log k", most_entropy, SIZES, each=True),
    Experiment(divergence, LOWER, "KL(p|q) >= |p - q|_1^2 / 2 >= 0", pinsker, SIZES, each=True),
]

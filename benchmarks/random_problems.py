"""Random problems over all models, hard on purpose: how many end "inaccurate" or "failed", and why.

python benchmarks/random_problems.py [count] [first seed] [seconds]

Samples 1 to 30, features 1 to 12, columns times 1e±4, offsets to 1e5, weights 1e±6, duplicated and
constant columns, exact fits. ``draw(seed)`` poses a problem again.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from multiprocessing import get_context
from typing import Any

import numpy as np
from random_samples import Random, features, targets

import convexml as cml
from convexml import losses, penalties

ENDS = ("optimal", "infeasible", "unbounded", "unattained", "inaccurate", "failed")


def strength(rng: Random) -> float:
    return float(10.0 ** rng.uniform(-4, 1))


def l1(make: Callable[[float], Any], rng: Random) -> Any:
    """A problem whose lam is a share of its lam_max."""
    top = make(1.0).lam_max
    return make(float(top * 10.0 ** rng.uniform(-4, 0.2)) if 0.0 < top < np.inf else strength(rng))


def kernel(rng: Random, X: np.ndarray) -> tuple[Any, float]:
    """A kernel, a Gaussian's width about the typical distance, and the mean of its diagonal."""
    size = float(np.mean(np.sum(X**2, axis=1))) or 1.0
    distances = np.sqrt(np.sum((X[:, None] - X) ** 2, axis=2))
    width = float(np.median(distances[distances > 0.0])) if np.any(distances) else 1.0
    return (
        (cml.kernels.Linear(), size),
        (cml.kernels.Polynomial(2, coef0=1.0), (size + 1.0) ** 2),
        (cml.kernels.Gaussian(width * 2.0 ** rng.uniform(-1, 2)), 1.0),
    )[rng.integers(3)]


def kernelled(rng: Random, X: np.ndarray, make: Callable[[Any, float], Any]) -> Any:
    """A kernel model whose lam is a share of the mean of the kernel's diagonal."""
    chosen, size = kernel(rng, X)
    return make(chosen, strength(rng) * size)


def groups(rng: Random, X: np.ndarray) -> np.ndarray:
    return rng.integers(0, max(1, X.shape[1] // 2) + 1, X.shape[1])


# Each takes (rng, X, y, keywords); the label says what y is.
MODELS: dict[str, tuple[str, Callable[..., Any]]] = {
    "LeastSquares": ("real", lambda r, X, y, k: cml.LeastSquares(X, y, **k)),
    "MinimumNorm": (
        "real",
        lambda r, X, y, k: cml.MinimumNorm(X, y, fit_intercept=k["fit_intercept"]),
    ),
    "Ridge": ("real", lambda r, X, y, k: cml.Ridge(X, y, strength(r), **k)),
    "ConstrainedRidge": ("real", lambda r, X, y, k: cml.ConstrainedRidge(X, y, strength(r), **k)),
    "Lasso": ("real", lambda r, X, y, k: l1(lambda lam: cml.Lasso(X, y, lam, **k), r)),
    "ConstrainedLasso": ("real", lambda r, X, y, k: cml.ConstrainedLasso(X, y, strength(r), **k)),
    "ElasticNet": (
        "real",
        lambda r, X, y, k: l1(lambda lam: cml.ElasticNet(X, y, lam, 0.5, **k), r),
    ),
    "GroupLasso": ("real", lambda r, X, y, k: _group(r, X, y, k)),
    "Logistic": ("binary", lambda r, X, y, k: cml.LogisticRegression(X, y, strength(r), **k)),
    "Logistic, l1": (
        "binary",
        lambda r, X, y, k: l1(lambda lam: cml.LogisticRegression(X, y, lam, penalty="l1", **k), r),
    ),
    "Logistic, none": ("binary", lambda r, X, y, k: cml.LogisticRegression(X, y, **k)),
    "Softmax": ("classes", lambda r, X, y, k: cml.SoftmaxRegression(X, y, strength(r), **k)),
    "Huber": ("real", lambda r, X, y, k: cml.HuberRegression(X, y, 1.0, strength(r), **k)),
    "Poisson": ("count", lambda r, X, y, k: cml.PoissonRegression(X, y, strength(r), **k)),
    "Quantile": (
        "real",
        lambda r, X, y, k: l1(
            lambda lam: cml.QuantileRegression(X, y, float(r.choice([0.2, 0.5])), lam, **k), r
        ),
    ),
    "HardMargin": (
        "binary",
        lambda r, X, y, k: cml.HardMarginSVM(X, y, fit_intercept=k["fit_intercept"]),
    ),
    "SoftMargin": ("binary", lambda r, X, y, k: cml.SoftMarginSVM(X, y, 1 / strength(r), **k)),
    "SVR": ("real", lambda r, X, y, k: cml.SVR(X, y, 1 / strength(r), 0.1, **k)),
    "KernelRidge": (
        "real",
        lambda r, X, y, k: kernelled(r, X, lambda K, lam: cml.KernelRidge(X, y, lam, K, **k)),
    ),
    "KernelLogistic": (
        "binary",
        lambda r, X, y, k: kernelled(r, X, lambda K, lam: cml.KernelLogistic(X, y, lam, K, **k)),
    ),
    "KernelSVM": (
        "binary",
        lambda r, X, y, k: kernelled(r, X, lambda K, lam: cml.KernelSVM(X, y, 1 / lam, K, **k)),
    ),
    "KernelSVR": (
        "real",
        lambda r, X, y, k: kernelled(
            r, X, lambda K, lam: cml.KernelSVR(X, y, 1 / lam, 0.1, K, **k)
        ),
    ),
    "HalfspaceLP": ("binary", lambda r, X, y, k: cml.HalfspaceLP(X, y)),
    "LinearProgram": ("real", lambda r, X, y, k: linear_program(r, X, y)),
    "any": ("any", lambda r, X, y, k: anything(r, X, k)),
    "any too": ("any", lambda r, X, y, k: anything(r, X, k)),
}
LOSSES = {
    "real": (
        losses.Squared(),
        losses.Absolute(),
        losses.Pinball(0.3),
        losses.Huber(0.5),
        losses.EpsilonInsensitive(0.1),
    ),
    "binary": (
        losses.Logistic(),
        losses.Hinge(),
        losses.SquaredHinge(),
        losses.Exponential(),
        losses.HardMargin(),
    ),
    "count": (losses.Poisson(),),
}


def anything(rng: Random, X: np.ndarray, keywords: dict[str, Any]) -> Any:
    """Any loss with any penalty."""
    d = X.shape[1]
    kind = str(rng.choice(["real", "real", "binary", "binary", "count"]))
    loss = LOSSES[kind][rng.integers(len(LOSSES[kind]))]
    penalty = (
        penalties.L2(strength(rng)),
        penalties.L1(strength(rng)),
        penalties.ElasticNet(strength(rng), 0.5),
        penalties.GroupL2(strength(rng), groups(rng, X)),
        penalties.L1Ball(10.0 ** rng.uniform(-1, 2)),
        penalties.L2Ball(10.0 ** rng.uniform(-1, 2)),
        penalties.Box(-np.ones(d), np.ones(d)),
        penalties.Nonnegative(),
        penalties.Zero(),
    )[rng.integers(9)]
    y = targets(rng, X, kind)
    return cml.LearningProblem(X, y, loss, penalty, **keywords)


def linear_program(rng: Random, X: np.ndarray, y: np.ndarray) -> Any:
    """Feasible and bounded by a known primal and dual point, or anything."""
    n, d = X.shape
    if rng.random() < 0.3:
        return cml.LinearProgram(rng.normal(size=d), X, y)
    x, duals = rng.exponential(size=d), rng.exponential(size=n)
    slack = rng.exponential(size=n) * (rng.random(n) < 0.5)
    duals[slack > 0.0] = 0.0
    reduced = rng.exponential(size=d) * (rng.random(d) < 0.5)
    x[reduced > 0.0] = 0.0
    return cml.LinearProgram(reduced - X.T @ duals, X, X @ x + slack)


def _group(rng: Random, X: np.ndarray, y: np.ndarray, keywords: dict[str, Any]) -> Any:
    labels = groups(rng, X)
    return l1(lambda lam: cml.GroupLasso(X, y, lam, labels, **keywords), rng)


def draw(seed: int) -> tuple[str, Any]:
    """The name and the problem of a seed."""
    rng = np.random.default_rng(seed)
    names = sorted(MODELS)
    name = names[seed % len(names)]
    kind, make = MODELS[name]
    X = features(rng)
    if kind == "classes" and X.shape[0] < 3:
        X = np.r_[X, X[:1] + 1.0, X[:1] - 1.0]
    if kind in ("binary", "any") and X.shape[0] < 2:
        X = np.r_[X, X[:1] + 1.0]
    y = targets(rng, X, "real" if kind == "any" else kind)
    keywords: dict[str, Any] = {"fit_intercept": bool(rng.random() < 0.75)}
    if rng.random() < 0.25:
        keywords["sample_weight"] = 10.0 ** rng.uniform(-6, 6, X.shape[0])
    return name, make(rng, X, y, keywords)


def end(seed: int) -> tuple[int, str, str, str, float]:
    """(seed, name, status, reason, seconds) of one problem."""
    warnings.simplefilter("ignore")
    start, name = time.perf_counter(), sorted(MODELS)[seed % len(MODELS)]
    try:
        name, problem = draw(seed)
        solution = problem.solve()
        status = solution.status
        reason = f"{problem!r}: {solution.message} {solution.certificate.reason}"
    except Exception as error:
        status, reason = "failed", f"{type(error).__name__}: {error}"
    return seed, name, status, reason.replace("\n", " "), time.perf_counter() - start


def main(count: int = 3000, first: int = 0) -> int:
    """Print the counts and every doubtful answer; return how many there are."""
    tally: dict[str, Counter[str]] = {name: Counter() for name in sorted(MODELS)}
    doubtful, slow = [], []
    with get_context("spawn").Pool(2) as pool:
        for found in pool.imap_unordered(end, range(first, first + count), chunksize=8):
            seed, name, status, reason, seconds = found
            tally[name][status] += 1
            if status in ("inaccurate", "failed"):
                doubtful.append(found)
            if seconds > 10.0:
                slow.append(found)
    print(f"{'model':<18}" + "".join(f"{end:>12}" for end in ENDS))
    for name, counts in tally.items():
        print(f"{name:<18}" + "".join(f"{counts[end]:>12}" for end in ENDS))
    total = sum(tally.values(), Counter())
    print(f"{'all':<18}" + "".join(f"{total[end]:>12}" for end in ENDS))
    for seed, name, status, reason, seconds in sorted(doubtful):
        print(f"draw({seed})  {name}: {status} in {seconds:.1f} s: {reason[:230]}")
    for seed, name, status, _, seconds in sorted(slow):
        print(f"slow: draw({seed})  {name}: {status} in {seconds:.1f} s")
    return len(doubtful)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))

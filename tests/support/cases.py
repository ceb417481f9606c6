"""Small learning problems of every kind: any loss with any penalty, posed on made-up data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from convexml import LearningProblem
from convexml.losses import Loss
from convexml.numerics import Array
from convexml.penalties import Penalty
from support.catalogue import LOSSES, PENALTIES, D
from support.oracles.oracle import Oracle, off_set

COMBINATIONS = [(loss, penalty) for loss in LOSSES for penalty in PENALTIES]


@dataclass(frozen=True)
class Kind:
    """What a case looks like."""

    seed: int = 0
    n: int = 18
    is_sparse: bool = False
    intercept: bool = True
    weighted: bool = False
    badly_scaled: bool = False
    ties: bool = False


def combination_name(item: Loss | Penalty) -> str:
    """The name of a loss or penalty in the output of pytest."""
    return repr(item).replace(" ", "")


def make(loss: Loss, penalty: Penalty, kind: Kind = Kind()) -> LearningProblem:
    """Pose a problem that has feasible points; with n > d and noise it has a minimiser, too."""
    rng = np.random.default_rng(kind.seed)
    n = min(kind.n, D - 1) if loss.name == "interpolation" else kind.n
    X = rng.normal(size=(n, D))
    if kind.ties:
        X = np.round(X)
        X[1::3] = X[0]
    if kind.is_sparse:
        X *= rng.random(X.shape) < 0.6
    X[0, 0] = X[0, 0] or 1.0
    w = interior(penalty, rng)
    if kind.badly_scaled:
        X = X * scales(penalty)
        w = np.where(penalty.free(D), w / scales(penalty), w)
    b = 0.3 if kind.intercept else 0.0
    z = X @ w + b
    if loss.is_indicator:
        if loss.labels == "binary":
            # Two classes, far enough from the plane that this w has margins of 2.
            z[abs(z) < 1e-12] = 1.0
            y = np.where(z - b > 0.0, 1.0, -1.0)
            X = X + np.outer(2.0 * y, w) / max(w @ w, 1e-300)
            X *= max(1.0, 3.0 / np.min(y * (X @ w)))
        else:
            y = z
    elif loss.labels == "binary":
        y = np.where(z + 1.5 * rng.normal(size=n) > 0.0, 1.0, -1.0)
        y[:4] = [1.0, -1.0, 1.0, -1.0]
        X[3] = X[2]
    elif loss.labels == "count":
        y = rng.poisson(np.exp(np.clip(z, -2.0, 2.0))).astype(float) + (rng.random(n) < 0.3)
    else:
        y = z + rng.normal(size=n)
        y = np.round(y) if kind.ties else y
    if loss.labels == "binary" and len(np.unique(y)) == 1:
        X[0], y[0] = -X[0], -y[0]  # the other class, with the same margin
    weights = rng.choice([1.0, 2.0, 3.0, 0.5], size=n) if kind.weighted else None
    return LearningProblem(
        sparse.csr_array(X) if kind.is_sparse else X,
        y,
        loss,
        penalty,
        fit_intercept=kind.intercept,
        sample_weight=weights,
    )


def scales(penalty: Penalty) -> Array:
    """Units of the columns; those that no penalty sees may be extreme."""
    mild = np.array([1.0, 30.0, 1.0, 0.1, 1.0])
    return np.where(penalty.free(D), np.array([1.0, 1e8, 1.0, 1e-4, 1.0]), mild)


def interior(penalty: Penalty, rng: np.random.Generator) -> Array:
    """A point of the domain of the penalty, and not 0: a plane needs a normal."""
    v = rng.normal(size=D)
    w = penalty.project(v)
    if not w.any():
        w = penalty.project(-v)
    if penalty.name in ("l1_ball", "l2_ball"):
        w = 0.5 * w
    assert off_set(penalty, w) <= 1e-14
    return w


@dataclass(frozen=True)
class Reference:
    """What the oracle knows of the optimum: a feasible point, and where P* lies."""

    w: Array
    b: float
    u: Array
    upper: float
    lower: float


def reference(problem: LearningProblem) -> Reference:
    """Solve by the oracle; make the point exactly feasible, so that its P bounds P* from above."""
    o = problem.objective_parts
    oracle = Oracle.of(o)
    w, b, u = oracle.solve()
    w = o.penalty.project(w)
    z = oracle.X @ w + b
    if o.loss.name == "hard_margin":
        margin = min(np.min(o.y * z), 1.0)
        w, b = w / margin, b / margin
    upper = oracle.primal(w, b)
    return Reference(w, b, u, upper, min(upper, oracle.dual(u)))

"""One problem at each value of its hyperparameter: points and their verified gaps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.linalg import lapack

from ..certificates.learning.paths import relative_gaps
from ..data import BlockedDesign, in_memory, rows_in_blocks
from ..errors import SolverError, warn
from ..numerics import EPS, Array
from ..penalties import NonnegativeElasticNet
from ..problem import Objective
from ..problem.kernel import KernelObjective
from ..progress import counted, operation
from ..solvers.coordinate.path import COLUMNS, follow_grid
from .arrays import ArrayProblem
from .posing import Values

# A grid of squared losses solved on one Gram matrix and judged by products for all its points.


ENTRIES, ROWS = 5_000_000, 2000
"""Entries of a dense X with many columns that is copied, and its rows, at most."""


def quick_points(
    problem: Any, name: str, values: Array, tol: float
) -> tuple[Array, Array, Array] | None:
    """(W, b, relative gaps) for values of falling strength; None where that is no such problem."""
    own = isinstance(problem, ArrayProblem)  # its objective is no sum of losses
    if name != "lam" or own or isinstance(problem._objective, KernelObjective):
        return None
    objective: Objective = problem.objective_parts
    if rows_in_blocks(objective) or objective.loss.name != "squared":
        return None
    penalty = objective.penalty
    if isinstance(penalty, NonnegativeElasticNet):
        if objective.d > COLUMNS:
            return None
    elif not (is_plain(penalty) and is_small(objective)):
        return None
    given = problem._hyper
    penalties = [problem._make(**given | {name: float(value)})[1] for value in values]
    W, b = follow_grid(objective, penalties, tol)
    gaps = relative_gaps(objective, penalties, W, b)
    return W, b, np.where(np.isfinite(W).all(axis=1), gaps, np.inf)


def is_plain(penalty: Any) -> bool:
    """Whether it is lam times the l1 norm, half a square or both, coordinates alike."""
    return penalty.name in ("l1", "l2", "elastic_net") and getattr(penalty, "weights", None) is None


def is_small(objective: Objective) -> bool:
    """Whether columns are few, or X is dense and can be copied."""
    if objective.d <= COLUMNS:
        return True
    dense = isinstance(objective.design.constant, np.ndarray)
    return dense and objective.n <= ROWS and objective.n * objective.d <= ENTRIES


@dataclass(frozen=True)
class Grid:
    """Points of a problem at the values of its hyperparameter.

    Attributes
    ----------
    problem : posed problem
    points : list of dicts of arrays
        By name; empty where nothing reached a point.
    gaps : array, shape (m,)
        The verified relative gap of each; inf where there is no bound.
    iterations : list of int
        Steps of the solver; 1 where all were solved at once.
    """

    problem: Any
    points: list[Values]
    gaps: Array
    iterations: list[int]

    def predictions(self, X: Any) -> list[Array | None]:
        """X w + b, before that becomes labels, of each point; None where there is none."""
        there = [point for point in self.points if point]
        if isinstance(X, BlockedDesign):
            return [in_memory(X.matvec(p["w"]) + p["b"]) if p else None for p in self.points]
        if there and all(
            "w" in point and point["w"].ndim == 1 for point in there
        ):  # one product for all
            W, b = (np.array([point[key] for point in there]) for key in ("w", "b"))
            found = iter((X @ W.T + b).T)
        else:
            found = iter([self.problem.decision_function(X, point) for point in there])
        return [next(found) if point else None for point in self.points]


def solve_grid(
    problem: Any, name: str, values: Array, tol: float, near: Grid | None = None
) -> Grid:
    """Solve from the strongest value to the weakest, warm started, and certify every point.

    Parameters
    ----------
    problem : learning problem
    name : str
        "lam", "C" or "radius".
    values : array, shape (m,)
    tol : float
        Relative gap that every point is to reach.
    near : Grid, optional
        That of another fold, whose changes from one value to the next are much the same.
    """
    with operation(f"{problem.name} along {name}"):
        return _solve_grid(problem, name, values, tol, near)


def _solve_grid(problem: Any, name: str, values: Array, tol: float, near: Grid | None) -> Grid:
    """The same, where who watches hears of it."""
    falling = np.argsort(-values if name == "lam" else values, kind="stable")
    points: list[Values] = [{}] * len(values)
    gaps, steps = np.full(len(values), np.inf), [1] * len(values)
    quick = quick_points(problem, name, values[falling], tol)
    if quick is not None:
        W, b, gaps[falling] = quick
        for at, w, shift in zip(falling.tolist(), W, b, strict=True):
            points[at] = {"w": w, "b": np.asarray(shift)}
    left: list[int] = falling[~(gaps[falling] <= tol)].tolist()
    more: dict[str, Any] = {"carried": {}} if problem._hands_on else {}
    last: int | None = None
    for at in counted(left, lambda k: f"{name} = {values[k]:.4g}"):
        setattr(problem, name, values[at])
        solution = problem.solve(tol=tol, w0=_start(problem, points, near, last, at), **more)
        points[at], gaps[at], steps[at] = {}, verified_gap(solution), solution.iterations
        if "b" in solution.primal:
            points[at] = {k: solution.primal[k] for k in ("q", "w", "b") if k in solution.primal}
        last = at
    return Grid(problem, points, gaps, steps)


def _start(
    problem: Any, points: list[Values], near: Grid | None, last: int | None, at: int
) -> Array | None:
    """The point before, moved as that of a neighbour moves where no coordinate is to stay 0."""
    before = {} if last is None else points[last]
    start = before.get("q", before.get("w"))
    if near is None or "w" not in near.points[at] or not problem._parts[1].is_smooth:
        return start
    there: Array = near.points[at]["w"]
    if start is None or last is None or "w" not in near.points[last]:
        return there
    return start + (there - near.points[last]["w"])


def verified_gap(solution: Any) -> float:
    """The relative gap; inf where there is no point, or it misses something else."""
    gap = float(solution.relative_gap)
    missed = gap <= solution.certificate.tol and solution.status != "optimal"
    return np.inf if missed or "b" not in solution.primal else gap


# Ridge regression with each sample left out in turn, in closed form.


LEVER = 1e-6
"""A sample of which the others tell less than this share is left out by hand."""
CURVED = 1e-6
"""Products of columns or rows are enough where their least eigenvalue with mu is this share of the
largest: they square what columns of unlike units differ by."""
LEAVE_ONE_OUT_ENTRIES = 20_000_000
"""Entries of a sparse X that is made dense for its singular values, at most."""


def leave_one_out(objective: Objective, weights: Array, lams: Array) -> Array:
    """The mean squared error of predicting each sample from the others, for each lam.

    A sample of weight s_i is left out whole. Of the others the mean loss with lam has the minimum
    of the sum of weighted losses with mu_i = (sum s - s_i) lam, so that its residual is
    e_i(mu_i) / (1 - h_i(mu_i)): residual and leverage of the fit with mu_i to all samples, of which
    one eigendecomposition tells every one. With fewer columns than rows that is one of X'SX, else
    of S^1/2 X X' S^1/2 (centred for the intercept), by whose eigenvectors e_i / (1 - h_i) has no
    cancellation, and a limit at lam = 0: that of the least norm.

    Parameters
    ----------
    objective : Objective
        Of squared losses and lam / 2 |w|^2.
    weights : array, shape (n,)
    lams : array, shape (m,)

    Returns
    -------
    array, shape (m,)
    """
    total = float(weights.sum())
    strengths = np.maximum(np.multiply.outer(lams, total - weights), 0.0)
    return left_out(objective, weights, strengths) ** 2 @ (weights / total)


def left_out(objective: Objective, weights: Array, strengths: Array) -> Array:
    """Residuals of samples left out, (m, n), with a mu for each, (m, n), or for all, (m, 1)."""
    rows, n = Weighed(objective, weights), objective.n
    tall = objective.d < n - 1
    scores, values = (_by_features if tall else _by_samples)(objective, rows, strengths)
    pull, squares, ones = scores.T @ rows.target, scores * scores, np.ones(len(values))
    own = weights / weights.sum() if objective.fit_intercept else np.zeros(n)
    found = np.empty((len(strengths), n))
    for k, mu in enumerate(strengths):
        whole = values + mu[:, None]
        if tall:
            shares = values / whole
            e = rows.y - _sums(scores, pull, shares) / rows.root
            rest = 1.0 - own - _sums(squares, ones, shares)
            alone = rest <= LEVER
        else:
            empty = whole == 0.0  # as lam -> 0 only these count
            inverse = np.where(empty, 1.0, 1.0 / np.where(empty, 1.0, whole))
            inverse[empty.any(axis=1)] *= empty[empty.any(axis=1)]
            e = _sums(scores, pull, inverse) / rows.root
            rest = _sums(squares, ones, inverse)
            alone = (empty.any(axis=1) & (rest <= LEVER)) | ~(rest > 0.0)
        found[k] = e / np.where(alone, 1.0, rest)
        each = np.broadcast_to(mu, n)
        for i in np.flatnonzero(alone).tolist():
            found[k, i] = _by_hand(objective, weights, i, float(each[i]))
    return found


def _sums(table: Array, factors: Array, inverse: Array) -> Array:
    """sum_j table_ij factors_j inverse_ij, shape (n,); of one row of ``inverse`` for all."""
    found: Array
    if len(inverse) == 1:
        found = table @ (factors * inverse[0])
    else:
        found = np.einsum("ij,j,ij->i", table, factors, inverse)
    return found


class Weighed:
    """S^1/2 (X - 1 m') and S^1/2 (y - mean), with the weighted means where there is an intercept.

    A sparse X stays sparse.
    """

    def __init__(self, objective: Objective, weights: Array) -> None:
        self.root, share = np.sqrt(weights), weights / weights.sum()
        self.X, self.mean = objective.design.constant, np.zeros(objective.d)
        self.y = objective.y
        if objective.fit_intercept:
            self.y = self.y - share @ self.y
            self.mean = objective.design.rmatvec(share)
            if not sparse.issparse(self.X):  # rounding leaves a mean of its own
                self.X = self.X - self.mean
                self.X, self.mean = self.X - share @ self.X, np.zeros(objective.d)

    @property
    def target(self) -> Array:
        """S^1/2 (y - mean), shape (n,)."""
        return self.root * self.y

    def gram(self) -> Array:
        """Its products of columns, shape (d, d)."""
        half = self.X * self.root[:, None]
        found = half.T @ half
        found = found.toarray() if sparse.issparse(found) else found
        return found - float(self.root @ self.root) * np.outer(self.mean, self.mean)

    def outer(self) -> Array:
        """Its products of rows, shape (n, n)."""
        found = self.X @ self.X.T
        found = found.toarray() if sparse.issparse(found) else found
        across = self.X @ self.mean
        found = found - across - across[:, None] + float(self.mean @ self.mean)
        return found * np.outer(self.root, self.root)

    def times(self, vectors: Array) -> Array:
        """Its products with vectors, shape (n, k)."""
        return self.root[:, None] * (self.X @ vectors - self.mean @ vectors)

    def decomposed(self, objective: Objective) -> tuple[Array, Array]:
        """Left singular vectors, shape (n, k), and the singular values that are no rounding."""
        X, given = self.X, objective.design.constant
        X = X.toarray() if sparse.issparse(X) else X
        powers = given.power(2) if sparse.issparse(given) else given**2
        sizes = np.sqrt(np.asarray(self.root**2 @ powers))
        return decompose(self.root[:, None] * (X - self.mean), sizes)[:2]


def decompose(Z: Array, sizes: Array) -> tuple[Array, Array, Array]:
    """Z = U diag(s) V', without the s that rounding of columns of these sizes explains.

    By Jacobi rotations of a pivoted triangle (Drmac and Veselic, 2008,
    https://doi.org/10.1137/050639193), which see small columns beside large ones.
    """
    wide = Z.shape[0] < Z.shape[1]
    matrix = np.asfortranarray(Z.T if wide else Z)
    s, U, V, scale, _, info = lapack.dgejsv(matrix, joba=2, jobu=0, jobv=0, jobr=0, jobt=1)
    if info:
        raise SolverError("leave one out: the singular values of X were not found.")
    s, (U, V) = s * (scale[0] / scale[1]), (V, U) if wide else (U, V)
    kept = s > max(Z.shape) * EPS * (sizes @ np.abs(V))
    return U[:, kept], s[kept], V[:, kept]


def _is_enough(objective: Objective, values: Array, strengths: Array) -> bool:
    """Whether eigenvalues of products, with mu, are all far from their rounding."""
    highest, least = np.max(values, initial=0.0), np.min(values, initial=np.inf)
    if least + np.min(strengths, initial=np.inf) >= CURVED * highest:
        return True
    if (
        sparse.issparse(objective.design.constant)
        and objective.n * objective.d > LEAVE_ONE_OUT_ENTRIES
    ):
        warn(
            "leave one out: columns of X differ so much that products of them lose the small ones; "
            "give them similar units, or a dense X, for errors that are accurate.",
            RuntimeWarning,
        )
        return True
    return False


def _by_features(objective: Objective, rows: Weighed, strengths: Array) -> tuple[Array, Array]:
    """Eigenvectors of S^1/2 X X' S^1/2, (n, k), and eigenvalues > 0, by those of X'SX."""
    values, vectors = linalg.eigh(rows.gram())
    if not _is_enough(objective, values, strengths):
        scores, sizes = rows.decomposed(objective)
        return scores, sizes**2
    kept = values > np.max(values, initial=0.0) * len(values) * EPS  # the rest is rounding
    return rows.times(vectors[:, kept]) / np.sqrt(values[kept]), values[kept]


def _by_samples(objective: Objective, rows: Weighed, strengths: Array) -> tuple[Array, Array]:
    """All of them, but for the one that is the intercept's."""
    matrix, count = rows.outer(), objective.n
    unit = rows.root / np.linalg.norm(rows.root)
    if objective.fit_intercept:
        matrix += (2.0 * float(np.trace(matrix)) + 1.0) * np.outer(unit, unit)
        count -= 1  # the last one is the intercept's
    values, vectors = linalg.eigh(matrix)
    values, vectors = values[:count], vectors[:, :count]
    if _is_enough(objective, values, strengths):
        least = np.max(values, initial=0.0) * count * EPS
        return vectors, np.where(values > least, values, 0.0)
    vectors, sizes = rows.decomposed(objective)
    known = np.column_stack([unit, vectors]) if objective.fit_intercept else vectors
    others = linalg.qr(known)[0][:, known.shape[1] :]
    return np.hstack([vectors, others]), np.append(sizes**2, np.zeros(others.shape[1]))


def _by_hand(objective: Objective, weights: Array, i: int, mu: float) -> float:
    """The residual of sample i in the fit to all others."""
    others = np.delete(np.arange(objective.n), i)
    X, y, s = objective.design.dense(), objective.y, weights[others]
    mean, level = np.zeros(objective.d), 0.0
    if objective.fit_intercept:
        mean, level = s @ X[others] / s.sum(), float(s @ y[others]) / s.sum()
    root = np.sqrt(s)
    sizes = np.linalg.norm(root[:, None] * X[others], axis=0)
    U, values, V = decompose(root[:, None] * (X[others] - mean), sizes)
    w = V @ (values / (values**2 + mu) * (U.T @ (root * (y[others] - level))))
    return float(y[i] - level - (X[i] - mean) @ w)

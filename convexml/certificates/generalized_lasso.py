"""Certificates of min (1/2) sum c_i (x_i'w + b - y_i)^2 + lam |A w|_1.

For every u and every s with |s_k| <= lam
P - D = sum (c_i r_i - u_i)^2 / (2 c_i) + sum lam |(Aw)_k| - s_k (Aw)_k + g'w + h b,
r = X w + b - y, g = X'u + A's, h = 1'u, where D holds if g = 0 and h = 0. What they are instead
has a price: over all points that are no worse, X w and A w are bounded, so w is where X and A
above one another have full rank, and the change of g'w + h b with it. Columns that depend on
others exactly need no coefficient.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..formulas import Condition, products, worst
from ..numerics import ROUNDING, UNIT, Array, gamma, length
from .algebra.definite import (
    Cholesky,
    Factored,
    definite_solver,
    factored,
    least_singular_value,
    powers,
)
from .algebra.rationals import dependence
from .algebra.sums import exact_residual
from .certificate import Certificate
from .judge import bounded, judge
from .learning.rows import NULL_SHARE
from .scale import learning_scale

# What lam |z|_1 and s'z differ by, for |s_i| <= lam and z known up to rounding.


def slack_of_box(z: Array, noise: Array, s: Array, lam: float) -> Array:
    """The terms lam |z_i| - s_i z_i from above; a z_i that may be 0 has either sign."""
    sure = np.abs(z) > noise
    excess = np.where(sure, lam - s * np.sign(z), lam + np.abs(s))
    return np.asarray(excess * (np.abs(z) + noise) * (1.0 + gamma(8)))


# Two matrices above one another: how far w can be where X w and A w are known to be small.


SMALL = 400_000
"""Entries up to which a sparse stack becomes a dense matrix."""
EXAMINED = 4_000_000
"""Entries up to which columns are asked for exact dependences."""
GUESSES, SHARE = 30, 0.5
"""Inverse iterations towards the least eigenvalue, and the share of it that is to be proved."""
REGULAR = 1e-10
"""Above this least eigenvalue of B'B a system is solved with it alone."""


@dataclass(frozen=True, eq=False)
class Stacked:
    """K = [B; kappa A] in units in which its columns have norms in [1, 2), or are 0.

    Attributes
    ----------
    B, A : array or sparse array, shapes (n, k) and (m, k)
        sqrt(c_i) times the columns of X less ``shift``, and those of A, all times ``units``.
    kappa : float
        Weight of A.
    shift, units : array, shape (k,)
        What is taken off each column of X, and powers of two.
    columns : array of int
        Which columns of the caller these are; the others depend on them, exactly.
    """

    B: Any
    A: Any
    kappa: float
    shift: Array
    units: Array
    columns: Array

    @cached_property
    def gram(self) -> Any:
        """B'B."""
        return self.B.T @ self.B

    def solver(self, weights: Array | None) -> Cholesky | Factored | None:
        """A factorisation of B'B + A' diag(weights) A, of B'B for None; None where it has none."""
        return definite_solver(self.gram if weights is None else self.normal(weights))

    def normal(self, weights: Array) -> Any:
        """B'B + A' diag(weights) A."""
        roots = np.sqrt(weights)
        dense = not sparse.issparse(self.A)
        rows = roots[:, None] * self.A if dense else sparse.diags_array(roots) @ self.A
        return self.gram + rows.T @ rows

    @cached_property
    def regular(self) -> Cholesky | Factored | None:
        """The factorisation of B'B where it is far from singular, else None."""
        solver = self.solver(None)
        return solver if solver is not None and _least(solver, self.units.size) > REGULAR else None

    @cached_property
    def sigma(self) -> float:
        """At most the least singular value of K; 0 where nothing better can be proved.

        Entries of B and of kappa A are rounded, by up to 8 units of their last place.
        """
        K = _above(self.B, self.A * self.kappa)
        found = _sparse_sigma(K) if sparse.issparse(K) else least_singular_value(K)
        entries = K.data if sparse.issparse(K) else K
        lost = 8.0 * UNIT * float(np.sqrt(np.sum(np.square(entries)))) * (1.0 + 1e-6)
        return max(found - lost, 0.0)


def with_ones(X: Any, A: Any) -> tuple[Any, Any]:
    """X with a column of ones more, and A with one of zeros."""
    columns = np.ones((X.shape[0], 1)), np.zeros((A.shape[0], 1))
    return _beside(X, columns[0]), _beside(A, columns[1])


def _beside(matrix: Any, column: Array) -> Any:
    if sparse.issparse(matrix):
        return sparse.csr_array(sparse.hstack([matrix, sparse.csr_array(column)]))
    return np.hstack([matrix, column])


def stacked(X: Any, c: Array, A: Any, kappa: float, intercept: bool) -> tuple[Stacked, str]:
    """The stack of columns that are independent, and why no bound is known, or "".

    Parameters
    ----------
    X, A : array or sparse array, shapes (n, k) and (m, k)
        With ``intercept`` their last columns are ones and zeros.
    c : array, shape (n,)
        Weights of the rows of X.
    kappa : float
        Weight of A.
    intercept : bool
        A dense X is shifted to columns of mean 0.
    """
    k, count = X.shape[1], X.shape[0] + A.shape[0]
    is_dense = count * k <= SMALL or not (sparse.issparse(X) and sparse.issparse(A))
    if is_dense:
        X, A = (each.toarray() if sparse.issparse(each) else each for each in (X, A))
    shift = np.zeros(k)
    if intercept and is_dense:
        shift[:-1] = c @ X[:, :-1]
    found = _stacked_in_units(X, c, A, kappa, shift, np.arange(k))
    if found.sigma > 0.0:
        return found, ""
    split = None
    if count * k <= EXAMINED:
        dense = [each.toarray() if sparse.issparse(each) else each for each in (X, A)]
        split = dependence(np.vstack(dense) if kappa > 0.0 else dense[0])
    if split is not None and split.exact.size and not split.doubtful.size:
        kept = split.independent
        fewer = _stacked_in_units(X[:, kept], c, A[:, kept], kappa, np.zeros(kept.size), kept)
        if fewer.sigma > 0.0:
            return fewer, ""
    return found, "columns of X and A depend on each other up to rounding: no bound on w is known."


def _stacked_in_units(
    X: Any, c: Array, A: Any, kappa: float, shift: Array, columns: Array
) -> Stacked:
    roots = np.sqrt(c)
    if sparse.issparse(X):
        B, A = sparse.csr_array(sparse.diags_array(roots) @ X), sparse.csr_array(A)
    else:
        B = roots[:, None] * (X - shift)
    units = powers(np.maximum(_largest(B), kappa * _largest(A)))
    sizes = np.hypot(_norms(_scaled(B, units)), kappa * _norms(_scaled(A, units)))
    units = units * powers(sizes)
    return Stacked(_scaled(B, units), _scaled(A, units), kappa, shift, units, columns)


def _scaled(matrix: Any, units: Array) -> Any:
    if sparse.issparse(matrix):
        return sparse.csr_array(matrix @ sparse.diags_array(units))
    return matrix * units


def _largest(matrix: Any) -> Array:
    if sparse.issparse(matrix):
        return np.asarray(abs(matrix).max(axis=0).toarray()).ravel()
    return np.asarray(np.abs(matrix).max(axis=0, initial=0.0))


def _norms(matrix: Any) -> Array:
    squares = matrix.power(2) if sparse.issparse(matrix) else np.square(matrix)
    return np.sqrt(np.asarray(squares.sum(axis=0)).ravel())


def _above(B: Any, A: Any) -> Any:
    return sparse.csr_array(sparse.vstack([B, A])) if sparse.issparse(B) else np.vstack([B, A])


def _least(solver: Cholesky | Factored, k: int) -> float:
    """About the least eigenvalue, by inverse iterations."""
    x, size = 1.0 + 0.5 * np.cos(np.arange(k)), np.inf  # far from the vectors of a symmetry
    for _ in range(GUESSES):
        x = solver.solve(x / np.linalg.norm(x))
        size = float(np.linalg.norm(x))
        if not 0.0 < size < np.inf:
            return 0.0
    return 1.0 / size


def _sparse_sigma(K: Any) -> float:
    """The bound from a verified factorisation of K'K - theta I."""
    gram, k = sparse.csc_array(K.T @ K), K.shape[1]
    solver = definite_solver(gram)
    if solver is None:
        return 0.0
    theta = SHARE * _least(solver, k)
    found = factored(gram - theta * sparse.eye_array(k, format="csc"))
    if found is None:
        return 0.0
    count = int(np.max(np.bincount(K.indices, minlength=k), initial=0))
    sizes = abs(K).T @ (abs(K) @ np.ones(k))
    error = 2.0 * gamma(count + 8) * float(np.max(sizes, initial=0.0))
    least = theta * (1.0 - 4.0 * UNIT) + found[0] - error
    return float(np.sqrt(least)) * (1.0 - 4.0 * UNIT) if least > 0.0 else 0.0


# Dual points (u, s) of a generalized lasso with X'u + A's = 0, near what is known of one.


STEPS = 4
"""Corrections of a dual point: each leaves rounding, and what its box takes off."""
CLEAR = (1e-3, 1e-6, 1e-9)
"""Shares of the largest |(A w)_k| from which on another one counts as not 0."""


@dataclass(frozen=True, eq=False)
class CombinationPair:
    """A dual point: u (n,) and s (m,) in its box, with g = X'u + A's.

    With an intercept the last entry of g is 1'u.
    """

    u: Array
    s: Array
    g: Array


def pairs(
    problem: Generalized, slope: Array, z: Array, u: Array | None, s: Array | None
) -> Iterator[CombinationPair]:
    """Dual points from what is passed of one, itself first where it is whole.

    What is not passed of s has the signs of z = A w where these are clear, what is not of u is the
    slope of the loss.
    """
    slope = slope if u is None else u
    if s is not None:
        given = _pair(problem, slope, s)
        if u is not None:
            yield given
        if problem.stack.regular is not None:
            yield _corrected(problem, given, None)
        yield from _moved(problem, given)
        return
    top = float(np.max(np.abs(z), initial=0.0))
    for share in CLEAR:
        signs = np.where(np.abs(z) > share * top, np.sign(z), 0.0)
        yield from _moved(problem, _pair(problem, slope, problem.lam * signs))


def nothing(problem: Generalized) -> CombinationPair:
    """u = 0 and s = 0, which never leave a drift: D = 0, the best bound on an exact fit."""
    return _pair(problem, np.zeros_like(problem.c), np.zeros(problem.stack.A.shape[0]))


def _pair(problem: Generalized, u: Array, s: Array) -> CombinationPair:
    """The dual point of u and of s, moved into its box."""
    s = np.clip(s, -problem.lam, problem.lam)
    return CombinationPair(u, s, problem.drift(u, s))


def _corrected(
    problem: Generalized, start: CombinationPair, weights: Array | None
) -> CombinationPair:
    """A pair nearby without a drift: u by c * X times a step of w, s by weights * A times it.

    The least change in the metric of the loss and of the weights; without these s stays.
    """
    stack = problem.stack
    solver = stack.regular if weights is None else stack.solver(weights)
    best = pair = start
    for _ in range(STEPS if solver is not None else 0):
        assert solver is not None
        step = -solver.solve(_in_units(problem, pair))
        if not np.all(np.isfinite(step)):
            break
        u = pair.u + np.sqrt(problem.c) * (stack.B @ step)
        pair = _pair(problem, u, pair.s if weights is None else pair.s + weights * (stack.A @ step))
        if not length(_in_units(problem, pair)) < 0.5 * length(_in_units(problem, best)):
            break
        best = pair
    return best


def _in_units(problem: Generalized, pair: CombinationPair) -> Array:
    """The drift in the coordinates of the stack."""
    h = pair.g[-1] if problem.fit_intercept else 0.0
    stack = problem.stack
    return np.asarray((pair.g[stack.columns] - h * stack.shift) * stack.units)


def _room(problem: Generalized, s: Array) -> Array:
    """How far each s_k may move: by its distance from the ends of its box."""
    return np.square(np.maximum(problem.lam - np.abs(s), 0.0)) / (problem.null or 1.0)


def _moved(problem: Generalized, start: CombinationPair) -> Iterator[CombinationPair]:
    """Corrections that keep what is at an end of its box, and ones that shrink to fit."""
    yield _corrected(problem, start, _room(problem, start.s))
    stack = problem.stack
    everywhere = np.full(start.s.size, stack.kappa**2)
    solver = stack.solver(everywhere)
    if solver is None:
        return
    step = -solver.solve(_in_units(problem, start))
    u = start.u + np.sqrt(problem.c) * (stack.B @ step)
    s = start.s + everywhere * (stack.A @ step)
    most = float(np.max(np.abs(s), initial=0.0))
    if problem.lam < most < np.inf:
        factor = problem.lam / most
        shrunk = _pair(problem, factor * u, factor * s)
        yield _corrected(problem, shrunk, _room(problem, shrunk.s))


class Judged(NamedTuple):
    """A point: w with the intercept, r = X w - y, z = A w, and P."""

    w: Array
    r: Array
    z: Array
    primal: float


@dataclass(frozen=True, eq=False)
class Generalized:
    """The problem of the generalized lasso.

    Attributes
    ----------
    X, A : array or sparse array, shapes (n, k) and (m, k)
        With an intercept their last columns are ones and zeros.
    y, c : array, shape (n,)
        Targets, and weights > 0 that add up to 1.
    lam : float
    fit_intercept : bool
    """

    X: Any
    A: Any
    y: Array
    c: Array
    lam: float
    fit_intercept: bool

    @cached_property
    def level(self) -> float:
        """The mean of the targets; 0 without an intercept."""
        if self.fit_intercept and np.ptp(self.y) == 0.0:
            return float(self.y[0])  # its mean may be rounded
        return float(self.c @ self.y) if self.fit_intercept else 0.0

    @cached_property
    def null(self) -> float:
        """P of w = 0 with the best b."""
        return 0.5 * float(self.c @ np.square(self.y - self.level))

    @cached_property
    def _stack(self) -> tuple[Stacked, str]:
        spread = np.sqrt(self.null) or np.max(np.abs(self.y)) or 1.0
        return stacked(self.X, self.c, self.A, float(self.lam / spread), self.fit_intercept)

    @property
    def unknown(self) -> str:
        """Why no bound is known; "" where one is."""
        return self._stack[1]

    @property
    def stack(self) -> Stacked:
        """X and A above one another, in units of their own."""
        return self._stack[0]

    @cached_property
    def _transposed(self) -> Any:
        """[X; A]'."""
        if sparse.issparse(self.X) or sparse.issparse(self.A):
            return sparse.csr_array(sparse.vstack([self.X, self.A]).T)
        return np.ascontiguousarray(np.vstack([self.X, self.A]).T)

    # -- the two objectives ----------------------------------------------------------------------

    def residual(self, w: Array) -> Array:
        """X w - y, each entry rounded once; w holds the intercept too."""
        return exact_residual(self.X, w, self.y)

    def combinations(self, w: Array) -> Array:
        """A w, each entry rounded once."""
        return exact_residual(self.A, w)

    def drift(self, u: Array, s: Array) -> Array:
        """X'u + A's, each entry rounded once."""
        return exact_residual(self._transposed, np.concatenate([u, s]))

    def value(self, w: Array) -> float:
        """The objective."""
        return self.at(w).primal

    def value_rounding(self, w: Array) -> float:
        """What the objective may be off by."""
        return gamma(len(self.y) + self.A.shape[0] + 16) * self.value(w)

    def at(self, w: Array) -> Judged:
        """What a point is judged by."""
        r, z = self.residual(w), self.combinations(w)
        fit = 0.5 * float(self.c @ np.square(r))
        return Judged(w, r, z, fit + self.lam * float(np.abs(z).sum()))

    def dual_value(self, u: Array, s: Array) -> float:
        """D; -inf where s is outside of its box, or X'u + A's is not 0 up to rounding."""
        sizes = np.abs(self._transposed) @ np.concatenate([np.abs(u), np.abs(s)])
        drift = np.abs(self.drift(u, s))
        if np.any(np.abs(s) > self.lam) or not np.all(drift <= ROUNDING * sizes):
            return -np.inf
        return float(-0.5 * np.sum(u * u / self.c) - u @ (self.y - self.level))

    @property
    def centre(self) -> float:
        """What predictions are measured from: the level, where the column of ones is kept."""
        return self.level if self.stack.columns[-1] == self.A.shape[1] - 1 else 0.0

    @cached_property
    def side(self) -> Array:
        """The q for which B'B v = q - A's."""
        return np.asarray(self.stack.B.T @ (np.sqrt(self.c) * (self.y - self.centre)))

    def told(self, v: Array) -> Array:
        """The w, with the intercept, of a v in the units of the stack."""
        stack, w = self.stack, np.zeros(self.A.shape[1])
        w[stack.columns] = stack.units * v
        if self.fit_intercept:
            w[-1] += self.centre - stack.shift @ w[stack.columns]
        return w

    def promise(self, v: Array, s: Array) -> float:
        """About the relative gap of a v with M v = q - A's: what |A v|_1 leaves beside s'Av."""
        z = self.stack.A @ v
        gap = self.lam * float(np.abs(z).sum()) - float(s @ z)
        away = np.sqrt(self.c) * (self.y - self.centre) - self.stack.B @ v
        value = 0.5 * float(away @ away) + self.lam * float(np.abs(z).sum())
        return gap / learning_scale(value, value, self.null)

    # -- the certificate -------------------------------------------------------------------------

    def certify(
        self, w: Array, u: Array | None, s: Array | None, tol: float, *, passed: bool
    ) -> Certificate:
        """Judge w, which holds the intercept too, by the best of the dual points for it."""
        point = self.at(w)
        dual_points = list(pairs(self, self.c * point.r, point.z, u, s))
        if point.primal <= tol * self.null:
            dual_points.append(nothing(self))  # D = 0 is enough
        found = [(self._gap(point, pair), pair) for pair in dual_points]
        gap, pair = min(found, key=lambda each: each[0])
        moved = [
            np.max(np.abs(now - before))
            for now, before in ((pair.u, u), (pair.s, s))
            if before is not None
        ]
        # Rows are measured at what was passed, with what was constructed for it.
        u, s = (pair.u if u is None else u), (pair.s if s is None else s)
        primal = point.primal
        return judge(
            bounded(
                primal,
                primal - gap,
                self._rows(point, u, s),
                tol,
                scale=learning_scale(primal, primal - gap, self.null),
                gap=gap,
                dual={"u": pair.u, "s": pair.s},
                dual_source="passed" if passed else "constructed",
                repaired=float(max(moved, default=0.0)),
                reason="" if np.isfinite(gap) else self.unknown,
                is_proved=True,
            )
        )

    def _gap(self, point: Judged, pair: CombinationPair) -> float:
        """The terms of the gap from above, and the price of the drift."""
        pull, z = self.c * point.r, point.z
        off = np.abs(pull - pair.u) + 4.0 * UNIT * (np.abs(pull) + np.abs(pair.u))
        misfit = float(np.sum(off * off / self.c)) * 0.5
        slack = float(np.sum(slack_of_box(z, UNIT * np.abs(z), pair.s, self.lam)))
        total = misfit + slack + self._price(point, pair)
        return total * (1.0 + gamma(2 * (off.size + z.size + point.w.size) + 16))

    def _price(self, point: Judged, pair: CombinationPair) -> float:
        """At most g'w + h b less its infimum over the points that are no worse."""
        if not np.any(pair.g):
            return 0.0
        if self.unknown:
            return np.inf
        h, stack, w = float(pair.g[-1]) if self.fit_intercept else 0.0, self.stack, point.w
        means = np.zeros(w.size)
        means[stack.columns] = stack.shift
        drift = pair.g - h * means
        size = np.abs(drift) + 4.0 * UNIT * (np.abs(pair.g) + np.abs(h * means))
        moved = np.abs(w)
        if self.fit_intercept:
            size[-1] = abs(h)
            noise = gamma(w.size + 4) * float(np.abs(means) @ np.abs(w) + abs(w[-1]))
            moved[-1] = abs(means @ w + w[-1] - self.centre) + noise
        here = float(size @ moved)
        return here + length(size[stack.columns] * stack.units) * self._radius(point.primal)

    def _radius(self, primal: float) -> float:
        """How large w is, in the units of the stack, where P is at most ``primal``."""
        most = primal * (1.0 + gamma(len(self.y) + self.A.shape[0] + 24))
        spread = float(np.sqrt(self.c @ np.square(self.y - self.centre)))
        fit = (float(np.sqrt(2.0 * most)) + spread) * (1.0 + gamma(len(self.y) + 8))
        pulled = self.stack.kappa * most / self.lam if self.lam > 0.0 else 0.0
        return float(np.hypot(fit, pulled)) / self.stack.sigma * (1.0 + gamma(16))

    def _rows(self, point: Judged, u: Array, s: Array) -> list[Condition]:
        spread = float(self.c @ np.abs(self.y - self.level))
        least = NULL_SHARE * self.c * np.abs(self.y - self.level)  # of an exact fit u is rounding
        sizes = np.abs(self._transposed) @ np.append(np.maximum(np.abs(u), least), np.abs(s))
        columns = slice(None, -1) if self.fit_intercept else slice(None)
        drift = self.drift(u, s)
        out = np.maximum(np.abs(s) - self.lam, 0.0)
        z = point.z
        slope = f"u_i = c_i (x_i'w {'+ b ' if self.fit_intercept else ''}- y_i)"
        pull = self.c * point.r
        rows = [
            worst(slope, "stationarity", u - pull, self.c * spread),
            worst("X'u + A's = 0", "dual_feasibility", drift[columns], sizes[columns]),
        ]
        if self.fit_intercept:
            rows.append(worst("1'u = 0", "dual_feasibility", drift[-1], sizes[-1]))
        return [
            *rows,
            worst("|s_k| <= lam", "dual_feasibility", out, self.lam),
            products("lam |(Aw)_k| - s_k (Aw)_k = 0", self.lam * np.abs(z) - s * z),
        ]

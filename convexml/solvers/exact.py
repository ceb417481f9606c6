"""Solvers that single models bring: no iterations, the optimum itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..certificates.algebra.definite import definite_solver
from ..certificates.algebra.searchers import highs
from ..certificates.projection import Stacked
from ..certificates.residuals import Dantzig
from ..numerics import ROUNDING, Array, gamma, length
from ..problem.geometry import Distances, Merging
from ..problem.linear_program import LinearData
from ..problem.residuals import RegressionSamples, multipliers_of_blocks, pooled, support_lines
from ..problem.stumps import Stumps

# Kruskal's algorithm: the least spanning tree, and the packing of partitions that proves it.


def kruskal(merging: Merging) -> Iterator[tuple[Array, Array]]:
    """Yield x, the tree of the edges that merge, and y, the steps between their heights.

    Source: Kruskal (1956, https://doi.org/10.1090/S0002-9939-1956-0078686-7).
    """
    yield merging.tree(), merging.steps


# Pool adjacent violators: the monotone fit, in one pass.


def pool_adjacent_violators(y: Array, c: Array, sign: float) -> Iterator[tuple[Array, Array]]:
    """Yield w, constant on blocks, each the mean of its samples, and alpha, their residuals summed.

    Source: Ayer, Brunk, Ewing, Reid and Silverman (1955,
    https://doi.org/10.1214/aoms/1177728423).
    """
    w = pooled(y, c, sign)
    yield w, multipliers_of_blocks(y, c, w, sign)


# The k nearest of all distances, which is what the linear program of the neighbours asks for.


def sorting(distances: Distances, k: int) -> Iterator[tuple[Array, Array]]:
    """Yield p, 1/k on the k nearest samples of each query, and nu.

    -nu is in the middle between the k-th and the next distance, or at a tie of both.
    """
    yield distances.weights(k), -distances.levels(k)


# The scaled lasso: the strength of a lasso follows the size of its own residuals.


ROUNDS = 100
"""Lassos at most: an alternation that takes more is left to others."""
LEAST = 1e-14
"""Sizes of this share of the first are those of an exact fit; changes of this share are none."""


Fit = Callable[[float], tuple[Array, float, Array] | None]
"""(w, b, u) of the lasso of strength lam sigma, as a function of sigma."""


def scaled_lasso(
    samples: RegressionSamples, lam: float, fit: Fit
) -> Iterator[tuple[Array, float, list[Array]]]:
    """Yield (w, b) and some u of the square-root lasso: the exact ones of a support where met.

    ``fit(sigma)`` minimises the lasso of strength lam sigma. The size rho of its residuals rises
    with sigma and rho / sigma falls, so that rho = sigma, where the square-root lasso is solved, is
    crossed once. On a support rho^2 is affine in sigma^2: its root is the next sigma (Newton's
    method), or, where that leaves the bracket, rho itself, as Sun and Zhang (2012,
    https://doi.org/10.1093/biomet/ass043) alternate.
    """
    low, high, sigma = 0.0, samples.spread, samples.spread
    for _ in range(ROUNDS):
        found = fit(sigma)
        if found is None:
            return
        w, b, u = found
        lines = [(line, line.root) for line in support_lines(samples, w, lam)]
        slopes = [u / sigma, *(line.dual(tau) for line, tau in lines)]
        met = next((line.point(tau) for line, tau in lines if line.keeps_signs(tau)), (w, b))
        yield *met, slopes
        root = lines[0][1] if lines else None
        rho = samples.size((samples.y - b) - samples.design.matvec(w))
        low, high = (max(low, sigma), high) if rho >= sigma else (low, min(high, sigma))
        following = root if root is not None and low < root < high else rho
        if abs(following - sigma) <= LEAST * sigma or following <= LEAST * samples.spread:
            return
        sigma = following


# AdaBoost: coordinate descent on the exponential loss, the steepest stump with an exact step.


def boosting(stumps: Stumps, y: Array, c: Array, rounds: int) -> Iterator[tuple[Array, bool]]:
    """Yield w, from 0, after each round, and whether it is the last.

    A round takes the stump of the least weighted error, p_i ~ c_i e^{-y_i (H w)_i}, and adds
    log((1 - error) / error) / 2 to its weight. It ends early where no stump is better than chance,
    and where one makes no error: then the best weight is infinite. Source: Freund and Schapire
    (1997, https://doi.org/10.1006/jcss.1997.1504).
    """
    w, margins = np.zeros(stumps.count), np.zeros(len(y))
    for k in range(rounds + 1):
        p = c * np.exp(margins.min() - margins)
        best = int(np.argmax(stumps.rmatvec(y * p)))
        right = y * stumps.column(best) > 0.0
        gain, error = float(p[right].sum()), float(p[~right].sum())
        is_last = k == rounds or error == 0.0 or gain <= error
        yield w.copy(), is_last
        if is_last:
            return
        step = 0.5 * np.log(gain / error)
        w[best] += step
        margins += np.where(right, step, -step)


# The best w with A w = 0, and the smallest box that holds its multipliers.


WEIGHTS = (1e6, 1e3, 1.0)
"""Of A'A beside B'B in the method of multipliers: large ones get there, and the rounding of A v
that they leave in s is taken off by smaller ones."""
STEPS = 40
NEAR = 1e-6
"""Multipliers this close to an end of their box, relatively, are at it."""
DENSE = 4_000_000
"""Entries of A up to which it may become a dense matrix."""
THERE = 1e-11
"""Residual, relative to the terms of its row, that is rounding."""
RANK = 1e-12
"""Singular values below this share of the largest are 0."""
CORRECTIONS = 4
"""Of a point by singular values: columns of far sizes leave residuals."""


def without_combinations(stack: Stacked, q: Array) -> tuple[Array, Array] | None:
    """(v, s) with A v = 0 and B'B v = q - A's, s as short as possible; None where none is found."""
    found = _by_multipliers(stack, q)
    if found is None or not _is_there(stack, q, *found):
        if stack.A.shape[0] * q.size > DENSE:
            return None
        found = _by_null_space(stack, q)
    v, s = found
    return v, np.zeros_like(s) if _is_best_of_all(stack, q, v) else s


def _is_best_of_all(stack: Stacked, q: Array, v: Array) -> bool:
    """Whether B'B v = q up to rounding, so that s is nothing else."""
    B = stack.B
    share = ROUNDING + gamma(B.shape[0] + q.size)
    terms = np.abs(q) + abs(B).T @ (abs(B) @ np.abs(v))
    return bool(np.all(np.abs(q - B.T @ (B @ v)) <= share * terms))


def _is_there(stack: Stacked, q: Array, v: Array, s: Array) -> bool:
    A, M = stack.A, stack.gram
    left, terms = q - M @ v - A.T @ s, np.abs(q) + abs(M) @ np.abs(v) + abs(A).T @ np.abs(s)
    z, sizes = A @ v, abs(A) @ np.abs(v)
    return bool(np.all(np.abs(left) <= THERE * terms) and np.all(np.abs(z) <= THERE * sizes))


def _by_multipliers(stack: Stacked, q: Array) -> tuple[Array, Array] | None:
    """The method of multipliers: s grows by weight * A v, so that it stays in the range of A."""
    A, M = stack.A, stack.gram
    unit = float(M.trace()) / (float(abs(A).sum()) or 1.0)
    v, s = np.zeros_like(q), np.zeros(A.shape[0])
    for weight in WEIGHTS:
        weights = np.full(s.size, weight * unit)
        solver = stack.metric(np.sqrt(weights)).solver
        if solver is None:
            return None
        least = np.inf
        for _ in range(STEPS):
            left = q - M @ v - A.T @ (s + weights * (A @ v))
            further = v + solver.solve(left)
            longer = s + weights * (A @ further)
            size = length(A @ further) * unit + length(q - M @ further - A.T @ longer)
            if not size < 0.5 * least:
                break
            v, s, least = further, longer, size
    return v, s


def _by_null_space(stack: Stacked, q: Array) -> tuple[Array, Array]:
    """The best v among the directions that A does not see, by singular values of A and of B.

    Of many, where there are fewer samples than directions, it is the shortest.
    """
    dense = [each.toarray() if sparse.issparse(each) else each for each in (stack.A, stack.B)]
    A, B = dense
    _, sizes, V = np.linalg.svd(A)
    free = V[int(np.sum(sizes > RANK * np.max(sizes, initial=0.0))) :].T
    _, sizes, V = np.linalg.svd(B @ free, full_matrices=False)
    seen = sizes > RANK * np.max(sizes, initial=0.0)
    along = free @ V[seen].T
    v = np.zeros_like(q)
    for _ in range(CORRECTIONS):
        v = v + along @ (along.T @ (q - B.T @ (B @ v)) / np.square(sizes[seen]))
    return v, np.linalg.lstsq(A.T, q - B.T @ (B @ v), rcond=RANK)[0]


def smallest_box(A: Any, s: Array) -> Array:
    """Of all t with A't = A's the one with the least max |t_k|, by a linear program.

    The vertex that HiGHS ends at is solved for again, without its tolerances.
    """
    from scipy.optimize import linprog

    unit = float(np.max(np.abs(s), initial=0.0))
    if unit == 0.0 or _has_full_row_rank(A):
        return s
    m, k = A.shape
    rows = sparse.csr_array(A)
    side = rows.T @ (s / unit)
    eye, ones = sparse.eye_array(m), -np.ones((m, 1))
    found = linprog(
        np.append(np.zeros(m), 1.0),
        A_ub=sparse.vstack([sparse.hstack([eye, ones]), sparse.hstack([-eye, ones])]).tocsr(),
        b_ub=np.zeros(2 * m),
        A_eq=sparse.hstack([rows.T, sparse.csr_array((k, 1))]).tocsr(),
        b_eq=side,
        bounds=[(None, None)] * m + [(0.0, None)],
        method="highs",
    )
    if found.x is None:
        return s
    near, level = found.x[:-1], float(found.x[-1])
    if m * k <= DENSE:
        near = _vertex(rows.toarray().T, side, near, level)
    return unit * near if np.max(np.abs(near)) < 1.0 else s


def _has_full_row_rank(A: Any) -> bool:
    if A.shape[0] > A.shape[1]:
        return False
    rows = sparse.csr_array(A)
    sizes = np.sqrt(np.asarray(rows.power(2).sum(axis=1)).ravel())
    if not np.all(sizes > 0.0):
        return False
    rows = sparse.diags_array(1.0 / sizes) @ rows
    solver = definite_solver(sparse.csc_array(rows @ rows.T))
    return solver is not None and bool(np.all(np.isfinite(solver.solve(np.ones(A.shape[0])))))


def _vertex(columns: Array, side: Array, near: Array, level: float) -> Array:
    """The t whose entries at an end of the box are so, solved for without tolerances."""
    ends = np.abs(near) >= level * (1.0 - NEAR)
    signs = np.sign(near[ends])
    system = np.column_stack([columns[:, ~ends], columns[:, ends] @ signs])
    found = np.linalg.lstsq(system, side, rcond=None)[0]
    exact = np.empty_like(near)
    exact[~ends], exact[ends] = found[:-1], found[-1] * signs
    return exact if np.max(np.abs(exact)) <= level * (1.0 + NEAR) else near


# The linear program of the Dantzig selector, by working sets of columns that HiGHS solves.


MANY = 100
"""Columns that enter the restricted program at once."""
FEASIBLE = 1e-10
"""HiGHS's tolerances, the least that it takes."""
SELECTION_MET = 1e-9
"""Violations below this share of the size of their row call for no column."""


@dataclass(frozen=True, eq=False)
class Selection:
    """The restricted programs, told in columns of norm 1 and targets of norm 1.

    Attributes
    ----------
    problem : Dantzig
    """

    problem: Dantzig

    def rounds(self) -> Iterator[tuple[Array, Array, bool]]:
        """Yield w, v and whether no column is left to enter: then they are optimal.

        A restricted program is the Dantzig selector of some columns. Those enter whose rows its w
        violates, and those whose x_j'Cq is beyond 1.
        """
        it, lam = self.problem.correlations, self.problem.lam
        d, usable = it.norms.size, it.norms > 0.0
        used, w, v = np.zeros(d, dtype=bool), np.zeros(d), np.zeros(d)
        while True:
            rows = it.of_residuals(w, it.samples.best_intercept(w))[0]
            sizes = np.where(usable, it.sizes, 1.0) if it.samples.spread > 0.0 else np.ones(d)
            missed = (np.abs(rows) - lam) / sizes
            q, error, *_ = it.scores(v)
            beyond = np.abs(it.against(q, error)[0]) - 1.0
            new = np.zeros(d, dtype=bool)
            for left in (missed, beyond):
                left = np.where(used | ~usable, -np.inf, left)
                worst = np.argsort(-left, kind="stable")[:MANY]
                new[worst[left[worst] > SELECTION_MET]] = True
            yield w, v, not new.any()
            if not new.any():
                return
            used |= new
            found = self._restricted(np.flatnonzero(used))
            if found is None:
                return
            w, v = found

    def _restricted(self, used: Array) -> tuple[Array, Array] | None:
        """w and v of the program of these columns; its vertex is solved once more, exactly."""
        it, k = self.problem.correlations, used.size
        norms, size = it.norms[used], it.samples.spread
        A = it.columns(used)
        G, h = A.T @ A, A.T @ (it.samples.roots * it.targets) / size
        room, costs = self.problem.lam / (norms * size), norms.min() / norms
        data = LinearData(
            np.concatenate([costs, costs]),
            np.block([[G, -G], [-G, G]]),
            np.concatenate([h + room, room - h]),
            np.zeros((0, 2 * k)),
            np.zeros(0),
            np.zeros(2 * k),
            np.full(2 * k, np.inf),
        )
        found = highs(data, FEASIBLE)
        if found.x is None or found.lambda_ub is None:
            return None
        x, y = found.x[:k] - found.x[k:], found.lambda_ub[k:] - found.lambda_ub[:k]
        x, y = _at_vertex(G, h, room, costs, x, y)
        w, v = np.zeros(it.norms.size), np.zeros(it.norms.size)
        w[used], v[used] = x * size / norms, y / (norms * norms.min())
        return w, v


def _at_vertex(
    G: Array, h: Array, room: Array, costs: Array, x: Array, y: Array
) -> tuple[Array, Array]:
    """x and y solved from the rows that are met and the coefficients that are not 0."""
    used, met = np.flatnonzero(x), np.flatnonzero(y)
    if used.size != met.size or not used.size:
        return x, y
    try:
        there = np.linalg.solve(G[np.ix_(met, used)], (h - room * np.sign(y))[met])
        prices = np.linalg.solve(G[np.ix_(met, used)].T, (costs * np.sign(x))[used])
    except np.linalg.LinAlgError:
        return x, y
    same = np.all(there * x[used] > 0.0) and np.all(prices * y[met] > 0.0)
    if not same:
        return x, y
    x, y = x.copy(), y.copy()
    x[used], y[met] = there, prices
    return x, y

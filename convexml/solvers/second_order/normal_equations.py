"""Ridge regression by its normal equations: one factorisation, or conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg

from ...data import ScaledDesign, SparseDesign, last_scores, last_slopes, unscaled
from ...numerics import EPS, Array
from ...problem import Objective
from ..driver import Iterate, entries_of
from .newton import Sample

# The linear system of ridge regression, factored on the side of the features or the samples.


COLUMNS = 256
"""That X X' takes at a time."""


class RidgeSystem:
    """(I + B'B) omega = B't, t = C^(1/2) y, B = C^(1/2) X Lam^(-1/2), w = Lam^(-1/2) omega.

    Both are projected along C^(1/2) 1 where there is an intercept. Where samples are fewer than
    features, (I + B'B)^-1 = I - B'(I + BB')^-1 B.

    Attributes
    ----------
    by_samples : bool
        Whether n < d.
    target, right : arrays, shapes (n,) and (d,)
        t and B't.
    passes : float
        Products with X so far.
    """

    def __init__(self, objective: Objective) -> None:
        self.objective, self.design = objective, objective.design
        n, d = self.design.shape
        self.by_samples = n < d
        inverse = objective.penalty.conjugate_gradient(np.ones(d))
        assert inverse is not None  # a need of the solver
        self.inverse, self.root = np.sqrt(inverse), np.sqrt(objective.c)
        # Columns that weigh alike have their weight in the rows.
        self._alike = bool(np.all(inverse == inverse[0]))
        self._rows = self.root * self.inverse[0] if self._alike else self.root
        self.total = float(objective.c.sum())
        self._base, units = unscaled(self.design)
        self._weights = units**2 * (np.ones(d) if self._alike else inverse)
        self.unit = self.root / np.sqrt(self.total) if objective.fit_intercept else np.zeros(n)
        self.target = self._projected(self.root * objective.y)
        self.null = float(self.target @ self.target)
        self.passes = self.mean = 0.0
        self._means: Array | None = None

    @cached_property
    def right(self) -> Array:
        """B't."""
        return self.back(self.target)

    def _projected(self, a: Array) -> Array:
        """What is left of a, (n,), without its part along C^(1/2) 1."""
        return a - self.unit * float(self.unit @ a) if self.objective.fit_intercept else a

    def forth(self, omega: Array) -> Array:
        """B omega; ``mean`` is that of its predictions."""
        self.passes += 1.0
        return self._measured(self._rows * self.design.matvec(self._own(omega)))

    def outer(self, a: Array) -> Array:
        """BB'a, for an a that is projected; ``mean`` is that of its predictions."""
        if not isinstance(self._base, SparseDesign):
            return self.forth(self.back(a))
        self.passes += 2.0
        found = self._base.outer_matvec(self._rows * a, self._weights)
        return self._measured(self._rows * found)

    def _measured(self, found: Array) -> Array:
        """What is projected of B omega; the mean of the predictions is kept."""
        if not self.objective.fit_intercept:
            return found
        along = float(self.unit @ found)
        self.mean = along / np.sqrt(self.total)
        return found - self.unit * along

    def back(self, a: Array) -> Array:
        """B'a, for an a that is projected."""
        self.passes += 1.0
        return self._own(self.design.rmatvec(self._rows * a))

    def _own(self, x: Array) -> Array:
        return x if self._alike else self.inverse * x

    def residual(self, omega: Array) -> Array:
        """What the equations are missed by: half its square is P - D, u = c l'(z)."""
        if not np.any(omega):
            return self.right
        return self.right - omega - self.back(self.forth(omega))

    def value(self, omega: Array) -> float:
        """About P at its minimum, seen from near it; at least 1e-6 P_0."""
        return 0.5 * max(self.null - float(self.right @ omega), 1e-6 * self.null)

    def value_by(self, a: Array) -> float:
        """The same at omega = B'x, for a = x + t - (I + BB') x."""
        return 0.5 * max(float(self.target @ a), 1e-6 * self.null)

    def point(self, omega: Array, mean: float | None = None) -> tuple[Array, float]:
        """(w, b), b the best one; ``mean`` is that of the predictions X w where it is known."""
        objective, w = self.objective, self.inverse * omega
        if not objective.fit_intercept:
            return w, 0.0
        center = float(objective.c @ objective.y) / self.total
        if mean is not None:
            return w, center - mean
        if self._means is None:
            self._means = self.design.rmatvec(objective.c) / self.total
            self.passes += 1.0
        return w, center - float(self._means @ w)

    def diagonal(self) -> Array:
        """About the diagonal of I + B'B."""
        return 1.0 + self.inverse**2 * self.design.column_squares(self.objective.c)

    @cached_property
    def _outer_diagonal(self) -> Array:
        """About the diagonal of I + BB'."""
        self.passes += 1.0
        rows = ScaledDesign(self.design, self.inverse).row_squares()
        return 1.0 + self.objective.c * rows

    @cached_property
    def _samples(self) -> Array:
        """Its inverse."""
        return 1.0 / self._outer_diagonal

    def weighed(self, a: Array) -> float:
        """a'Da, D about the diagonal of I + BB'."""
        return float(a**2 @ self._outer_diagonal)

    def divided(self, a: Array) -> Array:
        """The z with D z = a, D about the diagonal of I + BB', for what is projected of z and a."""
        found = self._samples * a
        if not self.objective.fit_intercept:
            return found
        found -= self._along * float(self.unit @ found)
        return found

    @cached_property
    def _along(self) -> Array:
        """D^-1 v / v'D^-1 v for the unit vector v along C^(1/2) 1."""
        found = self._samples * self.unit
        return found / float(self.unit @ found)

    def solver(self, coarse: bool) -> Callable[[Array, Array | None], Array]:
        """How to solve with I + B'B; ``coarse``: in single precision where n < d.

        A right-hand side that is B'a for an a that is known loses fewer digits there.

        Raises
        ------
        LinAlgError
            If the matrix is not definite in these numbers.
        """
        kind = np.float32 if coarse else np.float64
        matrix = self._outer(kind) if self.by_samples else self._gram()
        matrix[np.diag_indices_from(matrix)] += 1.0
        self.passes += len(matrix)
        factor = linalg.cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)

        def solve(right: Array, a: Array | None = None) -> Array:
            if not self.by_samples:
                return linalg.cho_solve(factor, right, check_finite=False)
            inner = linalg.cho_solve(
                factor, self.forth(right) if a is None else a, check_finite=False
            )
            found = self.back(self._projected(inner))
            return right - found if a is None else found

        return solve

    def _gram(self) -> Array:
        """B'B."""
        c, d = self.objective.c, self.objective.d
        alike = bool(np.all(c == c[0]))
        weights, scale = (None, c[0]) if alike else (c, 1.0)
        if self.objective.fit_intercept:
            matrix = scale * self.design.bordered_gram(weights)
            q = matrix[:d, d]
            self._means = q / self.total
            matrix = matrix[:d, :d] - np.outer(q, self._means)
        else:
            matrix = scale * self.design.gram(weights)
        return self.inverse[:, None] * matrix * self.inverse

    def _outer(self, kind: type) -> Array:
        """BB', below its diagonal."""
        n, d = self.design.shape
        matrix: Any = np.zeros((n, n), dtype=kind, order="F")
        (add,) = linalg.get_blas_funcs(("syrk",), (matrix,))
        known: list[Any] = [each.astype(kind) for each in (self.root, self.unit, self.inverse)]
        root, unit, inverse = known
        for first in range(0, d, COLUMNS):
            some = np.arange(first, min(first + COLUMNS, d))
            part: Any = self.design.columns(some).dense().astype(kind, order="F")
            part *= np.multiply.outer(inverse[some], root).T
            if self.objective.fit_intercept:
                part -= np.multiply.outer(unit @ part, unit).T
            matrix = add(1.0, part, beta=1.0, c=matrix, overwrite_c=True, lower=True)
        return matrix


# Squared losses of many rows: the Gram matrix of a sample, corrected by slopes of all rows.


MOST = 5
"""Passes for slopes of all rows, at most: more cost what the Gram matrix of all does."""
SLOW = 0.25
"""They go on as long as each leaves at most this share of the gap."""
FAR = 1e-5
"""Iterates whose relative gap is larger are shown at no cost: nobody evaluates them."""
ROUND = 16.0 * EPS
"""Of P: where it is at its minimum to rounding, slopes still fall, and the gap with them."""
RARE = 0.5
"""A column whose squares in the sample are below this share of those of all has the latter."""

Step = Callable[[Array, Array, Array], Array]
"""(B, g, w) -> the minimum x of g'(x - w) + (x - w)'B(x - w) / 2 + Omega(x)."""


def from_sampled_gram(
    objective: Objective, w: Array, b: float, sample: int, seed: int, step: Step
) -> Generator[Iterate, None, tuple[Array, float, float]]:
    """Go towards the minimum, as long as that is fast: (w, b) and the passes over X so far.

    min_b F(X w + b) is a quadratic, of which each product with all rows tells the slope at w. Its
    matrix is that of ``sample`` rows drawn at random, with a secant update for each step from one
    slope to the next (Nocedal and Wright, (6.19)). From w = 0 the first step is to the solution on
    the sample. P does not increase but by rounding; b is the best one, so that 1'u = 0.
    """
    rows = np.random.default_rng(seed).choice(objective.n, sample, replace=False)
    gram, pull = sampled(Sample(objective, rows).part, objective.column_sizes**2)
    penalty, passes = objective.penalty, sample * objective.d / objective.n
    total = float(objective.c.sum())
    reached, value, least, before = (w, b), objective.primal(w, b), np.inf, None
    x = w if np.any(w) else step(gram, pull, w)
    for _ in range(MOST):
        left = last_scores(objective.design, x) - objective.y
        shift = -float(objective.c @ left) / total if objective.fit_intercept else 0.0
        left += shift
        u, passes = objective.c * left, passes + 2.0
        here = 0.5 * float(u @ left) + penalty.value(x)
        if not here <= value + ROUND * abs(value):
            break
        pull = last_slopes(objective.design, u)
        reached, value = (x, shift), here
        if before is not None:
            secant(gram, x - before[0], pull - before[1])
        before = x, pull
        # P - D at u = t c l'(z): sample by sample (1 - t)^2 times the loss.
        t = penalty.domain_scale(-pull)
        gap = (1.0 - t) ** 2 * (here - penalty.value(x))
        gap += float(objective.feature_terms(x, -t * pull).sum())
        promise = gap / here if gap > FAR * here else np.nan
        yield Iterate(*reached, None, passes, {"sampled": 1.0}, is_known=True, promise=promise)
        if not (np.isfinite(gap) and gap <= SLOW * least):
            break
        x, least = step(gram, pull, x), gap
    return *reached, passes


def sampled(part: Objective, squares: Array) -> tuple[Array, Array]:
    """The matrix of min_b F(X w + b) on a sample and its slope at w = 0.

    Columns that are rare have the ``squares`` of all rows on its diagonal.
    """
    d = part.d
    pull = part.design.rmatvec(part.null_slopes)
    matrix = part.design.bordered_gram(part.c) if part.fit_intercept else part.design.gram(part.c)
    rare = np.flatnonzero(matrix.diagonal()[:d] < RARE * squares)
    found = centred(matrix, d)
    found[rare, rare] = squares[rare]
    return found, pull


def centred(matrix: Array, d: int) -> Array:
    """[X, 1]'H [X, 1] without the best intercept: what is left of X'H X, of d columns."""
    found = matrix[:d, :d]
    if len(matrix) == d:
        return found
    return found - np.outer(matrix[:d, d], matrix[d, :d] / matrix[d, d])


def secant(gram: Array, s: Array, y: Array) -> None:
    """Let B s = y, by the update of least change that keeps B positive definite (BFGS)."""
    bent, curve = gram @ s, float(s @ y)
    old = float(s @ bent)
    if old > 0.0 and curve > 0.0:
        gram += np.outer(y, y / curve) - np.outer(bent, bent / old)


LEVEL, FINER = 5e-7, 2e-4
"""The relative gap at which iterates are shown first, and how much smaller it is each time."""
OFTEN = 64
"""Steps after which an iterate is shown whatever its gap."""
STEPS = 5000
"""Of conjugate gradients, at most."""
CHEAPER = 50.0
"""Operations in a product of matrices that take as long as one in a pair of products."""
SOON = 25
"""Conjugate gradients take more steps than this: where a factor costs less, it is made at once."""
LARGEST = 3000
"""Unknowns up to which the system may be factored."""
COARSE = 500
"""Samples from which a matrix of them is factored in single precision first."""
SHARE = 1e-9
"""A run of conjugate gradients ends at this share of the residual that it began with."""
LESS = 0.1
"""Refinement goes on as long as it takes the squared residual below this share."""

Solve = Callable[[Array, Array | None], Array]


def normal_equations(
    objective: Objective, w: Array, b: float, *, sample: int = 0, seed: int = 0
) -> Iterator[Iterate]:
    """Minimise sum_i c_i (y_i - z_i)^2 / 2 + w'Lam w / 2: a linear system.

    A matrix of min(n, d) rows is factored where that costs no more than ``SOON`` pairs of
    products, and conjugate gradients are taken else; where these take as long as a factor would,
    it is factored after all. P - D at w and its u = c l'(z) is half the square of
    Lam^(-1/2) grad P, which they know: iterates are shown where they may do. What is left of it
    after a solve is solved for again. With the matrix of ``sample`` rows and slopes of all it goes
    as far as that is fast, see ``sampled_gram``.
    """
    if 0 < sample < objective.n:
        yield Iterate(w, b, None, 1.0, {"steps": 0.0}, promise=np.inf)
        w, b, _ = yield from from_sampled_gram(objective, w, b, sample, seed, ridge_step(objective))
    system = RidgeSystem(objective)
    omega, least, is_first = w / system.inverse, np.inf, True
    size, other = sorted(objective.design.shape)
    cost = size**2 * (other + size / 3.0) / (CHEAPER * max(entries_of(objective), 1))
    patience = cost if size <= LARGEST else float(STEPS)
    left = 0 if patience <= SOON else int(patience)
    coarse, solve = system.by_samples and size >= COARSE, None
    if left and system.by_samples and not np.any(omega):  # B't is not asked for
        yield Iterate(w, b, None, 0.0, {"steps": 0.0}, promise=np.inf)
        omega, left = yield from by_samples(system, omega, omega, left, True)
        is_first = False
    while True:
        residual = system.residual(omega)
        square = float(residual @ residual)
        stalled = not square < LESS * least
        if is_first:
            share = 0.5 * square / system.value(omega)
            yield Iterate(w, b, None, system.passes, {"steps": 0.0}, promise=share)
        if square == 0.0 or (stalled and not (coarse and solve)):
            return
        told, least, is_first = is_first, min(square, least), False
        if left:
            solved = by_samples if system.by_samples else by_features
            omega, left = yield from solved(system, omega, residual, left, told)
            continue
        if size > LARGEST:
            return
        if solve is None or stalled:
            solve, coarse = factored(system, coarse and not stalled)
            if solve is None:
                return
        omega = omega + solve(residual, None if np.any(omega) else system.target)
        point = system.point(omega)
        yield Iterate(*point, None, system.passes, {"steps": np.inf}, promise=0.0)


def ridge_step(objective: Objective) -> Step:
    """To the minimum of a model of the loss plus w'Lam w / 2."""
    level = np.diag(objective.penalty.gradient(np.ones(objective.d)))

    def step(gram: Array, pull: Array, w: Array) -> Array:
        slope = pull + objective.penalty.gradient(w)
        with suppress(linalg.LinAlgError):
            factor = linalg.cho_factor(gram + level, overwrite_a=True, check_finite=False)
            return w - linalg.cho_solve(factor, slope, check_finite=False)
        return w

    return step


def factored(system: RidgeSystem, coarse: bool) -> tuple[Solve | None, bool]:
    """How to solve, and whether in single precision; in double precision where that fails."""
    for kind in (True, False) if coarse else (False,):
        with suppress(linalg.LinAlgError):
            return system.solver(kind), kind
    return None, False


def by_features(
    system: RidgeSystem, omega: Array, r: Array, most: int, is_first: bool
) -> Generator[Iterate, None, tuple[Array, int]]:
    """Conjugate gradients from omega, r its residual: (omega, how many of ``most`` are left)."""
    unit = 1.0 / system.diagonal()
    omega, r = omega.copy(), r.copy()
    p = unit * r
    square = first = float(r @ p)
    level = LEVEL
    for step in range(1, most + 1):
        bent = p + system.back(system.forth(p))
        length = square / float(p @ bent)
        omega += length * p
        r -= length * bent
        share = 0.5 * float(r @ r) / system.value(omega)
        if share <= level or step % OFTEN == 0:
            yield shown(system, omega, share, step if is_first else None)
            level = finer(level, share)
        scaled = unit * r
        square, before = float(r @ scaled), square
        if not square > SHARE**2 * first:
            return omega, most - step
        p = scaled + (square / before) * p
    return omega, 0


def by_samples(
    system: RidgeSystem, omega: Array, r: Array, most: int, is_first: bool
) -> Generator[Iterate, None, tuple[Array, int]]:
    """The same with vectors of n entries: omega = B'a for (I + BB') a = t, from omega = 0.

    From elsewhere it is the step r - B'a for (I + BB') a = B r. What a leaves of its system, e, is
    B'e of the residual: of e'De, for the diagonal D, its square is thought of as the same share as
    for the z = D^-1 e before.
    """
    cold = not np.any(omega)
    e, worth = (system.target, 0.0) if cold else (system.forth(r), system.value(omega))
    a, z, mean = np.zeros_like(e), system.divided(e), 0.0
    p, square, level = z, float(e @ z), LEVEL
    first, before, turn, drawn = square, z, 0.0, 0.0
    if not square > 0.0:  # r is none of B's
        return omega + r, most
    for step in range(1, most + 1):
        pulled = system.outer(p)
        # |B'z|^2 for z = p - turn p_before: between the two I + BB' is 0.
        last, drawn = drawn, float(p @ pulled)
        growth = (drawn + turn * (2.0 * float(p @ before) + turn * last)) / square
        bent = p + pulled
        length = square / float(p @ bent)
        a, e, mean = a + length * p, e - length * bent, mean + length * system.mean
        share = 0.5 * growth * system.weighed(e) / (system.value_by(a + e) if cold else worth)
        z = system.divided(e)
        square, old = float(e @ z), square
        ends = step == most or not square > SHARE**2 * first
        if ends or share <= level or step % OFTEN == 0:
            found = system.back(a) if cold else omega + r - system.back(a)
            known = mean if cold else None
            yield shown(system, found, share, step if is_first else None, known)
            level = finer(level, share)
            if ends:
                return found, most - step
        turn, before = square / old, p
        p = z + turn * p
    return omega, 0


def shown(
    system: RidgeSystem, omega: Array, share: float, step: int | None, mean: float | None = None
) -> Iterate:
    """An iterate that promises this relative gap, after so many steps from the start."""
    told = {} if step is None else {"steps": float(step)}
    return Iterate(*system.point(omega, mean), None, system.passes, told, promise=share)


def finer(level: float, share: float) -> float:
    """The relative gap at which the next iterate is shown."""
    while level >= share > 0.0:
        level *= FINER
    return level

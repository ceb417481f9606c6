"""Damped Newton."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import linalg

from ...data import DenseDesign, Design, SparseDesign, rows_in_blocks
from ...numerics import EPS, Array
from ...problem import Objective, loss_hessian, loss_model, newton_point
from ...problem.newton import slopes_at
from ..composite import along, search
from ..driver import CACHE, SMALL, Iterate

# Products with the Hessian of a smooth objective, and what they are preconditioned with.


ROWS = 10
"""Samples for each feature in the Gram matrix of a preconditioner."""
LARGEST = 2000
"""Features up to which it is formed."""
STALE = 15
"""After a step of so many products a preconditioner is made anew."""
SHORT = 2**18
"""Entries of X in single precision that stay in the cache of a core between X v and X't."""
SINGLE, DOUBLE = 1e-6, 1e-14
"""What a product in either precision may be off by, beside |H| |x|."""

Solve = Callable[[Array], Array]


class Coordinates:
    """(w, b) as one vector x, b with as many entries as there are predictions of a sample."""

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        shape = objective.zero_scores.shape[1:]
        self.d = objective.d
        self.size = self.d + (int(np.prod(shape, dtype=int)) if objective.fit_intercept else 0)

    def joined(self, w: Array, b: Array | float) -> Array:
        """X of (w, b)."""
        return np.append(w, b) if self.size > self.d else w

    def intercept(self, x: Array) -> Any:
        """The b of x."""
        if self.objective.zero_scores.ndim > 1:
            return (
                x[self.d :] if self.size > self.d else np.zeros_like(self.objective.zero_scores[0])
            )
        return float(x[-1]) if self.size > self.d else 0.0

    def forward(self, x: Array) -> Array:
        """X w + b."""
        return self.objective.design.matvec(x[: self.d]) + self.intercept(x)

    def backward(self, t: Array) -> Array:
        """(X't, 1't)."""
        return self.joined(self.objective.design.rmatvec(t), t.sum(axis=0))

    def gradient(self, x: Array, z: Array) -> Array:
        """The gradient of P at x, whose predictions are z."""
        g = self.backward(self.objective.loss_derivative(z))
        g[: self.d] += self.objective.penalty.gradient(x[: self.d])
        return g


class InSingle(Coordinates):
    """The same with products in single precision: seven digits, enough to find a step.

    Vectors are scaled, so that nothing underflows.
    """

    def __init__(self, objective: Objective, design: Design) -> None:
        super().__init__(objective)
        self.design = design

    def forward(self, x: Array) -> Array:
        size = _size(x)
        return size * self._forth(x, size).astype(float)

    def backward(self, t: Array) -> Array:
        size = _size(t)
        return size * self._back((t / size).astype(np.float32))

    def bent(self, x: Array, weights: Array) -> Array:
        """[X, 1]' diag(weights) [X, 1] x, for weights in single precision."""
        size, X = _size(x), self.design.constant
        if not isinstance(X, np.ndarray) or not X.flags.c_contiguous:
            return size * self._back(self._forth(x, size) * weights)
        v, b = self._parts(x, size)
        total, out = 0.0, np.zeros(self.d)
        rows = max(SHORT // self.d, 1)
        for i in range(0, len(X), rows):  # each block of rows is used twice while it is at hand
            part = X[i : i + rows]
            t = weights[i : i + rows] * (part @ v + b)
            out += t @ part
            total += float(t.sum(dtype=float))
        return size * self.joined(out, total)

    def _parts(self, x: Array, size: float) -> tuple[Array, Any]:
        return (x[: self.d] / size).astype(np.float32), np.float32(self.intercept(x) / size)

    def _forth(self, x: Array, size: float) -> Array:
        v, b = self._parts(x, size)
        return self.design.matvec(v) + b

    def _back(self, t: Array) -> Array:
        return self.joined(self.design.rmatvec(t).astype(float), float(t.sum(dtype=float)))


def _size(x: Array) -> float:
    return float(np.abs(x).max(initial=0.0)) or 1.0


class Hessian:
    """H = [X, 1]' F''(z) [X, 1] + Hess Omega at x, whose predictions are z, by its products.

    ``single`` takes the products in single precision, where they are to be taken in that.
    """

    def __init__(
        self, at: Coordinates, x: Array, z: Array, g: Array, single: InSingle | None = None
    ) -> None:
        self.at, self.single = at, single
        w = x[: at.d]
        self.level = at.objective.penalty.manifold(w, -g[: at.d], np.ones_like(w)).hessian
        self.levels = self.level if self.level.ndim == 1 else np.diag(self.level)
        self.curvature = loss_hessian(at.objective, z)
        self.h = at.objective.loss_curvature(z)
        self.unit = _size(self.h)
        self.weights = (self.h / self.unit).astype(np.float32) if single is not None else self.h
        self.largest = 0.0

    def __matmul__(self, x: Array) -> Array:
        """H x."""
        if self.single is None:
            found = self.product(x, self.at.forward(x))
        else:
            found = self._with_penalty(self.unit * self.single.bent(x, self.weights), x)
        self.largest = max(self.largest, float(found @ found) / float(x @ x))
        return found

    def noise(self, x: Array, is_single: bool) -> float:
        """About what the products that have led to x may be off by, those of it added up."""
        return (SINGLE if is_single else DOUBLE) * float(np.sqrt(self.largest * (x @ x)))

    def product(self, x: Array, z: Array) -> Array:
        """H x, for z = [X, 1] x."""
        return self._with_penalty(self.at.backward(self.curvature(z)), x)

    def _with_penalty(self, product: Array, x: Array) -> Array:
        w = x[: self.at.d]
        product[: self.at.d] += self.level * w if self.level.ndim == 1 else self.level @ w
        return product

    def gap_left(self, r: Array) -> float:
        """What a residual leaves of the gap."""
        return gap_left(r[: self.at.d], self.level)


def gap_left(g: Array, level: Array) -> float:
    """g'Lam^-1 g / 2 for Omega = w'Lam w / 2: P - D at u = c l'(z), whose 1'u is about 0.

    It is inf where Lam is singular.
    """
    if level.ndim > 1:
        return np.inf
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return 0.5 * float(np.where(g == 0.0, 0.0, g**2 / level).sum())


def in_single(objective: Objective) -> InSingle | None:
    """X in single precision, where its products are faster for it and nothing is out of range."""
    design = objective.design
    if not isinstance(design, DenseDesign | SparseDesign):
        return None
    X: Any = design.constant
    entries = getattr(X, "nnz", X.size)
    if not SMALL < entries <= (CACHE if isinstance(design, DenseDesign) else np.inf):
        return None
    norms = objective.column_norms
    if not np.all((norms > 1e-15) & (norms < 1e15) | (norms == 0.0)):
        return None
    if isinstance(design, DenseDesign):
        return InSingle(objective, DenseDesign(X.astype(np.float32)))
    data = X.data.astype(np.float32)
    return InSingle(objective, SparseDesign(type(X)((data, X.indices, X.indptr), shape=X.shape)))


class Preconditioner:
    """What conjugate gradients are preconditioned with, kept as long as they take few steps.

    The Cholesky factor of H on a sample of the rows, where there are many more rows than
    columns; else the diagonal of H.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng, self.solve = rng, None

    solve: Solve | None

    def __call__(self, hessian: Hessian) -> Solve:
        if self.solve is None:
            self.solve = sampled(hessian, self.rng) or diagonal(hessian)
        return self.solve

    def took(self, products: int) -> None:
        """The last step took so many products."""
        if products > STALE:
            self.solve = None


def diagonal(hessian: Hessian) -> Solve:
    """Division by the diagonal of H, with the mean of F'' for that of each sample."""
    at, n = hessian.at, hessian.at.objective.n
    total = hessian.h.sum(axis=0)
    mean = np.atleast_1d(total / max(n, 1))  # W is passed row by row, a class after the other
    mean = np.tile(mean, at.d // len(mean))
    whole = at.joined(at.objective.design.column_squares() * mean + hessian.levels, total)
    inverse = 1.0 / np.where(whole > 0.0, whole, 1.0)
    return lambda r: inverse * r


def sampled(hessian: Hessian, rng: np.random.Generator) -> Solve | None:
    """The Cholesky factor of H on a sample of the rows; None where that is no good."""
    at, n = hessian.at, hessian.at.objective.n
    rows = ROWS * at.size
    if hessian.h.ndim > 1 or at.d > LARGEST or n < 2 * rows:
        return None
    chosen = np.sort(rng.choice(n, rows, replace=False))
    h = hessian.h[chosen] * (n / rows)
    return factored(at.objective.design.rows(chosen), h, hessian.level, at.size > at.d)


def factored(rows: Design, h: Array, level: Array, free_b: bool) -> Solve | None:
    """Solves with the Hessian that some rows make, by Cholesky; None where it is not definite."""
    d, matrix = rows.shape[1], rows.bordered_gram(h) if free_b else rows.gram(h)
    matrix[:d, :d] += level if level.ndim == 2 else np.diag(level)
    with suppress(linalg.LinAlgError):
        factor = linalg.cho_factor(matrix, check_finite=False)
        return lambda r: linalg.cho_solve(factor, r, check_finite=False)
    return None


# Newton's method with steps that are solved only as far as pays.


LOOSEST, TIGHTEST = 0.1, 1e-3
"""Ends of the forcing terms; in single precision no step is worth more digits."""
CURVED = 0.6
"""Share of what the model was last wrong by that a step is solved to."""
ROUGH, ROUGHLY = 1e-4, 0.3
"""Down to this relative gap gradients are taken in single precision too, and steps are solved no
better than this."""
AIM, NEAR, ORDER = 2e-7, 4.0, 1.6
"""Relative gap that the residual of a step is to leave; near to that, this power of it, and so on.
"""
MOST = 500
"""Products for one step."""


def newton_cg(objective: Objective, w: Array, b: float, *, seed: int = 0) -> Iterator[Iterate]:
    """Minimise a smooth objective by inexact Newton steps with Armijo backtracking.

    H s = -g is solved by preconditioned conjugate gradients until |H s + g| <= eta |g|, with
    eta_k = 0.6 |g_k - g_{k-1} - H_{k-1} s_{k-1}| / |g_{k-1}|, what the model was wrong by, at most
    0.1. These tend to 0, which makes convergence superlinear (Dembo, Eisenstat and Steihaug, 1982,
    https://doi.org/10.1137/0719025; Eisenstat and Walker, 1996, https://doi.org/10.1137/0917003).
    No step is solved beyond the gap that its residual leaves, r'Lam^-1 r / 2 for
    Omega = w'Lam w / 2. A step costs a pass each way for each product with H and for its gradient,
    and none for its length. Where X is kept in single precision too, products with H are taken in
    that as long as their rounding is less than the residual, and gradients far from the minimum.
    """
    exact, single = Coordinates(objective), in_single(objective)
    at: Coordinates = single or exact
    precondition = Preconditioner(np.random.default_rng(seed))
    least = EPS if single is None else TIGHTEST
    x, z = at.joined(w, b), objective.predict(w, b)
    value, g = objective.primal(w, b, z), at.gradient(x, z)
    passes, aim, wrong = 2.0, AIM, np.inf
    yield Iterate(w, b, None, passes)
    while np.all(np.isfinite(g)):
        hessian = Hessian(exact, x, z, g, single)
        if at is not exact and not (single and hessian.gap_left(g) > ROUGH * abs(value)):
            at, z = exact, exact.forward(x)
            value, g = objective.primal(x[: at.d], at.intercept(x), z), at.gradient(x, z)
            passes += 2.0
            continue
        most = LOOSEST if at is exact else ROUGHLY
        size, eta = float(np.linalg.norm(g)), float(np.clip(CURVED * wrong, least, most))
        while EPS < aim * abs(value) and hessian.gap_left(g) <= NEAR * aim * abs(value):
            aim **= ORDER
        enough = _Enough(hessian, eta * size, aim * abs(value))
        solve = precondition(hessian)
        step, r, products = conjugate_gradients(hessian, -g, solve, enough)
        precondition.took(products)
        descent = float(g @ step)
        if not descent < 0.0:
            return
        noise = hessian.noise(step, single is not None)
        missed = max(eta * size, float(np.linalg.norm(r)) + noise)
        missed += hessian.noise(x, at is not exact)  # what g is off by, with z added up
        if not noise <= eta * size:
            single = None
        dz = at.forward(step)
        t, value, _ = search(along(objective, x[: at.d], z, step[: at.d], dz), value, descent)
        if t == 0.0:
            return
        x, z, old = x + t * step, z + t * dz, g
        g, passes = at.gradient(x, z), passes + 2.0 * products + 2.0
        wrong = float(np.linalg.norm(g - (1.0 - t) * old + t * r)) / size
        told = {"step": t, "forcing": missed / size}
        left = hessian.gap_left(g)
        promise = left / abs(value) if 0.0 < left < np.inf and value else np.nan
        yield Iterate(x[: at.d], at.intercept(x), None, passes, told, promise=promise)
        if -descent <= EPS * abs(value):  # no further step changes P beyond rounding
            return


def conjugate_gradients(
    hessian: Hessian,
    right: Array,
    solve: Callable[[Array], Array],
    enough: Callable[[Array], bool],
) -> tuple[Array, Array, int]:
    """Solve H x = right from x = 0 until the residual is small enough: (x, residual, products).

    Every x on the way is a direction of descent: it minimises the model over a subspace.
    """
    x, r, k = np.zeros_like(right), right, 0
    p = q = solve(r)
    rho = float(r @ q)
    while k < MOST:
        bent, k = hessian @ p, k + 1
        curvature = float(p @ bent)
        if not curvature > 0.0:
            return (x if k > 1 else p), r, k
        length = rho / curvature
        x, r = x + length * p, r - length * bent
        if enough(r):
            break
        q = solve(r)
        rho, old = float(r @ q), rho
        p = q + (rho / old) * p
    return x, r, k


class _Enough:
    """Whether a residual is small: itself, or the gap that it leaves."""

    def __init__(self, hessian: Hessian, size: float, gap: float) -> None:
        self.hessian, self.size, self.gap = hessian, size, gap

    def __call__(self, r: Array) -> bool:
        return bool(np.linalg.norm(r) <= self.size) or self.hessian.gap_left(r) <= self.gap


# Where Newton's method starts on many rows: on some of them, and corrected by gradients of all.


SMALLER, LEAST = 8, 20
"""A sample is solved from the solution on so many times fewer rows, where these are so many for
each unknown."""
FIRST, EXACT = 8, 0.1
"""Steps on a sample, at most, until its gap is this share of d / sample: of what it is off by."""
SLOW = 0.25
"""Corrections go on as long as each leaves at most this share of the gap."""
START_STEPS = 30
"""Corrections at most."""
BEYOND = 0.25
"""Share of its slope at the start that P may rise with at the end of a step: a P whose curvature
does not fall below a sixteenth along it has fallen."""

Newton = Callable[[Objective, Array, Any], Iterator[Iterate]]
Point = tuple[Array, float, Array, float]
"""(w, b), the predictions there, and P."""


class Sample:
    """Some of the rows, drawn at random, with weights that add up to those of all.

    ``n`` is the number of these, where the objective is that of a larger sample.
    """

    def __init__(self, objective: Objective, drawn: Array, n: int | None = None) -> None:
        rows = np.sort(drawn)
        c = objective.c[rows]
        self.part = replace(
            objective,
            design=objective.design.rows(rows),
            y=objective.y[rows],
            c=c * (objective.c.sum() / c.sum()),
        )
        self.share = len(rows) / (n or objective.n)

    def solved(self, newton: Newton, w: Array, b: Any) -> tuple[tuple[Array, Any], float]:
        """(w, b), as exactly as it stands for the solution on all rows; passes over all."""
        point, k, part = Iterate(w, b), 0, self.part
        for k, point in enumerate(newton(part, w, b)):
            if k == FIRST or point.promise <= EXACT * part.d / part.n:
                break
        return (point.w, point.b), k * (part.d + 2.0) * self.share

    def solver(self, w: Array, b: Any) -> Solve | None:
        """Solves with its Hessian at (w, b); None where that is not definite."""
        part = self.part
        slope = -part.penalty.gradient(w)
        level = part.penalty.manifold(w, slope, np.ones_like(w)).hessian
        h = part.loss_curvature(part.predict(w, b))
        return factored(part.design, h, level, part.fit_intercept)


def drawn(objective: Objective, sample: int, rng: np.random.Generator) -> list[Sample]:
    """A sample of so many rows, after some of these where that is of use."""
    rows = rng.choice(objective.n, sample, replace=False)
    few, whole = sample // SMALLER, Sample(objective, rows)
    if few < LEAST * (objective.d + 1):
        return [whole]
    return [Sample(whole.part, np.searchsorted(np.sort(rows), rows[:few]), objective.n), whole]


class Corrections:
    """Quasi-Newton steps from the Hessian of a sample (Nocedal and Wright, algorithm 7.4).

    Each step s with the change y of the gradient that it brought is kept: of d + 1 unknowns that is
    little beside the rows.
    """

    def __init__(self, solve: Solve) -> None:
        self.solve = solve
        self.kept: list[tuple[Array, Array, float]] = []

    def keep(self, s: Array, y: Array) -> bool:
        """Take a step into account; whether P curves along it."""
        curve = float(s @ y)
        if curve > 0.0:
            self.kept.append((s, y, curve))
        return curve > 0.0

    def step(self, g: Array) -> Array:
        """Minus the inverse of the Hessian, as it is known so far, times g."""
        q, shares = g.copy(), []
        for s, y, curve in reversed(self.kept):
            shares.append(float(s @ q) / curve)
            q -= shares[-1] * y
        q = self.solve(q)
        for (s, y, curve), share in zip(self.kept, reversed(shares), strict=True):
            q += (share - float(y @ q) / curve) * s
        return -q


def from_a_sample(
    newton: Newton, objective: Objective, start: Point, sample: int, rng: np.random.Generator
) -> Generator[Iterate, None, tuple[Point, float]]:
    """From a starting point to a better one, by way of a sample: it, and the passes so far.

    The Hessian of the sample is nearly that of all rows: with it a gradient of all rows takes what
    the sample is off by to a tenth or so, and two or three more of them to rounding of the gap.
    """
    w, b, passes = start[0], start[1], 1.0
    for each in drawn(objective, sample, rng):
        (w, b), more = each.solved(newton, w, b)
        passes += more
    if objective.zero_scores.ndim == 1 and (solve := each.solver(w, b)) is not None:
        x = Coordinates(objective).joined(w, b)
        return (yield from corrected(objective, start, x, solve, passes))
    z = objective.predict(w, b)
    value, passes = objective.primal(w, b, z), passes + 1.0
    if value < start[3]:
        yield Iterate(w, b, None, passes, {"sampled": 1.0}, promise=np.inf)
        return (w, b, z, value), passes
    return start, passes


def corrected(
    objective: Objective, start: Point, x: Array, solve: Solve, passes: float
) -> Generator[Iterate, None, tuple[Point, float]]:
    """Go from x by gradients of all rows, if P is lower there, until that is slow.

    P does not increase: f(x + s) <= f(x) + f'(x + s) s is clear where the last term is not
    positive, and is asked where it is not small. Returns the last point, and the passes so far.
    """
    at, steps = Coordinates(objective), Corrections(solve)
    w, b = x[: at.d], at.intercept(x)
    z, u, pull = slopes_at(objective, w, b)
    passes += 2.0
    value = objective.primal(w, b, z)
    if not value < start[3]:
        return start, passes
    level = objective.penalty.manifold(w, -pull, np.ones_like(w)).hessian
    g = at.joined(pull + objective.penalty.gradient(w), u.sum())
    left, known = gap_left(g[: at.d], level), True
    yield Iterate(w, b, None, passes, {"sampled": 1.0}, promise=left / abs(value) or np.nan)
    for _ in range(START_STEPS):
        s = steps.step(g)
        there = x + s
        w, b = there[: at.d], at.intercept(there)
        ahead, u, pull = slopes_at(objective, w, b)
        passes += 2.0
        change = at.joined(pull + objective.penalty.gradient(w), u.sum()) - g
        if not (np.all(np.isfinite(change)) and steps.keep(s, change)):
            break
        if not (g + change) @ s <= -BEYOND * float(g @ s):
            value = value if known else objective.primal(x[: at.d], at.intercept(x), z)
            after, known = objective.primal(w, b, ahead), True
            if not after <= value:
                break
            value = after
        else:
            known = False
        x, z, g = there, ahead, g + change
        before, left = left, gap_left(g[: at.d], level)
        yield Iterate(w, b, None, passes, {"sampled": 1.0}, promise=left / abs(value) or np.nan)
        if not left <= SLOW * before:
            break
    w, b = x[: at.d], at.intercept(x)
    return (w, b, z, value if known else objective.primal(w, b, z)), passes


FAR = 0.1
"""A step that was to gain more of P ends far from the solution: it is not evaluated."""


def newton(
    objective: Objective, w: Array, b: float, *, sample: int = 0, seed: int = 0
) -> Iterator[Iterate]:
    """Minimise a smooth objective by Newton steps with Armijo backtracking.

    Solves (X'HX + Hess Omega) dw = -grad P, H = diag(c_i l''_i), by a Cholesky factorisation
    (least squares where it is singular, conjugate gradients where d is large), and halves the step
    until P(w + t dw) <= P(w) + 1e-4 t <grad P, dw>, or doubles it where P falls faster than its
    quadratic model, as far as that pays. Each step yields the dual point
    u = c l'(z) + H X dw, feasible to second order; none where c l'(z) at the new point is better.
    The first point is the solution on ``sample`` rows drawn at random, where that is lower, as good
    as gradients of all rows make it at little cost: see ``sampled_start``.
    """
    passes = 1.0
    yield Iterate(w, b, None, passes, promise=np.inf)
    z = objective.predict(w, b)
    value = objective.primal(w, b, z)
    if 0 < sample < objective.n:
        start = (w, b, z, value)
        (w, b, z, value), passes = yield from from_a_sample(
            newton, objective, start, sample, np.random.default_rng(seed)
        )
    ones, reads = np.ones_like(w), rows_in_blocks(objective)
    loss = loss_model(objective, z)
    manifold = objective.penalty.manifold(w, -loss.pull, ones)
    slope_w = loss.pull + manifold.gradient
    while True:
        slope_b = loss.total if objective.fit_intercept else 0.0 * b
        point = newton_point(objective, w, b, manifold, known=loss)
        passes += 2.0 + objective.d
        if point is None:
            dw, db, u, dz = -slope_w, -slope_b, None, None
        else:
            dw, db, u, dz = point.w - w, point.b - b, point.u, point.dz
        descent = float(slope_w @ dw) + float(np.vdot(slope_b, db))
        if not descent < 0.0:
            yield Iterate(w, b, u, passes)
            return
        dz = objective.predict(dw, db) if dz is None else dz
        there = z + dz
        # Blocks are read once for the product and for what is asked there, if the step is taken.
        guess = loss_model(objective, there) if reads else None

        step, value, _ = search(along(objective, w, z, dw, dz), value, descent)
        if step == 0.0:
            yield Iterate(w, b, u, passes)
            return
        w, b, z = w + step * dw, b + step * db, there if step == 1.0 else z + step * dz
        loss = guess if guess and step == 1.0 else loss_model(objective, z)
        manifold = objective.penalty.manifold(w, -loss.pull, ones)
        slope_w = loss.pull + manifold.gradient
        promise = np.inf
        if not -descent > FAR * abs(value):
            plain, own = gap_left(slope_w, manifold.hessian), np.inf
            if step == 1.0 and u is not None and u.ndim == 1:
                own = gap_left(u - loss.u, loss.h)  # as the model sees it
            promise = min(plain, own) / abs(value) if value else np.nan
            promise = promise if 0.0 < promise < np.inf else np.nan
            u = u if not plain < own else None
        yield Iterate(w, b, u, passes, promise=promise)
        if -descent <= EPS * abs(value):  # no further step changes P beyond rounding
            return

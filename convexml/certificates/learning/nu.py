"""The certificate of a machine with nu: its margin, or the width of its tube, is found with f.

======  ========================================================================================
margin  |f|^2 / 2 + sum_i s_i (rho - y_i (f(x_i) + b))_+ - nu S rho; one class: y = 1, b = 0
tube    |f|^2 / 2 + sum_i c_i (|f(x_i) + b - y_i| - epsilon)_+ + nu sum(c) epsilon
======  ========================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import compress
from math import fsum
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...formulas import Condition, products, worst
from ...kernels.matrix import KernelMatrix
from ...numerics import Array, all_finite, gamma, same
from ..algebra.rationals import as_integers
from ..algebra.sums import exact_dot
from ..certificate import Certificate, Verdict
from ..judge import ClosedForm, DualBound, Limit, refuted
from ..rounding import summing_to
from .function import square_of
from .kernel import said_of_matrix

# Where a machine with nu has its function f: coefficients of features, or of samples.


@dataclass(frozen=True, eq=False)
class OfFeatures:
    """f(x) = w.x.

    Attributes
    ----------
    A : array or sparse array, shape (n, d)
        The x_i, or the x_i - c of a centre c.
    centre : array, shape (d,), optional
        That c, where intercepts are those of the x_i.
    """

    A: Any
    centre: Array | None = None

    def moved(self, b: float, w: Array, sign: float = 1.0) -> float:
        """The intercept about the centre; with sign -1 the b that has this one."""
        return b if self.centre is None else moved_intercept(b, sign * self.centre, w)

    @cached_property
    def diagonal(self) -> Array:
        """K_ii, shape (n,)."""
        squares = self.A.multiply(self.A) if hasattr(self.A, "multiply") else self.A * self.A
        return np.ravel(squares.sum(axis=1))

    @property
    def diagonal_error(self) -> Array:
        """What ``diagonal`` may be off by."""
        return gamma(self.A.shape[1] + 4) * self.diagonal

    def scores(self, w: Array) -> Array:
        """The f(x_i), shape (n,)."""
        return np.asarray(self.A @ w)

    def square(self, w: Array) -> float:
        """|f|^2."""
        return float(w @ w)

    def of(self, q: Array) -> Array:
        """The w of sum_i q_i k(x_i, .)."""
        return np.asarray(self.A.T @ q)

    @property
    def letters(self) -> tuple[str, str]:
        """What the formulas call f and x_i."""
        return "w", "x_i"

    def apart(self, w: Array, q: Array, name: str) -> Condition:
        """How far f is from that function."""
        return worst(name, "stationarity", w - self.of(q), float(np.max(np.abs(w))) or 1.0)

    def errors(self, w: Array) -> tuple[Array, float]:
        """Bounds of the errors of ``scores(w)`` and ``square(w)``."""
        share = gamma(self.A.shape[1] + 4)
        return share * (abs(self.A) @ np.abs(w)), share * float(w @ w)

    def error_of(self, q: Array) -> float:
        """A bound of the error of ``square(of(q))``."""
        f, (n, d) = self.of(q), self.A.shape
        off = gamma(n + 8) * (abs(self.A).T @ np.abs(q))
        return float((2.0 * np.abs(f) + off) @ off + gamma(d + 8) * (f @ f))

    def told(self, certificate: Certificate) -> Certificate:
        """The certificate, with words where it is not one of the kernel itself."""
        return certificate


@dataclass(frozen=True, eq=False)
class OfSamples:
    """f = sum_j w_j k(x_j, .), of a kernel.

    Where no theorem says that the kernel is semidefinite, it is that of a factor of K, whose
    distance from K counts as rounding.
    """

    matrix: KernelMatrix

    def moved(self, b: float, w: Array, sign: float = 1.0) -> float:
        return b

    @property
    def diagonal(self) -> Array:
        return self.matrix.diagonal

    @property
    def diagonal_error(self) -> Array:
        K = self.matrix
        if K.is_exact:
            return K.sizes * K.sizes - K.diagonal
        # Where it is not known ``told`` says so.
        return np.zeros(K.diagonal.size) if K.entry_errors is None else np.diagonal(K.entry_errors)

    def scores(self, w: Array) -> Array:
        if self.matrix.is_exact:
            return self.matrix.product(w)
        return self.matrix.factor @ (self.matrix.factor.T @ w)

    def square(self, w: Array) -> float:
        return max(float(w @ self.scores(w)), 0.0)

    def of(self, q: Array) -> Array:
        return q

    @property
    def letters(self) -> tuple[str, str]:
        return "Kq", "K_i"

    def apart(self, w: Array, q: Array, name: str) -> Condition:
        size = float(np.max(np.abs(self.scores(w))))
        return worst(name, "stationarity", self.scores(w - q), size or 1.0)

    def errors(self, w: Array) -> tuple[Array, float]:
        scores = self.scores(w)
        if self.matrix.is_exact:
            off = self.matrix.product_error(w)
        else:
            off = self.matrix.error_of(w, scores, np.abs(self.matrix.factor).T @ np.abs(w))
        return off, square_of(w, scores, off)[1]

    def error_of(self, q: Array) -> float:
        return self.errors(q)[1]

    def told(self, certificate: Certificate) -> Certificate:
        return said_of_matrix(self.matrix, certificate)


Functions = OfFeatures | OfSamples
"""Functions f by an array w: of coefficients of features, or of samples."""

# Samples about a centre c: where there is an intercept, w.x + b = w.(x - c) + (b + c.w).


def about_centre(X: Any) -> tuple[Any, Array]:
    """X - c and c, near the means of the columns; c is 0 where X is sparse or would overflow.

    An entry of X - c is rounded once, by a share of itself, whatever c is.
    """
    nothing = np.zeros(X.shape[1])
    if sparse.issparse(X) or not X.shape[0]:
        return X, nothing
    with np.errstate(over="ignore", invalid="ignore"):
        c = np.mean(X, axis=0)
        moved = X - c
    return (moved, c) if all_finite(moved) else (X, nothing)


def moved_intercept(b: float, c: Array, w: Array) -> float:
    """b + c.w, rounded once; not finite where products are beyond float64."""
    moves = c.any() and all_finite(w)
    return exact_dot(np.append(c, 1.0), np.append(w, b)) if moves else b


# Whether nu leaves the machine for two classes a dual point, decided in exact arithmetic.


class ShortClass(NamedTuple):
    """The class whose weights are less than nu S / 2: P falls without end as it is given up.

    Attributes
    ----------
    sign : float
        That of its labels.
    most : Fraction
        Twice its share of S: the largest nu.
    excess : Fraction
        nu less that.
    """

    sign: float
    most: Fraction
    excess: Fraction


def short_class(nu: float, s: Array, y: Array) -> ShortClass | None:
    """The class that cannot hold its half of nu S, of float64 numbers as they are, or None.

    sum_i alpha_i y_i = 0 and sum_i alpha_i = nu S ask for nu S / 2 of each class, where
    alpha_i <= s_i.
    """
    whole = as_integers(s[None, :])[0]
    everything, up = sum(whole), sum(compress(whole, (y > 0.0).tolist()))
    most = Fraction(2 * min(up, everything - up), everything)
    excess = Fraction(nu) - most
    if excess <= 0:
        return None
    return ShortClass(1.0 if 2 * up <= everything else -1.0, most, excess)


UNPROVED = "the account of rounding of a machine with nu is of first order only"
ENDLESS = "P has no bound below: nu is above twice the share of the smaller class, exactly."
Again = Callable[[], "HeldPoint"]
"""The point of a tighter fit: it may be better than the one that is judged."""


@dataclass(frozen=True)
class HeldPoint:
    """f by its array w, b, and rho or epsilon; a dual point q; slacks that are not the least."""

    w: Array
    b: float
    level: float
    q: Array
    xi: Array | None = None


@dataclass(frozen=True, eq=False)
class NuProgram(ClosedForm):
    """One problem with nu, in points ``HeldPoint``, judged by u = -q.

    Attributes
    ----------
    space : Functions
    y : array
        Labels -1 and +1, ones without classes.
    limits : array
        Upper bounds of alpha, or of |q|: s or C s.
    total : float
        nu times their sum, which was rounded once.
    targets : array or float
        Real ones that predictions are compared with; labels are no such.
    nu : float
        Of two classes, which it may be too large for; 0 where the sum can always be met.
    is_exact : bool
        Whether the limits are data: where they were rounded no bound is proved.
    """

    duals = ("u",)
    sign = 1.0
    """Of the level, as the rho that margins are to reach."""
    space: Functions
    y: Array
    limits: Array
    total: float
    targets: Any = 0.0
    nu: float = 0.0
    is_exact: bool = False

    # -- the primal ------------------------------------------------------------------------------

    def cost(self, at: HeldPoint) -> float:
        """P at this point, whose slacks are made large enough."""
        slack = np.maximum(*self.slacks(at))
        rho = self.sign * at.level
        return float(0.5 * self.space.square(at.w) + self.limits @ slack - self.total * rho)

    def margins(self, at: HeldPoint) -> Array:
        """y_i (f(x_i) + b)."""
        return self.y * (self.space.scores(at.w) + self.space.moved(at.b, at.w))

    def slacks(self, at: HeldPoint) -> tuple[Array, Array]:
        """The least slacks, and those that are held."""
        least = np.maximum(self.sign * at.level - self.margins(at), 0.0)
        return least, least if at.xi is None else at.xi

    def value_rounding(self, at: HeldPoint) -> float:
        off, error = self.space.errors(at.w)
        sizes = np.abs(self.margins(at)) + np.abs(self.targets)
        sizes = sizes + abs(self.space.moved(at.b, at.w)) + abs(at.level)
        terms = 0.5 * self.space.square(at.w) + self.limits @ sizes + self.total * abs(at.level)
        return self._rounded(float(terms), float(self.limits @ off) + 0.5 * error)

    def _rounded(self, terms: float, errors: float) -> float:
        """What a sum of these terms may be off by, with errors of its own."""
        n = self.y.size
        return (gamma(n + 16) * terms + errors) * (1.0 + gamma(2 * n + 32))

    def constraints(self, at: HeldPoint) -> list[Limit]:
        (least, slack), square = self.slacks(at), self.space.square(at.w)
        size = float(np.sqrt(np.max(self.space.diagonal, initial=0.0) * square)) + abs(at.level)
        name = "y_i " * self._has_classes + "z_i >= rho - xi_i, xi_i >= 0"
        return [
            (name, np.maximum(least - slack, 0.0), size, 0.0),
            ("rho >= 0", max(-at.level, 0.0), size, 0.0),
        ][: 1 + self._has_classes]

    # -- the dual --------------------------------------------------------------------------------

    def completed(self, at: HeldPoint, u: Array) -> tuple[Array]:
        return (u,)

    def bound(self, u: Array) -> DualBound:
        """D of the nearest feasible q, less what that loses as it is shrunk to its exact sums.

        No gain of the move is credited.
        """
        q = self.feasible(-u)
        value = min(map(self.dual, (q,) if same(q, -u) else (q, -u)))
        lost, square = self.space.error_of(q), self.space.square(self.space.of(q))
        terms = 0.5 * square + float(np.sum(np.abs(self.targets * q)))
        rounding = self._rounded(terms, 0.5 * lost + self._missed(q, square + lost))
        value = -np.inf if self.is_endless else value
        return DualBound(value, rounding, self.dual_rows(-u), (-q,))

    def dual(self, q: Array) -> float:
        """D at the feasible q = alpha y."""
        return float(np.sum(self.targets * q)) - 0.5 * self.space.square(self.space.of(q))

    def feasible(self, q: Array) -> Array:
        """A dual point near to q: each class, or all, with its share of nu S, and no less.

        Exact sums are reached below.
        """
        alpha = np.clip(self.y * q, 0.0, self.limits)
        for each in self._classes:
            share = self.total / len(self._classes)
            alpha[each] = summing_to(share, alpha[each], self.limits[each])
        return self.y * alpha

    @property
    def _classes(self) -> list[Array]:
        return [each for each in (self.y > 0.0, self.y < 0.0) if each.any()]

    def _missed(self, q: Array, square: float) -> float:
        """|f'|^2 / 2 less |f|^2 / 2 at most, f' of the q that is shrunk, class by class.

        Where a sum is below them all its alpha are at their limits, whose sum is no less, exactly.
        """
        least = self.total / len(self._classes) * (1.0 - gamma(8))
        sums = [fsum(np.abs(q[each])) * (1.0 + gamma(2)) for each in self._classes]
        share = max(max(sums) / least - 1.0, 0.0) * (1.0 + gamma(8)) if least > 0.0 else 0.0
        sizes = np.sqrt(np.maximum(self.space.diagonal + self.space.diagonal_error, 0.0))
        moved = share * float(np.abs(q) @ sizes) * (1.0 + gamma(self.y.size + 16))
        return (float(np.sqrt(square)) + 0.5 * moved) * moved

    def dual_rows(self, q: Array) -> list[Condition]:
        """The conditions on q alone."""
        alpha, kind = self.y * q, "dual_feasibility"
        outside = np.maximum(np.maximum(-alpha, alpha - self.limits), 0.0)
        return [
            worst("0 <= alpha_i <= s_i", kind, outside, self.limits),
            worst("sum alpha_i = nu sum s_i", kind, alpha.sum() - self.total, self.total),
            worst("sum alpha_i y_i = 0", kind, q.sum(), self.total),
        ][: 2 + self._has_classes]

    def beside(
        self, at: HeldPoint, away: Sequence[Array], dual: Sequence[Array], found: DualBound
    ) -> tuple[float, list[Condition]]:
        q, margins, slack = -dual[0], self.margins(at), self.slacks(at)[1]
        alpha, y, (f, x) = self.y * q, "y_i " * self._has_classes, self.space.letters
        return 0.0, [
            self.space.apart(at.w, q, f"{f} = sum alpha_i {y}{x}"),
            products(f"alpha_i (rho - xi_i - {y}z_i) = 0", alpha * (at.level - slack - margins)),
            products("(s_i - alpha_i) xi_i = 0", (self.limits - alpha) * slack),
        ]

    @property
    def _has_classes(self) -> bool:
        return bool(self.y.min() < 0.0)

    @cached_property
    def is_endless(self) -> bool:
        """Whether no alpha has the sums: rho and b may grow for ever."""
        return self.nu > 0.0 and short_class(self.nu, self.limits, self.y) is not None

    @cached_property
    def null(self) -> float:
        """The size of P from the data alone: (nu S)^2 / 2 times the mean of K_ii.

        With classes there is a b, and K is that about the mean: P is the same wherever 0 is.
        """
        size = self._spread() if self._has_classes else float(self.space.diagonal.mean())
        return 0.5 * self.total * (self.total * size)

    def _spread(self) -> float:
        """The mean of |k(x_i, .) - m|^2, m their mean, by weights; not more but for rounding."""
        space, s, total = self.space, self.limits, float(self.limits.sum())
        share = gamma(2 * s.size + 8)
        square = space.square(space.of(s)) / total
        lost = float(s @ (share * space.diagonal + (1.0 + share) * space.diagonal_error))
        lost += space.error_of(s) / total + share * square
        return max((float(s @ space.diagonal) - square - lost) / total, 0.0)

    def facts(self, at: HeldPoint, primal: float, found: DualBound) -> dict[str, Any]:
        words = {"reason": ENDLESS * self.is_endless, "unproved": UNPROVED * (not self.is_exact)}
        return {"null": self.null, **words}

    def certify(self, x: Any, *given: Array | None, tol: float, passed: bool) -> Certificate:
        return self.space.told(super().certify(x, *given, tol=tol, passed=passed))


@dataclass(frozen=True)
class NuPart:
    """One problem with nu, a point to judge, and a tighter fit where it is asked for."""

    program: NuProgram
    point: HeldPoint
    again: Again
    name: str = ""

    @property
    def value(self) -> float:
        """P at the fitted point."""
        return self.program.cost(self.point)

    def certify(self, tol: float) -> Certificate:
        """Judge the point by its own dual point, or that of a tighter fit where this is better."""
        program, found = self.program, self.judged(tol, self.point.q)
        if found.verdict is Verdict.CERTIFIED:
            return found.but(dual_source="solver")
        if program.is_endless:
            return found
        other = self.again()
        found = min(found, self.judged(tol, other.q), key=lambda each: each.gap)
        nothing = HeldPoint(program.space.of(np.zeros_like(other.q)), 0.0, 0.0, other.q)
        best = min(other, nothing, key=program.cost)
        value, lost = program.cost(best), program.value_rounding(best)
        witness = {"w": best.w, "b": best.b, "level": best.level, "objective": value}
        return refuted(found, value, witness, lost + program.bound(-other.q).rounding)

    def judged(self, tol: float, q: Array) -> Certificate:
        """Judge the point by the dual point near to q."""
        u = -self.program.feasible(q)
        return self.program.certify(self.point, u, tol=tol, passed=False)


# The certificate of a regression whose tube is as wide as nu makes it: see ``nu``.


class TubeProgram(NuProgram):
    """NuSVR: the limits are C s, margins are -|r_i|, and rho is -epsilon."""

    sign = -1.0

    def residuals(self, at: HeldPoint) -> Array:
        """y_i - f(x_i) - b."""
        return np.asarray(self.targets - self.space.scores(at.w) - at.b)

    def margins(self, at: HeldPoint) -> Array:
        return -np.abs(self.residuals(at))

    def constraints(self, at: HeldPoint) -> list[Limit]:
        return []

    def feasible(self, q: Array) -> Array:
        """Both signs with the same sum, at most half of C nu S."""
        up, down = np.clip(q, 0.0, self.limits), np.clip(-q, 0.0, self.limits)
        share = min(float(up.sum()), float(down.sum()), 0.5 * self.total)
        return summing_to(share, up, self.limits) - summing_to(share, down, self.limits)

    def dual_rows(self, q: Array) -> list[Condition]:
        """The conditions on q alone; it was moved into the first."""
        kind, total = "dual_feasibility", float(np.abs(q).sum()) or 1.0
        return [
            Condition("|q_i| <= C s_i, sum |q_i| <= C nu sum s_i", kind, 0.0),
            worst("sum q_i = 0", kind, q.sum(), total),
        ]

    def beside(
        self, at: HeldPoint, away: Sequence[Array], dual: Sequence[Array], found: DualBound
    ) -> tuple[float, list[Condition]]:
        q, r, excess = -dual[0], self.residuals(at), self.slacks(at)[0]
        size = np.abs(q)
        return abs(fsum(q)) * abs(at.b), [
            self.space.apart(at.w, q, "w = sum q_i x_i"),
            products("q_i r_i = |q_i| (epsilon + xi_i)", size * (at.level + excess) - q * r),
            products("(C s_i - |q_i|) xi_i = 0", (self.limits - size) * excess),
            products(
                "epsilon (C nu sum s_i - sum |q_i|) = 0", at.level * (self.total - size.sum())
            ),
        ]

    @cached_property
    def null(self) -> float:
        """P at w = 0, with b the median of y."""
        return float(self.limits @ np.abs(self.targets - float(np.median(self.targets))))

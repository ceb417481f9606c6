"""The l1 trend filter: piecewise polynomials by a penalty on differences."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.polynomial import legendre

from ..certificates.scale import learning_scale, relative
from ..certificates.shape import Trend
from ..errors import InputError
from ..numerics import Array
from ..solvers.dual.banded_box import inner_points
from ..validation import finite_array, nonnegative_integer, nonnegative_number
from .arrays import Arrays, SumProblem
from .base import Hyperparameter
from .inputs import refuse_squares
from .latex import Latex, such_that
from .pictures.answers import draw_curve
from .solution import Solution


class TrendFilter(SumProblem):
    r"""Minimise mean (y - w)^2 / 2 + lam sum_i abs((A w)_i), A the (order + 1)-th differences.

    Parameters
    ----------
    y : array, shape (n,)
        A signal at equal distances, n > order + 1.
    lam : float
        Strength >= 0.
    order : int
        Of the polynomials between knots: 0 for constants (total variation), 1 for lines.

    Raises
    ------
    InputError
        For NaN or infinite entries, too few of them, bad lam or order, and y whose squares are
        beyond float64.

    Notes
    -----
    L = mean (y - w)^2 / 2 + s'Aw with abs(s_i) <= lam: every such "s" (n - order - 1,) is dual
    feasible, w = y - n A's at the optimum, and the gap is a sum of terms >= 0, computed as such.
    Gaps are measured on max(|P|, |D|, 1e-6 P_0), P_0 = mean (y - mean y)^2 / 2 of the mean alone.
    At ``lam_max`` and above w is the polynomial of the degree ``order`` that fits best.

    References
    ----------
    Kim, Koh, Boyd and Gorinevsky, *l1 trend filtering*, SIAM Review 51 (2009),
    https://doi.org/10.1137/070690274.
    """

    methods: ClassVar[tuple[str, ...]] = ("interior_point",)
    why: ClassVar[str] = "its dual is a banded quadratic over a box"
    lam = Hyperparameter()

    def __init__(self, y: Any, lam: float, order: int = 1) -> None:
        target = finite_array(y, self.name, "y")
        self._times = nonnegative_integer(order, self.name, "order") + 1
        if target.ndim != 1 or target.size <= self._times:
            raise InputError(
                f"{self.name}: y must be a vector of more than order + 1 = {self._times} entries, "
                f"got shape {target.shape}. Pass a longer signal, or a lower order."
            )
        self._y, self._hyper = target, self._check(lam=lam)
        refuse_squares(self.name, "squares of y", target, self.program.null, 1e280)

    def _check(self, **hyper: Any) -> dict[str, Any]:
        return {"lam": nonnegative_number(hyper["lam"], self.name, "lam")}

    @property
    def order(self) -> int:
        """Of the polynomials between knots."""
        return self._times - 1

    @cached_property
    def program(self) -> Trend:
        """The problem as its certificate sees it."""
        return Trend(self._y, self.lam, self._times)

    def _polynomial(self) -> tuple[Array, Array]:
        """The w of large lam, and its s: residuals summed up order + 1 times."""
        if np.ptp(self._y) == 0.0:
            return self._y, np.zeros(self._y.size - self._times)
        x = np.linspace(-1.0, 1.0, self._y.size)
        centre = self._y.mean()
        fit = legendre.legfit(x, self._y - centre, self.order)
        w = centre + legendre.legval(x, fit)
        return w, self.program.summed(w)

    @property
    def lam_max(self) -> float:
        """The smallest lam for which w is one polynomial."""
        return float(np.max(np.abs(self._polynomial()[1])))

    # -- as the base asks ------------------------------------------------------------------------

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        y, n, k = self._y, self._y.size, self._times
        w, s = self._polynomial()
        self._promise = 0.0
        if np.all(np.abs(s) <= self.lam):
            yield {"w": w}, {"s": s}
            return
        if self.lam == 0.0:
            yield {"w": y}, {"s": np.zeros_like(s)}
            return
        row = np.diff(np.eye(k + 1), k, axis=0)[0]
        rows = [n * float(row[j:] @ row[: k + 1 - j]) for j in range(k + 1)]
        bands = np.outer(rows[: s.size], np.ones(s.size))
        program, null, share = self.program, self.program.null, np.inf
        for inner in inner_points(bands, np.diff(y - y.mean(), k), self.lam):
            w = y + n * program.completed([inner])[0][0]
            before, share = share, self._share(program, w, inner, null)
            # Where it no longer falls rounding has been reached, and each point is judged.
            self._promise = share if share < before else 0.0
            yield {"w": w}, {"s": inner}

    def _share(self, program: Trend, w: Array, s: Array, null: float) -> float:
        """The relative gap lam |Aw|_1 - s'Aw of w = y - n A's, but for rounding."""
        z, rest = np.diff(w, self._times), self._y - w
        size = self.lam * float(np.abs(z).sum())
        primal, gap = 0.5 * float(rest @ rest) / rest.size + size, size - float(s @ z)
        return relative(gap, learning_scale(primal, primal - gap, null))

    def draw(self, axes: Any, solution: Solution) -> None:
        """The targets in their order, and w."""
        words = f"differences of order {self._times} are penalised"
        draw_curve(axes, np.arange(self._y.size), self._y, solution.primal["w"], words)

    # -- stored, told in LaTeX -------------------------------------------------------------------

    def _formulas(self) -> Latex:
        fit = r"\tfrac{1}{2n} \|y - w\|_2^2"
        box = r"|s_i| \le \lambda"
        return Latex(
            rf"\min_{{w, z}}\ {fit} + \lambda \|z\|_1" + such_that("A w = z"),
            rf"{fit} + \lambda \|z\|_1 + s^\top (A w - z)",
            r"\max_s\ s^\top A y - \tfrac{n}{2} \|A^\top s\|_2^2" + such_that(box),
            (
                r"\tfrac1n (w - y) + A^\top s = 0",
                box,
                r"\lambda |(A w)_i| = s_i (A w)_i",
                "A w = z",
            ),
            rf"(A w)_i = \text{{differences of order }} {self.order + 1}",
            over=("w", "z"),
        )

    def __repr__(self) -> str:
        return f"{self.name}({self._y.size} samples, lam={self.lam:g}, order={self.order})"

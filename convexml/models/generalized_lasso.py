"""The generalized lasso: least squares with an l1 penalty on combinations of coefficients."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
from numpy.polynomial import legendre
from scipy import sparse

from ..certificates import Certificate
from ..certificates.generalized_lasso import Generalized, with_ones
from ..certificates.scale import learning_scale, relative
from ..certificates.shape import Trend
from ..errors import InputError
from ..formulas import Terms, Weights, listed
from ..modelling import cp
from ..numerics import LEAST_SQUARE, Array
from ..problem import Statement
from ..solvers.dual.combinations import BandedBox, combination_steps, inner_points
from ..solvers.exact import smallest_box, without_combinations
from ..validation import finite_array, nonnegative_integer, nonnegative_number
from .arrays import Arrays, Shapes, SumProblem, compared
from .base import Hyperparameter
from .inputs import (
    Samples,
    read_matrix,
    refuse_lost,
)
from .latex import Latex, such_that, weights_of
from .nu import samples_from_dict, samples_to_dict
from .pictures.answers import draw_curve
from .residuals import ResidualProblem, pose_residuals, pose_residuals_dual
from .solution import Solution

# The generalized lasso as CVXPY problems and in LaTeX.


def half_squares(t: Any) -> Terms:
    """|t|^2 / 2, its own conjugate."""
    return Terms(0.5 * cp.sum_squares(t), {})


def generalized_latex(intercept: bool, weighted: bool) -> Latex:
    """Primal, Lagrangian, dual and KKT conditions."""
    c = weights_of("mean", False)
    words = rf"c_i = {c.each}"
    if weighted:  # s are multipliers
        c = Weights(r"\sum_i c_i", "c_i", "u_i / c_i")
        words = r"(i : c_i > 0),\ c_i = \text{weight of sample } i \text{ by the sum of all}"
    b, over = (r" + b\mathbf{1}", "w, b, z, v") if intercept else ("", "w, z, v")
    cost = rf"{c.total} \tfrac12 (z_i - y_i)^2 + \lambda\|v\|_1"
    rows = f"Xw{b} = z", "Aw = v"
    balance = r"\mathbf{1}^\top u = 0" if intercept else ""
    gain = rf"-{c.total} \left[\tfrac12 t_i^2 + y_i t_i\right]"
    rescaled = f"t_i = {c.inverse}"
    pull, box = r"X^\top u + A^\top s = 0", r"|s_k| \le \lambda"
    return Latex(
        rf"\min_{{{over}}}\ {cost}" + such_that(*rows),
        rf"{cost} + u^\top\left(Xw{b} - z\right) + s^\top\left(Aw - v\right)",
        rf"\max_{{u, s}}\ {gain}" + such_that(*filter(None, (rescaled, pull, box, balance))),
        tuple(
            filter(
                None,
                (
                    rf"u_i = {c.each} \left(z_i - y_i\right)",
                    pull,
                    balance,
                    box,
                    r"\lambda |(Aw)_k| = s_k (Aw)_k",
                    *rows,
                ),
            )
        ),
        listed(words, r"A = \text{combinations of coefficients, a row each}"),
        over=("z", "w", *("b" * intercept), "v"),
    )


class GeneralizedLasso(ResidualProblem):
    r"""Minimise (1/2) mean (y - X w - b)^2 + lam |A w|_1.

    Each row of A is a combination of coefficients that is to be 0: differences of neighbours on a
    graph (the fused lasso), of all pairs, contrasts. A = I is the lasso.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Real targets.
    lam : float
        Strength >= 0.
    A : array or sparse matrix, shape (m, d)
        Combinations in rows; of any rank, m may be more than d.
    fit_intercept : bool
        The intercept is not penalised.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For a negative lam, an A with other columns than X, NaN or infinite entries, wrong shapes,
        bad weights, y whose squares are beyond float64.

    Notes
    -----
    With c_i = s_i / sum s the dual maximises -(1/2) sum u_i^2 / c_i - y'u over "u" (n,) and "s"
    (m,) s.t. X'u + A's = 0, 1'u = 0 (with an intercept) and |s_k| <= lam; u_i = c_i (x_i'w + b -
    y_i) at the optimum, and lam |(A w)_k| = s_k (A w)_k. From ``lam_max`` on A w = 0, to the
    rounding of A. Dual points that leave a residual are moved by as little as removes it, at a
    price. Where columns of X and A together depend up to rounding only, no bound is known.

    References
    ----------
    Tibshirani and Taylor, *The solution path of the generalized lasso*, Annals of Statistics 39
    (2011), https://doi.org/10.1214/11-AOS878.
    """

    methods: ClassVar[tuple[str, ...]] = ("interior_point",)
    why: ClassVar[str] = "its dual is a quadratic over a box"
    _dual_names = ("u", "s")
    _of_features = ("s",)

    def __init__(
        self,
        X: Any,
        y: Any,
        lam: float,
        A: Any,
        *,
        fit_intercept: bool = True,
        sample_weight: Any = None,
    ) -> None:
        self._A = read_matrix(self.name, A, "A")
        refuse_lost(self.name, self._A, "A")
        super().__init__(X, y, lam, fit_intercept=fit_intercept, sample_weight=sample_weight)
        d = self._samples.X.shape[1]
        if self._A.shape[1] != d:
            shape = f"A must have one column per feature ({d}), got shape {self._A.shape}."
            raise InputError(f"{self.name}: {shape} Its rows are combinations of coefficients.")

    def _compose(self, samples: Samples, intercept: bool) -> None:
        super()._compose(samples, intercept)
        self.__dict__.pop("program", None)

    def _check(self, **hyper: Any) -> dict[str, Any]:
        self.__dict__.pop("program", None)
        return super()._check(**hyper)

    @cached_property
    def program(self) -> Generalized:
        """The problem as its certificate sees it."""
        it = self.residuals
        X, A = it.design.constant, self._A
        X, A = with_ones(X, A) if it.fit_intercept else (X, A)
        return Generalized(X, A, it.y, it.c, self.lam, it.fit_intercept)

    @property
    def lam_max(self) -> float:
        """The smallest lam with A w = 0, to the rounding of A; InputError if that is not solved."""
        program = replace(self.program, lam=float(np.sqrt(self.program.null)) or 1.0)  # of any lam
        found = without_combinations(program.stack, program.side)
        if found is None:
            raise InputError(f"{self.name}.lam_max: {program.unknown or 'A w = 0 is not solved.'}")
        return float(np.max(np.abs(smallest_box(program.stack.A, found[1])), initial=0.0))

    # -- as the base asks ------------------------------------------------------------------------

    def shapes(self) -> tuple[Shapes, Shapes]:
        point, dual = super().shapes()
        return point, {**dual, "s": (int(self._A.shape[0]),)}

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        for w, s, promise in combination_steps(self.program):
            self._promise = promise
            w, b = (w[:-1], w[-1]) if self.residuals.fit_intercept else (w, 0.0)
            yield {"w": w, "b": np.array(b)}, {"s": s}

    # -- posed with CVXPY, stored, told in LaTeX -------------------------------------------------

    def _pose(self) -> Statement:
        return pose_residuals(self.residuals, half_squares, self.lam, self._A)

    def _pose_dual(self) -> Statement:
        return pose_residuals_dual(self.residuals, half_squares, self.lam, self._A)

    def _read_duals(self) -> Arrays:
        u, s = (self.constraints[name].dual_value for name in ("prediction", "combinations"))
        return {} if u is None or s is None else self._whole({"u": np.array(u), "s": np.array(s)})

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        z = self.residuals.design.matvec(point["w"]) + point["b"]
        values = {**point, "z": z, "v": self._A @ point["w"]}
        known = {name: value for name, value in values.items() if name in self.variables}
        kept = self._kept(dual)
        return known, {"prediction": kept["u"], "combinations": kept["s"]}

    def to_dict(self) -> dict[str, Any]:
        A = self._A.toarray() if sparse.issparse(self._A) else self._A
        own = {"lam": self.lam, "A": A.tolist(), "fit_intercept": self.residuals.fit_intercept}
        own["y"] = self._samples.y.tolist()
        return {"kind": self.name, **samples_to_dict(self._samples, None), **own}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> GeneralizedLasso:
        """Pose the problem again that ``to_dict`` described; dropped rows have weight 0."""
        (X, y), _, s = samples_from_dict(stored)
        named = {"fit_intercept": stored["fit_intercept"], "sample_weight": s}
        return cls(X, y, stored["lam"], stored["A"], **named)

    def _formulas(self) -> Latex:
        return generalized_latex(self.residuals.fit_intercept, self._samples.weighted)

    def __repr__(self) -> str:
        (n, d), m = self._samples.X.shape, self._A.shape[0]
        return f"{self.name}(n={n}, d={d}, {m} combinations, lam={self.lam!r})"


# The l1 trend filter: piecewise polynomials by a penalty on differences.


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
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            null = self.program.null
        if not (LEAST_SQUARE < null < 1e280 or np.ptp(target) == 0.0):
            raise InputError(
                f"{self.name}: squares of y are beyond float64 (entries up to "
                f"{np.max(np.abs(target)):g}); change its unit."
            )

    def _check(self, **hyper: Any) -> dict[str, Any]:
        self.__dict__.pop("program", None)
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
        return w, self._summed(w)

    def _summed(self, w: Array) -> Array:
        """The s of w, as if it were optimal."""
        s = (self._y - w) / self._y.size
        for _ in range(self._times):
            s = -np.cumsum(s)[:-1]
        return s

    @property
    def lam_max(self) -> float:
        """The smallest lam for which w is one polynomial."""
        return float(np.max(np.abs(self._polynomial()[1])))

    # -- as the base asks ------------------------------------------------------------------------

    def _judge(self, point: Arrays, dual: Arrays, tol: float, *, search: bool) -> Certificate:
        w, program = point["w"], self.program
        if "s" in dual:
            found = program.certify(w, dual["s"], tol, passed=True)
        else:
            s = np.clip(self._summed(w), -self.lam, self.lam)
            found = program.certify(w, s, tol, passed=False)
        if not search:
            return found
        return compared(
            found,
            w,
            ((point["w"], own["s"]) for point, own in self._iterates("interior_point")),
            partial(program.certify, passed=False),
            program.value_rounding,
            lambda better: {"w": better},
            with_own="s" not in dual,
        )

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
        box = BandedBox(bands, np.diff(y - y.mean(), k))
        for inner in inner_points(box, s.size, self.lam):
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

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.name, "y": self._y.tolist(), "lam": self.lam, "order": self.order}

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

"""The Dantzig selector, the square-root and the generalized lasso: one term as a whole."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from ..certificates import Certificate
from ..certificates.generalized_lasso import Generalized, with_ones
from ..certificates.judge import Better
from ..certificates.residuals import Correlations, Dantzig, SquareRoot, in_balance, push
from ..data.columns import match_coefficients
from ..deadline import seconds_left
from ..errors import InputError
from ..formulas import Terms, Weights, constant, listed
from ..losses import Squared
from ..modelling import cp
from ..numerics import Array
from ..penalties import Zero
from ..problem import Objective, Statement
from ..problem.residuals import RegressionSamples
from ..problem.terms import Pair
from ..solvers.dual.combinations import combination_steps
from ..solvers.exact import Fit, Selection, scaled_lasso, smallest_box, without_combinations
from ..validation import nonnegative_number, yes_or_no
from .arrays import Arrays, SampledProblem, Shapes
from .base import Hyperparameter
from .cross_validation import CrossValidated
from .inputs import (
    Samples,
    expand,
    read_coefficients,
    read_dual,
    read_matrix,
    read_samples,
    refuse_lost,
    refuse_squares,
)
from .latex import KEPT, Latex, such_that, weights_of
from .prediction import Predictor
from .regression import Lasso, LeastSquares


class ResidualProblem(CrossValidated, Predictor, SampledProblem):
    """A regression in (w, b) with a strength lam, whose dual point has a name of its own."""

    lam = Hyperparameter()
    classes: Array | None = None
    _dual_names: ClassVar[tuple[str, ...]] = ("u",)
    _of_features: ClassVar[tuple[str, ...]] = ()
    """Those of them that have no entry per sample."""
    _parts: ClassVar[tuple[Any, Any, str]] = Squared(), Zero(), "mean"
    _kernel: Any = None
    _samples: Samples

    def __init__(
        self, X: Any, y: Any, lam: float, *, fit_intercept: bool = True, sample_weight: Any = None
    ) -> None:
        intercept = yes_or_no(fit_intercept, self.name, "fit_intercept")
        self._hyper = self._check(lam=lam)
        samples = read_samples(self.name, X, y, sample_weight, "real")
        self._compose(samples, intercept)
        null = self.residuals.spread
        refuse_squares(self.name, "squares of y", samples.y, null * null, 1e280)

    def _compose(self, samples: Samples, intercept: bool) -> None:
        self._samples = samples
        c = samples.weights / math.fsum(samples.weights.tolist())
        if not np.all(c > 0.0):
            k = int(np.argmin(c > 0.0))
            raise InputError(
                f"{self.name}: a sample_weight of {samples.weights[k]:g} is 0 as its share of the "
                "sum; bring the weights nearer to 1."
            )
        self.residuals = RegressionSamples(samples.design, samples.y, c, intercept)
        for name in list(vars(self)):  # what was derived from other samples
            if isinstance(getattr(type(self), name, None), cached_property):
                del vars(self)[name]

    residuals: RegressionSamples
    """The samples, as residuals see them."""

    def _check(self, **hyper: Any) -> dict[str, Any]:
        return {"lam": nonnegative_number(hyper["lam"], self.name, "lam")}

    @property
    def sample_parts(self) -> Objective:
        """The samples with the loss that they are scored by, and whether there is an intercept."""
        it, names = self.residuals, tuple(self._samples.feature_names or ())
        return Objective(it.design, it.y, Squared(), Zero(), it.c, it.fit_intercept, names)

    # -- solved and judged -----------------------------------------------------------------------

    def certify(self, *point: Any, tol: float = 1e-6, **arrays: Any) -> Certificate:
        """Judge a point, whoever computed it: (w, b, dual point), by position or by name.

        Parameters
        ----------
        *point : array
            w, shape (d,); b, the intercept, judged as it is, the best one for this w where None or
            absent; and the arrays of the dual point, in the order of ``Solution.dual``, judged as
            they are, constructed where None or absent.
        tol : float
            For the relative gap and the feasibilities, relative to their rows.
        **arrays
            The same by name: the dual point is "u", shape (n,), with "s", shape (m,), of
            ``GeneralizedLasso``, or "v", shape (d,), of ``DantzigSelector``.

        Returns
        -------
        Certificate
            Claim "optimal".
        """
        found = self._by_name("certify", ("w", "b", *self._dual_names), point, arrays)
        self._samples.refuse_changed(self.name)
        return super().certify(tol=tol, **found)

    def objective(self, *point: Any, **arrays: Any) -> float:
        """P(w, b), b = 0 unless passed and the best one for None; inf where it is infeasible."""
        at = dict(zip(("w", "b"), point, strict=False)) | arrays
        beside = {} if "b" in at else {"b": 0.0}
        return super().objective(**self._by_name("objective", ("w", "b"), point, arrays), **beside)

    def _by_name(
        self, method: str, names: tuple[str, ...], point: tuple[Any, ...], arrays: dict[str, Any]
    ) -> dict[str, Any]:
        """What was passed by position or by name, but for None."""
        taken = [name for name, _ in zip(names, point, strict=False) if name in arrays]
        if taken or len(point) > len(names):
            wrong = f"{taken[0]!r} is passed twice" if taken else f"got {len(point)} arrays"
            raise InputError(f"{self.name}.{method}: {wrong}; it takes {', '.join(names)}.")
        found = dict(zip(names, point, strict=False)) | arrays
        return {name: value for name, value in found.items() if value is not None}

    def _arrays(
        self,
        method: str,
        given: tuple[Any, ...],
        arrays: Mapping[str, Any],
        shapes: Shapes,
        needed: tuple[str, ...] = (),
    ) -> Arrays:
        """Told in words of samples and features, where they are arrays of these."""
        found = self._by_name(method, tuple(shapes), given, dict(arrays))
        if "w" in found:
            w = match_coefficients(self.name, found["w"], self._samples.feature_names)
            found["w"], b = read_coefficients(self.name, w, found.get("b"), self.sample_parts)
            found |= {} if b is None else {"b": b}
        for name in self._whole_names & found.keys():
            found[name] = expand(
                read_dual(self.name, found[name], self._samples, name), self._samples
            )
        return super()._arrays(method, (), found, shapes, needed)

    @property
    def _whole_names(self) -> set[str]:
        """The dual arrays with an entry per sample."""
        return set(self._dual_names) - set(self._of_features)

    # -- as the base asks ------------------------------------------------------------------------

    def shapes(self) -> tuple[Shapes, Shapes]:
        d, n = self._samples.design.shape[1], self._samples.total
        sizes = {name: n if name in self._whole_names else d for name in self._dual_names}
        return {"w": (d,), "b": ()}, {name: (size,) for name, size in sizes.items()}

    def _complete(self, point: Arrays) -> Arrays:
        if "w" not in point or "b" in point:
            return point
        return self._with_best(point["w"])

    def _with_best(self, w: Array) -> Arrays:
        return {"w": w, "b": np.array(self.residuals.best_intercept(w))}

    def _kept(self, dual: Arrays) -> Arrays:
        """On the rows that are kept."""
        return {
            name: value[self._samples.kept] if name in self._whole_names else value
            for name, value in dual.items()
        }

    def _whole(self, dual: Arrays) -> Arrays:
        """On all rows."""
        return {
            name: expand(value, self._samples) if name in self._whole_names else value
            for name, value in dual.items()
        }

    def _taken(self, point: Arrays) -> tuple[Any, ...]:
        return ((point["w"], float(point["b"])),)

    def _dual_value(self, dual: Arrays) -> float:
        kept = self._kept(dual)
        return float(self.program.dual_value(*(kept[name] for name in self._dual_names)))

    def _judge_by(self, point: Arrays, dual: Arrays, tol: float, *, passed: bool) -> Certificate:
        found = self.program.certify(*self._taken(point), self._kept(dual), tol)
        found = found.but(dual=self._whole(found.dual))
        found = found if passed else found.but(dual_source="constructed")
        names = self._samples.feature_names
        if names is None:
            return found
        return found.but(conditions=tuple(row.of_columns(names) for row in found.conditions))

    # -- posed with CVXPY, stored ----------------------------------------------------------------

    def _null_from_lam_max(self: Any, found: Arrays) -> Arrays:
        """What a solver left; w = 0 exactly from ``lam_max`` on."""
        is_null = found.get("w") is not None and self.lam >= self.lam_max
        known: Arrays = self._with_best(np.zeros_like(found["w"])) if is_null else found
        return known

    def __repr__(self) -> str:
        n, d = self._samples.design.shape
        return f"{self.name}(n={n}, d={d}, lam={self.lam!r})"


# Penalised residuals as CVXPY problems.


Expressed = Callable[[Any], Terms]


def scores_of(
    samples: RegressionSamples, w: Any, variables: dict[str, Any], shift: str = "b"
) -> Any:
    """X w + b; b is a variable by the name ``shift``, where there is an intercept."""
    scores = constant(samples.design.constant, "X") @ w
    if samples.fit_intercept:
        variables[shift] = cp.Variable(name=shift)
        scores = scores + variables[shift]
    return scores


def pose_residuals(
    samples: RegressionSamples, size: Expressed, strength: float, A: Any = None
) -> Statement:
    """Minimise f(sqrt(c) (z - y)) + lam |w|_1 s.t. X w + b = z (u); lam |v|_1 with A w = v (s).

    ``size`` is the expression of f.
    """
    lam = cp.Parameter(name="lam", nonneg=True, value=strength)
    w, z = cp.Variable(samples.design.shape[1], name="w"), cp.Variable(len(samples.y), name="z")
    variables, penalised = {"w": w, "z": z}, w
    constraints = {"prediction": scores_of(samples, w, variables) == z}
    if A is not None:
        variables["v"] = penalised = cp.Variable(A.shape[0], name="v")
        constraints["combinations"] = constant(A, "A") @ w == penalised
    c = constant(samples.roots, "sqrt(c)")
    fit = size(cp.multiply(c, z - constant(samples.y, "y"))).value
    goal = cp.Minimize(fit + lam * cp.norm1(penalised))
    return Statement.of(goal, variables, constraints, {"lam": lam})


def pose_residuals_dual(
    samples: RegressionSamples, conjugate: Expressed, strength: float, A: Any = None
) -> Statement:
    """Maximise -y'u - f*(u / sqrt(c)) s.t. |x_j'u| <= lam, or X'u + A's = 0 with |s_k| <= lam.

    Its multipliers are the primal solution: -b of ``intercept``, -w of ``stationarity``, |w_j| of
    ``correlation``, |(A w)_k| of ``box``, f of ``ball``.
    """
    lam = cp.Parameter(name="lam", nonneg=True, value=strength)
    variables = {"u": (u := cp.Variable(len(samples.y), name="u"))}
    push = constant(samples.design.constant, "X").T @ u
    if A is None:
        constraints = {"correlation": cp.abs(push) <= lam}
    else:
        variables["s"] = s = cp.Variable(A.shape[0], name="s")
        pull = push + constant(A, "A").T @ s
        constraints = {"stationarity": pull == 0.0, "box": cp.abs(s) <= lam}
    fit = conjugate(cp.multiply(1.0 / constant(samples.roots, "sqrt(c)"), u))
    constraints |= fit.constraints
    if samples.fit_intercept:
        constraints["intercept"] = cp.sum(u) == 0.0
    goal = cp.Maximize(-fit.value - constant(samples.y, "y") @ u)
    return Statement.of(goal, variables, constraints, {"lam": lam})


# The Dantzig selector as CVXPY problems, and in LaTeX.


def pose_dantzig(samples: RegressionSamples, strength: float) -> Statement:
    """Minimise |w|_1 s.t. y - X w - b = r, -lam <= X'C r <= lam, c'r = 0.

    v is the multiplier of ``upper`` less that of ``lower``.
    """
    lam = cp.Parameter(name="lam", nonneg=True, value=strength)
    X, c = constant(samples.design.constant, "X"), constant(samples.c, "c")
    w, r = cp.Variable(samples.design.shape[1], name="w"), cp.Variable(len(samples.y), name="r")
    variables = {"w": w, "r": r}
    prediction = scores_of(samples, w, variables)
    rows = X.T @ cp.multiply(c, r)
    constraints = {
        "residual": constant(samples.y, "y") - prediction == r,
        "upper": rows <= lam,
        "lower": -rows <= lam,
    }
    if samples.fit_intercept:
        constraints["balance"] = c @ r == 0.0
    return Statement.of(cp.Minimize(cp.norm1(w)), variables, constraints, {"lam": lam})


def pose_dantzig_dual(samples: RegressionSamples, strength: float) -> Statement:
    """Maximise y'Cq - lam |v|_1 s.t. X v + v_0 = q, -1 <= X'C q <= 1, c'q = 0.

    w is the multiplier of ``upper`` less that of ``lower``, b that of ``balance``.
    """
    lam = cp.Parameter(name="lam", nonneg=True, value=strength)
    X, c = constant(samples.design.constant, "X"), constant(samples.c, "c")
    v, q = cp.Variable(samples.design.shape[1], name="v"), cp.Variable(len(samples.y), name="q")
    variables = {"v": v, "q": q}
    scores = scores_of(samples, v, variables, "v_0")
    across = X.T @ cp.multiply(c, q)
    constraints = {"scores": scores == q, "upper": across <= 1.0, "lower": -across <= 1.0}
    if samples.fit_intercept:
        constraints["balance"] = c @ q == 0.0
    gain = cp.multiply(c, constant(samples.y, "y")) @ q
    return Statement.of(
        cp.Maximize(gain - lam * cp.norm1(v)), variables, constraints, {"lam": lam}, ("q",)
    )


def dantzig_latex(intercept: bool, weighted: bool) -> Latex:
    """Primal, Lagrangian, dual and KKT conditions."""
    C = r"\operatorname{diag}(s) / \textstyle\sum_l s_l" if weighted else r"\tfrac1n I"
    b, v_0 = (r" - b\mathbf{1}", r" + v_0\mathbf{1}") if intercept else ("", "")
    row, total = f"r = y - Xw{b}", r"\mathbf{1}^\top C r = 0" if intercept else ""
    box = r"\|X^\top C r\|_\infty \le \lambda"
    score, mean = f"q = Xv{v_0}", r"\mathbf{1}^\top C q = 0" if intercept else ""
    ball = r"\|X^\top C q\|_\infty \le 1"
    over, scores = ("w, b", "v, v_0") if intercept else ("w", "v")
    shift = r" + v_0 \mathbf{1}^\top C r" if intercept else ""
    return Latex(
        rf"\min_{{{over}}}\ \|w\|_1" + such_that(box, total, row, f"C = {C}"),
        rf"\|w\|_1 + v^\top X^\top C r{shift} - \lambda\|v\|_1",
        rf"\max_{{{scores}}}\ y^\top C q - \lambda\|v\|_1" + such_that(ball, mean, score),
        (
            r"X^\top C q \in \partial \left[\|w\|_1\right]",
            r"X^\top C r \in \partial \left[\lambda\|v\|_1\right]",
            *filter(None, (box, total, mean)),
        ),
        r"m_j = \mathbf{1}^\top C x_j" if intercept else "",
        eliminated=score,
        over=("w", *("b" * intercept)),
    )


# The Dantzig selector, a linear program.


class DantzigSelector(ResidualProblem):
    r"""Minimise |w|_1 s.t. |sum_i c_i x_ij (y_i - x_i.w - b)| <= lam for every j.

    c_i = s_i / sum s, 1/n without weights. No intercept by default; with one, sum_i c_i (y_i -
    x_i.w - b) = 0 too. The solution of the lasso of the same lam meets these constraints.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Real targets.
    lam : float
        The largest correlation of a column with the residuals, >= 0, in units of X y.
    fit_intercept : bool
        Whether b is free; else b = 0.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For a negative lam, NaN or infinite entries, wrong shapes, bad weights, and y whose squares
        are beyond float64.

    Notes
    -----
    The dual maximises y'Cq - lam |v|_1 s.t. |X'Cq| <= 1, q = X v + v_0 1 with 1'Cq = 0 (q = X v
    without intercept). KKT: x_j'Cq = sign(w_j) where w_j is not 0, x_j'C(y - X w - b) =
    lam sign(v_j) where v_j is not 0. Least squares solutions are feasible: it always has an
    optimum. w = 0 exactly for lam >= ``lam_max``. "auto" solves the linear program of few columns
    by HiGHS, and lets those enter that it misses; the certificate asks all. Gaps are measured on
    max(|P|, |D|, 1e-3 size), size the geometric mean of |y| / |x_j|.

    References
    ----------
    Candes and Tao, *The Dantzig selector: statistical estimation when p is much larger than n*,
    Annals of Statistics 35 (2007), https://doi.org/10.1214/009053606000001523.
    """

    methods: ClassVar[tuple[str, ...]] = ("highs",)
    why: ClassVar[str] = "it is a linear program, and few columns of many are needed"
    _dual_names = ("v",)
    _of_features = ("v",)

    def __init__(
        self, X: Any, y: Any, lam: float, *, fit_intercept: bool = False, sample_weight: Any = None
    ) -> None:
        super().__init__(X, y, lam, fit_intercept=fit_intercept, sample_weight=sample_weight)

    @cached_property
    def _correlations(self) -> Correlations:
        return Correlations(self.residuals)

    @property
    def program(self) -> Dantzig:
        """The problem as its certificate sees it."""
        return Dantzig(self._correlations, self.lam)

    @property
    def lam_max(self) -> float:
        """The smallest lam for which w = 0."""
        it = self._correlations
        found, lost = it.against(it.targets, 0.0 * it.targets)
        return float(np.max(np.abs(found) + lost))

    # -- as the base asks ------------------------------------------------------------------------

    def _better(self, found: Certificate, point: Arrays) -> Better | None:
        """The last step, where its program was solved; what it violates has its price."""
        best, own = list(self._iterates("highs"))[-1]
        judged = self._judge_by(best, own, found.tol, passed=False)
        rows = [row for row in judged.conditions if row.kind == "primal_feasibility"]
        if self._promise > 0.0 or not all(row.meets(found.tol) for row in rows):
            return None
        near = self._scaled(own["v"], 1.0)
        ends = (self._taken(each)[0] for each in (best, point))
        lost = sum(self.program.value_rounding(each, near) for each in ends)
        again = partial(self._judge_by, point, own, found.tol, passed=False)
        return Better(best, judged.primal_objective, lost, again)

    def _scaled(self, v: Array, most: float = np.inf) -> list[Pair]:
        return self.program.shrunk(self.program.completed([v]), most)

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        if self.lam >= self.lam_max:
            zero = np.zeros(self._samples.design.shape[1])
            self._promise = 0.0
            yield self._with_best(zero), {"v": zero}
            return
        for w, v, is_last in Selection(self.program).rounds():
            self._promise = 0.0 if is_last else np.inf
            yield self._with_best(w), {"v": self._scaled(v)[1][0]}

    # -- posed with CVXPY, told in LaTeX ---------------------------------------------------------

    def _pose(self) -> Statement:
        return pose_dantzig(self.residuals, self.lam)

    def _pose_dual(self) -> Statement:
        return pose_dantzig_dual(self.residuals, self.lam)

    def _read_point(self) -> Arrays:
        return self._null_from_lam_max(super()._read_point())

    def _read_duals(self) -> Arrays:
        """The multipliers that a solver left, moved to where they are feasible."""
        held = [self.constraints[label].dual_value for label in ("upper", "lower")]
        if any(each is None or not np.all(np.isfinite(each)) for each in held):
            return {}
        return {"v": self._scaled(np.ravel(held[0] - held[1]))[1][0]}

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        it, v = self.residuals, dual["v"]
        r = it.y - it.design.matvec(point["w"]) - point["b"]
        q, _, shift, _ = self._correlations.scores(v)
        held = {"upper": np.maximum(v, 0.0), "lower": np.maximum(-v, 0.0), "residual": it.c * q}
        if it.fit_intercept:
            held["balance"] = np.array(shift - self._correlations.middle @ v)
        return {**point, "r": r}, held

    def _formulas(self) -> Latex:
        return dantzig_latex(self.residuals.fit_intercept, self._samples.weighted)


# The square-root lasso as CVXPY problems, and in LaTeX.


def root(t: Any) -> Terms:
    """|t|."""
    return Terms(cp.norm(t, 2), {})


def ball(t: Any) -> Terms:
    """Its conjugate."""
    return Terms(cp.Constant(0.0), {"ball": cp.norm(t, 2) <= 1.0})


def square_root_latex(intercept: bool, weighted: bool) -> Latex:
    """Primal, Lagrangian, dual and KKT conditions."""
    c = weights_of("mean", weighted)
    b, over = (r" + b\mathbf{1}", "w, b, z") if intercept else ("", "w, z")
    size, norm = rf"\sqrt{{{c.total} (z_i - y_i)^2}}", r"\lambda\|w\|_1"
    balance = r"\mathbf{1}^\top u = 0" if intercept else ""
    ball, box = rf"{c.total} v_i^2 \le 1", r"\|X^\top u\|_\infty \le \lambda"
    row = f"Xw{b} = z"
    return Latex(
        rf"\min_{{{over}}}\ {size} + {norm}" + such_that(row),
        rf"{size} + {norm} + u^\top\left(Xw{b} - z\right)",
        r"\max_u\ -y^\top u" + such_that(f"v_i = {c.inverse}", ball, box, balance),
        (
            rf"u \in \partial_z {size}",
            rf"-X^\top u \in \partial \left[{norm}\right]",
            *filter(None, (balance, row)),
        ),
        listed(weighted * KEPT, f"c_i = {c.each}", rf"\sigma = {size}"),
        over=("z", "w", *("b" * intercept)),
    )


# The square-root lasso, whose strength does not depend on the size of the noise.


CLOSE = 1e-9
"""Relative gap of the lassos on the way: enough to tell their supports."""


class SquareRootLasso(ResidualProblem):
    r"""Minimise sqrt(mean (y - X w - b)^2) + lam |w|_1.

    lam has no unit of y: the solution of t y is t w for every t > 0, so that a good lam does not
    depend on the size of the noise. Where the residuals do not vanish it is the lasso of strength
    lam sigma, sigma the size sqrt(mean r^2) of its own residuals.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Real targets.
    lam : float
        Strength, >= 0, in units of 1 / X.
    fit_intercept : bool
        The intercept is not penalised.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For a negative lam, NaN or infinite entries, wrong shapes, bad weights, and y whose squares
        are beyond float64.

    Notes
    -----
    The dual maximises -y'u s.t. |x_j'u| <= lam, sum_i u_i^2 / c_i <= 1 and 1'u = 0, with the
    weights c_i = s_i / sum s. KKT: u = -c r / sigma where sigma > 0, any such u where the fit is
    exact, and x_j'u = -lam sign(w_j) where w_j is not 0. w = 0 exactly for lam >= ``lam_max``.

    References
    ----------
    Belloni, Chernozhukov and Wang, *Square-root lasso: pivotal recovery of sparse signals via conic
    programming*, Biometrika 98 (2011), https://doi.org/10.1093/biomet/asr043.
    """

    methods: ClassVar[tuple[str, ...]] = ("scaled_lasso",)
    why: ClassVar[str] = "few lassos, each warm started, and the last support is solved exactly"

    @property
    def program(self) -> SquareRoot:
        """The problem as its certificate sees it."""
        return SquareRoot(self.residuals, self.lam)

    @property
    def lam_max(self) -> float:
        """The smallest lam for which w = 0."""
        u = in_balance(self.residuals, self.residuals.null_slopes())
        return float(np.max(np.abs(push(self.residuals, u)[0])))

    # -- as the base asks ------------------------------------------------------------------------

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        it, program = self.residuals, self.program
        zero = np.zeros(it.design.shape[1])
        best = zero, it.best_intercept(zero)
        slopes = [it.null_slopes()]
        if self.lam >= self.lam_max:
            yield self._told(*best, slopes[0] if self.lam == 0.0 else program.best_slope(slopes))
            return
        if self.lam == 0.0:
            yield self._told(*self._least_squares(), None)
            return
        for w, b, more in scaled_lasso(it, self.lam, self._fit()):
            best = min(best, (w, b), key=program.cost)
            slopes = [program.best_slope([*slopes, *more])]
            yield self._told(*best, slopes[0])

    def _told(self, w: Array, b: float, u: Array | None) -> tuple[Arrays, Arrays]:
        return {"w": w, "b": np.array(b)}, self._whole({} if u is None else {"u": u})

    def _fit(self) -> Fit:
        """The lasso of strength lam sigma, as a function of sigma, warm started."""
        lasso = self._lasso
        options: dict[str, Any] = {"tol": CLOSE, "carried": {}, "w0": None}

        def fit(sigma: float) -> tuple[Array, float, Array] | None:
            lasso.lam = self.lam * sigma
            found = lasso.solve("coordinate_descent", **options, max_seconds=_limit())
            if not {"w", "b"} <= found.primal.keys() or "u" not in found.dual:
                return None
            options["w0"] = found.primal["w"]
            return found.primal["w"], float(found.primal["b"]), found.dual["u"]

        return fit

    def _least_squares(self) -> tuple[Array, float]:
        """The solution without a penalty, of least norm."""
        s, it = self._samples, self.residuals
        posed = LeastSquares(s.X, s.y, fit_intercept=it.fit_intercept, sample_weight=s.weights)
        primal = posed.solve("newton", tol=CLOSE, max_seconds=_limit()).primal
        zero = np.zeros(it.design.shape[1])
        w = np.array(primal.get("w", zero))
        return w, float(primal.get("b", it.best_intercept(w)))

    @cached_property
    def _lasso(self) -> Lasso:
        s, it = self._samples, self.residuals
        return Lasso(s.X, s.y, 1.0, fit_intercept=it.fit_intercept, sample_weight=s.weights)

    # -- posed with CVXPY, told in LaTeX ---------------------------------------------------------

    def _pose(self) -> Statement:
        return pose_residuals(self.residuals, root, self.lam)

    def _pose_dual(self) -> Statement:
        return pose_residuals_dual(self.residuals, ball, self.lam)

    def _read_point(self) -> Arrays:
        return self._null_from_lam_max(super()._read_point())

    def _read_duals(self) -> Arrays:
        """The multipliers that a solver left, moved to where they are feasible."""
        found = self.constraints["prediction"].dual_value
        if found is None or self.lam == 0.0 or not np.all(np.isfinite(found)):
            return {}
        return self._whole({"u": self.program.best_slope([np.array(found)])})

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        z = self.residuals.design.matvec(point["w"]) + point["b"]
        return {**point, "z": z}, {"prediction": dual["u"][self._samples.kept]}

    def _formulas(self) -> Latex:
        return square_root_latex(self.residuals.fit_intercept, self._samples.weighted)


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
        kept, values = self._kept(dual), {**point, "z": z, "v": self._A @ point["w"]}
        return values, {"prediction": kept["u"], "combinations": kept["s"]}

    def _formulas(self) -> Latex:
        return generalized_latex(self.residuals.fit_intercept, self._samples.weighted)

    def __repr__(self) -> str:
        (n, d), m = self._samples.X.shape, self._A.shape[0]
        return f"{self.name}(n={n}, d={d}, {m} combinations, lam={self.lam!r})"


def _limit() -> float | None:
    """The time that a lasso on the way may take."""
    left = seconds_left()
    return None if left == np.inf else max(left, 1e-3)

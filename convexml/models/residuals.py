"""The Dantzig selector and the square-root lasso: residuals bound or penalised as a whole."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from functools import cached_property, partial
from typing import Any, ClassVar, Self, cast

import numpy as np

from ..certificates import Certificate, Verdict
from ..certificates.judge import Better, settled
from ..certificates.residuals import Correlations, Dantzig, Selection, SquareRoot, in_balance, push
from ..data.columns import match_coefficients
from ..deadline import seconds_left
from ..errors import InputError
from ..formulas import constant, listed
from ..losses import Squared
from ..numerics import LEAST_SQUARE, Array
from ..penalties import L1
from ..problem import Objective, Statement
from ..problem.residuals import RegressionSamples
from ..problem.terms import Pair
from ..solvers.exact import Fit, scaled_lasso
from ..validation import nonnegative_number, positive_number, yes_or_no
from .arrays import ArrayProblem, Arrays, Shapes
from .base import Hyperparameter
from .cross_validation import CrossValidated
from .inputs import Samples, expand, read_coefficients, read_dual, read_intercept, read_samples
from .latex import KEPT, Latex, such_that, weights_of
from .posing import learning_from_dict, learning_to_dict
from .prediction import Predictor
from .regression import Lasso, LeastSquares
from .solution import Solution


class ResidualProblem(CrossValidated, Predictor, ArrayProblem):
    """A regression in (w, b) with a strength lam, whose dual point has a name of its own."""

    lam = Hyperparameter()
    classes: Array | None = None
    _dual_name = "u"
    _dual_of_samples = True
    """Whether the dual point has an entry per sample; else per feature."""
    _kernel: Any = None
    _samples: Samples

    def __init__(
        self, X: Any, y: Any, lam: float, *, fit_intercept: bool = True, sample_weight: Any = None
    ) -> None:
        intercept = yes_or_no(fit_intercept, self.name, "fit_intercept")
        self._hyper = self._check(lam=lam)
        samples = read_samples(self.name, X, y, sample_weight, "real")
        self._compose(samples, intercept)
        null, flat = self.residuals.spread, not np.any(samples.y != self.residuals.mean)
        if not (math.sqrt(LEAST_SQUARE) < null < 1e140 or flat):
            raise InputError(
                f"{self.name}: squares of y are beyond float64 (entries up to "
                f"{np.max(np.abs(samples.y)):g}); change its unit."
            )

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

    residuals: RegressionSamples
    """The samples, as residuals see them."""

    def _check(self, **hyper: Any) -> dict[str, Any]:
        return {"lam": nonnegative_number(hyper["lam"], self.name, "lam")}

    @property
    def sample_parts(self) -> Objective:
        """The samples with the loss that they are scored by, and whether there is an intercept."""
        it, names = self.residuals, tuple(self._samples.feature_names or ())
        return Objective(it.design, it.y, Squared(), L1(self.lam), it.c, it.fit_intercept, names)

    @property
    def _parts(self) -> tuple[Any, Any, str]:
        return Squared(), L1(self.lam), "mean"

    # -- solved and judged -----------------------------------------------------------------------

    def solve(self, solver: str = "auto", **options: Any) -> Solution:
        """Solve and certify, as every problem; w0 has no effect here."""
        self._samples.refuse_changed(self.name)
        return super().solve(solver, **options)

    @abstractmethod
    def _judged(
        self, w: Array, b: float, dual: Array | None, tol: float, search: bool
    ) -> Certificate:
        """Judge (w, b) by a dual point on the rows kept, or by one that is constructed."""

    def _again(self: Any, w: Array, b: float, own: Array | None, tol: float) -> Certificate:
        """Judge (w, b) by the multipliers of a better point."""
        found: Certificate = self.program.certify(w, b, own, tol)
        return found.but(dual_source="constructed")

    def certify(self, *point: Any, tol: float = 1e-6, **arrays: Any) -> Certificate:
        """Judge a point, whoever computed it: (w, b, dual point), by position or by name.

        Parameters
        ----------
        *point : array
            w, shape (d,); b, the intercept, judged as it is, the best one for this w where None or
            absent; and the dual point, judged as it is, constructed where None or absent.
        tol : float
            For the relative gap and the feasibilities, relative to their rows.
        **arrays
            The same by name: the dual point is "u", shape (n,), or "v", shape (d,), of
            ``DantzigSelector``.

        Returns
        -------
        Certificate
            Claim "optimal".
        """
        owner, names = f"{self.name}.certify", ("w", "b", self._dual_name)
        tol = positive_number(tol, owner, "tol")
        taken = [name for name, _ in zip(names, point, strict=False) if name in arrays]
        unknown = next((name for name in arrays if name not in names), None)
        if taken or unknown is not None or len(point) > len(names):
            wrong = f"{taken[0]!r} is passed twice" if taken else f"there is no array {unknown!r}"
            wrong = wrong if taken or unknown is not None else f"got {len(point)} arrays"
            raise InputError(f"{owner}: {wrong}; it takes {', '.join(names)}.")
        found = dict(zip(names, point, strict=False)) | arrays
        if found.get("w") is None:
            raise InputError(f"{owner}: 'w' is missing; pass {', '.join(names)}.")
        w, b, dual = (found.get(name) for name in names)
        self._samples.refuse_changed(self.name)
        w = match_coefficients(self.name, w, self._samples.feature_names)
        w, b = read_coefficients(self.name, w, b, self.sample_parts)
        b = self.residuals.best_intercept(w) if b is None else b
        arrays = {} if dual is None else self._read_dual(dual)
        return self._judge({"w": w, "b": np.array(b)}, arrays, tol, search=True)

    def _read_dual(self, dual: Any) -> Arrays:
        name = self._dual_name
        if not self._dual_of_samples:
            shapes = self.shapes()[1]
            return self._arrays("certify", (dual,), {}, shapes, (name,))
        return {name: expand(read_dual(self.name, dual, self._samples), self._samples)}

    def objective(self, w: Any, b: Any = 0.0) -> float:
        """P(w, b); inf where a constraint is violated beyond rounding."""
        w = match_coefficients(self.name, w, self._samples.feature_names)
        w, b = read_coefficients(self.name, w, b, self.sample_parts)
        b = self.residuals.best_intercept(w) if b is None else b
        return self._value({"w": w, "b": np.array(b)})

    def dual_objective(self, dual: Any) -> float:
        """D at a dual point; -inf where it is infeasible beyond rounding."""
        return self._dual_value(self._read_dual(dual))

    # -- as the base asks ------------------------------------------------------------------------

    def shapes(self) -> tuple[Shapes, Shapes]:
        d, n = self._samples.design.shape[1], self._samples.total
        return {"w": (d,), "b": ()}, {self._dual_name: (n if self._dual_of_samples else d,)}

    def _complete(self, point: Arrays) -> Arrays:
        if "w" not in point or "b" in point:
            b = read_intercept(self.name, point.get("b"), self.sample_parts)
            return point if b is None else {**point, "b": np.array(b)}
        return {**point, "b": np.array(self.residuals.best_intercept(point["w"]))}

    def _judge(self, point: Arrays, dual: Arrays, tol: float, *, search: bool) -> Certificate:
        name, kept = self._dual_name, self._samples.kept
        given = dual.get(name)
        if given is not None and self._dual_of_samples:
            given = given[kept]
        found = self._judged(point["w"], float(point["b"]), given, tol, search)
        if self._dual_of_samples:
            found = found.but(dual={name: expand(found.dual[name], self._samples)})
        names = self._samples.feature_names
        if names is None:
            return found
        return found.but(conditions=tuple(row.of_columns(names) for row in found.conditions))

    def to_dict(self: Any) -> dict[str, Any]:
        return learning_to_dict(self)

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Self:
        """Pose the problem again that ``to_dict`` described; dropped rows have weight 0."""
        return cast(Self, learning_from_dict(cls, stored))

    def __repr__(self) -> str:
        n, d = self._samples.design.shape
        return f"{self.name}(n={n}, d={d}, lam={self.lam!r})"


# The Dantzig selector as CVXPY problems, and in LaTeX.


def pose_dantzig(samples: RegressionSamples, strength: float) -> Statement:
    """Minimise |w|_1 s.t. y - X w - b = r, -lam <= X'C r <= lam, c'r = 0.

    v is the multiplier of ``upper`` less that of ``lower``.
    """
    import cvxpy as cp

    lam = cp.Parameter(name="lam", nonneg=True, value=strength)
    X, c = constant(samples.design.constant, "X"), constant(samples.c, "c")
    w, r = cp.Variable(samples.design.shape[1], name="w"), cp.Variable(len(samples.y), name="r")
    variables, prediction = {"w": w, "r": r}, X @ w
    if samples.fit_intercept:
        variables["b"] = b = cp.Variable(name="b")
        prediction = prediction + b
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
    import cvxpy as cp

    lam = cp.Parameter(name="lam", nonneg=True, value=strength)
    X, c = constant(samples.design.constant, "X"), constant(samples.c, "c")
    v, q = cp.Variable(samples.design.shape[1], name="v"), cp.Variable(len(samples.y), name="q")
    variables, scores = {"v": v, "q": q}, X @ v
    if samples.fit_intercept:
        variables["v_0"] = shift = cp.Variable(name="v_0")
        scores = scores + shift
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
    _dual_name = "v"
    _dual_of_samples = False

    def __init__(
        self, X: Any, y: Any, lam: float, *, fit_intercept: bool = False, sample_weight: Any = None
    ) -> None:
        super().__init__(X, y, lam, fit_intercept=fit_intercept, sample_weight=sample_weight)

    def _compose(self, samples: Samples, intercept: bool) -> None:
        super()._compose(samples, intercept)
        self.__dict__.pop("_correlations", None)

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

    def dual_objective(self, v: Any) -> float:
        """D(v), v of shape (d,); -inf where v is infeasible beyond rounding."""
        return super().dual_objective(v)

    # -- as the base asks ------------------------------------------------------------------------

    def _value(self, point: Arrays) -> float:
        return self.program.value((point["w"], float(point["b"])))

    def _judged(
        self, w: Array, b: float, dual: Array | None, tol: float, search: bool
    ) -> Certificate:
        found = self.program.certify(w, b, dual, tol)
        program = self.program

        def better() -> Better | None:
            best = self._best()
            if best is None:
                return None
            point, v = best
            own = point["w"], float(point["b"])
            judged = program.certify(*own, v, tol)
            if not all(r.meets(tol) for r in judged.conditions if r.kind == "primal_feasibility"):
                return None
            near = self._scaled(v, 1.0)
            lost = sum(program.value_rounding(each, near) for each in (own, (w, b)))
            again = partial(self._again, w, b, v, tol)
            return Better(point, judged.primal_objective, lost, again)

        return settled(found, better, with_own=dual is None) if search else found

    def _scaled(self, v: Array, most: float = np.inf) -> list[Pair]:
        return self.program.shrunk(self.program.completed([v]), most)

    def _best(self) -> tuple[Arrays, Array] | None:
        """The last point and v of our own method; None where its program was not solved."""
        for point, dual in self._iterates("highs"):
            if self._promise == 0.0:
                return point, dual["v"]
        return None

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        if self.lam >= self.lam_max:
            zero = np.zeros(self._samples.design.shape[1])
            self._promise = 0.0
            yield self._told(zero), {"v": zero}
            return
        for w, v, is_last in Selection(self.program).rounds():
            self._promise = 0.0 if is_last else np.inf
            yield self._told(w), {"v": self._scaled(v)[1][0]}

    def _told(self, w: Array) -> Arrays:
        return {"w": w, "b": np.array(self.residuals.best_intercept(w))}

    # -- posed with CVXPY, told in LaTeX ---------------------------------------------------------

    def _pose(self) -> Statement:
        return pose_dantzig(self.residuals, self.lam)

    def _pose_dual(self) -> Statement:
        return pose_dantzig_dual(self.residuals, self.lam)

    def _read_point(self) -> Arrays:
        """What a solver left; w = 0 exactly from ``lam_max`` on."""
        found = super()._read_point()
        if found.get("w") is not None and self.lam >= self.lam_max:
            return self._told(np.zeros_like(found["w"]))
        return found

    def _read_duals(self) -> Arrays:
        """The multipliers that a solver left, moved to where they are feasible."""
        held = [self.constraints[label].dual_value for label in ("upper", "lower")]
        if any(each is None or not np.all(np.isfinite(each)) for each in held):
            return {}
        return {"v": self._scaled(np.ravel(held[0] - held[1]))[1][0]}

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        it, v = self.residuals, dual["v"]
        r = it.y - it.design.matvec(point["w"]) - point["b"]
        values = {name: each for name, each in point.items() if name in self.variables}
        q, _, shift, _ = self._correlations.scores(v)
        held = {"upper": np.maximum(v, 0.0), "lower": np.maximum(-v, 0.0), "residual": it.c * q}
        if it.fit_intercept:
            held["balance"] = np.array(shift - self._correlations.middle @ v)
        return {**values, "r": r}, held

    def _formulas(self) -> Latex:
        return dantzig_latex(self.residuals.fit_intercept, self._samples.weighted)


# The square-root lasso as CVXPY problems, and in LaTeX.


def pose_square_root(samples: RegressionSamples, strength: float) -> Statement:
    """Minimise sqrt(sum_i c_i (z_i - y_i)^2) + lam |w|_1 s.t. X w + b = z (dual: u)."""
    import cvxpy as cp

    lam = cp.Parameter(name="lam", nonneg=True, value=strength)
    w, z = cp.Variable(samples.design.shape[1], name="w"), cp.Variable(len(samples.y), name="z")
    variables = {"w": w, "z": z}
    prediction = constant(samples.design.constant, "X") @ w
    if samples.fit_intercept:
        variables["b"] = b = cp.Variable(name="b")
        prediction = prediction + b
    constraints = {"prediction": prediction == z}
    size = cp.norm(cp.multiply(constant(samples.roots, "sqrt(c)"), z - constant(samples.y, "y")), 2)
    return Statement.of(cp.Minimize(size + lam * cp.norm1(w)), variables, constraints, {"lam": lam})


def pose_square_root_dual(samples: RegressionSamples, strength: float) -> Statement:
    """Maximise -y'u s.t. |x_j'u| <= lam, sum_i u_i^2 / c_i <= 1, 1'u = 0.

    Its multipliers are the primal solution: |w_j| of ``correlation``, sqrt(sum_i c_i r_i^2) of
    ``ball``, -b of ``intercept``.
    """
    import cvxpy as cp

    lam = cp.Parameter(name="lam", nonneg=True, value=strength)
    u = cp.Variable(len(samples.y), name="u")
    push = constant(samples.design.constant, "X").T @ u
    constraints = {
        "correlation": cp.abs(push) <= lam,
        "ball": cp.norm(cp.multiply(1.0 / constant(samples.roots, "sqrt(c)"), u), 2) <= 1.0,
    }
    if samples.fit_intercept:
        constraints["intercept"] = cp.sum(u) == 0.0
    return Statement.of(
        cp.Maximize(-constant(samples.y, "y") @ u), {"u": u}, constraints, {"lam": lam}
    )


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

    def dual_objective(self, u: Any) -> float:
        """D(u), u of shape (n,); -inf where u is infeasible beyond rounding."""
        return super().dual_objective(u)

    # -- as the base asks ------------------------------------------------------------------------

    def _value(self, point: Arrays) -> float:
        return self.program.cost((point["w"], float(point["b"])))

    def _dual_value(self, dual: Arrays) -> float:
        return self.program.dual_value(dual["u"][self._samples.kept])

    def _judged(
        self, w: Array, b: float, dual: Array | None, tol: float, search: bool
    ) -> Certificate:
        program = self.program
        found = program.certify(w, b, dual, tol)

        def better() -> Better | None:
            best = self._best(tol)
            if best is None:
                return None
            point, u = best
            own = point["w"], float(point["b"])
            lost = sum(map(program.value_rounding, (own, (w, b))))
            again = partial(self._again, w, b, u, tol)
            return Better(point, program.cost(own), lost, again)

        return settled(found, better, with_own=dual is None) if search else found

    def _best(self, tol: float) -> tuple[Arrays, Array | None] | None:
        """The last point and u of our own method, or the first that are certified."""
        best = None
        for point, dual in self._iterates("scaled_lasso"):
            u = dual["u"][self._samples.kept] if dual else None
            found = self.program.certify(point["w"], float(point["b"]), u, 0.01 * tol)
            best = point, u
            if found.verdict is Verdict.CERTIFIED:
                break
        return best

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
        return {"w": w, "b": np.array(b)}, {} if u is None else {"u": self._whole(u)}

    def _fit(self) -> Fit:
        """The lasso of strength lam sigma, as a function of sigma, warm started."""
        lasso = self._lasso
        options: dict[str, Any] = {"tol": CLOSE, "carried": {}, "w0": None}

        def fit(sigma: float) -> tuple[Array, float, Array] | None:
            lasso.lam = self.lam * sigma
            found = lasso.solve("working_set", **options, max_seconds=_limit())
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

    def _compose(self, samples: Samples, intercept: bool) -> None:
        super()._compose(samples, intercept)
        self.__dict__.pop("_lasso", None)

    def _whole(self, u: Array) -> Array:
        return expand(u, self._samples)

    # -- posed with CVXPY, told in LaTeX ---------------------------------------------------------

    def _pose(self) -> Statement:
        return pose_square_root(self.residuals, self.lam)

    def _pose_dual(self) -> Statement:
        return pose_square_root_dual(self.residuals, self.lam)

    def _read_point(self) -> Arrays:
        """What a solver left; w = 0 exactly from ``lam_max`` on."""
        found = super()._read_point()
        if found.get("w") is not None and self.lam >= self.lam_max:
            zero = np.zeros_like(found["w"])
            return {"w": zero, "b": np.array(self.residuals.best_intercept(zero))}
        return found

    def _read_duals(self) -> Arrays:
        """The multipliers that a solver left, moved to where they are feasible."""
        found = self.constraints["prediction"].dual_value
        if found is None or self.lam == 0.0 or not np.all(np.isfinite(found)):
            return {}
        return {"u": self._whole(self.program.best_slope([np.array(found)]))}

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        z = self.residuals.design.matvec(point["w"]) + point["b"]
        values = {name: each for name, each in point.items() if name in self.variables}
        return {**values, "z": z}, {"prediction": dual["u"][self._samples.kept]}

    def _formulas(self) -> Latex:
        return square_root_latex(self.residuals.fit_intercept, self._samples.weighted)


def _limit() -> float | None:
    """The time that a lasso on the way may take."""
    left = seconds_left()
    return None if left == np.inf else max(left, 1e-3)

"""AdaBoost and LPBoost: margins of weak learners, as convex problems."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..certificates import Certificate
from ..certificates.boosting import Exponentials, MarginPoint, Margins
from ..certificates.scale import relative
from ..data import as_design
from ..data.columns import column_names
from ..errors import InputError
from ..formulas import constant, listed
from ..losses import Exponential
from ..modelling import cp
from ..numerics import LEAST_SQUARE, Array, without_warnings
from ..penalties import Zero
from ..problem import Statement
from ..problem.stumps import Stumps, stumps_of
from ..solvers.exact import boosting
from ..validation import positive_integer, positive_number
from .arrays import Arrays, SampledProblem, Shapes
from .base import Hyperparameter
from .inputs import dense, expand, read_matrix, read_new, read_samples
from .latex import WEIGHTS, Latex, such_that
from .pictures.answers import draw_margins
from .prediction import Predicting
from .problem import LearningProblem
from .solution import Solution

# What classifiers that add up weak learners share.


class Boosted(Predicting, SampledProblem):
    """A classifier by the sign of a combination of weak learners."""

    def _read_samples(self, X: Any, y: Any, sample_weight: Any, matrix: str = "X") -> None:
        self._samples = read_samples(self.name, X, y, sample_weight, "binary", matrix)
        assert self._samples.classes is not None
        self.classes = self._samples.classes

    @property
    def _total(self) -> float:
        return float(self._samples.weights.sum())

    @abstractmethod
    def decision_function(self, X: Any, primal: Arrays) -> Array:
        """The combination for new samples, shape (k,)."""

    def margins(self, w: Any) -> Array:
        """y_i (H w)_i of the samples that have a weight, in their order.

        Parameters
        ----------
        w : array, shape (m,)
            Weights of the learners.
        """
        names = {"w": self.shapes()[0]["w"]}
        found: Array = self.program.margins(self._arrays("margins", (w,), {}, names)["w"])
        return found

    def draw(self, axes: Any, solution: Any) -> None:
        """The margins of the samples."""
        w = solution.primal["w"]
        draw_margins(axes, self.margins(w) / max(float(np.abs(w).sum()), LEAST_SQUARE))


def _share(nu: float) -> tuple[Any, Any]:
    """nu, and 1 / nu, in which the problem is affine."""
    share: Any = cp.Parameter(pos=True, name="nu", value=nu)
    return share, cp.CallbackParam(lambda: 1.0 / share.value, nonneg=True, name="inverse")


# LPBoost: the largest soft margin of a convex combination of weak learners.


class LPBoost(Boosted):
    r"""Minimise -rho + sum_i s_i xi_i / (nu S) s.t. y_i (H w)_i >= rho - xi_i, w in the simplex.

    xi >= 0, S = sum_i s_i; no intercept. Column j of H holds what weak learner j says of each
    sample: ``stumps`` lists decision stumps. At most the share nu of the weights has a margin
    y_i (H w)_i below rho, and those with at most rho are at least that share; with nu S at most the
    least weight, rho is the least margin.

    Parameters
    ----------
    H : array or sparse matrix, shape (n, m)
        Outputs of m weak learners, any finite numbers; -1 and +1 for classifiers. A learner may
        only be turned round where its negative is a column too.
    y : array, shape (n,)
        Two labels of any kind; the larger is +1.
    nu : float
        Share of the samples that may miss the margin, 0 < nu <= 1.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For a nu outside of (0, 1], other than two classes, NaN or infinite entries, wrong shapes,
        bad weights.

    Notes
    -----
    The dual maximises -gamma s.t. sum_i d_i y_i H_ij <= gamma for every j, sum_i d_i = 1,
    0 <= d_i <= s_i / (nu S): "d" is the distribution over samples on which the best learner is
    worst. "auto" solves by columns: the learners with the largest edges sum_i d_i y_i H_ij enter
    the linear program, which HiGHS solves, until none is above gamma; the certificate asks all.

    References
    ----------
    Demiriz, Bennett and Shawe-Taylor, *Linear programming boosting via column generation*, Machine
    Learning 46 (2002), https://doi.org/10.1023/A:1012470815092.
    """

    methods: ClassVar[tuple[str, ...]] = ("highs",)
    why: ClassVar[str] = "margins are a linear program, and few learners of many are needed"
    _supports = "d"
    _is_closed = True
    nu = Hyperparameter()

    def __init__(self, H: Any, y: Any, nu: float, *, sample_weight: Any = None) -> None:
        self._read_samples(H, y, sample_weight, "H")
        self._hyper = self._check(nu=nu)

    def _check(self, **hyper: Any) -> dict[str, Any]:
        nu = positive_number(hyper["nu"], self.name, "nu")
        if not nu <= 1.0:
            raise InputError(f"{self.name}: nu must be in (0, 1], got {nu:g}.")
        with np.errstate(over="ignore", divide="ignore"):
            costs = self._samples.weights / (nu * self._total)
        if not np.all(np.isfinite(costs)):
            raise InputError(f"{self.name}: 1 / nu must be a float64, got nu = {nu:g}.")
        return {"nu": nu}

    @cached_property
    def program(self) -> Margins:
        """The problem as its certificate sees it."""
        H, y = self._samples.X, self._samples.y[:, None]
        A = H.multiply(y).tocsc() if hasattr(H, "indptr") else y * H
        return Margins(A, self._samples.weights / (self.nu * self._total))

    # -- as the base asks ------------------------------------------------------------------------

    def shapes(self) -> tuple[Shapes, Shapes]:
        n = (self._samples.total,)
        return {"w": self._samples.X.shape[1:], "rho": (), "xi": n}, {"d": n}

    def _point(self, point: Arrays) -> MarginPoint:
        return MarginPoint(point["w"], float(point["rho"]), point["xi"][self._samples.kept])

    def _taken(self, point: Arrays) -> tuple[Any, ...]:
        return (self._point(point),)

    def _dual_value(self, dual: Arrays) -> float:
        return self.program.dual_value(dual["d"][self._samples.kept])

    def _judge_by(self, point: Arrays, dual: Arrays, tol: float, *, passed: bool) -> Certificate:
        given = dual["d"][self._samples.kept] if "d" in dual else None
        found = self.program.certify(self._point(point), given, tol=tol, passed=passed)
        return found.but(dual={"d": expand(found.dual["d"], self._samples)})

    def _improved(self, start: Any, tol: float) -> tuple[Arrays, Arrays] | None:
        found = self.program.optimum
        return found and (self._told(found[0]), {"d": expand(found[1], self._samples)})

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        for point, d, left in self.program.rounds():
            self._promise = relative(left, max(abs(point.rho), self.program.units[1]))
            yield self._told(point), {"d": expand(d, self._samples)}

    def _told(self, point: MarginPoint) -> Arrays:
        slacks = expand(point.xi, self._samples)
        return {"w": point.w, "rho": np.array(point.rho), "xi": slacks}

    def _complete(self, point: Arrays) -> Arrays:
        """The best rho and the least slacks for w, where they were not passed."""
        if "xi" in point and len(point["xi"]) < self._samples.total:  # a solver's
            point = point | {"xi": expand(point["xi"], self._samples)}
        if "w" not in point or {"rho", "xi"} <= point.keys() or ("xi" in point):
            return point
        rho = float(point["rho"]) if "rho" in point else None
        return self._told(self.program.point_of(point["w"], rho))

    # -- predictions -----------------------------------------------------------------------------

    def decision_function(self, X: Any, primal: Arrays) -> Array:
        """H w for what the learners say of new samples, H (k, m) in place of X; shape (k,)."""
        new = read_new(self.name, X, self.features, self._samples.X.shape[1])
        return as_design(new).matvec(primal["w"])

    # -- posed with CVXPY, stored, told in LaTeX -------------------------------------------------

    def _pose(self) -> Statement:
        """Minimise -rho + s'xi / (nu S) s.t. y_i (H w)_i >= rho - xi_i, w in the simplex, xi >= 0.

        Its multipliers are d of ``margin`` and gamma of ``sum``.
        """
        H, y, s = self._samples.X, self._samples.y, self._samples.weights
        w, rho = cp.Variable(H.shape[1], name="w"), cp.Variable(name="rho")
        xi = cp.Variable(len(s), name="xi")
        constraints = {
            "margin": cp.multiply(constant(y, "y"), constant(H, "H") @ w) >= rho - xi,
            "slack": xi >= 0.0,
            "nonnegative": w >= 0.0,
            "sum": cp.sum(w) == 1.0,
        }
        share, inverse = _share(self.nu)
        value = -rho + inverse * (constant(s / s.sum(), "c") @ xi)
        return Statement.of(
            cp.Minimize(value), {"w": w, "rho": rho, "xi": xi}, constraints, {"nu": share}
        )

    def _pose_dual(self) -> Statement:
        """Maximise -gamma s.t. sum_i d_i y_i H_ij <= gamma, sum d = 1, 0 <= d_i <= s_i / (nu S).

        Its multipliers are the primal solution: w of ``edges``, xi of ``upper``, rho of ``sum``.
        """
        H, y, s = self._samples.X, self._samples.y, self._samples.weights
        d, gamma = cp.Variable(len(s), name="d"), cp.Variable(name="gamma")
        share, inverse = _share(self.nu)
        constraints = {
            "edges": constant(H, "H").T @ cp.multiply(constant(y, "y"), d) <= gamma,
            "lower": d >= 0.0,
            "upper": d <= inverse * constant(s / s.sum(), "c"),
            "sum": cp.sum(d) == 1.0,
        }
        return Statement.of(
            cp.Maximize(-gamma), {"d": d, "gamma": gamma}, constraints, {"nu": share}
        )

    def _read_duals(self) -> Arrays:
        d = self.constraints["margin"].dual_value
        return {} if d is None else {"d": expand(np.asarray(d), self._samples)}

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        kept = self._samples.kept
        d, program = dual["d"][kept], self.program
        edges = program.edges(d)
        values = {
            "margin": d,
            "slack": np.maximum(program.c - d, 0.0),
            "nonnegative": edges.max() - edges,
            "sum": np.array(edges.max()),
        }
        return point | {"xi": point["xi"][kept]}, values

    def _formulas(self) -> Latex:
        cap = r"\tfrac{s_i}{\nu \sum_l s_l}"
        cost = rf"-\rho + \sum_i {cap} \xi_i"
        margin = r"y_i (H w)_i \ge \rho - \xi_i"
        simplex = (r"\xi_i \ge 0", r"w \ge 0", r"\sum_j w_j = 1")
        edge = r"\sum_i d_i y_i H_{ij}"
        box = rf"0 \le d_i \le {cap}", r"\sum_i d_i = 1"
        missed = r"d_i (\rho - \xi_i - y_i (H w)_i)"
        return Latex(
            rf"\min_{{w, \rho, \xi}}\ {cost}" + such_that(margin, *simplex),
            rf"{cost} + \sum_i {missed} - \sum_i \beta_i \xi_i - \sum_j z_j w_j"
            r" + \gamma (\sum_j w_j - 1)",
            r"\max_{d, \gamma}\ -\gamma" + such_that(rf"{edge} \le \gamma", *box),
            (
                rf"{edge} + z_j = \gamma",
                rf"d_i + \beta_i = {cap}",
                *box,
                r"z_j, \beta_i \ge 0",
                margin,
                *simplex,
                f"{missed} = 0",
                r"\beta_i \xi_i = 0",
                r"z_j w_j = 0",
            ),
            listed(r"H_{ij} = \text{what learner } j \text{ says of } x_i", WEIGHTS),
            over=("w", r"\xi", r"\rho"),
        )

    def __repr__(self) -> str:
        n, m = self._samples.X.shape
        return f"{self.name}({n} samples, {m} learners, nu={self.nu!r})"


# Decision stumps, the weak learners of boosting.


MOST = 2**28
"""Entries of an H that is made."""


def stumps(X: Any) -> tuple[Array, list[str]]:
    """All decision stumps of the samples: a column for each feature, threshold and sign.

    Parameters
    ----------
    X : array, sparse matrix or data frame, shape (n, d)
        Samples in rows.

    Returns
    -------
    H : array, shape (n, m)
        1.0 where the stump holds of a sample, else -1.0. Feature by feature, the thresholds are
        the midpoints between neighbouring distinct values, in increasing order, each as x > t and
        then as x <= t; no column is constant, and a feature with k distinct values has 2 (k - 1).
    names : list of str, length m
        In words, with the columns of a data frame: "x0 > 1.5", "x0 <= 1.5".

    Raises
    ------
    InputError
        For NaN or infinite entries, an X all of whose columns are constant, and an H of more than
        2^28 entries.
    """
    found = read_stumps("stumps", X)
    return dense_of("stumps", found), found.names(names_of(column_names(X), found))


def dense_of(owner: str, found: Stumps) -> Array:
    """H; InputError where it has too many entries."""
    n, m = len(found.ranks), found.count
    if n * m > MOST:
        raise InputError(
            f"{owner}: X of shape {found.ranks.shape} has {m} stumps, and H {n * m:.3g} entries. "
            "Round the columns of X, so that they have fewer distinct values."
        )
    return found.dense()


def names_of(features: list[str] | None, found: Stumps) -> list[str]:
    """The columns of a data frame, or x0, x1, ..."""
    return features or [f"x{j}" for j in range(len(found.thresholds))]


@without_warnings
def read_stumps(owner: str, X: Any) -> Stumps:
    """The stumps of a validated X, without their matrix."""
    values = read_matrix(owner, X)
    found = stumps_of(dense(values))
    if not found.count:
        raise InputError(
            f"{owner}: every column of X is constant, so that no stump tells two samples apart. "
            "Pass a feature that varies."
        )
    return found


# AdaBoost: the exponential loss over decision stumps, by coordinate descent.


class AdaBoost(Boosted):
    r"""Minimise sum_i s_i e^{-y_i (H w)_i} / sum_i s_i over the stumps of X, by rounds.

    Column j of H is a decision stump, as ``stumps(X)`` lists them; no intercept. A round takes the
    stump of the least weighted error and the best weight for it, log((1 - error) / error) / 2:
    coordinate descent with an exact line search. scikit-learn's AdaBoostClassifier has twice these
    weights.

    Parameters
    ----------
    X : array, sparse matrix or data frame, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Two labels of any kind; the larger is +1.
    rounds : int
        How many, 1 or more.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For rounds that are no whole number above 0, other than two classes, NaN or infinite
        entries, wrong shapes, bad weights, an X all of whose columns are constant.

    Notes
    -----
    The dual maximises sum_i c_i (p_i - p_i log p_i), c_i = s_i / sum s, p_i = -y_i u_i / c_i >= 0,
    subject to H'u = 0. After the rounds the status is "inaccurate" with a verified gap, unless the
    optimum is reached. Where the stumps separate the classes, as those of a feature without ties
    do, the infimum is 0 and no w attains it: then the gap is P itself; ``find_evidence`` proves it.
    A bound that can meet P is looked for where there are at most 1000 thresholds, and n times their
    number is at most 2^24, samples of one class that no stump tells apart taken for one; beyond, P
    is at least what samples of both classes cost that no stump tells apart.

    References
    ----------
    Freund and Schapire, *A decision-theoretic generalization of on-line learning*, Journal of
    Computer and System Sciences 55 (1997), https://doi.org/10.1006/jcss.1997.1504.
    """

    methods: ClassVar[tuple[str, ...]] = ("boosting",)
    why: ClassVar[str] = "it is what the rounds are"
    _asks = False
    rounds = Hyperparameter()

    def __init__(self, X: Any, y: Any, rounds: int, *, sample_weight: Any = None) -> None:
        self._read_samples(X, y, sample_weight)
        self._stumps = read_stumps(self.name, self._samples.X)
        self._hyper = self._check(rounds=rounds)

    def _check(self, **hyper: Any) -> dict[str, Any]:
        return {"rounds": positive_integer(hyper["rounds"], self.name, "rounds")}

    @property
    def stumps(self) -> list[str]:
        """The stumps in words, in the order of w."""
        return self._stumps.names(names_of(self.features, self._stumps))

    @cached_property
    def program(self) -> Exponentials:
        """The problem as its certificate sees it."""
        return Exponentials(self._stumps, self._samples.y, self._samples.weights)

    def find_evidence(self, w: Any = None, *, tol: float = 1e-6) -> Certificate | None:
        """Verified evidence that the stumps separate the classes: the infimum 0 is not attained.

        Parameters
        ----------
        w : array, shape (m,), optional
            Weights whose sum may separate them; those after the rounds by default.
        tol : float
            As of ``certify``.

        Returns
        -------
        Certificate or None
            Of the claim "unattained"; None where w does not separate them.
        """
        if w is None:
            *_, (last, _) = boosting(self._stumps, self.program.y, self.program.c, self.rounds)
        else:
            last = self._arrays("find_evidence", (w,), {}, self.shapes()[0])["w"]
        return self.program.separation(last, tol)

    # -- as the base asks ------------------------------------------------------------------------

    def shapes(self) -> tuple[Shapes, Shapes]:
        return {"w": (self._stumps.count,)}, {"u": (self._samples.total,)}

    def _value(self, point: Arrays) -> float:
        return self.program.cost(point["w"])[0]

    def _dual_value(self, dual: Arrays) -> float:
        return self.program.dual_value(dual["u"][self._samples.kept])

    def _judge(self, point: Arrays, dual: Arrays, tol: float, *, search: bool) -> Certificate:
        u = dual["u"][self._samples.kept] if "u" in dual else None
        found = self.program.certify(point["w"], u, tol, search=search)
        return found.but(dual={"u": expand(found.dual["u"], self._samples)})

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        program = self.program
        for w, is_last in boosting(self._stumps, program.y, program.c, self.rounds):
            self._promise = 0.0 if is_last else np.inf
            yield {"w": w}, {}

    def _absence(self, tol: float) -> Certificate | None:
        """A single stump that separates the classes: the best weight for it is infinite."""
        edges = self._stumps.rmatvec(self._samples.y)
        w = np.zeros(edges.size)
        w[np.argmax(edges)] = 1.0
        return self.program.separation(w, tol)

    def solve(self, solver: str = "auto", **options: Any) -> Solution:
        """Run the rounds, then certify, as every problem; CVXPY's solvers solve to the end."""
        if options.get("max_iter") is None and solver in ("auto", *self.methods):
            options["max_iter"] = self.rounds + 1
        return super().solve(solver, **options)

    def decision_function(self, X: Any, primal: Arrays) -> Array:
        """H w for new samples, with the same thresholds, shape (k,).

        Raises
        ------
        InputError
            For another number of columns.
        """
        values = read_new(self.name, X, self.features, self._samples.X.shape[1])
        return self._stumps.of(dense(values)).matvec(primal["w"])

    # -- posed with CVXPY, stored, told in LaTeX -------------------------------------------------

    @cached_property
    def _whole(self) -> LearningProblem:
        H, it = dense_of(self.name, self._stumps), self._samples
        loss, weights = Exponential(), it.weights
        whole = LearningProblem(H, it.y, loss, Zero(), fit_intercept=False, sample_weight=weights)
        whole._design_name = "H"
        return whole

    def _pose(self) -> Statement:
        return self._whole.statement

    def _pose_dual(self) -> Statement:
        return self._whole.dual_statement

    def _read_duals(self) -> Arrays:
        u = self.constraints["prediction"].dual_value
        return {} if u is None else {"u": expand(np.asarray(u), self._samples)}

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        values = {"w": point["w"], "z": self._stumps.matvec(point["w"])}
        known = {name: value for name, value in values.items() if name in self.variables}
        return known, {"prediction": dual["u"][self._samples.kept]}

    def _formulas(self) -> Latex:
        c, push = r"\tfrac{s_i}{\sum_l s_l}", r"y_i (H w)_i"
        cost = rf"\sum_i {c} e^{{-y_i z_i}}"
        return Latex(
            rf"\min_{{w, z}}\ {cost}" + such_that("H w = z"),
            rf"{cost} + u^\top (H w - z)",
            rf"\max_u\ \sum_i {c} (p_i - p_i \log p_i)"
            + such_that(rf"u_i = -{c} y_i p_i", r"p \ge 0", r"H^\top u = 0"),
            (rf"p_i = e^{{-{push}}}", r"H^\top u = 0", "H w = z", r"p \ge 0"),
            listed(f"c_i = {c}", r"H_{ij} = \text{what stump } j \text{ says of } x_i", WEIGHTS),
            eliminated=Exponential().tex().helpers,
            over=("z", "w"),
        )

    def __repr__(self) -> str:
        n, d = self._samples.X.shape
        return f"{self.name}({n} samples, {d} features, {self.rounds} rounds)"

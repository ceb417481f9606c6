"""The support vector machine whose margin is found: nu in place of C."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ...certificates import Certificate
from ...certificates.judge import absent, judge
from ...certificates.learning.machines.centre import about_centre, moved_intercept
from ...certificates.learning.machines.functions import Functions, OfFeatures
from ...certificates.learning.machines.nu import NuPart
from ...certificates.learning.machines.shares import short_class
from ...conditions import worst
from ...numerics import EPS, Array
from ...solvers.dual.two_sums import climb
from ...tex import listed
from ..arrays.problem import Arrays, Shapes
from ..latex import FACTORED, KEPT, WEIGHTS, Latex, gram, such_that
from ..learning.prediction import score
from ..pictures.learning import draw_machine
from ..reading.inputs import read_samples
from .nu import NuMachine

LARGEST, STEPS = 6000, 2000
"""Samples whose whole K is made; pairs between two evaluations."""
NEARLY = 1e-6
"""By less nu is too large in digits that are not shown."""
FALL, IDLE = 0.9, 5
"""So many evaluations without a violation of this share of the least end it: rounding moves."""


class NuSVC(NuMachine):
    r"""Minimise (1/2) |f|^2 + sum_i s_i xi_i - nu S rho s.t. y_i (f(x_i) + b) >= rho - xi_i.

    xi_i >= 0, rho >= 0; f(x) = w.x, or f = sum_j q_j k(x_j, .) with a kernel; S = sum_i s_i. At
    most the share nu of the weights is inside of the margin rho / |f|, and the support vectors are
    at least that share. Divided by rho it is the machine with C = 1 / rho. Where the reduced hulls
    of the classes meet the optimum is f = 0, rho = 0. Source: Scholkopf et al. (2000),
    https://doi.org/10.1162/089976600300015565.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows; the kernel matrix (n, n) for a precomputed kernel.
    y : array, shape (n,)
        Two labels of any kind; the larger is +1.
    nu : float
        0 < nu <= 1; above twice the share of the smaller class the problem is "unbounded":
        decided exactly, of the float64 numbers (0.8 is above twice 2 of 5, by 4.4e-17).
    kernel : Kernel, optional
        For example ``kernels.Gaussian(1.0)``; None is f(x) = w.x.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For a nu outside of (0, 1], other than two classes, NaN or infinite entries, wrong shapes,
        bad weights, a kernel matrix that is not positive semidefinite.

    Notes
    -----
    The dual maximises -(1/2) |sum_i alpha_i y_i k(x_i, .)|^2 subject to 0 <= alpha_i <= s_i,
    sum_i alpha_i y_i = 0 and sum_i alpha_i = nu S. P is 0 at f = 0: gaps are measured on
    max(|P|, |D|, 1e-6 (nu S)^2 / 2 mean |k(x_i, .) - m|^2), m the mean of the k(x_i, .), as P is
    the same for all translations. A dense X is taken about the means of its columns.
    """

    methods: ClassVar[tuple[str, ...]] = ("smo",)
    scikit_learn: ClassVar = {"NuSVC": {"nu": "nu = nu"}}
    _scalars: ClassVar[Shapes] = {"b": (), "rho": ()}
    classes: Array
    """The two labels; the larger is +1."""

    def __init__(
        self, X: Any, y: Any, nu: float, kernel: Any = None, *, sample_weight: Any = None
    ) -> None:
        self._start(read_samples(self.name, X, y, sample_weight, "binary"), nu, kernel)
        assert self._samples.classes is not None
        self.classes = self._samples.classes

    @property
    def labels(self) -> Array:
        """-1 and +1."""
        return self._samples.y

    @cached_property
    def space(self) -> Functions:
        """Where f is; of a linear machine the samples about their mean, and b is b + c.w there."""
        return super().space if self._matrix is not None else OfFeatures(self._about[0])

    @cached_property
    def _about(self) -> tuple[Any, Array]:
        return about_centre(self._samples.X)

    def _moved(self, b: Any, f: Array, sign: float) -> Array:
        """b + c.w of b (sign 1), and b of b + c.w (sign -1)."""
        if self._matrix is not None:
            return np.asarray(b)
        return np.array(moved_intercept(float(b), sign * self._about[1], f))

    def _part(self, point: Arrays, alpha: Array) -> NuPart:
        b = self._moved(point.get("b", 0.0), point[self.function_name], 1.0)
        return replace(super()._part(point | {"b": b}, alpha), nu=self.nu)

    def _told(self, f: Array, scalars: Arrays, alpha: Array) -> tuple[Arrays, Arrays]:
        b = self._moved(scalars["b"], f, 1.0)
        point, dual = super()._told(f, scalars | {"b": b}, alpha)
        return point | {"b": scalars["b"]}, dual

    def _judge(self, point: Arrays, dual: Arrays, tol: float, *, search: bool) -> Certificate:
        found = super()._judge(point, dual, tol, search=search)
        if found.witness is None:
            return found
        best = found.witness
        return found.but(witness=best | {"b": self._moved(best["b"], best[self.function_name], -1)})

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        """Pairs within the classes, from weights in proportion."""
        s, y, n = self._samples.weights, self.labels, len(self._samples.weights)
        alpha = self._part(self._nothing(), np.zeros(n)).feasible(np.zeros(n)) * y
        yield self._at(alpha)
        if n > LARGEST:
            return
        K = self._gram()
        slack = 8.0 * EPS * float(np.abs(K).max(initial=0.0)) * self.total
        best, idle = np.inf, 0
        while best > slack and idle < IDLE:
            g = y * (K @ (y * alpha))
            violation = climb(K, g, alpha, s, y, STEPS, slack)
            yield self._at(alpha.copy())
            idle = 0 if violation < FALL * best else idle + 1
            best = min(best, violation)

    def _gram(self) -> Array:
        """All of K; of the linear machine about the mean of the samples, as sum alpha_i y_i = 0."""
        if self._matrix is not None:
            return self._matrix.dense
        A = self._about[0]
        K = A @ A.T
        return np.asarray(K.toarray() if hasattr(K, "toarray") else K)

    def _at(self, alpha: Array) -> tuple[Arrays, Arrays]:
        """f = sum_i alpha_i y_i k(x_i, .) with its best b and rho, or 0 where that is better."""
        f = self.space.of(self.labels * alpha)
        best = self._best(f)
        point = self._told(f, best, alpha)
        if not self._value(point[0]) < 0.0:
            zero = {name: np.zeros(()) for name in best}
            return self._told(np.zeros_like(f), zero, alpha)
        return point

    def _best(self, f: Array) -> Arrays:
        """Of each class a quantile of y_i f(x_i) is best: rho - b, and rho + b."""
        margins, y, s = self.labels * self.space.scores(f), self.labels, self._samples.weights
        ends = []
        for sign in (1.0, -1.0):
            own = np.flatnonzero(y == sign)
            order = own[np.argsort(margins[own], kind="stable")]
            at = np.searchsorted(np.cumsum(s[order]), 0.5 * self.total * (1.0 - 1e-12))
            ends.append(float(margins[order[min(int(at), len(order) - 1)]]))
        rho, b = 0.5 * (ends[0] + ends[1]), 0.5 * (ends[1] - ends[0])
        return {"b": self._moved(b, f, -1.0), "rho": np.array(max(rho, 0.0))}

    def _absence(self, tol: float) -> Certificate | None:
        """With nu too large rho may grow for ever, while one class pays for it."""
        s = self._samples.weights
        short = short_class(self.nu, s, self.labels)
        if short is None:
            return None
        label = self.classes.tolist()[int(short.sign > 0.0)]
        excess, half = float(short.excess), 0.5 * float(s.sum())
        exactly = " (float64 numbers are taken as they are)" if excess < NEARLY else ""
        reason = (
            f"nu = {self.nu:g} is above {float(short.most):.6g}, twice the share of class "
            f"{label!r}, by {excess:.2g}{exactly}: rho and b may grow for ever. Take a smaller nu."
        )
        slope = worst("P falls along the ray", "dual_feasibility", 0.0, 0.5 * self.total)
        ray = {"rho": np.array(0.5), "b": np.array(-0.5 * short.sign), "slope": -excess * half}
        evidence = {key: np.asarray(value) for key, value in ray.items()}
        found = absent("unbounded", [slope], tol, objective=-np.inf, reason=reason,
                       evidence=evidence)  # fmt: skip
        return judge(found)

    def decision_function(self, X: Any, primal: Arrays) -> Array:
        """f(x) + b for new samples, shape (m,)."""
        return self.scores(X, primal) + float(primal["b"])

    def predict(self, X: Any, primal: Arrays) -> Array:
        """Labels of the caller, shape (m,)."""
        found: Array = self.classes[(self.decision_function(X, primal) > 0.0).astype(int)]
        return found

    def score(self, X: Any, y: Any, primal: Arrays, sample_weight: Any = None) -> float:
        """The share of the labels, by weight, that is predicted right."""
        posed: Any = self
        return score(posed, X, y, primal, sample_weight)

    def draw(self, axes: Any, solution: Any) -> None:
        """The samples by their scores, and the margin between -rho and rho."""
        point = solution.primal
        f = point[self.function_name]
        f = f if self._matrix is None else f[self._samples.kept]
        scores = self.space.scores(f) + float(self._moved(point["b"], f, 1.0))
        draw_machine(self, axes, solution, scores, float(point["rho"]))

    def _formulas(self) -> Latex:
        linear = self.kernel is None
        f, name = (r"w^\top x_i", "w") if linear else (r"(Kq)_i", "q")
        square = r"\|w\|_2^2" if linear else r"q^\top K q"
        x, v = (r"x_i", "w") if linear else (r"K_i", "Kq")
        sum_ = rf"\sum_i \alpha_i y_i {x}"
        form = rf"\Big\|{sum_}\Big\|_2^2"
        if not linear:
            form = r"\sum_{i,j} \alpha_i \alpha_j y_i y_j K_{ij}"
        cost = rf"\tfrac12 {square} + \sum_i s_i \xi_i - \nu \rho \sum_i s_i"
        rows = rf"y_i ({f} + b) \ge \rho - \xi_i", r"\xi_i \ge 0", r"\rho \ge 0"
        box = r"0 \le \alpha_i \le s_i", r"\sum_i \alpha_i y_i = 0"
        total, sum_of = r"\nu \sum_i s_i", r"\sum_i \alpha_i"
        margin = rf"\alpha_i (\rho - \xi_i - y_i ({f} + b))"
        return Latex(
            rf"\min_{{{name}, b, \rho, \xi}}\ {cost}" + such_that(*rows, gram(self.kernel)),
            rf"{cost} + \sum_i {margin} - \sum_i \beta_i \xi_i - \gamma \rho",
            rf"\max_\alpha\ -\tfrac12 {form}" + such_that(*box, rf"{sum_of} \ge {total}"),
            (f"{v} = {sum_}", r"\alpha_i + \beta_i = s_i", *box,
             rf"{sum_of} = {total} + \gamma,\ \gamma \ge 0", *rows, f"{margin} = 0",
             r"\beta_i \xi_i = 0", r"\gamma \rho = 0"),
            listed(self._samples.weighted * KEPT, f"z_i = {f} + b", WEIGHTS),
            eliminated="" if linear else FACTORED,
            over=(name, r"\xi", "b", r"\rho"),
        )  # fmt: skip

"""The machines with nu, NuSVC and OneClassSVM: a margin rho is found with the function."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from math import fsum
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ..certificates import Certificate
from ..certificates.judge import absent, judge
from ..certificates.learning.nu import (
    Functions,
    HeldPoint,
    NuPart,
    NuProgram,
    OfFeatures,
    OfSamples,
    about_centre,
    short_class,
)
from ..data import as_design
from ..errors import InputError
from ..formulas import constant, listed, worst
from ..kernels import Kernel
from ..kernels.matrix import KernelMatrix
from ..losses import Pinball
from ..modelling import cp
from ..numerics import EPS, Array, gamma
from ..penalties import L2
from ..problem import Statement
from ..problem.kernel import KernelObjective
from ..solvers.dual.smo import climb, smo
from ..validation import positive_number
from .arrays import Arrays, SampledProblem, Shapes
from .base import Hyperparameter
from .inputs import Samples, expand, read_new, read_samples
from .kernel import kernel_matrix, values_of
from .latex import FACTORED, KEPT, WEIGHTS, Latex, gram, pushed, such_that
from .path import follow
from .pictures.answers import draw_classes
from .prediction import Predicting
from .problem import LearningProblem

STEPS, NEAR = 1000, 1e-9
"""Steps of a method, and its relative gap, where a point is judged by a dual point of ours."""


class NuMachine(SampledProblem):
    """A machine with nu, linear or with a kernel.

    The function is f(x) = w.x, or f = sum_j q_j k(x_j, .) where there is a kernel; with classes
    there is a b beside rho.
    """

    nu = Hyperparameter()
    methods: ClassVar[tuple[str, ...]] = ("smo",)
    why: ClassVar[str] = "the dual is a quadratic program in a box, of few support vectors"
    _matrix: KernelMatrix | None = None
    _supports = "alpha"
    _interval_path = follow

    def _start(self, samples: Samples, nu: Any, kernel: Any) -> None:
        self._samples, self._hyper = samples, self._check(nu=nu)
        if kernel is not None and not isinstance(kernel, Kernel):
            raise InputError(
                f"{self.name}: kernel must be None or one of convexml.kernels, got {kernel!r}."
            )
        if kernel is not None:
            self._matrix = kernel_matrix(self.name, kernel, samples)

    @property
    def kernel(self) -> Kernel | None:
        """The kernel, fixed; None for a linear machine."""
        return None if self._matrix is None else self._matrix.kernel

    def _check(self, **hyper: Any) -> dict[str, Any]:
        nu = positive_number(hyper["nu"], self.name, "nu")
        if not nu <= 1.0:
            raise InputError(f"{self.name}: nu must be in (0, 1], got {nu:g}.")
        return {"nu": nu}

    # -- as the base asks ------------------------------------------------------------------------

    @property
    def function_name(self) -> str:
        """What the array of f is called: "w" of features, "q" of samples."""
        return "w" if self._matrix is None else "q"

    @cached_property
    def space(self) -> Functions:
        """Where f is; with classes, of a linear machine, the samples about their mean."""
        if self._matrix is not None:
            return OfSamples(self._matrix)
        X = self._samples.X
        return OfFeatures(*about_centre(X)) if self._has_classes else OfFeatures(X)

    @property
    def total(self) -> float:
        """nu times the sum of the weights: that of alpha."""
        return float(self._hyper["nu"]) * fsum(self._samples.weights)

    @property
    def _has_classes(self) -> bool:
        return "b" in self._scalars

    @property
    def labels(self) -> Array:
        """-1 and +1; ones where there are no classes."""
        samples = self._samples
        return samples.y if self._has_classes else np.ones(len(samples.weights))

    def shapes(self) -> tuple[Shapes, Shapes]:
        n = (self._samples.total,)
        f = (self._samples.X.shape[1],) if self._matrix is None else n
        return {self.function_name: f, **self._scalars, "xi": n}, {"alpha": n, "beta": n}

    _scalars: ClassVar[Shapes] = {"rho": ()}

    @cached_property
    def program(self) -> NuProgram:
        """The problem as its certificate sees it, among the samples that count."""
        nu, s = self.nu if self._has_classes else 0.0, self._samples.weights
        return NuProgram(self.space, self.labels, s, self.total, nu=nu, is_exact=True)

    def _taken(self, point: Arrays, alpha: Any = 0.0) -> tuple[HeldPoint]:
        """The point, with a dual point."""
        xi = point["xi"][self._samples.kept] if "xi" in point else None
        q, b = self.labels * alpha, float(point.get("b", 0.0))
        return (HeldPoint(self._held(point), b, float(point["rho"]), q, xi),)

    def _again(self) -> HeldPoint:
        """The end of a fast method, of the first that comes near enough."""
        best: HeldPoint | None = None
        for name in self.methods:
            *_, (point, dual) = islice(self._iterates(name), STEPS)
            (at,) = self._taken(point, dual["alpha"][self._samples.kept])
            if best is None or self.program.dual(at.q) > self.program.dual(best.q):
                best = at
            if NuPart(self.program, best, self._again).judged(NEAR, best.q).holds():
                break
        assert best is not None
        return best

    def _dual_value(self, dual: Arrays) -> float:
        return self.program.dual_value(-self.labels * dual["alpha"][self._samples.kept])

    def _judge(self, point: Arrays, dual: Arrays, tol: float, *, search: bool) -> Certificate:
        kept, s = self._samples.kept, self._samples.weights
        beta = dual["beta"][kept] if "beta" in dual else None
        passed = dual["alpha"][kept] if "alpha" in dual else None if beta is None else s - beta
        if passed is not None:
            u = -self.labels * passed
            found = self.program.certify(*self._taken(point), u, tol=tol, passed=True)
        else:
            guess = self.labels * point["q"][kept] if self._matrix is not None else 0.0
            part = NuPart(self.program, *self._taken(point, guess), self._again)
            found = part.certify(tol) if search else part.judged(tol, part.point.q)
        told = self._dual(-self.labels * found.dual["u"])
        witness = found.witness
        if witness is not None:
            own = {self.function_name: self._of_all(witness["w"]), "rho": witness["level"]}
            own |= {"b": witness["b"]} if self._has_classes else {}
            witness = {**own, "objective": witness["objective"]}
        source = "solver" if found.dual_source == "passed" and not search else found.dual_source
        moved = found.moved
        if moved is not None and passed is not None and beta is not None:
            row = worst("alpha_i + beta_i = s_i", "dual_feasibility", passed + beta - s, s)
            moved = max(moved, row, key=lambda row: row.relative)
            source = source if moved.meets(tol) else "constructed"
        return found.but(dual=told, witness=witness, dual_source=source, moved=moved)

    def _best(self, f: Array) -> Arrays:
        """The scalars that are best for f, by quantiles of y_i f(x_i) in each class.

        They are rho, or rho - b and rho + b.
        """
        margins, s = self.labels * self.space.scores(f), self._samples.weights
        signs = (1.0, -1.0) if self._has_classes else (1.0,)
        ends = []
        for sign in signs:
            own = np.flatnonzero(self.labels == sign)
            order = own[np.argsort(margins[own], kind="stable")]
            share = self.total / len(signs) * (1.0 - 1e-12)
            at = int(np.searchsorted(np.cumsum(s[order]), share))
            ends.append(float(margins[order[min(at, len(order) - 1)]]))
        if not self._has_classes:
            return {"rho": np.array(ends[0])}
        b = self.space.moved(0.5 * (ends[1] - ends[0]), f, -1.0)
        return {"b": np.array(b), "rho": np.array(max(0.5 * (ends[0] + ends[1]), 0.0))}

    def _at(self, alpha: Array) -> tuple[Arrays, Arrays]:
        """f = sum_i alpha_i y_i k(x_i, .) with its best scalars, or 0 where that is better."""
        f = self.space.of(self.labels * alpha)
        best = self._best(f)
        point = self._told(f, best, alpha)
        if not self._value(point[0]) < 0.0:
            zero = {name: np.zeros(()) for name in best}
            return self._told(np.zeros_like(f), zero, alpha)
        return point

    @abstractmethod
    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        """As the base asks."""

    def _feasible(self, alpha: Array) -> Array:
        """A dual point near to it."""
        return np.abs(self.program.feasible(self.labels * alpha))

    def _complete(self, point: Arrays) -> Arrays:
        """The best scalars and the least slacks, where they were not passed."""
        samples = self._samples
        if len(samples.kept) < samples.total:  # a solver's have no entries of weight 0
            there = {key: point[key] for key in ("q", "xi") if key in point}
            own = {key: v for key, v in there.items() if len(v) == len(samples.kept)}
            point = point | {key: expand(v, samples) for key, v in own.items()}
        if self.function_name not in point:
            return point
        f = self._held(point)
        if not self._scalars.keys() & point.keys():
            point = point | self._best(f)
        if "xi" in point or not self._scalars.keys() <= point.keys():
            return point
        return point | {"xi": self._told(f, point, self._samples.weights)[0]["xi"]}

    def _slope(self, primal: Arrays, name: str) -> tuple[float, float, float]:
        """P = F - nu S rho is linear in nu."""
        s = self._samples.weights
        slope = -float(s.sum()) * float(primal["rho"])
        return slope, gamma(len(s) + 4) * abs(slope), self.program.null

    def _of_all(self, f: Array) -> Array:
        return f if self._matrix is None else expand(f, self._samples)

    def _held(self, point: Arrays) -> Array:
        """Its f; of samples those that count."""
        f = point[self.function_name]
        return f if self._matrix is None else f[self._samples.kept]

    def _dual(self, alpha: Array) -> Arrays:
        """A dual point in the numbering of the caller."""
        dual = {"alpha": alpha, "beta": self._samples.weights - alpha}
        return {name: expand(value, self._samples) for name, value in dual.items()}

    def _told(self, f: Array, scalars: Arrays, alpha: Array) -> tuple[Arrays, Arrays]:
        """A point with its least slacks, and a dual point, in the numbering of the caller."""
        b = float(scalars.get("b", 0.0))
        margins = self.labels * (self.space.scores(f) + self.space.moved(b, f))
        xi = expand(np.maximum(scalars["rho"] - margins, 0.0), self._samples)
        return {self.function_name: self._of_all(f), **scalars, "xi": xi}, self._dual(alpha)

    # -- predictions, storage ----------------------------------------------------------------------

    def scores(self, X: Any, primal: Arrays) -> Array:
        """f(x) for new samples (the matrix k(new, training), if precomputed), shape (m,)."""
        samples, f = self._samples, np.asarray(primal[self.function_name])
        if self.kernel is not None:
            return values_of(self.name, samples, self.kernel, X, f)
        return as_design(read_new(self.name, X, self.features, len(f))).matvec(f)

    def _added(self, primal: Arrays) -> float:
        """What is added to f(x): b, or -rho where there are no classes."""
        return float(primal["b"]) if self._has_classes else -float(primal["rho"])

    def decision_function(self, X: Any, primal: Arrays) -> Array:
        """f(x) + b, or f(x) - rho of one class, for new samples, shape (m,)."""
        return self.scores(X, primal) + self._added(primal)

    def draw(self, axes: Any, solution: Any) -> None:
        """The samples by their scores, with the margin between -rho and rho of two classes."""
        point, f = solution.primal, self._held(solution.primal)
        scores = self.space.scores(f) + self.space.moved(self._added(point), f)
        edge = float(point["rho"]) if self._has_classes else 0.0
        draw_classes(self, axes, solution, scores, self.labels, edge)

    def __repr__(self) -> str:
        n, d = self._samples.X.shape
        what = f"d={d}" if self.kernel is None else f"kernel={self.kernel!r}"
        return f"{self.name}(n={n}, {what}, nu={self.nu!r})"

    def _read_duals(self) -> Arrays:
        alpha = self.statement.constraints["margin"].dual_value
        return {} if alpha is None else {"alpha": expand(np.asarray(alpha), self._samples)}

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        kept = self._samples.kept
        known = dict(point)
        if self._matrix is not None:
            known["q"] = known["q"][kept]
            known["w"] = self._matrix.factor.T @ known["q"]
        known["xi"] = known["xi"][kept]
        named = {"margin": "alpha", "slack": "beta"}
        return known, {label: dual[name][kept] for label, name in named.items() if name in dual}

    # -- posed with CVXPY --------------------------------------------------------------------------

    def _pose(self) -> Statement:
        """Minimise (1/2) |w|^2 + s'xi - nu S rho s.t. f(x_i) >= rho - xi_i, or y_i (f(x_i) + b).

        f(x_i) is A_i.w, A is X or a factor of K.
        """
        A, s, share = self._posed
        w, rho, xi = cp.Variable(A.shape[1], name="w"), cp.Variable(name="rho"), self._vector("xi")
        variables, scores = {"w": w, "rho": rho, "xi": xi}, A @ w
        if self._has_classes:
            variables["b"] = b = cp.Variable(name="b")
            scores = cp.multiply(constant(self.labels, "y"), scores + b)
        constraints = {"margin": scores >= rho - xi, "slack": xi >= 0.0}
        if self._has_classes:
            constraints["rho"] = rho >= 0.0
        if self._matrix is not None:  # w = L'q
            variables["q"] = q = self._vector("q")
            constraints["function"] = w == A.T @ q
        value = 0.5 * cp.sum_squares(w) + s @ xi - float(s.value.sum()) * (share * rho)
        return Statement.of(cp.Minimize(value), variables, constraints, {"nu": share})

    def _pose_dual(self) -> Statement:
        """Maximise -(1/2) |A'q|^2, q_i = alpha_i y_i, 0 <= alpha <= s, sum alpha = nu S; >= with y.

        Its multipliers are the primal solution: rho of ``total``, xi of ``upper``, b of
        ``intercept``.
        """
        A, s, share = self._posed
        q = alpha = self._vector("alpha")
        sum_, total = cp.sum(alpha), float(s.value.sum()) * share
        rows = {"lower": alpha >= 0.0, "upper": alpha <= s, "total": sum_ == total}
        if self._has_classes:
            q = cp.multiply(constant(self.labels, "y"), alpha)
            rows |= {"total": sum_ >= total, "intercept": cp.sum(q) == 0.0}
        value = -0.5 * cp.sum_squares(A.T @ q)
        return Statement.of(cp.Maximize(value), {"alpha": alpha}, rows, {"nu": share})

    @property
    def _posed(self) -> tuple[Any, Any, Any]:
        """X or a factor of K, the weights and nu, of CVXPY."""
        A = constant(self._samples.X, "X")
        if self._matrix is not None:
            A = constant(self._matrix.factor, "Phi")
        share = cp.Parameter(nonneg=True, name="nu", value=self.nu)
        return A, constant(self._samples.weights, "s"), share

    def _vector(self, name: str) -> Any:
        """A variable with an entry for each sample."""
        return cp.Variable(len(self._samples.weights), name=name)

    # -- told in LaTeX -----------------------------------------------------------------------------

    def _formulas(self) -> Latex:
        two, kernel = self._has_classes, self.kernel
        f, name, square = r"w^\top x_i", "w", r"\|w\|_2^2"
        if kernel is not None:
            f, name, square = r"(Kq)_i", "q", r"q^\top K q"
        z = f"y_i ({f} + b)" if two else f
        push = pushed(r"\alpha_i y_i" if two else r"\alpha_i", kernel)
        cost = rf"\tfrac12 {square} + \sum_i s_i \xi_i - \nu \rho \sum_i s_i"
        rows = rf"{z} \ge \rho - \xi_i", r"\xi_i \ge 0", two * r"\rho \ge 0"
        box, balance = r"0 \le \alpha_i \le s_i", two * r"\sum_i \alpha_i y_i = 0"
        sums = r"\sum_i \alpha_i " + (r"\ge" if two else "=") + r" \nu \sum_i s_i"
        margin, over = rf"\alpha_i (\rho - \xi_i - {z})", name + two * ", b" + r", \rho, \xi"
        conditions = (
            f"{'w' if kernel is None else 'Kq'} = {push}",
            r"\alpha_i + \beta_i = s_i",
            box,
            balance,
            r"\sum_i \alpha_i = \nu \sum_i s_i" + two * r" + \gamma,\ \gamma \ge 0",
            *rows,
            f"{margin} = 0",
            r"\beta_i \xi_i = 0",
            two * r"\gamma \rho = 0",
        )
        return Latex(
            rf"\min_{{{over}}}\ {cost}" + such_that(*rows, gram(kernel)),
            rf"{cost} + \sum_i {margin} - \sum_i \beta_i \xi_i" + two * r" - \gamma \rho",
            rf"\max_\alpha\ -\tfrac12 {push.squared}" + such_that(box, balance, sums),
            tuple(filter(None, conditions)),
            listed(self._samples.weighted * KEPT, f"z_i = {f}" + two * " + b", WEIGHTS),
            eliminated="" if kernel is None else FACTORED,
            over=(name, r"\xi", *two * ("b",), r"\rho"),
        )


# The support vector machine whose margin is found: nu in place of C.


LARGEST, NU_SVC_STEPS = 6000, 2000
"""Samples whose whole K is made; pairs between two evaluations."""
NEARLY = 1e-6
"""By less nu is too large in digits that are not shown."""
FALL, IDLE = 0.9, 5
"""So many evaluations without a violation of this share of the least end it: rounding moves."""


class NuSVC(Predicting, NuMachine):
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

    classes: Array
    scikit_learn: ClassVar = {"NuSVC": {"nu": "nu = nu"}}
    _scalars: ClassVar[Shapes] = {"b": (), "rho": ()}

    def __init__(
        self, X: Any, y: Any, nu: float, kernel: Any = None, *, sample_weight: Any = None
    ) -> None:
        self._start(read_samples(self.name, X, y, sample_weight, "binary"), nu, kernel)
        assert self._samples.classes is not None
        self.classes = self._samples.classes

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        """Pairs within the classes, from weights in proportion."""
        s, y, n = self._samples.weights, self.labels, len(self._samples.weights)
        alpha = self._feasible(np.zeros(n))
        yield self._at(alpha)
        if n > LARGEST:
            return
        K = self._gram()
        slack = 8.0 * EPS * float(np.abs(K).max(initial=0.0)) * self.total
        best, idle = np.inf, 0
        while best > slack and idle < IDLE:
            g = y * (K @ (y * alpha))
            violation = climb(K, g, alpha, s, y, NU_SVC_STEPS, slack)
            yield self._at(alpha.copy())
            idle = 0 if violation < FALL * best else idle + 1
            best = min(best, violation)

    def _gram(self) -> Array:
        """All of K; of the linear machine about the mean of the samples, as sum alpha_i y_i = 0."""
        if self._matrix is not None:
            return self._matrix.dense
        assert isinstance(self.space, OfFeatures)
        A = self.space.A
        K = A @ A.T
        return np.asarray(K.toarray() if hasattr(K, "toarray") else K)

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


# The one-class support vector machine: a half-space, or a level of f, that holds most samples.


ON = 1e-10
"""Of rho: by so little f misses it at samples that hold it; they are inside."""
CLOSE = (1e-10, 1e-14)
"""Relative gaps of the regression that is solved instead: P may be far below its own."""


def about_mean(X: Any) -> Any:
    """A dense X less the means of its columns: of samples the differences are all that counts."""
    return X if sparse.issparse(X) else X - X.mean(axis=0)


class OneClassSVM(NuMachine):
    r"""Minimise (1/2) |f|^2 + sum_i s_i xi_i - nu S rho s.t. f(x_i) >= rho - xi_i, xi_i >= 0.

    f(x) = w.x, or f = sum_j q_j k(x_j, .) with a kernel; S = sum_i s_i. At most the share nu of
    the weights has f(x_i) < rho, and those with f(x_i) <= rho are at least that share. New samples
    are told apart by f(x) - rho: ``predict`` says +1 where it is >= 0, -1 elsewhere. As
    scikit-learn's OneClassSVM. Source: Scholkopf et al. (2001),
    https://doi.org/10.1162/089976601750264965.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows; the kernel matrix (n, n) for a precomputed kernel.
    nu : float
        Share of the samples that may be left outside, 0 < nu <= 1.
    kernel : Kernel, optional
        For example ``kernels.Gaussian(1.0)``; None is f(x) = w.x.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For a nu outside of (0, 1], NaN or infinite entries, wrong shapes, bad weights, a kernel
        matrix that is not positive semidefinite.

    Notes
    -----
    The dual maximises -(1/2) sum_ij alpha_i alpha_j k(x_i, x_j) subject to 0 <= alpha_i <= s_i and
    sum_i alpha_i = nu S; f = sum_i alpha_i k(x_i, .), beta = s - alpha. P is 0 at f = 0: gaps are
    measured on max(|P|, |D|, 1e-6 (nu S)^2 / 2 mean k(x_i, x_i)).
    """

    scikit_learn: ClassVar = {"OneClassSVM": {"nu": "nu = nu"}}

    @property
    def methods(self) -> tuple[str, ...]:  # type: ignore[override]
        """Those on features, after working sets of the matrix of a kernel."""
        on_features = ("augmented_lagrangian", "interior_point")
        return on_features if self._matrix is None else ("smo", *on_features)

    def __init__(self, X: Any, nu: float, kernel: Any = None, *, sample_weight: Any = None) -> None:
        self._start(read_samples(self.name, X, None, sample_weight, "none"), nu, kernel)

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        """Steps on u = nu s - alpha, the dual point of a quantile regression of -nu K s.

        With w = v + nu sum_i s_i x_i the problem is (1/2) |v|^2 and the pinball losses of v.x_i -
        rho, tau = 1 - nu, but for a constant.
        """
        s, space = self._samples.weights, self.space
        start = self.nu * s
        yield self._at(start)
        if self.nu == 1.0:  # then alpha = s
            return
        loss, penalty = Pinball(1.0 - self.nu), L2(1.0)
        if self._matrix is not None and solver == "smo":
            y = -space.scores(space.of(start))
            rows = KernelObjective(self._matrix, y - y.mean(), loss, penalty, s, True)
            for step in smo(rows, np.zeros(len(s)), 0.0):
                if step.u is not None:
                    yield self._at(self._feasible(start - step.u))
            return
        design = self._samples.X if self._matrix is None else self._matrix.factor
        A = about_mean(design)
        y = -(A @ (design.T @ start))
        regression = LearningProblem(A, y, loss, penalty, sample_weight=s, loss_scale="sum")
        for tol in CLOSE:
            found = regression.solve(solver, tol=tol)
            if "u" in found.dual:
                yield self._at(self._feasible(start - found.dual["u"]))

    def predict(self, X: Any, primal: Arrays) -> Array:
        """+1 where f(x) >= rho, but for the last digits, else -1, shape (m,)."""
        least = -ON * abs(float(primal["rho"]))
        return np.where(self.decision_function(X, primal) >= least, 1, -1)

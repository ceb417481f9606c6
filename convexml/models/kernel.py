"""Models over the functions of a kernel: the matrix, ways to solve, and what they share."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np

from ..certificates import Certificate
from ..certificates.learning.existence import Evidence
from ..certificates.learning.kernel import certify_kernel
from ..certificates.learning.repair import repair_dual
from ..certificates.learning.separation import separating_direction
from ..certificates.support import CertifiedSupport, certify_support
from ..data import as_design
from ..deadline import limited
from ..errors import InputError, warn
from ..kernels import ALL, Kernel, Precomputed, Product, Scaled, Sum
from ..kernels.approximation import fourier_features, low_rank
from ..kernels.matrix import (
    CLIPPED,
    INDEFINITE,
    KernelMatrix,
    clipped,
    is_rounded,
    least_eigenvalue,
)
from ..losses import Loss
from ..numerics import EPS, Array
from ..penalties import L2
from ..problem import Frame, Objective
from ..problem.kernel import KernelObjective
from ..progress import watched
from ..solvers.needs import NEEDS
from ..solvers.registry import ALGORITHMS
from ..validation import for_part, positive_number
from .base import Argument, Hyperparameter
from .inputs import Samples, read_dual, read_intercept, read_new
from .outcome import Attempt, judge_stored, stored_attempt
from .portfolio import Limits, first_verified
from .posing import Parts, Values, coefficients, contradiction, in_words, read_parts
from .problem import LearningProblem, TextbookModel
from .solution import Solution
from .solving import run_algorithm

# The kernel matrix of the samples, checked.


def kernel_matrix(owner: str, kernel: Kernel, samples: Samples) -> KernelMatrix:
    """The kernel matrix; it is factored at once where no theorem says that it is semidefinite.

    Negative eigenvalues that may be rounding are clipped, with a warning.

    Raises
    ------
    InputError
        For a precomputed matrix of the wrong shape, an overflow, a K that is not semidefinite.
    """
    X = samples.X
    if not kernel.takes_samples:
        if X.shape[1] != samples.total:
            raise InputError(
                f"{owner}: a precomputed kernel needs the matrix of shape (n, n), got "
                f"({samples.total}, {X.shape[1]})."
            )
        X = X[:, samples.kept]
    matrix = KernelMatrix(owner, kernel, X)
    if matrix.is_exact:
        return matrix
    if is_rounded(matrix.dense):
        try:
            matrix.factor  # noqa: B018
            return matrix
        except InputError:
            near = clipped(matrix.as_given())
            if near is None:
                raise
    else:
        near = clipped(matrix.as_given())
        if near is None:
            raise InputError(f"{owner}: {INDEFINITE.format(least_eigenvalue(matrix.dense))}")
    K, least = near
    warn(f"{owner}: {CLIPPED.format(least)}")
    matrix = KernelMatrix(owner, Precomputed(), K, projected=True)
    matrix.factor  # noqa: B018
    return matrix


def values_of(owner: str, samples: Samples, kernel: Kernel, X: Any, q: Array) -> Array:
    """sum_j q_j k(x_j, x) of new samples, shape (m,)."""
    new = read_new(owner, X, samples.feature_names, samples.X.shape[1])
    rows = new if kernel.takes_samples else new[:, samples.kept]
    return kernel(rows, samples.X) @ q[samples.kept]


# Evidence that a kernel problem has no solution, of the kernel and not of a rounded factor.


def confirmed(parts: KernelObjective, claim: str, evidence: Evidence) -> Evidence | None:
    """Evidence found through the factor, told in q, where it holds of the kernel; else None.

    Of a factor without rounding it does. A matrix that is given spans the predictions K q: it is
    asked itself. Of other kernels a direction holds where no sign of K q + b is left to rounding,
    and a contradiction never: it needs that K u = 0.
    """
    if parts.matrix.exact_factor is None:
        if not parts.matrix.kernel.takes_samples:
            return _of_matrix(parts, claim)
        if claim == "infeasible" or not _keeps_signs(parts, evidence):
            return None
    return _told(evidence, parts.lift(evidence.arrays["w"])) if claim == "unattained" else evidence


def _told(evidence: Evidence, q: Array) -> Evidence:
    arrays = {name: value for name, value in evidence.arrays.items() if name != "w"}
    return replace(evidence, arrays={"q": q} | arrays)


def _of_matrix(parts: KernelObjective, claim: str) -> Evidence | None:
    K = parts.matrix.as_given()
    if not np.array_equal(K, K.T):
        return None
    design, intercept = as_design(K), parts.fit_intercept
    exact = Objective(design, parts.y, parts.loss, parts.penalty, parts.c, intercept)
    if claim == "infeasible":
        return contradiction(exact)
    found = separating_direction(exact)
    return None if found is None else _told(found, found.arrays["w"])


def _keeps_signs(parts: KernelObjective, evidence: Evidence) -> bool:
    """Whether K q + b has the sign in which the loss falls, whatever rounding of K does."""
    q, b = parts.lift(evidence.arrays["w"]), float(evidence.arrays["b"])
    f, lost = parts.matrix.product(q), parts.matrix.product_error(q)
    z, (lo, hi) = f + b, parts.bare.slope_bounds
    away = np.abs(z) > lost + 4.0 * EPS * (np.abs(f) + abs(b))
    return bool(np.all(away & np.where(z > 0.0, hi == 0.0, lo == 0.0)))


# A kernel problem solved through rows of its matrix, and certified without a factor of it.


NAME = "smo"
PATIENCE = 30.0
"""Passes over all of K after which a pace that is too slow ends a first attempt."""
WHY = f"auto chose {NAME}: the dual is a quadratic program in a box, of few support vectors."


def solve_kernel(
    problem: Any, solver: str, options: Mapping[str, Any], through_factor: Callable[[], Solution]
) -> Solution:
    """By working sets of K where that was asked for or is best; else through a factor of K.

    Parameters
    ----------
    problem : KernelModel
    solver : str
    options : mapping
        As of ``solve``; w0 is a start in q.
    through_factor : callable
        Solves with the factor as design; a checkpoint keeps a point in its coordinates.

    Raises
    ------
    InputError
        If working sets of K are asked for by name with a checkpoint.
    """
    if (file := options.get("checkpoint")) is not None:
        if str(solver).lower() == NAME:
            raise InputError(
                f"{problem.name}.solve: {NAME} keeps no checkpoint, got {str(file)!r}. Leave it "
                "out, or take another solver, as 'auto'."
            )
        return through_factor()
    objective: Any = problem.kernel_parts
    known = all(NEEDS[need][0](objective) for need in ALGORITHMS[NAME].needs)
    if str(solver).lower() == NAME and known:
        return attempt(problem, options)
    # Where the box has ends, samples leave the problem at them.
    if solver != "auto" or not known or objective.bare.is_unbounded:
        return through_factor()
    first = attempt(problem, options, PATIENCE)

    def in_turn() -> Iterator[Solution]:
        yield first
        yield through_factor()

    return first_verified(in_turn(), WHY)


def attempt(problem: Any, options: Mapping[str, Any], patience: float = np.inf) -> Solution:
    """Run the working sets, and certify what they return."""
    given = {"tol": 1e-6, "max_seconds": None, "max_iter": None} | dict(options)
    known = ("tol", "max_seconds", "max_iter", "seed", "w0", "polish", "carried", "checkpoint")
    limits = Limits.read(**{name: given.pop(name) for name in known if name in given})
    if patience < np.inf:  # nobody looks at what is not expected to do
        limits = replace(limits, patience=patience, aim=limits.tol)
    objective: Any = problem.kernel_parts
    frame = Frame(objective, np.zeros(0), np.ones(objective.n), is_trivial=True)
    q, b, _, facts = run_algorithm(problem, frame, NAME, limits, given)
    told = Attempt(problem, NAME, limits.tol, facts)
    if q is None:
        return told.failed()
    return judged_function(told, q, b)


def judged_function(told: Attempt, q: Array, b: float, u: Array | None = None) -> Solution:
    """A function that an attempt ended with, certified; of the primal's variables all but w."""
    problem: Any = told.problem
    objective: KernelObjective = problem.kernel_parts
    found = certify_kernel(objective, q, b, u, tol=told.tol, refute=False)
    loss, y, z, u = objective.loss, objective.y, objective.predict(q, b), found.dual["u"]
    values = {"q": q, "b": np.asarray(b), "z": z, **loss.slacks(y, z)}
    return told.judged(found, (values, {"prediction": u, **loss.multipliers(y, u, objective.c)}))


def judge_function(
    problem: Any, primal: Values, dual: Values, document: Mapping[str, Any]
) -> Solution:
    """Judge a stored function again: with -lam q as dual point, with the stored one, by K = LL'."""
    if "q" in primal:
        q, b = problem._passed_point(primal["q"], primal.get("b", 0.0))
        stored = stored_attempt(problem, document)
        given: list[Any] = [None]
        if "u" in dual:
            given.append(read_dual(problem.name, dual["u"], problem._samples))
        for u in given:
            found = judged_function(stored, q, b, u)
            if found.certificate.holds():
                return found
        primal = dict(primal) | {"w": problem.kernel_parts.project(q)}
    return judge_stored(problem, primal, dual, document)


# A kernel problem solved on few features, and certified for the kernel itself.


CLOSER = 1e-2
"""Of the gap that is asked for: that of the problem on the features."""
Back = Callable[[Solution], tuple[Array, float]]
"""From the solution on the features to (q, b)."""


class Approximated:
    """A kernel problem that is solved on few features where K is large."""

    @watched
    @limited
    def approximate(
        self: Any,
        method: str = "nystrom",
        rank: int | None = None,
        *,
        seed: int = 0,
        tol: float = 1e-6,
        solver: str = "auto",
        max_seconds: float | None = None,
    ) -> Solution:
        r"""Solve F(Z w + b) + (lam/2) |w|^2 with few features Z; certify for the kernel itself.

        Both problems have the same losses, so a dual point u of one is one of the other, with
        D(u) = -F*(u) - u'K u / (2 lam) there; and P is evaluated for a function of the kernel.
        So ``gap`` bounds how far that function is from the exact optimum, which is never solved
        for. K takes n^2 evaluations of the kernel, n numbers at a time.

        Parameters
        ----------
        method : "nystrom" or "fourier"
            "nystrom": Z is the factor of ``kernels.pivoted_cholesky``, and f = sum_j q_j k(x_j, .)
            over its r pivots. "fourier": Z are ``kernels.fourier_features``, and f is
            -sum_i u_i k(x_i, .) / lam with its best b.
        rank : int, optional
            The most features. None: for "nystrom" as many as leave 1e-8 of the trace of K, for
            "fourier" n.
        seed : int
            Of the random frequencies.
        tol : float
            Tolerance of the certificate.
        solver : str
            Of the problem on the features.
        max_seconds : float, optional
            For the problem on the features.

        Returns
        -------
        Solution
            "optimal" where the certificate holds at tol, else "inaccurate" with an honest gap.

        Raises
        ------
        InputError
            For lam = 0, an unknown method, a bad rank, a kernel without a law of frequencies.
        """
        owner, start = f"{self.name}.approximate", time.perf_counter()
        tol = positive_number(tol, owner, "tol")
        if self.kernel_parts.lam == 0.0:
            raise InputError(f"{owner}: lam must be > 0; without a penalty no u bounds P*.")
        Z, back = _features(self, owner, method, rank, seed)
        found = _on_features(self, Z).solve(solver, tol=CLOSER * tol, max_seconds=max_seconds)
        facts = {
            "claimed_status": found.status,
            "choice": f"{method}: {Z.shape[1]} features, solved by {found.solver}",
            "iterations": found.iterations,
            "seconds": time.perf_counter() - start,
            "message": found.message,
        }
        told = Attempt(self, method, tol, facts)
        if not {"w", "b"} <= set(found.primal) or "u" not in found.dual:
            return told.failed()
        return judged_function(told, *back(found), found.dual["u"])


def _on_features(problem: Any, Z: Array) -> LearningProblem:
    """The same losses and penalty on features."""
    parts = problem.kernel_parts
    return LearningProblem(
        Z,
        parts.y,
        parts.loss,
        parts.penalty,
        fit_intercept=parts.fit_intercept,
        sample_weight=parts.c,
        loss_scale="sum",
    )


def _features(
    problem: Any, owner: str, method: str, rank: int | None, seed: int
) -> tuple[Array, Back]:
    """The features, and the way back to a function of the kernel with its intercept."""
    parts = problem.kernel_parts
    if method == "nystrom":
        few = low_rank(parts.matrix, rank)

        def of_pivots(found: Solution) -> tuple[Array, float]:
            return few.coefficients(found.primal["w"]), float(found.primal["b"])

        return few.L, of_pivots
    if method == "fourier":

        def of_dual(found: Solution) -> tuple[Array, float]:
            q = -found.dual["u"] / parts.lam + 0.0
            return q, float(parts.best_intercept(parts.matrix.product(q)))

        most = parts.n if rank is None else rank
        return fourier_features(problem.kernel, parts.matrix.X, most, seed, owner), of_dual
    raise InputError(f"{owner}: method must be 'nystrom' or 'fourier', got {method!r}.")


PARTS = [each.__name__ for each in ALL.values() if each not in (Product, Scaled, Sum)]


class KernelModel(Approximated, TextbookModel):
    """A learning problem over the functions f = sum_j q_j k(x_j, .), with penalty on |f|_H.

    By the representer theorem this is no restriction. P, D and the certificate need the rows of
    the kernel matrix K at the nonzero q_j alone. Whoever wants a design matrix gets a factor
    K = L L': in the coordinates w = L'q, |w| = |f|_H, the problem is the linear model with design
    L; its solvers and dual points are inherited.
    """

    takes_blocks = False
    _design_name = "Phi"
    _judge = staticmethod(certify_kernel)

    kernel: Kernel = Argument()
    """Fixed: another kernel is another problem."""

    def _start(self, X: Any, y: Any, fit_intercept: bool, sample_weight: Any, **hyper: Any) -> None:
        kernel = hyper.pop("kernel")
        if not isinstance(kernel, Kernel):
            raise InputError(
                f"{self.name}: kernel must be one of convexml.kernels, got {kernel!r}."
                f"{for_part(kernel, 'kernels', PARTS)}"
            )
        self._kernel = kernel
        super()._start(X, y, fit_intercept, sample_weight, **hyper)

    def _compose(self, samples: Samples, intercept: bool) -> None:
        matrix, (loss, penalty, scale) = kernel_matrix(self.name, self.kernel, samples), self._parts
        c = coefficients(self.name, samples.weights, scale)
        found: Any = KernelObjective(matrix, samples.y, loss, penalty, c, intercept)
        self._objective = found

    @property
    def kernel_parts(self) -> KernelObjective:
        """The problem over functions."""
        return cast(KernelObjective, self._objective)

    @property
    def objective_parts(self) -> Objective:
        """The problem in w = L'q; the factor is made for the first who asks."""
        return self.kernel_parts.coordinates

    @property
    def sample_parts(self) -> Objective:
        """The samples, the loss and the intercept, with f = 0."""
        return self.kernel_parts.bare

    def posed_values(self, w: Array, b: float, u: Array) -> tuple[dict[str, Any], dict[str, Any]]:
        """Values of the primal's variables and of q, and multipliers by label."""
        parts = self.kernel_parts
        q = parts.represent(w, b, u)
        values, multipliers = super().posed_values(parts.project(q), b, u)
        return {"q": q} | values, multipliers

    def coordinates(self, primal: Values) -> Array:
        """The coordinates w = L'q in which the problem is posed."""
        return self.kernel_parts.project(primal["q"][self._samples.kept])

    def norm(self, primal: Values) -> float:
        """|f|_H."""
        q = primal["q"][self._samples.kept]
        return float(np.sqrt(max(float(q @ self.kernel_parts.matrix.product(q)), 0.0)))

    @property
    def coefficients_shape(self) -> tuple[int, ...]:
        """The shape of q: one coefficient per sample."""
        return (self._samples.total,)

    def _fill(self) -> None:
        posed = None if self._last is None else self._last.posed
        if self._statement is not None and posed is not None and "w" not in posed[0]:
            posed[0]["w"] = self.kernel_parts.project(posed[0]["q"])
        super()._fill()

    # -- values ------------------------------------------------------------------------------

    @property
    def _valued(self) -> KernelObjective:
        return self.kernel_parts

    def _passed_point(self, w: Any, b: Any) -> tuple[Array, Any]:
        q = read_dual(self.name, w, self._samples, "q")
        return q, read_intercept(self.name, b, self.sample_parts)

    def objective(self, q: Any, b: float = 0.0) -> float:
        """P(q, b) = F(K q + b) + (lam/2) q'K q, q of shape (n,)."""
        return super().objective(q, b)

    def certify(self, q: Any, b: Any = None, u: Any = None, *, tol: float = 1e-6) -> Certificate:
        """Judge f = sum_j q_j k(x_j, .) + b, whoever computed it.

        Parameters
        ----------
        q : array, shape (n,)
            Coefficients; for the support vector machine alpha_i y_i.
        b, u, tol
            As of every learning problem.

        Returns
        -------
        Certificate
        """
        return super().certify(q, b, u, tol=tol)

    def certified_support(self, q: Any, b: float | None = None, u: Any = None) -> CertifiedSupport:
        """Label the samples of every solution; its coordinates are those of w = L'q.

        Parameters
        ----------
        q, b, u
            As of ``certify``; q near a minimiser.

        Returns
        -------
        CertifiedSupport
            Of the problem as posed, through the factor K = L L'.
        """
        q, b, u = self._passed(q, b, u)
        found = certify_support(self.objective_parts, self.kernel_parts.project(q), b, u)
        return found.expanded(self._samples.kept, self._samples.total)

    def judge_solved(self, w: Array, b: float, u: Array | None, tol: float) -> Certificate:
        """The certificate of the function with coordinates w; the solver's u is tried first."""
        if u is not None and np.all(np.isfinite(u)):
            found = self._judge_pair(w, b, repair_dual(self.objective_parts, u).u, tol, "solver")
            if found.relative_gap <= min(tol, 1e-10):
                return found
        inner = super().judge_solved(w, b, u, tol)
        return self._judge_pair(w, b, inner.dual["u"], tol, inner.dual_source)

    def _judge_pair(self, w: Array, b: float, u: Array, tol: float, source: str) -> Certificate:
        parts = self.kernel_parts
        q = parts.represent(w, b, u)
        if parts.lam == 0.0 and parts.matrix.exact_factor is None:
            return certify_kernel(parts, q, b, tol=tol, refute=False)
        found = certify_kernel(parts, q, b, u, tol=tol, refute=False)
        return found.but(dual_source=source)

    def confirmed(self, claim: str, evidence: Evidence) -> Evidence | None:
        """See ``LearningProblem``: what is said of a rounded factor need not hold of the kernel."""
        return confirmed(self.kernel_parts, claim, evidence)

    @limited
    def solve(self, solver: str = "auto", **options: Any) -> Solution:
        """Solve, polish, certify; ``primal`` holds q and b, w = L'q is in ``variables`` only.

        Parameters
        ----------
        solver : str
            A registered name, or "auto".
        **options
            As of every learning problem; w0 is a start in q, shape (n,).

        Returns
        -------
        Solution
        """
        start = options.get("w0")
        if start is not None:
            start = read_dual(self.name, start, self._samples, "w0")

        def through_factor() -> Solution:
            own = {} if start is None else {"w0": self.kernel_parts.project(start)}
            return super(KernelModel, self).solve(solver, **(options | own))

        own = options if start is None else options | {"w0": start}
        self._last = solution = solve_kernel(self, solver, own, through_factor)
        self._fill()
        return solution

    # -- predictions, storage ----------------------------------------------------------------

    def decision_function(self, X: Any, primal: Values) -> Array:
        """f(x) + b for new samples (the matrix k(new, training), if precomputed), shape (m,)."""
        f = values_of(self.name, self._samples, self.kernel, X, primal["q"])
        return f + primal["b"]

    def recertify(self, primal: Values, dual: Values, document: Mapping[str, Any]) -> Solution:
        """Judge a stored point again; nothing that the document claims is used."""
        return judge_function(self, primal, dual, document)

    @property
    def _told(self) -> dict[str, Any]:
        """The hyperparameters that ``repr`` tells."""
        return self._hyper

    def __repr__(self) -> str:
        settings = in_words(self._told)
        return f"{self.name}(n={self.kernel_parts.n}, kernel={self.kernel!r}{settings})"


# Any loss with the penalty on the norm of a function of a kernel.


class KernelProblem(KernelModel):
    r"""Minimise sum_i c_i l(y_i, f(x_i) + b) + (lam/2) |f|_H^2, f = sum_j q_j k(x_j, .).

    Kernel ridge, logistic and support vector machines have names of their own; this is the same
    for every other loss of one score: Huber, quantile, squared hinge, Poisson, hard margin, one
    of the user's. By the representer theorem q = -u / lam, and D(u) = -F*(u) - u'K u / (2 lam).
    Sources: [G] 5, [P] 16.5.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows; the kernel matrix (n, n) for a precomputed kernel.
    y : array, shape (n,)
        Real numbers, two labels of any kind (the larger is +1) or counts >= 0, as the loss asks.
    loss : Loss
        For example ``losses.Huber(1.0)``.
    lam : float
        Strength, >= 0.
    kernel : Kernel
        For example ``kernels.Gaussian(1.0)``.
    fit_intercept : bool
        Whether b is free; else b = 0.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.
    loss_scale : "mean", "sum" or float
        c_i = s_i / sum(s), s_i, or the number times s_i.

    Raises
    ------
    InputError
        For a negative lam, a loss of several scores, labels that do not fit the loss, a kernel
        matrix that is not positive semidefinite, NaN or infinite entries, wrong shapes, bad
        weights.
    """

    lam = Hyperparameter()

    def __init__(
        self,
        X: Any,
        y: Any,
        loss: Loss,
        lam: float,
        kernel: Any,
        *,
        fit_intercept: bool = True,
        sample_weight: Any = None,
        loss_scale: str | float = "mean",
    ) -> None:
        self._parts = read_parts(loss, L2(0.0), loss_scale, self.name)
        if loss.labels == "classes":
            raise InputError(
                f"{self.name}: loss must be of one score a sample, got {loss!r}. Pose one problem "
                "for each class with losses.Logistic(), or SoftmaxRegression on features."
            )
        self._start(X, y, fit_intercept, sample_weight, lam=lam, kernel=kernel)

    def _make(self, **hyper: Any) -> Parts:
        loss, _, scale = self._parts
        return loss, L2(hyper["lam"]), scale

    @property
    def _told(self) -> dict[str, Any]:
        return {"loss": self._parts[0]} | self._hyper

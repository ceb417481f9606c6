"""The one-class support vector machine: a half-space, or a level of f, that holds most samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ...losses import Pinball
from ...numerics import Array
from ...objective.kernel import KernelObjective
from ...penalties import L2
from ...solvers.dual.smo import smo
from ...tex import listed
from ..arrays.problem import Arrays
from ..latex import FACTORED, KEPT, WEIGHTS, Latex, gram, such_that
from ..pictures.learning import draw_machine
from ..problem import LearningProblem
from ..reading.inputs import read_samples
from .nu import NuMachine

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

    def __init__(self, X: Any, nu: float, kernel: Any = None, *, sample_weight: Any = None) -> None:
        self._start(read_samples(self.name, X, None, sample_weight, "none"), nu, kernel)

    @property
    def labels(self) -> Array:
        """Ones."""
        return np.ones(len(self._samples.weights))

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
                    yield self._at(self._balanced(start - step.u))
            return
        design = self._samples.X if self._matrix is None else self._matrix.factor
        A = about_mean(design)
        y = -(A @ (design.T @ start))
        regression = LearningProblem(A, y, loss, penalty, sample_weight=s, loss_scale="sum")
        for tol in CLOSE:
            found = regression.solve(solver, tol=tol)
            if "u" in found.dual:
                yield self._at(self._balanced(start - found.dual["u"]))

    def _balanced(self, alpha: Array) -> Array:
        return self._part(self._nothing(), alpha).feasible(alpha)

    def _at(self, alpha: Array) -> tuple[Arrays, Arrays]:
        """f = sum_i alpha_i k(x_i, .) with its best rho, and alpha."""
        f = self.space.of(alpha)
        return self._told(f, {"rho": np.array(self._level(f))}, alpha)

    def _level(self, f: Array) -> float:
        """The rho that is best for f: a quantile of the f(x_i)."""
        scores = self.space.scores(f)
        order = np.argsort(scores, kind="stable")
        below = np.cumsum(self._samples.weights[order])
        at = min(int(np.searchsorted(below, self.total * (1.0 - 1e-12))), len(order) - 1)
        return float(scores[order[at]])

    def _best(self, f: Array) -> Arrays:
        return {"rho": np.array(self._level(f))}

    def decision_function(self, X: Any, primal: Arrays) -> Array:
        """f(x) - rho for new samples, shape (m,)."""
        return self.scores(X, primal) - float(primal["rho"])

    def predict(self, X: Any, primal: Arrays) -> Array:
        """+1 where f(x) >= rho, but for the last digits, else -1, shape (m,)."""
        least = -ON * abs(float(primal["rho"]))
        return np.where(self.decision_function(X, primal) >= least, 1, -1)

    def draw(self, axes: Any, solution: Any) -> None:
        """The samples by f(x) - rho, which is >= 0 inside."""
        f = solution.primal[self.function_name]
        f = f if self._matrix is None else f[self._samples.kept]
        scores = self.space.scores(f) - float(solution.primal["rho"])
        draw_machine(self, axes, solution, scores, 0.0)

    def _formulas(self) -> Latex:
        f = r"w^\top x_i" if self.kernel is None else r"(Kq)_i"
        square = r"\|w\|_2^2" if self.kernel is None else r"q^\top K q"
        form = r"\|\sum_i \alpha_i x_i\|_2^2" if self.kernel is None else r"\alpha^\top K \alpha"
        solves = r"w = \sum_i \alpha_i x_i" if self.kernel is None else r"Kq = \sum_i \alpha_i K_i"
        cost = rf"\tfrac12 {square} + \sum_i s_i \xi_i - \nu \rho \sum_i s_i"
        rows = rf"{f} \ge \rho - \xi_i", r"\xi_i \ge 0"
        box = r"0 \le \alpha_i \le s_i", r"\sum_i \alpha_i = \nu \sum_i s_i"
        margin = rf"\alpha_i (\rho - \xi_i - {f})"
        return Latex(
            rf"\min_{{{'w' if self.kernel is None else 'q'}, \rho, \xi}}\ {cost}"
            + such_that(*rows, gram(self.kernel)),
            rf"{cost} + \sum_i {margin} - \sum_i \beta_i \xi_i",
            rf"\max_\alpha\ -\tfrac12 {form}" + such_that(*box),
            (
                solves,
                r"\alpha_i + \beta_i = s_i",
                *box,
                *rows,
                f"{margin} = 0",
                r"\beta_i \xi_i = 0",
            ),
            listed(self._samples.weighted * KEPT, f"z_i = {f}", WEIGHTS),
            eliminated="" if self.kernel is None else FACTORED,
            over=("w" if self.kernel is None else "q", r"\xi", r"\rho"),
        )

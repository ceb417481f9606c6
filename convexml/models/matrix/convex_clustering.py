"""Convex clustering: every sample has a centre, and centres of near samples merge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from ...certificates import Certificate
from ...certificates.matrix.fusion import Fusion
from ...errors import InputError
from ...numerics import Array
from ...objective import Statement, label_all
from ...objective.matrix.fusion import differences
from ...terms import constant
from ...validation import finite_array, nonnegative_number
from ..arrays.problem import ArrayProblem, Arrays, Shapes
from ..base import Hyperparameter
from ..latex import Latex, such_that
from ..likelihood.samples import Rows, read_rows
from ..pictures.points import draw_points
from ..solution import Solution
from .cluster_path import ClusterPath, clusters


class ConvexClustering(ArrayProblem):
    r"""Minimise (1/2) sum_i |x_i - U_i|^2 + lam sum_{i<j} w_ij |U_i - U_j|.

    The norm is the Euclidean one. Samples with one U are a cluster; for lam = 0 each is its own,
    for large lam all are one, at the mean.

    Parameters
    ----------
    X : array, shape (n, d)
        Samples in rows; some hundreds, as there are n (n - 1) / 2 pairs.
    lam : float
        Strength >= 0.
    weights : array, shape (n, n), optional
        Symmetric, w_ij >= 0; ones by default. The diagonal does not count.

    Raises
    ------
    InputError
        For NaN or infinite entries, wrong shapes, weights that are negative or not symmetric, a
        negative lam.

    Notes
    -----
    The dual maximises <V, A X> - |A'V|^2 / 2 over V_ij with |V_ij| <= lam w_ij, A the differences
    of pairs; U = X - A'V. With equal weights the clusters merge along lam as a tree (Chiquet,
    Gutierrez and Rigaill, 2017, https://doi.org/10.1080/10618600.2016.1200469); with others
    they may come apart, which ``path`` reports. Hocking et al., *Clusterpath* (2011).
    """

    lam = Hyperparameter()
    methods: ClassVar[tuple[str, ...]] = ("fista",)
    why: ClassVar[str] = "the dual is a projection on balls, with a step of 1/n"
    _asks = False
    _samples: Rows
    weights: Array
    """Of the pairs i < j, (n (n - 1) / 2,), in the order of ``numpy.triu_indices``."""
    _warm: Array | None = None

    def __init__(self, X: Any, lam: float, weights: Any = None) -> None:
        self._samples = rows = read_rows(self.name, X, None)
        n = len(rows.X)
        with np.errstate(over="ignore"):
            spread = float(np.sum((rows.X - rows.X.mean(axis=0)) ** 2)) * n
        apart = bool(np.any(rows.X != rows.X[0]))
        if not np.isfinite(spread) or (apart and not spread > 1e-280):
            raise InputError(
                f"{self.name}: the squared distances of X (entries up to "
                f"{float(np.max(np.abs(rows.X))):g}) are beyond float64; change its unit."
            )
        self.weights = self._read_weights(weights, n)
        self._hyper = self._check(lam=lam)

    def _read_weights(self, weights: Any, n: int) -> Array:
        if weights is None:
            return np.ones(n * (n - 1) // 2)
        read = finite_array(weights, self.name, "weights")
        if read.shape != (n, n):
            raise InputError(
                f"{self.name}: weights must have shape ({n}, {n}), one for each pair of samples, "
                f"got {read.shape}."
            )
        if np.any(read < 0.0):
            i, j = np.argwhere(read < 0.0)[0]
            raise InputError(
                f"{self.name}: weights must be >= 0, got {read[i, j]:g} for ({i}, {j})."
            )
        if not np.array_equal(read, read.T):
            i, j = np.argwhere(read != read.T)[0]
            raise InputError(
                f"{self.name}: weights must be symmetric, got {read[i, j]:g} for ({i}, {j}) and "
                f"{read[j, i]:g} for ({j}, {i}); pass (W + W.T) / 2."
            )
        return read[np.triu_indices(n, 1)]

    def _check(self, **hyper: Any) -> dict[str, Any]:
        lam = nonnegative_number(hyper["lam"], self.name, "lam")
        with np.errstate(over="ignore"):
            if not np.isfinite(lam * self.weights.sum() * len(self._samples.X)):
                raise InputError(f"{self.name}: lam times the weights is beyond float64.")
        return {"lam": lam}

    @property
    def fusion(self) -> Fusion:
        """The problem as its certificate sees it."""
        X = self._samples.X
        return Fusion(X, differences(len(X)), self.lam * self.weights)

    def labels(self, U: Any) -> Array:
        """The clusters of U (n, d), (n,): rows that are equal have the same number, from 0."""
        return clusters(self._read("labels", (U,), {})[0]["U"])

    def path(self, lams: Any = None, *, everywhere: float | None = None, **kwargs: Any) -> Any:
        """Solve for each lam in turn, warm started.

        Parameters
        ----------
        lams : sequence of float
        everywhere : float, optional
            No bound between two values of lam is known: it is refused.
        **kwargs
            Passed to ``solve``.

        Returns
        -------
        ClusterPath
            The solutions, a list, with ``.labels``, ``.counts``, ``.splits`` and ``.is_tree``.
        """
        return ClusterPath(super().path(lams, everywhere=everywhere, **kwargs), lams)

    # -- as the base asks ------------------------------------------------------------------------

    def shapes(self) -> tuple[Shapes, Shapes]:
        n, d = self._samples.X.shape
        return {"U": (n, d)}, {"V": (n * (n - 1) // 2, d)}

    def _value(self, point: Arrays) -> float:
        return self.fusion.value(point["U"])

    def _dual_value(self, dual: Arrays) -> float:
        return self.fusion.dual_value(dual["V"])

    def _judge(self, point: Arrays, dual: Arrays, tol: float, *, search: bool) -> Certificate:
        return self.fusion.certify(point["U"], dual.get("V"), tol, search=search)

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        fusion = self.fusion
        start = fusion.A @ self._samples.X / len(self._samples.X)
        for U, V, share in fusion.rounds(start if self._warm is None else self._warm):
            self._promise, self._warm = share, V
            yield {"U": U}, {"V": V}

    def draw(self, axes: Any, solution: Solution) -> None:
        """Samples and the centers that they were drawn to, in the plane."""
        centers = np.unique(solution.primal["U"], axis=0)
        words = f"{len(self._samples.X)} samples, {len(centers)} centers"
        draw_points(axes, self._samples.X, centers, words, self.features)

    # -- posed with CVXPY, stored, told in LaTeX -------------------------------------------------

    def _pose(self) -> Statement:
        import cvxpy as cp

        X = constant(self._samples.X, "X")
        U, lam = cp.Variable(X.shape, name="U"), cp.Parameter(name="lam", nonneg=True)
        lam.value = self.lam
        value = cp.sum_squares(X - U) / 2
        if X.shape[0] == 1:
            problem = cp.Problem(cp.Minimize(value + 0.0 * lam))
            return Statement(problem, {"U": U}, {}, {"lam": lam})
        Z = cp.Variable((len(self.weights), X.shape[1]), name="Z")
        constraints = {"differences": constant(differences(X.shape[0]), "A") @ U == Z}
        value = value + lam * (constant(self.weights, "w") @ cp.norm(Z, 2, axis=1))
        problem = cp.Problem(cp.Minimize(value), label_all(constraints))
        return Statement(problem, {"U": U, "Z": Z}, constraints, {"lam": lam})

    def _pose_dual(self) -> Statement:
        import cvxpy as cp

        X, A = (
            constant(each, name)
            for each, name in ((self._samples.X, "X"), (differences(len(self._samples.X)), "A"))
        )
        V = cp.Variable((max(len(self.weights), 1), X.shape[1]), name="V")
        lam = cp.Parameter(name="lam", nonneg=True, value=self.lam)
        if X.shape[0] == 1:
            return Statement(cp.Problem(cp.Maximize(0.0 * cp.sum(V))), {"V": V}, {}, {"lam": lam})
        constraints = {"balls": cp.norm(V, 2, axis=1) <= lam * constant(self.weights, "w")}
        value = cp.sum(cp.multiply(A @ X, V)) - cp.sum_squares(A.T @ V) / 2
        problem = cp.Problem(cp.Maximize(value), label_all(constraints))
        return Statement(problem, {"V": V}, constraints, {"lam": lam})

    def _read_duals(self) -> Arrays:
        row = self.constraints.get("differences")
        found = None if row is None else row.dual_value
        return {} if found is None else {"V": np.array(found)}

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        if len(self.weights) == 0:
            return point, {}
        return {**point, "Z": self.fusion.A @ point["U"]}, {"differences": dual["V"]}

    def to_dict(self) -> dict[str, Any]:
        n = len(self._samples.X)
        W = np.zeros((n, n))
        W[np.triu_indices(n, 1)] = self.weights
        known = {"lam": self.lam, "weights": (W + W.T).tolist()}
        return {"kind": self.name, **known, **self._samples.to_dict()}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> ConvexClustering:
        """Pose the problem again that ``to_dict`` described."""
        return cls(Rows.from_dict(stored)[0], stored["lam"], np.array(stored["weights"]))

    def _formulas(self) -> Latex:
        fit = r"\tfrac12 \sum_i \|x_i - U_i\|_2^2"
        cost = rf"{fit} + \lambda \sum_{{i < j}} w_{{ij}} \|Z_{{ij}}\|_2"
        pull = r"\sum_{j > i} V_{ij} - \sum_{j < i} V_{ji}"
        ball = r"\|V_{ij}\|_2 \le \lambda w_{ij}"
        slack = r"V_{ij}^\top (U_i - U_j) = \lambda w_{ij} \|U_i - U_j\|_2"
        dual = r"\sum_{i < j} V_{ij}^\top (x_i - x_j)"
        return Latex(
            rf"\min_{{U, Z}}\ {cost}" + such_that("Z_{ij} = U_i - U_j"),
            rf"{cost} + \sum_{{i < j}} V_{{ij}}^\top (U_i - U_j - Z_{{ij}})",
            rf"\max_V\ {dual} - \tfrac12 \sum_i \Big\|{pull}\Big\|_2^2" + such_that(ball),
            (rf"U_i = x_i - \left({pull}\right)", ball, slack, "Z_{ij} = U_i - U_j"),
            r"w_{ij} = \text{weight of a pair}",
            over=("U", "Z"),
        )

    def __repr__(self) -> str:
        n, d = self._samples.X.shape
        return f"{self.name}(n={n}, d={d}, lam={self.lam:g})"

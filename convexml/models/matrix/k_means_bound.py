"""How far a clustering can be from the best: the semidefinite relaxation of k-means."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...certificates import Certificate
from ...certificates.matrix.partition import Partition
from ...errors import InputError
from ...numerics import EPS, Array, gamma
from ...objective import Statement, label_all
from ...progress import watched
from ...terms import constant
from ...validation import positive_integer, read_labels
from ..arrays.problem import ArrayProblem, Arrays, Shapes
from ..base import Hyperparameter
from ..latex import Latex, such_that
from ..likelihood.samples import Rows, read_rows
from ..pictures.answers import draw_blocks
from ..reading.labels import distinct_labels


class JudgedClustering(NamedTuple):
    """What labels cost, a number that no labels are below, and (cost - bound) / cost."""

    cost: float
    bound: float
    relative_gap: float


class KMeansBound(ArrayProblem):
    r"""Minimise (1/2) <D, Z> s.t. Z 1 = 1, tr Z = k, Z >= 0 entry by entry, Z semidefinite.

    D_ij = |x_i - x_j|^2. Labels of k clusters are a feasible Z, Z_ij = 1 / (size of the cluster)
    where i and j share one, whose objective is sum_i |x_i - center|^2: the optimal value P* is a
    lower bound on what any clustering costs. ``solution.objective`` is the value of a Z, at P* or
    above it; ``solution.bound`` is proved to be below P*, so that no clustering costs less.
    ``judge`` says how far labels can be from the best.

    Parameters
    ----------
    X : array, shape (n, d)
        Samples in rows; some hundreds, as each step takes n^3.
    k : int
        Number of clusters, 1 <= k <= n.

    Raises
    ------
    InputError
        For NaN or infinite entries, wrong shapes, distances beyond float64, a k that is no whole
        number from 1 to n.

    Notes
    -----
    The dual maximises 1'alpha + k lambda_min(D/2 - N - (alpha 1' + 1 alpha')/2) over N >= 0; any
    alpha and N give a bound, proved with its rounding. -alpha is the multiplier of Z 1 = 1. Where
    the relaxation is tight Z is a clustering. Peng and Wei, *Approximating k-means-type clustering
    via semidefinite programming* (2007), https://doi.org/10.1137/050641983.
    """

    k = Hyperparameter()
    methods: ClassVar[tuple[str, ...]] = ("admm",)
    why: ClassVar[str] = (
        "it splits averaging matrices from nonnegative ones, by eigenvectors; an iteration is 20 "
        "of its steps"
    )
    bounds: ClassVar[str] = "every clustering's cost"
    slater = (
        r"Z = \tfrac{k - 1}{n - 1} I + \tfrac{n - k}{n (n - 1)} \mathbf{1} \mathbf{1}^\top"
        r"\ \text{for } 1 < k < n"
    )
    _asks = False
    _samples: Rows
    half_distances: Array
    """D / 2, (n, n)."""

    def __init__(self, X: Any, k: int) -> None:
        from scipy.spatial.distance import cdist

        self._samples = rows = read_rows(self.name, X, None)
        with np.errstate(over="ignore"):
            self.half_distances = 0.5 * cdist(rows.X, rows.X, "sqeuclidean")
            total = float(self.half_distances.sum()) * len(rows.X)
        apart = bool(np.any(rows.X != rows.X[0]))
        if not np.isfinite(total) or (apart and not total > np.finfo(float).tiny / EPS):
            raise InputError(
                f"{self.name}: the squared distances of X (entries up to "
                f"{float(np.max(np.abs(rows.X))):g}) are beyond float64; change its unit."
            )
        self._hyper = self._check(k=k)

    def _check(self, **hyper: Any) -> dict[str, Any]:
        k, n = positive_integer(hyper["k"], self.name, "k"), len(self.half_distances)
        if k > n:
            raise InputError(f"{self.name}: k = {k}; there are {n} samples, take 1 <= k <= {n}.")
        return {"k": k}

    @property
    def partition(self) -> Partition:
        """The problem as its certificate sees it."""
        return Partition(self.half_distances, gamma(self._samples.X.shape[1] + 8), self.k)

    @watched
    def judge(self, labels: Any, *, tol: float = 1e-6, **limits: Any) -> JudgedClustering:
        """Say how far labels can be from the best clustering into at most k.

        Parameters
        ----------
        labels : array, shape (n,)
            The cluster of each sample, whoever found them; at most k different ones.
        tol : float
            How close the bound is to come to the relaxation, where the problem is not solved yet.
        **limits
            ``max_seconds`` or ``max_iter`` of that, and ``progress``.

        Returns
        -------
        JudgedClustering
            cost = sum_i |x_i - center|^2, bound, and relative_gap = (cost - bound) / cost >= 0.
        """
        cost = self.cost(labels)
        last = self._last if self._last is not None else self.solve(tol=tol, **limits)
        bound = min(max(last.bound, 0.0), cost)
        return JudgedClustering(cost, bound, (cost - bound) / cost if cost > 0.0 else 0.0)

    def cost(self, labels: Any) -> float:
        """The sum of squared distances of the samples from the mean of their cluster."""
        return float(sum(_inertia(self._samples.X[group]) for group in self._groups(labels)))

    def matrix(self, labels: Any) -> Array:
        """The Z of labels, (n, n): a feasible point with their cost."""
        Z = np.zeros_like(self.half_distances)
        for group in self._groups(labels):
            Z[np.ix_(group, group)] = 1.0 / len(group)
        return Z

    def _groups(self, labels: Any) -> list[Array]:
        owner, n = f"{self.name}.judge", len(self.half_distances)
        read = read_labels(labels, owner, "labels")
        if read.shape != (n,):
            raise InputError(
                f"{owner}: labels must have one entry per row of X ({n}), got shape {read.shape}."
            )
        found = distinct_labels(owner, read, np.arange(n), "labels")
        if len(found) > self.k:
            raise InputError(
                f"{owner}: there are {len(found)} clusters, and the bound is for at most k = "
                f"{self.k}; pose KMeansBound(X, {len(found)})."
            )
        return [np.flatnonzero(read == label) for label in found]

    # -- as the base asks ------------------------------------------------------------------------

    def shapes(self) -> tuple[Shapes, Shapes]:
        n = len(self.half_distances)
        return {"Z": (n, n)}, {"alpha": (n,), "N": (n, n)}

    def _value(self, point: Arrays) -> float:
        return self.partition.value(point["Z"])

    def _dual_value(self, dual: Arrays) -> float:
        return self.partition.dual_value(dual["alpha"], dual["N"])

    def _judge(self, point: Arrays, dual: Arrays, tol: float, *, search: bool) -> Certificate:
        given = point["Z"], dual.get("alpha"), dual.get("N")
        return self.partition.certify(*given, tol, search=search)

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        for Z, N, share in self.partition.rounds():
            self._promise = share
            yield {"Z": Z}, {"N": N}

    # -- posed with CVXPY, stored, told in LaTeX -------------------------------------------------

    def _pose(self) -> Statement:
        import cvxpy as cp

        n = len(self.half_distances)
        Z = cp.Variable((n, n), name="Z", symmetric=True)
        k = cp.Parameter(name="k", nonneg=True, value=self.k)
        constraints = {
            "rows": cp.sum(Z, axis=1) == 1,
            "trace": cp.trace(Z) == k,
            "nonnegative": Z >= 0,
            "semidefinite": Z >> 0,
        }
        value = cp.sum(cp.multiply(constant(self.half_distances, "(D / 2)"), Z))
        posed = cp.Problem(cp.Minimize(value), label_all(constraints))
        return Statement(posed, {"Z": Z}, constraints, {"k": k})

    def _pose_dual(self) -> Statement:
        import cvxpy as cp

        n = len(self.half_distances)
        k = cp.Parameter(name="k", nonneg=True, value=self.k)
        alpha = cp.Variable(n, name="alpha")
        N = cp.Variable((n, n), name="N", symmetric=True)
        across = cp.reshape(alpha, (n, 1), order="F") @ constant(np.ones((n, 1)), "1").T
        M = constant(self.half_distances, "(D / 2)") - N - (across + across.T) / 2
        constraints = {"nonnegative": N >= 0}
        value = cp.sum(alpha) + k * cp.lambda_min(M)
        problem = cp.Problem(cp.Maximize(value), label_all(constraints))
        return Statement(problem, {"alpha": alpha, "N": N}, constraints, {"k": k})

    def _read_duals(self) -> Arrays:
        rows, signs = (self.constraints[label].dual_value for label in ("rows", "nonnegative"))
        return {} if rows is None or signs is None else {"alpha": -rows, "N": np.array(signs)}

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        C, n = self.half_distances, len(self.half_distances)
        M = C - 0.5 * (dual["N"] + dual["N"].T) - 0.5 * (dual["alpha"][:, None] + dual["alpha"])
        least = float(np.linalg.eigvalsh(M)[0])
        return point, {
            "rows": -dual["alpha"],
            "trace": np.array(-least),
            "nonnegative": dual["N"],
            "semidefinite": M - least * np.eye(n),
        }

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.name, "k": self.k, **self._samples.to_dict()}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> KMeansBound:
        """Pose the problem again that ``to_dict`` described."""
        return cls(Rows.from_dict(stored)[0], stored["k"])

    def _formulas(self) -> Latex:
        value, M = r"\tfrac12 \langle D, Z\rangle", r"M(\alpha, N)"
        whole = r"\tfrac12 D - N - \tfrac12(\alpha \mathbf{1}^\top + \mathbf{1} \alpha^\top)"
        sets = r"Z\mathbf{1} = \mathbf{1}", r"\operatorname{tr} Z = k", r"Z \ge 0", r"Z \succeq 0"
        least = rf"\lambda_{{\min}}({M})"
        terms = r"\alpha^\top (\mathbf{1} - Z\mathbf{1}) - \langle N, Z\rangle"
        return Latex(
            rf"\min_Z\ {value}" + such_that(*sets, r"D_{ij} = \|x_i - x_j\|_2^2"),
            rf"{value} + {terms},\quad Z \succeq 0,\ \operatorname{{tr}} Z = k",
            rf"\max_{{\alpha, N}}\ \mathbf{{1}}^\top \alpha + k {least}"
            + such_that(r"N \ge 0", rf"{M} = {whole}"),
            (*sets, r"N \ge 0", r"N_{ij} Z_{ij} = 0", rf"\langle {M}, Z\rangle = k {least}"),
        )

    def draw(self, axes: Any, solution: Any) -> None:
        draw_blocks(axes, solution.primal["Z"], solution.objective - solution.gap)

    def __repr__(self) -> str:
        return "{}(n={}, d={}, k={})".format(self.name, *self._samples.X.shape, self.k)


def _inertia(X: Array) -> float:
    """Sum_i |x_i - m|^2, m the mean of the rows."""
    R = X - X.mean(axis=0)
    R = R - R.mean(axis=0)
    return float(np.sum(R * R))
